"""Recordings of a live session, begun and ended by its user: each becomes a take."""

from __future__ import annotations

import math
from collections.abc import Callable

import bpy

from ...engine.control.performer import Placement
from ...engine.errors import SettingsError
from ...live.inputs.base import Start
from ...live.recorder import RecordingPlan, RestPlan
from ...live.session import Session
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.blender.animation.curves import ON_KEY
from ...scene.blender.handle import Handle
from ...scene.reading.moving_pose import PoseReader, read_path_start
from ...scene.writing.recording import find_base_take
from ..property_access import settings_of
from ..takes import recordings
from . import timeline

_ENDINGS = {
    "new": "Recorded '{name}': {seconds:.1f} s",
    "append": "Appended {seconds:.1f} s to '{name}'",
    "overwrite": "Overwrote {seconds:.1f} s of '{name}'",
}


class LiveTakes:
    """The recordings of a session; `names` are its takes' names, and `on_take` gets each take."""

    def __init__(
        self,
        name: str,
        session: Session,
        armature: Handle,
        follower: timeline.TimelineFollower,
        on_take: Callable[[bpy.types.Action], None],
        reader: PoseReader | None = None,
    ) -> None:
        self.names: list[str] = []
        self._mode = "new"
        self._name = name
        self._session = session
        self._armature = armature
        self._follower = follower
        self._on_take = on_take
        self._reader = reader

    def begin(self, *, waits: bool = False) -> str:
        """Begin a recording, along the timeline if that is chosen; return what to report.

        If it `waits`, a new take begins at the first tick at which the input is there. Raises
        MotionMatchingError if none can begin.
        """
        scene = bpy.context.scene
        play = settings_of(self._armature.find()).play
        self._mode = play.mode
        mode = self._align_with_timeline(scene, play.mode) if play.timeline else play.mode
        frame = scene.frame_float if play.timeline else float(scene.frame_current)
        step = get_scene_fps(scene) / self._session.performer.fps
        start = self._read_start(mode, frame, step, play.timeline)
        rest = RestPlan(self._reader, play.lead_back) if self._reader else None
        folder = recordings.get_folder()
        plan = RecordingPlan(self._name, frame, step, mode, folder, bpy.data.filepath, start, rest)
        if waits and mode == "new" and not play.timeline:
            self._session.await_input(plan)
            return "Recording begins with the input"
        self._session.record(plan)
        if play.timeline:
            self._follower.play()
        return "Recording"

    def _align_with_timeline(self, scene: bpy.types.Scene, mode: str) -> str:
        """Move timeline and session to where a recording begins; return how it is recorded.

        Raises SettingsError if the timeline ends there, RigError without a take to append to.
        """
        begin = float(scene.frame_current)
        base = find_base_take(self._session.writer.find_action(), mode)
        if mode == "append" and base:
            begin = float(base.find().frame_range[1])
            mode = "overwrite"
        end = scene.frame_preview_end if scene.use_preview_range else scene.frame_end
        if begin >= end:
            text = f"The timeline ends at frame {end}, the first frame of a recording along it"
            raise SettingsError(f"{text}; make it longer, or record without it.")
        if begin != scene.frame_float:
            whole = math.floor(begin)
            scene.frame_set(whole, subframe=begin - whole)
        self._session.switch_clock(self._follower.begin(scene), with_timeline=True)
        return mode

    def _read_start(
        self, mode: str, frame: float, step: float, along_timeline: bool
    ) -> Start | None:
        """Return the pose, place and motion of the take that a recording goes on from, if any.

        The first key is a tick later, except where a take is recorded over from its first frame on.
        Raises RigError without a take to record into.
        """
        writer = self._session.writer
        base = find_base_take(writer.find_action(), mode)
        action = base.find() if base else None
        if action is None:
            return None
        first, last = map(float, action.frame_range)
        if mode == "append":
            frame = last
        elif not along_timeline:
            frame = max(frame - step, min(frame, first))
        at_end = abs(frame - last) < ON_KEY
        if self._reader:
            obj = self._armature.find()
            place, state = self._reader.read_start(obj, frame, step, action, at_end=at_end)
        else:
            fps = self._session.performer.fps
            place, state = read_path_start(action, frame, step, fps, at_end=at_end)
        return Start(Placement(*place), state=state)

    def end(self) -> str:
        """End the recording as a take; return a report, or nothing if there is none."""
        seconds = self._session.recorded_seconds
        self._follower.stop()
        name = self._session.stop_recording()
        if name is None:
            return ""
        action = bpy.data.actions[name]
        self._on_take(action)
        self.names.append(action.name)
        return _ENDINGS[self._mode].format(name=action.name, seconds=seconds)
