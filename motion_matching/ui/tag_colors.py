"""The colours of tags."""

from __future__ import annotations

import colorsys


def color_of(name: str) -> tuple[float, float, float]:
    """The colour that ranges of a name have unless they are given another."""
    return colorsys.hsv_to_rgb(sum(name.encode()) * 0.618 % 1.0, 0.55, 0.85)
