"""Compute where a solution places feet, and how ankles and knees move with its unknowns."""

from __future__ import annotations

import numpy as np

from ...ground.footholds import measure_slopes
from ...ground.ground import compute_step_heights
from ...maths.rotations import quat
from .banded import Quantity
from .feet_plan import Feet, FootTrack
from .numbers import NUMBERS

HIPS = Quantity(np.array([0]))  # how far the hips come down


class FeetPlacement:
    """Where unknowns (T, K) have toes, ankles, knees and hips.

    The first unknown is how far hips come down. Those of a foot follow each other: x, y and z of
    its toe, and how far its ankle has pitched along its circle, in metres.
    """

    def __init__(self, feet: Feet, values: np.ndarray) -> None:
        self.values = values
        self._feet = feet.feet
        self.drop = values[:, 0]
        self.toes = [values[:, foot.column : foot.column + 3] for foot in feet.feet]
        self.arms = [self._pitch(foot) for foot in feet.feet]
        # the ways (T, 3) from hips to ankles, and their lengths (T,)
        self.ways = [self._measure_way(k) for k in range(len(feet.feet))]
        self.reaches = [np.maximum(np.linalg.norm(way, axis=-1), 1e-6) for way in self.ways]
        # how far (T, 3, 5) ankles move for the hips' fall, the toe and its pitch
        self._gains = [self._compute_gains(k) for k in range(len(feet.feet))]
        ground = feet.plan.ground
        self.floors = [compute_step_heights(ground, toe[:, :2], feet.bodies) for toe in self.toes]
        # by how much (T,) the ground below ankles is lower than below toes, along the slope there
        falls = [
            measure_slopes(ground, toe[:, :2], arm[:, :2]) * np.linalg.norm(arm[:, :2], axis=-1)
            for toe, arm in zip(self.toes, self.arms, strict=True)
        ]
        self.heel_floors = []
        self.tip_floors = []
        for foot, floor, fall in zip(feet.feet, self.floors, falls, strict=True):
            self.heel_floors.append(floor - fall)
            self.tip_floors.append(floor + foot.leg.tip_share * fall)

    def _pitch(self, foot: FootTrack) -> np.ndarray:
        angle = self.values[:, foot.column + 3] / foot.size
        return quat.mul_vec(quat.from_angle_axis(angle, foot.axis), foot.arm)

    def _measure_way(self, k: int) -> np.ndarray:
        way = self.toes[k] + self.arms[k] - self._feet[k].hip
        way[:, 2] += self.drop
        return way

    def find_ankle(self, k: int) -> Quantity:
        """Return an ankle's way from its hip, linearized in the unknowns near this placement."""
        column = self._feet[k].column
        return Quantity(np.array([0, *range(column, column + 4)]), self._gains[k])

    def _compute_gains(self, k: int) -> np.ndarray:
        foot = self._feet[k]
        gains = np.zeros((len(foot.toe), 3, 5))
        gains[:, 2, 0] = 1.0
        gains[:, range(3), range(1, 4)] = 1.0
        gains[:, :, 4] = np.cross(foot.axis, self.arms[k]) / foot.size[:, None]
        return gains

    def find_length(self, k: int) -> Quantity:
        """Return how far an ankle is from its hip, as `find_ankle`."""
        ankle = self.find_ankle(k)
        along = self.ways[k] / self.reaches[k][:, None]
        return Quantity(ankle.columns, np.einsum("td,tdc->tc", along, self._gains[k])[:, None, :])

    def measure_stretch(self, k: int) -> np.ndarray:
        """Return how much longer (T,) in metres a leg gets for a radian of its knee."""
        foot = self._feet[k]
        reach = self.reaches[k]
        a, b = foot.upper, foot.lower
        cosine = (reach**2 - a**2 - b**2) / (2.0 * a * b)
        sine = np.sqrt(np.maximum(1.0 - cosine**2, NUMBERS.knee_gain**-2))
        return a * b * sine / reach

    def find_knee(self, k: int) -> tuple[Quantity, np.ndarray]:
        """Return a knee in the world, as `find_ankle`, and where (T, 3) it is."""
        foot = self._feet[k]
        ankle = self.find_ankle(k)
        reach = self.reaches[k]
        along = self.ways[k] / reach[:, None]
        ahead = np.cross(foot.hinge, along)
        ahead -= np.sum(ahead * along, axis=-1, keepdims=True) * along
        ahead = quat.normalize_vectors(ahead)
        a, b = foot.upper, foot.lower
        inner = np.minimum(reach, np.sqrt(1.0 - NUMBERS.knee_gain**-2) * foot.length)
        cosine = np.clip((a**2 + inner**2 - b**2) / (2.0 * a * inner), -1.0, 1.0)
        sine = np.sqrt(1.0 - cosine**2)
        x, y = a * cosine, a * sine
        # the thigh turns with the ankle, and against it when the leg gets longer
        turn = (x / reach)[:, None, None] * (np.eye(3) - along[:, :, None] * along[:, None, :])
        turn -= (y / reach)[:, None, None] * along[:, :, None] * ahead[:, None, :]
        change = (a * cosine / inner - 1.0) / np.maximum(sine, NUMBERS.knee_gain**-2)
        bend = change[:, None] * (cosine[:, None] * ahead - sine[:, None] * along)
        gains = np.einsum(
            "tij,tjc->tic", turn + bend[:, :, None] * along[:, None, :], self._gains[k]
        )
        gains[:, 2, 0] -= 1.0  # hips take their joints with them
        knee = foot.hip + x[:, None] * along + y[:, None] * ahead
        knee[:, 2] -= self.drop
        return Quantity(ankle.columns, gains), knee
