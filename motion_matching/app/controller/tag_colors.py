"""The colours of tags."""

from __future__ import annotations

import colorsys


def get_tag_color(name: str) -> tuple[float, float, float]:
    """Return the default colour of ranges with a name."""
    return colorsys.hsv_to_rgb(sum(name.encode()) * 0.618 % 1.0, 0.55, 0.85)
