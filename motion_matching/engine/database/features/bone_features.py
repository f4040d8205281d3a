"""What features tell of single bones, in the frame of the character at that time."""

from __future__ import annotations

import numpy as np

from ...maths import planar
from ...maths.rotations import quat
from ..numbers import NUMBERS
from .motion_table import MotionTable, advance_laps, compute_angular_velocity, differentiate


def compute_contact(table: MotionTable, leg: int) -> np.ndarray:
    """Return how much (N,) of the time around each frame a leg stands, 0 to 1."""
    reach = round(NUMBERS.contact_around * table.fps)
    window = np.hanning(2 * reach + 3)[1:-1]
    result = np.empty(len(table.track))
    for start, stop, loop in zip(table.starts, table.stops, table.loops, strict=True):
        stands = table.contacts[start:stop, leg].astype(np.float64)
        padded = np.pad(stands, reach, mode="wrap" if loop else "edge")
        result[start:stop] = np.convolve(padded, window / window.sum(), mode="valid")
    return result


def compute_next_contact(table: MotionTable, leg: int) -> np.ndarray:
    """Return in how many seconds (N,) a leg next touches down, up to two of its usual strides."""
    waits: list[np.ndarray] = []
    strides: list[np.ndarray] = [np.empty(0)]
    for start, stop, loop in zip(table.starts, table.stops, table.loops, strict=True):
        stands = table.contacts[start:stop, leg].astype(bool)
        before = np.concatenate([stands[-1:] if loop else [True], stands[:-1]])
        lands = np.flatnonzero(stands & ~before).astype(np.float64)
        further = lands[:1] + len(stands) if loop else [np.inf]
        ahead = np.concatenate([lands, further if len(further) else [np.inf]])
        strides.append(np.diff(ahead[np.isfinite(ahead)]))
        frames = np.arange(len(stands))
        waits.append(ahead[np.searchsorted(lands, frames, side="right")] - frames)
    seconds, known = np.concatenate(waits) / table.fps, np.concatenate(strides) / table.fps
    finite = seconds[np.isfinite(seconds)]
    longest = (
        NUMBERS.strides_ahead * float(np.median(known)) if len(known) else finite.max(initial=0.0)
    )
    return np.asarray(np.minimum(seconds, longest))


def compute_character_turning(table: MotionTable, bone: int) -> np.ndarray:
    """Return a bone's angular velocity (N, 3) in the world, seen from the character."""
    turning = np.zeros((len(table.track), 3))
    if bone != 0:
        turning = compute_angular_velocity(_compute_character_rotations(table, bone), table)
    turning[:, 2] += differentiate(table.track[:, 2], table, cyclic=False)
    return turning


def compute_character_directions(table: MotionTable, bone: int) -> np.ndarray:
    """Return the directions (N, 3) in which a bone faces, unit vectors seen from the character.

    A bone faces along that of its own directions which points ahead in the mean of all frames: a
    head where it looks, a foot where its toes point, hips as the body is turned. So it does not
    matter which axes the bones of a skeleton have. One that has no such direction, as it turns all
    around, faces along its axis that is most often ahead.
    """
    ahead = np.array([0.0, -1.0, 0.0])
    if bone == 0:
        return np.tile(ahead, (len(table.track), 1))
    rotations = _compute_character_rotations(table, bone)
    front = quat.inv_mul_vec(rotations, ahead).mean(axis=0)
    length = float(np.linalg.norm(front))
    if length < NUMBERS.no_front:
        axis = np.abs(front).argmax()
        front, length = np.where(np.arange(3) == axis, np.copysign(1.0, front), 0.0), 1.0
    return quat.mul_vec(rotations, front / length)


def _compute_character_rotations(table: MotionTable, bone: int) -> np.ndarray:
    """Return rotations (N, 4) of a bone below the simulation bone, in the latter's frame."""
    rotations = table.rotations[:, bone].astype(np.float64)
    for above in table.skeleton.get_ancestors(bone):
        if above != 0:
            rotations = quat.mul(table.rotations[:, above], rotations)
    return quat.normalize(rotations)


def compute_character_positions(table: MotionTable, bone: int) -> np.ndarray:
    """Return positions (N, 3) of a bone in the simulation bone's frame."""
    if bone == 0:
        return np.zeros((len(table.track), 3))
    return table.skeleton.compute_bone_position(bone, table.rotations, table.positions, root=0)


def compute_character_velocity(table: MotionTable, local: np.ndarray) -> np.ndarray:
    """Return the world velocity (N, 3) of a point, both seen from the character."""
    velocity = differentiate(_to_world(table.track, local), table, cyclic=False)
    velocity[:, :2] = planar.rotate(velocity[:, :2], -table.track[:, 2])
    for start, stop in zip(table.starts[table.loops], table.stops[table.loops], strict=True):
        # where a loop meets its start again, the character is one lap further on
        seam = np.array([stop - 2, stop - 1, start, start + 1])
        track = table.track[seam]
        track[2:] = advance_laps(track[2:], table.track[start:stop], np.ones(2))
        world = _to_world(track, local[seam])
        around = (world[2:] - world[:-2]) * (0.5 * table.fps)
        around[:, :2] = planar.rotate(around[:, :2], -track[1:3, 2])
        velocity[[stop - 1, start]] = around
    velocity[np.abs(velocity) < NUMBERS.rounding_speed] = 0.0
    return velocity


def _to_world(track: np.ndarray, local: np.ndarray) -> np.ndarray:
    """Return world positions (N, 3) of points in the character's frame."""
    ground = planar.rotate(local[:, :2], track[:, 2]) + track[:, :2]
    return np.concatenate([ground, local[:, 2:]], axis=1)
