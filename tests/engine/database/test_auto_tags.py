"""Proposed tags agree with clip names, on generated and on real motion, and respect symmetries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from building.locomotion.locomotion import Move, perform
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.tags.auto_tags import NAMES, propose
from motion_matching.engine.database.tags.tags import TagRange
from motion_matching.engine.database.tags.thresholds import PLANT_ANGLE, AutoTagSettings
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.maths.along_time import find_runs
from motion_matching.engine.motion.simulation_bone import GroundTrack
from motion_matching.engine.sources.sources import Source, find_sources

SETTINGS = AutoTagSettings()
Tags = dict[str, list[tuple[int, int]]]


def propose_tags(
    track: GroundTrack, fps: float = 30.0, settings: AutoTagSettings = SETTINGS
) -> Tags:
    tags: Tags = {name: [] for name in NAMES}
    for name, start, stop in propose(track, fps, settings):
        tags[name].append((start, stop))
    return tags


def compute_share(spans: list[tuple[int, int]], count: int) -> float:
    return sum(b - a for a, b in spans) / count


@pytest.fixture(scope="module")
def demo(demo_database: Database) -> dict[str, tuple[Tags, GroundTrack]]:
    """Return tags and track of each generated clip."""
    result = {}
    for start, stop, origin in zip(
        demo_database.starts, demo_database.stops, demo_database.ranges, strict=True
    ):
        if not origin.mirrored:
            track = GroundTrack(
                demo_database.track[start:stop, :2], demo_database.track[start:stop, 2]
            )
            result[origin.clip] = (propose_tags(track), track)
    return result


def make_straight_track(
    *stretches: tuple[float, float], yaw_rate: float = 0.0, direction: float = 0.0
) -> GroundTrack:
    """Make a track at 30 fps of stretches (seconds, m/s) in a direction from the heading, which
    turns at a rate.
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
    tags = propose_tags(make_straight_track((4.0, speed)))
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
def test_directions_are_tagged_relative_to_the_heading(degrees: float, name: str | None):
    """A turning heading changes nothing."""
    for rate in (0.0, 0.3):
        tags = propose_tags(
            make_straight_track((4.0, 1.2), yaw_rate=rate, direction=np.radians(degrees))
        )
        assert [way for way in ("strafe", "back") if tags[way]] == ([name] if name else [])
        assert compute_share(tags[name], 120) == 1.0 if name else True


@pytest.mark.parametrize(
    ("degrees", "name"), [(40, "turn_left"), (-40, "turn_right"), (15, None), (-15, None)]
)
@pytest.mark.parametrize("speed", [0.0, 1.2, 3.0])
def test_turns_are_tagged_at_any_speed(degrees: float, name: str | None, speed: float):
    tags = propose_tags(make_straight_track((4.0, speed), yaw_rate=np.radians(degrees)))
    assert [turn for turn in ("turn_left", "turn_right") if tags[turn]] == ([name] if name else [])


def test_the_sway_of_steps_adds_no_turns_or_gaits():
    """As in real walks, the hips swing by 40 degrees a second with each stride, and the speed by a
    fifth with each step.
    """
    t = np.arange(300) / 30.0
    yaw = np.radians(40.0) / (2 * np.pi) * np.sin(2 * np.pi * t)
    speed = 1.9 * (1.0 + 0.2 * np.sin(4 * np.pi * t))
    tags = propose_tags(GroundTrack(np.stack([0 * t, -np.cumsum(speed) / 30.0], axis=-1), yaw))
    assert tags == {name: [(0, 300)] if name == "walk" else [] for name in NAMES}


def test_starts_span_rest_to_full_speed_and_stops_the_reverse():
    rising = [(1 / 30, 1.4 * k / 24) for k in range(24)]
    tags = propose_tags(
        make_straight_track((2.0, 0.0), *rising, (2.0, 1.4), *rising[::-1], (2.0, 0.0))
    )
    [(begin, arrival)], [(leaving, rest)] = tags["start"], tags["stop"]
    assert 52 <= begin <= 64
    assert 80 <= arrival <= 92
    np.testing.assert_allclose((leaving, rest), (228 - arrival, 228 - begin), atol=1)
    assert tags["idle"] == [(0, tags["walk"][0][0]), (tags["walk"][0][1], 228)]


def test_tags_mirror_with_the_motion_and_ignore_position_and_heading():
    track = perform_track(
        [Move(1.5, 1.2, turn=45), Move(1.5, 2.9, turn=-40), Move(1.5, 1.0, direction=90)]
    )
    tags = propose_tags(track)
    image = propose_tags(track.mirrored())
    assert image.pop("turn_left") == tags["turn_right"]
    assert image.pop("turn_right") == tags["turn_left"]
    assert image.items() <= tags.items()
    c, s = np.cos(2.0), np.sin(2.0)
    moved = GroundTrack(
        track.positions @ np.array([[c, s], [-s, c]]) + [5.0, -3.0], track.yaw + 2.0
    )
    assert propose_tags(moved) == tags


def perform_track(moves: list[Move], fps: float = 30.0) -> GroundTrack:
    database = build(
        [Source(clip=perform("x", moves, fps, np.random.default_rng(3)))], BuildSettings()
    )[0]
    return GroundTrack(database.track[:, :2], database.track[:, 2])


def test_tags_cover_the_same_times_at_any_frame_rate():
    moves = [Move(2.0, 1.2, turn=45), Move(2.0, 3.0), Move(2.0, 1.0, direction=90)]
    slow, fast = propose_tags(perform_track(moves)), propose_tags(perform_track(moves, 60.0), 60.0)
    for name in NAMES:
        assert len(slow[name]) == len(fast[name])
        np.testing.assert_allclose(np.array(fast[name]) / 2, slow[name], atol=3)


# --------------------------------------------------- generated clips, whose names describe them


def test_every_generated_frame_has_exactly_one_gait(demo: dict[str, tuple[Tags, GroundTrack]]):
    for tags, track in demo.values():
        count = np.zeros(track.frame_count, int)
        for name in ("idle", "walk", "run"):
            for a, b in tags[name]:
                count[a:b] += 1
                assert b - a >= round(SETTINGS.shortest * 30) or b - a == track.frame_count
        assert (count == 1).all()


def test_generated_clips_get_the_tags_of_their_motion(demo: dict[str, tuple[Tags, GroundTrack]]):
    def get_share(clip: str, *names: str) -> float:
        tags, track = demo[clip]
        return sum(compute_share(tags[name], track.frame_count) for name in names)

    assert get_share("idle", "idle") == 1.0
    assert get_share("idle_and_turns_in_place", "idle") == 1.0
    for clip in (
        "walk_curves",
        "walk_speeds",
        "walk_pivots",
        "walk_corners",
        "walk_bends",
        "walk_reversals",
    ):
        assert get_share(clip, "run") == get_share(clip, "strafe", "back") == 0.0
        assert get_share(clip, "walk") > 0.75
    for clip in ("run_curves", "run_speeds", "run_corners", "run_pivots", "run_reversals"):
        assert get_share(clip, "strafe", "back") == 0.0
        assert get_share(clip, "run") > 4 * get_share(clip, "walk")
    for clip in ("idle", "strafes", "walk_speeds", "run_speeds", "gait_changes", "fast_strafes"):
        assert get_share(clip, "turn_left", "turn_right") == 0.0
    assert get_share("strafes", "strafe") == pytest.approx(get_share("strafes", "walk"), abs=0.01)
    assert get_share("circles_facing_the_centre", "strafe") > 0.9 * get_share(
        "circles_facing_the_centre", "walk"
    )
    assert get_share("backwards_and_diagonals", "back") > 0.4
    assert min(get_share("fast_strafes", "strafe"), get_share("fast_strafes", "back")) > 0.2


def test_turns_starts_and_stops_of_generated_clips_are_counted(
    demo: dict[str, tuple[Tags, GroundTrack]],
):
    def count_tags(clip: str) -> list[int]:
        return [len(demo[clip][0][name]) for name in ("turn_left", "turn_right", "start", "stop")]

    assert count_tags("idle_and_turns_in_place") == [3, 2, 0, 0]
    assert count_tags("walk_curves") == [4, 4, 1, 1]
    assert count_tags("run_curves") == [4, 4, 1, 1]
    assert count_tags("walk_corners") == [3, 3, 1, 1]
    assert count_tags("circles_facing_the_centre") == [2, 2, 1, 1]
    assert count_tags("walk_starts_and_stops")[2:] == [7, 7]
    assert count_tags("strafes") == [
        0,
        0,
        2,
        2,
    ]  # stands for a moment between both sides


def test_real_clips_get_the_tags_that_their_names_imply(mocap: Path):
    """Straight walks have no turns despite swinging hips; clips of turns and of walking back have
    theirs.
    """
    sources = find_sources([mocap / "bandai-namco"])
    tags = build(sources, BuildSettings(auto_tags=SETTINGS))[1].proposed
    held = {clip: {tag.name for tag in ranges} for clip, ranges in tags.items()}

    def get_clip_share(word: str, *names: str) -> float:
        clips = [clip for clip in held if word in clip]
        assert len(clips) >= 3
        return float(np.mean([set(names) <= held[clip] for clip in clips]))

    assert get_clip_share("2_walk_normal", "walk") == 1.0
    assert (
        get_clip_share("2_walk_normal", "turn_left")
        == get_clip_share("2_walk_normal", "turn_right")
        == 0.0
    )
    assert get_clip_share("turn-left", "walk", "turn_left") > 0.95
    assert get_clip_share("turn-right", "walk", "turn_right") > 0.95
    assert (
        get_clip_share("turn-left", "turn_right") + get_clip_share("turn-right", "turn_left") < 0.15
    )
    assert get_clip_share("walk-back", "back") == 1.0
    assert get_clip_share("_run_", "run") > 0.95
    assert get_clip_share("_dash_", "run") > 0.7


# ---------------------------------------------------------------- in a build


def test_proposed_tags_join_the_tags_of_the_source():
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
    plain = propose_tags(perform_track([Move(2.0, 1.2), Move(2.0, 1.2, turn=60)]))["turn_left"][0]
    assert abs(turn.start - plain[0]) < 12
    assert abs(turn.stop - plain[1]) < 12


def test_proposed_tags_cover_the_same_frames_at_another_rate_of_frames():
    clip = perform(
        "turning", [Move(2.0, 1.2), Move(2.0, 1.2, turn=60)], 50.0, np.random.default_rng(0)
    )
    settings = BuildSettings(fps=30.0, auto_tags=SETTINGS)
    database = build([Source(clip=clip)], settings)[0]
    expected = propose_tags(
        GroundTrack.from_rows(database.track), settings=SETTINGS.at_pace(database.pace)
    )
    assert {name for name, spans in expected.items() if spans} == set(database.tag_names)
    for name in database.tag_names:
        covered = database.make_tag_mask({name})
        assert find_runs(covered).tolist() == [list(span) for span in expected[name]]


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
def test_invalid_thresholds_are_refused(wrong: dict):
    with pytest.raises(SettingsError, match="setting"):
        SETTINGS.with_changes(wrong)


def test_starts_and_stops_take_one_frame_without_a_change_time():
    track = make_straight_track((2.0, 0.0), (2.0, 1.5), (2.0, 0.0))
    tags = propose_tags(track, settings=AutoTagSettings(change_time=0.0, shortest=0.0))
    assert [b - a for name in ("start", "stop") for a, b in tags[name]] == [1, 1]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 9])
def test_tiny_clips_are_accepted(count: int):
    track = GroundTrack(np.zeros((count, 2)), np.zeros(count))
    assert propose(track, 30.0, SETTINGS) == ([("idle", 0, count)] if count >= 3 else [])


# ---------------------------------------------------------------- planted turns

PLANTS = AutoTagSettings(plant_angle=PLANT_ANGLE)


def make_corner(degrees: float, speed: float, fps: float = 30.0, seconds: float = 0.0):
    """Make a track of a way that turns at 3 s, at once or within a time, while facing one way."""
    t = np.arange(round(6.0 * fps)) / fps
    turned = np.clip((t - 3.0) / seconds, 0.0, 1.0) if seconds else (t >= 3.0).astype(float)
    angle = np.radians(degrees) * turned
    way = np.stack([np.sin(angle), -np.cos(angle)], axis=-1) * speed / fps
    return GroundTrack(np.cumsum(way, axis=0), np.zeros(len(t)))


@pytest.mark.parametrize("degrees", [90.0, 135.0, 180.0, -120.0])
@pytest.mark.parametrize(("speed", "fps"), [(0.6, 30.0), (1.5, 60.0), (5.0, 120.0)])
def test_sharp_turns_of_the_way_are_planted(degrees, speed, fps):
    spans = propose_tags(make_corner(degrees, speed, fps), fps, PLANTS)["plant"]
    assert len(spans) == 1
    start, stop = (frame / fps for frame in spans[0])
    assert 2.4 < start < 2.9
    assert 3.1 < stop < 3.6
    assert not propose_tags(make_corner(degrees, speed, fps), fps)["plant"], "not asked for"


@pytest.mark.parametrize("speed", [1.5, 4.0])
def test_gentle_turns_steady_circles_and_standing_are_not_planted(speed):
    tracks = [
        make_corner(40.0, speed),
        make_corner(180.0, speed, seconds=2.5),
        make_straight_track((6.0, speed), yaw_rate=np.radians(80.0)),
        make_straight_track((2.0, speed), (2.0, 0.0), (2.0, speed)),
        make_corner(180.0, 0.1),
    ]
    for track in tracks:
        assert propose_tags(track, settings=PLANTS)["plant"] == []


def test_a_quick_turn_of_the_body_is_planted_too():
    yaw = np.radians(np.clip(np.arange(120) / 30.0 - 2.0, 0.0, 0.5) / 0.5 * 170.0)
    track = GroundTrack(np.zeros((120, 2)), yaw)
    assert len(propose_tags(track, settings=PLANTS)["plant"]) == 1
    assert (
        propose_tags(track.mirrored(), settings=PLANTS)["plant"]
        == (propose_tags(track, settings=PLANTS)["plant"])
    )


def test_the_demo_plants_in_its_pivots_and_reversals_alone(demo_database: Database):
    shares = {}
    for start, stop, origin in zip(
        demo_database.starts, demo_database.stops, demo_database.ranges, strict=True
    ):
        if not origin.mirrored:
            track = GroundTrack.from_rows(demo_database.track[start:stop])
            spans = propose_tags(track, demo_database.fps, PLANTS)["plant"]
            shares[origin.clip] = compute_share(spans, stop - start)
    sharp = [name for name in shares if name.endswith(("pivots", "reversals"))]
    assert len(sharp) >= 3
    assert min(shares[name] for name in sharp) > 0.1
    steady = [name for name in shares if name in ("walk_curves", "run_curves", "idle")]
    assert steady
    assert max(shares[name] for name in steady) == 0.0
