"""Fitted value iteration on small fields: exact values, contraction by the discount, and resuming."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from motion_matching.engine.errors import SettingsError
from motion_matching.engine.field.states.tasks import TaskGoal, Tasks, tasks_from_dict
from motion_matching.engine.field.training.value_iteration import Transitions, ValueIteration

STATES, ACTIONS, NEIGHBOURS = 40, 4, 3
TASKS = Tasks(directions=7, speeds=(0.0, 1.0, 3.0), tags=("walk", "run"))


class _CancelledError(Exception):
    pass


def make_random_field(seed: int = 0, states: int = STATES) -> tuple[Transitions, np.ndarray]:
    """Make a field with random actions, and the tags of its states."""
    rng = np.random.default_rng(seed)
    indices = rng.integers(0, states, (states, ACTIONS, NEIGHBOURS), np.int32)
    weights = rng.random((states, ACTIONS, NEIGHBOURS))
    weights /= weights.sum(-1, keepdims=True)
    turn, speed = rng.uniform(-3, 3, (states, ACTIONS)), rng.uniform(0, 3, (states, ACTIONS))
    return Transitions(indices, weights.astype(np.float32), turn, speed), rng.random(
        (states, 2)
    ) < 0.5


def compute_reward(
    tasks: Tasks,
    heading: float,
    speed: float,
    tag: int,
    turn: float,
    actual: float,
    carried: np.ndarray,
) -> float:
    """Compute the formula as written, one number at a time."""
    wanted = tasks.tag_reward * carried[tag - 1] if tag else 0.0
    return -abs(heading - turn) + wanted - tasks.speed_reward * abs(actual - speed)


def build_dense_problem(
    field: Transitions, tagged: np.ndarray, tasks: Tasks
) -> tuple[np.ndarray, np.ndarray]:
    """Build rewards (X, A) and probabilities (X, A, X) over all task states X in float64 loops."""
    speeds, tags, directions = tasks.shape
    states = len(field.indices)
    size = states * directions * speeds * tags
    rewards, leads = np.zeros((size, ACTIONS)), np.zeros((size, ACTIONS, size))
    step = 2 * math.pi / (directions - 1)
    for x, (n, s, g, i) in enumerate(np.ndindex(states, speeds, tags, directions)):
        for a in range(ACTIONS):
            w, around, turn = (
                field.weights[n, a].astype(float),
                field.indices[n, a],
                field.turn[n, a],
            )
            heading = i * step - math.pi
            rewards[x, a] = compute_reward(
                tasks, heading, tasks.speeds[s], g, turn, field.speed[n, a], w @ tagged[around]
            )
            place = (min(max(heading - turn, -math.pi), math.pi) + math.pi) / step
            low = min(int(place), directions - 2)
            share = place - low
            for j, weight in zip(around, w, strict=True):
                for column, part in ((low, 1 - share), (low + 1, share)):
                    y = np.ravel_multi_index((j, s, g, column), (states, speeds, tags, directions))
                    leads[x, a, y] += weight * part
    return rewards, leads


def solve_by_policy_iteration(
    rewards: np.ndarray, leads: np.ndarray, discount: float
) -> np.ndarray:
    """Compute the optimal values by policy iteration, with a dense solve for each policy."""
    rows = np.arange(len(rewards))
    policy = np.zeros(len(rewards), int)
    while True:
        values = np.linalg.solve(
            np.eye(len(rows)) - discount * leads[rows, policy], rewards[rows, policy]
        )
        scores = rewards + discount * leads @ values
        better = scores.argmax(1)
        if np.all(scores[rows, better] <= scores[rows, policy] + 1e-12):
            return values
        policy = better


@pytest.mark.parametrize("tasks", [Tasks(directions=5), TASKS], ids=["direction", "speed and tags"])
def test_values_match_a_dense_solver(tasks):
    field, tagged = make_random_field(states=8)
    tagged = tagged[:, : len(tasks.tags)]
    if not tasks.speeds:
        rewards, leads = build_dense_problem(
            field, tagged, Tasks(directions=5, speeds=(0.0,), speed_reward=0.0)
        )
    else:
        rewards, leads = build_dense_problem(field, tagged, tasks)
    expected = solve_by_policy_iteration(rewards, leads, 0.9)
    iteration = ValueIteration(field, tagged, tasks, 0.9)
    iteration.run(300)
    np.testing.assert_allclose(iteration.values.ravel(), expected, atol=2e-5)


def test_one_straight_state_has_the_value_of_a_geometric_series():
    field = Transitions(
        np.zeros((1, 1, 1), np.int32),
        np.ones((1, 1, 1), np.float32),
        np.zeros((1, 1)),
        np.zeros((1, 1)),
    )
    iteration = ValueIteration(
        field, np.ones((1, 1), bool), Tasks(directions=17, tags=("walk",)), 0.99
    )
    iteration.run(3000)
    headings = np.abs(iteration.values[0, 0, 0])
    assert headings[8] == 0
    np.testing.assert_allclose(
        iteration.values[0, 0, 1] - iteration.values[0, 0, 0], 100, rtol=1e-3
    )
    np.testing.assert_allclose(
        headings[[0, 4, 12, 16]], math.pi * np.array([100, 50, 50, 100]), rtol=1e-3
    )


def test_turning_back_does_not_wrap_around():
    """One state turns slightly left and one right; each reaches the back on its own side only."""
    own = np.arange(2, dtype=np.int32).reshape(2, 1, 1)
    field = Transitions(
        own, np.ones((2, 1, 1), np.float32), np.array([[0.1], [-0.1]]), np.zeros((2, 1))
    )
    tasks = Tasks(directions=17)
    iteration = ValueIteration(field, np.ones((2, 0), bool), tasks, 0.99)
    iteration.run(3000)
    to_left, to_right = iteration.values[:, 0, 0]
    np.testing.assert_allclose(to_left, to_right[::-1], rtol=1e-4)
    # stays as far off as possible: turning away does not reach the heading from behind
    np.testing.assert_allclose(to_right[-1], -(math.pi + 0.1) * 100, rtol=1e-3)
    assert to_left[-1] > to_left[-2] - 100


def make_partly_trained_field(states: int, every: int) -> tuple[Transitions, sparse.csr_matrix]:
    """Make transitions of every n-th state, and the matrix by which the others follow them."""
    field = Transitions(*(part[::every] for part in make_random_field(states=states)[0]))
    follows = np.arange(states) // every
    spread = sparse.csr_matrix(
        (np.ones(states, np.float32), follows, np.arange(states + 1)), (states, len(field.turn))
    )
    return field, spread


def test_residuals_include_states_that_are_not_trained():
    field, spread = make_partly_trained_field(3000, 4)
    iteration = ValueIteration(field, np.ones((3000, 2), bool), TASKS, 0.95, spread=spread)
    for _ in range(3):
        before = iteration.values
        found = iteration.sweep()
        change = np.abs(iteration.values - before)
        np.testing.assert_array_equal(iteration.values, iteration.values[::4].repeat(4, axis=0))
        assert (found.least, found.most) == (change.min(), change.max())
        assert found.mean == pytest.approx(change.mean(), rel=1e-5)


def test_a_sweep_needs_memory_for_two_copies_of_the_values():
    """With few of many states trained, the values may take gigabytes."""
    field, spread = make_partly_trained_field(20_000, 50)
    iteration = ValueIteration(field, np.ones((20_000, 2), bool), TASKS, 0.95, spread=spread)
    tracemalloc.start()
    iteration.sweep()
    iteration.sweep()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2.5 * iteration.values.nbytes


@pytest.mark.parametrize("discount", [0.9, 0.99])
def test_the_largest_residual_shrinks_by_the_discount_each_sweep(discount):
    field, tagged = make_random_field()
    iteration = ValueIteration(field, tagged, TASKS, discount)
    iteration.run(100)
    most = np.array([r.most for r in iteration.residuals])
    assert len(most) == 100
    # rounding errors of float32 values do not shrink
    assert np.all(
        most[1:]
        <= discount * most[:-1] + 4 * np.finfo(np.float32).eps * np.abs(iteration.values).max()
    )
    assert most[-1] < most[0] * discount**90
    assert all(r.least <= r.mean <= r.most for r in iteration.residuals)


def test_a_run_ends_at_the_given_residual():
    field, tagged = make_random_field()
    iteration = ValueIteration(field, tagged, TASKS, 0.9)
    iteration.run(1000, residual=1e-2)
    assert iteration.residuals[-1].most <= 1e-2 < iteration.residuals[-2].most


@pytest.mark.parametrize("stop", [0.0, 0.31, 0.315, 0.99])
def test_a_cancelled_run_resumes_to_the_same_values(stop):
    """A sweep that is stopped halfway is thrown away."""
    field, tagged = make_random_field(states=2500)
    whole = ValueIteration(field, tagged, TASKS, 0.99)
    whole.run(20)

    def cancel(part: float) -> None:
        if part >= stop:
            raise _CancelledError

    stopped = ValueIteration(field, tagged, TASKS, 0.99)
    with pytest.raises(_CancelledError):
        stopped.run(20, progress=cancel)
    assert len(stopped.residuals) == math.floor(20 * stop)
    again = ValueIteration(field, tagged, TASKS, 0.99, stopped.values, stopped.residuals)
    again.run(20)
    np.testing.assert_array_equal(again.values, whole.values)
    assert again.residuals == whole.residuals


def test_progress_rises_to_one():
    field, tagged = make_random_field()
    parts: list[float] = []
    ValueIteration(field, tagged, TASKS, 0.99).run(5, progress=parts.append)
    assert parts == sorted(parts)
    assert parts[0] == 0
    assert parts[-1] == 1


def test_mirroring_the_turns_mirrors_the_values():
    """A field that turns the other way has the same values for mirrored headings."""
    field, tagged = make_random_field()
    there = ValueIteration(field, tagged, TASKS, 0.95)
    back = ValueIteration(field._replace(turn=-field.turn), tagged, TASKS, 0.95)
    there.run(100)
    back.run(100)
    np.testing.assert_allclose(back.values, there.values[..., ::-1], atol=1e-4)


# ---------------------------------------------------------------- tasks


@pytest.mark.parametrize("count", [3, 17, 179])
def test_directions_are_evenly_spaced_from_back_to_back(count):
    headings = Tasks(directions=count).headings
    assert len(headings) == count
    assert headings[count // 2] == 0
    np.testing.assert_allclose(headings[[0, -1]], [-math.pi, math.pi])
    np.testing.assert_allclose(np.diff(headings), 2 * math.pi / (count - 1))


def test_shares_of_two_directions_reproduce_the_one_between():
    tasks = Tasks()
    rng = np.random.default_rng(0)
    directions = np.append(rng.uniform(-4, 4, 500), tasks.headings)
    first, second, share = tasks.find_between(directions)
    assert np.all(second == first + 1)
    assert np.all((share >= 0) & (share <= 1))
    expected = np.clip(directions, -math.pi, math.pi)
    np.testing.assert_allclose(
        (1 - share) * tasks.headings[first] + share * tasks.headings[second], expected, atol=1e-9
    )


def test_the_reward_is_highest_for_actions_that_face_the_heading():
    turn = np.linspace(-3, 3, 601)
    reward_of = Tasks().compute_reward(TaskGoal(0.4), turn, np.zeros(601), np.zeros((601, 0)))
    assert turn[reward_of.argmax()] == pytest.approx(0.4)
    assert reward_of.max() == pytest.approx(0.0)
    # headings do not wrap around
    assert Tasks().compute_reward(TaskGoal(3.0), np.array([-3.0]), np.zeros(1), np.zeros((1, 0)))[
        0
    ] == pytest.approx(-6.0)


def test_rewards_count_requested_tags_and_the_speed_difference():
    tasks = Tasks(tags=("walk", "run"), speeds=(0.0, 2.0), speed_reward=0.5)
    tagged = np.array([[1.0, 0.0], [0.25, 0.75]])
    speed = np.array([1.0, 3.0])
    run = tasks.compute_reward(TaskGoal(0.0, 2.0, frozenset({"run"})), np.zeros(2), speed, tagged)
    np.testing.assert_allclose(run, [0.0 - 0.5, 0.75 - 0.5])
    none = tasks.compute_reward(TaskGoal(0.0, 2.0, frozenset()), np.zeros(2), speed, tagged)
    np.testing.assert_allclose(none, [-0.5, -0.5])
    # speeds above the fastest trained one count as that one
    fast = tasks.compute_reward(TaskGoal(0.0, 9.0, frozenset()), np.zeros(2), speed, tagged)
    np.testing.assert_allclose(fast, none)


def test_speeds_between_two_are_interpolated():
    tasks = Tasks(speeds=(0.0, 1.0, 3.0))
    np.testing.assert_allclose(tasks.compute_speed_shares(2.5), [0, 0.25, 0.75])
    np.testing.assert_allclose(tasks.compute_speed_shares(-1), [1, 0, 0])
    np.testing.assert_allclose(tasks.compute_speed_shares(9), [0, 0, 1])
    np.testing.assert_allclose(Tasks().compute_speed_shares(2), [1])


def test_tasks_survive_json():
    assert tasks_from_dict(TASKS.to_dict()) == TASKS


@pytest.mark.parametrize("wrong", [
    {"directions": 1}, {"directions": 16}, {"directions": 17.5}, {"directions": True}, {"speeds": (1.0, 1.0)},
    {"speeds": (2.0, 1.0)}, {"speeds": (-1.0,)}, {"speeds": (float("nan"),)}, {"tags": ("a", "a")}, {"tags": ("",)},
    {"tag_reward": -1.0},
    {"speed_reward": float("inf")},
])  # fmt: skip
def test_invalid_tasks_are_refused_by_name(wrong):
    with pytest.raises(SettingsError, match=next(iter(wrong)).split("_")[0]):
        Tasks(**wrong)
