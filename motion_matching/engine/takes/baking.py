"""Bake the feet of a take: plant them in contacts, found or edited, with the whole take known."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..blending.jump_fade import choose_fade
from ..control.rollout import Take
from ..database.database import Database
from ..errors import SettingsError
from ..facts.character import measure_character_legs
from ..facts.motion_limits import MotionLimits
from ..feet import contact_ranges
from ..feet.contact_ranges import ContactRange
from ..feet.numbers import NUMBERS as FOOT_NUMBERS
from ..feet.planting import FeetPlan, ToeMotion, measure_pitches, measure_sides, plant_feet
from ..ground import ground as grounds
from ..maths import planar
from ..maths.along_time import find_runs
from ..maths.rotations import quat
from ..maths.rotations.component_quat import mix_poses
from ..motion.simulation_bone import GroundTrack
from ..scale import Scale
from ..units import POSE
from . import metrics
from .bodies import BodyMotion, Frames
from .numbers import NUMBERS

FEET = ("baked", "live", "off")


def find_contact_ranges(take: Take, database: Database) -> list[ContactRange]:
    """Find when and where the feet of a take stand, from its source frames and its path."""
    scale = database.scale
    if not scale.is_of_people:
        small = to_body_units(take, scale)
        return scale.to_world(find_contact_ranges(small, database.in_body_units))
    toes = _find_standing_toes(take, database)
    standing = [leg.toe_height for leg in database.derive(measure_character_legs)]
    contacts = _leave_out_steps(take, database, toes)
    stands = contacts & (
        _find_played_heights(take, database) < np.add(standing, FOOT_NUMBERS.landing_height)
    )
    free = compute_toe_positions(take.unlocked_poses, database)[..., 2] - take.poses[:, 2, :1]
    stands &= free < np.add(standing, NUMBERS.in_air)
    radius = take.performer_settings.feet.unlock_radius
    hardest = database.derive(MotionLimits).hardest_step
    return contact_ranges.find_contact_ranges(stands, toes, take.fps, radius, hardest)


def to_body_units(take: Take, scale: Scale) -> Take:
    """Return a take with its settings and its ground in body units."""
    if scale.is_of_people:
        return take
    performance = replace(
        take.performance,
        floor=grounds.to_body_units(take.performance.ground, scale),
        obstacles=(),
        walls=(),
    )
    settings = scale.to_body(take.performer_settings).to_dict()
    return replace(scale.to_body(take), performance=performance, settings=settings)


def _leave_out_steps(take: Take, database: Database, toes: np.ndarray) -> np.ndarray:
    """Return contacts (T, L) that go on over the short steps of a standing character.

    Live, a foot steps into place; a bake knows in advance where it will stand.
    """
    result = take.contacts.copy()
    around = round(NUMBERS.step_around * take.fps)
    stands = np.asarray(database.contacts)[take.frames]
    for leg in range(result.shape[1]):
        own = take.contacts[:, leg]
        for start, stop in find_runs(~own & stands[:, leg]).tolist():
            steps = start > 0 and stop < len(own) and own[start - 1] and own[stop]
            if not steps or stop - start > NUMBERS.longest_step * take.fps:
                continue
            path = toes[max(start - around, 0) : stop + around, leg, :2]
            if np.ptp(path, axis=0).max() < NUMBERS.shortest_step:
                result[start:stop, leg] = True
    return result


def bake_feet(
    take: Take,
    database: Database,
    ranges: Sequence[ContactRange] | None = None,
    left_out: Collection[str] = (),
) -> Take:
    """Plant the feet of a take in `ranges`, by default the found ones, ignoring the live lock.

    In ranges that differ from the found ones no foot gives way, because an animator wants it to
    stand there. Tasks and limits named in `left_out` do not count.
    """
    scale = database.scale
    if not scale.is_of_people:
        small = to_body_units(take, scale)
        small = bake_feet(small, database.in_body_units, scale.to_body(ranges), left_out)
        return replace(take, poses=scale.to_world(small.poses, POSE), locked=small.locked)
    found = find_contact_ranges(take, database)
    ranges = found if ranges is None else ranges
    known = set(found)
    settings = take.performer_settings.feet
    starts = None
    if take.performance.start is not None:  # it goes on from another take
        starts = compute_toe_positions(take.poses[:1], database)[0, :, :2]
    data = measure_toe_motion(take, database)
    assert data.stand is not None
    plan = FeetPlan(
        legs=database.derive(measure_character_legs),
        ranges=ranges,
        fps=take.fps,
        clearance=settings.swing_clearance,
        buffer=settings.stretch_buffer,
        data=data._replace(
            stand=contact_ranges.place_toes(
                *(ranges, take.contacts, data.stand, settings.unlock_radius),
                database.derive(MotionLimits).hardest_step / take.fps**2,
            )
        ),
        ground=take.performance.ground,
        firm=[r for r in ranges if r not in known],
        starts=starts,
        hardest=min(
            database.derive(MotionLimits).measure_played(take.frames),
            database.derive(MotionLimits).common_peak,
        ),
        left_out=left_out,
    )
    poses = plant_feet(take.unlocked_poses, take.skeleton, plan)
    steps = np.diff(compute_toe_positions(poses, database)[..., :2], axis=0)
    slow = np.linalg.norm(steps, axis=-1) * take.fps < NUMBERS.locked_speed
    still = np.zeros(take.contacts.shape, bool)
    still[1:] |= slow
    still[:-1] |= slow
    planted = contact_ranges.build_contact_mask(ranges, *still.shape)
    return replace(take, poses=poses, locked=planted & still)


def place_feet(
    take: Take,
    database: Database,
    feet: str | None = None,
    ranges: Sequence[ContactRange] | None = None,
) -> tuple[Take, Sequence[ContactRange]]:
    """Return a take with its feet 'baked', locked as 'live' or left 'off', and their contacts.

    Without `feet` they are baked, unless the take's settings switch the foot lock off and no
    `ranges` are given. Without `ranges` they are found. Raises SettingsError for another word.
    """
    feet = feet or ("off" if ranges is None and not take.settings["foot_lock"] else "baked")
    if feet not in FEET:
        raise SettingsError(f"The feet of a take cannot be '{feet}'; use one of {', '.join(FEET)}.")
    ranges = find_contact_ranges(take, database) if ranges is None else ranges
    if feet == "baked":
        return bake_feet(take, database, ranges), ranges
    return (free_feet(take) if feet == "off" else take), ranges


def free_feet(take: Take) -> Take:
    """Return a take with the motion's own feet."""
    return replace(take, poses=take.unlocked_poses, locked=np.zeros_like(take.contacts))


def measure_toe_motion(take: Take, database: Database) -> ToeMotion:
    """Return the toes' motion in the frames played, before blending, turned with the take."""
    frames = take.frames.astype(np.int64)
    # the last frame of a range repeats the step before
    start = np.minimum(frames, database.stops[database.range_of_frame[frames]] - 2)
    before, after = (compute_toe_positions(database.poses[k], database) for k in (start, start + 1))
    turns = take.character[:, 2] - database.track[start, 2]
    steps = take.rates[:, None, None] * planar.rotate((after - before)[..., :2], turns[:, None])
    heights = _find_played_heights(take, database)
    stand = _find_standing_toes(take, database)[..., :2]
    pitches = _smooth_jumps(_find_played_pitches(take, database), take)
    # in the air, in a held pose and at a walk, a foot keeps its blended pitch
    moves = np.linalg.norm(np.gradient(take.character[:, :2], 1.0 / take.fps, axis=0), axis=-1)
    pitches[~np.asarray(database.contacts)[frames] | (moves > NUMBERS.heel_speed)[:, None]] = np.inf
    sides = _smooth_jumps(_find_played_sides(take, database), take)
    return ToeMotion(steps, _smooth_jumps(heights, take), take.jumped, stand, pitches, sides)


def _list_played_poses(take: Take, database: Database) -> np.ndarray:
    """Return the poses (T, 7, B) played, some of them between two frames."""
    poses = database.poses[take.frames]
    between = np.flatnonzero(take.shares)
    if not len(between):
        return poses
    frames = take.frames[between]
    shares = take.shares[between]
    others = np.where(shares > 0.0, database.followers[frames], database.predecessors[frames])
    poses[between] = mix_poses(poses[between], database.poses[others], np.abs(shares))
    return poses


def _find_played_pitches(take: Take, database: Database) -> np.ndarray:
    """Return the angles (T, L) of heels in the frames played."""
    legs = database.derive(measure_character_legs)
    poses = _list_played_poses(take, database)
    return np.column_stack([measure_pitches(leg, database.skeleton, poses) for leg in legs])


def _find_played_sides(take: Take, database: Database) -> np.ndarray:
    """Return how far (T, L) ankles are on their own side in the frames played."""
    positions = quat.compute_world(_list_played_poses(take, database), database.skeleton.parents)[1]
    return measure_sides(database.derive(measure_character_legs), positions)


def _find_played_heights(take: Take, database: Database) -> np.ndarray:
    """Return the heights (T, L) of toes in the frames played, on the ground where a pose is held.

    A character without standing motion holds a pose out of a step, with all of its feet planted.
    """
    heights = compute_toe_positions(_list_played_poses(take, database), database)[..., 2]
    standing = np.array([leg.toe_height for leg in database.derive(measure_character_legs)])
    held = take.contacts & ~np.asarray(database.contacts)[take.frames]
    return np.where(held, np.minimum(heights, standing), heights)


def _find_standing_toes(take: Take, database: Database) -> np.ndarray:
    """Return toes (T, L, 3) halfway between their motion and their locked places.

    A live lock plants a toe where its step ends, but the motion then drags it away from there.
    """
    free, locked = (compute_toe_positions(p, database) for p in (take.unlocked_poses, take.poses))
    return 0.5 * (free + locked)


def _smooth_jumps(heights: np.ndarray, take: Take) -> np.ndarray:
    """Smooth heights (T, L) of toes after jumps, like inertialization smooths poses."""
    shape, time = choose_fade(take.performer_settings)
    fading = shape.compute_share(time, np.arange(take.frame_count)[:, None] / take.fps)
    fading = fading[: np.flatnonzero(np.abs(fading) > NUMBERS.faded).max(initial=-1) + 1]
    result = heights.copy()
    for tick in np.flatnonzero(take.jumped[1:]) + 1:
        rest = result[tick : tick + len(fading)]
        rest += (heights[tick - 1] - heights[tick]) * fading[: len(rest)]
    return result


def compute_toe_positions(poses: np.ndarray, database: Database) -> np.ndarray:
    """Return world positions (F, L, 3) of the toes in poses (F, 7, B)."""
    toes = [leg.toe for leg in database.roles.legs]
    return database.skeleton.compute_bone_positions(toes, poses)


def measure_toe_corrections(take: Take, database: Database) -> np.ndarray:
    """Return how far foot locking moved each toe (T, L), in metres."""
    toes, free = (compute_toe_positions(p, database) for p in (take.poses, take.unlocked_poses))
    return np.linalg.norm(toes - free, axis=-1)


def measure_live(take: Take, database: Database, floors: np.ndarray, most: float) -> dict[str, Any]:
    """Measure a take before its feet are baked; pops are against the `most` of frames played."""
    frames = Frames.from_body(
        make_body(take.poses, take.character, database), take.contacts, floors
    )
    corrections = measure_toe_corrections(take, database)
    return {
        **metrics.measure_frames(frames),
        **metrics.measure_slips(frames, take.fps),
        **metrics.measure_pops(frames.accelerations, most, take.fps),
        **metrics.measure_foot_lock(take, corrections),
    }


def make_body(poses: np.ndarray, track: np.ndarray, database: Database) -> BodyMotion:
    """Return the world motion of poses (F, 7, B) whose simulation bone has a track (F, 3)."""
    _, positions = quat.compute_world(poses, database.skeleton.parents)
    legs = positions[:, database.roles.leg_bones]
    return BodyMotion(database.fps, positions[:, 1:], legs, GroundTrack.from_rows(track))
