"""Find frames near the poses that marks ask for, and add the layer that reaches these."""

from __future__ import annotations

import difflib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...control.rollout import Take
from ...database.database import Database
from ...database.frame_names import find_frame
from ...errors import SettingsError
from ...facts.character import measure_character_legs
from ...feet.contact_ranges import ContactRange
from ...maths.easing import smoothstep
from ...maths.rotations import quat
from ...skeleton.bone_names import join_quoted
from ...takes import baking
from ..footage.footage import Footage
from ..numbers import NUMBERS
from ..shot.shot import Mark

_LEAST_LENGTH = 1e-6  # of a quaternion that has a direction


@dataclass(frozen=True)
class BonePose:
    """A pose of bones of a database: `rotations` (K, 4) of `bones`, and the height of the `hips`.

    Rotations are relative to the parent; a height of None keeps the data's.
    """

    bones: list[int]
    rotations: np.ndarray
    hips: int
    height: float | None

    def apply(self, poses: np.ndarray, parents: np.ndarray) -> np.ndarray:
        """Return poses (F, 7, B) with the bones in this pose."""
        result = np.array(poses)
        result[:, 3:, self.bones] = self.rotations.T
        if self.height is not None:
            turns, places = quat.compute_world(
                result[..., : self.hips + 1], parents[: self.hips + 1]
            )
            up = np.zeros((len(result), 3))
            up[:, 2] = self.height - (places[:, self.hips, 2] - places[:, 0, 2])
            result[:, :3, self.hips] += quat.inv_mul_vec(turns[:, parents[self.hips]], up)
        return result


def find_pose(database: Database, mark: Mark) -> BonePose | None:
    """Return the pose that a mark asks for, if any.

    Raises SettingsError for an unknown frame or bone, and for invalid rotations.
    """
    if mark.pose is None:
        return None
    hips = database.roles.hips
    if isinstance(mark.pose, str):
        pose = np.array(database.poses[find_frame(database, mark.pose)])
        bones = list(range(1, pose.shape[1]))
        pose[:3, 0] = 0.0
        pose[3:, 0] = (1.0, 0.0, 0.0, 0.0)
        height = float(database.skeleton.compute_bone_positions([hips], pose[None])[0, 0, 2])
        return BonePose(bones, pose[3:, 1:].T, hips, height)
    bones = [_find_bone(database, name, mark) for name, _ in mark.pose.rotations]
    rotations = np.array([rotation for _, rotation in mark.pose.rotations], float).reshape(-1, 4)
    lengths = np.linalg.norm(rotations, axis=1)
    is_sound = np.isfinite(lengths) & (lengths > _LEAST_LENGTH)
    if not is_sound.all():
        name, rotation = mark.pose.rotations[int(np.argmin(is_sound))]
        raise SettingsError(
            f"The pose of the mark at {mark.time:g} s turns '{name}' by {list(rotation)}, which is "
            "no rotation; give the four numbers w, x, y and z of one."
        )
    if mark.pose.height is not None and not math.isfinite(mark.pose.height):
        raise SettingsError(
            f"The pose of the mark at {mark.time:g} s has hips at a height of {mark.pose.height}; "
            "give metres, or leave the height out."
        )
    return BonePose(bones, rotations / lengths[:, None], hips, mark.pose.height)


def _find_bone(database: Database, name: str, mark: Mark) -> int:
    names = database.skeleton.names
    if name in names[1:]:
        return names.index(name)
    near = difflib.get_close_matches(name, names[1:], 3, 0.0)
    raise SettingsError(
        f"The pose of the mark at {mark.time:g} s has a bone '{name}', which the skeleton has not; "
        f"use one such as {join_quoted(near)}."
    )


def measure_frames(pose: BonePose, footage: Footage) -> np.ndarray:
    """Return how far (N,) joints of each frame are from a pose on average.

    Only joints that the pose moves count, relative to the hips on the ground.
    """
    database = footage.database
    parents = footage.database.skeleton.parents
    counts = _find_moved(pose, parents)
    result = np.empty(footage.frame_count)
    for first in range(0, footage.frame_count, NUMBERS.frames_at_once):
        poses = np.array(database.poses[first : first + NUMBERS.frames_at_once])
        poses[:, :3, 0] = 0.0
        poses[:, 3:, 0] = (1.0, 0.0, 0.0, 0.0)
        away = _measure_joints(pose, poses, parents)
        result[first : first + NUMBERS.frames_at_once] = away[:, counts].mean(axis=1)
    return result


def _find_moved(pose: BonePose, parents: np.ndarray) -> np.ndarray:
    """Return which bones (B,) a pose moves: all below its own, and all below hips with a height."""
    moved = np.zeros(len(parents), bool)
    moved[pose.bones] = True
    moved[pose.hips] |= pose.height is not None
    for bone, parent in enumerate(parents):
        moved[bone] |= bone > 0 and moved[parent]
    return moved


def _measure_joints(pose: BonePose, poses: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """Return how far (F, B) the joints of poses (F, 7, B) are from a pose, in metres."""
    _, own = quat.compute_world(poses, parents)
    _, wanted = quat.compute_world(pose.apply(poses, parents), parents)
    return np.asarray(np.linalg.norm(own - wanted, axis=-1))


def measure_pose(take: Take, mark: Mark, database: Database) -> tuple[float, str]:
    """Return the largest distance of a joint of a take from a mark's pose, and its bone."""
    pose = find_pose(database, mark)
    assert pose is not None
    tick = min(round(mark.time * take.fps), take.frame_count - 1)
    away = _measure_joints(pose, take.poses[tick : tick + 1], take.skeleton.parents)[0]
    farthest = int(np.argmax(away))
    return float(away[farthest]), take.skeleton.names[farthest]


class AskedPose(NamedTuple):
    """A pose at a `tick` of a take, `shares` (T,) of the layer that leads to it, and its mark."""

    mark: Mark
    pose: BonePose
    tick: int
    shares: np.ndarray

    def find_missing(self, poses: np.ndarray, parents: np.ndarray) -> np.ndarray:
        """Return the pose (7, B) that poses (T, 7, B) have to reach at its tick."""
        return self.pose.apply(poses[self.tick : self.tick + 1], parents)[0]


def list_poses(
    take: Take, marks: Sequence[Mark], database: Database, begins: float = 0.0
) -> list[AskedPose]:
    """Return the poses that marks ask for within a take, which `begins` at a second of the shot.

    They fade in and out over the time of each mark's fade, or faster where another pose is nearer,
    and stay while a mark is held.
    """
    asked = sorted((m for m in marks if m.pose is not None), key=lambda mark: mark.time)
    ends = [(m.time - begins, m.time + m.hold - begins) for m in asked]
    t = np.arange(take.frame_count) / take.fps
    step = 1.0 / take.fps
    result = []
    for k, mark in enumerate(asked):
        pose = find_pose(database, mark)
        tick = round(ends[k][0] * take.fps)
        if pose is None or not 0 <= tick < take.frame_count:
            continue
        before = ends[k][0] - ends[k - 1][1] if k else math.inf
        after = ends[k + 1][0] - ends[k][1] if k + 1 < len(ends) else math.inf
        lead = np.maximum(tick / take.fps - t, 0.0) / max(min(mark.pose_fade, before), step)
        tail = np.maximum(t - ends[k][1], 0.0) / max(min(mark.pose_fade, after), step)
        result.append(AskedPose(mark, pose, tick, smoothstep(1.0 - np.maximum(lead, tail))))
    return result


def lay_poses(take: Take, asked: Sequence[AskedPose]) -> Take:
    """Add the requested poses to a take whose feet are not planted yet."""
    if not asked:
        return take
    poses = np.array(take.poses)
    for each in asked:
        wanted = each.find_missing(poses, take.skeleton.parents)
        _add_difference(poses, each.tick, wanted, each.shares)
    return replace(take, poses=poses, unlocked_poses=poses.copy())


def _add_difference(poses: np.ndarray, tick: int, wanted: np.ndarray, shares: np.ndarray) -> None:
    """Add shares (T,) of the difference to a pose (7, B) at a tick to poses (T, 7, B) in place."""
    ticks = np.flatnonzero(shares > 0.0)
    share = shares[ticks, None, None]
    turns = quat.positive(quat.inv_mul(poses[tick, 3:].T, wanted[3:].T))
    part = quat.from_scaled_angle_axis(share * quat.to_scaled_angle_axis(turns)[None])
    rotations = quat.mul(poses[ticks, 3:].transpose(0, 2, 1), part)
    moved = poses[ticks, :3] + share * (wanted[:3] - poses[tick, :3])
    poses[ticks, 3:] = quat.normalize(rotations).transpose(0, 2, 1)
    poses[ticks, :3] = moved
    poses[tick] = wanted


def plant_feet(
    take: Take, asked: Sequence[AskedPose], database: Database, feet: str | None
) -> Take:
    """Return a take with its feet placed as by `baking.place_feet`, and as requested in poses.

    A foot on the ground in a pose stands there all the time. A foot in the air does not stand while
    the pose fades in, holds and fades out.
    """
    wanted = feet or ("baked" if take.settings["foot_lock"] else "off")
    if not asked or wanted != "baked":
        return baking.place_feet(take, database, feet)[0]
    ticks = [each.tick for each in asked]
    toes = baking.compute_toe_positions(take.unlocked_poses[ticks], database)
    standing = np.array([leg.toe_height for leg in database.derive(measure_character_legs)])
    allowed = np.array([each.mark.pose_tolerance for each in asked])
    above = toes[..., 2] - take.unlocked_poses[ticks, 2, :1]
    raised = above > standing + allowed[:, None]
    ranges = baking.find_contact_ranges(take, database)
    for each, places, in_air in zip(asked, toes, raised, strict=True):
        first, last = np.flatnonzero(each.shares)[[0, -1]].tolist()
        span = first, last + 1
        parts = [
            _leave_out(foot, *span) if in_air[foot.leg] else [_put_at(foot, each.tick, places)]
            for foot in ranges
        ]
        ranges = list(itertools.chain.from_iterable(parts))
    planted = baking.bake_feet(take, database, ranges)
    poses = np.array(planted.poses)
    for each, in_air in zip(asked, raised, strict=True):
        for leg in np.flatnonzero(in_air):  # planting the other steps may have moved it
            bones = np.array(database.roles.leg_bones[leg])
            lifted = poses[:, :, bones]
            pose = each.find_missing(poses, take.skeleton.parents)
            _add_difference(lifted, each.tick, pose[:, bones], each.shares)
            poses[:, :, bones] = lifted
    return replace(planted, poses=poses)


def _leave_out(foot: ContactRange, start: int, stop: int) -> list[ContactRange]:
    """Return the remaining parts of a contact before and after some ticks."""
    parts = (foot.start, min(foot.stop, start)), (max(foot.start, stop), foot.stop)
    return [replace(foot, start=a, stop=b) for a, b in parts if a < b]


def _put_at(foot: ContactRange, tick: int, toes: np.ndarray) -> ContactRange:
    """Return a contact at its toe's place (L, 3) if it lasts at a tick."""
    if not foot.start <= tick < foot.stop:
        return foot
    x, y, _ = toes[foot.leg].tolist()
    return replace(foot, point=(x, y))
