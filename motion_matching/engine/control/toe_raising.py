"""Raise toes, and their tips, that easing has left below the floor of a bake."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..maths import quat
from .leg_bending import bend_leg, raise_end
from .legs import LegGeometry

_SUNK = 0.003  # metres that a toe may be below the ground
_RISE = 0.04  # seconds within which it comes up
_AT_ONCE = 1024  # frames: all of a long take would fill the memory


def raise_sunk_toes(
    poses: np.ndarray,
    parents: np.ndarray,
    legs: Sequence[LegGeometry],
    floors: Sequence[np.ndarray],
    buffer: float,
    fps: float,
) -> None:
    """Raise toes and tips of toes of `poses` (T, 7, B) in place that are below `floors` (T,).

    A leg bends for its toe, `buffer` metres short of straight at most. For a tip, its toe turns.
    """
    for leg, floor in zip(legs, floors, strict=True):
        toe, _ = _place_toe(poses, parents, leg)
        rise, near = _find_rise(floor + leg.toe_height - toe[:, 2], fps)
        if len(near):
            raised, up = poses[near], rise[near, None] * [0.0, 0.0, 1.0]
            targets, lowest = toe[near] + up, (leg.foot_height + floor)[near]
            world = quat.compute_world(raised, parents)
            bend_leg(leg, raised, *world, parents, targets, lowest, buffer)
            poses[near] = raised
        if leg.tip is not None and leg.chain[leg.foot + 1 :] == leg.chain[-1:]:
            _raise_sunk_tips(poses, parents, leg, floor, fps)


def _raise_sunk_tips(
    poses: np.ndarray, parents: np.ndarray, leg: LegGeometry, floor: np.ndarray, fps: float
) -> None:
    """Turn the toes of a leg of `poses` (T, 7, B) in place: their tips come up to `floor` (T,)."""
    toe, rotations = _place_toe(poses, parents, leg)
    tip = quat.mul_vec(rotations, np.array(leg.tip))
    rise, near = _find_rise(floor + leg.tip_height - toe[:, 2] - tip[:, 2], fps)
    if len(near):
        tip, rotations = tip[near], rotations[near]
        turn = quat.between(tip, raise_end(tip, tip[:, 2] + rise[near]))
        within = quat.inv_mul(rotations, quat.mul(turn, rotations))
        bone = leg.chain[-1]
        poses[near, 3:, bone] = quat.normalize(quat.mul(poses[near, 3:, bone], within))


def _find_rise(depths: np.ndarray, fps: float) -> tuple[np.ndarray, np.ndarray]:
    """Return how far (T,) to raise what is at `depths` (T,) below the floor, and in which frames.

    It comes up evenly, and the frames around come with it.
    """
    from scipy.ndimage import gaussian_filter1d, maximum_filter1d  # late: only bakes need it

    width, sunk = _RISE * fps, np.maximum(depths - _SUNK, 0.0)
    rise = gaussian_filter1d(maximum_filter1d(sunk, 2 * round(2 * width) + 1), width)
    return rise, np.flatnonzero(rise > _SUNK / 100.0)


def _place_toe(
    poses: np.ndarray, parents: np.ndarray, leg: LegGeometry
) -> tuple[np.ndarray, np.ndarray]:
    """Return where (T, 3) the toe of a leg of poses (T, 7, B) is, and how (T, 4) it is turned."""
    places, turns = np.empty((len(poses), 3)), np.empty((len(poses), 4))
    for first in range(0, len(poses), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        rotations, positions = quat.compute_world(poses[part], parents)
        places[part], turns[part] = positions[:, leg.chain[-1]], rotations[:, leg.chain[-1]]
    return places, turns
