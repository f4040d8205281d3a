"""The same motion of skeletons whose bones or rest poses say little of how the body stands.

Right values are exact: each body moves in the world as that of the clip which it is made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from motion_matching.engine.maths.rotations import quat
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


# degrees about X by which parts of a body are turned from how they stand, and by which they swing
POSES = {
    "kneeling on insteps": {"thigh": 0, "shin": 88, "foot": 150, "toe": 160, "trunk": 5},
    "kneeling on toes": {"thigh": 5, "shin": 95, "foot": 75, "toe": 10, "trunk": 10},
    "sitting on heels": {"thigh": -75, "shin": 98, "foot": 160, "toe": 165, "trunk": 0},
    "sitting with straight legs": {"thigh": -88, "shin": -75, "foot": -75, "toe": -75, "trunk": -5},
    "crawling": {"thigh": 0, "shin": 90, "foot": 140, "toe": 150, "trunk": 75, "head": 40},
    "lying on the back": {"thigh": -90, "shin": -75, "foot": -60, "toe": -60, "trunk": -85},
    "sitting on a chair": {"thigh": -85, "shin": 5, "foot": 0, "toe": 0, "trunk": 0},
}
_PARTS = {"UpLeg": "thigh", "Leg": "shin", "Foot": "foot", "Toe": "toe"}
_SWING = {"thigh": 8.0, "shin": 6.0, "foot": 0.0, "toe": 0.0, "trunk": 6.0, "head": 15.0}
_LOWEST = 0.03  # metres: the height of the lowest joint


def hold_pose(clip: Clip, pose: str, frames: int = 100) -> Clip:
    """Let a body hold a pose on the ground in which it never stands, swaying a little."""
    joints, angles = list_joints(clip), {"head": POSES[pose]["trunk"], **POSES[pose]}
    time = np.arange(frames) / clip.fps
    held = {}
    for number, (name, joint) in enumerate(joints.items()):
        side = 0.0 if name.startswith("Left") else 1.5
        limb = next((p for end, p in _PARTS.items() if name in (f"Left{end}", f"Right{end}")), None)
        part = limb or ("head" if name == "Head" else "trunk")
        sway = _SWING[part] * np.sin(2.0 * time + side + (0.0 if limb else 0.2 * number))
        turn = quat.from_angle_axis(np.radians(angles[part] + sway), np.array([1.0, 0.0, 0.0]))
        held[name] = replace(joint, rotations=quat.mul(quat.from_yaw(0.3 * time), turn))
    still = build_clip(clip, held, {"Hips": np.zeros((frames, 3))})
    lift = _LOWEST - still.compute_world()[1][..., 2].min(axis=1)
    path = lift[:, None] * np.array([0.0, 0.0, 1.0])
    return build_clip(clip, held, {"Hips": path})
