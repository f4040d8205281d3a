"""Odd postures: stumbles within runs are found, styles and ordinary motion are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.building import retagging
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.tags.tags import NO_USE, PREFER, TagRange
from motion_matching.engine.facts import postures
from motion_matching.engine.facts.postures import OddPosture, find_odd_postures
from motion_matching.engine.maths.along_time import find_runs
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.performance import scripts
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import takes
from tests.demo import generate_clips
from tests.engine.rigs import NAMINGS, make_walk
from tests.engine.stumbles import RUNS, bend, make_stumbling_runs, plan_stumbles


def build_database(clips: Sequence[Clip], mirror: bool = False, **tags: TagRange) -> Database:
    """Build a database of clips, with a tag for some, of all frames: some leap into a posture."""
    sources = [
        Source(clip=clip, tags=(tags[clip.name],) if clip.name in tags else ()) for clip in clips
    ]
    return build(sources, BuildSettings(mirror=mirror, keep_frames=True))[0]


def list_ranges(found: Sequence[OddPosture]) -> dict[str, list[tuple[int, int]]]:
    ranges: dict[str, list[tuple[int, int]]] = {}
    for one in found:
        ranges.setdefault(one.clip, []).append((one.first, one.last))
    return ranges


def assert_each_is_found(found: Sequence[OddPosture], stumbles: dict[str, list[tuple[int, int]]]):
    """Check that moments and stumbles are the same ones: one within each, most of its length."""
    ranges = list_ranges(found)
    assert ranges.keys() == stumbles.keys()
    for name, expected in stumbles.items():
        assert len(ranges[name]) == len(expected)
        for (first, last), (start, stop) in zip(ranges[name], expected, strict=True):
            assert start <= first < last <= stop
            assert last - first > 0.35 * (stop - start)


# ---------------------------------------------------------------- what is found


def test_nothing_in_the_demo_is_odd(demo_database: Database):
    assert find_odd_postures(demo_database) == ()
    assert postures.describe(()) == "odd postures: none"


@pytest.mark.parametrize("part", [0.1, 1.0 / 3.0])
def test_each_stumble_in_runs_is_found_and_nothing_else(part: float):
    clips, stumbles = make_stumbling_runs(part)
    database = build_database(clips)
    found = find_odd_postures(database)
    assert_each_is_found(found, stumbles)
    assert {one.what for one in found} <= {"bent forward", "arms out", "arm out"}
    for one in found:
        source = database.get_frame_source(one.start)
        assert (source.clip, source.frame) == (one.clip, one.first)


def test_mirror_images_are_not_told_again():
    clips, stumbles = make_stumbling_runs()
    found = find_odd_postures(build_database(clips, mirror=True))
    assert_each_is_found(found, stumbles)


@pytest.mark.parametrize("size", [0.25, 4.0])
def test_bodies_of_any_size_are_judged_alike(size: float):
    """A body of a quarter of the size takes its steps in half the time."""
    clips, stumbles = make_stumbling_runs()
    pace = size**-0.5
    scaled = [
        replace(
            clip,
            positions=(clip.positions * size).astype(np.float32),
            skeleton=replace(
                clip.skeleton,
                rest_positions=clip.skeleton.rest_positions * size,
                end_sites=tuple(
                    (bone, tuple(size * value for value in offset))
                    for bone, offset in clip.skeleton.end_sites
                ),
            ),
            fps=clip.fps * pace,
        )
        for clip in clips
    ]
    assert_each_is_found(find_odd_postures(build_database(scaled)), stumbles)


@pytest.mark.parametrize("name", NAMINGS)
def test_rigs_of_any_kind_are_judged_alike(name: str):
    """Some have twist bones, which are no joints of arms and legs."""
    walk = make_walk(name, 600, speed=1.8)
    spine, moment = walk.skeleton.index(NAMINGS[name].spine[0]), slice(300, 330)
    rotations, forward = walk.rotations.copy(), quat.from_scaled_angle_axis(np.array([1.0, 0, 0]))
    rotations[moment, spine] = quat.mul(forward, rotations[moment, spine])
    (found,) = find_odd_postures(build_database([replace(walk, rotations=rotations)]))
    assert (found.gait, found.what) == ("walking", "bent forward")
    assert (found.first, found.last) == (300, 330)


def test_names_of_bones_do_not_matter():
    clips, stumbles = make_stumbling_runs()
    names = [f"bone{index}" for index in range(clips[0].skeleton.bone_count)]
    renamed = [replace(clip, skeleton=clip.skeleton.with_names(tuple(names))) for clip in clips]
    assert_each_is_found(find_odd_postures(build_database(renamed)), stumbles)


# ---------------------------------------------------------------- what is no outlier


def test_a_style_throughout_a_clip_is_not_odd():
    """One clip of four is bent all the time, with its arms out."""
    clips = [clip for clip in generate_clips() if clip.name in RUNS]
    style = bend(clips[0], np.ones(clips[0].frame_count))
    assert find_odd_postures(build_database([style, *clips[1:]])) == ()


def test_a_style_for_seconds_within_a_clip_is_not_odd():
    clips = [clip for clip in generate_clips() if clip.name in RUNS]
    share = np.zeros(clips[1].frame_count)
    share[round(4.0 * clips[1].fps) : round(14.0 * clips[1].fps)] = 1.0
    clips[1] = bend(clips[1], share)
    assert find_odd_postures(build_database(clips)) == ()


def test_gestures_while_standing_are_not_odd():
    clips = {clip.name: clip for clip in generate_clips()}
    idle = clips["idle"]
    share, gestures = plan_stumbles(idle, 0.2, np.random.default_rng(1))
    gesturing = bend(idle, share, angle=5.0, arms=90.0)
    assert len(gestures) > 1
    assert find_odd_postures(build_database([gesturing, clips["walk_curves"]])) == ()
    bowing = bend(idle, share, angle=60.0)
    found = find_odd_postures(build_database([bowing, clips["walk_curves"]]))
    assert {one.gait for one in found} == {"standing"}
    assert len(found) == len(gestures)


def test_a_single_bad_frame_is_no_posture():
    clips = [clip for clip in generate_clips() if clip.name in RUNS]
    share = np.zeros(clips[1].frame_count)
    share[200:202] = 1.0
    clips[1] = bend(clips[1], share)
    assert find_odd_postures(build_database(clips)) == ()


def test_moments_close_together_are_one():
    clips = [clip for clip in generate_clips() if clip.name in RUNS]
    share = np.zeros(clips[1].frame_count)
    share[200:212] = share[218:230] = 1.0
    clips[1] = bend(clips[1], share)
    (found,) = find_odd_postures(build_database(clips))
    assert found.first <= 201
    assert found.last >= 229


@pytest.mark.parametrize("tag", [TagRange(NO_USE), TagRange(PREFER, bias=5.0)])
def test_what_is_excluded_or_avoided_is_not_told(tag: TagRange):
    clips, stumbles = make_stumbling_runs()
    name = clips[0].name
    found = find_odd_postures(build_database(clips, **{name: tag}))
    assert_each_is_found(found, {clip: ranges for clip, ranges in stumbles.items() if clip != name})


def test_a_gait_of_a_few_seconds_says_nothing():
    clip = next(clip for clip in generate_clips() if clip.name == "idle")
    share = np.zeros(100)
    share[60:80] = 1.0
    assert find_odd_postures(build_database([bend(clip.crop(0, 100), share)])) == ()


# ---------------------------------------------------------------- told


def test_text_names_clips_and_frames():
    database = build_database(make_stumbling_runs()[0])
    found = find_odd_postures(database)
    lines = postures.describe(found).splitlines()
    (share,) = postures.measure_shares(found).values()
    assert lines[0] == f"odd postures: {len(found)} in running ({share:.1%} of its frames)"
    assert lines[1].startswith(f"  {found[0].clip} {found[0].first}-{found[0].last - 1}: ")
    assert lines[-1] == f"  and {len(found) - 8} more"
    assert 0.1 < share < 0.25
    entry = postures.to_dicts(found)[0]
    assert TagRange(NO_USE, entry["start"], entry["stop"]).stop == found[0].last


# ---------------------------------------------------------------- real motion capture


def test_walks_and_runs_of_actors_are_hardly_ever_odd(mocap: Path):
    files = sorted((mocap / "bandai-namco").glob("*.bvh"))
    sources = [Source(file=file) for file in files]
    database, _ = build(sources, BuildSettings(), skip_broken=True)
    found = find_odd_postures(database)
    assert max(postures.measure_shares(found).values(), default=0.0) < 0.002


def count_bends(database: Database, **changes: float) -> int:
    """Count how often a character bends its back past 45° in three minutes of random steering."""
    settings = takes.make_default_settings(database).with_changes(changes)
    speeds = settings.steering.walk, settings.steering.run
    script = scripts.build_script("random", 180.0, database.fps, *speeds, gait="run", seed=1)
    poses = takes.perform(database, settings, script).poses.transpose(0, 2, 1)
    place, roles = database.skeleton.compute_bone_position, database.roles
    chest, hips = (
        place(bone, poses[..., 3:], poses[..., :3], root=0) for bone in (roles.spine, roles.hips)
    )
    back = quat.normalize_vectors(chest - hips)
    return len(find_runs(back[:, 2] < np.cos(np.radians(45.0))))


def test_a_character_bends_no_more_once_odd_postures_are_excluded(mocap: Path):
    source = Source(file=mocap / "lafan1" / "push1_subject2.bvh")
    database, _ = build([source], BuildSettings())
    found = find_odd_postures(database)
    tags = {"": tuple(TagRange(NO_USE, one.first, one.last) for one in found)}
    excluded = retagging.retag(database, tags)
    assert 0.75 < excluded.playable.mean() < 0.95
    assert find_odd_postures(excluded) == ()
    assert count_bends(database, posture_weight=0.0) > 1
    assert count_bends(database) == count_bends(excluded, posture_weight=0.0) == 0


def test_pushes_are_odd_in_a_walk(mocap: Path):
    database, _ = build([Source(file=mocap / "lafan1" / "push1_subject2.bvh")], BuildSettings())
    found = [one for one in find_odd_postures(database) if one.gait == "walking"]
    assert len(found) > 5
    assert all("arm" in one.what or "hand" in one.what for one in found)
    assert postures.measure_shares(found)["walking"] < 0.15
