"""Price what a search is asked for beside its guide: poses, places of parts, and free room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...maths import planar
from ..footage.footage import Footage
from ..numbers import NUMBERS
from ..objective import COSTS
from ..obstacles.obstruction import Obstruction

Places = tuple[np.ndarray, np.ndarray, np.ndarray]  # x, y and yaw (S,) each
Costs = np.ndarray | float


class PartAim(NamedTuple):
    """A part wanted at a place (2,) at a tick; its `offsets` (N, 2) are by frame."""

    tick: int
    place: tuple[float, float]
    offsets: np.ndarray

    def measure(self, offsets: np.ndarray, places: Places) -> np.ndarray:
        """Return the cost (S,) of characters with the part at offsets (S, 2)."""
        x, y, yaw = places
        away = planar.rotate(offsets, yaw)
        dx, dy = x + away[:, 0] - self.place[0], y + away[:, 1] - self.place[1]
        return np.asarray(COSTS.part_away * (dx * dx + dy * dy))


class Aims:
    """Costs of states by step: for poses, by `costs` (N,) of frames, and for parts.

    Each is measured once at its step; before that, by where playing on from a state leads.
    """

    def __init__(
        self,
        footage: Footage,
        costs: Mapping[int, np.ndarray],
        parts: Sequence[PartAim],
        stride: int,
    ) -> None:
        self._footage = footage
        self._stride = stride
        self._ahead = round(NUMBERS.part_ahead * footage.fps)
        frames = np.arange(footage.frame_count)
        self._costs = {
            tick // stride: of_frames[self._play_on(frames, tick % stride)]
            for tick, of_frames in costs.items()
        }
        self._parts = []
        for tick, place, offsets in parts:
            ahead = self._look(frames, tick % stride, offsets)
            self._parts.append(PartAim(tick // stride, place, ahead))
        self.near = list(self._find_near(footage.candidates))

    def _play_on(self, frames: np.ndarray, ticks: int) -> np.ndarray:
        """Return the frames (S,) shown a number of ticks after others."""
        return np.asarray(frames + np.minimum(ticks, self._footage.left[frames]))

    def _look(self, frames: np.ndarray, ticks: int, offsets: np.ndarray) -> np.ndarray:
        """Return places (S, 2) of a part a number of ticks after frames (S,), seen from these."""
        if not ticks:
            return np.asarray(offsets[frames])
        ahead = self._footage.get_ahead(ticks)[frames]
        later = offsets[self._play_on(frames, ticks)]
        return np.asarray(ahead[:, :2] + planar.rotate(later, ahead[:, 2]))

    def _find_near(self, candidates: np.ndarray) -> Iterator[tuple[int, int]]:
        """Yield for each pose its step with frames that are nearest to it, of several moments."""
        apart = max(self._ahead, 1)
        for step, costs in self._costs.items():
            order = np.argsort(np.where(candidates, costs, np.inf), kind="stable")
            order = order[: NUMBERS.pose_moments * apart]
            first = np.sort(np.unique(order // apart, return_index=True)[1])
            yield from ((step, int(frame)) for frame in order[first[: NUMBERS.pose_moments]])

    def measure_poses(self, step: int, frames: np.ndarray) -> Costs:
        """Return the cost (S,) of frames at a step for the pose requested then."""
        return self._costs[step][frames] if step in self._costs else 0.0

    def measure_parts(self, step: int, frames: np.ndarray, places: Places) -> Costs:
        """Return the cost (S,) of frames at a step, at places, for where their parts are."""
        aims = (aim for aim in self._parts if aim.tick == step)
        return sum((aim.measure(aim.offsets[frames], places) for aim in aims), 0.0)

    def look_ahead(self, step: int, frames: np.ndarray, places: Places) -> tuple[Costs, Costs]:
        """Return the cost (S,) of poses and parts that playing on would miss."""
        for_poses: Costs = 0.0
        for_parts: Costs = 0.0
        for at, costs in self._costs.items():
            ticks = (at - step) * self._stride
            if 0 < ticks < self._ahead:
                later = costs[self._play_on(frames, ticks)]
                for_poses = for_poses + later * (1.0 - ticks / self._ahead)
        for aim in self._parts:
            ticks = (aim.tick - step) * self._stride
            if 0 < ticks < self._ahead:
                price = aim.measure(self._look(frames, ticks, aim.offsets), places)
                hope = np.minimum(price, COSTS.most_part_hope)
                for_parts = for_parts + hope * (1.0 - ticks / self._ahead)
        return for_poses, for_parts


def price_nearness(
    obstruction: Obstruction,
    footage: Footage,
    frames: np.ndarray,
    start: np.ndarray,
    stop: np.ndarray,
    yaw: np.ndarray,
) -> np.ndarray:
    """Return the cost (S,) of ways from start to stop (S, 2) for coming too near to obstacles.

    Characters end in frames (S,), facing yaws (S,).
    """
    radius = obstruction.radius
    legs = footage.contacts.shape[1]
    room = radius + NUMBERS.search_beside
    away = obstruction.measure_ways(start, stop, room)
    cost = _price(away, radius) + COSTS.beside * np.maximum(room - away, 0.0)
    hips = stop + planar.rotate(footage.places[frames, legs, :2], yaw)
    cost = cost + _price(obstruction.measure_distances(hips, radius), radius)
    for leg in range(legs):
        toes = stop + planar.rotate(footage.places[frames, leg, :2], yaw)
        away = obstruction.measure_distances(toes, radius)
        cost = cost + _price(away, NUMBERS.toe_tip) + COSTS.toes * np.maximum(radius - away, 0.0)
    return np.asarray(cost)


def _price(away: np.ndarray, least: float) -> np.ndarray:
    """Return the cost (S,) of a step that is within a distance (S,) of obstacles."""
    return np.where(away < least, COSTS.inside + COSTS.deeper * (least - away), 0.0)
