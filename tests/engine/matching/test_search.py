"""The search index against brute force in float64, on easy, ordinary and hard data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motion_matching.engine.matching import search
from motion_matching.engine.matching.search import FrameIndex
from motion_matching.engine.maths.kd_order import kd_order
from tests.strategies import make_generators


@pytest.fixture(params=["one level", "two levels"], scope="module")
def levels(request: pytest.FixtureRequest) -> Iterator[None]:
    """Search in one level or in two; small databases use one, but both must be right at any size."""
    with pytest.MonkeyPatch.context() as patch:
        most = 0 if request.param == "two levels" else 10**9
        patch.setattr(search, "NUMBERS", replace(search.NUMBERS, blocks_only=most))
        yield


def compute_costs(features, query, allowed, bias=None):
    """Compute costs (N,) in float64, infinity for frames that are not allowed."""
    costs = ((features.astype(np.float64) - query.astype(np.float64)[:, None]) ** 2).sum(axis=0)
    return np.where(allowed, costs if bias is None else costs + bias, np.inf)


def compute_tolerance(features, query, cost):
    """Return how far a float32 cost may be from `cost`: a millionth of the data's extent, in
    distance.
    """
    both = np.concatenate([features, query[:, None]], axis=1).astype(np.float64)
    extent = np.sqrt(((both - both.mean(axis=1, keepdims=True)) ** 2).sum(axis=0).max())
    step = 1e-6 * max(extent, 1e-30)
    return 2 * step * math.sqrt(abs(cost)) + step**2 + 2e-6 * abs(cost)


def find_allowed_frames(count, candidates=None, mask=None, current=-1, surroundings=0):
    allowed = np.ones(count, bool)
    for part in (candidates, mask):
        if part is not None:
            allowed &= part
    if current >= 0:
        allowed &= np.abs(np.arange(count) - current) >= surroundings
    return allowed


def assert_nearest(answer, features, query, allowed, bias=None, bound=math.inf):
    """Check that the answer is an allowed frame and that none is better."""
    frame, cost = answer
    costs = compute_costs(features, query, allowed, bias)
    best = costs.min(initial=np.inf)
    slip = compute_tolerance(features, query, best) if math.isfinite(best) else 0.0
    if frame < 0:
        assert cost == bound
        assert best >= bound - slip
    else:
        assert cost < bound
        assert allowed[frame]
        assert costs[frame] <= best + slip
        assert cost == pytest.approx(best, rel=0, abs=slip)


def make_walk(rng, dimensions, count):
    """Make a smooth path through feature space with correlated dimensions, as motion has."""
    steps = np.cumsum(rng.normal(size=(dimensions, count)), axis=1)
    steps -= steps.mean(axis=1, keepdims=True)
    mixed = rng.normal(size=(dimensions, dimensions)) * 2.0 ** -np.arange(dimensions) @ steps
    return (mixed / max(mixed.std(), 1e-9)).astype(np.float32)


def make_clouds(rng, dimensions, count):
    """Make data (D, N) of each kind; motion is like a walk."""
    walk, half = make_walk(rng, dimensions, count), -(-count // 2)
    flat, outlier = walk.copy(), walk.copy()
    flat[::8] = 7.0
    outlier[:, count // 3] = 1e4
    two = np.concatenate([walk[:, :half], walk[:, :half] + 1e3], axis=1)[:, :count]
    line = np.linspace(0, 1, count, dtype=np.float32)[None] * np.ones((dimensions, 1), np.float32)
    return {
        "a walk": walk,
        "noise": rng.normal(size=(dimensions, count)).astype(np.float32),
        "far from the origin": walk + np.float32(1e4),
        "very large": walk * np.float32(1e12),
        "very small": walk * np.float32(1e-12),
        "constant dimensions": flat,
        "every frame four times": np.tile(walk[:, : -(-count // 4)], 4)[:, :count],
        "all frames the same": np.full((dimensions, count), 3.0, np.float32),
        "all zero": np.zeros((dimensions, count), np.float32),
        "a lattice": rng.integers(0, 3, size=(dimensions, count)).astype(np.float32),
        "two distant clusters": two,
        "one outlier": outlier,
        "a line": line,
    }


KINDS = sorted(make_clouds(np.random.default_rng(0), 1, 1))
# blocks have 16 and 256 frames
COUNTS = st.sampled_from([1, 2, 15, 16, 17, 255, 256, 257, 511, 513, 1025]) | st.integers(1, 3000)


class Question(NamedTuple):
    """A cloud, which of its frames may be found, and a query that lies near or between frames."""

    features: np.ndarray
    candidates: np.ndarray
    mask: np.ndarray
    query: np.ndarray
    limits: dict[str, int]


@st.composite
def ask(draw: st.DrawFn) -> Question:
    """Draw questions to a search index, of all kinds of data and any size."""
    rng, count = draw(make_generators()), draw(COUNTS)
    dimensions = draw(st.sampled_from([1, 2, 12, 27, 60]))
    features = make_clouds(rng, dimensions, count)[draw(st.sampled_from(KINDS))]
    current, other = rng.integers(count, size=2)
    query = features[:, current].copy()
    query[dimensions // 2 :] = features[dimensions // 2 :, other]
    if draw(st.booleans()):
        query += rng.normal(size=dimensions).astype(np.float32) * features.std()
    mask = np.repeat(rng.random(-(-count // 50)) < 0.4, 50)[:count]
    surroundings = draw(st.sampled_from([0, 1, 20]))
    limits = {"current": int(current), "surroundings": surroundings}
    return Question(features, rng.random(count) < 0.9, mask, query, limits)


@pytest.mark.usefixtures("levels")
@given(ask())
@settings(max_examples=100)
def test_the_nearest_frame_matches_brute_force(asked):
    features, candidates, mask, query, limits = asked
    index = FrameIndex(features, candidates)
    prepared = index.prepare_mask(mask)
    difference = query.astype(np.float64) - features[:, limits["current"]]
    for bound in (math.inf, float((difference**2).sum())):
        for chosen, ready in ((None, None), (mask, prepared)):
            allowed = find_allowed_frames(len(mask), candidates, chosen, **limits)
            answer = index.find_nearest(query, bound=bound, mask=ready, **limits)
            assert_nearest(answer, features, query, allowed, bound=bound)


def test_a_large_database_takes_two_levels_and_stays_exact():
    rng = np.random.default_rng(3)
    features = make_walk(rng, 27, 30_000)
    index = FrameIndex(features)
    for _ in range(40):
        current, other = rng.integers(30_000, size=2)
        query = np.concatenate([features[:15, current], features[15:, other]])
        answer = index.find_nearest(query, current=int(current), surroundings=20)
        assert_nearest(
            answer, features, query, find_allowed_frames(30_000, current=current, surroundings=20)
        )


def test_a_query_far_from_everything_is_answered():
    features = make_walk(np.random.default_rng(4), 27, 30_000)
    index = FrameIndex(features)
    for scale in (10, 1e3):
        query = np.full(27, scale, np.float32)
        assert_nearest(index.find_nearest(query), features, query, np.ones(30_000, bool))


@pytest.mark.usefixtures("levels")
@pytest.mark.parametrize("lowest", [0.0, -5.0])
def test_bias_is_added_to_the_cost(lowest):
    rng = np.random.default_rng(5)
    features = make_walk(rng, 10, 2000)
    bias = (lowest + rng.random(2000) * 10).astype(np.float32)
    mask = rng.random(2000) < 0.5
    index = FrameIndex(features, bias=bias)
    prepared, subset = index.prepare_mask(mask), index.restrict(mask)
    other = index.reweight(features * 2)
    for _ in range(40):
        query = features[:, rng.integers(2000)] + rng.normal(size=10).astype(np.float32)
        assert_nearest(index.find_nearest(query), features, query, np.ones(2000, bool), bias)
        assert_nearest(index.find_nearest(query, mask=prepared), features, query, mask, bias)
        assert_nearest(
            other.find_nearest(2 * query), features * 2, 2 * query, np.ones(2000, bool), bias
        )
        assert subset.find_nearest(query) == index.find_nearest(query, mask=prepared)


@pytest.mark.usefixtures("levels")
def test_no_frame_below_the_bound_returns_the_bound():
    features = make_walk(np.random.default_rng(6), 9, 600)
    index = FrameIndex(features)
    query = features[:, 100] + 1
    _, cost = index.find_nearest(query)
    assert index.find_nearest(query, bound=cost) == (-1, cost)
    assert index.find_nearest(query, bound=-1.0) == (-1, -1.0)
    assert index.find_nearest(query, bound=cost * 1.01)[0] >= 0
    assert index.find_nearest(query, current=300, surroundings=600) == (-1, math.inf)


@pytest.mark.usefixtures("levels")
def test_no_candidate_returns_no_frame():
    features = make_walk(np.random.default_rng(7), 9, 600)
    nothing = np.zeros(600, bool)
    query = features[:, 0]
    index = FrameIndex(features)
    empty = [
        FrameIndex(features, nothing),
        index.restrict(nothing),
        FrameIndex(features, nothing).reweight(features),
    ]
    for one in empty:
        assert one.find_nearest(query, bound=3.0) == (-1, 3.0)
        assert len(one.find_k_nearest(query, 4)[0]) == 0
        assert one.find_nearest(query, mask=one.prepare_mask(~nothing)) == (-1, math.inf)
    assert index.find_nearest(query, mask=index.prepare_mask(nothing)) == (-1, math.inf)


@pytest.mark.usefixtures("levels")
def test_frames_at_the_edge_of_the_surroundings_are_allowed():
    features = np.arange(100, dtype=np.float32)[None]
    index = FrameIndex(features)
    near = features[:, 50] + np.float32(0.1)
    assert index.find_nearest(near, current=50, surroundings=0)[0] == 50
    assert index.find_nearest(near, current=50, surroundings=1)[0] == 51
    assert index.find_nearest(near, current=50, surroundings=20)[0] == 70


@pytest.mark.usefixtures("levels")
def test_frames_just_ahead_are_allowed_where_a_search_may_skip_ahead():
    features = np.arange(100, dtype=np.float32)[None]
    index = FrameIndex(features)
    around = {"current": 50, "surroundings": 6, "skip_ahead": True}
    for target, found in ((53.1, 53), (50.2, 50), (47.2, 50), (46.9, 44), (44.0, 44), (44.9, 44)):
        query = np.array([target], np.float32)
        assert index.find_nearest(query, **around)[0] == found
        assert index.find_k_nearest(query, 1, **around)[0].tolist() == [found]


@pytest.mark.usefixtures("levels")
def test_the_first_of_equal_frames_wins():
    rng = np.random.default_rng(8)
    features = np.tile(make_walk(rng, 27, 400), 5)
    index = FrameIndex(features)
    for frame in rng.integers(400, size=30):
        query = features[:, frame] + rng.normal(size=27, scale=0.1).astype(np.float32)
        best, cost = index.find_nearest(query)
        assert best < 400
        # with the first copy excluded the second one takes its place at the same cost
        second = index.find_nearest(query, current=best, surroundings=1)
        assert second == (best + 400, cost)
        frames, costs = index.find_k_nearest(query, 5)
        assert frames.tolist() == [best, best + 400, best + 800, best + 1200, best + 1600]
        assert set(costs) == {cost}


@pytest.mark.usefixtures("levels")
def test_a_restricted_index_answers_exactly_like_a_mask():
    rng = np.random.default_rng(9)
    features = make_walk(rng, 27, 4000)
    candidates = rng.random(4000) < 0.95
    index = FrameIndex(features, candidates)
    mask = np.repeat(rng.random(40) < 0.3, 100)
    prepared, subset = index.prepare_mask(mask), index.restrict(mask)
    for _ in range(60):
        current, other = rng.integers(4000, size=2)
        query = np.concatenate([features[:15, current], features[15:, other]])
        limits = {"current": int(current), "surroundings": 20}
        assert subset.find_nearest(query, **limits) == index.find_nearest(
            query, mask=prepared, **limits
        )


@pytest.mark.usefixtures("levels")
def test_reweighting_keeps_the_order_and_the_masks():
    rng = np.random.default_rng(10)
    features = make_walk(rng, 27, 3000) + np.float32(50)
    candidates = rng.random(3000) < 0.9
    mask = rng.random(3000) < 0.3
    index = FrameIndex(features, candidates)
    prepared = index.prepare_mask(mask)
    for weights in (
        np.ones(27),
        rng.uniform(0, 4, 27),
        np.repeat([0.0, 2.0, 0.5], 9),
        np.zeros(27),
    ):
        scaled = features * weights.astype(np.float32)[:, None]
        other = index.reweight(scaled).reweight(scaled)
        for _ in range(15):
            query = scaled[:, rng.integers(3000)] + (weights * rng.normal(size=27)).astype(
                np.float32
            )
            assert_nearest(other.find_nearest(query), scaled, query, candidates)
            assert_nearest(
                other.find_nearest(query, mask=prepared), scaled, query, candidates & mask
            )


def test_the_order_of_another_index_changes_no_answer():
    rng = np.random.default_rng(12)
    features = make_walk(rng, 9, 3000)
    candidates = rng.random(3000) < 0.9
    index = FrameIndex(features, candidates)
    other = rng.permutation(np.flatnonzero(candidates)).astype(np.int32)
    other = np.pad(other, (0, len(index.order) - len(other)), mode="edge")
    mixed = FrameIndex(features, candidates, order=other)
    np.testing.assert_array_equal(mixed.order, other)
    mask = rng.random(3000) < 0.3
    for query in (features[:, :20] + rng.normal(size=(9, 20)).astype(np.float32)).T:
        assert mixed.find_nearest(query) == index.find_nearest(query)
        masked = (each.find_nearest(query, mask=each.prepare_mask(mask)) for each in (mixed, index))
        assert next(masked) == next(masked)


@pytest.mark.parametrize("change", ["shorter", "of another frame", "beyond the last"])
def test_an_order_of_other_frames_is_ignored(change):
    rng = np.random.default_rng(13)
    features = make_walk(rng, 5, 600)
    candidates = np.arange(600) >= 10
    index = FrameIndex(features, candidates)
    order = index.order.copy()
    if change == "shorter":
        order = order[:-1]
    else:
        order[order == 300] = 3 if change == "of another frame" else 600
    np.testing.assert_array_equal(FrameIndex(features, candidates, order=order).order, index.order)


def test_a_mask_of_another_index_is_refused():
    features = make_walk(np.random.default_rng(11), 5, 500)
    index, other = FrameIndex(features), FrameIndex(features)
    with pytest.raises(ValueError, match="another index"):
        index.find_nearest(features[:, 0], mask=other.prepare_mask(np.ones(500, bool)))


@pytest.mark.parametrize("arguments", [{"candidates": np.ones(9, bool)}, {"bias": np.zeros(11)}])
def test_candidates_and_bias_need_one_entry_for_each_frame(arguments):
    with pytest.raises(ValueError, match="10 frames"):
        FrameIndex(np.zeros((3, 10), np.float32), **arguments)


@pytest.mark.parametrize("k", [1, 3, 40, 5000])
@pytest.mark.usefixtures("levels")
def test_the_k_nearest_are_the_cheapest_frames_in_order(k):
    rng = np.random.default_rng(12)
    features = make_walk(rng, 27, 2000)
    candidates = rng.random(2000) < 0.9
    mask = rng.random(2000) < 0.3
    index = FrameIndex(features, candidates)
    prepared = index.prepare_mask(mask)
    for _ in range(8):
        current = int(rng.integers(2000))
        query = features[:, current] + rng.normal(size=27, scale=0.2).astype(np.float32)
        limits = {"current": current, "surroundings": 20}
        for chosen, ready in ((None, None), (mask, prepared)):
            allowed = find_allowed_frames(2000, candidates, chosen, **limits)
            costs = compute_costs(features, query, allowed)
            expected = np.sort(costs)[: min(k, allowed.sum())]
            frames, found = index.find_k_nearest(query, k, mask=ready, **limits)
            assert len(set(frames.tolist())) == len(frames) == len(expected)
            assert allowed[frames].all()
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(costs[frames], expected, rtol=1e-5, atol=1e-6)
            assert (frames[0], found[0]) == index.find_nearest(query, mask=ready, **limits)


def test_repeated_queries_have_the_same_result():
    rng = np.random.default_rng(13)
    features = make_walk(rng, 27, 2000)
    kept = features.copy()
    index, again = FrameIndex(features), FrameIndex(features)
    queries = features[:, rng.integers(2000, size=20)].T + rng.normal(size=(20, 27)).astype(
        np.float32
    )
    first = [index.find_nearest(query) for query in queries]
    assert [index.find_nearest(query) for query in queries[::-1]] == first[::-1]
    assert [again.find_nearest(query) for query in queries] == first
    np.testing.assert_array_equal(features, kept)


def test_a_query_of_nan_returns_no_frame():
    features = make_walk(np.random.default_rng(14), 5, 500)
    assert FrameIndex(features).find_nearest(np.full(5, np.nan, np.float32), bound=2.0) == (-1, 2.0)


@pytest.mark.parametrize("count", [1, 16, 255, 256, 1000, 5000])
def test_kd_order_covers_every_point_and_fills_whole_groups(count):
    points = np.random.default_rng(15).normal(size=(count, 4)).astype(np.float32)
    order = kd_order(points, 256, 16)
    assert len(order) == -(-count // 256) * 256
    np.testing.assert_array_equal(np.unique(order), np.arange(count))
    # only the last group is padded
    assert len(np.unique(order[:-256])) == len(order) - 256


def test_kd_order_puts_neighbours_into_one_block():
    points = np.random.default_rng(16).random((4096, 2)).astype(np.float32)
    blocks = points[kd_order(points, 256, 16)].reshape(-1, 16, 2)
    sides = blocks.max(axis=1) - blocks.min(axis=1)
    # 256 blocks in a unit square: a square one is a sixteenth wide
    assert sides.mean() < 1 / 14
