"""Limit feet: define quantities that must stay between bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...legs.legs import Beside
from ...maths.along_time import count_frames_to
from ...maths.rotations import quat
from ..live.feet_apart import measure_nearest
from .banded import Quantity
from .feet_plan import Feet, FootTrack
from .numbers import NUMBERS
from .placement import HIPS, FeetPlacement
from .tasks import find_clearance


class Bound(NamedTuple):
    """A quantity plus a constant (N, D), which stays between two bounds (N,).

    One sum is bounded by its value, three by their length. `step` (N,) is how far a pass goes
    toward the bounds, and `force` (N,) how strongly they hold against wishes.
    """

    quantity: Quantity
    constant: np.ndarray
    least: np.ndarray | float
    most: np.ndarray | float
    step: np.ndarray | float
    force: np.ndarray | float = np.inf


# the bounds of one kind of all feet, linearized near a placement
Limit = Callable[[Feet, FeetPlacement], list[Bound]]


def _find_constant(quantity: Quantity, now: np.ndarray, near: FeetPlacement) -> np.ndarray:
    """Return the constant part (N, D) of a quantity that is `now` (N, D)."""
    return now - quantity.evaluate(near.values)


def _get_place_step(feet: Feet) -> float:
    return 1.0 / (NUMBERS.position_step * feet.plan.fps) ** 2


def _get_change_step(feet: Feet) -> float:
    return NUMBERS.change_step * (NUMBERS.even * feet.plan.fps) ** 2


def _rest(feet: Feet, near: FeetPlacement) -> list[Bound]:
    """A planted toe stays in place until it is dragged more strongly than its friction holds."""
    friction = NUMBERS.friction / feet.plan.fps
    bounds = []
    for foot in feet.feet:
        rests = foot.planted[1:] & foot.planted[:-1]
        # a foot that lands or leaves does not bear the whole load
        load = (
            count_frames_to(~rests) / (NUMBERS.loading * feet.plan.fps) if not rests.all() else 1.0
        )
        force = friction * np.minimum(load, 1.0)
        force = np.where(foot.firm[1:] & foot.firm[:-1], np.inf, force)
        still = np.zeros((len(rests), 3))
        step = np.where(rests, NUMBERS.rest_step, 0.0)
        bounds.append(Bound(foot.select(0, 3, 1), still, 0.0, 0.0, step, force))
    return bounds


def _limit_legs(feet: Feet, near: FeetPlacement) -> list[Bound]:
    """An ankle is no farther from its hip than the leg reaches, and no nearer than it folds."""
    step = _get_place_step(feet)
    bounds = []
    for k, foot in enumerate(feet.feet):
        # a step up may fold a leg farther than the data, which has flat ground only
        up = np.maximum(near.floors[k] - feet.bodies[:, 2], 0.0)
        least = np.minimum(foot.leg.folded_length, foot.extension) - up
        ankle = near.find_ankle(k)
        constant = _find_constant(ankle, near.ways[k], near)
        bounds.append(Bound(ankle, constant, least, find_longest(feet, foot), step))
    return bounds


def find_longest(feet: Feet, foot: FootTrack) -> np.ndarray:
    """Return how far (T,) in metres an ankle may be from its hip."""
    return np.maximum(foot.length - feet.plan.buffer, foot.extension)


def _limit_floor(feet: Feet, near: FeetPlacement) -> list[Bound]:
    """Toes and heels stay on or above the floor, and swings clear of it."""
    step = _get_place_step(feet)
    bounds = []
    for k, foot in enumerate(feet.feet):
        toe = foot.select(2, 1)
        none = np.zeros((len(foot.toe), 1))
        lowest = near.floors[k] + foot.leg.toe_height
        bounds.append(Bound(toe, none, lowest, np.inf, step))
        clear = find_clearance(feet, foot, near.toes[k], near.floors[k])
        bounds.append(Bound(toe, none, clear, np.inf, step, NUMBERS.clear / feet.plan.fps))
        if foot.has_ankle:
            ankle = near.find_ankle(k)
            heel = ankle.select(slice(2, 3), slice(3, 5))
            now = (near.toes[k] + near.arms[k])[:, 2:]
            lowest = near.heel_floors[k] + foot.leg.foot_height
            bounds.append(Bound(heel, _find_constant(heel, now, near), lowest, np.inf, step))
    return bounds


def _limit_accelerations(feet: Feet, near: FeetPlacement) -> list[Bound]:
    """Toes, ankles and knees accelerate no harder than joints of the motion."""
    step = _get_change_step(feet)
    bounds = []
    most = feet.plan.hardest / feet.plan.fps**2
    for k, foot in enumerate(feet.feet):
        ankle = near.find_ankle(k)
        (knee, at_knee) = near.find_knee(k)
        ankle = ankle.select(slice(0, 3), slice(1, 5))._replace(order=2)
        for quantity, places in (
            (foot.select(0, 3, 2), near.toes[k]),
            (ankle, near.toes[k] + near.arms[k]),
            (knee._replace(order=2), at_knee),
        ):
            constant = _find_constant(quantity, np.diff(places, 2, axis=0), near)
            bounds.append(Bound(quantity, constant, 0.0, most, step))
    return bounds


def _limit_knees(feet: Feet, near: FeetPlacement) -> list[Bound]:
    """Knees bend and stretch no faster than in the data."""
    step = _get_change_step(feet)
    bounds = []
    for k, foot in enumerate(feet.feet):
        length = near.find_length(k)._replace(order=1)
        stretch = near.measure_stretch(k)
        most = foot.leg.knee_rate / feet.plan.fps * np.minimum(stretch[1:], stretch[:-1])
        now = np.diff(near.reaches[k])[:, None]
        bounds.append(Bound(length, _find_constant(length, now, near), -most, most, step))
    return bounds


def _keep_apart(feet: Feet, near: FeetPlacement) -> list[Bound]:
    """Feet keep to their side of each other, and do not overlap."""
    return [
        keep(feet, near, i, beside)
        for i, foot in enumerate(feet.feet)
        for beside in foot.leg.beside
        for keep in (_keep_side, _keep_distance)
    ]


def _keep_side(feet: Feet, near: FeetPlacement, i: int, beside: Beside) -> Bound:
    a, b = feet.feet[i], feet.feet[beside.leg]
    way = (a.hip - b.hip) * [1.0, 1.0, 0.0]
    least = np.clip(a.side, -NUMBERS.crossed, 0.0)
    ankles = [near.toes[k] + near.arms[k] for k in (i, beside.leg)]
    return _push(feet, near, (a, b), quat.normalize_vectors(way), ankles, least)


def _keep_distance(feet: Feet, near: FeetPlacement, i: int, beside: Beside) -> Bound:
    pair = [feet.feet[k] for k in (i, beside.leg)]
    line = []
    for k, foot in zip((i, beside.leg), pair, strict=True):
        line += [near.toes[k] + near.arms[k], near.toes[k] - foot.leg.tip_share * near.arms[k]]
    apart = measure_nearest(*line)
    places = [apart, 0.0 * apart]
    least = np.full(len(apart), beside.apart)
    return _push(feet, near, pair, quat.normalize_vectors(apart), places, least)


def _push(
    feet: Feet,
    near: FeetPlacement,
    pair: Sequence[FootTrack],
    along: np.ndarray,
    places: Sequence[np.ndarray],
    least: np.ndarray,
) -> Bound:
    """Return a bound on how far two toes move their `places` (T, 3) apart `along` (T, 3)."""
    columns = np.concatenate([foot.column + np.arange(3) for foot in pair])
    across = Quantity(columns, np.concatenate([along, -along], axis=1)[:, None, :])
    now = np.sum((places[0] - places[1]) * along, axis=-1)[:, None]
    constant = _find_constant(across, now, near)
    force = NUMBERS.apart / feet.plan.fps
    return Bound(across, constant, least, np.inf, _get_place_step(feet), force)


def _limit_pitch(feet: Feet, near: FeetPlacement) -> list[Bound]:
    """A heel comes up and down no farther than a person's does."""
    bounds = []
    for foot in feet.feet:
        now = near.values[:, foot.column + 3] / foot.size
        heel = NUMBERS.heel
        # an ankle is taken to move straight, which is true of small turns only
        most = np.maximum(foot.down, heel)
        least, most = (
            np.clip(now + turn, -heel, most) * foot.size for turn in (-NUMBERS.trust, NUMBERS.trust)
        )
        none = np.zeros((len(now), 1))
        bounds.append(Bound(foot.select(3, 1), none, least, most, _get_place_step(feet)))
    return bounds


def _limit_fall(feet: Feet, near: FeetPlacement) -> list[Bound]:
    """Hips come down by a share of the legs at most, and never up: legs grow no longer."""
    most = NUMBERS.lower * np.min([foot.length for foot in feet.feet], axis=0)
    none = np.zeros((len(most), 1))
    return [Bound(HIPS, none, 0.0, most, _get_place_step(feet))]


LIMITS: Mapping[str, Limit] = {
    "Rest": _rest,
    "LegLengths": _limit_legs,
    "FloorLimit": _limit_floor,
    "Accelerations": _limit_accelerations,
    "KneeRates": _limit_knees,
    "Apart": _keep_apart,
    "Pitch": _limit_pitch,
    "Fall": _limit_fall,
}
