"""Inspect a frame as the search sees it: features, costs, and why other frames win or lose.

All frames are measured, not only those that a search may choose, to explain excluded ones too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...blending import transition_cost
from ...blending.jump import Jump
from ...blending.transition_cost import format_price
from ...control.trajectory import SimulationObject, TrajectoryPoint, choose_prediction
from ...database.database import Database
from ...database.features.kinds import paths
from ...database.features.motion_table import sample_track
from ...database.frame_names import find_frame as find_frame
from ...database.frame_names import format_frame
from ...database.tags.tags import NO_ENTRY, NO_USE
from ...facts.avoided_postures import price_frames
from ...matching import price_choice
from ...matching.fitted_features import FittedFeatures
from ...matching.flips import (
    Costs,
    Flip,
    describe_flip,
    find_flip,
    find_flip_of_many,
    get_weights,
    list_apart,
)
from ...matching.flips import to_dict as flip_to_dict
from ...matching.method import MotionMatching, Restriction
from ...maths import planar
from ...performance.intent import Intent
from ...performance.settings import PerformerSettings, Search
from ..numbers import NUMBERS

Array = np.ndarray


@dataclass(frozen=True)
class FeatureValue:
    """A feature of a frame: `values` (T, axes), a row for each time, in m, m/s, or a direction."""

    label: str
    values: Array


@dataclass(frozen=True)
class FrameCost:
    """The cost of a frame for a goal, in total and by feature, and its verdict.

    `feet` is the part of the total for feet that stand elsewhere. `price` is the visible cost of
    the jump, in metre-seconds. Both are 0 for the frame itself. `terms` are the parts of the total
    by cost term.
    """

    frame: int
    cost: float
    by_feature: tuple[float, ...]
    verdict: str
    price: float
    feet: float
    terms: tuple[float, ...] = ()


@dataclass(frozen=True)
class FrameInspection:
    """A frame, the cost of playing on, the best other frames, and the `chosen` frame.

    `exclusion` is the reason not to enter the frame itself, or an empty string. `flip` is the least
    change of one weight that would choose another of these, if any. `terms` are the names of cost
    terms.
    """

    frame: int
    tags: tuple[str, ...]
    bias: float
    exclusion: str
    features: tuple[FeatureValue, ...]
    continuing: FrameCost
    candidates: tuple[FrameCost, ...]
    chosen: int
    flip: Flip | None = None
    terms: tuple[str, ...] = ()


# ---------------------------------------------------------------- the desired trajectory


def predict_trajectory(
    database: Database, settings: PerformerSettings, frame: int, velocity: tuple[float, float]
) -> list[TrajectoryPoint]:
    """Predict the trajectory from a frame at a desired velocity: forward and to the left, in m/s.

    The character faces its desired direction, as when it is steered. Past points are from the clip.
    """
    simulation = SimulationObject(settings.steering)
    simulation.vx, simulation.vy, simulation.yaw_rate = database.root_motion[frame].tolist()
    simulation.steer(Intent(velocity=(velocity[1], -velocity[0])), 1.0 / database.fps)
    times = database.schema.trajectory_times
    future = [time for time in times if time > 0]
    own = compute_clip_trajectory(database, frame)
    states = choose_prediction(settings.as_published, 1.0 / database.fps)(simulation, future)
    return own[: len(times) - len(future)] + [TrajectoryPoint(*state[:5]) for state in states]


def compute_clip_trajectory(database: Database, frame: int) -> list[TrajectoryPoint]:
    """Return the trajectory of the clip itself around a frame, seen from there."""
    table = database.to_motion_table()
    step = 1.0 / database.fps
    x, y, yaw = database.track[frame].tolist()

    def sample(time: float) -> Array:
        return sample_track(table, time, database.schema.beyond_range)[frame]

    points = []
    for time in database.schema.trajectory_times:
        there_x, there_y, there_yaw = sample(time).tolist()
        vx, vy, _ = ((sample(time + step) - sample(time - step)) / (2 * step)).tolist()
        position = planar.rotate_xy(there_x - x, there_y - y, -yaw)
        velocity = planar.rotate_xy(vx, vy, -yaw)
        rise = paths.compute_rises(table, [time])[frame].item()
        points.append(TrajectoryPoint(*position, there_yaw - yaw, *velocity, rise))
    return points


# ---------------------------------------------------------------- inspecting


def inspect_frame(
    database: Database,
    settings: PerformerSettings,
    frame: int,
    trajectory: Sequence[TrajectoryPoint] | None = None,
    *,
    tags: frozenset[str] = frozenset(),
    feet: Array | None = None,
    count: int = 8,
    method: MotionMatching | None = None,
) -> FrameInspection:
    """Inspect a search at a frame for a trajectory, the clip's own by default, and with tags.

    Toes are shown at `feet` (L, 3) in the character's frame, by default at the frame's own. Lists
    the `count` best other frames, at least a third of a second apart. To inspect many frames, or
    with cost terms, give the `method` that plays the database.
    """
    method = method or MotionMatching(database, settings)
    scale = database.scale
    method.apply(scale.to_body(settings))
    if trajectory is None:
        trajectory = compute_clip_trajectory(database, frame)
    trajectory = scale.to_body(trajectory)
    names = tuple(term.name for term in method.terms)
    search = _FrameSearch(
        database,
        settings,
        frame,
        tags,
        restriction=None if tags else method.restrict(trajectory, frame),
        by_feature=method.compute_costs(trajectory, frame),
        support=method.price_support_of_all(frame, scale.to_body(feet, "m")),
        terms=method.price_terms_of_all(trajectory, frame, tags),
        term_names=names,
    )
    values = FittedFeatures(database).fit(settings).values
    features = zip(database.schema.features, database.schema.slices, strict=True)
    return FrameInspection(
        frame=frame,
        tags=tuple(tag for tag in database.tag_names if database.make_tag_mask({tag})[frame]),
        bias=float(price_frames(database, settings.search.posture_weight)[frame]),
        exclusion=_find_reason(_find_exclusions(database, settings.search), frame),
        features=tuple(
            FeatureValue(f.label, values[rows, frame].reshape(-1, f.size)) for f, rows in features
        ),
        continuing=search.measure_cost(frame),
        candidates=search.measure_candidates(count),
        chosen=search.chosen,
        flip=search.find_flip(count),
        terms=names,
    )


@dataclass(frozen=True)
class _FrameSearch:
    """A search at a frame with requested tags: costs (N, features) of all frames, and the winner.

    Without tags a `restriction` may leave frames out. `support` (N,) is the cost of bringing the
    feet of the frame to those of others, and `terms` (N, terms) are the costs of cost terms.
    """

    database: Database
    settings: PerformerSettings
    frame: int
    tags: frozenset[str]
    restriction: Restriction | None
    by_feature: Array
    support: Array
    terms: Array
    term_names: tuple[str, ...]

    @cached_property
    def costs(self) -> Array:
        """The costs (N,) of all frames."""
        bias = price_frames(self.database, self.settings.search.posture_weight)
        costs = self.by_feature.sum(axis=1) + bias + self.support
        return costs + self.terms.sum(axis=1)

    @cached_property
    def exclusions(self) -> list[tuple[str, Array]]:
        """Why frames may not be entered from this one: each reason with its frames (N,)."""
        database = self.database
        settings = self.settings
        ahead = np.arange(database.frame_count) - self.frame
        near = np.abs(ahead) < round(settings.search.surroundings * database.fps)
        if settings.search.skip_ahead:
            near &= ahead < 0
        exclusions = _find_exclusions(database, settings.search)
        exclusions.append(("too near the frame itself", near))
        if self.tags:
            reason = f"not tagged {' and '.join(sorted(self.tags))}"
            exclusions.append((reason, ~database.make_tag_mask(self.tags)))
        if self.restriction:
            exclusions.append((self.restriction.reason, ~self.restriction.mask.allowed))
        return exclusions

    @cached_property
    def chosen(self) -> int:
        """The frame that a search enters, or the frame itself if playing on is best."""
        database = self.database
        frame = self.frame
        excluded = np.any([frames for _, frames in self.exclusions], axis=0)
        if self._reason_to_leave and excluded.all():
            # as in the search: stay in a short range, else prefer any motion to none
            allowed = database.find_candidates(self.settings.search.end_guard)
            tagged = allowed & database.make_tag_mask(self.tags)
            if self.restriction:
                tagged &= self.restriction.mask.allowed
            excluded = ~tagged if tagged.any() else ~allowed
        costs = np.where(excluded, np.inf, self.costs)
        continuing = self.costs[frame] - self.settings.search.continuing_bias
        bound = np.inf if self._reason_to_leave else continuing
        if not self.settings.search.price_weight:
            best = int(costs.argmin())
            return best if costs[best] < bound else frame
        best, _ = price_choice.choose(partial(_take_smallest, costs), self._weigh_jumps, bound)
        return best if best >= 0 else frame

    def _weigh_jumps(self, frames: Array) -> Array:
        """Return the weighted prices of jumps to frames (K,)."""
        prices = measure_prices(self.database, self.settings, self.frame, frames.tolist())
        return self._weigh(1.0) * prices

    def _weigh(self, price: float) -> float:
        price = self.database.scale.to_body(price, "m·s")
        return self.settings.search.price_weight * price_choice.PER_CENTIMETRE * price

    @cached_property
    def _chosen_price(self) -> float:
        """The weighted price of the jump, if there is one."""
        if self.chosen == self.frame or not self.settings.search.price_weight:
            return 0.0
        return float(self._weigh_jumps(np.array([self.chosen])).item())

    @cached_property
    def _reason_to_leave(self) -> str:
        """The reason why the search cannot play on at any cost; an empty string if it may."""
        successor = self.database.successors[self.frame]
        if successor < 0:
            return "it ends here"
        if self.restriction and self.restriction.leaves:
            return "it stands"
        return "" if self.database.make_tag_mask(self.tags)[successor] else "the tags end here"

    def select_cheapest(self, count: int) -> list[int]:
        """Return the cheapest other frames, spread out, and the chosen one, sorted by cost."""
        left = self.costs.copy()
        apart = round(NUMBERS.frames_apart * self.database.fps)
        left[self.frame] = np.inf
        selected: list[int] = []
        k = self.chosen if self.chosen != self.frame else int(left.argmin())
        while len(selected) < count and np.isfinite(left[k]):
            selected.append(k)
            left[max(k - apart + 1, 0) : k + apart] = np.inf
            k = int(left.argmin())
        return sorted(selected, key=lambda k: self.costs[k])

    def find_flip(self, count: int) -> Flip | None:
        """Find the change of a weight that would choose another frame, or playing on.

        Where the price of jumps counts, only the `count` cheapest are considered.
        """
        chosen = self.chosen
        frame = self.frame
        power = self.database.schema.power
        weights = get_weights(self.settings.search, self.database)
        excluded = np.any([frames for _, frames in self.exclusions], axis=0)
        apart = list_apart(np.arange(len(excluded)), chosen, self.database)
        own = self._collect(np.append(np.flatnonzero(~apart & ~excluded), chosen))
        here = self._collect(np.array([frame] if not self._reason_to_leave else [], int))
        here = here._replace(totals=here.totals - self.settings.search.continuing_bias)
        if chosen == frame:
            own = here
            here = self._collect(np.zeros(0, int))
        if self.settings.search.price_weight:
            listed = np.array(self.select_cheapest(count), int)
            others = self._collect(listed[(apart & ~excluded)[listed]])
            return find_flip(own, others.join(here), weights, power)
        others = self._collect(np.flatnonzero(apart & ~excluded))
        return find_flip_of_many(own, others, here, weights, power)

    def _collect(self, frames: Array) -> Costs:
        """Return the costs of frames, with the prices of jumps there if these count."""
        totals = self.costs[frames]
        if self.settings.search.price_weight and len(frames):
            totals = totals + np.where(frames == self.frame, 0.0, self._weigh_jumps(frames))
        return Costs(frames, self.by_feature[frames], totals)

    def measure_candidates(self, count: int) -> tuple[FrameCost, ...]:
        """Return the cheapest other frames with their costs."""
        frames = self.select_cheapest(count)
        prices = measure_prices(self.database, self.settings, self.frame, frames)
        return tuple(map(self.measure_cost, frames, prices.tolist()))

    def measure_cost(self, k: int, price: float = 0.0) -> FrameCost:
        """Return the cost and the verdict of a frame whose jump has a price."""
        by_feature = tuple(self.by_feature[k].tolist())
        verdict = self._describe_verdict(k, self._weigh(price))
        feet = float(self.support[k])
        terms = tuple(self.terms[k].tolist())
        return FrameCost(k, float(self.costs[k]), by_feature, verdict, price, feet, terms)

    def _describe_verdict(self, k: int, price: float) -> str:
        chosen = self.chosen
        dearer = price - self._chosen_price
        more = self.costs[k] - self.costs[chosen] + dearer
        if k == chosen:
            return "played on" if k == self.frame else "entered"
        if k == self.frame:
            return f"left: {more:.3g} more" if more > 0 else f"left: {self._reason_to_leave}"
        if reason := _find_reason(self.exclusions, k):
            return f"excluded: {reason}"
        if more < 0:
            return f"lost: better by {-more:.3g}, less than the continuing bias"
        own, others = (np.append(self.by_feature[i], self.terms[i]) for i in (k, chosen))
        by_feature = own - others
        worst = int(by_feature.argmax())
        label = (*(f.label for f in self.database.schema.features), *self.term_names)[worst]
        astray = self.support[k] - self.support[chosen]
        if astray > max(dearer, by_feature[worst]):
            return f"lost: {more:.3g} more, most by where its feet stand ({astray:+.3g})"
        if dearer > by_feature[worst]:
            return f"lost: {more:.3g} more, most by its price ({dearer:+.3g})"
        return f"lost: {more:.3g} more, most by {label} ({by_feature[worst]:+.3g})"


def _take_smallest(costs: Array, count: int, *, bound: float = math.inf) -> tuple[Array, Array]:
    """Return the frames (n,) of the smallest finite costs, best first, and these costs."""
    count = min(count, len(costs))
    frames = np.argpartition(costs, count - 1)[:count]
    frames = frames[np.isfinite(costs[frames]) & (costs[frames] <= bound)]
    frames = frames[costs[frames].argsort(kind="stable")]
    return frames, costs[frames]


def measure_prices(
    database: Database, settings: PerformerSettings, frame: int, others: Sequence[int]
) -> Array:
    """Return the visible cost of jumps (J,) from a frame to others, in metre-seconds.

    Remainders of an earlier jump are ignored.
    """

    def get_state(k: int) -> tuple[Array, Array, Array]:
        return database.poses[k], database.velocities[k], database.root_motion[k]

    jumps = [Jump(*get_state(frame), *get_state(other)) for other in others]
    entered = transition_cost.enter(jumps, np.array(database.limits), settings)
    return transition_cost.measure_prices(entered, database.skeleton.parents)


def _find_exclusions(database: Database, search: Search) -> list[tuple[str, Array]]:
    """Return the reasons not to enter frames, each with its frames (N,)."""
    start, end = database.find_guarded_frames(search.end_guard)
    return [
        (NO_USE, ~database.playable),
        (NO_ENTRY, database.find_reserved(NO_ENTRY)),
        (f"a dead end within {search.end_guard:.2g} s", end),
        (f"less than {database.schema.past:.2g} s of past", start),
    ]


def _find_reason(exclusions: Sequence[tuple[str, Array]], frame: int) -> str:
    return next((reason for reason, frames in exclusions if frames[frame]), "")


# ---------------------------------------------------------------- for people


def describe(inspection: FrameInspection, database: Database) -> str:
    """Return an inspection as text."""
    speed, turn = measure_motion(database, inspection.frame)
    entered = f"excluded: {inspection.exclusion}" if inspection.exclusion else "may be entered"
    bias = f"; bias {inspection.bias:+g}" if inspection.bias else ""
    lines = [
        f"{format_frame(database, inspection.frame)}: frame {inspection.frame} of the database, "
        f"{speed:.2f} m/s, turning at {turn:+.0f}°/s; {entered}",
        f"tags: {', '.join(inspection.tags) or 'none'}{bias}",
        f"  {'feature':42s} {'playing on':>10s}  value",
    ]
    for feature, share in zip(inspection.features, inspection.continuing.by_feature, strict=True):
        values = " | ".join(" ".join(f"{value:+.2f}" for value in row) for row in feature.values)
        lines.append(f"  {feature.label:42s} {share:10.3f}  {values}")
    names = [format_frame(database, c.frame) for c in inspection.candidates]
    width = max(map(len, names), default=0)
    others = zip(names, inspection.candidates, strict=True)
    for name, cost in (("playing on", inspection.continuing), *others):
        price = "" if cost.frame == inspection.frame else f"; price {format_price(cost.price)}"
        price += f"; feet {cost.feet:.3g}" if cost.feet else ""
        for term, share in zip(inspection.terms, cost.terms, strict=True):
            price += f"; {term} {share:.3g}"
        lines.append(f"  {name:{width}s} {cost.cost:10.3f}  {cost.verdict}{price}")
    lines.append(f"  flips: {describe_flip(inspection.flip, database, inspection.frame)}")
    return "\n".join(lines)


def to_dict(inspection: FrameInspection, database: Database) -> dict[str, Any]:
    """Return an inspection as JSON data."""
    labels = [feature.label for feature in inspection.features]

    def cost_to_dict(cost: FrameCost) -> dict[str, Any]:
        rounded = [round(value, 5) for value in cost.by_feature]
        shares = [round(share, 5) for share in cost.terms]
        terms = {"terms": dict(zip(inspection.terms, shares, strict=True))} if shares else {}
        return vars(database.get_frame_source(cost.frame)) | {
            "cost": round(cost.cost, 5),
            "by_feature": dict(zip(labels, rounded, strict=True)),
            "verdict": cost.verdict,
            "price": round(cost.price, 5),
            "feet": round(cost.feet, 5),
            **terms,
        }

    return vars(database.get_frame_source(inspection.frame)) | {
        "tags": list(inspection.tags),
        "bias": inspection.bias,
        "barred": inspection.exclusion,
        "features": {f.label: f.values.round(5).tolist() for f in inspection.features},
        "playing_on": cost_to_dict(inspection.continuing),
        "candidates": [cost_to_dict(candidate) for candidate in inspection.candidates],
        "flips_if": flip_to_dict(inspection.flip, database, inspection.frame),
    }


def measure_motion(database: Database, frame: int) -> tuple[float, float]:
    """Return speed in m/s and turn rate in degrees per second at a frame."""
    vx, vy, rate = database.root_motion[frame]
    return float(np.hypot(vx, vy)), float(np.degrees(rate))
