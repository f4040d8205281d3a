"""A performer and an armature that it moves, for scripts that run inside Blender. Their first argument is a database."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy
import numpy as np

from motion_matching.engine import takes
from motion_matching.engine.control import scripts
from motion_matching.engine.control.ground import FLAT, Box, Boxes, Ground
from motion_matching.engine.control.performance import Performance
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.matching import database
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.motion.attachment import detach
from motion_matching.live.inputs.base import Input
from motion_matching.live.inputs.replay import Replay
from motion_matching.live.session import Session
from motion_matching.scene.armature import create_armature
from motion_matching.scene.pose import PoseWriter
from motion_matching.scene.root_target import RootTarget
from tests.scene.bodies import person

DATABASE = database.load(sys.argv[1])
SETTINGS = takes.default_settings(DATABASE)
FPS = DATABASE.fps
NAMES = DATABASE.skeleton.names[1:]

__all__ = [
    "DATABASE",
    "FPS",
    "NAMES",
    "SETTINGS",
    "Path",
    "PoseWriter",
    "RootTarget",
    "Stage",
    "bpy",
    "create_armature",
    "detach",
    "new_performer",
    "np",
    "person",
    "shown",
    "wanted",
]


def new_performer(ground: Ground = FLAT) -> Performer:
    return Performer(MotionMatching(DATABASE, SETTINGS), SETTINGS, ground)


def wanted(name: str = "random", seconds: float = 10.0, seed: int = 2) -> Performance:
    return scripts.script(name, seconds, FPS, SETTINGS.walk, SETTINGS.run, seed=seed)


def shown(obj: bpy.types.Object) -> np.ndarray:
    """Where Blender puts the bones now (B, 4, 4), in the world."""
    found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(
        [np.array(found.matrix_world @ found.pose.bones[name].matrix) for name in NAMES]
    )


class Stage:
    """A session on a person of its own, whose time the test makes."""

    def __init__(
        self,
        source: Input | None = None,
        follows_timeline: bool = False,
        obj: bpy.types.Object | None = None,
        obstacles: tuple[Box, ...] = (),
        **options,
    ) -> None:
        self.obj = obj or person()
        self.writer = PoseWriter(self.obj, DATABASE.skeleton, hips="Hips", **options)
        self.session = Session(
            new_performer(Boxes(obstacles)),
            source or Replay(wanted(), FPS),
            self.writer,
            follows_timeline=follows_timeline,
            obstacles=obstacles,
        )
        self.now = 100.0
        self.session.start(self.now)

    def run(self, ticks: int) -> list:
        """Reports of so many frames of one tick each."""
        reports = []
        for _ in range(ticks):
            self.now += 1.0 / FPS
            reports.append(self.session.tick(self.now))
        return reports
