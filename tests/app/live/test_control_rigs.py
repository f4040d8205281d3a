"""Live on a control rig: Rigify's controls are driven and recorded, with their switches."""

from __future__ import annotations

from functools import cache

import bpy
import numpy as np
import pytest

from motion_matching.app import controls, standing
from motion_matching.app.live import host, performing
from motion_matching.app.runtime import runtime
from motion_matching.engine.database.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.sources import Source
from motion_matching.engine.errors import MotionMatchingError
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.maths import quat
from motion_matching.engine.motion.retarget import retarget_clips
from motion_matching.engine.motion.skeleton import Skeleton
from motion_matching.engine.takes.takes import make_default_settings
from motion_matching.live.inputs.keyboard import Keyboard
from motion_matching.live.inputs.replay import ReplayInput
from motion_matching.scene.blender.curves import parse_bone_name
from motion_matching.scene.controls.ik_stretch import set_ik_stretch_off
from motion_matching.scene.controls.match import read_deform_skeleton
from motion_matching.scene.writing import recording
from tests.demo import generate_clips
from tests.live.stage import FPS, build_performance
from tests.scene.rigify import generate_rig
from tests.scene.rigs import assert_same, get_curves, read_state

CLIPS = ("idle", "walk_starts_and_stops", "walk_curves")


@cache
def build_database() -> Database:
    """Build a database of generated clips on the deform bones of Rigify's basic human."""
    skeleton: Skeleton = read_deform_skeleton(bpy.context.object)
    clips = [clip for clip in generate_clips() if clip.name in CLIPS]
    mapped = retarget_clips(clips, skeleton)
    return build([Source(clip=clip) for clip in mapped], BuildSettings())[0]


class RigHero:
    """A live session on Rigify's basic human, in an otherwise empty file."""

    def __init__(self) -> None:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.context.scene.render.fps = round(FPS)
        self.obj, self.now = generate_rig("basic_human"), 100.0
        set_ik_stretch_off(self.obj)
        bpy.context.view_layer.objects.active = self.obj
        self.database = build_database()
        self.names = self.database.skeleton.names[1:]

    def start(self, seconds: float = 10.0) -> host.LiveSession:
        settings = make_default_settings(self.database)
        method = MotionMatching(self.database, settings)
        source = ReplayInput(build_performance(seconds=seconds), FPS)
        self.live = performing.start(
            self.obj, self.database, method, settings, Keyboard(), source, self.now
        )
        return self.live

    def run(self, ticks: int) -> list[np.ndarray]:
        """Advance the clock by ticks; return the deform bones (B, 4, 4) shown at each."""
        shown = []
        for _ in range(ticks):
            self.now += 1.0 / FPS
            self.live.tick(self.now, 0.0)
            shown.append(self.read())
        return shown

    def read(self) -> np.ndarray:
        body = self.obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        known = [name for name in self.names if name in body.pose.bones]
        return np.array([np.array(body.matrix_world @ body.pose.bones[n].matrix) for n in known])

    def find_asked(self) -> tuple[np.ndarray, np.ndarray]:
        """Return rotations (B, 4) and positions (B, 3) of the pose that the session shows."""
        pose = self.live.session._interpolate_pose()
        turns, heads = quat.compute_world(pose[None], self.database.skeleton.parents)
        bones = self.obj.pose.bones
        known = [i for i, name in enumerate(self.database.skeleton.names) if name in bones]
        return turns[0, known], heads[0, known]


def measure(shown: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Return how far bones (..., 4, 4) are apart: in metres, and the degrees of their axes."""
    away = np.linalg.norm(shown[..., :3, 3] - other[..., :3, 3], axis=-1).max()
    axes = [
        m[..., :3, 1] / np.linalg.norm(m[..., :3, 1], axis=-1, keepdims=True)
        for m in (shown, other)
    ]
    cosine = np.clip(np.sum(axes[0] * axes[1], axis=-1), -1.0, 1.0)
    return float(away), float(np.degrees(np.arccos(cosine)).max())


def test_what_is_shown_is_the_pose_that_is_performed() -> None:
    hero = RigHero()
    hero.start()
    for _ in range(12):
        shown = hero.run(5)[-1]
        turns, heads = hero.find_asked()
        asked = np.zeros((len(heads), 4, 4))
        asked[:, :3, :3], asked[:, :3, 3] = quat.to_matrix(turns), heads
        away, degrees = measure(shown, asked)
        assert away < 0.01
        assert degrees < 2.0
    path = shown[0, :2, 3]
    assert np.linalg.norm(path) > 0.3
    host.end()
