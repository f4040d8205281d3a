"""Where a walker's feet go: from a path on the ground to footsteps, and from footsteps to two moving feet.

Each foot is a sequence of swings between planted stances. A stance holds the toe joint at one point of the ground;
during a swing the toe travels to where the hip will be in the middle of the next stance. Rates and lengths of steps
follow the human ones: walking steps grow with the square root of the speed, running steps come at nearly one rate,
and a foot is down for about 60 % of a stride in a walk and 35 % in a run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray

SIDES = (1.0, -1.0)  # left, right: the side on which a foot stands, along the character's left
TOE_AHEAD = 0.13  # metres from the ankle forward to the toe joint
HEEL_BEHIND_TOE = 0.18
TOE_HEIGHT = 0.025  # of the toe joint over the ground in a flat foot
_CLEARANCE = 0.13  # metres between the middles of the feet as they pass or stand beside each other
_TOE_OUT = np.radians(7)
_CLOSING = 0.2  # seconds that the last step may come after the body
_SHORTEST_PAUSE = 0.4  # seconds; a shorter halt does not interrupt the steps


def smoothstep(x: Array | float) -> Array:
    """Quintic step from 0 to 1 over 0 <= x <= 1 with zero first and second derivative at both ends."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * x * (x * (6.0 * x - 15.0) + 10.0)


def ease(x: Array | float) -> Array:
    """Cubic step from 0 to 1 over 0 <= x <= 1 with zero slope at both ends; less steep than `smoothstep`."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def forward(yaw: Array) -> Array:
    """Directions `(..., 2)` on the ground of headings `(...)` in radians: 0 looks along -Y."""
    return np.stack([np.sin(yaw), -np.cos(yaw)], axis=-1)


def leftward(yaw: Array) -> Array:
    """Directions `(..., 2)` to the left of headings `(...)`."""
    return np.stack([np.cos(yaw), np.sin(yaw)], axis=-1)


@dataclass(frozen=True)
class Path:
    """Where the body goes: `times` (F,) seconds, `position` (F, 2), `velocity` (F, 2) m/s, heading `yaw` (F,) rad."""

    times: Array
    position: Array
    velocity: Array
    yaw: Array

    @property
    def ahead(self) -> Array:
        """Speed along the heading (F,)."""
        return np.sum(self.velocity * forward(self.yaw), axis=-1)

    @property
    def aside(self) -> Array:
        """Speed to the left of the heading (F,)."""
        return np.sum(self.velocity * leftward(self.yaw), axis=-1)

    @property
    def turn_rate(self) -> Array:
        """Radians per second (F,)."""
        return np.gradient(self.yaw, self.times)

    @property
    def pace(self) -> Array:
        """Speed (F,) weighted by effort: a step backwards or aside costs more than one ahead."""
        ahead = self.ahead
        return np.hypot(np.where(ahead < 0, 1.3 * ahead, ahead), 1.7 * self.aside)

    @property
    def running(self) -> Array:
        """How much of a run it is (F,): 0 in a walk, 1 in a run."""
        return smoothstep((self.pace - 1.9) / 0.7)

    def sample(self, values: Array, times: Array) -> Array:
        """Values `(F,)` or `(F, 2)` of this path between its frames."""
        if values.ndim == 1:
            return np.interp(times, self.times, values)
        return np.stack([np.interp(times, self.times, column) for column in values.T], axis=-1)


@dataclass(frozen=True)
class Swings:
    """The swings of one foot, in time order: `lift` and `land` (N,) seconds, `last` (N,) where a halt follows."""

    lift: Array
    land: Array
    last: Array


@dataclass(frozen=True)
class Foot:
    """One foot over time: `toe` (F, 3) its toe joint, `yaw` (F,), `pitch` (F,) heel up, `bend` (F,) of the toes up.

    `planted` (F,) is true while the toe joint rests on its point of the ground.
    """

    toe: Array
    yaw: Array
    pitch: Array
    bend: Array
    planted: Array


def step_rate(path: Path) -> Array:
    """Steps per second (F,): turning on the spot takes steps too; setting off, braking and steps aside are quick."""
    pace, aside, turning = path.pace, np.abs(path.aside), np.abs(path.turn_rate)
    push = 0.3 * np.linalg.norm(np.gradient(path.velocity, path.times, axis=0), axis=-1)
    walk = np.clip(1.61 * np.sqrt(np.sqrt(pace**2 + turning**2 + push**2)), 1.35, 2.2)
    walk = walk + 0.35 * aside + 0.35 * np.maximum(turning - 1.0, 0.0)
    run = 2.2 + 0.18 * pace + 0.25 * aside
    return walk + path.running * (run - walk)


def duty_factor(path: Path) -> Array:
    """Share (F,) of a stride of two steps that a toe is down."""
    walk = np.clip(0.63 - 0.05 * path.pace, 0.54, 0.62)
    run = np.clip(0.43 - 0.025 * path.pace, 0.32, 0.40)
    return walk + path.running * (run - walk)


def footsteps(path: Path, rng: np.random.Generator) -> tuple[Swings, Swings]:
    """Swings of the left and of the right foot, alternating while the body moves or turns."""
    rate, duty = step_rate(path), duty_factor(path)
    lifts: tuple[list, list] = ([], [])
    lands: tuple[list, list] = ([], [])
    ends: tuple[list, list] = ([], [])
    for start, stop in _moving(path):
        times, phase = path.times[start:stop], integral(rate[start:stop], path.times[start:stop])
        lead, close = _first_and_last_foot(path, start, stop, rng)
        count = max(2, round(phase[-1]))
        count += close is not None and (count - 1 + lead) % 2 != close
        phase *= count / phase[-1]
        middle = np.arange(count) + 0.5
        half = 1.0 - np.interp(np.interp(middle, phase, times), path.times, duty)
        lift = np.interp(np.maximum(middle - half, 0.0), phase, times)
        land = np.interp(np.minimum(middle + half, count), phase, times)
        for foot in (0, 1):
            own = slice((foot + lead) % 2, None, 2)
            lifts[foot].append(lift[own])
            lands[foot].append(land[own])
            ends[foot].append(np.arange(len(lift[own])) == len(lift[own]) - 1)
    left, right = (
        Swings(np.concatenate([[], *lifts[foot]]), np.concatenate([[], *lands[foot]]),
               np.concatenate([[], *ends[foot]]).astype(bool))
        for foot in (0, 1)
    )
    return left, right


def _moving(path: Path) -> list[tuple[int, int]]:
    """Frame ranges in which the body moves or turns enough to need steps."""
    effort = np.hypot(np.linalg.norm(path.velocity, axis=-1), 0.3 * path.turn_rate)
    edges = np.diff(np.concatenate([[0], effort > 0.06, [0]]))
    starts, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    pause = (starts[1:] - stops[:-1]) * (path.times[1] - path.times[0])
    apart = pause > _SHORTEST_PAUSE
    starts = starts[np.concatenate([[True], apart])[: len(starts)]]
    stops = stops[np.concatenate([apart, [True]])[: len(stops)]]
    # the closing step comes when the body stands already
    stops = np.minimum(stops + round(_CLOSING / (path.times[1] - path.times[0])), len(path.times))
    return list(zip(starts.tolist(), stops.tolist(), strict=True))


def integral(values: Array, times: Array) -> Array:
    """Cumulative trapezoid of `(F,)` or `(F, D)` from zero."""
    steps = np.diff(times).reshape(-1, *[1] * (values.ndim - 1)) * 0.5 * (values[1:] + values[:-1])
    return np.concatenate([np.zeros_like(values[:1]), np.cumsum(steps, axis=0)])


def _first_and_last_foot(path: Path, start: int, stop: int, rng: np.random.Generator) -> tuple[int, int | None]:
    """Which foot (0 left) steps first and which last (None where it does not matter) in a range of frames.

    The foot on the side to which the body moves or turns sets out first, and the other one closes.
    """
    span = min(stop - start, max(1, round(0.6 / (path.times[1] - path.times[0]))))
    tendency = path.aside + 0.5 * path.turn_rate
    first, last = float(np.mean(tendency[start : start + span])), float(np.mean(tendency[stop - span : stop]))
    chance = int(rng.integers(2))
    return chance if abs(first) < 0.1 else int(first < 0), None if abs(last) < 0.1 else int(last > 0)


def move_feet(path: Path, left: Swings, right: Swings) -> tuple[Foot, Foot]:
    """The motion of both feet through their swings."""
    swings = left, right
    stances = [_stances(path, own, side) for own, side in zip(swings, SIDES, strict=True)]
    _keep_apart(swings, stances)
    feet = [_move_foot(path, swings[foot], *stances[foot], _waiting(swings[foot], swings[1 - foot], stances[1 - foot][0]),
                       SIDES[foot]) for foot in (0, 1)]
    return feet[0], feet[1]


def _move_foot(path: Path, swings: Swings, points: Array, headings: Array, other: Array, side: float) -> Foot:
    """One foot: its stances `points` (N + 1, 2) and `headings` (N + 1,), and where the other foot is meanwhile."""
    times = path.times
    now = np.searchsorted(swings.lift, times, side="right") - 1  # the swing begun last, or -1
    if len(swings.lift) == 0:
        u = heel = np.zeros(len(times))
    else:
        u = np.clip((times - swings.lift[now]) / (swings.land - swings.lift)[now], 0.0, 1.0) * (now >= 0)
        heel = ease(u / _heel_strike(path, swings)[now])
    departed, arrived = np.maximum(now, 0), np.maximum(now + 1, 0)
    base = points[departed] + (points[arrived] - points[departed]) * heel[:, None]
    base += _detour(path, swings, points, other, side)[departed] * (16 * (u * (1 - u)) ** 2)[:, None]
    yaw = headings[departed] + (headings[arrived] - headings[departed]) * ease(u)
    yaw = yaw + _pivot(path.yaw + side * _TOE_OUT - yaw)
    height, pitch, bend = _roll(path, swings, points)
    # from heel strike on the heel rests: the falling sole carries the toe forward a little
    base -= forward(yaw) * (HEEL_BEHIND_TOE * (1.0 - np.cos(np.minimum(pitch, 0.0))))[:, None] * (u < 1)[:, None]
    planted = (now < 0) | (u >= 1.0)
    toe = np.concatenate([base, (TOE_HEIGHT + height)[:, None]], axis=-1)
    return Foot(toe, yaw, pitch, bend, planted)


def _stances(path: Path, swings: Swings, side: float) -> tuple[Array, Array]:
    """Toe points (N + 1, 2) and headings (N + 1,) of the stances before, between and after the swings.

    A stance lies under the point halfway between where the body is when it begins and where when it ends. While the
    body turns the leading foot opens and the trailing one closes, so both turn out.
    """
    begin = np.concatenate([path.times[:1], swings.land])
    end = np.append(swings.lift, path.times[-1])
    end[0] = begin[0]
    halts = np.append(False, swings.last)
    still = np.minimum(begin + 0.6, path.times[-1])
    begin, end = np.where(halts, still, begin), np.where(halts, still, end)
    middle = 0.5 * (begin + end)
    turned = np.abs(path.sample(path.turn_rate, middle)) / path.sample(step_rate(path), middle)
    yaw = path.sample(path.yaw, middle)
    body = 0.5 * (path.sample(path.position, begin) + path.sample(path.position, end))
    ahead, left = _stance_offset(path, middle, side)
    open_yaw = yaw + side * 0.4 * np.minimum(turned, 1.2)
    points = body + forward(open_yaw) * ahead[:, None] + leftward(open_yaw) * left[:, None]
    return points, open_yaw + side * _TOE_OUT


def _keep_apart(swings: tuple[Swings, Swings], stances: list[tuple[Array, Array]]) -> None:
    """Move each stance, in the order of landing, to its own side of where the other foot stands."""
    landings = sorted((time, foot, number) for foot in (0, 1) for number, time in enumerate(swings[foot].land.tolist()))
    standing = [0, 0]
    for _, foot, number in landings:
        standing[foot] = number + 1
        points, headings = stances[foot]
        gap = points[number + 1] - stances[1 - foot][0][standing[1 - foot]]
        missing = _CLEARANCE - SIDES[foot] * gap @ leftward(headings[number + 1])
        missing = min(missing, 0.1 if swings[foot].last[number] else 0.25)  # nobody rests with legs wide apart
        if missing > 0 and abs(gap @ forward(headings[number + 1])) < 0.25:
            points[number + 1] += SIDES[foot] * missing * leftward(headings[number + 1])


def _waiting(swings: Swings, other: Swings, points: Array) -> Array:
    """Where (N, 2) the other foot stands or is bound for in the middle of each swing."""
    middle = 0.5 * (swings.lift + swings.land)
    return points[np.searchsorted(0.5 * (other.lift + other.land), middle, side="right")]


def _heel_strike(path: Path, swings: Swings) -> Array:
    """Share (N,) of each swing after which the heel is down and only the sole still falls; a run lands flat."""
    return 0.88 + 0.12 * 0.9 * path.sample(path.running, swings.land)


def _stance_offset(path: Path, middle: Array, side: float) -> tuple[Array, Array]:
    """Toe ahead and left of the body in the middle of a stance.

    Stepping aside the feet stand wider, by half a step each, so that the trailing foot never crosses the leading one.
    """
    pace, running = path.sample(path.pace, middle), path.sample(path.running, middle)
    aside, ahead = path.sample(path.aside, middle), path.sample(path.ahead, middle)
    width = 0.10 - 0.035 * np.clip(pace / 1.2, 0.0, 1.0) - 0.02 * running
    width = width + 0.5 * np.abs(aside) / path.sample(step_rate(path), middle)
    return TOE_AHEAD - 0.09 * np.clip(ahead / 0.8, 0.0, 1.0), side * width


def _pivot(twist: Array) -> Array:
    """How far a foot turns on its ball when the body turns by `twist` away from it: hardly below 0.4 rad."""
    return twist - 0.6 * np.tanh(twist / 0.6)


def _detour(path: Path, swings: Swings, points: Array, other: Array, side: float) -> Array:
    """Ground vectors (N, 2) that lead each swing past the other leg, at least one for feet that never swing."""
    if len(swings.lift) == 0:
        return np.zeros((1, 2))
    left = leftward(path.sample(path.yaw, 0.5 * (swings.lift + swings.land)))
    beside = 0.5 * (points[1:] + points[:-1]) - other
    missing = _CLEARANCE - side * np.sum(beside * left, axis=-1)
    return left * (side * np.clip(missing, 0.0, 0.3))[:, None]


def _roll(path: Path, swings: Swings, points: Array) -> tuple[Array, Array, Array]:
    """Height of the toe over its rest, pitch of the foot (heel up) and bend of the toes, each (F,).

    Keys per swing: heel leaves the ground, toe leaves it, early swing, late swing, heel strikes, toe down, sole flat.
    Monotone cubic interpolation keeps every plateau exactly flat.
    """
    from scipy.interpolate import PchipInterpolator

    times = path.times
    if len(swings.lift) == 0:
        return np.zeros(len(times)), np.zeros(len(times)), np.ones(len(times))
    lift, land = swings.lift, swings.land
    swing = land - lift
    before = lift - np.concatenate([[lift[0] - 1.0], land[:-1]])
    after = np.append(lift[1:], land[-1] + 1.0) - land
    keys = np.stack([lift - np.minimum(0.45 * before, 0.3), lift, lift + 0.25 * swing, lift + 0.6 * swing,
                     lift + _heel_strike(path, swings) * swing, land, land + np.minimum(0.3 * after, 0.12)], axis=-1)

    run = path.sample(path.running, 0.5 * (lift + land))
    size = np.clip(np.linalg.norm(np.diff(points, axis=0), axis=-1) / 1.1, 0.25, 1.0)
    onward = np.clip(path.sample(path.ahead, 0.5 * (lift + land)) / 0.8, -1.0, 1.0)
    ahead, back = np.maximum(onward, 0.0), np.maximum(-onward, 0.0)

    def mix(walk: float, fast: float) -> Array:
        return walk + run * (fast - walk)

    zero, one = np.zeros_like(lift), np.ones_like(lift)
    push = size * np.radians(mix(58, 62)) * (1.0 - 0.75 * back) * (0.6 + 0.4 * ahead)
    fold = size * np.radians(mix(42, 80) * ahead + mix(18, 40) * (1.0 - ahead))
    reach = size * np.radians(mix(0, 15) * ahead + 12 * (1.0 - ahead))
    strike = size * np.radians(mix(-18, -6) * ahead + mix(16, 20) * (1.0 - ahead))
    ball = np.maximum(strike, 0.0)  # landing on the ball of the foot, heel still up
    pitch = np.stack([zero, push, fold, reach, strike, ball, zero], axis=-1)
    heel_down = HEEL_BEHIND_TOE * np.sin(np.maximum(-strike, 0.0))
    heights = np.stack([zero, zero, size * (mix(0.06, 0.26) * ahead + mix(0.05, 0.12) * (1.0 - ahead)),
                        size * mix(0.05, 0.15), heel_down + 0.01 * (strike > 0), zero, zero], axis=-1)
    bends = np.stack([one, one, 0.25 * one, zero, zero, one, one], axis=-1)

    ends = np.array([min(keys[0, 0], times[0]) - 1.0]), np.array([max(keys[-1, -1], times[-1]) + 1.0])
    knots = np.concatenate([ends[0], keys.ravel(), ends[1]])
    curves = [
        PchipInterpolator(knots, np.concatenate([[rest], table.ravel(), [rest]]))(times)
        for table, rest in ((heights, 0.0), (pitch, 0.0), (bends, 1.0))
    ]
    return curves[0], curves[1], curves[2] * np.maximum(curves[1], 0.0)
