"""Turn wall time into fixed ticks: the only clock of the package."""

from __future__ import annotations

import math

LONGEST_STALL = 0.5  # seconds that are caught up


class Clock:
    """Counts the ticks of 1 / rate seconds that are due, from any time in seconds.

    After a stall only `longest` seconds are caught up, so that slow ticks make no backlog;
    `dropped` is the time left out so far. If time jumps back, as on a looping timeline, counting
    goes on from there.
    """

    def __init__(self, rate: float, longest: float = LONGEST_STALL) -> None:
        self.rate = rate
        self.dropped = 0.0
        self._longest = longest
        self._start: float | None = None  # when tick 0 was due
        self._last = 0.0
        self._ticks_done = 0

    def count_due(self, now: float) -> int:
        """Return how many ticks are due now; the first call only starts the clock."""
        if self._start is None:
            self._start = now
        elif now < self._last:
            self._start += now - self._last
        self._last = now
        # slightly early rather than a tick late, where rounding leaves a time just below its tick
        count = math.floor((now - self._start) * self.rate + 1e-9) - self._ticks_done
        most = max(math.floor(self._longest * self.rate), 1)
        if count > most:
            lost = (count - most) / self.rate
            self._start += lost
            self.dropped += lost
            count = most
        self._ticks_done += count
        return count

    @property
    def fraction(self) -> float:
        """Return the share of the time from the last tick to the next, 0 to 1."""
        if self._start is None:
            return 0.0
        return min(max((self._last - self._start) * self.rate - self._ticks_done, 0.0), 1.0)

    def rebase(self, now: float, longest: float) -> None:
        """Continue with an unrelated time, at which the last tick is due; see the class."""
        self._start = now - self._ticks_done / self.rate
        self._last = now
        self._longest = longest
