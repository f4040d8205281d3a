"""From an empty file to a baked take with operators; settings are saved, and each operator is one
undo step.
"""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.database import status
from motion_matching.app.database.build import load_or_build_steps
from motion_matching.app.database.content import compute_key
from motion_matching.app.database.library import get_library
from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import RigChangedError, SettingsError
from motion_matching.scene.blender.animation import actions
from tests.demo import generate_clips
from tests.ui.characters import CLIPS, create_character, expect_refusal, read_state


@pytest.mark.slow
def test_operators_alone_make_a_take_from_an_empty_file():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    ops = bpy.ops.motion_matching

    assert ops.add_demo_performer() == {"FINISHED"}
    obj = bpy.context.object
    settings = obj.motion_matching
    assert obj.type == "ARMATURE"
    assert [c for c in obj.children if c.type == "MESH"], "the performer has no mesh"
    assert len(settings.sources) > 10
    assert all(s.mirror and s.action.use_fake_user for s in settings.sources)
    assert {s.gait for s in settings.sources} == {"idle", "walk", "run"}
    assert status.refresh(obj).kind == "none"

    assert ops.build() == {"FINISHED"}
    found = status.refresh(obj)
    assert found.kind == "fresh"
    assert found.fps == 24
    assert found.clips == len(settings.sources)
    assert found.frames == 2 * sum(
        int(s.action.frame_range[1] - s.action.frame_range[0]) + 1 for s in settings.sources
    )

    bpy.context.scene.frame_set(11)
    before = bpy.context.scene.frame_start, bpy.context.scene.frame_end
    options = {"script": "stop_and_go", "seconds": 6.0, "frame_start": 11}
    assert ops.bake_script(**options) == {"FINISHED"}
    take = settings.takes[0]
    assert take.action == obj.animation_data.action
    assert take.action.name == "Stop and Go Walk"
    assert tuple(take.action.frame_range) == (11, 11 + 6 * 24 - 1)
    assert abs(take.seconds - 6) < 1e-4
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == before, (
        "the frame range is the user's"
    )
    assert bpy.context.scene.frame_current == 11

    # it follows the script: three seconds of walking, then standing
    def get_hips_at(frame):
        bpy.context.scene.frame_set(frame)
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        return np.array((evaluated.matrix_world @ evaluated.pose.bones["Hips"].matrix).translation)

    gone = np.linalg.norm((get_hips_at(11 + 4 * 24) - get_hips_at(11 + 24))[:2])
    stood = np.linalg.norm((get_hips_at(11 + int(5.9 * 24)) - get_hips_at(11 + int(5.2 * 24)))[:2])
    assert gone > 2.0, (gone, stood)
    assert stood < 0.4, (gone, stood)

    # the next take is another action and starts where the character stands
    here = get_hips_at(60)
    options = {"script": "figure_eight", "seconds": 3.0, "frame_start": 60}
    assert ops.bake_script(**options) == {"FINISHED"}
    assert len(settings.takes) == 2
    assert settings.takes[0].action.name == "Stop and Go Walk"
    assert np.linalg.norm((get_hips_at(60) - here)[:2]) < 0.3

    settings.take_index = 0
    assert ops.play_take() == {"FINISHED"}
    assert obj.animation_data.action == settings.takes[0].action
    assert bpy.context.scene.frame_current == 11
    name = settings.takes[0].action.name
    assert ops.remove_take() == {"FINISHED"}
    assert name not in bpy.data.actions
    assert len(settings.takes) == 1

    # takes do not become sources
    count = len(settings.sources)
    assert ops.add_actions() == {"CANCELLED"}
    assert len(settings.sources) == count


@pytest.mark.slow
def test_bake_again_uses_moved_contact_markers():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    ops = bpy.ops.motion_matching
    ops.add_demo_performer()
    obj = bpy.context.object
    settings = obj.motion_matching
    settings.controller.support_weight = settings.controller.root_halflife = 0.0
    bpy.context.scene.frame_set(20)
    ops.bake_script(script="figure_eight", seconds=6.0)
    first = settings.takes[0].action
    plants = [m for m in first.pose_markers if m.name == "left foot plant" and m.frame > 60]
    lifts = [m for m in first.pose_markers if m.name == "left foot lift"]
    plant = plants[0]
    lift = min((m for m in lifts if m.frame > plant.frame), key=lambda m: m.frame)

    def get_toe_at(frame):
        bpy.context.scene.frame_set(frame)
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        return np.array(
            (evaluated.matrix_world @ evaluated.pose.bones["LeftToe"].matrix).translation
        )

    def measure_speed(start, stop):
        places = np.array([get_toe_at(f) for f in range(start, stop)])[:, :2]
        return np.linalg.norm(np.diff(places, axis=0), axis=1) * 24

    assert measure_speed(plant.frame, lift.frame).max() < 0.05
    rested = measure_speed(lift.frame, lift.frame + 3).max()

    # keep the foot planted three frames longer, and bake again
    lift.frame += 3
    was = get_toe_at(30)
    assert ops.bake_again() == {"FINISHED"}
    again = settings.takes[1].action
    assert again != first
    assert obj.animation_data.action == again
    assert np.allclose(get_toe_at(30), was, atol=1e-4), "unedited frames stay the same"
    # the stretched leg gives way a little at the end
    assert measure_speed(plant.frame, lift.frame).max() < 0.1 * rested

    # without markers and with other settings, the same performance gives another take
    settings.controller.foot_lock = False
    assert ops.bake_again(use_markers=False) == {"FINISHED"}
    assert len(settings.takes) == 3
    assert measure_speed(plant.frame, lift.frame).max() > 0.05


def test_every_operator_is_one_step_of_undo():
    create_character()
    ops = bpy.ops.motion_matching
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="start")

    def count_sources():
        return len(bpy.data.objects["Hero"].motion_matching.sources)

    def list_takes():
        return [t.action.name for t in bpy.data.objects["Hero"].motion_matching.takes]

    def get_action():
        return (
            bpy.data.objects["Hero"].animation_data
            and bpy.data.objects["Hero"].animation_data.action
        )

    ops.add_actions("EXEC_DEFAULT", True)
    assert count_sources() == 3
    bpy.data.objects["Hero"].motion_matching.controller.velocity_halflife = 0.4
    bpy.ops.ed.undo_push(message="calmer")
    ops.bake_script("EXEC_DEFAULT", True, script="square", seconds=2.0)
    assert list_takes() == ["Square Walk"]
    assert get_action()
    bpy.ops.ed.undo()
    assert list_takes() == []
    assert not get_action()
    assert "Square Walk" not in bpy.data.actions
    assert count_sources() == 3
    bpy.ops.ed.redo()
    assert list_takes() == ["Square Walk"]
    assert get_action().name == "Square Walk"
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    assert abs(bpy.data.objects["Hero"].motion_matching.controller.velocity_halflife - 0.27) < 1e-6
    assert count_sources() == 3
    bpy.ops.ed.undo()
    assert count_sources() == 0
    bpy.ops.ed.redo()
    assert count_sources() == 3
    ops.remove_source("EXEC_DEFAULT", True)
    assert count_sources() == 2
    bpy.ops.ed.undo()
    assert count_sources() == 3


@pytest.mark.slow
def test_changes_during_a_build_do_not_affect_it():
    obj = create_character()
    bpy.ops.motion_matching.add_actions()
    settings = obj.motion_matching

    def build_with_change(change, when):
        """Build, and change something the first time that `when` accepts the stage."""
        work, changed = load_or_build_steps(obj, again=True), False
        while True:
            try:
                text, _ = next(work)
            except StopIteration as done:
                assert changed
                return done.value
            if when(text) and not changed:
                changed = change() or True

    def is_reading(text):
        return text.startswith("Reading")

    def is_building(text):
        return not text.startswith(("Reading", "Looking"))

    # while reading sources, a change makes the build fail, as its key would be wrong
    def switch_mirror_off():
        for source in settings.sources:
            source.mirror = False

    before = compute_key(obj)
    whole = build_with_change(lambda: None, is_reading).frame_count
    with pytest.raises(SettingsError) as caught:
        _ = build_with_change(switch_mirror_off, is_reading).frame_count
    assert "changed" in str(caught.value)
    assert "again" in str(caught.value)
    assert not settings.sources[0].mirror
    assert get_library().load(before).frame_count == whole
    assert build_with_change(lambda: None, is_reading).frame_count < whole

    # while building, a change does not count, and the result is stale
    key = compute_key(obj)
    for change in (lambda: setattr(settings, "speed", 1.25), lambda: settings.sources.remove(2)):
        build_with_change(change, is_building)
        assert settings.built_key == key != compute_key(obj)
        assert status.get_status(obj).kind == "stale"
        build_with_change(lambda: None, is_building)
        key = compute_key(obj)
        assert status.get_status(obj).kind == "fresh"
        assert settings.built_key == key

    # a playing timeline moves keyed values, which is no change
    limit, scene = obj.pose.bones["Head"].constraints.new("LIMIT_ROTATION"), bpy.context.scene
    actions.assign(obj, settings.sources[0].action)
    for frame in (1, 200):
        limit.influence = float(frame > 1)
        limit.keyframe_insert("influence", frame=frame)
    scene.frame_set(1)
    build_with_change(lambda: scene.frame_set(100), is_reading)
    assert status.get_status(obj).kind == "fresh"
    assert 0.0 < limit.influence < 1.0

    # moving a constraint's target by its own keys is no change either, but moving it by script is
    target, handle = (bpy.data.objects.new(name, None) for name in ("Target", "Handle"))
    for made in (target, handle):
        scene.collection.objects.link(made)
    target.parent, target.location = handle, (0.0, -3.0, 1.0)
    obj.pose.bones["Head"].constraints.new("DAMPED_TRACK").target = target
    for frame in (1, 200):
        target.location.x = frame
        target.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    build_with_change(lambda: scene.frame_set(100), is_reading)
    assert target.location.x > 50.0
    key, before = compute_key(obj), read_state()
    with pytest.raises(RigChangedError) as caught:  # the target moved while sources were read
        build_with_change(lambda: handle.location.__setitem__(0, 2.0), is_reading)
    assert all(word in str(caught.value) for word in ("'Handle'", "'Hero'", "moved", "again")), (
        caught.value
    )
    assert read_state() == before


def test_settings_are_saved_and_missing_databases_reported(tmp_path):
    obj = create_character()
    ops, file = bpy.ops.motion_matching, tmp_path / "mine.blend"
    ops.add_actions()
    settings = obj.motion_matching
    settings.sources[1].tags = "curvy, no_entry"
    settings.sources[2].enabled = False
    settings.controller.synchronization = 0.75
    settings.features.items[0].weight = 3.0
    settings.script.script = "flips"
    settings.roles.head = "Head"
    assert status.refresh(obj).kind == "none"
    ops.bake_script(script="square", seconds=2.0)
    key, built = compute_key(obj), settings.built_key
    assert key == built
    assert status.get_status(obj).kind == "fresh", "baking builds the database"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.open_mainfile(filepath=str(file))
    obj = bpy.data.objects["Hero"]
    settings = obj.motion_matching
    assert settings.sources[1].tags == "curvy, no_entry"
    assert not settings.sources[2].enabled
    assert settings.sources[0].action.name == settings.sources[0].name
    assert abs(settings.controller.synchronization - 0.75) < 1e-6
    assert settings.features.items[0].weight == 3.0
    assert settings.script.script == "flips"
    assert settings.roles.head == "Head"
    assert settings.takes[0].action.name == "Square Walk"
    assert settings.built_key == built
    assert compute_key(obj) == key
    assert status.refresh(obj).kind == "fresh"

    # the file on a computer without the database
    assert ops.clear_cache() == {"FINISHED"}
    assert status.refresh(obj).kind == "elsewhere"
    bpy.context.view_layer.objects.active = obj
    assert ops.build() == {"FINISHED"}
    assert status.refresh(obj).kind == "fresh"


def test_motion_capture_files_create_their_own_character(tmp_path):
    folder = tmp_path / "capture"
    (folder / "below").mkdir(parents=True)
    for clip in generate_clips():
        if clip.name in CLIPS:
            bvh.save(
                clip, folder / ("below" if clip.name.startswith("run") else "") / f"{clip.name}.bvh"
            )
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    ops = bpy.ops.motion_matching
    assert ops.add_files(directory=str(folder)) == {"FINISHED"}
    obj = bpy.context.object
    assert obj.type == "ARMATURE"
    assert obj.select_get()
    assert len(obj.motion_matching.sources) == 3
    assert ops.add_files(directory=str(folder), files=[{"name": "walk_curves.bvh"}]) == {
        "CANCELLED"
    }
    assert len(obj.motion_matching.sources) == 3
    source = obj.motion_matching.sources[0]
    source.use_range, source.frame_start, source.frame_end = True, 10, 200
    assert ops.bake_script(script="square", seconds=3.0) == {"FINISHED"}
    database = get_library().load(obj.motion_matching.built_key)
    first = database.ranges[0]
    assert first.first_source_frame == 10, (
        first,
        database.stops[0],
    )
    assert database.stops[0] == round(190 / 30 * 24) + 1, (
        first,
        database.stops[0],
    )
    assert obj.motion_matching.takes[0].action


def test_an_obstacle_collection_blocks_a_take():
    obj = create_character()
    ops, settings = bpy.ops.motion_matching, obj.motion_matching
    ops.add_actions()
    collection = bpy.data.collections.new("Walls")
    bpy.context.scene.collection.children.link(collection)
    mesh = bpy.data.meshes.new("Wall")
    mesh.from_pydata([(-20, -2, 0), (20, -2, 0), (20, -2, 3), (-20, -2, 3)], [], [(0, 1, 2, 3)])
    collection.objects.link(bpy.data.objects.new("Wall", mesh))

    def measure_reach():
        ops.bake_script(script="square", seconds=4.0)
        curves = {(c.data_path, c.array_index): c for c in get_take_curves()}
        return min(point.co[1] for point in curves["location", 1].keyframe_points)

    def get_take_curves():
        from motion_matching.scene.blender.animation import actions

        action = settings.takes[-1].action
        return actions.get_active_curves(action, actions.find_slot(action, obj))

    def reset():
        obj.animation_data.action = None
        obj.location = obj.rotation_euler = (0, 0, 0)
        bpy.context.view_layer.update()

    free = measure_reach()
    reset()
    settings.obstacles = collection
    blocked = measure_reach()
    assert free < -2.2 < blocked, (free, blocked)


def test_a_linked_character_performs_in_another_file(tmp_path):
    folder = tmp_path
    rig, shot = folder / "rig.blend", folder / "shot.blend"
    create_character()
    bpy.ops.motion_matching.add_actions()
    bpy.ops.wm.save_as_mainfile(filepath=str(rig))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(rig), link=True) as (_source, target):
        target.objects = ["Hero"]
    linked = target.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    bpy.context.view_layer.objects.active = linked
    expect_refusal(bpy.ops.motion_matching.build, "library override")
    obj = linked.override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = obj
    settings = obj.motion_matching
    assert len(settings.sources) == 3
    settings.controller.velocity_halflife, settings.root = 0.5, "HIPS"
    assert bpy.ops.motion_matching.bake_script(script="square", seconds=2.0) == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    obj = next(obj for obj in bpy.data.objects if obj.override_library)
    settings = obj.motion_matching
    assert abs(settings.controller.velocity_halflife - 0.5) < 1e-6
    assert settings.root == "HIPS"
    assert [take.action.name for take in settings.takes] == ["Square Walk"]
    assert len(settings.sources) == 3
