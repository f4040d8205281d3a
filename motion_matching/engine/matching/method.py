"""Play a database by motion matching: go on from the frame, or jump to the one that fits best."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..blending.jump import Jump, MeasureSeams, Seam
from ..control.label_blending import PlayedLabels
from ..control.life.idling import Idling
from ..control.method import Candidate, Explanation, Goal, Motion
from ..control.trajectory import TrajectoryPoint
from ..database.database import Database
from ..database.features.features import Schema
from ..database.features.kinds.base import PathKind
from ..database.frame_names import find_frame
from ..errors import DatabaseError, SettingsError
from ..facts.avoided_postures import price_frames
from ..facts.bearing import WalkBearing
from ..facts.character import (
    find_played_toes,
    measure_character_gaze,
    measure_character_legs,
    measure_climb_speeds,
)
from ..facts.idles import find_idles, find_moving_frames, find_settling_frames
from ..facts.motion_limits import MotionLimits
from ..ground.footholds import Footing
from ..motion.margins import MARGINS
from ..motion.rest import AT_REST
from ..performance.settings import PerformerSettings, Search
from ..performance.start_state import MovingPose
from ..skeleton.skeleton import Skeleton
from . import price_choice, similar_frames
from .cost_terms import CostTerm, TermContext, check_terms, measure_terms
from .differences import Differences
from .fitted_features import FittedFeatures, measure_normalization
from .moments import Moment, Moments
from .numbers import NUMBERS
from .price_choice import NearestSearch
from .search import FrameIndex, FrameMask
from .support import SupportPrice, measure_gone
from .tempo import LiveTempo, measure_velocities

_UNTURNED = math.cos(AT_REST.aside)  # largest turn with which a trajectory still ends at rest


class MotionMatching:
    """Plays a database; see `Method`. It is created with one of the world, and such settings.

    The pose part of a query comes from the features of the current frame, never from the blended
    pose, so a search compares like with like (notebook 000, Player; Holden's controller).
    """

    def __init__(
        self, database: Database, settings: PerformerSettings, terms: Sequence[CostTerm] = ()
    ) -> None:
        self.world, settings = database, database.scale.to_body(settings)
        self.database = database = database.in_body_units
        self.terms = check_terms(terms)
        self.skeleton: Skeleton = database.skeleton
        self.fps = database.fps
        self.legs = database.derive(measure_character_legs)
        self.gaze = database.derive(measure_character_gaze)
        self.hips = database.roles.hips
        self.acceleration_limits = database.derive(MotionLimits).bones
        schema = database.schema
        self.trajectory_times = schema.trajectory_times
        self._contacts = np.asarray(database.contacts)
        self._moments, self._tempo = Moments(database), LiveTempo(database)
        loops = np.array([each.loop for each in database.ranges])
        gone = measure_gone(database.track, self._contacts, database.starts, loops)
        self._support = SupportPrice(database.derive(find_played_toes), gone)
        self._footing = _measure_footing(database)
        self.climbs = database.derive(measure_climb_speeds)
        self._successors = database.successors
        self._limits, self._bearing = (
            database.derive(MotionLimits).prepare(),
            database.derive(WalkBearing),
        )
        kinds = dict.fromkeys(feature.definition for feature in schema.features)
        self._goal_kinds = [kind for kind in kinds if isinstance(kind, PathKind)]
        self._goal_values, self._goal_dims = _map_goal_dimensions(schema, self._goal_kinds)
        self._settings = settings
        self.features = FittedFeatures(database).fit(settings)
        self._index = self._make_index(settings.search, self.features)
        self._settles = find_settling_frames(database)
        self._moves, self._soon, self._leads = find_moving_frames(database)
        self._masks: dict[frozenset[str], _TagMask] = {}
        self._own_masks: list[_TagMask | None] = []
        self._labels = PlayedLabels(database.tag_names, np.asarray(database.tags))
        self._at_rest, self._moving = (
            (speed * database.pace) ** 2 for speed in (AT_REST.speed, AT_REST.moving)
        )
        self._last: _Search | None = None
        self._jumps: dict[int, Jump] = {}  # of the tick, each to its frame
        parents = database.skeleton.parents
        self._idles = database.derive(find_idles)
        self._idling = Idling(self._idles, parents, database.fps, database.make_tag_mask)
        self.apply(settings)
        self.reset()

    def apply(self, settings: PerformerSettings) -> None:
        """Take new settings; the next search uses new weights."""
        old = self._settings.search
        fitted = self.features.fit(settings)
        search = settings.search
        others = fitted is not self.features or old.weights != search.weights
        renews = (old.end_guard, old.posture_weight) != (search.end_guard, search.posture_weight)
        if renews:
            self._index = self._make_index(search, fitted)
        elif others:
            features = self._weigh_features(search, fitted, self._allowed)
            self._index = self._differences.reweight(self._index, features)
        if others or renews:
            # masks and the last search belong to the previous index
            self._masks = {}
            self._own_masks = []
            self._last = None
        # last, so that refused settings change nothing
        self._settings = settings
        self._labels.apply(settings.coupling.labels)
        self._tempo.apply(search.tempo / 100.0)
        self._search_ticks = max(round(search.search_interval * self.fps), 1)
        self._around: dict[str, Any] = {
            "surroundings": round(search.surroundings * self.fps),
            "skip_ahead": search.skip_ahead,
        }

    def _make_index(self, search: Search, fitted: FittedFeatures) -> FrameIndex:
        allowed = self.database.find_candidates(search.end_guard)
        if not allowed.any():
            raise DatabaseError(
                "No frame of the database may be entered; lower the end guard or add longer clips."
            )
        # last, because it prepares the rows for these settings, which must not be refused any more
        features = self._weigh_features(search, fitted, allowed)
        self._bias = price_frames(self.database, search.posture_weight)
        known = self.database.recall(find_search_order) if search.weights is None else None
        order = known[0] if known else None
        return self._differences.make_index(features, allowed, self._bias, order)

    @property
    def search_order(self) -> np.ndarray:
        """The order (M,) in which the search has the frames that it may enter."""
        return self._index.order

    def _weigh_features(
        self, search: Search, fitted: FittedFeatures, allowed: np.ndarray
    ) -> np.ndarray:
        """Normalize and weight features (D, N); prepare rows and how a goal enters a query."""
        schema = self.database.schema
        normalization = fitted.normalization
        if search.weights is not None:
            schema = schema.with_weights(search.weights)
        scale = normalization.compute_scale(schema.weights)
        if not scale.any():
            raise DatabaseError(
                "All frames of the database look alike with these weights; raise the weight of "
                "another feature, or build from clips that move."
            )
        self.features = fitted
        used = normalization.varies
        dims = np.flatnonzero(used)
        # constant dimensions are left out of rows and queries
        columns = np.full(len(used), -1)
        columns[dims] = np.arange(len(dims))
        moving = [k for k, d in enumerate(self._goal_dims) if used[d]]
        goal_dims = self._goal_dims[moving]
        self._goal_pick = self._goal_values[moving]
        self._goal_columns = columns[goal_dims]
        self._goal_mean = normalization.mean[goal_dims]
        self._goal_scale = scale[goal_dims]
        self._differences = Differences(schema, dims)
        features = fitted.values[dims]
        features -= normalization.mean[dims, None]
        features *= scale[dims, None]
        self._rows = np.ascontiguousarray(features.T)
        self._allowed = allowed
        self._goal_range = self._find_goal_range(features)
        return features

    def _find_goal_range(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the range (G,) of wishes that the data distinguishes."""
        if self.database.schema.normalization != "feature":
            return np.array(-np.inf), np.array(np.inf)
        allowed = np.flatnonzero(self._allowed)
        goals = features[self._goal_columns].take(allowed, axis=1)
        least, most = goals.min(axis=1), goals.max(axis=1)
        beyond = NUMBERS.beyond_data * (most - least)
        return least - beyond, most + beyond

    def reset(self) -> Motion:
        """Start in an ordinary stance, which is held where no data stands.

        A character that does not idle starts at the calmest frame that may be entered.
        """
        allowed = np.flatnonzero(self._allowed)
        vx, vy, turn = self._moments.root_motion[allowed].T
        calmest = np.argmin(vx**2 + vy**2 + AT_REST.turn_price * turn**2)
        self._frame = int(allowed[calmest])
        self._share = 0.0
        self._tempo.reset()
        self._ticks_to_search = 0
        self._waited = 0  # ticks that jumps have waited in a row
        self._idling.reset()
        start = self._idling.begin() if self._settings.life.idle else -1
        self._is_held = start >= 0 and self._idles.holds
        if start >= 0:
            self._frame = start
        self._since_stood = 0.0 if start >= 0 else math.inf  # seconds
        self._last = None
        self.last_cost = 0.0
        return self._make_motion(self._moments.root_motion[self._frame], None)

    def start_from(self, state: MovingPose) -> Motion:
        """Enter the frame with the nearest pose and velocities, if it may be entered.

        Features choose some; the joints of the whole body, now and a tick later, decide.
        """
        self.reset()
        self._idling.reset()
        self._is_held = False
        self._since_stood = math.inf
        allowed = np.flatnonzero(self._allowed)
        nearest = similar_frames.find_like(self.database, state, allowed)
        self._frame = int(nearest[np.argmin(self._compare_bodies(state, nearest))])
        self._ticks_to_search = self._search_ticks
        source = state.pose, state.velocity, state.root
        jump = Jump(*source, *self._get_state(self._frame))
        return self._make_motion(self._moments.root_motion[self._frame], jump)

    def find_similar(self, state: MovingPose, count: int, apart: int) -> list[tuple[int, float]]:
        """Return the `count` frames with bodies most like a moving pose, and their differences.

        Frames within `apart` of a better one are left out.
        """
        frames = similar_frames.find_like(
            self.database, state, np.arange(self.database.frame_count)
        )
        costs = self._compare_bodies(state, frames)
        order = np.argsort(costs, kind="stable")
        return list(islice(_list_apart(frames[order], costs[order], apart), count))

    def _compare_bodies(self, state: MovingPose, frames: np.ndarray) -> np.ndarray:
        """Return how far all joints of frames (K,) are from those of a state, now and soon."""
        states = [MovingPose(*self._get_state(frame)) for frame in frames.tolist()]
        return similar_frames.compare_bodies(self.database, state, states)

    def advance(self, goal: Goal) -> Motion:
        """Go one frame on, after a search if one is due, or idle."""
        frame = self._frame
        pose, _, root = self._moments.get_state(self._moment)
        idle = self._idling.choose(goal, frame, root, pose)
        self._since_stood = 0.0 if idle >= 0 or goal.rests else self._since_stood + 1.0 / self.fps
        if idle >= 0:
            return self._idle(idle)
        self._tempo.ask(goal.trajectory)
        goal = goal._replace(trajectory=self._tempo.slow_down(goal.trajectory))
        successor = self._successors.item(frame)
        mask = self._get_tag_mask(goal.tags)
        leave = successor < 0 or goal.jump_to is not None or self._is_held
        leave = leave or (mask is not None and not mask.allowed[successor])
        self._ticks_to_search -= 1
        jump = None
        # overlapping jumps would add up while they fade; only a search at every tick does not wait
        fading = goal.fading and self._search_ticks > 1 and self._settings.search.wait
        waits = self._ticks_to_search > 0 or fading
        chosen = None if goal.enter is None else self._find_entry(goal.enter)
        if leave or goal.sharp or not waits or chosen is not None:
            self._ticks_to_search = self._search_ticks
            self._jumps = {}
            best = self._search(goal, frame, mask, leave, chosen)
            if best != frame or self._is_held:
                jump = self._make_jump(best)
                self._frame = best
                self._share = 0.0
                self._is_held = False
        self._tempo.go_on(self._frame)
        return self._go_on(jump)

    @property
    def _moment(self) -> Moment:
        return Moment(self._frame, self._share)

    def _go_on(self, jump: Jump | None) -> Motion:
        (self._frame, self._share), root = self._moments.go_on(self._moment, self._tempo.rate)
        return self._make_motion(root, jump)

    def _idle(self, frame: int) -> Motion:
        """Play on from a frame at which the character stands."""
        jump = None
        holds = self._idles.holds
        if frame != self._frame or holds > self._is_held:
            source = self._get_played_state()
            self._is_held = holds
            target = self._get_held_state(frame) if holds else self._get_state(frame)
            jump = Jump(*source, *target)
            # no search led here
            self._last = None
            self.last_cost = 0.0
            self._frame = frame
            self._share = 0.0
        self._tempo.reset()
        self._ticks_to_search = 0  # once the goal moves there is one at once
        if holds:
            return self._make_motion(self._moments.root_motion[frame], jump)
        return self._go_on(jump)

    def _make_motion(self, root: np.ndarray, jump: Jump | None) -> Motion:
        frame = self._frame
        rate = self._tempo.rate
        moments = self._moments
        pose = moments.get_pose(self._moment)
        contacts = moments.get_contacts(self._moment)
        toes = footing = None
        if self._is_held:
            root = np.zeros_like(root)
            contacts = np.ones_like(contacts)
        else:
            toes = moments.get_toes(self._moment, rate, root, jump is not None)
            footing = self._footing[frame] if self._footing else None
            footing = footing and moments.get_footing(footing, self._share, rate)
        known = toes, self._labels.get_shares(frame), self._limits.find_peak(frame)
        played_so_far = frame, self.last_cost, *known
        more = self._is_held, footing, self._share, rate
        return Motion(pose, root, contacts, jump, *played_so_far, *more)

    def _get_played_state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return pose (7, B), velocities (6, B) and root velocity (3,) of the played moment."""
        if self._is_held:
            return self._get_held_state(self._frame)
        return self._moments.get_state(self._moment, self._tempo.rate)

    def _get_held_state(self, frame: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the same of a frame that is held."""
        pose, velocities, root = self._get_state(frame)
        return pose, np.zeros_like(velocities), np.zeros_like(root)

    def _get_state(self, frame: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return pose (7, B), velocities (6, B) and root velocity (3,) of a frame."""
        return self._moments.get_state(Moment(frame), self._tempo.rate)

    def _find_entry(self, name: str) -> int | None:
        """Return the frame of a name, or None if the database has none that can be played."""
        try:
            frame = find_frame(self.database, name)
        except SettingsError:  # the performance is of other data
            return None
        return frame if self.database.playable[frame] else None

    def _search(
        self,
        goal: Goal,
        frame: int,
        mask: _TagMask | None,
        leave: bool,
        chosen: int | None = None,
    ) -> int:
        """Return the best frame to go on with, or the one that was `chosen` before."""
        started = time.perf_counter()
        query = self._make_query(goal.trajectory, frame)
        context = self._make_context(goal, frame)
        continuing = self._measure_cost(query, frame, context)
        bound = math.inf if leave else continuing - self._settings.search.continuing_bias
        if goal.jump_to is not None:
            mask = self._get_tag_mask(frozenset({goal.jump_to}))
        elif mask is None and (restriction := self.restrict(goal.trajectory, frame)):
            mask = restriction.mask
            bound = math.inf if restriction.leaves else bound
        index, prepared = (self._index, None) if mask is None else mask.get_index()
        around: dict[str, Any] = {"current": frame, "mask": prepared, **self._around}
        best, cost = self._find_best(index, query, context, bound, **around)
        nearest = self._make_nearest_search(index, query, context, **around)
        begins = self._begins_walk(goal)
        if best >= 0 and begins:
            bound += 0.0 if leave else self._bearing.price(np.array([frame])).item(0)
            nearest = partial(self._find_borne, nearest)
            borne, costs = nearest(1)
            best, cost = (int(borne[0]), float(costs[0])) if costs[0] < bound else (-1, bound)
        if goal.feet is not None:
            if best >= 0:
                price = partial(self.price_support, feet=goal.feet)
                best, cost = price_choice.choose(nearest, price, bound, (best, cost))
            nearest = partial(self._find_supported, nearest, goal.feet)
        if best >= 0 and self._settings.search.price_weight > 0.0 and goal.measure_prices:
            measure = goal.measure_prices
            best, cost = self._choose_by_price(measure, nearest, bound, (best, cost))
        if best < 0 and leave and mask is not None:
            # stay in a short range: search it without the surroundings left out
            best, cost = self._find_best(index, query, context, mask=prepared)
        if best < 0 and leave:
            # no frame with these tags, or only surroundings: better any motion than none
            best, cost = self._find_best(self._index, query, context)
            mask = None
        if best < 0:
            best = frame
            cost = continuing
        is_free = chosen is None and goal.jump_to is None and not self._is_held
        if best != frame and is_free:
            (leap,) = self._measure_leaps(goal.measure_seams, [best])
            if not leave and self._should_wait(leap):
                self._ticks_to_search = 0
                best = frame
                cost = continuing
            elif leap > MARGINS.leap:
                near = nearest(NUMBERS.looked_at)
                best, cost = self._find_calm(goal.measure_seams, *near, bound, (best, cost))
        if chosen is not None:
            best = chosen
            cost = self._measure_cost(query, chosen, context)
        self.last_cost = cost
        seconds = time.perf_counter() - started
        self._last = _Search(query, frame, continuing, mask, seconds, begins, goal.feet, context)
        return best

    def _make_context(self, goal: Goal, frame: int) -> TermContext | None:
        """Return the context of cost terms, None without any."""
        if not self.terms:
            return None
        tags = goal.tags if goal.jump_to is None else frozenset({goal.jump_to})
        return TermContext.from_goal(self.database, frame, goal.trajectory, tags)

    def _find_best(
        self,
        index: FrameIndex,
        query: np.ndarray,
        context: TermContext | None,
        bound: float = math.inf,
        **around: Any,
    ) -> tuple[int, float]:
        """Return the frame of the least cost including terms, or (-1, bound)."""
        if context is None:
            return index.find_nearest(query, bound=bound, **around)
        frames, costs = self._make_nearest_search(index, query, context, **around)(1, bound=bound)
        return (int(frames[0]), float(costs[0])) if len(frames) else (-1, bound)

    def _make_nearest_search(
        self, index: FrameIndex, query: np.ndarray, context: TermContext | None, **around: Any
    ) -> NearestSearch:
        """Return a search for the frames of the least costs including terms."""
        nearest = partial(index.find_k_nearest, query, **around)
        if context is None:
            return nearest
        measure = partial(self._price_terms, context)
        return partial(price_choice.find_priced, nearest, measure)

    def _price_terms(self, context: TermContext, frames: np.ndarray) -> np.ndarray:
        """Return the costs (K,) that terms add to frames (K,)."""
        return measure_terms(self.terms, frames, context).sum(axis=1)

    def _begins_walk(self, goal: Goal) -> bool:
        """Return whether a character that just stood is only asked to walk.

        Where standing leads on into walks, the data shows how they begin.
        """
        begins = self._settings.life.idle and not self._idles.leads_on
        begins = begins and self._since_stood <= NUMBERS.start_seconds * self.database.pace
        if not begins or goal.jump_to or goal.enter:
            return False
        vx, vy = goal.trajectory[-1][3:5] if goal.trajectory else (0.0, 0.0)
        return self._at_rest < vx * vx + vy * vy < self.database.walk_to_run**2

    def _find_supported(
        self, nearest: NearestSearch, feet: np.ndarray, count: int, *, bound: float = math.inf
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest frames and costs, including the cost of bringing the feet there."""
        frames, costs = nearest(max(count, NUMBERS.looked_at), bound=bound)
        costs = costs + self.price_support(frames, feet)
        order = costs.argsort(kind="stable")[:count]
        return frames[order], costs[order]

    def price_support(self, frames: np.ndarray, feet: np.ndarray) -> np.ndarray:
        """Return the cost (K,) of bringing feet (L, 3) to the feet of frames (K,)."""
        return self._settings.foot_support * self._support.measure(frames, feet)

    def _find_borne(
        self, nearest: NearestSearch, count: int, *, bound: float = math.inf
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest frames and costs, including the cost of a bearing unlike walking."""
        frames, costs = nearest(max(count, round(NUMBERS.nearest_seconds * self.fps)), bound=bound)
        alike = max(round(NUMBERS.bearing_every * self.fps), 1)
        _, first = np.unique(frames // alike, return_index=True)
        first.sort()
        frames = frames[first]
        costs = costs[first]

        def find(count: int, *, bound: float = math.inf) -> tuple[np.ndarray, np.ndarray]:
            return frames[:count], costs[:count]

        return price_choice.find_priced(find, self._bearing.price, count)

    def _measure_cost(self, query: np.ndarray, frame: int, context: TermContext | None) -> float:
        cost = self._differences.measure(query - self._rows[frame]) + self._bias.item(frame)
        if context is not None:
            cost += self._price_terms(context, np.array([frame])).item()
        return cost

    def _choose_by_price(
        self,
        measure: Callable[[Sequence[Jump]], np.ndarray],
        find: NearestSearch,
        bound: float,
        first: tuple[int, float],
    ) -> tuple[int, float]:
        """Return the frame of least cost including its price, below a bound, or -1."""
        source = self._get_played_state()
        weight = self._settings.search.price_weight * price_choice.PER_CENTIMETRE

        def measure_prices(frames: np.ndarray) -> np.ndarray:
            jumps = [Jump(*source, *self._get_state(frame)) for frame in frames.tolist()]
            return weight * measure(jumps)

        return price_choice.choose(find, measure_prices, bound, first)

    def _should_wait(self, leap: float) -> bool:
        """Return whether a jump should wait for a tick, because a joint would leap now."""
        waits = leap > 1.0 and self._waited < NUMBERS.longest_wait * self.fps
        self._waited = self._waited + 1 if waits else 0
        return waits

    def _measure_leaps(self, measure: MeasureSeams | None, frames: Sequence[int]) -> list[float]:
        """Return how hard jumps to frames shake a joint; see `MotionLimits.measure_leaps`.

        It is 0 where that does not matter.
        """
        if measure is None or not self._settings.search.wait:
            return [0.0] * len(frames)
        hardest = measure([self._make_seam(frame) for frame in frames])
        return self._limits.measure_leaps(hardest, self._frame, frames).tolist()

    def _make_seam(self, entered: int) -> Seam:
        """Return the jump to a frame, with the frames that are played after it."""
        stop = self.database.stops.item(self.database.range_of_frame.item(entered))
        ahead = min(NUMBERS.ticks_seen, stop - entered - 1)
        following = self._moments.follow(entered, ahead, self._tempo.rate)
        return Seam(self._make_jump(entered), *following)

    def _make_jump(self, entered: int) -> Jump:
        """Return the jump to a frame; within a tick always the same one."""
        if entered not in self._jumps:
            jump = Jump(*self._get_played_state(), *self._get_state(entered))
            self._jumps[entered] = jump
        return self._jumps[entered]

    def _find_calm(
        self,
        measure: MeasureSeams | None,
        frames: np.ndarray,
        costs: np.ndarray,
        bound: float,
        best: tuple[int, float],
    ) -> tuple[int, float]:
        """Return the first of the frames (K,) at which nothing leaps, or the calmest, and its cost.

        Only frames with `costs` (K,) below a bound count. Without any it is the `best`.
        """
        least = math.inf
        others = _list_apart(frames, costs, NUMBERS.frames_apart + 1)
        apart = [each for each in others if each[1] < bound]
        for start in range(0, len(apart), NUMBERS.looked_at_once):
            some = apart[start : start + NUMBERS.looked_at_once]
            leaps = self._measure_leaps(measure, [frame for frame, _ in some])
            for each, leap in zip(some, leaps, strict=True):
                if leap < least:
                    best = each
                    least = leap
                if least <= 1.0:
                    return best
        return best

    def _make_query(self, trajectory: Sequence[TrajectoryPoint], frame: int) -> np.ndarray:
        values: list[float] = []
        for point in trajectory:
            for kind in self._goal_kinds:
                values += kind.read_goal(point)
        goal = np.array(values, np.float32).take(self._goal_pick)
        goal -= self._goal_mean
        goal *= self._goal_scale
        np.clip(goal, *self._goal_range, out=goal)
        query = self._rows[frame].copy()
        query.put(self._goal_columns, goal)
        return query

    def compute_costs(self, trajectory: Sequence[TrajectoryPoint], frame: int) -> np.ndarray:
        """Return every frame's costs by feature (N, features) in a search at a frame, slowly."""
        return self._differences.split_all(self._rows - self._make_query(trajectory, frame))

    def price_terms_of_all(
        self, trajectory: Sequence[TrajectoryPoint], frame: int, tags: frozenset[str]
    ) -> np.ndarray:
        """Return the cost of each term (N, terms) in a search at a frame."""
        context = TermContext.from_goal(self.database, frame, trajectory, tags)
        return measure_terms(self.terms, np.arange(self.database.frame_count), context)

    def price_support_of_all(self, frame: int, feet: np.ndarray | None = None) -> np.ndarray:
        """Return the cost (N,) of bringing feet (L, 3) to the feet of each frame; 0 at a frame.

        By default they are the feet of that frame.
        """
        shown = self._support.get_feet(frame) if feet is None else feet
        costs = self.price_support(np.arange(self.database.frame_count), shown)
        costs[frame] = 0.0
        return costs

    def _get_tag_mask(self, tags: frozenset[str]) -> _TagMask | None:
        if not tags:
            return None
        if tags not in self._masks:
            self._masks[tags] = _TagMask(self.database.make_tag_mask(tags), self._index)
        return self._masks[tags]

    def restrict(self, trajectory: Sequence[TrajectoryPoint], frame: int) -> Restriction | None:
        """Return the only frames that a search without tags may enter, None for all frames.

        Where a trajectory ends at rest and without a turn, these are frames that lead to idles:
        others would not come to rest like the data. Where it moves at its end, so do the frames:
        they go on, or lead from standing to motion, and sooner if the present frame leads there.
        If no clip moves as requested, other frames would fit best, and the character would stop,
        or start again and again.
        """
        if not trajectory or not self._settings.life.idle:
            return None
        _, _, yaw, vx, vy, _ = trajectory[-1]
        square = vx * vx + vy * vy
        settling, leading, sooner, going = self._get_own_masks()
        if square <= self._at_rest and math.cos(yaw) >= _UNTURNED:
            return Restriction(settling, "leads to no standing") if settling else None
        if square <= self._moving or not leading or not sooner or not going:
            return None
        if self._moves[frame] or sooner.allowed[frame]:
            return Restriction(going, "does not go on")
        if leading.allowed[frame]:
            return Restriction(sooner, "does not set off sooner")
        return Restriction(leading, "leads nowhere", True)

    def _get_own_masks(self) -> list[_TagMask | None]:
        """Return masks of frames that lead to idles, that move later, sooner, or now; or None."""
        if not self._own_masks:
            self._own_masks = [
                _TagMask(frames, self._index) if (frames & self._allowed).any() else None
                for frames in (
                    self._settles,
                    *(self._leads & each for each in (True, self._soon, self._moves)),
                )
            ]
        return self._own_masks

    @property
    def last_search_seconds(self) -> float:
        """How long the last search took."""
        return self._last.seconds if self._last else 0.0

    def explain(self, count: int) -> Explanation | None:
        """Return the last search in full, or None before the first. Too slow for every tick."""
        if self._last is None:
            return None
        last = self._last
        mask = last.mask.prepared if last.mask else None
        around: dict[str, Any] = {"current": last.frame, "mask": mask, **self._around}
        nearest = self._make_nearest_search(self._index, last.query, last.context, **around)
        find = partial(self._find_borne, nearest) if last.begins_walk else nearest
        if last.feet is not None:
            find = partial(self._find_supported, find, last.feet)
        frames, _ = find(count)
        labels = tuple(f.label for f in self.database.schema.features)
        continuing = self._make_candidate(last, last.frame)
        candidates = tuple(self._make_candidate(last, int(f), last.feet) for f in frames)
        return Explanation(labels, continuing, candidates, tuple(term.name for term in self.terms))

    def _make_candidate(
        self, search: _Search, frame: int, feet: np.ndarray | None = None
    ) -> Candidate:
        """Return a frame with its costs, including bringing the feet there, if they are known."""
        cost, by_feature = self._differences.split(search.query - self._rows[frame])
        support = 0.0 if feet is None else self.price_support(np.array([frame]), feet).item()
        terms: list[float] = []
        if search.context is not None:
            terms = measure_terms(self.terms, np.array([frame]), search.context)[0].tolist()
        total = cost + self._bias.item(frame) + support + sum(terms)
        return Candidate(frame, total, tuple(by_feature.tolist()), support, tuple(terms))


def find_search_order(database: Database) -> Annotated[np.ndarray, np.int32, (None,)]:
    """Return the order (M,) of the frames that a search with default settings may enter.

    It is empty for a database that cannot be searched.
    """
    try:
        order = MotionMatching(database, PerformerSettings()).search_order
    except DatabaseError:
        return np.empty(0, np.int32)
    return order.astype(np.int32)


# functions whose results are stored with a database
DERIVED = (find_search_order, measure_normalization, measure_velocities)


def _list_apart(frames: np.ndarray, costs: np.ndarray, apart: int) -> Iterator[tuple[int, float]]:
    """Yield frames (K,) with their costs, except those less than `apart` from a better one."""
    seen: list[int] = []
    for frame, cost in zip(frames.tolist(), costs.tolist(), strict=True):
        if all(abs(frame - other) >= apart for other in seen):
            seen.append(frame)
            yield frame, cost


class _TagMask:
    """Frames (N,) with the requested tags: searched under a mask, later on a separate index.

    Tags requested for one tick are not worth an index, nor are masks of most frames. Building a
    very large one would delay its tick.
    """

    def __init__(self, allowed: np.ndarray, index: FrameIndex) -> None:
        self.allowed = allowed
        self.prepared = index.prepare_mask(allowed)
        self._whole = index
        self._own: FrameIndex | None = None
        self._uses = 0
        self._worth = int(allowed.sum()) <= min(NUMBERS.tagged_frames, len(allowed) // 2)

    def get_index(self) -> tuple[FrameIndex, FrameMask | None]:
        """Return the index to search, and the mask to search it under."""
        self._uses += 1
        if self._own is None and self._uses == 2 and self._worth:
            self._own = self._whole.restrict(self.allowed)
        return (self._whole, self.prepared) if self._own is None else (self._own, None)


class Restriction(NamedTuple):
    """The only frames that a search may enter, and the reason for the restriction.

    `leaves`: it enters one of them at any cost, because the played frame is not among them.
    """

    mask: _TagMask
    reason: str
    leaves: bool = False


class _Search(NamedTuple):
    query: np.ndarray
    frame: int
    continuing: float
    mask: _TagMask | None
    seconds: float
    begins_walk: bool
    feet: np.ndarray | None
    context: TermContext | None


def _measure_footing(database: Database) -> list[Footing | None] | None:
    """Return the footing of frames whose ground rises or falls; None where all is level."""
    if database.ground is None:
        return None
    assert database.footing is not None
    # a foot that does not stand does not show the body's height
    feet = np.where(database.contacts, database.footing, -np.inf)
    rows = zip(feet.tolist(), database.climb_rates.tolist(), database.climbs.tolist(), strict=True)
    return [Footing(tuple(feet), rate) if climbs else None for feet, rate, climbs in rows]


def _map_goal_dimensions(
    schema: Schema, kinds: Sequence[PathKind]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of a trajectory that enter a query, and the dimension of each.

    Each point has two of each kind. The third axis of a feature is zero.
    """
    values = []
    dims = []
    times = schema.trajectory_times
    for feature, dimensions in zip(schema.features, schema.slices, strict=True):
        kind = feature.definition
        if isinstance(kind, PathKind):
            for k, t in enumerate(feature.times):
                value = 2 * (len(kinds) * times.index(t) + kinds.index(kind))
                first = dimensions.start + k * feature.size
                on_ground = [axis for axis in feature.columns if axis < 2]
                values += [value + axis for axis in on_ground]
                dims += [first + place for place in range(len(on_ground))]
    return np.array(values, np.intp), np.array(dims, np.intp)
