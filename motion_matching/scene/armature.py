"""Skeleton <-> armature object, and the exact map between the local poses of the one and the pose bones of the other.

A skeleton's bones may point anywhere in their frames; a bone of Blender runs along its own Y axis. Each bone's two
frames therefore differ by a constant rotation, which the map carries. A skeleton read from an armature has Blender's
frames, upright and in metres however the object is turned and scaled. Nothing here keeps a Blender object.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ..engine.errors import RigError
from ..engine.maths import quat
from ..engine.motion.bone_names import split_side
from ..engine.motion.clip import Clip
from ..engine.motion.skeleton import Skeleton
from .bone_choice import chosen_bones
from .evaluation import world_matrix
from .matrices import similarity

NAME_BYTES = 63  # Blender cuts longer names and numbers equal ones
CHOOSE = "choose the armature that the motion was made for."


@dataclass(frozen=True)
class BoneMap:
    """Relates a skeleton's local poses to the pose bones (`location`, `rotation_quaternion`) of an armature.

    With G the world rotations of the skeleton's rest pose, R those of the armature's bones (see `rest_frame`), s the
    object's scale and p the parent: `basis rotation = (R^-1 G_p) * local rotation * (G^-1 R)` and
    `basis location = (R^-1 G_p) applied to (local position - local rest position), divided by s`.
    """

    bones: tuple[str, ...]  # (B,) names in the armature
    before: np.ndarray  # (B, 4) R^-1 G_p
    after: np.ndarray  # (B, 4) G^-1 R
    rest_positions: np.ndarray  # (B, 3) local, metres
    scale: float = 1.0  # metres per unit of the armature

    def to_basis(
        self, rotations: np.ndarray, positions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pose bones' rotations `(..., B, 4)` and locations `(..., B, 3)` of local rotations and positions."""
        turned = quat.mul(quat.mul(self.before, rotations), self.after)
        return quat.normalize(turned), quat.mul_vec(
            self.before, positions - self.rest_positions
        ) / self.scale

    def from_basis(
        self, rotations: np.ndarray, locations: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Local rotations `(..., B, 4)` and positions `(..., B, 3)` of pose bones' ones: undoes `to_basis`."""
        turned = quat.mul_inv(quat.inv_mul(self.before, rotations), self.after)
        return quat.normalize(turned), quat.inv_mul_vec(
            self.before, self.scale * locations
        ) + self.rest_positions


def create_armature(
    skeleton: Skeleton, name: str, collection: bpy.types.Collection | None = None
) -> bpy.types.Object:
    """A new armature object at the origin whose rest pose is the skeleton's, linked to the collection or the scene's.

    The collection must be part of the current scene. Mode, active object and selection are left as they were.
    """
    armature = bpy.data.armatures.new(name)
    obj = bpy.data.objects.new(name, armature)
    try:
        (collection or bpy.context.scene.collection).objects.link(obj)
        with _edit_mode(obj):
            _add_bones(armature, skeleton)
    except BaseException:
        bpy.data.armatures.remove(armature)  # takes the object with it
        raise
    return obj


def bone_map(obj: bpy.types.Object, skeleton: Skeleton) -> BoneMap:
    """The map between a skeleton and an armature object that has the same rest pose in its `rest_frame`.

    RigError where a bone is missing, hangs or rests elsewhere, or the object is scaled unevenly. Bones that only the
    armature has are ignored.
    """
    turn, scale = rest_frame(obj)
    bones = blender_names(skeleton.names)
    rest_rotations = quat.normalize(skeleton.rest_rotations.astype(np.float64))
    rest_positions = skeleton.rest_positions.astype(np.float64)
    rotations, positions = quat.fk(rest_rotations, rest_positions, skeleton.parents)
    rest = np.empty((len(bones), 4, 4))
    for i, (bone, parent) in enumerate(zip(bones, skeleton.parents, strict=True)):
        found = obj.data.bones.get(bone)
        if found is None:
            raise RigError(f"armature '{obj.name}' has no bone '{bone}'; {CHOOSE}")
        if (found.parent.name if found.parent else None) != (
            bones[parent] if parent >= 0 else None
        ):
            raise RigError(
                f"bone '{bone}' of armature '{obj.name}' has another parent than in the motion; {CHOOSE}"
            )
        rest[i] = found.matrix_local
    away = np.linalg.norm(scale * quat.mul_vec(turn, rest[:, :3, 3]) - positions, axis=-1)
    if np.max(away) > 1e-3 * _size(positions):
        raise RigError(
            f"bone '{bones[np.argmax(away)]}' of armature '{obj.name}' rests {np.max(away):.3g} m away "
            f"from where the motion expects it; {CHOOSE}"
        )
    towards = quat.mul(turn, quat.from_matrix(rest[:, :3, :3]))
    above = np.where(skeleton.parents[:, None] < 0, quat.IDENTITY, rotations[skeleton.parents])
    return BoneMap(
        bones, quat.inv_mul(towards, above), quat.inv_mul(rotations, towards), rest_positions, scale
    )


def skeleton_of(obj: bpy.types.Object, bones: str | None = None) -> Skeleton:
    """The skeleton of an armature object: Blender's bone frames in its `rest_frame`, bones' tails as end sites.

    `bones` is "all", "deform", or None to find out which (see `bone_choice.chosen_bones`). RigError where the object
    is no armature, is scaled unevenly, or has no such bones.
    """
    if obj.type != "ARMATURE":
        raise RigError(f"'{obj.name}' is not an armature; choose an armature object.")
    names, parents = chosen_bones(obj, bones)
    turn, scale = rest_frame(obj)
    rest = np.array([obj.data.bones[name].matrix_local for name in names], dtype=np.float64)
    heads = scale * quat.mul_vec(turn, rest[:, :3, 3])
    rotations, positions = quat.ik(
        quat.mul(turn, quat.from_matrix(rest[:, :3, :3])), heads, parents
    )
    ends = tuple(
        (bone, (0.0, scale * obj.data.bones[name].length, 0.0))
        for bone, name in enumerate(names)
        if bone not in parents
    )
    return Skeleton(
        names, parents, positions.astype(np.float32), rotations.astype(np.float32), ends
    )


def rest_frame(obj: bpy.types.Object) -> tuple[np.ndarray, float]:
    """How an armature object stands: its rotation (4,) without the turn about Z, and its scale.

    Its place and where it is turned to on the ground are motion rather than shape. RigError as in `matrices.similarity`.
    """
    rotation, _, scale = similarity(world_matrix(obj), obj.name)
    return quat.normalize(quat.inv_mul(_turn_about_z(rotation), rotation)), float(scale)


def blender_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names that Blender's bones get: at most 63 bytes, and unique."""
    result: list[str] = []
    for name in names:
        unique, number = _cut(name, NAME_BYTES), 0
        while unique in result:
            number += 1
            unique = f"{_cut(name, NAME_BYTES - 4)}.{number:03d}"
        result.append(unique)
    return tuple(result)


def standing_rest(clip: Clip) -> Skeleton:
    """The clip's skeleton with the clip's most upright pose as its rest pose, moved over the origin.

    Motion capture often rests with all bones stretched along one axis. A rest pose only says what local poses are
    measured from, so the motion stays the same. Most upright is the frame that is narrowest for its height. The
    root's turn about Z is taken out, which makes a simulation bone's character face -Y.
    """
    _, heads = clip.world()
    # medians, for an export's root may lie anywhere
    spread = np.median(np.abs(heads - np.median(heads, axis=1, keepdims=True)), axis=1)  # (F, 3)
    frame = np.argmin((spread[:, 0] + spread[:, 1]) / np.maximum(spread[:, 2], 1e-6))
    rotations, positions = clip.rotations[frame].copy(), clip.positions[frame].copy()
    roots = clip.skeleton.parents < 0
    rotations[roots] = quat.inv_mul(_turn_about_z(rotations[roots]), rotations[roots])
    positions[roots, :2] = 0.0
    return replace(clip.skeleton, rest_rotations=rotations, rest_positions=positions)


def tails(skeleton: Skeleton) -> np.ndarray:
    """Tails of the bones `(B, 3)` in the rest pose: at the child, amid the children, at the end site or straight on.

    Where children come in sides (legs, arms), a bone points at those without one: hips at the spine, a chest at the
    neck. Bones on the ground that carry the character point forward. No bone has a length of zero.
    """
    rotations, heads = skeleton.rest_world()
    size = _size(heads)
    ends: dict[int, list[np.ndarray]] = {}
    for bone, offset in skeleton.end_sites:
        ends.setdefault(bone, []).append(
            heads[bone] + quat.mul_vec(rotations[bone], np.array(offset))
        )
    forward, labels = ground_bones(skeleton), sides(skeleton)
    result = np.empty_like(heads)
    for bone, parent in enumerate(skeleton.parents):
        children = skeleton.children(bone)
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


def ground_bones(skeleton: Skeleton) -> set[int]:
    """Bones from the root on that lie on the ground and carry one child: a simulation bone, an export's root."""
    _, heads = skeleton.rest_world()
    low = heads[:, 2] < np.min(heads[:, 2]) + 0.05 * _size(heads)
    result: set[int] = set()
    for bone, parent in enumerate(skeleton.parents):
        if (
            low[bone]
            and len(skeleton.children(bone)) == 1
            and (parent < 0 or int(parent) in result)
        ):
            result.add(bone)
    return result if len(result) < skeleton.bone_count else set()


def sides(skeleton: Skeleton) -> list[str]:
    """'L', 'R' or '' for each bone, as its name says."""
    return [split_side(name, skeleton.names)[1] for name in skeleton.names]


def _add_bones(armature: bpy.types.Armature, skeleton: Skeleton) -> None:
    _, heads = skeleton.rest_world()
    ends = tails(skeleton)
    made: list[bpy.types.EditBone] = []
    for name, parent, head, tail in zip(
        blender_names(skeleton.names), skeleton.parents, heads, ends, strict=True
    ):
        bone = armature.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        # Z forward, or up for bones that point forward, so that neighbouring bones bend about like axes
        steep = abs(tail[1] - head[1]) > 0.8 * np.linalg.norm(tail - head)
        bone.align_roll((0, 0, 1) if steep else (0, -1, 0))
        bone.parent = made[parent] if parent >= 0 else None
        made.append(bone)


@contextmanager
def _edit_mode(obj: bpy.types.Object) -> Iterator[None]:
    layer = bpy.context.view_layer
    active, selected = layer.objects.active, list(bpy.context.selected_objects)
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


def _turn_about_z(rotations: np.ndarray) -> np.ndarray:
    """The part `(..., 4)` of rotations that turns about Z: their twist."""
    return quat.normalize(rotations * np.array([1, 0, 0, 1], rotations.dtype))


def _cut(name: str, size: int) -> str:
    return name.encode()[:size].decode(errors="ignore")


def _size(points: np.ndarray) -> float:
    """The longest extent of points `(..., 3)`, or a metre where they coincide."""
    return float(np.max(np.ptp(points.reshape(-1, 3), axis=0))) or 1.0
