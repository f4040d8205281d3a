"""Numbers as files hold them: rounded to the digits that a file states, and never a negative zero.

Without that, a last bit decides between 0.000000 and -0.000000. No numpy here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .numbers import NUMBERS

if TYPE_CHECKING:
    import numpy as np


def round_numbers(values: np.ndarray, decimals: int) -> np.ndarray:
    """Return numbers (...) rounded to `decimals`, without negative zeros."""
    rounded: np.ndarray = values.round(decimals)
    return rounded + 0.0


def format_fixed(value: float, decimals: int) -> str:
    """Return a number with this many `decimals`, such as 0.50."""
    return f"{value:z.{decimals}f}"


def round_measures(data: Any) -> Any:
    """Return the content of a report with each float rounded to the digits that reports state."""
    if isinstance(data, float):
        digits = float(f"{data:.{NUMBERS.report_digits}g}")
        return round(digits, NUMBERS.report_decimals) + 0.0
    return _change_floats(data, round_measures)


def without_negative_zeros(data: Any) -> Any:
    """Return the content of a JSON file with 0.0 for each -0.0; all else keeps its last bit."""
    if isinstance(data, float):
        return data + 0.0
    return _change_floats(data, without_negative_zeros)


def _change_floats(data: Any, change: Callable[[Any], Any]) -> Any:
    """Return JSON content with all that lists and objects hold changed."""
    if isinstance(data, Mapping):
        return {name: change(value) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [change(value) for value in data]
    return data
