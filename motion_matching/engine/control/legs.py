"""Legs as foot locking sees them: their measures from the data, and two-bone inverse kinematics.

Plain floats, because a leg is a handful of single vectors at each tick; functions are few and flat for the same reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..maths import quat
from ..motion.rig import Leg, Roles
from ..motion.skeleton import Skeleton

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Joint = tuple[Vector, Quaternion]  # place and rotation in the world

_FIRM = 0.92  # part of a leg's length up to which it reaches as far as it is asked
_STANDING = 2  # percentile of a joint's heights that is its height when it stands
_TIP = 0.6  # of the foot's length, from the toe joint to the tip, where the rig has no tip
_FURTHER = math.radians(2.0)  # that a knee may be bent beyond what it is in the data
_STRAIGHT = 0.05  # sine of the knee's bend below which its plane is told by the hinge


@dataclass(frozen=True)
class LegGeometry:
    """A leg for foot locking.

    `chain` are the bones from below the root down to the toe; `thigh`, `shin` and `foot` are places in it. `hinge` is
    the knee's axis in the shin's frame: turning about it straightens the leg. `tip` is the toe's end in the toe's
    frame, None where foot and toe are one bone. `folded` is how near the ankle may come to the hip: where the knee is
    bent hardly more than it ever is in the data. Heights are those of a standing foot.
    """

    chain: tuple[int, ...]
    thigh: int
    shin: int
    foot: int
    hinge: Vector
    tip: Vector | None
    folded: float
    toe_height: float
    foot_height: float
    tip_height: float


def leg_geometry(skeleton: Skeleton, roles: Roles, poses: np.ndarray) -> tuple[LegGeometry, ...]:
    """Legs of a skeleton whose bone 0 is the simulation bone, measured from sample poses (F, 7, B)."""
    local = poses.transpose(0, 2, 1).astype(np.float64)
    local[:, 0] = [0, 0, 0, 1, 0, 0, 0]
    rotations, positions = quat.fk(local[..., 3:], local[..., :3], skeleton.parents)
    return tuple(_measured(skeleton, leg, rotations, positions) for leg in roles.legs)


def _measured(
    skeleton: Skeleton, leg: Leg, rotations: np.ndarray, positions: np.ndarray
) -> LegGeometry:
    chain = [leg.toe, *skeleton.ancestors(leg.toe)][:-1][::-1]
    upper, lower = (
        positions[:, leg.shin] - positions[:, leg.thigh],
        positions[:, leg.foot] - positions[:, leg.shin],
    )
    # against the knee's bend, which the most bent frames tell most of
    axis = quat.inv_mul_vec(rotations[:, leg.shin], np.cross(lower, upper)).sum(axis=0)
    heights = np.percentile(positions[:, [leg.toe, leg.foot], 2], _STANDING, axis=0)
    tip = None if leg.toe == leg.foot else _tip(skeleton, leg, rotations, positions)
    tips = (
        positions[:, leg.toe]
        if tip is None
        else positions[:, leg.toe] + quat.mul_vec(rotations[:, leg.toe], tip)
    )
    return LegGeometry(
        tuple(chain),
        chain.index(leg.thigh),
        chain.index(leg.shin),
        chain.index(leg.foot),
        tuple((axis / max(float(np.linalg.norm(axis)), 1e-9)).tolist()),
        None if tip is None else tuple(tip.tolist()),
        _folded(positions[:, leg.foot] - positions[:, leg.thigh], upper, lower),
        float(heights[0]),
        float(heights[1]),
        float(np.percentile(tips[:, 2], _STANDING)),
    )


def _folded(whole: np.ndarray, upper: np.ndarray, lower: np.ndarray) -> float:
    """Distance of hip and ankle where the knee is bent a little more than in any of these legs, each (F, 3)."""
    a, b = np.linalg.norm(upper, axis=-1).mean(), np.linalg.norm(lower, axis=-1).mean()
    square = np.sum(whole**2, axis=-1).min()
    bent = _acos((square - a * a - b * b) / max(2.0 * a * b, 1e-9)) + _FURTHER
    return math.sqrt(a * a + b * b + 2.0 * a * b * math.cos(min(bent, math.pi)))


def _tip(skeleton: Skeleton, leg: Leg, rotations: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The toe's end (3,) in its frame: the rig's own, or ahead of the toe joint as the foot points when it stands."""
    own = [offset for bone, offset in skeleton.end_sites if bone == leg.toe]
    if own and np.linalg.norm(own[0]) > 1e-3:
        return np.array(own[0])
    standing = int(np.argmin(positions[:, leg.toe, 2] + positions[:, leg.foot, 2]))
    ahead = positions[standing, leg.toe] - positions[standing, leg.foot]
    return quat.inv_mul_vec(rotations[standing, leg.toe], _TIP * ahead * [1, 1, 0])


def joints_in_world(
    root: list[float], bones: Sequence[list[float]], parents: Sequence[int]
) -> list[Joint]:
    """The root and, in this order, the joints of bones, from local places and rotations (7).

    Each bone hangs on the joint of that number, which stands before its own; the root is number 0.
    """
    joints: list[Joint] = [((root[0], root[1], root[2]), (root[3], root[4], root[5], root[6]))]
    for (x, y, z, w, i, j, k), parent in zip(bones, parents, strict=True):
        (px, py, pz), (a, b, c, d) = joints[parent]
        tx, ty, tz = 2.0 * (c * z - d * y), 2.0 * (d * x - b * z), 2.0 * (b * y - c * x)
        joints.append(
            (
                (
                    px + x + a * tx + c * tz - d * ty,
                    py + y + a * ty + d * tx - b * tz,
                    pz + z + a * tz + b * ty - c * tx,
                ),
                (
                    a * w - b * i - c * j - d * k,
                    a * i + b * w + c * k - d * j,
                    a * j - b * k + c * w + d * i,
                    a * k + b * j - c * i + d * w,
                ),
            )
        )
    return joints


def mul(p: Quaternion, q: Quaternion) -> Quaternion:
    """Product of two quaternions."""
    a, b, c, d = p
    w, x, y, z = q
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


def inv_mul(p: Quaternion, q: Quaternion) -> Quaternion:
    """Product of the inverse of `p` with `q`."""
    a, b, c, d = p
    w, x, y, z = q
    return (
        a * w + b * x + c * y + d * z,
        a * x - b * w - c * z + d * y,
        a * y + b * z - c * w - d * x,
        a * z - b * y + c * x - d * w,
    )


def turn(q: Quaternion, v: Vector) -> Vector:
    """A vector rotated by a quaternion."""
    w, x, y, z = q
    a, b, c = v
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx


def between(ax: float, ay: float, az: float, bx: float, by: float, bz: float) -> Quaternion:
    """The shortest rotation from the direction (ax, ay, az) to (bx, by, bz)."""
    x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    w = (
        math.sqrt((ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz))
        + ax * bx
        + ay * by
        + az * bz
    )
    n = 1.0 / (math.sqrt(w * w + x * x + y * y + z * z) + 1e-12)
    return w * n, x * n, y * n, z * n


def bend(
    hip: Vector, knee: Joint, ankle: Vector, goal: Vector, hinge: Vector, buffer: float
) -> tuple[Quaternion, Quaternion]:
    """Two-bone inverse kinematics: the world rotations of the whole leg about its hip and, before that, of what is below
    the knee about the knee, that bring the ankle to the goal.

    The knee bends in its own plane. A leg that is asked for more than it has gives way softly instead of snapping
    straight, and stays `buffer` metres short of straight.
    """
    (hx, hy, hz), ((kx, ky, kz), attitude), (ax, ay, az), (gx, gy, gz) = hip, knee, ankle, goal
    ux, uy, uz = kx - hx, ky - hy, kz - hz
    lx, ly, lz = ax - kx, ay - ky, az - kz
    sx, sy, sz = ux + lx, uy + ly, uz + lz
    gx, gy, gz = gx - hx, gy - hy, gz - hz
    aa, bb, square = (
        ux * ux + uy * uy + uz * uz,
        lx * lx + ly * ly + lz * lz,
        sx * sx + sy * sy + sz * sz,
    )
    a, b, now, reach = (
        math.sqrt(aa),
        math.sqrt(bb),
        math.sqrt(square),
        math.sqrt(gx * gx + gy * gy + gz * gz),
    )
    if reach > now:
        whole = a + b
        reach = now + _softened(reach, whole, buffer) - _softened(now, whole, buffer)
        reach = min(reach, max(whole - buffer, now))
    reach = max(reach, abs(a - b) + 1e-3)
    # the hinge says which way the knee bends; where the leg is bent that way its own plane is more exact
    kx, ky, kz = turn(attitude, hinge)
    nx, ny, nz = ly * uz - lz * uy, lz * ux - lx * uz, lx * uy - ly * ux
    n = math.sqrt(nx * nx + ny * ny + nz * nz)
    side = 1.0 if nx * kx + ny * ky + nz * kz > 0.0 else -1.0
    if n > _STRAIGHT * a * b and side > 0.0:
        nx, ny, nz = nx / n, ny / n, nz / n
    else:
        nx, ny, nz = kx, ky, kz
    ab, wanted = 2.0 * a * b, reach * reach
    at_hip = 0.5 * (
        _acos((aa + wanted - bb) / (2.0 * a * reach))
        - side * _acos((aa + square - bb) / (2.0 * a * now))
    )
    at_knee = 0.5 * (side * _acos((square - aa - bb) / ab) - _acos((wanted - aa - bb) / ab))
    s = math.sin(at_hip)
    whole_leg = mul(between(sx, sy, sz, gx, gy, gz), (math.cos(at_hip), nx * s, ny * s, nz * s))
    s = math.sin(at_knee)
    return whole_leg, (math.cos(at_knee), nx * s, ny * s, nz * s)


def _acos(cosine: float) -> float:
    return math.acos(1.0 if cosine > 1.0 else -1.0 if cosine < -1.0 else cosine)


def _softened(reach: float, length: float, buffer: float) -> float:
    """A reach that follows what is asked up to a part of the leg's length and comes near to straight ever slower."""
    firm = _FIRM * length
    if reach <= firm:
        return reach
    soft = max((1.0 - _FIRM) * length - buffer, 1e-6)
    return firm + soft * (1.0 - math.exp((firm - reach) / soft))
