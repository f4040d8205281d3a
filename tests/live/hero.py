"""A character that is performed live through the extension.

The test controls the time: `run` makes ticks of the clock, `play` plays frames of the timeline.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from motion_matching.app.live import host, performing
from motion_matching.app.runtime import runtime
from motion_matching.engine.database.database import Database
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.takes.takes import make_default_settings
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.leaders.replay import ReplayInput
from tests.demo import load_demo
from tests.live.stage import FPS, build_performance, get_bone_matrices
from tests.scene.bodies import create_person


class Hero:
    """A session on a person in an otherwise empty file; `play` are settings of the Perform panel."""

    def __init__(
        self, seconds: float = 10.0, database: Database | None = None, **play: Any
    ) -> None:
        self.database = database or load_demo()
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.context.scene.render.fps = round(FPS)
        self.obj, self.now, self.seconds = create_person("Hero"), 100.0, seconds
        bpy.context.view_layer.objects.active = self.obj
        for name, value in play.items():
            setattr(self.obj.motion_matching.play, name, value)

    def start(self, source: Any = None) -> host.LiveSession:
        source = source or ReplayInput(build_performance(seconds=self.seconds), FPS)
        settings = make_default_settings(self.database)
        self.live = performing.start(
            self.obj,
            self.database,
            MotionMatching(self.database, settings),
            settings,
            Keyboard(),
            source,
            self.now,
        )
        return self.live

    def run(self, ticks: int) -> None:
        """Advance the clock by a number of ticks."""
        for _ in range(ticks):
            self.now += 1.0 / FPS
            if runtime.live is self.live:
                self.live.tick(self.now, 0.0)

    def play(self, *frames: int, timers: int = 2) -> list[np.ndarray]:
        """Play frames of the timeline with timer events between; return the bones (B, 4, 4) at
        each.
        """
        seen = []
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            seen.append(get_bone_matrices(self.obj))
            for _ in range(timers):
                self.now += 0.4 / FPS
                if runtime.live is self.live:
                    self.live.tick(self.now, 0.0)
        return seen


def toggle_playback() -> None:
    """Start or stop playback, as the space bar does."""
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        bpy.ops.screen.animation_play()


def add_bone_collection(obj: bpy.types.Object, name: str, *bones: str) -> None:
    """Add a bone collection with these bones to an armature."""
    collection = obj.data.collections.new(name)
    for bone in bones:
        collection.assign(obj.data.bones[bone])
