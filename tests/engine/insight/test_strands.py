"""Strands show where motion leads within a second, from any position and heading."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.insight.coverage import strands

FPS = 30.0


def circle(radius: float, rate: float, seconds: float, yaw: float = 0.0) -> np.ndarray:
    """Return a track (F, 3) around a circle to the left at `rate` rad/s, from facing -Y turned by
    yaw.
    """
    turn = yaw + rate * np.arange(round(seconds * FPS) + 1) / FPS
    return np.stack([radius * np.cos(turn + np.pi), radius * np.sin(turn + np.pi), turn], axis=1)


def test_straight_strands_lead_ahead_by_the_speed():
    ahead = np.zeros((61, 3))
    ahead[:, 1] = -1.5 * np.arange(61) / FPS
    found = strands.from_tracks([ahead], FPS, 100)
    assert len(found.paths) == 31  # frames followed by a full second
    np.testing.assert_allclose(found.paths[:, -1], [[0.0, 1.5]] * 31, atol=1e-9)
    np.testing.assert_allclose(found.speeds, 1.5)
    assert found.reach == pytest.approx(1.5)


def test_strands_of_a_circle_are_the_same_from_any_start():
    """Each is the same arc to the left: 1 m/s at 1 rad/s ends sin 1 ahead and 1 - cos 1 to the
    left.
    """
    elsewhere = circle(1.0, 1.0, 3.0, yaw=2.0) + np.array([5.0, -3.0, 0.0])
    found = strands.from_tracks([circle(1.0, 1.0, 3.0), elsewhere], FPS, 1000)
    assert np.ptp(found.paths, axis=0).max() < 1e-9
    np.testing.assert_allclose(found.paths[0, -1], [1.0 - np.cos(1.0), np.sin(1.0)], atol=1e-9)
    np.testing.assert_allclose(found.speeds, 1.0, rtol=1e-3)


def test_no_strand_crosses_into_another_track():
    here, there = (
        np.zeros((40, 3)),
        np.full((20, 3), 100.0),
    )  # the second track is too short for a strand
    found = strands.from_tracks([here, there, here], FPS, 1000)
    assert len(found.paths) == 20
    assert np.abs(found.paths).max() == 0.0
    assert len(strands.from_tracks([], FPS, 10).paths) == 0


def test_strands_are_limited_in_number_and_evenly_spread(demo_database):
    most = strands.from_database(demo_database, 100)
    assert 50 <= len(most.paths) <= 100
    every = strands.from_database(demo_database, 10**6)
    assert abs(np.median(most.speeds) - np.median(every.speeds)) < 0.2
    lengths = demo_database.stops - demo_database.starts
    assert len(every.paths) == np.maximum(lengths - round(demo_database.fps), 0).sum()


def test_colours_go_from_dark_to_light_with_speed():
    brightness = strands.compute_colours(np.array([0.0, 1.0, 2.5, 5.0, 9.0])).sum(axis=1)
    assert np.all(np.diff(brightness[:4]) > 0)
    assert brightness[3] == brightness[4]
