"""The study of values and greed adds up rewards, and sees whether promises are kept."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from building.studies import planning, planning_command
from building.studies.planning import PlanJob
from motion_matching.engine.control.rollout import Take
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.field.states.neighbours import Metric
from motion_matching.engine.field.states.tasks import TaskGoal, Tasks
from motion_matching.engine.field.training.quality import TrainingSettings
from motion_matching.engine.field.training.training import Training
from tests.demo import load_demo

TASKS = Tasks(speeds=(0.0, 2.0))
FPS = 30.0


def make_take(heading: float, speed: float, asked: float) -> Take:
    """Return a straight walk at a speed, of which another is asked, with a heading off by some."""
    count = 60
    way = np.zeros((count, 3))
    way[:, 1], way[:, 2] = -speed * np.arange(count) / FPS, heading
    velocity = np.tile([0.0, -asked], (count, 1))
    return SimpleNamespace(  # type: ignore[return-value]
        character=way, fps=FPS, desired_yaw=np.zeros(count), desired_velocity=velocity
    )


@pytest.mark.parametrize(
    ("heading", "speed", "asked", "reward"),
    [
        (0.0, 1.2, 1.2, 0.0),
        (0.5, 1.2, 1.2, -0.5),
        (0.0, 0.8, 1.2, -0.2),
        (0.0, 1.0, 0.0, -0.5),
    ],
)
def test_a_tick_is_rewarded_for_heading_and_speed(heading, speed, asked, reward):
    rewards = planning.measure_rewards(make_take(heading, speed, asked), TASKS)
    np.testing.assert_allclose(rewards, reward, atol=1e-6)


def test_a_return_is_the_discounted_sum_of_what_follows():
    rewards, discount = np.random.default_rng(0).normal(size=50), 0.9
    plain = [
        sum(discount ** (later - t) * rewards[later] for later in range(t, 50)) for t in range(50)
    ]
    assert planning.compute_return(rewards, discount) == pytest.approx(np.mean(plain))


def test_promises_that_are_kept_are_not_broken():
    discount, ticks, turn = 0.99, 200, 0.01
    goals = [TaskGoal(1.0 - turn * t, 1.0) for t in range(ticks)]
    rewards = [
        float(TASKS.compute_reward(g, np.array([turn]), np.array([1.0]), np.zeros((1, 0)))[0])
        for g in goals
    ]
    worth = [0.0] * (ticks + 1)
    for t in range(ticks - 1, -1, -1):
        worth[t] = rewards[t] + discount * worth[t + 1]
    noted = [
        (goal, np.array([worth[t], worth[t] - 2.0]), turn, 1.0) for t, goal in enumerate(goals)
    ]
    found = planning.measure_promises(SimpleNamespace(noted=noted), TASKS, discount)  # type: ignore[arg-type]
    assert found["broken"] == pytest.approx(0.0, abs=1e-6)
    assert found["off"] == pytest.approx(0.0, abs=1e-6)
    assert found["apart"] == pytest.approx(1.0)
    # values that are too high by as much at every tick promise what does not come
    high = [(goal, scores + 5.0, *rest) for goal, scores, *rest in noted]
    found = planning.measure_promises(SimpleNamespace(noted=high), TASKS, discount)  # type: ignore[arg-type]
    assert found["broken"] == pytest.approx(5.0 * (1.0 - discount))


@pytest.mark.slow
def test_a_job_is_measured_for_each_control_and_has_a_row():
    database = load_demo()
    settings = TrainingSettings(states=300, neighbours=5, sweeps=30)
    metric = Metric.from_database(database)
    function = Training(database, metric, Tasks(9, (0.0, 1.2, 2.4)), settings).run()
    trained = FieldController(metric, function)
    assert PlanJob("run", "turns") in planning.list_jobs(database)
    job = PlanJob("walk", "turns")
    measures = planning.measure_job(job, database, trained, 6.0, 0)
    assert all(measures[control] < 0.0 for control in planning.CONTROLS)
    assert 0.3 < measures["values, speed"] < 1.5
    assert measures["apart"] > 0.0
    rows = planning.list_cells("generated", {job: measures})
    part = planning_command.format_part(rows, [measures], 0.1)
    assert "of 1 rows" in part
    assert sum(line.startswith("| generated") for line in part.splitlines()) == 1


def test_the_manual_has_a_place_for_the_study():
    text = planning_command.DOCUMENT.read_text(encoding="utf-8")
    assert text.count("<!-- study: values -->") == 1
