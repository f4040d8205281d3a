"""Position channels that replace the OFFSET or count from it: each file's bones tell which."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.body import rig
from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import MotionDataError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from tests.demo import generate_clips
from tests.engine import stand_ins
from tests.engine.sentences import check_sentence

KINDS = ("absolute", "zero", "offsets zero")
FRAMES = 90
AXES = {"Y up": {"up": "Y", "forward": "Z"}, "Z up": {"up": "Z", "forward": "-Y"}}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Clip:
    """The built-in clip with its bones in the order of files."""
    clip = next(clip for clip in generate_clips() if clip.name == "gait_changes")
    path = tmp_path_factory.mktemp("base") / "clip.bvh"
    bvh.save(clip.crop(0, FRAMES), path)
    return bvh.load(path)


def stretch(clip: Clip, share: float) -> Clip:
    """Let all bones slide about by a share of their lengths, so that files give them positions."""
    rng = np.random.default_rng(3)
    lengths = np.linalg.norm(clip.skeleton.rest_positions, axis=-1, keepdims=True)
    lengths[0] = 0.0
    slides = share * lengths * rng.uniform(-1, 1, clip.positions.shape)
    return replace(clip, positions=(clip.positions + slides).astype(np.float32))


def count_from_offset(path: Path, *, root: bool) -> None:
    """Let the position channels of a file with six of them everywhere count from the OFFSET."""
    head, motion = path.read_text().split("MOTION\n")
    announced, time, *rows = motion.strip().split("\n")
    bare = re.sub(r"End Site\s*\{[^}]*\}", "", head)
    offsets = np.array([line.split() for line in re.findall(r"OFFSET (.*)", bare)], float)
    assert bare.count("CHANNELS 6") == len(offsets)
    values = np.array([row.split() for row in rows], float).reshape(len(rows), -1, 6)
    values[:, 0 if root else 1 :, :3] -= offsets[0 if root else 1 :]
    lines = [" ".join(f"{value:.7f}" for value in row.ravel()) for row in values]
    path.write_text("\n".join([f"{head}MOTION", announced, time, *lines, ""]))


def assert_same(clip: Clip, base: Clip, atol: float = 5e-6) -> None:
    np.testing.assert_allclose(clip.compute_world()[1], base.compute_world()[1], atol=10 * atol)
    rest = base.skeleton.rest_positions
    np.testing.assert_allclose(clip.skeleton.rest_positions[1:], rest[1:], atol=atol)


@pytest.mark.parametrize("kind", KINDS)
def test_positions_on_every_joint_give_the_same_motion(kind, base, tmp_path):
    path = tmp_path / "six.bvh"
    stand_ins.write_six_channels(base, path, kind)
    clip = bvh.load(path)
    assert clip.warnings == ()
    assert_same(clip, base)
    roles = rig.find_roles(clip.skeleton, [clip])
    assert roles == rig.find_roles(base.skeleton, [base])


@pytest.mark.parametrize("kind", KINDS)
def test_a_skeleton_alone_is_that_of_the_clip(kind, base, tmp_path):
    path = tmp_path / "six.bvh"
    stand_ins.write_six_channels(base, path, kind)
    skeleton, whole = bvh.load_skeleton(path), bvh.load(path).skeleton
    np.testing.assert_array_equal(skeleton.rest_positions, whole.rest_positions)


@pytest.mark.parametrize("axes", AXES.values(), ids=AXES)
@pytest.mark.parametrize("scale", [0.01, 1.0])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("root", [False, True])
def test_bones_that_slide_tell_the_dialect(share, root, scale, axes, base, tmp_path):
    clip, path = stretch(base, share), tmp_path / "slides.bvh"
    bvh.save(clip, path, scale=scale, **axes)
    replaced = bvh.load(path, scale=scale, **axes)
    count_from_offset(path, root=root)
    added = bvh.load(path, scale=scale, **axes)
    for read in (replaced, added):
        assert_same(read, clip)


def lie_down(clip: Clip) -> Clip:
    """Lay the body on its back, with its hips a hand's breadth above the ground."""
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    back = quat.from_angle_axis(np.array(-np.pi / 2), np.array([1.0, 0.0, 0.0]))
    rotations[:, 0] = quat.mul(back, rotations[:, 0])
    positions[:, 0] = quat.mul_vec(back, positions[:, 0] * np.float32([1, 1, 0]))
    positions[:, 0, 2] = 0.1
    return replace(clip, positions=positions, rotations=rotations)


@pytest.mark.parametrize("height", [0.1, 0.5, 1.4])
def test_hips_far_from_their_offset_stay_where_the_file_has_them(height, base, tmp_path):
    """Who lies, crawls or hangs from a bar has hips far below or above the rest pose's."""
    lying = lie_down(base)
    lying.positions[:, 0, 2] = height
    for name, clip in {"rigid": lying, "slides": stretch(lying, 0.05)}.items():
        path = tmp_path / f"{name}.bvh"
        bvh.save(clip, path)
        assert_same(bvh.load(path), clip)


def test_a_rest_pose_along_one_axis_says_nothing_of_the_ground(base, tmp_path):
    laid = stretch(stand_ins.lay_rest_along_x(base), 0.02)
    path = tmp_path / "laid.bvh"
    bvh.save(laid, path)
    count_from_offset(path, root=True)
    assert_same(bvh.load(path), laid)


def test_a_root_on_the_ground_may_carry_hips_that_count_from_their_offset(base, tmp_path):
    below = stretch(stand_ins.put_on_ground_root(base, "Reference"), 0.02)
    path = tmp_path / "reference.bvh"
    bvh.save(below, path)
    read = bvh.load(path)
    assert_same(read, below)
    count_from_offset(path, root=True)
    assert_same(bvh.load(path), below)


@pytest.mark.parametrize("kind", ["three channels", "six channels"])
def test_a_body_in_one_point_is_refused_by_what_is_wrong(kind, base, tmp_path):
    path = tmp_path / "point.bvh"
    if kind == "three channels":
        bvh.save(base, path)
    else:
        stand_ins.write_six_channels(base, path, "zero")
    head, motion = path.read_text().split("MOTION\n")
    head = re.sub(r"OFFSET.*", "OFFSET 0 0 0", head)
    path.write_text(f"{head}MOTION\n{motion}")
    for read in (bvh.load, bvh.load_skeleton):
        with pytest.raises(MotionDataError) as caught:
            read(path)
        check_sentence(caught, path, "joints lie at one point", "OFFSETs", "export it")
