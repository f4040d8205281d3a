"""Close a plan: bend its way and its timing slightly to hit marks and follow paths.

The unknowns of each tick are the place, the heading, and the tick of the plan that is shown. The
goals are steps like the data's, time at its own rate, slow corrections, and the anchors. This is a
nonlinear least-squares problem whose normal equations are banded, so it is linear in length.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...blending.jump_price import compute_left
from ...maths import planar
from ..footage.footage import Footage
from ..numbers import NUMBERS
from ..objective import COSTS
from ..search.beam import ShotPlan
from ..search.guide import Guide, interpolate_rows

_DAMPING = 1e-10
_STIFF = np.array(COSTS.stiff)
_STIFF_PATH = np.array(COSTS.stiff_on_path)
_LEAST_CHANGE = np.array(COSTS.free_change)


@dataclass(frozen=True, eq=False)
class PartTrack:
    """Offsets (P, 2) in metres of a part from the character at each tick of a plan."""

    offsets: np.ndarray

    def sample(self, plan_tick: float) -> tuple[np.ndarray, np.ndarray]:
        """Return its place (2,) at a fractional tick, and the change of that place per tick."""
        low = min(max(int(plan_tick), 0), len(self.offsets) - 2)
        step = self.offsets[low + 1] - self.offsets[low]
        return self.offsets[low] + (plan_tick - low) * step, step

    def find_place(self, unknowns: np.ndarray) -> np.ndarray:
        """Return its place (2,) for an x, y, yaw and tick of the plan (4,)."""
        offset, _ = self.sample(float(unknowns[3]))
        return np.asarray(unknowns[:2] + planar.rotate(offset, unknowns[2]))

    def find_slopes(self, unknowns: np.ndarray) -> np.ndarray:
        """Return the derivatives (2, 4) of that place by x, y, yaw and tick of the plan."""
        offset, step = self.sample(float(unknowns[3]))
        x, y = planar.rotate(offset, unknowns[2])
        slopes = np.zeros((2, 4))
        slopes[:, :2] = np.eye(2)
        slopes[:, 2] = -y, x
        slopes[:, 3] = planar.rotate(step, unknowns[2])
        return slopes

    def shift(self, away: np.ndarray) -> PartTrack:
        """Return the track with its part moved by (2,) metres."""
        return replace(self, offsets=self.offsets + away)

    def cut(self, origin: int) -> PartTrack:
        """Return the track of a plan that begins at a tick of this one."""
        return replace(self, offsets=self.offsets[origin:])


class Anchor(NamedTuple):
    """A constraint at a tick: place, yaw, and tick of the plan, each of them or None.

    With a `part`, the place is that of the part, which its `track` locates, not the character's.
    """

    tick: int
    place: tuple[float, float] | None = None
    yaw: float | None = None
    plan_tick: float | None = None
    loose: bool = False  # the end of a stand
    part: str = ""
    track: PartTrack | None = None


class Closed(NamedTuple):
    """T ticks: places (T, 3) as x, y and yaw, the shown tick of the plan (T,), and corrections.

    `lead` (T, 2) in m/s and `turn` (T,) in rad/s are the root's motion on top of the data's; `rate`
    (T,) is the speed of time.
    """

    places: np.ndarray
    plan_ticks: np.ndarray
    lead: np.ndarray
    turn: np.ndarray
    rate: np.ndarray


def compute_fading(footage: Footage, plan: ShotPlan) -> tuple[np.ndarray, np.ndarray]:
    """Return the ticks (J,) of a plan's jumps, and the root velocities (J, 3) that fade from there.

    They include the remainders of earlier jumps.
    """
    jumps = np.flatnonzero(plan.jumps)
    before = footage.before[plan.frames]
    result = np.zeros((len(jumps), 3))
    fading = np.zeros(3)
    gaps = compute_left(np.diff(jumps, prepend=0) / footage.fps)
    for i, jump in enumerate(jumps.tolist()):
        behind = footage.root[plan.frames[jump - 1]] - footage.root[before[jump]].astype(float)
        result[i] = fading = behind + gaps[i] * fading
    return jumps, result


def compute_way(footage: Footage, plan: ShotPlan, start: np.ndarray) -> np.ndarray:
    """Return x, y and yaw (P, 3) at each tick of a plan, as the data leads from a start (3,).

    Root velocities fade after jumps by a spring.
    """
    dt = 1.0 / footage.fps
    frames = plan.frames
    rates = footage.root[footage.before[frames]].astype(np.float64)
    rates[0] = 0.0
    jumps, fading = compute_fading(footage, plan)
    spans = itertools.pairwise([*jumps.tolist(), len(frames)])
    for (jump, after), velocity in zip(spans, fading, strict=True):
        left = compute_left(np.arange(1, after - jump + 1) * dt)
        rates[jump:after] += left[:, None] * velocity
    yaw = start[2] + np.cumsum(rates[:, 2]) * dt
    steps = planar.rotate(rates[:, :2], yaw - rates[:, 2] * dt) * dt  # in the axes before
    return np.column_stack([start[:2] + np.cumsum(steps, axis=0), yaw])


def close(
    way: np.ndarray,
    guide: Guide,
    anchors: Sequence[Anchor],
    origin: float = 0.0,
    laid: np.ndarray | None = None,
) -> Closed:
    """Return the places and times nearest to a way (P, 3) that satisfy the anchors.

    The first tick shows the plan's tick `origin`. If the way was `laid` (P, 3) elsewhere, it is
    bent from there.
    """
    return _Closing(way, guide, anchors, origin).solve(way if laid is None else laid)


class _Closing:
    """Gauss-Newton over T ticks, whose unknowns (T, 4) are x, y, yaw and the plan's tick."""

    def __init__(
        self, way: np.ndarray, guide: Guide, anchors: Sequence[Anchor], origin: float
    ) -> None:
        self.way = way
        self.guide = guide
        self.anchors = anchors
        self.dt = 1.0 / guide.fps
        self.count = guide.tick_count
        self.rates = np.gradient(way, axis=0)
        self.ticks = origin + guide.plan_ticks
        self.paces = guide.rates  # of the plan
        # by the unmoved plan: moving it must not make corrections cheaper
        step = guide.put_on_take(self.rates)[: self.count - 1] / self.dt
        speed = np.hypot(step[:, 0], step[:, 1])
        spin = np.abs(step[:, 2])
        lead = COSTS.lead * speed + COSTS.lead_at_rest
        turn = COSTS.twist * (speed / COSTS.twist_arm + spin) + COSTS.twist_at_rest
        self.allowed = np.column_stack([lead, lead, turn, np.full(len(lead), COSTS.rate)])

    def solve(self, laid: np.ndarray) -> Closed:
        """Return the solution after some iterations that start where the way is laid."""
        unknowns = np.column_stack([self.guide.put_on_take(laid)[: self.count], self.ticks])
        last = len(self.way) - 1.001
        for _ in range(NUMBERS.closing_rounds):
            residuals, slopes = self._linearize(unknowns)
            bands = _Bands(self.count)
            self._add_corrections(bands, residuals, slopes)
            self._add_path(bands, unknowns)
            self._add_obstacles(bands, unknowns)
            self._add_anchors(bands, unknowns)
            step = bands.solve().reshape(self.count, 4)
            most = NUMBERS.round_shift / self.dt
            step[:, 3] = np.clip(step[:, 3], -most, most)
            unknowns = unknowns - step
            unknowns[:, 3] = np.maximum.accumulate(np.clip(unknowns[:, 3], 0.0, last))
        residuals, _ = self._linearize(unknowns)
        lead, turn, rate = np.split(np.vstack([residuals, residuals[-1:]]), [2, 3], axis=1)
        return Closed(unknowns[:, :3], unknowns[:, 3], lead, turn[:, 0], rate[:, 0] + self.paces)

    def _linearize(self, unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return corrections (T - 1, 4) and their derivatives (T - 1, 4, 8) by two ticks' unknowns.

        Corrections are the root's step less the data's between the same ticks of the plan, seen
        from the character, in m/s and rad/s, and the rate of time less the requested one.
        """
        tick = unknowns[:, 3]
        base, rate = (interpolate_rows(rows, tick) for rows in (self.way, self.rates))
        yaw = unknowns[:-1, 2].copy()
        plan_yaw = base[:-1, 2]
        step = planar.rotate(unknowns[1:, :2] - unknowns[:-1, :2], -yaw)
        data = planar.rotate(base[1:, :2] - base[:-1, :2], -plan_yaw)
        after, before = (planar.rotate(each[:, :2], -plan_yaw) for each in (rate[1:], rate[:-1]))
        turned = unknowns[1:, 2] - yaw - (base[1:, 2] - plan_yaw)
        residuals = np.column_stack(
            [(step - data) / self.dt, turned / self.dt, tick[1:] - tick[:-1] - self.paces[:-1]]
        )
        c, s = np.cos(yaw), np.sin(yaw)
        slopes = np.zeros((self.count - 1, 4, 8))
        slopes[:, 0, 0] = -c
        slopes[:, 0, 1] = -s
        slopes[:, 0, 4] = c
        slopes[:, 0, 5] = s
        slopes[:, 1, 0] = s
        slopes[:, 1, 1] = -c
        slopes[:, 1, 4] = -s
        slopes[:, 1, 5] = c
        slopes[:, 0, 2] = step[:, 1]
        slopes[:, 1, 2] = -step[:, 0]
        slopes[:, :2, 7] = -after
        slopes[:, :2, 3] = before
        slopes[:, 0, 3] -= rate[:-1, 2] * data[:, 1]
        slopes[:, 1, 3] += rate[:-1, 2] * data[:, 0]
        slopes[:, 2, 2] = -1.0
        slopes[:, 2, 6] = 1.0
        slopes[:, 2, 3] = rate[:-1, 2]
        slopes[:, 2, 7] = -rate[1:, 2]
        slopes[:, :3] /= self.dt
        slopes[:, 3, 3] = -1.0
        slopes[:, 3, 7] = 1.0
        return residuals, slopes

    def _add_corrections(self, bands: _Bands, residuals: np.ndarray, slopes: np.ndarray) -> None:
        """Add the size of corrections, their change, and the shift of time."""
        allowed = self.allowed.copy()
        stiff = np.where(self.guide.follows[1:, None], _STIFF_PATH, _STIFF)
        allowed /= np.clip(np.abs(residuals) / stiff, 1.0, COSTS.stiffest) ** 2
        weight = np.sqrt(self.dt) / allowed
        bands.add(slopes * weight[:, :, None], residuals * weight)
        changes = np.zeros((self.count - 2, 4, 12))
        changes[:, :, :8] -= slopes[:-1]
        changes[:, :, 4:] += slopes[1:]
        mean = np.maximum(0.5 * (allowed[1:] + allowed[:-1]), _LEAST_CHANGE)
        weight = COSTS.calm / np.sqrt(self.dt) / mean
        bands.add(changes * weight[:, :, None], np.diff(residuals, axis=0) * weight)

    def _add_path(self, bands: _Bands, unknowns: np.ndarray) -> None:
        """Add the distance of ticks from a path to follow, and the shift of time."""
        away = unknowns[:, :3] - self.guide.way
        away[:, 2] = planar.wrap(away[:, 2])
        for axis, near in enumerate((COSTS.on_path, COSTS.on_path, COSTS.on_path_turn)):
            weight = np.where(self.guide.follows, np.sqrt(self.dt) / near, 0.0)
            bands.add_single(axis, away[:, axis] * weight, weight)
        weight = np.full(self.count, np.sqrt(self.dt) * self.dt / COSTS.shift)
        bands.add_single(3, (unknowns[:, 3] - self.ticks) * weight, weight)

    def _add_obstacles(self, bands: _Bands, unknowns: np.ndarray) -> None:
        """Add by how much ticks are too near to obstacles."""
        obstruction = self.guide.obstruction
        if obstruction is None:
            return
        least = obstruction.radius + NUMBERS.closing_beside
        far, out = obstruction.find_ways_out(unknowns[:, :2], least)
        weight = np.where(far < least, np.sqrt(self.dt) / COSTS.beside_obstacle, 0.0)
        slopes = np.zeros((self.count, 1, 4))
        slopes[:, 0, :2] = out * weight[:, None]
        residual = np.where(far < least, far - least, 0.0) * weight
        bands.add(slopes, residual[:, None])

    def _add_anchors(self, bands: _Bands, unknowns: np.ndarray) -> None:
        own = np.eye(4)  # slopes of unknowns themselves
        bands.pin(0, own[3:], unknowns[0, 3:] - self.ticks[0], COSTS.anchor)
        for anchor in self.anchors:
            tick = min(anchor.tick, self.count - 1)
            weight = COSTS.anchor_of_stand if anchor.loose else COSTS.anchor
            at = unknowns[tick]
            if anchor.place is not None and anchor.track is not None:
                away = anchor.track.find_place(at) - anchor.place
                bands.pin(tick, anchor.track.find_slopes(at), away, weight)
            elif anchor.place is not None:
                bands.pin(tick, own[:2], at[:2] - anchor.place, weight)
            if anchor.yaw is not None:
                bands.pin(tick, own[2:3], planar.wrap(at[2:3] - anchor.yaw), weight)
            if anchor.plan_tick is not None:
                bands.pin(tick, own[3:], at[3:] - anchor.plan_tick, weight)


class _Bands:
    """Normal equations of residuals that touch the four unknowns of up to three ticks."""

    def __init__(self, ticks: int) -> None:
        self._matrix, self._right = np.zeros((12, 4 * ticks)), np.zeros(4 * ticks)

    def add(self, slopes: np.ndarray, residuals: np.ndarray) -> None:
        """Add residuals (M, R) with slopes (M, R, W) by the unknowns from each tick on."""
        count, _, width = slopes.shape
        square = slopes.transpose(0, 2, 1) @ slopes
        right = np.einsum("nri,nr->ni", slopes, residuals)
        for i in range(width):
            self._right[i : i + 4 * count : 4] += right[:, i]
            for j in range(i + 1):
                self._matrix[i - j, j : j + 4 * count : 4] += square[:, i, j]

    def add_single(self, unknown: int, residuals: np.ndarray, weights: np.ndarray) -> None:
        """Add residuals (T,) that grow by `weights` (T,) with one unknown of each tick."""
        self._matrix[0, unknown::4] += weights**2
        self._right[unknown::4] += weights * residuals

    def pin(self, tick: int, slopes: np.ndarray, residuals: np.ndarray, weight: float) -> None:
        """Add residuals (R,), times a weight, with slopes (R, 4) by the unknowns of a tick."""
        square = weight**2 * slopes.T @ slopes
        right = weight**2 * slopes.T @ residuals
        self._right[4 * tick : 4 * tick + 4] += right
        for i in range(4):
            for j in range(i + 1):
                self._matrix[i - j, 4 * tick + j] += square[i, j]

    def solve(self) -> np.ndarray:
        """Return the step (4 T,) that solves the equations."""
        from scipy.linalg import solveh_banded

        # a little damping: anchors that cannot be held make the equations ill-conditioned
        self._matrix[0] += 1e-9 + _DAMPING * self._matrix[0]
        return np.asarray(solveh_banded(self._matrix, self._right, lower=True))
