"""Proposed tags say what the clips' own names say, on generated and on real motion, and obey
symmetries.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.database.auto_tags import NAMES, propose
from motion_matching.engine.database.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.sources import Source, find_sources
from motion_matching.engine.database.tags import TagRange
from motion_matching.engine.database.thresholds import AutoTagSettings
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.locomotion.locomotion import Move, perform
from motion_matching.engine.motion.simulation_bone import GroundTrack

SETTINGS = AutoTagSettings()
Tags = dict[str, list[tuple[int, int]]]


def tags_on(track: GroundTrack, fps: float = 30.0, settings: AutoTagSettings = SETTINGS) -> Tags:
    tags: Tags = {name: [] for name in NAMES}
    for name, start, stop in propose(track, fps, settings):
        tags[name].append((start, stop))
    return tags


def share(spans: list[tuple[int, int]], count: int) -> float:
    return sum(b - a for a, b in spans) / count


@pytest.fixture(scope="module")
def demo(demo_database: Database) -> dict[str, tuple[Tags, GroundTrack]]:
    """Tags and track of each generated clip."""
    result = {}
    for start, stop, origin in zip(
        demo_database.starts, demo_database.stops, demo_database.ranges, strict=True
    ):
        if not origin.mirrored:
            track = GroundTrack(
                demo_database.track[start:stop, :2], demo_database.track[start:stop, 2]
            )
            result[origin.clip] = (tags_on(track), track)
    return result


def straight(
    *stretches: tuple[float, float], yaw_rate: float = 0.0, direction: float = 0.0
) -> GroundTrack:
    """A track of stretches (seconds, m/s) in a direction seen from the heading, turning at a rate,
    at 30 fps.
    """
    speed = np.concatenate([np.full(round(seconds * 30), v) for seconds, v in stretches])
    yaw = np.arange(len(speed)) / 30.0 * yaw_rate
    way = (
        np.stack([np.sin(yaw + direction), -np.cos(yaw + direction)], axis=-1)
        * speed[:, None]
        / 30.0
    )
    return GroundTrack(np.cumsum(way, axis=0), yaw)


# ---------------------------------------------------------------- plain motion


@pytest.mark.parametrize(
    ("speed", "gait"), [(0.0, "idle"), (0.1, "idle"), (0.6, "walk"), (1.7, "walk"), (2.6, "run")]
)
def test_a_steady_speed_is_one_gait(speed: float, gait: str):
    tags = tags_on(straight((4.0, speed)))
    assert tags == {name: [(0, 120)] if name == gait else [] for name in NAMES}


@pytest.mark.parametrize(
    ("degrees", "name"),
    [
        (0, None),
        (30, None),
        (60, "strafe"),
        (-90, "strafe"),
        (120, "strafe"),
        (160, "back"),
        (180, "back"),
    ],
)
def test_a_direction_is_that_of_the_movement_seen_from_the_heading(
    degrees: float, name: str | None
):
    """Also while the heading turns, which is no direction."""
    for rate in (0.0, 0.3):
        tags = tags_on(straight((4.0, 1.2), yaw_rate=rate, direction=np.radians(degrees)))
        assert [way for way in ("strafe", "back") if tags[way]] == ([name] if name else [])
        assert share(tags[name], 120) == 1.0 if name else True


@pytest.mark.parametrize(
    ("degrees", "name"), [(40, "turn_left"), (-40, "turn_right"), (15, None), (-15, None)]
)
@pytest.mark.parametrize("speed", [0.0, 1.2, 3.0])
def test_a_turn_is_one_whatever_the_speed(degrees: float, name: str | None, speed: float):
    tags = tags_on(straight((4.0, speed), yaw_rate=np.radians(degrees)))
    assert [turn for turn in ("turn_left", "turn_right") if tags[turn]] == ([name] if name else [])


def test_the_sway_of_steps_makes_no_turns_and_no_gaits():
    """As real walks have it: hips swing by 40 degrees a second with each stride, the speed by a
    fifth with each step.
    """
    t = np.arange(300) / 30.0
    yaw = np.radians(40.0) / (2 * np.pi) * np.sin(2 * np.pi * t)
    speed = 1.9 * (1.0 + 0.2 * np.sin(4 * np.pi * t))
    tags = tags_on(GroundTrack(np.stack([0 * t, -np.cumsum(speed) / 30.0], axis=-1), yaw))
    assert tags == {name: [(0, 300)] if name == "walk" else [] for name in NAMES}


def test_a_start_leads_from_rest_to_full_speed_and_a_stop_back():
    rising = [(1 / 30, 1.4 * k / 24) for k in range(24)]
    tags = tags_on(straight((2.0, 0.0), *rising, (2.0, 1.4), *rising[::-1], (2.0, 0.0)))
    [(begin, arrival)], [(leaving, rest)] = tags["start"], tags["stop"]
    assert 52 <= begin <= 64
    assert 80 <= arrival <= 92
    np.testing.assert_allclose((leaving, rest), (228 - arrival, 228 - begin), atol=1)
    assert tags["idle"] == [(0, tags["walk"][0][0]), (tags["walk"][0][1], 228)]


def test_tags_are_mirrored_with_the_motion_and_do_not_see_where_it_happens():
    track = perform_track(
        [Move(1.5, 1.2, turn=45), Move(1.5, 2.9, turn=-40), Move(1.5, 1.0, direction=90)]
    )
    tags = tags_on(track)
    image = tags_on(track.mirrored())
    assert image.pop("turn_left") == tags["turn_right"]
    assert image.pop("turn_right") == tags["turn_left"]
    assert image.items() <= tags.items()
    c, s = np.cos(2.0), np.sin(2.0)
    moved = GroundTrack(
        track.positions @ np.array([[c, s], [-s, c]]) + [5.0, -3.0], track.yaw + 2.0
    )
    assert tags_on(moved) == tags


def perform_track(moves: list[Move], fps: float = 30.0) -> GroundTrack:
    database = build(
        [Source(clip=perform("x", moves, fps, np.random.default_rng(3)))], BuildSettings()
    )[0]
    return GroundTrack(database.track[:, :2], database.track[:, 2])


def test_tags_lie_at_the_same_times_at_any_rate():
    moves = [Move(2.0, 1.2, turn=45), Move(2.0, 3.0), Move(2.0, 1.0, direction=90)]
    slow, fast = tags_on(perform_track(moves)), tags_on(perform_track(moves, 60.0), 60.0)
    for name in NAMES:
        assert len(slow[name]) == len(fast[name])
        np.testing.assert_allclose(np.array(fast[name]) / 2, slow[name], atol=3)


# --------------------------------------------------- generated clips, whose names say what they are


def test_every_generated_frame_has_one_gait(demo: dict[str, tuple[Tags, GroundTrack]]):
    for tags, track in demo.values():
        count = np.zeros(track.frame_count, int)
        for name in ("idle", "walk", "run"):
            for a, b in tags[name]:
                count[a:b] += 1
                assert b - a >= round(SETTINGS.shortest * 30) or b - a == track.frame_count
        assert (count == 1).all()


def test_generated_clips_are_tagged_with_what_they_hold(demo: dict[str, tuple[Tags, GroundTrack]]):
    def of(clip: str, *names: str) -> float:
        tags, track = demo[clip]
        return sum(share(tags[name], track.frame_count) for name in names)

    assert of("idle", "idle") == 1.0
    assert of("idle_and_turns_in_place", "idle") == 1.0
    for clip in (
        "walk_curves",
        "walk_speeds",
        "walk_pivots",
        "walk_corners",
        "walk_bends",
        "walk_reversals",
    ):
        assert of(clip, "run") == of(clip, "strafe", "back") == 0.0
        assert of(clip, "walk") > 0.75
    for clip in ("run_curves", "run_speeds", "run_corners", "run_pivots", "run_reversals"):
        assert of(clip, "strafe", "back") == 0.0
        assert of(clip, "run") > 4 * of(clip, "walk")
    for clip in ("idle", "strafes", "walk_speeds", "run_speeds", "gait_changes", "fast_strafes"):
        assert of(clip, "turn_left", "turn_right") == 0.0
    assert of("strafes", "strafe") == pytest.approx(of("strafes", "walk"), abs=0.01)
    assert of("circles_facing_the_centre", "strafe") > 0.9 * of("circles_facing_the_centre", "walk")
    assert of("backwards_and_diagonals", "back") > 0.4
    assert min(of("fast_strafes", "strafe"), of("fast_strafes", "back")) > 0.2


def test_turns_starts_and_stops_of_generated_clips_are_counted_right(
    demo: dict[str, tuple[Tags, GroundTrack]],
):
    def counts(clip: str) -> list[int]:
        return [len(demo[clip][0][name]) for name in ("turn_left", "turn_right", "start", "stop")]

    assert counts("idle_and_turns_in_place") == [3, 2, 0, 0]
    assert counts("walk_curves") == [4, 4, 1, 1]
    assert counts("run_curves") == [4, 4, 1, 1]
    assert counts("walk_corners") == [3, 3, 1, 1]
    assert counts("circles_facing_the_centre") == [2, 2, 1, 1]
    assert counts("walk_starts_and_stops")[2:] == [7, 7]
    assert counts("strafes") == [
        0,
        0,
        2,
        2,
    ]  # it stands for a moment where it changes from one side to the other


def test_real_clips_are_tagged_with_what_their_names_say(mocap: Path):
    """Straight walks have no turns, though hips swing; clips of turns have theirs, and backing is
    backing.
    """
    sources = find_sources([mocap / "bandai-namco"])
    tags = build(sources, BuildSettings(auto_tags=SETTINGS))[1].proposed
    held = {clip: {tag.name for tag in ranges} for clip, ranges in tags.items()}

    def part(word: str, *names: str) -> float:
        clips = [clip for clip in held if word in clip]
        assert len(clips) >= 3
        return float(np.mean([set(names) <= held[clip] for clip in clips]))

    assert part("2_walk_normal", "walk") == 1.0
    assert part("2_walk_normal", "turn_left") == part("2_walk_normal", "turn_right") == 0.0
    assert part("turn-left", "walk", "turn_left") > 0.95
    assert part("turn-right", "walk", "turn_right") > 0.95
    assert part("turn-left", "turn_right") + part("turn-right", "turn_left") < 0.15
    assert part("walk-back", "back") == 1.0
    assert part("_run_", "run") > 0.95
    assert part("_dash_", "run") > 0.7


# ---------------------------------------------------------------- in a build


def test_proposals_are_ordinary_ranges_in_source_frames_beside_the_sources_own():
    clip = perform(
        "turning", [Move(2.0, 1.2), Move(2.0, 1.2, turn=60)], 30.0, np.random.default_rng(0)
    )
    source = Source(clip=clip, start=10, speed=1.25, mirror=True, tags=(TagRange("mine", 50, 90),))
    settings = BuildSettings(auto_tags=SETTINGS)
    database, report = build([source], settings)
    assert set(database.tag_names) == {
        "mine",
        "idle",
        "walk",
        "turn_left",
        "turn_right",
        "start",
        "stop",
    }
    proposed = report.proposed["turning"]
    given = build(
        [replace(source, tags=(*source.tags, *proposed))], replace(settings, auto_tags=None)
    )[0]
    assert given.tag_names == database.tag_names
    np.testing.assert_array_equal(given.tags, database.tags)
    half = database.frame_count // 2
    left, right = database.make_tag_mask({"turn_left"}), database.make_tag_mask({"turn_right"})
    assert left[:half].any()
    assert not right[:half].any()
    np.testing.assert_array_equal(left[:half], right[half:])
    [turn] = [tag for tag in proposed if tag.name == "turn_left"]
    plain = tags_on(perform_track([Move(2.0, 1.2), Move(2.0, 1.2, turn=60)]))["turn_left"][0]
    assert abs(turn.start - plain[0]) < 12
    assert abs(turn.stop - plain[1]) < 12


@pytest.mark.parametrize(
    "wrong",
    [
        {"idle_speed": -1},
        {"run_speed": 0.2},
        {"back_angle": 0.5},
        {"hysteresis": 1.0},
        {"shortest": float("nan")},
        {"spede": 1},
        {"arrived": "all"},
    ],
)
def test_thresholds_that_make_no_sense_are_named(wrong: dict):
    with pytest.raises(SettingsError, match="setting"):
        SETTINGS.with_changes(wrong)


def test_with_no_time_to_start_in_a_start_is_one_frame():
    track = straight((2.0, 0.0), (2.0, 1.5), (2.0, 0.0))
    tags = tags_on(track, settings=AutoTagSettings(change_time=0.0, shortest=0.0))
    assert [b - a for name in ("start", "stop") for a, b in tags[name]] == [1, 1]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 9])
def test_tiny_clips_are_no_error(count: int):
    track = GroundTrack(np.zeros((count, 2)), np.zeros(count))
    assert propose(track, 30.0, SETTINGS) == ([("idle", 0, count)] if count >= 3 else [])
