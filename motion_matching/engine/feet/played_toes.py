"""Follow the toes of the played frames, and predict where and when they land next.

A fading jump, or the pull toward the simulation object, drags a body over the ground. The frames
themselves hold standing feet still, and show where a foot comes down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..maths import planar
from ..maths.along_time import find_runs

# columns of the rows of `PlayedToes`
PLACE = slice(2)
MOVING = slice(4)
STAYS = 4
UNTIL = 5
LAND = slice(6, 8)
_ROUNDING = 1e-6  # of sums of weights
NEVER = 1e3  # seconds until a landing, if the frames have none


class PlayedToe(NamedTuple):
    """A toe of the played frame, predicted in the world.

    It is at `x`, `y` on the ground, and moves at `vx`, `vy`. It stands for another `stays` seconds,
    0 in the air, and lands `until` seconds from now, at `land_x`, `land_y`. The character also
    carries that place along at `drift_x`, `drift_y`. `jumped`: the frame before was of another
    motion. `blends`: this may happen in each tick, and the toe moves otherwise meanwhile.
    """

    x: float
    y: float
    vx: float
    vy: float
    stays: float
    until: float
    land_x: float
    land_y: float
    drift_x: float
    drift_y: float
    jumped: bool
    blends: bool


def move_aside(toe: PlayedToe, aside: tuple[float, float, float, float]) -> PlayedToe:
    """Return a toe shifted by a way and a velocity, x and y, which lands shifted, too."""
    x, y, vx, vy = aside
    return toe._replace(
        x=toe.x + x,
        y=toe.y + y,
        vx=toe.vx + vx,
        vy=toe.vy + vy,
        land_x=toe.land_x + x,
        land_y=toe.land_y + y,
    )


class PlayedToes(NamedTuple):
    """The toes of the played frame, in the character's frame.

    `rows` (L, 8): its place on the ground, in metres; its velocity over the ground, in m/s; seconds
    that it still stands; seconds until its next landing, and the place of that, in the motion.
    `root` (3,): how the motion moves the character, in its own axes: m/s and rad/s. `jumped`: the
    frame before was of another motion. `blends`: the rows are means of several frames.
    """

    rows: np.ndarray
    root: np.ndarray
    jumped: bool
    blends: bool = False

    def to_world(
        self, root: Sequence[float], drift: tuple[float, float, float], wanted: Sequence[bool]
    ) -> list[PlayedToe | None]:
        """Return the `wanted` toes in the world by a drifting character's pose (7,), None else.

        The drift is in m/s and rad/s.
        """
        x, y, _, w, _, _, k = root
        c, s = w * w - k * k, 2.0 * w * k
        dx, dy, turn = drift
        result: list[PlayedToe | None] = []
        for row, is_wanted in zip(self.rows, wanted, strict=True):
            if not is_wanted:
                result.append(None)
                continue
            a, b, u, v, stays, until, p, q = row.tolist()
            px, py = c * p - s * q, s * p + c * q
            place = x + c * a - s * b, y + s * a + c * b, c * u - s * v, s * u + c * v
            lands = stays, until, x + px, y + py, dx - turn * py, dy + turn * px
            result.append(PlayedToe(*place, *lands, self.jumped, self.blends))
        return result


def blend_toes(
    rows: np.ndarray, weights: np.ndarray, stands: np.ndarray, share: float
) -> np.ndarray:
    """Return the rows (L, 8) of a blend of K frames, with rows (K, L, 8) and weights (K,).

    A foot `stands` (L,) while it stands in that `share` of the blend. It lands when this begins
    and leaves when it ends, at the mean place of the frames in which it has landed by then.
    """
    stays = rows[..., STAYS]
    until = rows[..., UNTIL]
    waits = stands | (stays <= 0.0)  # or else it has landed already
    lands = np.where(waits, until, 0.0)
    result = np.einsum("k,klc->lc", weights, rows)
    result[:, STAYS] = -_find_quantile(-stays, weights, share)
    result[:, UNTIL] = when = _find_quantile(lands, weights, share)
    counted = weights[:, None] * (lands <= when)
    places = np.where(waits[..., None], rows[..., LAND], rows[..., PLACE])
    result[:, LAND] = np.einsum("kl,klc->lc", counted / counted.sum(axis=0), places)
    return result


def _find_quantile(values: np.ndarray, weights: np.ndarray, share: float) -> np.ndarray:
    """Return the least of values (K, L) that covers a share of weights (K,)."""
    order = values.argsort(axis=0)
    reached = weights[order].cumsum(axis=0) >= share * (1.0 - _ROUNDING) * weights.sum()
    return np.take_along_axis(values, order, axis=0)[reached.argmax(axis=0), range(values.shape[1])]


def measure_toes(
    toes: np.ndarray,
    track: np.ndarray,
    contacts: np.ndarray,
    stops: np.ndarray,
    loops: Sequence[bool],
    fps: float,
) -> np.ndarray:
    """Return the rows (N, L, 8) of `PlayedToes` for N frames in ranges that end at `stops` (R,).

    `toes` (N, L, 3) are seen from a `track` (N, 3). Ranges with `loops` go on at their beginning.
    """
    rows = []
    for start, stop, loop in zip([0, *stops[:-1]], stops, loops, strict=True):
        own = slice(start, stop)
        rows.append(_measure_range(toes[own, :, :2], track[own], contacts[own], loop, fps))
    return np.concatenate(rows, dtype=np.float32)


def _measure_range(
    toes: np.ndarray, track: np.ndarray, contacts: np.ndarray, loop: bool, fps: float
) -> np.ndarray:
    """Return the rows (F, L, 8) of one range, of toes (F, L, 2) in its track's (F, 3) frame."""
    count = len(track)
    if loop and count > 1:
        track = np.concatenate([track, _go_on(track)])
        toes = np.tile(toes, (2, 1, 1))
        contacts = np.tile(contacts, (2, 1))
    yaw = track[:, None, 2]
    ground = planar.rotate(toes, yaw) + track[:, None, :2]
    steps = np.diff(ground, axis=0, prepend=ground[:1])
    steps[0] = steps[min(1, len(steps) - 1)]
    steps = fps * planar.rotate(steps, -yaw)
    stays = np.zeros(contacts.shape)
    until = np.full(contacts.shape, NEVER)
    landings = np.arange(len(track))[:, None].repeat(contacts.shape[1], axis=1)
    for leg, stands in enumerate(contacts.T):
        runs = find_runs(stands)
        for first, end in runs:
            stays[first:end, leg] = np.arange(end - first, 0, -1) / fps
        before = 0
        for first, _ in runs:  # a range that begins with a foot on the ground has no landing there
            until[before:first, leg] = np.arange(first - before, 0, -1) / fps
            landings[before:first, leg] = first
            before = first
    lands = np.take_along_axis(ground, landings[..., None], axis=0)
    lands = planar.rotate(lands - track[:, None, :2], -yaw)
    columns = toes, steps, stays[..., None], until[..., None], lands
    return np.concatenate(columns, -1)[:count]


def _go_on(track: np.ndarray) -> np.ndarray:
    """Return the track (F, 3) of a loop's next time; its last step repeats the one before."""
    (x, y, yaw) = track[-1]
    step = track[-1] - track[-2]
    forward = planar.rotate(step[:2], -float(track[-2, 2]))
    dx, dy = planar.rotate(forward, float(yaw))
    start = np.array([x + dx, y + dy, yaw + step[2]])
    turn = start[2] - track[0, 2]
    result = track - track[0]
    result[:, :2] = planar.rotate(result[:, :2], float(turn))
    return result + start
