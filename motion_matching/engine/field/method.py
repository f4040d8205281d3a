"""Play a motion field: each tick blends the nearby motion states that serve the goal best.

Source: notebook 003 (Lee et al. 2010): actions among the k nearest neighbours, greedy control,
control by a value function, feet locked by blended contacts, and pushes. Five additions are for
data with all kinds of motion.

- Only states of the desired gait (standing, walking or running) count, and states that soon lead to
  it: where no clip leads from one gait to another, no chain of neighbours does.
- Control looks a little ahead along the clips, and at states somewhat further away. With much data
  the nearest states are all alike and lead to the same.
- A body keeps some of its momentum. The best action changes from tick to tick, and with it the
  velocity of the blend, which would leap.
- A clip at which control halts goes on; see `progress`.
- Where other states serve much better than all around the pose, the field enters them, as motion
  matching does; see `Entries`. So it sets off from standing, and turns round.

Greedy control judges its actions by how near the clips keep to the object's path; see `paths`.
Control by values judges them twice, by the result of the tick and by where the blended clips lead a
little later, because each has its own errors. The mean counts.

With the setting `field` at "notebook" none of this applies; see `notebook`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from ..blending.jump import Jump, MeasureSeams, Seam
from ..control.label_blending import PlayedLabels
from ..control.life.idling import Idling
from ..control.method import Explanation, Goal, Motion
from ..database.database import Database
from ..facts.character import find_played_toes, measure_character_gaze, measure_character_legs
from ..facts.idles import find_idles
from ..facts.motion_limits import MotionLimits
from ..feet.played_toes import PlayedToes, blend_toes
from ..maths.easing import clamp
from ..maths.planar import rotate_xy, wrap
from ..maths.rotations import quat
from ..motion.margins import MARGINS
from ..motion.rest import AT_REST
from ..performance.settings import LARGEST_SPEED, PerformerSettings
from ..performance.start_state import MovingPose
from ..skeleton.skeleton import Skeleton
from .integration import Step, compute_action_weights, integrate, keep_momentum, place_root
from .momentum import Momentum
from .notebook import OneField
from .numbers import NUMBERS
from .paths import TIMES, compute_travel, find_paths, foresee, rate
from .progress import Progress
from .push import Shove
from .states.gaits import (
    SLOW,
    STANDING,
    Entries,
    build_neighbours,
    choose_gait,
    find_gait_states,
    find_played_chains,
)
from .states.neighbours import Metric, Neighbours, compute_similarity_weights, measure_distances
from .states.poses import add_joints, subtract_joints
from .states.states import MotionStates, compute_root_step
from .states.tasks import STRAIGHT_AHEAD, TaskGoal, Tasks
from .states.value_function import Clips, ValueFunction


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


class Wish(NamedTuple):
    """The wish of a tick: its task, and the object's path (T, 3) at the times of clips' paths."""

    task: TaskGoal
    path: np.ndarray


class MotionField:
    """Plays a database as a field of motion; see `Method`.

    It is created with a database and settings of the world.

    Without foresight control is greedy: it chooses the action whose clips keep nearest to the
    object's path within the setting `lookahead`, or if that is 0 the one with the largest reward
    (`Tasks.compute_reward`) of its own tick. Strafing and walking back are always greedy,
    because values assume going straight ahead.
    """

    def __init__(
        self,
        database: Database,
        settings: PerformerSettings,
        metric: Metric | None = None,
        foresight: ValueFunction | None = None,
        name: str = "",
    ) -> None:
        self.world, self.name, settings = database, name, database.scale.to_body(settings)
        self.database = database = database.in_body_units
        self.skeleton: Skeleton = database.skeleton
        self.fps = database.fps
        # the simulation object's point a tick ahead, because at 0 it is the character's; the goal's
        self.trajectory_times = (1.0 / self.fps, *TIMES)
        self.climbs = None
        self.legs = database.derive(measure_character_legs)
        self.gaze = database.derive(measure_character_gaze)
        self.hips = database.roles.hips
        self.acceleration_limits = database.derive(MotionLimits).bones
        self.foresight = foresight
        as_notebook = settings.as_published.field == "notebook"
        choose_metric = Metric.from_notebook if as_notebook else Metric.from_database
        self.metric = metric or choose_metric(database)
        from_database = foresight.build_states if foresight else MotionStates.from_database
        self.states = states = from_database(database)
        _ = states.next_poses  # here, because these take longer than a tick
        self._features = self.metric.compute_state_features(states)
        self._with_odd: bool | None = None  # not known before settings are applied
        self._neighbours_by_gait: list[Neighbours] = []
        self._entries_by_gait: list[Entries] = []
        self.tasks = Tasks(speeds=(0.0, LARGEST_SPEED), tags=database.tag_names)
        self._known_tags = frozenset(database.tag_names)
        tagged = [states.tag_masks[tag] for tag in database.tag_names]
        self._tagged = np.array(tagged, np.float32).reshape(len(tagged), len(states)).T
        self._contacts = states.contacts.astype(np.float32)
        self._toes = database.derive(find_played_toes)[database.successors[states.frames]]
        if foresight:
            self._clip_ticks = max(round(NUMBERS.clip_seconds * self.fps), 1)
            self._clip_travel = compute_travel(database, states, self._clip_ticks / self.fps)
            self._clip_ends = states.find_later(database, self._clip_ticks)
        self._progress = Progress(find_played_chains(database, states), self.fps)
        self._shove = Shove(self.skeleton, database.roles, self.fps)
        parents = self.skeleton.parents
        toes = np.array([leg.toe for leg in database.roles.legs], np.intp)
        self._inertia = Momentum(parents, toes, self.fps)
        self._idles = database.derive(find_idles)
        self._idling = Idling(self._idles, parents, database.fps, database.make_tag_mask)
        self._labels = PlayedLabels(database.tag_names, np.asarray(database.tags))
        self._limits = database.derive(MotionLimits).prepare()
        self._lookahead: float | None = None
        # neighbours of the results of all actions (A, k), and those of the current pose, the result
        # of one of them
        self._action_neighbours: tuple[np.ndarray, ...] = ()
        self._current_neighbours: tuple[Neighbours, np.ndarray, np.ndarray] | None = None
        self.apply(settings)
        self.reset()

    def apply(self, settings: PerformerSettings) -> None:
        self._current_neighbours = None
        field = settings.motion_field
        as_notebook = settings.as_published.field == "notebook"
        self._k, self._favour = int(field.neighbours), int(field.favour)
        self._drift = field.drift
        self._planted_share = field.planted_share
        self._may_idle = settings.life.idle and not as_notebook
        self._labels.apply(settings.coupling.labels)
        self._choose_states(with_odd=settings.search.posture_weight <= 0.0)
        self._play: Callable[[Goal], Motion] = self._play_by_gait
        if as_notebook:
            self._play = partial(self._play_as_notebook, self._one_field)
        if field.lookahead != self._lookahead:
            self._lookahead = field.lookahead
            self._paths = find_paths(self.database, self.states, field.lookahead)

    def _choose_states(self, *, with_odd: bool) -> None:
        """Find the neighbours of each gait, with odd postures among them or without."""
        if with_odd == self._with_odd:
            return
        self._with_odd = with_odd
        masks = find_gait_states(self.database, self.states, with_odd=with_odd)
        followed = self.states.find_followed(self.database)
        self._neighbours_by_gait = build_neighbours(self._features, masks, followed=followed)
        self._entries_by_gait = [
            Entries(self.database, self.states, self._features, mask) for mask in masks
        ]

    def reset(self) -> Motion:
        """Start in an ordinary stance, or where none is known at the state that moves least."""
        steps = self.states.root_steps
        self._shove.reset()
        self._idling.reset()
        self._is_idle = False
        self.decision: Decision | None = None
        self._momentum: np.ndarray
        frame = self._idling.begin() if self._may_idle else -1
        if frame < 0:
            turning = AT_REST.turn_price * steps[:, 2] ** 2
            first = int(np.argmin(steps[:, 0] ** 2 + steps[:, 1] ** 2 + turning))
            frame = int(self.states.frames[first])
        else:
            first = self.states.find_at(frame)
        self.enter(first)
        self._root = steps[first] * np.float32(self.fps)
        contacts = self._contacts[first] > 0.5
        self._frame = frame
        return self._make_motion(contacts)

    def start_from(self, state: MovingPose) -> Motion:
        """Enter the state whose pose and velocities are nearest."""
        self.reset()
        pose = state.pose.copy()
        pose[:, 0] = [0, 0, 0, 1, 0, 0, 0]
        later = state.advance(1.0 / self.fps).astype(np.float32)
        later[2, 0] = 0.0
        here = self.metric.compute_features(pose[None], subtract_joints(later, pose)[None])
        nearest = int(measure_distances(self._features, here).argmin())
        self.enter(nearest)
        entered = _to_jump_state(self._pose, self._velocity, self.fps)
        root = np.nan_to_num(state.root)
        jump = Jump(state.pose, state.velocity, root, *entered)
        self._root, self._frame = entered[2], int(self.states.frames[nearest])
        return self._make_motion(self._contacts[nearest] > 0.5, jump)

    def _idle(self, frame: int) -> Motion:
        """Play on from a frame at which the character stands."""
        states = self.states
        jump = None
        state = states.find_at(frame)
        if self._idles.holds:
            return self._hold(frame, state)
        if frame != self._frame or not (self._is_idle or self.decision is None):
            jump = self._jump_to(state)
        # the next frame of an idle always has a state, too
        self.enter(state + 1)
        self.decision = None
        self._frame = frame + 1
        self._is_idle = True
        self._root = states.root_steps[state] * np.float32(self.fps)
        return self._make_motion(states.contacts[state], jump)

    def _hold(self, frame: int, state: int) -> Motion:
        """Stand still in the pose of a frame, which is that of a state."""
        jump = None
        if not self._is_idle:
            still = np.zeros_like(self._pose)
            still[3] = 1.0  # no rotation
            jump = self._jump_to(state, still)
        self.decision = None
        self._frame = frame
        self._is_idle = True
        self._root = np.zeros_like(self._root)
        standing = np.ones(self._contacts.shape[1], bool)
        return self._make_motion(standing, jump)._replace(holds=True)

    def _enter_better(
        self, gait: int, wish: Wish, measure: MeasureSeams | None, least: float, reach: float
    ) -> Jump | None:
        """Enter the state beyond `reach` that serves a wish best, and better than `least`.

        Return None if there is none, or if a joint would pop: the next tick tries anew.
        """
        entries = self._entries_by_gait[gait]
        rewards = self._reward(wish, entries.states)
        here = self.metric.compute_features(self._pose[None], self._velocity[None])
        state = entries.find_best(rewards, here, least, reach)
        if state < 0:
            return None
        entered = self.states.poses[state], self.states.velocities[state]
        source = _to_jump_state(self._pose, self._momentum, self.fps)
        jump = Jump(*source, *_to_jump_state(*entered, self.fps))
        if measure is not None and self._measure_leap(measure, jump, state) > MARGINS.leap:
            return None
        self._go_on_from(state)  # clips that had halted go on
        return jump

    def _measure_leap(self, measure: MeasureSeams, jump: Jump, state: int) -> float:
        """Return how hard a jump shakes a joint; see `MotionLimits.measure_leaps`."""
        poses = [self.states.poses[state]]
        steps = self.states.motions[state]
        for step in steps:
            pose = add_joints(poses[-1], step)
            pose[:, 0] = poses[0][:, 0]
            poses.append(pose)
        roots = compute_root_step(steps) * np.float32(self.fps)
        hardest = measure([Seam(jump, np.stack(poses[1:]), roots)])
        frame = int(self.states.frames[state])
        return self._limits.measure_leaps(hardest, self._frame, [frame]).item()

    def _jump_to(self, state: int, velocity: np.ndarray | None = None) -> Jump:
        """Enter a state, with its own velocity (7, B) or another one; return the jump there."""
        source = _to_jump_state(self._pose, self._momentum, self.fps)
        self.enter(state)
        if velocity is not None:
            self._velocity = self._momentum = velocity
        return Jump(*source, *_to_jump_state(self._pose, self._velocity, self.fps))

    def enter(self, state: int) -> None:
        """Continue from a state, and forget the motion played so far."""
        self._progress.reset()
        self._go_on_from(state)

    def _go_on_from(self, state: int) -> None:
        self._current_neighbours = None
        self._pose = self.states.poses[state].copy()
        self._velocity = self.states.velocities[state].copy()
        self._momentum = self._velocity
        self._inertia.reset()

    def advance(self, goal: Goal) -> Motion:
        """Advance by one tick with the best action among the neighbours, or a favoured one's.

        Raises DatabaseError for a tag that no frame has.
        """
        return self._play(goal)

    def _read_goal(self, goal: Goal) -> tuple[TaskGoal, np.ndarray, np.ndarray, Jump | None]:
        """Return a goal's task, and the pose and velocity (7, B) of a jump or a push."""
        jump = None if goal.jump_to is None else self._jump(goal.jump_to)
        if goal.push is not None:
            self._shove.push(*goal.push)
        pose, velocity = self._shove.apply(self._pose, self._velocity)
        if not goal.tags <= self._known_tags:
            self.database.make_tag_mask(goal.tags)  # raises, and names the tags
        return _to_task_goal(goal), pose, velocity, jump

    def _play_by_gait(self, goal: Goal) -> Motion:
        """Advance by one tick, as a character that stands idles."""
        idle = self._idling.choose(goal, self._frame, self._root, self._pose)
        if idle >= 0:
            return self._idle(idle)
        task, pose, velocity, jump = self._read_goal(goal)
        plans = self.foresight is not None and -task.course[1] > math.cos(NUMBERS.straight_angle)
        gait = choose_gait(task, self.database.walk_to_run)
        field = self._neighbours_by_gait[gait]
        wish = None if gait == STANDING else self._make_wish(goal, task)  # standing counts at once
        if self._is_idle and jump is None and wish is not None:
            jump = self._enter_better(gait, wish, None, -math.inf, 0.0)
            pose = self._pose
            velocity = self._velocity
        self._is_idle = False
        around, distances, actions = self._find_actions(field, pose, velocity, wish)
        rewards = None if wish is None else self._reward(wish, around, actions)
        may_enter = task.speed > SLOW and not (jump or goal.fading or self._favour)
        if wish is not None and rewards is not None and may_enter:
            best = float(rewards.max())
            reach = float(distances.max())
            jump = self._enter_better(gait, wish, goal.measure_seams, best, reach)
            if jump is not None:
                pose = self._pose
                velocity = self._velocity
                around, distances, actions = self._find_actions(field, pose, velocity, wish)
                rewards = self._reward(wish, around, actions)
        # the step of all actions; where clips give their rewards, only the chosen one is integrated
        step: Step | None = None
        if plans:
            step = integrate(self.states, pose, around, actions, self._drift)
            scores = self._score_actions(field, task, step)
            if wish is not None:
                scores = 0.5 * (scores + self._score_clips(task, around, actions))
        elif rewards is not None:
            scores = rewards
        else:
            step = integrate(self.states, pose, around, actions, self._drift)
            scores = self._reward_step(task, step, actions @ self._tagged.take(around, axis=0))
        chosen = min(self._favour, len(scores)) - 1 if self._favour else int(scores.argmax())
        self._current_neighbours = None
        if plans:
            indices, lengths = (rows[chosen] for rows in self._action_neighbours)
            self._current_neighbours = field, indices, lengths
        weights = actions[chosen]
        most = int(weights.argmax())
        favoured = self._progress.advance(int(around[most]))
        if favoured != around[most]:
            around = around.copy()
            around[most] = favoured
            step = None
            self._current_neighbours = None
        if step is None:
            step = integrate(self.states, pose, around, weights[None], self._drift).select(0)
        else:
            step = step.select(chosen)
        self._inertia.advance(field)
        self._velocity = step.velocity
        before = (pose, self._momentum)
        self._pose, self._momentum, root = keep_momentum(
            self.states, step, before, around, weights, self._inertia.shares
        )
        frames = self.states.frames[around]
        self.decision = Decision(around, frames, weights, scores, chosen, task)
        moving = self._inertia.find_moving(pose, place_root(self._pose, root))
        motion = self._move(root, float(distances[0]), jump)
        contacts = motion.contacts & ~moving
        rows = blend_toes(self._toes.take(around, axis=0), weights, contacts, self._planted_share)
        return motion._replace(
            contacts=contacts, toes=PlayedToes(rows, self._root, jump is not None, blends=True)
        )

    @cached_property
    def _one_field(self) -> OneField:
        return OneField(self.states, self._features, self.metric, self.foresight)

    def _play_as_notebook(self, field: OneField, goal: Goal) -> Motion:
        """Advance by one tick like the notebook."""
        task, pose, velocity, jump = self._read_goal(goal)
        choice = field.choose(task, (pose, velocity), self._k, self._drift, self._favour)
        around, distances, weights, scores, chosen, step = choice
        self._is_idle = False
        self._current_neighbours = None
        self._pose, self._velocity, root = step
        self._momentum = self._velocity
        self.decision = Decision(around, self.states.frames[around], weights, scores, chosen, task)
        return self._move(root, float(distances[0]), jump)

    def _move(self, root: np.ndarray, cost: float, jump: Jump | None) -> Motion:
        """Return the motion of a tick whose root makes a step (3,), by the last decision."""
        assert self.decision is not None
        states, frames, weights = self.decision[:3]
        self._shove.turn(float(root[2]))
        contacts = weights @ self._contacts.take(states, axis=0) >= self._planted_share
        self._frame = int(frames[weights.argmax()])
        self._root = root * np.float32(self.fps)
        labels = self._labels.find_most(frames, weights)
        return self._make_motion(contacts, jump)._replace(cost=cost, labels=labels)

    def _make_motion(self, contacts: np.ndarray, jump: Jump | None = None) -> Motion:
        known = self._labels.get_shares(self._frame), self._limits.find_peak(self._frame)
        return Motion(self._pose, self._root, contacts, jump, self._frame, 0.0, None, *known)

    def _jump(self, tag: str) -> Jump | None:
        """Continue from the nearest state with a tag, if any; DatabaseError for an unknown tag."""
        if tag not in self._known_tags:
            self.database.make_tag_mask({tag})  # raises, and names the tags
        tagged = np.flatnonzero(self.states.tag_masks[tag])
        if not len(tagged):
            return None
        here = self.metric.compute_features(self._pose[None], self._velocity[None])
        nearest = measure_distances(self._features[tagged], here).argmin()
        return self._jump_to(int(tagged[nearest]))

    def _make_wish(self, goal: Goal, task: TaskGoal) -> Wish | None:
        """Return the wish of a tick; None if clips are not looked at."""
        if self._paths is None:
            return None
        return Wish(task, foresee(goal.trajectory, self._paths.shares))

    def _find_actions(
        self, field: Neighbours, pose: np.ndarray, velocity: np.ndarray, wish: Wish | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return states around a pose (k,), their distances (k,), and actions (k, k) of them."""
        around, distances = self._find_neighbours(field, pose, velocity, wish is not None)
        if wish is not None:
            around, distances = self._select_neighbours(wish, around, distances)
        return around, distances, compute_action_weights(compute_similarity_weights(distances))

    def _find_neighbours(
        self, field: Neighbours, pose: np.ndarray, velocity: np.ndarray, looks_ahead: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return indices and distances (n,) of k states around a pose, more when looking ahead.

        The neighbours that foresight found in the last tick are reused if they suffice.
        """
        current = self._current_neighbours
        if not looks_ahead and current is not None and current[0] is field and pose is self._pose:
            return current[1], current[2]
        count = NUMBERS.wider_search * self._k if looks_ahead else self._k
        features = self.metric.compute_features(pose[None], velocity[None])
        indices, distances = field.find_nearest(features, count, apart=looks_ahead)
        return indices[0], distances[0]

    def _select_neighbours(
        self, wish: Wish, around: np.ndarray, distances: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Select k of the states around a pose and their distances (n,).

        These are the nearest, and the best rewarded of others not much further away, which lead on
        where all of the nearest are equally wrong. A pose off the field gets only the nearest,
        which bring it back.
        """
        near = self._k - int(NUMBERS.further_share * self._k)
        reach = distances[: self._k].max()
        if near >= min(self._k, len(around)) or distances[0] > NUMBERS.on_field_share * reach:
            return around[: self._k], distances[: self._k]
        others = near + (distances[near:] <= NUMBERS.further_reach * reach).nonzero()[0]
        rewards = self._reward(wish, around[others])
        best = others[np.argsort(-rewards, kind="stable")]
        selected = np.concatenate([np.arange(near), np.sort(best[: self._k - near])])
        return around[selected], distances[selected]

    def _reward_step(self, goal: TaskGoal, step: Step, tagged: np.ndarray) -> np.ndarray:
        """Return the rewards (A,) of a tick's step for actions with shares of tags (A, tags)."""
        speed = compute_pace(step.root, goal.course) * np.float32(self.fps)
        return self.tasks.compute_reward(goal, step.root[:, 2], speed, tagged)

    def _reward(
        self, wish: Wish, states: np.ndarray, actions: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the rewards of states (k,), or actions (A, k), for where their clips lead."""
        assert self._paths is not None
        tagged = self._tagged.take(states, axis=0)
        places = self._paths.places.take(states, axis=0)
        if actions is not None:
            tagged = actions @ tagged
            places = _blend(actions, places)
        return rate(places, wish.path) + self.tasks.reward_tags(wish.task, tagged)

    def _score_actions(self, field: Neighbours, goal: TaskGoal, step: Step) -> np.ndarray:
        """Return the scores of actions (A,) by their rewards and results."""
        assert self.foresight is not None
        features = self.metric.compute_features(step.pose, step.velocity)
        indices, distances = self._action_neighbours = field.find_nearest(features, self._k)
        speed = compute_pace(step.root, goal.course) * np.float32(self.fps)
        weights = compute_similarity_weights(distances)
        return self.foresight.score(goal, step.root[:, 2], speed, indices, weights)

    def _score_clips(self, goal: TaskGoal, around: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Return the scores of actions (A, k) by where the clips of the states around (k,) lead."""
        assert self.foresight is not None
        along = self._clip_travel.take(around, axis=0)
        clips = Clips(around, self._clip_ends.take(around), along[:, -1, 2], self._clip_ticks)
        root = _blend(actions, along)
        speed = compute_pace(root, goal.course)
        return self.foresight.score_clips(goal, root[..., 2], speed, clips, actions)

    def explain(self, count: int) -> Explanation | None:
        """Return None: a field has no search whose candidates have costs; see `decision`."""
        return None


def _to_task_goal(goal: Goal) -> TaskGoal:
    """Return the goal of a tick as a task."""
    now = goal.trajectory[0]
    ahead = goal.trajectory[-1]
    speed = math.hypot(ahead.vx, ahead.vy)
    course = STRAIGHT_AHEAD
    if speed > SLOW:
        course = rotate_xy(ahead.vx / speed, ahead.vy / speed, -ahead.yaw)
    # on the side to which the simulation object turns: it would hold back the other turn
    direction = clamp(wrap(now.yaw) + wrap(ahead.yaw - now.yaw), math.pi)
    return TaskGoal(direction, speed, goal.tags, course)


def _to_jump_state(
    pose: np.ndarray, velocity: np.ndarray, fps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pose, velocities (6, B) and root velocity (3,) per second, as in `Jump`."""
    turning = quat.mul_vec(pose[3:].T, quat.to_scaled_angle_axis(velocity[3:].T)).T
    velocities = np.concatenate([velocity[:3], turning])
    rate = np.float32(fps)
    return pose, velocities * rate, compute_root_step(velocity) * rate


def _blend(weights: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return the weighted means (A, T, 3) of parts (K, T, 3) by weights (A, K)."""
    return (weights @ parts.reshape(len(parts), -1)).reshape(len(weights), *parts.shape[1:])


def compute_pace(root: np.ndarray, course: tuple[float, float] = STRAIGHT_AHEAD) -> np.ndarray:
    """Return the way of the root's steps (..., 3) along a course, less the way to its side."""
    x, y = course
    along = np.array((x, y, 0.0), np.float32)
    aside = np.array((y, -x, 0.0), np.float32)
    return root.dot(along) - np.abs(root.dot(aside))
