"""Find anatomical frames of fingers: Y along each bone, X the axis that it curls about."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from ...body.body_roles import BodyRoles
from ...body.limbs import FINGERS, SIDES
from ...maths.rotations import quat
from ...skeleton.skeleton import Skeleton
from .frame_axes import get_axis, make_frames

_PHALANGES = 3  # phalanges of a finger; a thumb has two, and its metacarpal moves like one


def list_finger_roles(roles: BodyRoles, side: str) -> list[str]:
    """Return the roles of fingers that a body has on a side."""
    return [f"{side}_{finger}" for finger in FINGERS if roles.chains.get(f"{side}_{finger}")]


def count_palm_bones(skeleton: Skeleton, roles: BodyRoles, role: str) -> int:
    """Return how many bones of a finger lie in the palm, before its knuckle.

    Only the first of four bones can, if it is longer than the way to it from the wrist.
    """
    chain = roles.chains[role]
    hand = roles.chains.get(f"{role.split('_')[0]}_hand")
    if not hand or role.endswith("thumb") or len(chain) <= _PHALANGES:
        return 0
    steps = np.diff(skeleton.compute_rest_world()[1][[hand[0], *chain[:2]]], axis=0)
    away, first = np.linalg.norm(steps, axis=-1)
    return int(first > away)


def count_tips(skeleton: Skeleton, roles: BodyRoles, role: str) -> int:
    """Return how many bones at the end of a finger are beyond its last phalanx."""
    palm = count_palm_bones(skeleton, roles, role)
    return max(0, len(roles.chains[role]) - palm - _PHALANGES)


def find_finger_frames(
    skeleton: Skeleton, roles: BodyRoles, frames: Mapping[int, np.ndarray]
) -> dict[int, np.ndarray]:
    """Return C (4,) by bone of fingers, from their rest pose and C of the hands."""
    found: dict[int, np.ndarray] = {}
    rotations, points = (part.astype(np.float64) for part in skeleton.compute_rest_world())
    for side in SIDES:
        hand = (roles.chains.get(f"{side}_hand") or (-1,))[0]
        if hand not in frames:
            continue
        palm = quat.mul(rotations[hand], frames[hand])
        for role in list_finger_roles(roles, side):
            chain = roles.chains[role]
            ways = _find_ways(skeleton, chain, rotations, points)
            for bone, way in zip(chain, ways, strict=True):
                # fingers curl about the axis across the palm, and the thumb lies across it
                toward = get_axis(palm, 0 if role.endswith("thumb") else 2)
                if not role.endswith("thumb"):
                    toward = np.cross(toward, way)
                frames_in_world = make_frames(way, toward)
                found[bone] = quat.inv_mul(rotations[bone], frames_in_world)
    return found


def _find_ways(
    skeleton: Skeleton, chain: tuple[int, ...], rotations: np.ndarray, points: np.ndarray
) -> list[np.ndarray]:
    """Return the ways (3,) at rest along the bones of a finger."""
    ways = [points[after] - points[bone] for bone, after in pairwise(chain)]
    last = chain[-1]
    sites = [np.array(site) for bone, site in skeleton.end_sites if bone == last]
    tips = [quat.mul_vec(rotations[last], site) for site in sites]
    tips += [points[child] - points[last] for child in skeleton.get_children(last)]
    tips += ways[::-1]
    tips.append(points[last] - points[skeleton.parents[last]])
    # many files end their fingers with an end site at the joint itself
    return [*ways, next((tip for tip in tips if tip.any()), tips[-1])]
