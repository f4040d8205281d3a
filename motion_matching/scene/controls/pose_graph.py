"""Poses of bones between controls, for all frames at once and without Blender's evaluation.

A control hangs on others by way of helper bones, which may follow constraints. Given the poses
of controls, this computes where any bone would be: parents, the constraints that rigs build their
controls from, and the influences that drivers and switches give these now. Other scales than those
of bones that stretch are ignored, and so is what depends on other objects or on inverse kinematics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import bpy
import numpy as np

from ...engine.maths.rotations import quat
from ..blender.evaluation.evaluation import compute_world_matrix
from ..blender.transforms.rotation_modes import from_mode, read_rotation, to_mode_near
from ..blender.transforms.transforms import Transform, compose, invert, to_frames

_NONE = 1e-5  # an influence that counts as none


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
        self.basis: dict[str, Transform] = {}  # the channels that were given
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
        self.basis[name] = rotation, location
        for other in [other for other, used in self._uses.items() if name in used]:
            del self._poses[other], self._uses[other]

    def copy(self) -> PoseGraph:
        """Return another graph in which the same channels and poses are given."""
        other = self.create_alike()
        other._given, other.basis = dict(self._given), dict(self.basis)
        other._rests = self._rests
        other._offsets = self._offsets
        return other

    def copy_first(self) -> PoseGraph:
        """Return a graph of the first frame alone, to find out what depends on what."""
        other = self.copy()
        for name, (rotation, location) in self.basis.items():
            other.basis[name] = rotation[:1], location[:1]
        return other

    def forget(self) -> None:
        """Compute everything anew."""
        self._poses.clear()
        self._uses.clear()

    def find_used(self, compute: Callable[[], object]) -> frozenset[str]:
        """Return the bones whose given channels decide a computation."""
        self.used.clear()
        compute()
        return frozenset(self.used)

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

    def compute_carried(self, name: str, carrier: str) -> Transform:
        """Return the pose (F or 1, ...) of a bone that is fixed to another one, as at rest."""
        offset = invert(self.compute_offset(carrier, name))
        return compose(self.compute_pose(carrier), to_frames(offset))

    def compute_base(self, name: str) -> Transform:
        """Return the pose that a bone has while its own channels are at rest."""
        bone = self.obj.data.bones[name]
        rest = to_frames(self.get_rest(name))
        if bone.parent is None:
            return rest
        above = bone.parent.name
        offset = self.compute_offset(name, bone.parent.name)
        pose = self.compute_pose(above)
        if above in self._stretches:
            along = np.ones((len(self._stretches[above]), 3))
            along[:, 1] = self._stretches[above]
            offset = offset[0], along * offset[1]
        rotation, position = compose(pose, offset)
        return (rotation if bone.use_inherit_rotation else rest[0]), position

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
            self._poses[name] = pose
            self._uses[name] = used
        self._noted[-1] |= self._uses[name]
        return self._poses[name]

    def compute_channels(self, name: str) -> Transform:
        """Return the rotation (F, 4) and location (F, 3) that a given bone's channels need."""
        base = self.compute_base(name)
        (rotation, position) = self.compute_pose(name)
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

    def _compute_pose(self, name: str) -> Transform:
        base = self.compute_base(name)
        if name in self._given:
            given = zip(base, self._given[name], strict=True)
            rotation, position = (free if own is None else own for free, own in given)
            return rotation, position
        pose = self._add_basis(name, base)
        for constraint in self.obj.pose.bones[name].constraints:
            function = _CONSTRAINTS.get(constraint.type)
            if function and not constraint.mute and constraint.influence > _NONE:
                target = _find_target(self, constraint)
                link = _Link(self, name, base, pose, constraint, target or "")
                followed = None if target is None else function(link)
                if followed is not None:
                    pose = _blend(pose, followed, constraint.influence)
        if self.obj.data.bones[name].use_connect:
            pose = pose[0], base[1]  # constraints do not tear a connected bone away
        return pose

    def _add_basis(self, name: str, base: Transform) -> Transform:
        if name in self.basis:
            self._noted[-1].add(name)
            rotation, location = self.basis[name]
        elif name in self.at_rest:
            return base
        else:
            bone = self.obj.pose.bones[name]
            rotation = quat.normalize(read_rotation(bone))
            location = np.array(bone.location, np.float64)[None]
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


def _blend(pose: Transform, other: Transform, influence: float) -> Transform:
    """Return the pose `influence` of the way to another."""
    if influence > 1.0 - _NONE:
        return other
    turn = quat.to_scaled_angle_axis(quat.positive(quat.inv_mul(pose[0], other[0])))
    rotation = quat.mul(pose[0], quat.from_scaled_angle_axis(influence * turn))
    return rotation, pose[1] + influence * (other[1] - pose[1])


@dataclass(frozen=True)
class _Link:
    """A constraint that changes a bone's pose, which is `base` at rest, and the bone it follows."""

    graph: PoseGraph
    name: str
    base: Transform
    pose: Transform
    constraint: Any
    target: str

    @property
    def used(self) -> np.ndarray:
        """Return which axes (3,) count."""
        return np.array([getattr(self.constraint, f"use_{axis}") for axis in "xyz"])

    @property
    def euler_mode(self) -> str:
        order = getattr(self.constraint, "euler_order", "AUTO")
        mode = self.graph.obj.pose.bones[self.name].rotation_mode if order == "AUTO" else order
        return mode if len(mode) == 3 else "XYZ"


def _find_target(graph: PoseGraph, constraint: Any) -> str | None:
    """Return the bone of the same armature that a constraint follows; "" if it follows none.

    Of the bones that share a bone, that is the heaviest.
    """
    if constraint.type == "LIMIT_ROTATION":
        return ""
    shares = constraint.type == "ARMATURE"
    holders = [t for t in constraint.targets if t.weight > _NONE] if shares else [constraint]
    own = graph.obj.original  # a target may be evaluated or not
    known = [one for one in holders if one.target is not None and one.target.original == own]
    known = [one for one in known if one.subtarget in graph.obj.data.bones]
    return max(known, key=lambda one: one.weight if shares else 1.0).subtarget if known else None


def _copy_transforms(on: _Link) -> Transform:
    if on.constraint.owner_space == "LOCAL" and on.constraint.target_space == "LOCAL":
        return compose(on.base, on.graph.compute_local(on.target))
    return on.graph.compute_pose(on.target)


def _copy_rotation(on: _Link) -> Transform | None:
    used = on.used
    if on.constraint.owner_space != "LOCAL":
        return (on.graph.compute_pose(on.target)[0], on.pose[1]) if used.all() else None
    copied = on.graph.compute_local(on.target)[0]
    own = quat.inv_mul(on.base[0], on.pose[0])
    if not used.all():
        mode = on.euler_mode
        copied, own = np.broadcast_arrays(copied, own)
        kept = _read_angles(own, mode)
        angles = _read_angles(copied, mode, kept)
        copied = from_mode(np.where(used[:, None], angles, kept), mode)
    return quat.mul(on.base[0], copied), on.pose[1]


def _limit_rotation(on: _Link) -> Transform | None:
    if on.constraint.owner_space != "LOCAL":
        return None
    angles = _read_angles(quat.inv_mul(on.base[0], on.pose[0]), on.euler_mode)
    for row, axis in enumerate("xyz"):
        if getattr(on.constraint, f"use_limit_{axis}"):
            limits = (getattr(on.constraint, f"{end}_{axis}") for end in ("min", "max"))
            angles[row] = np.clip(angles[row], *limits)
    return quat.mul(on.base[0], from_mode(angles, on.euler_mode)), on.pose[1]


def _read_angles(rotations: np.ndarray, mode: str, near: np.ndarray | None = None) -> np.ndarray:
    """Return angles (3, F) of rotations (F, 4) as constraints do: of each frame by itself.

    Of two triples that mean the same, they read the one nearer to other angles (3, F), or to zero.
    """
    zero = np.zeros((3, len(rotations)))
    return to_mode_near(rotations.T, mode, zero if near is None else near)


def _copy_location(on: _Link) -> Transform | None:
    if on.constraint.owner_space == "LOCAL":
        return None
    point = on.graph.compute_point(on.target, on.constraint.head_tail)
    return on.pose[0], np.where(on.used, point, on.pose[1])


def _follow_armature(on: _Link) -> Transform:
    moved = compose(on.graph.compute_pose(on.target), invert(on.graph.get_rest(on.target)))
    return compose(moved, on.pose)


def _follow_as_child(on: _Link) -> Transform:
    # the stored inverse leads from the world to the target
    stored = np.array(on.constraint.inverse_matrix, np.float64)
    inverse = stored @ compute_world_matrix(on.graph.obj)
    turn = quat.from_matrix(inverse[:3, :3] / np.cbrt(np.linalg.det(inverse[:3, :3])))
    return compose(compose(on.graph.compute_pose(on.target), (turn, inverse[:3, 3])), on.pose)


def _aim(on: _Link) -> Transform:
    """Swing a bone the shortest way to point at a target."""
    axis = getattr(on.constraint, "track_axis", "TRACK_Y").removeprefix("TRACK_")
    sign = -1.0 if axis.startswith("NEGATIVE") else 1.0
    own = quat.mul_vec(on.pose[0], sign * np.eye(3)["XYZ".index(axis[-1])])
    way = on.graph.compute_point(on.target, on.constraint.head_tail) - on.pose[1]
    if on.constraint.type == "STRETCH_TO" and on.constraint.rest_length > 0.0:
        on.graph.stretch(on.name, np.linalg.norm(way, axis=-1) / on.constraint.rest_length)
    own, way = np.broadcast_arrays(own, quat.normalize_vectors(way))
    return quat.mul(quat.between(own, way), on.pose[0]), on.pose[1]


_Constraint = Callable[[_Link], Transform | None]
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
