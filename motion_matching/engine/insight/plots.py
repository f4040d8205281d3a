"""Draw the content of a database as one SVG file: strands, coverage, histograms, maps of poses.

Strands are the trajectories of the simulation bone over a second, from one point and facing up,
coloured by speed, beside those of the simulation object ("Code vs Data Driven Displacement",
section "Simulation Bone").
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..database.database import Database
from ..files.written import round_numbers
from . import maps  # which bring scipy, and are few
from .coverage import strands
from .coverage.coverage import SPEED_EDGES, TURN_EDGES, Coverage
from .coverage.inspection import Inspection
from .coverage.strands import sample_evenly
from .numbers import NUMBERS
from .pictures import HEIGHT, MARGIN, WIDTH, make_label, make_picture, write_pictures

if TYPE_CHECKING:
    from .maps.field_map import FieldMap
    from .maps.pose_map import PoseMap

Array = np.ndarray
METRE = NUMBERS.metre
# as in histograms
_DATA_COLOUR = "#3b6ea8"
_OBJECT_COLOUR = "#e08a1e"
MAX_STRANDS = NUMBERS.strands_drawn
MAX_POSES = NUMBERS.poses_drawn


def save(
    database: Database,
    inspection: Inspection,
    poses: PoseMap,
    path: Path | str,
    states: FieldMap | None = None,
) -> None:
    """Write the pictures of a database from its inspection. Raises SettingsError if that fails.

    `states` is a map of its motion field, if that is drawn too.
    """
    pictures = [
        *_draw_both_strands(database, inspection.tracks),
        _draw_coverage(inspection.covered),
        _draw_captures(inspection.data["to_capture"]),
        *(_draw_histogram(name, table) for name, table in inspection.histograms.items()),
        *(_draw_poses(database, poses, name) for name in ("mds", "pca")),
        *(_draw_states(database, states) if states else ()),
    ]
    write_pictures(pictures, path)


def _format_rgb(colours: Array) -> list[str]:
    rgb = (255.0 * colours).round().astype(int)
    return ["#{:02x}{:02x}{:02x}".format(*colour) for colour in rgb.tolist()]


def _draw_both_strands(database: Database, tracks: Sequence[Array]) -> tuple[str, str, str]:
    """Draw strands of data and simulation object at one scale, and both laid over each other.

    Nothing matches beyond the data.
    """
    data = strands.from_database(database, MAX_STRANDS)
    simulation = strands.from_tracks(tracks, database.fps, MAX_STRANDS)
    scale = min(METRE, 0.5 * (HEIGHT - 2 * MARGIN) / max(data.reach, simulation.reach, 1.0))
    data_title = f"Where {len(data.paths)} frames lead within a second, facing up"
    object_title = "Where the simulation object goes within a second"
    return (
        _draw_strands("strands", data_title, data, scale),
        _draw_strands("strands of the simulation object", object_title, simulation, scale),
        _lay_over(data, simulation, scale),
    )


def _draw_strands(name: str, title: str, sample: strands.Strands, scale: float) -> str:
    colours = _format_rgb(strands.compute_colours(sample.speeds))
    lines = _draw_paths(sample.paths, colours, scale)
    legend = f"1 m; dark: standing, light: {strands.MAX_SPEED:g} m/s"
    return make_picture(name, title, [*lines, *_draw_rule(scale, legend)])


def _lay_over(data: strands.Strands, simulation: strands.Strands, scale: float) -> str:
    """Draw strands of the simulation object over those of the data, in different colours."""
    lines = [
        *_draw_paths(data.paths, [_DATA_COLOUR] * len(data.paths), scale),
        *_draw_paths(simulation.paths, [_OBJECT_COLOUR] * len(simulation.paths), scale),
    ]
    title = "Both: data, and on it the simulation object in orange"
    return make_picture("strands laid over each other", title, [*lines, *_draw_rule(scale, "1 m")])


def _draw_paths(paths: Array, colours: Sequence[str], scale: float) -> list[str]:
    """Return a line for each path (n, P, 2) in metres, from the middle of a picture."""
    origin = np.array([0.5 * WIDTH, 0.5 * HEIGHT])
    lines = []
    for colour, path in zip(colours, paths, strict=True):
        places = round_numbers(origin - scale * path, 1)
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places.tolist())
        lines.append(f'<polyline stroke="{colour}" points="{points}"/>')
    return lines


def _draw_rule(scale: float, legend: str) -> tuple[str, str]:
    """Return a line of one metre, and its label."""
    y = HEIGHT - 20
    right = MARGIN + scale
    rule = f'<line x1="{MARGIN:g}" y1="{y:g}" x2="{right:g}" y2="{y:g}" stroke="#222"/>'
    return rule, make_label(MARGIN, HEIGHT - 24, legend)


def _draw_coverage(covered: Coverage) -> str:
    shown = covered.visible_row_count
    columns = covered.frames.shape[1]
    width, height = (WIDTH - 1.5 * MARGIN) / columns, (HEIGHT - 2.4 * MARGIN) / shown
    most = np.log1p(covered.frames.max(initial=1))
    lefts = [MARGIN + (columns - 1 - column) * width for column in range(columns)]
    parts = []
    for row in range(shown):
        y = HEIGHT - 1.2 * MARGIN - (row + 1) * height
        parts.append(make_label(8, y + height, f"{SPEED_EDGES[row]:g} m/s"))
        for column, x in enumerate(lefts):
            place = f'x="{x:.1f}" y="{y:.1f}" width="{width - 1:.1f}" height="{height - 1:.1f}"'
            if count := int(covered.frames[row, column]):
                shade = 235 - int(170 * np.log1p(count) / most)
                cell = f'class="cell" {place} fill="rgb({shade},{shade},255)"'
                parts.append(f"<rect {cell}><title>{count} frames</title></rect>")
            if covered.holes[row, column]:
                needed = f"needed for {100 * covered.demand[row, column]:.1f} % of the time"
                title = f"<title>{count} frames, {needed}</title>"
                parts.append(f'<rect class="hole" {place}>{title}</rect>')
    turns = np.degrees(TURN_EDGES[:-1] + TURN_EDGES[1:]) / 2
    for x, turn in zip(lefts, turns, strict=True):
        parts.append(make_label(x, HEIGHT - 40, f"{turn:+z.0f}"))
    parts.append(make_label(MARGIN, HEIGHT - 24, "°/s, + to the left; red: a hole"))
    return make_picture("coverage", "Frames by speed and turn rate over a second", parts)


def _draw_captures(captures: Sequence[str]) -> str:
    """Draw the whole list of what to capture next; a longer list is smaller."""
    bullet = "\N{BULLET} "
    indent = "\N{FIGURE SPACE} "
    wrap = textwrap.TextWrapper(
        NUMBERS.line_length, initial_indent=bullet, subsequent_indent=indent
    ).wrap
    texts = captures or ["nothing that the controller asks for is missing"]
    lines = [line for text in texts for line in wrap(text)]
    step = min((HEIGHT - 2.4 * MARGIN) / len(lines), 15.0)
    start = f'<text style="font-size:{0.75 * step:.1f}px" x="{MARGIN:g}"'
    parts = [
        f'{start} y="{1.2 * MARGIN + k * step:.1f}">{escape(line)}</text>'
        for k, line in enumerate(lines)
    ]
    return make_picture("to capture", "What to capture next", parts)


def _draw_histogram(name: str, table: dict[str, Any]) -> str:
    edges = table["edges"]
    most = max(*table["data"], *table["simulation"], 1e-6)
    width, height = (WIDTH - 2 * MARGIN) / (len(edges) - 1), HEIGHT - 3 * MARGIN
    bottom = HEIGHT - 1.4 * MARGIN
    parts = []
    for k, edge in enumerate(edges[:-1]):
        x = MARGIN + k * width
        for kind in ("data", "simulation"):
            share = table[kind][k]
            tall = height * share / most
            place = f'x="{x + 1:.1f}" y="{bottom - tall:.1f}"'
            size = f'width="{width - 2:.1f}" height="{tall:.1f}"'
            title = f"<title>{kind} {100 * share:.1f} %</title>"
            parts.append(f'<rect class="{kind}" {place} {size}>{title}</rect>')
        parts.append(make_label(x, bottom + 14, f"{edge:g}"))
    parts.append(make_label(MARGIN, bottom + 32, f"they overlap by {table['overlap']:.0%}"))
    measure = f"{name.replace('_', ' ').capitalize()} in {table['unit']}"
    title = f"{measure}: data, and the simulation object in orange"
    return make_picture(f"histogram {name}", title, parts)


def _draw_poses(database: Database, poses: PoseMap, name: str) -> str:
    colours = strands.compute_colours(np.linalg.norm(database.root_motion[:, :2], axis=1))
    by = "dissimilarity" if name == "mds" else "principal components"
    title = f"Poses by {by}, stress {poses.stress[name]:.2f}"
    return _draw_map(database, getattr(poses, name), colours, (f"poses {name}", title))


def _draw_states(database: Database, states: FieldMap) -> Iterator[str]:
    """Draw a map of states from the front and from its side, by gait, and again by clip."""
    front = states.positions[:, :2]
    side = states.positions[:, 1:]
    by_gait = maps.field_map.compute_gait_colours(database)
    by_clip = maps.field_map.compute_clip_colours(database)
    title = f"By {states.method}: standing blue, walking green, running orange"
    yield _draw_map(database, front, by_gait, ("states front", title))
    yield _draw_map(database, side, by_gait, ("states side", "The same from its left side"))
    yield _draw_map(database, side, by_clip, ("states clips", "The same, coloured by clip"))


def _draw_map(database: Database, positions: Array, colours: Array, name: tuple[str, str]) -> str:
    """Draw a dot for some frames at positions (N, 2), as the picture of a name and a title."""
    frames = sample_evenly(np.arange(database.frame_count), MAX_POSES)
    positions = positions[frames]
    room = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2.5 * MARGIN])
    scale = float((room / np.maximum(np.ptp(positions, axis=0), 1e-6)).min())
    places = MARGIN + scale * (positions - positions.min(axis=0))
    dots = []
    shown = _format_rgb(colours[frames])
    for frame, colour, (x, y) in zip(frames.tolist(), shown, places.tolist(), strict=True):
        source = database.get_frame_source(frame)
        title = f"<title>{escape(source.clip)}:{source.frame}</title>"
        dots.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{colour}">{title}</circle>')
    return make_picture(*name, dots)
