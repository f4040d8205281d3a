"""Fit the mannequin to another body: limb by limb, from joint to joint. Each bone of the demo has a
part of the mannequin. It is turned and stretched from its two joints to the other body's, and
points between two parts go with both, as they do when a bone turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import bpy
import numpy as np

from ...engine.body.limbs import Limbs
from ...engine.building.demo_clips import load_demo_skeleton
from ...engine.maths.rotations import quat
from ...engine.skeleton.skeleton import Skeleton
from .mannequin import create_mannequin_mesh, load_mannequin

_SIDES = ("Left", "Right")
_TRUNK = ("Hips", "Spine", "Chest", "UpperChest")
Ends = dict[str, tuple[np.ndarray, np.ndarray]]  # head and tail by bone
_UP = np.array([0.0, 0.0, 1.0])
# how much narrower or wider a trunk may be than its height says
_NARROW = 0.7
_WIDE = 1.5


@dataclass(frozen=True)
class _Part:
    """Target of a part of the mannequin: bone, head and tail, width and depth."""

    bone: int
    head: np.ndarray
    tail: np.ndarray
    width: float
    depth: float


def create_fitted_mannequin(
    armature: bpy.types.Object, skeleton: Skeleton, limbs: Limbs, name: str
) -> bpy.types.Object:
    """Create a mannequin for an armature of any skeleton with these limbs, and link it beside."""
    demo = load_demo_skeleton()
    _, heads = skeleton.compute_rest_world()
    ours = _measure_demo(demo)
    parts = _measure_body(skeleton, limbs, heads.astype(np.float64), ours)
    mannequin = load_mannequin()
    points = np.zeros(mannequin.points.shape)
    weights = np.zeros((len(points), skeleton.bone_count), np.float32)
    for index, bone in enumerate(demo.names):
        part = parts[bone]
        weight = mannequin.weights[:, index]
        points += weight[:, None] * _move(mannequin.points, *ours[bone], part, bone in _TRUNK)
        weights[:, part.bone] += weight
    points /= mannequin.weights.sum(axis=1, keepdims=True)
    fitted = mannequin._replace(points=points, weights=weights)
    return create_mannequin_mesh(armature, name, fitted, skeleton)


def _move(
    points: np.ndarray, head: np.ndarray, tail: np.ndarray, part: _Part, upright: bool
) -> np.ndarray:
    """Return points (V, 3) as a part goes from the demo's head and tail to its own."""
    along = tail - head
    target = part.tail - part.head
    length = np.linalg.norm(along)
    axis = along / length
    off = points - head
    depths = off @ axis
    across = off - depths[:, None] * axis
    scale = np.array([part.width, part.depth, part.depth]) if upright else part.width
    stretched = across * scale + (depths * np.linalg.norm(target) / length)[:, None] * axis
    turn = quat.between(axis, target / np.linalg.norm(target))
    return part.head + quat.mul_vec(turn, stretched)


def _measure_demo(demo: Skeleton) -> Ends:
    """Return head and tail of each bone of the demo; the hips' part goes up to the spine."""
    _, heads = demo.compute_rest_world()
    places: Any = heads.astype(np.float64)  # numpy 2 has no type for what its rows are
    at: dict[str, np.ndarray] = dict(zip(demo.names, places, strict=True))
    tips = {demo.names[bone]: at[demo.names[bone]] + offset for bone, offset in demo.end_sites}
    nexts = dict(pairwise(_TRUNK)) | {"UpperChest": "Neck", "Neck": "Head"}
    for side in _SIDES:
        for chain in (("Shoulder", "Arm", "ForeArm", "Hand"), ("UpLeg", "Leg", "Foot", "Toe")):
            for one, two in pairwise(chain):
                nexts[side + one] = side + two
    return {n: (at[n], at[nexts[n]] if n in nexts else tips[n]) for n in demo.names}


def _measure_body(
    skeleton: Skeleton, limbs: Limbs, heads: np.ndarray, demo: Ends
) -> dict[str, _Part]:
    """Return the part of each bone of the demo on a body whose bones rest at `heads` (B, 3)."""
    left, right = limbs.roles.legs
    hips = 0.5 * (heads[left.thigh] + heads[right.thigh])
    shoulders = 0.5 * (heads[limbs.arms[0].upper] + heads[limbs.arms[1].upper])
    legs = [heads[[one.thigh, one.shin, one.foot]] for one in limbs.roles.legs]
    leg = np.mean([_measure_length(*points) for points in legs])
    demo_leg = _measure_length(demo["LeftUpLeg"][0], demo["LeftLeg"][0], demo["LeftFoot"][0])
    trunk = float(np.linalg.norm(shoulders - hips))
    demo_trunk = demo["LeftArm"][0][2] - demo["LeftUpLeg"][0][2]
    size = 0.5 * (float(leg) / demo_leg + trunk / float(demo_trunk))
    pelvis = hips + (demo["Hips"][0][2] - demo["LeftUpLeg"][0][2]) * size * _UP
    head = heads[limbs.head]
    neck = heads[limbs.neck] if limbs.neck is not None else 0.7 * shoulders + 0.3 * head
    pairs = (left.thigh, right.thigh, "UpLeg"), (limbs.arms[0].upper, limbs.arms[1].upper, "Arm")
    widths = [
        np.linalg.norm(heads[one] - heads[other])
        / np.linalg.norm(demo[f"Left{name}"][0] - demo[f"Right{name}"][0])
        for one, other, name in pairs
    ]
    widths = np.clip(widths, _NARROW * size, _WIDE * size).tolist()
    parts = _measure_trunk(limbs, heads, (pelvis, neck), demo, widths, size)
    top = head + size * (demo["Head"][1] - demo["Head"][0])
    owner = limbs.neck if limbs.neck is not None else limbs.spine[-1]
    parts["Neck"] = _Part(owner, neck, head, size, size)
    parts["Head"] = _Part(limbs.head, head, top, size, size)
    for side, arm, one in zip(_SIDES, limbs.arms, limbs.roles.legs, strict=True):
        upper = heads[arm.upper]
        lower = heads[arm.lower]
        hand = heads[arm.hand]
        collar = heads[arm.shoulder] if arm.shoulder is not None else 0.8 * neck + 0.2 * upper
        owner = arm.shoulder if arm.shoulder is not None else limbs.spine[-1]
        chains = {
            "Shoulder": (owner, collar, upper),
            "Arm": (arm.upper, upper, lower),
            "ForeArm": (arm.lower, lower, hand),
            "Hand": (arm.hand, hand, _find_hand_tip(skeleton, arm.hand, heads, lower, size, demo)),
            "UpLeg": (one.thigh, heads[one.thigh], heads[one.shin]),
            "Leg": (one.shin, heads[one.shin], heads[one.foot]),
        }
        ankle = heads[one.foot]
        foot = demo[f"{side}Foot"]
        toe = heads[one.toe] if one.has_toe else ankle + size * (foot[1] - foot[0])
        tip = toe + size * (demo[f"{side}Toe"][1] - demo[f"{side}Toe"][0])
        chains |= {"Foot": (one.foot, ankle, toe), "Toe": (one.toe, toe, tip)}
        for name, (bone, start, end) in chains.items():
            parts[side + name] = _Part(bone, start, end, size, size)
    return parts


def _measure_trunk(
    limbs: Limbs,
    heads: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray],
    demo: Ends,
    widths: list[float],
    size: float,
) -> dict[str, _Part]:
    """Return the parts from the pelvis to the neck (`ends`), spaced along the spine as in the demo.

    `widths` are the factors at hips and shoulders.
    """
    way = np.stack([ends[0], *(heads[bone] for bone in limbs.spine[1:]), ends[1]])
    passed = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1)))
    shares = [demo[bone][0][2] for bone in (*_TRUNK, "Neck")]
    shares = (np.array(shares) - shares[0]) / (shares[-1] - shares[0])
    at = np.stack([np.interp(shares * passed[-1], passed, column) for column in way.T], axis=1)
    parts = {}
    for number, bone in enumerate(_TRUNK):
        middle = 0.5 * (shares[number] + shares[number + 1]) * passed[-1]
        index = int(np.searchsorted(passed[1:-1], middle, side="right"))
        owner = limbs.spine[index] if number else limbs.roles.hips
        width = float(np.interp(number, [0, len(_TRUNK) - 1], widths))
        parts[bone] = _Part(owner, at[number], at[number + 1], width, size)
    return parts


def _find_hand_tip(
    skeleton: Skeleton, hand: int, heads: np.ndarray, elbow: np.ndarray, size: float, demo: Ends
) -> np.ndarray:
    """Return where fingers end: along existing fingers, or along the forearm."""
    length = size * float(np.linalg.norm(demo["LeftHand"][1] - demo["LeftHand"][0]))
    below = skeleton.get_descendants(hand)
    along = heads[below].mean(axis=0) - heads[hand] if below else heads[hand] - elbow
    if np.linalg.norm(along) < 0.1 * length:
        along = heads[hand] - elbow
    return heads[hand] + length * along / np.linalg.norm(along)


def _measure_length(*points: np.ndarray) -> float:
    """Return the length of the way through points (3,)."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
