"""Motion fields as a method: each tick blends the motion states around the current one, as serves
the goal best.

Source: notebook 003 (Lee et al. 2010): actions among the k nearest neighbours, greedy control,
control by a value function, feet locked by blended contacts, and pushes. Two additions are for data
with all kinds of motion.

- Only states of the desired gait (standing, walking or running) count, and those that soon lead to
  it: where no clip leads from one gait to another, no chain of neighbours does.
- Control looks a little ahead along the clips, and at states somewhat further away. With much data
  the nearest states are all alike and lead to the same.

Greedy control judges its actions by where the clips lead. Control by values judges them twice,
because each way has its own errors: by the result of the tick, and by where the blended clips lead
a little later. The mean counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from ..control.method import Explanation, Goal, Jump, Motion
from ..control.settings import LARGEST_SPEED, WALK_TO_RUN, PerformerSettings
from ..control.trajectory import clamp
from ..database.database import Database, measure_character_legs
from ..maths import quat
from ..maths.planar import rotate_xy, wrap
from ..motion.skeleton import Skeleton
from .actions import compute_action_weights
from .integration import Step, integrate
from .neighbours import Metric, Neighbours, compute_similarity_weights
from .push import Shove
from .states import MotionStates, compute_root_step
from .tasks import TaskGoal, Tasks
from .value_function import Clips

_AHEAD = 1.0  # seconds ahead at which the predicted trajectory gives the goal
STANDING, WALKING, RUNNING = range(3)
# seconds within which a state that leads to a gait counts as of it
_GAIT_LEAD_SECONDS = {STANDING: 1.0, WALKING: 0.2, RUNNING: 0.5}
_WIDER_SEARCH = 4  # times the neighbours that are considered when looking ahead
_FURTHER_SHARE, _FURTHER_REACH = (
    1 / 3,
    1.5,
)  # share of the neighbours that may be further away, and how many times as far
# share of the neighbours' reach within which the nearest must be, or the pose is off the field
_ON_FIELD_SHARE = 0.6
_LOOKAHEAD_SAMPLES = 4  # times within the lookahead at which actions are rewarded
_SLOW, _STEADY = 0.2, 0.5  # m/s and rad/s up to which a character stands
_STANDING_ANGLE = math.radians(10.0)  # heading beyond which a standing character has to turn
_CLIP_SECONDS = 0.3  # seconds that control by values looks along the clips
_STRAIGHT = math.radians(35.0)  # angle from straight ahead up to which values apply


class Foresight(Protocol):
    """Scores actions (A,) by where they lead; see `ValueFunction`."""

    def build_states(self, database: Database) -> MotionStates: ...

    def score(
        self,
        goal: TaskGoal,
        turn: np.ndarray,
        speed: np.ndarray,
        indices: np.ndarray,
        weights: np.ndarray,
    ) -> np.ndarray: ...

    def score_clips(
        self, goal: TaskGoal, turn: np.ndarray, speed: np.ndarray, clips: Clips, weights: np.ndarray
    ) -> np.ndarray: ...


class Decision(NamedTuple):
    """The last choice, for display.

    Neighbours (k,) as states and frames, their weights in the chosen action, the scores of all
    actions, the index of the chosen one, and the goal.
    """

    states: np.ndarray
    frames: np.ndarray
    weights: np.ndarray
    scores: np.ndarray
    chosen: int
    goal: TaskGoal


class MotionField:
    """Plays a database as a field of motion; see `Method`.

    Without foresight control is greedy: it chooses the action with the largest reward
    (`Tasks.compute_reward`) for where the clips of its neighbours lead within the setting
    `lookahead`, or for its own tick if that is 0. Strafing and walking back are always greedy,
    because values assume going straight ahead.
    """

    def __init__(
        self,
        database: Database,
        settings: PerformerSettings,
        metric: Metric | None = None,
        foresight: Foresight | None = None,
        name: str = "",
    ) -> None:
        self.database, self.name = database, name
        self.skeleton: Skeleton = database.skeleton
        self.fps = database.fps
        # the first point is the simulation object's; at time 0 the trajectory would have the
        # character's own
        self.trajectory_times = (1.0 / self.fps, _AHEAD)
        self.legs = measure_character_legs(database)
        self.hips = database.roles.hips
        self.acceleration_limits = np.array(database.limits)
        self.foresight = foresight
        self.metric = metric or Metric.from_database(database)
        self.states = (
            foresight.build_states(database) if foresight else MotionStates.from_database(database)
        )
        self._features = self.metric.compute_state_features(self.states)
        masks, followed = (
            classify_gaits(database)[1][:, self.states.frames],
            self.states.find_followed(database),
        )
        self._neighbours_by_gait = build_neighbours(self._features, masks, followed=followed)
        self.tasks = Tasks(speeds=(0.0, LARGEST_SPEED), tags=database.tag_names)
        self._known_tags = frozenset(database.tag_names)
        tagged = [self.states.tag_masks[tag] for tag in database.tag_names]
        self._tagged = np.array(tagged, np.float32).reshape(len(tagged), len(self.states)).T
        self._contacts = self.states.contacts.astype(np.float32)
        if foresight:
            self._clip_ticks = max(round(_CLIP_SECONDS * self.fps), 1)
            travel = compute_travel(database, self._clip_ticks / self.fps)
            assert travel is not None  # as that is a tick or more
            self._clip_travel = travel[self.states.frames]
            self._clip_ends = self.states.find_later(database, self._clip_ticks)
        self._shove = Shove(self.skeleton, database.roles, self.fps)
        self._per_second = np.array([self.fps, self.fps, 1.0], np.float32)
        self._lookahead: float | None = None
        # neighbours of the results of all actions (A, k), and those of the current pose, the result
        # of one of them
        self._action_neighbours: tuple[np.ndarray, ...] = ()
        self._current_neighbours: tuple[Neighbours, np.ndarray, np.ndarray] | None = None
        self.apply(settings)
        self.reset()

    def apply(self, settings: PerformerSettings) -> None:
        self._current_neighbours = None
        self._k, self._drift, self._planted_share = (
            int(settings.neighbours),
            settings.drift,
            settings.planted_share,
        )
        self._favour = int(settings.favour)
        if settings.lookahead != self._lookahead:
            self._lookahead = settings.lookahead
            soon = compute_travel(self.database, settings.lookahead)
            self._lookahead_travel: np.ndarray | None = (
                None if soon is None else soon[self.states.frames]
            )

    def reset(self) -> Motion:
        """Start at the state that moves least."""
        steps = self.states.root_steps
        calmest = int(np.argmin(steps[:, 0] ** 2 + steps[:, 1] ** 2 + 0.1 * steps[:, 2] ** 2))
        self._shove.reset()
        self.decision: Decision | None = None
        self.enter(calmest)
        root = steps[calmest] * np.float32(self.fps)
        return Motion(
            self._pose,
            root,
            self._contacts[calmest] > 0.5,
            None,
            int(self.states.frames[calmest]),
            0.0,
        )

    def enter(self, state: int) -> None:
        """Continue from a state."""
        self._current_neighbours = None
        self._pose, self._velocity = (
            self.states.poses[state].copy(),
            self.states.velocities[state].copy(),
        )

    def advance(self, goal: Goal) -> Motion:
        """Advance by one tick with the best action among the neighbours, or that of the favoured
        one.

        Raises DatabaseError for a tag that no frame has.
        """
        jump = None if goal.jump_to is None else self._jump(goal.jump_to)
        if goal.push is not None:
            self._shove.push(*goal.push)
        pose, velocity = self._shove.apply(self._pose, self._velocity)
        if not goal.tags <= self._known_tags:
            self.database.make_tag_mask(goal.tags)  # raises, and names the tags
        task_goal, way = _to_task_goal(goal)
        plans = self.foresight is not None and -way[1] > math.cos(_STRAIGHT)
        if not plans and self._lookahead_travel is not None:
            # a character that faces elsewhere would run away from the goal: it has to turn first
            task_goal = task_goal._replace(
                speed=task_goal.speed * max(math.cos(task_goal.direction), 0.0)
            )
        # states of standing are so many and so similar that no neighbour leads away from them
        stands = task_goal.speed < _SLOW and abs(task_goal.direction) < _STANDING_ANGLE
        field = self._neighbours_by_gait[
            STANDING if stands else RUNNING if task_goal.speed > WALK_TO_RUN else WALKING
        ]
        around, distances = self._find_neighbours(field, pose, velocity)
        soon = self._get_travel(field)
        if soon is not None:
            around, distances = self._select_neighbours(soon, task_goal, way, around, distances)
        actions = compute_action_weights(compute_similarity_weights(distances))
        step: Step | None = (
            # of all actions; where clips give their rewards, only the chosen one is integrated
            None
        )
        if plans:
            step = integrate(self.states, pose, around, actions, self._drift)
            scores = self._score_actions(field, task_goal, way, step)
            if soon is not None:
                scores = 0.5 * (scores + self._score_clips(task_goal, way, around, actions))
        else:
            if soon is None:
                step = integrate(self.states, pose, around, actions, self._drift)
                root = (step.root * self._per_second)[:, None]
            else:
                root = _blend(actions, soon.take(around, axis=0))
            scores = self._compute_reward(
                task_goal, way, root, actions @ self._tagged.take(around, axis=0)
            )
        chosen = min(self._favour, len(scores)) - 1 if self._favour else int(scores.argmax())
        self._current_neighbours = (
            (field, *(of_all[chosen] for of_all in self._action_neighbours)) if plans else None
        )
        weights = actions[chosen]
        if step is None:
            result = (
                part[0] for part in integrate(self.states, pose, around, weights[None], self._drift)
            )
        else:
            result = (part[chosen] for part in step)
        self._pose, self._velocity, root = result
        self._shove.turn(float(root[2]))
        self.decision = Decision(
            around, self.states.frames[around], weights, scores, chosen, task_goal
        )
        contacts = weights @ self._contacts.take(around, axis=0) >= self._planted_share
        favoured = int(weights.argmax())
        root = root * np.float32(self.fps)
        return Motion(
            self._pose,
            root,
            contacts,
            jump,
            int(self.states.frames[around[favoured]]),
            float(distances[0]),
        )

    def _jump(self, tag: str) -> Jump | None:
        """Continue from the nearest state with a tag; None if there is none. Raises DatabaseError
        for an unknown tag.
        """
        if tag not in self._known_tags:
            self.database.make_tag_mask({tag})  # raises, and names the tags
        tagged = np.flatnonzero(self.states.tag_masks[tag])
        if not len(tagged):
            return None
        source = _to_jump_state(self._pose, self._velocity, self.fps)
        difference = self._features[tagged] - self.metric.compute_features(
            self._pose[None], self._velocity[None]
        )
        self.enter(
            int(
                tagged[
                    np.linalg.norm(difference.reshape(len(tagged), -1, 3), axis=-1)
                    .sum(axis=-1)
                    .argmin()
                ]
            )
        )
        return Jump(*source, *_to_jump_state(self._pose, self._velocity, self.fps))

    def _find_neighbours(
        self, field: Neighbours, pose: np.ndarray, velocity: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return indices and distances (n,) of the states around a pose: k of them, or more when
        looking ahead.

        The neighbours that foresight found in the last tick are used again where these are enough.
        """
        looks_ahead, current = self._get_travel(field) is not None, self._current_neighbours
        if not looks_ahead and current is not None and current[0] is field and pose is self._pose:
            return current[1], current[2]
        count = _WIDER_SEARCH * self._k if looks_ahead else self._k
        features = self.metric.compute_features(pose[None], velocity[None])
        indices, distances = field.find_nearest(features, count, apart=looks_ahead)
        return indices[0], distances[0]

    def _get_travel(self, field: Neighbours) -> np.ndarray | None:
        """Return where clips lead from all states (S, T, 3); None for standing, which counts at
        once, and without lookahead.
        """
        return None if field is self._neighbours_by_gait[STANDING] else self._lookahead_travel

    def _select_neighbours(
        self,
        soon: np.ndarray,
        task_goal: TaskGoal,
        way: tuple[float, float],
        around: np.ndarray,
        distances: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Select k of the states around a pose and their distances (n,).

        These are the nearest, and the best rewarded of others that are not much further; they lead
        away where all of the nearest are equally wrong. A pose off the field gets the nearest
        alone, which bring it back.
        """
        near = self._k - int(_FURTHER_SHARE * self._k)
        reach = distances[: self._k].max()
        if near >= min(self._k, len(around)) or distances[0] > _ON_FIELD_SHARE * reach:
            return around[: self._k], distances[: self._k]
        others = near + (distances[near:] <= _FURTHER_REACH * reach).nonzero()[0]
        candidates = around[others]
        travel, tagged = soon.take(candidates, axis=0), self._tagged.take(candidates, axis=0)
        reward = self._compute_reward(task_goal, way, travel, tagged)
        best = others[np.argsort(-reward, kind="stable")]
        selected = np.concatenate([np.arange(near), np.sort(best[: self._k - near])])
        return around[selected], distances[selected]

    def _compute_reward(
        self, task_goal: TaskGoal, way: tuple[float, float], root: np.ndarray, tagged: np.ndarray
    ) -> np.ndarray:
        """Return the rewards (A,) of moving as `root` (A, T, 3) at T times, among states with these
        shares of tags.

        The mean over all times counts: by the last alone, a character about to start would never do
        so.
        """
        reward = self.tasks.compute_reward(
            task_goal, root[..., 2], compute_pace(root, way), tagged[:, None]
        )
        return np.add.reduce(reward, axis=1) / reward.shape[1]

    def _score_actions(
        self, field: Neighbours, task_goal: TaskGoal, way: tuple[float, float], step: Step
    ) -> np.ndarray:
        """Return the scores of actions (A,) by their rewards and results."""
        assert self.foresight is not None
        features = self.metric.compute_features(step.pose, step.velocity)
        indices, distances = self._action_neighbours = field.find_nearest(features, self._k)
        speed = compute_pace(step.root, way) * np.float32(self.fps)
        return self.foresight.score(
            task_goal, step.root[:, 2], speed, indices, compute_similarity_weights(distances)
        )

    def _score_clips(
        self, task_goal: TaskGoal, way: tuple[float, float], around: np.ndarray, actions: np.ndarray
    ) -> np.ndarray:
        """Return the scores of actions (A, k) by where the clips of the states around (k,) lead."""
        assert self.foresight is not None
        along = self._clip_travel.take(around, axis=0)
        clips = Clips(around, self._clip_ends.take(around), along[:, -1, 2], self._clip_ticks)
        root = _blend(actions, along)
        return self.foresight.score_clips(
            task_goal, root[..., 2], compute_pace(root, way), clips, actions
        )

    def explain(self, count: int) -> Explanation | None:
        """Return None: a field has no search whose candidates have costs; see `decision`."""
        return None


def _to_task_goal(goal: Goal) -> tuple[TaskGoal, tuple[float, float]]:
    """Return the goal and the desired direction of movement, seen from the desired facing: (0, -1)
    is straight ahead.
    """
    now, ahead = goal.trajectory[0], goal.trajectory[-1]
    speed = math.hypot(ahead.vx, ahead.vy)
    way = (
        rotate_xy(ahead.vx / speed, ahead.vy / speed, -ahead.yaw) if speed > _SLOW else (0.0, -1.0)
    )
    # on the side to which the simulation object turns, as it would hold back a turn the other way
    direction = clamp(wrap(now.yaw) + wrap(ahead.yaw - now.yaw), math.pi)
    return TaskGoal(direction, speed, goal.tags), way


def _to_jump_state(
    pose: np.ndarray, velocity: np.ndarray, fps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a state as in `Jump`: its pose, and per second the velocities (6, B) and that of the
    root (3,).
    """
    turning = quat.mul_vec(pose[3:].T, quat.to_scaled_angle_axis(velocity[3:].T)).T
    return (
        pose,
        np.concatenate([velocity[:3], turning]) * np.float32(fps),
        compute_root_step(velocity) * np.float32(fps),
    )


def _blend(weights: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return the weighted means (A, T, 3) of parts (K, T, 3) by weights (A, K)."""
    return (weights @ parts.reshape(len(parts), -1)).reshape(len(weights), *parts.shape[1:])


def compute_pace(root: np.ndarray, way: tuple[float, float] = (0.0, -1.0)) -> np.ndarray:
    """Return how far steps of the root (..., 3) lead in a direction `way`, less how far they lead
    to its side.
    """
    x, y = way
    along, aside = np.array((x, y, 0.0), np.float32), np.array((y, -x, 0.0), np.float32)
    return root.dot(along) - np.abs(root.dot(aside))


def classify_gaits(database: Database) -> tuple[np.ndarray, np.ndarray]:
    """Return the gait of every frame (N,), and the frames (3, N) of each gait with those that soon
    lead to it.
    """
    motion, ranges = database.root_motion, database.range_of_frame
    speed = np.hypot(motion[:, 0], motion[:, 1])
    goes = (speed > _SLOW) | (np.abs(motion[:, 2]) > _STEADY)
    gait = np.where(speed > WALK_TO_RUN, RUNNING, np.where(goes, WALKING, STANDING))
    count = np.empty((len(_GAIT_LEAD_SECONDS), len(gait)), bool)
    for number, seconds in _GAIT_LEAD_SECONDS.items():
        own = count[number] = gait == number
        own = own.copy()
        for later in range(1, round(seconds * database.fps) + 1):
            count[number, :-later] |= own[later:] & (ranges[later:] == ranges[:-later])
    return gait, count


def build_neighbours(
    features: np.ndarray,
    masks: np.ndarray,
    fewest: int = 1,
    followed: np.ndarray | None = None,
    check_cancelled: Callable[[], None] = lambda: None,
) -> list[Neighbours]:
    """Return the neighbours among the states (3, S) of each gait; if too few, among all that move,
    or among all.

    `check_cancelled` is called before each, and may raise to stop.
    """
    goes = masks[WALKING] | masks[RUNNING]
    result = []
    for gait, mask in enumerate(masks):
        check_cancelled()
        kinds = (mask,) if gait == STANDING else (mask, goes)
        result.append(
            Neighbours(
                features, next((kind for kind in kinds if kind.sum() >= fewest), None), followed
            )
        )
    return result


def compute_travel(database: Database, seconds: float) -> np.ndarray | None:
    """Return where each frame's clip leads up to T times within `seconds` (N, T, 3); None for less
    than a frame.

    A row is the mean velocity in the character's axes, and the total turn. A clip that ends before
    is assumed to go straight on.
    """
    ticks = np.unique(
        np.ceil(
            seconds * database.fps * np.linspace(0, 1, _LOOKAHEAD_SAMPLES + 1)[1:] - 0.5
        ).astype(int)
    )
    ticks = ticks[ticks > 0]
    if not len(ticks):
        return None
    last = (database.stops[database.range_of_frame] - 1)[:, None]
    first = np.minimum(np.arange(database.frame_count)[:, None], last - 1)
    end = np.minimum(first + ticks, last)
    steps = np.concatenate(
        [np.zeros((1, 2)), np.cumsum(database.root_motion[:, :2], axis=0, dtype=np.float64)]
    )
    way = (steps[end] - steps[first]) / (end - first)[..., None]
    turn = database.track[end, 2] - database.track[first, 2]
    return np.concatenate([way, turn[..., None]], axis=-1).astype(np.float32)
