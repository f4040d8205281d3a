"""Neighbour searches match a full scan, for any queries in any order."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.field.integration import compute_action_weights, integrate
from motion_matching.engine.field.push import FULL, Shove
from motion_matching.engine.field.states.gaits import classify_gaits
from motion_matching.engine.field.states.neighbours import (
    Metric,
    Neighbours,
    compute_similarity_weights,
)
from motion_matching.engine.field.states.states import MotionStates

K, MANY = 15, 60


@pytest.fixture(scope="module")
def metric(demo_database):
    return Metric.from_database(demo_database)


@pytest.fixture(scope="module")
def states(demo_database):
    return MotionStates.from_database(demo_database)


@pytest.fixture(scope="module")
def features(metric, states):
    return metric.compute_state_features(states)


def compute_distances(features, queries):
    """Compute distances (Q, S) in float64."""
    terms = features.reshape(len(features), -1, 3).astype(np.float64)
    return np.array(
        [
            np.linalg.norm(terms - q, axis=-1).sum(axis=-1)
            for q in queries.reshape(len(queries), -1, 3)
        ]
    )


def assert_nearest(neighbours, which, features, queries, k):
    """Check that the k nearest of the states `which` (n,) are found; states at equal distance may
    swap.
    """
    indices, distances = neighbours.find_nearest(queries, k)
    exact = compute_distances(features[which], queries)
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :k], rtol=2e-5, atol=1e-6)
    places = np.searchsorted(which, indices)
    np.testing.assert_array_equal(which[places], indices)
    np.testing.assert_allclose(
        np.take_along_axis(exact, places, axis=1), distances, rtol=2e-5, atol=1e-6
    )
    assert all(len(set(found)) == min(k, len(which)) for found in indices.tolist())


def steer_randomly(states, metric, neighbours, database, ticks):
    """Yield features (1 + A, F) of each tick's pose and of the results of its actions, with pushes
    and jumps.
    """
    rng = np.random.default_rng(0)
    shove = Shove(database.skeleton, database.roles, database.fps)
    pose, velocity = states.poses[3000], states.velocities[3000]
    for tick in range(ticks):
        if tick == 30:
            shove.push(FULL, -FULL)
        if tick == 50:
            entered = int(rng.integers(len(states)))
            pose, velocity = states.poses[entered], states.velocities[entered]
        pose, velocity = shove.apply(pose, velocity)
        here = metric.compute_features(pose[None], velocity[None])
        around, distances = (found[0] for found in neighbours.find_nearest(here, K))
        led = integrate(
            states, pose, around, compute_action_weights(compute_similarity_weights(distances)), 0.1
        )
        yield np.concatenate([here, metric.compute_features(led.pose, led.velocity)])
        chosen = rng.integers(len(led.pose))
        pose, velocity = led.pose[chosen], led.velocity[chosen]


@pytest.mark.slow
def test_searches_of_a_steered_character_match_a_full_scan(demo_database, states, metric, features):
    """Search all states and those of one gait, for any k, at the pose and at the results of its
    actions.
    """
    masks = [np.ones(len(states), bool), *classify_gaits(demo_database)[1][:, states.frames]]
    fields = [(Neighbours(features, mask), np.flatnonzero(mask)) for mask in masks]
    for tick, queries in enumerate(steer_randomly(states, metric, fields[0][0], demo_database, 90)):
        neighbours, which = fields[tick // 7 % len(fields)]
        k = (1, 4, K, MANY)[tick // 5 % 4]
        assert_nearest(neighbours, which, features, queries[:1] if tick % 3 else queries[1:], k)


@pytest.mark.slow
def test_results_do_not_depend_on_earlier_queries(demo_database, states, metric, features):
    """Reverse the order, or use a new index: results match bit for bit, also of states apart."""
    follow = states.find_followed(demo_database)
    neighbours = Neighbours(features, None, follow)
    queries = list(steer_randomly(states, metric, neighbours, demo_database, 40))

    def search_all(by, queries):
        return [
            by.find_nearest(q, k, apart=apart)
            for q in queries
            for k, apart in ((K, False), (MANY, True))
        ]

    first = search_all(neighbours, queries)
    again = [*search_all(neighbours, queries[::-1])]
    fresh = search_all(Neighbours(features, None, follow), queries)
    backwards = [
        again[2 * place + part] for place in range(len(queries))[::-1] for part in range(2)
    ]
    for one, other, new in zip(first, backwards, fresh, strict=True):
        for part in range(2):
            np.testing.assert_array_equal(one[part], other[part])
            np.testing.assert_array_equal(one[part], new[part])


def test_equal_states_are_returned_in_order(features):
    """A clip is in the data three times; of the last group, only one state still fits."""
    clip = features[2000:2300]
    neighbours = Neighbours(np.concatenate([clip, clip, clip]))
    for state in (0, 17, 150, 299):
        indices, distances = neighbours.find_nearest(clip[[state]], K + 1)
        exact = compute_distances(clip, clip[[state]])[0].argsort()[: K // 3 + 1]
        expected = np.add.outer(exact, [0, 300, 600]).ravel()[: K + 1]
        np.testing.assert_array_equal(indices[0], expected)
        assert (distances[0, ::3][:5] == distances[0, 2::3]).all()


def test_rounding_drops_no_state(features):
    """Far from the origin, bounds are less exact than distances; no state at equal distance is left
    out.
    """
    clip = features[700:710] + np.float32(100)
    neighbours = Neighbours(np.tile(clip, (400, 1)))
    for which in ([0], [5], range(10)):
        indices, distances = neighbours.find_nearest(clip[list(which)], 100)
        np.testing.assert_array_equal(indices, np.add.outer(which, 10 * np.arange(100)))
        assert (distances == 0).all()


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 40, 300])
def test_fields_of_few_states_are_searched(features, count):
    """Fewer states than requested, than fill a block, and a few more; also where all are the same."""
    some = np.arange(700, 700 + count)
    queries = features[690:700] + np.float32(0.01)
    assert_nearest(Neighbours(features[some]), np.arange(count), features[some], queries, K)
    alike = np.repeat(features[700:701], count, axis=0)
    indices, _ = Neighbours(alike).find_nearest(queries, K)
    assert (indices == np.arange(min(K, count))).all()


@pytest.mark.slow
def test_queries_far_outside_the_field_match_a_full_scan(features):
    """Queries are further from every block than the blocks are wide, alone and in a batch."""
    queries = (
        features[::3000] + np.linspace(0, 10, len(features[::3000]), dtype=np.float32)[:, None]
    )
    neighbours = Neighbours(features)
    assert_nearest(neighbours, np.arange(len(features)), features, queries, K)
    for query in queries:
        assert_nearest(neighbours, np.arange(len(features)), features, query[None], K)
