"""Recordings of a live session, begun and ended by its user: each becomes a take."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import bpy

from ..engine.errors import SettingsError
from . import recordings, timeline

if TYPE_CHECKING:
    from ..live.session import Session
    from ..scene.handle import Handle


class LiveTakes:
    """The recordings of a session of an armature. `names` are those of its takes, `keep` is told of each."""

    def __init__(
        self,
        name: str,
        session: Session,
        armature: Handle,
        along: timeline.Along,
        keep: Callable[[bpy.types.Action], None],
    ) -> None:
        self.names: list[str] = []
        self._name, self._session, self._armature, self._along, self._keep = (
            name,
            session,
            armature,
            along,
            keep,
        )

    def begin(self) -> str:
        """Begin a recording, along the timeline if that is wanted; returns what to say. MotionMatchingError if not."""
        from ..live.recorder import RecordingPlan
        from ..scene.bake import scene_fps

        scene, play = bpy.context.scene, self._armature.find().motion_matching.play
        mode = self._line_up(scene, play.mode) if play.timeline else play.mode
        frame = scene.frame_float if play.timeline else float(scene.frame_current)
        step = scene_fps(scene) / self._session.performer.method.fps
        self._session.record(
            RecordingPlan(self._name, frame, step, mode, recordings.folder(), bpy.data.filepath)
        )
        if play.timeline:
            self._along.play()
        return "Recording."

    def _line_up(self, scene: bpy.types.Scene, mode: str) -> str:
        """Bring timeline and session to where a recording along the timeline begins; returns how it is recorded.

        SettingsError where the timeline ends there, RigError where there is no take to append to.
        """
        from ..scene.recording import base_of

        begin = scene.frame_current
        base = base_of(self._session.writer.playing(), mode)
        if mode == "append" and base:
            begin, mode = math.ceil(base.find().frame_range[1]), "overwrite"
        if begin >= timeline.end(scene):
            raise SettingsError(
                f"The timeline ends at frame {timeline.end(scene)}, and a recording along it would begin "
                "there; make it longer, or record without it."
            )
        if begin != scene.frame_current:
            scene.frame_set(begin)
        self._session.keep_time(self._along.begin(scene), with_timeline=True)
        return mode

    def end(self) -> str:
        """End the recording as a take; returns what to say, or nothing where there is none."""
        seconds = self._session.recorded_seconds
        self._along.stop()
        name = self._session.stop_recording()
        if name is None:
            return ""
        self._keep(bpy.data.actions[name])
        self.names.append(name)
        return f"Recorded '{name}': {seconds:.1f} s."
