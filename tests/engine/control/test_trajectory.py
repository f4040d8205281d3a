"""The simulation object: its springs, its prediction, and desired velocities that turn with the
heading.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from building.benchmarks import naive_springs
from motion_matching.engine.control.trajectory import (
    PastTrajectory,
    SimulationObject,
    choose_prediction,
    compute_desired_velocity,
)
from motion_matching.engine.ground.ground import Box, Boxes
from motion_matching.engine.maths import springs
from motion_matching.engine.maths.planar import rotate_xy, wrap
from motion_matching.engine.performance.intent import FuturePath, Intent
from motion_matching.engine.performance.settings import PerformerSettings, Speeds, Steering

SETTINGS = PerformerSettings(
    steering=Steering(walk=Speeds(2.0, 1.5, 1.0), run=Speeds(4.0, 3.0, 2.0))
)
DT = 1 / 60


def steer(
    intent: Intent, seconds: float, settings: PerformerSettings = SETTINGS
) -> SimulationObject:
    simulation = SimulationObject(settings.steering)
    for _ in range(round(seconds / DT)):
        simulation.steer(intent, DT)
        simulation.step(DT)
    return simulation


@pytest.mark.parametrize("yaw", [0.0, 1.0, -2.5])
@pytest.mark.parametrize(
    ("local", "speed"), [((0, -1), 2.0), ((1, 0), 1.5), ((-1, 0), 1.5), ((0, 1), 1.0)]
)
def test_full_speed_depends_on_the_direction_relative_to_the_heading(yaw, local, speed):
    velocity = compute_desired_velocity(rotate_xy(*local, yaw), yaw, 2.0, 1.5, 1.0)
    np.testing.assert_allclose(velocity, np.array(rotate_xy(*local, yaw)) * speed, atol=1e-12)


def test_moving_forward_reaches_full_speed_and_faces_the_movement():
    simulation = steer(Intent(move=rotate_xy(0.0, -1.0, 1.2)), 4.0)
    np.testing.assert_allclose(
        (simulation.vx, simulation.vy), np.array(rotate_xy(0, -2.0, 1.2)), atol=1e-3
    )
    assert abs(wrap(simulation.yaw - 1.2)) < 1e-3


def test_moving_sideways_strafes_at_the_side_speed():
    simulation = steer(Intent(move=(1.0, 0.0), facing=0.0), 4.0)
    np.testing.assert_allclose((simulation.vx, simulation.vy), (1.5, 0.0), atol=1e-3)
    assert abs(simulation.yaw) < 1e-6


def test_without_strafing_it_faces_where_it_moves_until_it_stands():
    settings = SETTINGS.with_changes({"strafe": False})
    simulation = steer(Intent(move=(1.0, 0.0), facing=0.0), 4.0, settings)
    np.testing.assert_allclose((simulation.vx, simulation.vy), (2.0, 0.0), atol=1e-2)
    assert simulation.yaw == pytest.approx(math.pi / 2, abs=1e-2)
    assert steer(Intent(facing=1.0), 4.0, settings).yaw == pytest.approx(1.0, abs=1e-2)


def test_gait_blends_to_running_speeds():
    simulation = steer(Intent(move=(0.0, -1.0), gait=1.0), 4.0)
    assert math.hypot(simulation.vx, simulation.vy) == pytest.approx(4.0, abs=1e-2)


def test_a_push_carries_as_far_as_the_spring_allows():
    """From rest the velocity decays as v0 (1 + y t) exp(-y t), which covers 2 v0 / y."""
    simulation = SimulationObject(SETTINGS.steering)
    for tick in range(600):
        simulation.steer(Intent(push=(1.5, -0.5)) if tick == 0 else Intent(), DT)
        simulation.step(DT)
    way = 2.0 / (springs.halflife_to_damping(SETTINGS.steering.velocity_halflife) / 2.0)
    np.testing.assert_allclose((simulation.x, simulation.y), (1.5 * way, -0.5 * way), atol=1e-3)
    np.testing.assert_allclose((simulation.vx, simulation.vy), 0.0, atol=1e-3)


def test_changed_speeds_apply_at_once():
    simulation = steer(Intent(move=(0.0, -1.0)), 4.0)
    simulation.apply(SETTINGS.with_changes({"walk": Speeds(1.0, 1.0, 1.0)}).steering)
    for _ in range(240):
        simulation.steer(Intent(move=(0.0, -1.0)), DT)
        simulation.step(DT)
    assert math.hypot(simulation.vx, simulation.vy) == pytest.approx(1.0, abs=1e-3)


def test_turns_and_their_prediction_respect_the_turn_limit():
    settings = PerformerSettings(steering=Steering(turn_limit=1.5))
    simulation = SimulationObject(settings.steering)
    simulation.steer(Intent(facing=3.0), DT)
    assert simulation.predict([0.5, 1.0])[1].yaw <= 1.5 + 1e-9
    before = 0.0
    for _ in range(60):
        simulation.step(DT)
        assert simulation.yaw - before <= 1.5 * DT + 1e-9
        before = simulation.yaw


def test_an_exact_velocity_is_used_unchanged():
    simulation = steer(Intent(velocity=(0.3, 0.4)), 4.0)
    np.testing.assert_allclose((simulation.vx, simulation.vy), (0.3, 0.4), atol=1e-3)


def test_movement_follows_the_character_spring():
    simulation = SimulationObject(SETTINGS.steering)
    simulation.steer(Intent(velocity=(1.0, -0.5), facing=0.0), DT)
    x, v, a = np.zeros(2), np.zeros(2), np.zeros(2)
    for _ in range(30):
        simulation.step(DT)
        x, v, a = naive_springs.advance_character_spring(x, v, a, np.array([1.0, -0.5]), 0.27, DT)
    np.testing.assert_allclose((simulation.x, simulation.y), x, rtol=1e-9)
    np.testing.assert_allclose((simulation.vx, simulation.vy), v, rtol=1e-9)


def test_the_prediction_comes_true_while_the_intent_stays_the_same():
    simulation = SimulationObject(SETTINGS.steering)
    intent = Intent(velocity=(1.0, 1.0), facing=2.0)
    simulation.steer(intent, DT)
    predicted = simulation.predict([0.25, 0.5, 1.0])
    for tick in range(1, 61):
        simulation.steer(intent, DT)
        simulation.step(DT)
        if tick in (15, 30, 60):
            point = predicted[(15, 30, 60).index(tick)]
            np.testing.assert_allclose(
                (simulation.x, simulation.y, simulation.yaw), point[:3], atol=1e-9
            )


EVEN = SETTINGS.with_changes({"prediction": "horizon"})


def test_an_even_prediction_is_the_decay_that_ends_at_the_horizon():
    """As in article 004: each step takes the share dt / (horizon - t) of what is left."""
    simulation = steer(Intent(velocity=(0.5, -1.0), facing=0.4), 0.3, EVEN)
    simulation.steer(Intent(velocity=(-1.2, 0.3), facing=2.0), DT)
    predicted = choose_prediction(EVEN.as_published, DT)(simulation, [0.25, 0.5, 1.0])
    x, v = np.array([simulation.x, simulation.y]), np.array([simulation.vx, simulation.vy])
    yaw, steps = simulation.yaw, 20_000
    for step in range(steps):
        share = 1.0 / (steps - step)
        x = x + v / steps
        v, yaw = v + share * ([-1.2, 0.3] - v), yaw + share * wrap(2.0 - yaw)
        if step + 1 in (steps // 4, steps // 2, steps):
            point = predicted[(steps // 4, steps // 2, steps).index(step + 1)]
            np.testing.assert_allclose(point[:5], [*x, yaw, *v], atol=2e-4)
    np.testing.assert_allclose(predicted[-1][2:5], [2.0, -1.2, 0.3], atol=1e-9)


def test_an_even_prediction_does_not_change_how_the_object_moves():
    intent = Intent(velocity=(1.0, 1.0), facing=2.0)
    ours, springs_alone = (steer(intent, 0.7, settings) for settings in (EVEN, SETTINGS))
    assert (ours.x, ours.y, ours.yaw) == (springs_alone.x, springs_alone.y, springs_alone.yaw)


def test_an_even_prediction_stays_outside_obstacles_and_turns_within_the_limit():
    wall = Boxes((Box((0.0, -1.0), (4.0, 0.4)),))
    simulation = SimulationObject(EVEN.with_changes({"turn_limit": 1.0}).steering, wall)
    simulation.steer(Intent(velocity=(0.3, -3.0), facing=2.5), DT)
    points = choose_prediction(EVEN.as_published, DT)(simulation, [0.2, 0.4, 0.6, 0.8, 1.0])
    assert min(point[1] for point in points) > -0.8 + SETTINGS.steering.collision_radius - 1e-3
    assert points[-1][0] > 0.1, "it slides along"
    assert points[-1][2] == pytest.approx(1.0)


def test_the_prediction_uses_the_desired_velocity_at_each_heading():
    """Moving back while facing the movement is slow at first, and at full speed once the character
    has turned.
    """
    simulation = SimulationObject(SETTINGS.steering)
    simulation.steer(Intent(move=(0.0, 1.0)), DT)
    near, far = simulation.predict([0.5, 3.0])
    assert math.hypot(simulation.desired_vx, simulation.desired_vy) == pytest.approx(1.0)
    assert math.hypot(far.vx, far.vy) > 1.3 * math.hypot(near.vx, near.vy)


def test_movement_does_not_depend_on_the_initial_heading():
    for move in [(0.0, -1.0), (0.6, 0.2)]:
        plain = SimulationObject(SETTINGS.steering)
        turned_one = SimulationObject(SETTINGS.steering)
        turned_one.reset(0.0, 0.0, 2.0)
        for _ in range(40):
            plain.steer(Intent(move=move), DT)
            turned_one.steer(Intent(move=rotate_xy(*move, 2.0)), DT)
            plain.step(DT)
            turned_one.step(DT)
        np.testing.assert_allclose(
            rotate_xy(plain.x, plain.y, 2.0), (turned_one.x, turned_one.y), atol=1e-9
        )
        assert abs(wrap(turned_one.yaw - plain.yaw - 2.0)) < 1e-9


def test_stop_factor_shortens_only_the_stop():
    quick = SETTINGS.with_changes({"stop_factor": 0.5})
    speeds = []
    for settings in (SETTINGS, quick):
        simulation = steer(Intent(move=(0.0, -1.0)), 3.0, settings)
        assert math.hypot(simulation.vx, simulation.vy) == pytest.approx(2.0, abs=0.01)
        for _ in range(15):
            simulation.steer(Intent(), DT)
            simulation.step(DT)
        speeds.append(math.hypot(simulation.vx, simulation.vy))
    assert speeds[1] < 0.6 * speeds[0]


def turn_around(settings: PerformerSettings, facing: float | None = None) -> np.ndarray:
    """Return the velocities (T, 2) of an object that goes ahead, and then back."""
    simulation, velocities = SimulationObject(settings.steering), []
    for tick in range(240):
        away = -1.0 if tick < 120 else 1.0
        simulation.steer(Intent(move=(0.0, away), facing=facing, gait=1.0), DT)
        simulation.step(DT)
        velocities.append((simulation.vx, simulation.vy))
    return np.array(velocities)


def test_speed_in_turns_answers_a_turn_sooner():
    """Nine tenths of the full speed come sooner, which is the same in the end."""
    quick = SETTINGS.with_changes({"turning_speed": 2.0, "turn_limit": 2.5})
    usual, sooner = turn_around(quick.with_changes({"turning_speed": 1.0})), turn_around(quick)
    answers = [int(np.flatnonzero(each[120:, 1] > 0.9 * 4.0)[0]) for each in (usual, sooner)]
    assert answers[1] < 0.9 * answers[0]
    np.testing.assert_allclose(sooner[-1], (0.0, 4.0), atol=1e-2)
    assert np.linalg.norm(sooner, axis=1).max() < 4.0 + 1e-6


def test_speed_in_turns_is_for_turns_alone():
    """An object that faces ahead steps back as the data does."""
    usual, quick = (SETTINGS.with_changes({"turning_speed": factor}) for factor in (1.0, 2.0))
    np.testing.assert_array_equal(turn_around(quick, 0.0), turn_around(usual, 0.0))


def test_an_object_that_never_steps_aside_turns_alike_at_any_speed_in_turns():
    usual, quick = (
        SETTINGS.with_changes({"strafe": False, "turning_speed": each}) for each in (1.0, 2.0)
    )
    np.testing.assert_array_equal(turn_around(quick), turn_around(usual))


def test_heading_takes_the_shorter_way():
    simulation = SimulationObject(SETTINGS.steering)
    simulation.reset(0.0, 0.0, 3.0)
    simulation.steer(Intent(facing=-3.0), DT)
    assert simulation.predict([0.5])[0].yaw > 3.0


def test_the_prediction_of_a_path_follows_it_exactly():
    path = FuturePath((0.0, 1.0, 2.0), ((0.0, 0.0), (0.0, -1.0), (1.0, -1.0)), (0.0, 0.0, 1.5))
    simulation = SimulationObject(SETTINGS.steering)
    simulation.steer(Intent(path=path), DT)
    point = simulation.predict([0.5, 1.5])
    np.testing.assert_allclose(point[0][:2], (0.0, -0.5))
    np.testing.assert_allclose(point[1][:3], (0.5, -1.0, 0.75))


def test_the_past_trajectory_returns_recorded_positions():
    past = PastTrajectory(1.0, 30.0)
    past.reset(0.0, 0.0, 0.0)
    for tick in range(1, 100):
        past.record(0.1 * tick, 0.0, 0.01 * tick)
    point = past.sample(-0.5)
    np.testing.assert_allclose(point[:5], (0.1 * 84, 0.0, 0.84, 3.0, 0.0), atol=1e-9)
