"""What features tell of single bones, in the frame of the character at that time."""

from __future__ import annotations

import numpy as np

from ..maths import planar
from .motion_table import MotionTable, advance_laps, differentiate

_AROUND = 0.1  # seconds around a frame within which a foot's contact is averaged


def compute_contact(table: MotionTable, leg: int) -> np.ndarray:
    """Return how much (N,) of the time around each frame a leg stands, 0 to 1."""
    reach = round(_AROUND * table.fps)
    window = np.hanning(2 * reach + 3)[1:-1]
    result = np.empty(len(table.track))
    for start, stop, loop in zip(table.starts, table.stops, table.loops, strict=True):
        stands = table.contacts[start:stop, leg].astype(np.float64)
        padded = np.pad(stands, reach, mode="wrap" if loop else "edge")
        result[start:stop] = np.convolve(padded, window / window.sum(), mode="valid")
    return result


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
    return velocity


def _to_world(track: np.ndarray, local: np.ndarray) -> np.ndarray:
    """Return world positions (N, 3) of points in the character's frame."""
    ground = planar.rotate(local[:, :2], track[:, 2]) + track[:, :2]
    return np.concatenate([ground, local[:, 2:]], axis=1)
