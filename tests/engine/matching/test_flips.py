"""The least change of a weight that changes a decision does, and a smaller one does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.database.frame_names import format_frame
from motion_matching.engine.insight.frames import frame_inspector
from motion_matching.engine.matching.flips import Costs, describe_flip, find_flip
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance.settings import PerformerSettings, Search


def count(*by_feature, frame=5):
    """Return frames from a number on that cost so much by feature, and nothing besides."""
    costs = np.array(by_feature, float).reshape(-1, 2)
    return Costs(frame + np.arange(len(costs)), costs, costs.sum(axis=1))


def test_a_decision_flips_where_costs_are_equal():
    """Of 1 + 2 against 1.5 + 1.7: the second may count 1.29 times as much."""
    flip = find_flip(count((1.0, 2.0)), count((3.0, 1.0), (1.5, 1.7)), (2.0, 1.0))
    assert (flip.feature, flip.frame, flip.is_below) == (1, 6, False)
    assert flip.weight == pytest.approx((1.0 + 0.2 / 0.3) ** 0.5, rel=2e-3)


def test_a_sum_of_lengths_flips_where_costs_that_grow_with_the_weight_are_equal():
    flip = find_flip(count((1.0, 2.0)), count((3.0, 1.0), (1.5, 1.7)), (2.0, 1.0), power=1)
    assert (flip.feature, flip.frame) == (1, 6)
    assert flip.weight == pytest.approx(1.0 + 0.2 / 0.3, rel=2e-3)


def test_another_frame_of_the_same_moment_is_no_other_decision():
    own, rival = count((1.0, 2.0), (1.4, 1.7)), count((1.5, 1.7))
    assert find_flip(own, rival, (1.0, 1.0)) is None
    assert find_flip(count((1.0, 2.0)), rival, (1.0, 1.0)) is not None


def test_costs_that_no_weight_changes_and_rivals_that_lost_otherwise_do_not_count():
    same = count((1.0, 2.0))._replace(totals=np.array([4.0]))
    assert find_flip(count((1.0, 2.0)), same, (1.0, 1.0)) is None
    assert find_flip(count((1.0, 2.0)), count((0.0, 2.0)), (1.0, 1.0)) is None
    assert find_flip(count((1.0, 2.0)), count(), (1.0, 1.0)) is None


@pytest.mark.slow
@pytest.mark.parametrize("difference", ["squared", "absolute"])
def test_the_search_decides_otherwise_beyond_the_weight_that_is_told(demo_database, difference):
    """Checked by searches with the weight a little on this side of it, and on the other."""
    schema = replace(demo_database.schema, difference=difference)
    demo_database = replace(demo_database, schema=schema)
    settings, flipped = PerformerSettings(search=Search(search_interval=0.0)), 0
    method = MotionMatching(demo_database, settings)
    weights = [feature.weight for feature in demo_database.schema.features]
    for frame in range(200, demo_database.frame_count - 200, demo_database.frame_count // 12):
        goal = frame_inspector.predict_trajectory(demo_database, settings, frame, (1.2, 0.4))
        look = {"trajectory": goal, "count": 400, "method": method}
        seen = frame_inspector.inspect_frame(demo_database, settings, frame, **look)
        if (flip := seen.flip) is None:
            continue
        flipped += 1
        chosen = []
        for share in (0.98, 1.02):
            other = list(weights)
            other[flip.feature] = flip.now + share * (flip.weight - flip.now)
            changed = settings.with_changes({"weights": tuple(other)})
            again = frame_inspector.inspect_frame(demo_database, changed, frame, **look)
            chosen.append(again.chosen)
        near = demo_database.fps / 3.0
        assert abs(chosen[0] - seen.chosen) < near
        assert abs(chosen[1] - seen.chosen) >= near or chosen[1] == frame != seen.chosen
        text = describe_flip(flip, demo_database, frame)
        goal = "plays on" if flip.frame == frame else format_frame(demo_database, flip.frame)
        assert goal in text
    assert flipped >= 6


def test_without_a_flip_that_is_told(demo_database):
    assert describe_flip(None, demo_database, 0) == "no weight alone changes this"
