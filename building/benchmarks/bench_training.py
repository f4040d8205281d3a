"""Training of motion fields: the tables of actions, sweeps beside plain numpy, and the planning
tick.
"""

from __future__ import annotations

import time

import numpy as np

from motion_matching.engine.control.performer import Performer
from motion_matching.engine.database.database import Database
from motion_matching.engine.field.method import MotionField
from motion_matching.engine.field.states.neighbours import Metric
from motion_matching.engine.field.states.tasks import Tasks
from motion_matching.engine.field.states.value_function import ValueFunction
from motion_matching.engine.field.training.quality import TrainingSettings
from motion_matching.engine.field.training.training import Training
from motion_matching.engine.field.training.value_iteration import Transitions, ValueIteration
from motion_matching.engine.takes import takes

from .bench_search import Row
from .bench_tick import SCRIPTS

SIZE, QUICK_SIZE = 6_400, 800  # frames of the small database
SWEEPS, PLAIN_SWEEPS, DISCOUNT = 300, 3, 0.99
REACH = (
    20e6,
    4e6,
    1400.0,
    3000.0,
)  # microseconds: tables, sweeps, and the tick among few and many poses
LIMIT = 0.2  # of the time of a plain sweep
TOLERANCE = 1e-3


def run(small: Database, large: Database, quick: bool) -> list[Row]:
    """Measure training all states of a small database, and the planning tick in it and in a large
    one.

    Of the large one, as many states are trained. Raises AssertionError if values differ from plain
    sweeps.
    """
    training = Training(
        small, Metric.from_database(small), Tasks(), TrainingSettings(states=0, sweeps=1)
    )
    start = time.perf_counter()
    training.run()
    tables = time.perf_counter() - start
    states = len(training.tables.turn)
    tagged = np.zeros((states, 0), bool)
    iteration = ValueIteration(training.tables, tagged, Tasks(), DISCOUNT)
    start = time.perf_counter()
    iteration.run(PLAIN_SWEEPS)
    values = iteration.values.copy()
    iteration.run(SWEEPS)
    sweeps = time.perf_counter() - start
    start = time.perf_counter()
    expected = plain_sweeps(training.tables, Tasks(), PLAIN_SWEEPS)
    plain = (time.perf_counter() - start) * SWEEPS / PLAIN_SWEEPS
    if not np.allclose(values[:, 0, 0], expected, atol=TOLERANCE):
        raise AssertionError("The values are not those of plain sweeps")
    name = f"{states / 1000:.2g}k"
    some = TrainingSettings(states=states, sweeps=1)
    of_some = Training(large, Metric.from_database(large), Tasks(), some).run()
    seconds = 3.0 if quick else 15.0
    ticks, among_many = (
        _time_ticks(small, training.build_value_function(), seconds),
        _time_ticks(large, of_some, seconds),
    )
    return [
        Row(name, states, "tables", tables * 1e6, tables * 1e6, REACH[0]),
        Row(
            name,
            states,
            f"{SWEEPS} sweeps",
            sweeps * 1e6,
            sweeps * 1e6,
            REACH[1],
            "plain sweeps",
            sweeps / plain,
            LIMIT,
        ),
        Row(name, states, "plain sweeps", plain * 1e6, plain * 1e6),
        Row.from_times(name, states, "planning tick", ticks, REACH[2]),
        Row.from_times(
            f"{len(of_some.frames) / 1000:.2g}k",
            len(of_some.frames),
            "planning tick",
            among_many,
            REACH[3],
        ),
    ]


def plain_sweeps(tables: Transitions, tasks: Tasks, count: int) -> np.ndarray:
    """Compute values (N, T) for directions after some sweeps, as in the notebook, in ordinary
    numpy.
    """
    theta = tasks.headings - tables.turn[..., None].astype(np.float64)
    first, second, share = tasks.find_between(theta)
    share = share.astype(np.float32)[:, :, None]
    reward = -np.abs(theta).astype(np.float32)
    values = np.zeros((len(tables.turn), tasks.directions), np.float32)
    for _ in range(count):
        around = values[tables.indices]
        low = np.take_along_axis(around, first[:, :, None], 3)
        high = np.take_along_axis(around, second[:, :, None], 3)
        ahead = ((1 - share) * low + share * high) * tables.weights[..., None]
        values = (reward + np.float32(DISCOUNT) * ahead.sum(2)).max(1)
    return values


def _time_ticks(database: Database, function: ValueFunction, seconds: float) -> list[float]:
    """Return the microseconds of ticks of a character that is steered by values."""
    settings = takes.make_default_settings(database)
    field = MotionField(database, settings, foresight=function)
    performer = Performer(field, settings)
    spent = []
    for script in SCRIPTS:
        for intent in takes.prepare_performance(
            database, settings, script, gait="walk", seconds=seconds, seed=1
        ).intents:
            start = time.perf_counter()
            performer.step(intent)
            spent.append((time.perf_counter() - start) * 1e6)
    return spent
