"""Data for benchmarks: databases of real motion capture in every size, or of the built-in clips
without it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from building.locomotion import locomotion
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.bvh import bvh
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import compute_normalization, load_schema
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton
from motion_matching.engine.sources.sources import Source, find_sources

Array = np.ndarray

FEATURES = "holden"  # the preset that targets were measured with
END_GUARD = 1.0 / 3.0  # seconds before the end of a range without candidates
# deviation of the noise between copies of a tiled database; that of features is about 1
JITTER = 0.01
_FINGER_LENGTH, _FINGER_SWING = 0.03, 0.3  # metres, radians
_FINGER_BONES = 3


@dataclass(frozen=True)
class Recipe:
    """A way to get more frames from the same clips."""

    fps: float
    mirror: bool = True
    speeds: tuple[float, ...] = (1.0,)

    @property
    def text(self) -> str:
        mirrored = ", mirrored" if self.mirror else ""
        speeds = (
            ", at the speeds " + ", ".join(f"{s:g}" for s in self.speeds)
            if len(self.speeds) > 1
            else ""
        )
        return f"{self.fps:g} fps{mirrored}{speeds}"

    def count_frames(self, clips: Sequence[Clip]) -> int:
        """Estimate how many frames it gives."""
        seconds = sum(clip.duration for clip in clips)
        return round(seconds * self.fps * (1 + self.mirror) * sum(1 / s for s in self.speeds))


RECIPES = (
    Recipe(30, mirror=False),
    Recipe(30),
    Recipe(60, speeds=(0.85, 1.2)),
    Recipe(60, speeds=(0.85, 0.95, 1.05, 1.2)),
)


@dataclass(frozen=True)
class SearchData:
    """Normalised, weighted features (D, N), candidates (N,), and how they were made."""

    features: Array
    candidates: Array
    made_of: str


class Recordings:
    """Clips and the databases built from them; each database is built once."""

    def __init__(self, folder: Path | None) -> None:
        """Use Bandai-Namco's clips below `folder`, or the built-in ones if it is None."""
        self._folder = folder
        self._databases: dict[Recipe, Database] = {}
        if folder is None:
            self.title = "the built-in clips, because MOTION_MATCHING_MOCAP is not set"
        else:
            self.title = "Bandai-Namco's motion capture"

    @classmethod
    def from_environment(cls) -> Recordings:
        folder = os.environ.get("MOTION_MATCHING_MOCAP")
        return cls(Path(folder) / "bandai-namco" if folder else None)

    @cached_property
    def clips(self) -> list[Clip]:
        if self._folder is None:
            return locomotion.generate()
        return [source.load(BuildSettings().get_axes()) for source in find_sources([self._folder])]

    def write_files(self, folder: Path) -> list[Source]:
        """Return the clips as BVH files; built-in ones are written to `folder` first."""
        if self._folder is not None:
            return find_sources([self._folder])
        for clip in self.clips:
            bvh.save(clip, folder / f"{clip.name}.bvh")
        return find_sources([folder])

    def find_recipe(self, frames: int) -> Recipe:
        """Return the plainest recipe that gives so many frames, or the one that gives most."""
        return next(
            (r for r in RECIPES if r.count_frames(self.clips) >= 0.98 * frames), RECIPES[-1]
        )

    def build_database(self, recipe: Recipe) -> Database:
        if recipe not in self._databases:
            sources = [
                Source(clip=clip, speed=speed) for speed in recipe.speeds for clip in self.clips
            ]
            settings = BuildSettings(
                fps=recipe.fps, mirror=recipe.mirror, schema=load_schema(FEATURES)
            )
            self._databases[recipe] = build(sources, settings)[0]
        return self._databases[recipe]

    def make_search_data(self, frames: int, rng: np.random.Generator) -> SearchData:
        """Choose whole ranges at random, up to so many frames in all; tile them if there are too
        few.
        """
        recipe = self.find_recipe(frames)
        database = self.build_database(recipe)
        chosen = _choose_ranges(database, frames, rng)
        features = _normalize(database, chosen)
        candidates = database.find_candidates(END_GUARD)[chosen]
        if len(chosen) > 0.9 * frames:
            return SearchData(features, candidates, recipe.text)
        times = frames / len(chosen)
        tiled = np.tile(features, math.ceil(times))[:, :frames]
        tiled += JITTER * rng.standard_normal(tiled.shape, np.float32)
        text = f"{recipe.text}; tiled {times:.1f} times with noise of {JITTER:g} deviations"
        return SearchData(
            np.ascontiguousarray(tiled), np.tile(candidates, math.ceil(times))[:frames], text
        )


def _choose_ranges(database: Database, frames: int, rng: np.random.Generator) -> Array:
    """Return the frames (N,) of ranges in random order while they fit."""
    order = rng.permutation(len(database.starts))
    lengths = (database.stops - database.starts)[order]
    fitting = order[np.cumsum(lengths) <= frames]
    return np.concatenate([np.arange(database.starts[r], database.stops[r]) for r in fitting])


def _normalize(database: Database, frames: Array) -> Array:
    raw = database.features[:, frames]
    normalised = compute_normalization(database.schema, raw).apply(raw.T, database.schema.weights)
    return np.ascontiguousarray(normalised.T)


def add_fingers(database: Database, bones: int) -> Database:
    """Add chains of three bones that curl slightly, in turn to every end of the skeleton."""
    old = database.skeleton
    ends = [b for b in range(old.bone_count) if not old.get_children(b)]
    added = bones - old.bone_count
    chain, place = np.divmod(np.arange(added), _FINGER_BONES)
    parents = np.where(
        place > 0, old.bone_count + np.arange(added) - 1, np.array(ends)[chain % len(ends)]
    )
    offsets = np.tile(np.array([0.0, 0.0, -_FINGER_LENGTH], np.float32), (added, 1))
    skeleton = Skeleton(
        (*old.names, *(f"finger_{c}_{p}" for c, p in zip(chain, place, strict=True))),
        np.concatenate([old.parents, parents]),
        np.concatenate([old.rest_positions, offsets]),
        np.concatenate([old.rest_rotations, np.tile(quat.IDENTITY.astype(np.float32), (added, 1))]),
    )
    # every finger bone swings about its X axis with its own frequency and phase
    rate = 2 * np.pi * (0.5 + np.arange(added) / added)
    phase = np.arange(database.frame_count)[:, None] / database.fps * rate + np.arange(added)
    poses = np.zeros((database.frame_count, 7, added), np.float32)
    poses[:, :3] = offsets.T
    poses[:, 3], poses[:, 4] = (
        np.cos(_FINGER_SWING / 2 * np.sin(phase)),
        np.sin(_FINGER_SWING / 2 * np.sin(phase)),
    )
    velocities = np.zeros((database.frame_count, 6, added), np.float32)
    velocities[:, 3] = _FINGER_SWING * rate * np.cos(phase)
    limits = np.stack([np.zeros(added), _FINGER_SWING * rate**2]).astype(np.float32)
    return replace(
        database,
        skeleton=skeleton,
        limits=np.concatenate([database.limits, limits], axis=1),
        poses=np.concatenate([database.poses, poses], axis=2),
        velocities=np.concatenate([database.velocities, velocities], axis=2),
    )
