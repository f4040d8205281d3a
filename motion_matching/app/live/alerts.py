"""Warnings of a live session: speeds that the clips do not have, and ticks that take too long."""

from __future__ import annotations

import math

from ...engine.control.performer import Frame
from ...engine.database import statistics
from ...engine.database.database import Database
from ...engine.maths.planar import rotate_xy


class Alerts:
    """Warnings of a session on a database."""

    def __init__(self, database: Database) -> None:
        self._fastest = statistics.measure_top_speeds(database)

    def check(
        self, frame: Frame, matches_data: bool, slowest: float, budget: float
    ) -> tuple[str, ...]:
        """Return the warnings at a tick, given the slowest tick lately and its budget in seconds.

        `matches_data` says whether full speeds are those of the data already.
        """
        warnings = []
        if missing := self._find_missing_speed(frame):
            advice = "add such clips" if matches_data else "Match Speeds to Data"
            warnings.append(f"{missing}: {advice}")
        if slowest > budget:
            took = f"A tick took {1000.0 * slowest:.1f} ms"
            warnings.append(f"{took}, and may take {1000.0 * budget:.3g}")
        return tuple(warnings)

    def _find_missing_speed(self, frame: Frame) -> str:
        """Say which desired speed the data lacks, if it does."""
        x, y = frame.desired_velocity
        speed, seen = math.hypot(x, y), rotate_xy(x, y, -frame.desired_yaw)
        direction = statistics.classify_direction(*seen)
        fastest = getattr(self._fastest, direction)
        if statistics.is_in_data(speed, fastest):
            return ""
        where = "to the side" if direction == "side" else direction
        return f"The clips go {fastest:.1f} m/s {where}, not {speed:.1f}"
