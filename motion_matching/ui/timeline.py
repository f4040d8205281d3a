"""The timeline beside a live session: whether it plays and where it is, and playing it for a recording."""

from __future__ import annotations

import contextlib

import bpy

LEAP = 2.0  # seconds: playback that drops frames does not leave out as many at once


def is_playing() -> bool:
    """Whether any window plays it."""
    return any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows)


def seconds(scene: bpy.types.Scene) -> float:
    """Where it is, from frame zero on."""
    return scene.frame_float * scene.render.fps_base / scene.render.fps


def end(scene: bpy.types.Scene) -> int:
    """The last frame that is played."""
    return scene.frame_preview_end if scene.use_preview_range else scene.frame_end


class Along:
    """How a session keeps to the timeline: whether it does, where that was last, and whether a recording plays it.

    Where the timeline goes back, or further on than playback does, it `has_leapt`, until told otherwise.
    """

    def __init__(self) -> None:
        self.is_on = self.has_leapt = self._plays = False
        self._at = 0.0

    def begin(self, scene: bpy.types.Scene) -> float:
        """Keep to the timeline from where it is; returns that, in seconds."""
        self.is_on, self.has_leapt, self._at = True, False, seconds(scene)
        return self._at

    def follow(self, scene: bpy.types.Scene) -> float:
        """Where the timeline is now, in seconds."""
        before, self._at = self._at, seconds(scene)
        self.has_leapt = self.has_leapt or not 0.0 <= self._at - before <= LEAP
        return self._at

    def play(self) -> None:
        """Play for a recording, unless it plays already."""
        if not is_playing():
            _toggle()
            self._plays = True

    def stop(self) -> None:
        """Stop where it is what was played for a recording."""
        was, self._plays = self._plays, False
        with contextlib.suppress(RuntimeError):  # where Blender lets nothing run, as when it quits
            if was and is_playing():
                _toggle()


def _toggle() -> None:
    with bpy.context.temp_override(
        window=bpy.context.window or bpy.context.window_manager.windows[0]
    ):
        bpy.ops.screen.animation_play()
