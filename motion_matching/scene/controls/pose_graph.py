"""Poses of bones between controls, for all frames at once and without Blender's evaluation.

A control hangs on others by way of helper bones, which may follow constraints. Given the poses
of controls, this computes where any bone would be: parents, the constraints that rigs build their
controls from, and the influences that drivers and switches give these now. Other scales than those
of bones that stretch are ignored, and so is what depends on other objects or on inverse kinematics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import bpy
import numpy as np

from ...engine.maths.rotations import quat
from ..blender.evaluation.evaluation import compute_world_matrix
from ..blender.transforms.rotation_modes import from_mode, get_rotation_property, to_mode_near
from ..blender.transforms.transforms import Transform, compose, invert

_NONE = 1e-5  # an influence that counts as none
_AXES = MappingProxyType({"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)})


class PoseGraph:
    """Poses (F or 1, ...) of an armature's given bones, in its own space.

    Bones neither given nor at rest for a bake (`at_rest`) stay as they are posed now. `find_object`
    returns the armature: a graph may stay while Blender goes on, which no reference may.
    """

    def __init__(
        self, find_object: Callable[[], bpy.types.Object], at_rest: frozenset[str] = frozenset()
    ) -> None:
        self.find_object = find_object
        self.at_rest = at_rest
        self._given: dict[str, tuple[np.ndarray | None, np.ndarray | None]] = {}
        self._basis: dict[str, Transform] = {}
        self._poses: dict[str, Transform] = {}
        self._entered: set[str] = set()
        self.used: set[str] = set()  # bones whose channels were given and asked for
        self._uses: dict[str, set[str]] = {}  # the same, for each pose that is known
        self._noted = [self.used]
        self._stretches: dict[str, np.ndarray] = {}  # lengths (F or 1,) of bones that stretch
        self._rests: dict[str, Transform] = {}
        self._offsets: dict[tuple[str, str], Transform] = {}

    @property
    def obj(self) -> bpy.types.Object:
        return self.find_object()

    def create_alike(self) -> PoseGraph:
        """Return another graph of the same armature, in which nothing is given."""
        return PoseGraph(self.find_object, self.at_rest)

    def give(
        self, name: str, rotation: np.ndarray | None, position: np.ndarray | None = None
    ) -> None:
        """Give a bone's rotation (F, 4) and position (F, 3) as they shall be; None stays free."""
        self._given[name] = rotation, position
        self.forget()

    def give_basis(self, name: str, rotation: np.ndarray, location: np.ndarray) -> None:
        """Set the values of a bone's own channels: rotation (F, 4) and location (F, 3)."""
        self._basis[name] = rotation, location
        for other in [other for other, used in self._uses.items() if name in used]:
            del self._poses[other], self._uses[other]

    def copy(self) -> PoseGraph:
        """Return another graph in which the same channels and poses are given."""
        other = self.create_alike()
        other._given, other._basis = dict(self._given), dict(self._basis)
        other._rests, other._offsets = self._rests, self._offsets
        return other

    def copy_first(self) -> PoseGraph:
        """Return a graph of the first frame alone, to find out what depends on what."""
        other = self.copy()
        for name, (rotation, location) in self._basis.items():
            other._basis[name] = rotation[:1], location[:1]
        return other

    def forget(self) -> None:
        """Compute everything anew."""
        self._poses.clear()
        self._uses.clear()

    def get_rest(self, name: str) -> Transform:
        """Return a bone's rest rotation (4,) and position (3,) in the armature."""
        if name not in self._rests:
            matrix = np.array(self.obj.data.bones[name].matrix_local, np.float64)
            self._rests[name] = quat.from_matrix(matrix[:3, :3]), matrix[:3, 3]
        return self._rests[name]

    def compute_offset(self, name: str, other: str) -> Transform:
        """Return one bone's rest seen from that of another."""
        if (name, other) not in self._offsets:
            self._offsets[name, other] = compose(invert(self.get_rest(other)), self.get_rest(name))
        return self._offsets[name, other]

    def compute_base(self, name: str) -> Transform:
        """Return the pose that a bone has while its own channels are at rest."""
        bone = self.obj.data.bones[name]
        rest = self.get_rest(name)
        if bone.parent is None:
            return rest[0][None], rest[1][None]
        above, offset = bone.parent.name, self.compute_offset(name, bone.parent.name)
        pose = self.compute_pose(above)
        if above in self._stretches:
            along = np.ones((len(self._stretches[above]), 3))
            along[:, 1] = self._stretches[above]
            offset = offset[0], along * offset[1]
        rotation, position = compose(pose, offset)
        return (rotation if bone.use_inherit_rotation else rest[0][None]), position

    def compute_pose(self, name: str) -> Transform:
        """Return a bone's rotation (F or 1, 4) and position (F or 1, 3)."""
        if name not in self._poses:
            if name in self._entered:  # a cycle: Blender breaks it somewhere, too
                return self.compute_base(name)
            self._entered.add(name)
            self._noted.append(set())
            try:
                pose = self._compute_pose(name)
            finally:
                self._entered.discard(name)
                used = self._noted.pop()
            self._poses[name], self._uses[name] = pose, used
        self._noted[-1] |= self._uses[name]
        return self._poses[name]

    def compute_channels(self, name: str) -> Transform:
        """Return the rotation (F, 4) and location (F, 3) that a given bone's channels need."""
        base, (rotation, position) = self.compute_base(name), self.compute_pose(name)
        location = self.measure_location(name, base, position)
        return quat.unroll(quat.inv_mul(base[0], rotation)), location

    def measure_location(self, name: str, base: Transform, position: np.ndarray) -> np.ndarray:
        """Return the location (F, 3) that puts a bone at a position (F, 3), from its base."""
        return quat.inv_mul_vec(self.compute_location_axes(name, base), position - base[1])

    def compute_location_axes(self, name: str, base: Transform) -> np.ndarray:
        """Return the rotation (F or 1, 4) of the axes that a bone's location is along."""
        if self.obj.data.bones[name].use_local_location:
            return base[0]
        return quat.mul_inv(base[0], self.get_rest(name)[0])  # those of the armature, led along

    def stretch(self, name: str, ratio: np.ndarray) -> None:
        """Note how much longer (F or 1,) a bone is than at rest; what hangs on it moves along."""
        self._stretches[name] = ratio

    def get_basis(self, name: str) -> Transform:
        """Return the channels that were given to a bone."""
        return self._basis[name]

    def _compute_pose(self, name: str) -> Transform:
        base = self.compute_base(name)
        if name in self._given:
            rotation, position = self._given[name]
            return base[0] if rotation is None else rotation, (
                base[1] if position is None else position
            )
        pose = self._add_basis(name, base)
        for constraint in self.obj.pose.bones[name].constraints:
            function = _CONSTRAINTS.get(constraint.type)
            if function and not constraint.mute and constraint.influence > _NONE:
                followed = function(self, name, base, pose, constraint)
                if followed is not None:
                    pose = _blend(pose, followed, constraint.influence)
        if self.obj.data.bones[name].use_connect:
            pose = pose[0], base[1]  # constraints do not tear a connected bone away
        return pose

    def _add_basis(self, name: str, base: Transform) -> Transform:
        if name in self._basis:
            self._noted[-1].add(name)
            rotation, location = self._basis[name]
        elif name in self.at_rest:
            return base
        else:
            rotation, location = _read_basis(self.obj.pose.bones[name])
        location = quat.mul_vec(self.compute_location_axes(name, base), location)
        return quat.mul(base[0], rotation), base[1] + location

    def compute_local(self, name: str) -> Transform:
        """Return a bone's pose as seen from where its channels start."""
        return compose(invert(self.compute_base(name)), self.compute_pose(name))

    def compute_point(self, name: str, along: float) -> np.ndarray:
        """Return the point (F or 1, 3) between a bone's head (0) and tail (1)."""
        rotation, position = self.compute_pose(name)
        tail = np.array([0.0, along * self.obj.data.bones[name].length, 0.0])
        return position + quat.mul_vec(rotation, tail)


def _read_basis(bone: bpy.types.PoseBone) -> Transform:
    """Return how a bone is posed now: rotation (1, 4) and location (1, 3)."""
    mode = bone.rotation_mode
    values: Any = getattr(bone, get_rotation_property(mode))
    rotation = from_mode(np.array(values, np.float64)[:, None], mode)
    return quat.normalize(rotation), np.array(bone.location, np.float64)[None]


def _blend(pose: Transform, other: Transform, influence: float) -> Transform:
    """Return the pose `influence` of the way to another."""
    if influence > 1.0 - _NONE:
        return other
    turn = quat.to_scaled_angle_axis(quat.positive(quat.inv_mul(pose[0], other[0])))
    rotation = quat.mul(pose[0], quat.from_scaled_angle_axis(influence * turn))
    return rotation, pose[1] + influence * (other[1] - pose[1])


def _find_target(graph: PoseGraph, constraint: Any) -> str | None:
    """Return the bone of the same armature that a constraint follows."""
    known = constraint.subtarget in graph.obj.data.bones
    return constraint.subtarget if _is_same(constraint.target, graph.obj) and known else None


def _is_same(obj: Any, other: bpy.types.Object) -> bool:
    """Return whether two objects, evaluated or not, are the same."""
    return obj is not None and obj.original == other.original


def _copy_transforms(
    graph: PoseGraph, name: str, base: Transform, pose: Transform, constraint: Any
) -> Transform | None:
    target = _find_target(graph, constraint)
    if target is None:
        return None
    if constraint.owner_space == "LOCAL" and constraint.target_space == "LOCAL":
        return compose(base, graph.compute_local(target))
    return graph.compute_pose(target)


def _copy_rotation(
    graph: PoseGraph, name: str, base: Transform, pose: Transform, constraint: Any
) -> Transform | None:
    target = _find_target(graph, constraint)
    if target is None:
        return None
    used = [constraint.use_x, constraint.use_y, constraint.use_z]
    if constraint.owner_space != "LOCAL":
        return (graph.compute_pose(target)[0], pose[1]) if all(used) else None
    copied, own = graph.compute_local(target)[0], quat.inv_mul(base[0], pose[0])
    if not all(used):
        mode = _get_euler_mode(graph, name, constraint)
        copied, own = np.broadcast_arrays(copied, own)
        kept = _read_angles(own, mode)
        angles = _read_angles(copied, mode, kept)
        copied = from_mode(np.where(np.array(used)[:, None], angles, kept), mode)
    return quat.mul(base[0], copied), pose[1]


def _limit_rotation(
    graph: PoseGraph, name: str, base: Transform, pose: Transform, constraint: Any
) -> Transform | None:
    if constraint.owner_space != "LOCAL":
        return None
    mode = _get_euler_mode(graph, name, constraint)
    angles = _read_angles(quat.inv_mul(base[0], pose[0]), mode)
    for row, axis in enumerate("xyz"):
        if getattr(constraint, f"use_limit_{axis}"):
            low, high = getattr(constraint, f"min_{axis}"), getattr(constraint, f"max_{axis}")
            angles[row] = np.clip(angles[row], low, high)
    return quat.mul(base[0], from_mode(angles, mode)), pose[1]


def _read_angles(rotations: np.ndarray, mode: str, near: np.ndarray | None = None) -> np.ndarray:
    """Return angles (3, F) of rotations (F, 4) as constraints do: of each frame by itself.

    Of two triples that mean the same, they read the one nearer to other angles (3, F), or to zero.
    """
    zero = np.zeros((3, len(rotations)))
    return to_mode_near(rotations.T, mode, zero if near is None else near)


def _get_euler_mode(graph: PoseGraph, name: str, constraint: Any) -> str:
    order = getattr(constraint, "euler_order", "AUTO")
    mode = graph.obj.pose.bones[name].rotation_mode if order == "AUTO" else order
    return mode if len(mode) == 3 else "XYZ"


def _copy_location(
    graph: PoseGraph, name: str, base: Transform, pose: Transform, constraint: Any
) -> Transform | None:
    target = _find_target(graph, constraint)
    if target is None or constraint.owner_space == "LOCAL":
        return None
    used = np.array([constraint.use_x, constraint.use_y, constraint.use_z])
    point = graph.compute_point(target, constraint.head_tail)
    return pose[0], np.where(used, point, pose[1])


def _follow_armature(
    graph: PoseGraph, name: str, base: Transform, pose: Transform, constraint: Any
) -> Transform | None:
    """Follow the heaviest of the bones that share a bone."""
    known = [t for t in constraint.targets if _find_target(graph, t) and t.weight > _NONE]
    if not known:
        return None
    target = max(known, key=lambda t: t.weight).subtarget
    moved = compose(graph.compute_pose(target), invert(graph.get_rest(target)))
    return compose(moved, pose)


def _follow_as_child(
    graph: PoseGraph, name: str, base: Transform, pose: Transform, constraint: Any
) -> Transform | None:
    target = _find_target(graph, constraint)
    if target is None:
        return None
    # the stored inverse leads from the world to the target
    inverse = np.array(constraint.inverse_matrix, np.float64) @ compute_world_matrix(graph.obj)
    turn = quat.from_matrix(inverse[:3, :3] / np.cbrt(np.linalg.det(inverse[:3, :3])))
    return compose(compose(graph.compute_pose(target), (turn, inverse[:3, 3])), pose)


def _aim(
    graph: PoseGraph, name: str, base: Transform, pose: Transform, constraint: Any
) -> Transform | None:
    """Swing a bone the shortest way to point at a target."""
    target = _find_target(graph, constraint)
    if target is None:
        return None
    axis = getattr(constraint, "track_axis", "TRACK_Y").removeprefix("TRACK_")
    sign = -1.0 if axis.startswith("NEGATIVE") else 1.0
    own = quat.mul_vec(pose[0], sign * np.array(_AXES[axis[-1]]))
    way = graph.compute_point(target, constraint.head_tail) - pose[1]
    if constraint.type == "STRETCH_TO" and constraint.rest_length > 0.0:
        graph.stretch(name, np.linalg.norm(way, axis=-1) / constraint.rest_length)
    own, way = np.broadcast_arrays(own, quat.normalize_vectors(way))
    return quat.mul(quat.between(own, way), pose[0]), pose[1]


_Constraint = Callable[[PoseGraph, str, Transform, Transform, Any], Transform | None]
_CONSTRAINTS: Mapping[str, _Constraint] = MappingProxyType(
    {
        "COPY_TRANSFORMS": _copy_transforms,
        "COPY_ROTATION": _copy_rotation,
        "COPY_LOCATION": _copy_location,
        "LIMIT_ROTATION": _limit_rotation,
        "ARMATURE": _follow_armature,
        "CHILD_OF": _follow_as_child,
        "DAMPED_TRACK": _aim,
        "STRETCH_TO": _aim,
    }
)
