"""Put a piece of one take into another, which stays the same to the bit outside of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...blending.leap_easing import even_out_leaps
from ...control.rollout import Take
from ...legs.joints import compute_accelerations
from ...maths.easing import smoothstep
from ...maths.rotations import component_quat, quat
from ..numbers import NUMBERS


def put_piece(base: Take, piece: Take, first: int, stop: int, skipped: int) -> Take:
    """Put ticks from `first` to before `stop` of a piece into a take; its first are `skipped`.

    Differences from the take at its ends, such as the fade of the last jumps, are blended within
    the piece, and joints accelerate no harder there than in the two takes. The piece goes on beyond
    its ends, where the take does.
    """
    count = stop - first
    arrays: dict[str, Any] = {}
    for name, values in vars(base).items():
        if isinstance(values, np.ndarray):
            joined = values.copy()
            joined[first:stop] = getattr(piece, name)[skipped : skipped + count]
            arrays[name] = joined
    ticks = min(round(NUMBERS.seam_blend * base.fps), count // 2)
    fades_out = 1.0 - smoothstep(np.arange(ticks) / max(ticks, 1))
    fades_in = smoothstep(np.arange(1, ticks + 1) / (ticks + 1))
    for name in ("poses", "unlocked_poses"):
        poses = arrays[name]
        before = getattr(base, name)
        own = getattr(piece, name)
        if first > 0:
            offset = _measure_offset(before[first], own[skipped])
            _add_offset(poses[first : first + ticks], offset, fades_out)
        if stop < base.frame_count:
            offset = _measure_offset(before[stop], own[skipped + count])
            _add_offset(poses[stop - ticks : stop], offset, fades_in)
        own = own[skipped : skipped + count]
        _even_out(poses, (before, own), (first, stop), ticks, base)
    return replace(base, **arrays)


def _even_out(
    poses: np.ndarray,
    parts: tuple[np.ndarray, np.ndarray],
    span: tuple[int, int],
    ticks: int,
    base: Take,
) -> None:
    """Even out poses (T, 7, B) in place where the ends of a piece within them were blended.

    `parts` are the poses (T, 7, B) of the take before, and those (K, 7, B) of the piece.
    """
    (first, stop) = span
    parents = base.skeleton.parents
    low, high = max(first - 2, 0), min(stop + 2, len(poses))  # what these accelerations need
    places = (
        quat.compute_world(np.asarray(part, np.float64), parents)[1]
        for part in (parts[0][low:high], parts[1])
    )
    most = max(float(compute_accelerations(each, base.fps).max()) for each in places)
    t = np.arange(low, high)
    kept = (t < first) | (t >= stop) | ((t >= first + 2 * ticks) & (t < stop - 2 * ticks))
    poses[low:high] = even_out_leaps(poses[low:high], parents, base.fps, most, kept=kept)


def _measure_offset(wanted: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the offsets (6, B) of bones from a pose (7, B) to the one that is wanted."""
    offset = np.empty((6, own.shape[1]), np.float32)
    offset[:3] = wanted[:3] - own[:3]
    turn = component_quat.mul(np.array(wanted[3:]), component_quat.inv(np.array(own[3:])))
    offset[3:] = component_quat.to_scaled_angle_axis(turn)
    offset[[0, 1, 3, 4, 5], 0] = 0.0  # both are at the same place, but heights may differ
    return offset


def _add_offset(poses: np.ndarray, offset: np.ndarray, shares: np.ndarray) -> None:
    """Add shares (K,) of an offset (6, B) to poses (K, 7, B) in place."""
    offsets = shares.astype(np.float32)[:, None, None] * offset
    poses[:, :3] += offsets[:, :3]
    vectors = offsets[:, 3:].transpose(1, 0, 2).reshape(3, -1)
    turns = component_quat.from_scaled_angle_axis(vectors).reshape(4, len(poses), -1)
    poses[:, 3:] = component_quat.mul(turns.transpose(1, 0, 2), poses[:, 3:])
