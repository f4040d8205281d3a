"""Pictures of what a database holds, as one SVG file: strands, coverage with what it lacks, histograms, maps of poses.

Strands are the trajectories of the simulation bone over a second, from one point and facing up, coloured by speed, beside
those of the simulation object ("Code vs Data Driven Displacement", section "Simulation Bone").
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ..pictures import HEIGHT, MARGIN, WIDTH, picture, write
from . import strands
from .coverage import SPEED_EDGES, TURN_EDGES, Coverage
from .database import Database
from .inspection import Inspection
from .pose_map import PoseMap

Array = np.ndarray
METRE = 60.0  # units of the picture
MOST_STRANDS, MOST_POSES = 800, 2000
_LETTERS = 80  # in a line of what to capture next


def save(database: Database, found: Inspection, poses: PoseMap, path: Path | str) -> None:
    """Write the pictures of a database, with what was measured of it; SettingsError where that fails."""
    write(
        [
            *_both_strands(database, found.tracks),
            _map(found.covered),
            _to_capture(found.data["to_capture"]),
            *(_histogram(name, table) for name, table in found.histograms.items()),
            *(_poses(database, poses, name) for name in ("mds", "pca")),
        ],
        path,
    )


def _colours(speeds: Array) -> list[str]:
    rgb = (255.0 * strands.colours(speeds)).round().astype(int)
    return ["#{:02x}{:02x}{:02x}".format(*colour) for colour in rgb.tolist()]


def _both_strands(database: Database, tracks: Sequence[Array]) -> tuple[str, str]:
    """Strands of the data and of the simulation object, at one scale: what it asks for beyond them cannot be matched."""
    data = strands.of_database(database, MOST_STRANDS)
    simulation = strands.of_tracks(tracks, database.fps, MOST_STRANDS)
    scale = min(METRE, 0.5 * (HEIGHT - 2 * MARGIN) / max(data.reach, simulation.reach, 1.0))
    return (
        _strands(
            "strands", f"Where {len(data.ways)} frames lead within a second, facing up", data, scale
        ),
        _strands(
            "strands of the simulation object",
            "Where the simulation object leads within a second",
            simulation,
            scale,
        ),
    )


def _strands(name: str, title: str, found: strands.Strands, scale: float) -> str:
    left, ahead = found.ways[..., 0], found.ways[..., 1]
    x, y = 0.5 * WIDTH - scale * left, 0.5 * HEIGHT - scale * ahead
    lines = [
        f'<polyline stroke="{colour}" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in zip(*line, strict=True))}"/>'
        for colour, *line in zip(_colours(found.speeds), x.tolist(), y.tolist(), strict=True)
    ]
    rule = (
        f'<line x1="{MARGIN:g}" y1="{HEIGHT - 20:g}" x2="{MARGIN + scale:g}" y2="{HEIGHT - 20:g}" stroke="#222"/>'
        f'<text class="small" x="{MARGIN:g}" y="{HEIGHT - 24:g}">1 m; dark stands, light goes {strands.FASTEST:g} m/s'
        f"</text>"
    )
    return picture(name, title, [*lines, rule])


def _map(covered: Coverage) -> str:
    shown = covered.rows_shown
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
            place = f'x="{x:.1f}" y="{y:.1f}" width="{width - 1:.1f}" height="{height - 1:.1f}"'
            count = int(covered.frames[row, column])
            if count:
                shade = 235 - int(170 * np.log1p(count) / most)
                fill = f'fill="rgb({shade},{shade},255)"'
                parts.append(
                    f'<rect class="cell" {place} {fill}><title>{count} frames</title></rect>'
                )
            if covered.holes[row, column]:
                parts.append(
                    f'<rect class="hole" {place}><title>{count} frames, wanted for '
                    f"{100 * covered.wanted[row, column]:.1f} % of the time</title></rect>"
                )
    turns = np.degrees(TURN_EDGES[:-1] + TURN_EDGES[1:]) / 2
    parts += [
        f'<text class="small" x="{MARGIN + (columns - 1 - k) * width:.1f}" y="{HEIGHT - 40:g}">{turn:+.0f}</text>'
        for k, turn in enumerate(turns)
    ]
    parts.append(
        f'<text class="small" x="{MARGIN:g}" y="{HEIGHT - 24:g}">°/s, + to the left; red: a hole</text>'
    )
    return picture("coverage", "Frames by speed and turn rate over a second", parts)


def _to_capture(lacking: Sequence[str]) -> str:
    """The written list, all of it: the longer, the smaller."""
    lines = [
        line
        for text in lacking or ["nothing that is asked for is missing"]
        for line in textwrap.wrap(
            text, _LETTERS, initial_indent="\N{BULLET} ", subsequent_indent="\N{FIGURE SPACE} "
        )
    ]
    step = min((HEIGHT - 2.4 * MARGIN) / len(lines), 15.0)
    parts = [
        f'<text style="font-size:{0.75 * step:.1f}px" x="{MARGIN:g}" y="{1.2 * MARGIN + k * step:.1f}">{escape(line)}'
        "</text>"
        for k, line in enumerate(lines)
    ]
    return picture("to capture", "What to capture next", parts)


def _histogram(name: str, table: dict[str, Any]) -> str:
    edges, most = table["edges"], max(*table["data"], *table["simulation"], 1e-6)
    width, height = (WIDTH - 2 * MARGIN) / (len(edges) - 1), HEIGHT - 3 * MARGIN
    bottom = HEIGHT - 1.4 * MARGIN
    parts = []
    for k, edge in enumerate(edges[:-1]):
        x = MARGIN + k * width
        for kind in ("data", "simulation"):
            tall = height * table[kind][k] / most
            parts.append(
                f'<rect class="{kind}" x="{x + 1:.1f}" y="{bottom - tall:.1f}" width="{width - 2:.1f}" '
                f'height="{tall:.1f}"><title>{kind} {100 * table[kind][k]:.1f} %</title></rect>'
            )
        parts.append(f'<text class="small" x="{x:.1f}" y="{bottom + 14:.1f}">{edge:g}</text>')
    label = f"{name.replace('_', ' ').capitalize()} in {table['unit']}: data, and the simulation object in orange"
    parts.append(
        f'<text class="small" x="{MARGIN:g}" y="{bottom + 32:.1f}">they overlap by {table["overlap"]:.0%}</text>'
    )
    return picture(f"histogram {name}", label, parts)


def _poses(database: Database, poses: PoseMap, name: str) -> str:
    frames = np.arange(0, database.frame_count, max(-(-database.frame_count // MOST_POSES), 1))
    places = getattr(poses, name)[frames]
    room = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2.5 * MARGIN])
    scale = float((room / np.maximum(np.ptp(places, axis=0), 1e-6)).min())
    x, y = (MARGIN + scale * (places - places.min(axis=0))).T
    speeds = np.linalg.norm(database.root_motion[frames, :2], axis=1)
    dots = []
    for frame, colour, a, b in zip(
        frames.tolist(), _colours(speeds), x.tolist(), y.tolist(), strict=True
    ):
        source = database.source_of(frame)
        dots.append(
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2" fill="{colour}"><title>{escape(source.clip)}:{source.frame}'
            f"</title></circle>"
        )
    by = "dissimilarity" if name == "mds" else "principal components"
    return picture(f"poses {name}", f"Poses by {by}, stress {poses.stress[name]:.2f}", dots)
