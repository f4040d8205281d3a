"""Limbs of a body, as marks name them, and how they bend to lead to a point."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..body.body_roles import BodyRoles, find_body_roles
from ..errors import RigError
from ..maths import quat
from ..motion.skeleton import Skeleton
from ..retargeting.two_bones import solve_two_bones

_CLEAR = 0.05  # share of a limb's length by which its middle joint shows where it bends
_ARMS, _LEGS = ("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot")


class LimbChain(NamedTuple):
    """Bones of a limb: those that turn at its root and its middle, and the one at its end."""

    root: int
    middle: int
    end: int


class _Named:
    """A skeleton that is the same as another one with equal bones and rest pose."""

    def __init__(self, skeleton: Skeleton) -> None:
        rest = skeleton.rest_positions.tobytes(), skeleton.rest_rotations.tobytes()
        self.skeleton = skeleton
        self.key = skeleton.names, skeleton.parents.tobytes(), *rest, skeleton.end_sites

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Named) and self.key == other.key


def find_known_roles(skeleton: Skeleton) -> BodyRoles | None:
    """Return the roles of a body's bones, None if it has no whole body; they are kept."""
    return _find_roles(_Named(skeleton))


@lru_cache(maxsize=8)  # finding them takes longer than bending a limb
def _find_roles(named: _Named) -> BodyRoles | None:
    try:
        return find_body_roles(named.skeleton)
    except RigError:
        return None


def find_limbs(skeleton: Skeleton) -> dict[str, LimbChain]:
    """Return the limbs of a body by the names of their ends, such as 'left_hand'."""
    body = find_known_roles(skeleton)
    chains = body.chains if body else {}
    limbs = {}
    for side in ("left", "right"):
        for parts in (_ARMS, _LEGS):
            roles = [f"{side}_{part}" for part in parts]
            if all(role in chains for role in roles):
                limbs[roles[-1]] = LimbChain(*(chains[role][0] for role in roles))
    return limbs


class Bend(NamedTuple):
    """To which side (K, 3) a limb is to bend, and shares (K,) of the way from its own to that."""

    side: np.ndarray
    shares: np.ndarray


def bend_limb(
    poses: np.ndarray,
    ticks: np.ndarray,
    skeleton: Skeleton,
    limb: LimbChain,
    goal: np.ndarray,
    bend: Bend | None = None,
) -> np.ndarray:
    """Return poses (T, 7, B) in which a limb leads to goals (K, 3) at ticks (K,) as it reaches.

    It bends to its own side, carried along, or toward another one.
    """
    rotations, joints = quat.compute_world(poses[ticks], skeleton.parents)
    root, middle, end = (joints[:, bone] for bone in limb)
    upper, lower = (
        float(np.linalg.norm(b - a, axis=-1).mean()) for a, b in ((root, middle), (middle, end))
    )
    turns = quat.between(quat.normalize_vectors(end - root), quat.normalize_vectors(goal - root))
    pole = quat.mul_vec(turns, _find_bend(root, middle, end, upper + lower))
    if bend is not None:
        pole = _turn_pole(pole, goal - root, bend)
    ways = solve_two_bones(root, goal, (upper, lower), pole)
    return _turn_limb(poses, ticks, skeleton, limb, rotations, joints, ways)


def _turn_pole(pole: np.ndarray, way: np.ndarray, bend: Bend) -> np.ndarray:
    """Return poles (K, 3) turned about ways (K, 3) by a share of the angle to another side."""
    way = quat.normalize_vectors(way)
    own, side = (
        quat.normalize_vectors(each - np.sum(each * way, axis=1, keepdims=True) * way)
        for each in (pole, bend.side)
    )
    angle = np.arctan2(np.sum(np.cross(own, side) * way, axis=1), np.sum(own * side, axis=1))
    angle = np.unwrap(angle)  # a limb turns all the way round rather than to flip over
    nearest = int(np.argmax(bend.shares))
    angle -= 2.0 * np.pi * np.round(angle[nearest] / (2.0 * np.pi))
    return np.asarray(quat.mul_vec(quat.from_angle_axis(bend.shares * angle, way), own))


def _find_bend(root: np.ndarray, middle: np.ndarray, end: np.ndarray, length: float) -> np.ndarray:
    """Return to which side (F, 3) a limb bends; one that is straight now bends as it does later."""
    way = quat.normalize_vectors(end - root)
    aside = middle - root
    aside = aside - np.sum(aside * way, axis=-1, keepdims=True) * way
    size = np.linalg.norm(aside, axis=-1, keepdims=True)
    mean = np.sum(aside, axis=0, keepdims=True)
    mean = mean / max(float(np.linalg.norm(mean)), 1e-9)
    return np.asarray(aside + np.maximum(_CLEAR * length - size, 0.0) * mean)


def _turn_limb(
    poses: np.ndarray,
    ticks: np.ndarray,
    skeleton: Skeleton,
    limb: LimbChain,
    rotations: np.ndarray,
    joints: np.ndarray,
    ways: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Return poses whose limb leads along two ways at ticks; its end keeps its rotation."""
    result = poses.copy()
    root, middle, end = (joints[:, bone] for bone in limb)
    turns = [
        quat.between(quat.normalize_vectors(b - a), quat.normalize_vectors(way))
        for (a, b), way in zip(((root, middle), (middle, end)), ways, strict=True)
    ]
    turned = [*turns, np.broadcast_to([1.0, 0.0, 0.0, 0.0], turns[0].shape)]
    above = [np.broadcast_to([1.0, 0.0, 0.0, 0.0], turns[0].shape), *turns]
    for bone, own, parent_turn in zip(limb, turned, above, strict=True):
        parent = quat.mul(parent_turn, rotations[:, skeleton.parents[bone]])
        local = quat.inv_mul(parent, quat.mul(own, rotations[:, bone]))
        result[ticks, 3:, bone] = quat.normalize(local)
    return result
