"""Draw the price of a jump over the differences that it has to hide, and how these fade.

Four pictures have the difference of positions to the right and that of velocities upward: the
price, the same as a weighted sum, as one feature, and what that feature does not see.

Source: Holden, Inertialization Transition Cost, whose figures they are.
"""

from __future__ import annotations

import argparse
from itertools import groupby
from pathlib import Path

import numpy as np

from motion_matching.commands.values import parse_changes
from motion_matching.engine.blending.jump_fade import SPRING, FadeShape, choose_fade
from motion_matching.engine.insight.pictures import (
    HEIGHT,
    MARGIN,
    WIDTH,
    make_label,
    make_picture,
    write_pictures,
)
from motion_matching.engine.performance.settings import PerformerSettings

Array = np.ndarray
REACH = 0.2  # metres of difference to either side
_CELLS, _BANDS = 61, 14  # along either axis, and shades
_CELL, _SIDE = 6.5, 6.5 * _CELLS  # of maps, in units of the picture
_FADED, _POINTS = 0.003, 100  # share of an offset at which curves end, and their points
_LEAST_TIME = 0.001  # seconds; within none there is nothing to draw
_RULE = ' stroke="#999"'
_LINES = (  # v as a multiple of x and half the slope of the valley
    ("velocities alike", 0.0, "#3b6ea8"),
    ("coming back by itself", -1.0, "#2a9d4a"),
    ("coming back too fast", -4.0, "#8a4fbf"),
    ("going further away", 2.0, "#e08a1e"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("output", type=Path, help="the SVG file to write")
    text = "change a setting of the controller, such as inertialization_halflife=0.2"
    parser.add_argument("--set", action="append", default=[], dest="changes", help=text)


def run(chosen: argparse.Namespace) -> int:
    """Return 0 once the pictures are written."""
    settings = PerformerSettings()
    settings = settings.with_changes(parse_changes(chosen.changes, settings))
    write_pictures(draw_prices(settings), chosen.output)
    print(f"Written to {chosen.output}.")
    return 0


def draw_prices(settings: PerformerSettings) -> list[str]:
    """Return the pictures for jumps that fade as settings choose."""
    shape, time = choose_fade(settings)
    time = max(time, _LEAST_TIME)

    def measure(x: Array, v: Array) -> Array:
        return shape.measure(x, v, time, time)

    of_positions, of_velocities = (
        float(shape.measure_signed(np.array(x), np.array(1.0 - x), time)) for x in (1.0, 0.0)
    )
    fastest = REACH * of_positions / of_velocities  # the valley goes from corner to corner
    x = np.linspace(-REACH, REACH, _CELLS)
    v = np.linspace(fastest, -fastest, _CELLS)[:, None]
    exact, feature = measure(x, v), np.abs(shape.measure_signed(x, v, time))
    added = measure(x, np.zeros(1)) + measure(np.zeros(1), v)
    most = float(added.max())
    maps = (
        ("price exact", "Price of a jump by its differences", exact),
        ("price added", "The same if both differences were weighted and added", added),
        ("price feature", "The same by one feature of both frames", feature),
        ("price error", "What that feature does not see: going past zero", exact - feature),
    )
    # one scale for the first three; what is not seen is little
    tops = (most, most, most, float(maps[-1][-1].max()))
    drawn = [_draw_map(*each, top, fastest) for each, top in zip(maps, tops, strict=True)]
    return [*drawn, _draw_curves(shape, time, 0.5 * fastest / REACH)]


def _draw_map(name: str, title: str, prices: Array, most: float, fastest: float) -> str:
    """Draw prices (N, N) in metre-seconds in shades, each of them up to a share of the most."""
    size, left, top = _CELL, WIDTH - MARGIN / 2 - _SIDE, MARGIN
    shades = np.minimum((_BANDS * prices / most).astype(int), _BANDS - 1)
    parts = []
    for row, (values, bands) in enumerate(zip(prices, shades.tolist(), strict=True)):
        column = 0
        for band, group in groupby(bands):  # cells of one shade are one box
            count = len(list(group))
            place = f'x="{left + column * size:.1f}" y="{top + row * size:.1f}"'
            box = f'width="{count * size:.1f}" height="{size:.1f}"'
            low, high = (100.0 * limit(values[column : column + count]) for limit in (min, max))
            text = f"<title>{low:.2f} to {high:.2f} cm·s</title>"
            parts.append(f'<rect {place} {box} fill="{_shade(band)}">{text}</rect>')
            column += count
    to_the_left, middle = ' text-anchor="end"', ' text-anchor="middle"'
    for share in (-1.0, 0.0, 1.0):
        x, y = left + _SIDE * (1.0 + share) / 2.0, top + _SIDE * (1.0 - share) / 2.0
        parts.append(make_label(x, top + _SIDE + 16, f"{100 * share * REACH:+.0f} cm", middle))
        parts.append(make_label(left - 6, y + 4, f"{share * fastest:+.1f} m/s", to_the_left))
    legend = (
        f"dark: free, light: {100 * most:.1f} cm·s and more; here up to {100 * prices.max():.1f}"
    )
    parts.append(make_label(left, top + _SIDE + 40, legend))
    return make_picture(name, title, parts)


def _shade(band: int) -> str:
    share = band / (_BANDS - 1)
    dark, light = np.array([24, 32, 64]), np.array([255, 226, 150])
    return "#{:02x}{:02x}{:02x}".format(*(dark + share * (light - dark)).round().astype(int))


def _draw_curves(shape: FadeShape, time: float, rate: float) -> str:
    """Draw how differences of 10 cm fade, with what they cost."""
    x, ages = REACH / 2.0, np.linspace(0.0, 8.0 * shape.compute_half_time(time), 8 * _POINTS)
    seconds = float(ages[shape.compute_share(time, ages) > _FADED].max())
    times = np.linspace(0.0, seconds, _POINTS)
    decays = np.array([shape.compute_matrix(time, age, time)[0] for age in times.tolist()])
    width, height, middle = WIDTH - 2.5 * MARGIN, HEIGHT - 4.5 * MARGIN, 0.5 * HEIGHT
    left, scale = 1.5 * MARGIN, 0.5 * height / (1.5 * x)
    parts = [f'<line x1="{left:g}" x2="{left + width:g}" y1="{middle:g}" y2="{middle:g}"{_RULE}/>']
    for number, (name, multiple, colour) in enumerate(_LINES):
        v = multiple * rate * x
        price = float(shape.measure(np.array(x), np.array(v), time, time))
        offsets = decays @ (x, v)
        ends = zip(left + width * times / seconds, middle - scale * offsets, strict=True)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in ends)
        parts.append(_draw_line(points, colour, f"{left:.1f},{middle:.1f}", left + width, middle))
        style = f' style="fill:{colour}"'
        text = f"{name}, {v:+.1f} m/s: {100.0 * price:.2f} cm·s"
        parts.append(make_label(left + 180, MARGIN + 14 * (number + 1), text, style))
    for share in (-1.0, 0.0, 1.0):
        y = middle - scale * share * x
        parts.append(
            make_label(left - 6, y + 4, f"{100 * share * x:+.0f} cm", ' text-anchor="end"')
        )
    parts.append(make_label(left + width - 30, middle + 16, f"{seconds:.2g} s"))
    kind = "halflife" if shape is SPRING else "blend time"
    title = f"How differences fade, and their cost: {kind} {time:g} s"
    return make_picture("price curves", title, parts)


def _draw_line(points: str, colour: str, start: str, right: float, middle: float) -> str:
    """Draw a curve, and the area under it."""
    area = f'<polygon fill="{colour}" fill-opacity="0.12" points="{start} {points} '
    area += f'{right:.1f},{middle:.1f}"/>'
    style = f'stroke="{colour}" style="stroke-width:2;opacity:1"'
    return f'{area}<polyline {style} points="{points}"/>'
