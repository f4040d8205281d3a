"""Provide the motion for features, with quantities that features of one bone share."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...body.rig import Roles
from ...errors import SettingsError
from ...maths import planar
from ...maths.rotations import quat
from ...skeleton.skeleton import Skeleton
from ..numbers import NUMBERS
from .motion_table import MotionTable, advance_laps, differentiate


class FeatureMotion:
    """A motion table with its bones, and `beyond`: how tracks go on outside a range."""

    def __init__(self, table: MotionTable, beyond: str) -> None:
        self.table = table
        self.beyond = beyond
        self._bones: dict[str, BoneMotion] = {}

    def get_bone(self, name: str) -> BoneMotion:
        """Return a bone by role or name. SettingsError if there is none."""
        if name not in self._bones:
            self._bones[name] = BoneMotion(self.table, name)
        return self._bones[name]


class BoneMotion:
    """A bone by role or name; each quantity is computed once. SettingsError if there is none."""

    def __init__(self, table: MotionTable, name: str) -> None:
        self.table = table
        self.name = name
        self.index = find_role_bone(name, table.roles, table.skeleton)

    @cached_property
    def rotations(self) -> np.ndarray:
        """Rotations (N, 4) of a bone below the simulation bone, in the latter's frame."""
        table = self.table
        rotations = table.rotations[:, self.index].astype(np.float64)
        for above in table.skeleton.get_ancestors(self.index):
            if above != 0:
                rotations = quat.mul(table.rotations[:, above], rotations)
        return quat.normalize(rotations)

    @cached_property
    def positions(self) -> np.ndarray:
        """Positions (N, 3) in the simulation bone's frame."""
        table = self.table
        if self.index == 0:
            return np.zeros((len(table.track), 3))
        motion = table.rotations, table.positions
        return table.skeleton.compute_bone_position(self.index, *motion, root=0)

    @cached_property
    def velocities(self) -> np.ndarray:
        """Velocities (N, 3) in the world, seen from the character."""
        table = self.table
        local = self.positions
        velocity = differentiate(_to_world(table.track, local), table, cyclic=False)
        velocity[:, :2] = planar.rotate(velocity[:, :2], -table.track[:, 2])
        for start, stop in zip(table.starts[table.loops], table.stops[table.loops], strict=True):
            # at the end of a loop, the character is one lap further on
            seam = np.array([stop - 2, stop - 1, start, start + 1])
            track = table.track[seam]
            track[2:] = advance_laps(track[2:], table.track[start:stop], np.ones(2))
            world = _to_world(track, local[seam])
            around = (world[2:] - world[:-2]) * (0.5 * table.fps)
            around[:, :2] = planar.rotate(around[:, :2], -track[1:3, 2])
            velocity[[stop - 1, start]] = around
        velocity[np.abs(velocity) < NUMBERS.rounding_speed] = 0.0
        return velocity

    def find_leg(self) -> int:
        """Return the leg of the bone. SettingsError names the bone if it is in none."""
        for number, leg in enumerate(self.table.roles.legs):
            if self.index in (leg.thigh, leg.shin, leg.foot, leg.toe):
                return number
        raise SettingsError(
            f"The features ask for the contact of '{self.name}', which is no part of a leg; name a "
            "foot, such as 'left_foot'."
        )


def find_role_bone(name: str, roles: Roles, skeleton: Skeleton) -> int:
    """Return the index of the bone with that role or name. SettingsError if there is none."""
    bone = roles.to_names(skeleton).get(name, name)
    if bone in skeleton.names:
        return skeleton.index(bone)
    raise SettingsError(
        f"The features name '{name}', which is neither a role nor a bone of this skeleton; choose "
        "another."
    )


def _to_world(track: np.ndarray, local: np.ndarray) -> np.ndarray:
    """Return world positions (N, 3) of points in the character's frame."""
    ground = planar.rotate(local[:, :2], track[:, 2]) + track[:, :2]
    return np.concatenate([ground, local[:, 2:]], axis=1)
