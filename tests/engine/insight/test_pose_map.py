"""Pose maps: exact where possible, independent of rotation, and close for similar poses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from scipy.spatial.transform import Rotation

from motion_matching.engine.database.database import Database
from motion_matching.engine.insight.maps.pose_map import (
    LandmarkMap,
    build_pose_map,
    compute_dissimilarities,
    compute_principal_map,
    compute_stress,
)


def compute_classical_mds(distances: np.ndarray, dimensions: int) -> np.ndarray:
    """Compute classical scaling (Torgerson) of all distances (N, N) by eigendecomposition."""
    count = len(distances)
    centring = np.eye(count) - 1.0 / count
    values, vectors = np.linalg.eigh(-0.5 * centring @ distances**2 @ centring)
    return vectors[:, ::-1][:, :dimensions] * np.sqrt(values[::-1][:dimensions])


def is_same_map(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-6) -> bool:
    """Tell whether two maps (N, 2) are equal, apart from mirroring along their axes."""
    signs = np.sign((a * b).sum(axis=0))
    return np.allclose(a, b * signs, atol=tolerance * np.abs(b).max())


@pytest.fixture
def points() -> np.ndarray:
    """Return sixty points of two vectors each (60, 2, 3), with a different spread along each axis."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 2, 3)) * [[[3.0, 2.0, 0.5], [1.0, 0.3, 0.2]]]


def test_landmarks_at_every_point_give_classical_scaling(points: np.ndarray):
    for power in (1.0, 0.7):  # also for distances that are not Euclidean
        distances = cdist(points.reshape(60, -1), points.reshape(60, -1)) ** power
        found = LandmarkMap.from_distances(distances)
        assert is_same_map(found.locate(distances), compute_classical_mds(distances, 2))


def test_few_landmarks_place_all_points_of_a_plane_exactly():
    """De Silva and Tenenbaum: one more landmark than dimensions recovers the points."""
    flat = np.random.default_rng(1).normal(size=(200, 2)) @ np.array([[3.0, 0.4], [0.2, 1.0]])
    lifted = flat @ np.linalg.qr(np.random.default_rng(2).normal(size=(7, 7)))[0][:2]
    landmarks = lifted[:5]
    found = LandmarkMap.from_distances(cdist(landmarks, landmarks)).locate(cdist(lifted, landmarks))
    np.testing.assert_allclose(pdist(found), pdist(flat), atol=1e-6)


def test_principal_map_is_classical_scaling_of_euclidean_distances(points: np.ndarray):
    flat = points.reshape(60, -1)
    places, kept = compute_principal_map(flat)
    assert is_same_map(places, compute_classical_mds(cdist(flat, flat), 2))
    variances = np.linalg.eigvalsh(np.cov(flat.T))[::-1]
    assert kept == pytest.approx(variances[:2].sum() / variances.sum())


def test_dissimilarity_is_the_sum_of_distances_between_vectors(points: np.ndarray):
    flat = points.reshape(60, -1).T  # features (D, N)
    slices = [slice(0, 3), slice(3, 6)]
    expected = sum(
        np.linalg.norm(points[:, None, k] - points[None, :, k], axis=-1) for k in range(2)
    )
    found = compute_dissimilarities(flat, flat, slices)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.allclose(np.diag(found), 0, atol=1e-3)


def test_maps_do_not_depend_on_the_rotation_of_the_data(points: np.ndarray):
    turned = (
        Rotation.from_euler("xyz", [0.3, 1.0, -2.0])
        .apply(points.reshape(-1, 3))
        .reshape(points.shape)
        + 5.0
    )
    slices = [slice(0, 3), slice(3, 6)]
    maps = []
    for data in (points, turned):
        flat = data.reshape(60, -1)
        distances = compute_dissimilarities(flat.T, flat.T, slices)
        maps.append(
            (
                LandmarkMap.from_distances(distances).locate(distances),
                compute_principal_map(flat)[0],
            )
        )
    for found, expected in zip(*maps, strict=True):
        np.testing.assert_allclose(
            found, expected, atol=1e-3
        )  # not mirrored either: signs are fixed


def test_stress_is_zero_without_loss_and_grows_with_it(points: np.ndarray):
    flat = points.reshape(60, -1)
    distances = cdist(flat, flat)
    assert compute_stress(flat, distances) == pytest.approx(0.0, abs=1e-9)
    one, two = (compute_stress(compute_classical_mds(distances, k), distances) for k in (1, 2))
    assert 0 < two < one < 1


def test_the_map_of_a_database_keeps_neighbours_and_locates_its_poses(
    demo_database: Database,
):
    found = build_pose_map(demo_database)
    places = found.mds
    assert places.shape == found.pca.shape == (demo_database.frame_count, 2)
    assert np.isfinite(places).all()
    # consecutive frames are near each other, others are not
    rng = np.random.default_rng(0)
    frames = rng.choice(demo_database.frame_count - 2, 2000, replace=False)
    inside = frames + 1 < demo_database.stops[demo_database.range_of_frame[frames]]
    steps = np.linalg.norm(places[frames[inside] + 1] - places[frames[inside]], axis=1)
    others = np.linalg.norm(places[frames] - places[rng.permutation(frames)], axis=1)
    assert np.median(steps) < 0.1 * np.median(others)
    # a pose of the data is located at its frame, which live sessions rely on
    for frame in (10, 4000, 20000):
        np.testing.assert_allclose(
            found.locate(demo_database.features[:, frame]), places[frame], atol=1e-3
        )
    assert found.stress["mds"] < 0.5
    assert 0.2 < found.explained_variance <= 1.0


def test_identical_poses_are_mapped_to_a_point():
    distances = np.zeros((5, 5))
    np.testing.assert_array_equal(LandmarkMap.from_distances(distances).locate(distances), 0.0)
    places, kept = compute_principal_map(np.ones((6, 4)))
    assert (places == 0).all()
    assert kept == 1.0
    assert compute_stress(places, np.zeros((6, 6))) == 0.0
