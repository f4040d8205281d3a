"""Even out moments at which a blend of motions makes a joint leap; only a bake can.

Live, a hard jump fades from the body's present speed, and a motion field changes its gait within a
moment. A bake knows the following motion and smooths such a moment.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..legs.joints import compute_accelerations
from ..maths.along_time import count_frames_to
from ..maths.rotations import quat
from .numbers import NUMBERS


def even_out_leaps(
    poses: np.ndarray,
    parents: np.ndarray,
    fps: float,
    most: float,
    bones: Sequence[int] | None = None,
    kept: np.ndarray | None = None,
) -> np.ndarray:
    """Return poses (T, 7, B) in which no joint accelerates by more than `most` in m/s², if it can.

    The joints are those of `bones`, all but bone 0 by default, and of their children. These bones
    turn and move more evenly around such moments. Frames that are `kept` (T,) stay unchanged.
    Without any such moment, the same array is returned.
    """
    moved = np.arange(1, poses.shape[2]) if bones is None else np.array(bones)
    joints = np.union1d(moved, np.flatnonzero(np.isin(parents, moved)))
    places = quat.compute_world(poses, parents)[1][:, joints]
    hardest = compute_accelerations(places, fps).max(axis=1)
    if not (hardest > most).any():
        return poses
    result = poses.astype(np.float64)
    reach = round(NUMBERS.leap_reach * fps) + 1
    for _ in range(NUMBERS.leap_passes):
        leaps = hardest > most
        if not leaps.any():
            break
        share = np.clip(1.0 - count_frames_to(leaps) / reach, 0.0, 1.0)
        if kept is not None:
            share[kept] = 0.0
        near = np.flatnonzero(share)
        result[np.ix_(near, np.arange(7), moved)] = _blur(result[:, :, moved], near, share[near])
        places[near] = quat.compute_world(result[near], parents)[1][:, joints]
        hardest = compute_accelerations(places, fps).max(axis=1)
    return result


def _blur(poses: np.ndarray, near: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return the poses (N, 7, B) at `near` (N,), blended by a share (N,) with their neighbours."""
    before, now, after = (
        poses[np.clip(near + k, 0, len(poses) - 1)].transpose(0, 2, 1) for k in (-1, 0, 1)
    )
    signs = (np.sign(np.sum(each[..., 3:] * now[..., 3:], axis=-1)) for each in (before, after))
    for each, sign in zip((before, after), signs, strict=True):
        each[..., 3:] *= sign[..., None]
    mean = 0.25 * (before + after) + 0.5 * now
    blurred = now + share[:, None, None] * (mean - now)
    blurred[..., 3:] = quat.normalize(blurred[..., 3:])
    return blurred.transpose(0, 2, 1)
