"""Tags: excluded and preferred frames and loops, against brute force and plain sources."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from building.locomotion.locomotion import Move, perform
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control.method import Goal
from motion_matching.engine.control.trajectory import TrajectoryPoint
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.tags.tags import (
    PREFERENCE,
    TagRange,
    load_tags,
    save_tags,
)
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.performance.settings import PerformerSettings, Search
from motion_matching.engine.sources.sources import (
    Source,
    assign_tags,
    collect_tags,
    read_source_list,
)

EACH_TICK = PerformerSettings(search=Search(search_interval=0.0, continuing_bias=0.0))


@lru_cache
def make_walk(seed: int = 0, name: str = "walk") -> Clip:
    return perform(
        name, [Move(2.0, 1.2), Move(1.5, 1.2, turn=40)], 30.0, np.random.default_rng(seed)
    )


def build_database(*sources: Source, **settings: object) -> Database:
    return build(sources, BuildSettings(**settings))[0]


def make_trajectory(
    speed: float, yaw_rate: float, times: tuple[float, ...]
) -> list[TrajectoryPoint]:
    return [TrajectoryPoint(0.0, -speed * t, yaw_rate * t, 0.0, -speed) for t in times]


def compute_all_costs(
    method: MotionMatching, goal: Goal, frame: int, schema_weights: np.ndarray
) -> np.ndarray:
    """Compute the cost (N,) in float64 of every frame that may be entered, from the arrays alone."""
    database, raw = method.database, method.database.features[:, frame].astype(np.float64)
    for feature, where in zip(database.schema.features, database.schema.slices, strict=True):
        if feature.kind.startswith("trajectory"):
            points = [goal.trajectory[method.trajectory_times.index(t)] for t in feature.times]
            is_place = feature.kind == "trajectory_position"
            raw[where] = np.ravel(
                [(p.x, p.y) if is_place else (np.sin(p.yaw), -np.cos(p.yaw)) for p in points]
            )
            # a wish counts up to an eighth of the data's range beyond it
            values = database.features[where][
                :, database.find_candidates(EACH_TICK.search.end_guard)
            ]
            least, most = values.min(axis=1), values.max(axis=1)
            beyond = (most - least) / 8.0
            raw[where] = np.clip(raw[where], least - beyond, most + beyond)
    scale = database.normalization.compute_scale(schema_weights).astype(np.float64)
    costs = (((database.features.T - raw) * scale) ** 2).sum(axis=1) + database.bias
    costs[~database.find_candidates(EACH_TICK.search.end_guard)] = np.inf
    around = round(EACH_TICK.search.surroundings * database.fps)
    costs[max(frame - around + 1, 0) : frame + around] = np.inf
    return costs


# ---------------------------------------------------------------- prefer


def test_preferences_cover_their_frames_add_up_and_are_mirrored():
    tags = (
        TagRange("prefer", 20, 60),
        TagRange("prefer", 50, 90, bias=2.0),
        TagRange("curve", 30, 40),
    )
    database = build_database(Source(clip=make_walk(), tags=tags), mirror=True)
    expected = np.zeros(make_walk().frame_count, np.float32)
    expected[20:60] += PREFERENCE
    expected[50:90] += 2.0
    np.testing.assert_allclose(database.bias, np.tile(expected, 2))
    assert PREFERENCE < 0
    assert np.flatnonzero(
        database.make_tag_mask({"prefer"})[: make_walk().frame_count]
    ).tolist() == list(range(20, 90))


@pytest.mark.parametrize("weights", [None, (2.0, 0.5, 1.0, 1.0, 0.3, 3.0, 1.0, 2.0, 0.7)])
@pytest.mark.parametrize("requested", [frozenset(), frozenset({"curve"})])
def test_the_search_finds_the_cheapest_frame_with_preferences(
    requested: frozenset[str], weights: tuple[float, ...] | None
):
    rng = np.random.default_rng(1)
    sources = []
    for k in range(4):
        starts = rng.integers(0, 150, 3).tolist()
        tags = [TagRange("prefer", s, s + 25, bias=float(rng.normal(0, 3))) for s in starts]
        tags += [TagRange("curve", 80, 170), TagRange("no_entry", 95, 99)]
        sources.append(Source(clip=make_walk(k, f"walk {k}"), tags=tuple(tags)))
    database = build_database(*sources, mirror=True)
    settings = EACH_TICK.with_changes({"weights": weights})
    method = MotionMatching(database, EACH_TICK)
    method.apply(settings)
    weighed = database.schema if weights is None else database.schema.with_weights(weights)
    jumps = 0
    for _ in range(60):
        frame = method._frame
        goal = Goal(
            make_trajectory(rng.uniform(0, 2), rng.uniform(-2, 2), method.trajectory_times),
            tags=requested,
        )
        costs = compute_all_costs(method, goal, frame, weighed.weights)
        if requested:
            costs[~database.make_tag_mask(requested)] = np.inf
        elif restriction := method.restrict(goal.trajectory, frame):
            costs[~restriction.mask.allowed] = np.inf
        motion = method.advance(goal)
        if motion.jump is not None:
            jumps += 1
            entered = motion.frame - 1
            assert costs[entered] == pytest.approx(costs.min(), rel=1e-4, abs=1e-4)
            assert motion.cost == pytest.approx(costs.min(), rel=1e-4, abs=1e-4)
    assert jumps > 10


def test_the_preferred_one_of_two_equal_clips_is_played():
    first, second = make_walk(), replace(make_walk(), name="again")
    for preferred in (first, second):
        sources = [
            Source(clip=c, tags=(TagRange("prefer"),) if c is preferred else ())
            for c in (first, second)
        ]
        database = build_database(*sources)
        method = MotionMatching(database, EACH_TICK.with_changes({"surroundings": 0.0}))
        entered = set()
        for speed in (0.0, 1.2, 0.4, 1.2, 0.0):
            for _ in range(20):
                motion = method.advance(Goal(make_trajectory(speed, 0.0, method.trajectory_times)))
                if motion.jump is not None:
                    entered.add(database.get_frame_source(motion.frame).clip)
        assert entered == {preferred.name}


# ---------------------------------------------------------------- excluded frames


def test_the_end_guard_applies_before_no_use_frames():
    """A jump right before them would have to leave again at once."""
    database = build_database(Source(clip=make_walk(), tags=(TagRange("no_use", 100, 110),)))
    allowed = database.find_candidates(1 / 3)
    assert not allowed[90:110].any()
    assert allowed[70:90].all()
    assert allowed[110:130].all()
    assert database.find_candidates(0.0)[90:100].all()


def test_the_end_guard_before_no_use_frames_wraps_around_a_loop():
    cycle = Source(
        clip=make_walk(), start=70, stop=104, loop=True, tags=(TagRange("no_use", 73, 75),)
    )
    allowed = build_database(cycle).find_candidates(0.2)  # six frames
    assert np.flatnonzero(~allowed).tolist() == [0, 1, 2, 3, 4, 30, 31, 32]


def test_no_use_frames_do_not_affect_scales_and_limits():
    """Excluding a glitch gives the scales and limits of the clip without it."""
    clip = make_walk()
    positions = clip.positions.copy()
    positions[60:64, 0, 2] += 0.6
    glitch = Source(clip=replace(clip, positions=positions), keep_frames=True)
    tags = (TagRange("no_use", 50, 75),)
    clean, tagged = (
        build_database(Source(clip=clip, tags=tags)),
        build_database(replace(glitch, tags=tags)),
    )
    np.testing.assert_allclose(tagged.limits, clean.limits, rtol=1e-4)
    np.testing.assert_allclose(
        tagged.normalization.deviation, clean.normalization.deviation, rtol=1e-4
    )
    assert (build_database(glitch).limits > 2 * clean.limits).any()


# ---------------------------------------------------------------- loops


def test_a_range_tagged_as_loop_becomes_a_range_of_its_own():
    clip = make_walk()
    tags = (TagRange("early", 10, 20), TagRange("curve", 80, 90), TagRange("loop", 70, 104))
    database, report = build(
        [Source(clip=clip, tags=tags), Source(clip=make_walk(1, "other"))], BuildSettings()
    )
    assert not [note for note in report.warnings if note.kind == "tag"]
    plain = build_database(
        Source(clip=clip),
        Source(clip=clip, start=70, stop=104, loop=True),
        Source(clip=make_walk(1, "other")),
    )
    assert database.ranges == plain.ranges
    for name in ("poses", "features", "track", "starts"):
        np.testing.assert_array_equal(getattr(database, name), getattr(plain, name))
    count = clip.frame_count
    assert np.flatnonzero(database.make_tag_mask({"loop"})).tolist() == list(
        range(count, count + 33)
    )
    assert np.flatnonzero(database.make_tag_mask({"curve"})).tolist() == [
        *range(80, 90),
        *range(count + 10, count + 20),
    ]


def test_a_loop_repeats_as_long_as_it_is_requested():
    database = build_database(Source(clip=make_walk(), tags=(TagRange("loop", 70, 104),)))
    method = MotionMatching(database, PerformerSettings(search=Search(search_interval=10.0)))
    goal = make_trajectory(1.2, 0.0, method.trajectory_times)
    method.advance(Goal(goal, jump_to="loop"))
    frames = [method.advance(Goal(goal)).frame - make_walk().frame_count for _ in range(100)]
    steps = np.diff(frames)
    assert set(steps.tolist()) == {1, -32}


def test_a_loop_that_is_too_short_is_skipped_and_reported():
    database, report = build(
        [Source(clip=make_walk(), tags=(TagRange("loop", 70, 72),))], BuildSettings()
    )
    assert len(database.ranges) == 1
    assert report.skipped == (
        ("walk", "it has 2 frames in its loop from frame 70 and needs at least 4", "short"),
    )


# ---------------------------------------------------------------- files


def test_a_source_list_gives_preferences_a_strength(tmp_path: Path):
    (tmp_path / "walk.bvh").touch()
    entry = {
        "file": "walk.bvh",
        "tags": [{"name": "prefer", "bias": -1.5, "stop": 9}, {"name": "loop", "start": 4}],
    }
    (tmp_path / "list.json").write_text(json.dumps([entry]))
    [source] = read_source_list(tmp_path / "list.json")
    assert source.tags == (TagRange("prefer", None, 9, -1.5), TagRange("loop", 4))
    for wrong, words in (
        ({"name": "walk", "bias": -1}, "only 'prefer'"),
        ({"name": "prefer", "bias": "much"}, "number"),
        ({"name": "prefer", "bias": 1e9}, "number"),
        ({"name": "prefer", "bias": True}, "number"),
    ):
        (tmp_path / "list.json").write_text(json.dumps([{"file": "walk.bvh", "tags": [wrong]}]))
        with pytest.raises(SettingsError, match=words):
            read_source_list(tmp_path / "list.json")


def test_tags_survive_saving_and_loading(tmp_path: Path):
    tags = {
        "walk": (TagRange("walk", 3, 90), TagRange("prefer", None, 20, -0.5)),
        "run": (TagRange("no_use"),),
    }
    save_tags(tags, tmp_path / "tags.json")
    assert load_tags(tmp_path / "tags.json") == tags


def test_tags_from_a_file_replace_those_of_their_source():
    sources = [
        Source(clip=make_walk(), start=40, stop=120, tags=(TagRange("curve"),)),
        Source(clip=make_walk(1, "other")),
    ]
    tags = {"walk": (TagRange("early", 0, 30), TagRange("late", 100))}
    tagged, other = assign_tags(sources, tags)
    assert tagged.tags == (TagRange("late", 100),)  # the other lies before the source's frames
    assert other == sources[1]
    with pytest.raises(SettingsError, match=r"'wlak'.*walk, other"):
        assign_tags(sources, {"wlak": (TagRange("x"),)})


def test_tags_of_sources_are_collected_by_clip():
    clip = make_walk()
    sources = [
        Source(clip=clip, start=40, stop=80, tags=(TagRange("early"), TagRange("x", 50, 60))),
        Source(clip=clip, start=90, tags=(TagRange("late", 20),)),
        Source(clip=make_walk(1, "other")),
    ]
    tags = collect_tags(sources)
    assert tags == {
        "walk": (TagRange("early", 40, 80), TagRange("x", 50, 60), TagRange("late", 90)),
        "other": (),
    }
    assert collect_tags(assign_tags(sources, tags)) == tags
    with pytest.raises(SettingsError, match="same name"):
        collect_tags([Source(file=Path("a/walk.bvh")), Source(file=Path("b/walk.bvh"))])


def test_tags_outside_the_used_frames_are_not_saved(tmp_path: Path):
    ranges = (TagRange("before", 0, 20), TagRange("inside", 50, 60), TagRange("after", 80, 90))
    source = Source(clip=make_walk(), start=30, stop=80, tags=ranges)
    save_tags(collect_tags([source]), tmp_path / "tags.json")
    assert load_tags(tmp_path / "tags.json") == {"walk": (TagRange("inside", 50, 60),)}


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "[]",
        '{"walk": 3}',
        '{"walk": [{"name": ""}]}',
        '{"walk": [{"name": "a", "start": 5, "stop": 5}]}',
    ],
)
def test_an_invalid_file_of_tags_is_named(text: str, tmp_path: Path):
    (tmp_path / "tags.json").write_text(text)
    with pytest.raises(SettingsError, match=r"tags\.json"):
        load_tags(tmp_path / "tags.json")
