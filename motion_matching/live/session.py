"""A running session: an input steers a performer, an armature shows it. Plain Python that holds no object of Blender.

session = Session(performer, input, PoseWriter(armature, performer.method.skeleton))
session.start(now)
report = session.tick(now, view_heading)   # as often as there is a picture
session.stop()                             # the only way out, twice if need be
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..engine.control.ground import Box, Wall
from ..engine.control.intent import Intent
from ..engine.control.performer import Frame, Performer, Placement
from ..engine.control.settings import PerformerSettings
from ..engine.errors import MotionMatchingError, RigError
from ..scene.handle import Handle
from ..scene.marker import MarkerWriter
from ..scene.pose import PoseWriter
from .clock import LONGEST_STALL, Clock
from .inputs.base import Input, Situation, Start
from .recorder import History, Recorder, RecordingPlan
from .recovery import RecoveryFile

_WORTH_TELLING = 0.5  # seconds left out at once
_TIMELINE_STALL = 60.0  # seconds: a timeline waits for nobody, and its keys have to stay with it


class Report(NamedTuple):
    """What a call of `tick` did: so many ticks, the last of them, and what the user is to know.

    `commands` are what the input asks of the session's owner, such as 'record'; `dropped` are seconds that were left
    out after a stall; `is_finished` says that the input has no more to give.
    """

    ticks: int
    frame: Frame
    commands: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    dropped: float = 0.0
    is_finished: bool = False


class Session:
    """Steps a performer exactly as `rollout.solve` does, in time with a clock that the caller reads.

    What is shown lies between the last two ticks, one tick late, so that motion at any rate is smooth at any other. A
    session that `follows_timeline` gets the timeline's time instead, and shows exact ticks. With a `spot`, (x, y), the
    character is shown there, wherever it goes; keys hold its true motion. `obstacles` and `walls` are
    what the performer's ground was made of, for performances to keep. `tags` are asked for beside those of the input;
    the database has to have them. `asked_as` is how the method is asked for what is wanted and recorded, and
    `method_name` how performances name it.
    """

    def __init__(
        self,
        performer: Performer,
        source: Input,
        writer: PoseWriter | MarkerWriter,
        *,
        follows_timeline: bool = False,
        obstacles: tuple[Box, ...] = (),
        walls: tuple[Wall, ...] = (),
    ) -> None:
        self.performer, self.source, self.writer = performer, source, writer
        self._obstacles, self._walls = obstacles, walls
        self._follows_timeline = follows_timeline
        self.spot: tuple[float, float] | None = None
        self.tags: frozenset[str] = frozenset()
        self.asked_as: Callable[[Intent], Intent] = _as_it_is
        self.method_name = ""
        self._stack: ExitStack | None = None
        self._recorder: Recorder | None = None
        self._pending: dict[str, Any] = {}
        self._messages: list[str] = []
        self._takes: list[tuple[Handle, RecoveryFile | None]] = []  # of this session, in order

    # ------------------------------------------------------------ start, tick, stop

    @property
    def is_running(self) -> bool:
        return self._stack is not None

    def start(self, now: float) -> None:
        """Begin, at a time in seconds. Errors of the input, the settings or the armature leave all as it was."""
        self.stop()
        with ExitStack() as stack:
            stack.callback(self.source.close)
            self.source.open()
            begin = self.source.start or Start(Placement(*self.writer.start))
            self.performer.apply(self.performer.settings.changed(begin.settings))
            place = begin.place
            frame = self.performer.reset((place.x, place.y), place.yaw)
            self._before = self._frame = frame
            fps = self.performer.method.fps
            self._history = History(
                fps,
                place,
                self.performer.settings.to_dict(),
                self._obstacles,
                self._walls,
                self.method_name,
            )
            self._clock = Clock(fps, self._longest_stall())
            self._takes, self._pending = [], {}
            for _ in range(self.source.lead_in):
                self._step(0.0)
            if (
                not self.source.lead_in
            ):  # the time that it takes does not count: the first `tick` starts the clock
                self._clock.due(now)
            stack.callback(self._close_recoveries)
            stack.callback(lambda: self.writer.give_back(keep_action=self._plays_take()))
            self.writer.take_over()
            self.writer.show(self._frame.pose)
            stack.callback(self._end_recording)
            self._stack = stack.pop_all()

    def tick(
        self, now: float, view_heading: float = 0.0, *, in_frame_change: bool = False
    ) -> Report:
        """Make the ticks that are due, show the pose of this instant, and tell what happened.

        `view_heading` is the heading of somebody who looks into the 3D view. A handler of a change of frame says so,
        and calls `flush` later. RigError where the armature is gone or cannot be posed: then the session has to be
        stopped.
        """
        dropped = self._clock.dropped
        self.source.poll()
        count = self._clock.due(now)
        for _ in range(count):
            self._step(view_heading)
        if self._recorder and not in_frame_change:
            self._recorder.flush()
        self.writer.show(self._shown(), update=not in_frame_change)
        dropped = self._clock.dropped - dropped
        if dropped >= _WORTH_TELLING:
            self._messages.append(f"{dropped:.1f} s were left out, because Blender was busy.")
        messages, self._messages = [*self._messages, *self.source.take_messages()], []
        return Report(
            count,
            self._frame,
            tuple(self.source.take_commands()),
            tuple(messages),
            dropped,
            self.source.is_finished,
        )

    def keep_time(self, now: float, *, with_timeline: bool) -> None:
        """From here on times are the timeline's, or a clock's again: the last tick is due at this one."""
        self._follows_timeline = with_timeline
        self._clock.go_on(now, self._longest_stall())

    def flush(self) -> None:
        """Write keys of a recording if it is time to; the pose that is shown stays."""
        if self._recorder and self._recorder.flush():
            self.writer.show_again()

    def show_again(self) -> None:
        """In a handler of a change of frame, show the last pose again, over what the armature's action has there."""
        self.writer.show_again(update=False)

    @property
    def velocity(self) -> tuple[float, float]:
        """Of the character in the last tick, m/s."""
        here, before, fps = self._frame.character, self._before.character, self.performer.method.fps
        return (here.x - before.x) * fps, (here.y - before.y) * fps

    @property
    def asked(self) -> frozenset[str]:
        """The tags that the last tick asked for."""
        intents = self._history.intents
        return intents[-1].tags if intents else self.tags

    def pause(self, now: float) -> None:
        """Stand still."""
        self._clock.pause(now)

    def resume(self, now: float) -> None:
        """Go on where it stood still."""
        self._clock.resume(now)

    def stop(self) -> tuple[str, ...]:
        """End: a recording becomes a take, and the armature gets back what it had. Again, it does nothing.

        Returns sentences for the user, such as why a take could not be written.
        """
        stack, self._stack = self._stack, None
        if stack is not None:
            stack.close()
        messages, self._messages = self._messages, []
        return tuple(messages)

    # ------------------------------------------------------------ settings and recording

    def apply(self, settings: PerformerSettings) -> None:
        """Use other settings from the next tick on. Those that are refused are left out, and a message says why."""
        now = self.performer.settings
        self._pending = {
            f.name: getattr(settings, f.name)
            for f in fields(settings)
            if getattr(settings, f.name) != getattr(now, f.name)
        }

    @property
    def is_recording(self) -> bool:
        return self._recorder is not None

    @property
    def recorded_seconds(self) -> float:
        return self._recorder.count / self.performer.method.fps if self._recorder else 0.0

    def record(self, plan: RecordingPlan) -> None:
        """Record from the next tick on. RigError or MotionMatchingError where that cannot be; the session goes on."""
        self.stop_recording()
        if self._follows_timeline:
            plan = plan._replace(
                frame=plan.frame + plan.frame_step
            )  # the next tick is due one tick later
        self._recorder = Recorder(self.writer, plan, self._history, self.performer.method.fps)

    def stop_recording(self) -> str | None:
        """End the recording; returns the name of the take's action, None where nothing was recorded.

        RigError where the armature is gone: what was recorded is in the recovery file then.
        """
        take = self._finish_recording()
        if take:
            with suppress(
                RigError
            ):  # an armature in edit mode has its take; the next tick says what is wrong
                self.writer.show_again()
        return take

    def discard_recording(self) -> None:
        """End the recording and forget it."""
        recorder, self._recorder = self._recorder, None
        if recorder:
            recorder.discard()
            self.writer.show_again()

    def leave_recording(self) -> list[Path]:
        """End the recording without a take, where the file that it belongs to goes, and the session's takes with it.

        Returns the paths of their recovery files, in the order in which they were recorded.
        """
        recorder, self._recorder = self._recorder, None
        left = self._close_recoveries(keep=True)
        last = recorder.leave() if recorder else None
        return [*left, last] if last else left

    # ------------------------------------------------------------ inside

    def _longest_stall(self) -> float:
        return _TIMELINE_STALL if self._follows_timeline else LONGEST_STALL

    def _step(self, view_heading: float) -> None:
        """One tick."""
        frame = self._frame
        situation = Situation(
            len(self._history.intents),
            self.performer.dt,
            frame.character,
            frame.simulation_object,
            view_heading,
        )
        change = self._change(situation.tick)
        intent = self.source.intent(situation)
        if self.tags:
            intent = intent._replace(tags=intent.tags | self.tags)
        self._before, self._frame = frame, self.performer.step(self.asked_as(intent))
        self._history.add(intent, change)
        if self._recorder:
            self._recorder.tick(self._frame.pose)

    def _change(self, tick: int) -> Mapping[str, Any]:
        """Apply the settings that change with a tick."""
        change, self._pending = {**self.source.settings_at(tick), **self._pending}, {}
        if not change:
            return {}
        try:
            settings = self.performer.settings.changed(change)
            self.performer.apply(settings)
        except MotionMatchingError as refusal:
            self._messages.append(str(refusal))
            return {}
        changed = settings.to_dict()
        return {name: changed[name] for name in change}

    def _shown(self) -> np.ndarray:
        """The pose of this instant."""
        fraction = 1.0 if self._follows_timeline else self._clock.fraction
        pose = between(self._before.pose, self._frame.pose, fraction)
        if self.spot is not None:
            pose = pose.copy()
            pose[:2, 0] = self.spot
        return pose

    def _finish_recording(self) -> str | None:
        recorder, self._recorder = self._recorder, None
        take = recorder.finish() if recorder else None
        if recorder is None or take is None:
            return None
        self._takes.append((take, recorder.recovery))
        return take.name

    def _plays_take(self) -> bool:
        """Whether what is moved plays one of the takes: the user may have deleted them, or taken them off."""
        obj = self.writer.armature.find()
        action = obj.animation_data.action if obj and obj.animation_data else None
        return action is not None and any(take.find() == action for take, _ in self._takes)

    def _close_recoveries(self, *, keep: bool = False) -> list[Path]:
        """Let go of the takes' recovery files; to `keep` are those of takes that are still there. Returns their paths."""
        kept = []
        for take, recovery in self._takes:
            if recovery and not recovery.is_closed:
                recovery.close(keep=keep and take.find() is not None)
                kept += [recovery.path] if recovery.path.exists() else []
        return kept

    def _end_recording(self) -> None:
        try:
            self._finish_recording()
        except MotionMatchingError as cause:
            self._messages.append(str(cause))


def _as_it_is(intent: Intent) -> Intent:
    return intent


def between(first: np.ndarray, second: np.ndarray, fraction: float) -> np.ndarray:
    """The pose (7, B) at a fraction of the way from one tick's to the next: positions and the shorter turns."""
    if fraction >= 1.0:
        return second
    other = second.copy()
    other[3:] *= np.where(np.einsum("cb,cb->b", first[3:], second[3:]) < 0.0, -1.0, 1.0)
    mixed = first + np.float32(fraction) * (other - first)
    mixed[3:] /= np.sqrt(np.einsum("cb,cb->b", mixed[3:], mixed[3:]))
    return mixed
