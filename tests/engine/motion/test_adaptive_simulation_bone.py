"""Adaptive windows: rest stays rest, walking is tracked on time, and steps are smoothed."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.errors import SettingsError
from motion_matching.engine.motion.simulation_bone import (
    PRESETS,
    GroundTrack,
    SimulationBoneSettings,
    smooth_track,
)

FPS = 60.0
ARTICLE, ADAPTIVE = PRESETS["article"], PRESETS["adaptive"]
LONG = SimulationBoneSettings(ADAPTIVE.position_window, 3, ADAPTIVE.direction_window, 3)


def make_walk(
    full: float = 1.3, swing: float = 0.0, sway: float = 0.0
) -> tuple[GroundTrack, np.ndarray]:
    """Make two seconds of standing, a start within 0.6 s, five seconds of walking and a stop, with
    true speeds (F,).

    Steps of half a second change the speed by the share `sway`; strides swing the heading by
    `swing` radians.
    """
    t = np.arange(round(10.2 * FPS)) / FPS
    speed = full * np.interp(t, [2.0, 2.6, 7.6, 8.2], [0.0, 1.0, 1.0, 0.0])
    way = np.cumsum(speed * (1.0 + sway * np.sin(4 * np.pi * t))) / FPS
    yaw = swing * np.sin(2 * np.pi * t) * speed / full
    return GroundTrack(
        np.stack([0.02 * np.sin(2 * np.pi * t) * speed / full, -way], axis=-1), yaw
    ), speed


def make_turn(degrees: float = 180.0, seconds: float = 0.8) -> tuple[GroundTrack, np.ndarray]:
    """Make a turn between two rests, with the true turn rates (F,)."""
    t = np.arange(round(6.0 * FPS)) / FPS
    part = np.clip((t - 3.0) / seconds + 0.5, 0.0, 1.0)
    yaw = np.radians(degrees) * part * part * (3.0 - 2.0 * part)
    return GroundTrack(np.zeros((len(t), 2)), yaw), np.gradient(yaw, 1 / FPS)


def measure_speed(track: GroundTrack) -> np.ndarray:
    return np.linalg.norm(np.gradient(track.positions, 1 / FPS, axis=0), axis=1)


def test_a_standing_character_stays_until_it_starts_walking():
    """Longer windows make the bone leave earlier; the adaptive one leaves no earlier than the
    article's.
    """
    raw, speed = make_walk()
    strays = [
        np.linalg.norm(smooth_track(raw, FPS, s).positions - raw.positions, axis=1)[
            speed == 0
        ].max()
        for s in (ADAPTIVE, ARTICLE, LONG)
    ]
    assert strays[0] < strays[1] < strays[2]
    assert strays[0] < 0.004
    assert strays[0] < 0.3 * strays[2]


def test_walking_starts_and_stops_on_time():
    raw, speed = make_walk(sway=0.15)
    found = measure_speed(smooth_track(raw, FPS, ADAPTIVE))
    for times in (slice(None), slice(None, None, -1)):  # the start, and the stop seen from the end
        true, tracked = (np.argmax(values[times] > 0.65) for values in (speed, found))
        assert abs(int(true) - int(tracked)) <= 0.05 * FPS
    full = speed == speed.max()
    assert found[full].mean() == pytest.approx(1.3, rel=0.01)


def test_steps_are_smoothed_better_than_by_the_article():
    raw, speed = make_walk(swing=np.radians(6.0), sway=0.15)
    walking = speed == speed.max()
    walking[: int(3.6 * FPS)] = walking[int(6.6 * FPS) :] = False  # where whole windows fit
    ripples, swings = [], []
    for settings in (ADAPTIVE, ARTICLE):
        track = smooth_track(raw, FPS, settings)
        ripples.append(measure_speed(track)[walking].std())
        swings.append(np.gradient(track.yaw, 1 / FPS)[walking].std())
    assert ripples[0] < 0.6 * ripples[1]
    assert swings[0] < 0.5 * swings[1]


@pytest.mark.parametrize("degrees", [90.0, -180.0])
def test_a_turn_on_the_spot_keeps_its_speed(degrees: float):
    raw, rate = make_turn(degrees)
    fastest = [
        np.abs(np.gradient(smooth_track(raw, FPS, s).yaw, 1 / FPS)).max() for s in (ADAPTIVE, LONG)
    ]
    assert fastest[0] > 0.9 * np.abs(rate).max()
    assert fastest[1] < 0.75 * np.abs(rate).max()


def test_sharp_turns_are_kept_at_least_as_well_as_by_the_article():
    t = np.arange(round(8.0 * FPS)) / FPS
    part = np.clip((t - 4.0) / 0.8 + 0.5, 0.0, 1.0)
    yaw = np.pi * part * part * (3.0 - 2.0 * part)
    way = np.cumsum(np.stack([np.sin(yaw), -np.cos(yaw)], axis=-1) * 1.4 / FPS, axis=0)
    errors = [
        np.abs(smooth_track(GroundTrack(way, yaw), FPS, s).yaw - yaw).max()
        for s in (ADAPTIVE, ARTICLE, LONG)
    ]
    assert errors[0] <= errors[1] < errors[2]


def test_standing_of_one_changes_nothing_and_zero_keeps_the_raw_track():
    raw, speed = make_walk(swing=0.1, sway=0.1)
    whole = smooth_track(raw, FPS, SimulationBoneSettings(1.0, 3, 2.0, 3, standing=1.0))
    np.testing.assert_array_equal(whole.positions, smooth_track(raw, FPS, LONG).positions)
    none = smooth_track(raw, FPS, SimulationBoneSettings(1.0, 3, 2.0, 3, standing=0.0))
    np.testing.assert_allclose(none.positions[speed == 0], raw.positions[speed == 0], atol=1e-12)
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(SettingsError, match="standing"):
            SimulationBoneSettings(standing=wrong)
