"""The properties that hold a pose: those of bones, and an object's own where it stands in the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..engine.errors import RigError
from ..engine.maths import quat
from .armature import BoneMap
from .evaluation import world_matrix
from .root_target import Transform
from .rotation_modes import from_mode, property_of

OBJECT_GROUP = "Object Transforms"  # Blender's name
STILL = 1e-6  # metres, or components of a rotation: what changes less is taken to stay
_DISCONNECTED = 1e-3  # metres


@dataclass(frozen=True)
class ObjectFrame:
    """What moves an object but its own location and rotation, as its parent and deltas are now.

    `turn` (4,) and `place` (3,) are those of all above, `scale` that of a unit of its location; the object's own
    rotation follows `delta` (4,), and `shift` (3,) is added to its location.
    """

    turn: np.ndarray
    place: np.ndarray
    scale: float
    delta: np.ndarray
    shift: np.ndarray
    mode: str

    @classmethod
    def of(cls, obj: bpy.types.Object) -> ObjectFrame:
        basis = np.array(obj.matrix_basis, dtype=np.float64)
        above = world_matrix(obj) @ np.linalg.inv(basis)
        scale = float(np.cbrt(np.linalg.det(above[:3, :3])))
        values: Any = getattr(obj, property_of(obj.rotation_mode))
        own = from_mode(np.array(values, dtype=np.float64)[:, None], obj.rotation_mode)[0]
        scaled = basis[:3, :3] / np.cbrt(np.linalg.det(basis[:3, :3]))
        return cls(
            quat.from_matrix(above[:3, :3] / scale),
            above[:3, 3],
            scale,
            quat.mul_inv(quat.from_matrix(scaled), own),
            basis[:3, 3] - np.array(obj.location),
            obj.rotation_mode,
        )

    def own(self, motion: Transform) -> Transform:
        """Rotations (..., 4) and locations (..., 3) of the object that put it there in the world."""
        rotations = quat.inv_mul(self.delta, quat.inv_mul(self.turn, motion[0]))
        return rotations, quat.inv_mul_vec(
            self.turn, motion[1] - self.place
        ) / self.scale - self.shift


def basis_matrices(fitted: BoneMap) -> tuple[np.ndarray, np.ndarray]:
    """What makes basis quaternions (B, 4, 4) of local ones, and basis locations (B, 3, 3) of shifts from rest."""
    units = np.eye(4)[:, None]
    turns = np.moveaxis(quat.mul(quat.mul(fitted.before, units), fitted.after), 0, -1)
    shifts = quat.to_matrix(fitted.before) / fitted.scale
    return turns.astype(np.float32), shifts.astype(np.float32)


def changes(values: np.ndarray) -> bool:
    """Whether any of the curves (C, F) is more than still."""
    middle = values[:, len(values[0]) // 2]
    return bool(
        np.abs(middle - values[:, 0]).max() > STILL or np.ptp(values, axis=-1).max() > STILL
    )


def check_connected(name: str, armature: str, away: np.ndarray) -> None:
    """RigError for a connected bone that the motion moves away from its rest, by `away` (3, F) metres."""
    if np.max(np.linalg.norm(away, axis=0)) > _DISCONNECTED:
        raise RigError(
            f"bone '{name}' of armature '{armature}' is connected to its parent, but the motion moves it away; "
            "switch Connected off in the bone's Relations."
        )


def free_components(pose: bpy.types.PoseBone, kind: str) -> tuple[int, ...]:
    """Components of a location or rotation that are not locked; a rotation by quaternions or axis is one thing."""
    if kind == "location":
        return tuple(i for i in range(3) if not pose.lock_location[i])
    free = tuple(i for i in range(3) if not pose.lock_rotation[i])
    return tuple(range(4)) if free and pose.rotation_mode in ("QUATERNION", "AXIS_ANGLE") else free


def bone_path(bone: str) -> str:
    """The data path of a bone."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"]'
