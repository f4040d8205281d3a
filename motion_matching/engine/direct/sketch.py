"""Sketch where a take of a shot would go: planned and closed, but not yet played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..ground.footholds import measure_slopes
from ..ground.ground import FLAT, Ground, compute_step_height, compute_step_heights, follow_floor
from ..maths import planar
from ..maths.along_time import find_runs
from ..units import PLACE
from .fit.closing import Closed
from .footage.footage import Footage
from .limbs.body_parts import get_part_places
from .numbers import NUMBERS
from .search.beam import ShotPlan
from .shot.shot import Mark, Shot


@dataclass(frozen=True)
class Sketch:
    """The plan of a shot and its closing, in body units.

    `span` is the part of the shot in seconds that was searched; the rest is from an earlier sketch.
    The `report` is for the take before its feet are planted.
    """

    shot: Shot
    plan: ShotPlan
    closed: Closed
    span: tuple[float, float]
    report: Mapping[str, Any]


@dataclass(frozen=True)
class Way:
    """Drawing data of a sketch, in the units of the world.

    - `places` (T, 3): x, y and yaw of the simulation bone
    - `below` (T,): height of the `floor` there
    - `footfalls` (F, 6): x, y and yaw of each contact, its leg, the height of its ground, and the
      slope of that ahead of the foot
    - `marks` (M, 2): places of marks; `at` (M, 2): places of their parts on the way then
    - `heights` (M, 2): height of the floor at each mark, and at the character then
    - `reasons`: why each mark is missed, empty if it is met
    """

    places: np.ndarray
    footfalls: np.ndarray
    marks: np.ndarray
    at: np.ndarray
    reasons: tuple[str, ...]
    below: np.ndarray
    heights: np.ndarray
    floor: Ground = FLAT

    @property
    def met(self) -> tuple[bool, ...]:
        """Whether each mark is met."""
        return tuple(not reason for reason in self.reasons)


def find_changed_span(before: Shot, after: Shot) -> tuple[float, float] | None:
    """Return the range in seconds in which the marks of two shots differ, with a margin.

    None if they differ in other things, or if that is most of the shot. Marks that do not lead do
    not change the search.
    """
    before = before.leading
    after = after.leading
    if len(before.marks) != len(after.marks) or replace(before, marks=after.marks) != after:
        return None
    pairs = list(zip(before.marks, after.marks, strict=True))
    changed = [pair for pair in pairs if pair[0] != pair[1]]
    if any((a.gait, a.tags) != (b.gait, b.tags) for a, b in changed):  # these last
        return None
    if not changed:
        return 0.0, 0.0
    first = min(mark.time for pair in changed for mark in pair)
    last = max(mark.time + mark.hold for pair in changed for mark in pair)
    others = [a for a, b in pairs if a == b and a.is_place]
    earlier = max((m.time for m in others if m.time < first), default=0.0)
    later = min((m.time + m.hold for m in others if m.time > last), default=after.seconds)
    beyond = NUMBERS.change_beyond
    most = NUMBERS.change_around
    least = NUMBERS.search_around
    start = max(min(max(earlier - beyond, first - most), first - least), 0.0)
    stop = min(max(min(later + beyond, last + most), last + least), after.seconds)
    return None if stop - start > NUMBERS.change_share * after.seconds else (start, stop)


def compute_way(sketch: Sketch, footage: Footage) -> Way:
    """Return the drawing data of a sketch."""
    floor = sketch.shot.floor
    fps = footage.world.fps
    places = footage.scale.to_world(sketch.closed.places, PLACE)
    below = follow_floor(floor, places[:, :2])
    ticks = [min(round(mark.time * fps), len(places) - 1) for mark in sketch.shot.marks]
    low = np.floor(sketch.closed.plan_ticks + 1e-6).astype(int)
    shown = sketch.plan.frames[np.minimum(low, len(sketch.plan.frames) - 1)]
    reasons = tuple(told["reason"] for told in sketch.report["marks"])
    marks = []
    at = []
    heights = []
    for mark, tick, reason in zip(sketch.shot.marks, ticks, reasons, strict=True):
        at.append(_find_part(mark, places[tick], int(shown[tick]), footage))
        x, y = at[-1].tolist() if mark.position is None else mark.position
        marks.append((x, y))
        body = below[tick].tolist()
        height = floor.height(x, y) if reason else compute_step_height(floor, x, y, body)
        heights.append((height, body[2]))
    footfalls = _find_footfalls(places, below, shown, footage, floor)
    of_marks, of_parts, above = (np.array(rows).reshape(-1, 2) for rows in (marks, at, heights))
    return Way(places, footfalls, of_marks, of_parts, reasons, below[:, 2], above, floor)


def _find_part(mark: Mark, place: np.ndarray, shown: int, footage: Footage) -> np.ndarray:
    """Return where (2,) the part of a mark is, in a frame of a character at a place (3,)."""
    if not mark.is_of_part:
        return place[:2]
    offset = get_part_places(footage, mark.part)[shown, :2] * footage.scale.length
    return np.asarray(place[:2] + planar.rotate(offset, place[2]))


def _find_footfalls(
    places: np.ndarray, below: np.ndarray, shown: np.ndarray, footage: Footage, floor: Ground
) -> np.ndarray:
    """Return x, y, yaw, leg, height and slope (F, 6) of contacts on a way (T, 3) over a floor."""
    result = []
    bodies = []
    for leg in range(footage.contacts.shape[1]):
        toes = planar.rotate(footage.places[shown, leg, :2] * footage.scale.length, places[:, 2])
        toes = toes + places[:, :2]
        for start, stop in find_runs(footage.contacts[shown, leg] > 0.5).tolist():
            x, y = toes[start:stop].mean(axis=0).tolist()
            result.append((x, y, float(places[(start + stop) // 2, 2]), float(leg)))
            bodies.append(below[(start + stop) // 2])
    rows = np.array(result).reshape(-1, 4)
    heights = compute_step_heights(floor, rows[:, :2], np.array(bodies).reshape(-1, 3))
    behind = -planar.yaw_to_forward(rows[:, 2])
    return np.column_stack([rows, heights, measure_slopes(floor, rows[:, :2], behind)])
