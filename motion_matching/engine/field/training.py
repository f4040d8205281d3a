"""Training a motion field: where all actions of all states lead, and what the states are worth; it can be stopped.

Source: notebook 003, Fitted value function training. The tables cost most and depend on data, metric, neighbours and
drift; the sweeps on them are quick. Both are kept in the file, so that a training that was stopped goes on where it was,
and another task uses the tables again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from .. import files
from ..errors import SettingsError
from ..matching.database import Database
from . import value_function as value_functions
from .actions import action_weights
from .integration import step
from .method import fields_of, gaits, pace
from .neighbours import Metric, Neighbours, similarity_weights
from .quality import TrainingSettings
from .states import MotionStates
from .tasks import Tasks
from .value_function import Ingredients, ValueFunction, thinned
from .value_iteration import Residual, Transitions, ValueIteration

_BATCH = 16  # states whose actions are looked at together
_TABLES_SHARE, _SWEEPS_SHARE = 0.7, 0.15  # of the time, for progress
Progress = Callable[[str, float], None]


class Training:
    """A motion field in training.

    `tables` (N, A, …) say where all actions lead. `run` does what is left to do and may be stopped by an exception of its
    progress, then called again; `save` keeps all that is done, and `resume` takes it up again.
    """

    def __init__(
        self, database: Database, metric: Metric, tasks: Tasks, settings: TrainingSettings,
        progress: Progress | None = None,
    ) -> None:
        """`progress` is told what is going on, and may raise to stop. SettingsError where none that is trained has a tag."""

        def told() -> None:
            if progress:
                progress("Gathering motion states", 0.0)

        told()
        self.tasks, self.settings, self._metric = tasks, settings, metric
        self._made_of = Ingredients.of(database, metric)
        self.discount, self.sweeps = settings.discount_of_tick(database.fps), settings.sweeps_at(database.fps)
        self._every = MotionStates.from_database(database, told)
        self._states = thinned(self._every, settings.states)
        self._trained = np.searchsorted(self._every.frames, self._states.frames)
        self._tagged = np.zeros((len(self._every), len(tasks.tags)), bool)
        for g, tag in enumerate(tasks.tags):
            database.tag_mask({tag})  # names the tags that there are
            self._tagged[:, g] = self._every.tag_masks[tag]
            if not self._tagged[self._trained, g].any():
                raise SettingsError(f"None of the {len(self._states)} states that are trained is tagged '{tag}'; train more "
                                    "of them, tag longer stretches, or leave it out.")
        states, k = len(self._states), min(settings.neighbours, len(self._states))
        gait, masks = gaits(database)
        self._gait, self._gaits = gait[self._every.frames], masks[:, self._every.frames]
        self.tables = Transitions(
            np.zeros((states, k, k), np.int32), np.zeros((states, k, k), np.float32),
            np.zeros((states, k), np.float32), np.zeros((states, k), np.float32),
        )
        self._filled = 0
        self._values: np.ndarray | None = None  # of the states that are trained
        self._of_every: np.ndarray | None = None  # of all
        self._residuals: list[Residual] = []

    @property
    def state_count(self) -> int:
        return len(self._states)

    @property
    def residuals(self) -> np.ndarray:
        """Those of all sweeps so far (sweeps, 3), as `ValueFunction` has them; also while it runs."""
        return np.array(self._residuals, np.float64).reshape(-1, 3)

    @property
    def part(self) -> float:
        """How much is done, 0..1."""
        tables = self._filled / len(self._states)
        sweeps = 1.0 if self._converged else len(self._residuals) / self.sweeps
        return _TABLES_SHARE * tables + _SWEEPS_SHARE * sweeps + (1 - _TABLES_SHARE - _SWEEPS_SHARE) * self.finished

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do."""
        return self._of_every is not None

    @property
    def _converged(self) -> bool:
        """Whether there are enough sweeps."""
        enough = self._residuals and self._residuals[-1].most <= self.settings.residual
        return bool(enough) or len(self._residuals) >= self.sweeps

    def resume(self, path: Path | str) -> bool:
        """Take over what a file holds of this training: its tables, and values of the same tasks.

        Whether the file is of this training: of the same data, states and actions. One of another is left, and so is what
        is less than there is. SettingsError where the file is no field.
        """
        function, arrays = value_functions.read(path)
        k = self.tables.turn.shape[1]
        same = function.made_of.are(self._made_of) and (function.neighbours, function.drift) == (k, self.settings.drift)
        if not same or not np.array_equal(function.frames[function.trained], self._states.frames):
            return False
        filled = len(arrays.get("turn", ()))
        if filled < self._filled:
            return True
        for name, table in self.tables._asdict().items():
            done = files.expect_array(arrays, name, table.dtype, (filled, *table.shape[1:]), path, SettingsError)
            table[:filled] = done
        self._filled = filled
        is_same = (function.tasks, function.discount) == (self.tasks, self.discount)
        if is_same and len(function.residuals) > len(self._residuals):
            self._values, self._residuals = (
                function.values[function.trained], [Residual(*row) for row in function.residuals.tolist()])
            # a copy, for the file may be written again, and some systems do not replace one that is mapped
            self._of_every = np.array(function.values) if function.finished and self._converged else None
        return True

    def run(self, progress: Progress | None = None) -> ValueFunction:
        """Do what is left; `progress` is told what is going on and how much of it is done, and may raise to stop."""
        self._fill(progress)
        if not self._converged or self._values is None:
            self._sweep(progress)
        if self._of_every is None:
            self._of_every = self._spread(progress)
        return self.value_function()

    def _sweep(self, progress: Progress | None) -> None:
        """What the states that are trained are worth, by sweeps that are left to do."""

        def trained(part: float) -> None:
            if progress:
                progress("Training", part)

        iteration = ValueIteration(
            self.tables, self._tagged[self._trained], self.tasks, self.discount, self._values, self._residuals,
            lambda: trained(len(self._residuals) / self.sweeps),
        )
        self._residuals = iteration.residuals  # the same list, to be looked at meanwhile
        try:
            iteration.run(self.sweeps, self.settings.residual, trained)
        finally:
            self._values, self._residuals = iteration.values, iteration.residuals

    def _spread(self, progress: Progress | None) -> np.ndarray:
        """What all states are worth: those that were not trained as much as the nearest that were, of their gait."""
        assert self._values is not None
        values = np.empty((len(self._every), *self.tasks.shape), np.float32)
        values[self._trained] = self._values
        others = np.delete(np.arange(len(values)), self._trained)
        done = 0

        def told() -> None:
            if progress:
                progress("Valuing all poses", done / len(others))

        if len(others):
            features = self._metric.of_states(self._every, told)
            k, known = self.tables.turn.shape[1], self._values.reshape(len(self._trained), -1)
            fields = fields_of(features[self._trained], self._gaits[:, self._trained], fewest=k, told=told)
            for gait, neighbours in enumerate(fields):
                own = others[self._gait[others] == gait]
                for start in range(0, len(own), _BATCH):
                    told()
                    part = own[start : start + _BATCH]
                    around, distances = neighbours.nearest(features[part], k)
                    spread = similarity_weights(distances)[:, None] @ known[around]
                    values[part] = spread.reshape(len(part), *self.tasks.shape)
                    done += len(part)
        return values

    def _fill(self, progress: Progress | None) -> None:
        """Where the actions of the states lead that were not yet looked at."""
        states = self._states
        if self._filled == len(states):
            return

        def told() -> None:
            if progress:
                progress("Looking where actions lead", self._filled / len(states))

        features = self._metric.of_states(states, told)
        gait, gaits = self._gait[self._trained], self._gaits[:, self._trained]
        fields = fields_of(features, gaits, fewest=self.tables.turn.shape[1], told=told)
        while self._filled < len(states):
            told()
            part = np.arange(self._filled, min(self._filled + _BATCH, len(states)))
            for number, neighbours in enumerate(fields):
                if (own := part[gait[part] == number]).size:
                    self._look(neighbours, features, own)
            self._filled = int(part[-1]) + 1

    def _look(self, neighbours: Neighbours, features: np.ndarray, which: np.ndarray) -> None:
        """Fill the tables of the states `which` with where their actions among these neighbours lead."""
        states, tables, k = self._states, self.tables, self.tables.turn.shape[1]
        around, distances = neighbours.nearest(features[which], k)
        actions = action_weights(similarity_weights(distances))
        led = step(states, states.poses[which], around, actions, self.settings.drift)
        tables.turn[which] = led.root[..., 2]
        tables.speed[which] = pace(led.root) * states.fps
        count, bones = led.pose.shape[0] * k, led.pose.shape[2:]
        led_to = self._metric.features(led.pose.reshape(count, *bones), led.velocity.reshape(count, *bones))
        for state, results in zip(which, led_to.reshape(-1, k, led_to.shape[1]), strict=True):
            # the results of one state are alike, so their neighbours are found together
            tables.indices[state], distances = neighbours.nearest(results, k)
            tables.weights[state] = similarity_weights(distances)

    def value_function(self) -> ValueFunction:
        """The values as they are by now: of all states when they are done, until then of those that are trained."""
        spread = self._of_every is not None
        values = self._of_every if spread else self._values
        which = np.arange(len(self._every)) if spread else self._trained
        frames = self._every.frames[which]
        return ValueFunction(
            tasks=self.tasks,
            values=np.zeros((len(frames), *self.tasks.shape), np.float32) if values is None else values,
            frames=frames.astype(np.int32),
            tagged=self._tagged[which],
            trained=np.flatnonzero(np.isin(which, self._trained)).astype(np.int32),
            neighbours=self.tables.turn.shape[1],
            drift=self.settings.drift,
            discount=self.discount,
            residuals=self.residuals,
            finished=self.finished,
            made_of=self._made_of,
        )

    def save(self, path: Path | str) -> None:
        """Write the value function with the tables that are done so far."""
        tables = {name: table[: self._filled] for name, table in self.tables._asdict().items()}
        value_functions.save(self.value_function(), path, tables)
