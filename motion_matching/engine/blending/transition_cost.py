"""Price a jump for the eye: how far, and for how long, a body is off the motion it entered.

The cost is the total displacement in metre-seconds of each bone's position in the character's
frame, by axis. It counts all that fades after a jump, including the rest of earlier jumps. Offsets
of positions are assumed to fade like the bones' rotations, which nearly holds.

Source: Holden, Inertialization Transition Cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..maths.rotations import component_quat, quat
from ..performance.settings import PerformerSettings
from ..units import POSE, VELOCITY, measured
from .inertialization import Fading, Inertializer, compute_angular_velocity
from .jump import Jump
from .numbers import NUMBERS

Array = np.ndarray
_NEXT = np.array([1, 2, 0])
_AFTER = np.array([2, 0, 1])


@measured(pose=POSE, velocity=VELOCITY)
class Transition(NamedTuple):
    """A fading jump: the entered pose (7, B) and velocities (6, B), and the offsets."""

    pose: Array
    velocity: Array
    fading: Fading


def enter(jumps: Sequence[Jump], limits: Array, settings: PerformerSettings) -> list[Transition]:
    """Return the transitions of jumps out of motion without other fading offsets.

    `limits` (2, B) are those of an `Inertializer`.
    """
    inertializer = Inertializer.from_settings(limits, settings, 1.0)
    transitions = []
    for jump in jumps:
        inertializer.reset()
        inertializer.transition(jump)
        transitions.append(Transition(jump.target_pose, jump.target_velocity, inertializer.fading))
    return transitions


def compute_offsets(transitions: Sequence[Transition], parents: Array) -> tuple[Array, Array]:
    """Return offsets of positions (J, B, 3) at jumps in the character's frame, and their velocity.

    In metres and m/s, shown less entered.
    """
    count = len(transitions)
    # jumps end to end: numpy's time goes into the number of calls
    pose, velocity = (np.concatenate([each[k] for each in transitions], axis=1) for k in (0, 1))
    offset, speed = (
        np.concatenate([each.fading[k] for each in transitions], axis=1) for k in (0, 1)
    )
    rotations = component_quat.mul(component_quat.from_scaled_angle_axis(offset[3:]), pose[3:])
    turning = compute_angular_velocity(offset[3:], speed[3:], velocity[3:])
    shown = np.concatenate([pose[:3] + offset[:3], rotations])
    moved = np.concatenate([velocity[:3] + speed[:3], turning])
    poses, velocities = (
        np.concatenate(pair, axis=1).reshape(len(pair[0]), 2 * count, -1).swapaxes(0, 1)
        for pair in ((shown, pose), (moved, velocity))
    )
    positions, speeds = _compute_motion(poses, velocities, parents)
    return positions[:count] - positions[count:], speeds[:count] - speeds[count:]


def measure_costs(transitions: Sequence[Transition], parents: Array) -> Array:
    """Return the cost (J, B, 3) of jumps by bone and axis, in metre-seconds."""
    if not transitions:
        return np.zeros((0, len(parents), 3))
    offset, speed = compute_offsets(transitions, parents)
    times = np.array([each.fading[3:] for each in transitions]).T[..., None, None]
    shapes = [each.fading.shape for each in transitions]
    result = np.empty_like(offset)
    for shape in set(shapes):  # other settings may have another one
        own = [each is shape for each in shapes]
        result[own] = shape.measure(offset[own], speed[own], *times[:, own])
    return result


def measure_prices(transitions: Sequence[Transition], parents: Array) -> Array:
    """Return the price (J,) of jumps: the sum of the three axes, on average of all bones.

    In metre-seconds. Bone 0 is the character itself, and left out.
    """
    bones = max(len(parents) - 1, 1)
    prices = [np.zeros(0)]
    for first in range(0, len(transitions), NUMBERS.jumps_at_once):
        costs = measure_costs(transitions[first : first + NUMBERS.jumps_at_once], parents)
        prices.append(costs[:, 1:].sum(axis=(1, 2)) / bones)
    return np.concatenate(prices)


def format_price(price: float) -> str:
    """Return the price of a jump in metre-seconds as text."""
    return f"{100.0 * price:.2f} cm·s"


def _compute_motion(poses: Array, velocities: Array, parents: Array) -> tuple[Array, Array]:
    """Return positions (F, B, 3) and their velocities in the frame of bone 0.

    Of poses (F, 7, B) and velocities (F, 6, B), linear and angular, each in its parent's frame.
    """
    poses, velocities = (part.transpose(2, 0, 1).astype(np.float64) for part in (poses, velocities))
    rotations = quat.to_matrix(poses[..., 3:])  # a few dozen bones: much faster than quaternions
    rotations[0] = np.eye(3)
    # columns: arm, velocity and turning, each in the parent's frame
    local = np.stack([poses[..., :3], velocities[..., :3], velocities[..., 3:]], axis=-1)
    positions, speeds, turning = np.zeros((3, *poses.shape[:2], 3))
    for bones in _list_levels(tuple(np.asarray(parents).tolist())):
        above = parents[bones]
        rotation = rotations[above]
        arm, moved, turned = np.moveaxis(rotation @ local[bones], -1, 0)
        positions[bones] = positions[above] + arm
        speeds[bones] = speeds[above] + moved + _cross(turning[above], arm)
        turning[bones] = turning[above] + turned
        rotations[bones] = rotation @ rotations[bones]
    return positions.swapaxes(0, 1), speeds.swapaxes(0, 1)


def _cross(a: Array, b: Array) -> Array:
    """Return the cross products (..., 3) of small arrays, for which numpy's own is slow."""
    return a[..., _NEXT] * b[..., _AFTER] - a[..., _AFTER] * b[..., _NEXT]


@lru_cache(maxsize=8)
def _list_levels(parents: tuple[int, ...]) -> tuple[list[int], ...]:
    """Return the bones below bone 0 by their depth: those of a level can be computed together."""
    depths = [0]
    for parent in parents[1:]:
        depths.append(depths[parent] + 1)
    deepest = range(1, max(depths) + 1)
    return tuple([bone for bone, at in enumerate(depths) if at == depth] for depth in deepest)
