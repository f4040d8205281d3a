"""Single rotations with positions in plain floats, for the few bones of a tick: arrays are slow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..blender.transforms.transforms import Transform


class Rigid(NamedTuple):
    """A rotation (unit quaternion) and then a shift."""

    x: float
    y: float
    z: float
    w: float
    i: float
    j: float
    k: float


_IDENTITY = Rigid(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


def to_rigid(transform: Transform) -> Rigid:
    """Convert one rotation (4,) and position (3,)."""
    rotation, position = transform
    return Rigid(*np.asarray(position, float).tolist(), *np.asarray(rotation, float).tolist())


def compose_rigid(a: Rigid, b: Rigid) -> Rigid:
    """Return the transform that does b first, then a."""
    ax, ay, az, aw, ai, aj, ak = a
    bx, by, bz, bw, bi, bj, bk = b
    # twice the cross product of the axis and the vector
    tx = 2.0 * (aj * bz - ak * by)
    ty = 2.0 * (ak * bx - ai * bz)
    tz = 2.0 * (ai * by - aj * bx)
    return Rigid(
        ax + bx + aw * tx + aj * tz - ak * ty,
        ay + by + aw * ty + ak * tx - ai * tz,
        az + bz + aw * tz + ai * ty - aj * tx,
        aw * bw - ai * bi - aj * bj - ak * bk,
        aw * bi + ai * bw + aj * bk - ak * bj,
        aw * bj - ai * bk + aj * bw + ak * bi,
        aw * bk + ai * bj - aj * bi + ak * bw,
    )


def invert_rigid(a: Rigid) -> Rigid:
    """Return the inverse of a."""
    back = Rigid(0.0, 0.0, 0.0, a.w, -a.i, -a.j, -a.k)
    return compose_rigid(back, Rigid(-a.x, -a.y, -a.z, 1.0, 0.0, 0.0, 0.0))


def extract_ground_motion(a: Rigid, rest: Rigid) -> Rigid:
    """Return a bone's motion over the ground since its rest: a turn about Z, a shift with Z = 0."""
    own = Rigid(0.0, 0.0, 0.0, *a[3:])
    resting = Rigid(0.0, 0.0, 0.0, *rest[3:])
    turned = compose_rigid(own, invert_rigid(resting))
    length = (turned.w**2 + turned.k**2) ** 0.5
    turn = _IDENTITY
    if length:
        turn = Rigid(0.0, 0.0, 0.0, turned.w / length, 0.0, 0.0, turned.k / length)
    start = compose_rigid(turn, Rigid(rest.x, rest.y, rest.z, 1.0, 0.0, 0.0, 0.0))
    return Rigid(a.x - start.x, a.y - start.y, 0.0, *turn[3:])
