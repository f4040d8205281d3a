"""Baking where one means: from a start frame, several characters, along curves and to targets."""

from __future__ import annotations

import math
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host, performing, steering
from motion_matching.app.runtime import runtime
from motion_matching.engine.performance import performance
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.staging import placements
from motion_matching.scene.writing import recording
from tests.scene.keys import read_channels
from tests.steps import run_steps
from tests.ui.characters import CLIPS, add_character, create_character, expect_refusal, read_state
from tests.ui.drawn import RecordingLayout, draw_panels
from tests.ui.takes.test_list_of_takes import read_path

ops = bpy.ops.motion_matching


@pytest.fixture(autouse=True)
def obj():
    obj = create_character()
    ops.add_actions()
    bpy.context.preferences.edit.use_global_undo = True
    return obj


def read_performance(action):
    part = recording.read_recorded_parts(action)[0]
    return performance.from_json(part["performance"], "the take")


def add_curve(points, name="Path", cyclic=False):
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("POLY")
    spline.points.add(len(points) - 1)
    for point, (x, y) in zip(spline.points, points, strict=True):
        point.co = (x, y, 0.0, 1.0)
    spline.use_cyclic_u = cyclic
    obj = bpy.data.objects.new(name, curve)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def add_target(x, y, name="Goal"):
    target = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(target)
    target.location = x, y, 0.0
    bpy.context.view_layer.update()
    return target


@pytest.mark.slow
def test_takes_are_blended_as_the_controller_chooses_and_again_as_they_were(obj):
    controller = obj.motion_matching.controller
    prices = []
    for kind, shown in (("spring", "Spring"), ("cubic", "Cubic")):
        controller.inertialization = kind
        items = controller.bl_rna.properties["inertialization"].enum_items
        assert items[kind].name == shown
        assert draw_panels() > 5
        ops.bake_script(script="flips", seconds=6.0)
        recorded = read_performance(obj.motion_matching.takes[-1].action)
        assert recorded.settings["inertialization"] == kind
    settings = obj.motion_matching
    settings.take_index, settings.compare_with = 0, settings.takes[1].action
    for now in ("cubic", "spring"):  # whatever is chosen now
        controller.inertialization = now
        assert ops.compare_takes() == {"FINISHED"}
        rows = runtime.comparisons[obj.session_uid].rows
        [row] = [row for row in rows if row.label.startswith("Jump Price")]
        prices.append((float(row.first), float(row.second)))
    assert prices[0] == prices[1]
    assert prices[0][0] != prices[0][1]


def test_a_take_begins_at_the_start_of_the_scene(obj):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 11, 400
    scene.frame_set(77)
    ops.bake_script(script="square", seconds=2.0)
    ops.bake_script(script="square", seconds=2.0, frame_start=30)
    ops.bake_script(script="square", seconds=2.0)  # the frame of the last time does not stay
    takes = obj.motion_matching.takes
    assert [take.action.frame_range[0] for take in takes] == [11, 30, 11]
    assert scene.frame_current == 77


def test_a_take_begins_where_the_character_is_in_its_first_frame(obj):
    takes = obj.motion_matching.takes
    ops.bake_script(script="square", seconds=4.0)
    first = read_path(obj, takes[0].action, 96)
    bpy.context.scene.frame_set(50)
    obj.pose.bones["Head"].location.x = 0.25  # without a key
    placements.sample_matrices(obj, [90])
    assert obj.pose.bones["Head"].location.x == 0.25
    ops.bake_script(script="flips", seconds=2.0, frame_start=90)
    second = read_path(obj, takes[1].action, 95)
    np.testing.assert_allclose(second[89], first[89], atol=0.05)


@pytest.mark.parametrize("root", ["OBJECT", "HIPS"])
def test_a_take_goes_on_from_the_motion_of_the_take_that_it_begins_in(obj, root):
    obj.motion_matching.root = root
    takes = obj.motion_matching.takes
    ops.bake_script(script="square", seconds=5.0)
    first = takes[0].action

    def read_bones(action, frame):
        actions.assign(obj, action)
        bpy.context.scene.frame_set(frame)
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        bones = evaluated.pose.bones
        return np.array([(evaluated.matrix_world @ bone.matrix).translation for bone in bones])

    before = [read_bones(first, frame) for frame in (79, 80, 81)]
    walking = np.linalg.norm(before[2] - before[0], axis=1).max()
    assert walking > 0.1
    ops.bake_script(script="square", seconds=3.0, frame_start=81)
    second = takes[1].action
    assert read_performance(second).start is not None
    apart = np.linalg.norm(read_bones(second, 81) - before[2], axis=1)
    assert apart.max() < 0.12, apart
    # from its first frame on, a take is performed anew
    actions.assign(obj, first)
    bpy.context.scene.frame_set(50)
    ops.bake_script(script="flips", seconds=3.0, frame_start=1)
    assert read_performance(takes[2].action).start is None


@pytest.mark.slow
def test_a_script_lasts_as_long_as_it_needs(obj):
    assert ops.bake_script(script="figure_eight") == {"FINISHED"}
    [take] = obj.motion_matching.takes
    path = read_path(obj, take.action, math.floor(take.action.frame_range[1]))
    size = np.ptp(path, axis=0)
    assert np.linalg.norm(path[-1] - path[0]) < 0.05 * size.max()
    assert size[0] == pytest.approx(2.0 * size[1], rel=0.1)
    assert np.linalg.norm(path[-1] - path[-2]) * 24.0 < 0.1


def test_a_take_that_is_longer_than_the_scene_makes_it_longer_or_says_so(obj, capfd):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 30
    obj.motion_matching.set_frame_range = False
    ops.bake_script(script="square", seconds=2.0)
    assert "from frame 1 on. It ends at frame 48, the scene at 30" in capfd.readouterr().out
    assert (scene.frame_start, scene.frame_end) == (1, 30)
    obj.motion_matching.property_unset("set_frame_range")
    ops.bake_script(script="square", seconds=2.0)
    assert "from frame 1 on. The scene now ends at frame 48" in capfd.readouterr().out
    assert (scene.frame_start, scene.frame_end) == (1, 48)
    ops.bake_script(script="square", seconds=1.0, frame_start=10)
    assert "from frame 10 on\n" in capfd.readouterr().out
    assert (scene.frame_start, scene.frame_end) == (1, 48), "a shorter take changes nothing"


def test_the_pose_menu_bakes_what_the_panel_shows(obj):
    layout = RecordingLayout()
    obj.motion_matching.script.along = "curve"
    bpy.types.VIEW3D_MT_motion_matching.draw(SimpleNamespace(layout=layout), bpy.context)
    assert "motion_matching.bake_along" in layout.operators


@pytest.mark.slow
def test_selected_characters_are_baked_at_once_each_by_its_own_settings(obj):
    other, empty = add_character("Second"), add_character("Third", CLIPS[:1])
    ops.add_actions()  # of the last one
    bpy.context.view_layer.objects.active = other
    ops.add_actions()
    empty.motion_matching.sources.clear()
    script = other.motion_matching.script
    script.script, script.gait, script.seconds = "flips", "run", 3.0
    script.use_frame_start, script.frame_start = True, 20
    bpy.context.view_layer.objects.active = obj
    for one in (obj, other, empty):
        one.select_set(True)

    ops.bake_script(script="square", seconds=2.0)  # alone, unless all are asked for
    assert len(obj.motion_matching.takes) == 1
    assert not other.motion_matching.takes
    bpy.ops.ed.undo_push(message="before")
    before = read_state()
    assert ops.bake_script(
        "EXEC_DEFAULT", True, script="square", seconds=2.0, all_selected=True
    ) == {"FINISHED"}
    assert [take.action.name for take in obj.motion_matching.takes] == [
        "Square Walk",
        "Square Walk 02",
    ]
    [take] = other.motion_matching.takes
    assert take.action.name == "Flips Run"
    assert tuple(take.action.frame_range) == (20, 20 + 72 - 1)
    assert not empty.motion_matching.takes
    bpy.ops.ed.undo()
    assert read_state()["takes"] == before["takes"]


@pytest.mark.slow
def test_characters_that_cannot_are_named_and_the_others_are_done(obj):
    from motion_matching.app.takes import baking
    from motion_matching.ui.takes import operators

    other = add_character("Second")
    bpy.context.view_layer.objects.active = other
    ops.add_actions()
    roots = other.motion_matching
    roots.root, roots.root_bone = "BONE", "Hips"  # which cannot carry the body that it is part of
    script = obj.motion_matching.script
    script.seconds = 2.0
    plans = [(one, operators.make_plan(script, 1)) for one in (other, obj)]
    message, refused = run_steps(baking.bake_steps(plans))
    assert message.startswith("Baked 'Figure Eight Walk'")
    assert len(refused) == 1
    assert "'Second' was left out" in refused[0]
    assert "Hips" in refused[0]
    assert len(obj.motion_matching.takes) == 1
    assert not other.motion_matching.takes
    expect_refusal(ops.bake_script, "Hips", seconds=2.0)


@pytest.mark.slow
def test_nothing_is_baked_before_all_are_performed(obj):
    from motion_matching.app.takes import baking
    from motion_matching.ui.takes import operators

    other = add_character("Second")
    bpy.context.view_layer.objects.active = other
    ops.add_actions()
    script = obj.motion_matching.script
    script.seconds = 2.0
    plans = [(one, operators.make_plan(script, 1)) for one in (obj, other)]
    before = read_state()
    steps = baking.bake_steps(plans)
    shown = []
    for progress in steps:
        shown.append(progress)
        if progress[0].startswith("Second: Performing"):
            break
    steps.close()  # as Esc does
    assert any(text.startswith("Hero: ") for text, _ in shown)
    parts = [part for _, part in shown]
    assert max(parts) <= 1.0
    after = read_state()
    assert {name: after[name] for name in after if name != "keys"} == {
        name: before[name] for name in before if name != "keys"
    }


@pytest.mark.parametrize("root", ["OBJECT", "HIPS"])
def test_editors_show_keys_of_a_take_without_a_selected_bone(obj, root):
    """They leave out bones that are not selected, but not a group that is pinned."""
    obj.motion_matching.root = root
    ops.bake_script(script="square", seconds=2.0)
    action = obj.motion_matching.takes[0].action
    bag = actions.get_channelbag(action)
    pinned = {group.name for group in bag.groups if group.use_pin}
    shown = [
        curve
        for curve in bag.fcurves
        if not curve.data_path.startswith("pose.bones") or curve.group.name in pinned
    ]
    assert any(len(curve.keyframe_points) == 48 for curve in shown)
    assert pinned == ({"Hips"} if root == "HIPS" else set())


# ---------------------------------------------------------------- along


def perform_live(obj, leader, *, record=True):
    """Record a live session that is led from its first tick to its end; return the take."""
    play = obj.motion_matching.play
    play.steer = leader
    ready = run_steps(performing.prepare_steps(obj))
    _, method, settings = ready

    def create_input(ground):
        return steering.create_input(play, Keyboard(), (), settings, method.fps, ground)

    live = performing.start(obj, *ready, Keyboard(), create_input, 0.0)
    if record:
        live.toggle_recording()
    for tick in range(2000):
        if runtime.live is None:
            break
        live.tick(tick / method.fps, 0.0)
    host.end()
    return live, obj.motion_matching.takes[-1].action


@pytest.mark.slow
def test_a_bake_along_a_curve_is_the_live_take(obj):
    settings = obj.motion_matching
    settings.play.curve = add_curve([(1.0, 1.0), (1.0, -3.0), (4.0, -5.0)])
    expect_refusal(ops.bake_along, "no object to go to", "in the panel Takes", along="target")
    live, recorded = perform_live(obj, "curve")
    assert "Reached the end of the curve" in live.ending
    assert runtime.end_message == ""  # it is nothing to warn of
    ops.bake_again(use_markers=False)
    again = settings.takes[-1].action

    assert ops.bake_along(along="curve") == {"FINISHED"}
    baked = settings.takes[-1].action
    assert baked.name.startswith("Along Path Walk")
    assert read_performance(baked).intents == read_performance(recorded).intents
    mine, theirs = read_channels(baked), read_channels(again)
    assert mine.keys() == theirs.keys()
    assert all(np.array_equal(mine[key], theirs[key]) for key in mine)
    path = read_path(obj, baked, math.floor(baked.frame_range[1]))
    assert np.linalg.norm(path[0] - (1.0, 1.0)) < 0.1
    assert np.linalg.norm(path[-1] - (4.0, -5.0)) < 0.3
    # a length of one's own: it stands at the end
    ops.bake_along(along="curve", seconds=settings.takes[-1].seconds + 3.0)
    longer = read_path(obj, settings.takes[-1].action, math.floor(baked.frame_range[1]) + 72)
    assert np.ptp(longer[-60:], axis=0).max() < 0.1


def test_a_live_session_along_a_curve_records_from_its_first_tick(obj):
    settings = obj.motion_matching
    settings.play.curve = add_curve([(0.0, 0.0), (0.0, -2.0)])
    settings.play.record_at_start = True
    live, recorded = perform_live(obj, "curve", record=False)
    assert live.takes == ["Along Path Walk"]
    ops.bake_along(along="curve")
    assert read_performance(recorded).intents == read_performance(settings.takes[-1].action).intents


def test_a_recording_from_the_start_waits_for_the_first_key(obj):
    settings = obj.motion_matching
    settings.play.record_at_start = True
    ready = run_steps(performing.prepare_steps(obj))
    keyboard, fps = Keyboard(), ready[0].fps
    live = performing.start(obj, *ready, keyboard, SteeringInput(keyboard), 0.0)
    for tick in range(1, 71):
        if tick == 31:
            assert live.session.is_waiting
            assert not live.session.is_recording
            keyboard.handle("W", "PRESS")
        live.tick(tick / fps, 0.0)
    assert live.session.is_recording
    host.end()
    [take] = settings.takes
    part = recording.read_recorded_parts(take.action)[0]
    moves = [intent.move != (0.0, 0.0) for intent in read_performance(take.action).intents]
    assert part["ticks"] == 40
    assert moves == [False] * part["lead_in"] + [True] * 40

    # while it waits, the button begins at once; in a session that was never steered nothing is made
    live = performing.start(obj, *ready, keyboard, SteeringInput(Keyboard()), 0.0)
    live.tick(1.0 / fps, 0.0)
    live.toggle_recording()
    assert live.session.is_recording
    assert not live.session.is_waiting
    live.session.discard_recording()
    host.end()
    assert len(settings.takes) == 1


def test_a_closed_curve_is_followed_for_a_lap(obj):
    angles = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    circle = 2.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    obj.motion_matching.play.curve = add_curve(circle.tolist(), cyclic=True)
    ops.bake_along(along="curve")
    [take] = obj.motion_matching.takes
    path = read_path(obj, take.action, math.floor(take.action.frame_range[1]))
    turned = np.unwrap(np.arctan2(path[:, 1], path[:, 0]))
    assert abs(turned[-1] - turned[0]) == pytest.approx(2.0 * np.pi, abs=0.3)


def test_a_bake_to_a_target_ends_there(obj):
    settings = obj.motion_matching
    settings.play.target = add_target(3.0, -4.0)
    assert ops.bake_along(along="target", gait="run") == {"FINISHED"}
    [take] = settings.takes
    assert take.action.name == "To Goal Run"
    assert 3.0 < take.seconds < 12.0
    path = read_path(obj, take.action, math.floor(take.action.frame_range[1]))
    assert np.linalg.norm(path[-1] - (3.0, -4.0)) < 0.6
    performed = read_performance(take.action)
    assert performed.intents[0].gait == 1.0


def test_a_bake_follows_a_target_that_moves_over_the_frames(obj):
    settings, scene = obj.motion_matching, bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 240
    target = settings.play.target = add_target(0.0, -1.0)
    for frame, y in ((1, -1.0), (200, -9.0)):
        target.location.y = y
        target.keyframe_insert("location", frame=frame)
    scene.frame_set(50)
    assert ops.bake_along(along="target") == {"FINISHED"}
    assert scene.frame_current == 50
    [take] = settings.takes
    assert take.seconds == pytest.approx(10.0, abs=0.1)
    path = read_path(obj, take.action, 240)
    assert np.linalg.norm(path[-1] - (0.0, -9.0)) < 0.6
    assert path[100, 1] > -6.0


def test_a_bake_repeats_a_recording(obj):
    settings = obj.motion_matching
    ops.bake_script(script="square", seconds=5.0)
    first = settings.takes[0].action
    settings.play.take = first
    settings.script.seconds = 0.0
    assert ops.bake_along(along="take") == {"FINISHED"}
    again = settings.takes[1].action
    assert again.name == "Repeat of Square Walk"
    mine, theirs = read_channels(again), read_channels(first)
    assert mine.keys() == theirs.keys()
    assert all(np.allclose(mine[key], theirs[key], atol=1e-6) for key in mine)
