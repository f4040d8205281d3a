"""Split contacts along which a toe is dragged into as few parts as possible, with steps between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from .numbers import NUMBERS


def find_place(
    path: np.ndarray, radius: float, wish: np.ndarray | None = None
) -> tuple[np.ndarray, bool]:
    """Return where (2,) a toe stands that is dragged along a path (T, 2), and whether it may.

    It may where the whole path is within a radius. The place is near a `wish`, by default the
    median: this is projected to the disc around the farthest point, again and again. Source: Gubin,
    Polyak and Raik 1967, The method of projections for finding the common point of convex sets.
    """
    place = np.median(path, axis=0) if wish is None else wish
    for _ in range(NUMBERS.drag_projections):
        ways = path - place
        away = np.hypot(ways[:, 0], ways[:, 1])
        at = int(np.argmax(away))
        if away[at] <= radius:
            return place, True
        place = place + (1.0 - NUMBERS.projected_to * radius / away[at]) * ways[at]
    return place, False


def find_places(
    paths: Sequence[np.ndarray], radius: float, most: np.ndarray | float = 0.0
) -> np.ndarray:
    """Return where (P, 2) a toe stands along paths (T, 2), so that steps between them are short.

    Places next to steps of at most `most` (P - 1,) metres stay unchanged.
    """
    places, fits = _find_medians(paths, radius)
    is_long = np.linalg.norm(np.diff(places, axis=0), axis=1) > most
    fits &= np.append(False, is_long) | np.append(is_long, False)
    for _ in range(NUMBERS.drag_sweeps if len(paths) > 1 else 0):
        for k in np.flatnonzero(fits).tolist():
            beside = places[k - 1 : k + 2 : 2] if k else places[1:2]
            place, is_near = find_place(paths[k], radius, beside.mean(axis=0))
            if is_near:
                places[k] = place
    return places


def _find_medians(paths: Sequence[np.ndarray], radius: float) -> tuple[np.ndarray, np.ndarray]:
    found = [find_place(path, radius) for path in paths]
    return np.array([place for place, _ in found]), np.array([fits for _, fits in found])


@dataclass(frozen=True)
class Drag:
    """A foot that is dragged along a path (T, 2) in metres while it ought to stand.

    It is on the ground where `stands` (T,), and another foot where `others` (T,). It is at most
    `radius` metres off. A step of d metres takes at least sqrt(d / `hardest`) seconds; `hardest`
    is in m/s².
    """

    path: np.ndarray
    stands: np.ndarray
    others: np.ndarray
    fps: float
    radius: float
    hardest: float

    @property
    def gap(self) -> int:
        """How many frames the shortest step takes."""
        return max(round(NUMBERS.quickest_step * self.fps), 1)

    def count_frames(self, distances: np.ndarray) -> np.ndarray:
        """Return how many frames (N,) steps of these lengths (N,) in metres take."""
        frames = np.ceil(np.sqrt(distances / self.hardest) * self.fps - 1.0)
        return np.maximum(frames.astype(np.int64), self.gap)

    def split(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Split a contact into parts between which the foot steps.

        It steps where the toe moves, preferably off the ground while another foot stands.
        """
        parts = []
        latest = self._find_latest_parts(start, stop)
        for begin, after in latest[1:]:
            most = _bisect(partial(self.fits, start), start + 1, max(after - 2 * self.gap, begin))
            least = min(max(begin - self.gap, start + 1), most)
            cut = self._find_cut(start, after, range(least, most + 1))
            parts.append((start, cut))
            start = max(cut + self.gap, begin)
        return self._take_time([*parts, (start, stop)])

    def fits(self, start: int, stop: int) -> bool:
        """Return whether the foot may stand at one place in these frames."""
        path = self.path[start:stop][self.stands[start:stop]]
        return len(path) == 0 or find_place(path, self.radius)[1]

    def _fits_from(self, stop: int, earlier: int) -> bool:
        """Return `fits` from the frame -`earlier` on; an earlier frame is a larger number."""
        return self.fits(-earlier, stop)

    def _find_latest_parts(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Return the fewest parts of a contact, each beginning as early as it may."""
        parts: list[tuple[int, int]] = []
        while stop > start:
            begin = -_bisect(partial(self._fits_from, stop), 1 - stop, -start)
            parts.insert(0, (begin, stop))
            stop = begin - self.gap
        return parts

    def _find_cut(self, start: int, stop: int, cuts: range) -> int:
        """Return the frame at which a step costs least, of some between `start` and `stop`.

        Two mean positions then explain most of where the toe is.
        """
        own = self.stands[start:stop, None]
        part = self.path[start:stop] - self.path[start]
        alone = ~self.others[start:stop, None]
        # sums of 1, x, y, x² + y², and of frames without another foot, over the frames before each
        squares = np.sum(part**2, axis=1, keepdims=True)
        terms = np.column_stack([own, own * part, own * squares, alone])
        sums = np.vstack([np.zeros(5), np.cumsum(terms, axis=0)])
        first = np.arange(cuts.start, cuts.stop) - start
        last = np.minimum(first + self.gap, len(part))
        before = sums[first]
        after = sums[-1] - sums[last]
        between = sums[last] - sums[first]
        # a frame that is stepped over counts like one held at the largest allowed distance
        cost = self.radius**2 * (between[:, 0] + NUMBERS.no_other_stands**2 * between[:, 4])
        for side in (before, after):
            cost += side[:, 3] - np.sum(side[:, 1:3] ** 2, axis=1) / np.maximum(side[:, 0], 1e-9)
        return start + int(first[np.argmin(cost)])

    def _take_time(self, parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return parts between which there is the time that steps take."""
        distances = self._measure_steps([self.path[start:stop] for start, stop in parts])
        costs = np.append(0.0, np.cumsum(1.0 * self.stands + ~self.others))
        result = parts[:1]
        for needed, (begin, stop) in zip(self.count_frames(distances), parts[1:], strict=True):
            start, end = result[-1]
            more = max(int(needed) - (begin - end), 0)
            # taken from either part, which keeps a frame at least
            earlier = np.arange(max(0, more - (stop - begin - 1)), min(more, end - start - 1) + 1)
            if len(earlier):
                lost = costs[begin + more - earlier] - costs[end - earlier]
                best = int(earlier[np.argmin(lost)])
                end = end - best
                begin = begin + more - best
            result[-1:] = [(start, end), (begin, stop)]
        return result

    def _measure_steps(self, paths: Sequence[np.ndarray]) -> np.ndarray:
        """Return the lengths (P - 1,) of steps between P paths (T, 2) along which a toe stands."""
        medians, _ = _find_medians(paths, self.radius)
        places = medians + NUMBERS.shortened_way * (find_places(paths, self.radius) - medians)
        return np.asarray(np.linalg.norm(np.diff(places, axis=0), axis=1))


def _bisect(fits: Callable[[int], bool], least: int, most: int) -> int:
    """Return the largest number from `least` to `most` that fits, as all below it do."""
    while least < most:
        middle = (least + most + 1) // 2
        if fits(middle):
            least = middle
        else:
            most = middle - 1
    return least
