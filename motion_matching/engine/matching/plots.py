"""Pictures of what a database holds, as one SVG file: strands, coverage, histograms and maps of poses.

Strands are the trajectories of the simulation bone over a second, from one point and facing up, coloured by speed ("Code
vs Data Driven Displacement", section "Simulation Bone").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from .. import files
from ..errors import SettingsError
from . import strands
from .coverage import SPEED_EDGES, TURN_EDGES, Coverage
from .database import Database
from .pose_map import PoseMap

Array = np.ndarray
METRE = 60.0  # units of the picture
MOST_STRANDS, MOST_POSES = 800, 2000
_WIDTH, _HEIGHT, _MARGIN = 560.0, 520.0, 50.0
_STYLE = ("text{font:12px sans-serif;fill:#222}.big{font-size:15px;font-weight:bold}.small{font-size:10px}"
          "polyline{fill:none;stroke-width:1;opacity:.5}.hole{fill:none;stroke:#d33;stroke-width:2}"
          ".data{fill:#3b6ea8}.simulation{fill:none;stroke:#e08a1e;stroke-width:2}")


def save(
    database: Database, covered: Coverage, tables: dict[str, dict[str, Any]], poses: PoseMap, path: Path | str
) -> None:
    """Write the pictures of a database, with what was measured of it; SettingsError where that fails."""
    pictures = [_strands(database), _map(covered), *(_poses(database, poses, name) for name in ("mds", "pca")),
                *(_histogram(name, table) for name, table in tables.items())]
    write(pictures, path)


def write(pictures: Sequence[str], path: Path | str) -> None:
    """Write pictures as one file, two in a row; SettingsError where that fails."""
    columns = min(len(pictures), 2)
    rows = -(-len(pictures) // columns)
    body = [
        f'<g transform="translate({_WIDTH * (k % columns):g} {_HEIGHT * (k // columns):g})">{picture}</g>'
        for k, picture in enumerate(pictures)
    ]
    size = f"{columns * _WIDTH:g} {rows * _HEIGHT:g}"
    text = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{columns * _WIDTH:g}">'
            f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>{"".join(body)}</svg>\n')
    with files.replacing(path, SettingsError) as temporary:
        temporary.write_text(text, encoding="utf-8")


def picture(name: str, title: str, parts: Iterable[str]) -> str:
    """One of them, of 560 by 520 units."""
    return f'<text class="big" x="{_MARGIN:g}" y="28">{escape(title)}</text><g id="{name}">{"".join(parts)}</g>'


def _colours(speeds: Array) -> list[str]:
    rgb = (255.0 * strands.colours(speeds)).round().astype(int)
    return ["#{:02x}{:02x}{:02x}".format(*colour) for colour in rgb.tolist()]


def _strands(database: Database) -> str:
    found = strands.of_database(database, MOST_STRANDS)
    left, ahead = found.ways[..., 0], found.ways[..., 1]
    scale = min(METRE, 0.5 * (_HEIGHT - 2 * _MARGIN) / max(found.reach, 1.0))
    x, y = 0.5 * _WIDTH - scale * left, 0.5 * _HEIGHT - scale * ahead
    lines = [
        f'<polyline stroke="{colour}" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in zip(*line, strict=True))}"/>'
        for colour, *line in zip(_colours(found.speeds), x.tolist(), y.tolist(), strict=True)
    ]
    rule = (f'<line x1="{_MARGIN:g}" y1="{_HEIGHT - 20:g}" x2="{_MARGIN + scale:g}" y2="{_HEIGHT - 20:g}" stroke="#222"/>'
            f'<text class="small" x="{_MARGIN:g}" y="{_HEIGHT - 24:g}">1 m; dark stands, light goes {strands.FASTEST:g} m/s'
            f'</text>')
    return picture("strands", f"Where {len(found.ways)} frames lead within a second, facing up", [*lines, rule])


def _map(covered: Coverage) -> str:
    shown = 1 + int(np.flatnonzero((covered.frames > 0).any(axis=1) | covered.holes.any(axis=1)).max(initial=0))
    columns = covered.frames.shape[1]
    width, height = (_WIDTH - 1.5 * _MARGIN) / columns, (_HEIGHT - 2.4 * _MARGIN) / shown
    most = np.log1p(covered.frames.max(initial=1))
    parts = []
    for row in range(shown):
        y = _HEIGHT - 1.2 * _MARGIN - (row + 1) * height
        parts.append(f'<text class="small" x="8" y="{y + height:.1f}">{SPEED_EDGES[row]:g} m/s</text>')
        for column in range(columns):
            x = _MARGIN + (columns - 1 - column) * width
            place = f'x="{x:.1f}" y="{y:.1f}" width="{width - 1:.1f}" height="{height - 1:.1f}"'
            count = int(covered.frames[row, column])
            if count:
                shade = 235 - int(170 * np.log1p(count) / most)
                fill = f'fill="rgb({shade},{shade},255)"'
                parts.append(f'<rect class="cell" {place} {fill}><title>{count} frames</title></rect>')
            if covered.holes[row, column]:
                parts.append(f'<rect class="hole" {place}><title>{count} frames, wanted for '
                             f'{100 * covered.wanted[row, column]:.1f} % of the time</title></rect>')
    turns = np.degrees(TURN_EDGES[:-1] + TURN_EDGES[1:]) / 2
    parts += [f'<text class="small" x="{_MARGIN + (columns - 1 - k) * width:.1f}" y="{_HEIGHT - 40:g}">{turn:+.0f}</text>'
              for k, turn in enumerate(turns)]
    parts.append(f'<text class="small" x="{_MARGIN:g}" y="{_HEIGHT - 24:g}">°/s, + to the left; red: a hole</text>')
    return picture("coverage", "Frames by speed and turn rate over a second", parts)


def _histogram(name: str, table: dict[str, Any]) -> str:
    edges, most = table["edges"], max(*table["data"], *table["simulation"], 1e-6)
    width, height = (_WIDTH - 2 * _MARGIN) / (len(edges) - 1), _HEIGHT - 3 * _MARGIN
    bottom = _HEIGHT - 1.4 * _MARGIN
    parts = []
    for k, edge in enumerate(edges[:-1]):
        x = _MARGIN + k * width
        for kind in ("data", "simulation"):
            tall = height * table[kind][k] / most
            parts.append(f'<rect class="{kind}" x="{x + 1:.1f}" y="{bottom - tall:.1f}" width="{width - 2:.1f}" '
                         f'height="{tall:.1f}"><title>{kind} {100 * table[kind][k]:.1f} %</title></rect>')
        parts.append(f'<text class="small" x="{x:.1f}" y="{bottom + 14:.1f}">{edge:g}</text>')
    label = f"{name.replace('_', ' ').capitalize()} in {table['unit']}: data, and the simulation object in orange"
    parts.append(f'<text class="small" x="{_MARGIN:g}" y="{bottom + 32:.1f}">they overlap by {table["overlap"]:.0%}</text>')
    return picture(f"histogram {name}", label, parts)


def _poses(database: Database, poses: PoseMap, name: str) -> str:
    frames = np.arange(0, database.frame_count, max(-(-database.frame_count // MOST_POSES), 1))
    places = getattr(poses, name)[frames]
    room = np.array([_WIDTH - 2 * _MARGIN, _HEIGHT - 2.5 * _MARGIN])
    scale = float((room / np.maximum(np.ptp(places, axis=0), 1e-6)).min())
    x, y = (_MARGIN + scale * (places - places.min(axis=0))).T
    speeds = np.linalg.norm(database.root_motion[frames, :2], axis=1)
    dots = []
    for frame, colour, a, b in zip(frames.tolist(), _colours(speeds), x.tolist(), y.tolist(), strict=True):
        source = database.source_of(frame)
        dots.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2" fill="{colour}"><title>{escape(source.clip)}:{source.frame}'
                    f'</title></circle>')
    by = "dissimilarity" if name == "mds" else "principal components"
    return picture(f"poses {name}", f"Poses by {by}, stress {poses.stress[name]:.2f}", dots)
