"""What a performer did: poses and their origin, tick by tick."""

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
    """T ticks: poses (T, 7, B), whose bone 0 is the character in the world, and what explains them.

    - `unlocked_poses` (T, 7, B) are the poses before the feet were locked, `locked` (T, L) the toes
      locked
    - `frames` (T,) of the database, `jumped` (T,), `cost` (T,)
    - `character` and `simulation` (T, 3): x, y and yaw
    - `apart` (T, 3): the step of the simulation object less that of the data, before they are
      reconciled
    - `desired_velocity` (T, 2) and `desired_yaw` (T,); `blocked` (T,) where obstacles prevent it
    - `contacts` (T, L) of the source frames
    - `decisions`: the tick of each jump and the search behind it


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

    def crop(self, start: int, stop: int | None = None) -> Take:
        """Return the ticks start <= t < stop; the performance stays whole."""
        stop = self.frame_count if stop is None else stop
        arrays: dict[str, Any] = {
            name: getattr(self, name)[start:stop] for name in _get_tick_fields(self)
        }
        decisions = tuple(
            (tick - start, explanation)
            for tick, explanation in self.decisions
            if start <= tick < stop
        )
        return replace(self, decisions=decisions, **arrays)

    def to_clip(self) -> Clip:
        """Return the poses as a clip whose bone 0 is the simulation bone."""
        poses = self.poses.transpose(0, 2, 1)
        rotations = quat.unroll(quat.normalize(poses[..., 3:]))
        return Clip(
            self.name, self.skeleton, np.ascontiguousarray(poses[..., :3]), rotations, self.fps
        )


def join(parts: Sequence[tuple[int, Take]]) -> Take:
    """Join takes, each given with the tick it starts at; where two overlap, the later one in the
    list counts.

    Gaps hold the last pose. Name, performance and settings are those of the first take.
    """
    first, order = parts[0][1], np.full(max(tick + take.frame_count for tick, take in parts), -1)
    decisions: dict[int, Explanation] = {}
    before = 0
    for tick, take in parts:
        covered = range(tick, tick + take.frame_count)
        order[tick : covered.stop] = before + np.arange(take.frame_count)
        before += take.frame_count
        decisions = {at: why for at, why in decisions.items() if at not in covered}
        decisions |= {tick + at: why for at, why in take.decisions}
    order = order[np.maximum.accumulate(np.where(order < 0, 0, np.arange(len(order))))]
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(take, name) for _, take in parts])[order]
        for name in _get_tick_fields(first)
    }
    return replace(first, decisions=tuple(sorted(decisions.items())), **arrays)


def _get_tick_fields(take: Take) -> list[str]:
    """Return the names of the arrays with a row per tick."""
    return [f.name for f in fields(take) if isinstance(getattr(take, f.name), np.ndarray)]
