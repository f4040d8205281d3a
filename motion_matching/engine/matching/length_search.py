"""Find the exact nearest frame by a sum of lengths, one per vector of the features.

The boxes of `search` bound a sum of lengths just like a sum of squares: vector by vector, no
frame of a box is nearer to the query than the nearest point of the box. Axes are the features'
own, because a turn that mixes vectors does not preserve their lengths.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from .search import BLOCK, FrameIndex, Space, take_axes

Array = np.ndarray


class LengthIndex(FrameIndex):
    """Exact nearest neighbours among frames, by the sum of the lengths of vectors plus bias.

    Otherwise as `FrameIndex`. Coordinates come plane by plane: the first components of all
    vectors, the largest ones first, then the second components, for vectors that have one, and so
    on. So each plane is added to the beginning of the first. The 16 frames of a block are adjacent,
    so that all of this runs along memory.
    """

    def __init__(
        self,
        features: Array,
        vectors: Array,
        candidates: Array | None = None,
        bias: Array | None = None,
        order: Array | None = None,
    ) -> None:
        """Index frames by features (D, N); `vectors` (D,) numbers the vector of each dimension."""
        self._set_vectors(vectors)
        super().__init__(features, candidates, bias, order)

    def reweight(self, features: Array, vectors: Array | None = None) -> LengthIndex:
        """Return an index of the same frames; give the `vectors` (D,) if they are others."""
        other = copy(self)
        if vectors is not None:
            other._set_vectors(vectors)
        other._arrange(*other._project_quickly(features, self._order), self._order, self._bias)
        return other

    def _set_vectors(self, vectors: Array) -> None:
        self._vectors = vectors
        _, which, sizes = np.unique(vectors, return_inverse=True, return_counts=True)
        rank = np.empty(len(sizes), np.intp)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        # index of each dimension in its vector: the number of earlier dimensions of that vector
        order = np.argsort(which, kind="stable")
        component = np.empty(len(vectors), np.intp)
        component[order] = np.arange(len(vectors)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self._plane_order = np.lexsort((rank[which], component))
        self._plane_sizes = np.bincount(component).tolist()
        self._top_axes = len(vectors)

    def _project(self, features: Array, frames: Array) -> tuple[Space, Array]:
        return take_axes(features, frames, self._plane_order)

    _project_quickly = _project

    def _arrange(self, space: Space, points: Array, order: Array, bias: Array) -> None:
        super()._arrange(space, points, order, bias)
        self._points = self._turn_blocks(self._points)
        self._block_low = self._turn_blocks(self._block_low)
        self._block_high = self._turn_blocks(self._block_high)
        row = np.empty((points.shape[1], BLOCK), np.float32)
        self._repeated, self._query_row = row.T, row.reshape(1, -1)
        self._query_column = row[:, :1]

    def _turn_blocks(self, rows: Array) -> Array:
        """Return rows (B, 16 D) of 16 points with the dimensions before the points."""
        blocks = rows.reshape(-1, BLOCK, len(self._vectors))
        return blocks.transpose(0, 2, 1).reshape(rows.shape)

    def _get_points(self) -> Array:
        blocks = self._points.reshape(-1, len(self._vectors), BLOCK)
        return blocks.transpose(0, 2, 1).reshape(-1, len(self._vectors))

    def _measure_rows(self, differences: Array) -> Array:
        blocks = differences.reshape(-1, len(self._vectors), BLOCK)
        np.multiply(blocks, blocks, out=blocks)
        return np.einsum("bvk->bk", self._add_planes(blocks)).ravel()

    def _measure_gaps(self, gaps: Array) -> Array:
        squares = np.multiply(gaps, gaps, out=gaps)[None]
        return np.add.reduce(self._add_planes(squares)[0], axis=0, out=self._bounds)

    def _add_planes(self, squares: Array) -> Array:
        """Return the lengths (B, V, n) of vectors with squares (B, D, n), which change."""
        start = first = self._plane_sizes[0]
        for size in self._plane_sizes[1:]:
            squares[:, :size] += squares[:, start : start + size]
            start += size
        return np.sqrt(squares[:, :first])
