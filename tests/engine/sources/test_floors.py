"""Clips that were recorded on floors of other heights are put onto the floor of the others."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from building.locomotion.locomotion import Move, perform
from motion_matching.engine.building.build import BuildReport, BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.maths.along_time import find_runs
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.motion.contacts import ContactSettings, find_contacts
from motion_matching.engine.sources.sources import Source, find_sources

MOCAP = os.environ.get("MOTION_MATCHING_MOCAP")


def make_walk(seed: int, seconds: float = 3.0) -> Clip:
    rng = np.random.default_rng(seed)
    return perform(f"walk {seed}", [Move(seconds, 1.2)], 30.0, rng)


def lift(clip: Clip, rises: np.ndarray | float) -> Clip:
    positions = clip.positions.copy()
    positions[:, 0, 2] += rises
    return replace(clip, positions=positions)


def tilt(clip: Clip, angle: float, heading: float) -> Clip:
    """Return a clip on a floor that rises by an angle in radians, to the right of a heading."""
    axis = np.array([np.sin(heading), -np.cos(heading), 0.0])
    turn = quat.from_scaled_angle_axis(angle * axis)
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[:, 0] = quat.mul_vec(turn, positions[:, 0])
    rotations[:, 0] = quat.mul(turn, rotations[:, 0])
    return replace(clip, positions=positions, rotations=rotations)


def turn_about(seed: int) -> Clip:
    moves = [Move(2.0, 1.2), Move(4.0, 1.2, turn=70.0), Move(2.0, 1.2)]
    return perform(f"walk {seed}", moves, 30.0, np.random.default_rng(seed))


def build_from(*clips: Clip) -> tuple[Database, BuildReport]:
    return build([Source(clip=clip) for clip in clips], BuildSettings(mirror=True))


def list_moved(report: BuildReport) -> list[str]:
    return [note.source for note in report.warnings if note.kind == "floor"]


@pytest.mark.parametrize("rise", [0.08, -0.15])
def test_a_clip_on_another_floor_moves_onto_the_common_one(rise: float):
    walks = [make_walk(seed) for seed in range(3)]
    database, _ = build_from(*walks)
    moved, report = build_from(walks[0], lift(walks[1], rise), walks[2])
    np.testing.assert_allclose(moved.poses, database.poses, atol=1e-5)
    assert list_moved(report) == ["walk 1"]
    (text,) = (note.text for note in report.warnings if note.kind == "floor")
    assert f"{100 * abs(rise):.0f}" in text.replace(".0", "")
    assert ("higher" if rise > 0 else "lower") in text


def test_a_floor_above_the_height_of_contacts_is_found():
    walks = [make_walk(seed) for seed in range(3)]
    sources = [Source(clip=clip) for clip in (walks[0], lift(walks[1], 0.12), walks[2])]
    settings = BuildSettings(contacts=ContactSettings(max_height=0.1))
    assert list_moved(build(sources, settings)[1]) == ["walk 1"]


def test_a_clip_on_a_box_stays_there_with_a_warning():
    walks = [make_walk(seed) for seed in range(3)]
    database, report = build_from(walks[0], lift(walks[1], 0.5), walks[2])
    raised = database.poses[database.starts[1] : database.stops[1], 2, 1]
    np.testing.assert_allclose(raised, walks[1].positions[:, 0, 2] + 0.5, atol=1e-5)
    (text,) = (note.text for note in report.warnings if note.kind == "floor")
    assert "'walk 1' stand 50 cm higher" in text
    assert "move the clip onto the floor" in text


@pytest.mark.parametrize("rise", [0.4, 1.0, -1.0])
def test_clips_of_one_floor_come_to_zero(rise: float):
    walks = [make_walk(seed) for seed in range(2)]
    database, report = build_from(*walks)
    assert not list_moved(report)
    moved, report = build_from(*(lift(walk, rise) for walk in walks))
    np.testing.assert_allclose(moved.poses[:, 2, 1], database.poses[:, 2, 1], atol=0.03)
    assert list_moved(report) == ["walk 0", "walk 1"]
    [text, _] = [note.text for note in report.warnings if note.kind == "floor"]
    assert ("above zero" if rise > 0 else "below zero") in text


@pytest.mark.parametrize("rise", [1.0, -1.0])
def test_a_clip_with_its_origin_at_the_hips_comes_to_the_others(rise: float):
    walks = [make_walk(seed) for seed in range(3)]
    database, _ = build_from(*walks)
    moved, report = build_from(walks[0], lift(walks[1], rise), walks[2])
    np.testing.assert_allclose(moved.poses, database.poses, atol=1e-5)
    assert list_moved(report) == ["walk 1"]


def test_a_source_keeps_its_floor_where_that_is_asked_for():
    walks = [lift(make_walk(seed), -1.0) for seed in range(2)]
    database, _ = build_from(*walks)
    sources = [Source(clip=walks[0], keep_floor=True), Source(clip=walks[1])]
    kept, report = build(sources, BuildSettings())
    assert list_moved(report) == ["walk 1"]
    assert [note.source for note in report.warnings if note.kind == "kept floor"] == ["walk 0"]
    own = kept.poses[: kept.stops[0], 2, 1]
    np.testing.assert_allclose(own, walks[0].positions[:, 0, 2], atol=1e-5)
    whole, report = build([Source(clip=walk) for walk in walks], BuildSettings(keep_floor=True))
    assert not list_moved(report)
    texts = {note.source: note.text for note in report.warnings if note.kind == "kept floor"}
    assert sorted(texts) == ["walk 0", "walk 1"]
    for name, text in texts.items():
        assert text.startswith(f"The feet of '{name}' stand")
        assert "kept as it is, and would be moved onto the ground otherwise" in text
    height = database.poses[0, 2, 1] - walks[0].positions[0, 0, 2]
    assert whole.poses[0, 2, 1] + height == pytest.approx(database.poses[0, 2, 1], abs=1e-5)


def test_floors_may_differ_by_as_much_as_soles():
    walks = [make_walk(0), lift(make_walk(1), 0.015)]
    database, report = build_from(*walks)
    assert not list_moved(report)
    heights = np.percentile(database.poses[:, 2, 1], 2)
    assert heights == pytest.approx(np.percentile(walks[0].positions[:, 0, 2], 2), abs=0.02)


def test_a_clip_up_a_slope_is_kept_as_on_level_ground():
    walks = [make_walk(seed, 6.0) for seed in range(3)]
    way = np.linalg.norm(walks[1].positions[:, 0, :2] - walks[1].positions[0, 0, :2], axis=1)
    slope = lift(walks[1], 0.2 * way)
    database, report = build_from(walks[0], slope, walks[2])
    assert not list_moved(report)
    frames = slice(database.starts[1], database.stops[1])
    # feet that walk on the level slide up such a slope, so its height below the body is about that
    np.testing.assert_allclose(database.ground[frames], 0.2 * way, atol=0.06)
    climbed = database.poses[frames, 2, 1] + database.ground[frames]
    np.testing.assert_allclose(climbed, slope.positions[:, 0, 2], atol=1e-5)


def test_the_floor_of_most_of_the_standing_is_the_common_one():
    walks = [make_walk(0, 1.5), make_walk(1, 8.0)]
    _, report = build_from(lift(walks[0], -0.1), walks[1])
    assert list_moved(report) == ["walk 0"]
    _, report = build_from(walks[0], lift(walks[1], -0.1))
    assert list_moved(report) == ["walk 0"]


@pytest.mark.parametrize("heading", [0.0, 0.8, 2.0])
def test_a_tilted_floor_is_levelled(heading: float):
    """As of a capture that was calibrated askew: a foot of the farther steps seemed in the air."""
    walks = [turn_about(seed) for seed in range(3)]
    tilted = tilt(walks[1], np.radians(2.0), heading)
    database, report = build_from(walks[0], tilted, walks[2])
    assert list_moved(report) == ["walk 1"]
    (text,) = (note.text for note in report.warnings if note.kind == "floor")
    assert "tilted by 2" in text
    assert "levelled" in text
    level, _ = build_from(*walks)
    np.testing.assert_allclose(database.poses[:, :3, 1:], level.poses[:, :3, 1:], atol=0.02)
    np.testing.assert_array_equal(database.contacts, level.contacts)


def test_a_straight_walk_on_a_tilted_floor_is_levelled_along_its_way():
    """Across it, no more than two feet tell of a tilt, and these may just stand unlike."""
    walks = [make_walk(seed, 6.0) for seed in range(3)]
    uphill = tilt(walks[1], np.radians(3.0), np.pi / 2)
    database, report = build_from(walks[0], uphill, walks[2])
    level, _ = build_from(*walks)
    assert len(list_moved(report)) == 1
    np.testing.assert_allclose(database.poses[:, 2, 1], level.poses[:, 2, 1], atol=0.02)


def test_a_slope_is_told_with_what_to_do():
    walks = [make_walk(seed, 6.0) for seed in range(3)]
    steep = tilt(walks[1], np.radians(9.0), np.pi / 2)
    _, report = build_from(walks[0], steep, walks[2])
    (text,) = (note.text for note in report.warnings if note.kind == "slope")
    assert all(part in text for part in ("'walk 1'", "climbs a slope of 9°", "turn the clip"))


def hover(clip: Clip, most: float) -> Clip:
    """Return a clip whose body hovers and sinks by turns by up to `most` metres."""
    return lift(clip, most * np.sin(2.0 * np.pi * np.arange(clip.frame_count) / (2.5 * clip.fps)))


def measure_standing_heights(database: Database) -> np.ndarray:
    toes = [leg.toe for leg in database.roles.legs]
    heights = database.skeleton.compute_bone_positions(toes, np.asarray(database.poses))[..., 2]
    return heights[np.asarray(database.contacts)]


def test_feet_that_hover_and_sink_by_turns_stand_on_one_floor():
    """As of rotations that were copied onto longer shins, where knees bend more or less."""
    walks = [make_walk(seed, 8.0) for seed in range(3)]
    database, report = build_from(walks[0], hover(walks[1], 0.05), walks[2])
    assert list_moved(report) == ["walk 1"]
    (text,) = (note.text for note in report.warnings if note.kind == "floor")
    assert "hover and sink" in text
    low, high = np.percentile(measure_standing_heights(database), (2, 98))
    assert high - low < 0.04


def test_a_body_that_is_put_on_the_floor_moves_smoothly():
    walk = make_walk(1, 8.0)
    database, _ = build_from(hover(walk, 0.05))
    plain, _ = build_from(walk)
    most = [np.abs(np.diff(each.poses[:, 2, 1], 2)).max() for each in (database, plain)]
    assert most[0] < 1.3 * most[1]


def test_feet_that_tremble_stand_on_one_floor_as_they_are():
    walk = make_walk(1, 8.0)
    trembling = lift(walk, np.random.default_rng(0).normal(0.0, 0.02, walk.frame_count))
    database, report = build_from(trembling)
    assert not list_moved(report)
    count = len(trembling.positions)
    np.testing.assert_allclose(
        database.poses[:count, 2, 1], trembling.positions[:, 0, 2], atol=1e-5
    )


def stand_on_one_leg() -> Clip:
    """Return a clip of standing on the right foot, with the left one always in motion."""
    clip = perform("stands", [Move(4.0, 0.0)], 30.0, np.random.default_rng(5))
    rotations = clip.rotations.copy()
    shin = clip.skeleton.index("LeftLeg")
    swing = np.radians(40.0 + 20.0 * np.sin(np.arange(clip.frame_count) * 0.6))
    turn = quat.from_scaled_angle_axis(swing[:, None] * np.array([1.0, 0.0, 0.0]))
    rotations[:, shin] = quat.mul(rotations[:, shin], turn)
    return replace(clip, rotations=rotations)


def roll(clip: Clip, most: float) -> Clip:
    """Let the body rise by up to `most` metres and sink again while each foot stands."""
    sides = [clip.skeleton.index(f"{side}Toe") for side in ("Left", "Right")]
    toes = clip.compute_world()[1][:, sides].astype(np.float64)
    stands = find_contacts(toes, clip.fps, ContactSettings()).any(axis=1)
    rises = np.zeros(clip.frame_count)
    for start, stop in find_runs(stands).tolist():
        rises[start:stop] = most * np.sin(np.linspace(0.0, np.pi, stop - start))
    return lift(clip, rises)


def test_feet_that_rise_and_sink_in_every_stance_tell_of_no_other_floor():
    """As in fast runs, whose toes are on the ground where each stance starts and ends."""
    walks = [make_walk(seed) for seed in range(3)]
    run = perform("run", [Move(3.0, 3.0)], 30.0, np.random.default_rng(3))
    rolling = roll(run, 0.055)
    database, report = build_from(*walks, rolling)
    assert not list_moved(report)
    played = database.poses[database.starts[3] : database.stops[3], 2, 1]
    np.testing.assert_allclose(played, rolling.positions[:, 0, 2], atol=1e-5)


@pytest.mark.parametrize(("rise", "is_moved"), [(0.06, False), (-1.0, True)])
def test_a_single_stance_tells_of_another_floor_only_where_it_is_far(rise: float, is_moved: bool):
    walks = [make_walk(seed) for seed in range(3)]
    stands = lift(stand_on_one_leg(), rise)
    moved = list_moved(build_from(*walks, stands)[1])
    assert moved == (["stands"] if is_moved else [])


@pytest.mark.parametrize("rise", [0.08, -0.15])
def test_a_run_on_another_floor_moves_onto_the_common_one(rise: float):
    walks = [make_walk(seed) for seed in range(3)]
    run = perform("run", [Move(3.0, 3.0)], 30.0, np.random.default_rng(3))
    assert list_moved(build_from(*walks, lift(run, rise))[1]) == ["run"]


@pytest.mark.slow
@pytest.mark.skipif(not MOCAP, reason="MOTION_MATCHING_MOCAP is not set")
def test_captured_runs_stay_on_the_floor_of_the_walks():
    _, report = build(find_sources([Path(MOCAP or "") / "cmu-walks"]), BuildSettings())
    assert "002_03" not in list_moved(report)
