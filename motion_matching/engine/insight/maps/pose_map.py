"""Draw flat maps of poses, with poses that the search finds similar near each other.

One is by dissimilarity (notes on "Motion Matching - The Road to Next Gen Animation", section
"Multi-Dimensional Scaling"): the sum of the distances between corresponding vectors, reduced to two
dimensions by classical scaling on landmarks (de Silva and Tenenbaum, "Sparse multidimensional
scaling using landmark points"). The other is by principal components, equal to classical scaling of
Euclidean distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...database.database import Database
from ..coverage.strands import sample_evenly, select_evenly
from ..numbers import NUMBERS

Array = np.ndarray


@dataclass(frozen=True)
class LandmarkMap:
    """Positions of points on a flat map, by their distances to n landmarks.

    `axes` (2, n) and `mean` (n,) of the landmarks' squared distances turn distances into positions.
    """

    axes: Array
    mean: Array

    @classmethod
    def from_distances(cls, distances: Array) -> LandmarkMap:
        """Return the map of landmarks with the distances (n, n) between them."""
        squares = np.asarray(distances, np.float64) ** 2
        mean = squares.mean(axis=0)
        centred = -0.5 * (squares - mean - mean[:, None] + mean.mean())
        values, vectors = np.linalg.eigh(centred)
        values = values[::-1][:2]
        vectors = fix_signs(vectors[:, ::-1][:, :2])
        used = values > 1e-9 * max(float(values.max(initial=0.0)), 1e-30)
        axes = np.where(used, vectors / np.sqrt(np.where(used, values, 1.0)), 0.0)
        return cls(axes.T, mean)

    def locate(self, distances: Array) -> Array:
        """Return positions (…, 2) of points with distances (…, n) to the landmarks."""
        return -0.5 * (np.asarray(distances, np.float64) ** 2 - self.mean) @ self.axes.T


def compute_principal_map(points: Array) -> tuple[Array, float]:
    """Return positions (N, 2) of points (N, D) along their widest axes, and the variance share.

    The share is the part of the variance that the two axes explain.
    """
    centred = points - points.mean(axis=0, dtype=np.float64)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    positions = fix_signs(centred @ vectors[:, ::-1][:, :2])
    total = float(values.sum())
    return positions, float(values[-2:].sum()) / total if total > 0 else 1.0


def fix_signs(columns: Array) -> Array:
    """Make the largest number of columns (N, 2) positive: eigenvectors have an arbitrary sign."""
    largest = np.take_along_axis(columns, np.abs(columns).argmax(axis=0)[None], axis=0)
    return columns * np.where(largest < 0, -1.0, 1.0)


def compute_dissimilarities(features: Array, others: Array, vectors: Sequence[slice]) -> Array:
    """Return the sum (N, n) over vectors of the distances of features (D, N) and others (D, n)."""
    total = np.zeros((features.shape[1], others.shape[1]), features.dtype)
    for dimensions in vectors:
        a, b = features[dimensions], others[dimensions]
        squares = a.T @ (-2.0 * b)
        squares += (a * a).sum(axis=0)[:, None]
        squares += (b * b).sum(axis=0)
        np.maximum(squares, 0.0, out=squares)
        total += np.sqrt(squares, out=squares)
    return total


def compute_stress(positions: Array, distances: Array) -> float:
    """Return how badly a map (N, 2) shows distances (N, N): Kruskal's stress, 0 is perfect."""
    on_map = np.linalg.norm(positions[:, None] - positions[None], axis=-1)
    scale = float((distances**2).sum())
    return float(np.sqrt(((on_map - distances) ** 2).sum() / scale)) if scale > 0 else 0.0


@dataclass(frozen=True)
class PoseMap:
    """Positions (N, 2) of all frames by dissimilarity (`mds`) and by principal components (`pca`).

    It has the `stress` of both, and the variance share explained by the principal components.
    """

    mds: Array
    pca: Array
    stress: dict[str, float]
    explained_variance: float
    landmark_map: LandmarkMap
    landmarks: Array
    mean: Array
    scale: Array
    vectors: tuple[slice, ...]

    def locate(self, feature: Array) -> Array:
        """Return the position (2,) of a pose with raw features (D,) on the map by dissimilarity."""
        weighted = ((feature - self.mean) * self.scale)[:, None]
        distances = compute_dissimilarities(weighted, self.landmarks, self.vectors)
        return self.landmark_map.locate(distances)[0]

    def to_dict(self, database: Database, most: int = 3000) -> dict[str, Any]:
        """Return the map as JSON data, of at most `most` frames, evenly spread."""
        frames = sample_evenly(np.arange(len(self.mds)), most)
        return {
            "frames": frames.tolist(),
            "clips": [database.ranges[r].label for r in database.range_of_frame[frames]],
            "mds": self.mds[frames].round(4).tolist(),
            "pca": self.pca[frames].round(4).tolist(),
            "stress": {name: round(value, 4) for name, value in self.stress.items()},
            "variance_kept": round(self.explained_variance, 4),
        }


def build_pose_map(database: Database) -> PoseMap:
    """Map a database's frames by its features, normalized and weighted as in the search."""
    schema = database.schema
    mean = database.normalization.mean
    count = database.frame_count
    scale = database.normalization.compute_scale(schema.weights)
    features = (np.asarray(database.features) - mean[:, None]) * scale[:, None]
    vectors = tuple(schema.vectors)
    chosen = features[:, select_evenly(count, NUMBERS.landmarks)]
    scaled = LandmarkMap.from_distances(compute_dissimilarities(chosen, chosen, vectors))
    starts = range(0, count, NUMBERS.distances_at_once)
    chunks = (features[:, start : start + NUMBERS.distances_at_once] for start in starts)
    located = [scaled.locate(compute_dissimilarities(c, chosen, vectors)) for c in chunks]
    mds = np.concatenate(located)
    pca, explained_variance = compute_principal_map(features.T)
    frames = select_evenly(count, NUMBERS.stress_frames)
    sample = features[:, frames]
    euclidean = compute_dissimilarities(sample, sample, [slice(0, len(features))])
    stress = {
        "mds": compute_stress(mds[frames], compute_dissimilarities(sample, sample, vectors)),
        "pca": compute_stress(pca[frames], euclidean),
    }
    return PoseMap(mds, pca, stress, explained_variance, scaled, chosen, mean, scale, vectors)
