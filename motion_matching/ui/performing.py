"""The live session of this Blender, one at most: it is started, ticked and ended here, whatever ends it.

Nothing of Blender is held from tick to tick but the handles that a session knows its armature by.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..engine.errors import MotionMatchingError, SettingsError
from . import (
    asking,
    fields,
    hud,
    layers,
    preferences,
    recordings,
    request,
    standpoint,
    status,
    timeline,
    trail,
)
from .alerts import Alerts
from .changes import Changes
from .live_takes import LiveTakes
from .work import Steps, in_background

if TYPE_CHECKING:
    from ..engine.control.ground import Ground, Wall
    from ..engine.control.method import Method
    from ..engine.control.settings import PerformerSettings
    from ..engine.field.method import Decision
    from ..engine.field.playing import FieldController
    from ..engine.matching.database import Database
    from ..live.inputs.base import Input
    from ..live.inputs.keyboard import Keyboard
    from ..live.session import Session

    Source = Input | Callable[[Ground], Input]

_LOOK = 0.25  # seconds between looks at the settings, and between redraws of the sidebar

current: Live | None = None
last_words = ""  # why the last session ended, where the user did not end it


class Live:
    """A running session, its recordings, and how it ends. `start` makes one; `end` is the only way out.

    `said` are sentences for the user that nobody has reported yet, `ending` the last of them, None while it runs.
    """

    take_name = "Live Take"

    def __init__(
        self,
        obj: bpy.types.Object,
        session: Session,
        keyboard: Keyboard,
        database: Database | None,
        walls: tuple[Wall, ...] = (),
    ) -> None:
        """Of an armature with its settings; what is shown is the session's."""
        from ..engine.control.performer import Placement
        from ..scene.handle import Handle

        self.database, self.keyboard, self.session = database, keyboard, session
        self.field: FieldController | None = None  # that it plays by, if it does
        self.armature = Handle.of(obj, "objects")
        self.pace = hud.Pace()
        self.warnings: tuple[str, ...] = ()  # of the last tick
        self._alerts = Alerts(database) if database else None
        self._asking = asking.Asking(database) if database else None
        self.said: list[str] = []
        self.ending: str | None = None
        self.may_push = True  # whether an undo step may be made of how it ended
        self._stack = ExitStack()
        self._changes, self._looked = Changes(obj, database), 0.0
        self._built = obj.motion_matching.built_key
        start = session.writer.start
        self.place: tuple[float, float] = start[:2]  # where the character is seen
        self.standpoint = standpoint.Standpoint()
        self._walls, self._character = walls, Placement(*start)
        self._now, self._heading = 0.0, 0.0  # of the last tick of the clock
        self._along = timeline.Along()
        self._recordings = LiveTakes(
            self.take_name, session, self.armature, self._along, self._list
        )
        self._trouble = ""  # why it has to end
        self._commands: list[str] = []  # what the input has asked for

    def begin(self, now: float) -> None:
        """Start the session. Errors leave all as it was."""
        self.session.start(now)
        self._looked = now
        self._stand()
        self.on_end(hud.stop)
        self.on_end(trail.leave)
        hud.start()

    def on_end(self, callback: Callable[[], None]) -> None:
        """Have something done when the session ends, before what was added earlier."""
        self._stack.callback(callback)

    # ------------------------------------------------------------ each tick

    def tick(self, now: float, view_heading: float) -> None:
        """Make the ticks that are due. What goes wrong ends the session, and is the last thing that it says."""
        self._now, self._heading = now, view_heading
        self._guarded(self._tick)
        if self._trouble:
            end(self._trouble)

    def frame_changed(self, scene: bpy.types.Scene) -> None:
        """The armature plays what it has on another frame: show its pose again, or that of the tick that is due there.

        All else waits for the next tick of the clock: within a change of frame nothing is ended.
        """
        if self._changes.is_scene(scene) and not self._trouble:
            self._guarded(self._follow if self._along.is_on else self.session.show_again)

    def _guarded(self, call: Callable[[], None]) -> None:
        """Do something, and note why the session has to end where that fails."""
        try:
            call()
        except MotionMatchingError as error:
            self._trouble = _sentence(error)
        except Exception:
            traceback.print_exc()
            self._trouble = "An error ended the live session; the console has its details."

    def _tick(self) -> None:
        self._trouble = self._trouble or self._problem()
        if self._trouble:
            return
        self._keep_time()
        if self._along.is_on:
            self.session.flush()  # here rather than while frames change, for keys show themselves
        else:
            self._advance(self._now)
        if "record" in self._commands:
            self.toggle_recording()
        if self._asking and "tag" in self._commands:
            self._asking.next(self.armature.find().motion_matching.play)
        self._commands.clear()
        if self._now > self._looked + _LOOK:
            self._looked = self._now
            self._look()

    def _advance(self, now: float) -> None:
        """Make the ticks that are due at a time of the clock or of the timeline."""
        began = time.perf_counter()
        if self._asking and (
            obj := self.armature.find()
        ):  # the session says it best where it is gone
            self.session.tags = self._asking.of(
                obj.motion_matching.play.tags, self.session.performer.settings.end_guard
            )
        report = self.session.tick(now, self._heading, in_frame_change=self._along.is_on)
        self.pace.note(self._now, report.ticks, time.perf_counter() - began)
        self.said += report.messages
        self._commands += report.commands
        self._character = report.frame.character
        self.standpoint = standpoint.of(self.session, self._character)
        frame = standpoint.seen(report.frame, self.standpoint)
        self.place = frame.character[:2]
        if self.database:
            around = self.decision.frames.tolist() if self.decision else ()
            trail.follow(self.armature.uid, frame.character, self._built, frame.frame, around)
        obj = self.armature.find()
        if self._alerts and self._asking:
            self.warnings = (
                self._asking.warnings
                + self._not_trained()
                + self._alerts.of(
                    report.frame,
                    obj.motion_matching.controller.speeds_from_data,
                    self.pace.slowest,
                    preferences.tick_budget(),
                )
            )
        hud.show(hud.snapshot(self, obj, frame))
        if report.is_finished:
            self._trouble = "The input has no more to give."

    @property
    def decision(self) -> Decision | None:
        """The last choice of the field, where it plays by one."""
        method: Any = self.session.performer.method
        return method.decision if self.field else None

    def _not_trained(self) -> tuple[str, ...]:
        """What to say of tags that are asked for and that the field was not trained for."""
        unknown = self.field.not_trained(self.session.tags) if self.field else ()
        return (
            (f"The field is not trained for {', '.join(unknown)}: add it to Tags, and train",)
            if unknown
            else ()
        )

    def _settings(self, obj: bpy.types.Object) -> PerformerSettings:
        return request.performer_settings(obj, self.database)

    # ------------------------------------------------------------ where it is seen

    @property
    def view_follows(self) -> bool:
        """Whether the view is to move along with where the character is seen."""
        obj = self.armature.find()
        return obj is not None and obj.motion_matching.play.view == "follow"

    def moving_ground(self) -> list[list[tuple[float, float]]]:
        """Lines of the ground as they pass by, where the character does not leave its place."""
        if self.session.writer.travels and self.session.spot is None:
            return []
        return standpoint.ground(self._character, self.standpoint, self._walls)

    def _stand(self) -> None:
        """Have the character on the spot from where it is, or have it go, as the panel wants it."""
        stays = self.armature.find().motion_matching.play.view == "spot"
        if stays != (self.session.spot is not None):
            self.session.spot = self.place if stays else None

    # ------------------------------------------------------------ the timeline

    def _follow(self) -> None:
        """Make the ticks that are due where the timeline is; a recording waits for its end where that has leapt."""
        now = self._along.follow(bpy.context.scene)
        if not self._along.has_leapt:
            self._advance(now)
        elif self.session.is_recording:
            self.session.show_again()
        else:
            self.session.keep_time(self._along.begin(bpy.context.scene), with_timeline=True)
            self.session.show_again()

    def _keep_time(self) -> None:
        """Follow the timeline while it plays, where that is wanted, and the clock otherwise. A recording keeps its time,
        and ends where that does."""
        obj, along = self.armature.find(), self._along
        wanted = obj is not None and obj.motion_matching.play.timeline and timeline.is_playing()
        if self.session.is_recording:
            if along.is_on and (along.has_leapt or not wanted):
                self.said.append(
                    "The timeline has leapt, which ends the recording."
                    if along.has_leapt
                    else "The timeline has stopped, which ends the recording."
                )
                self.toggle_recording()
            return
        if wanted and not along.is_on:
            self.session.keep_time(along.begin(bpy.context.scene), with_timeline=True)
        elif along.is_on and not wanted:
            along.is_on = False
            self.session.keep_time(self._now, with_timeline=False)

    def _problem(self) -> str:
        """Why it cannot go on, or nothing."""
        if not self._changes.is_scene(bpy.context.scene):
            return "The live session has ended, because another scene was chosen."
        return self._change()

    def _change(self) -> str:
        """What has become of the armature that it cannot go on, or nothing."""
        obj = self.armature.find()
        # the session says it best where it is gone
        return (
            self._changes.of_armature(obj, self.session)
            if obj is not None and obj.type == "ARMATURE"
            else ""
        )

    def _look(self) -> None:
        """Take over settings that were changed meanwhile."""
        self._stand()
        obj = self.armature.find()
        if self._changes.is_tuned(obj):
            try:
                self._say(self._changes.features(obj))
                self.session.apply(self._settings(obj))
            except SettingsError as refusal:
                self._say(_sentence(refusal))
        self._say(self._changes.method(obj))
        status.redraw()

    @property
    def plays_features(self) -> bool:
        """Whether the features that are set are those that it plays with."""
        return self._changes.plays_features

    # ------------------------------------------------------------ recording

    def toggle_recording(self) -> None:
        """Begin a recording, or end it as a take; what cannot be is said."""
        try:
            self._say(
                self._recordings.end() if self.session.is_recording else self._recordings.begin()
            )
        except MotionMatchingError as error:
            self._say(_sentence(error))
        status.redraw()

    @property
    def takes(self) -> list[str]:
        """The names of what was recorded."""
        return self._recordings.names

    def _say(self, words: str) -> None:
        if words:
            self.said.append(words)

    def _list(self, action: bpy.types.Action) -> None:
        recordings.list_take(self.armature.find(), action)

    # ------------------------------------------------------------ the end

    def finish(self, reason: str, leaves_recording: bool) -> list[Path]:
        """What `end` does with the session that it has taken away."""
        words: list[str] = [reason] if reason else []
        left: list[Path] = []
        from ..scene import undone

        told = len(self.said)
        try:
            if leaves_recording:
                left = self.session.leave_recording()
                words += ["What was recorded can be recovered."] if left else []
            elif self.session.is_recording:
                self._say(self._recordings.end())
        except MotionMatchingError as error:
            words.append(_sentence(error))
        except Exception:
            traceback.print_exc()
            words.append("The recording could not be kept; the console has the details.")
        words += self.said[told:]
        del self.said[told:]
        try:
            words += self.session.stop()
            undone.give_back_all()
        except Exception:
            traceback.print_exc()
            words.append("The pose could not be given back; the console has the details.")
        self._along.stop()
        self._look_where_it_is()
        self._stack.close()
        self.ending = " ".join(words)
        recordings.look()
        status.redraw()
        return left

    def _look_where_it_is(self) -> None:
        """Note where the character is when what it had is given back, or plays its take."""
        obj = self.armature.find()
        hips = (
            obj.pose.bones.get(self.database.role_names["hips"])
            if self.database and obj and obj.pose
            else None
        )
        if hips:
            self.place = tuple((obj.matrix_world @ hips.head)[:2])


def prepared(obj: bpy.types.Object) -> Steps[tuple[Database, Method, PerformerSettings]]:
    """Work that gives what a session plays: the database, built if need be, and the method that is chosen."""
    from .insight import map_database
    from .operators_build import built

    uid = obj.session_uid
    database = yield from built(obj)
    shown = request.held(uid).motion_matching
    if shown.play.show_map:
        yield from map_database(uid, shown.built_key, database)
    settings, chosen = (
        request.performer_settings(request.held(uid), database),
        fields.Chosen.of(request.held(uid)),
    )
    method = yield from in_background(
        lambda tell: chosen.controller(database)(database, settings), "Preparing"
    )
    return database, method, settings


def start(
    obj: bpy.types.Object,
    database: Database,
    method: Method,
    settings: PerformerSettings,
    keyboard: Keyboard,
    source: Source,
    now: float,
) -> Live:
    """Begin a session on an armature that an input steers, or one for its ground; one that runs is ended before.

    Errors leave all as it was.
    """
    return begin(obj, lambda: _performed(obj, database, method, settings, keyboard, source), now)


def begin(obj: bpy.types.Object, make: Callable[[], Live], now: float) -> Live:
    """Begin a session of an armature that is made when the one that runs has ended. Errors leave all as it was."""
    global current, last_words
    end()
    if chosen := preferences.chosen():
        layers.fill_in(obj.motion_matching.play, chosen)
    live = make()
    live.begin(now)
    current, last_words = live, ""
    return live


def _performed(
    obj: bpy.types.Object,
    database: Database,
    method: Method,
    settings: PerformerSettings,
    keyboard: Keyboard,
    source: Source,
) -> Live:
    """A session that poses an armature."""
    from ..engine.control.performance import Performance
    from ..engine.control.performer import Performer
    from ..engine.field.playing import field_of
    from ..live.session import Session
    from ..scene.pose import PoseWriter

    root, root_bone = request.root_of(obj)
    place = request.on_ground_of(obj, Performance("", method.fps, ()))
    writer = PoseWriter(
        obj,
        database.skeleton,
        root=root,
        root_bone=root_bone,
        hips=database.role_names["hips"],
        collection=obj.motion_matching.play.collection,
    )
    led_by = source(place.ground) if callable(source) else source
    session = Session(Performer(method, settings, place.ground), led_by, writer, walls=place.walls)
    live = Live(obj, session, keyboard, database, place.walls)
    live.field = field_of(method)
    if live.field:
        session.asked_as = live.field.asked
        session.method_name = live.field.name
    return live


def end(reason: str = "", *, leaves_recording: bool = False) -> list[Path]:
    """End the session, if one runs: a recording becomes a take, and what was found is given back.

    With `leaves_recording`, as where the file goes, a recording and the takes before stay in recovery files, whose paths
    are returned.
    """
    global current, last_words
    live, current = current, None
    if live is None:
        return []
    left = live.finish(reason, leaves_recording)
    last_words = (live.ending or "") if reason else ""
    return left


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}"
