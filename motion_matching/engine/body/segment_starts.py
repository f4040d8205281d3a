"""Choose the bone that a segment of a limb starts with, of several that are named alike.

Exporters put joints before it that hold its offset or are hidden copies, and split it in a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

_ASIDE = 0.1  # of a segment's length: a bone that is no farther off it is a piece of it
_SAME_PLACE = 0.01  # of a segment's length: bones that are no farther off lie in one place


def find_segment_start(
    points: np.ndarray, alike: Sequence[int], below: int, above: int | None = None
) -> int:
    """Return the bone from which a segment leads down to the bone `below`.

    `points` (F, B, 3) are world positions, and `alike` the bones of the segment's name, top to
    bottom. It is the last one of them, or the first of those that lie on the way, which are pieces
    of a split segment. What is before holds an offset, or lies where the segment `above` starts.
    """
    start = alike[-1]
    for bone in alike[-2::-1]:
        if not _lies_between(points[:, start], points[:, bone], points[:, below]):
            break
        if above is not None:
            length = _measure_distance(points, bone, below)
            if _measure_distance(points, bone, above) <= _SAME_PLACE * length:
                break
        start = bone
    return start


def find_end_start(points: np.ndarray, alike: Sequence[int], above: int) -> int:
    """Return the hand or foot of bones named alike, top to bottom, below the joint `above`.

    It is the first one that lies in the place neither of that joint nor of the next one.
    """
    for bone, following in pairwise(alike):
        length = _measure_distance(points, above, alike[-1])
        gaps = (_measure_distance(points, bone, other) for other in (above, following))
        if min(gaps) > _SAME_PLACE * length:
            return bone
    return alike[-1]


def _lies_between(points: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> bool:
    """Return whether points (F, 3) lie on the ways to `ends`, but not where these start."""
    ways, here = (ends - starts).astype(np.float64), (points - starts).astype(np.float64)
    squares = np.maximum(np.sum(ways * ways, axis=-1), 1e-12)
    shares = np.sum(here * ways, axis=-1) / squares
    aside = np.linalg.norm(here - shares[:, None] * ways, axis=-1) / np.sqrt(squares)
    return bool(_SAME_PLACE < np.median(shares) < 1.0 and np.median(aside) < _ASIDE)


def _measure_distance(points: np.ndarray, one: int, two: int) -> float:
    return float(np.median(np.linalg.norm(points[:, one] - points[:, two], axis=-1)))
