"""Ticks come exactly at their rate, whatever the frame times are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motion_matching.live.clock import Clock


@pytest.mark.parametrize("rate", [24.0, 29.97, 30.0, 60.0, 144.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_number_of_ticks_matches_the_elapsed_time(rate, seed):
    rng = np.random.default_rng(seed)
    clock, now, count = Clock(rate), 1e5 * rng.random(), 0
    start = now
    assert clock.count_due(now) == 0
    for frame_time in rng.exponential(0.02, 5000).clip(0.0, 0.4):
        now += frame_time
        count += clock.count_due(now)
        assert count == math.floor((now - start) * rate + 1e-9)
        assert clock.fraction == pytest.approx((now - start) * rate - count, abs=1e-6)
        assert 0.0 <= clock.fraction <= 1.0
    assert clock.dropped == 0.0


@pytest.mark.parametrize("rate", [24.0, 30.0, 60.0])
def test_frames_as_long_as_a_tick_make_one_tick_each(rate):
    clock = Clock(rate)
    clock.count_due(0.0)
    assert all(clock.count_due(number / rate) == 1 for number in range(1, 10_000))


def test_a_stall_is_caught_up_in_part_and_the_rest_reported():
    clock = Clock(60.0, longest=0.5)
    clock.count_due(10.0)
    assert clock.count_due(10.1) == 6
    assert clock.count_due(13.1) == 30
    assert clock.dropped == pytest.approx(2.5)
    # afterwards time continues normally
    assert clock.count_due(13.2) == 6
    assert clock.dropped == pytest.approx(2.5)


def test_slow_ticks_do_not_build_up_a_backlog():
    """If every frame takes twice as long as its ticks, the next frame is due at most a stall's
    worth of ticks.
    """
    clock, now, most = Clock(60.0, longest=0.5), 0.0, 0
    clock.count_due(now)
    frame_time = 1 / 60
    for _ in range(100):
        now += frame_time
        count = clock.count_due(now)
        most = max(most, count)
        frame_time = 2 * count / 60
    assert most == 30
    assert clock.dropped > 10.0


def test_a_clock_set_back_continues_from_there():
    clock = Clock(24.0)
    clock.count_due(10.0)
    assert clock.count_due(10.5) == 12
    assert clock.count_due(1.0) == 0
    assert clock.count_due(1.25) == 6
