"""Poses straight from curves, many times as fast as Blender's evaluation.

A bone's matrix is its parent's, times its rest in the parent, times its own location (unless it is
connected), rotation and scale. `find_obstacle` finds anything else that moves it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import bpy
import numpy as np

from ....engine.maths.rotations import quat
from ..transforms.rotation_modes import from_mode, get_rotation_property
from ..transforms.transforms import REST, compose_matrices, compute_local_poses
from . import actions
from .curves import build_bone_path, evaluate_curve, parse_bone_name

_CHUNK = 4096  # frames whose matrices are in memory at a time
_ONE = 1e-5  # a scale that differs less from one is none
# parts of data paths that no pose is computed from
_ANIMATED = {"rotation_mode": "rotation modes", "constraints": "constraints", "delta_": "deltas"}


class Channels:
    """The properties that a slot's curves give at some frames."""

    def __init__(self, curves: Sequence[bpy.types.FCurve], frames: Sequence[float]) -> None:
        self.paths = {curve.data_path for curve in curves}
        self.frames = np.array(frames, dtype=np.float64)
        self._parts: dict[str, dict[int, bpy.types.FCurve | np.ndarray]] = {}
        for curve in curves:
            self._parts.setdefault(curve.data_path, {})[curve.array_index] = curve

    def load(self, curve: bpy.types.FCurve) -> None:
        """Read one of the curves now, so that Blender is not asked for its values again."""
        self._parts[curve.data_path][curve.array_index] = evaluate_curve(curve, self.frames)

    def iterate_loaded(self, frames: slice) -> Iterator[tuple[str, int, np.ndarray]]:
        """Yield path, component and values (F,), at some frames, of each curve that was loaded."""
        for path, parts in self._parts.items():
            for component, part in parts.items():
                if isinstance(part, np.ndarray):
                    yield path, component, part[frames]

    def read(self, path: str, rest: Sequence[float]) -> np.ndarray:
        """Return a property (C, F) with `rest` (C,) where there is no curve; (C, 1) without any."""
        parts = self._parts.get(path, {})
        still = np.array(rest, dtype=np.float32)[:, None]
        result = np.repeat(still, len(self.frames) if parts else 1, axis=1)
        for component, part in parts.items():
            if component < len(rest):
                if not isinstance(part, np.ndarray):
                    part = evaluate_curve(part, self.frames)
                result[component] = part
        return result

    @cached_property
    def has_scale(self) -> bool:
        """Return whether a bone is ever scaled; many exports key a scale of one on every frame."""
        paths = [path for path in self.paths if parse_bone_name(path) is not None]
        scales = (self.read(path, REST["scale"]) for path in paths if path.endswith(".scale"))
        return any(np.any(np.abs(values - 1.0) > _ONE) for values in scales)


@dataclass(frozen=True)
class StaticBone:
    """The static part of a bone: its `parent` by index, or -1, and its `rest` (4, 4) in it."""

    name: str
    path: str
    parent: int
    rest: np.ndarray
    mode: str
    connected: bool


@dataclass(frozen=True)
class StaticArmature:
    """The static part of an armature object: bones, parents first, and its place.

    `parent_matrix` (4, 4) is what the parent hands down. It can be used without Blender.
    """

    bones: tuple[StaticBone, ...]
    parent_matrix: np.ndarray
    mode: str
    object_channels: Mapping[str, tuple[float, ...]]

    @classmethod
    def from_object(cls, obj: bpy.types.Object, names: Sequence[str]) -> StaticArmature:
        chain = _add_ancestors(obj, names)
        indices = {name: index for index, name in enumerate(chain)}
        bones = []
        for name in chain:
            bone = obj.data.bones[name]
            mode = obj.pose.bones[name].rotation_mode
            parent = indices[bone.parent.name] if bone.parent else -1
            connected = bone.use_connect and parent >= 0
            path = build_bone_path(name)
            rest = np.array(bone.matrix_local, np.float64)
            if bone.parent:
                rest = np.linalg.inv(np.array(bone.parent.matrix_local, np.float64)) @ rest
            bones.append(StaticBone(name, path, parent, rest, mode, connected))
        own = read_object_channels(obj)
        return cls(tuple(bones), compute_parent_matrix(obj), obj.rotation_mode, own)


def find_obstacle(obj: bpy.types.Object, channels: Channels, names: Sequence[str]) -> str:
    """Return why these poses need more than curves, as in "bone 'Foot' has constraints", or ""."""
    return next(_find_obstacles(obj, channels, names), "")


def compute_poses(
    body: StaticArmature, channels: Channels, names: tuple[str, ...], parents: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what `EvaluationCopy.evaluate` does; one world matrix (1, 4, 4) of a still object."""
    bones = {bone.name: bone for bone in body.bones}
    indices = [bones[name].parent for name in names]
    above = [body.bones[index].name if index >= 0 else None for index in indices]
    direct = above == [names[parent] if parent >= 0 else None for parent in parents]
    read = _compute_plain_poses if direct and not channels.has_scale else _compute_matrix_poses
    own = _compose_object_matrices(body.object_channels, body.mode, channels)
    return (*read(body.bones, channels, names, parents), body.parent_matrix @ own)


def _find_obstacles(
    obj: bpy.types.Object, channels: Channels, names: Sequence[str]
) -> Iterator[str]:
    for owner, name in ((obj, f"the object '{obj.name}'"), (obj.data, f"the data of '{obj.name}'")):
        if actions.get_drivers(owner):
            yield f"{name} has drivers"
    if is_animated(obj.data):
        yield f"the data of '{obj.name}' is animated"
    for part, what in _ANIMATED.items():
        if any(part in path for path in channels.paths):
            yield f"it animates {what}"
    yield from _find_object_obstacles(obj)
    for name in _add_ancestors(obj, names):
        yield from _find_bone_obstacles(obj, name, channels)


def _find_object_obstacles(obj: Any) -> Iterator[str]:
    """Yield everything that places an object except its own channels."""
    if _has_constraints(obj):
        yield f"the object '{obj.name}' has constraints"
    turns = (*obj.delta_rotation_euler, *obj.delta_rotation_quaternion)
    if (*obj.delta_location, *turns, *obj.delta_scale) != (*(0,) * 6, 1, 0, 0, 0, 1, 1, 1):
        yield f"the object '{obj.name}' has delta transforms"
    if obj.parent:
        along_path = getattr(obj.parent.data, "use_path", False)
        if obj.parent_type != "OBJECT" or along_path:
            yield f"the object '{obj.name}' hangs on a part of '{obj.parent.name}'"
        if is_animated(obj.parent):
            yield f"the parent '{obj.parent.name}' is animated"
        yield from _find_object_obstacles(obj.parent)


def _find_bone_obstacles(obj: bpy.types.Object, name: str, channels: Channels) -> Iterator[str]:
    bone = obj.data.bones[name]
    if _has_constraints(obj.pose.bones[name]):
        yield f"bone '{name}' has constraints"
    if not bone.use_local_location:
        yield f"bone '{name}' has no local location"
    if bone.parent and not bone.use_inherit_rotation:
        yield f"bone '{name}' does not inherit rotation"
    if bone.parent and bone.inherit_scale != "FULL" and channels.has_scale:
        yield f"bone '{name}' does not inherit scale in full"


def _has_constraints(owner: bpy.types.Object | bpy.types.PoseBone) -> bool:
    return any(not constraint.mute for constraint in owner.constraints)


def is_animated(owner: Any) -> bool:
    """Return whether an object or its data plays anything, or has drivers."""
    data = getattr(owner, "animation_data", None)
    return bool(data and (data.action or data.drivers or data.nla_tracks))


def _add_ancestors(obj: bpy.types.Object, names: Sequence[str]) -> list[str]:
    """Return these bones and all above them, parents first."""
    above = {bone.name: bone.parent.name if bone.parent else "" for bone in obj.data.bones}
    needed = set(names)
    for name in reversed(above):  # Blender lists parents before children
        if name in needed:
            needed.add(above[name])
    return [name for name in above if name in needed]


def _compute_plain_poses(
    bones: Sequence[StaticBone], channels: Channels, names: Sequence[str], parents: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute local rotations and positions of bones that hang as in Blender, without scales."""
    rotations, positions = _create_poses(channels, names)
    by_name = {bone.name: bone for bone in bones}
    for number, name in enumerate(names):
        bone = by_name[name]
        turn = quat.from_matrix(bone.rest[:3, :3])
        turned, moved = _read_bone_channels(bone, channels)
        rotations[:, number] = quat.mul(turn, turned)
        positions[:, number] = bone.rest[:3, 3] + quat.mul_vec(turn, moved)
    return rotations, positions


def _compute_matrix_poses(
    bones: Sequence[StaticBone], channels: Channels, names: Sequence[str], parents: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the same of any bones and scales, by way of matrices in the armature's space."""
    rotations, positions = _create_poses(channels, names)
    basis = [
        (*_read_bone_channels(bone, channels), channels.read(f"{bone.path}.scale", REST["scale"]).T)
        for bone in bones
    ]
    indices = [[bone.name for bone in bones].index(name) for name in names]
    for start in range(0, len(rotations), _CHUNK):
        chunk = slice(start, min(start + _CHUNK, len(rotations)))
        matrices: list[np.ndarray] = []
        for bone, parts in zip(bones, basis, strict=True):
            # what does not move has a single frame
            own = (part[chunk] if len(part) > 1 else part for part in parts)
            local = bone.rest @ compose_matrices(*own)
            matrices.append(matrices[bone.parent] @ local if bone.parent >= 0 else local)
        chosen = np.empty((chunk.stop - start, len(names), 4, 4))
        for number, index in enumerate(indices):
            chosen[:, number] = matrices[index]
        rotations[chunk], positions[chunk] = compute_local_poses(chosen, parents)
    return rotations, positions


def _create_poses(channels: Channels, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return room for rotations (F, B, 4) and positions (F, B, 3)."""
    shape = len(channels.frames), len(names)
    return np.empty((*shape, 4), dtype=np.float32), np.empty((*shape, 3), dtype=np.float32)


def _read_bone_channels(bone: StaticBone, channels: Channels) -> tuple[np.ndarray, np.ndarray]:
    """Return rotations (F, 4) and locations (F, 3) of a pose bone; one frame without curves."""
    name = get_rotation_property(bone.mode)
    rotations = _to_quaternions(channels.read(f"{bone.path}.{name}", REST[name]), bone.mode)
    if bone.connected:
        return rotations, np.zeros((1, 3))
    return rotations, channels.read(f"{bone.path}.location", REST["location"]).T.astype(np.float64)


def _to_quaternions(values: np.ndarray, mode: str) -> np.ndarray:
    return quat.normalize(from_mode(values.astype(np.float64), mode))


def compute_object_matrices(obj: bpy.types.Object, channels: Channels) -> np.ndarray:
    """Return matrices (F, 4, 4) of an object's own transform; (1, 4, 4) without any curve."""
    return _compose_object_matrices(read_object_channels(obj), obj.rotation_mode, channels)


def read_object_channels(
    obj: bpy.types.Object, excluded: Container[str] = ()
) -> dict[str, tuple[float, ...]]:
    """Return the object's own location, rotation in its mode and scale, by name."""
    names = ("location", get_rotation_property(obj.rotation_mode), "scale")
    return {name: tuple(getattr(obj, name)) for name in names if name not in excluded}


def _compose_object_matrices(
    own: Mapping[str, tuple[float, ...]], mode: str, channels: Channels
) -> np.ndarray:
    location, rotation, scale = (channels.read(name, values) for name, values in own.items())
    return compose_matrices(_to_quaternions(rotation, mode), location.T, scale.T)


def compute_parent_matrix(obj: bpy.types.Object) -> np.ndarray:
    """Return the matrix (4, 4) that a parent without animation hands down to its child."""
    if obj.parent is None:
        return np.eye(4)
    return compute_static_matrix(obj.parent) @ np.array(obj.matrix_parent_inverse)


def compute_static_matrix(obj: bpy.types.Object) -> np.ndarray:
    """Return where an object is in the world (4, 4) while no action moves it."""
    return compute_parent_matrix(obj) @ np.array(obj.matrix_basis)
