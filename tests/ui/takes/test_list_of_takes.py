"""The list of takes: perform again, keep, discard, rename, compare."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host, performing, steering
from motion_matching.app.runtime import runtime
from motion_matching.app.strip import state
from motion_matching.app.strip import warnings as app_warnings
from motion_matching.app.takes import comparing
from motion_matching.engine.errors import MotionMatchingError
from motion_matching.engine.ground.ground import FLAT
from motion_matching.engine.performance import performance
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.writing import recording
from tests.scene.keys import read_channels
from tests.steps import run_steps
from tests.ui.characters import create_character, expect_refusal, read_state

ops = bpy.ops.motion_matching


@pytest.fixture(autouse=True)
def obj():
    obj = create_character()
    ops.add_actions()
    bpy.context.preferences.edit.use_global_undo = True
    return obj


def read_path(obj, action, last):
    """Return the object's ground positions in frames 1 to `last`."""
    found = actions.get_active_curves(action, actions.find_slot(action, obj))
    curves = {(c.data_path, c.array_index): c for c in found}
    frames = range(1, last + 1)
    return np.array([[curves["location", k].evaluate(f) for k in (0, 1)] for f in frames])


@pytest.mark.slow
def test_bake_again_uses_the_current_settings(obj):
    settings = obj.motion_matching

    def read_performance(action):
        return performance.from_json(
            recording.read_recorded_parts(action)[0]["performance"], "the take"
        )

    ops.bake_script(script="stop_and_go", seconds=4.0)
    first = settings.takes[0].action
    assert read_performance(first).settings["velocity_halflife"] == 0.27

    # the current settings count, not the recorded ones or their changes
    part = recording.read_recorded_parts(first)[0]
    text = json.loads(part["performance"])
    text["changes"] = [[30, {"velocity_halflife": 0.1}]]
    del first[recording.PARTS]
    recording.store_performance(first, json.dumps(text), part["frame"], part["ticks"], part["fps"])
    settings.controller.velocity_halflife = 1.5
    assert ops.bake_again() == {"FINISHED"}
    calm = settings.takes[1].action
    assert read_performance(calm).settings["velocity_halflife"] == 1.5
    paths = [read_path(obj, action, 96) for action in (first, calm)]
    went = [np.linalg.norm(positions[71] - positions[0]) for positions in paths]
    assert went[1] < 0.8 * went[0], went

    # the first take's settings give the first take
    settings.controller.velocity_halflife = 0.27
    settings.take_index = 1
    ops.bake_again(use_markers=False)
    again = read_path(obj, settings.takes[2].action, 96)
    np.testing.assert_allclose(again, read_path(obj, first, 96), atol=1e-4)

    # tweak mode, which prevents a new action, is reported first
    settings.use_nla, settings.take_index = True, 0
    ops.bake_again()
    data = obj.animation_data
    track = data.nla_tracks[-1]
    data.nla_tracks.active, track.strips[0].select = track, True
    data.use_tweak_mode = True
    assert data.use_tweak_mode
    for operator in (ops.bake_again, ops.play_take):
        assert not operator.poll()
        expect_refusal(operator, "tweak mode")
    data.use_tweak_mode = False


@pytest.mark.slow
def test_bake_again_keeps_both_recordings_of_a_take(obj):
    settings = obj.motion_matching
    ready = run_steps(performing.prepare_steps(obj))

    def record(key, seconds):
        keyboard = Keyboard()
        live = performing.start(obj, *ready, keyboard, SteeringInput(keyboard), 0.0)
        keyboard.handle(key, "PRESS")
        keyboard.handle("SPACE", "PRESS")
        for tick in range(round(seconds * ready[0].fps) + 1):
            live.tick((tick + 1) / ready[0].fps, 0.5)
        host.end()

    record("W", 2.5)
    settings.play.mode = "append"
    record("S", 1.25)
    [take] = settings.takes
    assert tuple(take.action.frame_range) == (1, 90)
    assert len(recording.read_recorded_parts(take.action)) == 2
    assert ops.bake_again(use_markers=False) == {"FINISHED"}
    again = settings.takes[1]
    assert tuple(again.action.frame_range) == (1, 90)
    assert abs(again.seconds - 3.75) < 1e-4
    whole = read_path(obj, again.action, 90)
    np.testing.assert_allclose(whole, read_path(obj, take.action, 90), atol=0.02)

    # once more from the baked take
    assert ops.bake_again(use_markers=False) == {"FINISHED"}
    np.testing.assert_allclose(read_path(obj, settings.takes[2].action, 90), whole, atol=1e-4)

    # a take of a bone collection stays one, with its keys for the other bones
    legs = {bone.name for bone in obj.data.bones if "Leg" in bone.name or "Foot" in bone.name}
    collection = obj.data.collections.new("Legs")
    for name in legs:
        collection.assign(obj.data.bones[name])
    settings.play.collection, settings.play.mode = "Legs", "new"
    record("D", 1.0)
    part = settings.takes[-1].action
    settings.controller.velocity_halflife = 1.5
    actions.assign(obj, take.action)  # the assigned action does not matter
    assert ops.bake_again(use_markers=False) == {"FINISHED"}
    redone, kept = read_channels(settings.takes[-1].action), read_channels(part)
    assert settings.takes[-1].action != part
    assert legs
    assert redone.keys() == kept.keys()
    of_legs = {key for key in kept if any(f'"{name}"' in key[0] for name in legs)}
    assert all(np.array_equal(redone[key], kept[key]) for key in kept.keys() - of_legs)
    assert not all(np.array_equal(redone[key], kept[key]) for key in of_legs)
    collection.name = "Lower"
    expect_refusal(ops.bake_again, "no bone collection 'Legs'")


def test_takes_can_be_kept_and_discarded(obj):
    settings = obj.motion_matching

    def list_takes():
        return [take.action.name for take in bpy.data.objects["Hero"].motion_matching.takes]

    def list_texts():
        return sorted(text.name for text in bpy.data.texts)

    for script in ("square", "flips", "random"):
        settings.use_nla = script == "flips"
        ops.bake_script(script=script, seconds=1.0)
    assert not any(take.is_kept for take in settings.takes)
    assert len(list_texts()) == 3
    settings.takes[1].action.name = "The Good One"  # as a double click in the list
    settings.takes[1].is_kept = True
    settings.take_index = 1
    expect_refusal(ops.remove_take, "is locked")

    # discarding removes action, performance, strip and track; undo restores them
    settings.takes[1].is_kept = False
    bpy.ops.ed.undo_push(message="before")
    assert ops.remove_take("EXEC_DEFAULT", True) == {"FINISHED"}
    assert list_takes() == ["Square Walk", "Random Walk"]
    assert len(list_texts()) == 2
    assert "The Good One" not in bpy.data.actions
    assert not bpy.data.objects["Hero"].animation_data.nla_tracks
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Hero"]
    settings = obj.motion_matching
    assert list_takes() == ["Square Walk", "The Good One", "Random Walk"]
    assert len(list_texts()) == 3
    strips = [strip for track in obj.animation_data.nla_tracks for strip in track.strips]
    assert [strip.action.name for strip in strips] == ["The Good One"]

    # discard all but kept ones
    settings.takes[1].is_kept = True
    assert ops.discard_takes() == {"FINISHED"}
    assert list_takes() == ["The Good One"]
    assert settings.take_index == 0
    assert len(list_texts()) == 1
    expect_refusal(ops.discard_takes, "All takes are locked")

    # a kept take survives its character
    bpy.data.objects.remove(obj)
    bpy.data.orphans_purge()
    assert "The Good One" in bpy.data.actions


@pytest.mark.slow
def test_two_takes_are_compared_during_playback(obj):
    settings = obj.motion_matching

    ops.bake_script(script="square", seconds=6.0)
    settings.controller.foot_lock = False
    obj.animation_data.action = None
    obj.matrix_world.identity()
    expect_refusal(ops.compare_takes, "Choose another")
    ops.bake_script(script="square", seconds=4.0)
    locked, free = (take.action for take in settings.takes)
    settings.take_index, settings.compare_with = 0, free
    before = read_state()
    assert ops.compare_takes() == {"FINISHED"}
    assert read_state() == before
    found = runtime.comparisons[obj.session_uid]
    assert found.names == (locked.name, free.name)
    assert not found.warnings

    def get_numbers(label):
        rows = runtime.comparisons[obj.session_uid].rows
        row = next(row for row in rows if row.label.startswith(label))
        return [float(text) if text else None for text in row[1:]]

    assert get_numbers("Length")[:2] == [6.0, 4.0]
    slides = get_numbers("Foot Slide")
    assert slides[0] < slides[1], slides
    assert get_numbers("In Contact")[0] < 0.5 * get_numbers("In Contact")[1]
    assert all(0.1 < price < 30.0 for price in get_numbers("Jump Price")[:2])
    desired, reached = get_numbers("Desired"), get_numbers("Reached")
    assert all(abs(a - b) < 0.2 * b for a, b in zip(reached[:2], desired[:2], strict=False))

    # the playing motion is measured: feet dragged over the ground slide
    for curve in actions.get_channelbag(locked).fcurves:
        if curve.data_path == "location" and curve.array_index == 0:
            for number, point in enumerate(curve.keyframe_points):
                point.co[1] += 0.02 * number / 24
    assert ops.compare_takes() == {"FINISHED"}
    assert get_numbers("Foot Slide")[0] > slides[0] + 0.5
    assert get_numbers("Foot Slide")[1] == slides[1]

    # other clips give another motion, which is reported, without rows about its frames
    settings.sources[1].enabled = settings.sources[2].enabled = False
    assert ops.compare_takes() == {"FINISHED"}
    found = runtime.comparisons[obj.session_uid]
    assert {item.about for item in found.warnings} == {(locked.name,), (free.name,)}
    shown = state.get_warnings(obj, "takes")
    assert list(found.warnings) == shown, "they are among the warnings of the tab"
    settings.take_index = 0
    [select] = shown[-1].buttons
    assert ops.select_take(**dict(select.properties)) == {"FINISHED"}
    assert settings.takes[settings.take_index].action.name == shown[-1].about[0]
    app_warnings.dismiss(obj.session_uid, shown[0].identity)
    assert state.get_warnings(obj, "takes") == shown[1:]
    assert not any(row.label.startswith(("Jump", "Price")) for row in found.rows)
    assert get_numbers("Foot Slide")[0] > slides[0]


@pytest.mark.slow
def test_speeds_that_are_steady_nowhere_stay_empty(obj):
    settings = obj.motion_matching
    for seconds in (4.0, 0.9):
        ops.bake_script(script="square", seconds=seconds)
    settings.take_index, settings.compare_with = 1, settings.takes[0].action
    assert ops.compare_takes() == {"FINISHED"}
    rows = {row.label.split()[0]: row for row in runtime.comparisons[obj.session_uid].rows}
    for label in ("Desired", "Reached"):
        assert rows[label].first == "", label
        assert float(rows[label].second) > 0.5, label
    settings.takes.remove(0)
    ops.bake_script(script="square", seconds=0.8)
    settings.take_index, settings.compare_with = 0, settings.takes[1].action
    assert ops.compare_takes() == {"FINISHED"}
    rows = [row.label.split()[0] for row in runtime.comparisons[obj.session_uid].rows]
    assert "Length" in rows
    assert "Desired" not in rows, "known for neither"


def test_a_take_without_its_text_is_reported_and_can_be_discarded(obj):
    settings = obj.motion_matching

    for _ in range(2):
        ops.bake_script(script="square", seconds=1.0)
    lost, kept = (take.action for take in settings.takes)
    settings.take_index, settings.compare_with = 0, kept
    part = recording.read_recorded_parts(lost)[0]
    bpy.data.texts.remove(bpy.data.texts[f"{lost.name}.performance.json"])

    # every operator that needs the performance says that it is missing, and what to do
    expect_refusal(ops.bake_again, "has lost its performance", "bake or record another")
    expect_refusal(ops.compare_takes, "has lost its performance")
    settings.take_index, settings.compare_with = 1, lost
    reason = "has lost its performance", "bake or record another"
    expect_refusal(ops.compare_takes, repr(lost.name), *reason)
    settings.play.steer, settings.play.take = "take", lost
    with pytest.raises(MotionMatchingError) as caught:
        steering.create_input(settings.play, Keyboard(), (), PerformerSettings(), 24.0, FLAT)
    assert repr(lost.name) in str(caught.value), caught.value
    assert "bake or record another" in str(caught.value), caught.value

    # more can be recorded into it, and it is discarded completely
    recording.store_performance(lost, part["performance"], 25.0, part["ticks"], part["fps"])
    assert not recording.has_performance(lost)
    assert len(bpy.data.texts) == 2
    settings.take_index, settings.compare_with = 0, None
    name = lost.name
    assert ops.remove_take() == {"FINISHED"}
    assert [take.action for take in settings.takes] == [kept]
    assert name not in bpy.data.actions
    assert [text.name for text in bpy.data.texts] == [f"{kept.name}.performance.json"]


@pytest.mark.slow
def test_a_take_whose_contacts_were_edited_goes_the_same_way(obj):
    settings = obj.motion_matching
    ops.bake_script(script="figure_eight", seconds=4.0)
    first = settings.takes[0].action
    for marker in [m for m in first.pose_markers if m.name.startswith("left foot")]:
        first.pose_markers.remove(marker)
    for name, frame in (("left foot plant", 1), ("left foot lift", 90)):
        first.pose_markers.new(name).frame = frame
    assert ops.bake_again() == {"FINISHED"}
    edited = settings.takes[1].action
    assert run_steps(comparing.compare_steps(obj, edited, edited)).warnings == ()
