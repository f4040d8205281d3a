"""Store and evaluate the value function: values of states for every task, and of actions.

Source: notebook 003, Using the value function. There an action is chosen by the value of its result
alone, as by `ValueFunction.evaluate`. That cannot distinguish small differences of heading, so
`score` adds the reward.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...database.database import Database
from ...errors import DatabaseError, SettingsError
from ...files import array_files, json_files
from ...files.json_files import EntryError, expect_flag, expect_number, expect_whole_number
from ..numbers import NUMBERS
from .neighbours import Metric
from .states import MotionStates
from .tasks import TaskGoal, Tasks, tasks_from_dict

FORMAT = "motion-matching field"
VERSION = 5
_ROUNDING = 2e-4  # largest difference of measures of the same data


@dataclass(frozen=True, eq=False)
class DataFingerprint:
    """Identifies a field's data: by `key` frames, tags, settings; by `measures` (M,) poses.

    Measures of the same clips are equal up to rounding, wherever the character stood when they were
    read.
    """

    key: str
    measures: np.ndarray

    @classmethod
    def from_database(
        cls, database: Database, metric: Metric, poses: np.ndarray | None = None
    ) -> DataFingerprint:
        """Return the fingerprint of a database and a metric; `poses` are its measures, if known."""
        digest = hashlib.blake2b(digest_size=16)
        settings = metric.fps, metric.root_velocity, metric.turn
        described = (database.fps, database.tag_names, database.skeleton.names, *settings)
        digest.update(repr(described).encode())
        for array in (database.successors, database.tags, database.skeleton.parents):
            digest.update(repr((array.dtype.str, array.shape)).encode())
            digest.update(np.ascontiguousarray(array).data)
        places = np.zeros(0) if metric.fixed_positions is None else metric.fixed_positions.ravel()
        poses = _compute_measures(database) if poses is None else poses
        measures = (metric.positions, metric.velocities, places, poses)
        return cls(digest.hexdigest(), np.concatenate(measures).astype(np.float32))

    def matches(self, other: DataFingerprint) -> bool:
        """Return whether two fingerprints are of the same data."""
        ours = self.measures
        theirs = other.measures
        if self.key != other.key or ours.shape != theirs.shape:
            return False
        return np.allclose(ours, theirs, rtol=0.0, atol=_ROUNDING)


def _compute_measures(database: Database) -> np.ndarray:
    """Return four sums per frame (4 N,) of the local pose and root velocity, weighted by waves."""
    local = np.asarray(database.poses)[:, :, 1:]  # bone 0 is where the character stood
    # q and -q are the same rotation
    parts = local[:, :3], np.abs(local[:, 3:]), NUMBERS.measured_seconds * database.root_motion
    rows = [part.reshape(len(part), -1) for part in parts]
    phase = np.arange(sum(row.shape[1] for row in rows)) ** 2
    waves = np.cos(np.outer(phase, np.sqrt([1.0, 2.0, 3.0, 5.0]))).astype(np.float32)
    splits = np.cumsum([row.shape[1] for row in rows])[:-1]
    sums = [row @ wave for row, wave in zip(rows, np.split(waves, splits), strict=True)]
    return np.add.reduce(sums).ravel()


class Clips(NamedTuple):
    """Stretches of clips: the states (k,) where they start and end, turns (k,), length in ticks."""

    starts: np.ndarray
    ends: np.ndarray
    turn: np.ndarray
    ticks: int


@dataclass(frozen=True)
class ValueFunction:
    """Values (N, S, G, T) of N states for S speeds, G tasks by tag and T directions of `tasks`.

    `frames` (N,) of the database are the states, `tagged` (N, tags) marks the tags of each. Only
    the states `trained` (M,) were trained; the others are interpolated within their clips.
    Actions were those of `neighbours` neighbours with a drift correction of `drift`. `residuals`
    (sweeps, 3) are the least, largest and mean change of every sweep; `finished` says whether there
    were enough.
    """

    tasks: Tasks
    values: np.ndarray
    frames: np.ndarray
    tagged: np.ndarray
    trained: np.ndarray
    neighbours: int
    drift: float
    discount: float
    residuals: np.ndarray
    finished: bool
    fingerprint: DataFingerprint
    _tables: dict[frozenset[str], np.ndarray] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def score(
        self,
        goal: TaskGoal,
        turn: np.ndarray,
        speed: np.ndarray,
        indices: np.ndarray,
        weights: np.ndarray,
    ) -> np.ndarray:
        """Return the values of actions (A,): rewards plus the discounted values of their results.

        Actions turn by `turn` (A,) radians, move at `speed` (A,) m/s, and lead to a mean of the
        states `indices` (A, k) by `weights` (A, k).
        """
        tagged = np.einsum("aj,ajg->ag", weights, self.tagged[indices])
        ahead = self.evaluate(goal, turn, indices, weights)
        return self.tasks.compute_reward(goal, turn, speed, tagged) + self.discount * ahead

    def evaluate(
        self, goal: TaskGoal, turn: np.ndarray, indices: np.ndarray, weights: np.ndarray
    ) -> np.ndarray:
        """Return the values alone (A,) of the results of actions; see `score`."""
        values = self._evaluate(goal, turn[:, None], indices)
        result: np.ndarray = np.einsum("aj,aj->a", weights, values)
        return result

    def score_clips(
        self, goal: TaskGoal, turn: np.ndarray, speed: np.ndarray, clips: Clips, weights: np.ndarray
    ) -> np.ndarray:
        """Return the values of actions (A,) that follow the clips they blend for some ticks.

        Up to T times on the way they turn by `turn` (A, T) radians and move at `speed` (A, T) m/s;
        clips count with `weights` (A, k).
        """
        tagged = weights @ self.tagged[clips.starts]
        reward = self.tasks.compute_reward(goal, turn, speed, tagged[:, None]).mean(axis=1)
        later = self.discount**clips.ticks
        ahead = weights @ self._evaluate(goal, clips.turn, clips.ends)
        return reward * (1.0 - later) / (1.0 - self.discount) + later * ahead

    def _evaluate(self, goal: TaskGoal, turn: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Return the values of states (...) for a goal, after turns (...) in radians."""
        table = self._get_table(goal.tags)
        counts = self.tasks.compute_speed_shares(goal.speed)
        first, second, share = self.tasks.find_between(goal.direction - turn)
        ahead = np.zeros(states.shape)
        for speed in counts.nonzero()[0]:  # at most two, around the desired one
            row = (states * len(counts) + speed) * self.tasks.directions
            low, high = table.take(row + first), table.take(row + second)
            ahead += counts[speed] * (low + share * (high - low))
        return ahead

    def _get_table(self, tags: frozenset[str]) -> np.ndarray:
        """Return the values (N, S, T) for some tags."""
        table = self._tables.get(tags)
        if table is None:
            shares = self.tasks.compute_tag_shares(tags).astype(np.float32)
            table = self._tables[tags] = np.einsum("nsgt,g->nst", self.values, shares)
        return table

    def build_states(self, database: Database) -> MotionStates:
        """Return the states of the values. Raises DatabaseError if the database has others."""
        states = MotionStates.from_database(database)
        if not np.array_equal(states.frames, self.frames):
            raise DatabaseError(_OTHER_DATA)
        return states

    def find_metric(self, database: Database) -> Metric:
        """Return the metric of the training; DatabaseError for other data or an unfinished one."""
        if not self.finished:
            raise DatabaseError(
                "The training of the value function was stopped before its end; train it again to "
                "go on."
            )
        database = database.in_body_units
        poses = _compute_measures(database)
        for metric in (Metric.from_database(database), Metric.from_notebook(database)):
            if self.fingerprint.matches(DataFingerprint.from_database(database, metric, poses)):
                return metric
        raise DatabaseError(_OTHER_DATA)


class OtherVersionError(SettingsError):
    """A file holds a field that another version of this program wrote."""


_OTHER_DATA = (
    "The value function was trained with other data or tags than the database has now; train it "
    "again."
)


# ---------------------------------------------------------------- files


# name: (type, shape), where N states, M of them trained, S speeds, G tasks by tag, T directions, W
# sweeps so far, P measures
_HEADER = ("format", "version", "key", "tasks", "neighbours", "drift", "discount", "finished")
_ARRAYS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "values": (np.float32, ("N", "S", "G", "T")),
    "frames": (np.int32, ("N",)),
    "tagged": (np.bool_, ("N", "tags")),
    "trained": (np.int32, ("M",)),
    "residuals": (np.float64, ("W", 3)),
    "measures": (np.float32, ("P",)),
}


def save(
    function: ValueFunction, path: Path | str, extra: dict[str, np.ndarray] | None = None
) -> None:
    """Write a value function and `extra` arrays as one `.npz`; SettingsError if that fails."""
    given = vars(function) | {
        "format": FORMAT,
        "version": VERSION,
        "key": function.fingerprint.key,
        "tasks": function.tasks.to_dict(),
        "measures": function.fingerprint.measures,
    }
    header = json.dumps({name: given[name] for name in _HEADER}).encode()
    arrays = {"header": np.frombuffer(header, np.uint8)}
    for name, (dtype, _) in _ARRAYS.items():
        arrays[name] = np.asarray(given[name]).astype(dtype)
    array_files.save_arrays(path, arrays | (extra or {}), SettingsError)


def load(path: Path | str) -> ValueFunction:
    """Read a value function. Raises SettingsError, which explains the fault of the file."""
    return read(path)[0]


def read(path: Path | str) -> tuple[ValueFunction, dict[str, np.ndarray]]:
    """Read a value function and all arrays of its file. Raises SettingsError."""
    arrays = array_files.map_arrays(path, SettingsError)
    header = _read_header(arrays, path)
    try:
        tasks = tasks_from_dict(dict(json_files.expect_object(header["tasks"], "'tasks'")))
        sizes: dict[str, int | None] = dict(zip("SGT", tasks.shape, strict=True))
        sizes |= {"tags": len(tasks.tags), "N": None} | dict.fromkeys("WMP")
        if "frames" in arrays:
            sizes["N"] = len(arrays["frames"])
        mapped = array_files.expect_arrays(arrays, _ARRAYS, sizes, path, SettingsError)
        # plain views: taking rows of a memory-mapped array costs ten times as much
        data: dict[str, Any] = {name: np.asarray(array) for name, array in mapped.items()}
        _check_rising(data["frames"], np.iinfo(np.int32).max, "states")
        _check_rising(data["trained"], len(data["frames"]), "trained states")
        discount = expect_number(header["discount"], "'discount'", 0, 1)
        if discount == 1:
            raise EntryError("'discount' is 1, with which values never end")
        function = ValueFunction(
            tasks=tasks,
            neighbours=expect_whole_number(header["neighbours"], "'neighbours'", 1),
            drift=expect_number(header["drift"], "'drift'", 0, 1),
            fingerprint=DataFingerprint(str(header["key"]), data.pop("measures")),
            discount=discount,
            finished=expect_flag(header["finished"], "'finished'"),
            **data,
        )
    except OtherVersionError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError, SettingsError) as cause:
        raise SettingsError(
            f"{path} has a header that cannot be understood ({cause!r}); train it again."
        ) from cause
    return function, arrays


def _check_rising(indices: np.ndarray, stop: int, what: str) -> None:
    """Raise EntryError unless indices rise from 0 or more to below `stop`."""
    rising = np.all(indices[1:] > indices[:-1])
    if len(indices) and not (rising and indices[0] >= 0 and indices[-1] < stop):
        raise EntryError(f"the {what} are out of order")


def _read_header(arrays: dict[str, np.ndarray], path: Path | str) -> dict[str, Any]:
    raw = arrays.get("header")
    try:
        header = json_files.parse(b"" if raw is None else raw.tobytes(), "header")
    except SettingsError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise SettingsError(f"{path} is not a trained motion field; give a file made by 'train'.")
    if (version := header.get("version")) != VERSION:
        raise OtherVersionError(
            f"{path} has format version {version}, and this program reads {VERSION}; train it "
            "again."
        )
    return header
