"""Jumps are dear that put a standing foot elsewhere than where it is shown."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control.method import Goal
from motion_matching.engine.control.trajectory import TrajectoryPoint
from motion_matching.engine.database.database import Database
from motion_matching.engine.insight.frames import frame_inspector
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.matching.numbers import NUMBERS
from motion_matching.engine.matching.support import SupportPrice, measure_gone
from motion_matching.engine.performance.settings import PerformerSettings, Search
from motion_matching.engine.sources.sources import find_sources
from motion_matching.engine.takes import takes
from tests.engine.scripted import perform_script

OTHER = (-0.2, 0.0)
AT_ONCE = PerformerSettings(
    search=Search(support_weight=100.0, search_interval=0.0, continuing_bias=0.0)
)


@pytest.fixture(scope="module")
def method(demo_database: Database) -> MotionMatching:
    return MotionMatching(demo_database, AT_ONCE)


def make_toes(place: tuple[float, float], stays: float, until: float) -> np.ndarray:
    """Return the toes (1, 2, 8) of a frame, of which one stands where it is shown."""
    other = (*OTHER, 0.0, 0.0, 1.0, 1.0, *OTHER)
    return np.array([[(*place, 0.0, 0.0, stays, until, *place), other]], np.float32)


def measure(
    toes: np.ndarray, shown: tuple[float, float], gone: float = 0.0, gone_there: float = 0.0
) -> float:
    price = SupportPrice(toes, np.array([[gone_there, 0.0]]))
    return price.measure(np.array([0]), np.array([(*shown, gone), (*OTHER, 0.0)])).item()


def test_a_standing_foot_costs_the_square_of_what_it_is_too_far_away():
    standing = make_toes((0.1, 0.2), stays=0.3, until=1.0)
    assert measure(standing, (0.1, 0.2)) == 0.0
    assert measure(standing, (0.1, 0.2 + 0.99 * NUMBERS.support_stands)) == 0.0
    assert measure(standing, (0.1 + NUMBERS.support_stands + 0.3, 0.2)) == pytest.approx(
        0.09, rel=1e-5
    )


def test_a_foot_in_the_air_may_be_the_farther_away_the_later_it_lands():
    for until in (0.02, 0.1):
        flying = make_toes((0.0, 0.0), stays=0.0, until=until)
        free = NUMBERS.support_stands + NUMBERS.support_reaches * until
        assert measure(flying, (0.0, 0.99 * free)) == 0.0
        assert measure(flying, (0.0, free + 0.2)) == pytest.approx(0.04, rel=1e-4)


def test_a_stance_that_begins_again_costs_the_square_of_what_the_body_has_gone_too_far():
    here = (0.1, 0.2)
    standing, flying = (make_toes(here, stays=stays, until=0.3) for stays in (0.3, 0.0))
    assert measure(standing, here, 0.3 + 0.99 * NUMBERS.support_gone, 0.3) == 0.0
    assert measure(standing, here, 0.1, 0.6) == 0.0
    assert measure(standing, here, 0.3 + NUMBERS.support_gone + 0.4, 0.3) == pytest.approx(
        0.16, rel=1e-5
    )
    assert measure(flying, here, 5.0, 0.0) == 0.0


def test_how_far_a_body_has_gone_over_a_foot_begins_anew_with_each_stance():
    ahead = np.arange(12.0)
    track = np.column_stack([ahead, 0.0 * ahead, 0.0 * ahead])
    track[6:, 0] += 100.0  # another range, elsewhere, that repeats
    contacts = np.zeros((12, 2), bool)
    contacts[2:5, 0] = contacts[5:9, 1] = contacts[10:, 1] = True
    gone = measure_gone(track, contacts, np.array([0, 6]), np.array([False, True]))
    assert gone[:6, 0].tolist() == [0.0, 0.0, 0.0, 1.0, 2.0, 0.0]
    # the stance of the second range begins at the end of its lap before
    assert gone[5:, 1].tolist() == [0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 1.0]


def test_bodies_of_many_legs_are_dragged_no_farther_than_people():
    two = make_toes((0.0, 0.0), stays=0.3, until=1.0)
    shown = np.array([(0.3, 0.0, 0.0), (*OTHER, 0.0)])
    prices = [
        SupportPrice(np.tile(two, (1, pairs, 1)), np.zeros((1, 2 * pairs))).measure(
            np.array([0]), np.tile(shown, (pairs, 1))
        )
        for pairs in (1, 2, 3)
    ]
    np.testing.assert_allclose(np.ravel(prices), 0.25**2, rtol=1e-5)


def test_a_search_enters_the_frame_of_the_least_cost_with_that_of_its_feet(
    demo_database: Database, method: MotionMatching
):
    """With the feet of the frame that is played, as the inspector has them."""
    candidates = demo_database.find_candidates(AT_ONCE.search.end_guard)
    for frame in (700, 3000, 9000):
        way = [
            TrajectoryPoint(0.5 * t, -2.0 * t, 0.2 * t, 0.5, -2.0) for t in method.trajectory_times
        ]
        plain = method.compute_costs(way, frame).sum(axis=1) + demo_database.bias
        costs = plain + method.price_support_of_all(frame)
        for each in (plain, costs):
            near = np.abs(np.arange(len(costs)) - frame) < method._around["surroundings"]
            each[near | ~candidates] = np.inf
        feet = method._support.get_feet(frame)
        method._frame, method._since_stood = frame, math.inf
        motion = method.advance(Goal(way, sharp=True, feet=feet))
        expected = int(costs.argmin())
        assert motion.jump is not None
        assert demo_database.successors[expected] == motion.frame
        assert motion.cost == pytest.approx(costs.min(), rel=1e-3)
        inspection = frame_inspector.inspect_frame(demo_database, AT_ONCE, frame, way)
        assert inspection.chosen == expected
        explained = method.explain(1)
        assert explained is not None
        assert explained.candidates[0].cost == pytest.approx(costs.min(), rel=1e-3)


@pytest.mark.slow
def test_feet_slide_half_as_much_on_clips_that_only_go_straight(mocap: Path):
    """Steered into turns, they are played in bits, from one foot to the other."""
    database = build(find_sources([mocap / "cmu-walks"]), BuildSettings(mirror=True))[0]
    slides = [
        takes.report(
            perform_script(database, "turns", "walk", 60.0, 5, support_weight=weight), database
        )["take"]["foot_slide_contacts"]
        for weight in (0.0, 100.0)
    ]
    assert slides[1] < 0.6 * slides[0]


def test_without_locked_feet_support_costs_nothing(demo_database: Database):
    settings = AT_ONCE.with_changes({"foot_lock": False})
    free = MotionMatching(demo_database, settings)
    assert not free.price_support_of_all(700).any()
