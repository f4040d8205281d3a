"""Iterate the value of each state for every task (fitted), by sparse linear algebra.

An action turns all directions alike, so the interpolation between them is the same shift for each:
a sweep is one sparse product, one mix of neighbouring columns and one gather, in blocks that fit a
processor's cache.

Source: notebook 003, fitted value function training: V(m, θ) = max over actions of R + γ Σⱼ ωⱼ
V(mⱼ, θ').
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...progress import ReportShare, ignore_progress
from ..numbers import NUMBERS
from ..states.tasks import Tasks


class Transitions(NamedTuple):
    """The results of every state's actions; all arrays are (states, actions, …).

    `indices` and `weights` (N, A, k) are the states around the result and their weights, which add
    up to 1. `turn` (N, A) is the turn of the root in radians, `speed` (N, A) its speed ahead in
    m/s.
    """

    indices: np.ndarray
    weights: np.ndarray
    turn: np.ndarray
    speed: np.ndarray


class Residual(NamedTuple):
    """The change of the values in a sweep: least, largest and mean."""

    least: float
    most: float
    mean: float


class ValueIteration:
    """Values (N, S, G, T) of states for speeds, tasks by tag and directions, sweep by sweep.

    Transitions are those of the M trained states; `spread` (N, M) interpolates all states between
    these, and `trained` (M,) are their indices; None for both if all are trained. `tagged` (N,
    tags): the states that carry the tags of the tasks.
    `values` and `residuals` match after every whole sweep, so that a cancelled iteration can go on.
    """

    def __init__(
        self,
        transitions: Transitions,
        tagged: np.ndarray,
        tasks: Tasks,
        discount: float,
        values: np.ndarray | None = None,
        residuals: list[Residual] | None = None,
        check_cancelled: Callable[[], None] = lambda: None,
        spread: sparse.csr_matrix | None = None,
        trained: np.ndarray | None = None,
    ) -> None:
        """Prepare the blocks; `check_cancelled` is called at times, and may raise to stop."""
        shape = (len(tagged), *tasks.shape)
        self._spread = spread
        self.values = np.zeros(shape, np.float32)
        if values is not None:
            self.values[:] = values.reshape(shape)
        self.residuals = list(residuals or [])
        self._blocks = []
        for start in range(0, len(transitions.indices), NUMBERS.values_at_once):
            check_cancelled()
            part = Transitions(*(a[start : start + NUMBERS.values_at_once] for a in transitions))
            own = tagged if trained is None else tagged[trained]
            started = own[start : start + len(part.indices)]
            self._blocks.append(_Block(part, tagged, started, tasks, discount))

    def sweep(self, progress: ReportShare = ignore_progress) -> Residual:
        """Update every value once from those before; if `progress` raises, nothing has changed."""
        flat = self.values.reshape(len(self.values), -1)
        renewed = np.empty((sum(block.states for block in self._blocks), flat.shape[1]), np.float32)
        start = 0
        for block in self._blocks:
            progress(start / len(renewed))
            renewed[start : start + block.states] = block.renew(flat)
            start += block.states
        fresh = renewed if self._spread is None else self._spread @ renewed
        residual = _measure_change(flat, fresh)
        self.values = fresh.reshape(self.values.shape)
        self.residuals.append(residual)
        return residual

    def run(
        self, sweeps: int, residual: float = 0.0, progress: ReportShare = ignore_progress
    ) -> None:
        """Sweep until there are `sweeps` in all, or the largest change is at most `residual`.

        `progress` is called with the share done, 0 to 1, and may raise to cancel.
        """

        def report_progress(share: float) -> None:
            progress((len(self.residuals) + share) / sweeps)

        while len(self.residuals) < sweeps:
            if self.residuals and self.residuals[-1].most <= residual:
                break
            self.sweep(report_progress)
        progress(1.0)


def _measure_change(before: np.ndarray, after: np.ndarray) -> Residual:
    """Return the change between values (N, ...), block by block: there may be gigabytes of them."""
    parts = []
    for start in range(0, len(after), NUMBERS.values_at_once):
        part = slice(start, start + NUMBERS.values_at_once)
        change = np.abs(after[part] - before[part])
        parts.append((change.min(), change.max(), change.sum(dtype=np.float64)))
    least, most, total = np.array(parts, np.float64).T
    return Residual(float(least.min()), float(most.max()), float(total.sum() / after.size))


class _Block:
    """The actions of a run of states, prepared for sweeps.

    Rows are the actions of all its states, action by action. All arrays have the rows last, so that
    numpy's inner loops run over thousands of them instead of over a few directions.
    """

    def __init__(
        self,
        transitions: Transitions,
        tagged: np.ndarray,
        started: np.ndarray,
        tasks: Tasks,
        discount: float,
    ) -> None:
        """Prepare the actions of states that carry the tags `started` (states, tags)."""
        self.states, self._actions, k = transitions.indices.shape
        self._directions = tasks.directions
        indices, weights, turn, speed = (np.moveaxis(array, 1, 0) for array in transitions)
        rows = turn.size
        starts = np.arange(0, rows * k + 1, k)
        entries = weights.ravel(), indices.ravel().astype(np.int32), starts
        matrix = sparse.csr_matrix(entries, (rows, len(tagged)))
        self._matrix = matrix * np.float32(discount)
        turn = turn.ravel().astype(np.float64)
        speed = speed.ravel()
        # after a turn to the left, the goal lies further to the right, for every direction alike
        shift = -turn / tasks.spacing
        low = np.floor(shift)
        self._share = (shift - low).astype(np.float32)
        each = np.arange(tasks.directions)[:, None]
        column = each + low.astype(np.intp)
        self._is_circle = tasks.as_notebook
        if self._is_circle:
            column %= tasks.directions
        else:
            column = np.clip(column + 1, 0, tasks.directions)
        self._gather = (column * rows + np.arange(rows)).ravel()
        left = tasks.measure_error(tasks.headings[:, None] - turn)
        self._reward = -np.abs(left).astype(np.float32)
        requested = np.zeros((len(tasks.names), rows))
        if tasks.as_notebook:
            requested[1:] = np.tile(started.T, self._actions)
        else:
            requested[1:] = (matrix @ tagged.astype(np.float32)).T
        error = np.zeros((1, rows))
        if tasks.speeds:
            error = np.abs(np.array(tasks.speeds)[:, None] - speed)
        extra = tasks.tag_reward * requested - tasks.speed_reward * error[:, None]
        self._extra_reward = extra.astype(np.float32).reshape(-1, 1, rows)

    def renew(self, values: np.ndarray) -> np.ndarray:
        """Return the values (states, S·G·T) of the best actions, from all values (N, S·G·T)."""
        product = np.ascontiguousarray((self._matrix @ values).T)
        ahead = product.reshape(-1, self._directions, len(self._share))
        mixed = self._mix(ahead)
        flat = ahead.reshape(len(ahead), -1)
        gained: np.ndarray = mixed.reshape(len(ahead), -1)
        gained = gained.take(self._gather, axis=1, out=flat, mode="clip")
        gained = gained.reshape(ahead.shape)
        gained += self._reward
        gained += self._extra_reward
        best = gained.reshape(*gained.shape[:2], self._actions, self.states).max(2)
        return best.reshape(-1, self.states).T

    def _mix(self, ahead: np.ndarray) -> np.ndarray:
        """Return values between each two directions, from those at them (…, T, rows).

        On a circle the last ones lie between the last direction and the first; otherwise there is
        at both ends what lies beyond straight back.
        """
        count = self._directions + (not self._is_circle)
        mixed = np.empty((len(ahead), count, len(self._share)), np.float32)
        if self._is_circle:
            between = mixed[:, :-1]
            last = mixed[:, -1]
            np.subtract(ahead[:, 0], ahead[:, -1], out=last)
            last *= self._share
            last += ahead[:, -1]
        else:
            mixed[:, 0] = ahead[:, 0]
            mixed[:, -1] = ahead[:, -1]
            between = mixed[:, 1:-1]
        np.subtract(ahead[:, 1:], ahead[:, :-1], out=between)
        between *= self._share
        between += ahead[:, :-1]
        return mixed
