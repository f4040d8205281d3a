"""Move two feet through their steps: where each is, how it is pitched, and when it bears the body.

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

from motion_matching.engine.maths.easing import smootherstep, smoothstep
from motion_matching.engine.maths.planar import yaw_to_forward, yaw_to_left

from .footprints import (
    FOOT_CLEARANCE,
    HEEL_BEHIND_TOE,
    TIP_AHEAD,
    TIP_BELOW,
    TOE_HEIGHT,
    Footprints,
    plan_footprints,
)
from .gait import PLAIN, BodyPath, Style, Swings
from .ground import GroundProfile

Array = np.ndarray

_LONG_STANCE = 0.8  # seconds after which a foot stands rather than steps
_FIRST_STEP = 0.6  # seconds from the first shift of weight to the strike of the first step
# metres by which every point of a swinging foot is above an edge and before it: no further before
# it than a foot that stands, or it would have to drop onto a tread from above
_OVER_EDGES, _BEFORE_EDGES = 0.035, 0.02
_SAMPLES = 48  # of a swing, at which it has to clear the ground
# on stairs: shares of a swing in which the foot climbs first or sinks last, and by which it comes
# ahead later or earlier; how fast it draws back from a riser, in shares of its mean speed. With
# less of either, the foot has to rise higher, and the knee folds further than people's do
_CLIMBING, _LATE, _DRAW_BACK = 0.5, 0.5, 0.5
_FLATTER_UPHILL = 0.6  # degrees by which the toes point up less as a heel strikes, for each uphill
# pitch in degrees on stairs at the keys of a swing (see _compute_roll): the ball lands first
_UPSTAIRS = (0.0, 10.0, 25.0, 32.0, 30.0, 12.0, 4.0, 8.0, 8.0, 0.0)
_DOWNSTAIRS = (0.0, 12.0, 35.0, 40.0, 28.0, 10.0, 10.0, 18.0, 18.0, 0.0)
_TOES_UP = 0.6  # share of that pitch by which the toes are up as it lands
_OFF_EDGE = 0.03  # metres by which toes rise at once, since they leave a tread over its edge


@dataclass(frozen=True)
class Foot:
    """One foot over time: its toe joint `toe` (F, 3) and, (F,) each:

    `yaw`, `pitch` with the heel up, and `bend` of the toes up; `planted` while the toe joint rests
    on its point of the ground; seconds `since` heel or ball struck the ground and `until` the toes
    leave it, one of them negative in the air; height `floor` of the ground that it stands on, or in
    the air of what lies between.
    """

    toe: Array
    yaw: Array
    pitch: Array
    bend: Array
    planted: Array
    since: Array
    until: Array
    floor: Array

    @property
    def stance_duration(self) -> Array:
        """Seconds (F,) of the present stance, limited to those of a slow step."""
        return np.clip(self.since + self.until, 0.05, _LONG_STANCE)

    @property
    def standing(self) -> Array:
        """How much the foot stands rather than steps (F,), 0 to 1: long stances stand."""
        return smootherstep((self.since + self.until - 1.1) / 0.6)

    def compute_load(self, loading: Array | float, unloading: Array | float) -> Array:
        """Return the share (F,) of its load; it comes and goes over these shares of a stance."""
        begun = smootherstep(self.since / (loading * self.stance_duration))
        return begun * smootherstep(self.until / (unloading * self.stance_duration))


def move_feet(
    path: BodyPath,
    left: Swings,
    right: Swings,
    style: Style = PLAIN,
    ground: GroundProfile | None = None,
) -> tuple[Foot, Foot]:
    """Return the motion of both feet through their swings, on flat ground unless some is given."""
    one, two = plan_footprints(path, left, right, style, ground)
    return _move_foot(one, two), _move_foot(two, one)


def compute_stride_phase(times: Array, left: Foot, right: Foot) -> Array:
    """Return the angle (F,) through the strides: multiples of pi, even at left strikes.

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


def _move_foot(plan: Footprints, other: Footprints) -> Foot:
    """Move one foot through its stances, past the other foot and over edges of the ground."""
    from scipy.interpolate import CubicSpline  # loads in 0.2 s

    foot = _sample_foot(plan, other, plan.path.times)
    if plan.ground is None or len(plan.swings.lift) == 0:
        return foot
    u, now = _compute_progress(plan, plan.path.times)
    share, lifts = _compute_lifts_over_edges(plan, other)
    done = np.minimum(u / plan.heel_strike[now], 1.0)
    lift = CubicSpline(share, lifts, axis=1)(done)[now, np.arange(len(u))] * (u < 1)
    return replace(foot, toe=foot.toe + np.array([0.0, 0.0, 1.0]) * lift[:, None])


def _compute_progress(plan: Footprints, times: Array) -> tuple[Array, Array]:
    """Return the share (T,) of each swing at these times, and its number: that which began last.

    Before the first swing the number is -1.
    """
    swings = plan.swings
    now = np.searchsorted(swings.lift, times, side="right") - 1
    if len(swings.lift) == 0:
        return np.zeros(len(times)), now
    duration = (swings.land - swings.lift)[now]
    return np.clip((times - swings.lift[now]) / duration, 0.0, 1.0) * (now >= 0), now


def _sample_foot(plan: Footprints, other: Footprints, times: Array) -> Foot:
    """Return a foot (T,) at these times, past the other foot."""
    path, swings, points, headings = plan.path, plan.swings, plan.points, plan.headings
    u, now = _compute_progress(plan, times)
    strikes = swings.lift + plan.heel_strike * (swings.land - swings.lift)
    heel, climbed = _compute_travel(plan, u, now)
    departed, arrived = np.maximum(now, 0), np.maximum(now + 1, 0)

    def blend(values: Array, share: Array) -> Array:
        return values[departed] + (values[arrived] - values[departed]) * share

    base = points[departed] + (points[arrived] - points[departed]) * heel[:, None]
    base += _compute_detour(plan, other)[departed] * (16 * (u * (1 - u)) ** 2)[:, None]
    yaw = blend(headings, smoothstep(u))
    twist = path.sample(path.yaw, times) + plan.side * plan.style.toe_out - yaw
    yaw = yaw + (twist - 0.6 * np.tanh(twist / 0.6))  # on its ball, little below 0.4 rad
    # the foot lies along the slope from its strike on
    slope = blend(plan.slopes, smoothstep(u / np.append(plan.heel_strike, 1.0)[now]))
    floor = blend(plan.floors, climbed) + _bend_over_slopes(plan, climbed, departed, arrived)
    height, pitch, bend = _compute_roll(plan, times)
    # after its strike the heel rests, and the falling sole carries the toe forward a little
    slip = HEEL_BEHIND_TOE * (1.0 - np.cos(np.minimum(pitch, 0.0))) * (u < 1)
    # both run along the slope and across it, not level and upright
    back, up = slip * np.cos(slope) + height * np.sin(slope), height * np.cos(slope)
    base -= yaw_to_forward(yaw) * back[:, None]
    up = TOE_HEIGHT / np.cos(slope) + up - slip * np.sin(slope)
    toe = np.concatenate([base, (floor + up)[:, None]], axis=-1)
    since = times - np.append(strikes, -_LONG_STANCE)[now]
    until = np.append(swings.lift, np.inf)[now + 1] - times
    return Foot(toe, yaw, pitch - slope, bend, (now < 0) | (u >= 1.0), since, until, floor)


def _compute_travel(plan: Footprints, u: Array, now: Array) -> tuple[Array, Array]:
    """Return shares (T,) of a swing's way ahead and up at a share `u` (T,) of its time."""
    path, swings = plan.path, plan.swings
    if len(swings.lift) == 0:
        return u, u
    fast, stairs = path.sample(path.running, swings.middle)[now], plan.stairs[now]
    x = np.minimum(u / plan.heel_strike[now], 1.0)
    # upstairs a foot first climbs, then comes ahead over the edges; downstairs it sinks last
    climbed = smootherstep(np.where(stairs > 0.0, x, x - 1.0) / _CLIMBING + (stairs < 0.0))
    # a runner's foot stays behind, folded, before it comes through
    x = x * (1.0 - (0.33 * fast + _LATE * stairs) * (1.0 - x))
    # shares of the mean speed at either end: Winter (1992) measured a quarter as a heel lands
    level = 1.0 - np.abs(stairs)
    leaving = (0.1 + 0.1 * fast) * level - _DRAW_BACK * np.maximum(stairs, 0.0)
    landing = 0.3 * level - _DRAW_BACK * np.maximum(-stairs, 0.0)
    ahead = x * (leaving * (1.0 - x) ** 2 + x * (3.0 - 2.0 * x - landing * (1.0 - x)))
    return ahead, np.where(stairs == 0.0, ahead, climbed)


def _bend_over_slopes(plan: Footprints, share: Array, departed: Array, arrived: Array) -> Array:
    """Return how far (T,) above a straight line between two stances a foot leaves along slopes."""
    length = np.linalg.norm(plan.points[arrived] - plan.points[departed], axis=-1)
    straight = plan.floors[arrived] - plan.floors[departed]
    leaving, landing = (length * np.tan(plan.slopes[n]) for n in (departed, arrived))
    on_slope = (plan.ground is not None and not plan.ground.stepped) * share * (1.0 - share)
    return on_slope * ((leaving - straight) * (1.0 - share) - (landing - straight) * share)


def _compute_lifts_over_edges(plan: Footprints, other: Footprints) -> tuple[Array, Array]:
    """Return shares (S,) of the way to a strike, and how much (N, S) each swing rises over edges.

    Of all lifts that are high enough, it is the one with the least squared accelerations.
    """
    from scipy.optimize import nnls  # loads in 0.15 s

    swings, share = plan.swings, np.linspace(0.0, 1.0, _SAMPLES)
    done = share[1:-1]
    at = swings.lift[:, None] + (plan.heel_strike * (swings.land - swings.lift))[:, None] * done
    clear = plan.crosses_edge[:, None] * smoothstep(done / 0.15) * smoothstep((1.0 - done) / 0.15)
    missing = _measure_missing_clearance(plan, other, at.ravel(), clear.ravel())
    least = np.maximum(missing.reshape(at.shape), 0.0)
    # second differences of a curve that is zero at both ends and beyond
    bend = np.diff(np.eye(_SAMPLES + 2), 2, axis=0)[:, 2:-2]
    lifts = np.zeros((len(at), _SAMPLES))
    for lift, bound in zip(lifts, least, strict=True):
        lift[1:-1] = bound + nnls(bend, -bend @ bound)[0]
    return share, lifts


def _measure_missing_clearance(
    plan: Footprints, other: Footprints, times: Array, clear: Array
) -> Array:
    """Return by how many metres (T,) a foot is too low for a share `clear` (T,) of clearance."""
    assert plan.ground is not None
    foot = _sample_foot(plan, other, times)
    missing = np.full(len(times), -np.inf)
    for behind, below, pitch in (
        (HEEL_BEHIND_TOE, TOE_HEIGHT, foot.pitch),
        (0.5 * HEEL_BEHIND_TOE, TOE_HEIGHT, foot.pitch),
        (0.0, TOE_HEIGHT, foot.pitch),
        (-TIP_AHEAD, TIP_BELOW, foot.pitch - foot.bend),
    ):
        back = behind * np.cos(pitch) + below * np.sin(pitch)
        height = foot.toe[:, 2] + behind * np.sin(pitch) - below * np.cos(pitch)
        point = foot.toe[:, :2] - yaw_to_forward(foot.yaw) * back[:, None]
        highest = plan.ground.compute_highest(point, _BEFORE_EDGES * clear)
        missing = np.maximum(missing, highest + _OVER_EDGES * clear - height)
    return missing


def _compute_detour(plan: Footprints, other: Footprints) -> Array:
    """Return ground vectors (N, 2) that lead each swing past the other leg; one without swings."""
    middle = plan.swings.middle
    if len(middle) == 0:
        return np.zeros((1, 2))
    left = yaw_to_left(plan.path.sample(plan.path.yaw, middle))
    passed = other.points[np.searchsorted(other.swings.middle, middle, side="right")]
    beside = 0.5 * (plan.points[1:] + plan.points[:-1]) - passed
    missing = FOOT_CLEARANCE - plan.side * np.sum(beside * left, axis=-1)
    return left * (plan.side * np.clip(missing, 0.0, 0.3))[:, None]


def _compute_roll(plan: Footprints, times: Array) -> tuple[Array, Array, Array]:
    """Return height of the toe above its rest, pitch of the foot and bend of the toes, (T,) each.

    Keys of a swing: the heel leaves the ground, is rising, the toe leaves the ground, is off, the
    foot folds, passes the other leg, reaches out, the heel strikes, the toe is down, the sole is
    flat. Monotone cubic interpolation keeps plateaus exactly flat.
    """
    from scipy.interpolate import PchipInterpolator  # loads in 0.2 s

    path, swings = plan.path, plan.swings
    lift, land, middle = swings.lift, swings.land, swings.middle
    if len(lift) == 0:
        return np.zeros(len(times)), np.zeros(len(times)), np.zeros(len(times))
    swing, strike_at = land - lift, plan.heel_strike
    before = lift - np.concatenate([[lift[0] - 1.0], land[:-1]])
    run = path.sample(path.running, middle)
    rise = np.minimum((0.3 + 0.15 * run) * before, 0.25)  # any earlier, and the knee would buckle
    after = np.append(lift[1:], land[-1] + 1.0) - land
    in_the_air = [lift + part * swing for part in (0.0, 0.07, 0.2, 0.45, 0.7, strike_at)]
    flat = land + np.minimum(0.2 * after, 0.08)
    keys = np.stack([lift - rise, lift - 0.41 * rise, *in_the_air, land, flat], axis=-1)

    fast = np.clip(path.sample(path.pace, middle) / 3.0, 0.7, 1.25)
    size = np.clip(np.linalg.norm(np.diff(plan.points, axis=0), axis=-1) / 1.2, 0.25, 1.0)
    size = size * np.clip(swing / 0.4, 0.6, 1.0)  # a short swing leaves no time to fold
    onward = np.clip(path.sample(path.forward_speed, middle) / 0.8, -1.0, 1.0)
    ahead, back = np.maximum(onward, 0.0), np.maximum(-onward, 0.0)

    def mix(walk: float, running: float, walk_elsewhere: float, run_elsewhere: float) -> Array:
        other = walk_elsewhere + run * (run_elsewhere - walk_elsewhere)
        return ahead * (walk + run * (running - walk)) + (1.0 - ahead) * other

    push = (1.0 - 0.6 * back) * np.clip(before / 0.12, 0.3, 1.0) * mix(47, 43, 30, 40)
    uphill = _FLATTER_UPHILL * np.degrees(np.maximum(plan.slopes[1:], 0.0))
    strike = mix(-23, -11, 16, 20) + uphill
    ball = np.maximum(strike, 0.0)  # landing on the ball of the foot, heel still up
    heel_down = HEEL_BEHIND_TOE * np.sin(size * np.radians(np.maximum(-strike, 0.0)))
    kick = size * plan.style.lift * (1.0 - run + run * fast)
    off = size * mix(0.02, 0.04, 0.01, 0.02)
    folded = kick * mix(0.10, 0.17, 0.045, 0.09)
    passing = kick * mix(0.055, 0.28, 0.06, 0.13)
    reaching = kick * mix(0.034, 0.11, 0.04, 0.06)
    struck = heel_down + size * 0.01 * (strike > 0)
    table = (  # for each key: pitch in degrees, height, bend
        (0.0, 0.0, 1.0),
        ((0.33 + 0.10 * run) * push, 0.0, 1.0),
        (push, 0.0, 0.8),
        (mix(64, 58, 31, 45), off, 0.65),
        (mix(66, 82, 30, 50), folded, 0.35),
        (mix(24, 86, 18, 38), passing, 0.1),
        (mix(-20, 4, 12, 16) + uphill, reaching, 0.0),
        (strike, struck, 0.0),
        (ball, 0.0, 1.0),
        (0.0, 0.0, 1.0),
    )
    values = np.stack([np.broadcast_arrays(*row, lift)[:3] for row in table], axis=-1)
    values[0] = size[:, None] * np.radians(values[0])
    for row, share in ((_UPSTAIRS, plan.stairs), (_DOWNSTAIRS, -plan.stairs)):
        values[0] += np.maximum(share, 0.0)[:, None] * (np.radians(row) - values[0])
    # on stairs the ball lands first, with the toes up, and downstairs they leave over an edge
    climbing, sinking = np.abs(plan.stairs), np.maximum(-plan.stairs, 0.0)
    values[1][:, 7] *= 1.0 - climbing
    values[2][:, 7] += _TOES_UP * climbing
    values[1][:, 3] += _OFF_EDGE * sinking
    values[2][:, 3] += (1.0 - values[2][:, 3]) * sinking
    ends = min(keys[0, 0], path.times[0]) - 1.0, max(keys[-1, -1], path.times[-1]) + 1.0
    knots = np.concatenate([ends[:1], keys.ravel(), ends[1:]])
    pitch, height, bend = (
        PchipInterpolator(knots, np.concatenate([[rest], curve.ravel(), [rest]]))(times)
        for curve, rest in zip(values, (0.0, 0.0, 1.0), strict=True)
    )
    on_heel = HEEL_BEHIND_TOE * np.sin(np.maximum(-pitch, 0.0))
    return np.maximum(height, on_heel), pitch, bend * np.maximum(pitch, 0.0)
