"""Flat maps of poses, on which poses lie near each other that the search takes for one another.

By dissimilarity (notes on "Motion Matching - The Road to Next Gen Animation", section "Multi-Dimensional Scaling"): the
sum of the distances between corresponding vectors, scaled to two dimensions by classical scaling on landmarks (de Silva
and Tenenbaum, "Sparse multidimensional scaling using landmark points"). And by principal components, which are what
classical scaling makes of plain Euclidean distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .database import Database

Array = np.ndarray
LANDMARKS = 300
_CHUNK = 4096  # frames whose distances are computed at a time
_SAMPLE = 1000  # frames that stress is measured on


@dataclass(frozen=True)
class LandmarkMap:
    """Where points lie on a flat map, by their distances to n landmarks.

    `axes` (2, n) and `mean` (n,) of the landmarks' squared distances turn distances into places.
    """

    axes: Array
    mean: Array

    @classmethod
    def of(cls, distances: Array) -> LandmarkMap:
        """The map of landmarks from the distances (n, n) between them."""
        squares = np.asarray(distances, np.float64) ** 2
        mean = squares.mean(axis=0)
        centred = -0.5 * (squares - mean - mean[:, None] + mean.mean())
        values, vectors = np.linalg.eigh(centred)
        values, vectors = values[::-1][:2], _signed(vectors[:, ::-1][:, :2])
        used = values > 1e-9 * max(float(values.max(initial=0.0)), 1e-30)
        axes = np.where(used, vectors / np.sqrt(np.where(used, values, 1.0)), 0.0)
        return cls(axes.T, mean)

    def places(self, distances: Array) -> Array:
        """Places (…, 2) of points with distances (…, n) to the landmarks."""
        return -0.5 * (np.asarray(distances, np.float64) ** 2 - self.mean) @ self.axes.T


def principal_map(points: Array) -> tuple[Array, float]:
    """Places (N, 2) of points (N, D) along their two widest axes, and the part of the variance that these keep."""
    centred = points - points.mean(axis=0, dtype=np.float64)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    places = _signed(centred @ vectors[:, ::-1][:, :2])
    total = float(values.sum())
    return places, float(values[-2:].sum()) / total if total > 0 else 1.0


def _signed(columns: Array) -> Array:
    """Columns (N, 2) with the sign that makes the largest number of each positive: eigenvectors have none of their own."""
    largest = np.take_along_axis(columns, np.abs(columns).argmax(axis=0)[None], axis=0)
    return columns * np.where(largest < 0, -1.0, 1.0)


def dissimilarities(features: Array, others: Array, vectors: Sequence[slice]) -> Array:
    """Sum (N, n) over vectors of the distances between features (D, N) and others (D, n)."""
    total = np.zeros((features.shape[1], others.shape[1]), features.dtype)
    for where in vectors:
        a, b = features[where], others[where]
        squares = a.T @ (-2.0 * b)
        squares += (a * a).sum(axis=0)[:, None]
        squares += (b * b).sum(axis=0)
        np.maximum(squares, 0.0, out=squares)
        total += np.sqrt(squares, out=squares)
    return total


def stress(places: Array, distances: Array) -> float:
    """How badly a map (N, 2) tells distances (N, N): Kruskal's stress, 0 for all of them right."""
    told = np.linalg.norm(places[:, None] - places[None], axis=-1)
    scale = float((distances**2).sum())
    return float(np.sqrt(((told - distances) ** 2).sum() / scale)) if scale > 0 else 0.0


@dataclass(frozen=True)
class PoseMap:
    """Places (N, 2) of all frames of a database by dissimilarity (`mds`) and by principal components (`pca`).

    `stress` of both, and the part of the variance that the principal ones have `kept`.
    """

    mds: Array
    pca: Array
    stress: dict[str, float]
    kept: float
    scaled: LandmarkMap
    landmarks: Array
    mean: Array
    scale: Array
    vectors: tuple[slice, ...]

    def place(self, feature: Array) -> Array:
        """Where a pose with raw features (D,) lies on the map by dissimilarity (2,)."""
        weighted = ((feature - self.mean) * self.scale)[:, None]
        return self.scaled.places(dissimilarities(weighted, self.landmarks, self.vectors))[0]

    def to_dict(self, database: Database, most: int = 3000) -> dict[str, Any]:
        """As JSON data, of no more frames than so many, evenly spread."""
        frames = np.arange(0, len(self.mds), max(-(-len(self.mds) // most), 1))
        return {
            "frames": frames.tolist(),
            "clips": [database.ranges[r].clip for r in database.range_of_frame[frames]],
            "mds": self.mds[frames].round(4).tolist(),
            "pca": self.pca[frames].round(4).tolist(),
            "stress": {name: round(value, 4) for name, value in self.stress.items()},
            "variance_kept": round(self.kept, 4),
        }


def map_of(database: Database, landmarks: int = LANDMARKS) -> PoseMap:
    """The map of a database's frames by its features, normalised and weighted as the search compares them."""
    schema, mean = database.schema, database.normalization.mean
    scale = database.normalization.scale(schema.weights)
    features = (np.asarray(database.features) - mean[:, None]) * scale[:, None]
    vectors = tuple(
        slice(start, start + len(feature.axes))
        for feature, where in zip(schema.features, schema.slices, strict=True)
        for start in range(where.start, where.stop, len(feature.axes))
    )
    chosen = features[:, _spread(database.frame_count, landmarks)]
    scaled = LandmarkMap.of(dissimilarities(chosen, chosen, vectors))
    mds = np.concatenate(
        [
            scaled.places(dissimilarities(features[:, start : start + _CHUNK], chosen, vectors))
            for start in range(0, database.frame_count, _CHUNK)
        ]
    )
    pca, kept = principal_map(features.T)
    sample = _spread(database.frame_count, _SAMPLE)
    some = features[:, sample]
    euclidean = dissimilarities(some, some, [slice(0, len(features))])
    badness = {
        "mds": stress(mds[sample], dissimilarities(some, some, vectors)),
        "pca": stress(pca[sample], euclidean),
    }
    return PoseMap(mds, pca, badness, kept, scaled, chosen, mean, scale, vectors)


def _spread(count: int, wanted: int) -> Array:
    """Up to `wanted` frames of so many, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(wanted, count)).round().astype(np.intp))
