"""A piece of motion on a skeleton."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..maths import quat
from .skeleton import Skeleton


@dataclass(frozen=True)
class Clip:
    """Frames of local bone transforms: `positions` (F, B, 3) metres, `rotations` (F, B, 4), `fps`
    frames per second.

    Rotations are unit quaternions kept on one hemisphere along time. Arrays are float32.
    """

    name: str
    skeleton: Skeleton
    positions: np.ndarray
    rotations: np.ndarray
    fps: float
    warnings: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        expected = (len(self.positions), self.skeleton.bone_count)
        if self.positions.shape != (*expected, 3) or self.rotations.shape != (*expected, 4):
            raise ValueError(
                f"clip '{self.name}' needs positions {(*expected, 3)} and rotations "
                f"{(*expected, 4)}"
            )

    @property
    def frame_count(self) -> int:
        return len(self.positions)

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return max(self.frame_count - 1, 0) / self.fps

    def compute_world(self) -> tuple[np.ndarray, np.ndarray]:
        """Return world rotations (F, B, 4) and positions (F, B, 3)."""
        return quat.fk(self.rotations, self.positions, self.skeleton.parents)

    def crop(self, start: int, stop: int) -> Clip:
        """Return the frames start <= f < stop."""
        return replace(
            self, positions=self.positions[start:stop], rotations=self.rotations[start:stop]
        )


def join_clips(clips: Sequence[Clip]) -> Clip:
    """Join clips of one skeleton and rate end to end, under the name of the first."""
    positions, rotations = (
        np.concatenate([getattr(c, name) for c in clips]) for name in ("positions", "rotations")
    )
    return replace(clips[0], positions=positions, rotations=rotations)
