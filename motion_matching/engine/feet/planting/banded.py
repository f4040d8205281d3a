"""Weighted least squares over the frames of a take, whose terms reach over up to three of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_LEAST_WEIGHT = 1e-9  # weight of each unknown, so that one without a term is 0
_STENCILS = (1.0,), (-1.0, 1.0), (1.0, -2.0, 1.0)  # of a value, a difference and a second one


class Quantity(NamedTuple):
    """D sums of unknowns at each frame, or their differences from frame to frame.

    `columns` (C,) are those of the unknowns, `gains` (T, D, C) how much each adds, by default each
    its own sum. Of `order` 0 these are the sums, of 1 and 2 their first and second differences.
    """

    columns: np.ndarray
    gains: np.ndarray | None = None
    order: int = 0

    def select(self, sums: slice, columns: slice) -> Quantity:
        """Return some of its sums, of some of its unknowns."""
        gains = None if self.gains is None else self.gains[:, sums, columns]
        return Quantity(self.columns[columns], gains, self.order)

    def evaluate(self, values: np.ndarray) -> np.ndarray:
        """Return the quantity (N, D) of unknowns (T, K)."""
        own = values[:, self.columns]
        if self.gains is not None:
            own = np.einsum("tdc,tc->td", self.gains, own)
        return np.diff(own, self.order, axis=0) if self.order else own

    def find_entries(self, frames: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the gains (N · D, E) of E of all T · K unknowns, and which (N · D, E) they are."""
        size = len(self.columns)
        count = frames - self.order
        stencil = _STENCILS[self.order]
        if self.gains is None:  # each sum has one unknown
            gains = np.ones((1, size, 1))
            own = self.columns[:, None]
            parts = [np.broadcast_to(share * gains, (count, size, 1)) for share in stencil]
        else:
            gains = self.gains
            own = self.columns[None]
            parts = [share * gains[n : n + count] for n, share in enumerate(stencil)]
        values = np.concatenate(parts, axis=2)
        ahead = np.concatenate([own + n * columns for n in range(len(stencil))], axis=1)
        indices = np.arange(0, count * columns, columns)[:, None, None] + ahead
        shape = values.shape[0] * values.shape[1], values.shape[2]
        return values.reshape(shape), np.broadcast_to(indices, values.shape).reshape(shape)


def gather_rows(quantities: Sequence[Quantity], frames: int, columns: int) -> csr_matrix:
    """Return the matrix (M, T · K) from all unknowns to the sums of all quantities."""
    from scipy.sparse import csr_matrix  # late: 0.1 s, and only bakes need it

    values, indices = zip(*(each.find_entries(frames, columns) for each in quantities), strict=True)
    sizes = np.concatenate([np.full(len(each), each.shape[1]) for each in values])
    ends = np.concatenate([[0], np.cumsum(sizes)])
    entries = (np.concatenate([each.ravel() for each in part]) for part in (values, indices))
    return csr_matrix((*entries, ends), shape=(len(sizes), frames * columns))


def _square(rows: csr_matrix, weights: np.ndarray) -> csr_matrix:
    """Return the matrix (T · K, T · K) of sums of rows (M, T · K) with weights (M,)."""
    weighed = rows.copy()
    weighed.data *= np.repeat(weights, np.diff(rows.indptr))
    return rows.T.tocsr() @ weighed


class BandedSystem:
    """Sums of weight · |quantity - target|² over frames (T,) of K unknowns each."""

    def __init__(self, frames: int, columns: int) -> None:
        self.frames = frames
        self.columns = columns
        self._terms: list[tuple[Quantity, np.ndarray, np.ndarray]] = []

    def add(
        self, quantity: Quantity, target: np.ndarray | float, weight: np.ndarray | float
    ) -> None:
        """Add a term for each frame that it fits in; `target` is (N, D) or 0, `weight` (N,)."""
        gains = quantity.gains
        sums = len(quantity.columns) if gains is None else gains.shape[1]
        shape = self.frames - quantity.order, sums
        weight = np.broadcast_to(np.asarray(weight)[..., None], shape).ravel()
        self._terms.append((quantity, np.broadcast_to(target, shape).ravel(), weight))

    def factor(self, bounds: csr_matrix, steps: np.ndarray) -> None:
        """Factor the matrix of all terms, and of bounds (M, T · K) weighed by `steps` (M,)."""
        from scipy.linalg import cholesky_banded  # late: 0.1 s, and only bakes need it

        quantities, targets, weights = zip(*self._terms, strict=True)
        rows = gather_rows(quantities, self.frames, self.columns)
        weight = np.concatenate(weights)
        self._right = rows.T @ (weight * np.concatenate(targets))
        matrix = (_square(rows, weight) + _square(bounds, steps)).tocoo()
        # row d holds what unknowns share with those d after them: LAPACK's quicker form
        bands = np.zeros((3 * self.columns, self.frames * self.columns))
        distance = matrix.row - matrix.col
        lower = distance >= 0
        bands[distance[lower], matrix.col[lower]] = matrix.data[lower]
        bands[0] += _LEAST_WEIGHT
        self._factor = cholesky_banded(bands, True, lower=True, check_finite=False)

    def solve(self, forces: np.ndarray | float = 0.0) -> np.ndarray:
        """Return the unknowns (T · K,) with the least sum, under more `forces` on them."""
        from scipy.linalg import cho_solve_banded  # late, as above

        right = self._right + forces
        return np.asarray(cho_solve_banded((self._factor, True), right, True, check_finite=False))
