"""Try what a control moves: turn or move one bone of a copy and see where deform bones go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ....engine.maths.rotations import quat
from ...blender.evaluation.evaluation import EvaluationCopy
from ...blender.id_properties import Switch, set_switches
from ...blender.transforms.transforms import REST, Y_AXIS, Transform, compute_local_poses

_ANGLE = 0.25  # radians by which a control is turned
_TURN = _ANGLE * np.array([0.48, 0.6, 0.64])
# radians, and part of the size, that count as moved
_ROTATED = 0.02
_MOVED = 2e-3
_AS_ONE = 0.02  # rotations closer than this (radians) are equal


@dataclass(frozen=True)
class Outcome:
    """Effect of moving a control: deform bones that turned with it, and that moved at all, (B,).

    `shifts` (B, 3) are how far their heads went.
    """

    turned: np.ndarray
    moved: np.ndarray
    shifts: np.ndarray


class Trials:
    """A copy of an armature at rest, whose controls are moved one at a time."""

    def __init__(self, copy: EvaluationCopy, deform: tuple[str, ...]) -> None:
        self._copy = copy
        copy.clear_pose()
        self.body: Any = copy.armature
        self.deform = deform
        self._index = {bone.name: i for i, bone in enumerate(self.body.pose.bones)}
        self._deform = [self._index[name] for name in deform]
        self._frame = 0
        self.rest = self._evaluate()
        heads = self.rest[1][self._deform]
        self.size = float(np.ptp(heads, axis=0).max()) or 1.0

    def set_switches(self, switches: Iterable[Switch]) -> None:
        """Set switches for all trials from now on."""
        set_switches(self.body, switches)
        self.rest = self._evaluate()

    def turn(self, name: str) -> Outcome:
        """Turn a control and put it back."""
        return self._try(name, self._turn_bone)

    def shift(self, name: str, away: np.ndarray) -> Outcome:
        """Move a control by a vector (3,) in the armature and put it back."""
        local = self.body.data.bones[name].use_local_location
        rotation = self.rest[0][self._index[name]]
        vector = quat.inv_mul_vec(rotation, away) if local else away
        return self._try(name, lambda bone: setattr(bone, "location", vector))

    def turn_all(self, names: Iterable[str]) -> None:
        """Turn several controls, which stay so until `clear`."""
        for name in names:
            self._turn_bone(self.body.pose.bones[name])

    def clear(self, names: Iterable[str]) -> None:
        """Put controls back to rest."""
        for name in names:
            bone = self.body.pose.bones[name]
            for prop, values in REST.items():
                setattr(bone, prop, values)

    def find_effect(self, switch: Switch) -> np.ndarray:
        """Return which deform bones (B,) turn if a switch is set, and set it back."""
        before = switch.read(self.body)
        start = self._evaluate()
        set_switches(self.body, [switch])
        rotations, _ = self._evaluate()
        set_switches(self.body, [before])
        angles = quat.angle_between(rotations[self._deform], start[0][self._deform])
        return angles > 2.0 * _ROTATED

    def get_head(self, name: str) -> np.ndarray:
        """Return where a bone starts at rest, (3,)."""
        return self.rest[1][self._index[name]]

    def _turn_bone(self, bone: bpy.types.PoseBone) -> None:
        turn = quat.from_scaled_angle_axis(_TURN)
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = turn.tolist()

    def _try(self, name: str, change: Any) -> Outcome:
        change(self.body.pose.bones[name])
        rotations, positions = self._evaluate()
        self.clear([name])
        turns = quat.mul_inv(rotations, self.rest[0])
        own = turns[self._index[name]]
        deform = turns[self._deform]
        shifts = (positions - self.rest[1])[self._deform]
        angles = np.linalg.norm(quat.to_scaled_angle_axis(quat.positive(deform)), axis=-1)
        far = np.linalg.norm(shifts, axis=-1) > _MOVED * self.size
        # a bone of a limb may twist less than its control, but it points where that turns it
        axes = quat.mul_vec(self.rest[0][self._deform], Y_AXIS)
        apart = np.cross(quat.mul_vec(deform, axes), quat.mul_vec(own, axes))
        turned = (angles > _ROTATED) & (np.linalg.norm(apart, axis=-1) < _AS_ONE)
        return Outcome(turned, (angles > _ROTATED) | far, shifts)

    def _evaluate(self) -> Transform:
        """Return rotations (N, 4) and positions (N, 3) of all bones in the armature."""
        self.body.update_tag()
        self._frame += 1  # another frame, so that drivers are evaluated as well
        evaluated = self._copy.show_frame(self._frame)
        count = len(self._index)
        matrices = np.empty(16 * count, np.float32)
        evaluated.pose.bones.foreach_get("matrix", matrices)
        by_bone = matrices.reshape(1, -1, 4, 4).swapaxes(-1, -2).astype(np.float64)
        rotations, positions = compute_local_poses(by_bone, np.full(count, -1))
        return rotations[0], positions[0]
