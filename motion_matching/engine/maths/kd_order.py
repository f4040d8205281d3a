"""Order points so that neighbours in space are neighbours in memory: a kd split without a tree.

Source: kd-trees (Bentley 1975; Friedman, Bentley and Finkel 1977), stopped at blocks of equal size.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

_SAMPLE = 500  # points that choose the axis of a large split


def kd_order(points: Array, group: int, block: int) -> Array:
    """Return indices (M,) that sort points (N, D) into compact groups, and these into blocks.

    `group` is `block` times a power of two. M is N rounded up to whole groups: copies of the last
    index fill the last group before it is split, so they stay with the point they repeat.
    """
    order = _split_into_groups(points, group)
    order = np.pad(order, (0, -len(order) % group), mode="edge")
    size = group
    while size > block:
        order = _halve(points, order, size)
        size //= 2
    return order


def _split_into_groups(points: Array, group: int) -> Array:
    """Order (N,) by medians along the widest axis into groups, all full but the last."""
    columns = np.ascontiguousarray(points.T)
    order = np.arange(len(points))
    parts = [(0, len(order))]
    while parts:
        start, stop = parts.pop()
        count = stop - start
        if count <= group:
            continue
        part = order[start:stop]
        axis = int(points[part[:: max(1, count // _SAMPLE)]].var(axis=0).argmax())
        groups = -(-count // group)
        middle = (groups + 1) // 2 * group
        order[start:stop] = part[columns[axis][part].argpartition(middle)]
        parts += [(start, start + middle), (start + middle, stop)]
    return order


def _halve(points: Array, order: Array, size: int) -> Array:
    """Split every run of `size` indices at the median of its widest axis."""
    runs = points[order].reshape(-1, size, points.shape[1])
    axis = (runs.max(axis=1) - runs.min(axis=1)).argmax(axis=1)
    along = np.take_along_axis(runs, axis[:, None, None], axis=2)[:, :, 0]
    halves = along.argpartition(size // 2, axis=1)
    return np.take_along_axis(order.reshape(-1, size), halves, axis=1).ravel()
