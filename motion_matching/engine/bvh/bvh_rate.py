"""Read the frame rate of a BVH file from its frame time, which some files give as a rate."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np

from ..errors import MotionDataError

_SLOW_RATES = (10, 12, 15, 20, 24, 25, 30, 48, 50, 60, 72, 75, 80, 90)
_RATES = (*_SLOW_RATES, 100, 120, 125, 144, 150, 180, 200, 240, 250, 300, 360, 480, 500, 1000)
_BROADCAST_RATES = (24000 / 1001, 30000 / 1001, 60000 / 1001, 120000 / 1001)
_ASSUMED_RATE = 30.0
_LONGEST_FRAME = 1.0  # seconds
# A frame time above that is a rate, or in milliseconds. Rates below 24 are rarer than as many
# milliseconds, which are 50 frames per second and more; above 50, milliseconds are rarer.
_LOWEST_RATE, _ANY_RATE, _HIGHEST_RATE = 24, 50, 1000
_ROUNDED = 1e-3  # relative error of a broadcast rate such as 29.97


def read_frame_rate(path: Path, text: str, notes: list[str]) -> float:
    """Return the frames per second of a printed frame time, 'nan' for none.

    Assumptions are added to `notes`. Raises MotionDataError for less than one frame per second,
    which cannot be intended, unless it is a frame rate.
    """
    time = float(text)
    if not (np.isfinite(time) and time > 0):
        notes.append(f"has no usable frame time: {_ASSUMED_RATE:g} frames per second are assumed")
        return _ASSUMED_RATE
    if time <= _LONGEST_FRAME:
        return _round_to_rate(text)
    rate = _find_rate(time)
    if rate is None:
        per_second = f", if frames per second, to {1 / time:g}" if time < _LOWEST_RATE else ""
        raise MotionDataError(
            f"Cannot use '{path}': its frame time is {time:g} s; if milliseconds are written for "
            f"seconds, change it to {time / 1000:g}{per_second}"
        )
    notes.append(f"has the frame time {time:g}, which is read as frames per second")
    return rate


def _round_to_rate(text: str) -> float:
    """Return the frames per second of a printed frame time.

    A rounded or truncated time such as 0.0333333 or 0.0083 means the common rate that its last
    digit allows.
    """
    time = float(text)
    last_digit = 10.0 ** int(Decimal(text).as_tuple().exponent)
    tolerance = min(max(last_digit, 1e-6 * time), 0.025 * time)
    for rates in (_RATES, _BROADCAST_RATES):
        nearest = min(rates, key=lambda rate: abs(1 / rate - time))
        if abs(1 / nearest - time) <= tolerance:
            return float(nearest)
    return 1 / time


def _find_rate(time: float) -> float | None:
    """Return a frame time above a second as a frame rate, if it is one."""
    for rate in _BROADCAST_RATES:
        if abs(time - rate) <= _ROUNDED * rate and time != round(time):
            return rate
    is_common = time >= _LOWEST_RATE and time in _RATES
    is_any = time == round(time) and _ANY_RATE < time <= _HIGHEST_RATE
    return time if is_common or is_any else None
