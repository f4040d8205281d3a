"""Compute the total displacement of a fading offset: the integral of its size over time.

An offset x in metres that changes at v in m/s gives metre-seconds. All functions take arrays of any
shapes that broadcast, and return an array of the common shape. An offset may cross zero on its way,
so integrals are split there.

Source: Holden, Inertialization Transition Cost. Its spring has one halflife; here the velocity's
part may fade with another one, as in `springs.compute_decay_matrix`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..maths.springs import halflife_to_rate
from .numbers import NUMBERS

Array = np.ndarray
SHORTEST = NUMBERS.shortest_fade


def compute_spring_displacement(
    x: ArrayLike, v: ArrayLike, halflife: ArrayLike, velocity_halflife: ArrayLike | None = None
) -> Array:
    """Return the total displacement of critically damped springs, in metre-seconds.

    Halflives in seconds are those of the offsets and of the velocities' part.
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


def compute_cubic_matrix(time: float, age: float, velocity_time: float) -> Array:
    """Return the exact matrix (2, 2) that advances (offset, velocity) toward zero along a cubic.

    With the shares s and r of both times in seconds: (1 - s)² (1 + 2 s) x + age (1 - r)² v.
    """
    time = max(time, SHORTEST)
    velocity_time = max(velocity_time, SHORTEST)
    s = min(age / time, 1.0)
    r = min(age / velocity_time, 1.0)
    p, q = 1.0 - s, 1.0 - r
    return np.array(
        [
            [p * p * (1.0 + 2.0 * s), q * q * r * velocity_time],
            [-6.0 * s * p / time, q * (1.0 - 3.0 * r)],
        ]
    )


def compute_cubic_displacement(
    x: ArrayLike, v: ArrayLike, blend_time: ArrayLike, velocity_time: ArrayLike | None = None
) -> Array:
    """Return the total displacement of offsets that end after a time in seconds, along a cubic.

    Such an offset is (1 - s)² (x + (2 x + v T) s) at a share s of the blend time T, and has at most
    one more root. The velocities' part may end after another time.
    """
    if velocity_time is not None and not np.array_equal(blend_time, velocity_time):
        return _compute_uneven_displacement(x, v, blend_time, velocity_time)
    x, v, time = np.broadcast_arrays(*(np.asarray(p, np.float64) for p in (x, v, blend_time)))
    slope = 2.0 * x + v * time
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = -x / slope
    # where all is zero this is NaN, which is not inside
    crossing = np.where((crossing > 0.0) & (crossing < 1.0), crossing, 0.0)
    before, after = (_integrate_cubic(x, slope, s) for s in (crossing, np.ones_like(x)))
    return time * (np.abs(before) + np.abs(after - before))


def compute_signed_cubic_displacement(x: ArrayLike, v: ArrayLike, blend_time: ArrayLike) -> Array:
    """Return the integral of a cubic's offset, in which both sides of zero cancel each other."""
    time = np.asarray(blend_time, np.float64)
    return time * np.asarray(x) / 2.0 + time**2 * np.asarray(v) / 12.0


def _compute_uneven_displacement(
    x: ArrayLike, v: ArrayLike, blend_time: ArrayLike, velocity_time: ArrayLike
) -> Array:
    """Return the total displacement of cubics whose two parts end at different times."""
    x, v, time, other = np.broadcast_arrays(
        *(np.asarray(part, np.float64) for part in (x, v)),
        *(
            np.maximum(np.asarray(part, np.float64), SHORTEST)
            for part in (blend_time, velocity_time)
        ),
    )
    terms = np.stack(
        [x, v, -3.0 * x / time**2 - 2.0 * v / other, 2.0 * x / time**3 + v / other**2], axis=-1
    )
    stop = np.minimum(time, other)
    edges = np.concatenate([_find_cubic_roots(terms, stop), stop[..., None]], axis=-1)
    powers = np.arange(1, 5)
    integrals = np.sum(terms[..., None, :] * edges[..., None] ** powers / powers, axis=-1)
    both = np.abs(np.diff(integrals, axis=-1, prepend=0.0)).sum(axis=-1)
    # the part that goes on alone does not cross zero
    s = stop / time
    r = stop / other
    alone = np.abs(x) * time * (0.5 - s + s**3 - 0.5 * s**4)
    return both + alone + np.abs(v) * other**2 * (1.0 - r) ** 3 * (1.0 + 3.0 * r) / 12.0


def _find_cubic_roots(terms: Array, stop: Array) -> Array:
    """Return three times (..., 3) in order, up to a stop, at which cubics (..., 4) may be zero.

    They hold all real roots from 0 to the stop. Splitting an integral elsewhere too does no harm.
    """
    first = terms[..., :1]
    known = first != 0.0  # without an offset, only its end is a root
    # roots of the polynomial of 1 / t, whose first term is the offset
    companion = np.zeros((*terms.shape[:-1], 3, 3))
    companion[..., 1, 0] = companion[..., 2, 1] = 1.0
    scaled = terms * stop[..., None] ** np.arange(4)  # of the share of the stop
    companion[..., 0, :] = -np.where(known, scaled[..., 1:] / np.where(known, first, 1.0), 0.0)
    roots = np.linalg.eigvals(companion).real
    with np.errstate(divide="ignore"):
        shares = np.where(roots > 1.0, 1.0 / roots, 1.0)
    return np.sort(shares, axis=-1) * stop[..., None]


def _get_rates(halflives: ArrayLike) -> Array:
    """Return half the dampings of springs, per second."""
    values: Any = np.asarray(halflives, np.float64)
    return np.asarray(halflife_to_rate(values))


def _integrate_cubic(x: Array, slope: Array, s: Array) -> Array:
    """Return the integral of (1 - s)² (x + slope s) from 0 to s."""
    square = slope / 2.0 - x
    cube = x / 3.0 - 2.0 * slope / 3.0
    return s * (x + s * (square + s * (cube + s * slope / 4.0)))


def _integrate_spring(x: Array, v: Array, y: Array, z: Array, t: Array | float) -> Array:
    """Return the integral of (1 + y t) x exp(-y t) + v t exp(-z t) from 0 to t, even infinity."""
    a, b = np.minimum(y * t, NUMBERS.far), np.minimum(z * t, NUMBERS.far)
    of_offset = (2.0 - np.exp(-a) * (2.0 + a)) / y
    # 1 - exp(-b) (1 + b) cancels for small b, except for its second order
    of_velocity = (-np.expm1(-b) - b * np.exp(-b)) / z**2
    return of_offset * x + of_velocity * v


def _find_spring_crossings(x: Array, v: Array, y: Array, z: Array) -> tuple[Array, Array]:
    """Return both times at which offsets cross zero, infinite for missing ones.

    An offset is zero where log(y + 1 / t) + (z - y) t = log(-v / x). The left side is convex, so
    Newton's method cannot miss: it starts from where the left side is greater.
    """
    none = np.full(x.shape, np.inf)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = -v / x
        apart = z - y
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
    for _ in range(NUMBERS.most_steps):
        value = np.log((y + 1.0 / t) / ratio) + apart * t
        step = value / (1.0 / (t * (1.0 + y * t)) - apart)
        t = t + step
        if np.all(np.abs(step) <= NUMBERS.precise * t):
            break
    return t
