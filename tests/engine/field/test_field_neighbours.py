"""Neighbours of motion states are those that a full scan finds, whatever is asked and in whatever
order.
"""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.field.integration import compute_action_weights, integrate
from motion_matching.engine.field.method import classify_gaits
from motion_matching.engine.field.neighbours import Metric, Neighbours, compute_similarity_weights
from motion_matching.engine.field.push import FULL, Shove
from motion_matching.engine.field.states import MotionStates

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


def scanned(features, queries):
    """Distances (Q, S) in float64."""
    terms = features.reshape(len(features), -1, 3).astype(np.float64)
    return np.array(
        [
            np.linalg.norm(terms - q, axis=-1).sum(axis=-1)
            for q in queries.reshape(len(queries), -1, 3)
        ]
    )


def assert_nearest(neighbours, which, features, queries, k):
    """That the k nearest of the states `which` (n,) are found; those that are as near may take each
    other's place.
    """
    indices, distances = neighbours.find_nearest(queries, k)
    exact = scanned(features[which], queries)
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :k], rtol=2e-5, atol=1e-6)
    places = np.searchsorted(which, indices)
    np.testing.assert_array_equal(which[places], indices)
    np.testing.assert_allclose(
        np.take_along_axis(exact, places, axis=1), distances, rtol=2e-5, atol=1e-6
    )
    assert all(len(set(found)) == min(k, len(which)) for found in indices.tolist())


def steered(states, metric, neighbours, database, ticks):
    """Features (1 + A, F) of the pose at every tick, and of what its actions lead to: random ones,
    with pushes and jumps.
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
def test_a_steered_character_finds_what_a_full_scan_finds(demo_database, states, metric, features):
    """At every tick, among all states and those of its gait, for any k, of the pose and of all
    results of its actions.
    """
    masks = [np.ones(len(states), bool), *classify_gaits(demo_database)[1][:, states.frames]]
    fields = [(Neighbours(features, mask), np.flatnonzero(mask)) for mask in masks]
    for tick, queries in enumerate(steered(states, metric, fields[0][0], demo_database, 90)):
        neighbours, which = fields[tick // 7 % len(fields)]
        k = (1, 4, K, MANY)[tick // 5 % 4]
        assert_nearest(neighbours, which, features, queries[:1] if tick % 3 else queries[1:], k)


def test_answers_do_not_depend_on_what_was_asked_before(demo_database, states, metric, features):
    """Another order, or neighbours that were never asked: the same to the bit, those apart too."""
    follow = states.find_followed(demo_database)
    neighbours = Neighbours(features, None, follow)
    asked = list(steered(states, metric, neighbours, demo_database, 40))

    def answers(by, queries):
        return [
            by.find_nearest(q, k, apart=apart)
            for q in queries
            for k, apart in ((K, False), (MANY, True))
        ]

    first = answers(neighbours, asked)
    again = [*answers(neighbours, asked[::-1])]
    fresh = answers(Neighbours(features, None, follow), asked)
    backwards = [again[2 * place + part] for place in range(len(asked))[::-1] for part in range(2)]
    for one, other, new in zip(first, backwards, fresh, strict=True):
        for part in range(2):
            np.testing.assert_array_equal(one[part], other[part])
            np.testing.assert_array_equal(one[part], new[part])


def test_of_states_that_are_the_same_the_first_comes_first(features):
    """As where a clip is in the data three times, and only the last place that counts is left for
    them.
    """
    clip = features[2000:2300]
    neighbours = Neighbours(np.concatenate([clip, clip, clip]))
    for state in (0, 17, 150, 299):
        indices, distances = neighbours.find_nearest(clip[[state]], K + 1)
        exact = scanned(clip, clip[[state]])[0].argsort()[: K // 3 + 1]
        expected = np.add.outer(exact, [0, 300, 600]).ravel()[: K + 1]
        np.testing.assert_array_equal(indices[0], expected)
        assert (distances[0, ::3][:5] == distances[0, 2::3]).all()


def test_rounding_loses_no_state(features):
    """Far from the origin what bounds distances is less exact than these: of states at one distance
    none is left out.
    """
    clip = features[700:710] + np.float32(100)
    neighbours = Neighbours(np.tile(clip, (400, 1)))
    for which in ([0], [5], range(10)):
        indices, distances = neighbours.find_nearest(clip[list(which)], 100)
        np.testing.assert_array_equal(indices, np.add.outer(which, 10 * np.arange(100)))
        assert (distances == 0).all()


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 40, 300])
def test_few_states(features, count):
    """Fewer than are asked for, than fill a block, and a few more; also where all are the same."""
    some = np.arange(700, 700 + count)
    queries = features[690:700] + np.float32(0.01)
    assert_nearest(Neighbours(features[some]), np.arange(count), features[some], queries, K)
    alike = np.repeat(features[700:701], count, axis=0)
    indices, _ = Neighbours(alike).find_nearest(queries, K)
    assert (indices == np.arange(min(K, count))).all()


def test_queries_from_far_off_the_field(features):
    """No nearer to any of the blocks than these are wide, alone and together with others."""
    queries = (
        features[::3000] + np.linspace(0, 10, len(features[::3000]), dtype=np.float32)[:, None]
    )
    neighbours = Neighbours(features)
    assert_nearest(neighbours, np.arange(len(features)), features, queries, K)
    for query in queries:
        assert_nearest(neighbours, np.arange(len(features)), features, query[None], K)
