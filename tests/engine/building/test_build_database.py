"""Building a database keeps the motion of its sources, and refuses invalid input by name."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from building.locomotion.locomotion import Move, perform
from motion_matching.engine.body.bone_pairs import find_bone_pairs
from motion_matching.engine.body.rig import find_roles
from motion_matching.engine.building.build import BuildSettings, build, find_tracks
from motion_matching.engine.bvh import bvh
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import Feature, Schema
from motion_matching.engine.database.tags.tags import TagRange
from motion_matching.engine.errors import (
    DatabaseError,
    MotionDataError,
    MotionMatchingError,
    RigError,
    SettingsError,
)
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip, resample
from motion_matching.engine.motion.contacts import ContactSettings, find_contacts
from motion_matching.engine.motion.simulation_bone import (
    PRESETS,
    GroundTrack,
    SimulationBoneSettings,
)
from motion_matching.engine.skeleton.skeleton import Skeleton
from motion_matching.engine.sources.sources import Source, find_sources, read_source_list
from motion_matching.engine.takes.bodies import measure_body
from tests.demo import generate_clips
from tests.engine import rigs
from tests.engine.stand_in_poses import SWINGS, loosen_hips

POSE_ONLY = Schema((Feature("bone_position", "left_foot"), Feature("bone_velocity", "left_foot")))


@lru_cache
def make_walk(seed: int = 0, fps: float = 30.0, name: str = "walk") -> Clip:
    """Make a walk of about five seconds with a curve that starts and ends standing."""
    return perform(
        name, [Move(1.2, 1.2), Move(1.0, 1.2, turn=50)], fps, np.random.default_rng(seed)
    )


def build_database(*sources: Source | Clip, **settings: Any) -> Database:
    return build(
        [s if isinstance(s, Source) else Source(clip=s) for s in sources], BuildSettings(**settings)
    )[0]


def expect_refusal(
    kind: type[MotionMatchingError], *sources: Source | Clip, **settings: Any
) -> str:
    """Build from sources that must be refused; return the error."""
    with pytest.raises(kind) as error:
        build_database(*sources, **settings)
    assert "\n" not in str(error.value)
    return str(error.value)


def remove_bones(clip: Clip, *endings: str) -> Clip:
    """Remove the bones whose names end so."""
    keep = [k for k, name in enumerate(clip.skeleton.names) if not name.endswith(endings)]
    parents = np.array(
        [keep.index(p) if p >= 0 else -1 for p in clip.skeleton.parents[keep].tolist()]
    )
    names = tuple(clip.skeleton.names[k] for k in keep)
    skeleton = Skeleton(
        names, parents, clip.skeleton.rest_positions[keep], clip.skeleton.rest_rotations[keep]
    )
    return replace(
        clip,
        skeleton=skeleton,
        positions=clip.positions[:, keep],
        rotations=clip.rotations[:, keep],
    )


def compute_range_world(database: Database, index: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Compute world rotations and positions (F, B, …) of a range, without the simulation bone."""
    frames = slice(database.starts[index], database.stops[index])
    poses = database.poses[frames].transpose(0, 2, 1).astype(np.float64)
    rotations, positions = quat.fk(poses[..., 3:], poses[..., :3], database.skeleton.parents)
    return rotations[:, 1:], positions[:, 1:]


def assert_moves_like(database: Database, clip: Clip, index: int = 0) -> None:
    """Check that the hips and all bones below move through the world as in the clip."""
    hips = find_roles(clip.skeleton, [clip]).hips
    bones = [
        b for b in range(clip.skeleton.bone_count) if b not in clip.skeleton.get_ancestors(hips)
    ]
    found, expected = (
        compute_range_world(database, index),
        [a.astype(np.float64) for a in clip.compute_world()],
    )
    np.testing.assert_allclose(found[1][:, bones], expected[1][:, bones], atol=1e-4)
    # a rotation's error in radians is twice that of its quaternion
    apart = 1 - np.abs(np.sum(found[0][:, bones] * quat.normalize(expected[0][:, bones]), axis=-1))
    assert apart.max() < 1e-6


# ---------------------------------------------------------------- the motion itself


@pytest.mark.parametrize("rig", ["LAFAN1", "Bandai-Namco", "Mixamo", "Unreal", "Rigify"])
def test_every_bone_keeps_its_motion_in_the_world(rig: str):
    clip = rigs.make_walk(rig, frames=60)
    database = build_database(clip)
    assert database.skeleton.names[1:] == clip.skeleton.names
    assert database.frame_count == 60
    assert_moves_like(database, clip)


def test_the_simulation_bone_follows_the_track_on_the_ground():
    database = build_database(make_walk(), mirror=True)
    np.testing.assert_allclose(
        database.poses[:, :3, 0], np.c_[database.track[:, :2], 0 * database.track[:, 0]], atol=1e-6
    )
    expected = quat.from_yaw(database.track[:, 2])
    np.testing.assert_allclose(
        np.abs(np.sum(database.poses[:, 3:, 0] * expected, axis=1)), 1.0, atol=1e-6
    )


def test_ranges_are_consecutive_and_independent():
    """Both clips are the same, so that statistics over all clips do not differ."""
    clip = make_walk()
    alone, twice = build_database(clip), build_database(clip, replace(clip, name="again"))
    count = clip.frame_count
    assert twice.starts.tolist() == [0, count]
    assert twice.stops.tolist() == [count, 2 * count]
    assert [r.clip for r in twice.ranges] == ["walk", "again"]
    for name in ("poses", "velocities", "track", "contacts", "features"):
        one, two = getattr(alone, name), getattr(twice, name)
        axis = 1 if name == "features" else 0
        np.testing.assert_allclose(two, np.concatenate([one, one], axis=axis), atol=1e-4)


def test_velocities_are_central_differences_extrapolated_at_the_ends():
    clip = make_walk()
    database = build_database(clip)
    positions, rotations = (
        database.poses[:, :3].astype(np.float64),
        database.poses[:, 3:].astype(np.float64),
    )
    linear, angular = database.velocities[:, :3], database.velocities[:, 3:]
    np.testing.assert_allclose(linear[1:-1], (positions[2:] - positions[:-2]) * 15.0, atol=1e-4)
    bone = database.skeleton.index("LeftForeArm")
    turns = Rotation.from_quat(rotations[:, [1, 2, 3, 0], bone])
    steps = (turns[1:] * turns[:-1].inv()).as_rotvec()
    np.testing.assert_allclose(angular[1:-1, :, bone], (steps[1:] + steps[:-1]) * 15.0, atol=1e-3)
    for velocities in (linear, angular):
        np.testing.assert_allclose(velocities[0], 2 * velocities[1] - velocities[2], atol=1e-4)
        np.testing.assert_allclose(velocities[-1], 2 * velocities[-2] - velocities[-3], atol=1e-4)
    assert_moves_like(database, clip)  # the ends of the clip stay where they were


@pytest.mark.parametrize(("axis", "angle"), [((1, 0, 0), 90), ((0, 1, 0), -90), ((1, 0, 0), 180)])
def test_a_body_that_lies_because_of_its_axes_is_told_with_what_to_do(axis, angle):
    clip = make_walk()
    turn = quat.from_angle_axis(np.radians(float(angle)), np.array(axis, float))
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[:, 0] = quat.mul_vec(turn, positions[:, 0])
    rotations[:, 0] = quat.mul(turn, rotations[:, 0])
    lying = replace(clip, positions=positions, rotations=rotations)
    notes = build([Source(clip=lying)], BuildSettings())[1].warnings
    (text,) = (note.text for note in notes if note.kind == "axes")
    assert "up" in text
    assert not list(build([Source(clip=clip)], BuildSettings())[1].warnings)


def test_contacts_match_the_toes_of_the_clip():
    clip = make_walk()
    roles = find_roles(clip.skeleton, [clip])
    toes = clip.compute_world()[1][:, [leg.toe for leg in roles.legs]]
    for settings in (ContactSettings(), ContactSettings(method="displacement", median=0.0)):
        found = build_database(clip, contacts=settings).contacts
        assert (
            found != find_contacts(toes, 30.0, settings)
        ).mean() < 0.01  # float32 rounds at the threshold
    assert found[:20].all()  # the character stands
    assert 0.3 < found.mean() < 0.95


def test_limits_cover_all_accelerations_within_ranges():
    database = build_database(make_walk(), make_walk(1, name="other"))
    for start, stop in zip(database.starts, database.stops, strict=True):
        for part, limits in zip((slice(0, 3), slice(3, 6)), database.limits, strict=True):
            acceleration = np.diff(database.velocities[start:stop, part], axis=0) * 30.0
            assert (np.linalg.norm(acceleration, axis=1) <= limits * 1.0001 + 1e-6).all()


# ---------------------------------------------------------------- rates and speeds


@pytest.mark.parametrize("fps", [60.0, 30.0, 24.0, 15.0])
def test_a_clip_at_another_frame_rate_is_the_same_motion(fps: float):
    clip = make_walk()
    database = build_database(clip, fps=fps)
    assert database.fps == fps
    assert abs(database.frame_count / fps - clip.frame_count / 30.0) < 1.5 / min(fps, 30.0)
    common = np.arange(0, clip.frame_count, round(30.0 / math.gcd(round(fps), 30)))
    shown = (common * fps / 30.0).astype(int)
    inside = shown < database.frame_count
    found, expected = compute_range_world(database)[1], clip.compute_world()[1]
    np.testing.assert_allclose(found[shown[inside]], expected[common[inside]], atol=1e-4)
    assert [database.get_frame_source(int(frame)).frame for frame in shown[inside]] == common[
        inside
    ].tolist()


def test_the_frame_rate_is_that_of_most_sources():
    slow, fast = make_walk(), make_walk(1, fps=60.0, name="fast")
    assert build_database(slow, fast, replace(fast, name="faster")).fps == 60.0
    assert build_database(slow, replace(slow, name="slower"), fast).fps == 30.0


def test_source_and_build_speeds_multiply_and_frames_keep_their_source():
    clip = make_walk()
    source = Source(clip=clip, start=20, stop=120, speed=1.25)
    database = build_database(source, speed=1.6, fps=60.0, mirror=True)
    # one frame of the database is 1.25 * 1.6 / 2 = 1 of the source
    assert database.stops.tolist() == [100, 200]
    assert [database.get_frame_source(f).frame for f in (0, 7, 99, 100, 107)] == [
        20,
        27,
        119,
        20,
        27,
    ]
    assert [database.get_frame_source(f).mirrored for f in (99, 100)] == [False, True]
    assert_moves_like(database, clip.crop(20, 120))


def test_a_faster_source_covers_the_same_ground_in_less_time():
    clip = make_walk()
    plain, fast = build_database(clip), build_database(Source(clip=clip, speed=1.1))
    assert fast.frame_count == int((clip.frame_count - 1) / 1.1 + 1e-6) + 1
    frame = 90
    shown = fast.get_frame_source(frame)
    assert shown.frame == round(frame * 1.1)
    expected = resample(clip, 30.0, 1.1).compute_world()[1][frame]
    np.testing.assert_allclose(compute_range_world(fast)[1][frame], expected, atol=1e-4)
    for database, factor in ((plain, 1.0), (fast, 1.1)):
        speed = np.linalg.norm(database.root_motion[:, :2], axis=1)
        assert np.median(speed[speed > 1.0]) == pytest.approx(1.2 * factor, rel=0.05)


# ---------------------------------------------------------------- tags


@pytest.mark.parametrize(
    ("fps", "speed", "build_speed"),
    [(30, 1.0, 1.0), (60, 1.0, 1.0), (24, 1.1, 1.0), (30, 1.0, 1.3)],
)
def test_tags_cover_the_frames_that_show_their_source_frames(
    fps: float, speed: float, build_speed: float
):
    tags = (
        TagRange("middle", 70, 90),
        TagRange("begin", None, 61),
        TagRange("end", 95),
        TagRange("outside", 0, 40),
    )
    database = build_database(
        Source(clip=make_walk(), start=45, stop=130, speed=speed, tags=tags),
        fps=fps,
        speed=build_speed,
        schema=POSE_ONLY,
    )
    shown = 45 + np.arange(database.frame_count) * 30.0 / fps * speed * build_speed + 1e-6
    np.testing.assert_array_equal(database.make_tag_mask({"middle"}), (shown >= 70) & (shown < 90))
    np.testing.assert_array_equal(database.make_tag_mask({"begin"}), shown < 61)
    np.testing.assert_array_equal(database.make_tag_mask({"end"}), shown >= 95)
    assert not database.make_tag_mask({"outside"}).any()


def test_sources_share_tags_of_the_same_name():
    database = build_database(
        Source(clip=make_walk(), tags=(TagRange("walk"),)),
        Source(clip=make_walk(1, name="b"), tags=(TagRange("walk"), TagRange("tired"))),
        Source(clip=make_walk(2, name="c")),
    )
    assert database.tag_names == ("tired", "walk")
    counts = [
        database.make_tag_mask({name})[a:b].mean()
        for name in ("walk", "tired")
        for a, b in zip(database.starts, database.stops, strict=True)
    ]
    assert counts == [1, 1, 0, 0, 1, 0]


def test_a_database_holds_32_tags_and_refuses_more():
    tags = tuple(TagRange(f"tag {k:02d}", k, k + 1) for k in range(33))
    database = build_database(Source(clip=make_walk(), tags=tags[:32]))
    for k in range(32):
        assert np.flatnonzero(database.make_tag_mask({f"tag {k:02d}"})).tolist() == [k]
    assert "33 different tags" in expect_refusal(DatabaseError, Source(clip=make_walk(), tags=tags))


# ---------------------------------------------------------------- mirroring


def test_the_mirrored_half_is_the_mirror_image():
    clip = make_walk()
    tags = (TagRange("turn_left", 80), TagRange("start", 0, 50))
    database = build_database(Source(clip=clip, tags=tags), mirror=True)
    count = clip.frame_count
    assert [(r.clip, r.mirrored) for r in database.ranges] == [("walk", False), ("walk", True)]

    original, image = compute_range_world(database, 0)[1], compute_range_world(database, 1)[1]
    pairs = find_bone_pairs(clip.skeleton, find_roles(clip.skeleton, [clip]))
    np.testing.assert_allclose(image, original[:, pairs] * [-1, 1, 1], atol=1e-4)
    np.testing.assert_allclose(
        database.track[count:], database.track[:count] * [-1, 1, -1], atol=1e-9
    )

    contacts = database.contacts
    assert (contacts[count:] != contacts[:count, ::-1]).mean() < 0.01
    assert (contacts[:count] != contacts[:count, ::-1]).mean() > 0.1  # feet do not step together

    right, left = database.make_tag_mask({"turn_right"}), database.make_tag_mask({"turn_left"})
    np.testing.assert_array_equal(right[count:], left[:count])
    assert not database.make_tag_mask({"turn_left"})[count:].any()
    np.testing.assert_array_equal(
        database.make_tag_mask({"start"})[count:], database.make_tag_mask({"start"})[:count]
    )

    left, right = (slice(f.start, f.stop) for f in database.schema.slices[:2])
    reflected = database.features[left, :count] * np.array([[-1], [1], [1]])
    np.testing.assert_allclose(database.features[right, count:], reflected, atol=1e-4)


def test_the_mirror_setting_of_a_source_overrides_that_of_the_build():
    clips = [replace(make_walk(), name=name) for name in "abc"]
    sources = [
        Source(clip=clip, mirror=mirror)
        for clip, mirror in zip(clips, (True, None, False), strict=True)
    ]
    assert [r.clip for r in build_database(*sources).ranges if r.mirrored] == ["a"]
    assert [r.clip for r in build_database(*sources, mirror=True).ranges if r.mirrored] == [
        "a",
        "b",
    ]


def test_given_roles_are_used_for_mirroring():
    """Use a body without legs that walks on its hands, which only the given roles can tell."""
    clip = remove_bones(rigs.make_walk("LAFAN1", frames=60), "UpLeg", "Leg", "Foot", "Toe")
    expect_refusal(RigError, clip)
    parts = {"thigh": "Arm", "shin": "ForeArm", "foot": "Hand"}
    roles = {"hips": "Hips", "spine": "Spine2"} | {
        f"{side}_{part}": side.capitalize() + bone
        for side in ("left", "right")
        for part, bone in parts.items()
    }
    database = build_database(clip, mirror=True, roles=roles)
    assert roles.items() <= database.role_names.items()
    pairs = find_bone_pairs(clip.skeleton)
    original, image = compute_range_world(database, 0)[1], compute_range_world(database, 1)[1]
    np.testing.assert_allclose(image, original[:, pairs] * [-1, 1, 1], atol=1e-4)


# ---------------------------------------------------------------- loops


def make_cycle(frames: int = 40, turn: float = 0.8, fps: float = 30.0) -> Clip:
    """Make an exactly periodic walk cycle on a curve, whose last frame repeats the first."""
    clip = rigs.make_walk("LAFAN1", frames=frames + 1, fps=fps)
    phase = 2 * np.pi * np.arange(frames + 1) / frames
    rotations = np.tile(quat.IDENTITY, (frames + 1, clip.skeleton.bone_count, 1))
    for name, sign in (
        ("LeftUpLeg", 1.0),
        ("RightUpLeg", -1.0),
        ("LeftArm", -1.0),
        ("RightArm", 1.0),
    ):
        rotations[:, clip.skeleton.index(name)] = quat.from_angle_axis(
            0.4 * sign * np.sin(phase), np.array([1.0, 0, 0])
        )
    positions = np.tile(clip.skeleton.rest_positions.astype(np.float64), (frames + 1, 1, 1))
    angle, hips = turn * np.arange(frames + 1) / frames, clip.skeleton.index("Hips")
    radius = 1.2 * frames / fps / turn
    positions[:, hips, 0], positions[:, hips, 1] = (
        radius * (1 - np.cos(angle)),
        -radius * np.sin(angle),
    )
    positions[:, hips, 2] += 0.02 * np.cos(2 * phase)
    rotations[:, hips] = quat.from_yaw(angle)
    return replace(
        clip,
        name="cycle",
        positions=positions.astype(np.float32),
        rotations=rotations.astype(np.float32),
    )


def test_a_loop_drops_the_frame_that_repeats_the_first():
    clip = make_cycle(40)
    database = build_database(Source(clip=clip, loop=True), schema=POSE_ONLY)
    assert database.frame_count == 40
    assert database.ranges[0].loop
    assert_moves_like(database, clip.crop(0, 40))
    # the character follows the curve at a constant speed, also across the seam
    speed = np.linalg.norm(database.root_motion[:, :2], axis=1)
    np.testing.assert_allclose(speed, 1.2, atol=0.02)
    np.testing.assert_allclose(database.root_motion[:, 2], 0.8 * 30 / 40, atol=0.02)
    np.testing.assert_allclose(
        np.linalg.norm(database.velocities[:, :2, 0], axis=1), 1.2, atol=0.02
    )
    np.testing.assert_allclose(database.velocities[:, 5, 0], 0.8 * 30 / 40, atol=0.02)


def test_a_loop_has_the_features_of_the_endlessly_repeated_clip():
    clip = make_cycle(40)
    rounds = np.concatenate([np.arange(40)] * 5)
    positions, rotations = clip.positions[rounds].copy(), clip.rotations[rounds].copy()
    hips = clip.skeleton.index("Hips")
    angle = 0.8 * np.arange(200) / 40
    radius = 1.2 * 40 / 30 / 0.8
    positions[:, hips, 0], positions[:, hips, 1] = (
        radius * (1 - np.cos(angle)),
        -radius * np.sin(angle),
    )
    rotations[:, hips] = quat.from_yaw(angle)
    endless = build_database(
        replace(clip, name="endless", positions=positions, rotations=rotations)
    )
    loop = build_database(Source(clip=clip, loop=True))
    np.testing.assert_allclose(loop.features, endless.features[:, 80:120], atol=6e-3)
    np.testing.assert_allclose(
        loop.velocities[:, :, 2:], endless.velocities[80:120, :, 2:], atol=2e-3
    )


@pytest.mark.parametrize(
    ("fps", "speed", "build_speed"),
    [(60, 1.0, 1.0), (24, 1.0, 1.0), (30, 1.1, 1.0), (30, 1.0, 1.07)],
)
def test_a_loop_at_another_rate_or_speed_still_closes(fps: float, speed: float, build_speed: float):
    """A lap becomes a whole number of frames, so that the step across the seam is like its
    neighbours.
    """
    database = build_database(
        Source(clip=make_cycle(40), loop=True, speed=speed), fps=fps, speed=build_speed
    )
    poses = database.poses[:, :, 1:]
    steps = np.linalg.norm(np.roll(poses, -1, axis=0) - poses, axis=(1, 2))
    assert steps[-1] == pytest.approx(0.5 * (steps[-2] + steps[0]), rel=0.05)
    shown = [database.get_frame_source(f).frame for f in range(database.frame_count)]
    assert shown[0] == 0
    assert shown[-1] == round(40 - 40 / database.frame_count)
    assert database.frame_count == round(40 * fps / 30 / speed / build_speed)


def test_an_open_loop_is_reported_with_its_gap():
    cut = make_cycle(40).crop(0, 31)
    sources = [
        Source(clip=make_cycle(40), loop=True),
        Source(clip=replace(cut, name="open"), loop=True),
        Source(clip=replace(cut, name="no loop")),
    ]
    _, report = build(sources, BuildSettings(schema=POSE_ONLY))
    [warning] = report.warnings
    assert (warning.source, warning.kind) == ("open", "loop")
    assert re.search(r"'open'.*jumps by \d+ cm", warning.text)


def test_a_mirrored_loop_is_a_loop():
    database = build_database(Source(clip=make_cycle(40), loop=True), mirror=True)
    assert [r.loop for r in database.ranges] == [True, True]
    np.testing.assert_allclose(
        database.root_motion[40:], database.root_motion[:40] * [-1, 1, -1], atol=1e-6
    )


# --------------------------------------------------------------- given tracks and root bones


def make_track(count: int) -> GroundTrack:
    time = np.arange(count) / 30.0
    return GroundTrack(np.column_stack([np.sin(time), -time]), 0.3 * time)


def test_a_given_track_is_used_unchanged_and_keeps_the_motion():
    clip = make_walk()
    track = make_track(clip.frame_count)
    database = build_database(Source(clip=clip, track=track), mirror=True)
    count = clip.frame_count
    np.testing.assert_array_equal(database.track[:count], np.c_[track.positions, track.yaw])
    np.testing.assert_array_equal(
        database.track[count:], np.c_[track.positions, track.yaw] * [-1, 1, -1]
    )
    assert_moves_like(database, clip)


def test_a_given_track_covers_the_chosen_frames_at_any_rate_and_speed():
    clip = make_walk()
    track = make_track(75)
    database = build_database(
        Source(clip=clip, start=30, stop=105, speed=1.25, track=track), fps=60.0
    )
    times = np.arange(database.frame_count) * 0.625
    rows = np.c_[track.positions, track.yaw]
    expected = np.column_stack([np.interp(times, np.arange(75), rows[:, k]) for k in range(3)])
    np.testing.assert_allclose(database.track, expected, atol=1e-12)
    text = expect_refusal(SettingsError, Source(clip=clip, start=30, stop=104, track=track))
    assert "75" in text
    assert "74" in text


@pytest.mark.parametrize(
    ("fps", "speed", "close"), [(30.0, 1.0, 1e-9), (60.0, 1.0, 1e-3), (30.0, 1.1, 2e-3)]
)
def test_found_tracks_given_back_build_the_same_database(fps: float, speed: float, close: float):
    sources = [
        Source(clip=make_walk(), start=10, stop=130),
        Source(clip=make_walk(), speed=speed),
        Source(clip=make_walk(), start=50, stop=90, loop=True),
        Source(clip=make_walk(), stop=8),
    ]
    settings = BuildSettings(fps=fps, simulation_bone=PRESETS["adaptive"])
    tracks = find_tracks(sources, settings)
    assert [track and track.frame_count for track in tracks] == [
        120,
        make_walk().frame_count,
        40,
        None,
    ]
    database, _ = build(sources, settings)
    again, _ = build([replace(s, track=t) for s, t in zip(sources, tracks, strict=True)], settings)
    np.testing.assert_allclose(again.track, database.track, atol=close)
    np.testing.assert_allclose(again.features, database.features, atol=20 * close + 1e-6)


def test_an_existing_root_bone_can_be_the_simulation_bone():
    clip = rigs.make_walk("Bandai-Namco", frames=90)
    root, hips = clip.skeleton.index("joint_Root"), clip.skeleton.index("Hips")
    positions = clip.positions.copy()
    positions[:, root, :2] = positions[:, hips, :2]
    positions[:, hips, :2] = 0.0
    moved = replace(clip, positions=positions)
    database = build_database(moved, simulation_bone=SimulationBoneSettings(source="root"))
    np.testing.assert_allclose(database.track[:, :2], positions[:, root, :2], atol=1e-6)
    np.testing.assert_allclose(database.track[:, 2], 0.0, atol=1e-6)
    assert_moves_like(database, moved)
    assert "root" in expect_refusal(
        RigError, make_walk(), simulation_bone=SimulationBoneSettings(source="root")
    )


def test_a_root_bone_that_never_moves_is_reported():
    """Without a moving root, the database cannot tell where its frames lead."""
    clip = rigs.make_walk("Bandai-Namco", frames=90)
    root, hips = clip.skeleton.index("joint_Root"), clip.skeleton.index("Hips")
    positions = clip.positions.copy()
    positions[:, root], positions[:, hips, :2] = (
        positions[:, root] + positions[:, hips] * [1, 1, 0],
        0.0,
    )
    for source, reported in ((clip, True), (replace(clip, positions=positions), False)):
        _, report = build(
            [Source(clip=source)],
            BuildSettings(simulation_bone=SimulationBoneSettings(source="root")),
        )
        assert (
            any("'joint_Root'" in w.text and "article" in w.text for w in report.warnings)
            == reported
        )


# ---------------------------------------------------------------- reports


def test_short_sources_are_named_and_the_rest_is_built():
    clip = make_walk()
    sources = [
        Source(clip=replace(clip, name=name), stop=stop)
        for name, stop in (("a", None), ("b", 29), ("c", 30))
    ]
    database, report = build(sources, BuildSettings())
    assert [r.clip for r in database.ranges] == ["a", "c"]
    assert [(note.source, note.kind) for note in report.skipped] == [("b", "short")]
    assert "29 frames" in report.skipped[0][1]
    assert "30" in report.skipped[0][1]
    assert np.isfinite(database.features).all()


def test_a_short_source_with_another_skeleton_is_skipped():
    database, report = build(
        [Source(clip=make_walk()), Source(clip=rigs.make_walk("Mixamo", frames=12))],
        BuildSettings(),
    )
    assert database.frame_count == make_walk().frame_count
    assert [note.source for note in report.skipped] == ["Mixamo"]


def test_pose_features_alone_allow_very_short_clips():
    database = build_database(Source(clip=make_walk(), start=60, stop=65), schema=POSE_ONLY)
    assert database.frame_count == 5
    assert np.isfinite(database.features).all()
    expect_refusal(DatabaseError, Source(clip=make_walk(), start=60, stop=64), schema=POSE_ONLY)


def test_nothing_is_reported_of_sound_clips_that_start_or_end_in_motion():
    moving = rigs.make_walk("LAFAN1", frames=90)
    for source in (Source(clip=moving), Source(clip=make_cycle(), loop=True)):
        assert build([source], BuildSettings())[1].warnings == ()


def test_assumptions_about_a_file_are_reported(tmp_path: Path):
    file = tmp_path / "walk.bvh"
    bvh.save(make_walk(), file)
    file.write_text(file.read_text().replace(f"Frames: {make_walk().frame_count}", "Frames: 7"))
    _, report = build(find_sources([file]), BuildSettings())
    assert any("walk.bvh" in w.text and "7" in w.text for w in report.warnings)


def test_progress_is_reported_and_can_cancel():
    stages: list[tuple[str, float]] = []
    build(
        [Source(clip=make_walk()), Source(clip=make_walk(1, name="b"))],
        BuildSettings(),
        lambda *step: stages.append(step),
    )
    assert [stage for stage, _ in stages][:2] == ["Reading", "Reading"]
    assert all(0 <= part <= 1 for _, part in stages)
    for stop in {stage for stage, _ in stages}:

        def cancel(stage: str, part: float, stop: str = stop) -> None:
            if stage == stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            build([Source(clip=make_walk())], BuildSettings(), cancel)


# ---------------------------------------------------------------- invalid sources


def test_building_without_sources_is_refused():
    with pytest.raises(DatabaseError, match="no sources"):
        build([], BuildSettings())


def test_only_short_sources_are_refused_with_the_required_length():
    text = expect_refusal(
        DatabaseError, *(Source(clip=make_walk(), stop=stop) for stop in (1, 10, 29))
    )
    assert "30 frames" in text
    assert "1 s" in text


@pytest.mark.parametrize(
    "schema",
    [
        Schema((Feature("trajectory_position", times=(0.0,)),)),
        replace(POSE_ONLY, features=tuple(replace(f, weight=0.0) for f in POSE_ONLY.features)),
    ],
)
def test_features_that_distinguish_no_frames_are_refused(schema: Schema):
    assert "choose other features" in expect_refusal(DatabaseError, make_walk(), schema=schema)


def test_clips_without_any_motion_are_refused():
    clip = make_walk()
    frozen = replace(
        clip,
        positions=clip.positions[:1].repeat(60, axis=0),
        rotations=clip.rotations[:1].repeat(60, axis=0),
    )
    assert "add clips that move" in expect_refusal(DatabaseError, frozen)


@pytest.mark.parametrize(("start", "stop"), [(30, 30), (40, 20), (None, 0)])
def test_a_tag_that_stops_before_it_starts_is_refused(start: int | None, stop: int | None):
    with pytest.raises(SettingsError, match=r"'turn' of the source 'walk'"):
        Source(clip=make_walk(), tags=(TagRange("turn", start, stop),))


def test_a_tag_on_no_frame_is_reported():
    tags = (TagRange("early", 0, 10), TagRange("late", 500), TagRange("in", 90))
    _, report = build(
        [Source(clip=make_walk(), start=10, stop=100, tags=tags)], BuildSettings(mirror=True)
    )
    warnings = [note for note in report.warnings if note.kind == "tag"]
    assert len(warnings) == 2
    assert "'early'" in warnings[0].text
    assert "'late'" in warnings[1].text


def test_sliding_bones_and_noise_do_not_make_skeletons_differ():
    clip = make_walk()
    positions = clip.positions * np.float32(1.004)
    sliding = clip.skeleton.index("LeftHand")
    positions[:, sliding, 0] += np.linspace(0.1, 0.2, clip.frame_count)
    assert len(build_database(clip, replace(clip, name="other", positions=positions)).ranges) == 2


def test_a_rig_without_feet_is_refused_with_the_missing_role():
    assert "left foot" in expect_refusal(RigError, remove_bones(make_walk(), "Foot", "Toe"))
    assert build_database(remove_bones(make_walk(), "Toe")).role_names["left_toe"] == "LeftFoot"


def test_features_of_a_missing_leg_are_refused():
    one_legged = remove_bones(make_walk(), "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToe")
    assert "'left_foot'" in expect_refusal(SettingsError, one_legged)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("what", ["positions", "rotations"])
def test_a_value_that_is_not_finite_is_refused_with_bone_and_frame(value: float, what: str):
    clip = make_walk()
    array = getattr(clip, what).copy()
    array[77, clip.skeleton.index("Neck"), 1] = value
    text = expect_refusal(MotionDataError, replace(clip, **{what: array}))
    for word in ("'Neck'", "'walk'", "77"):
        assert word in text


def test_nan_in_a_file_is_refused_with_joint_and_line(tmp_path: Path):
    bvh.save(make_walk(), tmp_path / "walk.bvh")
    lines = (tmp_path / "walk.bvh").read_text().splitlines()
    values = lines[-5].split()
    values[4] = "nan"
    lines[-5] = " ".join(values)
    (tmp_path / "walk.bvh").write_text("\n".join(lines))
    text = expect_refusal(MotionDataError, *find_sources([tmp_path]))
    for word in ("walk.bvh", "rotation", "'Hips'", str(len(lines) - 4)):
        assert word in text


def test_a_text_file_named_bvh_is_refused(tmp_path: Path):
    (tmp_path / "notes.bvh").write_text("buy milk\n")
    assert "notes.bvh" in expect_refusal(MotionDataError, *find_sources([tmp_path]))


def test_invalid_ranges_and_speeds_are_refused():
    clip = make_walk()
    for start, stop in ((500, None), (40, 40), (40, 30), (0, 0)):
        assert "'walk'" in expect_refusal(SettingsError, Source(clip=clip, start=start, stop=stop))
    for wrong in (
        {"start": -3},
        {"stop": -1},
        {"speed": 0.0},
        {"speed": -1.0},
        {"speed": np.nan},
        {"speed": np.inf},
    ):
        with pytest.raises(SettingsError, match="'walk'"):
            Source(clip=clip, **wrong)
    for wrong in ({"fps": 0.0}, {"fps": -30.0}, {"fps": np.nan}, {"speed": 0.0}, {"speed": np.inf}):
        with pytest.raises(SettingsError, match=r"rate|speed"):
            BuildSettings(**wrong)


def test_features_may_name_bones_and_unknown_bones_are_refused():
    schema = Schema((Feature("bone_position", "LeftHand"),))
    assert build_database(make_walk(), schema=schema).features.shape[0] == 3
    text = expect_refusal(
        SettingsError, make_walk(), schema=Schema((Feature("bone_position", "Tail"),))
    )
    assert "'Tail'" in text


# ---------------------------------------------------------------- lists and folders


def test_a_folder_gives_its_files_in_order_then_those_of_subfolders(tmp_path: Path):
    (tmp_path / "deeper").mkdir()
    for name in ("b.bvh", "a.BVH", "deeper/c.bvh", "notes.txt", "._b.bvh"):
        (tmp_path / name).write_text("")
    (tmp_path / "folder.bvh").mkdir()
    found = find_sources([tmp_path, tmp_path / "b.bvh"])
    assert [s.file.relative_to(tmp_path).as_posix() for s in found if s.file] == [
        "a.BVH",
        "b.bvh",
        "deeper/c.bvh",
        "b.bvh",
    ]


def test_empty_folders_and_missing_files_are_named(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(SettingsError, match=r"empty.*no \.bvh files"):
        find_sources([tmp_path / "empty"])
    for name in ("none.bvh", "none.json"):
        with pytest.raises(SettingsError, match=f"{name}.*does not exist"):
            find_sources([tmp_path / name])


def write_list(folder: Path, data: Any) -> Path:
    file = folder / "sources.json"
    file.write_text(data if isinstance(data, str) else json.dumps(data))
    return file


def test_a_source_list_describes_how_each_file_is_used(tmp_path: Path):
    (tmp_path / "clips").mkdir()
    bvh.save(make_walk(), tmp_path / "clips" / "a.bvh")
    rows = [[0.1 * k, -0.2 * k, 6.0 + 0.01 * k] for k in range(80)]
    file = write_list(
        tmp_path,
        [
            {"file": "clips/a.bvh"},
            {
                "file": str(tmp_path / "clips" / "a.bvh"),
                "start": 10,
                "stop": 110,
                "speed": 1.25,
                "mirror": True,
                "loop": False,
                "tags": [{"name": "left"}, {"name": "slow", "start": 20, "stop": 35}],
            },
            {"file": "clips/a.bvh", "stop": 80, "track": rows, "mirror": False},
        ],
    )
    plain, cut, tracked = find_sources([file])
    assert plain == Source(file=tmp_path / "clips" / "a.bvh")
    assert (cut.start, cut.stop, cut.speed, cut.mirror, cut.loop) == (10, 110, 1.25, True, False)
    assert cut.tags == (TagRange("left"), TagRange("slow", 20, 35))
    assert tracked.track is not None
    np.testing.assert_allclose(np.c_[tracked.track.positions, tracked.track.yaw], rows)
    database = build_database(plain, cut, tracked)
    assert [(r.clip, r.mirrored) for r in database.ranges] == [("a", False)] * 3 + [("a", True)]
    assert database.tag_names == ("left", "right", "slow")


@pytest.mark.parametrize(
    "entry",
    [
        "a.bvh",
        {},
        {"file": 3},
        {"file": "none.bvh"},
        {"file": "."},
        {"file": "a.bvh", "sped": 1.1},
        {"file": "a.bvh", "speed": 0},
        {"file": "a.bvh", "speed": "fast"},
        {"file": "a.bvh", "speed": 1000},
        {"file": "a.bvh", "start": 1.5},
        {"file": "a.bvh", "start": -2},
        {"file": "a.bvh", "stop": "end"},
        {"file": "a.bvh", "stop": True},
        {"file": "a.bvh", "mirror": "yes"},
        {"file": "a.bvh", "loop": 1},
        {"file": "a.bvh", "tags": "left"},
        {"file": "a.bvh", "tags": ["left"]},
        {"file": "a.bvh", "tags": [{"start": 3}]},
        {"file": "a.bvh", "tags": [{"name": ""}]},
        {"file": "a.bvh", "tags": [{"name": "x", "start": "3"}]},
        {"file": "a.bvh", "tags": [{"name": "x", "end": 3}]},
        {"file": "a.bvh", "tags": 3},
        {"file": "a.bvh", "track": [1, 2, 3]},
        {"file": "a.bvh", "track": "straight"},
        {"file": "a.bvh", "track": []},
        {"file": "a.bvh", "track": [[1, 2]]},
        {"file": "a.bvh", "track": [[1, 2, None]]},
        {"file": "a.bvh", "track": [[1, 2, 3], [1, 2]]},
    ],
)
def test_an_invalid_entry_of_a_list_is_named_by_its_number(tmp_path: Path, entry: Any):
    (tmp_path / "a.bvh").write_text("")
    file = write_list(tmp_path, [{"file": "a.bvh"}, entry])
    with pytest.raises(SettingsError) as error:
        read_source_list(file)
    text = str(error.value)
    assert "source 2" in text.lower()
    assert "sources.json" in text
    assert "\n" not in text


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", "3", '"a.bvh"', '[{"file": "a.bvh",}]'])
def test_a_file_that_holds_no_list_is_refused(tmp_path: Path, text: str):
    with pytest.raises(SettingsError, match=r"sources\.json"):
        read_source_list(write_list(tmp_path, text))


# ---------------------------------------------------------------- position and heading


@pytest.mark.parametrize("change", ["moved", "turned"])
def test_moving_and_turning_a_clip_keeps_its_features(change: str):
    clip = make_walk()
    hips = clip.skeleton.index("Hips")
    turn = quat.from_yaw(np.array(2.5 if change == "turned" else 0.0))
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[:, hips] = quat.mul_vec(turn, positions[:, hips]) + np.array([12.0, -5.0, 0.0])
    rotations[:, hips] = quat.mul(turn, rotations[:, hips])
    here, there = (
        build_database(clip),
        build_database(replace(clip, positions=positions, rotations=rotations)),
    )
    np.testing.assert_allclose(there.features, here.features, atol=1e-3)
    np.testing.assert_allclose(there.root_motion, here.root_motion, atol=1e-3)


# ---------------------------------------------------------------- real motion capture


def assert_builds(sources: list[Source], **settings: Any) -> None:
    """Check that a database of these files is finite, that its unmirrored part moves as the files
    do in the first one's measures, and that all bones lie on their parents in these.
    """
    database = build_database(*sources, **settings)
    assert np.isfinite(database.features).all()
    assert np.isfinite(database.velocities).all()
    assert database.normalization.varies.all()
    assert database.find_candidates(1 / 3).any()
    assert 0.05 < database.contacts.mean() < 0.95
    clips = [bvh.load(source.file) for source in sources if source.file is not None]
    hips = find_roles(clips[0].skeleton, clips[:1]).hips
    body = clips[0].skeleton.get_descendants(hips)
    plain = [k for k, r in enumerate(database.ranges) if not r.mirrored]
    for k, clip in zip(plain, clips, strict=True):
        positions = clip.positions.copy()
        positions[:, body] = clips[0].positions[0, body]
        assert_moves_like(database, replace(clip, positions=positions), k)
    bones = [database.skeleton.index(clips[0].skeleton.names[bone]) for bone in body]
    away = database.poses[:, :3, bones] - database.skeleton.rest_positions[bones].T
    assert np.linalg.norm(away, axis=1).max() < 1e-4


def test_real_mocap_with_and_without_a_moving_root(mocap: Path):
    """In the second file, the root moves along with the hips, and a shin is 0.4 mm longer."""
    names = (
        "walk_normal_001",
        "walk_normal_002",
        "run_angry_001",
        "walk-back_tired_001",
        "walk-left_angry_001",
    )
    sources = find_sources([mocap / "bandai-namco" / f"dataset-1_{name}.bvh" for name in names])
    assert_builds(sources, mirror=True)


def test_real_mocap_of_a_long_take(mocap: Path):
    assert_builds(find_sources([mocap / "lafan1"]))


def test_broken_sources_are_named_and_the_rest_is_built(tmp_path):
    good = generate_clips()[:3]
    broken = tmp_path / "broken.bvh"
    broken.write_text("HIERARCHY\nROOT Hips\n{ nonsense")
    # a tail alone, whose bones are no body
    bones = [good[2].skeleton.index(name) for name in ("Spine", "Chest", "Neck", "Head")]
    rest = good[2].skeleton.rest_positions[bones], good[2].skeleton.rest_rotations[bones]
    tail = Skeleton(("A", "B", "C", "D"), np.arange(-1, 3), *rest)
    positions, rotations = good[2].positions[:, bones], good[2].rotations[:, bones]
    other = Clip("other", tail, positions, rotations, good[2].fps)
    # a clip that differs from the rest is skipped even if it comes first
    sources = [Source(clip=other), Source(file=broken), *(Source(clip=clip) for clip in good)]
    database, report = build(sources, BuildSettings(), skip_broken=True)
    whole, _ = build([Source(clip=clip) for clip in good], BuildSettings())
    assert [r.clip for r in database.ranges] == [clip.name for clip in good]
    assert np.array_equal(database.poses, whole.poses)
    assert np.array_equal(database.features, whole.features)
    reasons = {note.source: note.text for note in report.skipped}
    kinds = {note.source: note.kind for note in report.skipped}
    assert kinds == {"other": "skeleton", "broken": "unreadable"}
    assert "cannot be retargeted" in reasons["other"]
    assert "broken.bvh" in reasons["broken"]
    with pytest.raises(MotionMatchingError, match=r"broken\.bvh"):
        build([Source(file=broken)], BuildSettings(), skip_broken=True)
    with pytest.raises(MotionMatchingError, match=r"broken\.bvh"):
        build([*sources[1:3]], BuildSettings())


@pytest.mark.parametrize("swing", SWINGS)
@pytest.mark.parametrize("degrees", [15.0, 80.0])
def test_a_body_whose_hips_bone_swings_faces_where_its_pelvis_does(degrees: float, swing: str):
    walk = perform("walk", [Move(4.0, 1.2, turn=30.0)], 30.0, np.random.default_rng(1))
    loose, settings = loosen_hips(walk, degrees, swing), SimulationBoneSettings()
    wanted, found = build_database(walk), build_database(loose)
    np.testing.assert_allclose(found.track[:, 2], wanted.track[:, 2], atol=np.radians(1.0))
    np.testing.assert_allclose(found.features, wanted.features, atol=0.05)
    fronts = [np.array(each.hips_forward) for each in (wanted, found)]
    yaws = [
        measure_body(clip, find_roles(clip.skeleton, [clip]), ahead, settings).track.yaw
        for clip, ahead in zip((walk, loose), fronts, strict=True)
    ]
    np.testing.assert_allclose(yaws[1], yaws[0], atol=np.radians(1.0))
