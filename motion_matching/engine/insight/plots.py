"""Draw what a database holds as one SVG file: strands, coverage, histograms, and maps of poses.

Strands are the trajectories of the simulation bone over a second, from one point and facing up,
coloured by speed, beside those of the simulation object ("Code vs Data Driven Displacement",
section "Simulation Bone").
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ..database.database import Database
from . import strands
from .coverage import SPEED_EDGES, TURN_EDGES, Coverage
from .inspection import Inspection
from .pictures import HEIGHT, MARGIN, WIDTH, make_picture, write_pictures
from .pose_map import PoseMap
from .strands import sample_evenly

Array = np.ndarray
METRE = 60.0  # units of the picture
MAX_STRANDS, MAX_POSES = 800, 2000
_LINE_LENGTH = 80  # characters of a line of what to capture next


def save(database: Database, inspection: Inspection, poses: PoseMap, path: Path | str) -> None:
    """Write the pictures of a database from its inspection. Raises SettingsError if that fails."""
    write_pictures(
        [
            *_draw_both_strands(database, inspection.tracks),
            _draw_coverage(inspection.covered),
            _draw_captures(inspection.data["to_capture"]),
            *(_draw_histogram(name, table) for name, table in inspection.histograms.items()),
            *(_draw_poses(database, poses, name) for name in ("mds", "pca")),
        ],
        path,
    )


def _format_colours(speeds: Array) -> list[str]:
    rgb = (255.0 * strands.compute_colours(speeds)).round().astype(int)
    return ["#{:02x}{:02x}{:02x}".format(*colour) for colour in rgb.tolist()]


def _draw_both_strands(database: Database, tracks: Sequence[Array]) -> tuple[str, str]:
    """Draw strands of the data and of the simulation object at one scale.

    Where the object goes beyond the data, it cannot be matched.
    """
    data = strands.from_database(database, MAX_STRANDS)
    simulation = strands.from_tracks(tracks, database.fps, MAX_STRANDS)
    scale = min(METRE, 0.5 * (HEIGHT - 2 * MARGIN) / max(data.reach, simulation.reach, 1.0))
    return (
        _draw_strands(
            "strands",
            f"Where {len(data.paths)} frames lead within a second, facing up",
            data,
            scale,
        ),
        _draw_strands(
            "strands of the simulation object",
            "Where the simulation object goes within a second",
            simulation,
            scale,
        ),
    )


def _draw_strands(name: str, title: str, sample: strands.Strands, scale: float) -> str:
    left, ahead = sample.paths[..., 0], sample.paths[..., 1]
    x, y = 0.5 * WIDTH - scale * left, 0.5 * HEIGHT - scale * ahead
    lines = [
        f'<polyline stroke="{colour}" '
        f'points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in zip(*line, strict=True))}"/>'
        for colour, *line in zip(
            _format_colours(sample.speeds), x.tolist(), y.tolist(), strict=True
        )
    ]
    rule = (
        f'<line x1="{MARGIN:g}" y1="{HEIGHT - 20:g}" x2="{MARGIN + scale:g}" y2="{HEIGHT - 20:g}" '
        'stroke="#222"/>'
        f'<text class="small" x="{MARGIN:g}" y="{HEIGHT - 24:g}">1 m; dark: standing, light: '
        f"{strands.MAX_SPEED:g} m/s"
        f"</text>"
    )
    return make_picture(name, title, [*lines, rule])


def _draw_coverage(covered: Coverage) -> str:
    shown = covered.visible_row_count
    columns = covered.frames.shape[1]
    width, height = (WIDTH - 1.5 * MARGIN) / columns, (HEIGHT - 2.4 * MARGIN) / shown
    most = np.log1p(covered.frames.max(initial=1))
    parts = []
    for row in range(shown):
        y = HEIGHT - 1.2 * MARGIN - (row + 1) * height
        parts.append(
            f'<text class="small" x="8" y="{y + height:.1f}">{SPEED_EDGES[row]:g} m/s</text>'
        )
        for column in range(columns):
            x = MARGIN + (columns - 1 - column) * width
            rectangle = f'x="{x:.1f}" y="{y:.1f}" width="{width - 1:.1f}" height="{height - 1:.1f}"'
            count = int(covered.frames[row, column])
            if count:
                shade = 235 - int(170 * np.log1p(count) / most)
                fill = f'fill="rgb({shade},{shade},255)"'
                parts.append(
                    f'<rect class="cell" {rectangle} {fill}><title>{count} frames</title></rect>'
                )
            if covered.holes[row, column]:
                parts.append(
                    f'<rect class="hole" {rectangle}><title>{count} frames, needed for '
                    f"{100 * covered.demand[row, column]:.1f} % of the time</title></rect>"
                )
    turns = np.degrees(TURN_EDGES[:-1] + TURN_EDGES[1:]) / 2
    parts += [
        f'<text class="small" x="{MARGIN + (columns - 1 - k) * width:.1f}" '
        f'y="{HEIGHT - 40:g}">{turn:+.0f}</text>'
        for k, turn in enumerate(turns)
    ]
    parts.append(
        f'<text class="small" x="{MARGIN:g}" y="{HEIGHT - 24:g}">°/s, + to the left; red: a '
        "hole</text>"
    )
    return make_picture("coverage", "Frames by speed and turn rate over a second", parts)


def _draw_captures(lacking: Sequence[str]) -> str:
    """Draw the whole list of what to capture next; a longer list is smaller."""
    lines = [
        line
        for text in lacking or ["nothing that the controller asks for is missing"]
        for line in textwrap.wrap(
            text, _LINE_LENGTH, initial_indent="\N{BULLET} ", subsequent_indent="\N{FIGURE SPACE} "
        )
    ]
    step = min((HEIGHT - 2.4 * MARGIN) / len(lines), 15.0)
    parts = [
        f'<text style="font-size:{0.75 * step:.1f}px" x="{MARGIN:g}" '
        f'y="{1.2 * MARGIN + k * step:.1f}">{escape(line)}'
        "</text>"
        for k, line in enumerate(lines)
    ]
    return make_picture("to capture", "What to capture next", parts)


def _draw_histogram(name: str, table: dict[str, Any]) -> str:
    edges, most = table["edges"], max(*table["data"], *table["simulation"], 1e-6)
    width, height = (WIDTH - 2 * MARGIN) / (len(edges) - 1), HEIGHT - 3 * MARGIN
    bottom = HEIGHT - 1.4 * MARGIN
    parts = []
    for k, edge in enumerate(edges[:-1]):
        x = MARGIN + k * width
        for kind in ("data", "simulation"):
            tall = height * table[kind][k] / most
            parts.append(
                f'<rect class="{kind}" x="{x + 1:.1f}" y="{bottom - tall:.1f}" '
                f'width="{width - 2:.1f}" '
                f'height="{tall:.1f}"><title>{kind} {100 * table[kind][k]:.1f} %</title></rect>'
            )
        parts.append(f'<text class="small" x="{x:.1f}" y="{bottom + 14:.1f}">{edge:g}</text>')
    label = (
        f"{name.replace('_', ' ').capitalize()} in {table['unit']}: data, and the simulation "
        "object in orange"
    )
    parts.append(
        f'<text class="small" x="{MARGIN:g}" y="{bottom + 32:.1f}">they overlap by '
        f"{table['overlap']:.0%}</text>"
    )
    return make_picture(f"histogram {name}", label, parts)


def _draw_poses(database: Database, poses: PoseMap, name: str) -> str:
    frames = sample_evenly(np.arange(database.frame_count), MAX_POSES)
    positions = getattr(poses, name)[frames]
    room = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2.5 * MARGIN])
    scale = float((room / np.maximum(np.ptp(positions, axis=0), 1e-6)).min())
    x, y = (MARGIN + scale * (positions - positions.min(axis=0))).T
    speeds = np.linalg.norm(database.root_motion[frames, :2], axis=1)
    dots = []
    for frame, colour, a, b in zip(
        frames.tolist(), _format_colours(speeds), x.tolist(), y.tolist(), strict=True
    ):
        source = database.get_frame_source(frame)
        dots.append(
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2" '
            f'fill="{colour}"><title>{escape(source.clip)}:{source.frame}'
            f"</title></circle>"
        )
    by = "dissimilarity" if name == "mds" else "principal components"
    return make_picture(f"poses {name}", f"Poses by {by}, stress {poses.stress[name]:.2f}", dots)
