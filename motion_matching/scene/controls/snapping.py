"""Match the other controls of a limb, FK for IK or the other way round, to the shown pose.

A switch between FK and IK then keeps the pose, although keys were left out.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...engine.maths.rotations import quat
from ..blender.transforms.transforms import Y_AXIS, Transform
from .control_rig import ControlLimb, KeyedControls
from .effects import solve_limb
from .pose_graph import PoseGraph
from .solve_controls import follow, give_ik


def snap_controls(
    graph: PoseGraph,
    keyed: KeyedControls,
    poses: Mapping[str, Transform],
    planted: Mapping[str, np.ndarray],
) -> dict[str, Transform]:
    """Return the poses (F, ...) of the controls of the other kind, by control. `graph` has the
    channels of the controls that limbs are switched to. `poses` of deform bones in the take say how
    bones turn about their axes.
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
