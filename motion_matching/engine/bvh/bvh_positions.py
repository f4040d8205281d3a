"""Compute local positions of a BVH file's joints, from their OFFSETs and position channels.

Programs write two dialects. In most, position channels replace the OFFSET; in others they are added
to it, and are zero or nearly so where a bone keeps its length. The bones show the dialect of a
file: under the wrong reading a body shrinks to a point.
"""

from __future__ import annotations

import numpy as np

from ..errors import MotionDataError
from ..maths.rotations import quat
from .bvh_text import Joint

_SAMPLED = 32  # frames from which the dialect is detected
_LEFT = 0.5  # share of a body's bone lengths that positions keep in the one dialect or the other
_ON_GROUND = 0.25  # share of the height of hips by which feet may be off the ground


def compute_local_positions(
    joints: list[Joint], axes: np.ndarray, values: np.ndarray, added: np.ndarray
) -> np.ndarray:
    """Return positions (F, B, 3), float32, in Blender's axes and the file's unit.

    Position channels of the joints that are `added` (B,) count from the OFFSET.
    """
    offsets = np.array([joint.offset for joint in joints]) @ axes.T
    positions = np.empty((len(values), len(joints), 3), dtype=np.float32)
    positions[:] = offsets
    triples = [
        (bone, axis, column)
        for bone, joint in enumerate(joints)
        for axis, column in joint.get_columns("position")
    ]
    if triples:
        bones, source, columns = np.array(triples).T
        target = np.argmax(np.abs(axes), axis=0)[source]  # axes are only permuted and negated
        moved = values[:, columns] * axes[target, source]
        counted = added[bones]
        moved[:, counted] += offsets[bones, target][counted]
        positions.reshape(len(values), -1)[:, 3 * bones + target] = moved
    return positions


def sample_frames(count: int) -> np.ndarray:
    """Return indices of evenly chosen frames, few enough to examine each."""
    return np.linspace(0, count - 1, num=min(count, _SAMPLED), dtype=int)


def find_added(
    joints: list[Joint],
    parents: np.ndarray,
    axes: np.ndarray,
    values: np.ndarray,
    rotations: np.ndarray,
) -> np.ndarray:
    """Return the joints (B,) whose position channels count from their OFFSET.

    `values` (F, C) and local `rotations` (F, B, 4) are those of some frames. Joints within the body
    are in the dialect in which more than half of their bone lengths is left. Carriers, which move
    the body over the ground, are judged separately: their channels count from the OFFSET if they
    are nearer to zero than to it, and the feet as far below the ground.
    """
    added = np.zeros(len(joints), dtype=bool)
    moved = np.array([bool(joint.get_columns("position")) for joint in joints])
    offsets = np.array([joint.offset for joint in joints]) @ axes.T
    carriers = find_carriers(parents)
    limbs = moved & ~carriers
    lengths = np.linalg.norm(offsets, axis=-1)
    replaced = compute_local_positions(joints, axes, values, added)
    left = np.minimum(np.median(np.linalg.norm(replaced, axis=-1), axis=0), lengths)
    added[limbs] = left[limbs].sum() < _LEFT * lengths[limbs].sum()
    bearing = moved & carriers
    lift = offsets[bearing, 2].sum()
    if np.median(replaced[:, bearing, 2].sum(axis=1)) < _LEFT * lift:
        positions = compute_local_positions(joints, axes, values, added)
        lowest = np.median(quat.fk(rotations, positions, parents)[1][..., 2].min(axis=1))
        added[bearing] = abs(lowest + lift) < _ON_GROUND * lift
    return added


def find_carriers(parents: np.ndarray) -> np.ndarray:
    """Return the joints (B,) from the root down to the first that has several children."""
    carriers = parents < 0
    bone = 0
    while len(below := np.flatnonzero(parents == bone)) == 1:
        bone = int(below[0])
        carriers[bone] = True
    return carriers


def find_bare_joints(joints: list[Joint], parents: np.ndarray) -> np.ndarray:
    """Return the joints (B,) of the body without an OFFSET, whose length is in their positions."""
    bare = [not any(joint.offset or ()) and bool(joint.get_columns("position")) for joint in joints]
    return np.array(bare) & ~find_carriers(parents)


def find_rest_positions(
    joints: list[Joint], parents: np.ndarray, axes: np.ndarray, positions: np.ndarray
) -> np.ndarray:
    """Return rest positions (B, 3) in the file's axes and unit, from `positions` (F, B, 3).

    They are the OFFSETs, and the usual positions of joints without one. `positions` are local and
    in Blender's axes.
    """
    rest = np.array([joint.offset for joint in joints])
    bare = find_bare_joints(joints, parents)
    if bare.any():
        rest[bare] = np.median(positions[:, bare], axis=0) @ axes
    return rest


def check_lengths(name: str, parents: np.ndarray, positions: np.ndarray) -> None:
    """Raise MotionDataError if all joints of a body lie at one point in all frames."""
    inside = ~find_carriers(parents)
    if inside.any() and not positions[:, inside].any():
        raise MotionDataError(
            f"Cannot use '{name}': all of its joints lie at one point, as neither OFFSETs nor "
            "position channels hold the lengths of bones; export it with its skeleton"
        )
