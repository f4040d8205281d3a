"""Trunks and heads on skeletons whose rest pose does not stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.body.body_roles import find_body_roles
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.retargeting.anatomy import Anatomy
from motion_matching.engine.retargeting.retarget import Retargeter
from tests.demo import generate_clips
from tests.engine.characters import TARGETS
from tests.engine.stand_ins import build_clip, find_path, lay_rest_along_x, list_joints


def measure(clip: Clip) -> Anatomy:
    return Anatomy.from_clips(clip.skeleton, find_body_roles(clip.skeleton, [clip]), [clip])


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
@pytest.mark.parametrize("degrees", [-35.0, 35.0])
def test_heads_keep_looking_where_they_look_all_the_time(degrees: float, axis):
    walk = generate_clips()[3].crop(0, 120)
    joints = list_joints(walk)
    turn = quat.from_angle_axis(np.radians(degrees), np.array(axis))
    head = joints["Head"]
    joints["Head"] = replace(head, rotations=quat.mul(head.rotations, turn))
    clip = build_clip(walk, joints, {"Hips": find_path(walk, "Hips")})
    skeleton = TARGETS["mpfb"]().skeleton
    target = Anatomy.from_clips(skeleton, find_body_roles(skeleton))
    wanted = Retargeter(measure(clip), target).retarget(clip)  # its rest pose stands
    laid = lay_rest_along_x(clip)
    moved = Retargeter(measure(laid), target).retarget(laid)
    bone = target.roles.chains["head"][0]
    heads = [one.compute_world()[0][:, bone].astype(np.float64) for one in (moved, wanted)]
    assert np.degrees(quat.angle_between(*heads)).max() < 10.0
