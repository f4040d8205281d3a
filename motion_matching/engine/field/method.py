"""Motion fields as a method: each tick blends the motion states around the one that is, as serves the wish best.

Source: notebook 003 (Lee et al. 2010): actions among the k nearest neighbours, greedy control, control by a value
function, feet locked by blended contacts, and pushes. Two things are added for data of all kinds of motion: only states of
the gait that is wanted count, of standing, walking or running, with those that soon come to it, as where no clip leads from
one gait to another, no chain of neighbours does; and control looks a little ahead along the clips and aside to states that
are not much further, for the more data there is, the more the nearest are all of one kind and lead to the same. By that
greedy control judges its actions. Control by values judges them twice, as either way misses in places of its own: by where
their own tick leads, and by where the clips that they blend lead a little later; what counts is the mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from ..control.method import Explanation, Goal, Jump, Motion
from ..control.settings import LARGEST_SPEED, WALK_TO_RUN, PerformerSettings
from ..control.trajectory import clipped, turned, wrap
from ..matching.database import Database, legs_of
from ..maths import quat
from ..motion.skeleton import Skeleton
from .actions import action_weights
from .integration import Step, step
from .neighbours import Metric, Neighbours, similarity_weights
from .push import Shove
from .states import MotionStates, root_step
from .tasks import Tasks, Wish
from .value_function import Clips

_AHEAD = 1.0  # seconds within which a wish is taken for what it settles at
STANDING, WALKING, RUNNING = range(3)
_SOON = {
    STANDING: 1.0,
    WALKING: 0.2,
    RUNNING: 0.5,
}  # seconds within which a state that comes to a gait counts as of it
_WIDE = 4  # times as many states as count are looked at where clips lead
_SERVING, _FURTHER = 1 / 3, 1.5  # share of those that count which may be further, and times how far
_BETWEEN = (
    0.6  # of the way to those that count, up to which a pose lies among them, not off the field
)
_LOOKS = 4  # times within the lookahead at which actions are rewarded
_SLOW, _STEADY = 0.2, 0.5  # m/s and rad/s up to which a body stands
_ASTRAY = math.radians(10.0)  # of heading, from which a body that stands has to turn
_ALONG = 0.3  # seconds along the clips that control by values looks
_STRAIGHT = math.radians(35.0)  # off straight ahead, up to which values know what a way is worth


class Foresight(Protocol):
    """What tells how much actions (A,) are worth by where they lead; see `ValueFunction`."""

    def states_in(self, database: Database) -> MotionStates: ...

    def score(
        self,
        wish: Wish,
        turn: np.ndarray,
        speed: np.ndarray,
        indices: np.ndarray,
        weights: np.ndarray,
    ) -> np.ndarray: ...

    def score_clips(
        self, wish: Wish, turn: np.ndarray, speed: np.ndarray, clips: Clips, weights: np.ndarray
    ) -> np.ndarray: ...


class Decision(NamedTuple):
    """The last choice, for those who look: neighbours (k,) as states and frames, their weights in what was done, what all
    actions were worth, which was chosen, and for what."""

    states: np.ndarray
    frames: np.ndarray
    weights: np.ndarray
    scores: np.ndarray
    chosen: int
    wish: Wish


class MotionField:
    """Plays a database as a field of motion; see `Method`.

    Without foresight control is greedy: the action is chosen that is rewarded most (`Tasks.reward`) for where the clips of
    its neighbours lead within the settings' `lookahead`, or for its own tick. With it too, to strafe and to go back: the
    values are of going straight ahead.
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
        # a tick ahead is the simulation object, while at no time a trajectory tells where the character itself is
        self.trajectory_times = (1.0 / self.fps, _AHEAD)
        self.legs = legs_of(database)
        self.hips = database.roles.hips
        self.acceleration_limits = np.array(database.limits)
        self.foresight = foresight
        self.metric = metric or Metric.default(database)
        self.states = (
            foresight.states_in(database) if foresight else MotionStates.from_database(database)
        )
        self._features = self.metric.of_states(self.states)
        masks, followed = gaits(database)[1][:, self.states.frames], self.states.followed(database)
        self._fields = fields_of(self._features, masks, followed=followed)
        self.tasks = Tasks(speeds=(0.0, LARGEST_SPEED), tags=database.tag_names)
        self._known_tags = frozenset(database.tag_names)
        tagged = [self.states.tag_masks[tag] for tag in database.tag_names]
        self._tagged = np.array(tagged, np.float32).reshape(len(tagged), len(self.states)).T
        self._contacts = self.states.contacts.astype(np.float32)
        if foresight:
            self._ticks_along = max(round(_ALONG * self.fps), 1)
            along = travel(database, self._ticks_along / self.fps)
            assert along is not None  # as that is a tick or more
            self._along, self._ends = (
                along[self.states.frames],
                self.states.later(database, self._ticks_along),
            )
        self._shove = Shove(self.skeleton, database.roles, self.fps)
        self._per_second = np.array([self.fps, self.fps, 1.0], np.float32)
        self._lookahead: float | None = None
        # what surrounds the results of all actions (A, k), and the pose that one of them has become
        self._results: tuple[np.ndarray, ...] = ()
        self._found: tuple[Neighbours, np.ndarray, np.ndarray] | None = None
        self.apply(settings)
        self.reset()

    def apply(self, settings: PerformerSettings) -> None:
        self._found = None
        self._k, self._drift, self._planted = (
            int(settings.neighbours),
            settings.drift,
            settings.planted_share,
        )
        self._favour = int(settings.favour)
        if settings.lookahead != self._lookahead:
            self._lookahead = settings.lookahead
            soon = travel(self.database, settings.lookahead)
            self._soon: np.ndarray | None = None if soon is None else soon[self.states.frames]

    def reset(self) -> Motion:
        """Start at the calmest state."""
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
        """Go on from a state."""
        self._found = None
        self._pose, self._velocity = (
            self.states.poses[state].copy(),
            self.states.velocities[state].copy(),
        )

    def advance(self, goal: Goal) -> Motion:
        """One tick on, by the best action among the neighbours or that of the favoured one. DatabaseError for a tag that no
        frame has."""
        jump = None if goal.jump_to is None else self._jump(goal.jump_to)
        if goal.push is not None:
            self._shove.push(*goal.push)
        pose, velocity = self._shove.apply(self._pose, self._velocity)
        if not goal.tags <= self._known_tags:
            self.database.tag_mask(goal.tags)  # tells which there are
        wish, way = _wish(goal)
        plans = self.foresight is not None and -way[1] > math.cos(_STRAIGHT)
        if not plans and self._soon is not None:
            # one that faces elsewhere would run away from where it is wanted: it has to turn first, and then to go
            wish = Wish(wish.direction, wish.speed * max(math.cos(wish.direction), 0.0), wish.tags)
        # states of standing are so many and so alike that no neighbour leads away from there
        stands = wish.speed < _SLOW and abs(wish.direction) < _ASTRAY
        field = self._fields[
            STANDING if stands else RUNNING if wish.speed > WALK_TO_RUN else WALKING
        ]
        around, distances = self._neighbours_of(field, pose, velocity)
        soon = self._soon_in(field)
        if soon is not None:
            around, distances = self._serving(soon, wish, way, around, distances)
        actions = action_weights(similarity_weights(distances))
        led: Step | None = (
            None  # of all actions; where clips tell what they are worth, only the chosen one is integrated
        )
        if plans:
            led = step(self.states, pose, around, actions, self._drift)
            scores = self._foreseen(field, wish, way, led)
            if soon is not None:
                scores = 0.5 * (scores + self._foreseen_along(wish, way, around, actions))
        else:
            if soon is None:
                led = step(self.states, pose, around, actions, self._drift)
                root = (led.root * self._per_second)[:, None]
            else:
                root = _blended(actions, soon.take(around, axis=0))
            scores = self._reward(wish, way, root, actions @ self._tagged.take(around, axis=0))
        chosen = min(self._favour, len(scores)) - 1 if self._favour else int(scores.argmax())
        self._found = (field, *(found[chosen] for found in self._results)) if plans else None
        weights = actions[chosen]
        if led is None:
            done = (part[0] for part in step(self.states, pose, around, weights[None], self._drift))
        else:
            done = (part[chosen] for part in led)
        self._pose, self._velocity, root = done
        self._shove.turned(float(root[2]))
        self.decision = Decision(around, self.states.frames[around], weights, scores, chosen, wish)
        contacts = weights @ self._contacts.take(around, axis=0) >= self._planted
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
        """Go on from the nearest state that carries a tag; None where none does. DatabaseError where the tag is unknown."""
        if tag not in self._known_tags:
            self.database.tag_mask({tag})  # tells which there are
        there = np.flatnonzero(self.states.tag_masks[tag])
        if not len(there):
            return None
        left = _instant(self._pose, self._velocity, self.fps)
        away = self._features[there] - self.metric.features(self._pose[None], self._velocity[None])
        self.enter(
            int(
                there[
                    np.linalg.norm(away.reshape(len(there), -1, 3), axis=-1).sum(axis=-1).argmin()
                ]
            )
        )
        return Jump(*left, *_instant(self._pose, self._velocity, self.fps))

    def _neighbours_of(
        self, field: Neighbours, pose: np.ndarray, velocity: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices and distances (n,) of the states around a pose, as many as count or more where clips are looked at.

        What foresight has found is not looked for again where it is enough.
        """
        aside = self._soon_in(field) is not None
        if not aside and self._found is not None and self._found[0] is field and pose is self._pose:
            return self._found[1], self._found[2]
        count = _WIDE * self._k if aside else self._k
        indices, distances = field.nearest(
            self.metric.features(pose[None], velocity[None]), count, apart=aside
        )
        return indices[0], distances[0]

    def _soon_in(self, field: Neighbours) -> np.ndarray | None:
        """Where clips lead from all states (S, T, 3), if that counts; a body that is to stand has to now."""
        return None if field is self._fields[STANDING] else self._soon

    def _serving(
        self,
        soon: np.ndarray,
        wish: Wish,
        way: tuple[float, float],
        around: np.ndarray,
        distances: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of the states around and their distances (n,) the k that count: the nearest, and those that serve best of others
        that are not much further. Where all of the nearest are as wrong, these lead out of there.

        A pose off the field is to come back first: those around it hold it there, the further the more.
        """
        near = self._k - int(_SERVING * self._k)
        reach = distances[: self._k].max()
        if near >= min(self._k, len(around)) or distances[0] > _BETWEEN * reach:
            return around[: self._k], distances[: self._k]
        others = near + (distances[near:] <= _FURTHER * reach).nonzero()[0]
        found = around[others]
        reward = self._reward(wish, way, soon.take(found, axis=0), self._tagged.take(found, axis=0))
        best = others[np.argsort(-reward, kind="stable")]
        kept = np.concatenate([np.arange(near), np.sort(best[: self._k - near])])
        return around[kept], distances[kept]

    def _reward(
        self, wish: Wish, way: tuple[float, float], root: np.ndarray, tagged: np.ndarray
    ) -> np.ndarray:
        """What it brings (A,) to go as `root` (A, T, 3) does at some times, among states with these shares of tags.

        What counts is the whole way: by its end alone, one that is about to set out would never do so.
        """
        reward = self.tasks.reward(wish, root[..., 2], pace(root, way), tagged[:, None])
        return np.add.reduce(reward, axis=1) / reward.shape[1]

    def _foreseen(
        self, field: Neighbours, wish: Wish, way: tuple[float, float], led: Step
    ) -> np.ndarray:
        """How much each action (A,) is worth by what it is rewarded and where it leads."""
        assert self.foresight is not None
        indices, distances = self._results = field.nearest(
            self.metric.features(led.pose, led.velocity), self._k
        )
        speed = pace(led.root, way) * np.float32(self.fps)
        return self.foresight.score(
            wish, led.root[:, 2], speed, indices, similarity_weights(distances)
        )

    def _foreseen_along(
        self, wish: Wish, way: tuple[float, float], around: np.ndarray, actions: np.ndarray
    ) -> np.ndarray:
        """The same (A,) by where the clips of the states around (k,) lead that actions (A, k) blend."""
        assert self.foresight is not None
        along = self._along.take(around, axis=0)
        clips = Clips(around, self._ends.take(around), along[:, -1, 2], self._ticks_along)
        root = _blended(actions, along)
        return self.foresight.score_clips(wish, root[..., 2], pace(root, way), clips, actions)

    def explain(self, count: int) -> Explanation | None:
        """Nothing: a field has no search whose candidates have costs; see `decision`."""
        return None


def _wish(goal: Goal) -> tuple[Wish, tuple[float, float]]:
    """What is wanted, and the way to go as one sees it who faces where it is wanted: (0, -1) is straight ahead."""
    now, ahead = goal.trajectory[0], goal.trajectory[-1]
    speed = math.hypot(ahead.vx, ahead.vy)
    way = turned(ahead.vx / speed, ahead.vy / speed, -ahead.yaw) if speed > _SLOW else (0.0, -1.0)
    # on the side to which the simulation object turns, as it would hold back what comes the other way round
    direction = clipped(wrap(now.yaw) + wrap(ahead.yaw - now.yaw), math.pi)
    return Wish(direction, speed, goal.tags), way


def _instant(
    pose: np.ndarray, velocity: np.ndarray, fps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A state (7, B) as jumps have it: its pose, and per second the velocities (6, B) and those of the root (3,)."""
    turning = quat.mul_vec(pose[3:].T, quat.to_scaled_angle_axis(velocity[3:].T)).T
    return (
        pose,
        np.concatenate([velocity[:3], turning]) * np.float32(fps),
        root_step(velocity) * np.float32(fps),
    )


def _blended(weights: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Means (A, T, 3) of parts (K, T, 3) by weights (A, K)."""
    return (weights @ parts.reshape(len(parts), -1)).reshape(len(weights), *parts.shape[1:])


def pace(root: np.ndarray, way: tuple[float, float] = (0.0, -1.0)) -> np.ndarray:
    """How far steps of the root (..., 3) lead on a way in the character's axes, less how far they lead off it aside."""
    x, y = way
    along, aside = np.array((x, y, 0.0), np.float32), np.array((y, -x, 0.0), np.float32)
    return root.dot(along) - np.abs(root.dot(aside))


def gaits(database: Database) -> tuple[np.ndarray, np.ndarray]:
    """The gait of every frame (N,), and the frames (3, N) that count as of each: those too that come to it soon."""
    motion, ranges = database.root_motion, database.range_of_frame
    speed = np.hypot(motion[:, 0], motion[:, 1])
    goes = (speed > _SLOW) | (np.abs(motion[:, 2]) > _STEADY)
    gait = np.where(speed > WALK_TO_RUN, RUNNING, np.where(goes, WALKING, STANDING))
    count = np.empty((len(_SOON), len(gait)), bool)
    for number, seconds in _SOON.items():
        own = count[number] = gait == number
        own = own.copy()
        for later in range(1, round(seconds * database.fps) + 1):
            count[number, :-later] |= own[later:] & (ranges[later:] == ranges[:-later])
    return gait, count


def fields_of(
    features: np.ndarray,
    masks: np.ndarray,
    fewest: int = 1,
    followed: np.ndarray | None = None,
    told: Callable[[], None] = lambda: None,
) -> list[Neighbours]:
    """Neighbours among the states (3, S) of each gait; where these are too few, among all that go, or all.

    `told` is called before each, and may raise to stop.
    """
    goes = masks[WALKING] | masks[RUNNING]
    result = []
    for gait, mask in enumerate(masks):
        told()
        kinds = (mask,) if gait == STANDING else (mask, goes)
        result.append(
            Neighbours(
                features, next((kind for kind in kinds if kind.sum() >= fewest), None), followed
            )
        )
    return result


def travel(database: Database, seconds: float) -> np.ndarray | None:
    """Where each frame's clip leads up to some times within `seconds` (N, T, 3): the mean velocity in the axes that the
    character has then, and the turn as a whole.

    Where a clip ends before, it is taken to go straight on; None where the time is less than a frame.
    """
    ticks = np.unique(
        np.ceil(seconds * database.fps * np.linspace(0, 1, _LOOKS + 1)[1:] - 0.5).astype(int)
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
