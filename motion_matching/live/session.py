"""Run a session: an input steers a performer, an armature shows it. Holds no Blender objects.

session = Session(performer, input, PoseWriter(armature, performer.skeleton))
session.start(now) report = session.tick(now, view_heading) # for each picture session.stop() # the
only way out; may be called twice
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..engine.control.performer import Frame, Performer, Placement
from ..engine.errors import MotionMatchingError, RigError
from ..engine.ground.ground import Wall
from ..engine.performance.intent import Intent
from ..engine.performance.settings import PerformerSettings
from ..scene.blender.handle import Handle
from ..scene.staging.marker_writer import MarkerWriter
from ..scene.writing.channel_writer import ChannelWriter
from .clock import LONGEST_STALL, Clock
from .inputs.base import Input, Start
from .recorder import Recorder, RecordingPlan
from .recovery import RecoveryFile
from .stepper import Stepper

_REPORTED_STALL = 0.5  # seconds left out at once, from which the user is notified
_TIMELINE_STALL = 60.0  # a timeline does not wait, and its keys have to stay in step with it


class Report(NamedTuple):
    """Result of a call of `tick`: the number of ticks, the last frame, and messages for the user.

    `commands` are requests of the input to the session's owner, such as 'record'; `dropped` are
    seconds left out after a stall; `is_finished`: the input has ended.
    """

    ticks: int
    frame: Frame
    commands: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    dropped: float = 0.0
    is_finished: bool = False


class Session(Stepper):
    """Steps a performer by a clock that the caller reads, and shows what it does.

    The pose shown lies between the last two ticks, one tick late, so that motion at any rate is
    smooth at any picture rate. With the timeline's time, exact ticks are shown.

    With a `spot`, (x, y), the character is shown there, wherever it goes; keys hold its true
    motion. `origin` is where it starts, unless the input says that; else it starts where the
    armature rests.
    """

    def __init__(
        self,
        performer: Performer,
        source: Input,
        writer: ChannelWriter | MarkerWriter,
        walls: tuple[Wall, ...] = (),
        origin: Start | None = None,
    ) -> None:
        super().__init__(performer, source, walls)
        self.writer = writer
        self._origin = origin
        self._follows_timeline = False
        self.spot: tuple[float, float] | None = None
        self._stack: ExitStack | None = None
        self._recorder: Recorder | None = None
        self._waiting: RecordingPlan | None = None  # for the input
        self._takes: list[tuple[Handle, RecoveryFile | None]] = []  # of this session, in order

    # ------------------------------------------------------------ start, tick, stop

    @property
    def is_running(self) -> bool:
        return self._stack is not None

    def start(self, now: float) -> None:
        """Start at a time in seconds; errors leave everything as it was."""
        self.stop()
        with ExitStack() as stack:
            stack.callback(self.source.close)
            self.source.open()
            self._takes = []
            self._waiting = None
            self._begin(self._origin or Start(Placement(*self.writer.start)))
            self._clock = Clock(self.performer.fps, self._get_longest_stall())
            if not self.source.lead_in:  # which takes time: then the first `tick` starts the clock
                self._clock.count_due(now)
            stack.callback(self._close_recoveries)
            stack.callback(lambda: self.writer.restore(keep_action=self._is_playing_take()))
            self.writer.take_over()
            self.writer.show(self._frame.pose)
            stack.callback(self._try_finish_recording)
            self._stack = stack.pop_all()

    def tick(
        self, now: float, view_heading: float = 0.0, *, in_frame_change: bool = False
    ) -> Report:
        """Step the ticks that are due, show the pose of this instant, and report what happened.

        `view_heading` is the heading in radians of the 3D view. A frame change handler sets
        `in_frame_change`, and calls `flush` later. Raises RigError if the armature is gone or
        cannot be posed; then the session has to be stopped.
        """
        dropped = self._clock.dropped
        self.source.poll()
        count = self._clock.count_due(now)
        for _ in range(count):
            self._step(view_heading)
        if self._recorder and not in_frame_change:
            self._recorder.flush()
        self.writer.show(self._interpolate_pose(), update=not in_frame_change)
        dropped = self._clock.dropped - dropped
        if dropped >= _REPORTED_STALL:
            self._messages.append(f"{dropped:.1f} s are missing, because Blender was busy.")
        messages = (*self._take_messages(), *self.source.take_messages())
        commands = tuple(self.source.take_commands())
        is_finished = self.source.is_finished
        return Report(count, self._frame, commands, messages, dropped, is_finished)

    def switch_clock(self, now: float, *, with_timeline: bool) -> None:
        """Use the timeline's times, or a clock's again; the last tick is due at `now`."""
        self._follows_timeline = with_timeline
        self._clock.rebase(now, self._get_longest_stall())

    def flush(self) -> None:
        """Write keys of a recording if they are due; the shown pose stays."""
        if self._recorder and self._recorder.flush():
            self.writer.show_again()

    def show_again(self) -> None:
        """Show the last pose again in a frame change handler, over the armature's action."""
        self.writer.show_again(update=False)

    @property
    def velocity(self) -> tuple[float, float]:
        """Return the velocity of the character in the last tick, in m/s."""
        here = self._frame.character
        before = self._before.character
        fps = self.performer.fps
        return (here.x - before.x) * fps, (here.y - before.y) * fps

    @property
    def character(self) -> Placement:
        """Return where the character is after the last tick."""
        return self._frame.character

    @property
    def requested_tags(self) -> frozenset[str]:
        """Return the tags requested in the last tick."""
        intents = self._history.intents
        return intents[-1].tags if intents else self.tags

    def stop(self) -> tuple[str, ...]:
        """End the session: a recording becomes a take, and the armature is restored.

        Returns messages for the user, such as why a take could not be written. May be called twice.
        """
        stack = self._stack
        self._stack = None
        if stack is not None:
            stack.close()
        return self._take_messages()

    # ------------------------------------------------------------ settings and recording

    def apply(self, settings: PerformerSettings) -> None:
        """Use other settings from the next tick on; a message says why if they are refused."""
        now = self.performer.settings.flatten()
        changed = settings.flatten()
        self._pending = {name: each for name, each in changed.items() if each != now[name]}

    @property
    def is_recording(self) -> bool:
        return self._recorder is not None

    @property
    def recorded_seconds(self) -> float:
        return self._recorder.count / self.performer.fps if self._recorder else 0.0

    def record(self, plan: RecordingPlan) -> None:
        """Record from the next tick on; the session goes on after a MotionMatchingError."""
        self.stop_recording()
        if plan.start:
            self._go_on_from(plan.start)
        if self._follows_timeline:  # the next tick is due one tick later
            plan = plan._replace(frame=plan.frame + plan.frame_step)
        self._recorder = Recorder(self.writer, plan, self._history, self.performer)

    @property
    def is_waiting(self) -> bool:
        """Return whether a recording waits for the input."""
        return self._waiting is not None

    def await_input(self, plan: RecordingPlan | None) -> None:
        """Record from the first tick on at which the input is there; or wait no longer."""
        self._waiting = plan

    def _receive(self, intent: Intent) -> None:
        if self._waiting and self.source.is_there(intent):
            plan = self._waiting
            self._waiting = None
            try:
                self.record(plan)
            except MotionMatchingError as refusal:
                self._messages.append(str(refusal))

    def stop_recording(self) -> str | None:
        """End the recording and return the name of the take's action; None if there is none.

        Raises RigError if the armature is gone; the recording is then in the recovery file.
        """
        take = self._finish_recording()
        if take:
            # an armature in edit mode has its take; the next tick reports what is wrong
            with suppress(RigError):
                self.writer.show_again()
        return take

    def discard_recording(self) -> None:
        """End the recording and delete it."""
        recorder = self._recorder
        self._recorder = None
        if recorder:
            recorder.discard()
            self.writer.show_again()

    def leave_recording(self) -> list[Path]:
        """End the recording without a take, as its file is closed along with the session's takes.

        Returns the paths of their recovery files, in the order of recording.
        """
        recorder = self._recorder
        self._recorder = None
        paths = self._close_recoveries(keep=True)
        last = recorder.leave() if recorder else None
        return [*paths, last] if last else paths

    # ------------------------------------------------------------ inside

    def _get_longest_stall(self) -> float:
        return _TIMELINE_STALL if self._follows_timeline else LONGEST_STALL

    def _step(self, view_heading: float) -> None:
        super()._step(view_heading)
        if self._recorder:
            self._recorder.tick(self._frame.pose)

    def _take_messages(self) -> tuple[str, ...]:
        messages = self._messages
        self._messages = []
        return tuple(messages)

    def _interpolate_pose(self) -> np.ndarray:
        fraction = 1.0 if self._follows_timeline else self._clock.fraction
        pose = interpolate_poses(self._before.pose, self._frame.pose, fraction)
        if self.spot is not None:
            pose = pose.copy()
            pose[:2, 0] = self.spot
        return pose

    def _finish_recording(self) -> str | None:
        recorder = self._recorder
        self._recorder = None
        take = recorder.finish() if recorder else None
        if recorder is None or take is None:
            return None
        self._takes.append((take, recorder.recovery))
        return take.name

    def _is_playing_take(self) -> bool:
        """Return whether the armature plays one of the takes, which the user may have deleted."""
        obj = self.writer.armature.find()
        action = obj.animation_data.action if obj and obj.animation_data else None
        return action is not None and any(take.find() == action for take, _ in self._takes)

    def _close_recoveries(self, *, keep: bool = False) -> list[Path]:
        """Close the takes' recovery files, and return the paths of those left by `keep`."""
        paths = []
        for take, recovery in self._takes:
            if recovery and not recovery.is_closed:
                recovery.close(keep=keep and take.find() is not None)
                paths += [recovery.path] if recovery.path.exists() else []
        return paths

    def _try_finish_recording(self) -> None:
        try:
            self._finish_recording()
        except MotionMatchingError as cause:
            self._messages.append(str(cause))


def interpolate_poses(first: np.ndarray, second: np.ndarray, fraction: float) -> np.ndarray:
    """Return the pose (7, B) at a fraction between two ticks, rotations the shorter way around."""
    if fraction >= 1.0:
        return second
    other = second.copy()
    other[3:] *= np.where(np.einsum("cb,cb->b", first[3:], second[3:]) < 0.0, -1.0, 1.0)
    mixed = first + np.float32(fraction) * (other - first)
    mixed[3:] /= np.sqrt(np.einsum("cb,cb->b", mixed[3:], mixed[3:]))
    return mixed
