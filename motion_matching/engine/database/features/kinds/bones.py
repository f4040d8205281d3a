"""Features of single bones, in the frame of the character at that time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....maths.rotations import quat
from ..motion_table import compute_angular_velocity, differentiate
from ..strokes import Stroke, make_cross, make_direction_arrow, make_velocity_arrow
from .base import Array, BoneKind

if TYPE_CHECKING:
    from ..bone_motion import BoneMotion
    from ..features import Feature

_FRONT = 0.1  # mean length of the unit vectors ahead below which a bone faces anywhere


class BonePosition(BoneKind):
    """Metres from the character."""

    name = "bone_position"
    label = "Position"
    help = "Where a bone is, relative to the character"
    icon = "BONE_DATA"
    number = 0
    is_of_pose = True
    is_of_moving_pose = True

    def compute_now(self, bone: BoneMotion, feature: Feature) -> Array:
        return bone.positions

    def make_strokes(self, feature: Feature, value: Array, position: Array) -> list[Stroke]:
        centre = position.copy()
        centre[feature.columns] = value[feature.columns]
        return make_cross("position", centre)


class BoneVelocity(BoneKind):
    """Metres per second in the world, seen from the character."""

    name = "bone_velocity"
    label = "Velocity"
    help = "How fast a bone moves, and in which direction"
    icon = "FORCE_WIND"
    number = 1
    is_of_moving_pose = True

    def compute_now(self, bone: BoneMotion, feature: Feature) -> Array:
        return bone.velocities

    def make_strokes(self, feature: Feature, value: Array, position: Array) -> list[Stroke]:
        return make_velocity_arrow(position, value)


class BoneDirection(BoneKind):
    """The unit vector in which a bone faces, seen from the character.

    A bone faces along that of its own directions which points ahead in the mean of all frames: a
    head where it looks, a foot where its toes point, hips as the body is turned. So it does not
    matter which axes the bones of a skeleton have. One that has no such direction, as it turns all
    around, faces along its axis that is most often ahead.
    """

    name = "bone_direction"
    label = "Direction"
    help = "Which way a bone faces: where a head looks, or the toes of a foot point"
    icon = "EMPTY_SINGLE_ARROW"
    number = 10

    def compute_now(self, bone: BoneMotion, feature: Feature) -> Array:
        ahead = np.array([0.0, -1.0, 0.0])
        if bone.index == 0:
            return np.tile(ahead, (len(bone.table.track), 1))
        front = quat.inv_mul_vec(bone.rotations, ahead).mean(axis=0)
        length = float(np.linalg.norm(front))
        if length < _FRONT:
            axis = np.abs(front).argmax()
            front, length = np.where(np.arange(3) == axis, np.copysign(1.0, front), 0.0), 1.0
        return quat.mul_vec(bone.rotations, front / length)

    def make_strokes(self, feature: Feature, value: Array, position: Array) -> list[Stroke]:
        return make_direction_arrow(position, value)


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


KINDS = (BonePosition(), BoneVelocity(), BoneDirection(), BoneTurning())
