"""Sum differences of features to a cost, by their squares or by their lengths."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..database.features.features import Schema
from .length_search import LengthIndex
from .search import FrameIndex

Array = np.ndarray


class Differences(ABC):
    """Adds up weighted differences of the features' dimensions `used` (D,), and indexes frames."""

    def __init__(self, schema: Schema, used: Array) -> None:
        sizes = [feature.dimensions for feature in schema.features]
        self._feature_count = len(sizes)
        self._feature_of_dim = np.repeat(np.arange(len(sizes)), sizes)[used]

    @abstractmethod
    def measure(self, difference: Array) -> float:
        """Return the cost of one difference (D,)."""

    @abstractmethod
    def split(self, difference: Array) -> tuple[float, Array]:
        """Return the cost of one difference (D,), and its part by feature (F,), in float64."""

    @abstractmethod
    def split_all(self, differences: Array) -> Array:
        """Return the costs by feature (N, F) of differences (N, D), slowly."""

    @abstractmethod
    def make_index(self, features: Array, candidates: Array, bias: Array) -> FrameIndex:
        """Return an index of weighted features (D, N)."""

    @abstractmethod
    def reweight(self, index: FrameIndex, features: Array) -> FrameIndex:
        """Return an index of the same frames under other weights."""

    def _make_belongs(self) -> Array:
        """Return which dimensions belong to which feature (D, F), as 0 and 1."""
        belongs = self._feature_of_dim[:, None] == np.arange(self._feature_count)
        return belongs.astype(np.float64)


class SquaredDifferences(Differences):
    """Adds up squares."""

    def measure(self, difference: Array) -> float:
        return float(difference.dot(difference))

    def split(self, difference: Array) -> tuple[float, Array]:
        squares = difference.astype(np.float64) ** 2
        by_feature = np.bincount(self._feature_of_dim, squares, self._feature_count)
        return float(squares.sum()), by_feature

    def split_all(self, differences: Array) -> Array:
        return np.asarray(differences.astype(np.float64) ** 2 @ self._make_belongs())

    def make_index(self, features: Array, candidates: Array, bias: Array) -> FrameIndex:
        return FrameIndex(features, candidates, bias)

    def reweight(self, index: FrameIndex, features: Array) -> FrameIndex:
        return index.reweight(features)


class AbsoluteDifferences(Differences):
    """Adds up the lengths of vectors: a bone's position, or the path's at one time.

    Source: notes on "Motion Matching - The Road to Next Gen Animation", cost function.
    """

    def __init__(self, schema: Schema, used: Array) -> None:
        super().__init__(schema, used)
        sizes = [vector.stop - vector.start for vector in schema.vectors]
        _, self._vectors = np.unique(
            np.repeat(np.arange(len(sizes)), sizes)[used], return_inverse=True
        )
        self._starts = np.flatnonzero(np.diff(self._vectors, prepend=-1))

    def measure(self, difference: Array) -> float:
        return float(self._measure_lengths(difference).sum())

    def split(self, difference: Array) -> tuple[float, Array]:
        lengths = self._measure_lengths(difference.astype(np.float64))
        features = self._feature_of_dim[self._starts]
        return float(lengths.sum()), np.bincount(features, lengths, self._feature_count)

    def split_all(self, differences: Array) -> Array:
        lengths = self._measure_lengths(differences.astype(np.float64))
        return np.asarray(lengths @ self._make_belongs()[self._starts])

    def make_index(self, features: Array, candidates: Array, bias: Array) -> FrameIndex:
        return LengthIndex(features, self._vectors, candidates, bias)

    def reweight(self, index: FrameIndex, features: Array) -> FrameIndex:
        assert isinstance(index, LengthIndex)
        return index.reweight(features, self._vectors)

    def _measure_lengths(self, differences: Array) -> Array:
        """Return the lengths (…, V) of the vectors in differences (…, D)."""
        return np.sqrt(np.add.reduceat(differences**2, self._starts, axis=-1))


def make_differences(schema: Schema, used: Array) -> Differences:
    """Return how a schema compares: by the dimensions `used` (D,), numbers of those of all."""
    kind = SquaredDifferences if schema.difference == "squared" else AbsoluteDifferences
    return kind(schema, used)
