"""Skeletons and armature objects, and the exact map between local poses and pose bones.

A skeleton's bones may point anywhere in their frames; a bone of Blender runs along its own Y axis.
Each bone's two frames therefore differ by a constant rotation. A skeleton read from an armature has
Blender's frames, upright and in metres however the object is turned and scaled.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache

import bpy
import numpy as np

from ...engine.errors import RigError
from ...engine.maths.rotations import quat
from ...engine.motion.clip import Clip
from ...engine.names import to_readable
from ...engine.skeleton.bone_names import split_side
from ...engine.skeleton.skeleton import Skeleton
from ..blender.evaluation.evaluation import compute_world_matrix
from ..blender.evaluation.object_motion import find_steady_axes
from ..blender.transforms.transforms import decompose_similarity
from .bone_choice import choose_bones

NAME_BYTES = 63  # Blender cuts longer names and numbers equal ones
CHOOSE = "choose the armature of this motion, or retarget the motion."


@dataclass(frozen=True)
class BoneMap:
    """Relates a skeleton's local poses to an armature's `location` and `rotation_quaternion`.

    With G the world rotations of the skeleton's rest pose, R those of the armature's bones (see
    `compute_rest_frame`), s the object's scale and p the parent: `basis rotation = (R^-1 G_p) *
    local rotation * (G^-1 R)` and `basis location = (R^-1 G_p) applied to (position - rest
    position) / s`.
    """

    bones: tuple[str, ...]  # (B,) names in the armature
    before: np.ndarray  # (B, 4) R^-1 G_p
    after: np.ndarray  # (B, 4) G^-1 R
    rest_positions: np.ndarray  # (B, 3) local, metres
    scale: float = 1.0  # metres per unit of the armature

    def from_basis(
        self, rotations: np.ndarray, locations: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return local rotations `(..., B, 4)` and positions `(..., B, 3)` of pose bones."""
        turned = quat.mul_inv(quat.inv_mul(self.before, rotations), self.after)
        moved = quat.inv_mul_vec(self.before, self.scale * locations)
        return quat.normalize(turned), moved + self.rest_positions

    def compute_basis_matrices(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what makes basis quaternions (B, 4, 4), and locations (B, 3, 3) of shifts."""
        units = np.eye(4)[:, None]
        turns = np.moveaxis(quat.mul(quat.mul(self.before, units), self.after), 0, -1)
        shifts = quat.to_matrix(self.before) / self.scale
        return turns.astype(np.float32), shifts.astype(np.float32)


def read_rest_bytes(obj: bpy.types.Object) -> bytes:
    """Return the rest matrices of bones as bytes: to Blender, any setting changes an armature."""
    rests = np.empty(16 * len(obj.data.bones), dtype=np.float32)
    obj.data.bones.foreach_get("matrix_local", rests)
    return rests.tobytes()


def create_armature(skeleton: Skeleton, name: str) -> bpy.types.Object:
    """Create an armature object at the origin whose rest pose is the skeleton's.

    It is linked to the active collection, or to the scene's if that is linked, hidden or excluded.
    Mode, active object and selection stay as they are.
    """
    active = bpy.context.view_layer.active_layer_collection
    collection = active.collection
    if not active.is_visible or collection.library or collection.override_library:
        collection = bpy.context.scene.collection
    armature = bpy.data.armatures.new(name)
    obj = bpy.data.objects.new(name, armature)
    try:
        collection.objects.link(obj)
        with _enter_edit_mode(obj):
            _add_bones(armature, skeleton)
    except BaseException:
        bpy.data.armatures.remove(armature)  # takes the object with it
        raise
    return obj


def read_skeleton(obj: bpy.types.Object, bones: str | None = None) -> Skeleton:
    """Read an armature object's skeleton: Blender's bone frames, bones' tails as end sites.

    `bones` is that of `choose_bones`. Raises RigError without such bones, or if scaled unevenly.
    """
    check_armature(obj)
    names, parents = choose_bones(obj, bones)
    turn, scale = compute_rest_frame(obj)
    rest = np.array([obj.data.bones[name].matrix_local for name in names], dtype=np.float64)
    heads = scale * quat.mul_vec(turn, rest[:, :3, 3])
    turns = quat.mul(turn, quat.from_matrix(rest[:, :3, :3]))
    rotations, positions = (part.astype(np.float32) for part in quat.ik(turns, heads, parents))
    lengths = {b: scale * obj.data.bones[names[b]].length for b in range(len(names))}
    ends = tuple((b, (0.0, length, 0.0)) for b, length in lengths.items() if b not in parents)
    return Skeleton(names, parents, positions, rotations, ends)


def check_armature(obj: bpy.types.Object) -> None:
    """Raise RigError if an object is not an armature."""
    if obj.type != "ARMATURE":
        raise RigError(f"'{obj.name}' is not an armature; choose an armature object.")


def compute_rest_frame(obj: bpy.types.Object) -> tuple[np.ndarray, float]:
    """Return how an armature object stands: rotation (4,) without the turn about Z, and scale.

    It is the same on all frames, whatever moves the object.
    """
    if steady := find_steady_axes(obj):
        return steady[0], float(steady[1])
    rotation, _, scale = decompose_similarity(compute_world_matrix(obj), obj.name)
    return quat.normalize(quat.inv_mul(extract_turn_about_z(rotation), rotation)), float(scale)


@lru_cache(maxsize=64)  # files of one folder have the same bones
def to_blender_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that Blender's bones get: at most 63 bytes, and unique.

    Raises RigError for a name that no bone can have.
    """
    if wrong := next((name for name in names if "\0" in name or to_readable(name) != name), None):
        raise RigError(
            f"the bone {wrong!a} of the motion has a letter in its name that Blender cannot "
            "store, such as a zero byte; rename it in the file of the motion."
        )
    result: list[str] = []
    for name in names:
        unique = _truncate(name, NAME_BYTES)
        number = 0
        while unique in result:
            number += 1
            unique = f"{_truncate(name, NAME_BYTES - 4)}.{number:03d}"
        result.append(unique)
    return tuple(result)


def compute_standing_rest(clip: Clip) -> Skeleton:
    """Return the clip's skeleton with its most upright pose, over the origin, as its rest.

    Motion capture often rests with all bones stretched along one axis. The most upright frame is
    the narrowest for its height. A simulation bone's character then faces -Y.
    """
    _, heads = clip.compute_world()
    # medians, because an export's root may lie anywhere
    spread = np.median(np.abs(heads - np.median(heads, axis=1, keepdims=True)), axis=1)  # (F, 3)
    frame = np.argmin((spread[:, 0] + spread[:, 1]) / np.maximum(spread[:, 2], 1e-6))
    rotations = clip.rotations[frame].copy()
    positions = clip.positions[frame].copy()
    roots = clip.skeleton.parents < 0
    rotations[roots] = quat.inv_mul(extract_turn_about_z(rotations[roots]), rotations[roots])
    positions[roots, :2] = 0.0
    return replace(clip.skeleton, rest_rotations=rotations, rest_positions=positions)


def compute_tails(skeleton: Skeleton) -> np.ndarray:
    """Return tails of the bones `(B, 3)` in the rest pose.

    A tail lies at the child, amid the children, at the end site or straight on. If children come in
    sides (legs, arms), a bone points at those without one. Bones on the ground that carry the
    character point forward. No bone has a length of zero.
    """
    rotations, heads = skeleton.compute_rest_world()
    size = measure_extent(heads)
    ends: dict[int, list[np.ndarray]] = {}
    for bone, offset in skeleton.end_sites:
        tip = heads[bone] + quat.mul_vec(rotations[bone], np.array(offset))
        ends.setdefault(bone, []).append(tip)
    forward = find_ground_bones(skeleton)
    labels = find_sides(skeleton)
    result = np.empty_like(heads)
    for bone, parent in enumerate(skeleton.parents):
        children = skeleton.get_children(bone)
        middle = [child for child in children if not labels[child]]
        tips = [heads[child] for child in middle or children] or ends.get(bone, [])
        along = np.mean(tips, axis=0) - heads[bone] if tips else np.zeros(3)
        if bone in forward:
            along = np.array([0.0, -0.15 * size, 0.0])
        elif np.linalg.norm(along) < 0.01 * size:
            upright = parent < 0 or int(parent) in forward
            direction = np.array([0.0, 0.0, 1.0]) if upright else result[parent] - heads[parent]
            along = 0.05 * size * direction / np.linalg.norm(direction)
        result[bone] = heads[bone] + along
    return result


def find_ground_bones(skeleton: Skeleton) -> set[int]:
    """Find bones on the ground with one child, from the root on, such as a simulation bone."""
    _, heads = skeleton.compute_rest_world()
    low = heads[:, 2] < np.min(heads[:, 2]) + 0.05 * measure_extent(heads)
    result: set[int] = set()
    for bone, parent in enumerate(skeleton.parents):
        carries = parent < 0 or int(parent) in result
        if carries and low[bone] and len(skeleton.get_children(bone)) == 1:
            result.add(bone)
    return result if len(result) < skeleton.bone_count else set()


def find_sides(skeleton: Skeleton) -> list[str]:
    """Return 'L', 'R' or '' for each bone, as its name says."""
    return [split_side(name, skeleton.names)[1] for name in skeleton.names]


def _add_bones(armature: bpy.types.Armature, skeleton: Skeleton) -> None:
    _, heads = skeleton.compute_rest_world()
    names = to_blender_names(skeleton.names)
    tails = compute_tails(skeleton)
    created: list[bpy.types.EditBone] = []
    for name, parent, head, tail in zip(names, skeleton.parents, heads, tails, strict=True):
        bone = armature.edit_bones.new(name)
        bone.head = head
        bone.tail = tail
        # Z forward, or up for bones that point forward: neighbours bend about like axes
        steep = abs(tail[1] - head[1]) > 0.8 * np.linalg.norm(tail - head)
        bone.align_roll((0, 0, 1) if steep else (0, -1, 0))
        bone.parent = created[parent] if parent >= 0 else None
        created.append(bone)


@contextmanager
def _enter_edit_mode(obj: bpy.types.Object) -> Iterator[None]:
    layer = bpy.context.view_layer
    active = layer.objects.active
    selected = list(bpy.context.selected_objects)
    mode = active.mode if active else "OBJECT"
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    try:
        layer.objects.active = obj
        bpy.ops.object.mode_set(mode="EDIT")
        try:
            yield
        finally:
            bpy.ops.object.mode_set(mode="OBJECT")
    finally:
        obj.select_set(False)
        for other in selected:
            other.select_set(True)
        layer.objects.active = active
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode=mode)


def extract_turn_about_z(rotations: np.ndarray) -> np.ndarray:
    """Return the twist `(..., 4)` of rotations about Z."""
    return quat.normalize(rotations * np.array([1, 0, 0, 1], rotations.dtype))


def _truncate(name: str, size: int) -> str:
    return name.encode()[:size].decode(errors="ignore")


def measure_extent(points: np.ndarray) -> float:
    """Return the longest extent of points `(..., 3)`, or a metre if they coincide."""
    return float(np.max(np.ptp(points.reshape(-1, 3), axis=0))) or 1.0
