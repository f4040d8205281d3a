"""Measure how the data covers the controller's requests: a map, its holes, and histograms.

Motion of the data and of the simulation object is measured in the same way and compared ("Code vs
Data Driven Displacement", section "Simulation Bone": where they overlap, there is a good chance of
a good match). For the map of speed and turn rate both are averaged over a second, as long as the
article's strands: hips swing with each stride, simulation objects do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...control.rollout import simulate
from ...database.database import Database
from ...database.statistics import find_missing_speeds
from ...maths.along_time import find_runs
from ...performance import scripts
from ...performance.settings import WALK_TO_RUN, PerformerSettings
from ..numbers import NUMBERS

Array = np.ndarray
WINDOW = NUMBERS.coverage_window
SPEED_EDGES = np.arange(*NUMBERS.speed_cells)
TURN_EDGES = np.radians(np.arange(*NUMBERS.turn_cells))
MIN_CELL_FRAMES = NUMBERS.cell_frames
_HISTOGRAMS = {  # unit, edges; the last bin is open
    "speed": ("m/s", np.arange(*NUMBERS.speed_bins)),
    "acceleration": ("m/s²", np.arange(*NUMBERS.acceleration_bins)),
    "turn_rate": ("°/s", np.arange(*NUMBERS.turn_bins)),
}


@dataclass(frozen=True)
class GroundMotion:
    """Motion on the ground at each frame (F,): speed, acceleration and turn rate, left positive.

    In metres, radians and seconds; means are over the second around the frame.
    """

    speed: Array
    acceleration: Array
    turn_rate: Array
    mean_speed: Array
    mean_turn_rate: Array

    @staticmethod
    def concatenate(motions: Iterable[GroundMotion]) -> GroundMotion:
        """Return all frames of several motions."""
        columns = zip(*(vars(motion).values() for motion in motions), strict=True)
        return GroundMotion(*map(np.concatenate, columns))

    def select(self, frames: Array | slice) -> GroundMotion:
        """Return the motion at some frames."""
        return GroundMotion(*(values[frames] for values in vars(self).values()))


def measure_track(track: Array, fps: float) -> GroundMotion:
    """Measure the motion along a track (F, 3) of x, y and yaw with three frames or more."""
    from scipy.ndimage import uniform_filter1d  # panels draw a coverage without scipy

    velocity = np.gradient(track[:, :2], 1.0 / fps, axis=0)
    speed = np.linalg.norm(velocity, axis=1)
    turn_rate = np.gradient(track[:, 2], 1.0 / fps)
    acceleration = np.linalg.norm(np.gradient(velocity, 1.0 / fps, axis=0), axis=1)
    size = min(2 * int(0.5 * WINDOW * fps) + 1, len(track))
    means = (uniform_filter1d(values, size, mode="nearest") for values in (speed, turn_rate))
    return GroundMotion(speed, acceleration, turn_rate, *means)


def measure_database(database: Database) -> GroundMotion:
    """Measure the motion of all playable frames, each range by itself."""
    ranges = zip(database.starts, database.stops, strict=True)
    motion = measure_tracks((database.track[a:b] for a, b in ranges), database.fps)
    return motion.select(database.playable)


def simulate_tracks(settings: PerformerSettings, fps: float) -> Iterator[Array]:
    """Yield tracks (F, 3) of x, y, yaw of the simulation object for scripts at both gaits."""
    speeds = settings.steering.walk, settings.steering.run
    for gait in scripts.GAITS if settings.steering.can_run else ("walk",):
        for name in scripts.UNDISTURBED:
            seconds = 300.0 if name == "random" else 40.0
            script = scripts.build_script(name, seconds, fps, *speeds, gait=gait)
            yield simulate(script, settings, fps)


def measure_tracks(tracks: Iterable[Array], fps: float) -> GroundMotion:
    """Measure the motion along tracks (F, 3), each by itself."""
    return GroundMotion.concatenate(measure_track(track, fps) for track in tracks)


def count_cell_frames(motion: GroundMotion) -> Array:
    """Count the frames in each cell (speeds, turns); the last cells are open."""
    speed = np.clip(motion.mean_speed, 0.0, SPEED_EDGES[-1] - 1e-6)
    turn = np.clip(motion.mean_turn_rate, TURN_EDGES[0], TURN_EDGES[-1] - 1e-6)
    return np.histogramdd((speed, turn), (SPEED_EDGES, TURN_EDGES))[0].astype(int)


@dataclass(frozen=True)
class Coverage:
    """Cells (speeds, turns): `frames` of the data, and `demand`, the controller's share of time."""

    frames: Array
    demand: Array

    @property
    def holes(self) -> Array:
        """Cells that the controller visits with fewer than ten frames of data."""
        return (self.demand >= NUMBERS.least_demand) & (self.frames < MIN_CELL_FRAMES)

    @property
    def visible_row_count(self) -> int:
        """Number of speeds a picture needs, from standing to the fastest in data or demand."""
        visible = (self.frames > 0).any(axis=1) | self.holes.any(axis=1)
        return 1 + int(np.flatnonzero(visible).max(initial=0))

    def suggest_captures(self) -> list[str]:
        """Suggest what to capture next, a sentence each, the highest demand first."""
        captures = []
        for row, holes in enumerate(self.holes):
            for cells, sides in _group_holes(holes):
                share = self.demand[row, cells].sum()
                there = self.frames[row, cells].sum()
                movement = _describe_movement(row) + _describe_turning(row, cells, sides)
                time = f"the controller spends {100 * share:.1f} % of its time there"
                captures.append((share, f"{movement}: {there} frames, and {time}"))
        return [text for _, text in sorted(captures, key=lambda hole: -hole[0])]

    def to_dict(self) -> dict[str, Any]:
        """Return the map as JSON data; edges in m/s and rad/s, turns to the left positive."""
        return {
            "averaged_over": WINDOW,
            "speed_edges": SPEED_EDGES.tolist(),
            "turn_edges": TURN_EDGES.round(6).tolist(),
            "frames": self.frames.tolist(),
            "wanted": self.demand.round(5).tolist(),
            "holes": self.holes.tolist(),
        }


def measure_coverage(data: GroundMotion, demand: GroundMotion) -> Coverage:
    """Measure how the motion of data covers a demand."""
    frames = count_cell_frames(demand)
    return Coverage(count_cell_frames(data), frames / frames.sum())


def _group_holes(holes: Array) -> list[tuple[list[int], str]]:
    """Group adjacent holes (turns,): straight on, left, right, or both."""
    middle = len(holes) // 2
    left, right = holes[middle + 1 :], holes[:middle][::-1]
    groups = [([middle], "")] if holes[middle] else []
    for sides, signs, mask in (
        ("left or right", (1, -1), left & right),
        ("left", (1,), left & ~right),
        ("right", (-1,), right & ~left),
    ):
        for a, b in find_runs(mask).tolist():
            cells = [middle + sign * k for sign in signs for k in range(a + 1, b + 1)]
            groups.append((cells, sides))
    return groups


def _describe_movement(row: int) -> str:
    low, high = SPEED_EDGES[row], SPEED_EDGES[row + 1]
    if high <= NUMBERS.standing_speed:
        return "Standing"
    gait = "Walking" if high <= WALK_TO_RUN + 0.5 else "Running"
    is_open = row == len(SPEED_EDGES) - 2
    return f"{gait} faster than {low:g} m/s" if is_open else f"{gait} at {low:g} to {high:g} m/s"


def _describe_turning(row: int, cells: list[int], sides: str) -> str:
    if not sides:
        return (
            " straight on" if SPEED_EDGES[row + 1] > NUMBERS.standing_speed else " without turning"
        )
    edges = np.array([TURN_EDGES[cells], TURN_EDGES[np.array(cells) + 1]])
    rates = np.degrees(np.abs(edges)).round().astype(int)
    low, high = rates.min(), rates.max()
    is_open = high >= round(float(np.degrees(TURN_EDGES[-1])))
    rate = f"faster than {low}" if is_open else f"at {low} to {high}"
    return f" while turning {sides} {rate}°/s"


def compute_histograms(data: GroundMotion, simulation: GroundMotion) -> dict[str, dict[str, Any]]:
    """Return histograms of speed, acceleration and turn rate in shares, and their overlap."""
    tables = {}
    for name, (unit, edges) in _HISTOGRAMS.items():
        scale = np.degrees(1.0) if unit == "°/s" else 1.0
        shares = []
        for motion in (data, simulation):
            values = np.minimum(np.abs(getattr(motion, name)) * scale, edges[-1] - 1e-6)
            shares.append(np.histogram(values, edges)[0] / max(len(values), 1))
        tables[name] = {
            "unit": unit,
            "edges": edges.tolist(),
            "data": shares[0].round(5).tolist(),
            "simulation": shares[1].round(5).tolist(),
            "overlap": round(float(np.minimum(*shares).sum()), 5),
        }
    return tables


# ---------------------------------------------------------------- for people


def describe(covered: Coverage, tables: dict[str, dict[str, Any]], captures: list[str]) -> str:
    """Return map, histograms and what to capture next as text."""
    listed = captures[: NUMBERS.holes_listed] or ["nothing that the controller asks for is missing"]
    if len(captures) > NUMBERS.holes_listed:
        listed.append(f"and {len(captures) - NUMBERS.holes_listed} more")
    lines = [*_format_map(covered), *_format_histograms(tables), "what to capture next:"]
    return "\n".join([*lines, *(f"  {text}" for text in listed)])


def _format_map(covered: Coverage) -> list[str]:
    turns = np.degrees(TURN_EDGES[:-1] + TURN_EDGES[1:]).round().astype(int) // 2
    lines = [
        "frames by speed in m/s (down) and turn rate in °/s (across, + to the left), averaged "
        f"over {WINDOW:g} s;",
        f"! marks a hole, fewer than {MIN_CELL_FRAMES} frames where the controller leads:",
        " " * 10 + "".join(f"{turn:+6d} " for turn in turns[::-1]).rstrip(),
    ]
    for row in range(covered.visible_row_count):
        cells = zip(covered.frames[row, ::-1], covered.holes[row, ::-1], strict=True)
        text = "".join(
            f"{count or ('0' if hole else '.'):>6}{'!' if hole else ' '}" for count, hole in cells
        )
        lines.append(f"  {SPEED_EDGES[row]:.1f}-{SPEED_EDGES[row + 1]:.1f} {text}".rstrip())
    return lines


def _format_histograms(tables: dict[str, dict[str, Any]]) -> list[str]:
    lines = []
    for name, table in tables.items():
        shares = {side: table[side] for side in ("data", "simulation")}
        visible = np.any([np.array(row) >= 0.0005 for row in shares.values()], axis=0)
        columns = 1 + int(np.flatnonzero(visible).max())
        label = f"{name.replace('_', ' ')} in {table['unit']}"
        lines += [
            f"{label}; data and simulation object overlap by {table['overlap']:.0%}:",
            "  from        " + "".join(f"{edge:7g}" for edge in table["edges"][:columns]),
        ]
        for side, row in shares.items():
            parts = "".join(f"{100 * part:6.1f}%" for part in row[:columns])
            lines.append(f"  {side:12s}{parts}")
    return lines


def suggest_captures(
    database: Database, settings: PerformerSettings, covered: Coverage
) -> list[str]:
    """Suggest what to capture next: directions slower than the settings, and holes of the map."""
    gaits = {"Walking": settings.steering.walk}
    if settings.steering.can_run:
        gaits["Running"] = settings.steering.run
    directions = {"forward": "forward", "side": "to the side", "back": "back"}
    slow = [
        f"{gait} {directions[missing['direction']]} at {missing['wanted']:g} m/s: the data "
        f"reaches {missing['found']:g}"
        for gait, speeds in gaits.items()
        for missing in find_missing_speeds(database, speeds)
    ]
    return slow + covered.suggest_captures()
