"""Maps of a field's states: a ring is a ring, clips apart are apart, and every run is the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from motion_matching.engine.field.states.neighbours import Metric
from motion_matching.engine.insight.maps import field_map
from motion_matching.engine.insight.maps.field_map import (
    build_field_map,
    build_graph,
    embed_graph,
    place_all,
)


def make_ring(count: int, center: float = 0.0, seed: int = 0) -> np.ndarray:
    """Make features (count, 6) of states around a ring, in two terms, with a little noise."""
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    both = np.concatenate([ring + center, 0.5 * ring[:, [1, 2, 0]]], axis=1)
    noise = np.random.default_rng(seed).normal(scale=1e-3, size=both.shape)
    return (both + noise).astype(np.float32)


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0], ids=["mouse", "human", "giant"])
def test_a_ring_of_states_is_a_ring(scale):
    """It is round, its states are in order, and its size in metres does not matter."""
    positions, eigenvalues = embed_graph(build_graph(scale * make_ring(200)))
    radii = np.linalg.norm(positions[:, :2], axis=1)
    assert np.ptp(radii) < 0.05 * radii.mean()
    turned = np.unwrap(np.arctan2(positions[:, 1], positions[:, 0]))
    steps = np.diff(turned) * np.sign(turned[-1] - turned[0])
    assert steps.min() > 0
    assert abs(turned[-1] - turned[0]) == pytest.approx(2 * np.pi * 199 / 200, rel=0.01)
    assert eigenvalues[0] == pytest.approx(eigenvalues[1], rel=0.05)
    assert eigenvalues[2] > 2 * eigenvalues[1]


def test_two_clips_apart_are_two_clusters():
    """Though no neighbour leads from one to the other."""
    features = np.concatenate([make_ring(150), make_ring(150, center=50.0, seed=1)])
    positions, eigenvalues = embed_graph(build_graph(features))
    one, other = positions[:150, 0], positions[150:, 0]
    apart = abs(one.mean() - other.mean())
    assert max(np.ptp(one), np.ptp(other)) < 0.2 * apart
    assert eigenvalues[0] < 0.1 * eigenvalues[1]


def test_the_graph_is_symmetric_and_in_one_piece():
    parts = [make_ring(40, center=20.0 * n, seed=n) for n in range(4)]
    graph = build_graph(np.concatenate(parts))
    assert abs(graph - graph.T).max() == 0
    assert graph.diagonal().max() == 0
    assert graph.data.min() > 0
    assert graph.data.max() <= 1
    assert csgraph.connected_components(graph)[0] == 1


def test_equal_states_lie_at_one_point():
    features = np.repeat(make_ring(60), 20, axis=0)
    positions, _ = embed_graph(build_graph(features))
    assert np.isfinite(positions).all()


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_few_states_are_mapped_too(count):
    positions, eigenvalues = embed_graph(build_graph(make_ring(count)))
    assert positions.shape == (count, 3)
    assert eigenvalues.shape == (3,)
    assert np.isfinite(positions).all()


def test_the_embedding_solves_the_eigenproblem_of_the_laplacian():
    """Positions f fulfil L f = λ D f with the unnormalized Laplacian L, as in Belkin and Niyogi."""
    graph = build_graph(make_ring(80))
    positions, eigenvalues = embed_graph(graph)
    degrees = sparse.diags(np.asarray(graph.sum(axis=1)).ravel())
    left, right = (degrees - graph) @ positions, degrees @ positions * eigenvalues
    np.testing.assert_allclose(left, right, atol=1e-7)


def test_frames_between_sampled_states_lie_between_them(demo_database):
    """Within a clip; a frame before the first of its clip is where that is."""
    start, stop = demo_database.starts[1], demo_database.stops[1]
    frames = np.array([start - 3, start + 2, start + 12])
    positions, chains = np.array([[0.0], [10.0], [20.0]]), np.array([0, 1, 1])
    placed = place_all(frames, chains, positions, demo_database)[:, 0]
    assert placed[start - 3] == placed[start - 1] == 0.0
    assert placed[start] == placed[start + 2] == 10.0
    assert placed[start + 7] == pytest.approx(15.0)
    assert placed[start + 12] == placed[stop - 1] == 20.0


@pytest.mark.slow
def test_gaits_of_a_database_lie_apart_and_every_run_is_the_same(demo_database):
    metric = Metric.from_database(demo_database)
    found = build_field_map(demo_database, metric)
    assert found.positions.shape == (demo_database.frame_count, 3)
    np.testing.assert_array_equal(found.positions, build_field_map(demo_database, metric).positions)
    data = found.to_dict(demo_database, most=500)
    assert len(data["frames"]) == len(data["gaits"]) == len(data["clips"]) <= 500
    gaits, positions = np.array(data["gaits"]), np.array(data["positions"])
    running, other = positions[gaits == "running"], positions[gaits != "running"]
    apart = np.linalg.norm(running.mean(axis=0) - other.mean(axis=0))
    assert apart > 0.5


def test_colours_tell_clips_and_gaits_apart(demo_database):
    by_clip = field_map.compute_clip_colours(demo_database)
    clips = {part.clip for part in demo_database.ranges}
    assert len(np.unique(by_clip.round(4), axis=0)) == len(clips)
    by_gait = field_map.compute_gait_colours(demo_database)
    assert len(np.unique(by_gait, axis=0)) == 3
    for colours in (by_clip, by_gait):
        assert colours.shape == (demo_database.frame_count, 3)
        assert colours.min() >= 0
        assert colours.max() <= 1
