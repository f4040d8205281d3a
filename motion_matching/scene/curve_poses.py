"""Poses straight from curves, many times as fast as Blender's evaluation, where nothing but curves moves the bones.

`obstacle` says whether that is so. Then a bone's matrix is its parent's matrix, times its rest matrix in the parent,
times its own channels: location (unless it is connected), rotation in its mode, scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import bpy
import numpy as np

from ..engine.maths import quat
from . import actions
from .matrices import local_poses, transforms
from .rotation_modes import from_mode, property_of

_CHUNK = 4096  # frames whose matrices are held at a time
_ONE = 1e-5  # by which a scale may differ from one and still be none
_PLAIN = {"location": (0.0, 0.0, 0.0), "rotation_quaternion": (1.0, 0.0, 0.0, 0.0), "rotation_euler": (0.0, 0.0, 0.0),
          "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0), "scale": (1.0, 1.0, 1.0)}


class Channels:
    """The properties that a slot's curves give at some frames."""

    def __init__(self, curves: Sequence[bpy.types.FCurve], frames: range) -> None:
        self.paths = {curve.data_path for curve in curves}
        self.frames = np.array(frames, dtype=np.float64)
        self._curves: dict[str, list[bpy.types.FCurve]] = {}
        for curve in curves:
            self._curves.setdefault(curve.data_path, []).append(curve)

    def read(self, path: str, plain: Sequence[float]) -> np.ndarray:
        """A property (C, F), with `plain` (C,) for components without a curve; (C, 1) where it has none at all."""
        curves = self._curves.get(path, ())
        result = np.repeat(np.array(plain, dtype=np.float32)[:, None], len(self.frames) if curves else 1, axis=1)
        for curve in curves:
            if curve.array_index < len(plain):
                result[curve.array_index] = actions.values(curve, self.frames)
        return result

    @cached_property
    def scales(self) -> bool:
        """Whether a bone is ever scaled; many exports key a scale of one on every frame."""
        paths = [path for path in self.paths if actions.bone_of(path) is not None and path.endswith(".scale")]
        return any(np.any(np.abs(self.read(path, _PLAIN["scale"]) - 1.0) > _ONE) for path in paths)


def obstacle(obj: bpy.types.Object, channels: Channels, names: Sequence[str]) -> str:
    """Why these bones' poses are not the curves' alone, as in "bone 'Foot' has constraints"; empty where they are."""
    return next(_obstacles(obj, channels, _with_ancestors(obj, names)), "")


def poses(
    obj: bpy.types.Object, channels: Channels, names: tuple[str, ...], parents: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `evaluation.evaluate` gives, of the curves alone; a single world matrix (1, 4, 4) where the object rests."""
    bones = obj.data.bones
    above = [bones[name].parent.name if bones[name].parent else None for name in names]
    direct = above == [names[parent] if parent >= 0 else None for parent in parents]
    read = _plain_poses if direct and not channels.scales else _matrix_poses
    return (*read(obj, channels, names, parents), _worlds(obj, channels))


# ---------------------------------------------------------------- where curves say all


def _obstacles(obj: bpy.types.Object, channels: Channels, bones: Sequence[str]) -> Iterator[str]:
    for owner, name in ((obj, f"the object '{obj.name}'"), (obj.data, f"the data of '{obj.name}'")):
        if owner.animation_data and owner.animation_data.drivers:
            yield f"{name} has drivers"
    if _is_animated(obj.data):
        yield f"the data of '{obj.name}' is animated"
    for part in ("rotation_mode", "constraints", "delta_"):
        if any(part in path for path in channels.paths):
            yield f"it animates {part.strip('_').replace('_', ' ')}{'' if part.endswith('s') else 's'}"
    yield from _placing_obstacles(obj)
    for name in bones:
        yield from _bone_obstacles(obj, name, channels)


def _placing_obstacles(obj: bpy.types.Object) -> Iterator[str]:
    """What else than its own channels places an object."""
    if _constrained(obj):
        yield f"the object '{obj.name}' has constraints"
    owner: Any = obj
    deltas = (*owner.delta_location, *owner.delta_rotation_euler, *owner.delta_rotation_quaternion, *owner.delta_scale)
    if deltas != (0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1):
        yield f"the object '{obj.name}' has delta transforms"
    if obj.parent:
        if obj.parent_type != "OBJECT":
            yield f"the object '{obj.name}' hangs on a part of '{obj.parent.name}'"
        if _is_animated(obj.parent):
            yield f"the parent '{obj.parent.name}' is animated"
        yield from _placing_obstacles(obj.parent)


def _bone_obstacles(obj: bpy.types.Object, name: str, channels: Channels) -> Iterator[str]:
    bone = obj.data.bones[name]
    if _constrained(obj.pose.bones[name]):
        yield f"bone '{name}' has constraints"
    if not bone.use_local_location:
        yield f"bone '{name}' has no local location"
    if bone.parent and not bone.use_inherit_rotation:
        yield f"bone '{name}' does not inherit rotation"
    if bone.parent and bone.inherit_scale != "FULL" and channels.scales:
        yield f"bone '{name}' does not inherit scale in full"


def _constrained(owner: bpy.types.Object | bpy.types.PoseBone) -> bool:
    return any(not constraint.mute for constraint in owner.constraints)


def _is_animated(owner: bpy.types.ID) -> bool:
    data = getattr(owner, "animation_data", None)
    return bool(data and (data.action or data.drivers or data.nla_tracks))


def _with_ancestors(obj: bpy.types.Object, names: Sequence[str]) -> list[str]:
    """These bones and all above them, parents first."""
    bones = obj.data.bones
    needed = {*names, *(above.name for name in names for above in bones[name].parent_recursive)}
    return [bone.name for bone in bones if bone.name in needed]


# ---------------------------------------------------------------- from channels to poses


def _plain_poses(
    obj: bpy.types.Object, channels: Channels, names: Sequence[str], parents: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Local rotations and positions of bones that hang on each other as in Blender, without scales."""
    rotations = np.empty((len(channels.frames), len(names), 4), dtype=np.float32)
    positions = np.empty((len(channels.frames), len(names), 3), dtype=np.float32)
    for number, name in enumerate(names):
        rest = _rest_in_parent(obj.data.bones[name])
        turn = quat.from_matrix(rest[:3, :3])
        turned, moved = _bone_channels(obj.pose.bones[name], channels)
        rotations[:, number] = quat.mul(turn, turned)
        positions[:, number] = rest[:3, 3] + quat.mul_vec(turn, moved)
    return rotations, positions


def _matrix_poses(
    obj: bpy.types.Object, channels: Channels, names: Sequence[str], parents: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same of any bones and scales, by way of matrices in the armature's space."""
    count = len(channels.frames)
    rotations = np.empty((count, len(names), 4), dtype=np.float32)
    positions = np.empty((count, len(names), 3), dtype=np.float32)
    bones = _with_ancestors(obj, names)
    basis = {name: (*_bone_channels(obj.pose.bones[name], channels), _bone_scales(name, channels)) for name in bones}
    for start in range(0, count, _CHUNK):
        there = slice(start, min(start + _CHUNK, count))
        matrices: dict[str, np.ndarray] = {}
        for name in bones:
            bone = obj.data.bones[name]
            # what does not move has a single frame
            own = transforms(*(part[there] if len(part) > 1 else part for part in basis[name]))
            local = _rest_in_parent(bone) @ own
            matrices[name] = matrices[bone.parent.name] @ local if bone.parent else local
        chosen = np.empty((there.stop - start, len(names), 4, 4))
        for number, name in enumerate(names):
            chosen[:, number] = matrices[name]
        rotations[there], positions[there] = local_poses(chosen, parents)
    return rotations, positions


def _bone_channels(bone: bpy.types.PoseBone, channels: Channels) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (F, 4) and locations (F, 3) of a pose bone; of one frame where there are no curves."""
    path = f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"]'
    turned = property_of(bone.rotation_mode)
    rotations = _rotations(channels.read(f"{path}.{turned}", _PLAIN[turned]), bone.rotation_mode)
    if bone.bone.use_connect and bone.parent:
        return rotations, np.zeros((1, 3))
    return rotations, channels.read(f"{path}.location", _PLAIN["location"]).T.astype(np.float64)


def _bone_scales(name: str, channels: Channels) -> np.ndarray:
    return channels.read(f'pose.bones["{bpy.utils.escape_identifier(name)}"].scale', _PLAIN["scale"]).T.astype(np.float64)


def _rotations(values: np.ndarray, mode: str) -> np.ndarray:
    """Unit quaternions (F, 4) of a property (C, F)."""
    return quat.normalize(from_mode(values.astype(np.float64), mode))


def _rest_in_parent(bone: bpy.types.Bone) -> np.ndarray:
    rest = np.array(bone.matrix_local, dtype=np.float64)
    return np.linalg.inv(np.array(bone.parent.matrix_local, dtype=np.float64)) @ rest if bone.parent else rest


def _worlds(obj: bpy.types.Object, channels: Channels) -> np.ndarray:
    """World matrices (F, 4, 4) of the object; (1, 4, 4) where no curve moves it. What has no curve stays as it is."""
    return above(obj) @ own_matrices(obj, channels)


def own_matrices(obj: bpy.types.Object, channels: Channels) -> np.ndarray:
    """The same of the object's own location, rotation and scale alone."""
    turned = property_of(obj.rotation_mode)
    parts = {name: channels.read(name, getattr(obj, name)) for name in ("location", turned, "scale")}
    return transforms(_rotations(parts[turned], obj.rotation_mode).astype(np.float64), parts["location"].T, parts["scale"].T)


def above(obj: bpy.types.Object) -> np.ndarray:
    """What an object that nothing animates hands down to the channels of its child (4, 4)."""
    if obj.parent is None:
        return np.eye(4)
    return above(obj.parent) @ np.array(obj.parent.matrix_basis) @ np.array(obj.matrix_parent_inverse)
