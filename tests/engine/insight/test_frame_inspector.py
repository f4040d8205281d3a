"""The frame inspector explains what the search does at any frame, checked against the search."""

from __future__ import annotations

import numpy as np
import pytest

from building.locomotion.locomotion import Move, perform
from motion_matching.engine.blending.transition_cost import measure_prices
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control.method import Goal
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import load_schema
from motion_matching.engine.database.tags.tags import TagRange
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.insight.frames import frame_inspector
from motion_matching.engine.insight.frames.frame_inspector import (
    compute_clip_trajectory,
    find_frame,
    inspect_frame,
    predict_trajectory,
)
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.settings import PerformerSettings, Search
from motion_matching.engine.sources.sources import Source

SETTINGS = PerformerSettings(search=Search(search_interval=0.0, support_weight=100.0))


@pytest.fixture(scope="module")
def database() -> Database:
    """Build walks with curves, tagged and excluded in parts, and their mirror images."""
    sources = []
    for k in range(3):
        clip = perform(
            f"walk {k}",
            [Move(2.0, 1.0 + 0.3 * k), Move(2.0, 1.3, turn=30 + 20 * k)],
            30.0,
            np.random.default_rng(k),
        )
        tags = (
            TagRange("no_use", 60, 64),
            TagRange("no_entry", 90, 110),
            TagRange("turn_left", 95, 160),
            TagRange("prefer", 100, 120, -0.7),
        )
        sources.append(Source(clip=clip, tags=tags))
    return build(sources, BuildSettings(mirror=True))[0]


def inspect_at(database: Database, clip: str, frame: int, **options: object):
    return inspect_frame(database, SETTINGS, find_frame(database, f"{clip}:{frame}"), **options)


def inspect_moving(database: Database, frame: int, velocity: tuple[float, float], count: int):
    """Inspect a frame for a goal that moves at a velocity."""
    goal = predict_trajectory(database, SETTINGS, frame, velocity)
    return inspect_frame(database, SETTINGS, frame, goal, count=count)


# ---------------------------------------------------------------- finding frames


def test_frames_are_found_by_clip_and_source_frame(database: Database):
    for text, mirrored in (("walk 1:77", False), ("walk 1:77:mirrored", True)):
        source = database.get_frame_source(find_frame(database, text))
        assert (source.clip, source.frame, source.mirrored) == ("walk 1", 77, mirrored)
    clip = perform("a:b", [Move(3.0, 1.0)], 30.0, np.random.default_rng(0))
    faster = build([Source(clip=clip, start=20, stop=120, speed=1.5)], BuildSettings())[0]
    assert faster.get_frame_source(find_frame(faster, "a:b:50")).frame == 50
    assert abs(faster.get_frame_source(find_frame(faster, "a:b:51")).frame - 51) <= 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("walk 1", "CLIP:FRAME"),
        ("walk 1:x", "CLIP:FRAME"),
        ("walk 9:3", "walk 1"),
        ("walk 1:9999", "0 to"),
        ("walk 1:-1", "CLIP:FRAME"),
        (":5", "clip"),
    ],
)
def test_an_unknown_frame_is_reported_with_the_valid_range(
    database: Database, text: str, words: str
):
    with pytest.raises(SettingsError, match=words):
        find_frame(database, text)


def test_one_of_several_clips_of_the_same_name_can_be_chosen():
    clip = perform(
        "walk", [Move(4.0, 1.0), Move(4.0, 1.3, turn=40)], 30.0, np.random.default_rng(0)
    )
    twice = build(
        [Source(clip=clip.crop(0, 101)), Source(clip=clip.crop(120, 221))],
        BuildSettings(mirror=True),
    )[0]
    frames = [find_frame(twice, "walk:30", which) for which in (None, 0, 1)]
    assert frames == [30, 30, int(twice.starts[1]) + 30]
    assert find_frame(twice, "walk:30:mirrored", 1) == int(twice.starts[3]) + 30
    with pytest.raises(SettingsError, match=r"no frame 101 in the database; it has 0 to 100\.$"):
        find_frame(twice, "walk:101", 1)
    with pytest.raises(SettingsError, match=r"no frame 30 in the database; it has none\.$"):
        find_frame(twice, "walk:30", 2)


# ---------------------------------------------------------------- features and tags


def test_a_frame_shows_its_features_and_tags(database: Database):
    found = inspect_at(database, "walk 2", 105)
    assert set(found.tags) == {"no_entry", "turn_left", "prefer"}
    assert found.bias == pytest.approx(-0.7)
    assert found.exclusion == "no_entry"
    assert inspect_at(database, "walk 2", 62).exclusion == "no_use"
    assert "end" in inspect_at(database, "walk 2", 58).exclusion
    assert inspect_at(database, "walk 2", 40).exclusion == ""
    frame = find_frame(database, "walk 2:105")
    flat = np.concatenate([np.ravel(feature.values) for feature in found.features])
    np.testing.assert_allclose(flat, database.features[:, frame], rtol=1e-6)
    assert [feature.label for feature in found.features] == [
        f.label for f in database.schema.features
    ]


def test_a_frame_costs_nothing_for_the_trajectory_of_its_clip(database: Database):
    for frame in (45, 80, 130):
        found = inspect_at(database, "walk 1", frame)
        assert found.continuing.cost == pytest.approx(found.bias, abs=1e-6)
        assert sum(found.continuing.by_feature) == pytest.approx(0.0, abs=1e-6)


# ---------------------------------------------------------------- choices and verdicts


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "nucl_ai", "nucl_ai_as_published"])
@pytest.mark.parametrize("velocity", [(0.0, 0.0), (1.5, 0.0), (0.3, 1.2), (-1.0, 0.0)])
def test_the_chosen_frame_is_the_one_that_the_search_chooses(
    database: Database, preset: str, velocity: tuple[float, float]
):
    database = database.with_schema(load_schema(preset))
    method = MotionMatching(database, SETTINGS)
    for frame in range(35, database.frame_count - 40, 47):
        if not database.playable[frame]:
            continue
        goal = predict_trajectory(database, SETTINGS, frame, velocity)
        found = inspect_frame(database, SETTINGS, frame, goal, count=6)
        method._frame, method._ticks_to_search = frame, 0
        motion = method.advance(Goal(goal, sharp=True, feet=method._support.get_feet(frame)))
        assert (motion.jump is None) == (found.chosen == frame)
        if motion.jump is not None:
            assert found.chosen == motion.frame - 1
            [chosen] = [c for c in found.candidates if c.frame == found.chosen]
            assert chosen.verdict.startswith("entered")
            assert chosen.cost == pytest.approx(motion.cost, rel=1e-3, abs=1e-3)


def test_a_candidate_has_the_price_of_the_jump_that_a_performer_makes(database: Database):
    performer = Performer(MotionMatching(database, SETTINGS), SETTINGS)
    performer.reset((0.0, 0.0), 0.0)
    before = performer.method._frame
    while not (frame := performer.step(Intent(velocity=(0.0, -1.3)))).jumped:
        before = performer.method._frame
    last = performer.last_transition
    assert last is not None
    [price] = measure_prices([last], database.skeleton.parents).tolist()
    # the first jump leaves motion that nothing fades in, at the frame that a tick before played
    assert not performer.method._is_held
    entered = frame.frame - 1
    [expected] = frame_inspector.measure_prices(database, SETTINGS, before, [entered]).tolist()
    assert price == pytest.approx(expected, rel=1e-4)
    found = inspect_at(database, "walk 0", 70)
    assert found.continuing.price == 0.0
    assert all(candidate.price > 0 for candidate in found.candidates)
    text = frame_inspector.describe(found, database)
    prices = frame_inspector.to_dict(found, database)["candidates"]
    for candidate, entry in zip(found.candidates, prices, strict=True):
        assert f"price {100 * candidate.price:.2f} cm·s" in text
        assert entry["price"] == pytest.approx(candidate.price, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("tag", "length"), [("short", 8), ("long", 60)])
def test_the_chosen_frame_is_that_of_the_search_with_tags(tag: str, length: int):
    """Try both ends of the tag, and a range so short that the search stays in it."""
    clip = perform("walk", [Move(4.0, 1.2), Move(3.0, 1.6)], 30.0, np.random.default_rng(0))
    tags = (TagRange("short", 40, 48), TagRange("long", 60, 120))
    database, _ = build([Source(clip=clip, tags=tags)], BuildSettings(mirror=True))
    method, wanted = MotionMatching(database, SETTINGS), frozenset({tag})
    [start] = [t.start for t in tags if t.name == tag]
    for frame in range(start - 3, start + length + 3):
        goal = compute_clip_trajectory(database, frame)
        found = inspect_frame(database, SETTINGS, frame, goal, tags=wanted)
        method._frame, method._ticks_to_search = frame, 0
        assert method.advance(Goal(goal, wanted)).frame == found.chosen + 1
        if frame == start + length - 1:
            assert found.continuing.verdict == "left: the tags end here"


def test_candidates_are_sorted_and_their_costs_by_feature_add_up(database: Database):
    frame = find_frame(database, "walk 0:70")
    found = inspect_moving(database, frame, (1.3, 0.4), 8)
    costs = [c.cost for c in found.candidates]
    assert costs == sorted(costs)
    assert len(costs) == 8
    for candidate in (*found.candidates, found.continuing):
        assert candidate.cost == pytest.approx(
            sum(candidate.by_feature) + database.bias[candidate.frame] + candidate.feet, abs=1e-4
        )
    # of similar frames next to each other, only one is listed
    frames = sorted(c.frame for c in found.candidates)
    assert np.diff(frames).min() >= 0.3 * database.fps


def test_verdicts_name_why_a_frame_is_excluded(database: Database):
    """Cheap frames that are excluded are listed with a reason, which is true."""
    seen = set()
    for frame in range(40, 160, 5):
        found = inspect_moving(database, frame, (1.2, 0.3), 40)
        allowed = database.find_candidates(SETTINGS.search.end_guard)
        for c in found.candidates:
            excluded = (
                not allowed[c.frame]
                or abs(c.frame - frame) < SETTINGS.search.surroundings * database.fps
            )
            stops = c.verdict == "excluded: does not go on"
            assert (excluded or stops) == c.verdict.startswith("excluded")
            if stops:
                ends = min(c.frame + round(database.fps), database.frame_count - 1)
                assert np.linalg.norm(database.root_motion[[c.frame, ends], :2], axis=1).min() < 0.3
            seen.add(c.verdict.partition(":")[2].strip() if excluded else "free")
            if "no_use" in c.verdict:
                assert not database.playable[c.frame]
            if "no_entry" in c.verdict:
                assert database.make_tag_mask({"no_entry"})[c.frame]
    assert {"free", "no_entry", "no_use"} <= seen
    assert any("end" in reason for reason in seen)
    assert any("too near" in reason for reason in seen)


def test_requested_tags_exclude_all_other_frames(database: Database):
    frame = find_frame(database, "walk 0:120")
    found = inspect_frame(database, SETTINGS, frame, None, tags=frozenset({"turn_left"}), count=10)
    inside = database.make_tag_mask({"turn_left"})
    for c in found.candidates:
        assert inside[c.frame] or c.verdict.startswith("excluded")
    assert inside[found.chosen]


def test_rejected_frames_name_their_costliest_feature(database: Database):
    frame = find_frame(database, "walk 0:70")
    found = inspect_moving(database, frame, (-1.5, 0.0), 8)
    best = found.candidates[[c.frame for c in found.candidates].index(found.chosen)]
    labels = [f.label for f in database.schema.features]
    for c in found.candidates:
        if c.verdict.startswith("lost"):
            more = np.subtract(c.by_feature, best.by_feature)
            assert labels[int(more.argmax())] in c.verdict


def test_the_last_frame_of_a_range_is_always_left(database: Database):
    last = int(database.stops[0]) - 1
    found = inspect_frame(database, SETTINGS.with_changes({"continuing_bias": 1e3}), last, None)
    assert found.chosen != last
    assert database.find_candidates(SETTINGS.search.end_guard)[found.chosen]
