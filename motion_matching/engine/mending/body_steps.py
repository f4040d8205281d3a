"""Measure how far the whole body moves from frame to frame of a clip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths.rotations import quat
from ..motion.clip import Clip
from ..motion.conforming import find_sliding_bones
from .numbers import NUMBERS


@dataclass(frozen=True)
class BodySteps:
    """Ways of a body in metres, the root mean square over its bones weighted by length.

    `steps` (F - 1,) lead from a frame to the next, `changes` (F - 2,) are differences of
    consecutive steps. The `size` of the body is its extent in most frames. `weights` (B,) of bones
    add up to 1.
    """

    steps: np.ndarray
    changes: np.ndarray
    size: float
    weights: np.ndarray

    def measure_distance(self, clip: Clip, one: int, two: int) -> float:
        """Return how far the body is from one frame to another."""
        pair = [one, two]
        _, points = quat.fk(clip.rotations[pair], clip.positions[pair], clip.skeleton.parents)
        return float(_average(points[1] - points[0], self.weights))

    def get_usual(self, start: int, stop: int) -> float:
        """Return the longer of the usual steps within some frames before and after a range."""
        before = self.steps[max(start - 5, 0) : max(start - 1, 1)]
        after = self.steps[min(stop, len(self.steps) - 1) : stop + 4]
        return float(max(np.median(before), np.median(after)))


def measure_steps(clip: Clip) -> BodySteps:
    """Measure the steps of a clip of two frames or more."""
    weights, size = _weigh_bones(clip)
    steps, changes = [], []
    for start in range(0, clip.frame_count - 1, NUMBERS.frames_at_once):
        part = clip.crop(max(start - 1, 0), start + NUMBERS.frames_at_once + 1)
        ways = np.diff(part.compute_world()[1].astype(np.float64), axis=0)
        steps.append(_average(ways[1 if start else 0 :], weights))
        changes.append(_average(np.diff(ways, axis=0), weights))
    return BodySteps(np.concatenate(steps), np.concatenate(changes), size, weights)


def _weigh_bones(clip: Clip) -> tuple[np.ndarray, float]:
    """Return the weights (B,) of bones by their lengths, and the size of the body in metres.

    Bones that slide in their parents, as hips below a root, have no length.
    """
    sample = slice(None, None, max(clip.frame_count // NUMBERS.size_frames, 1))
    positions, rotations = clip.positions[sample], clip.rotations[sample]
    lengths = np.linalg.norm(np.median(positions, axis=0), axis=-1).astype(np.float64)
    lengths[find_sliding_bones(clip)] = 0.0
    if not lengths.any():  # bones without parents, such as controls
        lengths[:] = 1.0
    _, points = quat.fk(rotations, positions, clip.skeleton.parents)
    extents = np.linalg.norm(np.ptp(points[:, lengths > 0.0], axis=1), axis=-1)
    return lengths / lengths.sum(), float(np.median(extents))


def _average(ways: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the root mean squares (...) of ways (..., B, 3) of weighted bones (B,)."""
    return np.sqrt(np.sum(ways**2, axis=-1) @ weights)
