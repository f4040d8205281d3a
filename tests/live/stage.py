"""A performer and the armature that it moves."""

from __future__ import annotations

import bpy
import numpy as np

from building.locomotion.humanoid import build_humanoid_skeleton
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.database.database import Database
from motion_matching.engine.ground.ground import FLAT, Boxes, Ground, Wall
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance import scripts
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.takes.takes import make_default_settings
from motion_matching.live.inputs.base import Input
from motion_matching.live.inputs.leaders.replay import ReplayInput
from motion_matching.live.session import Session
from motion_matching.scene.writing.pose_writer import PoseWriter
from tests.demo import demo_settings, load_demo
from tests.scene.bodies import create_person

FPS = 30.0  # of the demo database
NAMES = build_humanoid_skeleton().names


def make_performer(ground: Ground = FLAT, database: Database | None = None) -> Performer:
    database = database or load_demo()
    settings = make_default_settings(database)
    return Performer(MotionMatching(database, settings), settings, ground)


def build_performance(name: str = "random", seconds: float = 10.0, seed: int = 2) -> Performance:
    return scripts.build_script(
        name, seconds, FPS, demo_settings().steering.walk, demo_settings().steering.run, seed=seed
    )


def get_bone_matrices(obj: bpy.types.Object) -> np.ndarray:
    """Return the evaluated bones (B, 4, 4) in the world."""
    found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(
        [np.array(found.matrix_world @ found.pose.bones[name].matrix) for name in NAMES]
    )


class Stage:
    """A session on its own person; the test controls the time."""

    def __init__(
        self,
        source: Input | None = None,
        follows_timeline: bool = False,
        obj: bpy.types.Object | None = None,
        walls: tuple[Wall, ...] = (),
        **options,
    ) -> None:
        self.obj = obj or create_person()
        self.writer = PoseWriter(self.obj, load_demo().skeleton, hips="Hips", **options)
        performer = make_performer(Boxes((), walls=walls))
        self.session = Session(
            performer, source or ReplayInput(build_performance(), FPS), self.writer, walls
        )
        self.now = 100.0
        self.session.start(self.now)
        if follows_timeline:
            self.session.switch_clock(self.now, with_timeline=True)

    def run(self, ticks: int) -> list:
        """Run frames of one tick each and return their reports."""
        reports = []
        for _ in range(ticks):
            self.now += 1.0 / FPS
            reports.append(self.session.tick(self.now))
        return reports
