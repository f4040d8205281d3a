"""Bake the feet of a take: plant them in contacts, found or edited, knowing what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..control import contact_ranges
from ..control.contact_ranges import ContactRange
from ..control.foot_lock import LANDING
from ..control.planting import ToeMotion, plant_feet
from ..control.settings import PerformerSettings
from ..control.take import Take
from ..database.database import Database, measure_character_legs
from ..errors import SettingsError
from ..maths import planar, quat
from ..maths.springs import spring
from ..motion.simulation_bone import GroundTrack
from . import metrics
from .metrics import BodyMotion

FEET = ("baked", "live", "off")
_LOCKED_SPEED = 0.01  # m/s: a slower planted toe is locked
_KNEELING_REACH = (
    0.5  # of a leg's length: with the ankle nearer to the hip, the character kneels or crawls
)


def find_contact_ranges(take: Take, database: Database) -> list[ContactRange]:
    """Find when and where the feet of a take stand, from its source frames and its path."""
    radius = PerformerSettings().with_changes(take.settings).unlock_radius
    joints = _compute_joint_positions(take.unlocked_poses, database, "thigh", "shin", "foot", "toe")
    hips, knees, ankles, toes = np.moveaxis(joints, 2, 0)
    standing = [leg.toe_height for leg in measure_character_legs(database)]
    landed = toes[..., 2] - take.poses[:, 2, :1] < np.add(standing, LANDING)
    reach, upper, lower = (
        np.linalg.norm(v, axis=-1) for v in (ankles - hips, knees - hips, ankles - knees)
    )
    stands = take.contacts & landed & (reach > _KNEELING_REACH * (upper + lower))
    return contact_ranges.find_contact_ranges(stands, toes, take.fps, radius)


def bake_feet(take: Take, database: Database, ranges: Sequence[ContactRange] | None = None) -> Take:
    """Plant the feet of a take in `ranges`, by default those found, not as they were locked
    live.
    """
    ranges = find_contact_ranges(take, database) if ranges is None else ranges
    legs = measure_character_legs(database)
    settings = PerformerSettings().with_changes(take.settings)
    poses = plant_feet(
        take.unlocked_poses,
        take.skeleton,
        legs,
        ranges,
        take.fps,
        settings,
        measure_toe_motion(take, database),
        take.performance.ground,
    )
    step = (
        np.linalg.norm(np.diff(compute_toe_positions(poses, database)[..., :2], axis=0), axis=-1)
        * take.fps
    )
    still = np.zeros(take.contacts.shape, bool)
    still[1:] |= step < _LOCKED_SPEED
    still[:-1] |= step < _LOCKED_SPEED
    locked = (
        contact_ranges.build_contact_mask(ranges, take.frame_count, take.contacts.shape[1]) & still
    )
    return replace(take, poses=poses, locked=locked)


def place_feet(
    take: Take,
    database: Database,
    feet: str | None = None,
    ranges: Sequence[ContactRange] | None = None,
) -> tuple[Take, Sequence[ContactRange]]:
    """Return a take with its feet planted ('baked'), as they were locked live ('live') or free
    ('off'), and their contacts.

    Without `feet` they are planted, unless the take's settings switch the foot lock off and no
    `ranges` are given. Without `ranges` they are found. Raises SettingsError for another word.
    """
    feet = feet or ("off" if ranges is None and not take.settings["foot_lock"] else "baked")
    if feet not in FEET:
        raise SettingsError(f"The feet of a take cannot be '{feet}'; use one of {', '.join(FEET)}.")
    ranges = find_contact_ranges(take, database) if ranges is None else ranges
    if feet == "baked":
        return bake_feet(take, database, ranges), ranges
    return (take if feet == "live" else remove_foot_lock(take)), ranges


def remove_foot_lock(take: Take) -> Take:
    """Return the take with its feet where the motion leads them."""
    return replace(take, poses=take.unlocked_poses, locked=np.zeros_like(take.contacts))


def measure_toe_motion(take: Take, database: Database) -> ToeMotion:
    """Return what the toes do in the frames that a take plays, turned as it faces.

    Neither blending nor displacement affects it.
    """
    frames = take.frames.astype(np.int64)
    # the last frame of a range repeats the step before
    start = np.minimum(frames, database.stops[database.range_of_frame[frames]] - 2)
    toes = [compute_toe_positions(database.poses[at], database) for at in (start, start + 1)]
    step = (toes[1] - toes[0])[..., :2]
    steps = planar.rotate(step, (take.character[:, 2] - database.track[start, 2])[:, None])
    heights = compute_toe_positions(database.poses[frames], database)[..., 2]
    return ToeMotion(steps, _smooth_jumps(heights, take), take.jumped)


def _smooth_jumps(heights: np.ndarray, take: Take) -> np.ndarray:
    """Smooth heights (T, L) of toes after jumps, as inertialization smooths poses."""
    halflife = PerformerSettings().with_changes(take.settings).inertialization_halflife
    fading, _ = spring(1.0, 0.0, 0.0, halflife, np.arange(take.frame_count)[:, None] / take.fps)
    result = heights.copy()
    for tick in np.flatnonzero(take.jumped[1:]) + 1:
        result[tick:] += (heights[tick - 1] - heights[tick]) * fading[: take.frame_count - tick]
    return result


def compute_toe_positions(poses: np.ndarray, database: Database) -> np.ndarray:
    """Return world positions (F, L, 3) of the toes in poses (F, 7, B)."""
    return _compute_joint_positions(poses, database, "toe")[:, :, 0]


def _compute_joint_positions(poses: np.ndarray, database: Database, *joints: str) -> np.ndarray:
    """Return world positions (F, L, J, 3) of joints of `Leg` in poses (F, 7, B)."""
    local = poses.transpose(0, 2, 1).astype(np.float64)
    _, positions = quat.fk(local[..., 3:], local[..., :3], database.skeleton.parents)
    return positions[:, [[getattr(leg, joint) for joint in joints] for leg in database.roles.legs]]


def measure_feet(take: Take, database: Database, floors: np.ndarray) -> dict[str, Any]:
    """Measure how far the feet of a take slide, the share of contacts held, and how legs bend."""
    toes = compute_toe_positions(take.poses, database)
    body = BodyMotion(
        take.fps, toes, toes, GroundTrack(take.character[:, :2], take.character[:, 2])
    )
    corrections = np.linalg.norm(
        toes - compute_toe_positions(take.unlocked_poses, database), axis=-1
    )
    return {
        "foot_slide_mann": metrics.measure_mann_foot_slide([body], floors),
        "foot_slide_contacts": metrics.measure_contact_slide([body], [take.contacts]),
        "contacts_locked": float(take.locked[take.contacts].mean()) if take.contacts.any() else 0.0,
        "leg_correction_mean": float(corrections.mean()),
        "leg_correction_max": float(corrections.max()),
    }
