"""Draw performances from what the data does: each piece wishes for the way of a piece of a clip.

So nothing is asked for that the data lacks, and shares of motion follow from which clips are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.ndimage import uniform_filter1d

from ..database.database import Database
from ..maths import planar
from ..motion.rest import AT_REST
from ..performance.intent import Intent
from ..performance.performance import Performance
from .numbers import NUMBERS
from .wants import MeasuredMotion, Want


class WishSource:
    """Draws performances of a database, with a share of each wanted kind of motion."""

    def __init__(self, database: Database, wants: Sequence[Want], end_guard: float) -> None:
        self.database = database
        self.wants = wants
        motion = MeasuredMotion.from_database(database)
        self._kinds = np.array([want.find(motion, database) for want in wants])
        stops = np.asarray(database.stops)[database.range_of_frame]
        self.left = stops - np.arange(database.frame_count)
        begins = database.find_candidates(end_guard)
        enough = self.left >= NUMBERS.shortest_piece * database.fps
        self.begins = np.flatnonzero(begins & enough if (begins & enough).any() else begins)
        self._inside = self._measure_inside()
        self._runs = motion.speed >= database.walk_to_run

    def draw(
        self, rng: np.random.Generator, shares: np.ndarray, seconds: float, name: str
    ) -> Performance:
        """Return a performance that wishes for shares (K,) of each wanted kind."""
        fps = self.database.fps
        count = round(seconds * fps)
        chances = self._rake(shares)
        frames: list[int] = []
        while len(frames) < count:
            first = int(rng.choice(self.begins, p=chances))
            length = min(round(rng.uniform(*NUMBERS.piece) * fps), int(self.left[first]))
            frames += range(first, first + length)
        intents = self._wish(np.array(frames[:count]))
        return Performance(name, fps, intents, seed=int(rng.integers(2**31)))

    def _measure_inside(self) -> np.ndarray:
        """Return the share (K, S) of each kind in the piece ahead of each frame to begin at."""
        sums = np.zeros((len(self.wants), self.database.frame_count + 1))
        sums[:, 1:] = np.cumsum(self._kinds, axis=1) if len(self.wants) else 0.0
        lengths = np.minimum(round(NUMBERS.ahead * self.database.fps), self.left[self.begins])
        return (sums[:, self.begins + lengths] - sums[:, self.begins]) / lengths

    def _rake(self, shares: np.ndarray) -> np.ndarray:
        """Return how likely (S,) each begin is, for shares (K,) of the kinds.

        By raking (Deming and Stephan, 1940): the likelihoods are scaled for each kind by what it
        lacks, again and again, and stay as even as they can.
        """
        chances = np.full(len(self.begins), 1.0 / len(self.begins))
        wanted = np.clip(shares, NUMBERS.rarest, 1.0 - NUMBERS.rarest)
        for _ in range(NUMBERS.rakings):
            if np.abs(self._inside @ chances - wanted).max(initial=0.0) < NUMBERS.rarest:
                break
            for inside, share in zip(self._inside, wanted, strict=True):
                now = float(chances @ inside)
                if 0.0 < now < 1.0:
                    more, less = share / now, (1.0 - share) / (1.0 - now)
                    chances *= more**inside * less ** (1.0 - inside)
                    chances /= chances.sum()
        return chances

    @cached_property
    def _ways(self) -> np.ndarray:
        """Motion (N, 3) on the ground as it is wished for: x and y in m/s, and turn in rad/s."""
        database = self.database
        ways = np.empty_like(database.root_motion)
        for start, stop in zip(database.starts, database.stops, strict=True):
            size = min(2 * int(0.5 * NUMBERS.window * database.fps) + 1, int(stop - start))
            part = database.root_motion[start:stop]
            ways[start:stop] = uniform_filter1d(part, size, axis=0, mode="nearest")
        still = np.hypot(ways[:, 0], ways[:, 1]) < AT_REST.speed * database.pace
        ways[still, :2] = 0.0
        ways[still & (np.abs(ways[:, 2]) < AT_REST.turn), 2] = 0.0
        return ways

    def _wish(self, frames: np.ndarray) -> tuple[Intent, ...]:
        """Return intents for the way and the wanted tags of frames (T,), one after the other."""
        ways = self._ways[frames]
        yaws = np.cumsum(ways[:, 2]) / self.database.fps
        velocities = planar.rotate(ways[:, :2], yaws)
        tagged = [(want.tag, self._kinds[k]) for k, want in enumerate(self.wants) if want.tag]
        return tuple(
            Intent(
                velocity=velocity,
                facing=yaw,
                gait=float(self._runs[frame]),
                tags=frozenset(tag for tag, carried in tagged if carried[frame]),
            )
            for velocity, yaw, frame in zip(
                map(tuple, velocities.tolist()), yaws.tolist(), frames.tolist(), strict=True
            )
        )
