"""Motion that is played faster or slower so that it goes as fast as it is asked to."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from building.locomotion.locomotion import Move, perform
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.matching.moments import Moment, Moments
from motion_matching.engine.matching.numbers import NUMBERS
from motion_matching.engine.maths.planar import rotate_xy
from motion_matching.engine.motion.margins import MARGINS
from motion_matching.engine.performance import performance as performances
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.performance.settings import PerformerSettings, Search
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import baking, metrics, takes
from tests.engine.scripted import perform_script

SLOW, FAST = 1.2, 1.6  # m/s of the only two walks
BETWEEN = 1.38
MOST = 15.0
BEGUN = 4.0  # seconds after which a character walks at one speed


@cache
def build_walks(fps: float = 30.0) -> Database:
    """Return a database of two walks straight on."""
    clips = [
        perform(f"walk_{speed}", [Move(15.0, speed)], 30.0, np.random.default_rng(seed))
        for seed, speed in enumerate((SLOW, FAST))
    ]
    sources = [Source(clip=clip) for clip in clips]
    return build(sources, BuildSettings(mirror=True, fps=fps))[0]


@cache
def walk(speed: float, tempo: float, fps: float = 30.0) -> Take:
    """Perform a walk straight on for 12 s."""
    database = build_walks(fps)
    settings = takes.make_default_settings(database).with_changes({"tempo": tempo})
    intents = (Intent(velocity=(0.0, -speed)),) * round(12.0 * fps)
    return takes.perform(database, settings, Performance("walk", fps, intents))


def measure_played_speed(take: Take) -> float:
    """Return how fast in m/s the motion that is played leads a character, once it walks."""
    own = slice(round(BEGUN * take.fps), None)
    steps = take.apart[own, :2] * take.fps
    object_speed = -np.diff(take.simulation[own, 1]).mean() * take.fps
    return float(object_speed + steps[:, 1].mean())


def measure_slide(take: Take, poses: np.ndarray) -> float:
    """Return how fast in m/s toes in contact move in poses (T, 7, B), once the character walks."""
    database = build_walks(take.fps)
    floors = metrics.measure_toe_floors(takes.make_source_bodies(database)[0])
    body = baking.make_body(poses, take.character, database)
    frames = metrics.Frames.from_body(body, take.contacts, floors)
    own = slice(round(BEGUN * take.fps), None)
    return float(frames.toe_speeds[own][frames.contacts[own]].mean())


@pytest.mark.parametrize("speed", [1.1, BETWEEN, 1.5, 1.75])
def test_motion_goes_at_speeds_that_no_clip_has(speed):
    off = [abs(measure_played_speed(walk(speed, tempo)) / speed - 1.0) for tempo in (0.0, MOST)]
    assert off[1] < 0.03
    assert off[0] > 2.0 * off[1], "without, clips that are too slow or too fast are played"


def test_feet_slide_less_and_nothing_pops():
    before, after = walk(BETWEEN, 0.0), walk(BETWEEN, MOST)
    free = [measure_slide(take, take.unlocked_poses) for take in (before, after)]
    assert free[1] < 0.5 * free[0]
    locked = [measure_slide(take, take.poses) for take in (before, after)]
    assert locked[1] < locked[0] + 0.001
    played = metrics.measure_frames(takes.find_played_frames(after, build_walks()))
    body = baking.make_body(after.poses, after.character, build_walks())
    assert body.acceleration.max() < MARGINS.pop * played["acceleration_max"]


def test_a_bake_plants_feet_of_motion_at_another_tempo():
    take = walk(BETWEEN, MOST)
    baked = baking.bake_feet(take, build_walks())
    assert measure_slide(take, baked.poses) < 0.005


@pytest.mark.parametrize("speed", [SLOW, FAST])
def test_motion_that_is_as_fast_as_asked_is_played_as_captured(speed):
    take = walk(speed, MOST)
    assert np.all(take.rates[round(BEGUN * take.fps) :] == 1.0)


def test_standing_and_turning_are_as_without_a_tempo():
    database = build_walks()
    intents = [*[Intent()] * 60, *[Intent(facing=1.5)] * 90, *[Intent(facing=-1.5)] * 90]
    settings = takes.make_default_settings(database)
    performance = Performance("turn", 30.0, tuple(intents))
    a, b = (
        takes.perform(database, settings.with_changes({"tempo": tempo}), performance)
        for tempo in (0.0, MOST)
    )
    assert a.poses.tobytes() == b.poses.tobytes()
    assert np.all(b.rates == 1.0)
    assert not b.shares.any()


def test_the_rate_stays_within_its_bounds_and_changes_smoothly(demo_database):
    take = perform_script(demo_database, "random", seconds=20.0, seed=3, tempo=10.0)
    assert take.rates.min() >= 1.0 / 1.1 - 1e-6
    assert take.rates.max() <= 1.1 + 1e-6
    assert np.ptp(take.rates) > 0.05
    assert np.abs(np.diff(take.rates)).max() <= NUMBERS.tempo_change / take.fps + 1e-6
    assert np.abs(take.shares).max() <= 0.5


def test_a_recorded_performance_plays_at_the_same_tempo():
    take = walk(BETWEEN, MOST)
    text = performances.to_json(take.performance)
    again = performances.from_json(text, "text")
    settings = PerformerSettings().with_changes(take.settings)
    other = takes.perform(build_walks(), settings, again)
    assert other.poses.tobytes() == take.poses.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("fps", [24.0, 60.0, 120.0])
def test_other_frame_rates_go_as_fast_at_the_same_rate(fps):
    expected, take = walk(BETWEEN, MOST), walk(BETWEEN, MOST, fps)
    assert measure_played_speed(take) == pytest.approx(BETWEEN, rel=0.03)
    rates = [each.rates[round(BEGUN * each.fps) :] for each in (expected, take)]
    both = [min(abs(rate.mean() - 0.875), abs(rate.mean() - 1.145)) for rate in rates]
    assert max(both) < 0.03, "the slow walk is played faster, or the fast one slower"
    without = walk(BETWEEN, 0.0, fps)
    assert measure_slide(take, take.poses) < measure_slide(without, without.poses) + 0.005


@pytest.mark.parametrize("rate", [1.0 / 1.15, 0.95, 1.15])
def test_a_rate_leads_the_same_way_as_the_data(demo_database, rate):
    method = MotionMatching(demo_database, PerformerSettings())
    moments, start = method._moments, int(demo_database.starts[2]) + 60
    moment, (x, y, yaw) = Moment(start), (0.0, 0.0, 0.0)
    for tick in range(1, 60):
        moment, (vx, vy, turn) = moments.go_on(moment, rate)
        dx, dy = rotate_xy(vx / 30.0, vy / 30.0, yaw)
        x, y, yaw = x + dx, y + dy, yaw + turn / 30.0
        assert moment.frame + moment.share == pytest.approx(start + tick * rate)
    track, at = demo_database.track[start:], moment.frame + moment.share - start
    expected = [np.interp(at, np.arange(len(track)), column - column[0]) for column in track.T]
    place = rotate_xy(expected[0], expected[1], -float(track[0, 2]))
    assert (x, y, yaw) == pytest.approx((*place, expected[2]), abs=2e-3)


@pytest.mark.parametrize("rate", [1.0 / 1.15, 1.0, 1.15])
@pytest.mark.parametrize("share", [0.0, 0.3, -0.3])
def test_toes_land_and_leave_when_they_are_said_to(demo_database, rate, share):
    moments: Moments = MotionMatching(demo_database, PerformerSettings())._moments
    moment, said, stands = Moment(int(demo_database.starts[2]) + 60, share), [], []
    for _ in range(60):
        moment, root = moments.go_on(moment, rate)
        said.append(moments.get_toes(moment, rate, root, False).rows[:, 4:6] * 30.0)
        stands.append(moments.get_contacts(moment))
    for tick, leg in np.ndindex(40, 2):
        coming = [bool(later[leg]) for later in stands[tick:]]
        stays, until = said[tick][leg].tolist()
        if coming[0]:
            assert stays == pytest.approx(coming.index(False) if False in coming else stays)
        else:
            assert stays == 0.0
            assert until == pytest.approx(coming.index(True) if True in coming else until)


def test_a_tempo_is_a_percentage_up_to_fifteen():
    assert PerformerSettings(search=Search(tempo=15.0)).search.tempo == 15.0
    for wrong in (-1.0, 15.1, math.nan):
        with pytest.raises(SettingsError, match="tempo"):
            PerformerSettings(search=Search(tempo=wrong))
