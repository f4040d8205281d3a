"""Operators of live performing: start, stop, record, and recover a recording that was cut off."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import bpy

from ... import app, engine, live
from ...app.character.characters import get_active_armature, get_active_settings, get_armature
from ...app.property_access import settings_of
from ...app.runtime import runtime
from ...engine.errors import MotionMatchingError, SettingsError
from .. import preferences
from ..base import operator_base as base
from ..base.function_operators import operator
from ..base.typed_properties import choice, text
from . import navigation, pointing

if TYPE_CHECKING:
    from ...app.live.host import LiveSession
    from ...engine.control.method import Method
    from ...engine.database.database import Database
    from ...engine.ground.ground import Ground
    from ...engine.performance.settings import PerformerSettings
    from ...live.inputs.base import Input
    from ...live.inputs.devices.devices import Device
    from ...live.inputs.devices.keyboard import Keyboard

    Ready = tuple[Database, Method, PerformerSettings]
    Devices = tuple[Keyboard, tuple[Device, ...]]

_ACTIONS = [(name, words[0], f"{words[0]}, live") for name, words in preferences.ACTIONS.items()]
_TICK = 1.0 / 60.0  # seconds between two looks at the clock
_FILES_AND_UNDO = "ZYONSQW"  # with Ctrl or the system's key
_PASSED_LETTERS = "NT"  # letters that open and close sidebars


class _LiveOperator(base.SteppedOperator):
    """Base class of operators that start a live session, which needs a window."""

    def execute(self, context: bpy.types.Context) -> set[Any]:
        message = "Live sessions need a window; bake a script instead."
        self.tell("ERROR", message)
        return {"CANCELLED"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        self._live: LiveSession | None = None
        self._uid = get_active_armature(context).session_uid
        return super().invoke(context, event)

    def begin(self, obj: bpy.types.Object, devices: Devices, now: float) -> LiveSession:
        """Begin the session after the steps."""
        raise NotImplementedError

    def _finish(self, message: str | None) -> set[Any]:
        context = bpy.context
        try:
            live = self.begin(get_armature(self._uid), preferences.create_devices(), 0.0)
        except (MotionMatchingError, ImportError) as error:
            return self._fail(error)
        # time starts now: to begin may take seconds, as on rigs that are slow
        self._began = time.perf_counter()
        self._live = live
        self._last = 0.0
        self._heading = 0.0
        self._navigation = navigation.Navigation(live.keyboard)
        self._clicks = pointing.GroundClicks(live)
        self._view_follower = follower = navigation.ViewFollower(context.window, live.position)
        if live.view_follows:
            follower.look_at(context.window, get_armature(self._uid).matrix_world.translation.z)
        self._window = context.window.as_pointer()
        live.on_end(app.callbacks.start_timer(context.window, _TICK))

        def restore_window() -> None:
            if live.view_follows:
                follower.follow(bpy.context.window, live.position)
            for workspace in bpy.data.workspaces:
                workspace.status_text_set(None)

        live.on_end(restore_window)
        steer = settings_of(get_armature(self._uid)).play.steer
        context.workspace.status_text_set(preferences.describe_keys(steer))
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        live = self._live
        if live is None:
            return super().modal(context, event)
        result = {"PASS_THROUGH"}
        if runtime.live is live:
            result = self._handle_event(context, event)
        self._report_messages(live)
        if runtime.live is live:
            return result
        # also without a take: undo steps that Blender made meanwhile hold the live pose, and the
        # newest one must not
        return {"FINISHED"} if live.may_push else {"CANCELLED"}

    def _handle_event(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        live = self._live
        if event.type == "TIMER":
            self._tick(live, context.window, event)
            return {"PASS_THROUGH"}
        if event.type == "WINDOW_DEACTIVATE":
            live.keyboard.release_all()
            return {"PASS_THROUGH"}
        if event.type == "ESC":
            if event.value == "PRESS":
                app.live.host.end()
            return {"RUNNING_MODAL"}
        is_modified = event.ctrl or event.alt or event.oskey
        modifiers = {"is_repeat": event.is_repeat, "is_modified": is_modified}
        is_handled = (
            self._navigation.handle(context.window, event)
            or self._clicks.handle(context.window, event)
            or live.keyboard.handle(event.type, event.value, **modifiers)
            or _is_blocked(context.window, event)
        )
        return {"RUNNING_MODAL"} if is_handled else {"PASS_THROUGH"}

    def _tick(self, live: LiveSession, window: bpy.types.Window, event: bpy.types.Event) -> None:
        now = time.perf_counter() - self._began
        view = navigation.find_view_at(window, event.mouse_x, event.mouse_y)
        view = view or next(navigation.find_views(window), None)
        if view:  # without a view, ahead stays where it was
            self._heading = navigation.compute_heading(view.data)
        live.tick(now, self._heading)
        if runtime.live is live and live.view_follows:
            self._view_follower.follow(window, live.position, now - self._last)
        else:
            self._view_follower.set_position(live.position)
        self._last = now

    def _report_messages(self, live: LiveSession) -> None:
        messages = live.messages
        live.messages = []
        for message in messages:
            self.tell("INFO", message)
        if live.ending:
            self.tell("WARNING" if runtime.end_message else "INFO", live.ending)
            live.ending = ""

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender closes the window, quits, or opens a file."""
        if self._live is None:
            super().cancel(context)
        elif runtime.live is self._live:
            # a closed window is off the list already; when Blender quits, all are still on it, and
            # no take would be saved
            windows = [window.as_pointer() for window in context.window_manager.windows]
            reason = "The live session ended: its window was closed."
            app.live.host.end(reason, leaves_recording=self._window in windows)


class MOTION_MATCHING_OT_start(_LiveOperator, bpy.types.Operator):
    """Steer the character live in the 3D view. Builds the database if needed. Esc ends the \
session and restores the previous state"""

    bl_options = {"UNDO"}
    requires = base.PERFORMABLE

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        obj = get_active_armature(context)
        steer = settings_of(obj).play.steer if obj else "devices"
        return f"{cls.__doc__}.\n{preferences.describe_keys(steer, with_start=True)}"

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        app.live.leaders.check_steering(settings_of(obj).play)
        self._ready: Ready | None = yield from app.live.performing.prepare_steps(obj)
        return ""

    def begin(self, obj: bpy.types.Object, devices: Devices, now: float) -> LiveSession:
        assert self._ready
        ready = self._ready
        self._ready = None
        _, method, settings = ready

        def create_input(ground: Ground) -> Input:
            play = settings_of(obj).play
            return app.live.steering.create_input(play, *devices, settings, method.fps, ground)

        return app.live.performing.start(obj, *ready, devices[0], create_input, now)


class MOTION_MATCHING_OT_tune(_LiveOperator, bpy.types.Operator):
    """Steer the simulation object alone, to get a feel for speeds and halflives, without a \
database. A recording becomes a moving empty, to compare takes with or to steer by"""

    bl_label = "Tune Without Character"
    bl_options = {"UNDO"}

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        app.live.leaders.check_steering(get_active_settings(context).play)
        yield self.bl_label, 1.0
        return ""

    def begin(self, obj: bpy.types.Object, devices: Devices, now: float) -> LiveSession:
        return app.live.performing.start_tuning(obj, *devices, now)


def _is_blocked(window: bpy.types.Window, event: bpy.types.Event) -> bool:
    """Tell whether to hide an event from Blender: undo, files, and in a 3D view stray letters."""
    if event.value not in ("PRESS", "DOUBLE_CLICK") or len(event.type) > 1:
        return False
    if event.ctrl or event.oskey:
        return event.type in _FILES_AND_UNDO
    if event.alt or event.type in _PASSED_LETTERS:
        return False
    return navigation.find_view_at(window, event.mouse_x, event.mouse_y) is not None


@operator(requires=(base.is_live,), options=set())
def stop(context: bpy.types.Context) -> None:
    """End the live session, as Esc does; a recording becomes a take"""
    app.live.host.end()


@operator(requires=(base.is_live,), options=set())
def record(context: bpy.types.Context) -> None:
    """Start a recording, or end it as a take; the live session continues"""
    runtime.live.toggle_recording()


class MOTION_MATCHING_OT_steer(base.Operator, bpy.types.Operator):
    """Act like a key of the live session; a direction is held until this runs again"""

    bl_options = set()
    requires = (base.is_live,)

    action: str = choice("ahead", "Action", "What the key does while live", _ACTIONS)

    def run(self, context: bpy.types.Context) -> None:
        runtime.live.keyboard.tap(self.action)


def is_steered_by_hand(context: bpy.types.Context) -> str:
    message = base.n_("Steer by keys or a gamepad to push the character")
    is_guided = isinstance(runtime.live.session.source, live.inputs.devices.steering.GuidedInput)
    return message if is_guided else ""


@operator(requires=(base.is_live, is_steered_by_hand), options=set())
def push(context: bpy.types.Context) -> None:
    """Push the character in the direction of the steering, or forward without steering. A motion \
field also bends the body"""
    runtime.live.keyboard.push()


class MOTION_MATCHING_OT_ask_for_tag(base.Operator, bpy.types.Operator):
    """Play only frames with this tag, or all frames again; takes effect at once while live"""

    bl_label = "Ask for Tag"
    bl_options = {"UNDO"}  # Adjust Last Operation would undo it first, which would end the session
    requires = base.CHARACTER_ALSO_LIVE

    name: str = text("", "Tag", "Name of the tag")

    def run(self, context: bpy.types.Context) -> None:
        play = get_active_settings(context).play
        play.tags = app.live.tag_requests.toggle_name(play.tags, self.name)


def has_interrupted(context: bpy.types.Context) -> str:
    return "" if runtime.interrupted else base.n_("There is no interrupted recording")


@operator(requires=(base.not_live, has_interrupted))
def recover_take(context: bpy.types.Context) -> str:
    """Turn an interrupted recording into a take of its armature, or into an empty if only the \
simulation object was steered. Uses the newest one of this file"""
    return f"Recovered '{app.takes.recordings.recover(app.takes.recordings.find_foremost()).name}'"


class MOTION_MATCHING_OT_discard_recording(base.ConfirmedOperator, bpy.types.Operator):
    """Delete an interrupted recording, the newest one of this file"""

    bl_options = set()
    requires = (base.not_live, has_interrupted)

    def run(self, context: bpy.types.Context) -> None:
        path = app.takes.recordings.find_foremost()
        is_gone = engine.files.own_files.remove(path)
        app.takes.recordings.refresh()
        if not is_gone:
            text = f"{path} cannot be deleted; make sure that you may write there."
            raise SettingsError(text)
