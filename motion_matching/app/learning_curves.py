"""Learning curves of trainings: of one that goes on, or from the file of one that ended."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from ..engine.errors import MotionMatchingError
from ..engine.field import value_function
from ..engine.insight import residual_plot
from ..engine.progress import map_steps
from . import callbacks
from .characters import get_armature
from .library import get_library
from .runtime import runtime
from .steps import Result, Steps
from .typed import settings_of

if TYPE_CHECKING:
    from ..engine.field.training import Training  # brings scipy
    from ..engine.insight.residual_plot import Curves

_REDRAW_INTERVAL = 0.25  # seconds between redraws of what is under way


def record_progress(key: str, training: Training) -> None:
    """Store the curves of a training that goes on, perhaps in another thread."""
    runtime.curves[key] = residual_plot.compute_curves(
        training.residuals, training.discount, training.sweeps
    )


def get_curves(key: str) -> Curves | None:
    """Return the curves of the training with a key, or None if there is none."""
    if key not in runtime.curves:
        runtime.curves[key] = _read_curves(key)
    return runtime.curves[key]


def _read_curves(key: str) -> Curves | None:
    """Read the curves from the file of a training, or from that of its stopped part."""
    with suppress(MotionMatchingError):  # a damaged file is reported where it is played
        library = get_library()
        for name in (key, f"{key}.stopped"):
            if library.has(name):
                function = value_function.load(library.get_path(name))
                return residual_plot.compute_curves(function.residuals, function.discount)
    return None


def follow_steps(uid: int, steps: Steps[Result]) -> Steps[Result]:
    """Run the steps of an armature's training, and redraw views now and then if they show it."""
    drawn = 0.0

    def redraw(progress: tuple[str, float]) -> tuple[str, float]:
        nonlocal drawn
        if time.monotonic() > drawn + _REDRAW_INTERVAL:
            drawn = time.monotonic()
            if settings_of(get_armature(uid)).training.show_residuals:
                callbacks.redraw("WINDOW")
        return progress

    try:
        return (yield from map_steps(steps, redraw))
    finally:
        callbacks.redraw("WINDOW")
