"""Metrics of motions whose values are known."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.motion.simulation_bone import GroundTrack
from motion_matching.engine.takes import metrics
from motion_matching.engine.takes.metrics import BodyMotion

FPS = 60.0


def make_body(
    toes: np.ndarray, track: np.ndarray | None = None, positions: np.ndarray | None = None
) -> BodyMotion:
    frames = len(toes)
    track = np.zeros((frames, 3)) if track is None else track
    return BodyMotion(
        FPS, toes if positions is None else positions, toes, GroundTrack(track[:, :2], track[:, 2])
    )


def make_sliding_toe(speed: float, height: float, frames: int = 61) -> np.ndarray:
    toes = np.zeros((frames, 1, 3))
    toes[:, 0, 0] = speed * np.arange(frames) / FPS
    toes[:, 0, 2] = height
    return toes


@pytest.mark.parametrize(
    ("height", "weight"), [(0.0, 1.0), (0.0125, 2 - 2**0.5), (0.02, 2 - 2**0.8)]
)
def test_foot_slide_weights_speed_by_height_above_the_floor(height, weight):
    floors = np.array([0.04])
    measured = metrics.measure_mann_foot_slide(
        [make_body(make_sliding_toe(0.3, 0.04 + height))], floors
    )
    assert measured == pytest.approx(0.3 * weight)


def test_a_foot_in_the_air_or_at_rest_does_not_slide():
    floors = np.zeros(1)
    assert metrics.measure_mann_foot_slide([make_body(make_sliding_toe(3.0, 0.1))], floors) == 0.0
    assert metrics.measure_mann_foot_slide([make_body(make_sliding_toe(0.0, 0.0))], floors) == 0.0


def test_contact_slide_counts_only_frames_in_contact():
    toes = make_sliding_toe(0.5, 0.0)
    toes[30:, 0, 0] = toes[30, 0, 0]
    contacts = np.zeros((61, 1), bool)
    contacts[40:] = True
    assert metrics.measure_contact_slide([make_body(toes)], [contacts]) == 0.0
    contacts[:] = False
    contacts[5:20] = True
    assert metrics.measure_contact_slide([make_body(toes)], [contacts]) == pytest.approx(0.5)


def test_a_falling_body_accelerates_with_gravity():
    t = np.arange(60) / FPS
    positions = np.zeros((60, 2, 3))
    positions[:, 1, 2] = 3 * t - 0.5 * 9.81 * t**2
    measured = make_body(make_sliding_toe(0, 0, 60), positions=positions).acceleration
    np.testing.assert_allclose(measured[1:-1], 9.81, rtol=1e-6)


def test_standing_over_half_a_second_while_asked_to_move_is_a_freeze():
    velocity, wanted = np.zeros((240, 2)), np.zeros((240, 2))
    wanted[60:] = (1.0, 0.0)
    velocity[60 + 29 :] = (1.0, 0.0)
    assert metrics.count_freezes(velocity, wanted, FPS) == 0
    velocity[120:160] = 0.0
    assert metrics.count_freezes(velocity, wanted, FPS) == 1
    assert metrics.count_freezes(velocity, 0.4 * wanted, FPS) == 0


def test_the_response_ends_at_nine_tenths_of_the_new_velocity():
    wanted = np.tile([1.0, 0.0], (300, 1))
    wanted[100:200] *= -1
    velocity = np.tile([1.0, 0.0], (300, 1))
    velocity[100:] = -np.linspace(-1, 1, 101)[np.minimum(np.arange(200), 100)][:, None] * [1.0, 0.0]
    first, second = metrics.measure_response_times(velocity, wanted, FPS)
    assert first == pytest.approx(95 / FPS)
    assert second == float("inf")


def test_turning_is_measured_by_the_turn_rate():
    track = np.zeros((120, 3))
    track[:, 2] = np.concatenate([np.zeros(60), np.arange(60) * 2.5 / FPS])
    measured = metrics.measure_clips(
        [make_body(make_sliding_toe(0, 0, 120), track)], [np.zeros((120, 1), bool)], np.zeros(1)
    )
    assert measured["turn_rate_max"] == pytest.approx(2.5)
    assert measured["turning_p99"] == pytest.approx(2.5)


def test_metrics_of_several_clips_ignore_the_gaps_between_them():
    near = make_sliding_toe(0.2, 0.0)
    far = near + np.array([50.0, 0.0, 0.0])
    assert metrics.measure_mann_foot_slide(
        [make_body(near), make_body(far)], np.zeros(1)
    ) == pytest.approx(0.2)
