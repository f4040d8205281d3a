"""Make the takes of one file of a data set; those of other files do not matter to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..control.rollout import Take
from ..database.database import Database
from ..direct.director import Director
from ..performance.settings import PerformerSettings
from ..progress import ReportShare
from ..takes import baking, comparison, takes
from ..takes.take_files import StoredTakes, store_takes
from .numbers import NUMBERS
from .scenes import draw_shot
from .wants import Want, count_kinds
from .wishes import WishSource

_Seed = tuple[int, ...]


class Made(NamedTuple):
    """A take, what the header tells of it, and how many of its frames are of each kind."""

    take: Take
    told: Mapping[str, Any]
    counted: Mapping[str, int]


@dataclass
class Shard:
    """Takes of a file, and those that were refused."""

    made: list[Made] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)

    @property
    def frame_count(self) -> int:
        return sum(each.take.frame_count for each in self.made)

    def count(self, wants: Sequence[Want], without: Made | None = None) -> np.ndarray:
        """Count the frames (K,) of each wanted kind in all takes but one."""
        takes = [each.counted for each in self.made if each is not without]
        return np.array([sum(counted[want.name] for counted in takes) for want in wants])

    @property
    def contents(self) -> dict[str, int]:
        """The number of frames of each kind."""
        names = self.made[0].counted
        return {name: sum(each.counted[name] for each in self.made) for name in names}

    def refuse(self, made: Made, database: Database) -> bool:
        """Return whether a take is unlike the frames it plays, and note by which measures."""
        unlike = comparison.find_unlike(made.take, database)
        if unlike:
            limits = {measure: (value, most) for measure, value, most in unlike}
            self.refused.append({"seeds": made.told["seeds"], "unlike": limits})
        return bool(unlike)

    def store(self, database: Database, about: Mapping[str, Any]) -> StoredTakes:
        """Return the takes as arrays, with `about` and what was counted in the header."""
        told = [each.told for each in self.made]
        made = [each.take for each in self.made]
        entry = {**about, "contents": self.contents, "refused": self.refused}
        return store_takes(made, database, told, {"data_set": entry})


@dataclass(frozen=True)
class TakeMaker:
    """Makes takes of a database, with a share of each wanted kind of motion."""

    database: Database
    settings: PerformerSettings
    wants: Sequence[Want]
    seconds: float
    feet: str | None = None

    def make(self, seed: _Seed, count: int, progress: ReportShare | None = None) -> Shard:
        """Return as many takes as the count, but for those refused each time.

        Each is drawn with the shares that those before it lack. Where shares are not reached in the
        end, further takes replace those that fit least.
        """
        shard = Shard()
        source = WishSource(self.database, self.wants, self.settings.search.end_guard)
        frames = round(self.seconds * self.database.fps)
        for number in range(count):
            done = shard.frame_count
            whole = done + frames * (count - number)
            lacking = self._find_lacking(shard.count(self.wants), done, whole)
            if made := self._draw(shard, source, lacking, (*seed, number)):
                shard.made.append(made)
            if progress:
                progress((number + 1) / count)
        for number in range(count, count + round(NUMBERS.more * count)):
            if not shard.made or self._is_reached(shard.count(self.wants), shard.frame_count):
                break
            self._replace_one(shard, source, (*seed, number))
        return shard

    def _find_lacking(self, counted: np.ndarray, done: int, whole: int) -> np.ndarray:
        """Return the shares (K,) that the rest of the frames needs."""
        asked = np.array([want.share for want in self.wants])
        return np.clip((asked * whole - counted) / max(whole - done, 1), 0.0, 1.0)

    def _is_reached(self, counted: np.ndarray, frames: int) -> bool:
        return self._measure_miss(counted, frames) <= NUMBERS.near

    def _measure_miss(self, counted: np.ndarray, frames: int) -> float:
        """Return how far the share is off that is farthest off."""
        off = [abs(c / frames - want.share) for c, want in zip(counted, self.wants, strict=True)]
        return max(off, default=0.0)

    def _replace_one(self, shard: Shard, source: WishSource, seed: _Seed) -> None:
        """Draw a take with what the others lack, and replace the one that fits least by it."""
        frames = shard.frame_count
        length = shard.made[0].take.frame_count
        misses = [
            self._measure_miss(shard.count(self.wants, each), max(frames - length, 1))
            for each in shard.made
        ]
        worst = shard.made[int(np.argmin(misses))]
        lacking = self._find_lacking(shard.count(self.wants, worst), frames - length, frames)
        if made := self._draw(shard, source, lacking, seed):
            now = self._measure_miss(shard.count(self.wants), frames)
            both = Shard([each for each in shard.made if each is not worst] + [made])
            if self._measure_miss(both.count(self.wants), frames) < now:
                shard.made[shard.made.index(worst)] = made

    def _draw(
        self, shard: Shard, source: WishSource, shares: np.ndarray, seed: _Seed
    ) -> Made | None:
        """Return a take like the frames it plays, or None after some attempts."""
        for attempt in range(NUMBERS.attempts):
            made = self._make_one(source, shares, (*seed, attempt))
            if not shard.refuse(made, self.database):
                return made
        return None

    def _make_one(self, source: WishSource, shares: np.ndarray, seeds: _Seed) -> Made:
        name = f"take {'.'.join(map(str, seeds))}"
        performance = source.draw(np.random.default_rng(seeds), shares, self.seconds, name)
        live = takes.perform(self.database, self.settings, performance)
        take, _ = baking.place_feet(live, self.database, self.feet)
        return Made(take, {"seeds": seeds}, count_kinds(self.wants, take, self.database))


@dataclass(frozen=True)
class SceneMaker:
    """Makes takes of scenes that a director solves."""

    director: Director
    seconds: float
    feet: str | None = None

    def make(self, seed: _Seed, count: int, progress: ReportShare | None = None) -> Shard:
        """Return as many takes as the count, but for those refused each time."""
        shard = Shard()
        database = self.director.footage.world
        source = WishSource(database, (), self.director.settings.search.end_guard)
        for number in range(count):
            for made in self._draw(source, (*seed, number)):
                if not shard.refuse(made, database):
                    shard.made.append(made)
                    break
            if progress:
                progress((number + 1) / count)
        return shard

    def _draw(self, source: WishSource, seed: _Seed) -> Iterator[Made]:
        """Yield attempts at a scene."""
        database = source.database
        for attempt in range(NUMBERS.attempts):
            seeds = (*seed, attempt)
            rng = np.random.default_rng(seeds)
            shot = draw_shot(source, rng, self.seconds, f"scene {'.'.join(map(str, seeds))}")
            done = self.director.make(shot, self.feet)
            marks = {name: done.report[name] for name in ("asked", "reached")}
            yield Made(
                done.take, {"seeds": seeds, "marks": marks}, count_kinds((), done.take, database)
            )
