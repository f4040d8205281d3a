"""Follow and play the timeline beside a live session."""

from __future__ import annotations

import contextlib

import bpy

from ...live.session import Session
from ...scene.blender.animation.actions import get_scene_fps

LEAP = 2.0  # seconds: playback that drops frames does not leave out as many at once


def is_playing() -> bool:
    """Return whether any window plays the timeline."""
    return any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows)


def get_seconds(scene: bpy.types.Scene) -> float:
    """Return the time of the current frame in seconds; frame zero is at 0."""
    return scene.frame_float / get_scene_fps(scene)


class TimelineFollower:
    """Follows the timeline for a session: its last frame, and whether a recording plays it.

    `has_leapt` says, until `begin`, that it went back, or further ahead than playback does.
    """

    def __init__(self) -> None:
        self.is_on = self.has_leapt = self._has_started_playback = False
        self._seconds = 0.0

    def begin(self, scene: bpy.types.Scene) -> float:
        """Follow the timeline from its current frame on; return that frame's time in seconds."""
        self.is_on, self.has_leapt, self._seconds = True, False, get_seconds(scene)
        return self._seconds

    def follow(self, scene: bpy.types.Scene) -> float:
        """Return the current time of the timeline in seconds."""
        before = self._seconds
        self._seconds = get_seconds(scene)
        self.has_leapt = self.has_leapt or not 0.0 <= self._seconds - before <= LEAP
        return self._seconds

    def switch(self, session: Session, now: float, *, is_on: bool) -> None:
        """Have a session go by the timeline, or by the clock, which says `now`."""
        if is_on and not self.is_on:
            session.switch_clock(self.begin(bpy.context.scene), with_timeline=True)
        elif self.is_on and not is_on:
            self.is_on = False
            session.switch_clock(now, with_timeline=False)

    def describe_end(self, *, is_wanted: bool) -> str:
        """Return why a recording has to end if it goes along the timeline, or an empty string."""
        if not self.is_on or (is_wanted and not self.has_leapt):
            return ""
        what = "leapt" if self.has_leapt else "stopped"
        return f"The timeline has {what}, which ends the recording."

    def play(self) -> None:
        """Start playback for a recording, unless it runs already."""
        if not is_playing():
            _toggle_playback()
            self._has_started_playback = True

    def stop(self) -> None:
        """Stop playback that was started for a recording."""
        was = self._has_started_playback
        self._has_started_playback = False
        with contextlib.suppress(RuntimeError):  # where Blender lets nothing run, as when it quits
            if was and is_playing():
                _toggle_playback()


def _toggle_playback() -> None:
    window = bpy.context.window or bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window):
        bpy.ops.screen.animation_play()
