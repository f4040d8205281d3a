"""Measure legs from the data, and bend them for foot locking by two-bone inverse kinematics.

Plain floats in few, flat functions, because a leg is a handful of single vectors at each tick.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..body.rig import Leg, Roles
from ..maths.numeric import FLOATS
from ..maths.rotations import quat
from ..maths.rotations.scalar_quat import Quaternion, Vector, between, mul_vec
from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS
from .two_bones import find_axis, measure_hinge, open_joint

Joint = tuple[Vector, Quaternion]  # place and rotation in the world
# changes a reach, of bones with a sum of squares and a double product, with room, within seconds
LimitReach = Callable[[float, float, float, float, float], float]
CLOSE = NUMBERS.close
FIRM = NUMBERS.firm_share
_NO_LENGTH = 1e-12  # cubic metres: the product of the lengths of a leg and its bones
_UNTURNED: Quaternion = (1.0, 0.0, 0.0, 0.0)


class Beside(NamedTuple):
    """Clearance of a leg's foot from that of another `leg`, in metres, as in the data.

    They are `apart`, with their ankles on their own `side` of each other by this distance, negative
    where they cross. Where a motion crosses them itself, as in steps aside, ankles may pass each
    other up to `crossed`, below 0.
    """

    leg: int
    apart: float
    side: float
    crossed: float

    def compute_side(self, own: float) -> float:
        """Return the side that ankles keep to, in a motion that has them `own` metres apart."""
        side = own if own < self.side else self.side
        return side if side > self.crossed else self.crossed


@dataclass(frozen=True)
class LegGeometry:
    """A leg for foot locking, in metres; heights are those of a standing foot.

    `chain` are the bones from below the root down to the toe; `thigh`, `shin` and `foot` are
    indices in it. `hinge` is the knee's axis in the shin's frame: turning about it straightens the
    leg. `tip` is the toe's end in the toe's frame, None where foot and toe are one bone.
    `folded_length` is the least distance of ankle and hip, hardly less than in the data.
    `knee_rate` in rad/s and `knee_acceleration` in rad/s² limit the bending and stretching of the
    knee, as in the data. `beside` are the later legs that its foot keeps clear of. The toe's tip
    is beyond its joint by `tip_share` of the way from the ankle. With `toes_ahead`, toes point the
    way in which the knee bends: forward, not back like an elbow.
    """

    chain: tuple[int, ...]
    thigh: int
    shin: int
    foot: int
    hinge: Vector
    tip: Vector | None
    folded_length: float
    toe_height: float
    foot_height: float
    tip_height: float
    knee_rate: float = math.inf
    knee_acceleration: float = math.inf
    beside: tuple[Beside, ...] = ()
    tip_share: float = 0.0
    toes_ahead: bool = True


def measure_legs(
    skeleton: Skeleton, roles: Roles, poses: np.ndarray, footing: np.ndarray | None = None
) -> tuple[LegGeometry, ...]:
    """Measure the legs of a skeleton from poses (F, 7, B), whose bone 0 is the simulation bone.

    On ground that rises and falls, feet are higher than in the poses by their `footing` (F, L).
    """
    standing = poses.copy()
    standing[..., 0] = [0, 0, 0, 1, 0, 0, 0]
    world = quat.compute_world(standing, skeleton.parents)
    if footing is None:
        footing = np.zeros((len(poses), len(roles.legs)))
    level = np.all(footing == 0.0, axis=1)
    # a foot on a slope is tilted, and does not show how it stands on level ground
    on_level = [part[level] if level.any() else part for part in world]
    return tuple(
        replace(
            _measure_leg(skeleton, leg, on_level[0], on_level[1]),
            folded_length=_measure_folded_length(leg, world[1], rises),
        )
        for leg, rises in zip(roles.legs, footing.T, strict=True)
    )


def _measure_leg(
    skeleton: Skeleton, leg: Leg, rotations: np.ndarray, positions: np.ndarray
) -> LegGeometry:
    chain = [leg.toe, *skeleton.get_ancestors(leg.toe)][:-1][::-1]
    hips, knees, ankles, toes = (positions[:, b] for b in (leg.thigh, leg.shin, leg.foot, leg.toe))
    upper = knees - hips
    lower = ankles - knees
    hinge = measure_hinge(rotations[:, leg.shin], upper, lower)
    tip = None if leg.toe == leg.foot else _find_tip(skeleton, leg, rotations, positions)
    tips = toes if tip is None else toes + quat.mul_vec(rotations[:, leg.toe], tip)
    toe, foot, end = (
        float(np.percentile(p[:, 2], NUMBERS.standing_percentile)) for p in (toes, ankles, tips)
    )
    # only steep shins decide where toes point: a kneeling body has its toes behind
    hinges = quat.mul_vec(rotations[:, leg.shin], hinge)
    arms = ankles - toes
    behind = hinges[:, 1] * arms[:, 0] - hinges[:, 0] * arms[:, 1]
    steep = np.maximum(-lower[:, 2], 0.0)
    return LegGeometry(
        chain=tuple(chain),
        thigh=chain.index(leg.thigh),
        shin=chain.index(leg.shin),
        foot=chain.index(leg.foot),
        hinge=tuple(hinge.tolist()),
        tip=None if tip is None else tuple(tip.tolist()),
        folded_length=0.0,
        toe_height=toe,
        foot_height=foot,
        tip_height=end,
        toes_ahead=bool(np.sum(steep * behind) >= 0.0),
    )


def _measure_folded_length(leg: Leg, positions: np.ndarray, rises: np.ndarray) -> float:
    """Return the distance of hip and ankle with the knee bent slightly more than in any frame.

    Feet are higher than at positions (F, B, 3) by `rises` (F,).
    """
    hips, knees, ankles = (positions[:, bone] for bone in (leg.thigh, leg.shin, leg.foot))
    upper = knees - hips
    lower = ankles - knees
    whole = ankles - hips + rises[:, None] * [0.0, 0.0, 1.0]
    a, b = np.linalg.norm(upper, axis=-1).mean(), np.linalg.norm(lower, axis=-1).mean()
    square = np.sum(whole**2, axis=-1).min()
    cosine = (square - a * a - b * b) / max(2.0 * a * b, 1e-9)
    bent = math.acos(max(-1.0, min(1.0, cosine))) + NUMBERS.extra_bend
    return math.sqrt(a * a + b * b + 2.0 * a * b * math.cos(min(bent, math.pi)))


def _find_tip(
    skeleton: Skeleton, leg: Leg, rotations: np.ndarray, positions: np.ndarray
) -> np.ndarray:
    """Return the toe's end (3,) in its frame: the rig's, or a point ahead of a standing toe."""
    own = [offset for bone, offset in skeleton.end_sites if bone == leg.toe]
    if own and np.linalg.norm(own[0]) > 1e-3:
        return np.array(own[0])
    standing = int(np.argmin(positions[:, leg.toe, 2] + positions[:, leg.foot, 2]))
    ahead = positions[standing, leg.toe] - positions[standing, leg.foot]
    return quat.inv_mul_vec(rotations[standing, leg.toe], NUMBERS.tip_share * ahead * [1, 1, 0])


def compute_world_joints(
    root: list[float], bones: Sequence[list[float]], parents: Sequence[int]
) -> list[Joint]:
    """Return root and joints in the world, of local poses (7 numbers) and parents among joints."""
    joints: list[Joint] = [((root[0], root[1], root[2]), (root[3], root[4], root[5], root[6]))]
    for (x, y, z, w, i, j, k), parent in zip(bones, parents, strict=True):
        (px, py, pz), (a, b, c, d) = joints[parent]
        tx = 2.0 * (c * z - d * y)
        ty = 2.0 * (d * x - b * z)
        tz = 2.0 * (b * y - c * x)
        position = (
            px + x + a * tx + c * tz - d * ty,
            py + y + a * ty + d * tx - b * tz,
            pz + z + a * tz + b * ty - c * tx,
        )
        rotation = (
            a * w - b * i - c * j - d * k,
            a * i + b * w + c * k - d * j,
            a * j - b * k + c * w + d * i,
            a * k + b * j - c * i + d * w,
        )
        joints.append((position, rotation))
    return joints


def bend(
    hip: Vector,
    knee: Joint,
    ankle: Vector,
    goal: Vector,
    hinge: Vector,
    buffer: float,
    limit: LimitReach | None = None,
    room: float = math.inf,
    dt: float = 0.0,
    spare: float = 0.0,
) -> tuple[Quaternion, Quaternion, float]:
    """Solve two-bone inverse kinematics that brings the ankle to the goal.

    Returns the world rotations of the whole leg about its hip and, applied before it, of the lower
    leg about the knee; and by how many metres the leg is too short. The knee bends in its own
    plane. A leg that cannot reach the goal gives way softly, once it is longer than now by `spare`
    metres, and stays `buffer` metres short of straight. A leg bent backward is straightened, and
    gets lower by at most `room` metres. A leg without length is not turned. `limit` changes the
    resulting reach.
    """
    (hx, hy, hz) = hip
    ((kx, ky, kz), attitude) = knee
    (ax, ay, az) = ankle
    (gx, gy, gz) = goal
    ux = kx - hx
    uy = ky - hy
    uz = kz - hz
    lx = ax - kx
    ly = ay - ky
    lz = az - kz
    sx = ux + lx
    sy = uy + ly
    sz = uz + lz
    gx = gx - hx
    gy = gy - hy
    gz = gz - hz
    aa = ux * ux + uy * uy + uz * uz
    bb = lx * lx + ly * ly + lz * lz
    square = sx * sx + sy * sy + sz * sz
    desired = gx * gx + gy * gy + gz * gz
    a = math.sqrt(aa)
    b = math.sqrt(bb)
    now = math.sqrt(square)
    reach = math.sqrt(desired)
    if a * b * now < _NO_LENGTH:  # all bones may be in one place: then no angle has a meaning
        return _UNTURNED, _UNTURNED, 0.0
    upper = (ux, uy, uz)
    lower = (lx, ly, lz)
    whole = a + b
    axis, backward = find_axis(upper, lower, mul_vec(attitude, hinge), FLOATS)
    if backward < 0.0 and square > aa + bb:
        # not forward by the same angle: a knee that passes straight for a moment would swing back
        reach = min(reach + min(whole - now, room), whole)
        now = whole
    free = now + spare
    wanted = reach
    if reach > free:
        reach = free + _soften(reach, whole, buffer) - _soften(free, whole, buffer)
        reach = min(reach, max(whole - buffer, free))
    if limit is not None:
        reach = limit(reach, aa + bb, 2.0 * a * b, room, dt)
    reach = max(reach, abs(a - b) + NUMBERS.folded)
    at_knee = open_joint(upper, lower, axis, reach, FLOATS)
    lx, ly, lz = mul_vec(at_knee, lower)
    return between(ux + lx, uy + ly, uz + lz, gx, gy, gz), at_knee, wanted - reach


def roll_foot(
    hip: Vector,
    knee: Vector,
    ankle: Vector,
    toe: Vector,
    goal: Vector,
    buffer: float,
    spare: float,
) -> tuple[Vector, float]:
    """Return an ankle's place nearer to its hip than the `goal`, with the foot rolled over its toe.

    It rolls where the leg is too short. Also returns how far the leg may then stretch freely.
    """
    now = math.dist(hip, ankle)
    reach = math.dist(hip, goal)
    free = now + spare
    if reach <= free:
        return goal, spare
    whole = math.dist(hip, knee) + math.dist(knee, ankle)
    soft = free + _soften(reach, whole, buffer) - _soften(free, whole, buffer)
    soft = min(soft, max(whole - buffer, free))
    ex = goal[0] - toe[0]
    ey = goal[1] - toe[1]
    ez = goal[2] - toe[2]
    ux = hip[0] - toe[0]
    uy = hip[1] - toe[1]
    uz = hip[2] - toe[2]
    square = ex * ex + ey * ey + ez * ez
    away = math.sqrt(ux * ux + uy * uy + uz * uz)
    length = math.sqrt(square)
    if reach - soft < CLOSE or length < CLOSE or away < CLOSE:
        return goal, spare
    ux = ux / away
    uy = uy / away
    uz = uz / away
    along = ex * ux + ey * uy + ez * uz
    wx = ex - along * ux
    wy = ey - along * uy
    wz = ez - along * uz
    across = math.sqrt(wx * wx + wy * wy + wz * wz)
    if across < CLOSE:
        return goal, spare
    # at most half of the turn that brings it into line, because the rest helps little
    cosine = min(
        (square + away * away - soft * soft) / (2.0 * length * away),
        math.sqrt(0.5 + 0.5 * along / length),
    )
    a, b = length * cosine, length * math.sqrt(1.0 - cosine * cosine) / across
    rolled = toe[0] + a * ux + b * wx, toe[1] + a * uy + b * wy, toe[2] + a * uz + b * wz
    return rolled, max(min(soft, math.dist(hip, rolled)) - now, spare)


def is_bent_backward(hip: Vector, knee: Joint, ankle: Vector, hinge: Vector) -> bool:
    """Return whether a knee is bent against its hinge, for example by a fading jump."""
    (hx, hy, hz) = hip
    ((x, y, z), attitude) = knee
    (ax, ay, az) = ankle
    ux = x - hx
    uy = y - hy
    uz = z - hz
    lx = ax - x
    ly = ay - y
    lz = az - z
    kx, ky, kz = mul_vec(attitude, hinge)
    nx = ly * uz - lz * uy
    ny = lz * ux - lx * uz
    nz = lx * uy - ly * ux
    return nx * kx + ny * ky + nz * kz < 0.0


def _soften(reach: float, length: float, buffer: float) -> float:
    """Follow a requested reach up to a share of the length, then approach straight ever slower."""
    firm = FIRM * length
    if reach <= firm:
        return reach
    soft = max((1.0 - FIRM) * length - buffer, 1e-6)
    return firm + soft * (1.0 - math.exp((firm - reach) / soft))
