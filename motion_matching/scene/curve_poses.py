"""Poses straight from curves, many times as fast as Blender's evaluation, where nothing but curves moves the bones.

`obstacle` says whether that is so. Then a bone's matrix is its parent's matrix, times its rest matrix in the parent,
times its own channels: location (unless it is connected), rotation in its mode, scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
_PLAIN = {
    "location": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
}


class Channels:
    """The properties that a slot's curves give at some frames."""

    def __init__(self, curves: Sequence[bpy.types.FCurve], frames: range) -> None:
        self.paths = {curve.data_path for curve in curves}
        self.frames = np.array(frames, dtype=np.float64)
        self._parts: dict[str, dict[int, bpy.types.FCurve | np.ndarray]] = {}
        for curve in curves:
            self._parts.setdefault(curve.data_path, {})[curve.array_index] = curve

    def hold(self, curve: bpy.types.FCurve) -> None:
        """Read one of the curves now: its values are kept, and Blender is not asked for them again."""
        self._parts[curve.data_path][curve.array_index] = actions.values(curve, self.frames)

    def held(self, there: slice) -> Iterator[tuple[str, int, np.ndarray]]:
        """Path, component and values (F,) at some of the frames of each curve that is held."""
        for path, parts in self._parts.items():
            for component, part in parts.items():
                if isinstance(part, np.ndarray):
                    yield path, component, part[there]

    def read(self, path: str, plain: Sequence[float]) -> np.ndarray:
        """A property (C, F), with `plain` (C,) for components without a curve; (C, 1) where it has none at all."""
        parts = self._parts.get(path, {})
        result = np.repeat(
            np.array(plain, dtype=np.float32)[:, None], len(self.frames) if parts else 1, axis=1
        )
        for component, part in parts.items():
            if component < len(plain):
                result[component] = (
                    part if isinstance(part, np.ndarray) else actions.values(part, self.frames)
                )
        return result

    @cached_property
    def scales(self) -> bool:
        """Whether a bone is ever scaled; many exports key a scale of one on every frame."""
        paths = [
            path
            for path in self.paths
            if actions.bone_of(path) is not None and path.endswith(".scale")
        ]
        return any(np.any(np.abs(self.read(path, _PLAIN["scale"]) - 1.0) > _ONE) for path in paths)


@dataclass(frozen=True)
class Bone:
    """What of a bone no curve moves: `parent` is its place among a body's bones, or -1, and `rest` (4, 4) within that."""

    name: str
    path: str
    parent: int
    rest: np.ndarray
    mode: str
    connected: bool


@dataclass(frozen=True)
class Body:
    """What of an armature object no curve moves, to be had without Blender: bones with all above them, parents first,
    what hands down to the object (4, 4), its rotation mode, and its own channels for those without curves."""

    bones: tuple[Bone, ...]
    above: np.ndarray
    mode: str
    own: Mapping[str, tuple[float, ...]]

    @classmethod
    def of(cls, obj: bpy.types.Object, names: Sequence[str]) -> Body:
        found = _with_ancestors(obj, names)
        places = {name: place for place, name in enumerate(found)}
        bones = []
        for name in found:
            bone, mode = obj.data.bones[name], obj.pose.bones[name].rotation_mode
            parent = places[bone.parent.name] if bone.parent else -1
            connected = bone.use_connect and parent >= 0
            bones.append(Bone(name, _path(name), parent, _rest_in_parent(bone), mode, connected))
        return cls(tuple(bones), above(obj), obj.rotation_mode, own_values(obj))


def obstacle(obj: bpy.types.Object, channels: Channels, names: Sequence[str]) -> str:
    """Why these bones' poses are not the curves' alone, as in "bone 'Foot' has constraints"; empty where they are."""
    return next(_obstacles(obj, channels, _with_ancestors(obj, names)), "")


def poses(
    body: Body, channels: Channels, names: tuple[str, ...], parents: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `evaluation.evaluate` gives, of the curves alone; a single world matrix (1, 4, 4) where the object rests.

    Where the channels hold all curves, this knows nothing of Blender.
    """
    bones = {bone.name: bone for bone in body.bones}
    over = [
        body.bones[bones[name].parent].name if bones[name].parent >= 0 else None for name in names
    ]
    direct = over == [names[parent] if parent >= 0 else None for parent in parents]
    read = _plain_poses if direct and not channels.scales else _matrix_poses
    worlds = body.above @ _placed(body.own, body.mode, channels)
    return (*read(body.bones, channels, names, parents), worlds)


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
    deltas = (
        *owner.delta_location,
        *owner.delta_rotation_euler,
        *owner.delta_rotation_quaternion,
        *owner.delta_scale,
    )
    if deltas != (0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1):
        yield f"the object '{obj.name}' has delta transforms"
    if obj.parent:
        if obj.parent_type != "OBJECT" or getattr(
            obj.parent.data, "use_path", False
        ):  # along which it may lie
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
    above = {bone.name: bone.parent.name if bone.parent else "" for bone in obj.data.bones}
    needed = set(names)
    for name in reversed(above):  # Blender lists parents before children
        if name in needed:
            needed.add(above[name])
    return [name for name in above if name in needed]


# ---------------------------------------------------------------- from channels to poses


def _plain_poses(
    bones: Sequence[Bone], channels: Channels, names: Sequence[str], parents: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Local rotations and positions of bones that hang on each other as in Blender, without scales."""
    rotations = np.empty((len(channels.frames), len(names), 4), dtype=np.float32)
    positions = np.empty((len(channels.frames), len(names), 3), dtype=np.float32)
    by_name = {bone.name: bone for bone in bones}
    for number, name in enumerate(names):
        bone = by_name[name]
        turn = quat.from_matrix(bone.rest[:3, :3])
        turned, moved = _bone_channels(bone, channels)
        rotations[:, number] = quat.mul(turn, turned)
        positions[:, number] = bone.rest[:3, 3] + quat.mul_vec(turn, moved)
    return rotations, positions


def _matrix_poses(
    bones: Sequence[Bone], channels: Channels, names: Sequence[str], parents: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same of any bones and scales, by way of matrices in the armature's space."""
    count = len(channels.frames)
    rotations = np.empty((count, len(names), 4), dtype=np.float32)
    positions = np.empty((count, len(names), 3), dtype=np.float32)
    basis = [
        (*_bone_channels(bone, channels), channels.read(f"{bone.path}.scale", _PLAIN["scale"]).T)
        for bone in bones
    ]
    places = [[bone.name for bone in bones].index(name) for name in names]
    for start in range(0, count, _CHUNK):
        there = slice(start, min(start + _CHUNK, count))
        matrices: list[np.ndarray] = []
        for bone, parts in zip(bones, basis, strict=True):
            # what does not move has a single frame
            local = bone.rest @ transforms(
                *(part[there] if len(part) > 1 else part for part in parts)
            )
            matrices.append(matrices[bone.parent] @ local if bone.parent >= 0 else local)
        chosen = np.empty((there.stop - start, len(names), 4, 4))
        for number, place in enumerate(places):
            chosen[:, number] = matrices[place]
        rotations[there], positions[there] = local_poses(chosen, parents)
    return rotations, positions


def _bone_channels(bone: Bone, channels: Channels) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (F, 4) and locations (F, 3) of a pose bone; of one frame where there are no curves."""
    turned = property_of(bone.mode)
    rotations = _rotations(channels.read(f"{bone.path}.{turned}", _PLAIN[turned]), bone.mode)
    if bone.connected:
        return rotations, np.zeros((1, 3))
    return rotations, channels.read(f"{bone.path}.location", _PLAIN["location"]).T.astype(
        np.float64
    )


def _path(name: str) -> str:
    return f'pose.bones["{bpy.utils.escape_identifier(name)}"]'


def _rotations(values: np.ndarray, mode: str) -> np.ndarray:
    """Unit quaternions (F, 4) of a property (C, F)."""
    return quat.normalize(from_mode(values.astype(np.float64), mode))


def _rest_in_parent(bone: bpy.types.Bone) -> np.ndarray:
    rest = np.array(bone.matrix_local, dtype=np.float64)
    return (
        np.linalg.inv(np.array(bone.parent.matrix_local, dtype=np.float64)) @ rest
        if bone.parent
        else rest
    )


def own_matrices(obj: bpy.types.Object, channels: Channels) -> np.ndarray:
    """Matrices (F, 4, 4) of the object's own location, rotation and scale; (1, 4, 4) where no curve moves it. What has no
    curve stays as it is."""
    return _placed(own_values(obj), obj.rotation_mode, channels)


def own_values(obj: bpy.types.Object) -> dict[str, tuple[float, ...]]:
    """The object's own location, rotation in its mode and scale, by name."""
    return {
        name: tuple(getattr(obj, name))
        for name in ("location", property_of(obj.rotation_mode), "scale")
    }


def _placed(own: Mapping[str, tuple[float, ...]], mode: str, channels: Channels) -> np.ndarray:
    location, rotation, scale = (channels.read(name, values) for name, values in own.items())
    return transforms(_rotations(rotation, mode).astype(np.float64), location.T, scale.T)


def above(obj: bpy.types.Object) -> np.ndarray:
    """What an object that nothing animates hands down to the channels of its child (4, 4)."""
    if obj.parent is None:
        return np.eye(4)
    return (
        above(obj.parent) @ np.array(obj.parent.matrix_basis) @ np.array(obj.matrix_parent_inverse)
    )
