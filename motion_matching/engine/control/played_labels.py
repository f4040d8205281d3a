"""Which labels the frames carry that are played."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .labels import DisplacementLabel


class PlayedLabels:
    """Tells which labels frames carry, given the names of all tags and their bits (N,).

    A frame that several labels name carries the first of them.
    """

    def __init__(self, names: Sequence[str], bits: np.ndarray) -> None:
        self._names, self._bits = tuple(names), bits
        self._tags: tuple[tuple[str, ...], ...] = ()
        self._of_frame: np.ndarray | None = None
        self._shares: tuple[tuple[float, ...], ...] = ((),)

    def apply(self, labels: Iterable[DisplacementLabel]) -> None:
        """Take the labels of new settings."""
        tags = tuple(label.tags for label in labels)
        if tags == self._tags:
            return
        self._tags, count = tags, len(tags)
        of_frame = np.full(len(self._bits), count, np.intp)
        ones = np.eye(count + 1, count).tolist()  # a row of zeros behind those of the labels
        self._shares = tuple(map(tuple, ones))
        for index in reversed(range(count)):
            known = [self._names.index(tag) for tag in tags[index] if tag in self._names]
            carries = np.asarray(self._bits) & np.uint32(sum(1 << bit for bit in known)) > 0
            of_frame[carries] = index
        self._of_frame = of_frame if tags else None

    def get_shares(self, frame: int) -> tuple[float, ...]:
        """Return 1 for the label that a frame carries, and 0 for all others."""
        return self._shares[0 if self._of_frame is None else self._of_frame.item(frame)]

    def find_most(self, frames: np.ndarray, weights: np.ndarray) -> tuple[float, ...]:
        """Return 1 for the label, if any, that frames (k,) of the most weight (k,) carry."""
        if self._of_frame is None:
            return ()
        by_label = np.bincount(self._of_frame[frames], weights, len(self._tags) + 1)
        return self._shares[int(by_label.argmax())]
