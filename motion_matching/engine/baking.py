"""The feet of a take, for a bake: found contacts or edited ones, planted with what comes known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .control import contact_ranges, metrics
from .control.contact_ranges import ContactRange
from .control.foot_lock import LANDING
from .control.metrics import Body
from .control.planting import ToeMotion, plant_feet
from .control.settings import PerformerSettings
from .control.take import Take
from .matching.database import Database, legs_of
from .maths import quat
from .maths.springs import spring
from .motion.simulation_bone import GroundTrack

_HELD = 0.01  # m/s: a planted toe that goes no faster is where it was planted
_KNEELING = 0.5  # of a leg's length: with the ankle nearer to the hip than that one kneels or crawls, and stands on no toe


def ranges_of(take: Take, database: Database) -> list[ContactRange]:
    """When and where the feet of a take stand, as its source frames and its path say."""
    radius = PerformerSettings().changed(take.settings).unlock_radius
    hips, knees, ankles, toes = np.moveaxis(
        _places(take.unlocked_poses, database, "thigh", "shin", "foot", "toe"), 2, 0
    )
    standing = [leg.toe_height for leg in legs_of(database)]
    landed = toes[..., 2] - take.poses[:, 2, :1] < np.add(standing, LANDING)
    reach, upper, lower = (
        np.linalg.norm(v, axis=-1) for v in (ankles - hips, knees - hips, ankles - knees)
    )
    stands = take.contacts & landed & (reach > _KNEELING * (upper + lower))
    return contact_ranges.contact_ranges(stands, toes, take.fps, radius)


def bake_feet(take: Take, database: Database, ranges: Sequence[ContactRange] | None = None) -> Take:
    """The take with its feet planted in `ranges`, or in those that are found, in place of how they were locked live."""
    ranges = ranges_of(take, database) if ranges is None else ranges
    legs = legs_of(database)
    settings = PerformerSettings().changed(take.settings)
    poses = plant_feet(
        take.unlocked_poses,
        take.skeleton,
        legs,
        ranges,
        take.fps,
        settings,
        toe_motion(take, database),
        take.performance.ground,
    )
    step = np.linalg.norm(np.diff(toes_of(poses, database)[..., :2], axis=0), axis=-1) * take.fps
    still = np.zeros(take.contacts.shape, bool)
    still[1:] |= step < _HELD
    still[:-1] |= step < _HELD
    locked = contact_ranges.planted(ranges, take.frame_count, take.contacts.shape[1]) & still
    return replace(take, poses=poses, locked=locked)


def without_lock(take: Take) -> Take:
    """The take with its feet where the motion leads them."""
    return replace(take, poses=take.unlocked_poses, locked=np.zeros_like(take.contacts))


def toe_motion(take: Take, database: Database) -> ToeMotion:
    """What the toes do in the frames that a take plays, as it faces: neither blended nor led aside."""
    frames = take.frames.astype(np.int64)
    # the last frame of a range repeats the step before
    start = np.minimum(frames, database.stops[database.range_of_frame[frames]] - 2)
    toes = [toes_of(database.poses[at], database) for at in (start, start + 1)]
    step = (toes[1] - toes[0])[..., :2]
    turn = take.character[:, 2] - database.track[start, 2]
    c, s = np.cos(turn)[:, None], np.sin(turn)[:, None]
    steps = np.stack(
        [c * step[..., 0] - s * step[..., 1], s * step[..., 0] + c * step[..., 1]], axis=-1
    )
    heights = toes_of(database.poses[frames], database)[..., 2]
    return ToeMotion(steps, _without_jumps(heights, take), take.jumped)


def _without_jumps(heights: np.ndarray, take: Take) -> np.ndarray:
    """Heights (T, L) of toes in the frames that a take plays, which a jump leaves as smoothly as the pose."""
    halflife = PerformerSettings().changed(take.settings).inertialization_halflife
    fading, _ = spring(1.0, 0.0, 0.0, halflife, np.arange(take.frame_count)[:, None] / take.fps)
    result = heights.copy()
    for tick in np.flatnonzero(take.jumped[1:]) + 1:
        result[tick:] += (heights[tick - 1] - heights[tick]) * fading[: take.frame_count - tick]
    return result


def toes_of(poses: np.ndarray, database: Database) -> np.ndarray:
    """World places (F, L, 3) of the toes in poses (F, 7, B)."""
    return _places(poses, database, "toe")[:, :, 0]


def _places(poses: np.ndarray, database: Database, *joints: str) -> np.ndarray:
    """World places (F, L, J, 3) of joints of the legs, by their names in `Leg`, in poses (F, 7, B)."""
    local = poses.transpose(0, 2, 1).astype(np.float64)
    _, positions = quat.fk(local[..., 3:], local[..., :3], database.skeleton.parents)
    return positions[:, [[getattr(leg, joint) for joint in joints] for leg in database.roles.legs]]


def foot_measures(take: Take, database: Database, floors: np.ndarray) -> dict[str, Any]:
    """How far the feet of a take slide, how many of its contacts are held, and how far its legs were bent for it."""
    toes = toes_of(take.poses, database)
    body = Body(take.fps, toes, toes, GroundTrack(take.character[:, :2], take.character[:, 2]))
    corrections = np.linalg.norm(toes - toes_of(take.unlocked_poses, database), axis=-1)
    return {
        "foot_slide_mann": metrics.mann_foot_slide([body], floors),
        "foot_slide_contacts": metrics.contact_slide([body], [take.contacts]),
        "contacts_locked": float(take.locked[take.contacts].mean()) if take.contacts.any() else 0.0,
        "leg_correction_mean": float(corrections.mean()),
        "leg_correction_max": float(corrections.max()),
    }
