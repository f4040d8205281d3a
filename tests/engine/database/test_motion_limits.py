"""What a jump may do to joints is told by the data around it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.takes import takes


def test_peaks_are_those_of_the_bodies_around_a_frame(demo_database):
    bodies, _ = takes.make_source_bodies(demo_database)
    peaks, reach = demo_database.motion_limits, round(0.5 * demo_database.fps)
    accelerations = bodies[0].acceleration
    for frame in range(0, demo_database.stops.item(0), 37):
        around = accelerations[max(frame - reach, 0) : frame + reach + 1].max()
        far = accelerations[max(frame - 3 * reach, 0) : frame + 3 * reach + 1].max()
        assert 0.999 * around - 1e-3 <= peaks.find_peak(frame) <= 1.001 * far + 1e-3


def test_steps_are_as_hard_in_a_database_of_any_rate(demo_database):
    """Half of the frames tell of the same steps, a frame longer or shorter."""
    hardest = demo_database.motion_limits.hardest_step
    assert 1.0 < hardest < 40.0
    quicker = replace(demo_database, fps=2.0 * demo_database.fps)
    assert quicker.motion_limits.hardest_step == pytest.approx(4.0 * hardest)
    larger = replace(demo_database, contacts=np.zeros_like(demo_database.contacts))
    assert larger.motion_limits.hardest_step == np.inf
