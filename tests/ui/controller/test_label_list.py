"""The list of labels: added, filled, moved and removed, in takes, presets, files and undo steps."""

from __future__ import annotations

import json

import bpy
import pytest

from motion_matching.app.controller import labels
from motion_matching.app.database import status
from motion_matching.app.settings import get_controller_data, get_performer_settings
from motion_matching.app.takes import take_actions
from motion_matching.engine.performance.settings import LABELLED, Coupling, PerformerSettings
from motion_matching.ui import presets as ui_presets
from motion_matching.ui.controller.panel_labels import MOTION_MATCHING_PT_labels
from tests.ui.characters import create_character, expect_refusal, find_override, override_character
from tests.ui.drawn import RecordingLayout, draw_panels, override_region

READY = ["plant", "start, stop", "walk, run"]


def list_tags(obj: bpy.types.Object) -> list[str]:
    return [item.tags for item in obj.motion_matching.controller.labels]


def draw_panel(obj: bpy.types.Object) -> str:
    """Draw all panels; return the text of that of labels, whose lines are wrapped."""
    layout = RecordingLayout()
    panel = type("Drawn", (), {"layout": layout})()
    with override_region():
        MOTION_MATCHING_PT_labels.draw_settings(panel, obj, obj.motion_matching)
    draw_panels()
    return " ".join(layout.texts)


def test_ready_labels_are_listed_with_numbers_relative_to_the_controllers():
    obj, add = create_character(), bpy.ops.motion_matching.add_label
    controller = obj.motion_matching.controller
    controller.clamp_distance = 1.5  # as of a giant
    assert add(kind="start_and_stop") == {"FINISHED"}
    assert obj.motion_matching.thresholds.plant_angle == 0.0
    assert add(kind="READY") == {"FINISHED"}
    assert list_tags(obj) == ["start, stop", "plant", "walk, run"], "each once"
    assert add(kind="READY") == {"CANCELLED"}
    assert obj.motion_matching.thresholds.plant_angle == pytest.approx(1.0472, abs=1e-4)
    own = PerformerSettings(coupling=Coupling(clamp_distance=1.5))
    ready = {
        label.tags: label.settings
        for label in own.with_changes({"labels": "ready"}).coupling.labels
    }
    performed = get_performer_settings(obj, None)
    assert [label.tags for label in performed.coupling.labels] == [
        ("start", "stop"),
        ("plant",),
        ("walk", "run"),
    ]
    for label in performed.coupling.labels:
        assert set(label.settings) == set(LABELLED)
        for name, value in ready[label.tags].items():
            assert label.settings[name] == (
                value if isinstance(value, str) else pytest.approx(value, rel=1e-4)
            )


def test_labels_are_edited_moved_and_removed():
    obj, ops = create_character(), bpy.ops.motion_matching
    controller = obj.motion_matching.controller
    assert not ops.remove_label.poll()
    expect_refusal(ops.move_label, "Add a label first")
    controller.synchronization = 0.7
    ops.add_label()
    [label] = controller.labels
    assert (label.tags, label.synchronization) == ("", pytest.approx(0.7)), "as all others"
    assert get_performer_settings(obj, None).coupling.labels == (), "it names no tag yet"
    label.tags, label.displacement = " jump,  roll ,", "independent"
    [performed] = get_performer_settings(obj, None).coupling.labels
    assert performed.tags == ("jump", "roll")
    assert performed.settings["displacement"] == "independent"

    ops.add_label(kind="locomotion")
    assert controller.label_index == 1
    ops.move_label(direction="UP")
    assert (list_tags(obj)[0], controller.label_index) == ("walk, run", 0)
    assert ops.move_label(direction="UP") == {"CANCELLED"}
    ops.move_label(direction="DOWN")
    ops.remove_label()
    assert (list_tags(obj), controller.label_index) == ([" jump,  roll ,"], 0)


def test_adding_a_label_is_one_undo_step():
    obj, ops = create_character(), bpy.ops.motion_matching
    bpy.ops.ed.undo_push(message="before")
    ops.add_label(kind="READY")
    bpy.ops.ed.undo_push(message="added")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Hero"]
    assert list_tags(obj) == []
    assert obj.motion_matching.thresholds.plant_angle == 0.0
    bpy.ops.ed.redo()
    assert list_tags(bpy.data.objects["Hero"]) == READY


def test_presets_keep_labels_and_leave_others_alone():
    obj, ops = create_character(), bpy.ops.motion_matching
    controller = obj.motion_matching.controller
    assert "labels" not in get_controller_data(controller)
    ops.add_label(kind="READY")
    controller.labels[1].clamp_distance = 0.42
    kept = get_controller_data(controller)
    ops.save_preset(kind="controllers", name="labelled")
    ops.apply_preset(kind="controllers", filepath="responsive")
    assert list_tags(obj) == READY, "they are about the data"
    ops.remove_label()
    controller.labels[0].tags = "other"
    file = ui_presets.get_user_folder("controllers") / "labelled.json"
    ops.apply_preset(kind="controllers", filepath=str(file))
    assert get_controller_data(controller) == kept
    assert json.loads(file.read_text())["settings"]["labels"][1]["tags"] == ["start", "stop"]


def test_a_file_with_ready_labels_lists_them(tmp_path):
    obj = create_character()
    file = tmp_path / "mine.json"
    file.write_text('{"settings": {"labels": "ready", "clamp_distance": 0.3}}')
    bpy.ops.motion_matching.apply_preset(kind="controllers", filepath=str(file))
    assert list_tags(obj) == READY
    assert obj.motion_matching.controller.labels[0].clamp_distance == pytest.approx(0.45)
    file.write_text('{"settings": {"labels": [{"tags": ["a"], "settings": {"walk": 1}}]}}')
    expect_refusal(
        bpy.ops.motion_matching.apply_preset, "'walk'", kind="controllers", filepath=str(file)
    )
    assert list_tags(obj) == READY


def test_labels_of_a_linked_character_get_other_values(tmp_path):
    create_character()
    bpy.ops.motion_matching.add_label(kind="READY")
    path = str(tmp_path / "linked.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    override_character(path)
    obj = find_override()
    expect_refusal(bpy.ops.motion_matching.remove_label, "linked file")
    bpy.ops.motion_matching.add_label(kind="EMPTY")
    obj.motion_matching.controller.labels[3].tags = "mine"
    assert list_tags(obj) == [*READY, "mine"]
    labels.set_labels(obj.motion_matching.controller, (), Coupling())
    assert get_performer_settings(obj, None).coupling.labels == ()


def test_the_panel_shows_numbers_and_which_tags_are_missing():
    obj, ops = create_character(clips=("walk_curves",)), bpy.ops.motion_matching
    draw_panel(obj)
    ops.add_label(kind="READY")
    assert "No frame" not in draw_panel(obj), "nothing is built yet"
    ops.add_actions()
    ops.build()
    assert status.refresh(obj).kind == "fresh"
    tags = "'plant', 'start', 'stop', 'walk', 'run'"
    assert f"No frame is tagged {tags}" in draw_panel(obj)
    obj.motion_matching.auto_tags = True
    ops.build()
    status.refresh(obj)
    assert "'run'" in draw_panel(obj)
    assert "'walk'" not in draw_panel(obj)


def test_a_baked_take_follows_its_labels_and_keeps_them():
    obj, ops = create_character(clips=("walk_curves",)), bpy.ops.motion_matching
    obj.motion_matching.auto_tags = True
    ops.add_actions()
    ops.add_label(kind="EMPTY")
    label = obj.motion_matching.controller.labels[0]
    label.tags, label.displacement, label.clamp = "walk", "independent", False
    ops.bake_script(script="turns", seconds=3.0)
    free = read_way(obj)
    ops.bake_again()
    assert read_way(obj) == free
    action = obj.motion_matching.takes[0].action
    [stored] = take_actions.read_parts(action)[0].performance.settings["labels"]
    assert (stored["tags"], stored["settings"]["displacement"]) == (["walk"], "independent")
    label.tags = ""
    ops.bake_again()
    assert read_way(obj) != free


def read_way(obj: bpy.types.Object) -> list[tuple[float, ...]]:
    """Return where the character is at each frame of the take that it plays."""
    way = []
    for frame in range(1, 90, 5):
        bpy.context.scene.frame_set(frame)
        bone = obj.pose.bones["Hips"]
        way.append(tuple(round(value, 4) for value in (obj.matrix_world @ bone.matrix).translation))
    return way
