"""What the data covers of what the controller asks for: a map of speed and turn rate, its holes, and histograms.

Motion of the data and of the simulation object are measured alike and laid over each other ("Code vs Data Driven
Displacement", section "Simulation Bone": where they overlap, there is a good chance of a good match). For the map,
both are averaged over a second, as the article's strands last: hips swing with each stride, simulation objects do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..control import scripts
from ..control.rollout import simulate
from ..control.settings import WALK_TO_RUN, PerformerSettings
from .database import Database
from .statistics import speeds_not_in_data

Array = np.ndarray
WINDOW = 1.0  # seconds
# cells are half a metre per second by 30 degrees per second, straight on in the middle; the last ones are open
SPEED_EDGES = np.arange(0.0, 8.1, 0.5)
TURN_EDGES = np.radians(np.arange(-195.0, 196.0, 30.0))
FEW = 10  # frames, below which a cell is a hole if the controller leads there
_LED = 1e-3  # part of its time that the controller must spend in a cell to lead there
_STANDING = 0.5  # m/s: the slowest row
_MOST_TOLD = 8
_HISTOGRAMS = {  # unit, edges; the last bin is open
    "speed": ("m/s", np.arange(0.0, 6.1, 0.5)),
    "acceleration": ("m/s²", np.arange(0.0, 24.1, 2.0)),
    "turn_rate": ("°/s", np.arange(0.0, 361.0, 30.0)),
}


@dataclass(frozen=True)
class Motion:
    """Motion on the ground at each frame (F,): speed, acceleration and turn rate, to the left positive.

    In metres, radians and seconds; `mean_speed` and `mean_turn_rate` are averaged over the second around the frame.
    """

    speed: Array
    acceleration: Array
    turn_rate: Array
    mean_speed: Array
    mean_turn_rate: Array

    @staticmethod
    def joined(motions: Iterable[Motion]) -> Motion:
        """All frames of some motions."""
        speed, acceleration, turn_rate, *means = zip(
            *(vars(m).values() for m in motions), strict=True
        )
        return Motion(*map(np.concatenate, (speed, acceleration, turn_rate, *means)))

    def of(self, frames: Array | slice) -> Motion:
        """The motion at some frames."""
        return Motion(*(values[frames] for values in vars(self).values()))


def motion_of_track(track: Array, fps: float) -> Motion:
    """The motion along a track (F, 3) of x, y and yaw, of three frames or more."""
    from scipy.ndimage import uniform_filter1d

    velocity = np.gradient(track[:, :2], 1.0 / fps, axis=0)
    speed, turn_rate = np.linalg.norm(velocity, axis=1), np.gradient(track[:, 2], 1.0 / fps)
    acceleration = np.linalg.norm(np.gradient(velocity, 1.0 / fps, axis=0), axis=1)
    size = min(2 * int(0.5 * WINDOW * fps) + 1, len(track))
    means = (uniform_filter1d(values, size, mode="nearest") for values in (speed, turn_rate))
    return Motion(speed, acceleration, turn_rate, *means)


def motion_of(database: Database) -> Motion:
    """The motion of all frames that may be played, each range by itself."""
    ranges = zip(database.starts, database.stops, strict=True)
    return motion_of_tracks((database.track[a:b] for a, b in ranges), database.fps).of(
        database.used
    )


def wanted_tracks(settings: PerformerSettings, fps: float) -> Iterator[Array]:
    """Where speeds and halflives lead the simulation object, tracks (F, 3) of x, y and yaw: all scripts at both gaits, the
    random one the longest."""
    for gait in scripts.GAITS if settings.run != settings.walk else ("walk",):
        for name in scripts.NAMES:
            seconds = 300.0 if name == "random" else 40.0
            script = scripts.script(name, seconds, fps, settings.walk, settings.run, gait=gait)
            yield simulate(script, settings, fps)


def motion_of_tracks(tracks: Iterable[Array], fps: float) -> Motion:
    """The motion along tracks (F, 3), each by itself."""
    return Motion.joined(motion_of_track(track, fps) for track in tracks)


def frames_in_cells(motion: Motion) -> Array:
    """How many frames lie in each cell (speeds, turns); what lies beyond the map is in its last cells."""
    speed = np.clip(motion.mean_speed, 0.0, SPEED_EDGES[-1] - 1e-6)
    turn = np.clip(motion.mean_turn_rate, TURN_EDGES[0], TURN_EDGES[-1] - 1e-6)
    row, column = (
        np.searchsorted(e, v, "right") - 1 for e, v in ((SPEED_EDGES, speed), (TURN_EDGES, turn))
    )
    shape = len(SPEED_EDGES) - 1, len(TURN_EDGES) - 1
    return np.bincount(row * shape[1] + column, minlength=shape[0] * shape[1]).reshape(shape)


@dataclass(frozen=True)
class Coverage:
    """Cells (speeds, turns): how many `frames` the data has there, and which part of its time is `wanted` there."""

    frames: Array
    wanted: Array

    @property
    def holes(self) -> Array:
        """Cells that the controller leads to and that have fewer than ten frames."""
        return (self.wanted >= _LED) & (self.frames < FEW)

    @property
    def rows_shown(self) -> int:
        """How many speeds a picture needs, from standing on to the fastest that is there or asked for."""
        return 1 + int(
            np.flatnonzero((self.frames > 0).any(axis=1) | self.holes.any(axis=1)).max(initial=0)
        )

    def to_capture(self) -> list[str]:
        """What to capture next, a sentence each, the most wanted first."""
        lacking = []
        for row in range(len(self.frames)):
            for cells, sides in _stretches(self.holes[row]):
                part, there = (
                    float(self.wanted[row, cells].sum()),
                    int(self.frames[row, cells].sum()),
                )
                lacking.append(
                    (
                        part,
                        f"{_movement(row)}{_turning(cells, sides)}: {there} frames, and the controller leads "
                        f"there for {100 * part:.1f} % of its time",
                    )
                )
        return [text for _, text in sorted(lacking, key=lambda hole: -hole[0])]

    def to_dict(self) -> dict[str, Any]:
        """As JSON data; edges in m/s and rad/s, turns to the left positive."""
        return {
            "averaged_over": WINDOW,
            "speed_edges": SPEED_EDGES.tolist(),
            "turn_edges": TURN_EDGES.round(6).tolist(),
            "frames": self.frames.tolist(),
            "wanted": self.wanted.round(5).tolist(),
            "holes": self.holes.tolist(),
        }


def cover(database: Database, wanted: Motion) -> Coverage:
    """How the data covers what is wanted."""
    frames = frames_in_cells(wanted)
    return Coverage(frames_in_cells(motion_of(database)), frames / frames.sum())


def _stretches(holes: Array) -> list[tuple[list[int], str]]:
    """The cells of holes (turns,) that lie beside each other, straight on, or as far to the left, the right or both."""
    middle = len(holes) // 2
    left, right = holes[middle + 1 :], holes[:middle][::-1]
    stretches = [([middle], "")] if holes[middle] else []
    for mask, sides in (
        (left & right, "left or right"),
        (left & ~right, "left"),
        (right & ~left, "right"),
    ):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
        for a, b in edges.reshape(-1, 2).tolist():
            away = range(a + 1, b + 1)
            cells = [middle + k for k in away if "left" in sides] + [
                middle - k for k in away if "right" in sides
            ]
            stretches.append((cells, sides))
    return stretches


def _movement(row: int) -> str:
    low, high = SPEED_EDGES[row], SPEED_EDGES[row + 1]
    if high <= _STANDING:
        return "Standing"
    gait = "Walking" if high <= WALK_TO_RUN + 0.5 else "Running"
    return (
        f"{gait} faster than {low:g} m/s"
        if row == len(SPEED_EDGES) - 2
        else f"{gait} at {low:g} to {high:g} m/s"
    )


def _turning(cells: list[int], sides: str) -> str:
    if not sides:
        return " straight on"
    rates = np.degrees(np.abs(np.concatenate([TURN_EDGES[cells], TURN_EDGES[np.array(cells) + 1]])))
    low, high = round(float(rates.min())), round(float(rates.max()))
    rate = (
        f"faster than {low}"
        if high >= round(float(np.degrees(TURN_EDGES[-1])))
        else f"at {low} to {high}"
    )
    return f" while turning {sides} {rate}°/s"


def histograms(data: Motion, simulation: Motion) -> dict[str, dict[str, Any]]:
    """Histograms of speed, acceleration and absolute turn rate as parts of all frames, and how far they overlap."""
    tables = {}
    for name, (unit, edges) in _HISTOGRAMS.items():
        scale = np.degrees(1.0) if unit == "°/s" else 1.0
        parts = []
        for motion in (data, simulation):
            values = np.minimum(np.abs(getattr(motion, name)) * scale, edges[-1] - 1e-6)
            parts.append(np.histogram(values, edges)[0] / max(len(values), 1))
        tables[name] = {
            "unit": unit,
            "edges": edges.tolist(),
            "data": parts[0].round(5).tolist(),
            "simulation": parts[1].round(5).tolist(),
            "overlap": round(float(np.minimum(*parts).sum()), 5),
        }
    return tables


# ---------------------------------------------------------------- for people


def describe(covered: Coverage, tables: dict[str, dict[str, Any]], lacking: list[str]) -> str:
    """Map, histograms and what to capture next as text."""
    more = [f"  and {len(lacking) - _MOST_TOLD} more"] if len(lacking) > _MOST_TOLD else []
    missing = [f"  {text}" for text in lacking[:_MOST_TOLD]] or [
        "  nothing that the controller asks for is missing"
    ]
    return "\n".join(
        [*_map_lines(covered), *_histogram_lines(tables), "what to capture next:", *missing, *more]
    )


def _map_lines(covered: Coverage) -> list[str]:
    turns = np.degrees(TURN_EDGES[:-1] + TURN_EDGES[1:]).round().astype(int) // 2
    lines = [
        f"frames by speed in m/s (down) and turn rate in °/s (across, + to the left), averaged over {WINDOW:g} s;",
        f"! is a hole, fewer than {FEW} frames where the controller leads:",
        " " * 10 + "".join(f"{turn:+6d} " for turn in turns[::-1]).rstrip(),
    ]
    for row in range(covered.rows_shown):
        cells = zip(covered.frames[row, ::-1], covered.holes[row, ::-1], strict=True)
        text = "".join(
            f"{count or ('0' if hole else '.'):>6}{'!' if hole else ' '}" for count, hole in cells
        )
        lines.append(f"  {SPEED_EDGES[row]:.1f}-{SPEED_EDGES[row + 1]:.1f} {text}".rstrip())
    return lines


def _histogram_lines(tables: dict[str, dict[str, Any]]) -> list[str]:
    lines = []
    for name, table in tables.items():
        sides = ("data", "simulation")
        shown = 1 + max(k for side in sides for k, part in enumerate(table[side]) if part >= 0.0005)
        label = f"{name.replace('_', ' ')} in {table['unit']}"
        lines += [
            f"{label}; data and simulation object overlap by {table['overlap']:.0%}:",
            "  from        " + "".join(f"{edge:7g}" for edge in table["edges"][:shown]),
        ]
        lines += [
            f"  {side:12s}" + "".join(f"{100 * part:6.1f}%" for part in table[side][:shown])
            for side in sides
        ]
    return lines


def to_capture(database: Database, settings: PerformerSettings, covered: Coverage) -> list[str]:
    """What to capture next: holes of the map, and directions in which the data does not reach the speeds of settings."""
    gaits = {"Walking": settings.walk} | (
        {"Running": settings.run} if settings.run != settings.walk else {}
    )
    ways = {"forward": "forward", "side": "to the side", "back": "back"}
    slow = [
        f"{gait} {ways[lacking['direction']]} at {lacking['wanted']:g} m/s: the data reaches {lacking['found']:g}"
        for gait, speeds in gaits.items()
        for lacking in speeds_not_in_data(database, speeds)
    ]
    return slow + covered.to_capture()
