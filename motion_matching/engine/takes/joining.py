"""Join several recordings to one take: each goes on from the take before it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..control.continuation import Body, carry_on, move_places
from ..control.rollout import Take, join
from ..database.database import Database
from ..facts.character import measure_character_legs
from ..maths import planar
from ..maths.numeric import arctan2
from ..maths.rotations import quat
from ..performance.performance import Performance
from ..performance.start_state import build_start_state
from .numbers import NUMBERS


def splice(base: Take, tick: int, part: Take, database: Database, lead_back: float = 0.0) -> Take:
    """Return a take with a part in place of its ticks from one on; the rest goes on from the part.

    A part that begins after the end of the take is just appended.
    """
    joined = join([(0, base), (tick, part)])
    end = tick + part.frame_count
    if tick > base.frame_count:
        return joined
    jumped = joined.jumped.copy()
    jumped[tick] = True
    joined = replace(joined, jumped=jumped)
    if end >= base.frame_count or end < 2 or part.frame_count < 2:
        return joined
    jumped[end] = True
    legs = database.derive(measure_character_legs)
    settings = part.performer_settings
    small = database.in_body_units
    body = Body(small.skeleton, np.array(small.limits), legs, small.fps, database.scale)

    def carry(name: str, contacts: np.ndarray | None) -> np.ndarray:
        rest = getattr(base, name)[end - 2 :]
        carried = carry_on(
            getattr(part, name)[-2:], rest, body, settings, contacts=contacts, lead_back=lead_back
        )
        later = move_places(rest[2 + len(carried.poses) :], carried.move)
        return np.concatenate([getattr(joined, name)[:end], carried.poses, later])

    unlocked = carry("unlocked_poses", None)
    poses = carry("poses", base.contacts[end - 2 :])
    paths: dict[str, Any] = _move_paths(joined, unlocked, end)
    poses = poses.astype(np.float32)
    unlocked = unlocked.astype(np.float32)
    poses[:, :, 0] = unlocked[:, :, 0]  # both fade by themselves, some millimetres apart
    return replace(joined, poses=poses, unlocked_poses=unlocked, **paths)


def continue_from(base: Take, tick: int, performed: Performance) -> Performance:
    """Return a performance whose start is the take's state before a tick, if that has changed."""
    start = performed.start
    if start is None or not 0 < tick <= base.frame_count:
        return performed
    names = base.skeleton.names
    rows = np.clip([tick - 2, tick - 1, tick], 0, base.frame_count - 1)
    (x, y, yaw), state = build_start_state(names, base.poses[rows], base.fps, root=start.root)
    if start.fits(base.skeleton):
        here, there = (
            _place_joints(each.to_moving_pose(base.skeleton).pose, place, base)
            for each, place in (
                (start, (*performed.position, performed.facing)),
                (state, (x, y, yaw)),
            )
        )
        if np.linalg.norm(here - there, axis=-1).mean() < NUMBERS.same_place:
            return performed
    return replace(performed, position=(x, y), facing=yaw, start=state)


def _place_joints(pose: np.ndarray, place: tuple[float, float, float], take: Take) -> np.ndarray:
    """Return the joints (J, 3) in the world of a pose (7, B) seen from a place."""
    x, y, yaw = place
    placed = pose.astype(np.float64)
    placed[:, 0] = [x, y, 0.0, *quat.from_yaw(np.array(yaw))]
    return quat.compute_world(placed[None], take.skeleton.parents)[1][0, 1:]


def _move_paths(take: Take, poses: np.ndarray, start: int) -> dict[str, np.ndarray]:
    """Return all paths of a take, moved from a tick on with the character of poses (T, 7, B)."""
    now = poses[start:, :, 0].astype(np.float64)
    places = np.column_stack([now[:, :2], 2.0 * arctan2(now[:, 6], now[:, 3])])
    old = take.character[start:]
    turns = planar.wrap(places[:, 2] - old[:, 2])
    places[:, 2] = old[:, 2] + turns
    result = {
        name: getattr(take, name).copy()
        for name in ("character", "simulation", "apart", "desired_velocity", "desired_yaw")
    }
    result["character"][start:] = places
    away = take.simulation[start:, :2] - old[:, :2]
    result["simulation"][start:, :2] = places[:, :2] + planar.rotate(away, turns)
    result["simulation"][start:, 2] += turns
    for name in ("apart", "desired_velocity"):
        result[name][start:, :2] = planar.rotate(result[name][start:, :2], turns)
    result["desired_yaw"][start:] += turns
    return result
