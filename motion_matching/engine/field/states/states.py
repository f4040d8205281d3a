"""Motion states: every pose of a database with its velocity and the next one (notebook 003)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...database.database import Database
from ...errors import DatabaseError
from ...maths.numeric import arctan2
from ...maths.rotations import quat
from ..numbers import NUMBERS
from . import poses as algebra


@dataclass(frozen=True)
class MotionStates:
    """S states m = (x, v) in their own frames: bone 0 rests at the origin and faces ahead.

    - `poses` (S, 7, B)
    - `motions` (S, 2, 7, B): the velocity v from each pose to the next, and the velocity y after it
    - `contacts` (S, L) of the poses that the states lead to, which a tick shows
    - `frames` (S,) of the database
    - `tag_masks`: for each tag, the states (S,) that carry it
    """

    fps: float
    poses: np.ndarray
    motions: np.ndarray
    contacts: np.ndarray
    frames: np.ndarray
    tag_masks: dict[str, np.ndarray]

    @classmethod
    def from_database(
        cls, database: Database, check_cancelled: Callable[[], None] = lambda: None
    ) -> MotionStates:
        """Make a state of each frame that two more follow; DatabaseError if there is none."""
        database = database.in_body_units
        after = database.successors
        # a field has no wish for heights: it plays motion on level ground, if there is any
        plays = database.playable & database.level
        frames = np.flatnonzero(plays & (after >= 0) & (after[after] >= 0))
        if not len(frames):
            raise DatabaseError(
                "The database has no three frames in a row, as a motion field needs; add longer "
                "clips."
            )
        local = np.array(database.poses)
        local[:, :, 0] = [0, 0, 0, 1, 0, 0, 0]
        steps = _compute_velocities(database, local, check_cancelled)
        return cls(
            fps=database.fps,
            poses=local[frames],
            motions=np.stack([steps[frames], steps[after[frames]]], axis=1),
            contacts=np.asarray(database.contacts)[after[frames]],
            frames=frames,
            tag_masks={tag: database.make_tag_mask({tag})[frames] for tag in database.tag_names},
        )

    def __len__(self) -> int:
        return len(self.poses)

    @property
    def velocities(self) -> np.ndarray:
        """The velocities (S, 7, B) from each pose to the next."""
        return self.motions[:, 0]

    @cached_property
    def next_poses(self) -> np.ndarray:
        """The poses x ⊕ v (S, 7, B), each in the frame of its x."""
        return algebra.add_joints(self.poses, self.velocities)

    @cached_property
    def root_steps(self) -> np.ndarray:
        """The steps (S, 3) of the simulation bone: metres in its own axes, radians of turn."""
        return compute_root_step(self.velocities)

    def find_at(self, frame: int) -> int:
        """Return the state of a frame, or the last before it: the ends of clips have none."""
        return max(int(self.frames.searchsorted(frame, side="right")) - 1, 0)

    def find_followed(self, database: Database) -> np.ndarray:
        """Return which states (S,) are followed by the next state in their clip."""
        result = np.zeros(len(self), bool)
        result[:-1] = database.successors[self.frames[:-1]] == self.frames[1:]
        return result

    def find_lasting(self, database: Database, ticks: int) -> np.ndarray:
        """Return the states (S,) after which the data goes on for some ticks; loops do for ever."""
        frames = self.frames
        for _ in range(ticks):
            frames = np.where(frames >= 0, database.successors[frames], -1)
        return frames >= 0

    def compute_chains(self, database: Database) -> np.ndarray:
        """Return the number (S,) of each state's chain, a run of states that follow each other."""
        return np.concatenate([[0], np.cumsum(~self.find_followed(database)[:-1])])

    def find_later(self, database: Database, ticks: int) -> np.ndarray:
        """Return the states (S,) some ticks later in the same chain, or its last ones."""
        chains = self.compute_chains(database)
        last = chains.searchsorted(chains, side="right") - 1
        return np.minimum(np.arange(len(self)) + ticks, last)


def compute_root_step(velocity: np.ndarray) -> np.ndarray:
    """Return the steps (..., 3) of velocities (..., 7, B): metres in own axes, radians of turn."""
    root = velocity[..., 0]
    step = root[..., :3].copy()
    step[..., 2] = 2.0 * arctan2(root[..., 6], root[..., 3])
    return step


def _compute_velocities(
    database: Database, local: np.ndarray, check_cancelled: Callable[[], None]
) -> np.ndarray:
    """Return velocities (N, 7, B) from every frame to its successor; arbitrary if it has none."""
    after = np.maximum(database.successors, 0)
    steps = np.empty_like(local)
    for start in range(0, len(local), NUMBERS.states_at_once):
        check_cancelled()
        part = slice(start, start + NUMBERS.states_at_once)
        steps[part] = algebra.subtract_joints(local[after[part]], local[part])
    root = database.root_motion / database.fps
    steps[:, :2, 0] = root[:, :2]
    steps[:, 3:, 0] = quat.from_yaw(root[:, 2])
    return steps
