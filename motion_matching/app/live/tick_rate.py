"""Measure how fast a live session ticks."""

from __future__ import annotations


class TickRate:
    """Ticks in the last second, and the seconds of an average and of the slowest one."""

    def __init__(self) -> None:
        self.rate, self.seconds, self.slowest = 0.0, 0.0, 0.0
        self._since: float | None = None
        self._ticks, self._spent, self._slowest = 0, 0.0, 0.0

    def add_ticks(self, now: float, ticks: int, seconds: float) -> None:
        """Count ticks that were made for one redraw, and the seconds that they took together."""
        if self._since is None:  # these ticks were made before
            self._since = now
            return
        self._ticks, self._spent = self._ticks + ticks, self._spent + seconds
        if ticks:
            self._slowest = max(self._slowest, seconds / ticks)
        if now - self._since >= 1.0:
            self.rate = self._ticks / (now - self._since)
            self.seconds, self.slowest = self._spent / max(self._ticks, 1), self._slowest
            self._since = now
            self._ticks, self._spent, self._slowest = 0, 0.0, 0.0
