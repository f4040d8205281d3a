"""Read and write the properties of a pose: of bones, and of the object if it moves."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ....engine.errors import RigError
from ....engine.maths.rotations import quat
from ..animation.curves import build_bone_path
from ..animation.keys import KeyTrack
from ..transforms.rotation_modes import get_rotation_property, read_rotation, to_mode
from ..transforms.transforms import Transform
from .evaluation import compute_world_matrix

OBJECT_GROUP = "Object Transforms"  # Blender's name
STILL = 1e-6  # metres, or components of a rotation: smaller changes count as none
_DISCONNECTED = 1e-3  # metres


@dataclass(frozen=True)
class ObjectFrame:
    """The transforms that act on an object beyond its own channels, with its present parent and
    deltas.

    `turn` (4,) and `position` (3,) combine everything above, `scale` is the length of a unit of its
    location. The object's own rotation follows `delta` (4,); `shift` (3,) is added to its location.
    """

    turn: np.ndarray
    position: np.ndarray
    scale: float
    delta: np.ndarray
    shift: np.ndarray
    mode: str

    @classmethod
    def from_object(cls, obj: bpy.types.Object, world: np.ndarray | None = None) -> ObjectFrame:
        """Read what is above an object while it is where `world` (4, 4) has it, by default now."""
        basis = np.array(obj.matrix_basis, dtype=np.float64)
        world = compute_world_matrix(obj) if world is None else world
        above = world @ np.linalg.inv(basis)
        scale = float(np.cbrt(np.linalg.det(above[:3, :3])))
        scaled = basis[:3, :3] / np.cbrt(np.linalg.det(basis[:3, :3]))
        turn = quat.from_matrix(above[:3, :3] / scale)
        delta = quat.from_matrix(scaled)
        shift = basis[:3, 3] - np.array(obj.location)
        delta = quat.mul_inv(delta, read_rotation(obj)[0])
        return cls(turn, above[:3, 3], scale, delta, shift, obj.rotation_mode)

    def compute_channels(self, motion: Transform) -> Transform:
        """Return the object's rotations (..., 4) and locations (..., 3) for a world motion."""
        rotations = quat.inv_mul(self.delta, quat.inv_mul(self.turn, motion[0]))
        moved = quat.inv_mul_vec(self.turn, motion[1] - self.position)
        return rotations, moved / self.scale - self.shift


@dataclass(frozen=True, eq=False)
class Channel(KeyTrack):
    """Curves of a property: `values` (C, F), or (C, 1) for a single key.

    `free` are the components to be keyed. `bone` is -1 for properties that no bone is posed by.
    """

    path: str
    group: str
    free: tuple[int, ...]

    @property
    def moves(self) -> bool:
        return self.values.shape[1] > 1


def build_rest_channels(bone: bpy.types.PoseBone) -> list[Channel]:
    """Build single keys that turn and move a bone to its rest, where it is not locked."""
    path = build_bone_path(bone.name)
    mode = bone.rotation_mode
    turn = to_mode(quat.IDENTITY[:, None], mode)
    parts = (
        ("rotation", get_rotation_property(mode), turn),
        ("location", "location", np.zeros((3, 1))),
    )
    return [
        Channel(-1, "", values, f"{path}.{prop}", bone.name, find_unlocked_components(bone, kind))
        for kind, prop, values in parts
    ]


def build_scale_channel(name: str) -> Channel:
    """Build a single key that takes the scale off a bone."""
    path = f"{build_bone_path(name)}.scale"
    return Channel(-1, "", np.ones((3, 1)), path, name, (0, 1, 2))


def shorten(values: np.ndarray) -> np.ndarray:
    """Return the curves (C, F), or one key of them if they are still."""
    return values if has_motion(values) else values[:, :1]


def has_motion(values: np.ndarray) -> bool:
    """Return whether any of the curves (C, F) moves by more than `STILL`."""
    away = np.abs(values[:, len(values[0]) // 2] - values[:, 0]).max()  # often spares the next
    return bool(away > STILL or np.ptp(values, axis=-1).max() > STILL)


def check_connected(name: str, armature: str, away: np.ndarray) -> None:
    """Raise RigError if the motion moves a connected bone off its rest, by `away` (3, F) metres."""
    if np.max(np.linalg.norm(away, axis=0)) > _DISCONNECTED:
        raise RigError(
            f"bone '{name}' of armature '{armature}' is connected to its parent, but the motion "
            "moves it away; switch Connected off in the bone's Relations."
        )


def find_unlocked_components(pose: bpy.types.PoseBone, kind: str) -> tuple[int, ...]:
    """Return the unlocked components of a location, rotation or scale; a quaternion is a whole."""
    free = tuple(i for i, is_locked in enumerate(getattr(pose, f"lock_{kind}")) if not is_locked)
    is_whole = kind == "rotation" and pose.rotation_mode in ("QUATERNION", "AXIS_ANGLE")
    return tuple(range(4)) if free and is_whole else free
