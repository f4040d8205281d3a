"""What a live session warns of: speeds that the clips do not have, and ticks that take too long."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..engine.control.performer import Frame
    from ..engine.matching.database import Database


class Alerts:
    """Warnings of a session on a database."""

    def __init__(self, database: Database) -> None:
        from ..engine.matching import statistics

        self._fastest = statistics.fastest_of(database)
        self._direction_of, self._is_in_data = statistics.direction_of, statistics.is_in_data

    def of(
        self, frame: Frame, matches_data: bool, slowest: float, budget: float
    ) -> tuple[str, ...]:
        """What there is to warn of at a tick: `slowest` and `budget` are seconds that one took lately and may take.

        `matches_data` says whether full speeds are those of the data already.
        """
        found = []
        lacking = self._lacking(frame)
        if lacking:
            found.append(
                f"{lacking}: {'add such clips' if matches_data else 'Match Speeds to Data'}"
            )
        if slowest > budget:
            found.append(
                f"A tick took {1000.0 * slowest:.1f} ms, and may take {1000.0 * budget:.3g}"
            )
        return tuple(found)

    def _lacking(self, frame: Frame) -> str:
        """Which speed is wanted and not in the data, or nothing."""
        x, y = frame.desired_velocity
        speed, c, s = math.hypot(x, y), math.cos(frame.desired_yaw), math.sin(frame.desired_yaw)
        direction = self._direction_of(c * x + s * y, c * y - s * x)
        fastest = getattr(self._fastest, direction)
        if self._is_in_data(speed, fastest):
            return ""
        where = "to the side" if direction == "side" else direction
        return f"The clips go {fastest:.1f} m/s {where}, not {speed:.1f}"
