"""Draw how a training went: how much each sweep changed the values, beside the discount's promise.

Value iteration is a contraction: each sweep shrinks the largest change by the discount γ or more.
"""

from __future__ import annotations

from html import escape
from typing import NamedTuple

import numpy as np

from motion_matching.engine.insight import pictures

KINDS = {
    "most": "largest change",
    "mean": "mean change",
    "least": "least change",
    "promised": "what the discount promises",
}
_DECADES = 6.0  # at most; smaller values lie on the ground line
_COLOURS = {"most": "#e08a1e", "mean": "#3b6ea8", "least": "#999", "promised": "#222"}
_LEFT, _TOP, _WIDTH, _HEIGHT = 60.0, 50.0, 450.0, 360.0


class Curves(NamedTuple):
    """Lines (n, 2) by kind, 0 to 1 along the sweeps and up a logarithmic scale.

    `scale` holds heights with their labels; `sweeps` is how many the width stands for.
    """

    lines: dict[str, np.ndarray]
    scale: tuple[tuple[float, str], ...]
    sweeps: int


def compute_curves(residuals: np.ndarray, discount: float) -> Curves:
    """Return the curves of residuals (n, 3) of a `ValueFunction`, of which there is at least one."""
    least, most, mean = np.asarray(residuals, np.float64).T
    count = max(len(residuals), 2)
    promised = most[0] * discount ** np.arange(count)
    values = {"most": most, "mean": mean, "least": least, "promised": promised}
    top = max(float(most.max()), 1e-12)
    drawn = np.concatenate([values[kind] for kind in ("most", "mean", "promised")])
    low = np.log10(np.clip(drawn.min(), top * 10.0**-_DECADES, 0.5 * top))
    high = np.log10(top)

    def to_height(value: np.ndarray) -> np.ndarray:
        return np.clip((np.log10(np.maximum(value, 1e-300)) - low) / (high - low), 0.0, 1.0)

    lines = {
        kind: np.stack([np.arange(len(value)) / (count - 1), to_height(value)], axis=1)
        for kind, value in values.items()
    }
    steps = (1, 2, 5) if high - low < 2 else (1,)
    powers = range(int(np.floor(low)), int(np.ceil(high)) + 1)
    marks = [step * 10.0**power for power in powers for step in steps]
    marks = [mark for mark in marks if low <= np.log10(mark) <= high]
    scale = tuple((float(to_height(np.array(mark))), f"{mark:g}") for mark in marks)
    return Curves(lines, scale, count)


def draw(residuals: np.ndarray, discount: float, name: str = "residuals") -> str:
    """Return the curves as a picture for an SVG file."""
    curves = compute_curves(residuals, discount)
    parts, right, bottom, to_the_left = [], _LEFT + _WIDTH, _TOP + _HEIGHT, ' text-anchor="end"'
    for height, text in curves.scale:
        y = bottom - _HEIGHT * height
        ends = f'x1="{_LEFT:g}" x2="{right:g}" y1="{y:.1f}" y2="{y:.1f}"'
        parts.append(f'<line {ends} stroke="#ddd"/>')
        parts.append(pictures.make_label(_LEFT - 8, y + 3, text, to_the_left))
    for number, (kind, name) in enumerate(KINDS.items()):
        places = (_LEFT, bottom) + curves.lines[kind] * (_WIDTH, -_HEIGHT)
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places.tolist())
        dashes = ' stroke-dasharray="6 4"' if kind == "promised" else ""
        style = f'stroke="{_COLOURS[kind]}" style="stroke-width:2;opacity:1"{dashes}'
        parts.append(f'<polyline id="{kind}" {style} points="{points}"/>')
        place = f'x="{_LEFT + 130 * number:g}" y="{bottom + 44:g}"'
        parts.append(f'<text {place} style="fill:{_COLOURS[kind]}">{escape(name)}</text>')
    parts.append(pictures.make_label(_LEFT, bottom + 18, "sweep 1"))
    parts.append(pictures.make_label(right, bottom + 18, f"{curves.sweeps}", to_the_left))
    title = f"How much each sweep changes the values, discount {discount:.4g}"
    return pictures.make_picture(name, title, parts)
