"""Every ending of a live session ends it once, with one message, restores the character and keeps
the recording.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import bpy
import numpy as np
import pytest

import motion_matching
from motion_matching.app.live import host, performing
from motion_matching.app.runtime import runtime
from motion_matching.app.takes import recordings
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput
from motion_matching.live.inputs.leaders.replay import ReplayInput
from motion_matching.scene.blender.animation import actions
from tests.blender import reset_blender
from tests.demo import demo_settings, load_demo
from tests.live.stage import FPS, build_performance, get_bone_matrices
from tests.scene.bodies import create_person
from tests.scene.keys import read_channels
from tests.steps import run_steps
from tests.traces_in_blender import differences, give_back, watch
from tests.traces_in_blender import traces as traces_in_blender_traces
from tests.ui.characters import create_character, expect_refusal


@pytest.fixture(autouse=True)
def watch_traces():
    watch()
    reset_blender()  # now its registrations are noted
    yield
    give_back()


ops = bpy.ops


def get_pose(obj):
    return np.array(
        [[*bone.location, *bone.rotation_quaternion] for bone in obj.pose.bones]
    ), np.array(obj.matrix_basis)


def get_action_name(obj):
    return obj.animation_data and obj.animation_data.action and obj.animation_data.action.name


class Character:
    def __init__(self):
        ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.context.scene.render.fps = round(FPS)
        obj = create_person("Hero")
        bpy.context.view_layer.objects.active = obj
        with actions.create_action("Own", obj) as action:
            actions.write_channel(
                action,
                "location",
                np.array([1.0, 50.0]),
                np.array([[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]),
                "Object",
                (0, 1, 2),
            )
        obj.pose.bones["Head"].location = 0.0, 0.1, 0.0
        bpy.context.scene.frame_set(20)
        ops.ed.undo_push(message="the character")
        ops.ed.undo_push(message="something else")
        self.traces, self.pose, self.now = traces_in_blender_traces(), get_pose(obj), 100.0
        method = MotionMatching(load_demo(), demo_settings())
        self.live = performing.start(
            obj,
            load_demo(),
            method,
            demo_settings(),
            Keyboard(),
            ReplayInput(build_performance(), FPS),
            self.now,
        )
        self.run(30)

    def run(self, ticks):
        for _ in range(ticks):
            self.now += 1.0 / FPS
            if runtime.live is self.live:
                self.live.tick(self.now, 0.0)

    def check_ended(self, *words):
        live = self.live
        assert runtime.live is None
        assert not live.session.is_running
        assert not live.session.is_recording
        said = live.ending
        assert all(word in said for word in words), said
        assert host.end("again") == []
        assert live.ending == said, "it has ended twice"
        left = differences(self.traces, traces_in_blender_traces())
        assert not left, left

    def check_given_back(self, obj):
        assert get_action_name(obj) == "Own"
        for before, after in zip(self.pose, get_pose(obj), strict=False):
            np.testing.assert_allclose(after, before, atol=1e-5)


def find_hero():
    return bpy.data.objects.get("Hero")


@pytest.mark.slow
@pytest.mark.parametrize(
    "what",
    [
        "esc",
        "undo",
        "save",
        "bone renamed",
        "edit mode",
        "other data",
        "other scene",
        "unregister",
        "error in a tick",
        "input has ended",
    ],
)
def test_every_ending_restores_the_character(what: str, tmp_path: Path) -> None:
    folder = str(tmp_path)

    def break_step():
        def raise_error(*_):
            raise ValueError("broken")

        c.live.session.performer.step = raise_error

    # how the session ends, and the words of the message; the armature still exists
    end, words = {
        "esc": (host.end, ()),
        "undo": (ops.ed.undo, ("Undo",)),
        "save": (lambda: ops.wm.save_as_mainfile(filepath=f"{folder}/saved.blend"), ("saved",)),
        "bone renamed": (
            lambda: setattr(find_hero().data.bones["Head"], "name", "Kopf"),
            ("'Head'", "'Kopf'"),
        ),
        "edit mode": (lambda: ops.object.mode_set(mode="EDIT"), ("edit mode",)),
        "other data": (
            lambda: setattr(find_hero(), "data", bpy.data.armatures.new("Other")),
            ("the bones of armature",),
        ),
        "other scene": (
            lambda: setattr(bpy.context.window, "scene", bpy.data.scenes.new("Other")),
            ("scene",),
        ),
        "unregister": (motion_matching.unregister, ("disabled",)),
        "error in a tick": (break_step, ("An error",)),
        "input has ended": (lambda: c.run(400), ("Reached the end of the recording",)),
    }[what]

    c = Character()
    end()
    c.run(10)
    if what == "unregister":
        assert runtime.live is None
        assert "disabled" in c.live.ending
        assert not hasattr(bpy.types.Object, "motion_matching")
        motion_matching.register()
        assert "disabled" in runtime.end_message, (
            "the panel says so when the extension is enabled again"
        )
    c.check_ended(*words)
    if what == "edit mode":
        ops.object.mode_set(mode="OBJECT")
    if what != "other data":
        c.check_given_back(find_hero())
    assert [action.name for action in bpy.data.actions] == ["Own"]

    # the same while recording
    c = Character()
    c.live.toggle_recording()
    c.run(60)
    end()
    c.run(10)
    if what == "unregister":
        motion_matching.register()
        assert "disabled" in runtime.end_message, (
            "the panel says so when the extension is enabled again"
        )
    c.check_ended(*words)
    name = "Recovered Walk" if what == "undo" else "Live Take"
    take = bpy.data.actions[name]
    assert take.frame_range[0] == 20, tuple(take.frame_range)
    assert take.frame_range[1] - take.frame_range[0] >= 58, tuple(take.frame_range)
    assert [listed.action.name for listed in find_hero().motion_matching.takes] == [name]
    assert get_action_name(find_hero()) == name
    if what == "bone renamed":
        paths = {path for path, _ in read_channels(take)}
        assert 'pose.bones["Kopf"].rotation_quaternion' in paths
        assert 'pose.bones["Head"].rotation_quaternion' not in paths
    assert not runtime.interrupted
    assert not list(recordings.get_folder().iterdir())


def test_renaming_pose_mode_and_frame_changes_do_not_end_a_session() -> None:
    c = Character()
    c.live.toggle_recording()
    find_hero().name = "Held"
    bpy.data.objects["Held"].data.name = "Bones of a Hero"
    ops.object.mode_set(mode="POSE")
    obj = bpy.data.objects["Held"]
    c.run(20)
    here = get_bone_matrices(obj)
    bpy.context.scene.frame_set(33)  # both the recording and its own action have keys here
    np.testing.assert_allclose(get_bone_matrices(obj), here, atol=1e-5)
    c.run(20)
    assert runtime.live is c.live
    host.end()
    assert obj.animation_data.action.name == "Live Take"
    assert obj.animation_data.action.frame_range[1] == 20 + 39
    c.live.ending and c.check_ended("Recorded 'Live Take'")


@pytest.mark.slow
def test_a_recording_of_a_deleted_armature_can_be_recovered() -> None:
    for remove in (
        lambda: bpy.data.objects.remove(find_hero()),
        lambda: bpy.data.armatures.remove(find_hero().data),
    ):
        c = Character()
        remove()
        c.run(3)
        c.check_ended("'Hero'")
        assert not runtime.interrupted

        c = Character()
        c.live.toggle_recording()
        c.run(60)
        remove()
        c.run(3)
        c.check_ended("'Hero'")
        [left] = runtime.interrupted
        with pytest.raises(RuntimeError, match="'Hero'"):
            ops.motion_matching.recover_take()
        assert left.exists()
        obj = create_person("Hero")
        assert ops.motion_matching.recover_take() == {"FINISHED"}
        assert get_action_name(obj).startswith("Recovered Walk")
        assert not runtime.interrupted
        assert not left.exists()
        assert (
            40 <= obj.animation_data.action.frame_range[1] - 20 < 60
        )  # the last second is not on the disk yet


@pytest.mark.slow
def test_a_recording_can_be_recovered_after_its_file_is_closed(tmp_path: Path) -> None:
    saved = str(tmp_path / "hero.blend")
    for load in (
        lambda: ops.wm.read_homefile(use_empty=True),
        lambda: ops.wm.open_mainfile(filepath=saved),
    ):
        c = Character()
        host.end()
        ops.wm.save_as_mainfile(filepath=saved)
        c = Character()
        load()
        c.run(3)
        c.check_ended("file")
        assert not runtime.interrupted

        c = Character()
        c.live.toggle_recording()
        c.run(70)
        load()
        c.run(3)
        c.check_ended("file", "You can recover the recording")
        [_left] = runtime.interrupted
        ops.wm.open_mainfile(filepath=saved)
        assert ops.motion_matching.recover_take() == {"FINISHED"}
        assert get_action_name(find_hero()) == "Recovered Walk"
        assert tuple(find_hero().animation_data.action.frame_range) == (20, 20 + 69)
        assert len(find_hero().motion_matching.takes) == 1


@pytest.mark.slow
def test_recover_prefers_recordings_of_the_open_file(tmp_path: Path) -> None:
    operators = ops.motion_matching
    files = {name: f"{tmp_path}/{name}.blend" for name in ("first", "second", "third")}

    def interrupt_recording(name, armature, ticks):
        ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.context.scene.render.fps = round(FPS)
        obj = create_person(armature)
        ops.wm.save_as_mainfile(filepath=files[name])
        method, now = MotionMatching(load_demo(), demo_settings()), 100.0
        live = performing.start(
            obj,
            load_demo(),
            method,
            demo_settings(),
            Keyboard(),
            ReplayInput(build_performance(), FPS),
            now,
        )
        live.toggle_recording()
        for tick in range(ticks):
            live.tick(now + (tick + 1) / FPS, 0.0)
        known = set(runtime.interrupted)
        ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        [new] = set(runtime.interrupted) - known
        return new

    def get_last_frame(armature):
        return bpy.data.objects[armature].animation_data.action.frame_range[1]

    # file names sort from the oldest, whenever the files were written
    paths = []
    for number, (name, armature, ticks) in enumerate(
        (
            ("third", "Other", 60),
            ("first", "Hero", 70),
            ("first", "Hero", 80),
            ("second", "Hero", 90),
            ("second", "Gone", 95),
        )
    ):
        path = interrupt_recording(name, armature, ticks)
        paths.append(
            path.rename(path.with_name(f"2026-01-0{number + 1} 10-00-00 000000{path.suffix}"))
        )
        recordings.refresh()
        assert runtime.interrupted == tuple(paths), runtime.interrupted
    other, older, newer, elsewhere, gone = paths

    # no recording of this file: the error names the file of the oldest
    with pytest.raises(RuntimeError) as caught:
        operators.recover_take()
    assert "'Other'" in str(caught.value), caught.value
    assert "third.blend" in str(caught.value), caught.value

    # the newest recording of this file comes first
    ops.wm.open_mainfile(filepath=files["first"])
    create_person("Gone")
    for path, last in ((newer, 80), (older, 70)):
        assert operators.recover_take() == {"FINISHED"}
        assert get_last_frame("Hero") == last
        assert not path.exists()
    assert runtime.interrupted == (other, elsewhere, gone)

    # then the newest whose armature is here, as the file may have been renamed; an unreadable file
    # is skipped
    (torn := other.with_name("2026-01-09" + other.suffix)).write_bytes(other.read_bytes()[:200])
    recordings.refresh()
    assert operators.recover_take() == {"FINISHED"}
    assert get_last_frame("Gone") == 95
    assert runtime.interrupted == (other, elsewhere, torn)

    # Discard takes the recording that Recover would take
    assert operators.discard_recording("EXEC_DEFAULT") == {"FINISHED"}
    assert runtime.interrupted == (other, torn)
    assert operators.discard_recording("EXEC_DEFAULT") == {"FINISHED"}
    assert runtime.interrupted == (torn,)


def test_saving_while_live_writes_the_state_before_the_session(tmp_path: Path) -> None:
    c = Character()
    saved = str(tmp_path / "hero.blend")
    ops.wm.save_as_mainfile(filepath=saved)
    ops.wm.open_mainfile(filepath=saved)
    c.check_given_back(find_hero())


@pytest.mark.slow
def test_bake_again_starts_where_the_recording_started() -> None:
    obj = create_character()
    bpy.ops.motion_matching.add_actions()
    ready = run_steps(performing.prepare_steps(obj))
    keyboard = Keyboard()
    live = performing.start(obj, *ready, keyboard, SteeringInput(keyboard), 0.0)
    keyboard.handle("W", "PRESS")
    rate, now = ready[0].fps, 0

    def run(ticks):
        nonlocal now
        for _ in range(ticks):
            now += 1
            live.tick(now / rate, 0.5)

    run(30)
    keyboard.handle("SPACE", "PRESS")
    run(61)
    host.end()

    def get_path(action):
        obj.animation_data.action = action
        places = []
        for frame in range(1, 61, 5):
            bpy.context.scene.frame_set(frame)
            places.append((obj.matrix_world @ obj.pose.bones["Hips"].matrix).translation[:2])
        return np.array(places)

    [take] = obj.motion_matching.takes
    assert take.action.frame_range[1] == 60
    assert take.seconds == 2.5
    went = get_path(take.action)
    assert np.linalg.norm(went[-1] - went[0]) > 1.5
    assert bpy.ops.motion_matching.bake_again(use_markers=False) == {"FINISHED"}
    again = obj.motion_matching.takes[1]
    assert again.action.frame_range[1] == 60
    np.testing.assert_allclose(get_path(again.action), went, atol=0.02)


def test_starting_without_a_window_is_refused() -> None:
    create_character()
    for invoked in ("EXEC_DEFAULT", "INVOKE_DEFAULT"):
        bpy.ops.motion_matching.add_actions()
        expect_refusal(partial(bpy.ops.motion_matching.start, invoked), "window")
    expect_refusal(bpy.ops.motion_matching.stop, "Start a live session first")
    expect_refusal(bpy.ops.motion_matching.record, "Start a live session first")
    expect_refusal(bpy.ops.motion_matching.recover_take, "no interrupted recording")
