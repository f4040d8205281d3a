"""Match the other controls of a limb, FK for IK or the other way round, to the shown pose.

A switch between FK and IK then keeps the pose, although keys were left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from ...engine.maths.rotations import quat
from ..blender.transforms.transforms import Transform, compose, invert
from .control_rig import ControlLimb, ControlRig
from .effects import solve_limb
from .pose_graph import PoseGraph
from .solve_controls import follow, give_ik

_Y = np.array([0.0, 1.0, 0.0])


def snap_controls(
    graph: PoseGraph,
    rig: ControlRig,
    shown_by_ik: Collection[str],
    poses: Mapping[str, Transform],
    planted: Mapping[str, np.ndarray],
) -> dict[str, Transform]:
    """Return the poses (F, ...) of the controls of the other kind, by control. `graph` has the
    channels of the controls that limbs are switched to. `poses` of deform bones in the take say how
    bones turn about their axes.
    """
    solved = graph.copy()
    snapped: list[str] = []
    for limb in rig.limbs:
        if not limb.has_ik:
            continue
        if limb.name in shown_by_ik:
            shown = _read_ik_pose(graph, limb, poses)
            for control, bone in zip(limb.fk, limb.bones, strict=True):
                solved.give(control, follow(graph, control, bone, shown)[0])
            snapped += limb.fk
        else:
            give_ik(solved, limb, _read_fk_pose(graph, limb), planted)
            snapped += limb.ik_controls
    return {control: solved.compute_pose(control) for control in snapped}


def _read_fk_pose(graph: PoseGraph, limb: ControlLimb) -> dict[str, Transform]:
    pairs = zip(limb.fk, limb.bones, strict=True)
    return {bone: _follow_back(graph, control, bone) for control, bone in pairs}


def _read_ik_pose(
    graph: PoseGraph, limb: ControlLimb, poses: Mapping[str, Transform]
) -> dict[str, Transform]:
    """Return the poses of a limb's bones; upper ones are swung from the take's."""
    joints = solve_limb(graph, limb)
    result = {}
    for bone, head, tail in zip(limb.bones[:2], joints, joints[1:], strict=False):
        taken = poses[bone][0]
        swing = quat.between(quat.mul_vec(taken, _Y), quat.normalize_vectors(tail - head))
        result[bone] = quat.mul(swing, taken), head
    end = limb.target if limb.roll and limb.target else limb.ik
    result[limb.bones[2]] = _follow_back(graph, end, limb.bones[2])
    if len(limb.bones) > 3:
        bone = limb.bones[3]
        result[bone] = _follow_back(graph, limb.toe, bone) if limb.toe else poses[bone]
    return result


def _follow_back(graph: PoseGraph, control: str, bone: str) -> Transform:
    rotation, position = invert(graph.compute_offset(control, bone))
    return compose(graph.compute_pose(control), (rotation[None], position[None]))
