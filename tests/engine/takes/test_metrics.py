"""Measures against motions whose values are known."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.motion.simulation_bone import GroundTrack
from motion_matching.engine.takes import metrics
from motion_matching.engine.takes.metrics import BodyMotion

FPS = 60.0


def body(
    toes: np.ndarray, track: np.ndarray | None = None, positions: np.ndarray | None = None
) -> BodyMotion:
    frames = len(toes)
    track = np.zeros((frames, 3)) if track is None else track
    return BodyMotion(
        FPS, toes if positions is None else positions, toes, GroundTrack(track[:, :2], track[:, 2])
    )


def sliding_toe(speed: float, height: float, frames: int = 61) -> np.ndarray:
    toes = np.zeros((frames, 1, 3))
    toes[:, 0, 0] = speed * np.arange(frames) / FPS
    toes[:, 0, 2] = height
    return toes


@pytest.mark.parametrize(
    ("height", "weight"), [(0.0, 1.0), (0.0125, 2 - 2**0.5), (0.02, 2 - 2**0.8)]
)
def test_foot_slide_weighs_speed_by_height_above_the_floor(height, weight):
    floors = np.array([0.04])
    measured = metrics.measure_mann_foot_slide([body(sliding_toe(0.3, 0.04 + height))], floors)
    assert measured == pytest.approx(0.3 * weight)


def test_a_foot_in_the_air_or_at_rest_does_not_slide():
    floors = np.zeros(1)
    assert metrics.measure_mann_foot_slide([body(sliding_toe(3.0, 0.1))], floors) == 0.0
    assert metrics.measure_mann_foot_slide([body(sliding_toe(0.0, 0.0))], floors) == 0.0


def test_slide_on_contacts_looks_at_those_frames_only():
    toes = sliding_toe(0.5, 0.0)
    toes[30:, 0, 0] = toes[30, 0, 0]
    contacts = np.zeros((61, 1), bool)
    contacts[40:] = True
    assert metrics.measure_contact_slide([body(toes)], [contacts]) == 0.0
    contacts[:] = False
    contacts[5:20] = True
    assert metrics.measure_contact_slide([body(toes)], [contacts]) == pytest.approx(0.5)


def test_acceleration_of_a_parabola_is_that_of_gravity():
    t = np.arange(60) / FPS
    positions = np.zeros((60, 2, 3))
    positions[:, 1, 2] = 3 * t - 0.5 * 9.81 * t**2
    measured = body(sliding_toe(0, 0, 60), positions=positions).acceleration
    np.testing.assert_allclose(measured[1:-1], 9.81, rtol=1e-6)


def test_a_freeze_is_standing_for_over_half_a_second_while_going_is_wanted():
    velocity, wanted = np.zeros((240, 2)), np.zeros((240, 2))
    wanted[60:] = (1.0, 0.0)
    velocity[60 + 29 :] = (1.0, 0.0)
    assert metrics.count_freezes(velocity, wanted, FPS) == 0
    velocity[120:160] = 0.0
    assert metrics.count_freezes(velocity, wanted, FPS) == 1
    assert metrics.count_freezes(velocity, 0.4 * wanted, FPS) == 0


def test_response_is_the_time_to_nine_tenths_of_the_new_wish():
    wanted = np.tile([1.0, 0.0], (300, 1))
    wanted[100:200] *= -1
    velocity = np.tile([1.0, 0.0], (300, 1))
    velocity[100:] = -np.linspace(-1, 1, 101)[np.minimum(np.arange(200), 100)][:, None] * [1.0, 0.0]
    first, second = metrics.measure_response_times(velocity, wanted, FPS)
    assert first == pytest.approx(95 / FPS)
    assert second == float("inf")


def test_turning_is_measured_by_its_rate():
    track = np.zeros((120, 3))
    track[:, 2] = np.concatenate([np.zeros(60), np.arange(60) * 2.5 / FPS])
    measured = metrics.measure_clips(
        [body(sliding_toe(0, 0, 120), track)], [np.zeros((120, 1), bool)], np.zeros(1)
    )
    assert measured["turn_rate_max"] == pytest.approx(2.5)
    assert measured["turning_p99"] == pytest.approx(2.5)


def test_clips_are_measured_together_without_the_gap_between_them():
    near = sliding_toe(0.2, 0.0)
    far = near + np.array([50.0, 0.0, 0.0])
    assert metrics.measure_mann_foot_slide([body(near), body(far)], np.zeros(1)) == pytest.approx(
        0.2
    )
