"""Ease what bending has done to legs around frames where a joint would leap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..maths import quat
from ..maths.runs import count_frames_to, find_runs
from ..motion.skeleton import Skeleton
from .joints import compute_accelerations
from .knee_limit import compute_bends
from .legs import LegGeometry

_REACH = 0.1  # seconds around a leap within which bends are evened out, less and less
_PASSES = 24  # at most, first without planted legs and then with them
_BESIDE = 0.5  # least share of a pass that a swing takes beside where its toe stands
_LEAST = 1e-6  # rad/s: no knee is slower, so that none is divided by zero
_SHARE = 0.99  # of the fastest that a knee bends in the data: poses are rounded


def ease_legs(
    poses: np.ndarray,
    before: np.ndarray,
    skeleton: Skeleton,
    legs: Sequence[LegGeometry],
    fps: float,
    most: float,
    firm: np.ndarray,
    planted: np.ndarray | None = None,
    hardest: float = 0.0,
) -> None:
    """Even out in place how legs of `poses` (T, 7, B) differ from `before`, where a joint leaps.

    That is where one accelerates by more than `most` in m/s², or a knee bends faster than in the
    data, and more than `before`. Legs stay as they are in `firm` frames (T, L), and where they are
    `planted` (T, L) as far as evening out their swings is enough, or for what is no harder than
    `hardest` in m/s².
    """
    reach = round(_REACH * fps) + 1
    for i, leg in enumerate(legs):
        own = _Leg.measure(poses, before, skeleton, leg)
        first, places = _get_rotations(poses, own.bones), own.places.copy()
        limits = _Limits.measure(_place(before, skeleton, own.bones), leg, fps, most)
        eased = np.zeros(len(poses), bool)
        if planted is not None:
            kept = firm[:, i] | planted[:, i]
            free = np.maximum(_compute_share(kept, reach), _BESIDE * ~kept)
            eased |= own.even_out(limits, free, _PASSES)
        # a foot that stands does not give way for what the motion itself may do
        harder = limits._replace(accelerations=np.maximum(limits.accelerations, hardest))
        eased |= own.even_out(harder, _compute_share(firm[:, i], reach), _PASSES)
        # a leap of the motion itself, which its planting had taken out, would come back
        plain = limits._replace(accelerations=most, rates=_SHARE * leg.knee_rate)
        first_beyond, beyond = (
            np.maximum(plain.compute_excess(each) - 1.0, 0.0) for each in (places, own.places)
        )
        for start, stop in find_runs(eased):
            around = slice(max(start - 1, 0), stop + 1)
            if beyond[around].sum() > first_beyond[around].sum():
                frames = np.arange(start, stop)
                _set_rotations(poses, frames, own.bones, first[frames])


def _compute_share(kept: np.ndarray, reach: int) -> np.ndarray:
    """Return how far (T,) frames may change: beside those `kept` less, for legs not to part."""
    return np.clip(count_frames_to(kept) / reach, 0.0, 1.0) if kept.any() else np.ones(len(kept))


class _Leg(NamedTuple):
    """A leg in `poses` (T, 7, B): its N `bones`, and their `places` (T, N, 3) in the world.

    They are turned by `turns` (T, N, 3) from where they are `before`. Easing changes all in place.
    """

    poses: np.ndarray
    before: np.ndarray
    skeleton: Skeleton
    bones: list[int]
    turns: np.ndarray
    places: np.ndarray

    @classmethod
    def measure(
        cls, poses: np.ndarray, before: np.ndarray, skeleton: Skeleton, leg: LegGeometry
    ) -> _Leg:
        """Return a leg of poses (T, 7, B), and how it differs from those before."""
        bones = list(leg.chain[leg.thigh :])
        turned = quat.inv_mul(_get_rotations(before, bones), _get_rotations(poses, bones))
        turns = quat.to_scaled_angle_axis(quat.positive(turned))
        return cls(poses, before, skeleton, bones, turns, _place(poses, skeleton, bones))

    def even_out(self, limits: _Limits, free: np.ndarray, passes: int) -> np.ndarray:
        """Even out turns around leaps, as far as frames are `free` (T,); return which changed."""
        reach = round(_REACH * limits.fps) + 1
        eased, excess = np.zeros(len(free), bool), limits.compute_excess(self.places)
        for _ in range(passes):
            leaps = excess > 1.0
            if not leaps.any():
                break
            share = free * np.clip(1.0 - count_frames_to(leaps) / reach, 0.0, 1.0)
            near = np.flatnonzero(share)
            eased[near] = True
            self.turns[:] += share[:, None, None] * (_blur(self.turns) - self.turns)
            offsets = quat.from_scaled_angle_axis(self.turns[near])
            rotations = quat.mul(_get_rotations(self.before[near], self.bones), offsets)
            _set_rotations(self.poses, near, self.bones, rotations)
            self.places[near] = _place(self.poses[near], self.skeleton, self.bones)
            excess = limits.compute_excess(self.places)
        return eased


class _Limits(NamedTuple):
    """How hard a leg may move.

    Its joints accelerate by at most `accelerations` (T, N) in m/s². The `knee`, which is the places
    of hip, knee and ankle among the joints, bends at `rates` (T - 1,) in rad/s at most.
    """

    accelerations: np.ndarray | float
    rates: np.ndarray | float
    knee: tuple[int, int, int]
    fps: float

    @classmethod
    def measure(cls, places: np.ndarray, leg: LegGeometry, fps: float, most: float) -> _Limits:
        """Return what joints at `places` (T, N, 3) do, but at least `most` and the data's rate."""
        knee = 0, leg.shin - leg.thigh, leg.foot - leg.thigh
        rates = np.maximum(_measure_knee_rates(places[:, knee], fps), leg.knee_rate)
        return cls(np.maximum(compute_accelerations(places, fps), most), _SHARE * rates, knee, fps)

    def compute_excess(self, places: np.ndarray) -> np.ndarray:
        """Return how hard (T,) joints at `places` (T, N, 3) move, as a share of the limits."""
        result = (compute_accelerations(places, self.fps) / self.accelerations).max(axis=1)
        rates = _measure_knee_rates(places[:, self.knee], self.fps) / np.maximum(self.rates, _LEAST)
        result[1:] = np.maximum(result[1:], rates)
        result[:-1] = np.maximum(result[:-1], rates)
        return result


def _get_rotations(poses: np.ndarray, bones: list[int]) -> np.ndarray:
    return quat.normalize(poses[:, 3:, bones].transpose(0, 2, 1))


def _set_rotations(
    poses: np.ndarray, frames: np.ndarray, bones: list[int], rotations: np.ndarray
) -> None:
    for k, bone in enumerate(bones):
        poses[frames, 3:, bone] = rotations[:, k]


def _place(poses: np.ndarray, skeleton: Skeleton, bones: list[int]) -> np.ndarray:
    """Return the places (T, N, 3) of bones in the world, each the parent of the next."""
    path = skeleton.get_chain_to_root(bones[-1])[::-1]
    world = quat.compute_world(poses[:, :, path], np.arange(len(path)) - 1)
    return world[1][:, -len(bones) :]


def _measure_knee_rates(joints: np.ndarray, fps: float) -> np.ndarray:
    """Return how fast (T - 1,) a knee bends or stretches, of hips, knees and ankles (T, 3, 3)."""
    return np.abs(np.diff(compute_bends(*joints.transpose(1, 0, 2)))) * fps


def _blur(values: np.ndarray) -> np.ndarray:
    """Return values (T, ...) blended with those beside them."""
    # not with those further away, at any rate: frames in turns would go different ways
    padded = np.pad(values, ((1, 1), *((0, 0),) * (values.ndim - 1)), mode="edge")
    return 0.5 * values + 0.25 * (padded[:-2] + padded[2:])
