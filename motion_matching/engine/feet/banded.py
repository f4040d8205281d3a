"""Weighted least squares over the frames of a take, whose terms reach over up to three of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_LEAST = 1e-9  # weight of each unknown, so that one without a term is 0
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

    def to_sparse(self, frames: int, columns: int) -> csr_matrix:
        """Return the matrix (N · D, T · K) from all unknowns to the quantity."""
        from scipy.sparse import csr_matrix  # late: 0.1 s, and only bakes need it

        size, count = len(self.columns), frames - self.order
        gains = np.broadcast_to(np.eye(size), (frames, size, size))
        gains = gains if self.gains is None else self.gains
        sums, stencil = gains.shape[1], _STENCILS[self.order]
        shape = count, sums, len(stencil), size
        shares = [share * gains[n : n + count] for n, share in enumerate(stencil)]
        values = np.stack(shares, axis=2)
        at = np.arange(count)[:, None, None] + np.arange(len(stencil))[:, None]
        indices = np.broadcast_to((at * columns + self.columns)[:, None], shape)
        ends = np.arange(0, values.size + 1, len(stencil) * size)
        parts = values.ravel(), indices.ravel(), ends
        return csr_matrix(parts, shape=(count * sums, frames * columns))

    def distribute(self, forces: np.ndarray, frames: int) -> np.ndarray:
        """Return what forces (N, D) on the quantity are on its unknowns (T, C)."""
        spread = forces
        if self.order:
            spread = np.zeros((frames, forces.shape[1]))
            for offset, share in enumerate(_STENCILS[self.order]):
                spread[offset : offset + len(forces)] += share * forces
        if self.gains is not None:
            spread = np.einsum("td,tdc->tc", spread, self.gains)
        return spread


class BandedSystem:
    """Sums of weight · |quantity - target|² over frames (T,) of K unknowns each."""

    def __init__(self, frames: int, columns: int) -> None:
        self.frames, self.columns = frames, columns
        self._reach = 3 * columns - 1
        # the upper bands of the normal matrix: row `reach - d` holds what unknowns share with those
        # d before them
        self._bands = np.zeros((self._reach + 1, frames, columns))
        self._bands[-1] = _LEAST
        self._right = np.zeros((frames, columns))

    def add(
        self, quantity: Quantity, target: np.ndarray | float, weight: np.ndarray | float
    ) -> None:
        """Add a term for each frame that it fits in; `target` is (N, D) or 0, `weight` (N,)."""
        stencil, columns = _STENCILS[quantity.order], quantity.columns.tolist()
        count = self.frames - quantity.order
        weight = np.broadcast_to(weight, count)
        for a, near in enumerate(stencil):
            for b in range(a, len(stencil)):
                share = near * stencil[b] * weight
                ahead = slice(b, b + count)
                for c, first in enumerate(columns):
                    for e, second in enumerate(columns):
                        distance = (b - a) * self.columns + second - first
                        if distance < 0 or (quantity.gains is None and c != e):
                            continue
                        shared = share
                        if quantity.gains is not None:
                            own, other = (
                                quantity.gains[a : a + count, :, c],
                                quantity.gains[ahead, :, e],
                            )
                            shared = share * np.einsum("nd,nd->n", own, other)
                        self._bands[self._reach - distance, ahead, second] += shared
        if isinstance(target, np.ndarray):
            forces = weight[:, None] * target
            self._right[:, quantity.columns] += quantity.distribute(forces, self.frames)

    def factor(self) -> None:
        """Factor the matrix once, for all right sides."""
        from scipy.linalg import cholesky_banded  # late: 0.1 s, and only bakes need it

        size = self.frames * self.columns
        self._factor = cholesky_banded(
            self._bands.reshape(-1, size), overwrite_ab=True, check_finite=False
        )

    def solve(self, forces: np.ndarray | float = 0.0) -> np.ndarray:
        """Return the unknowns (T, K) with the least sum, under more `forces` on them (T, K)."""
        from scipy.linalg import cho_solve_banded  # late, as above

        right = (self._right + forces).ravel()
        solved = cho_solve_banded((self._factor, False), right, True, check_finite=False)
        return np.asarray(solved).reshape(self.frames, self.columns)
