"""Displacement: what each mode guarantees, live and baked."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motion_matching.engine.control import displacement
from motion_matching.engine.control.rollout import simulate
from motion_matching.engine.control.trajectory import SimulationObject
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.performance.intent import FuturePath, Intent
from motion_matching.engine.performance.settings import PerformerSettings, Steering
from motion_matching.engine.takes import takes

DT = 1 / 60


def make_simulation_object(x: float, y: float, yaw: float) -> SimulationObject:
    result = SimulationObject(Steering())
    result.reset(x, y, yaw)
    return result


def place_character(character, object_, velocity=(1.0, 0.0), turn_rate=1.0, **changes):
    settings = PerformerSettings().with_changes(changes)
    object_.apply(settings.steering)
    return displacement.place_character(
        character, (*velocity, turn_rate), object_, settings.coupling, DT
    )


def test_independent_leaves_both_alone():
    object_ = make_simulation_object(1.0, 2.0, 0.5)
    assert place_character((0.0, 0.0, 0.0), object_, displacement="independent", clamp=False) == (
        0.0,
        0.0,
        0.0,
    )
    assert (object_.x, object_.y, object_.yaw) == (1.0, 2.0, 0.5)


@pytest.mark.parametrize("factor", [0.0, 0.25, 1.0])
def test_synchronization_blends_both_positions_by_the_factor(factor):
    object_ = make_simulation_object(1.0, 2.0, 0.5)
    result = place_character(
        (0.0, 0.0, 0.1), object_, displacement="synchronize", synchronization=factor, clamp=False
    )
    np.testing.assert_allclose(result, (factor, 2 * factor, 0.1 + 0.4 * factor))
    np.testing.assert_allclose((object_.x, object_.y, object_.yaw), result)


def test_adjustment_halves_the_distance_in_one_halflife():
    object_, place = make_simulation_object(1.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    for _ in range(12):
        place = place_character(
            place,
            object_,
            displacement="adjust",
            adjust_by_velocity=False,
            clamp=False,
            adjust_position_halflife=0.2,
            adjust_rotation_halflife=0.4,
        )
    np.testing.assert_allclose(place, (0.5, 0.0, 1 - math.sqrt(0.5)), rtol=1e-3)
    assert (object_.x, object_.yaw) == (1.0, 1.0)


def test_adjustment_by_velocity_is_a_share_of_the_characters_motion():
    object_ = make_simulation_object(5.0, 0.0, 3.0)
    x, y, yaw = place_character(
        (0.0, 0.0, 0.0),
        object_,
        velocity=(0.6, 0.8),
        turn_rate=-2.0,
        displacement="adjust",
        clamp=False,
    )
    assert math.hypot(x, y) == pytest.approx(0.5 * 1.0 * DT)
    assert yaw == pytest.approx(0.5 * (2.0 + 1.0 / 0.4) * DT)
    assert place_character(
        (0.0, 0.0, 0.0),
        object_,
        velocity=(0.0, 0.0),
        turn_rate=0.0,
        displacement="adjust",
        clamp=False,
    ) == (0.0, 0.0, 0.0)


def test_adjustment_by_velocity_respects_the_turn_limit():
    object_ = make_simulation_object(0.0, 0.0, 3.0)
    for led, added in ((1.0, 0.5), (1.8, 0.2), (5.0, 0.0), (-1.0, 0.5)):
        _, _, yaw = place_character(
            (0.0, 0.0, 0.0),
            object_,
            (0.0, 0.0),
            led,
            displacement="adjust",
            clamp=False,
            turn_limit=2.0,
        )
        assert yaw == pytest.approx(added * DT)


@pytest.mark.parametrize(("speed", "radius"), [(1.2, 2.0), (3.0, 4.0)])
def test_a_character_stepping_straight_ahead_is_turned_into_the_curve(speed, radius):
    """Follow the curve with its own steps instead of drifting sideways and facing the wrong way."""
    place, faced, behind = (0.0, 0.0, 0.0), [], []
    for tick in range(1, 600):
        angle = speed * tick * DT / radius
        object_ = make_simulation_object(
            radius * (1 - math.cos(angle)), -radius * math.sin(angle), angle
        )
        velocity = speed * math.sin(place[2]), -speed * math.cos(place[2])
        led = place[0] + velocity[0] * DT, place[1] + velocity[1] * DT, place[2]
        place = place_character(led, object_, velocity, 0.0, clamp=False)
        faced.append(abs(math.remainder(place[2] - object_.yaw, math.tau)))
        behind.append(math.dist(place[:2], (object_.x, object_.y)))
    assert max(faced) < math.radians(40.0)
    assert max(behind) < PerformerSettings().coupling.clamp_distance


def test_a_character_that_keeps_up_turns_by_a_share_of_its_own_turn():
    _, _, yaw = place_character(
        (0.0, 0.0, 0.0), make_simulation_object(0.07, 0.0, 3.0), turn_rate=0.5, clamp=False
    )
    assert yaw == pytest.approx(0.5 * 0.5 * DT)


def run_ahead(**changes):
    """Move an object twice as fast as the character behind it steps; return both and the distance
    of the steps.
    """
    object_, place = make_simulation_object(0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for _ in range(120):
        object_.y -= 2.0 * DT
        place = place_character(
            (place[0], place[1] - 1.0 * DT, place[2]), object_, (0.0, -1.0), 0.0, **changes
        )
    return object_, place, 120 * DT


def test_the_object_waits_for_a_character_that_must_not_be_dragged():
    object_, place, steps = run_ahead()
    assert math.dist((object_.x, object_.y), place[:2]) <= 0.15 + 1e-9
    assert -place[1] <= 1.5 * steps + 1e-9
    object_, place, steps = run_ahead(adjust_by_velocity=False)
    assert -place[1] >= 2.0 * steps - 0.15 - 1e-9
    assert object_.y == pytest.approx(-2.0 * steps)


def test_clamping_can_leave_the_object_alone_and_drag_the_character():
    object_, place, steps = run_ahead(object_waits=False)
    assert object_.y == pytest.approx(-2.0 * steps), "it is never held back"
    assert math.dist((object_.x, object_.y), place[:2]) <= 0.15 + 1e-9
    assert -place[1] >= 2.0 * steps - 0.15 - 1e-9


@pytest.mark.parametrize("away", [0.0, 0.1, 5.0])
def test_plain_adjustment_turns_by_a_share_of_the_own_turn_however_late(away):
    for ratio, turn_rate in ((0.5, 0.5), (0.3, -2.0), (1.0, 0.0)):
        object_ = make_simulation_object(away, 0.0, 3.0)
        changes = {"object_waits": False, "adjust_rotation_ratio": ratio, "clamp": False}
        x, _, yaw = place_character((0.0, 0.0, 0.0), object_, turn_rate=turn_rate, **changes)
        assert yaw == pytest.approx(ratio * abs(turn_rate) * DT)
        assert x <= 0.5 * 1.0 * DT + 1e-12


@pytest.mark.slow
def test_the_object_goes_exactly_as_steered_if_it_does_not_wait(demo_database, settings):
    script = {"gait": "run", "seconds": 20.0, "seed": 0}
    ways = []
    for waits in (True, False):
        changed = settings.with_changes({"object_waits": waits})
        wanted = takes.prepare_performance(demo_database, changed, "flips", **script)
        take = takes.perform(demo_database, changed, wanted)
        alone = simulate(take.performance, changed, take.fps)
        ways.append(np.abs(take.simulation - alone)[:, :2].max())
        apart = np.linalg.norm((take.character - take.simulation)[:, :2], axis=1)
        assert apart.max() <= changed.coupling.clamp_distance + 1e-6
    assert ways[1] < 1e-9
    assert ways[0] > 0.01, "it waits otherwise"


@pytest.mark.parametrize(("catch_up", "left"), [(0.1, 0.0), (0.0, 0.4)])
def test_an_object_makes_up_for_waiting_while_it_moves(catch_up, left):
    settings = PerformerSettings(steering=Steering(catch_up=catch_up))
    object_, ideal = (SimulationObject(settings.steering) for _ in range(2))
    for each in (object_, ideal):
        each.reset(0.0, 0.0, 0.0)
    speeds = []

    def step(intent, ticks):
        for _ in range(ticks):
            x, y = object_.x, object_.y
            for each in (object_, ideal):
                each.steer(intent, DT)
                each.step(DT)
            speeds.append(math.hypot(object_.x - x, object_.y - y) / DT)

    walking, standing = Intent(velocity=(1.0, 0.0)), Intent()
    step(walking, 120)
    object_.wait_for(object_.x - 0.5, object_.y, 0.1)
    assert ideal.x - object_.x == pytest.approx(0.4)
    step(standing, 180)
    assert speeds[-1] < 1e-3, "it stands where it is"
    step(walking, 600)
    assert ideal.x - object_.x == pytest.approx(left, abs=0.005)
    assert max(speeds) <= 1.0 + catch_up + 1e-6
    turned = Intent(velocity=(0.0, -1.0))
    step(turned, 60)
    assert ideal.y == pytest.approx(object_.y, abs=0.005)


def test_an_object_on_a_path_does_not_wait():
    object_ = make_simulation_object(0.0, -1.0, 0.0)
    path = FuturePath((0.0, 1.0), ((0.0, -1.0), (0.0, -2.0)), (0.0, 0.0))
    object_.steer(Intent(path=path), DT)
    place = place_character((0.0, 0.0, 0.0), object_)
    assert (object_.x, object_.y) == (0.0, -1.0)
    assert math.dist((object_.x, object_.y), place[:2]) <= 0.15 + 1e-9


def test_the_turn_of_a_fading_jump_stays_within_the_limit_or_the_data():
    rng = np.random.default_rng(5)
    for turn, offset, swing in rng.uniform(-4, 4, (300, 3)):
        held = displacement.limit_fading_turn(turn, offset, swing, 2.0)
        assert abs(held + swing) <= max(2.0, abs(turn)) + 1e-9
        if abs(turn + offset + swing) <= max(2.0, abs(turn)):
            assert held == turn + offset


def test_clamping_limits_distance_and_angle():
    rng = np.random.default_rng(2)
    for _ in range(200):
        x, y, yaw = rng.uniform(-3, 3, 3)
        object_ = make_simulation_object(*rng.uniform(-3, 3, 2), rng.uniform(-10, 10))
        place = place_character((x, y, yaw), object_, displacement="independent", clamp=True)
        assert math.hypot(place[0] - object_.x, place[1] - object_.y) <= 0.15 + 1e-9
        assert abs(math.remainder(place[2] - object_.yaw, math.tau)) <= math.pi / 2 + 1e-9


def test_clamping_leaves_a_nearby_character_alone():
    object_ = make_simulation_object(0.0, 0.0, 0.0)
    assert place_character((0.1, 0.05, 1.0), object_, displacement="independent", clamp=True) == (
        0.1,
        0.05,
        1.0,
    )


def test_an_unknown_mode_is_refused():
    with pytest.raises(SettingsError, match="displacement"):
        PerformerSettings().with_changes({"displacement": "glue"})
