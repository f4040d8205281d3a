"""Choose an action like the notebook: all states form one field, and values alone decide.

Source: notebook 003 (Lee et al. 2010), Greedy action selection from k-NN, and Using the value
function. There are no gaits, no momentum and no clips to look along; see `method`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .integration import Step, compute_action_weights, integrate
from .states.neighbours import Metric, Neighbours, compute_similarity_weights
from .states.states import MotionStates
from .states.tasks import TaskGoal, Tasks
from .states.value_function import ValueFunction


class FieldChoice(NamedTuple):
    """The chosen action of a tick: states (k,) around the pose with distances, weights and result.

    `scores` (k,) are those of all actions, `chosen` is the index of the best or favoured one.
    """

    around: np.ndarray
    distances: np.ndarray
    weights: np.ndarray
    scores: np.ndarray
    chosen: int
    step: Step


class OneField:
    """All states as one field.

    With a value function, the action is chosen whose result has the largest value for the goal's
    heading and tags. Without, the one that leaves the least angle to turn after the tick.
    """

    def __init__(
        self,
        states: MotionStates,
        features: np.ndarray,
        metric: Metric,
        foresight: ValueFunction | None,
    ) -> None:
        self._states = states
        self._metric = metric
        self._foresight = foresight
        self._neighbours = Neighbours(features)
        self._tasks = Tasks(as_notebook=True)

    def choose(
        self,
        goal: TaskGoal,
        state: tuple[np.ndarray, np.ndarray],
        k: int,
        drift: float,
        favour: int = 0,
    ) -> FieldChoice:
        """Return the best of k actions at a pose and velocity (7, B), or neighbour `favour`'s."""
        pose, velocity = state
        here = self._metric.compute_features(pose[None], velocity[None])
        around, distances = (rows[0] for rows in self._neighbours.find_nearest(here, k))
        actions = compute_action_weights(compute_similarity_weights(distances))
        step = integrate(self._states, pose, around, actions, drift)
        scores = self._score(goal, step, k)
        chosen = min(favour, len(scores)) - 1 if favour else int(scores.argmax())
        return FieldChoice(around, distances, actions[chosen], scores, chosen, step.select(chosen))

    def _score(self, goal: TaskGoal, step: Step, k: int) -> np.ndarray:
        """Return the scores (A,) of the results of actions."""
        turn = step.root[:, 2]
        if self._foresight is None:
            return -np.abs(self._tasks.measure_error(goal.direction - turn))
        features = self._metric.compute_features(step.pose, step.velocity)
        indices, distances = self._neighbours.find_nearest(features, k)
        weights = compute_similarity_weights(distances)
        return self._foresight.evaluate(goal, turn, indices, weights)
