"""Check requirements of operators, report their errors, and run work in slices between redraws."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any, Literal

import bpy

from ... import app, scene
from ...app.character.characters import get_active_armature, get_active_settings
from ...app.property_access import ActiveItem, get_active, settings_of
from ...app.runtime import runtime
from ...engine.errors import MotionMatchingError, to_missing_library
from ...engine.names import to_readable
from ..database.properties import MotionMatchingSource
from ..takes.properties import MotionMatchingTake
from .panel_base import TAB, set_label
from .typed_properties import annotate, choice

# What an operator requires: given the context, what to do first, or an empty string.
Requirement = Callable[[bpy.types.Context], str]

ReportKind = Literal["INFO", "WARNING", "ERROR"]

# A mixin: Blender finds no texts to translate below a class that is not registered
if TYPE_CHECKING:
    _Base = bpy.types.Operator
else:
    _Base = object

_TICK = 0.02  # seconds between two slices
_SLICE = 0.08  # seconds that a slice takes, or what a single step needs
_LONGEST_SLICE = 1.0  # seconds that Esc waits at most, where a redraw takes longer than a slice
_MOUSE = ("LEFTMOUSE", "MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "WHEELUPMOUSE", "WHEELDOWNMOUSE")


def n_(message: str) -> str:
    """Mark a text for Blender's translators, who find it by this function's name."""
    return message


# Requirements


def not_busy(context: bpy.types.Context) -> str:
    message = n_("Wait for the running task to finish, or cancel it with Esc")
    return message if runtime.progress else ""


def not_live(context: bpy.types.Context) -> str:
    return n_("Stop the live session first, with Esc") if runtime.live else ""


def is_live(context: bpy.types.Context) -> str:
    return "" if runtime.live else n_("Start a live session first")


def in_object_mode(context: bpy.types.Context) -> str:
    return "" if context.mode == "OBJECT" else n_("Switch to Object Mode first")


def has_armature(context: bpy.types.Context) -> str:
    """Require an armature whose settings can be changed."""
    return has_active_armature(context) or find_armature_problem(get_active_armature(context))


def has_active_armature(context: bpy.types.Context) -> str:
    message = n_("Select an armature first, or add the demo performer")
    return "" if get_active_armature(context) else message


def find_armature_problem(obj: bpy.types.Object) -> str:
    """Return why the settings of an armature cannot be changed, or an empty string."""
    if obj.library and not obj.override_library:
        return n_("This armature is linked from another file: make a library override first")
    return n_("Leave Edit Mode first") if obj.mode == "EDIT" else ""


def has_armature_if_any(context: bpy.types.Context) -> str:
    """Require that an armature's settings can be changed, if one is active."""
    return has_armature(context) if get_active_armature(context) else ""


def has_sources(context: bpy.types.Context) -> str:
    return find_sources_problem(get_active_armature(context))


def find_sources_problem(obj: bpy.types.Object) -> str:
    """Return why there is nothing to build a database from, or an empty string."""
    sources = settings_of(obj).sources
    if not sources:
        return n_("Add actions or files to build from first")
    is_any_on = any(source.enabled for source in sources)
    return "" if is_any_on else n_("Switch on at least one source first")


def can_assign_action(context: bpy.types.Context) -> str:
    return find_action_problem(get_active_armature(context))


def find_action_problem(obj: bpy.types.Object) -> str:
    """Return why an armature cannot be given another action, or an empty string."""
    data = obj.animation_data
    message = n_("Leave the tweak mode of the NLA first (Tab in the NLA editor)")
    return message if data and data.use_tweak_mode else ""


def has_active_source(context: bpy.types.Context) -> str:
    message = n_("Add actions or files, and choose one in the list")
    return "" if get_active_source(context) else message


def has_take(context: bpy.types.Context) -> str:
    return "" if get_active_take(context) else n_("Bake a take first, and choose it in the list")


def has_action(context: bpy.types.Context) -> str:
    """Require that the active take still has its action."""
    message = n_("The action of this take was deleted: delete the take")
    return "" if get_active_take(context).action else message


def has_performed_take(context: bpy.types.Context) -> str:
    """Require that the active take has its action, and that this holds what was performed."""
    if problem := has_take(context) or has_action(context):
        return problem
    known = scene.writing.recording.has_performance(get_active_take(context).action)
    return "" if known else n_("This take has lost its performance: bake or record another")


def get_active_source(context: bpy.types.Context) -> MotionMatchingSource | None:
    return app.sources.source_list.get_active_source(get_active_armature(context))


def get_active_take(context: bpy.types.Context) -> MotionMatchingTake | None:
    settings = get_active_settings(context)
    return get_active(settings.takes, settings.take_index)


IDLE = (not_busy, not_live)
CHARACTER_ALSO_LIVE = (not_busy, has_armature)
CHARACTER = (*IDLE, has_armature)
SOURCES = (*CHARACTER, has_sources)
PERFORMABLE = (*SOURCES, can_assign_action)
TAKE = (*CHARACTER, has_take)


# Operators


class NothingToDoError(Exception):
    """Ends an operator without an undo step; a message is reported, but not as an error."""


@annotate  # or Blender would evaluate the annotations below for each of them
class Operator(_Base):
    """Base class of all operators: each lists its requirements and implements `run`.

    Its name says which it is: `MOTION_MATCHING_OT_add_mark` is `motion_matching.add_mark`, with the
    label Add Mark unless it gives another one.
    """

    bl_options = {"REGISTER", "UNDO"}
    requires: tuple[Requirement, ...] = CHARACTER

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.bl_idname = cls.__name__.replace("_OT_", ".").lower()
        set_label(cls)
        annotate(cls)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        for requirement in cls.requires:
            if message := requirement(context):
                cls.poll_message_set(message)
                return False
        return True

    def run(self, context: bpy.types.Context) -> str | None:
        """Do it, and return what to report. The project's own errors become reports."""
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> set[Any]:
        try:
            return self._finish(self.run(context))
        except (MotionMatchingError, ImportError) as error:
            return self._fail(error)
        except NothingToDoError as reason:
            if str(reason):
                self.tell("INFO", str(reason))
            return {"CANCELLED"}

    def tell(self, kind: ReportKind, text: str) -> None:
        """Report a text, which may hold names of files that Blender refuses as they are."""
        self.report({kind}, to_readable(text))

    def _finish(self, message: str | None) -> set[Any]:
        if message:
            self.tell("INFO", message)
        return {"FINISHED"}

    def _fail(self, error: MotionMatchingError | ImportError) -> set[Any]:
        """Report an error of the project's own, or that a library is missing; raise others."""
        if isinstance(error, ImportError):
            error = to_missing_library(error)
        self.tell("ERROR", str(error))
        return {"CANCELLED"}


_DIRECTIONS = (("UP", "Up", "Before the one above it"), ("DOWN", "Down", "After the one below it"))


class MoveOperator(Operator):
    """Base class of operators that move the active item of a list."""

    direction: str = choice("UP", "Direction", "Where it moves in the list", _DIRECTIONS)

    def get_item(self, context: bpy.types.Context) -> ActiveItem:
        raise NotImplementedError

    def finish(self, context: bpy.types.Context) -> None:
        """Do what follows from another order."""

    def run(self, context: bpy.types.Context) -> None:
        if not self.get_item(context).move(self.direction):
            raise NothingToDoError
        self.finish(context)


class ConfirmedOperator(Operator):
    """Base class of operators that ask for confirmation."""

    def get_question(self) -> str:
        """Return what the popup says below the operator's name."""
        return ""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        question = self.get_question()
        words: Any = {"title": f"{self.bl_label}?", "message": question} if question else {}
        return context.window_manager.invoke_confirm(self, event, **words)


def _is_in_tab(context: bpy.types.Context, event: bpy.types.Event) -> bool:
    """Return whether an event is one of the mouse in the sidebar's tab "Motion"."""
    if event.type not in _MOUSE:
        return False
    x, y = event.mouse_x, event.mouse_y
    return any(
        region.type == "UI"
        and region.x <= x < region.x + region.width
        and region.y <= y < region.y + region.height
        and getattr(region, "active_panel_category", TAB) == TAB
        for area in context.window.screen.areas
        if area.type == "VIEW_3D"
        for region in area.regions
    )


class SteppedOperator(Operator):
    """Base class of operators that run in the background, until Esc cancels them.

    Some keep the best result so far when Esc ends them. A second Esc cancels these too.
    """

    @property
    def keeps_best(self) -> bool:
        """Return whether Esc ends the work early, instead of cancelling it."""
        return False

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        """Do it in steps, and return what to report."""
        raise NotImplementedError

    def get_cancel_message(self) -> str:
        """Return what to report after Esc."""
        return "Cancelled; nothing has changed"

    def execute(self, context: bpy.types.Context) -> set[Any]:
        """Run all steps at once, as scripts expect."""
        try:
            with closing(self.steps(context)) as steps:
                while True:
                    runtime.progress = next(steps)
        except StopIteration as done:
            return self._finish(done.value)
        except (MotionMatchingError, ImportError) as error:
            return self._fail(error)
        finally:
            runtime.progress = None

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event | None) -> set[Any]:
        """Run the steps in slices between redraws."""
        if bpy.app.background or context.window is None:
            return self.execute(context)
        app.steps.stop()
        try:
            self._steps = self.steps(context)
        except (MotionMatchingError, ImportError) as error:
            return self._fail(error)
        self._time_left = app.steps.TimeLeft()
        self._pace, self._slice_end = app.steps.RedrawPace(), time.perf_counter()
        app.steps.start(self._steps, context.window, type(self).bl_idname, self.bl_label, _TICK)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        if not self._is_at_work():
            return {"CANCELLED"}
        if runtime.is_cancelled or (event.type == "ESC" and event.value == "PRESS"):
            if not self.keeps_best:
                return self._cancel()
            runtime.is_cancelled = False
            return self._go_on(context, lambda: self._steps.throw(app.steps.EndedEarly()))
        if event.type != "TIMER":
            # in the tab, all but the strip is greyed out
            return {"PASS_THROUGH"} if _is_in_tab(context, event) else {"RUNNING_MODAL"}
        return self._go_on(context, self._run_slice)

    def _cancel(self) -> set[Any]:
        app.steps.stop()
        self.tell("INFO", self.get_cancel_message())
        return {"CANCELLED"}

    def _go_on(self, context: bpy.types.Context, work: Callable[[], tuple[str, float]]) -> set[Any]:
        """Do some of the work, and show the progress that it returns."""
        try:
            self._show_progress(context, *work())
        except StopIteration as done:
            app.steps.stop()
            return self._finish(done.value)
        except app.steps.EndedEarly:
            return self._cancel()
        except (MotionMatchingError, ImportError) as error:
            app.steps.stop()
            return self._fail(error)
        except BaseException:
            app.steps.stop()
            raise
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender cancels the work itself when it quits or loads a file."""
        if self._is_at_work():
            app.steps.stop()

    def _is_at_work(self) -> bool:
        return runtime.work is not None and runtime.work.steps is self._steps

    def _run_slice(self) -> tuple[str, float]:
        """Run steps as long as there is time for another one; return the progress.

        Slow redraws get half of the time: a slice takes as long as the one before it took.
        """
        now = time.perf_counter()
        longest = 0.0
        until = now + min(max(now - self._slice_end, _SLICE), _LONGEST_SLICE)
        self._pace.start_slice(now)
        while now + longest < until:
            progress = next(self._steps)
            began = now
            now = time.perf_counter()
            longest = max(longest, now - began)
        self._slice_end = now
        return progress

    def _show_progress(self, context: bpy.types.Context, text: str, part: float) -> None:
        now = time.perf_counter()
        left = self._time_left.estimate(part, now)
        percent = f"{part:.0%}"
        if not self._pace.is_due((text, percent, left), now):
            return
        # not before, or a redraw between shows another text in the strip than in the status bar
        runtime.progress = f"{text}, {left}" if left else text, part
        context.window_manager.progress_update(part)
        words = (f"{text} {percent}", left, "Esc: End" if self.keeps_best else "Esc: Cancel")
        context.workspace.status_text_set("    ".join(filter(None, words)))
        app.callbacks.redraw()


class BrowsingOperator(SteppedOperator):
    """Base class of stepped operators that begin with the file browser."""

    _was_invoked = False

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event | None) -> set[Any]:
        self._was_invoked = True
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[Any]:
        """Work in slices after the file browser, and at once in scripts.

        Adjust Last Operation runs this again, and a registered operator cannot go on in slices.
        """
        was_invoked = self._was_invoked
        self._was_invoked = False
        if bpy.app.background or not was_invoked:
            return super().execute(context)
        return super().invoke(context, None)
