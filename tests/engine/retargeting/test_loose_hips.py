"""Hips bones that turn while the body below and above them does not."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.body.body_roles import find_body_roles
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.retargeting.anatomy import Anatomy
from motion_matching.engine.retargeting.retarget import Retargeter
from tests.demo import generate_clips
from tests.engine.characters import TARGETS, Character
from tests.engine.stand_in_poses import SWINGS, loosen_hips
from tests.engine.stand_ins import insert_hip_joints, lay_rest_along_x


@pytest.fixture(scope="module")
def walk() -> Clip:
    return generate_clips()[3].crop(0, 240)


def measure(clip: Clip) -> Anatomy:
    return Anatomy.from_clips(clip.skeleton, find_body_roles(clip.skeleton, [clip]), [clip])


def measure_target(name: str) -> Anatomy:
    character: Character = TARGETS[name]()
    return Anatomy.from_clips(character.skeleton, find_body_roles(character.skeleton))


def compare(one: Clip, two: Clip) -> tuple[float, float]:
    """Return how far bones are apart at most, in degrees and in metres."""
    worlds = [[part.astype(np.float64) for part in clip.compute_world()] for clip in (one, two)]
    angles = np.degrees(quat.angle_between(worlds[0][0], worlds[1][0]))
    return float(angles.max()), float(np.abs(worlds[0][1] - worlds[1][1]).max())


@pytest.mark.parametrize("swing", SWINGS)
@pytest.mark.parametrize("degrees", [15.0, 80.0])
def test_swinging_hips_change_nothing(degrees: float, swing: str, walk: Clip):
    target = measure_target("mpfb")
    wanted = Retargeter(measure(walk), target).retarget(walk)
    loose = loosen_hips(walk, degrees, swing)
    angle, away = compare(Retargeter(measure(loose), target).retarget(loose), wanted)
    assert angle < 0.5
    assert away < 0.002


def test_hips_swing_on_a_rest_that_says_nothing(walk: Clip):
    target = measure_target("mpfb")
    laid = lay_rest_along_x(walk)
    loose = lay_rest_along_x(loosen_hips(walk, 80.0))
    wanted = Retargeter(measure(laid), target).retarget(laid)
    angle, away = compare(Retargeter(measure(loose), target).retarget(loose), wanted)
    assert angle < 5.0  # the head: thighs that rest in one point tell nothing of its sides
    assert away < 0.02


def test_hip_joints_that_keep_still_are_the_hips(walk: Clip):
    for clip in (walk, insert_hip_joints(walk, ("LHipJoint", "RHipJoint"))):
        assert measure(clip).pelvis is None
