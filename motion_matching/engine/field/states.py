"""Motion states: every pose of a database with the velocity that leaves it and the one that follows (notebook 003)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import DatabaseError
from ..matching.database import Database
from ..maths import quat
from . import poses as algebra

_CHUNK = 2048  # frames whose velocities are found together


@dataclass(frozen=True)
class MotionStates:
    """S states m = (x, v) in their own frames: bone 0 of every pose rests at the origin and faces ahead.

    poses (S, 7, B); motions (S, 2, 7, B): the velocity v from each pose to the next and the velocity y from there on, as
    `poses` defines them; contacts (S, L) of the poses that the states lead to, which are what is seen of a tick; frames (S,)
    of the database; tag_masks: of each tag, the states (S,) with it.
    """

    fps: float
    poses: np.ndarray
    motions: np.ndarray
    contacts: np.ndarray
    frames: np.ndarray
    tag_masks: dict[str, np.ndarray]

    @classmethod
    def from_database(
        cls, database: Database, told: Callable[[], None] = lambda: None
    ) -> MotionStates:
        """A state for each frame with two more to follow: none for the last two of a range, all for those of a loop.

        `told` is called now and then, and may raise to stop. DatabaseError where there is none.
        """
        after = database.successors
        frames = np.flatnonzero(database.used & (after >= 0) & (after[after] >= 0))
        if not len(frames):
            raise DatabaseError(
                "The database has no three frames in a row, so no motion field; add longer clips."
            )
        local = np.array(database.poses)
        local[:, :, 0] = [0, 0, 0, 1, 0, 0, 0]
        steps = _steps(database, local, told)
        return cls(
            fps=database.fps,
            poses=local[frames],
            motions=np.stack([steps[frames], steps[after[frames]]], axis=1),
            contacts=np.asarray(database.contacts)[after[frames]],
            frames=frames,
            tag_masks={tag: database.tag_mask({tag})[frames] for tag in database.tag_names},
        )

    def __len__(self) -> int:
        return len(self.poses)

    @property
    def velocities(self) -> np.ndarray:
        """What leads from each pose to the next (S, 7, B)."""
        return self.motions[:, 0]

    @property
    def next_velocities(self) -> np.ndarray:
        """What leads on from there (S, 7, B)."""
        return self.motions[:, 1]

    @cached_property
    def next_poses(self) -> np.ndarray:
        """The poses x ⊕ v (S, 7, B), each in the frame of its x: bone 0 lies where the state's own tick leads it."""
        return algebra.add_joints(self.poses, self.velocities)

    @cached_property
    def root_steps(self) -> np.ndarray:
        """What the simulation bone does in each state's tick (S, 3): x, y in its own axes, and its turn in radians."""
        return root_step(self.velocities)

    def followed(self, database: Database) -> np.ndarray:
        """Of which states (S,) the next one is where their clip leads to."""
        result = np.zeros(len(self), bool)
        result[:-1] = database.successors[self.frames[:-1]] == self.frames[1:]
        return result

    def chains(self, database: Database) -> np.ndarray:
        """Of each state (S,) the number of the run it is in, where each leads to the next; ascending from 0."""
        return np.concatenate([[0], np.cumsum(~self.followed(database)[:-1])])

    def later(self, database: Database, ticks: int) -> np.ndarray:
        """The states (S,) that are so many ticks later in the same run, or its last."""
        chains = self.chains(database)
        return np.minimum(
            np.arange(len(self)) + ticks, chains.searchsorted(chains, side="right") - 1
        )


def root_step(velocity: np.ndarray) -> np.ndarray:
    """Ground motion (..., 3) of a velocity (..., 7, B): metres to x and y in the character's axes, radians of turn."""
    root = velocity[..., 0]
    step = root[..., :3].copy()
    step[..., 2] = 2.0 * np.arctan2(root[..., 6], root[..., 3])
    return step


def _steps(database: Database, local: np.ndarray, told: Callable[[], None]) -> np.ndarray:
    """Velocities (N, 7, B) from every frame to its successor; those of frames without one mean nothing."""
    after = np.maximum(database.successors, 0)
    steps = np.empty_like(local)
    for start in range(0, len(local), _CHUNK):
        told()
        part = slice(start, start + _CHUNK)
        steps[part] = algebra.subtract_joints(local[after[part]], local[part])
    root = database.root_motion / database.fps
    steps[:, :2, 0] = root[:, :2]
    steps[:, 3:, 0] = quat.from_yaw(root[:, 2])
    return steps
