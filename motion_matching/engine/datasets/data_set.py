"""Files of a data set: which there are, who made one that is there, and making one that is not."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..database.database import Database
from ..direct.director import Director
from ..errors import MotionDataError, SettingsError
from ..performance.settings import PerformerSettings
from ..progress import ReportShare
from ..takes import take_files, takes
from ..takes.take_files import StoredTakes
from .shard import SceneMaker, TakeMaker
from .wants import Want

KINDS = ("takes", "scenes")
_COUNTED = ("contents", "refused")  # entries that follow from the others


class ShardPlan(NamedTuple):
    """A file to make: its kind, its number from 1 on, and how many takes it gets."""

    kind: str
    number: int
    takes: int

    @property
    def name(self) -> str:
        """Name of the file."""
        return f"{self.kind}_{self.number:04d}.npz"


@dataclass(frozen=True)
class Order:
    """How much to make: `takes` and `scenes`, each of `seconds`, in files of up to `per_file`.

    The same `seed` makes the same. `feet` are as in `baking.place_feet`.
    """

    takes: int
    scenes: int
    seconds: float
    seed: int
    per_file: int
    feet: str | None = None


@dataclass(frozen=True)
class DataSet:
    """What a data set is made of and how: what its card says follows from this and its files.

    `name` is that of the database. `changes` are those of its default settings.
    """

    database: Database
    name: str
    changes: Mapping[str, Any]
    wants: Sequence[Want]
    order: Order

    @property
    def settings(self) -> PerformerSettings:
        """Settings of the controller. Raises SettingsError if the changes are wrong."""
        return takes.make_default_settings(self.database).with_changes(self.changes)

    @property
    def feet(self) -> str:
        """How feet are placed; see `baking.place_feet`."""
        locked = self.settings.to_dict()["foot_lock"]
        return self.order.feet or ("baked" if locked else "off")

    def list_shards(self) -> list[ShardPlan]:
        """Return all files, in order."""
        order = self.order
        return [
            ShardPlan(kind, number, min(order.per_file, count - first))
            for kind, count in zip(KINDS, (order.takes, order.scenes), strict=True)
            for number, first in enumerate(range(0, count, order.per_file), 1)
        ]

    @cached_property
    def digest(self) -> str:
        """A checksum of what the database plays."""
        found = hashlib.sha256()
        for name in ("poses", "track", "contacts", "tags", "bias", "features"):
            found.update(np.ascontiguousarray(getattr(self.database, name)).data)
        return found.hexdigest()

    def describe(self, plan: ShardPlan) -> dict[str, Any]:
        """Return as JSON data all that the takes of a file follow from."""
        return {
            "database": {"name": self.name, "sha256": self.digest},
            **plan._asdict(),
            "seed": self.order.seed,
            "seconds": self.order.seconds,
            "wants": {want.name: want.share for want in self.wants} if plan.kind == "takes" else {},
            "feet": self.feet,
            "settings": dict(self.changes),
        }

    def find_made(self, folder: Path) -> Iterator[tuple[ShardPlan, StoredTakes]]:
        """Yield the files that are there."""
        for plan in self.list_shards():
            if stored := self.find(plan, folder):
                yield plan, stored

    def find(self, plan: ShardPlan, folder: Path) -> StoredTakes | None:
        """Return a file if it is there. SettingsError for one that was made otherwise."""
        path = folder / plan.name
        if not path.exists():
            return None
        try:
            stored = take_files.load(path)
        except MotionDataError as cause:
            raise SettingsError(f"{cause} Or choose another folder.") from cause
        told = dict(stored.header.get("data_set", {}))
        if {name: told.get(name) for name in told if name not in _COUNTED} != self.describe(plan):
            raise SettingsError(
                f"{path} was made of other data or with other options; choose another folder."
            )
        return stored

    def make(
        self, plan: ShardPlan, director: Director | None, progress: ReportShare | None = None
    ) -> StoredTakes:
        """Return the takes of a file; scenes need a director.

        Raises SettingsError if all are unlike the frames they play.
        """
        order = self.order
        maker: TakeMaker | SceneMaker
        if plan.kind == "takes":
            maker = TakeMaker(self.database, self.settings, self.wants, order.seconds, order.feet)
        else:
            assert director is not None
            maker = SceneMaker(director, order.seconds, order.feet)
        shard = maker.make((order.seed, KINDS.index(plan.kind), plan.number), plan.takes, progress)
        if not shard.made:
            worst = shard.refused[0]["unlike"]
            raise SettingsError(
                f"All {plan.kind} of {plan.name} are unlike the frames that they play, by "
                f"{', '.join(sorted(worst))}; change the settings, or build another database."
            )
        return shard.store(self.database, self.describe(plan))


def choose_shards(data_set: DataSet, only: Iterable[int], folder: Path) -> list[ShardPlan]:
    """Return the files to make: those of the numbers `only`, or all, that are not there yet.

    Scenes are numbered after takes. Raises SettingsError for a number that no file has, and for
    files that were made otherwise.
    """
    plans = data_set.list_shards()
    numbers = sorted(set(only)) or range(1, len(plans) + 1)
    if wrong := [number for number in numbers if not 1 <= number <= len(plans)]:
        raise SettingsError(
            f"There is no file {wrong[0]}; the data set has {len(plans)}, numbered from 1."
        )
    chosen = [plans[number - 1] for number in numbers]
    return [plan for plan in chosen if data_set.find(plan, folder) is None]
