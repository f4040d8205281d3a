"""What is known of how trainings of motion fields go: from one that is under way, or from the file that one has left."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from ..engine.errors import MotionMatchingError
from . import request, status
from .preferences import library
from .work import Result, Steps

if TYPE_CHECKING:
    import numpy as np

    from ..engine.field.residual_plot import Curves

_REDRAWN = 0.25  # seconds between redraws of what is under way

_known: dict[str, Curves | None] = {}  # by the key of a training


def start() -> None:
    """Look at files again where something may have changed."""
    status.listeners.append(_known.clear)


def stop() -> None:
    """The opposite."""
    if _known.clear in status.listeners:
        status.listeners.remove(_known.clear)
    _known.clear()


def note(key: str, residuals: np.ndarray, discount: float, sweeps: int) -> None:
    """A training of so many sweeps has got so far; it may run in another thread."""
    from ..engine.field import residual_plot

    _known[key] = residual_plot.curves(residuals, discount, sweeps)


def of(key: str) -> Curves | None:
    """The curves of the training with a key, under way, stopped or done; None where there is none."""
    if key not in _known:
        _known[key] = _read(key)
    return _known[key]


def _read(key: str) -> Curves | None:
    """What the file of a training, or that of its stopped part, keeps of it."""
    from ..engine.field import residual_plot, value_function

    with suppress(MotionMatchingError):  # what is damaged is told of where it is played
        kept = library()
        for name in (key, f"{key}.stopped"):
            if kept.has(name):
                function = value_function.load(kept.path(name))
                return residual_plot.curves(function.residuals, function.discount)
    return None


def followed(uid: int, work: Steps[Result]) -> Steps[Result]:
    """The same work for an armature, with the views drawn again now and then where its curve is shown."""
    drawn = 0.0
    try:
        while True:
            told = next(work)
            if time.monotonic() > drawn + _REDRAWN:
                drawn = time.monotonic()
                if request.held(uid).motion_matching.training.show_residuals:
                    status.redraw("WINDOW")
            yield told
    except StopIteration as done:
        return done.value
    finally:
        work.close()
        status.redraw("WINDOW")
