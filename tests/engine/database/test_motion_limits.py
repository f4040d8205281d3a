"""What a jump may do to joints is told by the data around it."""

from __future__ import annotations

from motion_matching.engine.takes import takes


def test_peaks_are_those_of_the_bodies_around_a_frame(demo_database):
    bodies, _ = takes.make_source_bodies(demo_database)
    peaks, reach = demo_database.motion_limits, round(0.5 * demo_database.fps)
    accelerations = bodies[0].acceleration
    for frame in range(0, demo_database.stops.item(0), 37):
        around = accelerations[max(frame - reach, 0) : frame + reach + 1].max()
        far = accelerations[max(frame - 3 * reach, 0) : frame + 3 * reach + 1].max()
        assert 0.999 * around - 1e-3 <= peaks.find_peak(frame) <= 1.001 * far + 1e-3
