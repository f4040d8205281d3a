"""Characters climb ramps and stairs: live, baked, with and without clips that climb."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.facts.character import measure_character_legs
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.ground.footholds import find_foothold
from motion_matching.engine.ground.ground import FLAT, follow_floor, follow_steps
from motion_matching.engine.ground.ground_ahead import ClimbSpeeds, list_times, measure_rises
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.takes import baking, takes
from tests.demo import load_climbing, load_few
from tests.floors import Floor

RISER, TREAD, STEPS, TOP = 0.17, 0.29, 7, 2.5
BEGIN = 3.0  # metres ahead at which the ground begins to rise
END = BEGIN + 2 * STEPS * TREAD + TOP


def rise_evenly(ahead: float, slope: float = 0.4) -> float:
    top = BEGIN + 3.0
    return slope * float(np.interp(ahead, [BEGIN, top, top + TOP, top + TOP + 3.0], [0, 3, 3, 0]))


def rise_by_steps(ahead: float) -> float:
    up = math.floor((ahead - BEGIN) / TREAD) + 1
    down = math.floor((ahead - BEGIN - STEPS * TREAD - TOP) / TREAD) + 1
    return RISER * max(min(up, STEPS, STEPS - down), 0.0)


@cache
def walk_over(name: str, clips: str, foot_lock: bool = True) -> tuple[Take, Take]:
    """Return the live and the baked take of a walk straight ahead over a ground, and a stop."""
    data = load(clips)
    ticks, still = round(22 * data.fps), round(0.5 * data.fps)
    walk = [Intent(move=(0.0, -1.0))] * (ticks - 6 * still)
    intents = [Intent()] * still + walk + [Intent()] * (5 * still)
    floor = Floor({"ramp": rise_evenly, "stairs": rise_by_steps}[name])
    performance = Performance("climb", data.fps, tuple(intents), floor=floor)
    take = takes.perform(data, takes.make_default_settings(data), performance)
    return take, baking.bake_feet(take, data)


def load(clips: str) -> Database:
    return load_climbing() if clips == "climbing" else load_few()


def measure_feet(take: Take, data: Database) -> tuple[np.ndarray, np.ndarray]:
    """Return how high toes (T, L) are above where they would stand, and their places (T, L, 3)."""
    toes = baking.compute_toe_positions(take.poses, data).astype(float)
    floor = take.performance.floor
    below = np.array([[floor.height(x, y) for x, y, _ in row] for row in toes.tolist()])
    return toes[..., 2] - below - data.derive(measure_character_legs)[0].toe_height, toes


def find_slope(take: Take) -> np.ndarray:
    """Return whether the ground rises or falls within half a metre of the body (T,)."""
    floor = take.performance.floor.profile
    return np.array(
        [
            max(abs(floor(-y + off) - floor(-y)) for off in (-0.4, 0.4)) > 0.05
            for _, y, _ in take.character.tolist()
        ]
    )


def find_climbing_frames(take: Take, data: Database) -> np.ndarray:
    """Return whether the ground of the frames played (T,) rises or falls."""
    return np.abs(np.gradient(data.ground)[take.frames] * data.fps) > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("clips", ["level", "climbing"])
def test_a_character_gets_over_a_steep_ramp(clips):
    """A walk takes steps of 0.3 m of height on it, more than a foot steps up at once."""
    data = load(clips)
    for take in walk_over("ramp", clips):
        above, _ = measure_feet(take, data)
        assert above.min() > -0.01
        assert -take.character[-1, 1] > BEGIN + 6.0 + TOP
        height = take.poses[:, 2, 0] - [
            take.performance.floor.height(*xy) for xy in take.character[:, :2]
        ]
        assert np.abs(height).max() < 0.25


@pytest.mark.slow
@pytest.mark.parametrize("clips", ["level", "climbing"])
def test_no_foot_passes_far_through_a_stair(clips):
    for take in walk_over("stairs", clips):
        above, _ = measure_feet(take, load(clips))
        assert above.min() > -0.04


@pytest.mark.parametrize("name", ["ramp", "stairs"])
def test_clips_that_climb_play_where_the_ground_rises_or_falls_alone(name):
    take, _ = walk_over(name, "climbing")
    climbs, slope = find_climbing_frames(take, load_climbing()), find_slope(take)
    assert climbs[slope].mean() > 0.8
    assert climbs[~slope].mean() < 0.1


def test_what_plays_on_a_slope_climbs_as_it_does():
    data = load_climbing()
    take, _ = walk_over("ramp", "climbing")
    rate = np.gradient(data.ground)[take.frames] * data.fps
    true = np.gradient(take.poses[:, 2, 0]) * data.fps
    up, down = true > 0.15, true < -0.15
    assert (rate[up] > 0.0).mean() > 0.9
    assert (rate[down] < 0.0).mean() > 0.9


@pytest.mark.parametrize("name", ["ramp", "stairs"])
def test_baked_feet_stand_on_the_ground(name):
    data = load_climbing()
    _, baked = walk_over(name, "climbing")
    above, toes = measure_feet(baked, data)
    planted = baked.locked
    low, high = np.percentile(above[planted], (2, 95))
    assert low > -0.005
    assert high < 0.01
    steps = np.linalg.norm(np.diff(toes[..., :2], axis=0), axis=-1) * data.fps
    assert steps[planted[1:] & planted[:-1]].mean() < 0.01


def test_no_edge_is_under_the_middle_of_a_baked_foot():
    data = load_climbing()
    _, baked = walk_over("stairs", "climbing")
    floor, legs = baked.performance.floor, data.roles.legs
    _, joints = quat.compute_world(baked.poses.astype(float), data.skeleton.parents)
    stances, over = 0, 0
    for number, leg in enumerate(legs):
        for tick in np.flatnonzero(np.diff(baked.locked[:, number].astype(int)) == 1) + 1:
            toe, ankle = joints[tick, leg.toe], joints[tick, leg.foot]
            middle = toe + 0.4 * (ankle - toe)
            stances += 1
            over += abs(floor.height(*middle[:2]) - floor.height(*toe[:2])) > 0.05
    assert stances > 20
    assert over <= 0.05 * stances


def test_the_body_goes_along_the_slope_through_the_treads():
    take, _ = walk_over("stairs", "climbing")
    height = take.poses[:, 2, 0]
    climb = np.gradient(height) * take.fps
    assert np.abs(np.diff(climb)).max() < 0.35  # no treads in it: a riser a tick would be 5 m/s
    up = (-take.character[:, 1] > BEGIN + 0.5) & (
        -take.character[:, 1] < BEGIN + STEPS * TREAD - 0.5
    )
    line = RISER / TREAD * (-take.character[up, 1] - BEGIN) + 0.5 * RISER
    assert np.abs(height[up] - line).max() < 0.12


def test_a_character_is_as_slow_on_stairs_as_its_clips():
    take, _ = walk_over("stairs", "climbing")
    speed = np.linalg.norm(np.gradient(take.character[:, :2], axis=0), axis=-1) * take.fps
    ahead = -take.character[:, 1]
    on_stairs = (ahead > BEGIN + 0.5) & (ahead < BEGIN + STEPS * TREAD - 0.3)
    on_level = (ahead > 1.0) & (ahead < BEGIN - 1.2)
    assert 0.3 < np.median(speed[on_stairs]) < 0.65
    assert np.median(speed[on_level]) > 0.9


@pytest.mark.slow
def test_a_field_plays_what_is_on_level_ground():
    data = load_climbing()
    performance = takes.prepare_performance(
        data, takes.make_default_settings(data), "random", gait="walk", seconds=8.0, seed=1
    )
    settings = takes.make_default_settings(data)
    take = takes.perform(data, settings, performance, controller=FieldController())
    assert not data.climbs[take.frames].any()


# ---------------------------------------------------------------- the ground ahead


def look(floor, speed: float, times, below: float = 0.0) -> list[float]:
    points = [(0.0, -speed * time) for time in list_times(times)]
    return measure_rises(floor, points, times, below)


@pytest.mark.parametrize("times", [(0.33, 0.67, 1.0), (-1.0, -0.5, 0.5)])
def test_the_rise_of_a_plane_is_exact(times):
    rises = look(Floor(lambda ahead: 0.3 * ahead), 1.5, times)
    np.testing.assert_allclose(rises, [0.45 * time for time in times], atol=1e-9)


def test_stairs_rise_as_a_slope_does():
    floor = Floor(lambda ahead: RISER * math.floor(ahead / TREAD))
    for start in np.linspace(0.0, TREAD, 7):
        shifted = Floor(lambda ahead, start=start: floor.profile(ahead + start))
        (rise,) = look(shifted, 0.58, (1.0,), floor.profile(start))
        assert rise == pytest.approx(2 * RISER, abs=0.4 * RISER)


def test_a_table_ahead_is_no_rise():
    floor = Floor(lambda ahead: 0.75 if ahead > 0.5 else 0.0)
    assert look(floor, 1.0, (0.33, 0.67, 1.0)) == [0.0, 0.0, 0.0]


def test_speeds_on_a_slope_are_those_of_the_most_alike():
    speeds = ClimbSpeeds((-0.5, 0.2, 0.6), (0.4, 1.0, 0.5))
    assert speeds.find_most(0.01, 1.0) == math.inf
    assert speeds.find_most(0.25, 1.0) == 1.0
    assert speeds.find_most(0.9, 1.0) == 0.5
    assert speeds.find_most(-0.3, 1.0) == 0.4


# ---------------------------------------------------------------- feet and floors


def test_a_body_follows_stairs_and_not_onto_a_table():
    points = np.column_stack([np.zeros(60), -np.linspace(0.0, 6.0, 60)])
    stairs = follow_floor(Floor(rise_by_steps), points)[:, 2]
    np.testing.assert_allclose(stairs, [rise_by_steps(-y) for _, y in points])
    table = follow_floor(Floor(lambda ahead: 0.75 if ahead > 2.0 else 0.0), points)[:, 2]
    assert not table.any()
    assert not follow_floor(FLAT, points)[:, 2].any()


def test_a_foot_in_the_air_has_the_ground_on_the_line_between_its_stances():
    toe = np.column_stack([np.linspace(0.0, 1.0, 11), np.zeros(11)])
    found = follow_steps(toe, [(0, 3, 0.2), (8, 11, 0.7)], np.zeros(11))
    np.testing.assert_allclose(found[:3], 0.2)
    np.testing.assert_allclose(found[8:], 0.7)
    np.testing.assert_allclose(found[3:8], 0.2 + 0.5 * np.arange(1, 6) / 6.0)
    np.testing.assert_array_equal(follow_steps(toe, [], np.arange(11.0)), np.arange(11.0))


@pytest.mark.parametrize("start", np.linspace(0.0, TREAD, 13, endpoint=False))
def test_a_foot_finds_room_on_a_tread(start):
    """From heel to tip it is neither in a riser nor, in its middle, over an edge."""
    for sign in (1.0, -1.0):
        floor = Floor(lambda ahead, sign=sign: sign * RISER * math.floor(ahead / TREAD))
        toe, ankle = (0.0, -start), (0.0, -start + 0.14)
        dx, dy = find_foothold(floor, toe, ankle, 0.5, (*toe, floor.height(*toe)))
        assert dx == 0.0
        assert abs(dy) <= 0.16
        ahead = start - dy
        tread = floor.profile(ahead)
        foot = [floor.profile(ahead + part) for part in (-0.14, 0.07)]
        assert max(foot) <= tread + 1e-9
        assert floor.profile(ahead - 0.07) == tread
        assert floor.profile(ahead + 0.019) == tread  # a toe at the very edge would be over it


def test_a_wall_is_no_tread():
    floor = Floor(lambda ahead: 1.0 if ahead > 0.3 else 0.0)
    for ahead in (0.2, 0.28, 0.32):
        toe, ankle = (0.0, -ahead), (0.0, -ahead + 0.14)
        assert find_foothold(floor, toe, ankle, 0.5, (0.0, 0.0, 0.0)) == (0.0, 0.0)


def test_a_foot_on_a_ramp_or_on_the_level_stays():
    for slope in (0.0, 0.5, -0.5):
        floor = Floor(lambda ahead, slope=slope: slope * ahead)
        body = (0.0, 0.0, 0.0)
        assert find_foothold(floor, (0.0, 0.0), (0.0, 0.14), 0.5, body) == (0.0, 0.0)
