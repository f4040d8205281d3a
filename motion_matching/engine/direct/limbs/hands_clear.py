"""Keep hands out of obstacles: above low ones, in front of high ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...control.rollout import Take
from ...maths.along_time import count_frames_to
from ...maths.easing import smoothstep
from ..obstacles.obstruction import Obstruction
from ..shot.shot import Mark
from .limbs import LimbChain, bend_limb, find_limbs
from .numbers import NUMBERS


def keep_hands_out(
    take: Take, marks: Sequence[Mark], obstruction: Obstruction, begins: float = 0.0
) -> Take:
    """Return a take whose wrists enter no obstacle; wrists that marks hold outside stay in place.

    The take `begins` at a second of the shot.
    """
    poses = take.poses
    for name, limb in find_limbs(take.skeleton).items():
        if name.endswith("hand"):
            held = np.zeros(take.frame_count, bool)
            for mark in marks:
                if mark.part == name:
                    first, last = mark.find_span(take.fps, begins)
                    held[max(first, 0) : max(last + 1, 0)] = True
            poses = _keep_hand_out(replace(take, poses=poses), limb, held, obstruction)
    return replace(take, poses=poses)


def _keep_hand_out(
    take: Take, limb: LimbChain, held: np.ndarray, obstruction: Obstruction
) -> np.ndarray:
    """Return poses (T, 7, B) whose wrist of a limb is outside; it stays where it is `held` (T,)."""
    joints = take.skeleton.compute_bone_positions([limb.root, limb.end], take.poses)
    shoulder = joints[:, 0]
    hand = joints[:, 1]
    stands = take.poses[:, 2, 0].astype(np.float64)
    surfaces = obstruction.find_surfaces(hand[:, :2], stands, 0.0)
    held = held & ~(surfaces - hand[:, 2] > NUMBERS.inside_mark)
    needed = _push_out(shoulder, hand, stands, obstruction)
    if np.abs(needed).max(initial=0.0) < NUMBERS.hand_worth:
        return take.poses
    from scipy.ndimage import gaussian_filter1d  # late: 0.1 s, and few hands are in a wall

    width = NUMBERS.clear_ease * take.fps
    away = count_frames_to(held) if held.any() else np.full(len(held), np.inf)
    free = smoothstep(np.clip(away / (2.0 * width), 0.0, 1.0))[:, None]
    eased = free * gaussian_filter1d(_spread(needed, round(width)), 0.5 * width, axis=0)
    moved = hand + eased
    moved += np.where(held[:, None], 0.0, _push_out(shoulder, moved, stands, obstruction))
    ticks = np.flatnonzero(np.linalg.norm(moved - hand, axis=1) > NUMBERS.hand_worth)
    if not len(ticks):
        return take.poses
    return bend_limb(take.poses, ticks, take.skeleton, limb, moved[ticks])


def _push_out(
    shoulder: np.ndarray, hand: np.ndarray, stands: np.ndarray, obstruction: Obstruction
) -> np.ndarray:
    """Return the least movements (T, 3) after which hands (T, 3) are outside."""
    result = np.zeros(hand.shape)
    share = obstruction.find_first_crossing(shoulder[:, :2], hand[:, :2], hand[:, 2])
    way = hand[:, :2] - shoulder[:, :2]
    length = np.maximum(np.linalg.norm(way, axis=1), 1e-9)
    crossed = shoulder[:, :2] + share[:, None] * way  # an arm over a rail clears it only just
    edge = NUMBERS.over_edge
    tops = [obstruction.find_surfaces(at, stands, edge) for at in (hand[:, :2], crossed)]
    over = np.maximum(np.max(tops, axis=0) - hand[:, 2], 0.0)
    back = np.where(share < 1.0, np.minimum(1.0 - share + NUMBERS.before_edge / length, 1.0), 0.0)
    lifts = (over > 0.0) & (over < NUMBERS.highest_lift) & (over < back * length)
    result[:, 2] = np.where(lifts, over, 0.0)
    result[:, :2] = np.where(lifts, 0.0, -back)[:, None] * way
    return result


def _spread(moved: np.ndarray, width: int) -> np.ndarray:
    """Give each tick the largest of the movements (T, 3) within a width of ticks."""
    sizes = np.pad(np.linalg.norm(moved, axis=1), width)
    windows = np.lib.stride_tricks.sliding_window_view(sizes, 2 * width + 1)
    largest = np.arange(len(moved)) + windows.argmax(axis=1) - width
    return np.asarray(moved[np.clip(largest, 0, len(moved) - 1)])
