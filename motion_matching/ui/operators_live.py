"""Operators of live performing: start, stop, record, and take up a recording that was cut off."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import IntProperty, StringProperty

from ..engine.errors import MotionMatchingError
from . import (
    asking,
    callbacks,
    navigation,
    performing,
    polls,
    preferences,
    recordings,
    request,
    steering,
    tuning,
)
from .work import Steps, Working

if TYPE_CHECKING:
    from ..engine.control.method import Method
    from ..engine.control.settings import PerformerSettings
    from ..engine.matching.database import Database
    from ..live.inputs.gamepad import Gamepad
    from ..live.inputs.keyboard import Keyboard

    Ready = tuple[Database, Method, PerformerSettings]

_TICK = 1.0 / 60.0  # seconds between two looks at the clock
_FILES_AND_UNDO = "ZYONSQW"  # with Ctrl or the system's key
_PASSED = "NT"  # letters that open and close sidebars


class _Steered(Working):
    """What starting a session of either kind shares: a window in which it runs, and how it ends."""

    def execute(self: Any, context: bpy.types.Context) -> set[str]:
        self.report(
            {"ERROR"}, "A character is steered live in a window; bake a script here instead."
        )
        return {"CANCELLED"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self._live: performing.Live | None = None
        self._uid = 0
        return super().invoke(context, event)

    def begin(
        self, obj: bpy.types.Object, keyboard: Keyboard, gamepad: Gamepad | None, now: float
    ) -> performing.Live:
        """Begin the session when its work is done."""
        raise NotImplementedError

    def _finish(self, text: str) -> set[str]:
        """Everything is there: begin."""
        context = bpy.context
        try:
            keyboard, gamepad = preferences.devices()
            now = time.perf_counter()
            live = self.begin(request.held(self._uid), keyboard, gamepad, now)
        except MotionMatchingError as error:
            return self._fail(error)
        self._live, self._last = live, now
        self._navigation = navigation.Navigation(lambda kind: not keyboard.uses(f"LEFT_{kind}"))
        self._heading = 0.0
        self._following = following = navigation.Following(context.window, live.place)
        self._window = context.window.as_pointer()
        live.on_end(callbacks.tick(context.window, _TICK))

        def give_back() -> None:
            if live.view_follows:
                following.follow(bpy.context.window, live.place)
            for workspace in bpy.data.workspaces:
                workspace.status_text_set(None)

        live.on_end(give_back)
        context.workspace.status_text_set(preferences.keys_in_words())
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        live = self._live
        if live is None:
            return super().modal(context, event)
        passed = {"PASS_THROUGH"}
        if performing.current is live:
            passed = self._handle(live, context, event)
        self._say(live)
        if performing.current is live:
            return passed
        # also without a take: steps that Blender made meanwhile have the armature as it was live, the newest one has not
        return {"FINISHED"} if live.may_push else {"CANCELLED"}

    def _handle(
        self, live: performing.Live, context: bpy.types.Context, event: bpy.types.Event
    ) -> set[str]:
        if event.type == "TIMER":
            self._tick(live, context, event)
            return {"PASS_THROUGH"}
        if event.type == "ESC":
            if event.value == "PRESS":
                performing.end()
        elif event.type == "WINDOW_DEACTIVATE":
            live.keyboard.release_all()
            return {"PASS_THROUGH"}
        elif not (
            self._navigation.handle(context.window, event)
            or live.keyboard.handle(
                event.type,
                event.value,
                is_repeat=event.is_repeat,
                is_modified=event.ctrl or event.alt or event.oskey,
            )
            or _is_held_off(context, event)
        ):
            return {"PASS_THROUGH"}
        return {"RUNNING_MODAL"}

    def _tick(
        self, live: performing.Live, context: bpy.types.Context, event: bpy.types.Event
    ) -> None:
        now = time.perf_counter()
        window = context.window
        view = navigation.view_at(window, event.mouse_x, event.mouse_y) or next(
            navigation.views(window), None
        )
        if view:  # without a view, ahead stays where it was
            self._heading = navigation.heading(view.data)
        live.tick(now, self._heading)
        if performing.current is live and live.view_follows:
            self._following.follow(context.window, live.place, now - self._last)
        else:
            self._following.stay(live.place)
        self._last = now

    def _say(self, live: performing.Live) -> None:
        said, live.said = live.said, []
        for line in said:
            self.report({"INFO"}, line)
        if live.ending:
            self.report({"WARNING"} if performing.last_words else {"INFO"}, live.ending)
            live.ending = ""

    def cancel(self, context: bpy.types.Context) -> None:
        """The window is closed, or Blender quits, or a file is opened."""
        if self._live is None:
            super().cancel(context)
        elif performing.current is self._live:
            # a window that is closed is off the list already; where Blender quits, none is, and no take would be saved
            quits = any(
                window.as_pointer() == self._window for window in context.window_manager.windows
            )
            performing.end(
                "The window was closed, and the live session has ended.", leaves_recording=quits
            )


class MOTION_MATCHING_OT_start(_Steered, bpy.types.Operator):
    """Steer the character live in the 3D view. The database is built first where it has to be. \
Esc ends it, and what was there before comes back"""

    bl_idname = "motion_matching.start"
    bl_label = "Start"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.may_perform(cls, context)

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        obj = request.armature_of(context)
        self._uid = obj.session_uid
        steering.check(obj.motion_matching.play)
        self._ready: Ready | None = yield from performing.prepared(obj)
        return ""

    def begin(
        self, obj: bpy.types.Object, keyboard: Keyboard, gamepad: Gamepad | None, now: float
    ) -> performing.Live:
        assert self._ready
        (database, method, settings), self._ready = self._ready, None
        return performing.start(
            obj,
            database,
            method,
            settings,
            keyboard,
            lambda ground: steering.source(
                obj.motion_matching.play, keyboard, gamepad, settings, method.fps, ground
            ),
            now,
        )


class MOTION_MATCHING_OT_tune(_Steered, bpy.types.Operator):
    """Steer the simulation object alone, to feel speeds and halflives; no database is needed. \
A recording stays in the scene as a moving empty, to be compared, and to steer by again"""

    bl_idname = "motion_matching.tune"
    bl_label = "Tune Without Character"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_armature(cls, context)

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        obj = request.armature_of(context)
        self._uid = obj.session_uid
        steering.check(obj.motion_matching.play)
        yield self.bl_label, 1.0
        return ""

    def begin(
        self, obj: bpy.types.Object, keyboard: Keyboard, gamepad: Gamepad | None, now: float
    ) -> performing.Live:
        return tuning.start(obj, keyboard, gamepad, now)


def _is_held_off(context: bpy.types.Context, event: bpy.types.Event) -> bool:
    """Whether an event is kept from Blender: undo and files, and in a 3D view letters that a slip of a finger hits."""
    if event.value not in ("PRESS", "DOUBLE_CLICK") or len(event.type) > 1:
        return False
    if event.ctrl or event.oskey:
        return event.type in _FILES_AND_UNDO
    if event.alt or event.type in _PASSED:
        return False
    return navigation.view_at(context.window, event.mouse_x, event.mouse_y) is not None


def _is_live(cls: Any) -> bool:
    if performing.current is None:
        cls.poll_message_set("Start first")
    return performing.current is not None


class MOTION_MATCHING_OT_stop(bpy.types.Operator):
    """End the live session, as Esc does; a recording becomes a take"""

    bl_idname = "motion_matching.stop"
    bl_label = "Stop"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _is_live(cls)

    def execute(self, context: bpy.types.Context) -> set[str]:
        performing.end()
        return {"FINISHED"}


class MOTION_MATCHING_OT_record(bpy.types.Operator):
    """Begin a recording, or end it as a take; the live session goes on"""

    bl_idname = "motion_matching.record"
    bl_label = "Record"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _is_live(cls)

    def execute(self, context: bpy.types.Context) -> set[str]:
        if performing.current:
            performing.current.toggle_recording()
        return {"FINISHED"}


class MOTION_MATCHING_OT_push(bpy.types.Operator):
    """Push the character to where it is steered, or ahead where it is not; a motion field bends its body"""

    bl_idname = "motion_matching.push"
    bl_label = "Push"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        from ..live.inputs.led import Led

        if not _is_live(cls):
            return False
        if performing.current and isinstance(performing.current.session.source, Led):
            cls.poll_message_set("Only a character that is steered by keys or a gamepad is pushed")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        if performing.current:
            performing.current.keyboard.push()
        return {"FINISHED"}


class MOTION_MATCHING_OT_ask_for_tag(bpy.types.Operator):
    """Play only frames with this tag, or no longer; while live, at once"""

    bl_idname = "motion_matching.ask_for_tag"
    bl_label = "Ask for Tag"
    bl_options = {
        "UNDO"
    }  # what adjusts the last operation undoes it first, which would end the session

    name: StringProperty(name="Tag", description="Name of the tag")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_armature_also_live(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        play = request.armature_of(context).motion_matching.play
        play.tags = asking.toggled(play.tags, self.name)
        return {"FINISHED"}


class MOTION_MATCHING_OT_favour(bpy.types.Operator):
    """Have the motion field always take the action of this neighbour, or choose again; while live, at once"""

    bl_idname = "motion_matching.favour"
    bl_label = "Favour Neighbour"
    bl_options = {
        "UNDO"
    }  # what adjusts the last operation undoes it first, which would end the session

    number: IntProperty(
        name="Neighbour", default=1, min=1, max=100, description="Which one, 1 being the nearest"
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_armature_also_live(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        controller = request.armature_of(context).motion_matching.controller
        controller.favour = 0 if controller.favour == self.number else self.number
        return {"FINISHED"}


def _has_left(cls: Any) -> bool:
    if performing.current:
        cls.poll_message_set("Stop the live session first")
    elif not recordings.left:
        cls.poll_message_set("There is no recording that was cut off")
    return bool(recordings.left) and performing.current is None


class MOTION_MATCHING_OT_recover_take(bpy.types.Operator):
    """Make a take of the recording that was cut off, for the armature that it was made with, or of a steered path an \
empty. Of several, the newest that was made in this file"""

    bl_idname = "motion_matching.recover_take"
    bl_label = "Recover Take"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _has_left(cls)

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            action = recordings.recover(recordings.foremost())
        except MotionMatchingError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Recovered '{action.name}'")
        return {"FINISHED"}


class MOTION_MATCHING_OT_discard_recording(bpy.types.Operator):
    """Delete the recording that was cut off. Of several, the newest that was made in this file"""

    bl_idname = "motion_matching.discard_recording"
    bl_label = "Discard Recording"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _has_left(cls)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        return context.window_manager.invoke_confirm(self, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        recordings.foremost().unlink(missing_ok=True)
        recordings.look()
        return {"FINISHED"}


CLASSES = (
    MOTION_MATCHING_OT_start,
    MOTION_MATCHING_OT_tune,
    MOTION_MATCHING_OT_stop,
    MOTION_MATCHING_OT_record,
    MOTION_MATCHING_OT_push,
    MOTION_MATCHING_OT_ask_for_tag,
    MOTION_MATCHING_OT_favour,
    MOTION_MATCHING_OT_recover_take,
    MOTION_MATCHING_OT_discard_recording,
)
