"""Train a motion field: tables of where actions lead, then the values of the states.

The tables cost most and depend on data, metric, neighbours and drift; the sweeps on them are quick.
Both are saved to the file, so that a stopped training can go on and another task can use the
tables.

Source: notebook 003, Fitted value function training.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from ...database.database import Database
from ...errors import SettingsError
from ...files import array_files
from ...progress import ReportProgress, ReportShare, ignore_progress
from ..integration import compute_action_weights, integrate
from ..method import compute_pace
from ..numbers import NUMBERS
from ..states import value_function as value_functions
from ..states.gaits import build_neighbours, classify_gaits, find_gait_states
from ..states.neighbours import Metric, Neighbours, compute_similarity_weights
from ..states.states import MotionStates
from ..states.tasks import Tasks
from ..states.value_function import DataFingerprint, ValueFunction
from .quality import TrainingSettings
from .value_iteration import Residual, Transitions, ValueIteration


class Training:
    """A motion field in training.

    Some of its states, evenly chosen, are trained. Their actions lead among all states, as when the
    field is played; the other states are interpolated between the trained ones before and after
    them. `tables` (N, A, …) hold where the actions lead. An exception of its progress stops `run`,
    which can be called again. `save` writes all that is done, and `resume` reads it.
    """

    def __init__(
        self,
        database: Database,
        metric: Metric,
        tasks: Tasks,
        settings: TrainingSettings,
        progress: ReportProgress | None = None,
    ) -> None:
        """Prepare the training; SettingsError if no trained state has a tag."""

        def report_progress() -> None:
            if progress:
                progress("Gathering motion states", 0.0)

        report_progress()
        tasks = database.scale.to_body(tasks)
        database = database.in_body_units
        self.tasks = tasks
        self.settings = settings
        self._metric = metric
        self._fingerprint = DataFingerprint.from_database(database, metric)
        self.discount = settings.compute_tick_discount(database.fps)
        self.sweeps = settings.compute_sweeps(database.fps)
        self._states = MotionStates.from_database(database, report_progress)
        self._chains = self._states.compute_chains(database)
        self._trained = choose_evenly(self._chains, settings.states)
        self._tagged = np.zeros((len(self._states), len(tasks.tags)), bool)
        for g, tag in enumerate(tasks.tags):
            database.make_tag_mask({tag})  # raises for an unknown tag, and names the known ones
            self._tagged[:, g] = self._states.tag_masks[tag]
            if not self._tagged[self._trained, g].any():
                raise SettingsError(
                    f"None of the {len(self._trained)} states that are trained is tagged '{tag}'; "
                    "train more of them, tag longer stretches, or leave it out."
                )
        self._gait = np.zeros(len(self._states), np.intp)  # of each state
        self._gaits: np.ndarray | None = None  # None: all are one field
        if not tasks.as_notebook:
            self._gait = classify_gaits(database)[0][self._states.frames]
            self._gaits = find_gait_states(database, self._states)
        shape = len(self._trained), min(settings.neighbours, len(self._states))
        deep = (*shape, shape[1])
        indices = np.zeros(deep, np.int32)
        weights = np.zeros(deep, np.float32)
        turn, speed = np.zeros((2, *shape), np.float32)
        self.tables = Transitions(indices, weights, turn, speed)
        self._filled = 0
        self._values: np.ndarray | None = None
        self._residuals: list[Residual] = []

    @property
    def residuals(self) -> np.ndarray:
        """The residuals (sweeps, 3) so far, as in `ValueFunction`; also while it runs."""
        return np.array(self._residuals, np.float64).reshape(-1, 3)

    @property
    def share_done(self) -> float:
        """The share done, 0 to 1."""
        tables = self._filled / len(self._trained)
        sweeps = 1.0 if self.is_finished else len(self._residuals) / self.sweeps
        return NUMBERS.tables_share * tables + (1 - NUMBERS.tables_share) * sweeps

    @property
    def is_finished(self) -> bool:
        """Whether there have been enough sweeps."""
        enough = self._residuals and self._residuals[-1].most <= self.settings.residual
        return bool(enough) or len(self._residuals) >= self.sweeps

    def resume(self, path: Path | str) -> bool:
        """Take over this training from a file: tables, and values of the same tasks.

        Returns whether the file is of this training: of the same data, states and actions. Another
        file changes nothing, nor does one that holds less than is done already. Raises
        SettingsError if the file is not a field.
        """
        function, arrays = value_functions.read(path)
        k = self.tables.turn.shape[1]
        if (function.neighbours, function.drift) != (k, self.settings.drift):
            return False
        same_data = function.fingerprint.matches(self._fingerprint)
        same_data &= function.tasks.as_notebook == self.tasks.as_notebook
        if not same_data or not np.array_equal(function.trained, self._trained):
            return False
        filled = min(np.size(arrays.get("turn", ()), 0), len(self._trained))
        if filled < self._filled:
            return True
        tables = self.tables._asdict()
        kinds = {name: (table.dtype, (filled, *table.shape[1:])) for name, table in tables.items()}
        given = array_files.expect_arrays(arrays, kinds, {}, path, SettingsError)
        indices = given["indices"]
        if indices.size and not 0 <= indices.min() <= indices.max() < len(self._states):
            raise SettingsError(f"{path} has actions that lead nowhere; train it again.")
        for name, done in given.items():
            tables[name][:filled] = done
        self._filled = filled
        is_same = (function.tasks, function.discount) == (self.tasks, self.discount)
        if is_same and len(function.residuals) > len(self._residuals):
            # a copy: the file may be written again, and some systems cannot replace a mapped one
            self._values = np.array(function.values)
            self._residuals = [Residual(*row) for row in function.residuals.tolist()]
        return True

    def run(self, progress: ReportProgress | None = None) -> ValueFunction:
        """Do the rest; `progress` gets a stage and its share done, and may raise to stop."""
        notify = progress or ignore_progress
        if self._filled == len(self._trained) and self.is_finished:
            return self.build_value_function()
        count = len(self._trained)
        self._fill_tables(lambda: notify("Looking where actions lead", self._filled / count))
        self._run_sweeps(lambda share: notify("Training", share))
        return self.build_value_function()

    def _run_sweeps(self, progress: ReportShare) -> None:
        """Do the sweeps that are left."""
        iteration = ValueIteration(
            self.tables,
            self._tagged,
            self.tasks,
            self.discount,
            self._values,
            self._residuals,
            lambda: progress(len(self._residuals) / self.sweeps),
            self._build_spread(),
            self._trained,
        )
        self._residuals = iteration.residuals  # the same list, which others can read meanwhile
        try:
            iteration.run(self.sweeps, self.settings.residual, progress)
        finally:
            self._values = iteration.values
            self._residuals = iteration.residuals

    def _build_spread(self) -> sparse.csr_matrix | None:
        """Return the weights (S, N) of trained states in all, or None if all are trained."""
        count = len(self._trained)
        every = np.arange(len(self._states))
        trained = self._trained
        if count == len(every):
            return None
        before = trained.searchsorted(every, side="right") - 1
        after = np.minimum(before + 1, count - 1)
        between = (self._chains[trained[after]] == self._chains) & (after > before)
        share = (every - trained[before]) / np.maximum(trained[after] - trained[before], 1)
        share = np.where(between, share, 0.0)
        weights = np.stack([1 - share, share], axis=1).astype(np.float32).ravel()
        columns = np.stack([before, after], axis=1).ravel()
        rows = np.arange(0, len(columns) + 1, 2)
        return sparse.csr_matrix((weights, columns, rows), (len(every), count))

    def _fill_tables(self, check_cancelled: Callable[[], None]) -> None:
        """Fill the rows of the tables that are left."""
        if self._filled == len(self._trained):
            return
        features = self._metric.compute_state_features(self._states, check_cancelled)
        if self._gaits is None:
            fields = [Neighbours(features)]
        else:
            fewest = self.tables.turn.shape[1]
            fields = build_neighbours(features, self._gaits, fewest, None, check_cancelled)
        while self._filled < len(self._trained):
            check_cancelled()
            stop = min(self._filled + NUMBERS.trained_at_once, len(self._trained))
            part = np.arange(self._filled, stop)
            for number, neighbours in enumerate(fields):
                if (own := part[self._gait[self._trained[part]] == number]).size:
                    self._fill_rows(neighbours, features, own)
            self._filled = stop

    def _fill_rows(self, neighbours: Neighbours, features: np.ndarray, rows: np.ndarray) -> None:
        """Fill rows of the tables with the results of their states' actions."""
        states = self._states
        tables = self.tables
        k = self.tables.turn.shape[1]
        which = self._trained[rows]
        around, distances = neighbours.find_nearest(features[which], k)
        actions = compute_action_weights(compute_similarity_weights(distances))
        step = integrate(states, states.poses[which], around, actions, self.settings.drift)
        tables.turn[rows] = step.root[..., 2]
        tables.speed[rows] = compute_pace(step.root) * states.fps
        poses, velocities = (part.reshape(-1, *part.shape[2:]) for part in step[:2])
        result_features = self._metric.compute_features(poses, velocities)
        by_row = result_features.reshape(len(rows), k, -1)
        for row, results in zip(rows, by_row, strict=True):
            # the results of one state are similar, so their neighbours are found together
            tables.indices[row], distances = neighbours.find_nearest(results, k)
            tables.weights[row] = compute_similarity_weights(distances)

    def build_value_function(self) -> ValueFunction:
        """Return the values so far."""
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
            finished=self.is_finished,
            fingerprint=self._fingerprint,
        )

    def save(self, path: Path | str) -> None:
        """Write the values and tables so far. Raises SettingsError if that fails."""
        tables = {name: table[: self._filled] for name, table in self.tables._asdict().items()}
        value_functions.save(self.build_value_function(), path, tables)


def choose_evenly(chains: np.ndarray, count: int) -> np.ndarray:
    """Return about `count` evenly spaced states of `chains` (S,), with the first of each chain.

    All are returned if the count is 0 or there are no more.
    """
    if not 0 < count < len(chains):
        return np.arange(len(chains))
    firsts = np.flatnonzero(np.diff(chains, prepend=-1))
    return np.union1d(firsts, np.linspace(0, len(chains) - 1, count).round().astype(np.intp))
