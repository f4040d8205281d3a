"""Solve the controls of a rig so that its deform bones follow a clip.

With W the pose of a bone and R its rest, a control c of a deform bone d is wanted at `W_d R_d^-1
R_c`. What lies between two controls comes from `PoseGraph`; nothing is evaluated per frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...engine.maths.easing import smoothstep
from ...engine.maths.rotations import quat
from ...engine.motion.clip import Clip
from ...engine.motion.contacts import PRESETS, find_contacts
from ...engine.progress import ShareSteps
from ..blender.transforms.transforms import Y_AXIS, Transform, compose, to_frames
from .control_rig import ControlLimb, ControlRig, KeyedControls
from .effects import solve_limb
from .foot_roll import find_stances, split_foot
from .pose_graph import PoseGraph

_POLE = 0.7  # of a limb's length: how far before the knee a pole is put
# bends, as parts of the length: below, the upper bone says where knees point
_STRAIGHT = (0.01, 0.04)


@dataclass(frozen=True)
class ControlMotion:
    """Channels of a control: basis rotations (F, 4) and locations (F, 3), or None if left alone."""

    rotation: np.ndarray | None
    location: np.ndarray | None


def find_planted(rig: ControlRig, clip: Clip, distance: float) -> dict[str, np.ndarray]:
    """Return when the ball of each leg rests, (F,) by limb: where the toes begin, or the ankle."""
    legs = [limb for limb in rig.limbs if limb.kind == "leg" and limb.bones]
    if not legs:
        return {}
    positions = clip.compute_world()[1]
    balls = positions[:, [clip.skeleton.index(limb.bones[-1]) for limb in legs]].astype(np.float64)
    contacts = find_contacts(balls, clip.fps, PRESETS["article"])
    return {
        limb.name: find_stances(balls[:, i], contacts[:, i], distance)
        for i, limb in enumerate(legs)
    }


def solve_controls_steps(
    graph: PoseGraph,
    keyed: KeyedControls,
    poses: Mapping[str, Transform],
    planted: Mapping[str, np.ndarray],
) -> ShareSteps[dict[str, ControlMotion]]:
    """Solve for controls one by one, of deform poses (F, ...) by bone in the armature's space."""
    rig = keyed.rig
    for control, bone in rig.place.items():
        graph.give(control, *follow(graph, control, bone, poses))
    for control, bone in rig.follow.items():
        graph.give(control, follow(graph, control, bone, poses)[0])
    for control, bone in rig.shift.items():
        graph.give(control, None, follow(graph, control, bone, poses)[1])
    for limb in rig.limbs:
        if limb.name in keyed.by_fk:
            for control, bone in zip(limb.fk, limb.bones, strict=True):
                graph.give(control, follow(graph, control, bone, poses)[0])
        if limb.name in keyed.by_ik:
            give_ik(graph, limb, poses, planted)
        yield None
    moved = {*rig.place, *rig.shift, *(c for limb in rig.limbs for c in (limb.ik, limb.pole))}
    still = {*rig.shift, *(limb.pole for limb in rig.limbs)}
    result = {}
    for control in keyed.controls:
        rotation, location = graph.compute_channels(control)
        result[control] = ControlMotion(
            None if control in still else rotation, location if control in moved else None
        )
        yield None
    return result


def follow(graph: PoseGraph, control: str, bone: str, poses: Mapping[str, Transform]) -> Transform:
    """Return the poses (F, ...) of a control that is fixed to a deform bone."""
    return compose(poses[bone], to_frames(graph.compute_offset(control, bone)))


def give_ik(
    graph: PoseGraph,
    limb: ControlLimb,
    poses: Mapping[str, Transform],
    planted: Mapping[str, np.ndarray],
) -> None:
    joints = [
        follow(graph, control, bone, poses)
        for control, bone in zip(limb.fk[:3], limb.bones[:3], strict=True)
    ]
    size, ahead = measure_limb(graph, limb)
    hip, knee, ankle = (joint[1] for joint in joints)
    pole = aim_pole(size, quat.mul_vec(joints[0][0], ahead), hip, knee, ankle)
    graph.give(limb.pole, None, pole)
    end = limb.bones[2]
    if limb.roll and limb.target and limb.name in planted:
        target = follow(graph, limb.target, end, poses)
        control, roll = split_foot(graph, limb, target, planted[limb.name])
        graph.give(limb.ik, *control)
        graph.give(limb.roll, roll)
    else:
        graph.give(limb.ik, *follow(graph, limb.ik, end, poses))
    if limb.toe and len(limb.bones) > 3:
        graph.give(limb.toe, follow(graph, limb.toe, limb.bones[3], poses)[0])


def measure_limb(graph: PoseGraph, limb: ControlLimb) -> tuple[float, np.ndarray]:
    """Return a limb's length, and where its knee points (3,) in the frame of its upper control."""
    rests = [graph.get_rest(control) for control in limb.fk[:3]]
    rest_out = _measure_bend(*(rest[1] for rest in rests))
    pole_out = _measure_bend(rests[0][1], graph.get_rest(limb.pole)[1], rests[2][1])
    size = float(sum(np.linalg.norm(b[1] - a[1]) for a, b in pairwise(rests)))
    bent = np.linalg.norm(rest_out) > 1e-3 * size
    return size, quat.inv_mul_vec(rests[0][0], rest_out if bent else pole_out)


def aim_pole(
    size: np.ndarray | float,
    ahead: np.ndarray,
    hip: np.ndarray,
    knee: np.ndarray,
    ankle: np.ndarray,
) -> np.ndarray:
    """Return where (..., 3) a pole has to be: before the knee, in the plane of the limb.

    A knee that is almost straight points `ahead` (..., 3), so that the pole does not jump.
    """
    out = _measure_bend(hip, knee, ankle)
    way = quat.normalize_vectors(ankle - hip)
    steady = quat.normalize_vectors(ahead - np.sum(ahead * way, -1, keepdims=True) * way)
    bend = np.linalg.norm(out, axis=-1, keepdims=True) / size
    share = smoothstep((bend - _STRAIGHT[0]) / (_STRAIGHT[1] - _STRAIGHT[0]))
    front = share * quat.normalize_vectors(out) + (1.0 - share) * steady
    return knee + _POLE * size * quat.normalize_vectors(front)


def _measure_bend(start: np.ndarray, middle: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return how far (..., 3) a middle joint lies off the line between the outer ones."""
    way = quat.normalize_vectors(end - start)
    along = middle - start
    return along - np.sum(along * way, axis=-1, keepdims=True) * way


def snap_controls(
    graph: PoseGraph,
    keyed: KeyedControls,
    poses: Mapping[str, Transform],
    planted: Mapping[str, np.ndarray],
) -> dict[str, Transform]:
    """Return poses (F, ...) of the controls of the other kind, FK or IK, that match the shown pose.

    A switch then keeps the pose, although keys were left out. `graph` has the channels of the
    controls that limbs are switched to; `poses` of deform bones say how they turn about their axes.
    """
    solved = graph.copy()
    snapped: list[str] = []
    for limb in keyed.rig.limbs:
        if not limb.has_ik:
            continue
        if limb.name in keyed.shown_by_ik:
            shown = _read_ik_pose(graph, limb, poses)
            for control, bone in zip(limb.fk, limb.bones, strict=True):
                solved.give(control, follow(graph, control, bone, shown)[0])
            snapped += limb.fk
        else:
            pairs = zip(limb.fk, limb.bones, strict=True)
            shown = {bone: graph.compute_carried(bone, control) for control, bone in pairs}
            give_ik(solved, limb, shown, planted)
            snapped += limb.ik_controls
    return {control: solved.compute_pose(control) for control in snapped}


def _read_ik_pose(
    graph: PoseGraph, limb: ControlLimb, poses: Mapping[str, Transform]
) -> dict[str, Transform]:
    """Return the poses of a limb's bones; upper ones are swung from the take's."""
    joints = solve_limb(graph, limb)
    result = {}
    for bone, head, tail in zip(limb.bones[:2], joints, joints[1:], strict=False):
        taken = poses[bone][0]
        swing = quat.between(quat.mul_vec(taken, Y_AXIS), quat.normalize_vectors(tail - head))
        result[bone] = quat.mul(swing, taken), head
    result[limb.bones[2]] = graph.compute_carried(limb.bones[2], limb.end)
    if len(limb.bones) > 3:
        bone = limb.bones[3]
        result[bone] = graph.compute_carried(bone, limb.toe) if limb.toe else poses[bone]
    return result
