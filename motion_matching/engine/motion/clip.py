"""A piece of motion on a skeleton."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import MotionDataError
from ..maths import quat
from .skeleton import Skeleton

MOST_POSES = 50_000_000  # frames times bones of a clip, which take some 4 GB while it is read


def check_size(name: str, frames: int, bones: int, cause: str) -> None:
    """Raise MotionDataError, with the likely `cause`, if a clip would not fit into memory."""
    if frames * bones > MOST_POSES:
        raise MotionDataError(
            f"'{name}' would have {frames} frames of {bones} bones, too many for the memory; "
            f"{cause}"
        )


@dataclass(frozen=True)
class Clip:
    """Frames of local bone transforms: `positions` (F, B, 3) in metres and `rotations` (F, B, 4).

    Rotations are unit quaternions kept on one hemisphere along time. Arrays are float32.
    """

    name: str
    skeleton: Skeleton
    positions: np.ndarray
    rotations: np.ndarray
    fps: float
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = (len(self.positions), self.skeleton.bone_count)
        if self.positions.shape != (*shape, 3) or self.rotations.shape != (*shape, 4):
            needs = f"positions {(*shape, 3)} and rotations {(*shape, 4)}"
            raise ValueError(f"clip '{self.name}' needs {needs}")

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
        part = slice(start, stop)
        return replace(self, positions=self.positions[part], rotations=self.rotations[part])


def join_clips(clips: Sequence[Clip]) -> Clip:
    """Join clips of one skeleton and rate end to end, under the name of the first."""
    positions = np.concatenate([clip.positions for clip in clips])
    rotations = np.concatenate([clip.rotations for clip in clips])
    return replace(clips[0], positions=positions, rotations=rotations)
