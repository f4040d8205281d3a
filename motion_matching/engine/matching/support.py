"""Price jumps that move a standing foot away from where it is shown.

A body that enters a frame stands on the feet of that frame. If it is elsewhere it is dragged there,
or the foot gives way: most sliding of feet begins with such a jump. Nor may a body enter the
beginning of a stance again and again, and go on over a foot that never steps.
"""

from __future__ import annotations

import numpy as np

from ..feet.played_toes import PLACE, STAYS, UNTIL
from .numbers import NUMBERS


class SupportPrice:
    """Prices frames by their feet: squares of the distances beyond the allowed ones.

    `toes` (N, L, 8) are those of all frames, as in `PlayedToes`. A standing foot may hardly be
    away, a foot in the air the farther the later it lands. `gone` (N, L) is how far the body has
    gone since each foot stands: over a standing foot it goes on from about there.
    """

    def __init__(self, toes: np.ndarray, gone: np.ndarray) -> None:
        stands = toes[..., STAYS] > 0.0
        # of each foot (N, L, 4): its place, the rest of its swing, and the distance that the body
        # has gone over it, infinite in the air, where no stance begins again
        self._feet = np.empty((*stands.shape, 4))
        self._feet[..., :2] = toes[..., PLACE]
        self._feet[..., 2] = np.where(stands, 0.0, NUMBERS.support_reaches * toes[..., UNTIL])
        self._feet[..., 3] = np.where(stands, gone, np.inf)

    def measure(self, frames: np.ndarray, feet: np.ndarray) -> np.ndarray:
        """Return the prices (K,) of frames in square metres; never negative.

        `feet` (L, 3) are the shown toes in the character's frame, and how far the body has gone
        since each stands. All together count like two, so that bodies of many legs are dragged no
        farther than people.
        """
        own = self._feet.take(frames, axis=0)
        away = own[..., :2] - feet[:, :2]
        away *= away
        beyond = np.sqrt(away[..., 0] + away[..., 1])
        beyond -= NUMBERS.support_stands
        beyond -= own[..., 2]
        again = feet[:, 2] - own[..., 3]
        again -= NUMBERS.support_gone
        for each in (beyond, again):
            np.maximum(each, 0.0, out=each)
            each *= each
        beyond += again
        return 2.0 * (np.add.reduce(beyond, axis=-1) / len(feet))

    def get_feet(self, frame: int) -> np.ndarray:
        """Return the feet (L, 3) of a frame, in the form that `measure` takes."""
        x, y, _, gone = self._feet[frame].T
        return np.column_stack([x, y, np.where(np.isinf(gone), 0.0, gone)])


def measure_gone(
    track: np.ndarray, contacts: np.ndarray, starts: np.ndarray, loops: np.ndarray
) -> np.ndarray:
    """Return how far (N, L) in metres a body has gone since each foot stands, 0 in the air.

    `track` (N, 3) is its simulation bone, `contacts` (N, L) are those of its feet. Ranges begin at
    `starts` (R,), and repeat where `loops` (R,).
    """
    steps = np.linalg.norm(np.diff(track[:, :2], axis=0, prepend=track[:1, :2]), axis=-1)
    way = np.cumsum(steps)
    begins = contacts & ~np.roll(contacts, 1, axis=0)
    begins[starts] = contacts[starts]
    # the last beginning of a stance up to each frame
    first = np.maximum.accumulate(np.where(begins, np.arange(len(track))[:, None], 0))
    gone = np.where(contacts, way[:, None] - way[first], 0.0)
    ends = np.append(starts[1:], len(track))
    for first, end in zip(starts[loops], ends[loops], strict=True):
        lap = slice(first, end)
        gone[lap] += np.where(np.logical_and.accumulate(contacts[lap]), gone[end - 1], 0.0)
    return gone
