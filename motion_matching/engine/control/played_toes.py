"""Toes of the frames that are played, which feet about to land follow.

A fading jump, or what draws the character to its simulation object, drags a body over the ground.
The frames themselves hold a foot still that stands, and slow it down before that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..maths import planar
from ..maths.easing import smoothstep

# how much it lands, x and y in metres and in m/s of the world, and whether it is another motion
# than a tick ago
PlayedToe = tuple[float, float, float, float, float, bool]

_LANDS = 0.1  # seconds before it stands in which a foot of people lands


class PlayedToes(NamedTuple):
    """The toes of the frame that is played, as the character sees them.

    `rows` (L, 5): how much each lands, which rises to 1 for one that stands; where it is on the
    ground, in metres; and how it moves over the ground, in m/s. `jumped`: the frame before was of
    another motion.
    """

    rows: np.ndarray
    jumped: bool

    def divide(self, size: float, slowness: float) -> PlayedToes:
        """Return the toes of a creature that is smaller by a factor, and quicker by another one."""
        speed = size / slowness
        return self._replace(rows=self.rows / (1.0, size, size, speed, speed))

    def to_world(self, root: Sequence[float]) -> list[PlayedToe | None]:
        """Return toes in the world of a character's pose (7,); None for those in the air."""
        x, y, _, w, _, _, k = root
        c, s = w * w - k * k, 2.0 * w * k
        return [
            (land, x + c * a - s * b, y + s * a + c * b, c * u - s * v, s * u + c * v, self.jumped)
            if land
            else None
            for land, a, b, u, v in self.rows.tolist()
        ]


def move_aside(toe: PlayedToe, aside: tuple[float, float, float, float]) -> PlayedToe:
    """Return a toe that goes as far and as fast aside, x and y."""
    land, x, y, vx, vy, jumped = toe
    ax, ay, ux, uy = aside
    return land, x + ax, y + ay, vx + ux, vy + uy, jumped


def measure_toes(
    toes: np.ndarray,
    track: np.ndarray,
    contacts: np.ndarray,
    stops: np.ndarray,
    fps: float,
    pace: float = 1.0,
) -> np.ndarray:
    """Return the rows (N, L, 5) of `PlayedToes` for all frames of a database.

    `toes` (N, L, 3) are seen from a `track` (N, 3). A creature of another size lands at its `pace`.
    """
    lands = _find_landings(contacts, stops, max(round(_LANDS * pace * fps), 1))
    steps = _compute_steps(toes, track, stops)
    return np.concatenate([lands[..., None], toes[..., :2], fps * steps], -1, dtype=np.float32)


def _compute_steps(toes: np.ndarray, track: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Return the steps (N, L, 2) over the ground that lead to each frame, in its own axes.

    The first frame of a range repeats the second.
    """
    yaw = track[:, None, 2]
    ground = planar.rotate(toes[..., :2], yaw) + track[:, None, :2]
    steps = np.diff(ground, axis=0, prepend=ground[:1])
    starts = np.concatenate([[0], stops[:-1]])
    steps[starts] = steps[np.minimum(starts + 1, stops - 1)]
    return planar.rotate(steps, -yaw)


def _find_landings(contacts: np.ndarray, stops: np.ndarray, frames: int) -> np.ndarray:
    """Return how much (N, L) of 1 a foot stands at a frame, or does so `frames` later."""
    result = contacts.astype(np.float64)
    for _ in range(frames - 1):
        later = result[1:] - 1.0 / frames
        later[stops[:-1] - 1] = 0.0
        result[:-1] = np.maximum(result[:-1], later)
    return smoothstep(result)
