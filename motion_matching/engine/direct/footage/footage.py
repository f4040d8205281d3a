"""Frames of a database for a director, in body units: one set of tolerances suits all creatures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...database.database import Database
from ...maths import planar
from ...scale import Scale
from ..numbers import NUMBERS
from ..objective import COSTS
from ..shot.mark import Pose


@dataclass(frozen=True)
class Footage:
    """N frames with the K joints that show a jump: toes first, then hips, head and hands.

    - `track` (N, 3): x, y and yaw of the simulation bone; `root` (N, 3): its velocity in its own
      axes; `contacts` (N, L) of the toes
    - `places` and `speeds` (N, K, 3): the joints in the character's frame; `weights` (K,)
    - `left` (N,): how many frames can be played on from each; `before` (N,): the frame before each
    - `candidates` (N,): frames that a jump may lead to
    """

    database: Database
    world: Database  # the same in the units of the world
    fps: float
    track: np.ndarray
    root: np.ndarray
    contacts: np.ndarray
    places: np.ndarray
    speeds: np.ndarray
    weights: np.ndarray
    left: np.ndarray
    before: np.ndarray
    candidates: np.ndarray

    @property
    def frame_count(self) -> int:
        return len(self.track)

    @property
    def scale(self) -> Scale:
        """The scale of the character."""
        return self.world.scale

    @cached_property
    def speed(self) -> np.ndarray:
        """Speed (N,) of the root in m/s."""
        return np.asarray(np.hypot(self.root[:, 0], self.root[:, 1]), np.float32)

    @cached_property
    def foot_speed(self) -> np.ndarray:
        """Speed (N,) of the fastest foot in the world, in m/s."""
        toes = self.contacts.shape[1]
        aside = self.root[:, 2, None] * self.places[:, :toes, 1]
        ahead = self.root[:, 2, None] * self.places[:, :toes, 0]
        x = self.root[:, 0, None] - aside + self.speeds[:, :toes, 0]
        y = self.root[:, 1, None] + ahead + self.speeds[:, :toes, 1]
        return np.asarray(np.hypot(x, y).max(axis=1, initial=0.0), np.float32)

    @cached_property
    def climb(self) -> np.ndarray | None:
        """Rate (N,) at which the ground rises below the root, in m/s; None on level ground."""
        if self.database.ground is None:
            return None
        return np.asarray(self.database.climb_rates, np.float32)

    @cached_property
    def farthest(self) -> np.ndarray:
        """Largest distance in metres (S,) that the data covers within each multiple of 0.25 s."""
        candidates = np.flatnonzero(self.candidates)
        steps = range(1, round(NUMBERS.reach_seconds / NUMBERS.reach_step) + 1)
        far = [0.0]
        for step in steps:
            ahead = self.compute_ahead(round(step * NUMBERS.reach_step * self.fps))[candidates]
            far.append(float(np.hypot(ahead[:, 0], ahead[:, 1]).max(initial=0.0)))
        return np.maximum.accumulate(far)

    @cached_property
    def _known_ahead(self) -> dict[int, np.ndarray]:
        return {}

    def get_ahead(self, frames: int) -> np.ndarray:
        """Return the result of `compute_ahead`, kept for the next search."""
        if frames not in self._known_ahead:
            self._known_ahead[frames] = self.compute_ahead(frames)
        return self._known_ahead[frames]

    @cached_property
    def pose_costs(self) -> dict[Pose | str, np.ndarray]:
        """Distances (N,) of the frames from requested poses, kept between searches."""
        return {}

    @cached_property
    def part_places(self) -> dict[str, np.ndarray]:
        """Places (N, 3) of body parts from the simulation bone by name, kept between searches."""
        return {}

    def compute_ahead(self, frames: int) -> np.ndarray:
        """Return how far (N, 3) playing on for some frames leads, in each frame's own axes.

        Beyond the end of the data, its last motion continues.
        """
        n = np.arange(self.frame_count)
        later = n + np.minimum(frames, self.left)
        moved = self.track[later] - self.track
        place = planar.rotate(moved[:, :2], -self.track[:, 2])
        turn = moved[:, 2]
        missing = (n + frames - later) / self.fps
        rate = self.root[later].astype(np.float64)
        heading = turn + 0.5 * rate[:, 2] * missing
        place = place + planar.rotate(rate[:, :2], heading) * missing[:, None]
        return np.column_stack([place, turn + rate[:, 2] * missing]).astype(np.float32)


def make_footage(database: Database, end_guard: float = NUMBERS.end_guard) -> Footage:
    """Return the footage of a database; jumps lead to frames with `end_guard` seconds to go."""
    world = database
    database = database.in_body_units
    bones, weights = _choose_joints(database)
    places = compute_places(database, bones)
    frames = np.arange(database.frame_count)
    starts = database.starts[database.range_of_frame]
    return Footage(
        database,
        world,
        database.fps,
        database.track,
        database.root_motion.astype(np.float32),
        np.asarray(database.contacts),
        places,
        _differentiate(places, database),
        weights,
        _count_frames_left(database),
        np.maximum(frames - 1, starts),
        database.find_candidates(end_guard),
    )


def _choose_joints(database: Database) -> tuple[list[int], np.ndarray]:
    """Return the joints that decide the price of a jump, and their weights (K,)."""
    roles = database.roles
    parents = database.skeleton.parents
    toes = [leg.toe for leg in roles.legs]
    legs = set(np.ravel(roles.leg_bones).tolist())
    leaves = set(range(1, len(parents))) - set(parents.tolist())
    ends = sorted(b for b in leaves if not legs & {b, *database.skeleton.get_ancestors(b)})
    weights = [COSTS.toe] * len(toes) + [COSTS.hips] + [COSTS.ends / max(len(ends), 1)] * len(ends)
    return [*toes, roles.hips, *ends], np.array(weights, np.float32)


def compute_places(database: Database, bones: list[int]) -> np.ndarray:
    """Return where (N, K, 3) bones are in every frame, from the simulation bone, in metres."""
    result = np.empty((database.frame_count, len(bones), 3), np.float32)
    for first in range(0, database.frame_count, NUMBERS.frames_at_once):
        poses = np.asarray(database.poses[first : first + NUMBERS.frames_at_once])
        result[first : first + NUMBERS.frames_at_once] = database.skeleton.compute_bone_positions(
            bones, poses, root=0
        )
    return result


def _differentiate(places: np.ndarray, database: Database) -> np.ndarray:
    """Return velocities (N, K, 3) of places, each range by itself."""
    speeds = np.zeros_like(places)
    for start, stop in zip(database.starts.tolist(), database.stops.tolist(), strict=True):
        if stop - start > 1:
            speeds[start:stop] = np.gradient(places[start:stop], 1.0 / database.fps, axis=0)
    return speeds


def _count_frames_left(database: Database) -> np.ndarray:
    """Return how many frames (N,) follow each before its clip ends or may not be played."""
    n = np.arange(database.frame_count)
    goes_on = database.playable.copy()
    goes_on[:-1] &= database.playable[1:]
    goes_on[database.stops - 1] = False
    ends = np.flatnonzero(~goes_on)
    return ends[np.searchsorted(ends, n)] - n
