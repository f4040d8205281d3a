"""Find the limbs of a body by the names in marks, and bend them to reach a point."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...body.body_roles import BodyRoles, find_body_roles
from ...errors import RigError
from ...legs.two_bones import STRAIGHTEST, bend_to, measure_hinge, turn_limbs
from ...maths.rotations import quat
from ...skeleton.skeleton import Skeleton

_ARMS = ("upper_arm", "forearm", "hand")
_LEGS = ("thigh", "shin", "foot")


class LimbChain(NamedTuple):
    """Bones of a limb: at its root, its middle and its end."""

    root: int
    middle: int
    end: int


@dataclass(frozen=True)
class _Named:
    """A skeleton that equals any other with the same bones and rest pose."""

    key: tuple[Any, ...]
    skeleton: Skeleton = field(compare=False)


def find_known_roles(skeleton: Skeleton) -> BodyRoles | None:
    """Return the cached roles of a body's bones, None if the body is not complete."""
    rest = skeleton.rest_positions.tobytes(), skeleton.rest_rotations.tobytes()
    key = skeleton.names, skeleton.parents.tobytes(), *rest, skeleton.end_sites
    return _find_roles(_Named(key, skeleton))


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
    for side, parts in itertools.product(("left", "right"), (_ARMS, _LEGS)):
        roles = [f"{side}_{part}" for part in parts]
        if all(role in chains for role in roles):
            limbs[roles[-1]] = LimbChain(*(chains[role][0] for role in roles))
    return limbs


class Bend(NamedTuple):
    """Side (K, 3) to bend a limb to, and shares (K,) of the way to it from the limb's own side."""

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
    """Return poses (T, 7, B) with a limb bent toward goals (K, 3) at ticks (K,).

    It bends to its own side, carried along, or to a given one.
    """
    rotations, joints = quat.compute_world(poses[ticks], skeleton.parents)
    root, middle, end = (joints[:, bone] for bone in limb)
    upper = middle - root
    lower = end - middle
    way = goal - root
    shins = rotations[:, limb.middle]
    hinge = quat.mul_vec(shins, measure_hinge(shins, upper, lower))
    whole, at_middle = bend_to(upper, lower, way, hinge, STRAIGHTEST)
    if bend is not None:
        whole = quat.mul(_turn_aside(quat.mul_vec(whole, upper), way, bend), whole)
    above = [rotations[:, skeleton.parents[bone]] for bone in limb]
    world = above[0], rotations[:, limb.root], above[1], shins, above[2]
    turned = turn_limbs(world, whole, at_middle, rotations[:, limb.end])
    result = poses.copy()
    for bone, local in zip(limb, turned, strict=True):
        result[ticks, 3:, bone] = local
    return result


def _turn_aside(upper: np.ndarray, way: np.ndarray, bend: Bend) -> np.ndarray:
    """Return rotations (K, 4) about ways (K, 3) by a share of the angle to another side."""
    way = quat.normalize_vectors(way)
    own, side = (
        quat.normalize_vectors(each - np.sum(each * way, axis=1, keepdims=True) * way)
        for each in (upper, bend.side)
    )
    angle = np.arctan2(np.sum(np.cross(own, side) * way, axis=1), np.sum(own * side, axis=1))
    angle = np.unwrap(angle)  # a limb turns all the way round instead of flipping over
    nearest = int(np.argmax(bend.shares))
    angle -= 2.0 * np.pi * np.round(angle[nearest] / (2.0 * np.pi))
    return np.asarray(quat.from_angle_axis(bend.shares * angle, way))
