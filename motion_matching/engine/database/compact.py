"""Store rotations and velocities in 16 bits: files of about half the size.

Bones that stay near their parents have 16 bits for each number; others, such as the simulation
bone, keep 32. What was rounded once is rounded to itself, so a file that is saved again stays the
same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..maths.rotations import quat
from .numbers import NUMBERS

Array = np.ndarray

_TURNS = 32767  # the largest int16 stands for 1
_STEPS = 65535  # the largest uint16
_FASTEST = 60_000.0  # of a float16, whose largest is 65504
_ROUNDS = 16

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


def pack(poses: Array, velocities: Array) -> dict[str, Array]:
    """Return the arrays of `KINDS` of poses (N, 7, B) and velocities (N, 6, B)."""
    count = len(poses)
    least, most = (np.asarray(f(poses[:, :3], axis=0), np.float64) for f in (np.min, np.max))
    fastest = np.maximum(velocities.max(axis=(0, 1)), -velocities.min(axis=(0, 1)))
    whole = ((most - least).max(axis=0) > NUMBERS.compact_reach) | (fastest > _FASTEST)
    whole[0] = True
    few = np.flatnonzero(whole)
    many = np.flatnonzero(~whole)
    low, step = _choose_grid(least[:, many], most[:, many])
    packed = {
        "whole_bones": few.astype(np.int32),
        "whole_poses": np.ascontiguousarray(poses[:, :, few]),
        "whole_velocities": np.ascontiguousarray(velocities[:, :, few]),
        "low": low,
        "step": step,
        "places": np.empty((count, 3, len(many)), np.uint16),
        "turns": np.empty((count, 4, len(many)), np.int16),
        "rates": np.empty((count, 6, len(many)), np.float16),
    }
    for part in _iterate(count):
        places = poses[part, :3][:, :, many].astype(np.float64)
        packed["places"][part] = np.rint((places - low) / np.where(step > 0.0, step, 1.0))
        packed["turns"][part] = _round_turns(poses[part, 3:][:, :, many])
        packed["rates"][part] = velocities[part][:, :, many]
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
    poses = np.empty((count, 7, bones), np.float32)
    velocities = np.empty((count, 6, bones), np.float32)
    poses[:, :, few] = packed["whole_poses"]
    velocities[:, :, few] = packed["whole_velocities"]
    for part in _iterate(count):
        places = packed["low"] + packed["step"] * packed["places"][part]
        poses[part, :3, many] = places
        poses[part, 3:, many] = _read_turns(packed["turns"][part])
        velocities[part, :, many] = packed["rates"][part]
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
    for _ in range(_ROUNDS):
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
