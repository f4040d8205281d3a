"""Shots of performances: their way, from any of their ticks on."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching import api
from motion_matching.engine.direct.shot.from_performance import build_shot
from motion_matching.engine.takes.takes import make_default_settings


@pytest.fixture(scope="module")
def performance():
    turns = 0.5 * np.arange(150) / 30.0
    velocities = 1.2 * np.column_stack([np.sin(turns), -np.cos(turns)])
    gaits = np.where(np.arange(150) < 20, 1.0, 0.0)
    return api.make_performance(velocities, gaits=gaits, position=(2.0, 1.0), facing=0.3)


def test_a_shot_begins_after_the_ticks_that_led_into_a_recording(performance, walking):
    settings = make_default_settings(walking)
    whole, rest = (build_shot(performance, settings, skipped) for skipped in (0, 30))
    assert whole.position == (2.0, 1.0)
    assert (whole.gait, rest.gait) == ("run", "walk")
    assert whole.seconds - rest.seconds == pytest.approx(1.0)
    assert rest.paths[0].times[0] == 0.0
    assert rest.position == pytest.approx(whole.paths[0].positions[10])
    assert rest.facing == pytest.approx(whole.paths[0].yaws[10])
    assert rest.paths[0].positions == pytest.approx(np.array(whole.paths[0].positions[10:]))
