"""Live on a control rig: Rigify's controls are driven and recorded, with their switches."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host, performing
from motion_matching.app.runtime import runtime
from motion_matching.app.strip import state
from motion_matching.app.takes import recordings
from motion_matching.engine.bvh import bvh
from motion_matching.engine.database.database import Database
from motion_matching.engine.errors import MotionMatchingError
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.progress import run_to_end
from motion_matching.engine.takes.takes import make_default_settings
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.leaders.replay import ReplayInput
from motion_matching.scene.blender.animation.curves import parse_bone_name
from motion_matching.scene.controls.bake_controls import ControlSettings
from motion_matching.scene.controls.finding.find_controls import (
    match_control_rig,
    read_deform_skeleton,
    set_ik_stretch_off,
)
from tests.demo import generate_clips
from tests.engine.performance.test_start_state import (
    measure_accelerations,
    measure_largest_acceleration,
)
from tests.live.hero import add_bone_collection
from tests.live.stage import FPS, build_performance
from tests.scene.controls.control_rigs import bake_controls, retarget_walk
from tests.scene.rigify import create_rigify_rig
from tests.scene.rigs import assert_same, get_curves, read_state

CLIPS = ("idle", "walk_starts_and_stops", "walk_curves")


def create_rig() -> bpy.types.Object:
    """Generate Rigify's basic human in an otherwise empty file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = round(FPS)
    obj = create_rigify_rig("basic_human")
    set_ik_stretch_off(obj)
    bpy.context.view_layer.objects.active = obj
    return obj


@cache
def build_database(stands: bool = True) -> Database:
    """Build a database from files of another skeleton, which may stand, that are added to a rig."""
    obj = create_rig()
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for clip in generate_clips():
            if clip.name in (CLIPS if stands else CLIPS[2:]):
                clip = clip if stands else clip.crop(60, clip.frame_count - 90)
                bvh.save(clip, Path(folder) / f"{clip.name}.bvh")
                names.append({"name": f"{clip.name}.bvh"})
        bpy.ops.motion_matching.add_files(directory=folder, files=names, mirror=False)
        return run_to_end(performing.prepare_steps(obj))[0]


class Intents(ReplayInput):
    """The intents of a performance from the second on in which they move, from any start."""

    def __init__(self, performance: Performance, fps: float) -> None:
        super().__init__(performance, fps)
        self.start = None

    def get_intent(self, situation: Any) -> Any:
        return super().get_intent(situation._replace(tick=situation.tick + round(FPS)))


class RigHero:
    """A live session on Rigify's basic human; the test controls the time, and what is driven."""

    def __init__(self, drive: str = "controls", stands: bool = True) -> None:
        self.database, self.obj, self.now = build_database(stands), create_rig(), 100.0
        self.obj.motion_matching.play.drive = drive
        names = self.database.skeleton.names
        self.names = [name for name in names if name in self.obj.data.bones]

    def start(self, script: str | Performance = "figure_eight") -> host.LiveSession:
        settings = make_default_settings(self.database)
        method = MotionMatching(self.database, settings)
        if isinstance(script, str):
            script = build_performance(script, seconds=20.0)
        source = Intents(script, FPS)
        self.live = performing.start(
            self.obj, self.database, method, settings, Keyboard(), source, self.now
        )
        return self.live

    def run(self, ticks: int) -> np.ndarray:
        """Advance the clock by ticks; return the deform bones (T, B, 4, 4) shown at each."""
        shown = []
        for _ in range(ticks):
            self.now += 1.0 / FPS
            self.live.tick(self.now, 0.0)
            shown.append(self.read())
        return np.array(shown)

    def record(self, ticks: int) -> tuple[bpy.types.Action, np.ndarray]:
        """Record ticks; return the take, and what was shown."""
        self.live.toggle_recording()
        shown = self.run(ticks)
        self.live.toggle_recording()
        assert self.live.takes, self.live.messages
        return bpy.data.actions[self.live.takes[-1]], shown

    def read(self) -> np.ndarray:
        """Return the deform bones (B, 4, 4) in the world."""
        body = self.obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        bones = body.pose.bones
        return np.array([np.array(body.matrix_world @ bones[name].matrix) for name in self.names])

    def play(self, frames: Iterable[int]) -> np.ndarray:
        """Return the deform bones (F, B, 4, 4) at frames of what plays."""
        played = []
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            played.append(self.read())
        return np.array(played)

    def compute_asked(self) -> np.ndarray:
        """Return the deform bones (B, 4, 4) of the pose that the session shows."""
        skeleton = self.database.skeleton
        pose = self.live.session._interpolate_pose()
        turns, heads = quat.compute_world(pose[None], skeleton.parents)
        result = np.zeros((skeleton.bone_count, 4, 4))
        result[:, :3, :3], result[:, :3, 3] = quat.to_matrix(turns[0]), heads[0]
        return result[[skeleton.index(name) for name in self.names]]


def measure(shown: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Return how far bones (..., 4, 4) are apart: in metres, and the degrees of their axes."""
    away = np.linalg.norm(shown[..., :3, 3] - other[..., :3, 3], axis=-1).max()
    ways = [quat.normalize_vectors(bones[..., :3, 1]) for bones in (shown, other)]
    cosine = np.clip(np.sum(ways[0] * ways[1], axis=-1), -1.0, 1.0)
    return float(away), float(np.degrees(np.arccos(cosine)).max())


def read_switches(obj: bpy.types.Object) -> dict[tuple[str, str], float]:
    """Return the custom properties of bones that are numbers."""
    return {
        (bone.name, name): bone[name]
        for bone in obj.pose.bones
        for name in bone.keys()  # noqa: SIM118  # no dictionary
        if isinstance(bone[name], float | int)
    }


@pytest.mark.slow
def test_the_pose_that_is_performed_is_shown() -> None:
    hero = RigHero()
    hero.start()
    for _ in range(8):
        [*_, shown] = hero.run(5)
        away, degrees = measure(shown, hero.compute_asked())
        assert away < 0.002
        assert degrees < 0.5
    assert np.linalg.norm(shown[0, :2, 3]) > 0.3
    assert hero.obj.pose.bones["thigh_parent.L"]["IK_FK"] == 0.0
    assert state.describe_driven(hero.obj).startswith("Controls of Rigify (basic human), ")
    assert state.describe_driven(hero.obj).endswith(" Hz")
    host.end()
    assert state.describe_driven(hero.obj) == "Controls of Rigify (basic human)"


@pytest.mark.slow
def test_stopping_restores_pose_switches_and_action() -> None:
    hero = RigHero()
    obj, rig = hero.obj, match_control_rig(hero.obj)
    assert rig is not None
    clip = retarget_walk(read_deform_skeleton(obj)).crop(0, 20)
    bake_controls(obj, rig, clip, ControlSettings(legs="FK"))
    bpy.context.scene.frame_set(9)
    obj.pose.bones["chest"].rotation_quaternion = (0.9, 0.1, 0.2, 0.3)
    obj.pose.bones["torso"]["head_follow"] = 0.25
    bpy.context.view_layer.update()
    before, switches = read_state(obj), read_switches(obj)
    hero.start()
    hero.run(3)
    assert read_switches(obj) != switches
    host.end()
    assert_same(before, read_state(obj))
    assert read_switches(obj) == switches
    hero.start()
    hero.live.toggle_recording()
    hero.run(10)
    hero.live.session.discard_recording()
    host.end()
    assert_same(before, read_state(obj))
    assert read_switches(obj) == switches


def test_undo_restores_the_switches_too() -> None:
    hero = RigHero()
    hero.obj.pose.bones["thigh_parent.L"]["IK_FK"] = 1.0
    bpy.ops.ed.undo_push(message="the rig")
    name, switches = hero.obj.name, read_switches(hero.obj)
    hero.start()
    hero.run(5)
    bpy.ops.ed.undo_push(message="while live")
    bpy.ops.ed.undo_push(message="something else")
    bpy.ops.ed.undo()
    assert runtime.live is None
    obj = bpy.data.objects[name]
    assert read_switches(obj) == switches
    assert max(np.abs(bone.location).max() for bone in obj.pose.bones) == 0.0


def test_a_take_plays_what_was_shown() -> None:
    hero = RigHero()
    hero.start()
    take, shown = hero.record(60)
    host.end()
    assert hero.obj.animation_data.action == take
    assert take.frame_range[:] == (1.0, 60.0)
    hero.obj.pose.bones["thigh_parent.L"]["IK_FK"] = 1.0  # the take has it, too
    played = hero.play(range(1, 60))
    away, degrees = measure(played, shown[1:])  # a tick late
    assert away < 0.0005
    assert degrees < 0.1
    keyed = {parse_bone_name(curve.data_path) for curve in get_curves(take)}
    assert not {bone for bone in keyed if hero.obj.data.bones[bone].use_deform}
    assert any(curve.data_path.endswith('["IK_FK"]') for curve in get_curves(take))


def test_a_recording_that_was_cut_off_is_recovered_with_its_switches() -> None:
    hero = RigHero()
    hero.start()
    hero.live.toggle_recording()
    shown = hero.run(40)
    [path] = host.end(leaves_recording=True)
    hero.obj.pose.bones["thigh_parent.L"]["IK_FK"] = 1.0
    recordings.recover(path)
    away, degrees = measure(hero.play(range(1, 40)), shown[1:])
    assert away < 0.0005
    assert degrees < 0.1


@pytest.mark.slow
def test_a_take_that_is_recorded_over_goes_on_without_a_jump() -> None:
    hero = RigHero()
    hero.start()
    hero.run(15)
    hero.record(170)
    host.end()
    frames = range(30, 171)
    old = hero.play(frames)[:, :, :3, 3]
    bpy.context.scene.frame_set(40)
    hero.obj.motion_matching.play.mode = "overwrite"
    hero.start("flips")
    hero.run(20)
    take, _ = hero.record(12)
    host.end()
    assert take.frame_range[:] == (1.0, 170.0)
    new = hero.play(frames)[:, :, :3, 3]
    np.testing.assert_allclose(new[:9], old[:9], atol=5e-4)
    limit = measure_largest_acceleration(hero.database)
    assert measure_accelerations(new, FPS).max() < limit
    # the end is that of the old take, moved and turned on the ground
    assert np.linalg.norm(new[-1] - old[-1], axis=-1).max() > 0.2
    sizes = [np.linalg.norm(j[-3:, :, None] - j[-3:, None], axis=-1) for j in (new, old)]
    np.testing.assert_allclose(*sizes, atol=0.02)


def test_switches_change_where_a_take_is_recorded_over() -> None:
    hero = RigHero()
    hero.obj.motion_matching.retarget.legs = "FK"
    hero.start()
    hero.record(30)
    host.end()
    before = hero.play(range(1, 10))
    hero.obj.motion_matching.retarget.legs = "IK"
    hero.obj.motion_matching.play.mode = "overwrite"
    bpy.context.scene.frame_set(10)
    hero.start()
    take, _ = hero.record(8)
    host.end()
    path = 'pose.bones["thigh_parent.L"]["IK_FK"]'
    [curve] = [curve for curve in get_curves(take) if curve.data_path == path]
    values = [curve.evaluate(frame) for frame in range(1, 31)]
    assert values[:9] == [1.0] * 9
    assert values[9:17] == [0.0] * 8
    assert set(values[17:]) <= {0.0, 1.0}
    assert measure(hero.play(range(1, 10)), before)[0] < 5e-4


def test_one_bone_collection_of_a_rig_is_refused() -> None:
    hero = RigHero()
    add_bone_collection(hero.obj, "Upper", "chest")
    hero.obj.motion_matching.play.collection = "Upper"
    with pytest.raises(MotionMatchingError, match="moved by controls"):
        hero.start()
    assert runtime.live is None


def test_a_slow_rig_is_told() -> None:
    hero = RigHero()

    def wait(*_: object) -> None:
        time.sleep(0.06)

    bpy.app.handlers.depsgraph_update_post.append(wait)
    try:
        hero.start()
        hero.run(14)
        warnings = state.get_warnings(hero.obj)
        host.end()
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(wait)
    [warning] = [item for item in warnings if item.kind == "slow rig"]
    assert "Hz" in warning.text
    assert f"{len(hero.obj.data.bones)} bones" in warning.text
