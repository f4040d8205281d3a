"""How far an offset is from zero while it fades, in total: the integral of its size over time.

An offset x in metres that changes at v in m/s gives metre-seconds. All functions take arrays of any
shapes that broadcast, and return an array of the common shape. An offset may cross zero on its way,
so integrals are split there.

Source: Holden, Inertialization Transition Cost. Its spring has one halflife; here what the velocity
adds may fade with another one, as in `springs.compute_decay_matrix`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .springs import halflife_to_rate

Array = np.ndarray
_MOST_STEPS = 60  # of Newton's method, which needs about six
_PRECISE = 1e-13  # share of a time by which the last step moves it
_FAR = 700.0  # times a spring's time constant, after which floats hold nothing of it


def compute_spring_displacement(
    x: ArrayLike, v: ArrayLike, halflife: ArrayLike, velocity_halflife: ArrayLike | None = None
) -> Array:
    """Return the total displacement of critically damped springs, in metre-seconds.

    Halflives are in seconds: those of the offsets, and of what the velocities add.
    """
    other = halflife if velocity_halflife is None else velocity_halflife
    x, v, y, z = np.broadcast_arrays(
        *(np.asarray(part, np.float64) for part in (x, v)), *map(_get_rates, (halflife, other))
    )
    first, second = _find_spring_crossings(x, v, y, z)
    before, between, after = (_integrate_spring(x, v, y, z, t) for t in (first, second, np.inf))
    return np.abs(before) + np.abs(between - before) + np.abs(after - between)


def compute_signed_spring_displacement(x: ArrayLike, v: ArrayLike, halflife: ArrayLike) -> Array:
    """Return the integral of a spring's offset, in which both sides of zero cancel each other.

    It is the difference of one feature of two frames, 2 position / y + velocity / y².
    """
    y = _get_rates(halflife)
    return 2.0 * np.asarray(x) / y + np.asarray(v) / y**2


def compute_cubic_displacement(x: ArrayLike, v: ArrayLike, blend_time: ArrayLike) -> Array:
    """Return the total displacement of offsets that end after a time in seconds, along a cubic.

    Such an offset is (1 - s)² (x + (2 x + v T) s) at a share s of the blend time T.
    """
    x, v, time = np.broadcast_arrays(*(np.asarray(p, np.float64) for p in (x, v, blend_time)))
    slope = 2.0 * x + v * time
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = -x / slope
    # not a number, where all is zero, is not inside
    crossing = np.where((crossing > 0.0) & (crossing < 1.0), crossing, 0.0)
    before, after = (_integrate_cubic(x, slope, s) for s in (crossing, np.ones_like(x)))
    return time * (np.abs(before) + np.abs(after - before))


def _get_rates(halflives: ArrayLike) -> Array:
    """Return half the dampings of springs, per second."""
    values: Any = np.asarray(halflives, np.float64)
    return np.asarray(halflife_to_rate(values))


def _integrate_cubic(x: Array, slope: Array, s: Array) -> Array:
    """Return the integral of (1 - s)² (x + slope s) from 0 to s."""
    square, cube = slope / 2.0 - x, x / 3.0 - 2.0 * slope / 3.0
    return s * (x + s * (square + s * (cube + s * slope / 4.0)))


def _integrate_spring(x: Array, v: Array, y: Array, z: Array, t: Array | float) -> Array:
    """Return the integral of (1 + y t) x exp(-y t) + v t exp(-z t) from 0 to t, even infinity."""
    a, b = np.minimum(y * t, _FAR), np.minimum(z * t, _FAR)
    of_offset = (2.0 - np.exp(-a) * (2.0 + a)) / y
    # what is left of 1 - exp(-b) (1 + b), which cancels for small b, is of its second order
    of_velocity = (-np.expm1(-b) - b * np.exp(-b)) / z**2
    return of_offset * x + of_velocity * v


def _find_spring_crossings(x: Array, v: Array, y: Array, z: Array) -> tuple[Array, Array]:
    """Return both times at which offsets cross zero, infinite for those that are not.

    An offset is zero where log(y + 1 / t) + (z - y) t = log(-v / x). The left side is convex, so
    Newton's method cannot miss: it starts from where the left side is greater.
    """
    none = np.full(x.shape, np.inf)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio, apart = -v / x, z - y
        # only a velocity back to zero crosses it; an offset of zero is not left by a crossing
        returns = (ratio > 0.0) & np.isfinite(ratio)
        first = np.where(returns & (apart == 0.0) & (ratio > y), 1.0 / (ratio - y), none)
        second = none.copy()
        lowest = 2.0 / (apart + np.sqrt(apart**2 + 4.0 * y * apart))  # for z > y: the least value
        depth = np.log(y + 1.0 / lowest) + apart * lowest - np.log(ratio)
        twice = returns & (apart > 0.0) & (depth < 0.0)
        early = np.minimum(1.0 / (np.e * ratio), 1.0 / np.abs(apart))
        late = np.log(ratio / y) / apart
    for times, found, start in (
        (first, twice | (returns & (apart < 0.0)), early),
        (second, twice, late),
    ):
        times[found] = _solve(ratio[found], y[found], apart[found], start[found])
    return first, second


def _solve(ratio: Array, y: Array, apart: Array, t: Array) -> Array:
    """Return the times (N,) at which log(y + 1 / t) + apart t = log(ratio), from a start."""
    for _ in range(_MOST_STEPS):
        value = np.log((y + 1.0 / t) / ratio) + apart * t
        step = value / (1.0 / (t * (1.0 + y * t)) - apart)
        t = t + step
        if np.all(np.abs(step) <= _PRECISE * t):
            break
    return t
