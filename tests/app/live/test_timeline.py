"""Recording with the timeline: one tick per frame, other animation plays along, and no stale pose
is shown.
"""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host
from motion_matching.app.runtime import runtime
from motion_matching.scene.blender.animation import actions
from tests.live.hero import Hero, toggle_playback
from tests.live.stage import FPS, get_bone_matrices
from tests.scene.keys import read_channels


def is_playing():
    return bpy.context.window_manager.windows[0].screen.is_animation_playing


def create_other():
    # another object whose position tells which frame is evaluated
    obj = bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(obj)
    with actions.create_action("Elsewhere", obj) as action:
        actions.write_channel(
            action,
            "location",
            np.array([1.0, 101.0]),
            np.array([[0.0, 100.0], [0, 0], [0, 0]]),
            "Object",
        )
    return obj


def test_each_timeline_frame_makes_one_tick_and_one_key() -> None:
    hero = Hero(timeline=True)
    scene, beside = bpy.context.scene, create_other()
    scene.frame_set(20)
    live = hero.start()
    hero.run(15)  # the clock leads until recording starts
    assert not is_playing()
    assert not live.session.is_recording
    live.toggle_recording()
    assert is_playing(), "a recording with the timeline starts it"
    hero.run(10)  # no time passes while the timeline stands still
    assert live.session.recorded_seconds == 0.0
    seen = hero.play(*range(21, 81))
    assert abs(live.session.recorded_seconds - 60 / FPS) < 1e-9
    assert abs(beside.matrix_world.translation.x - 79.0) < 1e-4  # at frame 80
    assert np.abs(np.diff([s[:, :3, 3].mean(axis=0) for s in seen], axis=0)).max() > 0.003, (
        "nothing moved"
    )
    live.toggle_recording()
    assert not is_playing(), "ending the recording stops the playback that it started"
    take = hero.obj.motion_matching.takes[0].action
    assert np.allclose(take.frame_range, (21, 80)), tuple(take.frame_range)
    hero.run(10)  # the clock leads again
    assert runtime.live is live
    host.end()
    # the take has, at each frame, the pose that was shown there
    assert hero.obj.animation_data.action == take
    for frame in (21, 22, 37, 60, 80):
        scene.frame_set(frame)
        np.testing.assert_allclose(
            get_bone_matrices(hero.obj), seen[frame - 21], atol=2e-4, err_msg=str(frame)
        )


def test_dropped_frames_leave_keys_at_their_times() -> None:
    for fps in (24, round(FPS), 60):
        hero = Hero(timeline=True)
        scene = bpy.context.scene
        scene.render.fps, step = fps, fps / FPS
        scene.frame_set(10)
        live = hero.start()
        hero.run(7)
        live.toggle_recording()
        frame, rng = 10, np.random.default_rng(fps)
        for gap in rng.integers(1, 6, 20).tolist():
            frame += gap
            hero.play(frame)
        live.toggle_recording()
        action = hero.obj.motion_matching.takes[0].action
        keys = read_channels(action)['pose.bones["Spine"].rotation_quaternion', 1][:, 0]
        ticks = int((frame - 10) / step + 1e-6)
        np.testing.assert_allclose(keys, 10 + step * np.arange(1, ticks + 1), atol=1e-3)
        host.end()


def test_a_recording_ends_when_the_timeline_jumps_or_stops() -> None:
    def start_recording():
        hero = Hero(timeline=True)
        bpy.context.scene.frame_set(40)
        live = hero.start()
        hero.run(5)
        live.toggle_recording()
        hero.play(*range(41, 61))
        return hero, live

    # looping, jumping back, jumping far ahead and stopping each end the recording where it was
    for leap in (
        lambda hero: hero.play(1, 2, 3),
        lambda hero: hero.play(55, 56),
        lambda hero: hero.play(60 + 10 * round(FPS)),
        lambda hero: (toggle_playback(), hero.run(3)),
    ):
        hero, live = start_recording()
        leap(hero)
        assert runtime.live is live
        assert not live.session.is_recording
        assert not is_playing()
        [take] = hero.obj.motion_matching.takes
        assert np.allclose(take.action.frame_range, (41, 60)), tuple(take.action.frame_range)
        assert any("timeline" in line for line in live.messages), live.messages
        before = live.session._frame.character
        hero.run(20)
        assert live.session._frame.character != before
        host.end()

    # without a recording, a looping timeline does not move the character back
    hero = Hero(timeline=True)
    live = hero.start()
    toggle_playback()
    hero.run(1)
    hero.play(*range(2, 30))
    ticks = len(live.session._history.intents)
    assert ticks == 28, ticks
    hero.play(1, 2, 3, 500, 501)
    assert len(live.session._history.intents) == ticks + 3
    toggle_playback()
    hero.run(5)
    assert len(live.session._history.intents) > ticks + 3
    assert not is_playing()
    host.end()

    # recording cannot start at the end of the timeline
    hero = Hero(timeline=True)
    bpy.context.scene.frame_set(bpy.context.scene.frame_end)
    live = hero.start()
    live.toggle_recording()
    assert not live.session.is_recording
    assert not is_playing()
    assert str(bpy.context.scene.frame_end) in live.messages[-1], live.messages
    host.end()


def test_takes_are_overwritten_and_appended_to_along_the_timeline() -> None:
    hero = Hero(seconds=20.0, timeline=True)
    scene, play = bpy.context.scene, hero.obj.motion_matching.play
    live = hero.start()
    spine = 'pose.bones["Spine"].rotation_quaternion', 1

    def record(*frames):
        live.toggle_recording()
        assert live.session.is_recording, live.messages
        hero.play(*frames)
        live.toggle_recording()
        return read_channels(hero.obj.animation_data.action)[spine]

    scene.frame_set(10)
    first = record(*range(11, 61))
    take = hero.obj.animation_data.action
    assert np.array_equal(first[:, 0], np.arange(11, 61))

    play.mode = "overwrite"
    scene.frame_set(30)
    second = record(*range(31, 41))
    assert hero.obj.animation_data.action == take
    assert np.array_equal(second[:, 0], first[:, 0])
    before, inside = second[:, 0] <= 30, (second[:, 0] > 30) & (second[:, 0] <= 40)
    assert np.array_equal(second[before], first[before])
    assert not np.array_equal(second[inside], first[inside])

    play.mode = "append"
    scene.frame_set(3)
    live.toggle_recording()
    assert scene.frame_current == 60, "the timeline goes to the end of the take"
    hero.play(*range(61, 71))
    live.toggle_recording()
    third = read_channels(take)[spine]
    assert np.array_equal(third[:, 0], np.arange(11, 71))
    assert np.array_equal(third[:50], second)
    assert len(hero.obj.motion_matching.takes) == 1
    host.end()


@pytest.mark.slow
def test_every_ending_stops_the_playback_that_recording_started(tmp_path: Path) -> None:
    # every ending stops the playback that the recording started, and keeps the take
    for end in (
        lambda _: host.end(),
        lambda _: bpy.ops.ed.undo(),
        lambda hero: setattr(hero.obj, "data", bpy.data.armatures.new("Other")),
        lambda _: bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend")),
    ):
        hero = Hero(timeline=True)
        bpy.ops.ed.undo_push(message="the hero")
        bpy.ops.ed.undo_push(message="something else")
        live = hero.start()
        live.toggle_recording()
        hero.play(*range(2, 50))
        end(hero)
        hero.run(3)
        assert runtime.live is None
        assert not is_playing()
        [take] = [
            action for action in bpy.data.actions if action.name.startswith(("Live", "Recovered"))
        ]
        assert np.allclose(take.frame_range, (2, 49)), tuple(take.frame_range)

    # an error during a frame change ends the session after that change
    hero = Hero(timeline=True)
    live = hero.start()
    live.toggle_recording()
    hero.play(*range(2, 20))

    def raise_error(*_):
        raise ValueError("broken")

    live.session.performer.step = raise_error
    hero.play(20, 21)
    assert runtime.live is None
    assert "An error" in live.ending
    assert not is_playing()
    assert np.allclose(hero.obj.animation_data.action.frame_range, (2, 19))

    # playback started by the user continues
    hero = Hero(timeline=True)
    live = hero.start()
    toggle_playback()
    live.toggle_recording()
    hero.play(2, 3, 4, 5, 6)
    live.toggle_recording()
    host.end()
    assert is_playing()
    toggle_playback()


def test_an_armature_deleted_while_recording_is_named() -> None:
    hero = Hero(timeline=True)
    live = hero.start()
    live.toggle_recording()
    hero.play(*range(2, 20))
    bpy.data.objects.remove(hero.obj)
    hero.now += 1.0  # the settings are due for a check as well
    hero.run(3)
    assert runtime.live is None
    assert "'Hero'" in live.ending, live.ending
    assert not is_playing()


def test_the_frame_may_change_right_after_a_recording_starts() -> None:
    for plays in (True, False):
        hero = Hero(timeline=plays)
        live = hero.start()
        toggle_playback()
        for frame in range(2, 9):
            live.toggle_recording()
            hero.play(frame)
        host.end()
        toggle_playback()


def test_without_the_setting_timeline_playback_changes_nothing() -> None:
    # without the setting the clock leads, and keys start at the current frame
    hero = Hero()
    bpy.context.scene.frame_set(20)
    live = hero.start()
    toggle_playback()
    live.toggle_recording()
    hero.run(30)
    here = get_bone_matrices(hero.obj)
    [seen] = hero.play(400, timers=0)
    np.testing.assert_allclose(seen, here, atol=1e-5)
    host.end()
    assert is_playing()
    assert np.allclose(hero.obj.animation_data.action.frame_range, (20, 49))
