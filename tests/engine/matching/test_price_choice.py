"""Weighing the nearest frames by what a jump costs finds what a comparison of all frames finds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motion_matching.engine.blending import transition_cost
from motion_matching.engine.blending.inertialization import Inertializer
from motion_matching.engine.blending.jump import Jump
from motion_matching.engine.control import rollout
from motion_matching.engine.control.method import Goal
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.control.trajectory import TrajectoryPoint
from motion_matching.engine.database.database import Database
from motion_matching.engine.insight.frames import frame_inspector
from motion_matching.engine.matching import price_choice
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance.settings import PerformerSettings, Search
from motion_matching.engine.takes import takes


def make_find(costs: np.ndarray) -> price_choice.NearestSearch:
    order = costs.argsort(kind="stable")

    def find(count: int, *, bound: float = np.inf):
        near = order[:count]
        return near[costs[near] <= bound], costs[near][costs[near] <= bound]

    return find


@pytest.mark.parametrize("knows_first", [False, True])
def test_the_choice_is_that_of_all_frames_and_needs_few_prices(knows_first):
    rng, asked = np.random.default_rng(5), []
    for weight in (0.01, 0.5, 3.0):
        for bound in (np.inf, 2.0, 0.3):
            costs, prices = rng.exponential(2.0, 250), rng.exponential(0.02, 250)
            asked.clear()

            def measure(frames: np.ndarray, prices: np.ndarray = 100.0 * weight * prices):
                asked.extend(frames.tolist())
                return prices[frames]

            first = (int(costs.argmin()), float(costs.min())) if knows_first else None
            found, total = price_choice.choose(make_find(costs), measure, bound, first)
            totals = costs + weight * 100.0 * prices
            best = int(totals.argmin())
            assert found == (best if totals[best] < bound else -1)
            assert total == pytest.approx(min(totals[best], bound))
            assert len(set(asked)) == len(asked)
            if weight < 0.1:
                assert len(asked) <= 16


def test_a_search_enters_the_frame_of_the_least_cost_and_price(demo_database: Database):
    """The jump is out of motion that nothing fades in, so that the inspector prices it alike."""
    settings = PerformerSettings(
        search=Search(
            price_weight=1.0, support_weight=0.0, search_interval=0.0, continuing_bias=0.0
        )
    )
    method, chosen = MotionMatching(demo_database, settings), []
    limits, parents = np.array(demo_database.limits), demo_database.skeleton.parents

    def measure(jumps: list[Jump]) -> np.ndarray:
        return transition_cost.measure_prices(
            transition_cost.enter(jumps, limits, settings), parents
        )

    candidates = demo_database.find_candidates(settings.search.end_guard)
    for frame in (700, 3000, 9000):
        trajectory = [
            TrajectoryPoint(0.5 * t, -2.0 * t, 0.2 * t, 0.5, -2.0) for t in method.trajectory_times
        ]
        costs = method.compute_costs(trajectory, frame).sum(axis=1) + demo_database.bias
        near = np.abs(np.arange(len(costs)) - frame) < method._around["surroundings"]
        costs[near | ~candidates] = np.inf
        order = costs.argsort()[:400]
        prices = frame_inspector.measure_prices(demo_database, settings, frame, order.tolist())
        totals = costs[order] + 100.0 * prices
        method._frame, method._since_stood = frame, math.inf
        motion = method.advance(Goal(trajectory, sharp=True, measure_prices=measure))
        expected = int(order[totals.argmin()])
        assert motion.jump is not None
        assert demo_database.successors[expected] == motion.frame
        assert motion.cost == pytest.approx(totals.min(), rel=1e-3)
        inspection = frame_inspector.inspect_frame(demo_database, settings, frame, trajectory)
        assert inspection.chosen == expected
        verdicts = [c.verdict for c in inspection.candidates]
        assert verdicts.count("entered") == 1
        assert all(v.startswith(("entered", "excluded", "lost")) for v in verdicts)
        chosen.append(expected != int(order[0]))
    assert any(chosen)


def test_what_a_jump_will_cost_is_what_it_then_costs(
    demo_database: Database, settings: PerformerSettings
):
    performance = takes.prepare_performance(
        demo_database, settings, "random", gait="walk", seconds=10.0, seed=3
    )
    performer = Performer(MotionMatching(demo_database, settings), settings, performance.ground)
    performer.begin(performance)
    jumps, foreseen, paid = [], [], []
    advance = performer.method.advance

    def watch(goal: Goal):
        motion = advance(goal)
        if motion.jump is not None:
            jumps.append(motion.jump)
            foreseen.append(performer._measure_prices([motion.jump] * 2))
        return motion

    performer.method.advance = watch
    for intent in performance.intents[1:]:
        if performer.step(intent).jumped:
            parents = demo_database.skeleton.parents
            paid.append(transition_cost.measure_prices([performer.last_transition], parents))
    assert len(jumps) == len(paid) > 5
    np.testing.assert_allclose(np.array(foreseen)[:, 0], np.array(paid)[:, 0], rtol=1e-4)
    np.testing.assert_array_equal(*np.array(foreseen).T)


@pytest.mark.slow
def test_jumps_cost_less_the_more_their_price_counts(
    demo_database: Database, settings: PerformerSettings
):
    costs = []
    for weight in (0.0, 2.0):
        changed = settings.with_changes({"price_weight": weight})
        performance = takes.prepare_performance(
            demo_database, changed, "random", gait="walk", seconds=40.0, seed=0
        )
        performer = Performer(MotionMatching(demo_database, changed), changed)
        costs.append(np.nansum(rollout.solve(performer, performance).prices))
    assert costs[1] < 0.8 * costs[0]


def test_jumps_foreseen_together_fade_as_each_alone(demo_database: Database):
    limits = np.array(demo_database.limits)
    inertializer = Inertializer.from_settings(limits, PerformerSettings(), 1.0 / 60.0)
    method = MotionMatching(demo_database, PerformerSettings())
    states = [method._get_state(frame) for frame in (100, 2000, 9000, 15000)]
    inertializer.transition(Jump(*states[0], *states[1]))
    inertializer.update(states[1][0])
    jumps = [Jump(*states[1], *state) for state in states[2:]]
    for jump, fading in zip(jumps, inertializer.foresee(jumps), strict=True):
        [alone] = inertializer.foresee([jump])
        np.testing.assert_allclose(fading.offset, alone.offset, atol=1e-6)
        np.testing.assert_allclose(fading.speed, alone.speed, atol=1e-4)
        assert fading[2:] == pytest.approx(alone[2:])
