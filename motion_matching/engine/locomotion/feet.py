"""Move two feet through their steps: where each foot is, how it is pitched, and when it bears the
body.

Each foot is a sequence of swings between planted stances. A stance holds the toe joint at one point
of the ground; during a swing the toe travels to where the hip will be in the middle of the next
stance.

Source: measured feet. The heel strikes with the toes up by 20 to 25 degrees, the sole is down after
8 % of a stride, the heel rises from 40 %, and the foot leaves the ground pitched by 40 degrees and
folds up to 65 (Winter 1991; Perry and Burnfield 2010). The toes clear the ground closely (Winter
1992); a runner's foot kicks up behind (Novacheck 1998).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..maths.easing import smootherstep, smoothstep
from ..maths.planar import yaw_to_forward, yaw_to_left
from .gait import PLAIN, SIDES, BodyPath, Style, Swings, compute_step_rate

Array = np.ndarray

TOE_AHEAD = 0.13  # metres from the ankle forward to the toe joint
HEEL_BEHIND_TOE = 0.18
TOE_HEIGHT = 0.025  # of the toe joint above the ground in a flat foot
_CLEARANCE = 0.13  # metres between the middles of the feet as they pass or stand beside each other
_AHEAD, _BEHIND = (
    0.46,
    0.41,
)  # metres from the body to a toe that lands and to one that leaves the ground
_SHORTEST_SWING = 0.3  # seconds
_LONG_STANCE = 0.8  # seconds after which a foot stands rather than steps
_FIRST_STEP = 0.6  # seconds from the first shift of weight to the strike of the first step
# metres that feet stay behind for each m/s² of the body: half of what balances a stiff body
_LEAN = 0.045


@dataclass(frozen=True)
class Foot:
    """One foot over time: its toe joint `toe` (F, 3), `yaw` (F,), `pitch` (F,) with the heel up,
    `bend` (F,) of the toes up.

    `planted` (F,) is true while the toe joint rests on its point of the ground. `since` (F,) are
    the seconds since heel or ball struck the ground, `until` (F,) those until the toes leave it; in
    the air one of them is negative.
    """

    toe: Array
    yaw: Array
    pitch: Array
    bend: Array
    planted: Array
    since: Array
    until: Array

    @property
    def stance_duration(self) -> Array:
        """Seconds (F,) of the present stance, limited to those of a slow step."""
        return np.clip(self.since + self.until, 0.05, _LONG_STANCE)

    @property
    def standing(self) -> Array:
        """How much the foot stands rather than steps (F,), 0 to 1: long stances stand."""
        return smootherstep((self.since + self.until - 1.1) / 0.6)

    def compute_load(self, loading: Array | float, unloading: Array | float) -> Array:
        """Return the share of its load (F,) that the foot bears; it comes and goes over these
        shares of a stance.
        """
        begun = smootherstep(self.since / (loading * self.stance_duration))
        return begun * smootherstep(self.until / (unloading * self.stance_duration))


def move_feet(
    path: BodyPath, left: Swings, right: Swings, style: Style = PLAIN
) -> tuple[Foot, Foot]:
    """Return the motion of both feet through their swings."""
    swings = left, right
    stances = [
        _plan_stances(path, own, side, style) for own, side in zip(swings, SIDES, strict=True)
    ]
    _keep_apart(swings, stances)
    swings = (
        _limit_to_reach(path, swings[0], stances[0][0]),
        _limit_to_reach(path, swings[1], stances[1][0]),
    )
    others = [
        _locate_other_foot(swings[foot], swings[1 - foot], stances[1 - foot][0]) for foot in (0, 1)
    ]
    left_foot, right_foot = (
        _move_foot(path, swings[foot], *stances[foot], others[foot], SIDES[foot], style)
        for foot in (0, 1)
    )
    return left_foot, right_foot


def compute_stride_phase(times: Array, left: Foot, right: Foot) -> Array:
    """Return the angle (F,) through the strides: a multiple of 2 pi at left strikes, and half
    between at right ones.

    It waits while the body stands, and starts half a stride before the first strike.
    """
    strikes = []
    for foot in (left, right):
        landed = np.flatnonzero((foot.since[1:] >= 0) & (foot.since[:-1] < 0)) + 1
        strikes.append(times[landed] - foot.since[landed])
    at = np.concatenate(strikes)
    order = np.argsort(at)
    at, side = at[order], np.repeat([0, 1], [len(strikes[0]), len(strikes[1])])[order]
    if len(at) == 0:
        return np.zeros(len(times))
    phase = np.pi * (side[0] + np.cumsum(np.append(0, 2 - (side[1:] != side[:-1]))))
    first = np.append(True, np.diff(at) > 2.0 * _FIRST_STEP)
    knots = np.concatenate([at[first] - _FIRST_STEP, at])
    order = np.argsort(knots)
    return np.interp(times, knots[order], np.concatenate([phase[first] - np.pi, phase])[order])


def _move_foot(
    path: BodyPath,
    swings: Swings,
    points: Array,
    headings: Array,
    other: Array,
    side: float,
    style: Style,
) -> Foot:
    """Move one foot through stances at `points` (N + 1, 2) with `headings` (N + 1,), past the other
    foot's points.
    """
    times = path.times
    now = np.searchsorted(swings.lift, times, side="right") - 1  # the swing that began last, or -1
    strikes = swings.lift + _compute_heel_strike(path, swings) * (swings.land - swings.lift)
    if len(swings.lift) == 0:
        u = heel = np.zeros(len(times))
    else:
        u = np.clip((times - swings.lift[now]) / (swings.land - swings.lift)[now], 0.0, 1.0) * (
            now >= 0
        )
        fast = path.sample(path.running, 0.5 * (swings.lift + swings.land))[now]
        x = np.minimum(u / _compute_heel_strike(path, swings)[now], 1.0)
        x = x * (
            1.0 - 0.33 * fast * (1.0 - x)
        )  # a runner's foot stays behind, folded, before it comes through
        heel = _ease_swing(x, 0.1 + 0.1 * fast, 0.3)
    departed, arrived = np.maximum(now, 0), np.maximum(now + 1, 0)
    base = points[departed] + (points[arrived] - points[departed]) * heel[:, None]
    base += (
        _compute_detour(path, swings, points, other, side)[departed]
        * (16 * (u * (1 - u)) ** 2)[:, None]
    )
    yaw = headings[departed] + (headings[arrived] - headings[departed]) * smoothstep(u)
    yaw = yaw + _compute_pivot(path.yaw + side * style.toe_out - yaw)
    height, pitch, bend = _compute_roll(path, swings, points, style)
    # after its strike the heel rests, and the falling sole carries the toe forward a little
    base -= (
        yaw_to_forward(yaw)
        * (HEEL_BEHIND_TOE * (1.0 - np.cos(np.minimum(pitch, 0.0))))[:, None]
        * (u < 1)[:, None]
    )
    toe = np.concatenate([base, (TOE_HEIGHT + height)[:, None]], axis=-1)
    return Foot(
        toe,
        yaw,
        pitch,
        bend,
        planted=(now < 0) | (u >= 1.0),
        since=times - np.append(strikes, -_LONG_STANCE)[now],
        until=np.append(swings.lift, np.inf)[now + 1] - times,
    )


def _plan_stances(path: BodyPath, swings: Swings, side: float, style: Style) -> tuple[Array, Array]:
    """Plan toe points (N + 1, 2) and headings (N + 1,) of the stances before, between and after the
    swings.

    A stance lies below the point halfway between the body's positions at its begin and its end, and
    behind that point while the body gains speed: it leans into starts and turns, and lands ahead to
    brake. While the body turns, the leading foot opens and the trailing foot closes, so both turn
    out.
    """
    begin = np.concatenate([path.times[:1], swings.land])
    end = np.append(swings.lift, path.times[-1])
    end[0] = begin[0]
    halts = np.append(False, swings.last)
    still = np.minimum(begin + 0.6, path.times[-1])
    begin, end = np.where(halts, still, begin), np.where(halts, still, end)
    middle = 0.5 * (begin + end)
    turn = np.abs(path.sample(path.turn_rate, middle)) / path.sample(
        compute_step_rate(path), middle
    )
    yaw = path.sample(path.yaw, middle)
    body = 0.5 * (path.sample(path.position, begin) + path.sample(path.position, end))
    gained = path.sample(path.velocity, end + 0.1) - path.sample(path.velocity, begin - 0.1)
    gained = gained / (end - begin + 0.2)[:, None]
    body = body - _LEAN * gained / np.maximum(1.0, np.linalg.norm(gained, axis=-1) / 2.5)[:, None]
    ahead, left = _compute_stance_offset(path, middle, side, style)
    left[1:] += side * swings.out
    rests = halts | (np.arange(len(begin)) == 0)
    ahead = ahead + 0.5 * side * style.stagger * rests
    open_yaw = yaw + side * 0.4 * np.minimum(turn, 1.2)
    points = (
        body + yaw_to_forward(open_yaw) * ahead[:, None] + yaw_to_left(open_yaw) * left[:, None]
    )
    return points, open_yaw + side * (style.toe_out + np.radians(5) * rests)


def _keep_apart(swings: tuple[Swings, Swings], stances: list[tuple[Array, Array]]) -> None:
    """Move each stance, in order of landing, to its own side of the other foot."""
    landings = sorted(
        (time, foot, number)
        for foot in (0, 1)
        for number, time in enumerate(swings[foot].land.tolist())
    )
    standing = [0, 0]
    for _, foot, number in landings:
        standing[foot] = number + 1
        points, headings = stances[foot]
        gap = points[number + 1] - stances[1 - foot][0][standing[1 - foot]]
        missing = _CLEARANCE - SIDES[foot] * gap @ yaw_to_left(headings[number + 1])
        missing = min(
            missing, 0.1 if swings[foot].last[number] else 0.25
        )  # nobody rests with legs wide apart
        if missing > 0 and abs(gap @ yaw_to_forward(headings[number + 1])) < 0.25:
            points[number + 1] += SIDES[foot] * missing * yaw_to_left(headings[number + 1])


def _limit_to_reach(path: BodyPath, swings: Swings, points: Array) -> Swings:
    """Return swings that leave a stance before its point (N + 1, 2) is out of reach, and land when
    it is in reach.
    """
    if len(swings.lift) == 0:
        return swings
    begin, end = np.append(path.times[0], swings.land), np.append(swings.lift, path.times[-1])
    share = np.linspace(0.0, 1.0, 33)
    times = begin[:, None] + (end - begin)[:, None] * share
    away = np.linalg.norm(
        path.sample(path.position, times.ravel()).reshape(*times.shape, 2) - points[:, None],
        axis=-1,
    )
    nearest = np.argmin(away, axis=1)[:, None]
    numbers = np.arange(len(share))
    left = np.argmax(
        (numbers > nearest + 1) & (away > _BEHIND) | (numbers == len(share) - 1), axis=1
    )
    near = (
        len(share)
        - 1
        - np.argmax(((numbers < nearest - 1) & (away > _AHEAD) | (numbers == 0))[:, ::-1], axis=1)
    )
    rows = np.arange(len(times))
    lift, land = times[rows, left][:-1], times[rows, near][1:]
    return replace(
        swings, lift=lift, land=np.maximum(land, np.minimum(lift + _SHORTEST_SWING, swings.land))
    )


def _ease_swing(x: Array, leaving: Array, landing: float) -> Array:
    """Return the progress of a swinging foot (F,), 0 to 1; `leaving` and `landing` are shares of
    its mean speed.

    Winter (1992) measured 0.9 m/s at the heel's contact in a walk, a quarter of the mean; a foot
    leaves over its toes.
    """
    return x * (leaving * (1.0 - x) ** 2 + x * (3.0 - 2.0 * x - landing * (1.0 - x)))


def _locate_other_foot(swings: Swings, other: Swings, points: Array) -> Array:
    """Return where (N, 2) the other foot stands, or will land, in the middle of each swing."""
    middle = 0.5 * (swings.lift + swings.land)
    return points[np.searchsorted(0.5 * (other.lift + other.land), middle, side="right")]


def _compute_heel_strike(path: BodyPath, swings: Swings) -> Array:
    """Return the share (N,) of each swing after which the heel is down and only the sole still
    falls.
    """
    return 0.87 + 0.08 * path.sample(path.running, swings.land)


def _compute_stance_offset(
    path: BodyPath, middle: Array, side: float, style: Style
) -> tuple[Array, Array]:
    """Return how far the toe is ahead and to the left of the body in the middle of a stance, in
    metres.

    In side steps the feet stand wider, by half a step each, so that the trailing foot never crosses
    the leading one.
    """
    pace, running = path.sample(path.pace, middle), path.sample(path.running, middle)
    aside, ahead = path.sample(path.sideways_speed, middle), path.sample(path.forward_speed, middle)
    width = 0.10 - 0.045 * style.width * np.clip(pace / 1.2, 0.0, 1.0) - 0.03 * running
    width = width + 0.5 * np.abs(aside) / path.sample(compute_step_rate(path), middle)
    onward = np.clip(ahead / 0.8, 0.0, 1.0)
    return TOE_AHEAD - (
        0.10 + 0.02 * np.clip(ahead - 1.2, 0.0, 0.6) + 0.03 * running
    ) * onward, side * width


def _compute_pivot(twist: Array) -> Array:
    """Return how far a foot turns on its ball when the body turns by `twist` from it: little below
    0.4 rad.
    """
    return twist - 0.6 * np.tanh(twist / 0.6)


def _compute_detour(
    path: BodyPath, swings: Swings, points: Array, other: Array, side: float
) -> Array:
    """Return ground vectors (N, 2) that lead each swing past the other leg, at least one for feet
    that never swing.
    """
    if len(swings.lift) == 0:
        return np.zeros((1, 2))
    left = yaw_to_left(path.sample(path.yaw, 0.5 * (swings.lift + swings.land)))
    beside = 0.5 * (points[1:] + points[:-1]) - other
    missing = _CLEARANCE - side * np.sum(beside * left, axis=-1)
    return left * (side * np.clip(missing, 0.0, 0.3))[:, None]


def _compute_roll(
    path: BodyPath, swings: Swings, points: Array, style: Style
) -> tuple[Array, Array, Array]:
    """Return the height of the toe above its rest, pitch of the foot (heel up) and bend of the
    toes, each (F,).

    Keys of a swing: the heel leaves the ground, is rising, the toe leaves the ground, is off, the
    foot folds, passes the other leg, reaches out, the heel strikes, the toe is down, the sole is
    flat. Monotone cubic interpolation keeps plateaus exactly flat.
    """
    from scipy.interpolate import PchipInterpolator  # loads in 0.2 s

    times = path.times
    if len(swings.lift) == 0:
        return np.zeros(len(times)), np.zeros(len(times)), np.zeros(len(times))
    lift, land = swings.lift, swings.land
    swing, strike_at = land - lift, _compute_heel_strike(path, swings)
    before = lift - np.concatenate([[lift[0] - 1.0], land[:-1]])
    run = path.sample(path.running, 0.5 * (lift + land))
    rise = np.minimum((0.3 + 0.15 * run) * before, 0.25)  # any earlier, and the knee would buckle
    after = np.append(lift[1:], land[-1] + 1.0) - land
    in_the_air = [lift + part * swing for part in (0.0, 0.07, 0.2, 0.45, 0.7, strike_at)]
    flat = land + np.minimum(0.2 * after, 0.08)
    keys = np.stack([lift - rise, lift - 0.41 * rise, *in_the_air, land, flat], axis=-1)

    fast = np.clip(path.sample(path.pace, 0.5 * (lift + land)) / 3.0, 0.7, 1.25)
    size = np.clip(np.linalg.norm(np.diff(points, axis=0), axis=-1) / 1.2, 0.25, 1.0)
    size = size * np.clip(swing / 0.4, 0.6, 1.0)  # a short swing leaves no time to fold
    onward = np.clip(path.sample(path.forward_speed, 0.5 * (lift + land)) / 0.8, -1.0, 1.0)
    ahead, back = np.maximum(onward, 0.0), np.maximum(-onward, 0.0)

    def mix(
        walk: float, running: float, elsewhere: float = 0.0, elsewhere_running: float = 0.0
    ) -> Array:
        other = elsewhere + run * (elsewhere_running - elsewhere)
        return ahead * (walk + run * (running - walk)) + (1.0 - ahead) * other

    zero, one = np.zeros_like(lift), np.ones_like(lift)
    push = (1.0 - 0.6 * back) * np.clip(before / 0.12, 0.3, 1.0) * mix(47, 43, 30, 40)
    strike = mix(-23, -11, 16, 20)
    ball = np.maximum(strike, 0.0)  # landing on the ball of the foot, heel still up
    heel_down = HEEL_BEHIND_TOE * np.sin(size * np.radians(np.maximum(-strike, 0.0)))
    kick = size * style.lift * (1.0 - run + run * fast)
    degrees = [
        zero,
        (0.33 + 0.10 * run) * push,
        push,
        mix(64, 58, 31, 45),
        mix(66, 82, 30, 50),
        mix(24, 86, 18, 38),
        mix(-20, 4, 12, 16),
        strike,
        ball,
        zero,
    ]
    heights = [
        zero,
        zero,
        zero,
        size * mix(0.02, 0.04, 0.01, 0.02),
        kick * mix(0.10, 0.17, 0.045, 0.09),
        kick * mix(0.055, 0.28, 0.06, 0.13),
        kick * mix(0.034, 0.11, 0.04, 0.06),
        heel_down + size * 0.01 * (strike > 0),
        zero,
        zero,
    ]
    bends = [one, one, 0.8 * one, 0.65 * one, 0.35 * one, 0.1 * one, zero, zero, one, one]

    pitch, height, bend = (np.stack(table, axis=-1) for table in (degrees, heights, bends))
    pitch = size[:, None] * np.radians(pitch)
    ends = (
        np.array([min(keys[0, 0], times[0]) - 1.0]),
        np.array([max(keys[-1, -1], times[-1]) + 1.0]),
    )
    knots = np.concatenate([ends[0], keys.ravel(), ends[1]])
    curves = [
        PchipInterpolator(knots, np.concatenate([[rest], table.ravel(), [rest]]))(times)
        for table, rest in ((height, 0.0), (pitch, 0.0), (bend, 1.0))
    ]
    on_heel = HEEL_BEHIND_TOE * np.sin(np.maximum(-curves[1], 0.0))
    return np.maximum(curves[0], on_heel), curves[1], curves[2] * np.maximum(curves[1], 0.0)
