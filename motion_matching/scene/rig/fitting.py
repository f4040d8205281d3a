"""Measure how an armature stands in the scene, and fit the skeleton of a clip to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import bpy
import numpy as np

from ...engine.errors import RigError
from ...engine.files.json_files import EntryError, expect_object
from ...engine.maths.rotations import quat
from ...engine.motion.conforming import has_same_offsets
from ...engine.motion.simulation_bone import SIMULATION_BONE_NAME
from ...engine.skeleton.skeleton import Skeleton
from ..blender import id_properties
from ..blender.evaluation.evaluation import compute_world_matrix
from ..blender.evaluation.object_motion import find_steady_axes
from ..blender.transforms.transforms import (
    Transform,
    compose,
    compose_matrices,
    decompose_similarity,
    invert,
)
from .armature import (
    CHOOSE,
    BoneMap,
    check_armature,
    compute_rest_frame,
    extract_turn_about_z,
    measure_extent,
    to_blender_names,
)
from .bone_choice import find_ancestors

_TOLERANCE = 1e-3  # how much rests may differ, as a part of the character's size
_REST = "motion_matching_rest"  # custom property of armatures that were made from a skeleton


@dataclass(frozen=True)
class ArmatureState:
    """An armature object as it stands: its world rotation and position, and its scale.

    `world` (4, 4) is all three. `scale` is in metres per unit. By bone name, parents before
    children: `rests` in the world, in metres; `matrices`, the rests in the armature; `parents`; and
    `poses`, what posed bones add to them.
    """

    name: str
    world: np.ndarray
    transform: Transform
    scale: float
    rests: dict[str, Transform]
    matrices: dict[str, np.ndarray]
    parents: dict[str, str | None]
    poses: dict[str, np.ndarray]

    @classmethod
    def from_object(cls, obj: bpy.types.Object) -> ArmatureState:
        """Read an object; raise RigError if it is no armature, scaled unevenly, or mirrored."""
        check_armature(obj)
        world = compute_world_matrix(obj)
        rotation, position, scale = decompose_similarity(world, obj.name)
        if steady := find_steady_axes(obj):  # else it would stand as on the frame that is shown
            rotation = quat.mul(extract_turn_about_z(rotation), steady[0])
            scale = steady[1]
            world = compose_matrices(rotation, position, np.full(3, scale))
        transform = (rotation, position)
        bones = obj.data.bones
        names = [bone.name for bone in bones]
        matrices = _stack([bone.matrix_local for bone in bones])
        poses = _stack([obj.pose.bones[name].matrix_basis for name in names])
        heads = scale * matrices[:, :3, 3]
        worlds = compose(transform, (quat.from_matrix(matrices[:, :3, :3]), heads))
        rests = dict(zip(names, zip(*worlds, strict=True), strict=True))
        by_name = dict(zip(names, matrices, strict=True))
        parents = {bone.name: bone.parent.name if bone.parent else None for bone in bones}
        posed = np.flatnonzero(np.abs(poses - np.eye(4)).max(axis=(1, 2), initial=0.0) > 1e-6)
        posed_now = {names[i]: poses[i] for i in posed}
        return cls(obj.name, world, transform, float(scale), rests, by_name, parents, posed_now)

    def find_ancestors(self, bone: str) -> list[str]:
        """Return the bones above, from the parent up."""
        return find_ancestors(self.parents, bone)

    def compute_posed_rest(self, bone: str, moved: set[str]) -> Transform:
        """Return a bone's rest while bones above it stay posed as now, up to one of `moved`."""
        matrix = np.eye(4)
        name = bone
        while (parent := self.parents[name]) is not None:
            matrix = np.linalg.inv(self.matrices[parent]) @ self.matrices[name] @ matrix
            name = parent
            if name in moved:
                break
            if name in self.poses:
                axes = self.poses[name][:3, :3]
                if not np.allclose(axes.T @ axes, np.eye(3), atol=1e-4):
                    raise RigError(
                        f"bone '{name}' of armature '{self.name}' is not in the motion but has a "
                        "scale; clear it (Pose > Clear Transform > Scale)."
                    )
                matrix = self.poses[name] @ matrix
        matrix = self.matrices[name] @ matrix
        local = quat.from_matrix(matrix[:3, :3]), self.scale * matrix[:3, 3]
        return compose(self.transform, local)


def _stack(matrices: list[Any]) -> np.ndarray:
    """Return Blender's matrices as an array (B, 4, 4)."""
    return np.array(matrices, dtype=np.float64).reshape(-1, 4, 4)


def compute_alignment(
    standing: ArmatureState, skeleton: Skeleton, carriers: Sequence[int] = ()
) -> Transform:
    """Return the turn about Z and the shift from a skeleton's rest to the armature's.

    Bones above the hips (`carriers`) do not count, as a root may rest anywhere under the body.
    Raises RigError if they have no bones in common, or differ in size.
    """
    common = _find_common_bones(standing, skeleton, carriers)
    if not common:
        raise RigError(
            f"armature '{standing.name}' has no bone of the motion, such as "
            f"'{skeleton.names[-1]}'; {CHOOSE}"
        )
    ours = skeleton.compute_rest_world()[1][common].astype(np.float64)
    theirs = np.stack([standing.rests[skeleton.names[i]][1] for i in common])
    our_length, their_length = (_measure_length(p, skeleton, common) for p in (ours, theirs))
    larger = their_length / max(our_length, 1e-9)
    if len(common) > 1 and not 0.98 < larger < 1.02:
        raise RigError(
            f"armature '{standing.name}' is {larger:.3g} times as large as the character of the "
            "motion; scale the object, or retarget the motion."
        )
    a, b = ours - ours.mean(axis=0), theirs - theirs.mean(axis=0)
    # the turn that brings the heads nearest, unless all lie on a vertical line
    sine = np.sum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
    cosine = np.sum(a[:, :2] * b[:, :2])
    flat = np.hypot(sine, cosine) < 1e-6 * np.sum(a**2)
    turn = quat.from_yaw(np.array(0.0 if flat else np.arctan2(sine, cosine)))
    shift = theirs.mean(axis=0) - quat.mul_vec(turn, ours.mean(axis=0))
    if np.abs(turn[3]) < 1e-6 and np.max(np.abs(shift)) < 1e-6:  # nothing but rounding
        return quat.IDENTITY.copy(), np.zeros(3)
    return turn, shift


def fit(
    standing: ArmatureState, skeleton: Skeleton, alignment: Transform, at_rest: Iterable[str] = ()
) -> BoneMap:
    """Build the map from a skeleton, led to the armature's rest by `alignment`, to its pose bones.

    Every bone must hang on the next one above it in the armature that the skeleton has. Bones in
    between stay as they are posed, unless they are `at_rest`. Raises RigError if a bone rests
    elsewhere.
    """
    parents = skeleton.parents
    names = skeleton.names
    rest_rotations = quat.normalize(skeleton.rest_rotations.astype(np.float64))
    rest_positions = skeleton.rest_positions.astype(np.float64)
    rotations, positions = quat.fk(rest_rotations, rest_positions, parents)
    back = invert(alignment)
    if problem := _describe_rest(standing, names, positions, back):
        raise RigError(problem)
    moved = {*names, *at_rest}
    rest = quat.mul(back[0], np.stack([standing.rests[name][0] for name in names]))
    # the motion's positions, to keep its proportions
    turned = rest.copy()
    local = positions.copy()
    for i, name in enumerate(names):
        between = takewhile(lambda bone: bone not in moved, standing.find_ancestors(name))
        if any(bone in standing.poses for bone in between):  # and not at rest
            turned[i], local[i] = compose(back, standing.compute_posed_rest(name, moved))
    hung = parents >= 0
    over = parents[hung]
    local[hung] = quat.inv_mul_vec(rotations[over], local[hung] - positions[over])
    above = np.where(parents[:, None] < 0, quat.IDENTITY, rotations[parents])
    before = quat.inv_mul(turned, above)
    after = quat.inv_mul(rotations, rest)
    return BoneMap(names, before, after, local, standing.scale)


def find_misfit(
    obj: bpy.types.Object, standing: ArmatureState, skeleton: Skeleton, carriers: Sequence[int]
) -> tuple[str, str]:
    """Return why a skeleton cannot play on an armature: 'size' or 'rest', and a sentence; or ''.

    Bones are compared that both have, but for `carriers`.
    """
    sliding = np.zeros(skeleton.bone_count, bool)
    source = apply_armature_rest(obj, standing, skeleton, carriers, sliding)
    return _find_misfit(standing, source, carriers)


def _find_misfit(
    standing: ArmatureState, skeleton: Skeleton, carriers: Sequence[int]
) -> tuple[str, str]:
    try:
        back = invert(compute_alignment(standing, skeleton, carriers))
    except RigError as error:
        return "size", str(error)
    common = _find_common_bones(standing, skeleton, carriers)
    heads = skeleton.compute_rest_world()[1][common].astype(np.float64)
    problem = _describe_rest(standing, tuple(skeleton.names[i] for i in common), heads, back)
    return ("rest", problem) if problem else ("", "")


def store_rest(obj: bpy.types.Object, skeleton: Skeleton) -> None:
    """Store a skeleton's rest in its armature, which lacks the frames of the motion's bones."""
    values = np.concatenate([skeleton.rest_rotations, skeleton.rest_positions], axis=1).tolist()
    # takes have this bone above the skeleton's own root
    rests = {SIMULATION_BONE_NAME: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
    names = to_blender_names(skeleton.names)
    obj.data[_REST] = rests | dict(zip(names, values, strict=True))


def read_stored_rest(obj: bpy.types.Object, skeleton: Skeleton) -> Skeleton | None:
    """Return an armature's skeleton with the rest of `store_rest`, if all its bones have one."""
    try:
        stored = expect_object(id_properties.read(obj.data, _REST), "the stored rest")
        rows = [id_properties.expect_rows(stored.get(name), 7, 1) for name in skeleton.names]
    except EntryError:  # there is none, or not of all bones
        return None
    rests = np.concatenate(rows)
    return replace(skeleton, rest_rotations=rests[:, :4], rest_positions=rests[:, 4:])


def apply_armature_rest(
    obj: bpy.types.Object,
    standing: ArmatureState,
    skeleton: Skeleton,
    carriers: Sequence[int],
    sliding: np.ndarray,
) -> Skeleton:
    """Return the skeleton with the armature's rest, if its own is another.

    Files may have the frames of `store_rest`, or of Blender's bones. All bones then lie alike in
    their parents, except `carriers`, their children, and `sliding` (B,) bones.
    """
    free = sliding | np.isin(skeleton.parents, carriers)
    if _find_misfit(standing, skeleton, carriers) == ("", ""):
        return skeleton
    rests = read_stored_rest(obj, skeleton), _read_bone_rest(obj, skeleton)
    fitting = (rest for rest in rests if rest and has_same_offsets(rest, skeleton, free))
    return next(fitting, skeleton)


def _read_bone_rest(obj: bpy.types.Object, skeleton: Skeleton) -> Skeleton:
    """Return a skeleton that rests as the armature does, in the frames of Blender's bones."""
    turns, heads = (array.astype(np.float64) for array in skeleton.compute_rest_world())
    turn, scale = compute_rest_frame(obj)
    for index, name in enumerate(skeleton.names):
        if bone := obj.data.bones.get(name):
            matrix = np.array(bone.matrix_local, np.float64)
            heads[index] = scale * quat.mul_vec(turn, matrix[:3, 3])
            turns[index] = quat.mul(turn, quat.from_matrix(matrix[:3, :3]))
    rotations, positions = quat.ik(turns, heads, skeleton.parents)
    return replace(skeleton, rest_rotations=rotations, rest_positions=positions)


def _find_common_bones(
    standing: ArmatureState, skeleton: Skeleton, carriers: Sequence[int]
) -> list[int]:
    """Return the bones that an armature has as well, but for carriers if there are others."""
    common = [i for i, name in enumerate(skeleton.names) if name in standing.rests]
    return [i for i in common if i not in carriers] or common


def _measure_length(points: np.ndarray, skeleton: Skeleton, bones: list[int]) -> float:
    """Return the total length of all bones whose parents are there as well."""
    parents = skeleton.parents[bones]
    ends = [(i, bones.index(int(p))) for i, p in enumerate(parents) if p in bones]
    return float(sum(np.linalg.norm(points[i] - points[j]) for i, j in ends)) or 1.0


def _describe_rest(
    standing: ArmatureState, names: tuple[str, ...], positions: np.ndarray, back: Transform
) -> str:
    """Say which bone rests elsewhere than at its position (B, 3) in the motion, if one does."""
    theirs = back[1] + quat.mul_vec(back[0], np.stack([standing.rests[n][1] for n in names]))
    away = np.linalg.norm(theirs - positions, axis=-1)
    if np.max(away) <= _TOLERANCE * measure_extent(positions):
        return ""
    return (
        f"bone '{names[np.argmax(away)]}' of armature '{standing.name}' rests {np.max(away):.3g} m "
        f"away from where the motion expects it; {CHOOSE}"
    )
