"""Let motion fields play by values and by greed, and add up what their tasks reward.

The simulation object moves on its own here, as the reward is for what the field does by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from motion_matching.engine.control.method import Goal, Motion
from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.field.method import MotionField, compute_pace
from motion_matching.engine.field.states.tasks import TaskGoal, Tasks
from motion_matching.engine.maths.planar import rotate_xy, wrap
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.takes import takes

from .quality import GAITS

SCRIPTS = ("flips", "turns", "random")
CONTROLS = ("values", "greed", "greed of a frame")
_SAME = 0.05  # rad and m/s that a goal may change by from tick to tick, and be the same
Measures = dict[str, Any]


class PlanJob(NamedTuple):
    """What is asked for, and how."""

    gait: str
    script: str


class _WatchedField(MotionField):
    """A field that notes the goal, the scores and the result of each tick at which it plans."""

    noted: list[tuple[TaskGoal, np.ndarray, float, float] | None]

    def reset(self) -> Motion:
        self.noted = []
        return super().reset()

    def advance(self, goal: Goal) -> Motion:
        self.decision = None
        motion = super().advance(goal)
        decision: Any = self.decision  # which the call has set, unless the character idles
        if decision is None:
            self.noted.append(None)
            return motion
        found = float(motion.root[2]) / self.fps, float(compute_pace(motion.root))
        self.noted.append((decision.goal, decision.scores, *found))
        return motion


def list_jobs(database: Database) -> list[PlanJob]:
    """Return all jobs of a set: without a run of its own, only walks."""
    settings = takes.make_default_settings(database)
    gaits = GAITS if settings.steering.can_run else GAITS[:1]
    return [PlanJob(*parts) for parts in product(gaits, SCRIPTS)]


def measure_job(
    job: PlanJob, database: Database, trained: FieldController, seconds: float, seed: int
) -> Measures:
    """Perform a script by each control; return what that comes to, and what values promise."""
    assert trained.function is not None
    tasks, discount = trained.function.tasks, trained.function.discount ** (30.0 / database.fps)
    alone = {"displacement": "independent", "clamp": False, "foot_lock": False}
    settings = takes.make_default_settings(database).with_changes({**trained.settings, **alone})
    performance = takes.prepare_performance(
        database, settings, job.script, gait=job.gait, seconds=seconds, seed=seed
    )
    untrained = replace(trained, function=None)
    result: Measures = {}
    for control, controller, lookahead in zip(
        CONTROLS, (trained, untrained, untrained), (None, None, 0.0), strict=True
    ):
        own = settings if lookahead is None else settings.with_changes({"lookahead": lookahead})
        fields: list[_WatchedField] = []

        def watch(
            data: Database,
            chosen: PerformerSettings,
            by: FieldController = controller,
            made: list[_WatchedField] = fields,
        ) -> MotionField:
            made.append(_WatchedField(data, chosen, by.metric, by.function))
            return made[-1]

        take = takes.perform(database, own, performance, controller=watch)
        result[control] = compute_return(measure_rewards(take, tasks), discount)
        asked = np.linalg.norm(take.desired_velocity, axis=1)
        moved = np.linalg.norm(np.diff(take.character[:, :2], axis=0), axis=1) * take.fps
        result[f"{control}, speed"] = float(moved.mean() / asked.mean())
        if control == "values":
            result |= measure_promises(fields[-1], tasks, discount)
    return result


def measure_rewards(take: Take, tasks: Tasks) -> np.ndarray:
    """Return what each tick (T - 1,) of a take is worth by tasks of heading and speed."""
    velocity = np.diff(take.character[:, :2], axis=0) * take.fps
    rewards = np.empty(len(velocity))
    for t, (vx, vy) in enumerate(velocity.tolist()):
        yaw, heading = float(take.character[t + 1, 2]), float(take.desired_yaw[t])
        wx, wy = take.desired_velocity[t].tolist()
        speed = float(np.hypot(wx, wy))
        course = rotate_xy(wx / speed, wy / speed, -yaw) if speed > _SAME else (0.0, -1.0)
        pace = compute_pace(np.array([*rotate_xy(vx, vy, -yaw), 0.0]), course)
        goal = TaskGoal(float(wrap(heading - yaw)), speed)
        tagged = np.zeros((1, len(tasks.tags)))
        [rewards[t]] = tasks.compute_reward(goal, np.zeros(1), np.array([pace]), tagged)
    return rewards


def compute_return(rewards: np.ndarray, discount: float) -> float:
    """Return the mean over all ticks of the discounted sum of what follows."""
    total, returns = 0.0, np.empty(len(rewards))
    for t in range(len(rewards) - 1, -1, -1):
        total = rewards[t] + discount * total
        returns[t] = total
    return float(returns.mean())


def measure_promises(field: _WatchedField, tasks: Tasks, discount: float) -> Measures:
    """Return by how much values are off from tick to tick, and by how much they tell actions apart.

    `broken` is the mean of a promise less what came of it: the reward of the tick, and the promise
    of the next. `off` is how far that is from its mean, and `apart` how far the actions of a tick
    are from theirs, both as standard deviations. Ticks at which the goal changes do not count.
    """
    broken, apart = [], []
    for one, other in zip(field.noted, field.noted[1:], strict=False):
        if one is None or other is None:
            continue
        (goal, scores, turn, pace), (after, promised, *_) = one, other
        ahead = wrap(after.direction - goal.direction + turn)
        if abs(ahead) > _SAME or abs(after.speed - goal.speed) > _SAME:
            continue
        tagged = np.zeros((1, len(tasks.tags)))
        [reward] = tasks.compute_reward(goal, np.array([turn]), np.array([pace]), tagged)
        broken.append(float(scores.max()) - reward - discount * float(promised.max()))
        apart.append(float(scores.std()))
    if not broken:
        return {"broken": np.nan, "off": np.nan, "apart": np.nan}
    return {
        "broken": float(np.mean(broken)),
        "off": float(np.std(broken)),
        "apart": float(np.mean(apart)),
    }


def list_cells(name: str, results: Mapping[PlanJob, Measures]) -> list[tuple[str, ...]]:
    """Return the rows of a set for the table of the manual."""
    return [
        (
            name,
            *job,
            *(f"{measures[control]:.0f}" for control in CONTROLS),
            *(f"{measures[f'{control}, speed']:.2f}" for control in CONTROLS[:2]),
            f"{measures['broken']:.2f}",
            f"{measures['off']:.2f}",
            f"{measures['apart']:.2f}",
        )
        for job, measures in results.items()
    ]
