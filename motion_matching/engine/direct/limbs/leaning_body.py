"""Bend a body that leans within its limits, and keep its feet in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ...control.rollout import Take
from ...database.database import Database
from ...maths import planar
from ...maths.numeric import arctan2
from ...maths.rotations import quat
from .limbs import LimbChain, bend_limb, find_known_roles, find_limbs
from .numbers import NUMBERS

_UP = np.array([0.0, 0.0, 1.0])


class LeaningBody(NamedTuple):
    """The bones that lean, top to bottom, and the cumulative share of the lean at each."""

    hips: int
    trunk: tuple[int, ...]  # hips and spine
    shares: tuple[float, ...]
    neck: int | None
    head: int | None
    collars: Mapping[str, int]
    arms: Mapping[str, LimbChain]
    legs: tuple[LimbChain, ...]


class Lean(NamedTuple):
    """Offsets of a body from its motion at K ticks, in the character's heading.

    - `turn` (K, 3): rotation vector of the whole trunk; `collars` (K, 3) by hand: of the shoulders
    - `shift` (K, 3): of the hips in metres; `amount` (K,): share of a person's range
    """

    turn: np.ndarray
    collars: Mapping[str, np.ndarray]
    shift: np.ndarray
    amount: np.ndarray

    def map(self, change: Callable[[np.ndarray], np.ndarray]) -> Lean:
        """Return a lean whose rows, by tick, are changed by a function."""
        collars = {hand: change(turn) for hand, turn in self.collars.items()}
        return Lean(change(self.turn), collars, change(self.shift), change(self.amount))


def find_body(database: Database) -> LeaningBody | None:
    skeleton = database.skeleton
    arms = {name: limb for name, limb in find_limbs(skeleton).items() if name.endswith("hand")}
    roles = find_known_roles(skeleton)
    if roles is None or not arms or roles.four_legged:
        return None
    hips = database.roles.hips
    spine = roles.chains.get("spine", ())
    spine = tuple(bone for bone in spine if hips in skeleton.get_ancestors(bone))
    pelvis = NUMBERS.lean_pelvis if spine else 1.0
    rest = (1.0 - pelvis) / max(len(spine), 1)
    collars = {name: roles.chains.get(name.replace("hand", "collar")) for name in arms}
    neck = roles.chains.get("neck") or roles.chains.get("head") or (None,)
    return LeaningBody(
        hips,
        (hips, *spine),
        tuple(pelvis + rest * k for k in range(len(spine) + 1)),
        neck[0],
        database.roles.head,
        {name: chain[0] for name, chain in collars.items() if chain},
        arms,
        tuple(LimbChain(*chain[:3]) for chain in database.roles.leg_bones),
    )


def bend(poses: np.ndarray, lean: Lean, body: LeaningBody, parents: np.ndarray) -> np.ndarray:
    """Return poses (K, 7, B) that lean; feet are not yet back where they were."""
    rotations, _ = quat.compute_world(poses, parents)
    yaw = arctan2(*quat.mul_vec(rotations[:, 0], np.array([1.0, 0.0, 0.0]))[:, 1::-1].T)

    def to_world(vectors: np.ndarray) -> np.ndarray:
        return np.column_stack([planar.rotate(vectors[:, :2], yaw), vectors[:, 2]])

    turn = to_world(lean.turn)
    turned = rotations.copy()
    result = poses.copy()
    level = turn * [1.0, 1.0, 0.0]
    turns = {bone: share * turn for bone, share in zip(body.trunk, body.shares, strict=True)}
    turns |= {limb.root: turn - NUMBERS.arm_hangs * level for limb in body.arms.values()}
    if body.neck is not None:
        turns[body.neck] = turn - NUMBERS.lean_head * level
    own = {bone: quat.from_scaled_angle_axis(each) for bone, each in turns.items()}
    for hand in body.collars.keys() & lean.collars.keys():
        collar = quat.from_scaled_angle_axis(to_world(lean.collars[hand]))
        own[body.collars[hand]] = quat.mul(collar, quat.from_scaled_angle_axis(turn))
    for bone, parent in enumerate(parents.tolist()):
        if parent < 0:
            continue
        if bone in own:
            turned[:, bone] = quat.mul(own[bone], rotations[:, bone])
            local = quat.inv_mul(turned[:, parent], turned[:, bone])
            result[:, 3:, bone] = quat.normalize(local)
        else:
            turned[:, bone] = quat.mul(turned[:, parent], poses[:, 3:, bone])
    shift = quat.inv_mul_vec(turned[:, parents[body.hips]], to_world(lean.shift))
    result[:, :3, body.hips] += shift
    return result


def stand(
    poses: np.ndarray, before: np.ndarray, ticks: np.ndarray, body: LeaningBody, take: Take
) -> np.ndarray:
    """Bend knees so that the feet of poses (T, 7, B) are at ticks as they were `before`."""
    parents = take.skeleton.parents
    feet, ankles = quat.compute_world(before[ticks], parents)
    rotations, joints = quat.compute_world(poses[ticks], parents)
    drop = np.zeros(len(ticks))
    for leg in body.legs:
        length = sum(
            float(np.linalg.norm(ankles[:, b] - ankles[:, a], axis=-1).mean())
            for a, b in ((leg.root, leg.middle), (leg.middle, leg.end))
        )
        was = np.linalg.norm(ankles[:, leg.end] - ankles[:, leg.root], axis=1)
        reach = np.maximum(NUMBERS.leg_reach * length, was)
        away = joints[:, leg.root] - ankles[:, leg.end]
        height = np.sqrt(np.maximum(reach**2 - np.sum(away[:, :2] ** 2, axis=1), 0.0))
        drop = np.maximum(drop, away[:, 2] - height)
    parent = parents[body.hips]
    down = quat.inv_mul_vec(rotations[:, parent], -drop[:, None] * _UP)
    result = poses.copy()
    result[ticks, :3, body.hips] += down
    for leg in body.legs:
        result = bend_limb(result, ticks, take.skeleton, leg, ankles[:, leg.end])
    rotations, _ = quat.compute_world(result[ticks], parents)
    for leg in body.legs:
        local = quat.inv_mul(rotations[:, leg.middle], feet[:, leg.end])
        result[ticks, 3:, leg.end] = quat.normalize(local)
    return result
