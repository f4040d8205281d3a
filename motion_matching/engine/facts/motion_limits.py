"""Measure the limits of a database's motion; made motion keeps to them, but for `MARGINS`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..database.database import Database
from ..feet.contact_ranges import STEP_LENGTH
from ..feet.live.knee_limit import compute_bends
from ..legs.joints import Joints
from ..legs.legs import LegGeometry
from ..maths.along_time import find_runs
from ..maths.rotations import quat
from ..motion.margins import MARGINS
from .numbers import NUMBERS


class MotionLimits:
    """Limits of joints; each is measured when it is first requested.

    Limits of knees belong to their legs; see `measure_knees`.
    """

    def __init__(self, database: Database) -> None:
        self._get_fact = database.get_fact
        # the largest accelerations (2, B) of bones in their parents' frames, in m/s² and rad/s²
        self.bones = np.array(database.limits)
        self._parents = database.skeleton.parents
        self._poses = np.asarray(database.poses)
        self._ranges = database.range_of_frame
        self._starts, self._stops = np.asarray(database.starts), np.asarray(database.stops)
        speeds = np.linalg.norm(np.asarray(database.root_motion)[:, :2], axis=1)
        self._is_fast = speeds > database.walk_to_run
        self._fps, self._joints = database.fps, Joints(self._parents)
        self._block, self._around = (
            round(s * database.fps) for s in (NUMBERS.peak_block, NUMBERS.peak_around)
        )
        # of blocks and of single frames, empty until measured
        self._known, self._each = np.full((2, database.frame_count), np.nan)
        self._contacts = np.asarray(database.contacts)
        self._skeleton = database.skeleton
        self._toes = [leg.toe for leg in database.roles.legs]

    def find_peak(self, frame: int) -> float:
        """Return the largest acceleration of a joint in the world around a frame, in m/s².

        Motion shown there may accelerate as hard, unless it would pop in that gait.
        """
        known = self._known.item(frame)
        if not math.isnan(known):
            return known
        which = self._ranges.item(frame)
        start, stop = self._starts.item(which), self._stops.item(which)
        first = start + (frame - start) // self._block * self._block
        last = min(first + self._block, stop)
        around = max(first - self._around, start) + 1, min(last + self._around, stop) - 1
        most = MARGINS.pop * self._gait_peaks[bool(self._is_fast[first:last].any())]
        peak = min(self._measure_each(*around).max(initial=0.0).item(), most)
        self._known[first:last] = peak
        return peak

    def _measure_each(self, start: int, stop: int) -> np.ndarray:
        """Return how hard joints accelerate in frames that are not at an end of their range."""
        each = self._each[start:stop]
        unknown = np.isnan(each).nonzero()[0]
        if len(unknown):
            first, last = start + unknown[0], start + unknown[-1]
            poses = self._poses[None, first - 1 : last + 2]
            self._each[first : last + 1] = self._joints.compute_hardest(poses, self._fps)[0]
        return each

    def measure_leaps(self, hardest: np.ndarray, frame: int, entered: Sequence[int]) -> np.ndarray:
        """Return how hard jumps (J,) from a frame shake a joint, by its acceleration there.

        1 is as hard as the motions on both sides, but at most as hard as nearly all of the data.
        """
        here = self.find_peak(frame)
        common = self.common_peak
        most = [max(here, self.find_peak(to)) if here < common else common for to in entered]
        return hardest / np.clip(most, MARGINS.fall, common)

    def prepare(self) -> MotionLimits:
        """Measure in advance what would take longer than a tick."""
        _ = self.common_peak, self._gait_peaks
        return self

    @cached_property
    def common_peak(self) -> float:
        """How hard joints accelerate at most in nearly all frames, in m/s²."""
        if (stored := self._get_fact("common_peak", 1)) is not None:
            return stored.item()
        return self._measure_some(np.arange(len(self._poses)))

    @cached_property
    def _gait_peaks(self) -> tuple[float, float]:
        """The same for frames slower and faster than the change from walking to running."""
        if (stored := self._get_fact("gait_peaks", 2)) is not None:
            return stored.item(0), stored.item(1)
        of_gaits = [np.flatnonzero(self._is_fast == fast) for fast in (False, True)]
        slow, fast = (
            self._measure_some(frames) if len(frames) else self.common_peak for frames in of_gaits
        )
        return slow, fast

    def to_facts(self) -> dict[str, list[float]]:
        """Return what is stored of it with a database."""
        return {"common_peak": [self.common_peak], "gait_peaks": [*self._gait_peaks]}

    def _measure_some(self, frames: np.ndarray) -> float:
        return self.measure_played(frames[:: math.ceil(len(frames) / NUMBERS.limit_frames)])

    def measure_played(self, frames: np.ndarray) -> float:
        """Return how hard joints accelerate at most in nearly all of the frames (T,), in m/s².

        At least the acceleration of a fall is returned.
        """
        which = self._ranges[frames]
        inner = np.clip(frames, self._starts[which] + 1, self._stops[which] - 2)
        before, now, after = (
            quat.compute_world(self._poses[inner + k], self._parents)[1][:, 1:] for k in (-1, 0, 1)
        )
        each = np.linalg.norm(after - 2.0 * now + before, axis=-1).max(axis=1) * self._fps**2
        return max(float(np.percentile(each, MARGINS.played)), MARGINS.fall)

    @cached_property
    def hardest_step(self) -> float:
        """Quickest steps of feet in the data: distance over squared time, in m/s².

        Nearly all steps are slower. The time is squared because a body takes longer by the root of
        two to step twice as far. Infinite if there are no steps.
        """
        ranges = list(zip(self._starts.tolist(), self._stops.tolist(), strict=True))
        hardness = []
        for leg in range(len(self._toes)):
            plants = [a + find_runs(self._contacts[a:b, leg]) for a, b in ranges]
            leaves = np.concatenate([each[:-1, 1] - 1 for each in plants])
            lands = np.concatenate([each[1:, 0] for each in plants])
            ways = self._find_toes(leg, lands) - self._find_toes(leg, leaves)
            distances = np.linalg.norm(ways[:, :2], axis=1)
            hard = distances / ((lands - leaves) / self._fps) ** 2
            hardness.append(hard[distances > STEP_LENGTH])
        every = np.concatenate([np.zeros(0), *hardness])
        return float(np.percentile(every, MARGINS.played)) if len(every) else math.inf

    def _find_toes(self, leg: int, frames: np.ndarray) -> np.ndarray:
        """Return world positions (K, 3) of a leg's toe in frames (K,)."""
        toe = self._toes[leg : leg + 1]
        return self._skeleton.compute_bone_positions(toe, self._poses[frames])[:, 0]


def measure_knees(
    leg: LegGeometry, poses: np.ndarray, ranges: Sequence[tuple[int, int]], fps: float
) -> LegGeometry:
    """Return a leg with its knee's motion in poses (F, 7, B), which are continuous in `ranges`."""
    chain = leg.chain[leg.thigh : leg.foot + 1]
    knee = leg.shin - leg.thigh
    parents = np.arange(len(chain)) - 1
    positions = quat.compute_world(poses[:, :, list(chain)], parents)[1]
    bends = compute_bends(positions[:, 0], positions[:, knee], positions[:, -1])
    rates = [fps * np.diff(bends[start:stop]) for start, stop in ranges]
    changes = np.abs(np.concatenate([fps * np.diff(own) for own in rates]))
    rate = max(float(np.abs(own).max(initial=0.0)) for own in rates)
    hard = float(np.percentile(changes, MARGINS.knees)) if len(changes) else 0.0
    return replace(
        leg,
        knee_rate=max(rate, NUMBERS.least_knee_rate),
        knee_acceleration=max(hard, NUMBERS.least_knee_acceleration),
    )
