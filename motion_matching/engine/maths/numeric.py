"""Compute with floats or with arrays in the same code.

Code that must be quick both for single vectors in a tick and for all frames of a take computes with
components, each a float or an array (T,). `FLOATS` and `ARRAYS` are the functions of either.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

Number = TypeVar("Number", float, np.ndarray)
Number3 = tuple[Number, Number, Number]
Number4 = tuple[Number, Number, Number, Number]


class Functions(NamedTuple, Generic[Number]):
    """Functions to compute with; `most` and `least` keep numbers below or above a bound."""

    sqrt: Callable[[Number], Number]
    sin: Callable[[Number], Number]
    cos: Callable[[Number], Number]
    acos: Callable[[Number], Number]
    atan2: Callable[[Number, Number], Number]
    hypot: Callable[[Number, Number], Number]
    most: Callable[[Number, Any], Number]
    least: Callable[[Number, Any], Number]
    where: Callable[[Any, Any, Number], Number]


def _choose(is_so: bool, yes: float, no: float) -> float:
    return yes if is_so else no


FLOATS: Functions[float] = Functions(
    math.sqrt, math.sin, math.cos, math.acos, math.atan2, math.hypot, min, max, _choose
)
ARRAYS: Functions[np.ndarray] = Functions(
    np.sqrt,
    np.sin,
    np.cos,
    np.arccos,
    np.arctan2,
    np.hypot,
    np.minimum,
    np.maximum,
    np.where,
)


def as_run(values: np.ndarray) -> np.ndarray:
    """Return values (...) that follow one another in memory; those that lie apart are copied.

    Where the processor can, numpy computes angles, powers and logarithms eight at a time; where the
    result may overlap an argument, one at a time, with other last bits. It takes an argument whose
    values lie apart to reach past its end, so what the memory behind it holds would decide.
    """
    return values if values.flags.forc else values.copy(order="K")


def arctan2(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the angles (...) in radians of points `x`, `y` (...), the same in every run."""
    return np.asarray(np.arctan2(as_run(y), as_run(x)))


def find_smallest(values: np.ndarray, count: int) -> np.ndarray:
    """Return the indices (count,) of the smallest values (N,), in order; all if there are no more.

    Of equal values the lowest index comes first, where `numpy.argpartition` leaves it to the
    processor which it takes.
    """
    among: np.ndarray = np.arange(len(values))
    if count < len(values):
        among = np.flatnonzero(values <= np.partition(values, count - 1)[count - 1])
    return among[np.argsort(values[among], kind="stable")[:count]]


def split_quaternions(q: np.ndarray) -> Number4[np.ndarray]:
    """Return the components of quaternions (T, 4)."""
    w, x, y, z = np.ascontiguousarray(q.T)
    return w, x, y, z


def split(vectors: np.ndarray) -> Number3[np.ndarray]:
    """Return the components of vectors (T, 3)."""
    x, y, z = np.ascontiguousarray(vectors.T)
    return x, y, z


def join(components: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return vectors or quaternions (T, K) of their components."""
    return np.stack(components, axis=-1)
