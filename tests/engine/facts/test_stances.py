"""The best stance is upright, even and at ease, whatever the body, its names and its size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building import retagging
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.facts.bearing import WalkBearing
from motion_matching.engine.facts.idles import find_idle_runs, find_idles
from motion_matching.engine.facts.stances import StanceScore, compute_joints
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton
from motion_matching.engine.sources.sources import Source
from tests import demo
from tests.engine import animals

WALKS = ("walk_curves", "walk_speeds")


def get_clip(name):
    return next(clip for clip in demo.generate_clips() if clip.name == name)


def turn(clip, bones, axis, degrees):
    """Return a clip with bones turned about axes of their parents, which are the character's."""
    rotations = clip.rotations.copy()
    by = quat.from_scaled_angle_axis(np.radians(degrees) * np.array(axis, np.float64))
    for bone in map(clip.skeleton.index, bones):
        rotations[:, bone] = quat.mul(by, rotations[:, bone])
    return replace(clip, rotations=rotations.astype(np.float32))


def cut(clip):
    """Return a walk without the standing at both of its ends."""
    return clip.crop(60, clip.frame_count - 90)


@pytest.fixture(scope="module")
def standing():
    return get_clip("idle").crop(0, 120)


def build_with(*clips):
    walks = [cut(get_clip(name)) for name in WALKS]
    return build([Source(clip=clip) for clip in [*walks, *clips]], BuildSettings())[0]


def rate(database, clip):
    """Return the lowest cost of a clip's frames as stances."""
    number = next(n for n, origin in enumerate(database.ranges) if origin.clip == clip)
    frames = np.arange(database.starts[number], database.stops[number])
    return database.derive(StanceScore).rate(frames, compute_joints(database, frames)).min()


def test_whatever_is_no_stance_is_much_worse(standing):
    crouch = standing
    for part, degrees in (("UpLeg", -50), ("Leg", 100), ("Foot", -50)):
        crouch = turn(crouch, [f"{side}{part}" for side in ("Left", "Right")], (1, 0, 0), degrees)
    low = standing.positions.copy()
    low[:, standing.skeleton.index("Hips"), 2] -= 0.3
    arms = ("LeftArm", "RightArm")
    flawed = {
        "crouch": replace(crouch, positions=low),
        "t_pose": turn(turn(standing, arms[:1], (0, 1, 0), -75), arms[1:], (0, 1, 0), 75),
        "reach": turn(standing, arms[:1], (1, 0, 0), -80),
        "knee": turn(turn(standing, ["LeftUpLeg"], (1, 0, 0), -70), ["LeftLeg"], (1, 0, 0), 90),
    }
    shown = [replace(clip, name=name) for name, clip in flawed.items()]
    database = build_with(standing, *shown)
    best = rate(database, "idle")
    assert {name for name in flawed if rate(database, name) > best + 0.3} == set(flawed)
    assert best < database.derive(StanceScore).find_least(database) + 0.1


def test_a_walk_alone_gives_an_upright_stance_with_low_hands_and_feet():
    database = build_with()
    assert database.derive(find_idles).holds
    joints = compute_joints(database, database.derive(find_idles).entries)
    names = database.skeleton.names
    hips, shoulders = joints[:, database.roles.hips, 2], joints[:, names.index("LeftArm"), 2]
    everywhere = compute_joints(database, np.arange(database.frame_count))
    assert hips.min() > np.median(everywhere[:, database.roles.hips, 2]) - 0.01
    for hand in ("LeftHand", "RightHand"):
        assert np.all(shoulders - joints[:, names.index(hand), 2] > 0.4)
    ankles = joints[:, [leg.foot for leg in database.roles.legs], 2]
    assert np.ptp(ankles, axis=1).max() < 0.1


def test_a_mirror_image_is_as_good():
    walks = [Source(clip=cut(get_clip(name))) for name in WALKS]
    database = build(walks, BuildSettings(mirror=True))[0]
    costs = {}
    for origin, start, stop in zip(database.ranges, database.starts, database.stops, strict=True):
        frames = np.arange(start, stop)
        joints = compute_joints(database, frames)
        costs[origin.clip, origin.mirrored] = database.derive(StanceScore).rate(frames, joints)
    for name in WALKS:
        np.testing.assert_allclose(costs[name, False], costs[name, True], atol=0.02)


@pytest.mark.parametrize("size", [0.3, 2.5])
def test_the_size_of_a_body_hardly_matters(size, standing):
    def scale(clip):
        skeleton = replace(
            clip.skeleton, rest_positions=(clip.skeleton.rest_positions * size).astype(np.float32)
        )
        return replace(clip, skeleton=skeleton, positions=clip.positions * np.float32(size))

    clips = [standing, *(cut(get_clip(name)) for name in WALKS)]
    plain = build([Source(clip=clip) for clip in clips], BuildSettings())[0]
    other = build([Source(clip=scale(clip)) for clip in clips], BuildSettings())[0]
    frames = np.arange(0, plain.frame_count, 7)
    own, scaled = (
        StanceScore(each).rate(frames, compute_joints(each, frames))
        for each in (plain.in_body_units, other.in_body_units)
    )
    np.testing.assert_allclose(scaled, own, atol=0.1)


@pytest.mark.slow
def test_a_body_without_arms_and_one_with_four_legs_have_stances():
    dog = build([Source(clip=m.clip) for m in animals.make_dog_motions()], BuildSettings())[0]
    walk = cut(get_clip("walk_curves"))
    arms = {
        bone
        for bone, name in enumerate(walk.skeleton.names)
        if any(part in name for part in ("Shoulder", "Arm", "Hand"))
    }
    armless = build([Source(clip=_leave_out(walk, arms))], BuildSettings())[0]
    for database in (dog, armless):
        assert np.all(np.isfinite(database.derive(StanceScore).costs))
        assert database.derive(StanceScore).costs[0] < np.median(database.derive(StanceScore).costs)


def _leave_out(clip: Clip, bones: set[int]) -> Clip:
    kept = [bone for bone in range(clip.skeleton.bone_count) if bone not in bones]
    skeleton = clip.skeleton
    parents = np.array([kept.index(p) if p >= 0 else -1 for p in skeleton.parents[kept]])
    smaller = replace(
        skeleton,
        names=tuple(skeleton.names[bone] for bone in kept),
        parents=parents,
        rest_positions=skeleton.rest_positions[kept],
        rest_rotations=skeleton.rest_rotations[kept],
        end_sites=tuple(
            (kept.index(bone), site) for bone, site in skeleton.end_sites if bone in kept
        ),
    )
    positions, rotations = clip.positions[:, kept], clip.rotations[:, kept]
    return Clip(clip.name, smaller, positions, rotations, clip.fps)


def test_a_t_pose_in_which_all_rests_is_not_played_as_an_idle(standing):
    posed = turn(turn(standing, ["LeftArm"], (0, 1, 0), -75), ["RightArm"], (0, 1, 0), 75)
    database = build_with(replace(posed, name="t_pose"))
    assert len(database.derive(find_idle_runs)) == 1, "it rests"
    assert database.derive(find_idles).holds


def exclude(database, *spans):
    """Return a database of the same motion of which spans of frames are tagged 'no_use'."""
    frames = np.zeros(database.frame_count, bool)
    for span in spans:
        frames[span] = True
    return retagging.exclude(database, frames)


@pytest.fixture
def computed(monkeypatch):
    """How many frames have had bones computed for them, call by call."""
    counts = []

    def count(function, place):
        def counted(*args, **options):
            counts.append(len(args[place]))
            return function(*args, **options)

        return counted

    monkeypatch.setattr(quat, "compute_world", count(quat.compute_world, 0))
    compute = Skeleton.compute_bone_positions
    monkeypatch.setattr(Skeleton, "compute_bone_positions", count(compute, 2))
    return counts


@pytest.mark.parametrize("stands", [False, True])
def test_other_tags_compute_little_of_the_motion_again(standing, computed, stands):
    database = build_with(*[standing] * stands)
    frames = np.arange(0, database.frame_count, 7)
    first = database.derive(find_idles), database.derive(WalkBearing).price(frames)
    assert first[0].holds == (not stands)
    computed.clear()
    tagged = exclude(database, slice(40, 60), slice(200, 230))
    assert tagged.derive(find_idles).start >= 0
    prices = tagged.derive(WalkBearing).price(frames)
    assert sum(computed) < 0.1 * len(frames), "what is known of a frame is computed again"

    fresh = replace(tagged)  # nothing is known of it
    for own, expected in zip(tagged.derive(find_idles), fresh.derive(find_idles), strict=True):
        np.testing.assert_array_equal(own, expected)
    np.testing.assert_array_equal(prices, fresh.derive(WalkBearing).price(frames))


def test_clips_that_meet_are_no_idle_together(standing):
    """Each is too short, and what follows in memory does not follow in motion."""
    half = replace(standing.crop(0, 40), name="half")
    database = build_with(standing, half, half)
    for start, stop in database.derive(find_idle_runs).tolist():
        assert database.range_of_frame[start] == database.range_of_frame[stop - 1]


def test_walks_are_as_walks_are_carried_and_lunges_are_not():
    walk = cut(get_clip("walk_speeds"))
    low = walk.positions.copy()
    low[:, walk.skeleton.index("Hips"), 2] -= 0.12
    lunge = turn(replace(walk, name="lunge", positions=low), ["LeftArm", "RightArm"], (1, 0, 0), 60)
    database = build([Source(clip=clip) for clip in (walk, walk, lunge)], BuildSettings())[0]
    bearing = WalkBearing(database)
    prices = [
        bearing.price(np.arange(start, stop - 40))
        for start, stop in zip(database.starts, database.stops, strict=True)
    ]
    assert np.median(prices[0]) < 5.0
    assert np.percentile(prices[2], 5) > np.percentile(prices[0], 95)
