"""Operators that take their time: in slices between redraws, with progress, and cancelled with Esc.

Work is a generator that yields what it is doing and the part done (0..1). What touches Blender runs between two of its
yields; the engine's arithmetic, which knows nothing of Blender, runs in a thread meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from typing import Any, TypeVar

import bpy

from ..engine.errors import MotionMatchingError
from . import callbacks, status

Result = TypeVar("Result")
Steps = Generator[tuple[str, float], None, Result]
Tell = Callable[[str, float], None]

_TICK = 0.02  # seconds between two slices
_SLICE = 0.03  # seconds that a slice takes, or what a single step needs
_SHOWN = 0.15  # seconds between two looks at the progress
_LEAST_KNOWN = 0.5  # seconds that a stage has to last before its end is foretold
_GLANCE = 0.005  # seconds that a step waits for the thread

running: tuple[str, float] | None = None  # what panels show of the work that is going on
_sliced: tuple[Steps[str], Callable[[], None]] | None = (
    None  # work between redraws, and what ends its timer
)


class _Cancelled(Exception):  # noqa: N818  # nothing went wrong
    """Ends the work in a thread."""


def in_background(call: Callable[[Tell], Result], stage: str) -> Steps[Result]:
    """Work that runs a function in a thread; it is given `tell`, which also ends it once the work is given up."""
    told: list[tuple[str, float]] = [(stage, 0.0)]
    outcome: dict[str, Any] = {}
    given_up = threading.Event()

    def tell(text: str, part: float) -> None:
        if given_up.is_set():
            raise _Cancelled
        told[0] = text, part

    def run() -> None:
        try:
            outcome["result"] = call(tell)
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=run, name=f"motion_matching {stage}")
    thread.start()
    try:
        while thread.is_alive():
            yield told[0]
            thread.join(_GLANCE)
    finally:
        given_up.set()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


def one_of(work: Steps[Result], number: int, count: int) -> Steps[Result]:
    """Work that is one of so many alike, with a `number` of them done before: the parts that it tells are those of all."""
    try:
        while True:
            text, part = next(work)
            yield text, (number + part) / count
    except StopIteration as done:
        return done.value
    finally:
        work.close()


def stop() -> None:
    """End what goes on between redraws, if anything does; may be called at any time, and twice."""
    global _sliced
    if _sliced is None:
        return
    (work, end_timer), _sliced = _sliced, None
    try:
        work.close()
    finally:
        _show(None)
        bpy.context.window_manager.progress_end()
        end_timer()
        for workspace in bpy.data.workspaces:
            workspace.status_text_set(None)
        status.redraw()


class Working:
    """A mixin of operators that have `steps(context)`, work that returns what to report."""

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        raise NotImplementedError

    def given_up(self) -> str:
        """What is said after Esc."""
        return "Cancelled, and nothing was changed"

    def execute(self: Any, context: bpy.types.Context) -> set[str]:
        """Do it all at once, as scripts want it."""
        work = self.steps(context)
        try:
            while True:
                _show(next(work))
        except StopIteration as done:
            return self._finish(done.value)
        except MotionMatchingError as error:
            return self._fail(error)
        finally:
            work.close()
            _show(None)

    def invoke(self: Any, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Do it in slices, as a window wants it."""
        global _sliced
        if bpy.app.background or context.window is None:
            return self.execute(context)
        stop()
        manager = context.window_manager
        manager.progress_begin(0.0, 1.0)
        self._work, self._shown, self._left = self.steps(context), 0.0, TimeLeft()
        _sliced = self._work, callbacks.tick(context.window, _TICK)
        _show((self.bl_label, 0.0))
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self: Any, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if _sliced is None or _sliced[0] is not self._work:
            return {"CANCELLED"}
        if event.type == "ESC" and event.value == "PRESS":
            stop()
            self.report({"INFO"}, self.given_up())
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            now, longest = time.perf_counter(), 0.0
            until = now + _SLICE
            while now + longest < until:  # as long as there is time for another step
                told, began = _show(next(self._work)), now
                now = time.perf_counter()
                longest = max(longest, now - began)
        except StopIteration as done:
            stop()
            return self._finish(done.value)
        except MotionMatchingError as error:
            stop()
            return self._fail(error)
        except BaseException:
            stop()
            raise
        if time.perf_counter() > self._shown + _SHOWN:
            self._show_progress(context, *told)
        return {"RUNNING_MODAL"}

    def cancel(self: Any, context: bpy.types.Context) -> None:
        """Blender gives the work up itself, because it quits or loads a file."""
        if _sliced is not None and _sliced[0] is self._work:
            stop()

    def _show_progress(self: Any, context: bpy.types.Context, text: str, part: float) -> None:
        context.window_manager.progress_update(part)
        left = self._left.of(part, time.perf_counter())
        context.workspace.status_text_set(
            "    ".join(filter(None, (f"{text} {part:.0%}", left, "Esc: Cancel")))
        )
        _show((f"{text}, {left}" if left else text, part))
        status.redraw()
        self._shown = time.perf_counter()

    def _finish(self: Any, text: str) -> set[str]:
        if text:
            self.report({"INFO"}, text)
        return {"FINISHED"}

    def _fail(self: Any, error: MotionMatchingError) -> set[str]:
        self.report({"ERROR"}, str(error))
        return {"CANCELLED"}


class TimeLeft:
    """How long a stage of work still takes, from how long the part of it that is done took."""

    def __init__(self) -> None:
        self._start, self._from, self._last = 0.0, 0.0, 1.0

    def of(self, part: float, now: float) -> str:
        """In words, or nothing while too little is known, at a time in seconds; a part below the last is a new stage."""
        if part < self._last:
            self._start, self._from = now, part
        self._last = part
        done, spent = part - self._from, now - self._start
        if spent < _LEAST_KNOWN or done <= 0.0:
            return ""
        seconds = round(spent * (1.0 - part) / done)
        return (
            f"{seconds // 60} min {seconds % 60} s left" if seconds >= 60 else f"{seconds} s left"
        )


def _show(told: tuple[str, float] | None) -> Any:
    global running
    running = told
    return told
