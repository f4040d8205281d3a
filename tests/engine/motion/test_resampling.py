"""Resampling and retiming, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motion_matching.engine.errors import MotionDataError, SettingsError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip, find_common_rate, resample
from motion_matching.engine.skeleton.skeleton import Skeleton


def make_clip(positions: np.ndarray, rotations: np.ndarray, fps: float = 30.0) -> Clip:
    """Make a clip of one bone with positions (F, 3) and rotations (F, 4)."""
    skeleton = Skeleton(
        ("root",),
        np.array([-1]),
        np.zeros((1, 3), np.float32),
        quat.IDENTITY[None].astype(np.float32),
    )
    return Clip(
        "clip",
        skeleton,
        positions[:, None].astype(np.float32),
        rotations[:, None].astype(np.float32),
        fps,
        ("a warning",),
    )


def path(times: np.ndarray) -> np.ndarray:
    """Return a sine, a cosine and a walk, in metres at seconds."""
    return np.stack([np.sin(3 * times), 0.5 * np.cos(5 * times), 1.2 * times], axis=-1)


def spin(times: np.ndarray, rate: float = 4.0) -> np.ndarray:
    """Return a rotation about a slanted axis at `rate` rad/s."""
    return quat.from_angle_axis(rate * times, np.array([0.6, 0.0, 0.8]))


def make_moving_clip(frames: int = 91, fps: float = 30.0) -> Clip:
    times = np.arange(frames) / fps
    return make_clip(path(times), spin(times), fps)


RATES = st.sampled_from([24000 / 1001, 24.0, 30.0, 60.0, 120.0]) | st.floats(20.0, 144.0)
SPEEDS = st.sampled_from([1.0, 1.1, 0.8]) | st.floats(0.7, 1.2)


@given(RATES, SPEEDS)
def test_the_motion_follows_the_closed_form(fps, speed):
    result = resample(make_moving_clip(), fps, speed)
    times = speed * np.arange(result.frame_count) / fps
    assert result.fps == fps
    np.testing.assert_allclose(result.positions[:, 0], path(times), atol=3e-4)
    assert (
        np.degrees(quat.angle_between(result.rotations[:, 0].astype(np.float64), spin(times))).max()
        < 0.01
    )


@given(RATES)
def test_a_steady_turn_stays_steady_past_half_and_full_turns(fps):
    result = resample(make_moving_clip(), fps)
    steps = quat.mul_inv(
        result.rotations[1:, 0].astype(np.float64), result.rotations[:-1, 0].astype(np.float64)
    )
    rates = quat.to_scaled_angle_axis(quat.positive(steps)) * fps
    np.testing.assert_allclose(rates, np.tile([2.4, 0.0, 3.2], (len(rates), 1)), atol=2e-3)


@given(st.floats(4.0, 144.0), st.floats(0.1, 20.0))
def test_rotations_are_unit_and_on_one_hemisphere(fps, speed):
    for result in (resample(make_moving_clip(), fps), resample(make_moving_clip(), fps, speed)):
        np.testing.assert_allclose(np.linalg.norm(result.rotations, axis=-1), 1, atol=1e-6)
        assert np.all(np.sum(result.rotations[1:] * result.rotations[:-1], axis=-1) >= 0)


def test_signs_of_input_quaternions_do_not_matter():
    clip = make_moving_clip()
    signs = np.random.default_rng(1).choice([-1, 1], clip.frame_count)
    signs[0] = 1
    flipped = make_clip(clip.positions[:, 0], clip.rotations[:, 0] * signs[:, None])
    np.testing.assert_array_equal(resample(flipped, 50.0).rotations, resample(clip, 50.0).rotations)


def test_the_same_rate_changes_nothing():
    clip = make_moving_clip()
    result = resample(clip, 30.0)
    assert result.positions is clip.positions
    assert result.rotations is clip.rotations
    assert (result.name, result.warnings) == (clip.name, clip.warnings)
    # twice the rate at twice the speed shows the same frames
    np.testing.assert_array_equal(resample(clip, 60.0, 2.0).positions, clip.positions)


def test_whole_steps_pick_existing_frames():
    clip = make_moving_clip()
    for result, step in (
        (resample(clip, 15.0), 2),
        (resample(clip, 10.0), 3),
        (resample(clip, 30.0, 5.0), 5),
    ):
        np.testing.assert_allclose(result.positions, clip.positions[::step], atol=1e-6)
        np.testing.assert_allclose(result.rotations, clip.rotations[::step], atol=1e-6)


@given(st.integers(1, 6) | st.integers(80, 100), st.floats(7.0, 120.0), st.floats(0.3, 3.0))
def test_the_duration_is_kept_within_a_frame_and_never_exceeded(frames, fps, speed):
    clip = make_moving_clip(frames)
    result = resample(clip, fps, speed)
    lost = clip.duration / speed - result.duration
    assert -1e-6 * frames <= lost < 1 / fps
    low, high = clip.positions[..., 2].min(), clip.positions[..., 2].max()  # a straight walk
    assert low - 1e-5 <= result.positions[..., 2].min()
    assert result.positions[..., 2].max() <= high + 1e-5


def test_twice_the_speed_takes_half_the_time_at_the_same_rate():
    clip = make_moving_clip(91)
    result = resample(clip, clip.fps, 2.0)
    assert result.fps == clip.fps
    assert result.duration == pytest.approx(clip.duration / 2)
    np.testing.assert_allclose(result.positions[[0, -1]], clip.positions[[0, -1]], atol=1e-6)


@given(st.floats(40.0, 120.0), SPEEDS)
def test_changing_rate_and_speed_at_once_equals_changing_each(fps, speed):
    clip = make_moving_clip()
    at_once, twice = resample(clip, fps, speed), resample(resample(clip, fps), fps, speed)
    count = min(at_once.frame_count, twice.frame_count)
    np.testing.assert_allclose(at_once.positions[:count], twice.positions[:count], atol=1e-3)


def test_a_single_frame_stays_a_single_frame():
    result = resample(make_moving_clip(1), 60.0, 1.1)
    assert result.frame_count == 1
    assert result.fps == 60.0


def test_arrays_stay_float32():
    result = resample(make_moving_clip(), 60.0)
    assert result.positions.dtype == result.rotations.dtype == np.float32


@pytest.mark.parametrize("value", [0.0, -30.0, np.nan, np.inf])
def test_rates_and_speeds_must_be_positive(value):
    with pytest.raises(SettingsError, match="frame rate"):
        resample(make_moving_clip(), value)
    with pytest.raises(SettingsError, match="speed"):
        resample(make_moving_clip(), 30.0, value)


def test_the_common_rate_is_the_most_frequent_then_the_highest():
    assert find_common_rate([30.0, 60.0, 30.0]) == 30.0
    assert find_common_rate([30.0, 60.0]) == 60.0
    assert find_common_rate(iter([120.0, 24.0, 24.0, 120.0, 30.0])) == 120.0
    with pytest.raises(ValueError, match="empty"):
        find_common_rate([])


def test_a_clip_that_would_not_fit_into_memory_is_refused_at_once():
    """Ten thousand frames that last a second each, as after a wrong frame time, at 120 per second."""
    count = 10_000
    skeleton = Skeleton(
        tuple(f"bone {i}" for i in range(75)),
        np.arange(75) - 1,
        np.zeros((75, 3), np.float32),
        np.tile(quat.IDENTITY, (75, 1)).astype(np.float32),
    )
    rotations = np.broadcast_to(quat.IDENTITY.astype(np.float32), (count, 75, 4))
    clip = Clip("long", skeleton, np.zeros((count, 75, 3), np.float32), rotations, 1.0)
    with pytest.raises(MotionDataError, match=r"'long' would have .* its frame time may be wrong"):
        resample(clip, 120.0)
