"""Find the exact nearest frame: bounding boxes in two levels over frames in kd order.

Source: the bounding boxes of Holden's Motion-Matching demo, over a kd order of the normalized
features instead of over time. Axes are the principal ones: they preserve Euclidean distance, and
the first few carry most of it.

Float32 misses nothing: axis by axis, the point of a box nearest to the query differs from the query
by no more than any frame in the box does, and rounding preserves that order. Only the order of
summation can differ, and `_slack` covers it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from typing import NamedTuple

import numpy as np

from ..maths.kd_order import kd_order
from .numbers import NUMBERS

Array = np.ndarray

BLOCK = NUMBERS.block
_GROUP = BLOCK * BLOCK
_LARGEST = float(np.finfo(np.float32).max)


class FrameMask(NamedTuple):
    """Terms that a mask adds to frame costs and box bounds, for indexes of one `order` of frames.

    `frames` (B, 16) holds the bias of every frame, infinity if masked; `blocks` (B,) and `groups`
    (G,) hold the smallest in each box.
    """

    frames: Array
    blocks: Array
    groups: Array
    order: Array


class FrameIndex:
    """Exact nearest neighbours among frames, by squared Euclidean distance plus bias.

    Of equal costs the lowest frame number wins, so an index, the same index under a mask, and the
    index of a subset agree to the bit. Coordinates, distances and costs are float32: a distance is
    accurate to about one millionth of the frame's distance from the mean. Queries share buffers, so
    an index is not for several threads.
    """

    _top_axes = NUMBERS.first_axes

    def __init__(
        self,
        features: Array,
        candidates: Array | None = None,
        bias: Array | None = None,
        order: Array | None = None,
    ) -> None:
        """Index the frames of normalized, weighted `features` (D, N), which are not stored.

        `candidates` (N,) is False for frames that are never an answer. `bias` (N,), finite and of
        any sign, is added to the cost of a frame. `order` (M,) is that of an index of similar
        features, which saves time if it is one of the same frames. Raises ValueError if shapes
        disagree.
        """
        count = features.shape[1]
        candidates = np.ones(count, bool) if candidates is None else np.asarray(candidates, bool)
        bias = np.zeros(count, np.float32) if bias is None else np.asarray(bias, np.float32)
        if candidates.shape != (count,) or bias.shape != (count,):
            raise ValueError(f"candidates and bias need one entry for each of the {count} frames")
        frames = np.flatnonzero(candidates)
        # boxes are bounded by a sum of squares plus the bias, which must not be negative
        self._offset = float(bias[frames].min(initial=0.0))
        space, points = self._project(features, frames)
        rows = None if order is None else _find_rows(order, candidates)
        self._lay_out(space, points, frames, bias[frames] - np.float32(self._offset), rows)

    @property
    def order(self) -> Array:
        """The frames (M,) in kd order, of which the last one fills the last group."""
        return self._order

    def reweight(self, features: Array) -> FrameIndex:
        """Return an index of the same frames and biases under other weights, quickly.

        Masks prepared for this index fit both. Boxes lie along the axes of `features` (D, N):
        searching is as exact as on a new index, but slower.
        """
        other = copy(self)
        other._arrange(*self._project_quickly(features, self._order), self._order, self._bias)
        return other

    def restrict(self, mask: Array) -> FrameIndex:
        """Return an index of the frames where `mask` (N,) is True, faster than the mask itself."""
        other = copy(self)
        selected = np.flatnonzero(mask[self._order])
        frames, first = np.unique(self._order[selected], return_index=True)
        selected = selected[first]
        points = self._get_points()
        other._lay_out(self._space, points[selected], frames, self._bias[selected])
        return other

    def prepare_mask(self, mask: Array) -> FrameMask:
        """Prepare a mask for many queries among the frames where `mask` (N,) is True."""
        return self._make_mask(np.where(mask[self._order], self._bias, np.float32(np.inf)))

    def find_nearest(
        self,
        query: Array,
        *,
        current: int = -1,
        bound: float = math.inf,
        surroundings: int = 0,
        skip_ahead: bool = False,
        mask: FrameMask | None = None,
    ) -> tuple[int, float]:
        """Return the frame of the smallest cost and its cost; (-1, bound) if none is below `bound`.

        `query` (D,) is normalized and weighted as the features are. `bound` is the cost of playing
        on: only better frames count. Frames less than `surroundings` from `current`, with
        `skip_ahead` only those before it, and frames outside `mask` are never an answer. Raises
        ValueError for the mask of another index.
        """
        mask = self._resolve_mask(mask)
        best = _Best(bound - self._offset, self._slack, current, surroundings, skip_ahead)
        if self._count:
            self._search(query, mask, best)
        return (-1, bound) if best.frame < 0 else (best.frame, best.cost + self._offset)

    def find_k_nearest(
        self,
        query: Array,
        k: int,
        *,
        current: int = -1,
        bound: float = math.inf,
        surroundings: int = 0,
        skip_ahead: bool = False,
        mask: FrameMask | None = None,
    ) -> tuple[Array, Array]:
        """Return up to `k` frames of the smallest costs, best first, and their costs; see above.

        Some may cost a little more than the bound.
        """
        mask = self._resolve_mask(mask)
        best = _Best(bound - self._offset, self._slack, current, surroundings, skip_ahead)
        frames = np.empty(0, np.intp)
        costs = np.empty(0, np.float32)
        if not self._count or k <= 0:
            return frames, costs.astype(np.float64)
        bounds = self._compute_top_bounds(query, mask)
        boxes = (bounds <= best.limit).nonzero()[0]
        ranked = boxes.take(bounds.take(boxes).argsort())
        # all at once where the bound leaves few
        few = NUMBERS.few_boxes
        start = 0
        batch = self._boxes_per_group if len(boxes) > few else few
        while start < len(ranked) and bounds[ranked[start]] <= best.limit:
            blocks = self._find_promising_blocks(ranked[start : start + batch], mask, best.limit)
            numbers = self._frames.take(blocks, axis=0).ravel()
            cost = self._compute_costs(blocks, mask)
            usable = ((cost <= best.limit) & ~best.find_excluded(numbers)).nonzero()[0]
            frames = np.concatenate([frames, numbers.take(usable)])
            costs = np.concatenate([costs, cost.take(usable)])
            order = np.lexsort((frames, costs))
            frames = frames.take(order)
            costs = costs.take(order)
            is_new = np.ones(len(frames), bool)
            np.not_equal(frames[1:], frames[:-1], out=is_new[1:])  # as fillers repeat some
            leading = is_new.nonzero()[0][:k]
            frames = frames.take(leading)
            costs = costs.take(leading)
            if len(costs) == k:
                best.lower(float(costs[-1]))
            start = start + batch
            batch = min(NUMBERS.several_growth * batch, NUMBERS.largest_batch)
        return frames, costs.astype(np.float64) + self._offset

    # -- replaced by a subclass with another distance

    def _project(self, features: Array, frames: Array) -> tuple[Space, Array]:
        """Return a space for features (D, N), and coordinates (n, D) of frames in it."""
        space = _compute_principal_space(features, frames)
        return space, space.project_frames(features, frames)

    def _project_quickly(self, features: Array, frames: Array) -> tuple[Space, Array]:
        """Return the features' own axes, the widest spread first, and coordinates likewise.

        This takes less time, and the index may be slower.
        """
        widest_first = np.arange(len(features))
        if len(frames):
            spread = _take_sample(features, frames).var(axis=1, dtype=np.float64)
            widest_first = spread.argsort(kind="stable")[::-1]
        return take_axes(features, frames, widest_first)

    def _measure_rows(self, differences: Array) -> Array:
        """Return the cost (n,) of differences in rows of 16, which may be overwritten."""
        rows = differences.reshape(-1, self._repeated.shape[1])
        return np.einsum("ij,ij->i", rows, rows)

    def _measure_gaps(self, gaps: Array) -> Array:
        """Return the cost (boxes,), in a buffer, of gaps (axes, boxes), which are overwritten."""
        np.multiply(gaps, gaps, out=gaps)
        return np.add.reduce(gaps, axis=0, out=self._bounds)

    def _get_points(self) -> Array:
        """Return the coordinates (M, D) of all points in kd order."""
        return self._points.reshape(len(self._order), len(self._space.mean))

    # -- layout

    def _lay_out(
        self,
        space: Space,
        points: Array,
        frames: Array,
        bias: Array,
        order: Array | None = None,
    ) -> None:
        """Put points (n, D), their frames (n,), ascending, and biases (n,) into kd order."""
        self._count = len(frames)
        if order is None:
            order = kd_order(points, _GROUP, BLOCK) if len(frames) else np.empty(0, np.intp)
        self._arrange(space, points[order], frames[order], bias[order])

    def _arrange(self, space: Space, points: Array, order: Array, bias: Array) -> None:
        """Take points (M, D), frames (M,) and biases (M,) in kd order, and draw the boxes."""
        dimensions = points.shape[1]
        blocks = points.reshape(-1, BLOCK, dimensions)
        low, high = blocks.min(axis=1), blocks.max(axis=1)
        self._space = space
        self._order = order
        self._bias = bias
        self._slack = 1.0 + (dimensions + 8) * float(np.finfo(np.float32).eps)
        # one row a block, so that subtracting the query, repeated, is one run over memory
        self._points = points.reshape(-1, BLOCK * dimensions)
        self._frames = order.reshape(-1, BLOCK)
        self._block_low = low.reshape(-1, BLOCK * dimensions)
        self._block_high = high.reshape(-1, BLOCK * dimensions)
        self._two_levels = self._count > NUMBERS.blocks_only
        self._boxes_per_group = 1 if self._two_levels else BLOCK  # on the top level
        if self._two_levels:
            low = low.reshape(-1, BLOCK, dimensions).min(axis=1)
            high = high.reshape(-1, BLOCK, dimensions).max(axis=1)
        self._top_low = np.ascontiguousarray(low[:, : self._top_axes].T)
        self._top_high = np.ascontiguousarray(high[:, : self._top_axes].T)
        self._default_mask = self._make_mask(bias) if bias.any() else None
        # what every query writes to
        self._repeated = np.empty((BLOCK, dimensions), np.float32)
        self._query_row = self._repeated.reshape(1, -1)
        self._query_column = self._repeated[0, : self._top_axes, None]
        self._gaps = np.empty_like(self._top_low)
        self._bounds = np.empty(self._top_low.shape[1], np.float32)
        self._block_numbers = np.arange(len(self._points))
        self._group_blocks = self._block_numbers.reshape(-1, BLOCK)

    def _make_mask(self, penalties: Array) -> FrameMask:
        frames = penalties.reshape(-1, BLOCK)
        blocks = frames.min(axis=1)
        return FrameMask(frames, blocks, blocks.reshape(-1, BLOCK).min(axis=1), self._order)

    def _resolve_mask(self, mask: FrameMask | None) -> FrameMask | None:
        if mask is None:
            return self._default_mask
        if mask.order is not self._order:
            raise ValueError("this mask was prepared for another index")
        return mask

    # -- search

    def _search(self, query: Array, mask: FrameMask | None, best: _Best) -> None:
        """Scan the boxes that could hold something better, the most promising ones first."""
        bounds = self._compute_top_bounds(query, mask)
        boxes = (bounds <= best.limit).nonzero()[0]
        if len(boxes) > NUMBERS.first_batch:
            group = int(bounds.argmin()) // self._boxes_per_group
            self._scan_group(group, mask, best)
            bounds[group * self._boxes_per_group : (group + 1) * self._boxes_per_group] = np.inf
            boxes = boxes[bounds.take(boxes) <= best.limit]
        batch = NUMBERS.first_batch
        while len(boxes) > 3 * batch:
            ranked = bounds.take(boxes).argpartition(batch)
            self._scan_boxes(boxes.take(ranked[:batch]), mask, best)
            boxes = boxes.take(ranked[batch:])
            boxes = boxes[bounds.take(boxes) <= best.limit]
            batch = min(NUMBERS.batch_growth * batch, NUMBERS.largest_batch)
        if len(boxes):
            self._scan_boxes(boxes, mask, best)

    def _compute_top_bounds(self, query: Array, mask: FrameMask | None) -> Array:
        """Return a buffer of the least cost in each top-level box (boxes,), by the first axes."""
        self._repeated[:] = self._space.project(query)
        gaps = self._gaps
        column = self._query_column
        np.maximum(self._top_low, column, out=gaps)
        np.minimum(gaps, self._top_high, out=gaps)
        np.subtract(gaps, column, out=gaps)
        bounds = self._measure_gaps(gaps)
        if mask is not None:
            bounds += mask.groups if self._two_levels else mask.blocks
        return bounds

    def _scan_boxes(self, boxes: Array, mask: FrameMask | None, best: _Best) -> None:
        """Scan top-level boxes (n,)."""
        blocks = self._find_promising_blocks(boxes, mask, best.limit)
        if len(blocks):
            best.offer(self._compute_costs(blocks, mask), blocks, self._frames)

    def _find_promising_blocks(self, boxes: Array, mask: FrameMask | None, limit: float) -> Array:
        """Return the blocks in top-level boxes (n,) that may hold a frame within the limit."""
        if not self._two_levels:
            return boxes
        nearest = self._block_low.take(boxes, axis=0)
        np.maximum(nearest, self._query_row, out=nearest)
        np.minimum(nearest, self._block_high.take(boxes, axis=0), out=nearest)
        nearest -= self._query_row
        bounds = self._measure_rows(nearest)
        if mask is not None:
            bounds += mask.blocks.reshape(-1, BLOCK).take(boxes, axis=0).ravel()
        return self._group_blocks.take(boxes, axis=0).take((bounds <= limit).nonzero()[0])

    def _scan_group(self, group: int, mask: FrameMask | None, best: _Best) -> None:
        """Scan all frames of a group, which are contiguous in memory."""
        inside = slice(group * BLOCK, (group + 1) * BLOCK)
        costs = self._measure_rows(self._points[inside] - self._query_row)
        if mask is not None:
            costs += mask.frames[inside].ravel()
        best.offer(costs, self._block_numbers[inside], self._frames)

    def _compute_costs(self, blocks: Array, mask: FrameMask | None) -> Array:
        """Return the cost (16 n,) of every frame in blocks (n,)."""
        differences = self._points.take(blocks, axis=0)
        differences -= self._query_row
        costs = self._measure_rows(differences)
        if mask is not None:
            costs += mask.frames.take(blocks, axis=0).ravel()
        return costs


class _Best:
    """The best frame of a search so far, its cost, and the bound up to which boxes are scanned."""

    __slots__ = ("_after", "_before", "_slack", "cost", "frame", "limit")

    def __init__(
        self, bound: float, slack: float, current: int, surroundings: int, skip_ahead: bool
    ) -> None:
        self._slack = slack
        if current < 0:
            surroundings = 0
        self._before = current - surroundings
        self._after = current + (0 if skip_ahead else surroundings)
        self.frame = -1
        self.lower(bound)

    def lower(self, cost: float) -> None:
        self.cost = cost
        # finite, so that frames masked by infinity are never scanned
        self.limit = min(cost * self._slack, _LARGEST)

    def find_excluded(self, frames: Array) -> Array:
        """Return which of `frames` (n,) surround the current one and are never an answer."""
        return (frames > self._before) & (frames < self._after)

    def offer(self, costs: Array, blocks: Array, frames: Array) -> None:
        """Take the best of `costs` (16 n,) in `blocks` (n,) if it is better than the best so far.

        `frames` (B, 16) numbers the frames of all blocks. Excluded frames are looked for only if
        one of them would win. Their costs are overwritten.
        """
        while True:
            k = int(costs.argmin())
            cost = costs.item(k)
            if not (cost < self.cost or (cost == self.cost and self.frame >= 0)):
                return
            frame = frames.item(blocks.item(k // BLOCK), k % BLOCK)
            after = costs[k + 1 :]
            is_excluded = self._before < frame < self._after
            if is_excluded or (len(after) and after.item(after.argmin()) == cost):
                among = frames.take(blocks, axis=0).ravel()
                costs[self.find_excluded(among)] = np.inf
                if costs[k] != cost:
                    continue
                frame = int(among[costs == cost].min())
            if cost < self.cost or frame < self.frame:
                self.frame = frame
                self.lower(cost)
            return


class Space(NamedTuple):
    """Coordinates that preserve distances, (x - mean) @ axes: (D,) and orthonormal (D, D)."""

    mean: Array
    axes: Array

    def project(self, query: Array) -> Array:
        """Return the coordinates (D,) of a query (D,)."""
        return (query - self.mean).dot(self.axes)

    def project_frames(self, features: Array, frames: Array) -> Array:
        """Return coordinates (n, D), float32, of frames (n,) of features (D, N), chunk by chunk."""
        points = np.empty((len(frames), len(features)), np.float32)
        for chunk in _iterate_chunks(len(frames)):
            points[chunk] = np.dot(features[:, frames[chunk]].T - self.mean, self.axes)
        return points


def _find_rows(order: Array, candidates: Array) -> Array | None:
    """Return the places among candidates (N,) of frames in an order (M,); None if it is of others.

    Any order of the same frames in whole groups is right, and only slower if it is not a good one.
    """
    count = int(np.count_nonzero(candidates))
    if not count or len(order) != count + -count % _GROUP:
        return None
    if order.min() < 0 or order.max() >= len(candidates):
        return None
    ordered = np.zeros(len(candidates), bool)
    ordered[order] = True
    return (np.cumsum(candidates) - 1)[order] if np.array_equal(ordered, candidates) else None


def _iterate_chunks(count: int) -> Iterator[slice]:
    """Yield the slices in which the coordinates of frames are computed."""
    part = NUMBERS.frames_at_once
    return (slice(start, start + part) for start in range(0, count, part))


def _take_sample(features: Array, frames: Array) -> Array:
    """Return features (D, n) of evenly spaced frames, enough for their spread along each axis."""
    return features[:, frames[:: max(1, len(frames) // NUMBERS.axes_frames)]]


def _compute_principal_space(features: Array, frames: Array) -> Space:
    """Return the principal axes of frames (n,) of features (D, N), the widest spread first."""
    sample = _take_sample(features, frames).astype(np.float64)
    mean = sample.mean(axis=1) if len(frames) else np.zeros(len(features))
    centred = sample - mean[:, None]
    _, axes = np.linalg.eigh(centred @ centred.T)
    return Space(mean, np.ascontiguousarray(axes[:, ::-1]))


def take_axes(features: Array, frames: Array, order: Array) -> tuple[Space, Array]:
    """Return the features' own axes in an order (D,), and coordinates (n, D) of frames."""
    points = np.empty((len(frames), len(features)), np.float32)
    for chunk in _iterate_chunks(len(frames)):
        points[chunk] = features.take(frames[chunk], axis=1)[order].T
    return Space(np.zeros(len(features)), np.eye(len(features))[:, order]), points
