"""Play moments of a database: its frames, and times between them, at any rate.

A moment is a frame and the share of one, from -0.5 to 0.5, by which it is later. Frames played at
their own rate are not interpolated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..database.database import Database
from ..facts.character import find_played_toes
from ..feet.played_toes import LAND, MOVING, NEVER, PLACE, STAYS, UNTIL, PlayedToes
from ..ground.footholds import Footing
from ..maths.planar import rotate_xy
from ..maths.rotations.component_quat import mix_poses
from .numbers import NUMBERS

_WHOLE = 1.0 - 1e-9  # share from which the next frame is reached: shares are added up

State = tuple[np.ndarray, np.ndarray, np.ndarray]


class Moment(NamedTuple):
    """A frame of a database, and the share of one, from -0.5 to 0.5, by which a moment is later."""

    frame: int
    share: float = 0.0


class Moments:
    """Shows the moments of a database.

    A `rate` is the number of the data's seconds per second: velocities grow with it.
    """

    def __init__(self, database: Database) -> None:
        # plain views: taking a row of a memory-mapped array is ten times slower
        self.poses, self._velocities = np.asarray(database.poses), np.asarray(database.velocities)
        self._contacts = np.asarray(database.contacts)
        self.root_motion = database.root_motion.astype(np.float32)
        self.successors = database.successors
        self._fps = database.fps
        self._toes = database.derive(find_played_toes)
        self._predecessors = database.predecessors

    def get_state(self, moment: Moment, rate: float = 1.0) -> State:
        """Return pose (7, B), velocities (6, B) and root velocity (3,) of a moment."""
        frame, share = moment
        pose = self.get_pose(moment)
        velocity = self._velocities[frame]
        root = self.root_motion[self._predecessors.item(frame) if share < 0.0 else frame]
        if share != 0.0:
            velocity = velocity + np.float32(abs(share)) * (
                self._velocities[self._find_neighbour(moment)] - velocity
            )
        if rate != 1.0:
            velocity = np.float32(rate) * velocity
            root = np.float32(rate) * root
        return pose, velocity, root

    def get_pose(self, moment: Moment) -> np.ndarray:
        """Return the pose (7, B) of a moment; bone 0 is in the data's world, and unused."""
        pose = self.poses[moment.frame]
        if moment.share == 0.0:
            return pose
        other = self.poses[self._find_neighbour(moment)]
        return mix_poses(pose, other, np.array(abs(moment.share)))

    def get_contacts(self, moment: Moment) -> np.ndarray:
        """Return the contacts (L,) of a moment: between frames, those of both."""
        contacts = self._contacts[moment.frame]
        if moment.share == 0.0:
            return contacts
        return contacts & self._contacts[self._find_neighbour(moment)]

    def _find_neighbour(self, moment: Moment) -> int:
        """Return the frame on the other side of a moment between frames."""
        frames = self._predecessors if moment.share < 0.0 else self.successors
        return frames.item(moment.frame)

    def go_on(self, moment: Moment, rate: float) -> tuple[Moment, np.ndarray]:
        """Return the moment a tick later, and the root's velocity (3,) on the way.

        It ends at a dead end, though the root goes on.
        """
        frame, share = moment
        if rate == 1.0 and share == 0.0:
            successor = self.successors.item(frame)
            return Moment(successor if successor >= 0 else frame), self.root_motion[frame]
        low, now = (self._predecessors.item(frame), share + 1.0) if share < 0.0 else moment
        x = y = turn = 0.0
        left = rate
        after = self.successors.item(low)
        while left > 0.0 and after >= 0:
            part = min(1.0 - now, left)
            x, y, turn = self._add_way(low, part, (x, y, turn))
            now = now + part
            left = left - part
            if now >= _WHOLE:
                low = after
                now = 0.0
                after = self.successors.item(low)
        if after < 0:
            return Moment(low), np.array(self._add_way(low, left, (x, y, turn)), np.float32)
        root = np.array((x, y, turn), np.float32)
        if rate == 1.0:  # the same share, or rounding might show another frame
            return Moment(self.successors.item(frame), share), root
        return Moment(after, now - 1.0) if now >= 0.5 else Moment(low, now), root

    def _add_way(
        self, frame: int, share: float, way: tuple[float, float, float]
    ) -> tuple[float, float, float]:
        """Return a way of x, y and turn that goes on by a share of a frame's, all times fps."""
        x, y, turn = way
        vx, vy, rate = self.root_motion[frame].tolist()
        dx, dy = rotate_xy(share * vx, share * vy, turn / self._fps)
        return x + dx, y + dy, turn + share * rate

    def follow(self, frame: int, count: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the poses (K, 7, B) of some ticks after a frame, and root velocities (K, 3)."""
        if rate == 1.0:
            end = frame + count
            return self.poses[frame + 1 : end + 1], self.root_motion[frame:end]
        moment = Moment(frame)
        poses = np.empty((count, *self.poses.shape[1:]), np.float32)
        roots = np.empty((count, 3), np.float32)
        for tick in range(count):
            moment, roots[tick] = self.go_on(moment, rate)
            poses[tick] = self.get_pose(moment)
        return poses, roots

    def get_toes(self, moment: Moment, rate: float, root: np.ndarray, jumped: bool) -> PlayedToes:
        """Return the toes of a moment that is reached at a rate, with a root's velocity (3,).

        They land and leave in whole ticks.
        """
        frame, share = moment
        rows = self._toes[frame]
        if share == 0.0 and rate == 1.0:
            return PlayedToes(rows, root, jumped)
        rows = rows.copy()
        stands = self.get_contacts(moment)
        touches = (rows[:, STAYS] > 0.0) & ~stands & (share < 0.0)
        ticks = (self._fps * rows[:, [STAYS, UNTIL]] - (1.0 + share, share)) / rate
        ticks[:, 0] = np.where(stands, np.floor(ticks[:, 0] + NUMBERS.even_tick) + 1.0, 0.0)
        ticks[:, 1] = np.ceil(np.where(touches, -share / rate, ticks[:, 1]) - NUMBERS.even_tick)
        lands = touches | (rows[:, UNTIL] < NEVER)
        rows[touches, LAND] = rows[touches, PLACE]
        if share != 0.0:
            other = self._toes[self._find_neighbour(moment), :, MOVING]
            rows[:, MOVING] += np.float32(abs(share)) * (other - rows[:, MOVING])
            rows[:, LAND] = self._see_later(rows[:, LAND], moment)
        rows[:, 2:4] *= rate
        rows[:, STAYS] = ticks[:, 0] / self._fps
        rows[:, UNTIL] = np.where(lands, ticks[:, 1] / self._fps, NEVER)
        return PlayedToes(rows, root, jumped)

    def _see_later(self, places: np.ndarray, moment: Moment) -> np.ndarray:
        """Transform places (L, 2) from a frame's character to the character of a moment."""
        frame, share = moment
        vx, vy, turn = self.root_motion[
            self._predecessors.item(frame) if share < 0.0 else frame
        ].tolist()
        seconds = share / self._fps
        away = places - (seconds * vx, seconds * vy)
        c, s = np.cos(turn * seconds), np.sin(turn * seconds)
        return np.asarray(away @ np.array([[c, -s], [s, c]], np.float32))

    def get_footing(self, footing: Footing, share: float, rate: float) -> Footing:
        """Return a frame's footing a share of a frame later, at a rate."""
        if share == 0.0 and rate == 1.0:
            return footing
        rise = footing.climbs * share / self._fps
        return Footing(tuple(foot - rise for foot in footing.feet), rate * footing.climbs)
