"""Compute features of single bones, in the frame of the character at that time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....maths.rotations import quat
from ...numbers import NUMBERS
from ..motion_table import compute_angular_velocity, differentiate
from .base import Array, BoneKind

if TYPE_CHECKING:
    from ..bone_motion import BoneMotion
    from ..features import Feature


class BonePosition(BoneKind):
    """Metres from the character."""

    name = "bone_position"
    label = "Position"
    help = "Where a bone is, relative to the character"
    icon = "BONE_DATA"
    number = 0
    stroke = "position"
    is_of_pose = True
    is_of_moving_pose = True

    def compute_now(self, bone: BoneMotion, feature: Feature) -> Array:
        return bone.positions


class BoneVelocity(BoneKind):
    """Metres per second in the world, seen from the character."""

    name = "bone_velocity"
    label = "Velocity"
    help = "How fast a bone moves, and in which direction"
    icon = "FORCE_WIND"
    number = 1
    stroke = "velocity"
    is_of_moving_pose = True

    def compute_now(self, bone: BoneMotion, feature: Feature) -> Array:
        return bone.velocities


class BoneDirection(BoneKind):
    """The unit vector in which a bone faces, seen from the character.

    A bone faces along its direction that points ahead in the mean of all frames: a head looks along
    it, a foot points its toes along it, hips face with the body. So the axes of bones do not
    matter. A bone that turns all around has no such direction, and faces along its axis that is
    most often ahead.
    """

    name = "bone_direction"
    label = "Direction"
    help = "Which way a bone faces: where a head looks, or the toes of a foot point"
    icon = "EMPTY_SINGLE_ARROW"
    number = 10
    stroke = "direction"
    is_of_all_frames = True

    def compute_now(self, bone: BoneMotion, feature: Feature) -> Array:
        ahead = np.array([0.0, -1.0, 0.0])
        if bone.index == 0:
            return np.tile(ahead, (len(bone.table.track), 1))
        front = quat.inv_mul_vec(bone.rotations, ahead).mean(axis=0)
        length = float(np.linalg.norm(front))
        if length < NUMBERS.no_front:
            axis = np.abs(front).argmax()
            front = np.where(np.arange(3) == axis, np.copysign(1.0, front), 0.0)
            length = 1.0
        return quat.mul_vec(bone.rotations, front / length)


class BoneTurning(BoneKind):
    """Radians per second in the world, seen from the character."""

    name = "bone_angular_velocity"
    label = "Turning"
    help = "How fast a bone turns, and about which axis"
    icon = "DRIVER_ROTATIONAL_DIFFERENCE"
    number = 8
    is_of_moving_pose = True

    def compute_now(self, bone: BoneMotion, feature: Feature) -> Array:
        table = bone.table
        turning = np.zeros((len(table.track), 3))
        if bone.index != 0:
            turning = compute_angular_velocity(bone.rotations, table)
        turning[:, 2] += differentiate(table.track[:, 2], table, cyclic=False)
        return turning


class FootContact(BoneKind):
    """Share of the time around each frame in which a leg stands, 0 to 1."""

    name = "foot_contact"
    label = "Contact"
    help = "Whether a foot is on the ground"
    icon = "SNAP_FACE_CENTER"
    number = 5
    is_number = True
    usual_bones = ("left_foot", "right_foot")

    def compute_now(self, bone: BoneMotion, feature: Feature) -> Array:
        table = bone.table
        leg = bone.find_leg()
        reach = round(NUMBERS.contact_around * table.fps)
        window = np.hanning(2 * reach + 3)[1:-1]
        result = np.empty((len(table.track), 1))
        for start, stop, loop in zip(table.starts, table.stops, table.loops, strict=True):
            stands = table.contacts[start:stop, leg].astype(np.float64)
            padded = np.pad(stands, reach, mode="wrap" if loop else "edge")
            result[start:stop, 0] = np.convolve(padded, window / window.sum(), mode="valid")
        return result


class FootNextContact(BoneKind):
    """Seconds until a leg next touches down, up to two of its usual strides."""

    name = "foot_next_contact"
    label = "Next Contact"
    help = "How long until a foot comes down next"
    icon = "TIME"
    number = 9
    is_number = True
    is_of_all_frames = True
    usual_bones = ("left_foot", "right_foot")

    def compute_now(self, bone: BoneMotion, feature: Feature) -> Array:
        table = bone.table
        leg = bone.find_leg()
        waits: list[np.ndarray] = []
        strides: list[np.ndarray] = [np.empty(0)]
        for start, stop, loop in zip(table.starts, table.stops, table.loops, strict=True):
            stands = table.contacts[start:stop, leg].astype(bool)
            before = np.concatenate([stands[-1:] if loop else [True], stands[:-1]])
            lands = np.flatnonzero(stands & ~before).astype(np.float64)
            further = lands[:1] + len(stands) if loop else [np.inf]
            ahead = np.concatenate([lands, further if len(further) else [np.inf]])
            strides.append(np.diff(ahead[np.isfinite(ahead)]))
            frames = np.arange(len(stands))
            waits.append(ahead[np.searchsorted(lands, frames, side="right")] - frames)
        seconds = np.concatenate(waits) / table.fps
        known = np.concatenate(strides) / table.fps
        finite = seconds[np.isfinite(seconds)]
        longest = (
            NUMBERS.strides_ahead * float(np.median(known))
            if len(known)
            else finite.max(initial=0.0)
        )
        return np.asarray(np.minimum(seconds, longest))[:, None]


KINDS = (
    BonePosition(),
    BoneVelocity(),
    BoneDirection(),
    BoneTurning(),
    FootContact(),
    FootNextContact(),
)
