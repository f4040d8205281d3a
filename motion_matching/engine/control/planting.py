"""Plant feet for a bake: a second pass that knows the contacts ahead, so that toes ease in and out.

Live, a toe is locked where it lands (article 002, Sliding and Foot Locking). Here each contact gets
its median position, and the movement to the next is spread over the swing: a low foot moves as in
the data, a high one makes up the difference. Each path is a banded least-squares solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..maths import quat
from ..maths.runs import count_frames_to
from ..motion.skeleton import Skeleton
from .contact_lock import compute_lift_share
from .contact_ranges import ContactRange, build_contact_mask
from .ground import FLAT, Ground, compute_step_height, compute_step_heights
from .heel_lowering import lower_heels
from .least_squares import solve_least_squares
from .leg_bending import bend_leg, open_knees, straighten_knees
from .leg_easing import ease_legs
from .legs import LegGeometry
from .plant_reach import LegReach, compute_hips_fall, move_plants_into_reach
from .plants_apart import FootTrack, compute_asides, make_track, move_plants_apart
from .settings import PerformerSettings
from .toe_raising import raise_sunk_toes

_LOW = 0.025  # metres above standing below which a foot is near the ground, as MANN measures it
_EASE = 0.5  # seconds before and after a contact within which a toe may leave the motion
_SMOOTH = 0.08  # seconds over which a path changes its speed
_GENTLE = 50.0  # how many times as strongly the first and last step between plants are smoothed
_RISE = 0.04  # seconds within which heights change
_AT_ONCE = 1024  # frames
# m/s² with which a foot may leave the ground or meet it, and the share of the hardest acceleration
# that is allowed
_LEAVE, _LEAVE_SHARE = 30.0, 0.5
_PASSES = 6  # how often a rise that falls short is mended
_RETURN = 0.05  # seconds within which a foot off the ground comes back to the motion
_FREE = 0.05  # weight of the data's speed high above the ground; near it, it is 1
# a foot faster than the data by more than _HASTE (m/s) lifts by _LIFT (s) times the excess, up to
# _HIGHEST (m), and up to a share of how far it steps: no stamping on the spot
_HASTE, _LIFT, _HIGHEST, _STEEP = 0.1, 0.3, 0.05, 0.12


class ToeMotion(NamedTuple):
    """The data's motion of toes: steps (T, L, 2) to the next frame, and heights (T, L).

    `jumped` (T,): ticks that do not continue the one before; their steps are of another motion.
    `stand` (T, L, 2): where toes stand during contacts, if not where the motion has them. `pitches`
    (T, L): by which angles heels are up at most.
    """

    steps: np.ndarray
    heights: np.ndarray
    jumped: np.ndarray
    stand: np.ndarray | None = None
    pitches: np.ndarray | None = None


class ToeTrack(NamedTuple):
    """A toe to plant: its path (T, 3), and the data's steps (T - 1, 2), heights and jumps (T,).

    `lowest` and `stands` (T,) are the heights of a toe that stands there, and of the character.
    `start` (2,) is where on the ground the path has to begin, if anywhere; `stand` (T, 2) is where
    the toe stands during contacts, if not on its path; `leave` is how hard in m/s² it may leave the
    ground.
    """

    path: np.ndarray
    steps: np.ndarray
    heights: np.ndarray
    jumped: np.ndarray
    lowest: np.ndarray
    stands: np.ndarray
    start: np.ndarray | None = None
    stand: np.ndarray | None = None
    leave: float = _LEAVE


class _Plants(NamedTuple):
    """Where (T, 3) and when (T,) a toe stands, and when (T,) it is far from standing."""

    points: np.ndarray
    is_planted: np.ndarray
    is_free: np.ndarray


def plant_feet(
    poses: np.ndarray,
    skeleton: Skeleton,
    legs: Sequence[LegGeometry],
    ranges: Sequence[ContactRange],
    fps: float,
    settings: PerformerSettings,
    data: ToeMotion | None = None,
    ground: Ground = FLAT,
    most: float = np.inf,
    firm: Sequence[ContactRange] = (),
    starts: np.ndarray | None = None,
    hardest: float = 0.0,
) -> np.ndarray:
    """Return poses (T, 7, B) in which toes stand during `ranges`, from poses before foot locking.

    More than half a second from any range a leg stays as it is, unless its foot is below the ground
    or lower than in the data, or its knee is bent backward or too far. Without `data`, toes move as
    in the poses themselves. Where planting would make a joint leap, at more than `most` in m/s²,
    swings are evened out. A toe gives way where that leaves more than `hardest`, if it is more than
    `most`, except in `firm` ranges. Toes begin at `starts` (L, 2) on the ground, if given.
    """
    if len(poses) < 3:
        return poses
    poses, parents = poses.astype(np.float64), skeleton.parents
    rotations, positions = _mend_knees(poses, legs, parents)
    if data is not None and data.pitches is not None:
        pairs = zip(legs, data.pitches.T, strict=True)
        world = rotations, positions
        lowered = [lower_heels(leg, poses, *world, parents, most_up, fps) for leg, most_up in pairs]
        del world
        if any(lowered):
            rotations, positions = _compute_world(poses, parents)
    unlocked = poses.copy()
    within = [r for r in ranges if r.start < len(poses)]
    leave = min(_LEAVE, _LEAVE_SHARE * most)
    tracks = _make_tracks(legs, positions, poses[:, 2, 0], data, ground, starts, leave)
    reaches = [LegReach.measure(leg, positions) for leg in legs]
    movable = [r for r in within if r not in firm]
    for i, reach in enumerate(reaches):
        own, beside = [r for r in movable if r.leg == i], _find_beside(legs, i)
        tracks[i] = _move_into_reach(tracks[i], reach, own, [reaches[k] for k in beside])
    solved = _solve_paths(legs, tracks, positions, within, firm, fps, settings, ground)
    held, planted = (build_contact_mask(each, len(poses), len(legs)) for each in (firm, within))
    fall = compute_hips_fall(reaches, [path for path, _ in solved], planted, fps)
    poses[:, 2, np.asarray(parents) == 0] -= fall[:, None]
    positions[:, 1:, 2] -= fall[:, None]
    buffer = settings.stretch_buffer
    for leg, (targets, floor) in zip(legs, solved, strict=True):
        lowest = leg.foot_height + floor
        bend_leg(leg, poses, rotations, positions, parents, targets, lowest, buffer)
    del rotations, positions, tracks, reaches  # of many frames, they fill the memory
    ease_legs(poses, unlocked, skeleton, legs, fps, most, held, planted, hardest)
    del unlocked
    raise_sunk_toes(poses, parents, legs, [floor for _, floor in solved], buffer, fps)
    for bone in range(poses.shape[2]):
        poses[:, 3:, bone] = quat.unroll(poses[:, 3:, bone])
    return poses.astype(np.float32)


def _mend_knees(
    poses: np.ndarray, legs: Sequence[LegGeometry], parents: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mend knees of `poses` (T, 7, B) in place that are bent too far or backward.

    Returns the world's rotations (T, B, 4) and positions (T, B, 3).
    """
    rotations, positions = _compute_world(poses, parents)
    for mend in (open_knees, straighten_knees):
        mended = [mend(leg, poses, rotations, positions, parents) for leg in legs]
        if any(mended):
            rotations, positions = _compute_world(poses, parents)
    return rotations, positions


def _make_tracks(
    legs: Sequence[LegGeometry],
    positions: np.ndarray,
    stands: np.ndarray,
    data: ToeMotion | None,
    ground: Ground,
    starts: np.ndarray | None,
    leave: float,
) -> list[ToeTrack]:
    """Return each leg's toe to plant, from positions (T, B, 3) of a body that `stands` (T,)."""
    tracks = []
    for i, leg in enumerate(legs):
        toe = positions[:, leg.chain[-1]]
        floor = compute_step_heights(ground, toe[:, :2], stands)
        moves = np.diff(toe[:, :2], axis=0), toe[:, 2], np.zeros(len(toe), bool)
        stand = None
        if data is not None:
            moves = data.steps[:-1, i], data.heights[:, i] + floor, data.jumped
            stand = None if data.stand is None else data.stand[:, i]
        start = None if starts is None else starts[i]
        tracks.append(ToeTrack(toe, *moves, floor + leg.toe_height, stands, start, stand, leave))
    return tracks


def _compute_world(poses: np.ndarray, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rotations (T, B, 4) and positions (T, B, 3) of poses (T, 7, B)."""
    count, _, bones = poses.shape
    rotations, positions = np.empty((count, bones, 4)), np.empty((count, bones, 3))
    for first in range(0, count, _AT_ONCE):  # all at once would fill the memory
        part = slice(first, first + _AT_ONCE)
        local = poses[part].transpose(0, 2, 1)
        turns = quat.normalize(local[..., 3:])
        rotations[part], positions[part] = quat.fk(turns, local[..., :3], parents)
    return rotations, positions


def _solve_paths(
    legs: Sequence[LegGeometry],
    tracks: Sequence[ToeTrack],
    positions: np.ndarray,
    ranges: Sequence[ContactRange],
    firm: Sequence[ContactRange],
    fps: float,
    settings: PerformerSettings,
    ground: Ground,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the path of each toe (T, 3), and the ground's heights (T,) below, with feet apart."""

    def solve(i: int, aside: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        own = [r for r in ranges if r.leg == i]
        clearance = settings.swing_clearance
        return compute_toe_path(tracks[i], own, legs[i].toe_height, fps, clearance, ground, aside)

    def find_feet() -> list[FootTrack]:
        return [
            make_track(leg, path, positions, [r for r in ranges if r.leg == i])
            for i, (leg, (path, _)) in enumerate(zip(legs, solved, strict=True))
        ]

    solved = [solve(i) for i in range(len(legs))]
    if not any(leg.beside for leg in legs):
        return solved
    moved = move_plants_apart(legs, find_feet(), ranges, firm)
    others = {r.leg for r, before in zip(moved, ranges, strict=True) if r is not before}
    ranges = moved
    solved = [solve(i) if i in others else each for i, each in enumerate(solved)]
    for i, aside in enumerate(compute_asides(legs, find_feet(), fps)):
        if aside.any():
            solved[i] = solve(i, aside)
    return solved


def _move_into_reach(
    track: ToeTrack,
    reach: LegReach,
    ranges: Sequence[ContactRange],
    beside: Sequence[LegReach],
) -> ToeTrack:
    """Return a toe's track that stands within reach in `ranges` without a point of their own."""
    own = [r for r in ranges if r.point is None and (r.start > 0 or track.start is None)]
    stand = track.path[:, :2] if track.stand is None else track.stand
    heights = np.clip(track.heights, track.lowest, track.lowest + _LOW)
    return track._replace(stand=move_plants_into_reach(reach, own, stand, heights, beside))


def _find_beside(legs: Sequence[LegGeometry], i: int) -> list[int]:
    """Return the indices of the legs whose feet keep clear of that of leg `i`."""
    own = [each.leg for each in legs[i].beside]
    return own + [k for k, leg in enumerate(legs) if any(each.leg == i for each in leg.beside)]


def compute_toe_path(
    track: ToeTrack,
    ranges: Sequence[ContactRange],
    standing: float,
    fps: float,
    clearance: float = 0.0,
    ground: Ground = FLAT,
    aside: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the planted path of a toe (T, 3), and the heights (T,) of the ground below that path.

    `standing` is the height of a toe that stands on the ground, `clearance` how far above that it
    swings, in metres; `ranges` are those of its leg. It goes `aside` (T, 2) for other feet.
    """
    plants = _place_plants(track, ranges, standing, fps, ground)
    result = track.path.copy()
    result[:, :2] = _solve_ground_path(track, plants, fps)
    if aside is not None:
        result[:, :2] += aside
    result[:, 2] = _solve_heights(track, plants, result[:, :2], clearance, fps)
    floor = compute_step_heights(ground, result[:, :2], track.stands)
    result[:, 2] = np.maximum(result[:, 2], floor + standing)
    return result, floor


def _place_plants(
    track: ToeTrack, ranges: Sequence[ContactRange], standing: float, fps: float, ground: Ground
) -> _Plants:
    """Plant a toe in each range at the middle of its path, or at the point of the range."""
    reach, count = round(_EASE * fps), len(track.path)
    stand = track.path[:, :2] if track.stand is None else track.stand
    points, is_planted, is_free = track.path.copy(), np.zeros(count, bool), np.ones(count, bool)
    for r in ranges:
        frames = slice(r.start, r.stop)
        point = np.median(stand[frames], axis=0) if r.point is None else np.array(r.point)
        if r.start == 0 and r.point is None and track.start is not None:
            point = track.start
        stands = float(np.median(track.stands[frames]))
        low = compute_step_height(ground, point[0], point[1], stands) + standing
        # a foot that stands on its ball, or wears other shoes, stands as high as the data has it
        points[frames, :2] = point
        points[frames, 2] = np.clip(np.median(track.heights[frames]), low, low + _LOW)
        is_planted[frames] = True
        is_free[max(r.start - reach, 0) : r.stop + reach] = False
    if track.start is not None and not is_planted[0]:
        points[0, :2], is_free[0] = track.start, True
    return _Plants(points, is_planted, is_free)


def _solve_ground_path(track: ToeTrack, plants: _Plants, fps: float) -> np.ndarray:
    """Return the ground path (T, 2): a low toe steps as in the data, a high one makes up for it."""
    above = np.maximum(track.path[:, 2], track.heights) - track.lowest
    low = np.clip(2.0 - 2.0 ** (np.maximum(above, 0.0) / _LOW), 0.0, 1.0)
    low = np.minimum(low[1:], low[:-1])[:, None]
    pace = low * track.steps + (1.0 - low) * np.diff(track.path[:, :2], axis=0)
    planted = plants.is_planted[1:] & plants.is_planted[:-1]
    pace[planted] = 0.0
    known = plants.is_planted | plants.is_free
    # no jerk where a path leaves or reaches a plant, or passes a jump, whatever the data does there
    change = np.diff(pace, axis=0)
    change[planted[1:] | planted[:-1] | track.jumped[1:-1]] = 0.0
    gentle = np.where(planted[1:] ^ planted[:-1], _GENTLE, 1.0)
    pull = _FREE / (_RETURN * fps) ** 2
    return solve_least_squares(
        known,
        plants.points[:, :2],
        pace,
        _FREE + low[:, 0],
        (_SMOOTH * fps) ** 2 * gentle,
        pull,
        track.path[:, :2],
        change,
    )


def _solve_heights(
    track: ToeTrack, plants: _Plants, path: np.ndarray, clearance: float, fps: float
) -> np.ndarray:
    """Return the heights (T,) of a toe: planted, or at least the data's; lifted where hasty."""
    toe = track.path
    speed, played = _compute_speeds(np.diff(path, axis=0), fps), _compute_speeds(track.steps, fps)
    highest = np.minimum(_STEEP * _measure_swings(path, plants.is_planted), _HIGHEST)
    hasty = np.minimum(_LIFT * np.maximum(speed - played - _HASTE, 0.0), highest)
    # over the height at which the foot stands before and after
    stood = np.flatnonzero(plants.is_planted)
    raised = (plants.points[:, 2] - track.lowest)[stood]
    floor = track.lowest
    if len(stood):
        floor = floor + np.interp(np.arange(len(toe)), stood, raised)
    over = np.maximum(hasty, clearance * compute_lift_share(speed))
    if len(stood):  # no foot leaves the ground or meets it at full height
        away = count_frames_to(plants.is_planted) / fps
        over = np.minimum(over, 0.5 * track.leave * away**2)
    wanted = np.maximum(track.heights, floor + over) - toe[:, 2]
    toward = rise = np.maximum(wanted, 0.0)[:, None]
    still, even, stiffness = np.zeros((len(toe) - 1, 1)), np.ones(len(toe) - 1), (_RISE * fps) ** 2
    for _ in range(_PASSES):
        offset = solve_least_squares(
            plants.is_planted,
            (plants.points - toe)[:, 2:],
            still,
            even,
            0.25 * stiffness,
            1.0 / stiffness,
            toward,
        )
        # what is missing is asked for on top, until a rise as even as before is high enough
        toward = toward + np.maximum(rise - offset, 0.0)
    return toe[:, 2] + offset[:, 0]


def _measure_swings(path: np.ndarray, is_planted: np.ndarray) -> np.ndarray:
    """Return how far (T,) in metres the swing goes of which a frame is, on a ground path (T, 2)."""
    starts = np.flatnonzero(np.diff(is_planted, prepend=not is_planted[0]))
    size = np.maximum.reduceat(path, starts) - np.minimum.reduceat(path, starts)
    lengths = np.diff(starts, append=len(path))
    return np.repeat(np.linalg.norm(size, axis=-1), lengths)


def _compute_speeds(steps: np.ndarray, fps: float) -> np.ndarray:
    """Return speeds (T,) in m/s by central differences, from steps (T - 1, 2)."""
    central = np.vstack([steps[:1], 0.5 * (steps[1:] + steps[:-1]), steps[-1:]])
    return np.linalg.norm(central, axis=-1) * fps
