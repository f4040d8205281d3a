"""Find the least change of one feature's weight that would change a decision of a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..control.method import Candidate
from ..control.rollout import Take
from ..database.database import Database
from ..database.frame_names import format_frame
from ..performance.settings import Search
from .numbers import NUMBERS

_STEPS = np.linspace(0.0, np.log(NUMBERS.flip_ratio), NUMBERS.flip_ratios)  # logarithms


class Costs(NamedTuple):
    """K frames of a search: costs by feature (K, F), and in total (K,).

    Totals also include all that is no feature, such as a bias.
    """

    frames: np.ndarray
    by_feature: np.ndarray
    totals: np.ndarray

    def find_least(self, feature: int, factors: np.ndarray) -> np.ndarray:
        """Return the least total (R,) with a feature's cost multiplied by factors (R,)."""
        more = factors[:, None] - 1.0
        totals = self.totals + more * self.by_feature[:, feature]
        return np.asarray(totals.min(axis=1, initial=np.inf))

    def take(self, chosen: np.ndarray) -> Costs:
        """Return the costs of some of the frames."""
        return Costs(*(each[chosen] for each in self))

    def join(self, others: Costs) -> Costs:
        """Return these and others."""
        return Costs(*(np.concatenate(pair) for pair in zip(self, others, strict=True)))


class Flip(NamedTuple):
    """A decision changes to a `frame` if the weight of a feature is beyond `weight`.

    It is `now` below or above that; the feature is its index.
    """

    feature: int
    now: float
    weight: float
    frame: int

    @property
    def is_below(self) -> bool:
        """Whether a smaller weight changes the decision."""
        return self.weight < self.now


def find_flip(own: Costs, rivals: Costs, weights: Sequence[float], power: int = 2) -> Flip | None:
    """Return the change of one weight, the least by its ratio, that makes a rival win.

    `own` are the frames of the chosen moment: changing among them is no other decision.
    Costs of a feature go with a `power` of its weight: see `Schema`. None if no weight between a
    sixteenth and sixteen times its own changes anything.
    """
    found: list[Flip] = []
    ways = [(sign, np.exp(sign * _STEPS) ** power) for sign in (-1.0, 1.0)]
    for feature, now in enumerate(weights):
        for sign, factors in ways:
            wins = rivals.find_least(feature, factors) < own.find_least(feature, factors)
            if now <= 0.0 or wins[0] or not wins.any():  # at first it was not by its cost
                continue
            at = int(np.argmax(wins))
            fine = np.exp(sign * np.linspace(_STEPS[at - 1], _STEPS[at], NUMBERS.flip_ratios))
            costs = rivals.find_least(feature, fine**power)
            ratio = fine[int(np.argmax(costs < own.find_least(feature, fine**power)))]
            totals = rivals.totals + (ratio**power - 1.0) * rivals.by_feature[:, feature]
            frame = int(rivals.frames[int(np.argmin(totals))])
            found.append(Flip(feature, float(now), float(now * ratio), frame))
    return min(found, key=lambda flip: abs(np.log(flip.weight / flip.now)), default=None)


def find_flip_of_many(
    own: Costs, many: Costs, more: Costs, weights: Sequence[float], power: int = 2
) -> Flip | None:
    """Return the same as `find_flip` for `many` rivals and `more`, in much less time.

    Only relevant rivals are searched: the cheapest now, and any that win before a flip.
    """
    known = np.zeros(len(many.frames), bool)
    known[np.argsort(many.totals)[: NUMBERS.flips_looked_at]] = True
    while True:
        flip = find_flip(own, many.take(np.flatnonzero(known)).join(more), weights, power)
        most = _STEPS[-1] if flip is None else abs(np.log(flip.weight / flip.now))
        count = int(known.sum())
        for feature in range(len(weights)):
            for ratio in np.exp([-most, most]):
                totals = many.totals + (ratio**power - 1.0) * many.by_feature[:, feature]
                least = own.find_least(feature, np.array([ratio]) ** power)[0]
                wins = np.flatnonzero((totals < least) & ~known)
                known[wins[np.argsort(totals[wins])[: NUMBERS.flips_looked_at]]] = True
        if int(known.sum()) == count:
            return flip


def get_weights(search: Search, database: Database) -> tuple[float, ...]:
    """Return the weight of each feature."""
    return search.weights or tuple(f.weight for f in database.schema.features)


def list_apart(frames: np.ndarray, chosen: int, database: Database) -> np.ndarray:
    """Return the frames (K,) that would be another decision: outside the chosen moment."""
    ranges = database.range_of_frame
    near = np.abs(frames - chosen) < NUMBERS.same_decision * database.fps
    return np.asarray(~near | (ranges[frames] != ranges[chosen]))


def find_flips(take: Take, database: Database) -> list[Flip | None]:
    """Return the flip of each jump of a take, among the known frames of its search.

    None where no single weight changes it, or where the price of jumps also counts.
    """
    settings = take.performer_settings
    if settings.search.price_weight:
        return [None] * len(take.decisions)
    weights = get_weights(settings.search, database)
    result = []
    for _, search in take.decisions:
        listed = _collect(search.candidates, len(weights))
        apart = list_apart(listed.frames, search.candidates[0].frame, database)
        rivals = listed.take(apart)
        if database.successors[search.continuing.frame] >= 0:
            here = _collect([search.continuing], len(weights))
            totals = here.totals - settings.search.continuing_bias
            rivals = rivals.join(here._replace(totals=totals))
        result.append(find_flip(listed.take(~apart), rivals, weights, database.schema.power))
    return result


def _collect(candidates: Sequence[Candidate], features: int) -> Costs:
    by_feature = np.array([each.by_feature for each in candidates], float).reshape(-1, features)
    frames = np.array([each.frame for each in candidates], int)
    return Costs(frames, by_feature, np.array([each.cost for each in candidates], float))


def describe_flip(flip: Flip | None, database: Database, playing_on: int, label: str = "") -> str:
    """Describe when a decision would change; a `label` replaces the feature's own."""
    if flip is None:
        return "no weight alone changes this"
    goal = (
        "plays on" if flip.frame == playing_on else f"enters {format_frame(database, flip.frame)}"
    )
    label = label or database.schema.features[flip.feature].label
    side = "below" if flip.is_below else "above"
    return f"{goal} with the weight of {label} {side} {flip.weight:.3g} (now {flip.now:.3g})"


def to_dict(flip: Flip | None, database: Database, playing_on: int) -> dict[str, Any] | None:
    """Return a flip as JSON data."""
    if flip is None:
        return None
    return {
        "feature": database.schema.features[flip.feature].label,
        "below" if flip.is_below else "above": round(flip.weight, 4),
        "now": round(flip.now, 4),
        "to": "playing_on" if flip.frame == playing_on else format_frame(database, flip.frame),
    }
