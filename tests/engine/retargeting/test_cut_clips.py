"""The same frames come out alike wherever a clip is cut, on rest poses that say nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.body.body_roles import find_body_roles
from motion_matching.engine.bvh import bvh
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.retargeting.anatomy import Anatomy
from motion_matching.engine.retargeting.retarget import Retargeter
from tests.demo import generate_clips
from tests.engine.characters import TARGETS
from tests.engine.stand_ins import build_clip, find_path, lay_rest_along_x, list_joints

ALIKE = 1.0  # degrees
FIXED = ("upper_arm", "forearm", "hand")
# degrees by which parts swing to one side, more and more
SWINGS = {"Spine": (12.0, 0.0, 0.0), "Neck": (20.0, 0.0, 10.0), "Head": (25.0, 0.0, 20.0)}


@pytest.fixture(scope="module")
def target() -> Anatomy:
    skeleton = TARGETS["mpfb"]().skeleton
    return Anatomy.from_clips(skeleton, find_body_roles(skeleton))


def measure(clip: Clip) -> Anatomy:
    return Anatomy.from_clips(clip.skeleton, find_body_roles(clip.skeleton, [clip]), [clip])


def bend_more_and_more(walk: Clip, degrees: float) -> Clip:
    """Let trunk and head lean and look aside, and elbows bend, more with each frame.

    Straight arms point aside at the elbow by some `degrees`, as people's do.
    """
    joints, share = list_joints(walk), np.linspace(0.0, 1.0, walk.frame_count)[:, None]
    for name, angles in SWINGS.items():
        turn = quat.from_scaled_angle_axis(share * np.radians(angles))
        for each in _list_below(walk, name):
            joint = joints[each]
            joints[each] = replace(joint, rotations=quat.mul(joint.rotations, turn))
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        bend = quat.from_angle_axis(sign * np.radians(20.0 + 70.0 * share[:, 0]), np.eye(3)[2])
        aside = quat.from_angle_axis(np.radians(sign * degrees), np.eye(3)[1])
        upper = joints[f"{side}Arm"].rotations
        for part in ("ForeArm", "Hand"):
            each = joints[f"{side}{part}"]
            turned = quat.mul(upper, quat.mul(quat.inv(bend), aside))
            joints[f"{side}{part}"] = replace(each, rotations=turned)
    return build_clip(walk, joints, {"Hips": find_path(walk, "Hips")})


def _list_below(clip: Clip, name: str) -> list[str]:
    """Return a bone of the trunk and all bones below it but for hands."""
    bone = clip.skeleton.names.index(name)
    bones = [bone, *clip.skeleton.get_descendants(bone)]
    return [clip.skeleton.names[b] for b in bones if "Hand" not in clip.skeleton.names[b]]


def find_differences(
    take: Clip, frames: int, step: int, target: Anatomy, roles: Sequence[str]
) -> dict[str, float]:
    """Return by how many degrees parts are turned otherwise in windows at most."""
    whole = Retargeter(measure(take), target).retarget(take)
    most: dict[str, float] = {}
    for start in range(0, take.frame_count - frames, step):
        part = take.crop(start, start + frames)
        moved = Retargeter(measure(part), target).retarget(part)
        worlds = [
            clip.compute_world()[0].astype(np.float64)
            for clip in (moved, whole.crop(start, start + frames))
        ]
        off = np.degrees(quat.angle_between(*worlds)).max(axis=0)
        for role, chain in target.roles.chains.items():
            kind = role.removeprefix("left_").removeprefix("right_")
            if kind in roles:
                most[kind] = max(most.get(kind, 0.0), float(off[list(chain)].max()))
    return most


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [0.0, 12.0])
def test_what_a_body_does_in_a_window_changes_no_arm(degrees: float, target: Anatomy):
    walk = generate_clips()[3].crop(0, 240)
    take = lay_rest_along_x(bend_more_and_more(walk, degrees))
    off = find_differences(take, 60, 30, target, FIXED)
    assert off.keys() == set(FIXED)
    assert max(off.values()) < ALIKE, off


@pytest.mark.parametrize("name", ["lafan1", "bandai-namco"])
def test_arms_of_windows_come_out_as_those_of_the_take(name: str, mocap: Path, target: Anatomy):
    files = sorted((mocap / name).glob("*.bvh"))
    takes = [bvh.load(file) for file in files[:: max(1, len(files) // 6)]]
    windows = [(take, 60 if take.frame_count < 400 else 100) for take in takes]
    for take, frames in windows:
        if take.frame_count > frames:
            off = find_differences(take, frames, max(20, take.frame_count // 30), target, FIXED)
            assert max(off.values()) < ALIKE, off
