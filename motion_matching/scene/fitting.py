"""An armature as it stands in the scene, and how the skeleton of a clip fits it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ..engine.errors import RigError
from ..engine.maths import quat
from ..engine.motion.simulation_bone import NAME
from ..engine.motion.skeleton import Skeleton
from .armature import CHOOSE, BoneMap, blender_names
from .evaluation import world_matrix
from .matrices import similarity
from .root_target import Transform, compose, inverse

_TOLERANCE = 1e-3  # part of the character's size by which rests may differ
_REST = "motion_matching_rest"  # custom property of armatures that were made from a skeleton


@dataclass(frozen=True)
class Standing:
    """An armature object as it stands: `place` is its world rotation and position, `scale` metres per unit.

    By bone name, parents before children: `rests` in the world, metres; `matrices`, the rests in the armature;
    `parents`; and `poses`, what the bones that are posed now add to their rest, as matrices.
    """

    name: str
    place: Transform
    scale: float
    rests: dict[str, Transform]
    matrices: dict[str, np.ndarray]
    parents: dict[str, str | None]
    poses: dict[str, np.ndarray]

    @classmethod
    def of(cls, obj: bpy.types.Object) -> Standing:
        """RigError where the object is no armature, or is scaled unevenly, sheared or mirrored."""
        if obj.type != "ARMATURE":
            raise RigError(f"'{obj.name}' is not an armature; choose an armature object.")
        rotation, position, scale = similarity(world_matrix(obj), obj.name)
        place, bones = (rotation, position), obj.data.bones
        names = [bone.name for bone in bones]
        matrices = np.array([bone.matrix_local for bone in bones], dtype=np.float64).reshape(
            -1, 4, 4
        )
        worlds = compose(place, (quat.from_matrix(matrices[:, :3, :3]), scale * matrices[:, :3, 3]))
        poses = np.array(
            [obj.pose.bones[name].matrix_basis for name in names], dtype=np.float64
        ).reshape(-1, 4, 4)
        posed = np.flatnonzero(np.abs(poses - np.eye(4)).max(axis=(1, 2), initial=0.0) > 1e-6)
        return cls(
            obj.name,
            place,
            float(scale),
            dict(zip(names, zip(*worlds, strict=True), strict=True)),
            dict(zip(names, matrices, strict=True)),
            {bone.name: bone.parent.name if bone.parent else None for bone in bones},
            {names[i]: poses[i] for i in posed},
        )

    def above(self, bone: str) -> list[str]:
        """Bones above, from the parent up."""
        result = []
        while (parent := self.parents[bone]) is not None:
            result.append(parent)
            bone = parent
        return result

    def rest_as_posed(self, bone: str, moved: set[str]) -> Transform:
        """A bone's rest where those between it and the next of the `moved` ones above stay as they are posed now."""
        matrix, name = np.eye(4), bone
        while (parent := self.parents[name]) is not None:
            matrix = np.linalg.inv(self.matrices[parent]) @ self.matrices[name] @ matrix
            name = parent
            if name in moved:
                break
            if name in self.poses:
                self._check_unscaled(name)
                matrix = self.poses[name] @ matrix
        matrix = self.matrices[name] @ matrix
        return compose(self.place, (quat.from_matrix(matrix[:3, :3]), self.scale * matrix[:3, 3]))

    def _check_unscaled(self, bone: str) -> None:
        axes = self.poses[bone][:3, :3]
        if not np.allclose(axes.T @ axes, np.eye(3), atol=1e-4):
            raise RigError(
                f"bone '{bone}' of armature '{self.name}' is not in the motion and is scaled now; "
                "clear its scale (Pose > Clear Transform > Scale)."
            )


def place_of(standing: Standing, skeleton: Skeleton) -> Transform:
    """What leads from where a skeleton rests to where the armature does: a turn about Z and a shift.

    Found from the bones that both have. RigError where they have none in common or differ in more than place.
    """
    common = [i for i, name in enumerate(skeleton.names) if name in standing.rests]
    if not common:
        raise RigError(
            f"armature '{standing.name}' has no bone of the motion, such as '{skeleton.names[-1]}'; {CHOOSE}"
        )
    ours = skeleton.rest_world()[1][common].astype(np.float64)
    theirs = np.stack([standing.rests[skeleton.names[i]][1] for i in common])
    larger = _length(theirs, skeleton, common) / max(_length(ours, skeleton, common), 1e-9)
    if len(common) > 1 and not 0.98 < larger < 1.02:
        raise RigError(
            f"armature '{standing.name}' is {larger:.3g} times as large as the character of the motion; "
            "scale the object, or retarget the motion."
        )
    a, b = ours - ours.mean(axis=0), theirs - theirs.mean(axis=0)
    # the turn that brings the heads nearest, unless all lie on a vertical line
    sine, cosine = np.sum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]), np.sum(a[:, :2] * b[:, :2])
    flat = np.hypot(sine, cosine) < 1e-6 * np.sum(a**2)
    turn = quat.from_yaw(np.array(0.0 if flat else np.arctan2(sine, cosine)))
    return _rounded((turn, theirs.mean(axis=0) - quat.mul_vec(turn, ours.mean(axis=0))))


def fit(
    standing: Standing, skeleton: Skeleton, place: Transform, at_rest: Iterable[str] = ()
) -> BoneMap:
    """The map from a skeleton, led to the armature's rest by `place`, to the armature's pose bones.

    Every bone of the skeleton must hang on the next bone above it in the armature that is one of the skeleton's;
    bones in between stay as they are posed now, unless they are `at_rest`. RigError where a bone rests elsewhere.
    """
    parents = skeleton.parents
    rotations, positions = quat.fk(
        quat.normalize(skeleton.rest_rotations.astype(np.float64)),
        skeleton.rest_positions.astype(np.float64),
        parents,
    )
    back = inverse(place)
    _check_rests(standing, skeleton.names, positions, back)
    moved = {*skeleton.names, *at_rest}
    rest = np.stack([quat.mul(back[0], standing.rests[name][0]) for name in skeleton.names])
    turned, local = np.empty((len(parents), 4)), np.empty((len(parents), 3))
    for i, (name, parent) in enumerate(zip(skeleton.names, parents, strict=True)):
        turned[i], local[i] = (
            rest[i],
            positions[i],
        )  # not its own place: if it differs a little, it keeps its proportions
        if _posed_between(standing, name, moved):
            turned[i], local[i] = compose(back, standing.rest_as_posed(name, moved))
        if parent >= 0:
            local[i] = quat.inv_mul_vec(rotations[parent], local[i] - positions[parent])
    above = np.where(parents[:, None] < 0, quat.IDENTITY, rotations[parents])
    return BoneMap(
        skeleton.names,
        quat.inv_mul(turned, above),
        quat.inv_mul(rotations, rest),
        local,
        standing.scale,
    )


def keep_rest(obj: bpy.types.Object, skeleton: Skeleton) -> None:
    """Note in an armature made from a skeleton how the skeleton rests, so that other motion in its frames fits too.

    Sources of the same bones may rest otherwise than the armature, which says nothing about their bones' frames.
    """
    noted = {
        name: [*map(float, rotation), *map(float, position)]
        for name, rotation, position in zip(
            blender_names(skeleton.names),
            skeleton.rest_rotations,
            skeleton.rest_positions,
            strict=True,
        )
    }
    # takes have it above the skeleton's own root
    obj.data[_REST] = {NAME: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]} | noted


def known_rest(obj: bpy.types.Object, standing: Standing, skeleton: Skeleton) -> Skeleton:
    """The skeleton with the rest that `keep_rest` noted, where its own is not the armature's and it has a note."""
    noted: Any = obj.data.get(_REST, {})
    if not all(name in noted for name in skeleton.names) or _rests_alike(standing, skeleton):
        return skeleton
    rests = np.array([noted[name] for name in skeleton.names], dtype=np.float32)
    return replace(skeleton, rest_rotations=rests[:, :4], rest_positions=rests[:, 4:])


def _length(points: np.ndarray, skeleton: Skeleton, bones: list[int]) -> float:
    """The length of all bones together whose parents are there as well."""
    parents = skeleton.parents[bones]
    ends = [(i, bones.index(int(p))) for i, p in enumerate(parents) if p in bones]
    return float(sum(np.linalg.norm(points[i] - points[j]) for i, j in ends)) or 1.0


def _posed_between(standing: Standing, bone: str, moved: set[str]) -> bool:
    """Whether a bone between this and the next of the `moved` ones above is not at rest now."""
    for above in standing.above(bone):
        if above in moved:
            return False
        if above in standing.poses:
            return True
    return False


def _rests_alike(standing: Standing, skeleton: Skeleton) -> bool:
    try:
        back = inverse(place_of(standing, skeleton))
        common = [i for i, name in enumerate(skeleton.names) if name in standing.rests]
        positions = skeleton.rest_world()[1][common].astype(np.float64)
        _check_rests(standing, tuple(skeleton.names[i] for i in common), positions, back)
    except RigError:
        return False
    return True


def _check_rests(
    standing: Standing, names: tuple[str, ...], positions: np.ndarray, back: Transform
) -> None:
    theirs = np.stack([compose(back, standing.rests[name])[1] for name in names])
    away = np.linalg.norm(theirs - positions, axis=-1)
    size = float(np.max(np.ptp(positions, axis=0))) or 1.0
    if np.max(away) > _TOLERANCE * size:
        raise RigError(
            f"bone '{names[np.argmax(away)]}' of armature '{standing.name}' rests {np.max(away):.3g} m away "
            f"from where the motion expects it; {CHOOSE}"
        )


def _rounded(place: Transform) -> Transform:
    """The identity where nothing but rounding is left of it."""
    if np.abs(place[0][3]) < 1e-6 and np.max(np.abs(place[1])) < 1e-6:
        return quat.IDENTITY.copy(), np.zeros(3)
    return place
