"""Fingers on hands with other counts of bones: what points where, joint by joint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.body.body_roles import find_body_roles
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.retargeting.anatomy import Anatomy
from motion_matching.engine.retargeting.retarget import Retargeter
from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.demo import generate_clips
from tests.engine.stand_ins import FINGERS, SIDES, add_fingers, lay_rest_along_x

WITHIN = 10.0  # degrees: what a finger may be off in the world
# metres from the wrist to the first bone, and lengths of the bones that follow
HANDS = {
    "two bones": (0.09, (0.045, 0.035)),
    "three bones": (0.09, (0.04, 0.025, 0.02)),
    "a tip": (0.09, (0.04, 0.025, 0.02, 0.01)),
    "a bone in the palm": (0.02, (0.07, 0.04, 0.025, 0.02)),
    "a bone in the palm and a tip": (0.02, (0.07, 0.04, 0.025, 0.02, 0.01)),
}
THUMBS = {
    "two bones": (0.07, (0.03, 0.025)),
    "three bones": (0.03, (0.045, 0.03, 0.025)),
    "a tip": (0.03, (0.045, 0.03, 0.025, 0.01)),
}
IN_PALM = {"a bone in the palm", "a bone in the palm and a tip"}
CURLS = (40.0, 60.0, 45.0)  # degrees by which the phalanges bend


def make_hands(
    base: Clip, start: float, lengths: tuple[float, ...], curls: tuple[float, ...], finger: str
) -> Clip:
    """Add a finger whose bones are bent by `curls`, opening and closing, to both hands."""
    skeleton = base.skeleton
    names, parents = list(skeleton.names), skeleton.parents.tolist()
    places, turns = [], []
    closing = 0.5 - 0.5 * np.cos(np.arange(base.frame_count) / 10.0)
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        parent, step = skeleton.index(f"{side}Hand"), start
        for number, (length, curl) in enumerate(zip(lengths, curls, strict=True)):
            names.append(f"{side}Hand{finger}{number + 1}")
            parents.append(parent)
            places.append([sign * step, 0.0 if number else -0.03, 0.0])
            angle = sign * np.radians(curl) * closing
            turns.append(quat.from_angle_axis(angle, np.array([0.0, 1.0, 0.0])))
            parent, step = len(names) - 1, length
    count, added = base.frame_count, len(places)
    offsets = np.array(places, np.float32)
    last = [len(names) - 1 - len(lengths), len(names) - 1]
    sites = tuple(
        (bone, (sign * lengths[-1], 0.0, 0.0)) for bone, sign in zip(last, (1.0, -1.0), strict=True)
    )
    hands = {skeleton.index(f"{side}Hand") for side in SIDES}
    longer = Skeleton(
        tuple(names),
        np.array(parents),
        np.concatenate([skeleton.rest_positions, offsets]),
        np.concatenate([skeleton.rest_rotations, np.tile(quat.IDENTITY, (added, 1))]),
        (*(site for site in skeleton.end_sites if site[0] not in hands), *sites),
    )
    still = np.broadcast_to(offsets, (count, added, 3))
    return replace(
        base,
        skeleton=longer,
        positions=np.concatenate([base.positions, still], axis=1).astype(np.float32),
        rotations=np.concatenate([base.rotations, np.stack(turns, axis=1)], axis=1).astype("f4"),
    )


def list_curls(kind: str, thumb: bool) -> tuple[float, ...]:
    """Return how the bones of a finger bend: those in the palm and tips do not."""
    lengths = (THUMBS if thumb else HANDS)[kind][1]
    before = 1 if kind in IN_PALM else 0
    skipped = 1 if thumb and kind == "two bones" else 0  # its metacarpal is a part of the hand
    curls = (*[0.0] * before, *CURLS[skipped:], 0.0, 0.0)
    return curls[: len(lengths)]


def measure(clip: Clip) -> Anatomy:
    return Anatomy.from_clips(clip.skeleton, find_body_roles(clip.skeleton, [clip]), [clip])


def get_ways(clip: Clip, name: str, kind: str, thumb: bool) -> list[np.ndarray]:
    """Return the unit ways (F, 3) along the phalanges of a finger."""
    lengths = (THUMBS if thumb else HANDS)[kind][1]
    start = 1 if kind in IN_PALM or (thumb and kind != "two bones") else 0
    rotations = clip.compute_world()[0].astype(np.float64)
    sign = 1.0 if name.startswith("Left") else -1.0
    along = np.array([sign, 0.0, 0.0])
    bones = [clip.skeleton.index(f"{name}{number + 1}") for number in range(len(lengths))][start:]
    return [quat.mul_vec(rotations[:, b], along) for b in bones[: 2 if thumb else 3]]


@pytest.fixture(scope="module")
def walk() -> Clip:
    return generate_clips()[3].crop(0, 90)


def assert_alike(walk: Clip, finger: str, ours: str, theirs: str) -> None:
    """Assert that a finger points as the source's, and goes on as its last bone points."""
    thumb = finger == "Thumb"
    kinds = THUMBS if thumb else HANDS
    source = make_hands(walk, *kinds[ours], list_curls(ours, thumb), finger)
    target = make_hands(walk, *kinds[theirs], list_curls(theirs, thumb), finger)
    moved = Retargeter(measure(source), measure(target)).retarget(source)
    for side in SIDES:
        wanted = get_ways(source, f"{side}Hand{finger}", ours, thumb)
        got = get_ways(moved, f"{side}Hand{finger}", theirs, thumb)
        for number, way in enumerate(got):
            cosine = np.sum(way * wanted[min(number, len(wanted) - 1)], axis=-1)
            assert np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))).max() < WITHIN


@pytest.mark.parametrize("theirs", HANDS)
@pytest.mark.parametrize("ours", HANDS)
def test_fingers_point_as_the_sources_whatever_their_bones(ours: str, theirs: str, walk: Clip):
    assert_alike(walk, "Index", ours, theirs)


@pytest.mark.parametrize("theirs", THUMBS)
@pytest.mark.parametrize("ours", THUMBS)
def test_thumbs_point_as_the_sources_whatever_their_bones(ours: str, theirs: str, walk: Clip):
    assert_alike(walk, "Thumb", ours, theirs)


@pytest.mark.parametrize("lay", [False, True])
@pytest.mark.parametrize("bones", [2, 3, 4])
def test_fists_stay_fists(bones: int, lay: bool, walk: Clip):
    source, target = add_fingers(walk, bones=bones), add_fingers(walk, bones=3)
    source = lay_rest_along_x(source) if lay else source
    moved = Retargeter(measure(source), measure(target)).retarget(source)
    plain = add_fingers(walk, bones=3).compute_world()[0].astype(np.float64)
    rotations = moved.compute_world()[0].astype(np.float64)
    for finger in FINGERS:
        for number in range(1, min(bones, 3) + 1):
            bone = target.skeleton.index(f"LeftHand{finger}{number}")
            along = np.array([1.0, 0.0, 0.0])
            ways = [quat.mul_vec(world[:, bone], along) for world in (plain, rotations)]
            assert np.degrees(np.arccos(np.clip(np.sum(ways[0] * ways[1], -1), -1, 1))).max() < 10.0


def test_fingers_that_end_at_their_last_joint_keep_its_direction(walk: Clip):
    hand = HANDS["three bones"]
    source = make_hands(walk, *hand, CURLS, "Index")
    ends = tuple(
        (bone, (0.0, 0.0, 0.0) if "Index" in source.skeleton.names[bone] else site)
        for bone, site in source.skeleton.end_sites
    )
    ending = replace(source, skeleton=replace(source.skeleton, end_sites=ends))
    target = measure(source)
    moved, wanted = (Retargeter(measure(one), target).retarget(one) for one in (ending, source))
    assert np.allclose(moved.rotations, wanted.rotations, atol=1e-5)
