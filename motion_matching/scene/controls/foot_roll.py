"""Give the roll of a planted foot to a rig's heel-and-roll control, so that the foot can rest.

Each frame is exact whatever part of a foot's turn the roll takes; it takes what lets the IK control
rest during a stance. In the air it takes the pitch alone.
"""

from __future__ import annotations

import numpy as np

from ...engine.maths.along_time import find_runs
from ...engine.maths.easing import smoothstep
from ...engine.maths.rotations import quat
from ..blender.transforms.rotation_modes import from_mode, to_mode
from ..blender.transforms.transforms import Transform, compose, invert, to_frames
from .control_rig import ControlLimb
from .pose_graph import PoseGraph


def split_foot(
    graph: PoseGraph, limb: ControlLimb, target: Transform, planted: np.ndarray
) -> tuple[Transform, np.ndarray]:
    """Return the poses of the IK control, and the rotations (F, 4) that the roll control adds.

    `target` are the poses (F, ...) of the bone that the foot follows; `planted` (F,) says when the
    ball rests.
    """
    heel = graph.get_rest(limb.roll)[0]
    moved = quat.mul_inv(target[0], graph.get_rest(limb.target)[0])  # since the rest pose
    turn = quat.inv_mul(heel, quat.mul(moved, heel))
    roll = hold_turn(turn, planted)
    local = graph.create_alike()
    still = to_frames(graph.get_rest(limb.ik))
    local.give(limb.ik, *still)
    local.give(limb.roll, quat.mul(heel, roll))
    rolled = local.compute_pose(limb.target)
    control = compose(target, compose(invert(rolled), still))
    return control, quat.mul(control[0], quat.inv_mul(still[0], quat.mul(heel, roll)))


def hold_turn(turn: np.ndarray, planted: np.ndarray) -> np.ndarray:
    """Return what roll to take from turns (F, 4), so that the rest of them holds while planted."""
    angles = to_mode(turn.T, "XYZ")
    pitch = from_mode(angles * np.array([1.0, 0.0, 0.0])[:, None], "XYZ")
    level = quat.mul_inv(turn, pitch)
    held = _fade(_compute_holds(level, planted), planted)
    return quat.inv_mul(quat.mul(level, quat.from_scaled_angle_axis(held)), turn)


def _compute_holds(level: np.ndarray, planted: np.ndarray) -> np.ndarray:
    """Return turns (F, 3) that hold the level part of a foot's turn at its mean in each stance."""
    result = np.zeros((len(level), 3))
    for start, stop in find_runs(planted).tolist():
        part = level[start:stop]
        middle = quat.normalize(np.linalg.eigh(part.T @ part)[1][:, -1])
        result[start:stop] = quat.to_scaled_angle_axis(quat.positive(quat.inv_mul(part, middle)))
    return result


def _fade(values: np.ndarray, planted: np.ndarray) -> np.ndarray:
    """Fill values (F, D) smoothly where nothing is planted, from those on both sides."""
    result = values.copy()
    for start, stop in find_runs(~planted).tolist():
        before = values[start - 1] if start > 0 else values[min(stop, len(values) - 1)]
        after = values[stop] if stop < len(values) else before
        share = smoothstep((np.arange(start, stop) - start + 1.0) / (stop - start + 1.0))[:, None]
        result[start:stop] = before + share * (after - before)
    return result


def find_stances(balls: np.ndarray, contacts: np.ndarray, distance: float) -> np.ndarray:
    """Return when balls (F, 3) rest within a `distance` of where they do in each contact (F,)."""
    result = np.zeros(len(balls), bool)
    for start, stop in find_runs(contacts).tolist():
        near = np.linalg.norm(balls[start:stop] - np.median(balls[start:stop], axis=0), axis=-1)
        result[start:stop] = keep_longest_run(near < distance)
    return result


def keep_longest_run(mask: np.ndarray) -> np.ndarray:
    """Return a mask (F,) of its longest run alone, if that is longer than a frame."""
    result = np.zeros_like(mask)
    runs = find_runs(mask)
    if len(runs):
        start, stop = runs[np.argmax(runs[:, 1] - runs[:, 0])]
        result[start:stop] = stop - start > 1
    return result
