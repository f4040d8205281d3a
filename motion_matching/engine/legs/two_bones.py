"""Bend two bones at their common joint, so that their end is at a given distance from their root.

The two-bone inverse kinematics of article 002, *Sliding and Foot Locking*, in one place for single
limbs in a tick and for all frames of a take; see `numeric`.

An upper and a lower bone are vectors (x, y, z) in the world. The `hinge` is the axis about which
the lower bone turns as the joint straightens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..maths.numeric import (
    ARRAYS,
    Functions,
    Number,
    Number3,
    Number4,
    join,
    split,
    split_quaternions,
)
from ..maths.rotations import quat
from ..maths.rotations.scalar_quat import inv_mul, mul, mul_vec
from .numbers import NUMBERS

STRAIGHTEST = NUMBERS.straightest_share
_NO_LENGTH = 1e-12  # lengths, in metres to the power that a quantity has, that are none


def find_axis(
    upper: Number3[Number], lower: Number3[Number], hinge: Number3[Number], of: Functions[Number]
) -> tuple[Number3[Number], Number]:
    """Return the axis about which the joint opens, and the sine of a bend against its hinge.

    The axis is the normal of the bones' plane. Where the bones are straight or bent backward, it is
    the hinge. The sine is 0 or negative.
    """
    (ux, uy, uz) = upper
    (lx, ly, lz) = lower
    (kx, ky, kz) = hinge
    nx = ly * uz - lz * uy
    ny = lz * ux - lx * uz
    nz = lx * uy - ly * ux
    squares = (ux * ux + uy * uy + uz * uz) * (lx * lx + ly * ly + lz * lz)
    scale = 1.0 / of.least(of.sqrt(squares), _NO_LENGTH)
    backward = of.most(scale * (nx * kx + ny * ky + nz * kz), 0.0)
    share = NUMBERS.straight_sine - backward
    kx = scale * nx + share * kx
    ky = scale * ny + share * ky
    kz = scale * nz + share * kz
    scale = 1.0 / of.least(of.sqrt(kx * kx + ky * ky + kz * kz), _NO_LENGTH)
    return (scale * kx, scale * ky, scale * kz), backward


def measure_bend(
    upper: Number3[Number],
    lower: Number3[Number],
    axis: Number3[Number],
    reach: Number,
    of: Functions[Number],
) -> tuple[Number, Number]:
    """Return the angle of the joint about an axis, and the angle at which its end is at a `reach`.

    Straight bones have an angle of 0. A distance out of reach is clamped to the reach.
    """
    (ux, uy, uz) = upper
    (lx, ly, lz) = lower
    (kx, ky, kz) = axis
    aa = ux * ux + uy * uy + uz * uz
    bb = lx * lx + ly * ly + lz * lz
    # only the part across the axis turns about it
    along = (ux * kx + uy * ky + uz * kz) * (lx * kx + ly * ky + lz * kz)
    cosine = ux * lx + uy * ly + uz * lz - along
    sine = kx * (ly * uz - lz * uy) + ky * (lz * ux - lx * uz) + kz * (lx * uy - ly * ux)
    wanted = 0.5 * (reach * reach - aa - bb) - along
    share = wanted / of.least(of.hypot(cosine, sine), _NO_LENGTH)
    return of.atan2(sine, cosine), of.acos(of.most(of.least(share, -1.0), 1.0))


def open_joint(
    upper: Number3[Number],
    lower: Number3[Number],
    axis: Number3[Number],
    reach: Number,
    of: Functions[Number],
) -> Number4[Number]:
    """Return the rotation of the lower bone about the joint that brings its end to a `reach`."""
    now, wanted = measure_bend(upper, lower, axis, reach, of)
    return turn_about(axis, now - wanted, of)


def turn_about(axis: Number3[Number], angle: Number, of: Functions[Number]) -> Number4[Number]:
    """Return the rotation by an angle in radians about an axis of unit length."""
    half = 0.5 * angle
    sine = of.sin(half)
    return of.cos(half), axis[0] * sine, axis[1] * sine, axis[2] * sine


def bend_to(
    upper: np.ndarray, lower: np.ndarray, goal: np.ndarray, hinge: np.ndarray, most: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return rotations (T, 4) that bring the ends of bones (T, 3) to goals (T, 3) from their roots.

    The first is that of both bones about the root; the second, of the lower one about the joint, is
    applied before it. A limb reaches up to `most` of its length.
    """
    a, b = (np.linalg.norm(bone, axis=-1) for bone in (upper, lower))
    reach = np.linalg.norm(goal, axis=-1)
    reach = np.clip(reach, np.abs(a - b) + NUMBERS.folded_share * (a + b), most * (a + b))
    bones = split(upper), split(lower)
    axis, _ = find_axis(*bones, split(hinge), ARRAYS)
    at_joint = join(open_joint(*bones, axis, reach, ARRAYS))
    return quat.between(upper + quat.mul_vec(at_joint, lower), goal), at_joint


def find_axes(
    upper: np.ndarray, lower: np.ndarray, hinge: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return axes (T, 3) and sines (T,) as `find_axis` does, of bones and hinges (T, 3)."""
    axis, backward = find_axis(split(upper), split(lower), split(hinge), ARRAYS)
    return join(axis), backward


def measure_hinge(rotations: np.ndarray, upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """Return the hinge (3,) in the frame of the lower bone, from how bones (T, 3) bend.

    The lower bone has rotations (T, 4). Larger bends weigh more; there is none if nothing bends.
    """
    hinge = quat.inv_mul_vec(rotations, np.cross(lower, upper)).sum(axis=0)
    return np.asarray(hinge / max(float(np.linalg.norm(hinge)), 1e-9))


def turn_limb(
    rotations: Sequence[Number4[Number]],
    whole: Number4[Number],
    lower: Number4[Number],
    attitude: Number4[Number],
) -> tuple[Number4[Number], Number4[Number], Number4[Number]]:
    """Return the local rotations of two bent bones, and of the bone at their end.

    `rotations` are the world rotations before: of the bone above the upper one, the upper one, then
    likewise for the lower one, and of the bone above the end. All below the joint turns by `lower`,
    then the limb by `whole`. The bone at the end gets an `attitude` in the world.
    """
    above_root, root, above_joint, joint, above_end = rotations
    bent = mul(lower, joint)
    above = bent if above_end is joint else mul(lower, above_end)
    upper = inv_mul(above_root, mul(whole, root))
    return upper, inv_mul(above_joint, bent), inv_mul(mul(whole, above), attitude)


def turn_limbs(
    rotations: Sequence[np.ndarray], whole: np.ndarray, lower: np.ndarray, attitude: np.ndarray
) -> list[np.ndarray]:
    """Return the rotations (T, 4) of `turn_limb` for arrays (T, 4)."""
    world = [split_quaternions(each) for each in rotations]
    turns = (split_quaternions(each) for each in (whole, lower, attitude))
    return [quat.normalize(join(each)) for each in turn_limb(world, *turns)]


def unfold(
    upper: Number3[Number],
    lower: Number3[Number],
    hinge: Number3[Number],
    reach: Number,
    of: Functions[Number],
) -> Number3[Number]:
    """Return how far the end moves when the joint opens to a `reach` about its hinge.

    The upper bone stays. A joint that a blend of poses has folded through itself opens the same
    way. The end of a joint bent backward stays: it is straightened elsewhere.
    """
    now, wanted = measure_bend(upper, lower, hinge, reach, of)
    now = of.where(now < -0.5 * math.pi, now + 2.0 * math.pi, now)
    angle = of.where(now < 0.0, 0.0 * now, now - wanted)
    mx, my, mz = mul_vec(turn_about(hinge, angle, of), lower)
    return mx - lower[0], my - lower[1], mz - lower[2]


def pitch_up(vectors: np.ndarray, rises: np.ndarray) -> np.ndarray:
    """Return vectors (T, 3) of the same lengths and headings, with ends higher by metres (T,)."""
    return join(pitch_to_height(split(vectors), vectors[:, 2] + rises, ARRAYS))


def pitch_to_height(
    vector: Number3[Number], height: Number, of: Functions[Number]
) -> Number3[Number]:
    """Return a vector of the same length and heading whose end is at a height, within its length.

    An upright one has no heading, and gets shorter.
    """
    x, y, z = vector
    length = of.sqrt(x * x + y * y + z * z)
    height = of.least(of.most(height, length), -length)
    share = of.sqrt(length * length - height * height) / (of.hypot(x, y) + 1e-9)
    return share * x, share * y, height
