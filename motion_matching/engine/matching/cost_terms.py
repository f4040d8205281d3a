"""Add custom cost terms: functions that raise the cost of frames in a search."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..control.trajectory import TrajectoryPoint
from ..database.database import Database
from ..errors import SettingsError
from ..performance.performance import Performance


class TermContext(NamedTuple):
    """The data that a cost term may use, apart from the frames that it prices.

    `frame` of the `database` is played. `trajectory` (P, 6) is the goal in the character's frame,
    with a row for each of `database.schema.trajectory_times`: x and y in metres, yaw in radians,
    the velocity along x and y in m/s, and how far the ground rises until then, in metres; the
    character faces -Y. `tags` are requested.
    """

    database: Database
    frame: int
    trajectory: np.ndarray
    tags: frozenset[str]

    @classmethod
    def from_goal(
        cls,
        database: Database,
        frame: int,
        trajectory: Sequence[TrajectoryPoint],
        tags: frozenset[str],
    ) -> TermContext:
        """Return the context of a search at a frame."""
        points = np.array(trajectory, np.float64).reshape(-1, 6)
        points.setflags(write=False)
        return cls(database, frame, points, tags)


TermFunction = Callable[[np.ndarray, TermContext], np.ndarray]


@dataclass(frozen=True)
class CostTerm:
    """A function that adds to the cost of frames, and its name.

    `function(frames, context)` gets frames (K,) of the database and a `TermContext`, and returns a
    finite cost of zero or more for each (K,). They are multiplied by `weight`, and added to the
    squared distances of the features, also for playing on. The cost of a frame may not depend on
    other frames, and has to be the same in every call.

    Raises SettingsError for a name, function or weight that cannot be used.
    """

    name: str
    function: TermFunction
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise SettingsError(f"The cost term {self.name!r} has no name; give it one.")
        if not callable(self.function):
            raise SettingsError(
                f"The cost term '{self.name}' has no function; give one of frames and context."
            )
        if not 0 <= self.weight < math.inf:
            raise SettingsError(
                f"The weight of the cost term '{self.name}' is {self.weight}; give zero or more."
            )

    def measure(self, frames: np.ndarray, context: TermContext) -> np.ndarray:
        """Return the weighted costs (K,) of frames. SettingsError for wrong results."""
        given = self.function(frames, context)
        try:
            costs = np.asarray(given, np.float64)
        except (TypeError, ValueError):
            raise self._refuse(f"{type(given).__name__} instead of an array of numbers") from None
        if costs.shape != frames.shape:
            raise self._refuse(f"the shape {costs.shape} for {len(frames)} frames")
        wrong = ~((costs >= 0.0) & (costs < np.inf))
        if wrong.any():
            k = int(wrong.argmax())
            raise self._refuse(f"{costs[k]:g} for frame {frames[k]}")
        return self.weight * costs

    def _refuse(self, what: str) -> SettingsError:
        return SettingsError(
            f"The cost term '{self.name}' returned {what}; return a finite cost of zero or more "
            "for each frame."
        )


def check_terms(terms: Sequence[CostTerm]) -> tuple[CostTerm, ...]:
    """Return terms. SettingsError if one is no cost term, or two have the same name."""
    names: set[str] = set()
    for term in terms:
        if not isinstance(term, CostTerm):
            raise SettingsError(f"{term!r} is not a cost term; give a CostTerm.")
        if term.name in names:
            raise SettingsError(f"Two cost terms are called '{term.name}'; give each its own name.")
        names.add(term.name)
    return tuple(terms)


def measure_terms(
    terms: Sequence[CostTerm], frames: np.ndarray, context: TermContext
) -> np.ndarray:
    """Return the weighted costs (K, terms) of frames (K,)."""
    costs = np.zeros((len(frames), len(terms)))
    for column, term in enumerate(terms):
        costs[:, column] = term.measure(frames.copy(), context)
    return costs


def describe_missing_terms(performance: Performance, names: Sequence[str] = ()) -> str:
    """Name the terms of a performance that are not among `names`; '' if none."""
    missing = [name for name in performance.terms if name not in names]
    if not missing:
        return ""
    listed = ", ".join(f"'{name}'" for name in missing)
    noun, pronoun = ("cost terms", "them") if len(missing) > 1 else ("cost term", "it")
    return (
        f"'{performance.name}' was made with the {noun} {listed} and differs without {pronoun}; "
        f"give {pronoun} to 'api.perform' in a script"
    )
