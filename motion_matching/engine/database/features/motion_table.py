"""Store the motion for features, its rates of change, and its continuation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...maths import planar
from ...maths.rotations import quat
from ..numbers import NUMBERS

if TYPE_CHECKING:
    from ...body.rig import Roles
    from ...skeleton.skeleton import Skeleton


@dataclass(frozen=True)
class MotionTable:
    """The motion for features, for all ranges one after the other.

    `positions` (N, B, 3) and `rotations` (N, B, 4) are local, and bone 0 is the simulation bone.
    `track` (N, 3) is its x, y and yaw in the world. `starts` and `stops` (R,) delimit the ranges;
    `loops` (R,) mark ranges that repeat. `contacts` (N, L) mark standing legs. `ground` (N,) is the
    height of the ground below the simulation bone, None if it is level.
    """

    skeleton: Skeleton
    roles: Roles
    fps: float
    positions: np.ndarray
    rotations: np.ndarray
    track: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    loops: np.ndarray
    contacts: np.ndarray
    ground: np.ndarray | None = None

    def crop(self, first: int, stop: int) -> MotionTable:
        """Return the ranges first <= r < stop."""
        start = self.starts[first]
        frames = slice(start, self.stops[stop - 1])
        return replace(
            self,
            positions=self.positions[frames],
            rotations=self.rotations[frames],
            track=self.track[frames],
            starts=self.starts[first:stop] - start,
            stops=self.stops[first:stop] - start,
            loops=self.loops[first:stop],
            contacts=self.contacts[frames],
            ground=None if self.ground is None else self.ground[frames],
        )


def differentiate(x: np.ndarray, table: MotionTable, cyclic: bool = True) -> np.ndarray:
    """Return the change per second of values (N, …) by central differences, inside each range.

    Ends are extrapolated from their neighbours. The ends of a loop are neighbours if the values are
    `cyclic`.
    """
    half = 0.5 * table.fps
    v = np.empty_like(x)
    v[1:-1] = (x[2:] - x[:-2]) * half
    _extrapolate_ends(v, table)
    if cyclic:
        first, last = table.starts[table.loops], table.stops[table.loops] - 1
        v[first] = (x[first + 1] - x[last]) * half
        v[last] = (x[first] - x[last - 1]) * half
    return v


def compute_angular_velocity(q: np.ndarray, table: MotionTable, cyclic: bool = True) -> np.ndarray:
    """Return angular velocities (N, …, 3) of rotations (N, …, 4); see `differentiate`."""
    half = 0.5 * table.fps
    step = _find_shortest_rotation(q[:-1], q[1:])
    v = np.empty((*q.shape[:-1], 3), q.dtype)
    v[1:-1] = (step[1:] + step[:-1]) * half
    _extrapolate_ends(v, table)
    if cyclic:
        first, last = table.starts[table.loops], table.stops[table.loops] - 1
        around = _find_shortest_rotation(q[last], q[first])
        v[first] = (around + step[first]) * half
        v[last] = (step[last - 1] + around) * half
    return v


def _find_shortest_rotation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the shortest rotation (…, 3) from `a` to `b`, scaled, in the parent's frame."""
    return quat.to_scaled_angle_axis(quat.positive(quat.mul_inv(b, a)))


def _extrapolate_ends(v: np.ndarray, table: MotionTable) -> None:
    """Fill the first and last frame of every range from the two beside them."""
    starts = table.starts
    stops = table.stops
    v[starts] = 2 * v[starts + 1] - v[starts + 2]
    v[stops - 1] = 2 * v[stops - 2] - v[stops - 3]


def sample_track(table: MotionTable, time: float, beyond: str = "extrapolate") -> np.ndarray:
    """Return the simulation bone (N, 3) as x, y, yaw at `time` seconds from each frame.

    Values are linear between frames. Loops go on with their displacement; elsewhere the track goes
    on beyond a range as `beyond` says.
    """
    lengths = table.stops - table.starts
    range_of_frame = np.repeat(np.arange(len(lengths)), lengths)
    start = table.starts[range_of_frame]
    last = table.stops[range_of_frame] - 1
    frames = np.arange(len(table.track)) + time * table.fps
    inside = np.clip(frames, start, last)
    below = np.minimum(np.floor(inside + 1e-6).astype(np.int64), last)
    above = np.minimum(below + 1, last)
    mix = np.clip(inside - below, 0.0, 1.0)[:, None]
    there = table.track[below] * (1 - mix) + table.track[above] * mix
    if beyond == "extrapolate":
        over = (frames - inside) / table.fps
        at_start, at_end = (_measure_end_rates(table, side)[range_of_frame] for side in (1, -1))
        rate = np.where(over[:, None] > 0, at_end, at_start)
        outside = np.abs(over) > 1e-6
        there[outside] = _extrapolate_arc(there[outside], rate[outside], over[outside])
    for r in np.flatnonzero(table.loops):
        lap = slice(table.starts[r], table.stops[r])
        there[lap] = _sample_loop(table.track[lap], frames[lap] - table.starts[r])
    return there


def sample_values(table: MotionTable, values: np.ndarray, time: float) -> np.ndarray:
    """Return values (N, K) at `time` seconds from each frame, linear between frames.

    Loops repeat; elsewhere values stay as they are at the ends of a range.
    """
    lengths = table.stops - table.starts
    start, count, loops = (
        np.repeat(each, lengths) for each in (table.starts, lengths, table.loops)
    )
    frames = np.arange(len(values)) - start + time * table.fps
    inside = np.where(loops, np.mod(frames, count), np.clip(frames, 0, count - 1))
    below = np.floor(inside + 1e-6).astype(np.int64)
    mix = np.clip(inside - below, 0.0, 1.0)[:, None]
    below, above = (
        start + np.where(loops, each % count, np.minimum(each, count - 1))
        for each in (below, below + 1)
    )
    return np.asarray(values[below] * (1.0 - mix) + values[above] * mix)


def _measure_end_rates(table: MotionTable, side: int) -> np.ndarray:
    """Return velocities and turn rates (R, 3) at the start (side 1) or end (-1) of ranges.

    A body sways as it steps, so only a turn that lasts two steps counts.
    """
    rate = _measure_end_rate(table, side, NUMBERS.end_moment)
    turn = _measure_end_rate(table, side, NUMBERS.stride)
    same = np.sign(rate[:, 2]) == np.sign(turn[:, 2])
    slower = np.minimum(np.abs(rate[:, 2]), np.abs(turn[:, 2]))
    rate[:, 2] = np.where(same, np.sign(rate[:, 2]) * slower, 0.0)
    return rate


def _measure_end_rate(table: MotionTable, side: int, seconds: float) -> np.ndarray:
    """Return velocities and turn rates (R, 3) over some seconds at an end of ranges."""
    span = np.minimum(max(round(seconds * table.fps), 1), table.stops - table.starts - 1)
    end = table.starts if side > 0 else table.stops - 1
    here = table.track[end]
    there = table.track[end + side * span]
    rate = (there - here) * (side * table.fps / span)[:, None]
    # the chord of an arc points half the turn away from its end, and is shorter than the arc
    rate[:, :2] = planar.rotate(rate[:, :2], -0.5 * (here[:, 2] + there[:, 2]))
    turn = np.clip(there[:, 2] - here[:, 2], -np.pi, np.pi)
    rate[:, :2] /= np.sinc(turn / (2 * np.pi))[:, None]
    return rate


def _extrapolate_arc(track: np.ndarray, rate: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Follow a constant velocity in the character's frame and a constant turn rate: an arc."""
    turn = rate[:, 2] * seconds
    chord = np.sinc(turn / (2 * np.pi))[:, None] * seconds[:, None]
    moved = planar.rotate(rate[:, :2], track[:, 2] + 0.5 * turn) * chord
    return np.column_stack([track[:, :2] + moved, track[:, 2] + turn])


def _sample_loop(track: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Return the track (W, 3) of a loop of F frames at any frames (W,), beyond its ends too."""
    count = len(track)
    laps, phase = np.divmod(frames, count)
    closed = np.concatenate([track, advance_laps(track[:1], track, np.ones(1))])
    below = np.minimum(phase.astype(np.int64), count - 1)
    mix = (phase - below)[:, None]
    return advance_laps(closed[below] * (1 - mix) + closed[below + 1] * mix, track, laps)


def advance_laps(points: np.ndarray, loop: np.ndarray, laps: np.ndarray) -> np.ndarray:
    """Advance points (W, 3) of a loop's track (F, 3) by a number of laps (W,).

    The step from the last frame to the first is taken to equal the one before it, seen from the
    character. With the ground as the complex plane, a lap is z -> turn * (z - start) + end, so the
    starts of laps form a geometric series, summed in a form that holds for laps that hardly turn.
    """
    step = loop[-1] - loop[-2]
    move = loop[-1, :2] + planar.rotate(step[None, :2], step[2:])[0] - loop[0, :2]
    angle = loop[-1, 2] + step[2] - loop[0, 2]
    turn = angle - 2 * np.pi * np.round(angle / (2 * np.pi))
    start = complex(loop[0, 0], loop[0, 1])
    length = laps * np.sinc(laps * turn / (2 * np.pi)) / np.sinc(turn / (2 * np.pi))
    starts = start + length * np.exp(0.5j * turn * (laps - 1)) * complex(*move)
    moved = starts + np.exp(1j * turn * laps) * (points[:, 0] + 1j * points[:, 1] - start)
    return np.column_stack([moved.real, moved.imag, points[:, 2] + laps * angle])
