"""Plant the feet of a take by solving one problem of tasks and limits, and bend the legs to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ground.footholds import find_foothold, measure_slopes
from ...ground.ground import Ground, compute_step_heights, follow_floor, follow_steps, is_flat
from ...legs.bending import bend_leg
from ...legs.legs import LegGeometry
from ...legs.two_bones import find_axes, pitch_up, unfold
from ...maths.along_time import find_runs
from ...maths.numeric import ARRAYS, join, split
from ...maths.rotations import quat
from ...skeleton.skeleton import Skeleton
from ..contact_ranges import ContactRange, build_contact_mask
from ..numbers import NUMBERS as FEET
from .ankles import compute_pitches, find_level_axes, measure_sides
from .feet_plan import Feet, FeetPlan, FootTrack, ToeMotion
from .solver import solve


def plant_feet(poses: np.ndarray, skeleton: Skeleton, plan: FeetPlan) -> np.ndarray:
    """Return poses (T, 7, B) with feet as planned, from poses before foot locking.

    More than half a second from any range a leg stays unchanged, unless its foot is below the
    ground or lower than in the data, or its knee is bent backward or too far.
    """
    if len(poses) < 3:
        return poses
    poses = poses.astype(np.float64)
    parents = skeleton.parents
    turned = poses.copy()
    turned[:, 3:] = quat.normalize(poses[:, 3:].transpose(0, 2, 1)).transpose(0, 2, 1)
    world = quat.compute_world(turned, parents)
    bodies = follow_floor(plan.ground, poses[:, :2, 0])
    stands = poses[:, 2, 0]
    feet = [_measure_foot(k, leg, world, stands, bodies, plan) for k, leg in enumerate(plan.legs)]
    placed = solve(Feet(feet, plan, bodies))
    fall = np.maximum(placed.drop, 0.0)[:, None]
    poses[:, 2, np.asarray(parents) == 0] -= fall
    world[1][:, 1:, 2] -= fall
    placements = zip(feet, placed.toes, placed.arms, placed.tip_floors, strict=True)
    for foot, toe, arm, floor in placements:
        bend_leg(foot.leg, poses, world, parents, toe, arm, floor)
    for bone in range(poses.shape[2]):
        poses[:, 3:, bone] = quat.unroll(poses[:, 3:, bone])
    return poses.astype(np.float32)


def _raise_foot(
    toe: np.ndarray,
    arm: np.ndarray,
    planted: np.ndarray,
    path: np.ndarray,
    bodies: np.ndarray,
    ground: Ground,
) -> tuple[np.ndarray, np.ndarray]:
    """Return toe and arm (T, 3) of a foot as high above its ground, and along it, as on the level.

    The toe is given over a body at height zero; `bodies` (T, 3) are where it is, with the floor.
    Its ground is that of a `path` (T, 2) while it is planted, and on a line between in the air.
    """
    floor = compute_step_heights(ground, path, bodies)
    slopes = measure_slopes(ground, path, arm[:, :2])
    up = _follow_stances(toe, planted, floor, floor)[:, None] * [0.0, 0.0, 1.0]
    fall = _follow_stances(toe, planted, slopes, 0.0 * slopes)
    fall *= np.linalg.norm(arm[:, :2], axis=-1)
    # on level ground nothing is rounded
    return toe + up, np.where(fall[:, None] == 0.0, arm, pitch_up(arm, -fall))


def _follow_stances(
    toe: np.ndarray, planted: np.ndarray, values: np.ndarray, others: np.ndarray
) -> np.ndarray:
    """Return the values (T,) of a toe's stances, interpolated along its way between them."""
    stances = [
        (start, stop, float(np.median(values[start:stop])))
        for start, stop in find_runs(planted).tolist()
    ]
    return follow_steps(toe[:, :2], stances, others)


def _measure_foot(
    k: int,
    leg: LegGeometry,
    world: tuple[np.ndarray, np.ndarray],
    stands: np.ndarray,
    bodies: np.ndarray,
    plan: FeetPlan,
) -> FootTrack:
    rotations, positions = world
    hip, knee, ankle, toe = (
        positions[:, leg.chain[n]] for n in (leg.thigh, leg.shin, leg.foot, -1)
    )
    upper = knee - hip
    lower = ankle - knee
    arm = ankle - toe
    a, b = np.linalg.norm(upper, axis=-1), np.linalg.norm(lower, axis=-1)
    shins = rotations[:, leg.chain[leg.shin]]
    axis = find_level_axes(leg, shins)
    hinge = quat.mul_vec(shins, np.array(leg.hinge))
    knee_axis, backward = find_axes(upper, lower, hinge)
    opened = _open_knees(leg, upper, lower, quat.normalize_vectors(hinge))
    toe = toe + opened
    ranges = [r for r in plan.ranges if r.leg == k and r.start < len(toe)]
    planted = build_contact_mask(ranges, len(toe), len(plan.legs))[:, k]
    free = arm
    data = plan.data or _repeat_toe(k, toe, stands, plan)
    stand = toe[:, :2] if data.stand is None else data.stand[:, k]
    places, firm, raised = _place_plants(k, leg, ranges, stand, data.heights[:, k], plan)
    if not is_flat(plan.ground):
        aside = _leave_edges(places, planted & ~firm, arm, bodies, leg, plan)
        moved = np.linalg.norm(aside, axis=1) > 0.0
        firm |= moved
        # a swing leads to the place to which its foot was moved, and has the ground there
        lead = [_follow_stances(toe, planted, each, 0.0 * each) for each in aside.T]
        level = toe + np.column_stack([*lead, -stands])
        path = np.where(moved[:, None], places, level[:, :2])
        toe, arm = _raise_foot(level, arm, planted, path, bodies, plan.ground)
    extension = np.minimum(np.linalg.norm(toe + arm - hip, axis=-1), a + b)
    # a knee that a blend of poses has bent backward is to be straight
    straight = (backward < 0.0) & (extension**2 > a * a + b * b)
    floor = compute_step_heights(plan.ground, toe[:, :2], bodies)
    down = 0.0 if data.pitches is None else compute_pitches(free, axis) - data.pitches[:, k]
    sides = measure_sides(plan.legs, positions) if data.sides is None else data.sides
    return FootTrack(
        leg=leg,
        column=4 * k + 1,
        toe=toe,
        arm=arm,
        axis=axis,
        hip=hip,
        hinge=knee_axis,
        upper=a,
        lower=b,
        extension=np.where(straight, a + b, extension),
        above=toe[:, 2] - floor - leg.toe_height,
        steps=data.steps[:, k],
        heights=data.heights[:, k],
        jumped=data.jumped,
        planted=planted,
        stand=places,
        firm=firm,
        raised=raised,
        down=np.maximum(np.broadcast_to(down, len(toe)), 0.0),
        side=sides[:, k],
    )


def _leave_edges(
    places: np.ndarray,
    free: np.ndarray,
    arm: np.ndarray,
    bodies: np.ndarray,
    leg: LegGeometry,
    plan: FeetPlan,
) -> np.ndarray:
    """Move plants (T, 2) off the edges of treads, in place, where they are `free` (T,).

    Returns the moves (T, 2): plants that were moved have no room to move farther.
    """
    moved = np.zeros_like(places)
    for start, stop in find_runs(free).tolist():
        toe = places[start]
        way = np.median(arm[start:stop, :2], axis=0)
        body = bodies[(start + stop) // 2]
        moved[start:stop] = find_foothold(plan.ground, toe, toe + way, leg.tip_share, body)
    places += moved
    return moved


def _repeat_toe(k: int, toe: np.ndarray, floor: np.ndarray, plan: FeetPlan) -> ToeMotion:
    """Return the motion of a toe (T, 3) over a floor (T,) in place of the data's."""
    steps = np.zeros((len(toe), len(plan.legs), 2))
    heights = np.zeros((len(toe), len(plan.legs)))
    steps[:-1, k] = np.diff(toe[:, :2], axis=0)
    heights[:, k] = toe[:, 2] - floor
    return ToeMotion(steps, heights, np.zeros(len(toe), bool))


def _open_knees(
    leg: LegGeometry, upper: np.ndarray, lower: np.ndarray, hinge: np.ndarray
) -> np.ndarray:
    """Return how far (T, 3) ankles move as knees open that fold farther than in the data.

    Thighs `upper` (T, 3) stay; shins `lower` (T, 3) turn about the `hinge` (T, 3).
    """
    folded = np.linalg.norm(upper + lower, axis=-1, keepdims=True) < leg.folded_length
    length = np.full(len(upper), leg.folded_length)
    opened = join(unfold(split(upper), split(lower), split(hinge), length, ARRAYS))
    return np.where(folded, opened, 0.0)


def _place_plants(
    k: int,
    leg: LegGeometry,
    ranges: Sequence[ContactRange],
    stand: np.ndarray,
    heights: np.ndarray,
    plan: FeetPlan,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a toe's stands (T, 2), whether they are firm (T,), and its raised heights (T,).

    A foot that stands on its ball, or wears other shoes, keeps the data's height.
    """
    places = stand.copy()
    firm = np.zeros(len(stand), bool)
    raised = np.zeros(len(stand))
    start = None if plan.starts is None else plan.starts[k]
    for r in ranges:
        frames = slice(r.start, r.stop)
        begins = r.start == 0 and start is not None
        chosen = start if begins and r.point is None else r.point
        places[frames] = np.median(stand[frames], axis=0) if chosen is None else chosen
        firm[frames] = chosen is not None or r in plan.firm
        raised[frames] = np.clip(
            np.median(heights[frames]) - leg.toe_height, 0.0, FEET.sliding_height
        )
    if start is not None and not firm[0]:
        places[0] = start
        firm[0] = True
    return places, firm, raised
