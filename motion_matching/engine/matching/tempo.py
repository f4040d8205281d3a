"""Choose the rate at which motion is played to reach the requested speed, live.

Clips have some speeds, and a stick asks for others. Motion that is some percent too slow or too
fast is played faster or slower to match: the director's tempo, live.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from ..control.trajectory import TrajectoryPoint
from ..database.database import Database
from ..maths.easing import smoothstep
from ..maths.planar import wrap
from ..motion.rest import AT_REST
from .numbers import NUMBERS


class LiveTempo:
    """Finds the rates at which frames reach the speed of a goal."""

    def __init__(self, database: Database) -> None:
        self._count = sum(time > 0.0 for time in database.schema.trajectory_times)
        self._least = AT_REST.moving * database.pace
        self._velocities = database.derive(measure_velocities)
        self._change = NUMBERS.tempo_change / database.fps
        self.apply(0.0)
        self.reset()

    def apply(self, most: float) -> None:
        """Play motion up to a share faster, or slower."""
        self._most = 1.0 + most

    def reset(self) -> None:
        """Play at the data's own rate."""
        self.rate = self._needed = 1.0
        self._missing = 0.0  # share of a speed
        self._steady = 0.0
        self._asked = (0.0, 0.0)

    def ask(self, trajectory: Sequence[TrajectoryPoint]) -> None:
        """Take the speeds requested by the points ahead of a trajectory."""
        ahead = trajectory[len(trajectory) - self._count :] if self._most > 1.0 else ()
        speeds = [math.hypot(point.vx, point.vy) for point in ahead]
        if not ahead or min(speeds) <= self._least:
            self._steady = 0.0
            return
        self._asked = ahead[0].vx, ahead[0].vy
        steady = min(speeds) / max(speeds)
        self._steady = _ease(steady, NUMBERS.tempo_hasty, NUMBERS.tempo_steady)

    def slow_down(self, trajectory: Sequence[TrajectoryPoint]) -> Sequence[TrajectoryPoint]:
        """Return a trajectory at the data's pace: motion played faster is slower there.

        Where the rate does not suffice, other motion fits the request better at its own pace.
        """
        if self._needed == 1.0:
            return trajectory
        by = self._needed ** -_ease(self._missing, NUMBERS.tempo_beyond, 0.0)
        return [
            TrajectoryPoint(by * x, by * y, yaw, by * vx, by * vy, by * rise)
            for x, y, yaw, vx, vy, rise in trajectory
        ]

    def go_on(self, frame: int) -> None:
        """Bring the rate nearer to the played frame's need."""
        self._needed, self._missing = self._find(frame)
        slowest = self.rate - self._change
        fastest = self.rate + self._change
        self.rate = min(max(self._needed, slowest), fastest)

    def _find(self, frame: int) -> tuple[float, float]:
        """Return the rate at which a frame has the requested speed, and the share still missing.

        The rate is 1 for a frame that has that speed, or rests.
        """
        if self._steady == 0.0:
            return 1.0, 0.0
        (x, y), (own_x, own_y) = self._asked, self._velocities[frame].tolist()
        asked = math.hypot(x, y)
        own = math.hypot(own_x, own_y)
        if own <= self._least:
            return 1.0, 0.0
        angle = abs(wrap(math.atan2(own_y, own_x) - math.atan2(y, x)))
        rate = asked / own
        reached = min(max(rate, 1.0 / self._most), self._most)
        share = self._steady * _ease(math.degrees(angle), NUMBERS.tempo_astray, NUMBERS.tempo_along)
        share *= _ease(abs(rate - 1.0), NUMBERS.tempo_alike, NUMBERS.tempo_other)
        return 1.0 + share * (reached - 1.0), max(rate / reached, reached / rate) - 1.0


def _ease(value: float, none: float, full: float) -> float:
    """Ease from 0 at values up to `none` to 1 at values from `full` on."""
    return float(smoothstep((value - none) / (full - none)))


def measure_velocities(database: Database) -> Annotated[np.ndarray, np.float64, ("N", 2)]:
    """Return the root's mean velocity (N, 2) around each frame, in m/s in its own axes."""
    reach = max(round(0.5 * NUMBERS.tempo_step * database.pace * database.fps), 1)
    result = np.empty((database.frame_count, 2))
    for start, stop, origin in zip(database.starts, database.stops, database.ranges, strict=True):
        own = database.root_motion[start:stop, :2]
        count = stop - start
        first = np.arange(count) - reach
        end = np.arange(count) + reach + 1
        if origin.loop:
            own = np.take(own, np.arange(-reach, count + reach), axis=0, mode="wrap")
            first = first + reach
            end = end + reach
        way = np.concatenate([np.zeros((1, 2)), np.cumsum(own, axis=0)])
        first = np.maximum(first, 0)
        end = np.minimum(end, len(own))
        result[start:stop] = (way[end] - way[first]) / (end - first)[:, None]
    return result
