"""Fitted value iteration: what being in a state is worth for every task, by sweeps of sparse linear algebra.

Source: notebook 003, fitted value function training: V(m, θ) = max over actions of R + γ Σⱼ ωⱼ V(mⱼ, θ'). All directions
turn alike in an action, so the interpolation between them is the same shift for each: a sweep is one sparse product, one
mixing of neighbouring columns and one gather, in blocks that fit a processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from .tasks import Tasks

_BLOCK = 1024  # states
Progress = Callable[[float], None]


class Transitions(NamedTuple):
    """Where every state's actions lead: all arrays are (states, actions, …).

    `indices` and `weights` (N, A, k) are the states around the result and how much each counts, adding up to 1; `turn`
    (N, A) is what the root turns by in radians, `speed` (N, A) how fast it goes ahead in m/s.
    """

    indices: np.ndarray
    weights: np.ndarray
    turn: np.ndarray
    speed: np.ndarray


class Residual(NamedTuple):
    """How much a sweep changed the values: least, most and on average."""

    least: float
    most: float
    mean: float


class ValueIteration:
    """Values (N, S, G, T) of states for speeds, tasks by tag and directions, as they grow sweep by sweep.

    Transitions are those of M states that are trained, and `spread` (N, M) says how much each state is worth of these;
    None where all are trained. `tagged` (N, tags) says which states carry the tags of the tasks. `values` and `residuals`
    belong together after every whole sweep, so an iteration that was cancelled goes on where it was.
    """

    def __init__(
        self,
        transitions: Transitions,
        tagged: np.ndarray,
        tasks: Tasks,
        discount: float,
        values: np.ndarray | None = None,
        residuals: list[Residual] | None = None,
        told: Callable[[], None] = lambda: None,
        spread: sparse.csr_matrix | None = None,
    ) -> None:
        """`told` is called now and then while all is made ready, and may raise to stop."""
        count = len(transitions.indices)
        shape = (len(tagged), *tasks.shape)
        self._spread = spread
        self.values = (
            np.zeros(shape, np.float32)
            if values is None
            else np.array(values, np.float32).reshape(shape)
        )
        self.residuals = list(residuals or [])
        self._blocks = []
        for start in range(0, count, _BLOCK):
            told()
            part = Transitions(*(a[start : start + _BLOCK] for a in transitions))
            self._blocks.append(_Block(part, tagged, tasks, discount))

    def sweep(self, progress: Progress | None = None) -> Residual:
        """Renew every value once from those before; `progress` may raise, and then nothing has changed."""
        flat = self.values.reshape(len(self.values), -1)
        renewed = np.empty((sum(block.states for block in self._blocks), flat.shape[1]), np.float32)
        start = 0
        for block in self._blocks:
            if progress:
                progress(start / len(renewed))
            renewed[start : start + block.states] = block.renewed(flat)
            start += block.states
        fresh = renewed if self._spread is None else self._spread @ renewed
        residual = _changed(flat, fresh)
        self.values = fresh.reshape(self.values.shape)
        self.residuals.append(residual)
        return residual

    def run(self, sweeps: int, residual: float = 0.0, progress: Progress | None = None) -> None:
        """Sweep until there have been so many in all, or the largest change is at most `residual`.

        `progress` is told the part done, 0..1, and may raise to cancel.
        """
        while len(self.residuals) < sweeps:
            if self.residuals and self.residuals[-1].most <= residual:
                break
            self.sweep(_within(progress, len(self.residuals), sweeps) if progress else None)
        if progress:
            progress(1.0)


def _within(progress: Progress, done: int, count: int) -> Progress:
    """Progress of one of `count` steps as that of all, where so many are done."""
    return lambda part: progress((done + part) / count)


def _changed(before: np.ndarray, after: np.ndarray) -> Residual:
    """How much values (N, ...) changed; block by block, for there may be gigabytes of them."""
    parts = []
    for start in range(0, len(after), _BLOCK):
        change = np.abs(after[start : start + _BLOCK] - before[start : start + _BLOCK])
        parts.append((change.min(), change.max(), change.sum(dtype=np.float64)))
    least, most, total = np.array(parts, np.float64).T
    return Residual(float(least.min()), float(most.max()), float(total.sum() / after.size))


class _Block:
    """The actions of a run of states, made ready for sweeps.

    Rows are the actions of all its states, action by action, and everything is kept with rows last: then numpy's inner
    loops run over thousands of them instead of over a few directions.
    """

    def __init__(
        self, transitions: Transitions, tagged: np.ndarray, tasks: Tasks, discount: float
    ) -> None:
        self.states, self._actions, k = transitions.indices.shape
        self._directions = tasks.directions
        indices, weights, turn, speed = (np.moveaxis(array, 1, 0) for array in transitions)
        rows = turn.size
        matrix = sparse.csr_matrix(
            (weights.ravel(), indices.ravel().astype(np.int32), np.arange(0, rows * k + 1, k)),
            (rows, len(tagged)),
        )
        self._matrix = matrix * np.float32(discount)
        turn, speed = turn.ravel().astype(np.float64), speed.ravel()
        # after a turn to the left, what was asked for lies further to the right, for every direction alike
        place = -turn / tasks.spacing
        low = np.floor(place)
        self._share = (place - low).astype(np.float32)
        each = np.arange(tasks.directions)[:, None]
        column = np.clip(each + low.astype(np.intp) + 1, 0, tasks.directions)
        self._gather = (column * rows + np.arange(rows)).ravel()
        self._reward = -np.abs(tasks.headings[:, None] - turn).astype(np.float32)
        asked = np.zeros((len(tasks.names), rows))
        asked[1:] = (matrix @ tagged.astype(np.float32)).T
        amiss = (
            np.abs(np.array(tasks.speeds)[:, None] - speed) if tasks.speeds else np.zeros((1, rows))
        )
        also = tasks.tag_reward * asked - tasks.speed_reward * amiss[:, None]
        self._also = also.astype(np.float32).reshape(-1, 1, rows)

    def renewed(self, values: np.ndarray) -> np.ndarray:
        """Values (states, S·G·T) of the best actions, from the values (N, S·G·T) of all states."""
        ahead = np.ascontiguousarray((self._matrix @ values).T).reshape(
            -1, self._directions, len(self._share)
        )
        # what lies between two directions, and before and after these what is further round than straight back
        mixed = np.empty((len(ahead), self._directions + 1, len(self._share)), np.float32)
        mixed[:, 0], mixed[:, -1] = ahead[:, 0], ahead[:, -1]
        between = mixed[:, 1:-1]
        np.subtract(ahead[:, 1:], ahead[:, :-1], out=between)
        between *= self._share
        between += ahead[:, :-1]
        flat = ahead.reshape(len(ahead), -1)
        gained = (
            mixed.reshape(len(ahead), -1)
            .take(self._gather, axis=1, out=flat, mode="clip")
            .reshape(ahead.shape)
        )
        gained += self._reward
        gained += self._also
        best = gained.reshape(*gained.shape[:2], self._actions, self.states).max(2)
        return best.reshape(-1, self.states).T
