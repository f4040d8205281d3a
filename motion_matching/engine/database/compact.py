"""Store rotations and velocities in 16 bits: files of about half the size.

Bones that stay near their parents have 16 bits for each number; others, such as the simulation
bone, keep 32. What was rounded once is rounded to itself, so a file that is saved again stays the
same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..maths.rotations import quat
from .numbers import NUMBERS

Array = np.ndarray

VERSION = 2  # of files with these arrays; other databases are as before
# the largest of each type
_TURNS = np.iinfo(np.int16).max  # stands for 1
_STEPS = np.iinfo(np.uint16).max
_FASTEST = float(np.finfo(np.float16).max)

# name: (type, shape), where N frames, B bones, W bones as they are, and C others, as in databases
KINDS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "whole_bones": (np.int32, ("W",)),
    "whole_poses": (np.float32, ("N", 7, "W")),
    "whole_velocities": (np.float32, ("N", 6, "W")),
    "low": (np.float32, (3, "C")),
    "step": (np.float32, (3, "C")),
    "places": (np.uint16, ("N", 3, "C")),
    "turns": (np.int16, ("N", 4, "C")),
    "rates": (np.float16, ("N", 6, "C")),
}
_PACKED = ("places", "turns", "rates")


class _Grid(NamedTuple):
    """The bones kept as they are (W,), the others (C,), and these ones' grid of places (3, C)."""

    few: Array
    many: Array
    low: Array
    step: Array

    @classmethod
    def from_motion(cls, poses: Array, velocities: Array) -> _Grid:
        """Choose the bones that 16 bits suffice for, and the finest grid for each."""
        least = poses[:, :3].min(axis=0).astype(np.float64)
        most = poses[:, :3].max(axis=0).astype(np.float64)
        fastest = np.maximum(velocities.max(axis=(0, 1)), -velocities.min(axis=(0, 1)))
        whole = ((most - least).max(axis=0) > NUMBERS.compact_reach) | (fastest >= _FASTEST)
        whole[0] = True
        many = np.flatnonzero(~whole)
        return cls(np.flatnonzero(whole), many, *_choose_grid(least[:, many], most[:, many]))

    def pack(self, poses: Array, velocities: Array) -> tuple[Array, Array, Array]:
        """Return places (F, 3, C), turns (F, 4, C) and rates (F, 6, C) of frames."""
        places = poses[:, :3][:, :, self.many].astype(np.float64)
        places = np.rint((places - self.low) / np.where(self.step > 0.0, self.step, 1.0))
        turns = _round_turns(poses[:, 3:][:, :, self.many])
        return places.astype(np.uint16), turns, velocities[:, :, self.many].astype(np.float16)

    def unpack(self, packed: tuple[Array, Array, Array], poses: Array, velocities: Array) -> None:
        """Write frames to poses (F, 7, B) and velocities (F, 6, B)."""
        places, turns, rates = packed
        poses[:, :3, self.many] = self.low + self.step * places
        poses[:, 3:, self.many] = _read_turns(turns)
        velocities[:, :, self.many] = rates


def round_in_place(poses: Array, velocities: Array) -> None:
    """Round poses (N, 7, B) and velocities (N, 6, B) to what a compact file holds of them."""
    grid = _Grid.from_motion(poses, velocities)
    for part in _iterate(len(poses)):
        grid.unpack(grid.pack(poses[part], velocities[part]), poses[part], velocities[part])


def pack(poses: Array, velocities: Array) -> dict[str, Array]:
    """Return the arrays of `KINDS` of poses (N, 7, B) and velocities (N, 6, B)."""
    grid = _Grid.from_motion(poses, velocities)
    count = len(poses)
    others = len(grid.many)
    packed = {
        "whole_bones": grid.few.astype(np.int32),
        "whole_poses": np.ascontiguousarray(poses[:, :, grid.few]),
        "whole_velocities": np.ascontiguousarray(velocities[:, :, grid.few]),
        "low": grid.low,
        "step": grid.step,
        "places": np.empty((count, 3, others), np.uint16),
        "turns": np.empty((count, 4, others), np.int16),
        "rates": np.empty((count, 6, others), np.float16),
    }
    for part in _iterate(count):
        values = grid.pack(poses[part], velocities[part])
        for name, value in zip(_PACKED, values, strict=True):
            packed[name][part] = value
    return packed


def unpack(packed: Mapping[str, Array]) -> tuple[Array, Array]:
    """Return poses (N, 7, B) and velocities (N, 6, B), float32, of arrays of `KINDS`.

    Raises ValueError if the bones are not among all of them, in their order.
    """
    count, _, others = packed["turns"].shape
    few = packed["whole_bones"]
    bones = len(few) + others
    if len(few) and (few[0] < 0 or few[-1] >= bones or (np.diff(few) <= 0).any()):
        raise ValueError("'whole_bones' are not bones in their order")
    many = np.setdiff1d(np.arange(bones), few)
    grid = _Grid(few, many, packed["low"], packed["step"])
    poses = np.empty((count, 7, bones), np.float32)
    velocities = np.empty((count, 6, bones), np.float32)
    poses[:, :, few] = packed["whole_poses"]
    velocities[:, :, few] = packed["whole_velocities"]
    for part in _iterate(count):
        places, turns, rates = (packed[name][part] for name in _PACKED)
        grid.unpack((places, turns, rates), poses[part], velocities[part])
    return poses, velocities


def _iterate(count: int) -> list[slice]:
    part = NUMBERS.packed_at_once
    return [slice(start, start + part) for start in range(0, count, part)]


def _choose_grid(least: Array, most: Array) -> tuple[Array, Array]:
    """Return the origin and the step (3, C), float32, of the grid of values in a range.

    Steps are powers of two, and origins multiples of them: places on a grid are exact, and on each
    finer one too.
    """
    step = np.where(most > least, 2.0 ** np.ceil(np.log2((most - least + 1e-30) / _STEPS)), 0.0)
    safe = np.where(step > 0.0, step, 1.0)
    too_wide = np.rint(most / safe) - np.rint(least / safe) > _STEPS
    step = np.where(too_wide, 2.0 * step, step)
    low = np.where(step > 0.0, np.rint(least / np.where(step > 0.0, step, 1.0)) * step, least)
    return low.astype(np.float32), step.astype(np.float32)


def _round_turns(rotations: Array) -> Array:
    """Return rotations (F, 4, C) as whole numbers, which stay the same once they are read."""
    turns = np.rint(rotations.astype(np.float64) * _TURNS).astype(np.int16)
    for _ in range(NUMBERS.rounds):
        again = np.rint(_read_turns(turns).astype(np.float64) * _TURNS).astype(np.int16)
        if np.array_equal(again, turns):
            break
        turns = again
    return turns


def _read_turns(turns: Array) -> Array:
    """Return unit rotations (F, 4, C), float32, of whole numbers."""
    values = turns.astype(np.float32)
    unit = quat.normalize(np.moveaxis(values, 1, -1))
    return np.moveaxis(unit, -1, 1)
