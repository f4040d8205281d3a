"""What the states of a motion field are worth for every task, and how much an action is worth by it.

Source: notebook 003, Using the value function; but an action is chosen by its reward and the discounted value of where it
leads, not by the value alone, which cannot tell small differences of heading apart.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import files
from ..errors import DatabaseError, SettingsError
from ..matching.database import Database
from .neighbours import Metric
from .states import MotionStates
from .tasks import Tasks, Wish, tasks_from_dict

FORMAT = "motion-matching field"
VERSION = 5
_ROUNDING = 2e-4  # by which measures may differ
_TICK = 0.1  # seconds by which the root's velocity counts in a measure


@dataclass(frozen=True, eq=False)
class Ingredients:
    """What a field is made of: `key` stands for what follows what, tags and settings, `measures` (M,) for poses and weights.

    Measures of the same clips are the same but for rounding, wherever the character stood when they were read.
    """

    key: str
    measures: np.ndarray

    @classmethod
    def of(cls, database: Database, metric: Metric, poses: np.ndarray | None = None) -> Ingredients:
        """Of a database whose `poses` were measured already, if they are given."""
        digest = hashlib.blake2b(digest_size=16)
        settings = metric.fps, metric.root_velocity, metric.turn
        described = (database.fps, database.tag_names, database.skeleton.names, *settings)
        digest.update(repr(described).encode())
        for array in (database.successors, database.tags, database.skeleton.parents):
            digest.update(repr((array.dtype.str, array.shape)).encode())
            digest.update(np.ascontiguousarray(array).data)
        places = np.zeros(0) if metric.places is None else metric.places.ravel()
        poses = _measures(database) if poses is None else poses
        measures = (metric.positions, metric.velocities, places, poses)
        return cls(digest.hexdigest(), np.concatenate(measures).astype(np.float32))

    def are(self, others: Ingredients) -> bool:
        """Whether they are the same."""
        return (
            self.key == others.key
            and self.measures.shape == others.measures.shape
            and np.allclose(self.measures, others.measures, rtol=0.0, atol=_ROUNDING)
        )


def _measures(database: Database) -> np.ndarray:
    """Four sums (4 N,) for each frame, weighted by waves, of what bones are in their parents and of the root's velocity."""
    local = np.asarray(database.poses)[:, :, 1:]  # bone 0 is where the character stood
    parts = (
        local[:, :3],
        np.abs(local[:, 3:]),
        _TICK * database.root_motion,
    )  # q and -q are the same rotation
    rows = [part.reshape(len(part), -1) for part in parts]
    place = np.arange(sum(row.shape[1] for row in rows)) ** 2
    waves = np.cos(np.outer(place, np.sqrt([1.0, 2.0, 3.0, 5.0]))).astype(np.float32)
    splits = np.cumsum([row.shape[1] for row in rows])[:-1]
    sums = [row @ wave for row, wave in zip(rows, np.split(waves, splits), strict=True)]
    return np.add.reduce(sums).ravel()


class Clips(NamedTuple):
    """Stretches of clips: the states (k,) that they start and end at, how far they turn (k,) in radians, and their ticks."""

    starts: np.ndarray
    ends: np.ndarray
    turn: np.ndarray
    ticks: int


@dataclass(frozen=True)
class ValueFunction:
    """Values (N, S, G, T) of N states for speeds, tasks by tag and directions, as `tasks` has them.

    `frames` (N,) of the database are those states, all that it has; `tagged` (N, tags) says which carry the tags. Only the
    states `trained` (M,) were trained; the others are worth what lies between those of their clip. The actions were those
    of `neighbours` neighbours with a drift correction of `drift`; `residuals` (sweeps, 3) are the least, largest and mean
    change of every sweep, and `finished` says that there were enough.
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
    made_of: Ingredients
    _tables: dict[frozenset[str], np.ndarray] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def score(
        self,
        wish: Wish,
        turn: np.ndarray,
        speed: np.ndarray,
        indices: np.ndarray,
        weights: np.ndarray,
    ) -> np.ndarray:
        """What each action (A,) is worth: its reward, and the discounted value of the state that it leads to.

        Actions turn by `turn` (A,) radians, go at `speed` (A,) m/s, and lead among the states `indices` (A, k), which count
        with `weights` (A, k).
        """
        tagged = np.einsum("aj,ajg->ag", weights, self.tagged[indices])
        ahead = np.einsum("aj,aj->a", weights, self._ahead(wish, turn[:, None], indices))
        return self.tasks.reward(wish, turn, speed, tagged) + self.discount * ahead

    def score_clips(
        self, wish: Wish, turn: np.ndarray, speed: np.ndarray, clips: Clips, weights: np.ndarray
    ) -> np.ndarray:
        """The same (A,) where actions go on for some ticks as the clips that they blend: they turn by `turn` (A, T) radians
        and go at `speed` (A, T) m/s up to times on the way, and clips count with `weights` (A, k) in them."""
        tagged = weights @ self.tagged[clips.starts]
        reward = self.tasks.reward(wish, turn, speed, tagged[:, None]).mean(axis=1)
        later = self.discount**clips.ticks
        ahead = weights @ self._ahead(wish, clips.turn, clips.ends)
        return reward * (1.0 - later) / (1.0 - self.discount) + later * ahead

    def _ahead(self, wish: Wish, turn: np.ndarray, states: np.ndarray) -> np.ndarray:
        """What states (...) are worth for a wish, after a turn (...) in radians."""
        table, counts = self._table(wish.tags), self.tasks.speed_shares(wish.speed)
        first, second, share = self.tasks.between(wish.direction - turn)
        ahead = np.zeros(states.shape)
        for speed in counts.nonzero()[0]:  # the two beside the one that is wanted
            row = (states * len(counts) + speed) * self.tasks.directions
            low, high = table.take(row + first), table.take(row + second)
            ahead += counts[speed] * (low + share * (high - low))
        return ahead

    def _table(self, tags: frozenset[str]) -> np.ndarray:
        """The values (N, S, T) where these tags are asked for."""
        table = self._tables.get(tags)
        if table is None:
            shares = self.tasks.tag_shares(tags).astype(np.float32)
            table = self._tables[tags] = np.einsum("nsgt,g->nst", self.values, shares)
        return table

    def states_in(self, database: Database) -> MotionStates:
        """The states that the values are of; DatabaseError where the database has others."""
        states = MotionStates.from_database(database)
        if not np.array_equal(states.frames, self.frames):
            raise DatabaseError(_OTHER_DATA)
        return states

    def metric_in(self, database: Database) -> Metric:
        """The metric that the values were trained by; DatabaseError where they are of other data or not finished."""
        if not self.finished:
            raise DatabaseError(
                "The training of the value function was stopped before its end; train it again to go on."
            )
        poses = _measures(database)
        for metric in (Metric.default(database), Metric.notebook(database)):
            if self.made_of.are(Ingredients.of(database, metric, poses)):
                return metric
        raise DatabaseError(_OTHER_DATA)


class OtherVersionError(SettingsError):
    """A file is a field as another version of this program wrote it."""


_OTHER_DATA = "The value function was trained with other data or tags than the database has now; train it again."


# ---------------------------------------------------------------- files


# name: (type, shape), where N states, M of them trained, S speeds, G tasks by tag, T directions, W sweeps so far, P measures
_ARRAYS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "values": (np.float32, ("N", "S", "G", "T")),
    "frames": (np.int32, ("N",)),
    "tagged": (np.bool_, ("N", "tags")),
    "trained": (np.int32, ("M",)),
    "residuals": (np.float64, ("W", 3)),
    "measures": (np.float32, ("P",)),
}


def save(
    function: ValueFunction, path: Path | str, also: dict[str, np.ndarray] | None = None
) -> None:
    """Write the values, and arrays that belong to them, as one `.npz`; SettingsError where that fails."""
    header = {
        "format": FORMAT, "version": VERSION, "key": function.made_of.key, "tasks": function.tasks.to_dict(),
        "neighbours": function.neighbours, "drift": function.drift, "discount": function.discount,
        "finished": function.finished,
    }  # fmt: skip
    arrays = {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}
    given = vars(function) | {"measures": function.made_of.measures}
    for name, (dtype, _) in _ARRAYS.items():
        arrays[name] = np.asarray(given[name]).astype(dtype)
    files.save_arrays(path, arrays | (also or {}), SettingsError)


def load(path: Path | str) -> ValueFunction:
    """Read a value function; SettingsError names what is wrong with the file."""
    return read(path)[0]


def read(path: Path | str) -> tuple[ValueFunction, dict[str, np.ndarray]]:
    """The same with all arrays of the file."""
    arrays = files.map_arrays(path, SettingsError)
    header = _header(arrays, path)
    try:
        tasks = tasks_from_dict(header["tasks"])
        speeds, tags, directions = tasks.shape
        count = len(arrays["frames"]) if "frames" in arrays else None
        sizes = {
            "N": count,
            "S": speeds,
            "G": tags,
            "T": directions,
            "tags": len(tasks.tags),
        } | dict.fromkeys("WMP")
        data: dict[str, Any] = {}
        for name, (dtype, shape) in _ARRAYS.items():
            wanted = tuple(sizes.get(s, s) for s in shape)
            # a plain view: taking rows of a memory-mapped array costs ten times as much
            data[name] = np.asarray(
                files.expect_array(arrays, name, dtype, wanted, path, SettingsError)
            )
        trained = data["trained"]
        if len(trained) and not 0 <= trained.min() <= trained.max() < len(data["frames"]):
            raise ValueError("what was trained are no states")
        made_of = Ingredients(str(header["key"]), data.pop("measures"))
        return ValueFunction(
            tasks=tasks,
            neighbours=int(header["neighbours"]),
            drift=float(header["drift"]),
            made_of=made_of,
            discount=float(header["discount"]),
            finished=bool(header["finished"]),
            **data,
        ), arrays
    except (KeyError, TypeError, ValueError) as cause:
        raise SettingsError(
            f"{path} has a header that cannot be understood ({cause!r}); train it again."
        ) from cause


def _header(arrays: dict[str, np.ndarray], path: Path | str) -> dict[str, Any]:
    raw = arrays.get("header")
    try:
        header = json.loads(b"" if raw is None else raw.tobytes())
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise SettingsError(f"{path} is not a trained motion field; give a file made by 'train'.")
    if header.get("version") != VERSION:
        version = header.get("version")
        raise OtherVersionError(
            f"{path} has format version {version}, and this program reads {VERSION}; train it again."
        )
    return header
