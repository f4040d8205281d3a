"""What a performer did: poses and where they came from, tick by tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..maths import quat
from ..motion.clip import Clip
from ..motion.skeleton import Skeleton
from .method import Explanation
from .performance import Performance


@dataclass(frozen=True)
class Take:
    """T ticks: poses (T, 7, B) with bone 0 the character in the world, and what explains them.

    unlocked_poses (T, 7, B) are those before the feet were locked; locked (T, L) tells which toes were held.

    frames (T,) of the database, jumped (T,), cost (T,); character and simulation (T, 3) as x, y, yaw, and
    apart (T, 3), how far their steps of a tick led away from each other; desired_velocity
    (T, 2) and desired_yaw (T,) as they were wanted, blocked (T,) where obstacles were right in the way of it;
    contacts (T, L) of the source frames; decisions, the search behind every jump with its tick.
    """

    name: str
    skeleton: Skeleton
    fps: float
    poses: np.ndarray
    unlocked_poses: np.ndarray
    locked: np.ndarray
    frames: np.ndarray
    jumped: np.ndarray
    cost: np.ndarray
    character: np.ndarray
    simulation: np.ndarray
    apart: np.ndarray
    desired_velocity: np.ndarray
    desired_yaw: np.ndarray
    blocked: np.ndarray
    contacts: np.ndarray
    decisions: tuple[tuple[int, Explanation], ...]
    performance: Performance
    settings: dict[str, Any]

    @property
    def frame_count(self) -> int:
        return len(self.poses)

    def sliced(self, start: int, stop: int | None = None) -> Take:
        """The ticks start <= t < stop; the performance stays whole."""
        stop = self.frame_count if stop is None else stop
        arrays: dict[str, Any] = {name: getattr(self, name)[start:stop] for name in _per_tick(self)}
        decisions = tuple(
            (tick - start, told) for tick, told in self.decisions if start <= tick < stop
        )
        return replace(self, decisions=decisions, **arrays)

    def clip(self) -> Clip:
        """The poses as a clip whose bone 0 is the simulation bone."""
        poses = self.poses.transpose(0, 2, 1)
        rotations = quat.unroll(quat.normalize(poses[..., 3:]))
        return Clip(
            self.name, self.skeleton, np.ascontiguousarray(poses[..., :3]), rotations, self.fps
        )


def joined(parts: Sequence[tuple[int, Take]]) -> Take:
    """Takes laid over each other, each from its tick on: where two have a tick, it is the later one's.

    Where none has one, the last before it stays. Name, performance and settings are those of the first.
    """
    first, order = parts[0][1], np.full(max(tick + take.frame_count for tick, take in parts), -1)
    decisions: dict[int, Explanation] = {}
    before = 0
    for tick, take in parts:
        covered = range(tick, tick + take.frame_count)
        order[tick : covered.stop] = before + np.arange(take.frame_count)
        before += take.frame_count
        decisions = {at: told for at, told in decisions.items() if at not in covered}
        decisions |= {tick + at: told for at, told in take.decisions}
    order = order[np.maximum.accumulate(np.where(order < 0, 0, np.arange(len(order))))]
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(take, name) for _, take in parts])[order]
        for name in _per_tick(first)
    }
    return replace(first, decisions=tuple(sorted(decisions.items())), **arrays)


def _per_tick(take: Take) -> list[str]:
    """The names of what a take has for each tick."""
    return [f.name for f in fields(take) if isinstance(getattr(take, f.name), np.ndarray)]
