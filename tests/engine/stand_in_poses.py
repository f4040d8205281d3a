"""The same motion of skeletons whose bones or rest poses say little of how the body stands.

Right values are exact: each body moves in the world as that of the clip which it is made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from motion_matching.engine.maths import quat
from motion_matching.engine.motion.clip import Clip

from .stand_ins import Joint, build_clip, find_path, list_joints

_AXES = {"turning": (0.0, 0.0, 1.0), "nodding": (1.0, 0.0, 0.0), "rolling": (0.3, 0.8, 0.5)}
SWINGS = tuple(_AXES)


def loosen_hips(clip: Clip, degrees: float, swing: str = "turning") -> Clip:
    """Let the hips bone swing once a second, and joints at its place turn legs and spine back."""
    joints = list_joints(clip)
    hips = joints["Hips"]
    angle = np.radians(degrees) * np.sin(2.0 * np.pi * np.arange(clip.frame_count) / clip.fps)
    axis = quat.normalize_vectors(np.array(_AXES[swing]))
    swung = quat.mul(hips.rotations, quat.from_angle_axis(angle, axis))
    below = {name: joint for name, joint in joints.items() if joint.parent == "Hips"}
    names = {"LeftUpLeg": "LHipJoint", "RightUpLeg": "RHipJoint", "Spine": "LowerBack"}
    joints["Hips"] = replace(hips, rotations=swung)
    for name, joint in below.items():
        joints[names[name]] = Joint("Hips", hips.place, hips.rotations)
        joints[name] = replace(joint, parent=names[name])
    return build_clip(clip, joints, {"Hips": find_path(clip, "Hips")})


def stand_on_tiptoe(clip: Clip, degrees: float, sides: Sequence[str] = ("Right",)) -> Clip:
    """Let feet never be flat: the heel is always raised, and the shin shorter by as much.

    Toes lie as they did, and all other joints are where they were.
    """
    joints = list_joints(clip)
    lift = quat.from_angle_axis(np.radians(degrees), np.array([1.0, 0.0, 0.0]))
    for side in sides:
        foot, toe, shin = (joints[f"{side}{part}"] for part in ("Foot", "Toe", "Leg"))
        way = toe.place - foot.place
        raised = (way - quat.mul_vec(lift, way))[2]
        place = shin.place + (foot.place - shin.place) * (
            1.0 - raised / np.linalg.norm(foot.place - shin.place)
        )
        joints[f"{side}Foot"] = replace(foot, place=place, rotations=quat.mul(foot.rotations, lift))
        joints[f"{side}Toe"] = replace(toe, place=place + way)
    return build_clip(clip, joints, {"Hips": find_path(clip, "Hips")})
