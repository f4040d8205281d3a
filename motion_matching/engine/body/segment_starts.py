"""Choose the first bone of a limb's segment among several in a line.

Exporters insert joints before it, for its offset or as hidden copies, and split it in a line.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS


def find_segment_start(
    points: np.ndarray, alike: Sequence[int], below: int, above: int | None = None
) -> int:
    """Return the bone from which a segment leads down to the bone `below`.

    `points` (F, B, 3) are world positions, and `alike` the bones of the segment, top to bottom. It
    is the last one of them, or the first bone on the way, if pieces of a split segment follow.
    Bones before it hold an offset, or lie where the segment `above` starts.
    """
    start = alike[-1]
    for bone in alike[-2::-1]:
        if not _lies_between(points[:, start], points[:, bone], points[:, below]):
            break
        if above is not None:
            length = _measure_distance(points, bone, below)
            if _measure_distance(points, bone, above) <= NUMBERS.segment_place * length:
                break
        start = bone
    return start


def choose_starts(
    skeleton: Skeleton, points: np.ndarray, uppers: Sequence[int], lowers: Sequence[int], end: int
) -> tuple[int, int]:
    """Return the bones with which the upper and the lower segment of a limb start.

    `uppers` and `lowers` are the bones of both, top to bottom, and `end` is the foot or the hand.
    """
    ours, theirs = (
        [bone for bone in bones if bone == bones[0] or not is_copy(skeleton.names[bone])]
        for bones in (uppers, lowers)
    )
    lower = find_segment_start(points, theirs, end, ours[-1])
    return find_segment_start(points, ours, lower), lower


def is_copy(name: str) -> bool:
    """Return whether a name is that of the hidden copy of a joint, such as '__LeftLeg'."""
    return name.startswith("__")


def walk_down(skeleton: Skeleton, start: int, stop: int) -> tuple[int, ...]:
    """Return the bones from `start` down to the one above `stop`."""
    chain = skeleton.get_ancestors(stop)
    return tuple(chain[: chain.index(start) + 1][::-1]) if start in chain else (start,)


def _lies_between(points: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> bool:
    """Return whether points (F, 3) lie on the ways to `ends`, but not where these start."""
    ways, here = (ends - starts).astype(np.float64), (points - starts).astype(np.float64)
    squares = np.maximum(np.sum(ways * ways, axis=-1), 1e-12)
    shares = np.sum(here * ways, axis=-1) / squares
    aside = np.linalg.norm(here - shares[:, None] * ways, axis=-1) / np.sqrt(squares)
    return bool(
        NUMBERS.segment_place < np.median(shares) < 1.0 and np.median(aside) < NUMBERS.segment_aside
    )


def _measure_distance(points: np.ndarray, one: int, two: int) -> float:
    return float(np.median(np.linalg.norm(points[:, one] - points[:, two], axis=-1)))
