"""The search by sums of lengths against brute force in float64, on the clouds of the other one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from motion_matching.engine.matching.length_search import LengthIndex
from tests.engine.matching.test_search import ask, find_allowed_frames, levels, make_walk
from tests.strategies import make_generators

__all__ = ["levels"]


def make_vectors(rng, dimensions):
    """Number the vectors of dimensions: sizes 1 to 3, in any order, and one of 5."""
    sizes = rng.integers(1, 4, size=dimensions).tolist()
    if dimensions > 12:
        sizes[2] = 5
    return np.repeat(np.arange(len(sizes)), sizes)[:dimensions]


def sum_lengths(features, query, vectors, allowed, bias=0.0):
    """Compute costs (N,) in float64, infinity for frames that are not allowed."""
    squares = (features.astype(np.float64) - query.astype(np.float64)[:, None]) ** 2
    costs = sum(np.sqrt(squares[vectors == vector].sum(axis=0)) for vector in np.unique(vectors))
    return np.where(allowed, costs + bias, np.inf)


def assert_cheapest(answer, costs, bound=math.inf, biases=0.0):
    """Check that an answer is the cheapest frame, but for the rounding of float32.

    `biases` is how large those are that were added to lengths, and rounded with them.
    """
    frame, cost = answer
    best = costs.min(initial=np.inf)
    slip = 4e-6 * (abs(best) + biases) if math.isfinite(best) else 0.0
    if frame < 0:
        assert cost == bound
        assert best >= bound - slip
    else:
        assert cost < bound
        assert costs[frame] <= best + slip
        assert cost == pytest.approx(best, rel=0, abs=slip)


@pytest.mark.usefixtures("levels")
@given(ask(), make_generators())
@settings(max_examples=100)
def test_the_frame_of_the_least_sum_of_lengths_matches_brute_force(asked, rng):
    features, candidates, mask, query, limits = asked
    vectors = make_vectors(rng, len(features))
    index = LengthIndex(features, vectors, candidates)
    prepared = index.prepare_mask(mask)
    costs = sum_lengths(features, query, vectors, np.ones(len(mask), bool))
    for bound in (math.inf, float(costs[limits["current"]])):
        for chosen, ready in ((None, None), (mask, prepared)):
            allowed = find_allowed_frames(len(mask), candidates, chosen, **limits)
            answer = index.find_nearest(query, bound=bound, mask=ready, **limits)
            assert_cheapest(answer, np.where(allowed, costs, np.inf), bound)


def test_a_large_database_is_searched_exactly_by_lengths():
    rng = np.random.default_rng(3)
    features, vectors = make_walk(rng, 27, 30_000), np.repeat(np.arange(9), 3)
    index = LengthIndex(features, vectors)
    for _ in range(30):
        current, other = rng.integers(30_000, size=2)
        query = np.concatenate([features[:15, current], features[15:, other]])
        limits = {"current": int(current), "surroundings": 20}
        allowed = find_allowed_frames(30_000, **limits)
        costs = sum_lengths(features, query, vectors, allowed)
        assert_cheapest(index.find_nearest(query, **limits), costs)


@pytest.mark.usefixtures("levels")
@pytest.mark.parametrize("lowest", [0.0, -5.0])
def test_bias_masks_and_other_weights_count_with_lengths(lowest):
    rng = np.random.default_rng(5)
    features, vectors = make_walk(rng, 10, 2000), np.array([0, 0, 0, 1, 2, 2, 3, 3, 4, 4])
    bias = (lowest + rng.random(2000) * 10).astype(np.float32)
    mask, every = rng.random(2000) < 0.5, np.ones(2000, bool)
    index = LengthIndex(features, vectors, bias=bias)
    prepared, subset, other = (
        index.prepare_mask(mask),
        index.restrict(mask),
        index.reweight(features * 2),
    )
    for _ in range(40):
        query = features[:, rng.integers(2000)] + rng.normal(size=10).astype(np.float32)
        costs = sum_lengths(features, query, vectors, every, bias)
        assert_cheapest(index.find_nearest(query), costs, biases=15.0)
        assert_cheapest(
            index.find_nearest(query, mask=prepared), np.where(mask, costs, np.inf), biases=15.0
        )
        doubled = sum_lengths(features * 2, 2 * query, vectors, every, bias)
        assert_cheapest(other.find_nearest(2 * query), doubled, biases=15.0)
        assert subset.find_nearest(query) == index.find_nearest(query, mask=prepared)


def test_reweighting_takes_fewer_dimensions():
    rng = np.random.default_rng(6)
    features, vectors = make_walk(rng, 9, 900), np.repeat(np.arange(3), 3)
    left = np.array([0, 1, 2, 4, 6, 7, 8])
    other = LengthIndex(features, vectors).reweight(features[left], vectors[left])
    for frame in rng.integers(900, size=20):
        query = features[left, frame] + rng.normal(size=7).astype(np.float32)
        costs = sum_lengths(features[left], query, vectors[left], np.ones(900, bool))
        assert_cheapest(other.find_nearest(query), costs)


@pytest.mark.usefixtures("levels")
def test_the_first_of_frames_with_equal_lengths_wins():
    rng = np.random.default_rng(8)
    features, vectors = np.tile(make_walk(rng, 27, 400), 5), np.repeat(np.arange(9), 3)
    index = LengthIndex(features, vectors)
    for frame in rng.integers(400, size=20):
        query = features[:, frame] + rng.normal(size=27, scale=0.1).astype(np.float32)
        best, cost = index.find_nearest(query)
        assert best < 400
        assert index.find_nearest(query, current=best, surroundings=1) == (best + 400, cost)
        frames, costs = index.find_k_nearest(query, 5)
        assert frames.tolist() == [best, best + 400, best + 800, best + 1200, best + 1600]
        assert set(costs) == {cost}


@pytest.mark.parametrize("k", [1, 3, 40, 5000])
@pytest.mark.usefixtures("levels")
def test_the_k_nearest_by_lengths_are_the_cheapest_frames_in_order(k):
    rng = np.random.default_rng(12)
    features, vectors = make_walk(rng, 27, 2000), make_vectors(rng, 27)
    candidates = rng.random(2000) < 0.9
    index = LengthIndex(features, vectors, candidates)
    for _ in range(6):
        query = features[:, rng.integers(2000)] + rng.normal(size=27).astype(np.float32)
        costs = sum_lengths(features, query, vectors, candidates)
        frames, found = index.find_k_nearest(query, k)
        expected = np.sort(costs)[: min(k, candidates.sum())]
        assert len(set(frames.tolist())) == len(frames) == len(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        np.testing.assert_allclose(costs[frames], expected, rtol=1e-5)
        assert (frames[0], found[0]) == index.find_nearest(query)
