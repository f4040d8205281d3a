"""Play a motion field, with its trained value function if there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..control.method import Method
from ..database.database import Database
from ..errors import SettingsError
from ..performance.intent import Intent
from ..performance.performance import Performance
from ..performance.settings import PerformerSettings
from .method import MotionField
from .states import value_function
from .states.neighbours import Metric
from .states.value_function import ValueFunction

METRICS: Mapping[str, Callable[[Database], Metric]] = {
    "default": Metric.from_database,
    "notebook": Metric.from_notebook,
}
_GAITS = ("walk", "run")


@dataclass(frozen=True)
class FieldController:
    """Makes the method of a metric and a value function; greedy without one. See `Controller`.

    Without a metric it is that of the setting `field`. Performances refer to it by `name`.
    """

    metric: Metric | None = None
    function: ValueFunction | None = None
    name: str = ""

    @classmethod
    def load(cls, path: Path | str, database: Database) -> FieldController:
        """Return a controller with the value function of a file.

        Raises SettingsError if the file holds none, and DatabaseError if it was trained with other
        data or its training was stopped.
        """
        function = value_function.load(path)
        return cls(function.find_metric(database), function)

    def __call__(self, database: Database, settings: PerformerSettings) -> MotionField:
        return MotionField(database, settings, self.metric, self.function, self.name)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the actions that were trained, by name."""
        if self.function is None:
            return {}
        field = "notebook" if self.function.tasks.as_notebook else "by_gait"
        actions = {"neighbours": self.function.neighbours, "drift": self.function.drift}
        return {**actions, "field": field}

    def find_untrained_tags(self, tags: frozenset[str]) -> tuple[str, ...]:
        """Return the tags that were not trained, sorted; none without a training."""
        return tuple(sorted(tags - set(self.function.tasks.tags))) if self.function else ()

    def check(self, performance: Performance) -> None:
        """Raise SettingsError if a performance requests a tag that was not trained."""
        tags = frozenset[str]().union(*(intent.tags for intent in performance.intents))
        if self.function and (unknown := self.find_untrained_tags(tags)):
            known = ", ".join(self.function.tasks.tags) or "none"
            raise SettingsError(
                f"The motion field was not trained for the tag '{unknown[0]}', its tags are: "
                f"{known}; train it for that tag too."
            )

    def adapt_intent(self, intent: Intent) -> Intent:
        """Return the intent in trained terms: the gait becomes a tag if only tags were trained."""
        tasks = self.function.tasks if self.function else None
        if tasks is None or intent.tags or tasks.speeds or not set(_GAITS) <= set(tasks.tags):
            return intent
        return intent._replace(tags=frozenset({_GAITS[intent.gait > 0.5]}))

    def adapt_performance(self, performance: Performance) -> Performance:
        """Return a performance with all intents adapted."""
        return replace(performance, intents=tuple(map(self.adapt_intent, performance.intents)))


def get_field_controller(method: Method) -> FieldController | None:
    """Return the controller that makes a motion field; None for another method."""
    if not isinstance(method, MotionField):
        return None
    return FieldController(method.metric, method.foresight, method.name)


def summarize(function: ValueFunction) -> str:
    """Summarize the training in a sentence."""
    tasks = function.tasks
    sweeps = function.residuals
    speed = ("speed",) if tasks.speeds else ()
    goals = ", ".join(("direction", *speed, *map(repr, tasks.tags)))
    return (
        f"{len(function.trained)} states, {function.neighbours} actions each, for {goals}; "
        f"{len(sweeps)} sweeps, the largest change of a value went from {sweeps[0, 1]:.2g} to "
        f"{sweeps[-1, 1]:.2g}"
    )
