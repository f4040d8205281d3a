"""Tuned numbers for what files hold and how they are compared; no user changes them."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class FileNumbers:
    """Digits to which numbers are written and compared."""

    report_digits: int = tune(6, "1", "significant, of measures: finer than anything measured")
    report_decimals: int = tune(9, "1", "at most: less is rounding where nothing was meant")
    frame_decimals: int = tune(3, "1", "of frames of keys, as closely as keys hit their frame")
    key_decimals: int = tune(5, "1", "of values of keys: a hundredth of a millimetre is not seen")


NUMBERS = FileNumbers()
