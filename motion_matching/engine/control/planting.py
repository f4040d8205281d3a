"""Plant feet for a bake: a second pass that knows the contacts ahead, so that toes ease in and out.

Live, a toe is locked where it happens to land (article 002, Sliding and Foot Locking). With the
whole take known, each contact gets its median position, and the movement from one position to the
next is spread over the swing between them: a low foot moves over the ground as in the data, a high
one makes up the difference. Each path is the least-squares solution of one banded system.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..maths import quat
from ..motion.skeleton import Skeleton
from .contact_ranges import ContactRange
from .foot_lock import compute_lift_share
from .ground import FLAT, Ground, compute_step_height, compute_step_heights
from .leg_bending import bend_leg
from .legs import LegGeometry
from .settings import PerformerSettings

_LOW = (
    0.025  # metres above standing below which a foot is near the ground, as MANN measures sliding
)
_EASE = 0.5  # seconds before and after a contact within which a toe may leave the motion
_SMOOTH = 0.08  # seconds over which a path changes its speed
_RISE = 0.04  # seconds within which heights change
_FREE = 0.05  # weight of the data's speed high above the ground; near it, it is 1
# a foot faster than the data by more than _HASTE (m/s) lifts by _LIFT (s) times the excess, up to
# _HIGHEST (m)
_HASTE, _LIFT, _HIGHEST = 0.1, 0.3, 0.05


class ToeMotion(NamedTuple):
    """The motion of toes in the data: steps (T, L, 2) over the ground to the next frame, and
    heights (T, L).

    `jumped` (T,): ticks that do not continue the one before, so that their steps belong to another
    motion.
    """

    steps: np.ndarray
    heights: np.ndarray
    jumped: np.ndarray


def plant_feet(
    poses: np.ndarray,
    skeleton: Skeleton,
    legs: Sequence[LegGeometry],
    ranges: Sequence[ContactRange],
    fps: float,
    settings: PerformerSettings,
    data: ToeMotion | None = None,
    ground: Ground = FLAT,
) -> np.ndarray:
    """Return poses (T, 7, B) in which toes stand during `ranges`, from `poses` whose feet were not
    locked.

    More than half a second from any range a leg stays as it is, unless its foot is below the ground
    or lower than in the data. Without `data`, toes move as in the poses themselves.
    """
    if len(poses) < 3:
        return poses
    poses = poses.astype(np.float64)
    count = len(poses)
    local = poses.transpose(0, 2, 1)
    rotations, positions = quat.fk(quat.normalize(local[..., 3:]), local[..., :3], skeleton.parents)
    for i, leg in enumerate(legs):
        own = [r for r in ranges if r.leg == i and r.start < count]
        toe = positions[:, leg.chain[-1]]
        steps, heights = (
            (np.diff(toe[:, :2], axis=0), toe[:, 2])
            if data is None
            else (
                data.steps[:-1, i],
                data.heights[:, i] + compute_step_heights(ground, toe[:, :2], poses[:, 2, 0]),
            )
        )
        targets = compute_toe_path(
            toe,
            own,
            steps,
            heights,
            leg.toe_height,
            fps,
            settings.swing_clearance,
            ground,
            poses[:, 2, 0],
            None if data is None else data.jumped,
        )
        lowest = leg.foot_height + compute_step_heights(ground, targets[:, :2], poses[:, 2, 0])
        bend_leg(
            leg,
            poses,
            rotations,
            positions,
            skeleton.parents,
            targets,
            lowest,
            settings.stretch_buffer,
        )
    poses[:, 3:] = quat.unroll(poses[:, 3:].transpose(0, 2, 1)).transpose(0, 2, 1)
    return poses.astype(np.float32)


def compute_toe_path(
    toe: np.ndarray,
    ranges: Sequence[ContactRange],
    steps: np.ndarray,
    heights: np.ndarray,
    standing: float,
    fps: float,
    clearance: float = 0.0,
    ground: Ground = FLAT,
    stands: np.ndarray | None = None,
    jumped: np.ndarray | None = None,
) -> np.ndarray:
    """Return the planted path of a toe (T, 3), from its path `toe` (T, 3) and the ranges of its
    leg.

    `steps` (T - 1, 2) and `heights` (T,) are those of the data. `standing` is the height of a toe
    that stands on the ground, `clearance` how far above that it swings, `stands` (T,) the height of
    the character. `jumped` (T,): ticks that do not continue the one before. All in metres.
    """
    count = len(toe)
    stands = np.zeros(count) if stands is None else stands
    points, is_planted, near = toe.copy(), np.zeros(count, bool), np.zeros(count, bool)
    reach = round(_EASE * fps)
    for r in ranges:
        point = (
            np.median(toe[r.start : r.stop, :2], axis=0) if r.point is None else np.array(r.point)
        )
        low = (
            compute_step_height(
                ground, point[0], point[1], float(np.median(stands[r.start : r.stop]))
            )
            + standing
        )
        # a foot that stands on its ball, or wears other shoes, stands as high as the data has it
        points[r.start : r.stop, :2] = point
        points[r.start : r.stop, 2] = np.clip(np.median(heights[r.start : r.stop]), low, low + _LOW)
        is_planted[r.start : r.stop] = True
        near[max(r.start - reach, 0) : r.stop + reach] = True
    floor = compute_step_heights(ground, toe[:, :2], stands) + standing
    result = toe.copy()
    result[:, :2] = _solve_ground_path(
        toe, points, is_planted, ~near, steps, np.maximum(toe[:, 2], heights) - floor, fps, jumped
    )
    result[:, 2] = _solve_heights(
        toe, points, is_planted, steps, heights, result[:, :2], floor, clearance, fps
    )
    result[:, 2] = np.maximum(
        result[:, 2], compute_step_heights(ground, result[:, :2], stands) + standing
    )
    return result


def _solve_ground_path(
    toe: np.ndarray,
    points: np.ndarray,
    is_planted: np.ndarray,
    away: np.ndarray,
    steps: np.ndarray,
    above: np.ndarray,
    fps: float,
    jumped: np.ndarray | None,
) -> np.ndarray:
    """Return the path over the ground (T, 2): a low toe follows the data's steps, a high one moves
    to the next contact.
    """
    low = np.clip(2.0 - 2.0 ** (np.maximum(above, 0.0) / _LOW), 0.0, 1.0)
    low = np.minimum(low[1:], low[:-1])[:, None]
    pace = low * steps + (1.0 - low) * np.diff(toe[:, :2], axis=0)
    planted = is_planted[1:] & is_planted[:-1]
    pace[planted] = 0.0
    known = is_planted | away
    # no jerk where a path leaves or reaches a plant, or passes a jump, whatever the data's steps do
    # there
    change = np.diff(pace, axis=0)
    change[planted[1:] | planted[:-1]] = 0.0
    if jumped is not None:
        change[jumped[1:-1]] = 0.0
    return _solve_least_squares(
        known, points[:, :2], pace, _FREE + low[:, 0], (_SMOOTH * fps) ** 2, change=change
    )


def _solve_heights(
    toe: np.ndarray,
    points: np.ndarray,
    is_planted: np.ndarray,
    steps: np.ndarray,
    heights: np.ndarray,
    path: np.ndarray,
    floor: np.ndarray,
    clearance: float,
    fps: float,
) -> np.ndarray:
    """Return the heights (T,) of the toe: that of a planted one, else at least the data's, which a
    blend may have lost.

    A foot that has to travel faster than in the data is lifted instead of being dragged along the
    ground.
    """
    speed, played = _compute_speeds(np.diff(path, axis=0), fps), _compute_speeds(steps, fps)
    hasty = np.minimum(_LIFT * np.maximum(speed - played - _HASTE, 0.0), _HIGHEST)
    lifted = floor + np.maximum(hasty, clearance * compute_lift_share(speed))
    rise = np.maximum(np.maximum(heights, lifted) - toe[:, 2], 0.0)
    frames = _RISE * fps
    offset = _solve_least_squares(
        is_planted,
        (points - toe)[:, 2:],
        np.zeros((len(toe) - 1, 1)),
        np.ones(len(toe) - 1),
        0.25 * frames**2,
        1.0 / frames**2,
        rise[:, None],
    )
    return toe[:, 2] + offset[:, 0]


def _compute_speeds(steps: np.ndarray, fps: float) -> np.ndarray:
    """Return speeds (T,) in m/s by central differences, from steps (T - 1, 2)."""
    return (
        np.linalg.norm(np.vstack([steps[:1], 0.5 * (steps[1:] + steps[:-1]), steps[-1:]]), axis=-1)
        * fps
    )


def _solve_least_squares(
    known: np.ndarray,
    values: np.ndarray,
    steps: np.ndarray,
    weights: np.ndarray,
    stiffness: float,
    pull: float = 1e-9,
    toward: np.ndarray | float = 0.0,
    change: np.ndarray | float = 0.0,
) -> np.ndarray:
    """Return the path x (T, K) that equals `values` where `known` (T,) and elsewhere minimises the
    sum of weights |d - steps|², stiffness |change of d - change|² and pull |x - toward|², where d
    (T - 1, K) are its steps.
    """
    from scipy.linalg import solveh_banded  # late: 0.1 s, and only bakes need it

    count = len(values)
    bands = np.zeros((3, count))
    bands[0] = pull
    bands[0, :-1] += weights
    bands[0, 1:] += weights
    bands[1, :-1] -= weights
    bands[0, :-2] += stiffness
    bands[0, 1:-1] += 4.0 * stiffness
    bands[0, 2:] += stiffness
    bands[1, :-2] -= 2.0 * stiffness
    bands[1, 1:-1] -= 2.0 * stiffness
    bands[2, :-2] += stiffness
    right = np.zeros_like(values) + pull * toward
    right[1:] += weights[:, None] * steps
    right[:-1] -= weights[:, None] * steps
    change = stiffness * change * np.ones((count - 2, 1))
    right[:-2] += change
    right[1:-1] -= 2.0 * change
    right[2:] += change
    # known values move to the right side, and their own rows state them
    given = np.where(known[:, None], values, 0.0)
    for band in (1, 2):
        off = bands[band, :-band, None]
        right[:-band] -= off * given[band:]
        right[band:] -= off * given[:-band]
        bands[band, :-band] *= ~known[:-band] & ~known[band:]
    bands[0, known] = 1.0
    return np.asarray(solveh_banded(bands, np.where(known[:, None], values, right), lower=True))
