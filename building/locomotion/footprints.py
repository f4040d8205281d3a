"""Plan where each foot stands and when, from the path of the body and the ground below it.

On stairs a foot stands in the middle of a tread, as nearly as its length permits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from motion_matching.engine.maths.planar import yaw_to_forward, yaw_to_left

from .gait import PLAIN, SIDES, BodyPath, Style, Swings, compute_step_rate
from .ground import GroundProfile, measure_along

Array = np.ndarray

TOE_AHEAD = 0.13  # metres from the ankle forward to the toe joint
HEEL_BEHIND_TOE = 0.18
TIP_AHEAD, TIP_BELOW = 0.07, 0.01  # metres from the toe joint to the tip of a flat foot
TOE_HEIGHT = 0.025  # of the toe joint above the ground in a flat foot
FOOT_CLEARANCE = 0.13  # metres between the middles of feet that pass or stand beside each other
_AHEAD, _BEHIND = 0.46, 0.41  # metres from the body to a toe that lands and one that lifts
_SHORTEST_SWING = 0.3  # seconds
# metres that feet stay behind for each m/s² of the body: half of what balances a stiff body
_LEAN = 0.045
_EDGE = 0.02  # metres by which heel and tip keep away from an edge of the ground
# metres by which they keep further away from a riser: upstairs the tip from the next one, and the
# heel may hang over; downstairs the heel from the last one, and the tip may pass the edge
_AWAY_FROM_RISER = 0.02
_RISER = 0.15  # metres: the lowest riser. A step that climbs less is partly one on flat ground


@dataclass(frozen=True)
class Footprints:
    """The steps of one foot: toe `points` (N + 1, 2) and `headings` (N + 1,) around N swings.

    `floors` and `slopes` (N + 1,) are the ground's height there, and its rise ahead in radians;
    `stairs` (N,) is how much each swing climbs stairs, from -1 down to 1 up.
    """

    path: BodyPath
    style: Style
    side: float
    swings: Swings
    points: Array
    headings: Array
    floors: Array
    slopes: Array
    stairs: Array
    ground: GroundProfile | None = None

    @property
    def crosses_edge(self) -> Array:
        """True (N,) of swings that leave one piece of the ground and land on another one."""
        if self.ground is None:
            return np.zeros(len(self.swings.lift), dtype=bool)
        return np.diff(self.ground.find_piece(self.points)) != 0

    @property
    def heel_strike(self) -> Array:
        """The share (N,) of each swing after which the heel is down and only the sole falls."""
        return 0.87 + 0.08 * self.path.sample(self.path.running, self.swings.land)


def plan_footprints(
    path: BodyPath,
    left: Swings,
    right: Swings,
    style: Style = PLAIN,
    ground: GroundProfile | None = None,
) -> tuple[Footprints, Footprints]:
    """Plan where each foot stands, and when; on ground with edges, beside them."""
    plans = [
        _plan_stances(path, swings, side, style)
        for swings, side in zip((left, right), SIDES, strict=True)
    ]
    _keep_apart(plans)
    if ground is not None:
        plans = [_keep_off_edges(plan, ground) for plan in plans]
    one, two = (replace(plan, swings=_limit_to_reach(plan)) for plan in plans)
    return one, two


def _plan_stances(path: BodyPath, swings: Swings, side: float, style: Style) -> Footprints:
    """Plan the stances before, between and after the swings of one foot.

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
    step_rate = path.sample(compute_step_rate(path), middle)
    turn = np.abs(path.sample(path.turn_rate, middle)) / step_rate
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
    points = body + yaw_to_forward(open_yaw) * ahead[:, None]
    points = points + yaw_to_left(open_yaw) * left[:, None]
    headings = open_yaw + side * (style.toe_out + np.radians(5) * rests)
    level, stairs = np.zeros(len(headings)), np.zeros(len(headings) - 1)
    return Footprints(path, style, side, swings, points, headings, level, level, stairs)


def _keep_off_edges(plan: Footprints, ground: GroundProfile) -> Footprints:
    """Move stances off the edges of the ground along the way, and find how high they are."""
    along, facing = measure_along(plan.points), np.cos(plan.headings)
    back = _AWAY_FROM_RISER * ground.stepped * np.sign(ground.heights[-1] - ground.heights[0])
    behind = _EDGE + np.maximum(-back, 0.0) + HEEL_BEHIND_TOE * facing
    ahead = _EDGE + np.maximum(back, 0.0) + TIP_AHEAD * facing
    moved = ground.fit_between_edges(along, behind, ahead)
    points = plan.points + (moved - along)[:, None] * yaw_to_forward(np.array(0.0))
    floors, slopes = ground.compute_height(points), ground.compute_slope(points, plan.headings)
    stairs = ground.stepped * np.clip(np.diff(floors) / _RISER, -1.0, 1.0)
    return replace(plan, points=points, floors=floors, slopes=slopes, stairs=stairs, ground=ground)


def _keep_apart(plans: list[Footprints]) -> None:
    """Move each stance, in order of landing, to its own side of the other foot."""
    lands = [plan.swings.land.tolist() for plan in plans]
    landings = sorted((time, foot, i) for foot in (0, 1) for i, time in enumerate(lands[foot]))
    standing = [0, 0]
    for _, foot, number in landings:
        standing[foot] = arrived = number + 1
        plan, other = plans[foot], plans[1 - foot]
        left, forward = (turn(plan.headings[arrived]) for turn in (yaw_to_left, yaw_to_forward))
        gap = plan.points[arrived] - other.points[standing[1 - foot]]
        # nobody rests with legs wide apart
        most = 0.1 if plan.swings.last[number] else 0.25
        missing = min(FOOT_CLEARANCE - plan.side * gap @ left, most)
        if missing > 0 and abs(gap @ forward) < 0.25:
            plan.points[arrived] += plan.side * missing * left


def _limit_to_reach(plan: Footprints) -> Swings:
    """Return swings that leave a stance before it is out of reach, and land when it is in reach."""
    path, swings = plan.path, plan.swings
    if len(swings.lift) == 0:
        return swings
    begin, end = np.append(path.times[0], swings.land), np.append(swings.lift, path.times[-1])
    share = np.linspace(0.0, 1.0, 33)
    times = begin[:, None] + (end - begin)[:, None] * share
    body = path.sample(path.position, times.ravel()).reshape(*times.shape, 2)
    away = np.linalg.norm(body - plan.points[:, None], axis=-1)
    nearest = np.argmin(away, axis=1)[:, None]
    numbers, last = np.arange(len(share)), len(share) - 1
    leaves = (numbers > nearest + 1) & (away > _BEHIND) | (numbers == last)
    nears = (numbers < nearest - 1) & (away > _AHEAD) | (numbers == 0)
    rows = np.arange(len(times))
    lift = times[rows, np.argmax(leaves, axis=1)][:-1]
    land = times[rows, last - np.argmax(nears[:, ::-1], axis=1)][1:]
    land = np.maximum(land, np.minimum(lift + _SHORTEST_SWING, swings.land))
    return replace(swings, lift=lift, land=land)


def _compute_stance_offset(
    path: BodyPath, middle: Array, side: float, style: Style
) -> tuple[Array, Array]:
    """Return by how many metres the toe is ahead and to the left of the body in mid-stance.

    In side steps the feet stand wider, by half a step each, so that the trailing foot never crosses
    the leading one.
    """
    pace, running = path.sample(path.pace, middle), path.sample(path.running, middle)
    aside, ahead = path.sample(path.sideways_speed, middle), path.sample(path.forward_speed, middle)
    width = 0.10 - 0.045 * style.width * np.clip(pace / 1.2, 0.0, 1.0) - 0.03 * running
    width = width + 0.5 * np.abs(aside) / path.sample(compute_step_rate(path), middle)
    onward = np.clip(ahead / 0.8, 0.0, 1.0)
    behind = (0.10 + 0.02 * np.clip(ahead - 1.2, 0.0, 0.6) + 0.03 * running) * onward
    return TOE_AHEAD - behind, side * width
