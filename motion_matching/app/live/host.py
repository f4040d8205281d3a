"""Start, tick and end the live session of this Blender, one at most.

No Blender data is held from tick to tick; a session finds its armature by a handle.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import bpy

from ...engine.database.database import Database
from ...engine.errors import MotionMatchingError, SettingsError
from ...engine.field.field_controller import FieldController
from ...engine.field.method import Decision
from ...engine.ground.ground import Wall
from ...live.inputs.devices.keyboard import Keyboard
from ...live.session import Session
from ...scene.blender.handle import Handle
from ...scene.controls.live.proxy_writer import ProxyWriter
from ...scene.reading.moving_pose import PoseReader
from ...scene.writing import recording
from .. import callbacks, preferences
from ..database.frame_numbers import find_first_frames
from ..property_access import settings_of
from ..runtime import Trail, runtime
from ..settings import get_performer_settings
from ..strip.warnings import LIVE_KINDS, WarningItem, forget_resolved
from ..takes import recordings
from ..takes.take_actions import read_parts
from ..takes.take_list import find_free_name, list_take
from . import tag_requests, timeline
from .alerts import Alerts, TickRate, check_rig
from .changes import ChangeDetector
from .display_transform import Display
from .recorded_takes import LiveTakes
from .steering import FollowedCurve

PATH_NAME = "Steered Path"  # of an empty that moves without a database
_LOOK_INTERVAL = 0.25  # seconds between looks at the settings, and between redraws of the sidebar


class LiveSession:
    """A running session and its recordings. `begin` starts one; `end` is the only way out.

    `messages` are sentences for the user that are not reported yet, `ending` is the last one, None
    while it runs. Without a database, an empty moves instead of the armature.
    """

    def __init__(
        self,
        obj: bpy.types.Object,
        session: Session,
        keyboard: Keyboard,
        database: Database | None,
        walls: tuple[Wall, ...] = (),
        reader: PoseReader | None = None,
    ) -> None:
        """Prepare a session of an armature with its settings; `reader` reads its takes."""
        self.database = database
        self.keyboard = keyboard
        self.session = session
        self.speeds_database = database  # whose speeds are the full ones, if that is chosen
        self.field: FieldController | None = None  # that it plays by, if it does
        self.armature = Handle.from_block(obj, "objects")
        self.pace = TickRate()
        self.warnings: tuple[WarningItem, ...] = ()  # of the last tick
        self._alerts = Alerts(database) if database else None
        self.first_frames = find_first_frames(obj, database) if database else ()
        self._tag_request = tag_requests.TagRequest(database) if database else None
        self.messages: list[str] = []
        self.ending: str | None = None
        self.may_push = True  # whether an undo step may be made of how it ended
        self._stack = ExitStack()
        self._changes = ChangeDetector(obj, database)
        self._last_look = 0.0
        self._built_key = settings_of(obj).built_key
        self.display = Display(session, self.armature, walls)
        self._now = 0.0  # of the last tick of the clock
        self._heading = 0.0
        self._follower = timeline.TimelineFollower()
        name = "Live Take" if database else PATH_NAME
        self._recordings = LiveTakes(
            name, session, self.armature, self._follower, self._list_take, reader
        )
        self.takes = self._recordings.names  # of this session
        self._has_new_weights = False
        self.curve = FollowedCurve(self.armature, session.source)
        self._end_reason = ""  # why it has to end
        self._has_finished = False  # whether it ends because its input has
        self._commands: list[str] = []  # requested by the input

    def begin(self, now: float) -> None:
        """Start the session. Errors leave all as it was."""
        self.session.start(now)
        self._last_look = now
        obj = self.armature.find()
        self.display.begin(obj)
        if settings_of(obj).play.record_at_start:
            self._report(partial(self._recordings.begin, waits=True))

    def on_end(self, callback: Callable[[], None]) -> None:
        """Call something when the session ends, before what was added earlier."""
        self._stack.callback(callback)

    # ------------------------------------------------------------ each tick

    def tick(self, now: float, view_heading: float) -> None:
        """Make the ticks that are due. An error ends the session and is its last message."""
        self._now = now
        self._heading = view_heading
        self._run_guarded(self._tick)
        if self._end_reason:
            end(self._end_reason, is_expected=self._has_finished)

    def handle_frame_change(self, scene: bpy.types.Scene) -> None:
        """Show the pose again after the frame has changed, or that of the tick that is due there.

        All else waits for the next tick of the clock: nothing ends within a change of frame.
        """
        if self._changes.is_own_scene(scene) and not self._end_reason:
            follows = self._follower.is_on
            self._run_guarded(self._follow_timeline if follows else self.session.show_again)

    def _run_guarded(self, call: Callable[[], None]) -> None:
        """Call something; if it fails, store why the session has to end."""
        try:
            call()
        except MotionMatchingError as error:
            self._end_reason = _format_error(error)
        except Exception:
            traceback.print_exc()
            self._end_reason = "An error ended the live session; see the console for details."

    def _tick(self) -> None:
        if not self._end_reason and not self._changes.is_own_scene(bpy.context.scene):
            self._end_reason = "The live session ended: another scene was chosen."
        self._end_reason = self._end_reason or self._find_armature_change()
        if self._end_reason:
            return
        self.curve.follow_changes(self.session)
        self._sync_time()
        if self._follower.is_on:
            self.session.flush()  # here rather than while frames change, for keys show themselves
        else:
            self._advance(self._now)
        obj = self.armature.find()
        if obj is None:  # the session itself reports that at its next tick
            return
        if "record" in self._commands:
            self.toggle_recording()
        if self._tag_request and "tag" in self._commands:
            self._tag_request.request_next(settings_of(obj).play)
        self._commands.clear()
        if self._has_new_weights or self._now > self._last_look + _LOOK_INTERVAL:
            self._has_new_weights = False
            self._last_look = self._now
            self._apply_changed_settings(obj)

    def _advance(self, now: float) -> None:
        """Make the ticks that are due at a time of the clock or of the timeline."""
        began = time.perf_counter()
        obj = self.armature.find()
        if self._tag_request and obj:  # else the session itself reports that it is gone
            end_guard = self.session.performer.settings.search.end_guard
            self.session.tags = self._tag_request.resolve(settings_of(obj).play.tags, end_guard)
        report = self.session.tick(now, self._heading, in_frame_change=self._follower.is_on)
        self.pace.add_ticks(self._now, report.ticks, time.perf_counter() - began)
        self.messages += report.messages
        self._commands += report.commands
        frame = self.display.show(report.frame)
        if self.database:
            trail = runtime.trail or Trail(self.armature.uid, self._built_key, frame.character)
            trail.placement = frame.character
            trail.frames.append(frame.frame)
            decision = self.decision
            trail.neighbour_frames = decision.frames.tolist() if decision else ()
            trail.neighbour_shares = decision.weights.tolist() if decision else ()
            runtime.trail = trail
        if self._alerts and self._tag_request:
            matches_data = settings_of(self.armature.find()).controller.speeds_from_data
            budget = preferences.get_tick_budget()
            alerts = self._alerts.check(report.frame, matches_data, self.pace.slowest, budget)
            untrained = self._describe_untrained_tags()
            slow = check_rig(self.session.writer)
            self.warnings = (*self._tag_request.warnings, *untrained, *alerts, *slow)
        runtime.tick(self, frame)
        if report.is_finished:
            self._end_reason = f"{self.session.source.ending}."
            self._has_finished = True

    @property
    def shown(self) -> Handle:
        """Return the armature that shows the poses: the character, or its proxy."""
        writer = self.session.writer
        return writer.shown if isinstance(writer, ProxyWriter) else self.armature

    @property
    def decision(self) -> Decision | None:
        """Return the last choice of the field, if it plays by one."""
        method: Any = self.session.performer.method
        return method.decision if self.field else None

    def _describe_untrained_tags(self) -> tuple[WarningItem, ...]:
        unknown = self.field.find_untrained_tags(self.session.tags) if self.field else ()
        if not unknown:
            return ()
        text = f"The field is not trained for {', '.join(unknown)}: add it to Tags, and train"
        return (tag_requests.warn_of_tags("untrained tags", text, unknown),)

    @property
    def position(self) -> tuple[float, float]:
        """Return where the character is seen."""
        return self.display.position

    @property
    def view_follows(self) -> bool:
        """Return whether the view moves along with the character."""
        obj = self.armature.find()
        return obj is not None and settings_of(obj).play.view == "follow"

    # ------------------------------------------------------------ the timeline

    def _follow_timeline(self) -> None:
        """Make the ticks that are due at the current frame, unless the timeline has leapt."""
        now = self._follower.follow(bpy.context.scene)
        if not self._follower.has_leapt:
            self._advance(now)
            return
        if not self.session.is_recording:  # a recording waits for its end
            self.session.switch_clock(self._follower.begin(bpy.context.scene), with_timeline=True)
        self.session.show_again()

    def _sync_time(self) -> None:
        """Follow the timeline while it plays, if that is chosen, and the clock otherwise.

        A recording stays with what it began with, and ends when that does.
        """
        obj = self.armature.find()
        is_wanted = obj is not None and settings_of(obj).play.timeline and timeline.is_playing()
        if not self.session.is_recording:
            self._follower.switch(self.session, self._now, is_on=is_wanted)
        elif reason := self._follower.describe_end(is_wanted=is_wanted):
            self.messages.append(reason)
            self.toggle_recording()

    def _find_armature_change(self) -> str:
        """Return why the session must end (the armature changed), or an empty string."""
        obj = self.armature.find()
        if self.database is None:
            name = self.armature.name
            return "" if obj else f"The live session ended: armature '{name}' was deleted."
        if obj is None or obj.type != "ARMATURE":
            return ""  # the session itself reports that it is gone
        return self._changes.describe_armature_change(obj, self.session)

    def note_weights(self) -> None:
        """Apply changed weights at the next tick, not only at the next look at the settings."""
        self._has_new_weights = True

    def _apply_changed_settings(self, obj: bpy.types.Object) -> None:
        self.display.update_spot(obj)
        if self._changes.detect_tuning_change(obj):
            try:
                self._add_message(self._changes.describe_feature_change(obj))
                self.session.apply(get_performer_settings(obj, self.speeds_database))
            except SettingsError as refusal:
                self._add_message(_format_error(refusal))
        self._add_message(self._changes.describe_method_change(obj))
        callbacks.redraw()

    @property
    def plays_features(self) -> bool:
        """Return whether the session plays with the current features."""
        return self._changes.plays_features

    # ------------------------------------------------------------ recording

    def toggle_recording(self) -> None:
        """Begin a recording, or end it as a take; errors become messages."""
        toggle = self._recordings.end if self.session.is_recording else self._recordings.begin
        self.session.await_input(None)
        self._report(toggle)
        callbacks.redraw()

    def _report(self, call: Callable[[], str]) -> None:
        """Make a message of what a call returns, or of its error."""
        try:
            self._add_message(call())
        except MotionMatchingError as error:
            self._add_message(_format_error(error))

    def _add_message(self, words: str) -> None:
        if words:
            self.messages.append(words)

    def _list_take(self, action: bpy.types.Action) -> None:
        if self.database is None:  # takes are of the armature, and a path is none
            return
        obj = self.armature.find()
        parts = read_parts(action)
        if len(parts) == 1 and all(take.action != action for take in settings_of(obj).takes):
            intents = parts[0].performance.intents[parts[0].lead_in :]
            if name := self.session.source.name_take(intents):
                action.name = find_free_name(name)
        list_take(obj, action)

    # ------------------------------------------------------------ the end

    def finish(self, reason: str, leaves_recording: bool) -> list[Path]:
        """End the session, as `end` does; return the recovery files that are left."""
        words: list[str] = [reason] if reason else []
        left: list[Path] = []
        reported = len(self.messages)
        try:
            if leaves_recording:
                left = self.session.leave_recording()
                words += ["You can recover the recording."] if left else []
            elif self.session.is_recording:
                self._add_message(self._recordings.end())
        except MotionMatchingError as error:
            words.append(_format_error(error))
        except Exception:
            traceback.print_exc()
            words.append("The recording could not be saved; see the console for details.")
        words += self.messages[reported:]
        del self.messages[reported:]
        try:
            words += self.session.stop()
            recording.restore_abandoned_poses()
        except Exception:
            traceback.print_exc()
            words.append("The pose could not be restored; see the console for details.")
        self._follower.stop()
        self._update_position()
        runtime.trail = None
        self._stack.close()
        runtime.changed("live")
        self.ending = _join_sentences(words)
        recordings.refresh()
        callbacks.redraw()
        return left

    def _update_position(self) -> None:
        """Store where the character is after its pose was restored, or as it plays its take."""
        obj = self.armature.find()
        if not (self.database and obj and obj.pose):
            return
        if hips := obj.pose.bones.get(self.database.role_names["hips"]):
            self.display.position = tuple((obj.matrix_world @ hips.head)[:2])


def begin(obj: bpy.types.Object, create: Callable[[], LiveSession], now: float) -> LiveSession:
    """End the session that runs, and begin a new one. Errors leave all as it was."""
    end()
    preferences.apply_layer_defaults(settings_of(obj).play)
    live = create()
    live.begin(now)
    runtime.live = live
    runtime.end_message = ""
    runtime.trail = None
    forget_resolved(obj.session_uid, LIVE_KINDS, ())
    runtime.changed("live")
    return live


def end(
    reason: str = "", *, leaves_recording: bool = False, is_expected: bool = False
) -> list[Path]:
    """End the session, if one runs: save a recording as a take, and restore pose and action.

    Unless that `is_expected`, the panel goes on showing the reason.

    With `leaves_recording`, as when the file is closed, a recording and the takes before stay in
    recovery files, whose paths are returned.
    """
    live = runtime.live
    runtime.live = None
    if live is None:
        return []
    left = live.finish(reason, leaves_recording)
    runtime.end_message = (live.ending or "") if reason and not is_expected else ""
    return left


def _join_sentences(words: Sequence[str]) -> str:
    """Return what is said at an end; what stands alone keeps its form, without a full stop."""
    if len(words) == 1:
        return words[0]
    return " ".join(f"{each.removesuffix('.')}." for each in words)


def _format_error(error: Exception) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}"
