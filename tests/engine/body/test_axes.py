"""Axes are doubted only where the rest pose lies as the motion does, or feet walk off the ground."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.body import rig
from motion_matching.engine.body.axes import (
    FileAxes,
    add_options,
    describe_mistake,
    find_all_better_axes,
    find_better_axes,
)
from motion_matching.engine.bvh import bvh
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.bone_names import swap_sides
from tests.demo import generate_clips
from tests.engine.animals import make_dog_motions

AXES = ("X", "-X", "Y", "-Y", "Z", "-Z")
PAIRS = [pair for pair in itertools.product(AXES, AXES) if pair[0][-1] != pair[1][-1]]


def make_clip(name: str = "walk_speeds", frames: int = 300) -> Clip:
    return next(clip for clip in generate_clips() if clip.name == name).crop(0, frames)


def turn_root(clip: Clip, axis: tuple[float, float, float], degrees: float) -> Clip:
    """Turn a motion as a whole, but not the rest pose."""
    turn = quat.from_angle_axis(np.radians(degrees), np.array(axis))
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[:, 0] = quat.mul_vec(turn, positions[:, 0])
    rotations[:, 0] = quat.mul(turn, rotations[:, 0])
    return replace(clip, positions=positions, rotations=rotations)


def find(clip: Clip, read_with: FileAxes | None = None) -> FileAxes | None:
    return find_all_better_axes([clip], read_with or FileAxes())[0]


@pytest.mark.slow
@pytest.mark.parametrize("read_with", [FileAxes(), FileAxes("Z", "-Y"), FileAxes("-X", "Z")])
def test_the_axes_that_a_file_was_written_with_are_named(tmp_path, read_with):
    for number, (up, forward) in enumerate(PAIRS):
        path = tmp_path / f"{number}.bvh"
        bvh.save(make_clip(frames=90), path, up=up, forward=forward)
        found = find(bvh.load(path, up=read_with.up, forward=read_with.forward), read_with)
        stands = up == read_with.up
        assert found == (None if stands else FileAxes(up, forward)), (up, forward)
        if found:
            again = bvh.load(path, up=found.up, forward=found.forward)
            assert find(again, found) is None


@pytest.mark.parametrize("name", ["walk_speeds", "run_corners", "walk_pivots", "gait_changes"])
@pytest.mark.parametrize(
    ("axis", "degrees"), [((1, 0, 0), 90), ((1, 0, 0), 180), ((0, 1, 0), 90), ((0, 1, 0), -90)]
)
def test_feet_that_walk_off_the_ground_are_doubted_whatever_the_rest(tmp_path, name, axis, degrees):
    lying = turn_root(make_clip(name), axis, degrees)
    path = tmp_path / "lying.bvh"
    bvh.save(lying, path)
    found = find(bvh.load(path))
    assert found is not None
    clip = bvh.load(path, up=found.up, forward=found.forward)
    legs = rig.find_roles(clip.skeleton, [clip])
    heads = clip.compute_world()[1]
    ups = heads[:, legs.hips, 2] - heads[:, [leg.foot for leg in legs.legs], 2].mean(axis=1)
    assert ups.min() > 0.5, "it stands under the axes that are named"


@pytest.mark.parametrize(
    ("axis", "degrees", "wanted"),
    [
        ((0, 1, 0), 180, FileAxes("-Y", "Z")),
        ((1, 0, 0), 180, FileAxes("-Y", "-Z")),
        ((1, 0, 0), 90, FileAxes("Z", "-Y")),
        ((1, 0, 0), -90, FileAxes("-Z", "Y")),
        ((0, 1, 0), 90, FileAxes("X", "Z")),
    ],
)
@pytest.mark.parametrize("name", ["walk_speeds", "gait_changes"])
@pytest.mark.parametrize("is_swapped", [False, True])
def test_a_body_faces_ahead_under_the_axes_that_are_named(
    tmp_path, name, axis, degrees, wanted, is_swapped
):
    """Whatever the rest pose, which stands, and whatever its bones are named."""
    clip = make_clip(name)
    lying = turn_root(clip, axis, degrees)
    if is_swapped:
        names = tuple(map(swap_sides, clip.skeleton.names))
        lying = replace(lying, skeleton=lying.skeleton.with_names(names))
    path = tmp_path / "lying.bvh"
    bvh.save(lying, path)
    found = find(bvh.load(path))
    assert found == wanted
    again = bvh.load(path, up=found.up, forward=found.forward)
    order = [again.skeleton.index(name) for name in lying.skeleton.names]
    heads = again.compute_world()[1][:, order]
    np.testing.assert_allclose(heads, clip.compute_world()[1], atol=1e-3)


def test_a_zero_pose_at_rest_says_nothing():
    clip = make_clip()
    lengths = np.linalg.norm(clip.skeleton.rest_positions, axis=-1)
    rest = np.stack([lengths, 0 * lengths, 0 * lengths], axis=-1).astype(np.float32)
    zero = replace(clip.skeleton, rest_positions=rest)
    assert find(replace(clip, skeleton=zero)) is None
    lying = turn_root(replace(clip, skeleton=zero), (1, 0, 0), 90)
    assert find(lying) is not None


@pytest.mark.parametrize("axis", [(1, 0, 0), (-1, 0, 0), (0, 1, 0)])
@pytest.mark.parametrize("degrees", [90, 60, 180])
@pytest.mark.parametrize(
    ("name", "speed"),
    [
        ("idle_and_turns_in_place", 0.0),
        ("idle_and_turns_in_place", 0.2),
        ("idle_and_turns_in_place", 0.8),
        ("walk_speeds", 0.0),  # its legs move as those of swimmers
        ("walk_speeds", 0.2),
    ],
)
def test_who_lies_swims_or_stands_on_hands_is_not_doubted(name, axis, degrees, speed):
    clip = make_clip(name, 150)
    positions = clip.positions.copy()
    positions[:, 0, :2] = 0.0  # on the spot
    body = turn_root(replace(clip, positions=positions), axis, degrees)
    moved = body.positions.copy()
    heads = body.compute_world()[1]
    moved[:, 0, 2] -= heads[..., 2].min()
    moved[:, 0, 1] -= speed * np.arange(150) / 30.0
    assert find(replace(body, positions=moved)) is None


def test_a_dog_stands_on_its_legs():
    assert not any(find_all_better_axes([m.clip for m in make_dog_motions()], FileAxes()))


def test_a_single_frame_and_a_body_without_legs_are_left_alone():
    clip = make_clip(frames=1)
    assert find_better_axes(clip, FileAxes(), rig.find_roles(clip.skeleton)) is None
    spine = replace(
        clip,
        skeleton=replace(clip.skeleton, names=tuple(map(str, range(clip.skeleton.bone_count)))),
    )
    assert find(spine.crop(0, 1)) is None


def test_axes_are_read_back_from_the_sentence_that_names_them():
    axes = FileAxes("-X", "Z")
    text = describe_mistake("walk", axes)
    assert FileAxes.from_text(text) == axes
    assert add_options(text).endswith("-X up and Z forward (--up -X --forward Z).")
    assert FileAxes.from_text(describe_mistake("walk", None)) is None


@pytest.mark.slow
def test_real_motion_is_doubted_nowhere_and_lying_files_are_named(mocap: Path):
    for path in sorted(mocap.rglob("*.bvh"))[::6]:
        clip = bvh.load(path)
        roles = rig.find_roles(clip.skeleton, [clip])
        windows = [clip, *(clip.crop(at, at + 150) for at in range(0, clip.frame_count - 150, 900))]
        for window in windows:
            assert find_better_axes(window, FileAxes(), roles) is None, path.name
