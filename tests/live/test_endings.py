"""Whatever ends a live session ends it once, with one message; what was there comes back, and a recording is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from traces import TRACES

HEAD = (
    TRACES
    + """
import motion_matching
motion_matching.register()
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.live.inputs.keyboard import Keyboard
from motion_matching.live.inputs.replay import Replay
from motion_matching.scene import actions
from motion_matching.ui import performing, recordings
from tests.live.stage import *

ops = bpy.ops
file = str(Path.cwd() / "unused.blend")

def pose(obj):
    return np.array([[*bone.location, *bone.rotation_quaternion] for bone in obj.pose.bones]), np.array(obj.matrix_basis)

def playing(obj):
    return obj.animation_data and obj.animation_data.action and obj.animation_data.action.name

class Character:
    def __init__(self):
        ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.context.scene.render.fps = round(FPS)
        obj = person("Hero")
        bpy.context.view_layer.objects.active = obj
        with actions.new_action("Own", obj) as action:
            actions.write_channel(action, "location", np.array([1.0, 50.0]), np.array([[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]),
                                  "Object", (0, 1, 2))
        obj.pose.bones["Head"].location = 0.0, 0.1, 0.0
        bpy.context.scene.frame_set(20)
        ops.ed.undo_push(message="the character")
        ops.ed.undo_push(message="something else")
        self.traces, self.pose, self.now = traces(), pose(obj), 100.0
        method = MotionMatching(DATABASE, SETTINGS)
        self.live = performing.start(obj, DATABASE, method, SETTINGS, Keyboard(), Replay(wanted(), FPS), self.now)
        self.run(30)

    def run(self, ticks):
        for _ in range(ticks):
            self.now += 1.0 / FPS
            if performing.current is self.live:
                self.live.tick(self.now, 0.0)

    def check_ended(self, *words):
        live = self.live
        assert performing.current is None and not live.session.is_running and not live.session.is_recording
        said = live.ending
        assert all(word in said for word in words), said
        assert performing.end("again") == [] and live.ending == said, "it has ended twice"
        left = differences(self.traces, traces())
        assert not left, left

    def check_given_back(self, obj):
        assert playing(obj) == "Own"
        for before, after in zip(self.pose, pose(obj)):
            np.testing.assert_allclose(after, before, atol=1e-5)

def hero():
    return bpy.data.objects.get("Hero")
"""
)

# What is done, and what the message says; the armature is there afterwards.
ENDINGS = {
    "esc": ("performing.end()", ()),
    "undo": ("ops.ed.undo()", ("Undo",)),
    "save": ("ops.wm.save_as_mainfile(filepath=sys.argv[2] + '/saved.blend')", ("saved",)),
    "bone renamed": ("hero().data.bones['Head'].name = 'Kopf'", ("'Head'", "'Kopf'")),
    "edit mode": ("ops.object.mode_set(mode='EDIT')", ("edit mode",)),
    "other data": ("hero().data = bpy.data.armatures.new('Other')", ("other bones",)),
    "other scene": ("bpy.context.window.scene = bpy.data.scenes.new('Other')", ("scene",)),
    "unregister": ("motion_matching.unregister()", ("disabled",)),
    "error in a tick": (
        "def broken(*_):\n    raise ValueError('broken')\nc.live.session.performer.step = broken",
        ("An error",),
    ),
    "input has ended": ("c.run(400)", ("no more",)),
}

ENDED = (
    HEAD
    + """
done, words, registered = sys.argv[3], sys.argv[5:], sys.argv[4] != "unregister"

c = Character()
exec(done)
c.run(10)
if not registered:
    assert performing.current is None and "disabled" in c.live.ending
    assert not hasattr(bpy.types.Object, "motion_matching")
    motion_matching.register()
c.check_ended(*words)
if sys.argv[4] == "edit mode":
    ops.object.mode_set(mode="OBJECT")
if sys.argv[4] != "other data":
    c.check_given_back(hero())
assert [action.name for action in bpy.data.actions] == ["Own"]

# the same while it records
c = Character()
c.live.toggle_recording()
c.run(60)
exec(done)
c.run(10)
if not registered:
    motion_matching.register()
c.check_ended(*words)
take = bpy.data.actions["Live Take"]
assert take.frame_range[0] == 20 and take.frame_range[1] - take.frame_range[0] >= 58, tuple(take.frame_range)
assert [listed.action.name for listed in hero().motion_matching.takes] == ["Live Take"]
assert playing(hero()) == "Live Take"
if sys.argv[4] == "bone renamed":
    paths = {path for path, _ in actions.read_channels(take)}
    assert 'pose.bones["Kopf"].rotation_quaternion' in paths and 'pose.bones["Head"].rotation_quaternion' not in paths
assert not recordings.left and not list(recordings.folder().iterdir())
"""
)


@pytest.mark.parametrize("what", ENDINGS)
def test_it_ends_and_what_was_there_comes_back(
    what: str, run_in_blender: Callable[..., str], demo_file: Path, tmp_path: Path
) -> None:
    done, words = ENDINGS[what]
    run_in_blender(ENDED, demo_file, tmp_path, done, what, *words)


GOES_ON = (
    HEAD
    + """
c = Character()
c.live.toggle_recording()
hero().name = "Held"
bpy.data.objects["Held"].data.name = "Bones of a Hero"
ops.object.mode_set(mode="POSE")
obj = bpy.data.objects["Held"]
c.run(20)
here = shown(obj)
bpy.context.scene.frame_set(33)  # a recording plays keys there, and its own action had some
np.testing.assert_allclose(shown(obj), here, atol=1e-5)
c.run(20)
assert performing.current is c.live
performing.end()
assert obj.animation_data.action.name == "Live Take" and obj.animation_data.action.frame_range[1] == 20 + 39
c.live.ending and c.check_ended("Recorded 'Live Take'")
"""
)


def test_renaming_pose_mode_and_other_frames_do_not_end_it(
    run_in_blender: Callable[..., str], demo_file: Path
) -> None:
    run_in_blender(GOES_ON, demo_file)


GONE = (
    HEAD
    + """
for remove in (lambda: bpy.data.objects.remove(hero()), lambda: bpy.data.armatures.remove(hero().data)):
    c = Character()
    remove()
    c.run(3)
    c.check_ended("'Hero'")
    assert not recordings.left

    c = Character()
    c.live.toggle_recording()
    c.run(60)
    remove()
    c.run(3)
    c.check_ended("'Hero'")
    [left] = recordings.left
    try:
        ops.motion_matching.recover_take()
    except RuntimeError as error:
        assert "'Hero'" in str(error)
    assert left.exists()
    obj = person("Hero")
    assert ops.motion_matching.recover_take() == {"FINISHED"}
    assert playing(obj).startswith("Live Take") and not recordings.left and not left.exists()
    assert 40 <= obj.animation_data.action.frame_range[1] - 20 < 60  # of the last second, nothing was on the disk yet
"""
)


def test_without_its_armature_a_recording_can_be_recovered(
    run_in_blender: Callable[..., str], demo_file: Path
) -> None:
    run_in_blender(GONE, demo_file)


LOADED = (
    HEAD
    + """
saved = sys.argv[2] + "/hero.blend"
for load in (lambda: ops.wm.read_homefile(use_empty=True), lambda: ops.wm.open_mainfile(filepath=saved)):
    c = Character()
    performing.end()
    ops.wm.save_as_mainfile(filepath=saved)
    c = Character()
    load()
    c.run(3)
    c.check_ended("file")
    assert not recordings.left

    c = Character()
    c.live.toggle_recording()
    c.run(70)
    load()
    c.run(3)
    c.check_ended("file", "can be recovered")
    [left] = recordings.left
    ops.wm.open_mainfile(filepath=saved)
    assert ops.motion_matching.recover_take() == {"FINISHED"}
    assert playing(hero()) == "Live Take" and tuple(hero().animation_data.action.frame_range) == (20, 20 + 69)
    assert len(hero().motion_matching.takes) == 1
"""
)


def test_a_recording_outlives_the_file_that_it_was_made_in(
    run_in_blender: Callable[..., str], demo_file: Path, tmp_path: Path
) -> None:
    run_in_blender(LOADED, demo_file, tmp_path)


SEVERAL = (
    HEAD
    + """
operators = ops.motion_matching
files = {name: f"{sys.argv[2]}/{name}.blend" for name in ("first", "second", "third")}

def cut_off(name, armature, ticks):
    ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = round(FPS)
    obj = person(armature)
    ops.wm.save_as_mainfile(filepath=files[name])
    method, now = MotionMatching(DATABASE, SETTINGS), 100.0
    live = performing.start(obj, DATABASE, method, SETTINGS, Keyboard(), Replay(wanted(), FPS), now)
    live.toggle_recording()
    for tick in range(ticks):
        live.tick(now + (tick + 1) / FPS, 0.0)
    known = set(recordings.left)
    ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    [new] = set(recordings.left) - known
    return new

def last_frame(armature):
    return bpy.data.objects[armature].animation_data.action.frame_range[1]

# names by which the oldest comes first, whenever they were made
paths = []
for number, (name, armature, ticks) in enumerate((
    ("third", "Other", 60), ("first", "Hero", 70), ("first", "Hero", 80), ("second", "Hero", 90), ("second", "Gone", 95))):
    path = cut_off(name, armature, ticks)
    paths.append(path.rename(path.with_name(f"2026-01-0{number + 1} 10-00-00 000000{path.suffix}")))
    recordings.look()
    assert recordings.left == tuple(paths), recordings.left
other, older, newer, elsewhere, gone = paths

# nothing of this file: the oldest, whose file is named
try:
    operators.recover_take()
except RuntimeError as error:
    assert "'Other'" in str(error) and "third.blend" in str(error), error
else:
    raise AssertionError

# the newest of this file, whatever else there is
ops.wm.open_mainfile(filepath=files["first"])
person("Gone")
for path, last in ((newer, 80), (older, 70)):
    assert operators.recover_take() == {"FINISHED"}
    assert last_frame("Hero") == last and not path.exists()
assert recordings.left == (other, elsewhere, gone)

# then the newest whose armature is here, as where the file has got another name; one that cannot be read is in nobody's way
(torn := other.with_name("2026-01-09" + other.suffix)).write_bytes(b"nonsense")
recordings.look()
assert operators.recover_take() == {"FINISHED"}
assert last_frame("Gone") == 95 and recordings.left == (other, elsewhere, torn)

# what would be recovered is what is discarded
assert operators.discard_recording("EXEC_DEFAULT") == {"FINISHED"} and recordings.left == (other, torn)
assert operators.discard_recording("EXEC_DEFAULT") == {"FINISHED"} and recordings.left == (torn,)
"""
)


def test_of_several_recordings_that_of_this_file_is_recovered(
    run_in_blender: Callable[..., str], demo_file: Path, tmp_path: Path
) -> None:
    run_in_blender(SEVERAL, demo_file, tmp_path)


SAVED = (
    HEAD
    + """
c = Character()
saved = sys.argv[2] + "/hero.blend"
ops.wm.save_as_mainfile(filepath=saved)
ops.wm.open_mainfile(filepath=saved)
c.check_given_back(hero())
"""
)


def test_a_file_is_saved_as_it_is_without_a_session(
    run_in_blender: Callable[..., str], demo_file: Path, tmp_path: Path
) -> None:
    run_in_blender(SAVED, demo_file, tmp_path)


BAKED_AGAIN = """
import motion_matching
motion_matching.register()
from motion_matching.live.inputs.keyboard import Keyboard
from motion_matching.live.inputs.steering import Steering
from motion_matching.ui import performing
from tests.ui.characters import *
import numpy as np

obj = character()
bpy.ops.motion_matching.add_actions()
work = performing.prepared(obj)  # it builds the database
try:
    while True:
        next(work)
except StopIteration as done:
    ready = done.value
keyboard = Keyboard()
live = performing.start(obj, *ready, keyboard, Steering(keyboard), 0.0)
keyboard.handle("W", "PRESS")
rate, now = ready[0].fps, 0

def run(ticks):
    global now
    for _ in range(ticks):
        now += 1
        live.tick(now / rate, 0.5)

run(30)
keyboard.handle("SPACE", "PRESS")
run(61)
performing.end()

def path(action):
    obj.animation_data.action = action
    places = []
    for frame in range(1, 61, 5):
        bpy.context.scene.frame_set(frame)
        places.append((obj.matrix_world @ obj.pose.bones["Hips"].matrix).translation[:2])
    return np.array(places)

[take] = obj.motion_matching.takes
assert take.action.frame_range[1] == 60 and take.seconds == 2.5
went = path(take.action)
assert np.linalg.norm(went[-1] - went[0]) > 1.5
assert bpy.ops.motion_matching.bake_again(use_markers=False) == {"FINISHED"}
again = obj.motion_matching.takes[1]
assert again.action.frame_range[1] == 60
np.testing.assert_allclose(path(again.action), went, atol=0.02)
"""


def test_a_operators_is_baked_again_from_where_its_recording_began(
    run_in_blender: Callable[..., str],
) -> None:
    run_in_blender(BAKED_AGAIN)


REFUSED = """
import motion_matching
motion_matching.register()
from tests.ui.characters import *
obj = character()
for invoked in ("EXEC_DEFAULT", "INVOKE_DEFAULT"):
    bpy.ops.motion_matching.add_actions()
    refused(lambda: bpy.ops.motion_matching.start(invoked), "window")
refused(bpy.ops.motion_matching.stop, "Start first")
refused(bpy.ops.motion_matching.record, "Start first")
refused(bpy.ops.motion_matching.recover_take, "no recording")
"""


def test_without_a_window_it_says_so(run_in_blender: Callable[..., str]) -> None:
    run_in_blender(REFUSED)
