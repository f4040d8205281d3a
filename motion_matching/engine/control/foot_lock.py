"""Feet that stay where they are planted: contacts lock the toe, inverse kinematics bends the leg to it.

Source: article 002, Sliding and Foot Locking. Plain floats, because a leg is a handful of single vectors at each tick.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..maths import quat
from ..maths.springs import halflife_to_damping
from ..motion.rig import Roles
from ..motion.skeleton import Skeleton
from .settings import PerformerSettings

_FIRM = 0.92  # part of a leg's length up to which it reaches as far as it is asked
_CLOSE = 1e-5  # metres: a toe this near to where it is to be needs no bending
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


@dataclass(frozen=True)
class LegGeometry:
    """A leg for foot locking.

    `chain` are the bones from below the root down to the toe; `thigh`, `shin` and `foot` are places in it. `hinge` is
    the knee's axis in the shin's frame: turning about it straightens the leg. Heights are those of a standing foot.
    """

    chain: tuple[int, ...]
    thigh: int
    shin: int
    foot: int
    hinge: Vector
    toe_height: float
    foot_height: float


def leg_geometry(skeleton: Skeleton, roles: Roles, poses: np.ndarray) -> tuple[LegGeometry, ...]:
    """Legs of a skeleton whose bone 0 is the simulation bone, measured from sample poses (F, 7, B)."""
    local = poses.transpose(0, 2, 1).astype(np.float64)
    local[:, 0] = [0, 0, 0, 1, 0, 0, 0]
    rotations, positions = quat.fk(local[..., 3:], local[..., :3], skeleton.parents)
    legs = []
    for leg in roles.legs:
        chain = [leg.toe, *skeleton.ancestors(leg.toe)][:-1][::-1]
        upper, lower = positions[:, leg.shin] - positions[:, leg.thigh], positions[:, leg.foot] - positions[:, leg.shin]
        # against the knee's bend, which the most bent frames tell most of
        axis = quat.inv_mul_vec(rotations[:, leg.shin], np.cross(lower, upper)).sum(axis=0)
        low = np.percentile(positions[:, [leg.toe, leg.foot], 2], 2, axis=0)
        legs.append(
            LegGeometry(
                tuple(chain), chain.index(leg.thigh), chain.index(leg.shin), chain.index(leg.foot),
                tuple(axis / max(float(np.linalg.norm(axis)), 1e-9)), float(low[0]), float(low[1]),
            )
        )
    return tuple(legs)


class ContactLock:
    """Where a toe is shown: where the data has it, or where it was planted, with inertialized changes between."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._started = False
        self.locked = False
        self._in_contact = False
        self._offset: Vector = (0.0, 0.0, 0.0)
        self._speed: Vector = (0.0, 0.0, 0.0)
        self._point: Vector = (0.0, 0.0, 0.0)
        self._data: Vector = (0.0, 0.0, 0.0)

    def update(self, data: Vector, contact: bool, height: float, radius: float, halflife: float, dt: float) -> Vector:
        """The toe's place (x, y, z) of this tick, from where the `data` has it; `height` is that of a planted toe."""
        if not self._started:
            self._started, self._data = True, data
        velocity = tuple((a - b) / dt for a, b in zip(data, self._data, strict=True))
        self._data = data
        y = halflife_to_damping(halflife) / 2.0
        e = math.exp(-y * dt)
        pulls = [v + o * y for o, v in zip(self._offset, self._speed, strict=True)]
        offset = tuple(e * (o + p * dt) for o, p in zip(self._offset, pulls, strict=True))
        speed = tuple(e * (v - p * y * dt) for v, p in zip(self._speed, pulls, strict=True))
        base = self._point if self.locked else data
        shown = tuple(b + o for b, o in zip(base, offset, strict=True))
        away = math.dist(self._point[:2], data[:2]) > radius
        if contact and not self._in_contact:
            self._point = (shown[0], shown[1], height)
            offset = tuple(s - p for s, p in zip(shown, self._point, strict=True))
            speed = tuple(s + v for s, v in zip(speed, velocity, strict=True)) if not self.locked else speed
            self.locked = True
        elif self.locked and (away or not contact):
            offset = tuple(s - d for s, d in zip(shown, data, strict=True))
            speed = tuple(s - v for s, v in zip(speed, velocity, strict=True))
            self.locked = False
        self._in_contact = contact
        self._offset, self._speed = offset, speed  # type: ignore[assignment]
        return shown  # type: ignore[return-value]


class FootLock:
    """Locks the toes of all legs of a character."""

    def __init__(self, legs: Sequence[LegGeometry]) -> None:
        self._legs = tuple(legs)
        self._locks = tuple(ContactLock() for _ in legs)

    def reset(self) -> None:
        for lock in self._locks:
            lock.reset()

    @property
    def locked(self) -> tuple[bool, ...]:
        """Which toes (L,) are held where they were planted."""
        return tuple(lock.locked for lock in self._locks)

    def apply(self, pose: np.ndarray, contacts: np.ndarray, settings: PerformerSettings, dt: float) -> None:
        """Bend the legs of a pose (7, B), placed in the world by bone 0, to where the toes are to be."""
        root = pose[:, 0].tolist()
        for leg, lock, contact in zip(self._legs, self._locks, contacts.tolist(), strict=True):
            joints = _joints(leg, pose, root)
            toe = joints[-1][1]
            x, y, z = lock.update(toe, contact, leg.toe_height, settings.unlock_radius, settings.foot_halflife, dt)
            target = (x, y, max(z, leg.toe_height))
            if math.dist(target, toe) > _CLOSE:
                _bend(leg, pose, joints, root, target, settings.stretch_buffer)


def _joints(leg: LegGeometry, pose: np.ndarray, root: list[float]) -> list[tuple[Quaternion, Vector]]:
    """World rotation and place of every bone of the chain."""
    position, rotation = _split(root)
    joints = []
    for bone in pose[:, leg.chain].T.tolist():
        offset, turn = _split(bone)
        position = _add(position, _turn(rotation, offset))
        rotation = _mul(rotation, turn)
        joints.append((rotation, position))
    return joints


def _split(bone: list[float]) -> tuple[Vector, Quaternion]:
    x, y, z, qw, qx, qy, qz = bone
    return (x, y, z), (qw, qx, qy, qz)


def _bend(
    leg: LegGeometry, pose: np.ndarray, joints: list[tuple[Quaternion, Vector]], root: list[float], target: Vector,
    buffer: float,
) -> None:
    """Two-bone inverse kinematics: hip and knee turn so that the toe comes to the target, the foot keeps its attitude."""
    (thigh_turn, hip), (shin_turn, knee), (foot_turn, ankle) = joints[leg.thigh], joints[leg.shin], joints[leg.foot]
    toe = joints[-1][1]
    goal = _add(target, _sub(ankle, toe))
    upper, lower, line = _sub(knee, hip), _sub(ankle, knee), _sub(ankle, hip)
    a, b, now, wanted = _length(upper), _length(lower), _length(line), _length(_sub(goal, hip))
    # a leg that is asked for more than it has gives way softly instead of snapping straight
    reach = wanted
    if wanted > now:
        reach = now + _softened(wanted, a + b, buffer) - _softened(now, a + b, buffer)
    reach = max(min(reach, max(a + b - buffer, now)), abs(a - b) + 1e-3)
    axis = _turn(shin_turn, leg.hinge)
    # the hinge is square to the leg's plane; where the leg is bent the plane itself is more exact
    normal = _cross(lower, upper)
    if _length(normal) > 0.05 * a * b:
        scale = 1.0 / _length(normal)
        axis = normal[0] * scale, normal[1] * scale, normal[2] * scale
    hip_angle = _corner(a, reach, b) - _corner(a, now, b)
    knee_angle = _corner(a, b, reach) - _corner(a, b, now)
    swing = _between(line, _sub(goal, hip))
    at_hip = _mul(swing, _about(axis, hip_angle))
    at_knee = _mul(at_hip, _about(axis, knee_angle))
    above = joints[leg.thigh - 1][0] if leg.thigh else _split(root)[1]
    chain = leg.chain
    pose[3:, chain[leg.thigh]] = _inv_mul(above, _mul(at_hip, thigh_turn))
    before_shin = joints[leg.shin - 1][0]
    pose[3:, chain[leg.shin]] = _inv_mul(_mul(at_hip, before_shin), _mul(at_knee, shin_turn))
    before_foot = joints[leg.foot - 1][0]
    pose[3:, chain[leg.foot]] = _inv_mul(_mul(at_knee, before_foot), foot_turn)


def _softened(reach: float, length: float, buffer: float) -> float:
    """A reach that follows what is asked up to a part of the leg's length and comes near to straight ever slower."""
    firm = _FIRM * length
    if reach <= firm:
        return reach
    soft = max((1.0 - _FIRM) * length - buffer, 1e-6)
    return firm + soft * (1.0 - math.exp((firm - reach) / soft))


def _corner(a: float, b: float, opposite: float) -> float:
    """Angle between sides a and b of a triangle."""
    return math.acos(max(-1.0, min(1.0, (a * a + b * b - opposite * opposite) / (2.0 * a * b + 1e-12))))


def _add(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _sub(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _length(a: Vector) -> float:
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


def _mul(p: Quaternion, q: Quaternion) -> Quaternion:
    a, b, c, d = p
    w, x, y, z = q
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


def _inv_mul(p: Quaternion, q: Quaternion) -> Quaternion:
    return _mul((p[0], -p[1], -p[2], -p[3]), q)


def _turn(q: Quaternion, v: Vector) -> Vector:
    w, x, y, z = q
    a, b, c = v
    tx, ty, tz = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    return a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx


def _about(axis: Vector, angle: float) -> Quaternion:
    s = math.sin(0.5 * angle)
    return math.cos(0.5 * angle), axis[0] * s, axis[1] * s, axis[2] * s


def _between(a: Vector, b: Vector) -> Quaternion:
    """The shortest rotation from one direction to another."""
    c = _cross(a, b)
    w = _length(a) * _length(b) + a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    n = math.sqrt(w * w + c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) + 1e-12
    return w / n, c[0] / n, c[1] / n, c[2] / n
