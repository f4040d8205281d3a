"""Record ticks as keys, some of the curves at a time, and to the recovery file once a second."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..engine.control.continuation import Body, carry_on
from ..engine.control.performer import Performer
from ..engine.errors import MotionMatchingError, RigError
from ..engine.ground.ground import is_flat
from ..engine.performance import performance
from ..engine.performance.intent import Intent
from ..engine.performance.performance import Performance
from ..scene.blender.handle import Handle
from ..scene.reading.moving_pose import PoseReader
from ..scene.staging.marker_writer import MarkerWriter
from ..scene.writing.channel_writer import ChannelWriter
from ..scene.writing.recording import (
    GrowingAction,
    RecordedTicks,
    RestTicks,
    find_base_take,
    write_take,
)
from .inputs.base import Start
from .recovery import Origin, RecoveryFile

SEGMENT = 5.0  # seconds of keys in the growing action
_FLUSHES = 4  # per second, of every curve
_PARTS = 4  # of the curves; each flush writes one
_LEAST_REST = 0.5  # ticks of a take after a recording from which on there is a rest


class History:
    """The intents and settings since a session began, so that any stretch can be solved again.

    `beginning` is a performance without intents.
    """

    def __init__(self, beginning: Performance) -> None:
        self._beginning = beginning
        self.intents: list[Intent] = []
        self.changes: list[tuple[int, Mapping[str, Any]]] = []

    def add(self, intent: Intent, change: Mapping[str, Any]) -> None:
        """Add a tick and the settings that changed with it."""
        if change:
            self.changes.append((len(self.intents), dict(change)))
        is_same = bool(self.intents) and self.intents[-1] == intent
        self.intents.append(self.intents[-1] if is_same else intent)  # one object while it lasts

    def build_performance(self, name: str, start: int = 0, stop: int | None = None) -> Performance:
        """Return the performance of ticks start <= t < stop; from 0 on it can be solved again."""
        stop = len(self.intents) if stop is None else stop
        part = [(tick - start, change) for tick, change in self.changes if start <= tick < stop]
        intents = tuple(self.intents[start:stop])
        return replace(self._beginning, name=name, intents=intents, changes=tuple(part))


class RestPlan(NamedTuple):
    """Plan for the rest of a take: `reader` reads it; see `carry_on` for `lead_back`."""

    reader: PoseReader
    lead_back: float = 0.0


class RecordingPlan(NamedTuple):
    """Plan of a recording: the first tick is keyed at `frame`, or in mode 'append' after the take's
    end.

    With a `start`, the session begins there, one tick before the first key. `rest` says how a take
    that is overwritten goes on after the recording; without it, that stays as it was.

    `frame_step` is the length of a tick in frames. The mode 'overwrite' replaces the keys of the
    take that the armature plays, and 'new' makes an action of its own. `recovery` is a folder;
    `file` is the path of the .blend file, empty if it was not saved.
    """

    name: str
    frame: float
    frame_step: float
    mode: str = "new"
    recovery: Path | None = None
    file: str = ""
    start: Start | None = None
    rest: RestPlan | None = None


class Recorder:
    """Collects the ticks of a recording and shows them as keys while they come.

    A flush touches one part of the curves, so that it stays short; each curve gets its keys a few
    times a second. Raises RigError if the mode needs a take and the armature plays none.
    """

    def __init__(
        self,
        writer: ChannelWriter | MarkerWriter,
        plan: RecordingPlan,
        history: History,
        performer: Performer,
    ) -> None:
        fps = performer.fps
        self._writer = writer
        self._plan = plan
        self._history = history
        self._fps = fps
        self._performer = performer
        self._base = find_base_take(writer.find_action(), plan.mode)
        self._first = plan.frame
        if self._base and plan.mode == "append":
            self._first = float(self._base.find().frame_range[1]) + plan.frame_step
        self._lead_in = len(history.intents)
        self._length, self._pace = round(SEGMENT * fps), max(round(fps / (_FLUSHES * _PARTS)), 1)
        self._previous_channels = writer.at_rest
        self._part = 0
        self._rows: np.ndarray = np.empty((self._length, writer.channel_count), np.float32)
        self.count = 0  # of ticks so far
        self._last: deque[np.ndarray] = deque(maxlen=2)  # poses
        self._segment = self._flushed = self._saved = 0  # ticks: its first one, and those done
        self.recovery: RecoveryFile | None = None
        if plan.recovery:
            lead_in = history.build_performance(plan.name, 0, self._lead_in)
            origin = Origin(writer.armature.name, plan.file, writer.alone)
            nothing = self._collect_ticks("")
            self.recovery = RecoveryFile(plan.recovery, origin, nothing, plan.frame_step, lead_in)
        try:
            shares = bool(writer.collection)
            self._growing = GrowingAction(writer.armature, plan.name, writer.tracks, shares)
        except BaseException:
            self._close_recovery(keep=False)
            raise

    def tick(self, pose: np.ndarray) -> None:
        """Add a pose (7, B), whose tick the history has already."""
        if self.count - self._segment == self._length:  # several may come between two flushes
            self._begin_segment()
        if self.count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._previous_channels = self._writer.compute_channels(pose, self._previous_channels)
        self._rows[self.count] = self._previous_channels
        self._last.append(pose)
        self.count += 1
        if self.count - self._saved >= round(self._fps):
            self._save_recovery()

    def flush(self) -> int:
        """Write keys if they are due, and return how many were touched; mostly none.

        If there were any, the pose has to be shown again: at the next update new keys override it.
        """
        if not self._writer.shows_keys:
            return 0
        if self.count - self._segment == self._length:
            self._begin_segment()
            return 0
        if self.count - self._flushed < self._pace:
            return 0
        self._flushed = self.count
        count = len(self._writer.tracks)
        part = self._part
        numbers = range(count * part // _PARTS, count * (part + 1) // _PARTS)
        self._part = (part + 1) % _PARTS
        frames = self._first + self._plan.frame_step * np.arange(self._segment, self.count)
        return self._growing.extend(numbers, frames, self._rows[self._segment : self.count])

    def finish(self) -> Handle | None:
        """Write the take and return its action, or None if there was no tick.

        `recovery` then holds the whole take and stays open until the session ends, because before
        that Blender has no undo step of the take. Raises RigError if the armature is gone; then the
        recovery file stays.
        """
        try:
            self._growing.remove()
            if self.count == 0:
                self._close_recovery(keep=False)
                return None
            stop = self._lead_in + self.count
            performed = self._history.build_performance(self._plan.name, 0, stop)
            obj = self._writer.armature.find()
            if obj is None:
                raise RigError(
                    f"armature '{self._writer.armature.name}' was deleted, so the take cannot be "
                    "written; it stays in the recovery file."
                )
            ticks = self._collect_ticks(performance.to_json(performed))
            action = write_take(obj, ticks, self._base, self._carry_rest(float(ticks.frames[-1])))
        except BaseException:
            self._close_recovery(keep=True)
            raise
        with suppress(MotionMatchingError):  # the take exists, even if its file cannot be written
            self._save_recovery()
        return Handle.from_block(action, "actions")

    def _carry_rest(self, frame: float) -> RestTicks | None:
        """Return how the take goes on after a recording whose last key is at a frame, if it does.

        It is carried from the last two poses of the recording.
        """
        plan = self._plan.rest
        writer = self._writer
        performer = self._performer
        if plan is None or self._base is None or isinstance(writer, MarkerWriter):
            return None
        action: bpy.types.Action = self._base.find()
        obj = writer.armature.find()
        step = self._plan.frame_step
        left = (action.frame_range[1] - frame) / step
        if obj is None or left < _LEAST_REST:
            return None
        frames = frame + step * np.arange(-1, max(int(left + 1e-6), 1) + 1)
        rest = plan.reader.show(plan.reader.read(obj, frames.tolist(), action))
        method = performer.method
        travels = writer.travels
        is_level = travels and is_flat(performer.ground)
        carried = carry_on(
            plan.reader.show(np.stack([self._last[0], self._last[-1]])),
            rest,
            Body(
                method.skeleton,
                method.acceleration_limits,
                method.legs,
                method.fps,
                method.world.scale,
            ),
            performer.settings,
            contacts=plan.reader.find_contacts(rest) if is_level else None,
            lead_back=plan.lead_back,
            moves=travels,
        )
        rows = []
        channels = self._previous_channels
        for pose in carried.poses:
            channels = writer.compute_channels(pose, channels)
            rows.append(channels.astype(np.float32))
        return RestTicks(np.stack(rows), writer.find_carrier_moves(carried.move), plan.lead_back)

    def leave(self) -> Path | None:
        """End without a take; return the path of its recovery file, if there is one."""
        self._growing.remove()
        try:
            self._save_recovery()
        finally:
            self._close_recovery(keep=self.count > 0)
        return self.recovery.path if self.recovery and self.count else None

    def discard(self) -> None:
        """Delete the recording."""
        self._growing.remove()
        self._close_recovery(keep=False)

    def _collect_ticks(self, recorded: str) -> RecordedTicks:
        """Return all ticks so far; before the first, only its frame."""
        rows = self._rows[: self.count]
        frames = self._first + self._plan.frame_step * np.arange(max(len(rows), 1))
        name = self._plan.name
        writer = self._writer
        played = rows, self._fps, self._lead_in, recorded, writer.collection
        return RecordedTicks(name, writer.tracks, writer.scaled, frames, *played)

    def _save_recovery(self) -> None:
        if self.recovery and self.count > self._saved:
            ticks = self._lead_in + self._saved, self._lead_in + self.count
            performed = self._history.build_performance(self._plan.name, *ticks)
            self.recovery.append(self._rows[self._saved : self.count], performed)
            self._saved = self.count

    def _begin_segment(self) -> None:
        self._segment = self._flushed = self.count
        self._growing.clear()

    def _close_recovery(self, *, keep: bool) -> None:
        if self.recovery:
            self.recovery.close(keep=keep)
