"""The notebook's field: training and play equal plain loops over its formulas."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control.method import Goal
from motion_matching.engine.database.tags.thresholds import AutoTagSettings
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.field.method import MotionField
from motion_matching.engine.field.states import value_function
from motion_matching.engine.field.states.neighbours import Metric
from motion_matching.engine.field.states.states import MotionStates
from motion_matching.engine.field.states.tasks import TaskGoal, Tasks, make_tasks, tasks_from_dict
from motion_matching.engine.field.training.quality import NOTEBOOK, TRAININGS
from motion_matching.engine.field.training.training import Training
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import takes
from tests import goals
from tests.demo import generate_clips

K, DIRECTIONS, SWEEPS, DRIFT = 5, 7, 12, 0.1
TAGS = ("walk", "run")
FACTOR = 1.0  # of the reward for a tag


@pytest.fixture(scope="module")
def database():
    """Build a walk and a run, with proposed tags, of about 130 states."""
    clips = {clip.name: clip for clip in generate_clips()}
    sources = [
        Source(clip=clips["walk_curves"], start=60, stop=130),
        Source(clip=clips["run_curves"], start=90, stop=160),
    ]
    return build(sources, BuildSettings(auto_tags=AutoTagSettings()))[0]


@pytest.fixture(scope="module")
def plays(database):
    settings = takes.make_default_settings(database)
    changes = {"field": "notebook", "neighbours": K, "drift": DRIFT}
    return settings.with_changes(changes)


@pytest.fixture(scope="module")
def trained(database):
    tasks = Tasks(directions=DIRECTIONS, tags=TAGS, as_notebook=True)
    settings = replace(TRAININGS[NOTEBOOK][0], neighbours=K, sweeps=SWEEPS, drift=DRIFT)
    return Training(database, Metric.from_notebook(database), tasks, settings).run()


# ---------------------------------------------------------------- the notebook's formulas


class Pose(NamedTuple):
    """Positions (B, 3) and rotations (B, 4) of the bones in their parents' frames."""

    positions: np.ndarray
    turns: np.ndarray


def unpack(pose: np.ndarray) -> Pose:
    return Pose(pose[:3].T.astype(np.float64), pose[3:].T.astype(np.float64))


def normalize(turns: np.ndarray) -> np.ndarray:
    return turns / np.linalg.norm(turns, axis=-1, keepdims=True)


def pose_add(x: Pose, v: Pose) -> Pose:
    positions = x.positions + v.positions
    positions[0] = x.positions[0] + quat.mul_vec(x.turns[0], v.positions[0])
    return Pose(positions, normalize(quat.mul(x.turns, v.turns)))


def pose_subtract(a: Pose, b: Pose) -> Pose:
    positions = a.positions - b.positions
    positions[0] = quat.mul_vec(quat.inv(b.turns[0]), positions[0])
    turns = normalize(quat.mul(quat.inv(b.turns), a.turns))
    turns[turns[:, 0] < 0] *= -1
    return Pose(positions, turns)


def slerp(a: np.ndarray, b: np.ndarray, t: float) -> np.ndarray:
    b = np.where((a * b).sum(axis=-1, keepdims=True) < 0, -b, b)
    angle = np.arccos(np.clip((a * b).sum(axis=-1, keepdims=True), -1, 1))
    safe = np.where(angle < 1e-6, 1.0, angle)
    arc = (np.sin((1 - t) * safe) * a + np.sin(t * safe) * b) / np.sin(safe)
    return normalize(np.where(angle < 1e-6, (1 - t) * a + t * b, arc))


def pose_lerp(a: Pose, b: Pose, t: float) -> Pose:
    positions = (1 - t) * a.positions + t * b.positions
    return Pose(positions, slerp(a.turns, b.turns, t))


def pose_blend(poses: list[Pose], weights: np.ndarray) -> Pose:
    positions = sum(w * pose.positions for w, pose in zip(weights, poses, strict=True))
    turns = sum(w * pose.turns for w, pose in zip(weights, poses, strict=True))
    return Pose(positions, normalize(turns))


class Notebook:
    """The field of the notebook, in loops over states in float64."""

    def __init__(self, database, states: MotionStates) -> None:
        self.metric = Metric.from_notebook(database)
        self.fps = database.fps
        self.parents = database.skeleton.parents
        self.x = [unpack(pose) for pose in states.poses]
        self.v = [unpack(motion[0]) for motion in states.motions]
        self.y = [unpack(motion[1]) for motion in states.motions]
        self.features = np.array(
            [self.build_metric(x, v) for x, v in zip(self.x, self.v, strict=True)]
        )

    def build_metric(self, x: Pose, v: Pose) -> np.ndarray:
        offsets = self.metric.fixed_positions.T.astype(np.float64)
        before = quat.fk(x.turns, offsets, self.parents)[1]
        later = pose_add(x, v).turns
        after = quat.fk(later, offsets, self.parents)[1]
        moved = (after - before) * self.metric.velocities[:, None] * self.fps / 30.0
        return np.concatenate([before * self.metric.positions[:, None] * 0.8, moved])

    def find_neighbours(self, x: Pose, v: Pose) -> tuple[np.ndarray, np.ndarray]:
        here = self.build_metric(x, v)
        distances = np.linalg.norm(self.features - here, axis=-1).sum(axis=-1)
        nearest = np.argsort(distances, kind="stable")[:K]
        weights = 1.0 / (distances[nearest] ** 2 + 1e-12)  # metres, where the notebook has cm
        # in single precision as there: which of two weights near 1 is the largest depends on it
        weights = weights.astype(np.float32)
        return nearest, weights / weights.sum()

    def compute_new_state(self, x: Pose, indices, weights) -> tuple[Pose, Pose, float]:
        """Return the next pose at the origin and velocity, and the turn of the root."""
        most = indices[np.argmax(weights)]
        reached = pose_subtract(pose_add(self.x[most], self.v[most]), x)
        blended = pose_blend([self.v[i] for i in indices], weights)
        next_x = pose_add(x, pose_lerp(blended, reached, DRIFT))
        next_y = pose_blend([self.y[i] for i in indices], weights)
        turn = 2.0 * math.atan2(next_x.turns[0, 3], next_x.turns[0, 0])
        next_x.positions[0], next_x.turns[0] = 0.0, [1, 0, 0, 0]
        return next_x, pose_lerp(next_y, self.y[most], DRIFT), turn

    def try_actions(self, x: Pose, v: Pose):
        """Return the results of all actions: pose, velocity, turn, neighbours, their weights."""
        indices, similarity = self.find_neighbours(x, v)
        results = []
        for action in range(K):
            weights = similarity.copy()
            weights[action] = 1.0
            weights /= weights.sum()
            result = self.compute_new_state(x, indices, weights)
            results.append((*result, *self.find_neighbours(*result[:2])))
        return results

    @cached_property
    def actions(self) -> list:
        """The results of all actions from each state, whatever the goal."""
        return [self.try_actions(x, v) for x, v in zip(self.x, self.v, strict=True)]

    def train(self, carries: np.ndarray, discount: float, sweeps: int) -> np.ndarray:
        """Return the values (S, T) by the angle from the goal to the character, as there."""
        values = np.zeros((len(self.x), DIRECTIONS))
        grid = np.linspace(-np.pi, np.pi, DIRECTIONS + 1)[:DIRECTIONS]
        for _ in range(sweeps):
            renewed = np.full_like(values, -np.inf)
            for state, results in enumerate(self.actions):
                for _, _, turn, indices, weights in results:
                    later = (grid + turn + np.pi) % (2 * np.pi) - np.pi
                    reward = -abs(later) + FACTOR * carries[state]
                    ahead = weights @ interpolate(values[indices], later)
                    renewed[state] = np.maximum(renewed[state], reward + discount * ahead)
            values = renewed
        return values


def interpolate(values: np.ndarray, theta: float | np.ndarray) -> np.ndarray:
    """Return values (k,) at an angle, or (k, n) at angles (n,), of rows (k, T) all around."""
    coordinate = (theta + np.pi) / (2 * np.pi / DIRECTIONS)
    low = np.floor(coordinate).astype(int)
    share = coordinate - low
    low %= DIRECTIONS
    return (1 - share) * values[:, low] + share * values[:, (low + 1) % DIRECTIONS]


@pytest.fixture(scope="module")
def notebook(database):
    return Notebook(database, MotionStates.from_database(database))


@pytest.fixture(scope="module")
def values(database, notebook, trained):
    """Return the values (S, T) of the loops for each tag."""
    sweeps, states = len(trained.residuals), MotionStates.from_database(database)
    return {tag: notebook.train(states.tag_masks[tag], trained.discount, sweeps) for tag in TAGS}


# ---------------------------------------------------------------- what equals them


@pytest.mark.slow
def test_training_gives_the_values_of_the_loops(trained, values):
    """Directions are to the goal here and from it there, so they run the other way around."""
    for number, tag in enumerate(TAGS, start=1):
        ours = trained.values[:, 0, number]
        goals = np.linspace(-np.pi, np.pi, DIRECTIONS + 1)[:DIRECTIONS]
        theirs = np.stack([interpolate(values[tag], -goal) for goal in goals], axis=1)
        np.testing.assert_allclose(ours, theirs, atol=2e-4)


def make_goal(direction: float, tag: str = "") -> Goal:
    """Make a goal of a heading; the speed means nothing to the notebook."""
    tags = {tag} if tag else set()
    return goals.make_goal(math.sin(direction), -1.0, direction, now=0.0, tags=tags)


def play_both(field: MotionField, notebook: Notebook, score):
    """Yield the field's decision and motion beside the loop's best action, result and scores."""
    start, rng = 40, np.random.default_rng(1)
    field.reset()
    field.enter(start)
    x, v = notebook.x[start], notebook.v[start]
    for tick in range(40):
        tag, direction = TAGS[tick // 10 % 2], float(rng.uniform(-3, 3))
        motion = field.advance(make_goal(direction, tag if field.foresight else ""))
        indices, _ = notebook.find_neighbours(x, v)
        results = notebook.try_actions(x, v)
        scores = np.array([score(result, direction, tag) for result in results])
        x, v, turn, *_ = results[int(scores.argmax())]
        yield field.decision, motion, indices, scores, x, turn


def check_both(field: MotionField, notebook: Notebook, score) -> None:
    for decision, motion, indices, scores, x, turn in play_both(field, notebook, score):
        np.testing.assert_array_equal(decision.states, indices)
        np.testing.assert_allclose(decision.scores, scores, atol=5e-4)
        assert decision.chosen == scores.argmax()
        assert motion.root[2] / field.fps == pytest.approx(turn, abs=1e-5)
        np.testing.assert_allclose(motion.pose[:3].T, x.positions, atol=1e-5)
        np.testing.assert_allclose(motion.pose[3:].T, x.turns, atol=1e-5)


@pytest.mark.slow
def test_the_values_alone_choose_as_in_the_loop(database, plays, trained, notebook, values):
    """Actions, values, and the blended states of 40 ticks are equal, for both gaits in turn."""

    def score(result, direction, tag):
        _, _, turn, indices, weights = result
        theta = (turn - direction + np.pi) % (2 * np.pi) - np.pi
        return weights @ interpolate(values[tag][indices], theta)

    check_both(MotionField(database, plays, foresight=trained), notebook, score)


@pytest.mark.slow
def test_greed_is_the_angle_left_after_one_tick(database, plays, notebook):
    def score(result, direction, _tag):
        return -abs((direction - result[2] + np.pi) % (2 * np.pi) - np.pi)

    check_both(MotionField(database, plays), notebook, score)


# ---------------------------------------------------------------- how it is chosen


@pytest.mark.slow
def test_a_trained_file_says_how_it_is_played(database, trained, tmp_path):
    """The setting comes with it, and the requested gait is a tag."""
    path = tmp_path / "field.npz"
    value_function.save(trained, path)
    controller = FieldController.load(path, database)
    assert controller.settings == {"neighbours": K, "drift": DRIFT, "field": "notebook"}
    assert controller.function.tasks == trained.tasks


def test_one_setting_changes_the_field_while_it_plays(database, plays):
    field = MotionField(database, plays)
    field.advance(make_goal(0.5))
    assert len(field.decision.states) == K
    field.apply(plays.with_changes({"field": "by_gait", "neighbours": 9}))
    field.advance(make_goal(0.5))
    assert len(field.decision.states) == 9
    field.apply(plays)
    assert np.isfinite(field.advance(make_goal(0.5)).pose).all()


@pytest.mark.slow
def test_tables_of_another_kind_of_field_are_not_resumed(database, trained, tmp_path):
    path = tmp_path / "field.npz"
    value_function.save(trained, path)
    settings = replace(TRAININGS[NOTEBOOK][0], neighbours=K, drift=DRIFT)
    metric = Metric.from_notebook(database)
    assert not Training(database, metric, Tasks(directions=DIRECTIONS), settings).resume(path)


def test_directions_are_a_circle():
    """Straight back on the left is straight back on the right, and neighbours meet there."""
    tasks = make_tasks(["direction"], 3.0, as_notebook=True)
    assert len(tasks.headings) == 17
    assert np.allclose(np.diff(tasks.headings), math.tau / 17)
    first, second, share = tasks.find_between(np.array([math.pi - 1e-9, -math.pi, 3.5]))
    assert (first[0], second[0]) == (16, 0)
    assert first[1] == 0
    assert tasks.headings[first[2]] + share[2] * tasks.spacing == pytest.approx(3.5 - math.tau)
    behind = TaskGoal(math.pi - 0.1)
    reward = tasks.compute_reward(behind, np.array([-0.2]), np.zeros(1), np.zeros((1, 0)))
    assert reward == pytest.approx(-(math.pi - 0.1))


def test_tasks_say_whether_they_are_the_notebooks():
    assert "as_notebook" not in Tasks().to_dict()
    tasks = Tasks(as_notebook=True)
    assert tasks_from_dict(tasks.to_dict()) == tasks
    with pytest.raises(SettingsError, match="as_notebook"):
        tasks_from_dict({"as_notebook": "yes"})
