"""Training a motion field: where all actions of all states lead, and what the states are worth; it can be stopped.

Source: notebook 003, Fitted value function training. The tables cost most and depend on data, metric, neighbours and
drift; the sweeps on them are quick. Both are kept in the file, so that a training that was stopped goes on where it was,
and another task uses the tables again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

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
from .value_function import Ingredients, ValueFunction
from .value_iteration import Residual, Transitions, ValueIteration

_BATCH = 16  # states whose actions are looked at together
_TABLES_SHARE = 0.8  # of the time, for progress
Progress = Callable[[str, float], None]


class Training:
    """A motion field in training.

    Trained are some of its states, evenly chosen; they act and end up among all of them, as the field is played, and the
    others are worth what lies between those that are trained before and after them. `tables` (N, A, …) say where all their
    actions lead. `run` does what is left to do and may be stopped by an exception of its progress, then called again; `save`
    keeps all that is done, and `resume` takes it up again.
    """

    def __init__(
        self,
        database: Database,
        metric: Metric,
        tasks: Tasks,
        settings: TrainingSettings,
        progress: Progress | None = None,
    ) -> None:
        """`progress` is told what is going on, and may raise to stop. SettingsError where none that is trained has a tag."""

        def told() -> None:
            if progress:
                progress("Gathering motion states", 0.0)

        told()
        self.tasks, self.settings, self._metric = tasks, settings, metric
        self._made_of = Ingredients.of(database, metric)
        self.discount, self.sweeps = (
            settings.discount_of_tick(database.fps),
            settings.sweeps_at(database.fps),
        )
        self._states = MotionStates.from_database(database, told)
        self._chains = self._states.chains(database)
        self._trained = evenly(self._chains, settings.states)
        self._tagged = np.zeros((len(self._states), len(tasks.tags)), bool)
        for g, tag in enumerate(tasks.tags):
            database.tag_mask({tag})  # names the tags that there are
            self._tagged[:, g] = self._states.tag_masks[tag]
            if not self._tagged[self._trained, g].any():
                raise SettingsError(
                    f"None of the {len(self._trained)} states that are trained is tagged '{tag}'; train "
                    "more of them, tag longer stretches, or leave it out."
                )
        count, k = len(self._trained), min(settings.neighbours, len(self._states))
        gait, masks = gaits(database)
        self._gait, self._gaits = gait[self._states.frames], masks[:, self._states.frames]
        self.tables = Transitions(
            np.zeros((count, k, k), np.int32),
            np.zeros((count, k, k), np.float32),
            np.zeros((count, k), np.float32),
            np.zeros((count, k), np.float32),
        )
        self._filled = 0
        self._values: np.ndarray | None = None
        self._residuals: list[Residual] = []

    @property
    def state_count(self) -> int:
        """How many states are trained."""
        return len(self._trained)

    @property
    def residuals(self) -> np.ndarray:
        """Those of all sweeps so far (sweeps, 3), as `ValueFunction` has them; also while it runs."""
        return np.array(self._residuals, np.float64).reshape(-1, 3)

    @property
    def part(self) -> float:
        """How much is done, 0..1."""
        tables = self._filled / len(self._trained)
        sweeps = 1.0 if self.finished else len(self._residuals) / self.sweeps
        return _TABLES_SHARE * tables + (1 - _TABLES_SHARE) * sweeps

    @property
    def finished(self) -> bool:
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
        same = function.made_of.are(self._made_of) and (function.neighbours, function.drift) == (
            k,
            self.settings.drift,
        )
        if not same or not np.array_equal(function.trained, self._trained):
            return False
        filled = len(arrays.get("turn", ()))
        if filled < self._filled:
            return True
        for name, table in self.tables._asdict().items():
            done = files.expect_array(
                arrays, name, table.dtype, (filled, *table.shape[1:]), path, SettingsError
            )
            table[:filled] = done
        self._filled = filled
        is_same = (function.tasks, function.discount) == (self.tasks, self.discount)
        if is_same and len(function.residuals) > len(self._residuals):
            # a copy, for the file may be written again, and some systems do not replace one that is mapped
            self._values, self._residuals = (
                np.array(function.values),
                [Residual(*row) for row in function.residuals.tolist()],
            )
        return True

    def run(self, progress: Progress | None = None) -> ValueFunction:
        """Do what is left; `progress` is told what is going on and how much of it is done, and may raise to stop."""
        if self._filled == len(self._trained) and self.finished:
            return self.value_function()

        def told() -> None:
            if progress:
                progress("Looking where actions lead", self._filled / len(self._trained))

        self._fill(told)
        self._sweep(progress)
        return self.value_function()

    def _sweep(self, progress: Progress | None) -> None:
        """What the states are worth, by sweeps that are left to do."""

        def trained(part: float) -> None:
            if progress:
                progress("Training", part)

        iteration = ValueIteration(
            self.tables,
            self._tagged,
            self.tasks,
            self.discount,
            self._values,
            self._residuals,
            lambda: trained(len(self._residuals) / self.sweeps),
            self._spread(),
        )
        self._residuals = iteration.residuals  # the same list, to be looked at meanwhile
        try:
            iteration.run(self.sweeps, self.settings.residual, trained)
        finally:
            self._values, self._residuals = iteration.values, iteration.residuals

    def _spread(self) -> sparse.csr_matrix | None:
        """How much each state (S, N) is worth of those that are trained: as it lies between two of its clip. None where all
        are trained."""
        count, every, trained = len(self._trained), np.arange(len(self._states)), self._trained
        if count == len(every):
            return None
        before = trained.searchsorted(every, side="right") - 1
        after = np.minimum(before + 1, count - 1)
        between = (self._chains[trained[after]] == self._chains) & (after > before)
        share = np.where(
            between,
            (every - trained[before]) / np.maximum(trained[after] - trained[before], 1),
            0.0,
        )
        weights, columns = np.stack([1 - share, share], axis=1), np.stack([before, after], axis=1)
        rows = np.arange(0, 2 * len(every) + 1, 2)
        return sparse.csr_matrix(
            (weights.ravel().astype(np.float32), columns.ravel(), rows), (len(every), count)
        )

    def _fill(self, told: Callable[[], None]) -> None:
        """Where the actions of the states lead that were not yet looked at."""
        if self._filled == len(self._trained):
            return
        features = self._metric.of_states(self._states, told)
        fields = fields_of(features, self._gaits, fewest=self.tables.turn.shape[1], told=told)
        while self._filled < len(self._trained):
            told()
            part = np.arange(self._filled, min(self._filled + _BATCH, len(self._trained)))
            for number, neighbours in enumerate(fields):
                if (own := part[self._gait[self._trained[part]] == number]).size:
                    self._look(neighbours, features, own)
            self._filled = int(part[-1]) + 1

    def _look(self, neighbours: Neighbours, features: np.ndarray, rows: np.ndarray) -> None:
        """Fill rows of the tables with where the actions of their states among these neighbours lead."""
        states, tables, k = self._states, self.tables, self.tables.turn.shape[1]
        which = self._trained[rows]
        around, distances = neighbours.nearest(features[which], k)
        actions = action_weights(similarity_weights(distances))
        led = step(states, states.poses[which], around, actions, self.settings.drift)
        tables.turn[rows] = led.root[..., 2]
        tables.speed[rows] = pace(led.root) * states.fps
        count, bones = led.pose.shape[0] * k, led.pose.shape[2:]
        led_to = self._metric.features(
            led.pose.reshape(count, *bones), led.velocity.reshape(count, *bones)
        )
        for row, results in zip(rows, led_to.reshape(-1, k, led_to.shape[1]), strict=True):
            # the results of one state are alike, so their neighbours are found together
            tables.indices[row], distances = neighbours.nearest(results, k)
            tables.weights[row] = similarity_weights(distances)

    def value_function(self) -> ValueFunction:
        """The values as they are by now."""
        shape = (len(self._states), *self.tasks.shape)
        return ValueFunction(
            tasks=self.tasks,
            values=np.zeros(shape, np.float32) if self._values is None else self._values,
            frames=self._states.frames.astype(np.int32),
            tagged=self._tagged,
            trained=self._trained.astype(np.int32),
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


def evenly(chains: np.ndarray, count: int) -> np.ndarray:
    """Indices of about so many of the states in `chains` (S,), the first of each chain and others from all over; of all
    where the count is 0 or there are no more."""
    if not 0 < count < len(chains):
        return np.arange(len(chains))
    firsts = np.flatnonzero(np.diff(chains, prepend=-1))
    return np.union1d(firsts, np.linspace(0, len(chains) - 1, count).round().astype(np.intp))
