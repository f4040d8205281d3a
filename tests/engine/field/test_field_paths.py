"""Paths of clips and of the object, which greedy control of a field compares."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motion_matching.engine.control.trajectory import SimulationObject, TrajectoryPoint
from motion_matching.engine.field.paths import TIMES, compute_shares, find_paths, foresee, rate
from motion_matching.engine.field.states.states import MotionStates
from motion_matching.engine.maths.planar import rotate
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.settings import Steering

NOW = 1.0 / 60.0


@pytest.fixture(scope="module")
def states(demo_database):
    return MotionStates.from_database(demo_database)


def test_a_path_is_where_the_track_of_the_clip_leads(demo_database, states):
    paths = find_paths(demo_database, states, 0.8)
    ticks = np.round(paths.times * demo_database.fps).astype(int)
    assert paths.times[-1] == pytest.approx(0.8, abs=1.0 / demo_database.fps)
    stops = demo_database.stops[demo_database.range_of_frame[states.frames]]
    for state in np.flatnonzero(states.frames + ticks[-1] < stops)[::997]:
        here = demo_database.track[states.frames[state]]
        there = demo_database.track[states.frames[state] + ticks]
        moved = rotate(there[:, :2] - here[:2], -here[2])
        np.testing.assert_allclose(paths.places[state, :, :2], moved, atol=1e-4)
        np.testing.assert_allclose(paths.places[state, :, 2], there[:, 2] - here[2], atol=1e-4)


def test_a_clip_that_ends_goes_straight_on(demo_database, states):
    paths = find_paths(demo_database, states, 1.0)
    state = np.flatnonzero(states.frames == demo_database.stops[-1] - 3)[0]
    steps = np.diff(paths.places[state], axis=0)
    np.testing.assert_allclose(steps[1:, :2], steps[:-1, :2], atol=0.02)
    np.testing.assert_allclose(steps[:, 2], 0.0, atol=1e-6)


def test_less_than_a_frame_has_no_paths(demo_database, states):
    assert find_paths(demo_database, states, 0.0) is None


def test_the_objects_path_is_that_which_it_takes():
    """Between the times at which it is known, it is off by little."""
    moving = SimulationObject(Steering())
    moving.start((0.0, -1.2), 0.0)
    moving.steer(Intent(move=(0.7, 0.7)), NOW)
    times = np.linspace(NOW, 1.0, 20)
    points = moving.predict((NOW, *TIMES))
    exact = np.array([point[:3] for point in moving.predict(tuple(times))])
    np.testing.assert_allclose(foresee(points, compute_shares(times, 60.0)), exact, atol=0.1)


def test_headings_turn_on_beyond_half_a_turn():
    points = [
        TrajectoryPoint(0.0, 0.0, math.radians(degrees), 0.0, 0.0)
        for degrees in (100.0, 140.0, 170.0, -170.0, -160.0)
    ]
    path = foresee(points, compute_shares(np.array([0.75, 1.0]), 60.0))
    np.testing.assert_allclose(np.degrees(path[:, 2]), [190.0, 200.0], atol=1e-3)


def test_the_best_path_is_the_objects_own_wherever_both_are_seen_from():
    wanted = np.array([[0.1, -0.3, 0.2], [0.3, -0.5, 0.6]], np.float32)
    paths = np.stack([wanted, wanted + np.float32(0.1), -wanted])
    rewards = rate(paths, wanted)
    assert rewards[0] == 0.0
    assert rewards[0] > rewards[1] > rewards[2]
    turned = [np.concatenate([rotate(p[:, :2], 1.3), p[:, 2:]], axis=1) for p in (*paths, wanted)]
    np.testing.assert_allclose(rate(np.stack(turned[:3]), turned[3]), rewards, atol=1e-6)
