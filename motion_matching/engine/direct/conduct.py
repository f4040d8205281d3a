"""Measure a body on the way to its marks: collisions, height of the hips, stance of the feet."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..control.rollout import Take
from ..maths.along_time import find_runs
from .footage.footage import Footage
from .limbs.body_parts import get_part_places
from .numbers import NUMBERS
from .obstacles.body_clearance import BodyDepths
from .obstacles.obstruction import Obstruction
from .shot.mark import HIPS, Mark
from .shot.shot import Shot


class Conduct:
    """Measures of the poses of a take. Collisions need an obstruction."""

    def __init__(
        self, take: Take, shot: Shot, footage: Footage, obstruction: Obstruction | None
    ) -> None:
        database = footage.world
        size = footage.scale.length
        self._take = take
        self._foot_steps = NUMBERS.foot_steps * size
        self._toes = [leg.toe for leg in database.roles.legs]
        self._depths = obstruction and BodyDepths(take, database, obstruction)
        hips = take.skeleton.compute_bone_positions([database.roles.hips], take.poses)[:, 0, 2]
        self._heights = hips - take.poses[:, 2, 0]
        usual = float(np.median(get_part_places(footage, HIPS)[:, 2])) * size
        low = (self._heights < NUMBERS.crouched * usual) & ~_find_asked(shot, take)
        longest = round(NUMBERS.longest_dip * take.fps)
        self._low = np.zeros(take.frame_count, bool)
        for start, stop in find_runs(low).tolist():
            self._low[start:stop] = stop - start > longest

    def list_problems(self, first: int, last: int) -> list[str]:
        """Describe each fault between two ticks."""
        problems = []
        fps = self._take.fps
        if self._depths and (entry := self._depths.find_entry(first, last)):
            problems.append(
                f"on the way there, the {entry.part} is up to {entry.depth:.2f} m inside an "
                f"obstacle for {len(entry.ticks) / fps:.1f} s; move the mark or the obstacle, or "
                "give more time"
            )
        low = np.flatnonzero(self._low[first : last + 1]) + first
        if len(low):
            problems.append(
                f"on the way there, the hips are as low as {self._heights[low].min():.2f} m for "
                f"{len(low) / fps:.1f} s, which nothing asks for; give the mark another height or "
                "more time"
            )
        return problems

    def find_step(self, first: int, last: int) -> float:
        """Return how far in metres a foot moves between ticks, 0 if it does not step."""
        toes = self._take.skeleton.compute_bone_positions(
            self._toes, self._take.poses[first : last + 1]
        )
        moved = float(np.linalg.norm((toes - toes[:1])[..., :2], axis=-1).max(initial=0.0))
        return moved if moved > self._foot_steps else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return all faults of the take as JSON data."""
        entry = self._depths and self._depths.find_entry(0, self._take.frame_count)
        low = self._heights[self._low]
        inside = {
            "frames": len(entry.ticks) if entry else 0,
            "depth": round(entry.depth, 4) if entry else 0.0,
            "part": entry.part if entry else "",
            "second": round(float(entry.ticks[0]) / self._take.fps, 4) if entry else None,
        }
        lowest = round(float(low.min()), 4) if len(low) else None
        return {"inside": inside, "crouched": {"frames": len(low), "lowest": lowest}}


def describe_inside(report: Mapping[str, Any]) -> str:
    """Describe what the body of a reported take enters, if anything."""
    inside = report["inside"]
    if not inside["frames"]:
        return ""
    return (
        f"the {inside['part']} is up to {inside['depth']:.2f} m inside an obstacle on "
        f"{inside['frames']} frames"
    )


def _find_asked(shot: Shot, take: Take) -> np.ndarray:
    """Return the ticks (T,) at which a shot itself sets the height of the hips."""
    t = np.arange(take.frame_count) / take.fps
    result = np.zeros(take.frame_count, bool)
    tagged = itertools.pairwise([*shot.list_tags(), (shot.seconds, frozenset[str]())])
    spans = [(start, stop, NUMBERS.asked_around) for (start, tags), (stop, _) in tagged if tags]
    spans += [(mark.time, mark.time + mark.hold, _get_decided(mark)) for mark in shot.marks]
    for start, stop, around in spans:
        if around:
            result |= (t >= start - around) & (t <= stop + around)
    return result


def _get_decided(mark: Mark) -> float:
    """Return for how many seconds around a mark it sets the height of the hips."""
    if mark.frame is not None:
        return max(NUMBERS.asked_around, mark.pose_fade)
    of_hips = mark.part == HIPS and mark.height is not None
    return mark.pose_fade + NUMBERS.asked_around if mark.pose is not None or of_hips else 0.0
