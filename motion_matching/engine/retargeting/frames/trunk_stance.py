"""Find the rotations of a trunk's bones in a body that stands upright and faces -Y.

Motion in which the body stands for long shows them. Otherwise a straight rest pose does, such as
that of files with all bones along one axis: for the head, because people look down or up for
seconds, and for the whole trunk if the body only kneels, sits or crawls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...body.body_roles import BodyRoles
from ...body.limbs import ARMS, LEGS, SIDES, LimbBones, find_leg_carrier
from ...maths.rotations import quat
from ...skeleton.skeleton import Skeleton
from ..numbers import NUMBERS
from .frame_axes import average, slerp
from .neutral_pose import LEFT, UP, StandingPoses, find_left

_TRUNK = ("hips", "spine", "neck", "head")


def find_shoulders(poses: StandingPoses, limbs: Mapping[str, LimbBones]) -> np.ndarray | None:
    """Return the way (3,) from the middle of the hip joints to that of the shoulders, standing."""
    arms = [limbs[arm].upper for arm in ARMS if arm in limbs]
    if len(arms) < 2:
        return None
    legs = [limbs[leg].upper for leg in LEGS]
    points = poses.positions
    ways = points[:, arms].mean(axis=1) - points[:, legs].mean(axis=1)
    if not poses.stands:
        return float(np.linalg.norm(ways, axis=-1).mean()) * UP
    return ways.mean(axis=0)


def find_upright_trunk(
    poses: StandingPoses, skeleton: Skeleton, roles: BodyRoles, limbs: Mapping[str, LimbBones]
) -> dict[int, np.ndarray]:
    """Return the world rotations (4,) of trunk, tail and collars of the body standing upright."""
    chains = roles.chains
    trunk = [bone for role in _TRUNK for bone in chains.get(role, ())]
    collars = [bone for side in SIDES for bone in chains.get(f"{side}_collar", ())]
    tails = list(chains.get("tail", ()))
    upright = {bone: average(poses.rotations[:, bone]) for bone in [*trunk, *collars, *tails]}
    if not (poses.is_rest or roles.four_legged):
        _straighten(upright, poses, skeleton, roles, limbs)
    if not poses.is_rest:
        # hip joints are level and straight aside
        left = find_left(poses.positions, limbs)
        for bone in {chains["hips"][0], find_leg_carrier(skeleton, roles)}:
            found = quat.mul_vec(upright[bone], poses.average_direction(bone, left))
            upright[bone] = quat.mul(quat.between(found, LEFT), upright[bone])
    way = find_shoulders(poses, limbs)
    if poses.stands and not roles.four_legged and way is not None:
        # shoulders are above hip joints: the mean of a clip of running leans
        back = quat.from_angle_axis(np.arctan2(way[1], way[2]), LEFT)
        for bone in [*chains["hips"], *chains.get("spine", ()), *collars]:
            upright[bone] = quat.mul(back, upright[bone])
    return upright


def _straighten(
    upright: dict[int, np.ndarray],
    poses: StandingPoses,
    skeleton: Skeleton,
    roles: BodyRoles,
    limbs: Mapping[str, LimbBones],
) -> None:
    """Turn bones as in a straight rest pose, unless the body stands for long."""
    chains = roles.chains
    share = 0.0
    bones: Sequence[int] = chains.get("head", ())
    if poses.stands:
        share = min(1.0, float(poses.durations.sum()) / NUMBERS.long_stand)
    else:
        bones = [bone for role in _TRUNK for bone in chains.get(role, ())]
        turns = find_turns_upright(poses, roles, limbs)
        upright |= {b: average(quat.mul(turns, poses.rotations[:, b])) for b in upright}
    if share == 1.0:
        return
    chest = ([*chains["hips"], *chains.get("spine", ())])[-1]
    held = upright[chest]
    for bone, straight in _find_straight_rest(skeleton, roles, limbs, upright).items():
        if bone in bones and quat.angle_between(straight, upright[bone]) < NUMBERS.likely_rest:
            upright[bone] = slerp(straight, upright[bone], share)
    # collars follow the chest
    turn = quat.mul_inv(upright[chest], held)
    for side in SIDES:
        for bone in chains.get(f"{side}_collar", ()):
            upright[bone] = quat.mul(turn, upright[bone])


def find_turns_upright(
    poses: StandingPoses, roles: BodyRoles, limbs: Mapping[str, LimbBones]
) -> np.ndarray:
    """Return rotations (F, 4) in the world that turn the trunk upright and the hips to face -Y."""
    points = poses.positions
    legs = [limbs[leg].upper for leg in LEGS]
    arms = [limbs[arm].upper for arm in ARMS if arm in limbs]
    top = [bone for role in _TRUNK for bone in roles.chains.get(role, ())][-1:]
    ways = points[:, arms if len(arms) == 2 else top].mean(axis=1) - points[:, legs].mean(axis=1)
    return _face_ahead(find_left(points, limbs), ways)


def _find_straight_rest(
    skeleton: Skeleton,
    roles: BodyRoles,
    limbs: Mapping[str, LimbBones],
    held: Mapping[int, np.ndarray],
) -> dict[int, np.ndarray]:
    """Return the straight trunk (4,) at rest, upright and facing as hips and chest `held`."""
    rotations, points = (part.astype(np.float64) for part in skeleton.compute_rest_world())
    trunk = [bone for role in _TRUNK for bone in roles.chains.get(role, ())]
    whole = points[trunk[-1]] - points[trunk[0]]
    steps = np.diff(points[trunk], axis=0)
    along = steps @ quat.normalize_vectors(whole)
    left = find_left(points, limbs)
    bends = np.any(along < NUMBERS.trunk_straight * np.linalg.norm(steps, axis=-1))
    leans = not left.any() or abs(left @ quat.normalize_vectors(whole)) > NUMBERS.hips_level
    if len(trunk) < 3 or bends or leans:
        return {}
    upright = quat.mul(_face_ahead(left, whole), rotations)
    hips = roles.chains["hips"]
    chest = [*hips, *roles.chains.get("spine", ())][-1]
    sides = {b: _find_side(upright[b], held[b]) for b in (hips[0], chest)}
    return {b: quat.mul(sides[hips[0] if b in hips else chest], upright[b]) for b in trunk}


def _find_side(straight: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Return the quarter turn (4,) about the vertical that brings one rotation near to another."""
    turns = quat.from_yaw(np.pi / 2.0 * np.arange(4))
    options = quat.mul(turns, np.broadcast_to(straight, (4, 4)))
    return turns[int(quat.angle_between(options, np.broadcast_to(held, (4, 4))).argmin())]


def _face_ahead(left: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Return rotations (..., 4) that lay `left` (..., 3) along X, and `up` along Z if they can."""
    up = quat.normalize_vectors(up - np.sum(up * left, axis=-1, keepdims=True) * left)
    return quat.inv(quat.from_matrix(np.stack([left, np.cross(up, left), up], axis=-1)))
