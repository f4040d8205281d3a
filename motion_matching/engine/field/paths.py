"""Compare where the clips of states lead with where the simulation object goes.

Control without values is rewarded by these paths. By heading and speed alone, as in the notebook, a
field never knows its distance from its way, and turns in place rather than go where no clip faces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..control.trajectory import TrajectoryPoint
from ..database.database import Database
from ..maths.planar import rotate, wrap
from .numbers import NUMBERS
from .states.states import MotionStates

TIMES = NUMBERS.path_times


class Paths(NamedTuple):
    """The paths of states from their own place and heading: x, y and turn (S, T, 3) at times (T,).

    Metres and radians, at seconds ahead. `shares` (T, P) are those of `compute_shares`.
    """

    times: np.ndarray
    places: np.ndarray
    shares: np.ndarray


def find_paths(database: Database, states: MotionStates, seconds: float) -> Paths | None:
    """Return the paths of states' clips within some seconds; None for less than a frame.

    A clip that ends before is assumed to go straight on.
    """
    ticks, first, end = _find_ends(database, states, seconds)
    if not len(ticks):
        return None
    moved = database.track[end] - database.track[first]
    longer = ticks / (end - first)
    ahead = rotate(moved[..., :2] * longer[..., None], -database.track[first, 2])
    places = np.concatenate([ahead, moved[..., 2:]], axis=-1).astype(np.float32)
    times = ticks / database.fps
    return Paths(times, places, compute_shares(times, database.fps))


def compute_travel(database: Database, states: MotionStates, seconds: float) -> np.ndarray:
    """Return the travel (S, T, 3) of states' clips within some seconds, a frame or more.

    A row is the mean velocity in the character's own axes, in m/s, and the total turn in radians. A
    clip that ends before is assumed to go straight on.
    """
    _, first, end = _find_ends(database, states, seconds)
    moved = np.cumsum(database.root_motion[:, :2], axis=0, dtype=np.float64)
    steps = np.concatenate([np.zeros((1, 2)), moved])
    velocity = (steps[end] - steps[first]) / (end - first)[..., None]
    turn = database.track[end, 2] - database.track[first, 2]
    return np.concatenate([velocity, turn[..., None]], axis=-1).astype(np.float32)


def _find_ends(
    database: Database, states: MotionStates, seconds: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ticks (T,) within some seconds, and the frames (S, 1) and (S, T) from and to them."""
    shares = np.linspace(0, 1, NUMBERS.path_samples + 1)[1:]
    ticks = np.unique(np.ceil(seconds * database.fps * shares - 0.5).astype(int))
    ticks = ticks[ticks > 0]
    last = (database.stops[database.range_of_frame[states.frames]] - 1)[:, None]
    first = np.minimum(states.frames[:, None], last - 1)
    return ticks, first, np.minimum(first + ticks, last)


def foresee(points: Sequence[TrajectoryPoint], shares: np.ndarray) -> np.ndarray:
    """Return where the object is (T, 3), from its points a tick ahead and at `TIMES`.

    After the last it goes straight on for a second. Headings turn on with the object, also beyond
    half a turn.
    """
    rows = []
    yaw = 0.0
    last = points[-1]
    for point in points:
        yaw += wrap(point.yaw - yaw)
        rows.append((point.x, point.y, yaw))
    rows.append((last.x + last.vx, last.y + last.vy, yaw))
    return (shares @ np.array(rows)).astype(np.float32)


def compute_shares(times: np.ndarray, fps: float) -> np.ndarray:
    """Return the shares (T, P) of the points of `foresee` in the path between them."""
    known = (1.0 / fps, *TIMES, TIMES[-1] + 1.0)
    return np.stack([np.interp(times, known, row) for row in np.eye(len(known))], axis=1)


def rate(places: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the rewards (A,) of paths (A, T, 3) against the wanted one (T, 3), in radians."""
    off = places - wanted
    half = np.sin(0.5 * np.clip(off[..., 2], -np.pi, np.pi))
    squares = NUMBERS.path_price**2 * (off[..., 0] ** 2 + off[..., 1] ** 2) + 4.0 * half * half
    return np.add.reduce(np.sqrt(squares), axis=1) / -squares.shape[1]
