"""What a jump may do to joints is told by the data around it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.facts.motion_limits import MotionLimits
from motion_matching.engine.motion.margins import MARGINS
from motion_matching.engine.takes import takes


def test_peaks_are_those_of_the_bodies_around_a_frame(demo_database):
    bodies, _ = takes.make_source_bodies(demo_database)
    peaks, reach = demo_database.derive(MotionLimits), round(0.5 * demo_database.fps)
    accelerations = bodies[0].acceleration
    for frame in range(0, demo_database.stops.item(0), 37):
        around = accelerations[max(frame - reach, 0) : frame + reach + 1].max()
        far = accelerations[max(frame - 3 * reach, 0) : frame + 3 * reach + 1].max()
        assert 0.999 * around - 1e-3 <= peaks.find_peak(frame) <= 1.001 * far + 1e-3


def test_what_nearly_all_frames_do_is_that_of_the_sources(demo_database):
    bodies, _ = takes.make_source_bodies(demo_database)
    wanted = np.percentile(np.concatenate([each.acceleration for each in bodies]), 99.0)
    assert demo_database.derive(MotionLimits).common_peak == pytest.approx(wanted, rel=0.1)


def test_a_single_jolt_allows_nothing(demo_database):
    """A fault of the capture makes neither jumps nor feet near it harder."""
    calm = demo_database.derive(MotionLimits)
    frame = next(k for k in range(60, 900) if calm.find_peak(k) < 40.0)
    poses = demo_database.poses.copy()
    poses[frame + 5, 0, 1] += 0.5  # metres that the hips leap for a frame
    jolted = replace(demo_database, poses=poses).derive(MotionLimits)
    assert jolted.common_peak == pytest.approx(calm.common_peak, rel=0.02)
    assert jolted.find_peak(frame) < 1.2 * jolted.common_peak


def test_the_order_in_which_frames_are_asked_for_changes_no_peak(demo_database):
    frames = range(0, demo_database.frame_count, 7)
    found = []
    for order in (frames, reversed(frames)):
        peaks = replace(demo_database).derive(MotionLimits)
        found.append({frame: peaks.find_peak(frame) for frame in order})
    assert found[0] == found[1]


def test_steps_are_as_hard_in_a_database_of_any_rate(demo_database):
    """Half of the frames tell of the same steps, a frame longer or shorter."""
    hardest = demo_database.derive(MotionLimits).hardest_step
    assert 1.0 < hardest < 40.0
    quicker = replace(demo_database, fps=2.0 * demo_database.fps)
    assert quicker.derive(MotionLimits).hardest_step == pytest.approx(4.0 * hardest)
    larger = replace(demo_database, contacts=np.zeros_like(demo_database.contacts))
    assert larger.derive(MotionLimits).hardest_step == np.inf


def test_a_leap_is_told_by_the_harder_motion_of_both_but_never_by_a_rare_one(demo_database):
    limits, frames = demo_database.derive(MotionLimits), np.arange(0, demo_database.frame_count, 97)
    peaks = np.array([limits.find_peak(frame) for frame in frames.tolist()])
    hardest = np.linspace(1.0, 300.0, len(frames))
    for frame, peak in zip(frames.tolist(), peaks, strict=True):
        most = np.maximum(np.minimum(np.maximum(peak, peaks), limits.common_peak), MARGINS.fall)
        leaps = limits.measure_leaps(hardest, frame, frames.tolist())
        np.testing.assert_array_equal(leaps, hardest / most)
    assert peaks.max() > limits.common_peak > peaks.min()
