"""Work in slices: generators that yield what they do and the part done (0..1), and return a result.

What touches Blender runs between two yields. The engine's arithmetic, which knows nothing of
Blender, runs in a thread meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

import bpy

from ..engine.progress import ReportProgress, ReportShare, map_steps
from . import callbacks
from .runtime import runtime

Result = TypeVar("Result")
Steps = Generator[tuple[str, float], None, Result]

_MIN_ESTIMATE_TIME = 0.5  # seconds that a stage lasts before its end is estimated
_JOIN_TIMEOUT = 0.005  # seconds that a step waits for the thread
_THREADS = "motion_matching"  # how the names of all threads begin
_MIN_SHOWN_TIME = 0.1  # seconds between two redraws of the progress
_PAUSE_PER_REDRAW = 4.0  # what they take is at most a fifth of the time


class _Cancelled(Exception):  # noqa: N818  # nothing went wrong
    """Ends the work in a thread."""


class EndedEarly(Exception):  # noqa: N818  # nothing went wrong
    """Ends work that may keep what it has: thrown into its steps, and raised by its `report`."""


@dataclass(frozen=True, eq=False)
class Work:
    """A background task: its steps, a callback that ends its timer, its operator and that label."""

    steps: Steps[str]
    end_timer: Callable[[], None]
    operator: str
    label: str


def scale_progress_steps(steps: Steps[Result], index: int, count: int) -> Steps[Result]:
    """Run the steps of one of `count` equal tasks, with progress over all of them."""
    return map_steps(steps, lambda progress: (progress[0], (index + progress[1]) / count))


def scale_report(report: ReportProgress, stage: str, index: int, count: int) -> ReportShare:
    """Return what reports the part done (0..1) of one of `count` equal tasks."""
    return lambda done: report(stage, (index + done) / count)


def run_in_background_steps(call: Callable[[ReportProgress], Result], stage: str) -> Steps[Result]:
    """Run a function in a thread; its `report(text, part)` ends it once the steps are closed.

    EndedEarly that is thrown into the steps is raised by `report`, and the function may then return
    what it has. Thrown once more, it ends the steps.
    """
    progress: list[tuple[str, float]] = [(stage, 0.0)]
    outcome: dict[str, Any] = {}
    is_cancelled, is_ending, is_told = (threading.Event() for _ in range(3))

    def report(text: str, part: float) -> None:
        if is_cancelled.is_set():
            raise _Cancelled
        if is_ending.is_set() and not is_told.is_set():
            is_told.set()
            raise EndedEarly
        progress[0] = text, part

    def run() -> None:
        try:
            outcome["result"] = call(report)
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=run, name=f"{_THREADS} {stage}")
    thread.start()
    try:
        is_running = True
        while is_running:  # work that is over at once says its stage too
            try:
                yield ("Ending", progress[0][1]) if is_ending.is_set() else progress[0]
            except EndedEarly:
                if is_ending.is_set():
                    raise
                is_ending.set()
            thread.join(_JOIN_TIMEOUT)
            is_running = thread.is_alive()
    finally:
        is_cancelled.set()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


def join_threads() -> None:
    """Wait for threads whose steps were closed, each until its next report."""
    for thread in threading.enumerate():
        if thread.name.startswith(_THREADS):
            thread.join()


def start(
    steps: Steps[str], window: bpy.types.Window, operator: str, label: str, seconds: float
) -> None:
    """Begin the work of an operator between redraws, in place of any that goes on.

    Its timer fires at an interval in seconds.
    """
    stop()
    bpy.context.window_manager.progress_begin(0.0, 1.0)
    runtime.work = Work(steps, callbacks.start_timer(window, seconds), operator, label)
    runtime.progress = (label, 0.0)
    runtime.is_cancelled = False
    callbacks.redraw()


def stop() -> None:
    """End the work that goes on between redraws; may be called at any time, and twice."""
    work = runtime.work
    runtime.work = None
    if work is None:
        return
    try:
        work.steps.close()
    finally:
        runtime.progress = None
        bpy.context.window_manager.progress_end()
        work.end_timer()
        for workspace in bpy.data.workspaces:
            workspace.status_text_set(None)
        callbacks.redraw()


class TimeLeft:
    """Estimates the time left of a stage of work, from the time of the part done."""

    def __init__(self) -> None:
        self._start = 0.0
        self._start_part = 0.0
        self._last = 1.0

    def estimate(self, part: float, now: float) -> str:
        """Describe the time left at `now` (s), if enough is known; a lower part is a new stage."""
        if part < self._last:
            self._start = now
            self._start_part = part
        self._last = part
        done = part - self._start_part
        spent = now - self._start
        if spent < _MIN_ESTIMATE_TIME or done <= 0.0:
            return ""
        minutes, seconds = divmod(round(spent * (1.0 - part) / done), 60)
        return f"{minutes} min {seconds} s left" if minutes else f"{seconds} s left"


class RedrawPace:
    """Says when progress is drawn again: as it changes, but slow redraws must not hold up work."""

    def __init__(self) -> None:
        self._drawn: object = None
        self._tagged_at: float | None = None
        self._next = 0.0

    def start_slice(self, now: float) -> None:
        """Work goes on at `now` (s): since the last slice, what was due was drawn."""
        if self._tagged_at is not None:
            pause = _PAUSE_PER_REDRAW * (now - self._tagged_at)
            self._next = now + max(pause, _MIN_SHOWN_TIME)
            self._tagged_at = None

    def is_due(self, progress: object, now: float) -> bool:
        """Return whether to redraw as a slice ends at `now` (s); then that is what is drawn."""
        if progress == self._drawn or now < self._next:
            return False
        self._drawn = progress
        self._tagged_at = now
        return True
