"""A take or a variant plays beside the character, and leaves no trace in the file."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.controller import controller_presets
from motion_matching.app.runtime import runtime
from motion_matching.app.takes import playing_beside
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database import database as databases
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.files import presets
from motion_matching.engine.performance.settings import PerformerSettings, Steering
from motion_matching.engine.sources.sources import Source
from motion_matching.scene.blender.animation import actions
from motion_matching.ui.takes import drawing
from tests.demo import generate_clips
from tests.scene.staging.test_skin import resize
from tests.ui.characters import create_character, expect_refusal, read_state
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching


@pytest.fixture
def obj():
    """A character that plays the first of two takes of the same script."""
    obj = create_character(clips=("walk_starts_and_stops", "walk_curves"))
    ops.add_actions(mirror=False)
    for seconds in (3.0, 2.0):
        ops.bake_script(script="square", seconds=seconds)
    settings = obj.motion_matching
    settings.take_index, settings.compare_with = 0, settings.takes[1].action
    actions.assign(obj, settings.takes[0].action)
    bpy.context.scene.frame_set(7)
    return obj


def get_heads(obj, names):
    return np.array([obj.matrix_world @ obj.pose.bones[name].head for name in names])


def measure_gap(obj, shown, frame):
    """Return the farthest that a joint of the character is from all that are drawn, in metres."""
    bpy.context.scene.frame_set(frame)
    _, joints = shown.find_bones(obj, frame)
    heads = get_heads(obj, shown.joints)
    return np.linalg.norm(heads[:, None] - joints, axis=-1).min(axis=1).max()


def count_blocks():
    kinds = ("objects", "meshes", "actions", "armatures", "materials", "texts", "collections")
    return {kind: len(getattr(bpy.data, kind)) for kind in kinds}


def test_another_take_moves_beside_the_character_and_nothing_changes(obj):
    settings, scene = obj.motion_matching, bpy.context.scene
    settings.compare_apart = 0.0
    before, blocks = read_state(), count_blocks()
    assert ops.play_beside() == {"FINISHED"}
    shown = runtime.beside
    assert shown.names == tuple(take.action.name for take in settings.takes)
    assert (read_state(), count_blocks()) == (before, blocks)

    # it is where the character would be if it played that take
    actions.assign(obj, settings.takes[1].action)
    assert shown.find_armature() is None, "the character plays something else"
    names = shown.joints
    expected = {}
    for frame in (1, 20, 40):
        scene.frame_set(frame)
        expected[frame] = get_heads(obj, names)
    actions.assign(obj, settings.takes[0].action)
    assert shown.find_armature() == obj
    for frame, heads in expected.items():
        scene.frame_set(frame)
        _, joints = shown.find_bones(obj, frame)
        gaps = np.linalg.norm(heads[:, None] - joints, axis=-1).min(axis=1)
        assert gaps.max() < 1e-3 * shown.height

    # its body is around its joints, and aside as far as asked for
    points, normals = shown.body.pose(*shown.find_bones(obj, 20))
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-5)
    assert abs(points.mean(axis=0) - expected[20].mean(axis=0)).max() < 0.15 * shown.height
    settings.compare_apart = 2.0
    moved, _ = shown.body.pose(*shown.find_bones(obj, 20))
    away = np.linalg.norm(moved.mean(axis=0) - points.mean(axis=0))
    assert away == pytest.approx(2.0 * shown.height, rel=1e-4)
    (one, at), (other, there) = drawing.place_names(shown, obj, 20)
    assert (one[0], other[0]) == ("A", "B")
    assert np.linalg.norm(np.subtract(at, there)) > shown.height
    colours = drawing.shade(normals, np.eye(3), (0.5, 0.5, 1.0, 1.0))
    assert 0.0 < colours.min() < colours.max() <= 1.0

    draw_panels()
    assert ops.hide_beside() == {"FINISHED"}
    assert runtime.beside is None
    expect_refusal(ops.hide_beside, "Nothing plays beside a character")


@pytest.mark.parametrize("kind", ["SETTINGS", "METHOD"])
def test_a_variant_starts_with_the_character_and_goes_its_own_way(obj, kind):
    settings = obj.motion_matching
    settings.compare_by, settings.compare_apart = kind, 0.0
    if kind == "SETTINGS":
        settings.controller.speeds_from_data = False
        settings.controller.walk = [0.5 * speed for speed in settings.controller.walk]
    before, blocks = read_state(), count_blocks()
    assert ops.play_beside() == {"FINISHED"}
    assert (read_state(), count_blocks()) == (before, blocks)
    shown = runtime.beside
    assert shown.names[1] == {"SETTINGS": "Current Settings", "METHOD": "Motion Field"}[kind]
    gaps = [measure_gap(obj, shown, frame) for frame in (1, 40, 60, 72)]
    assert gaps[0] < 0.05 * shown.height
    assert max(gaps) > 0.05 * shown.height

    assert ops.compare_takes() == {"FINISHED"}
    found = runtime.comparisons[obj.session_uid]
    assert found.names == shown.names
    length = next(row for row in found.rows if row.label.startswith("Length"))
    assert length.first == length.second == "3.0"


def test_a_preset_may_perform_it(obj):
    settings = obj.motion_matching
    settings.compare_by, settings.compare_preset = "PRESET", "Weighty"
    before, blocks = read_state(), count_blocks()
    assert ops.play_beside() == {"FINISHED"}
    assert (read_state(), count_blocks()) == (before, blocks), "the character keeps its settings"
    assert runtime.beside.names[1] == "Weighty"
    by_preset = runtime.beside.motion.positions
    # as the present settings do once the preset is applied
    ops.apply_preset(kind="controllers", filepath="weighty")
    settings.compare_by = "SETTINGS"
    ops.play_beside()
    np.testing.assert_allclose(runtime.beside.motion.positions, by_preset, atol=1e-5)
    settings.compare_by, settings.compare_preset = "PRESET", "balanced"
    assert ops.compare_takes() == {"FINISHED"}
    assert runtime.comparisons[obj.session_uid].names[1] == "Balanced"


def test_a_preset_of_ones_own_comes_before_a_shipped_one(obj):
    controller = obj.motion_matching.controller
    for name, halflife in (("My Walk", 0.7), ("weighty", 0.6)):
        controller.velocity_halflife = halflife
        ops.save_preset(kind="controllers", name=name)
    try:
        assert {"balanced", "my_walk", "notebook", "weighty"} <= set(
            controller_presets.list_names()
        )
        for name, halflife in (("my_walk", 0.7), ("My Walk", 0.7), ("Weighty", 0.6)):
            path = controller_presets.find_file(name)
            found = controller_presets.apply_to(
                PerformerSettings(steering=Steering(turn_limit=1.0)), path
            )
            assert found.steering.velocity_halflife == pytest.approx(halflife)
            assert found.steering.turn_limit == 1.0, "speeds are no part of presets"
    finally:
        for name in ("my_walk", "weighty"):
            ops.remove_preset(kind="controllers", name=name)
    assert "my_walk" not in controller_presets.list_names()
    assert controller_presets.find_file("weighty").parent == presets.find_folder("controllers")
    with pytest.raises(SettingsError, match="'gone'; choose one of"):
        controller_presets.find_file("gone")


def test_an_unchanged_variant_is_the_take(obj):
    settings = obj.motion_matching
    settings.compare_by, settings.compare_apart = "SETTINGS", 0.0
    ops.play_beside()
    shown = runtime.beside
    gaps = [measure_gap(obj, shown, frame) for frame in (1, 30, 72)]
    assert max(gaps) < 0.01 * shown.height


@pytest.mark.slow
def test_the_data_of_a_file_may_perform_it(obj, tmp_path):
    settings = obj.motion_matching
    file = tmp_path / "other rate.npz"
    sources = [Source(clip=clip) for clip in generate_clips(fps=20.0)[:2]]
    databases.save(build(sources, BuildSettings(fps=20.0))[0], file)
    settings.compare_by, settings.compare_database = "DATABASE", str(file)
    before, blocks = read_state(), count_blocks()
    assert ops.play_beside() == {"FINISHED"}
    assert (read_state(), count_blocks()) == (before, blocks)
    shown = runtime.beside
    assert shown.names[1] == "other rate"
    assert shown.motion.fps == 20.0
    assert len(shown.motion.positions) == pytest.approx(60, abs=1)
    settings.compare_apart = 0.0
    assert measure_gap(obj, shown, 1) < 0.1 * shown.height
    assert ops.compare_takes() == {"FINISHED"}
    assert runtime.comparisons[obj.session_uid].names[1] == "other rate"


@pytest.mark.parametrize("root", ["HIPS", "IN_PLACE"])
def test_a_variant_goes_over_the_ground_as_the_character_does(obj, root):
    settings = obj.motion_matching
    settings.root = root
    ops.bake_again()
    actions.assign(obj, settings.takes[settings.take_index].action)
    settings.compare_by, settings.compare_apart = "SETTINGS", 0.0
    ops.play_beside()
    shown = runtime.beside
    for frame in (1, 30, 72):
        bpy.context.scene.frame_set(frame)
        _, joints = shown.find_bones(obj, frame)
        heads = get_heads(obj, shown.joints)
        assert np.linalg.norm(heads.mean(axis=0) - joints.mean(axis=0)) < 0.1 * shown.height, frame


def test_it_ends_with_what_it_shows(obj):
    settings = obj.motion_matching
    ops.play_beside()
    settings.take_index = 1
    assert runtime.beside is None, "another take was chosen"
    settings.take_index = 0
    ops.play_beside()
    bpy.data.actions.remove(settings.takes[1].action)
    playing_beside.follow_changes()
    assert runtime.beside is None
    settings.compare_by = "SETTINGS"
    ops.play_beside()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert runtime.beside is None


def test_a_small_character_keeps_as_far_away_as_a_large_one(obj, tmp_path):
    settings = obj.motion_matching
    ops.play_beside()
    height = runtime.beside.height
    file = tmp_path / "small.npz"
    sources = [Source(clip=resize(clip, 0.3)) for clip in generate_clips(fps=20.0)[:2]]
    databases.save(build(sources, BuildSettings(fps=20.0))[0], file)
    settings.compare_by, settings.compare_database = "DATABASE", str(file)
    ops.play_beside()
    assert runtime.beside.height == pytest.approx(height, rel=0.01)
    points, _ = runtime.beside.body.pose(*runtime.beside.find_bones(obj, 1))
    assert np.ptp(points[:, 2]) < 0.5 * height


def test_what_is_missing_is_said(obj, tmp_path):
    settings = obj.motion_matching
    settings.compare_with = None
    expect_refusal(ops.play_beside, "Choose another take")
    settings.compare_by = "DATABASE"
    expect_refusal(ops.play_beside, "Choose the database")
    settings.compare_database = str(tmp_path / "gone.npz")
    expect_refusal(ops.play_beside, "gone.npz", "does not exist", "choose another file")
    settings.compare_by = "PRESET"
    expect_refusal(ops.play_beside, "Choose the controller preset")
    settings.compare_preset = "no such"
    expect_refusal(ops.play_beside, "There is no controller preset 'no such'", "choose one of")
    settings.compare_by = "SETTINGS"
    actions.assign(obj, settings.takes[1].action)
    expect_refusal(ops.play_beside, "Play the active take first")
    assert runtime.beside is None
