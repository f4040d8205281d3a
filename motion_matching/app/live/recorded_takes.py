"""Recordings of a live session, begun and ended by its user: each becomes a take."""

from __future__ import annotations

import math
from collections.abc import Callable

import bpy

from ...engine.errors import SettingsError
from ...live.recorder import RecordingPlan
from ...live.session import Session
from ...scene.blender.actions import get_scene_fps
from ...scene.blender.handle import Handle
from ...scene.writing.recording import find_base_take
from .. import recordings
from ..typed import settings_of
from . import timeline


class LiveTakes:
    """The recordings of a session; `names` are those of its takes, `on_take` is given each."""

    def __init__(
        self,
        name: str,
        session: Session,
        armature: Handle,
        follower: timeline.TimelineFollower,
        on_take: Callable[[bpy.types.Action], None],
    ) -> None:
        self.names: list[str] = []
        self._name, self._session, self._armature = name, session, armature
        self._follower, self._on_take = follower, on_take

    def begin(self) -> str:
        """Begin a recording, along the timeline if that is chosen; return what to report.

        Raises MotionMatchingError if none can begin.
        """
        scene, play = bpy.context.scene, settings_of(self._armature.find()).play
        mode = self._align_with_timeline(scene, play.mode) if play.timeline else play.mode
        frame = scene.frame_float if play.timeline else float(scene.frame_current)
        step = get_scene_fps(scene) / self._session.performer.method.fps
        folder = recordings.get_folder()
        plan = RecordingPlan(self._name, frame, step, mode, folder, bpy.data.filepath)
        self._session.record(plan)
        if play.timeline:
            self._follower.play()
        return "Recording."

    def _align_with_timeline(self, scene: bpy.types.Scene, mode: str) -> str:
        """Move timeline and session to where a recording begins; return how it is recorded.

        Raises SettingsError if the timeline ends there, RigError without a take to append to.
        """
        begin = scene.frame_current
        base = find_base_take(self._session.writer.find_action(), mode)
        if mode == "append" and base:
            begin, mode = math.ceil(base.find().frame_range[1]), "overwrite"
        end = scene.frame_preview_end if scene.use_preview_range else scene.frame_end
        if begin >= end:
            text = f"The timeline ends at frame {end}, and a recording along it would begin there"
            raise SettingsError(f"{text}; make it longer, or record without it.")
        if begin != scene.frame_current:
            scene.frame_set(begin)
        self._session.switch_clock(self._follower.begin(scene), with_timeline=True)
        return mode

    def end(self) -> str:
        """End the recording as a take; return what to report, or nothing if there is none."""
        seconds = self._session.recorded_seconds
        self._follower.stop()
        name = self._session.stop_recording()
        if name is None:
            return ""
        self._on_take(bpy.data.actions[name])
        self.names.append(name)
        return f"Recorded '{name}': {seconds:.1f} s."
