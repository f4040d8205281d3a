"""Wall time into fixed ticks: the only clock there is."""

from __future__ import annotations

import math

LONGEST_STALL = 0.5  # seconds that are made up for


class Clock:
    """Counts the ticks of 1 / rate that are due, from any monotonic time in seconds.

    After a stall of more than `longest` seconds only so much is made up for: `dropped` says how much time was left
    out so far, and no backlog grows where ticks take longer than they last. Time that runs backwards, as a timeline
    that loops, counts from where it goes on.
    """

    def __init__(self, rate: float, longest: float = LONGEST_STALL) -> None:
        self.rate = rate
        self.dropped = 0.0
        self._longest = longest
        self._start: float | None = None  # when tick 0 was due
        self._last = 0.0
        self._done = 0
        self._paused = False

    def due(self, now: float) -> int:
        """How many ticks are to be made now; the first call only starts the clock."""
        if self._start is None:
            self._start = now
        elif self._paused or now < self._last:
            self._start += now - self._last
        self._last = now
        # a hair early rather than a tick late where rounding leaves a time just below its tick
        count = math.floor((now - self._start) * self.rate + 1e-9) - self._done
        most = max(math.floor(self._longest * self.rate), 1)
        if count > most:
            lost = (count - most) / self.rate
            self._start += lost
            self.dropped += lost
            count = most
        self._done += count
        return count

    @property
    def fraction(self) -> float:
        """How far the time has gone from the last tick to the next, 0..1."""
        if self._start is None:
            return 0.0
        return min(max((self._last - self._start) * self.rate - self._done, 0.0), 1.0)

    @property
    def is_paused(self) -> bool:
        return self._paused

    def go_on(self, now: float, longest: float = LONGEST_STALL) -> None:
        """Go on by another time, whatever that has to do with the one so far: the last tick is due right now."""
        self._start = now - self._done / self.rate
        self._last, self._longest = now, longest

    def pause(self, now: float) -> int:
        """Stand still from now on; returns the ticks that are due before."""
        count = self.due(now)
        self._paused = True
        return count

    def resume(self, now: float) -> None:
        """Go on; what has passed meanwhile does not count."""
        self.due(now)
        self._paused = False
