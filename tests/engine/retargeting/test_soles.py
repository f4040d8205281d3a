"""Feet on skeletons whose rest pose says nothing, and bodies that never stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.body.body_roles import find_body_roles
from motion_matching.engine.bvh import bvh
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.retargeting.anatomy import Anatomy
from motion_matching.engine.retargeting.bodies import RetargetBody, group_by_skeleton
from motion_matching.engine.retargeting.retarget import Retargeter
from tests.demo import generate_clips
from tests.engine.characters import TARGETS
from tests.engine.stand_in_poses import POSES, hold_pose, stand_on_tiptoe
from tests.engine.stand_ins import lay_rest_along_x

FEET = 8.0  # degrees that feet may be off in the world, in pitch, yaw and roll
TRUNK = 10.0  # degrees from the hips to the head


@pytest.fixture(scope="module")
def walk() -> Clip:
    return generate_clips()[3].crop(0, 240)


@pytest.fixture(scope="module")
def target() -> Anatomy:
    skeleton = TARGETS["mpfb"]().skeleton
    return Anatomy.from_clips(skeleton, find_body_roles(skeleton))


def measure(clip: Clip, *others: Clip) -> Anatomy:
    clips = [clip, *others]
    return Anatomy.from_clips(clip.skeleton, find_body_roles(clip.skeleton, clips), clips)


def measure_feet(one: Clip, two: Clip, target: Anatomy) -> np.ndarray:
    """Return by how many degrees (F, 2) feet are turned otherwise."""
    feet = [target.limbs[leg].bones.end for leg in ("left_leg", "right_leg")]
    worlds = [clip.compute_world()[0][:, feet].astype(np.float64) for clip in (one, two)]
    return np.degrees(quat.angle_between(*worlds))


def measure_trunk(one: Clip, two: Clip, target: Anatomy) -> np.ndarray:
    """Return by how many degrees (F,) the way from the hips to the head is another."""
    head = target.roles.chains["head"][-1]
    places = [clip.compute_world()[1].astype(np.float64) for clip in (one, two)]
    ways = [quat.normalize_vectors(p[:, head] - p[:, target.hips]) for p in places]
    return np.degrees(np.arccos(np.clip(np.sum(ways[0] * ways[1], axis=-1), -1.0, 1.0)))


@pytest.mark.parametrize("sides", [("Right",), ("Left",)])
@pytest.mark.parametrize("degrees", [20.0, 35.0, 50.0])
def test_a_foot_that_is_never_flat_mirrors_the_other(degrees: float, sides, walk: Clip, target):
    tiptoe = stand_on_tiptoe(walk, degrees, sides)
    wanted = Retargeter(measure(tiptoe), target).retarget(tiptoe)  # its rest pose stands flat
    laid = lay_rest_along_x(tiptoe)
    moved = Retargeter(measure(laid), target).retarget(laid)
    assert measure_feet(moved, wanted, target).max() < FEET


@pytest.mark.parametrize("pose", POSES)
def test_bodies_that_never_stand_keep_their_soles(pose: str, walk: Clip, target: Anatomy):
    clip = hold_pose(walk, pose)
    wanted = Retargeter(measure(clip), target).retarget(clip)  # its rest pose stands
    laid = lay_rest_along_x(clip)
    moved = Retargeter(measure(laid), target).retarget(laid)
    assert measure_feet(moved, wanted, target).max() < FEET
    assert measure_trunk(moved, wanted, target).max() < TRUNK


@pytest.mark.parametrize("pose", POSES)
def test_other_files_of_the_skeleton_show_how_it_stands(pose: str, walk: Clip, target: Anatomy):
    standing = stand_on_tiptoe(walk, 0.0)  # its bones in the order of the other clip
    clip, standing = (lay_rest_along_x(one) for one in (hold_pose(walk, pose), standing))
    alone = Retargeter(measure(standing), target).retarget(clip)
    together = Retargeter(measure(clip, standing), target).retarget(clip)
    assert measure_feet(alone, together, target).max() < 2.0
    assert measure_trunk(alone, together, target).max() < 2.0


@pytest.mark.parametrize("frames", [60, 100, 300])
def test_feet_come_out_alike_wherever_a_take_is_cut(frames: int, mocap: Path, target: Anatomy):
    take = bvh.load(sorted((mocap / "lafan1").glob("*.bvh"))[0])
    whole = Retargeter(measure(take), target).retarget(take)
    low = take.positions[:, 0, 2] < 0.6
    off = {True: [], False: []}
    for start in range(0, take.frame_count - frames, 150):
        part = take.crop(start, start + frames)
        moved = Retargeter(measure(part), target).retarget(part)
        feet = measure_feet(moved, whole.crop(start, start + frames), target)
        off[bool(low[start : start + frames].any())].append(float(feet.mean(axis=0).max()))
    assert max(off[True]) < FEET
    assert max(off[False]) < 4.0
    assert np.median(off[False]) < 2.0


def test_files_that_start_elsewhere_show_one_skeleton(walk: Clip, target: Anatomy):
    pose, standing = hold_pose(walk, "kneeling on insteps"), stand_on_tiptoe(walk, 0.0)
    kneeling, walking = lay_rest_along_x(pose), lay_rest_along_x(standing)
    places = kneeling.skeleton.rest_positions.copy()
    places[0] = [1.2, -0.3, 0.4]
    kneeling = replace(kneeling, skeleton=replace(kneeling.skeleton, rest_positions=places))
    groups = group_by_skeleton([kneeling, walking], lambda clip: clip.skeleton)
    assert [len(group) for group in groups] == [2]
    anatomy = RetargetBody(kneeling.skeleton, groups[0]).anatomy
    moved = Retargeter(anatomy, target).retarget(kneeling)
    wanted = Retargeter(measure(pose), target).retarget(pose)
    assert measure_feet(moved, wanted, target).max() < 4.0
