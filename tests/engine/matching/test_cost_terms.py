"""Cost terms of one's own: the search finds the best of all frames with what they add."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from motion_matching import api
from motion_matching.engine.control.method import Goal
from motion_matching.engine.control.trajectory import TrajectoryPoint
from motion_matching.engine.database.database import Database
from motion_matching.engine.insight.frames import frame_inspector
from motion_matching.engine.matching.cost_terms import (
    CostTerm,
    TermContext,
    describe_missing_terms,
)
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance import performance as performances
from motion_matching.engine.performance.settings import PerformerSettings, Search
from motion_matching.engine.takes import takes

AT_ONCE = PerformerSettings(
    search=Search(search_interval=0.0, continuing_bias=0.0, support_weight=0.0)
)


def make_way(method: MotionMatching) -> list[TrajectoryPoint]:
    return [TrajectoryPoint(0.5 * t, -2.0 * t, 0.2 * t, 0.5, -2.0) for t in method.trajectory_times]


def search(method: MotionMatching, frame: int, goal: Goal) -> tuple[int, float]:
    """Return the frame that is entered from another, and its cost."""
    method._frame, method._since_stood = frame, math.inf
    method.advance(goal)
    return method._frame, method.last_cost


def few(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.exponential(0.3, count)


def nearly_none(rng: np.random.Generator, count: int) -> np.ndarray:
    """Make nearly all frames so dear that thousands of the nearest are worse than one far away."""
    return np.where(rng.random(count) < 2e-4, 0.0, 1e4 + rng.random(count))


def all_alike(rng: np.random.Generator, count: int) -> np.ndarray:
    return np.full(count, 7.0)


@pytest.mark.parametrize("make", [few, nearly_none, all_alike])
def test_the_search_finds_what_a_comparison_of_all_frames_finds(
    demo_database: Database, make: Callable[..., np.ndarray]
):
    rng = np.random.default_rng(3)
    table, weight = make(rng, demo_database.frame_count), 2.0
    term = CostTerm("table", lambda frames, context: table[frames], weight)
    method = MotionMatching(demo_database, AT_ONCE, [term])
    candidates = demo_database.find_candidates(AT_ONCE.search.end_guard)
    for frame in (700, 3000, 9000):
        way = make_way(method)
        costs = method.compute_costs(way, frame).sum(axis=1) + demo_database.bias + weight * table
        near = np.abs(np.arange(len(costs)) - frame) < method._around["surroundings"]
        near &= np.arange(len(costs)) != frame  # playing on costs its term, too
        costs[near | ~candidates] = np.inf
        restriction = method.restrict(way, frame)
        assert restriction is not None
        costs[~restriction.mask.allowed] = np.inf
        expected = int(costs.argmin())
        entered, cost = search(method, frame, Goal(way, sharp=True))
        assert entered == demo_database.successors[expected]
        assert cost == pytest.approx(costs.min(), rel=1e-3)
        seen = frame_inspector.inspect_frame(demo_database, AT_ONCE, frame, way, method=method)
        assert seen.chosen == expected


def test_explanations_and_reports_name_what_each_term_costs(demo_database: Database):
    near = CostTerm("near", lambda frames, context: np.abs(frames - context.frame) / 1000.0)
    even = CostTerm("even", lambda frames, context: frames % 2, 0.5)
    method = MotionMatching(demo_database, AT_ONCE, [near, even])
    way = make_way(method)
    entered, cost = search(method, 3000, Goal(way, sharp=True))
    explanation = method.explain(5)
    assert explanation is not None
    assert explanation.terms == ("near", "even")
    best = explanation.candidates[0]
    assert demo_database.successors[best.frame] == entered
    assert best.terms == pytest.approx((abs(best.frame - 3000) / 1000.0, 0.5 * (best.frame % 2)))
    assert sum(best.by_feature) + sum(best.terms) == pytest.approx(cost, rel=1e-3)
    costs = [each.cost for each in explanation.candidates]
    assert costs == sorted(costs)
    seen = frame_inspector.inspect_frame(demo_database, AT_ONCE, 3000, way, method=method)
    text, data = (
        frame_inspector.describe(seen, demo_database),
        frame_inspector.to_dict(seen, demo_database),
    )
    assert "; near 0; even 0\n" in text
    assert set(data["candidates"][0]["terms"]) == {"near", "even"}
    take = api.perform(demo_database, seconds=3.0, terms=[near, even])
    jumps = takes.explain_jumps(take, demo_database)
    assert set(jumps[0]["candidates"][0]["terms"]) == {"near", "even"}


def test_a_term_sees_what_the_search_looks_for(demo_database: Database):
    seen: list[TermContext] = []

    def watch(frames: np.ndarray, context: TermContext) -> np.ndarray:
        seen.append(context)
        assert frames.dtype.kind == "i"
        frames[:] = 0  # a term that changes what it gets harms nobody
        return np.zeros(len(frames))

    method = MotionMatching(demo_database, AT_ONCE, [CostTerm("watch", watch)])
    plain = MotionMatching(demo_database, AT_ONCE)
    way, tags = make_way(method), frozenset(demo_database.tag_names[:1])
    goal = Goal(way, sharp=True, tags=tags)
    assert search(method, 3000, goal) == pytest.approx(search(plain, 3000, goal))
    context = seen[0]
    assert context.database is demo_database
    assert (context.frame, context.tags) == (3000, tags)
    np.testing.assert_array_equal(context.trajectory, np.array(way))
    assert not context.trajectory.flags.writeable


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (lambda frames: np.zeros(len(frames) + 1), "the shape"),
        (lambda frames: 1.0, "the shape"),
        (lambda frames: None, "NoneType instead of an array of numbers|the shape"),
        (lambda frames: ["dear"] * len(frames), "list instead of an array of numbers"),
        (lambda frames: np.full(len(frames), np.nan), "nan for frame"),
        (lambda frames: np.full(len(frames), np.inf), "inf for frame"),
        (lambda frames: np.full(len(frames), -0.5), "-0.5 for frame"),
    ],
)
def test_a_wrong_result_is_told_with_the_name_of_its_term(
    demo_database: Database, returned: Callable[[np.ndarray], object], text: str
):
    term = CostTerm("reach", lambda frames, context: returned(frames))
    method = MotionMatching(demo_database, AT_ONCE, [term])
    with pytest.raises(api.SettingsError, match=f"cost term 'reach' returned ({text}).*; return "):
        search(method, 3000, Goal(make_way(method), sharp=True))


def test_terms_that_cannot_be_used_are_refused(demo_database: Database):
    term = CostTerm("reach", lambda frames, context: frames)
    for name, function, weight in (
        ("", term.function, 1.0),
        ("reach", 3.0, 1.0),
        ("reach", term.function, -1.0),
        ("reach", term.function, math.nan),
    ):
        with pytest.raises(api.SettingsError, match="; give "):
            CostTerm(name, function, weight)
    with pytest.raises(api.SettingsError, match="Two cost terms are called 'reach'"):
        MotionMatching(demo_database, AT_ONCE, [term, term])
    with pytest.raises(api.SettingsError, match="is not a cost term; give a CostTerm"):
        MotionMatching(demo_database, AT_ONCE, [term.function])
    with pytest.raises(api.SettingsError, match="motion field has no search for cost terms"):
        api.perform(demo_database, seconds=1.0, controller="field", terms=[term])


def test_takes_record_their_terms_and_tell_when_these_are_missing(
    demo_database: Database, tmp_path
):
    jumps = CostTerm("jumps", lambda frames, context: 2.0 * (frames != context.frame))
    plain = api.perform(demo_database, seconds=4.0)
    made, again = (api.perform(demo_database, seconds=4.0, terms=[jumps]) for _ in range(2))
    np.testing.assert_array_equal(made.poses, again.poses)
    assert made.jumped.sum() < plain.jumped.sum()
    assert made.performance.terms == ("jumps",)
    assert plain.performance.terms == ()
    assert '"terms"' not in performances.to_json(plain.performance)
    file = tmp_path / "made.json"
    performances.save(made.performance, file)
    assert performances.load(file).terms == ("jumps",)
    sentence = "made with the cost term 'jumps' and differs without it; give it to"
    with pytest.warns(UserWarning, match=sentence):
        without = api.perform(demo_database, file)
    np.testing.assert_array_equal(without.poses, plain.poses)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(
            api.perform(demo_database, file, terms=[jumps]).poses, made.poses
        )
    two = replace(made.performance, terms=("jumps", "reach"))
    assert "cost terms 'jumps', 'reach' and differs without them" in describe_missing_terms(two)


def test_no_terms_cost_nothing(demo_database: Database):
    """Without any, nothing of them runs in a search."""
    method = MotionMatching(demo_database, AT_ONCE)
    search(method, 3000, Goal(make_way(method), sharp=True))
    assert method._last is not None
    assert method._last.context is None
