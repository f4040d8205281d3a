"""Sum differences of features to a cost, by their squares or by their lengths."""

from __future__ import annotations

import numpy as np

from ..database.features.features import Schema
from .length_search import LengthIndex
from .search import FrameIndex

Array = np.ndarray


class Differences:
    """Adds up weighted differences of the features' dimensions `used` (D,), and indexes frames.

    It adds up squares, or the lengths of vectors: a bone's position, or the path's at one time.
    Source of lengths: notes on "Motion Matching - The Road to Next Gen Animation", cost function.
    """

    def __init__(self, schema: Schema, used: Array) -> None:
        self._feature_count = len(schema.features)
        # of each summed part: of each dimension, or of each vector
        self._features = _number([f.dimensions for f in schema.features])[used]
        self._has_squares = schema.difference == "squared"
        if not self._has_squares:
            vectors = _number([vector.stop - vector.start for vector in schema.vectors])[used]
            _, self._vectors = np.unique(vectors, return_inverse=True)
            self._starts = np.flatnonzero(np.diff(self._vectors, prepend=-1))
            self._features = self._features[self._starts]

    def measure(self, difference: Array) -> float:
        """Return the cost of one difference (D,)."""
        if self._has_squares:
            return float(difference.dot(difference))
        return float(self._compute_parts(difference).sum())

    def split(self, difference: Array) -> tuple[float, Array]:
        """Return the cost of one difference (D,), and its part by feature (F,), in float64."""
        parts = self._compute_parts(difference.astype(np.float64))
        return float(parts.sum()), np.bincount(self._features, parts, self._feature_count)

    def split_all(self, differences: Array) -> Array:
        """Return the costs by feature (N, F) of differences (N, D), slowly."""
        belongs = self._features[:, None] == np.arange(self._feature_count)
        parts = self._compute_parts(differences.astype(np.float64))
        return np.asarray(parts @ belongs.astype(np.float64))

    def make_index(
        self, features: Array, candidates: Array, bias: Array, order: Array | None = None
    ) -> FrameIndex:
        """Return an index of weighted features (D, N); see `FrameIndex` for its `order`."""
        if self._has_squares:
            return FrameIndex(features, candidates, bias, order)
        return LengthIndex(features, self._vectors, candidates, bias, order)

    def reweight(self, index: FrameIndex, features: Array) -> FrameIndex:
        """Return an index of the same frames under other weights."""
        if isinstance(index, LengthIndex):
            return index.reweight(features, self._vectors)
        return index.reweight(features)

    def _compute_parts(self, differences: Array) -> Array:
        """Return the squares of differences (…, D), or the lengths (…, V) of their vectors."""
        squares = differences**2
        if self._has_squares:
            return squares
        return np.sqrt(np.add.reduceat(squares, self._starts, axis=-1))


def _number(sizes: list[int]) -> Array:
    """Return the numbers of parts of these sizes, each as often as it is large."""
    return np.repeat(np.arange(len(sizes)), sizes)
