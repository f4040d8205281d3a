"""A motion field as a controller: by what it was trained for where it was, with the actions of that training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..control.intent import Intent
from ..control.method import Method
from ..control.performance import Performance
from ..control.settings import PerformerSettings
from ..errors import SettingsError
from ..matching.database import Database
from . import value_function
from .method import MotionField
from .neighbours import Metric
from .value_function import ValueFunction

METRICS: Mapping[str, Callable[[Database], Metric]] = {
    "default": Metric.default,
    "notebook": Metric.notebook,
}
_GAITS = ("walk", "run")


@dataclass(frozen=True)
class FieldController:
    """Makes the method of a metric, and of values if there are any; without them control is greedy. See `Controller`.

    `name` is what performances are to call it.
    """

    metric: Metric
    function: ValueFunction | None = None
    name: str = ""

    @classmethod
    def load(cls, path: Path | str, database: Database) -> FieldController:
        """With the values of a file. SettingsError where it is none; DatabaseError where they are of other data, or the
        training was stopped."""
        function = value_function.load(path)
        return cls(function.metric_in(database), function)

    def __call__(self, database: Database, settings: PerformerSettings) -> MotionField:
        return MotionField(database, settings, self.metric, self.function, self.name)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the actions that were trained, by name."""
        if self.function is None:
            return {}
        return {"neighbours": self.function.neighbours, "drift": self.function.drift}

    def not_trained(self, tags: frozenset[str]) -> tuple[str, ...]:
        """Those of some tags that were left out of the training, if there was one."""
        return tuple(sorted(tags - set(self.function.tasks.tags))) if self.function else ()

    def check(self, performance: Performance) -> None:
        """SettingsError where a performance asks for a tag that was not trained."""
        tags = frozenset[str]().union(*(intent.tags for intent in performance.intents))
        if self.function and (unknown := self.not_trained(tags)):
            known = ", ".join(self.function.tasks.tags) or "none"
            raise SettingsError(
                f"The motion field was not trained for the tag '{unknown[0]}', its tags are: {known}; train "
                "it for that one as well."
            )

    def asked(self, intent: Intent) -> Intent:
        """The intent as the field knows how to be asked: for a gait by its tag, where it learnt no speeds."""
        tasks = self.function.tasks if self.function else None
        if tasks is None or intent.tags or tasks.speeds or not set(_GAITS) <= set(tasks.tags):
            return intent
        return intent._replace(tags=frozenset({_GAITS[intent.gait > 0.5]}))

    def performed(self, performance: Performance) -> Performance:
        """A performance with its intents asked so."""
        return replace(
            performance, intents=tuple(self.asked(intent) for intent in performance.intents)
        )


def field_of(method: Method) -> FieldController | None:
    """What makes a method that is a motion field, by values or greedy; None where it is none."""
    if not isinstance(method, MotionField):
        return None
    function = method.foresight if isinstance(method.foresight, ValueFunction) else None
    return FieldController(method.metric, function, method.name)


def summary(function: ValueFunction) -> str:
    """What was trained, in words."""
    asked = ", ".join(
        [
            "direction",
            *(["speed"] if function.tasks.speeds else []),
            *map(repr, function.tasks.tags),
        ]
    )
    first, last = function.residuals[0, 1], function.residuals[-1, 1]
    return (
        f"{len(function.trained)} states, {function.neighbours} actions each, for {asked}; {len(function.residuals)} "
        f"sweeps, the largest change of a value went from {first:.2g} to {last:.2g}"
    )
