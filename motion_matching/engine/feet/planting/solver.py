"""Solve where the feet of a take go, with weighted tasks and with limits kept by projections.

Source: alternating direction method of multipliers, with relaxation (Boyd, Parikh, Chu, Peleato and
Eckstein 2011, sections 3.1.1, 3.4.3 and 5.2). A limit whose force is bounded is an exact penalty:
it gives way where more than that is asked of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...ground.ground import compute_step_heights, is_flat
from ...maths.along_time import find_runs
from ..numbers import NUMBERS as FEET
from .banded import BandedSystem, gather_rows
from .feet_plan import Feet
from .limits import LIMITS, Bound, find_longest
from .numbers import NUMBERS
from .placement import FeetPlacement
from .tasks import TASKS

_SPAN = 3  # frames of the previous window that give positions of feet and two differences


def solve(feet: Feet) -> FeetPlacement:
    """Return the placement of least weighted cost within all limits, window by window."""
    count = len(feet.bodies)
    fps = feet.plan.fps
    length = round(NUMBERS.window * fps)
    ahead = round(NUMBERS.ahead * fps)
    values = np.zeros((count, feet.columns))
    for start in range(0, count, length):
        begin = max(start - _SPAN, 0)
        stop = start + length + ahead
        before = values[begin:start] if start else None
        if count - start <= length + ahead:
            values[begin:] = _solve_window(feet.crop(slice(begin, None), before)).values
            break
        solved = _solve_window(feet.crop(slice(begin, stop), before)).values
        values[start : start + length] = solved[start - begin :][:length]
    placed = FeetPlacement(feet, values)
    for foot, toe, floor in zip(feet.feet, placed.toes, placed.floors, strict=True):
        toe[:, 2] = np.maximum(toe[:, 2], floor + foot.leg.toe_height)
        _hold_plants(toe, foot.planted, fps)
    return placed


def _hold_plants(toe: np.ndarray, planted: np.ndarray, fps: float) -> None:
    """Let a toe (T, 3) that friction holds stand still in place: passes leave it creeping."""
    for start, stop in find_runs(planted):
        creeps = np.abs(np.diff(toe[start:stop], axis=0)).max(axis=1) < NUMBERS.kept / 5.0
        for first, last in start + find_runs(creeps):
            plant = toe[first : last + 1]
            # a toe drawn along while it leaves the ground stands until then, for long in a long run
            slow = NUMBERS.kept * max((last - first) / fps, 1.0)
            most = FEET.sliding_height if creeps.all() else min(slow, FEET.sliding_height)
            if np.ptp(plant, axis=0).max() < most:
                plant[:] = np.median(plant, axis=0)


def _solve_window(feet: Feet) -> FeetPlacement:
    """Return the placement of a window.

    Each round linearizes tasks and limits near the last placement. Its passes solve all frames at
    once, and pull quantities beyond a limit back to it.
    """
    values = np.zeros((len(feet.bodies), feet.columns))
    for foot in feet.feet:
        values[:, foot.column : foot.column + 3] = foot.toe
        values[:, foot.column + 3] = foot.down * foot.size
    near = FeetPlacement(feet, values)
    pulls = np.zeros(0)
    left_out = feet.plan.left_out
    tasks = [task for name, task in TASKS.items() if name not in left_out]
    limits = [limit for name, limit in LIMITS.items() if name not in left_out]
    for n in range(NUMBERS.most_rounds):
        bounds = [bound for limit in limits for bound in limit(feet, near)]
        constraints = _Constraints(bounds, *near.values.shape)
        if n >= NUMBERS.rounds and constraints.measure_excess(near.values) < NUMBERS.kept:
            break
        system = BandedSystem(len(feet.bodies), feet.columns)
        for task in tasks:
            task(system, feet, near)
        system.factor(constraints.matrix, constraints.step)
        pulls = pulls if len(pulls) else np.zeros(len(constraints.constant))
        passes = NUMBERS.passes if n + 1 < NUMBERS.rounds else NUMBERS.last
        near = FeetPlacement(feet, _project(system, constraints, pulls, near.values, passes))
        feet = _keep_on_steps(feet, near)
    return _lower_hips(feet, near)


def _lower_hips(feet: Feet, near: FeetPlacement) -> FeetPlacement:
    """Return the placement with hips lowered by the length that legs lack after the passes."""
    lowered = near.values.copy()
    for foot, way in zip(feet.feet, near.ways, strict=True):
        below = find_longest(feet, foot) ** 2 - np.sum(way[:, :2] ** 2, axis=-1)
        missing = -way[:, 2] - np.sqrt(np.maximum(below, 0.0))
        missing = np.clip(missing, 0.0, NUMBERS.kept)
        np.maximum(lowered[:, 0], near.drop + missing, out=lowered[:, 0])
    return FeetPlacement(feet, lowered)


def _keep_on_steps(feet: Feet, near: FeetPlacement) -> Feet:
    """Return feet whose plants stand firm at the edge that a placement would take them over."""
    ground = feet.plan.ground
    if is_flat(ground):
        return feet
    kept = []
    for foot, toe, floor in zip(feet.feet, near.toes, near.floors, strict=True):
        firm = foot.firm.copy()
        stand = foot.stand.copy()
        leaves = (
            np.abs(floor - compute_step_heights(ground, stand, feet.bodies)) > FEET.sliding_height
        )
        for start, stop in find_runs(foot.planted):
            if leaves[start:stop].any() and not firm[start:stop].any():
                at = start + int(np.argmax(leaves[start:stop]))
                way = np.linspace(stand[at], toe[at, :2], NUMBERS.looks_to_edge)
                heights = compute_step_heights(
                    ground, way, np.repeat(feet.bodies[at][None], NUMBERS.looks_to_edge, axis=0)
                )
                last = np.flatnonzero(np.abs(heights - heights[0]) <= FEET.sliding_height)[-1]
                # limits are kept to less than that: a toe right at an edge would be over it
                length = float(np.linalg.norm(way[last] - way[0]))
                back = min(NUMBERS.kept / max(length, NUMBERS.kept), 1.0)
                stand[start:stop] = way[last] + back * (way[0] - way[last])
                firm[start:stop] = True
        kept.append(replace(foot, firm=firm, stand=stand))
    return feet._replace(feet=kept)


def _project(
    system: BandedSystem,
    constraints: _Constraints,
    pulls: np.ndarray,
    values: np.ndarray,
    passes: int,
) -> np.ndarray:
    """Return the unknowns (T, K) that keep to all bounds; their `pulls` (M,) change in place."""
    now = constraints.measure(values)
    kept = now - constraints.pull(now, np.empty_like(now))
    share = NUMBERS.relaxation
    for _ in range(passes):
        forces = kept - pulls
        forces -= constraints.constant
        forces *= constraints.step
        after = system.solve(constraints.transposed @ forces).reshape(values.shape)
        now = constraints.measure(after)
        missing = constraints.moved * (now - kept)
        change = max(np.abs(after - values).max(), np.abs(missing).max())
        now *= share
        kept *= 1.0 - share
        now += kept
        now += pulls
        constraints.pull(now, pulls)
        np.subtract(now, pulls, kept)
        values = after
        if change < NUMBERS.accuracy:
            break
    return values


class _Constraints:
    """All bounds of a round, as one matrix of the unknowns: vectors of three first, then sums."""

    def __init__(self, bounds: Sequence[Bound], frames: int, columns: int) -> None:
        bounds = sorted(bounds, key=lambda bound: -bound.constant.shape[1])
        counts = [bound.constant.shape for bound in bounds]

        def gather(values: Sequence[np.ndarray | float]) -> np.ndarray:
            """Return the values of all bounds: one for each vector, and for each sum."""
            pairs = zip(values, counts, strict=True)
            return np.concatenate([np.broadcast_to(value, count) for value, (count, _) in pairs])

        self.matrix = gather_rows([bound.quantity for bound in bounds], frames, columns)
        self.transposed = self.matrix.T.tocsr()
        self.constant = np.concatenate([bound.constant.ravel() for bound in bounds])
        self._vectors = sum(count for count, sums in counts if sums == 3)
        step = gather([bound.step for bound in bounds])
        self.step = np.concatenate([np.repeat(step[: self._vectors], 3), step[self._vectors :]])
        self._least, self._most, force = (
            gather([getattr(bound, name) for bound in bounds])
            for name in ("least", "most", "force")
        )
        # a quantity that no pass moves is not pulled either
        self.moved = (self.step > 0.0).astype(np.float64)
        self._force = np.where(step > 0.0, force / np.maximum(step, 1e-12), 0.0)

    def measure(self, values: np.ndarray) -> np.ndarray:
        """Return the bounded quantities (M,) at unknowns (T, K)."""
        now = self.matrix @ values.ravel()
        now += self.constant
        return np.asarray(now)

    def measure_excess(self, values: np.ndarray) -> float:
        """Return how far any bound that never gives way is passed, at unknowns (T, K)."""
        _, beyond = self._find_beyond(self.measure(values))
        return float(np.abs(beyond[np.isinf(self._force)]).max(initial=0.0))

    def pull(self, now: np.ndarray, pulls: np.ndarray) -> np.ndarray:
        """Fill `pulls` (M,) with the excess over each bound, limited by its force; return it."""
        length, beyond = self._find_beyond(now)
        np.maximum(beyond, -self._force, out=beyond)
        np.minimum(beyond, self._force, out=beyond)
        share = beyond[: self._vectors]
        ends = 3 * self._vectors
        share /= np.maximum(length, 1e-12)
        np.multiply(share[:, None], now[:ends].reshape(-1, 3), out=pulls[:ends].reshape(-1, 3))
        pulls[ends:] = beyond[self._vectors :]
        return pulls

    def _find_beyond(self, now: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the lengths of the vectors in `now` (M,), and the excess of all bounds."""
        ends = 3 * self._vectors
        value = np.empty(len(self._least))
        vectors = now[:ends].reshape(-1, 3)
        length = value[: self._vectors]
        np.sqrt(np.einsum("nd,nd->n", vectors, vectors), out=length)
        value[self._vectors :] = now[ends:]
        within = np.maximum(value, self._least)
        np.minimum(within, self._most, out=within)
        return length.copy(), np.subtract(value, within, out=value)
