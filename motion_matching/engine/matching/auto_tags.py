"""Tags proposed from how the simulation bone moves: gait, turns, strafing and backing, starts and stops.

Each is a threshold that is passed with hysteresis, on speeds and turn rates averaged over a step or a stride, so that
neither the sway of steps nor a single frame makes a range. What comes out are ordinary ranges, to be edited.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..motion.simulation_bone import GroundTrack
from .thresholds import AutoTagSettings

NAMES = ("idle", "walk", "run", "turn_left", "turn_right", "strafe", "back", "start", "stop")
Array = np.ndarray
Spans = list[tuple[int, int]]


def propose(
    track: GroundTrack, fps: float, settings: AutoTagSettings
) -> list[tuple[str, int, int]]:
    """Tags of one clip from the track of its simulation bone: name and frames start <= f < stop, sorted.

    Every frame has one of 'idle', 'walk' and 'run'; the others lie on top of these.
    """
    if track.frame_count < 3:
        return []
    velocity, rate = _motion(track, fps, settings)
    speed = np.linalg.norm(velocity, axis=1)
    shortest = max(round(settings.shortest * fps), 1)
    gait = _settled(
        _levels(speed, (settings.idle_speed, settings.run_speed), settings.hysteresis), shortest
    )
    gait = _with_passing_walks_run(gait, round(settings.change_time * fps))
    moving = gait > 0
    angle = np.where(moving, np.abs(np.arctan2(velocity[:, 0], -velocity[:, 1])), np.nan)
    # the margin of both angles is that of the first: they part sectors of one width
    way = _levels(
        angle,
        (settings.strafe_angle, settings.back_angle),
        settings.hysteresis,
        settings.strafe_angle,
    )
    proposals = {name: _spans(gait == level) for level, name in enumerate(("idle", "walk", "run"))}
    for level, name in ((1, "strafe"), (2, "back")):
        proposals[name] = [(a, b) for a, b in _spans(moving & (way == level)) if b - a >= shortest]
    for name, turning in (("turn_left", rate), ("turn_right", -rate)):
        turns = _spans(_levels(turning, (settings.turn_rate,), settings.hysteresis) > 0)
        proposals[name] = [
            (a, b)
            for a, b in turns
            if b - a >= shortest and abs(track.yaw[b - 1] - track.yaw[a]) >= settings.least_turn
        ]
    count = track.frame_count
    proposals["start"] = _starts(speed, gait, fps, settings)
    proposals["stop"] = [
        (count - b, count - a) for a, b in _starts(speed[::-1], gait[::-1], fps, settings)
    ]
    return sorted(
        ((name, a, b) for name, spans in proposals.items() for a, b in spans),
        key=lambda tag: (tag[1:], tag[0]),
    )


def _motion(track: GroundTrack, fps: float, settings: AutoTagSettings) -> tuple[Array, Array]:
    """Averaged velocity (F, 2) in the character's frame and averaged turn rate (F,), per second."""
    from scipy.ndimage import uniform_filter1d

    x, y = np.gradient(track.positions, 1.0 / fps, axis=0).T
    c, s = np.cos(track.yaw), np.sin(track.yaw)
    local = np.stack([c * x + s * y, c * y - s * x], axis=-1)
    rate = np.gradient(track.yaw, 1.0 / fps)

    def averaged(values: Array, seconds: float) -> Array:
        return uniform_filter1d(values, 2 * int(0.5 * seconds * fps) + 1, axis=0, mode="nearest")

    return averaged(local, settings.speed_window), averaged(rate, settings.turn_window)


def _levels(
    values: Array, bounds: Iterable[float], hysteresis: float, scale: float | None = None
) -> Array:
    """How many of the bounds each of the values (F,) is above; it passes one when it is clear of it by a margin.

    The margin is the part `hysteresis` of `scale`, or of each bound. NaN keeps the level from before.
    """
    level: Array = np.zeros(len(values), int)
    for bound in bounds:
        margin = hysteresis * (bound if scale is None else scale)
        clear = np.abs(values - bound) > margin
        known = np.flatnonzero(clear)
        if not len(known):
            level += np.nan_to_num(values) > bound
            continue
        last = np.maximum.accumulate(np.where(clear, np.arange(len(values)), known[0]))
        level += values[last] > bound
    return level


def _settled(levels: Array, shortest: int) -> Array:
    """Levels (F,) without stretches under `shortest` frames, the shortest first: each takes that of its longer neighbour."""
    edges = np.flatnonzero(np.diff(levels)) + 1
    values = levels[np.concatenate([[0], edges])].tolist()
    lengths = np.diff(np.concatenate([[0], edges, [len(levels)]])).tolist()
    while len(values) > 1 and min(lengths) < shortest:
        k = lengths.index(min(lengths))
        sides = [j for j in (k - 1, k + 1) if 0 <= j < len(values)]
        values[k] = values[max(sides, key=lambda j: lengths[j])]
        for j in (k + 1, k):
            if 0 < j < len(values) and values[j] == values[j - 1]:
                lengths[j - 1] += lengths.pop(j)
                del values[j]
    return np.repeat(values, lengths)


def _with_passing_walks_run(gait: Array, shorter: int) -> Array:
    """Gaits (F,) in which what is passed through on the way into, out of or between runs is part of the run."""
    gait = gait.copy()
    for a, b in _spans(gait == 1):
        if b - a < shorter and 2 in (*gait[max(a - 1, 0) : a], *gait[b : b + 1]):
            gait[a:b] = 2
    return gait


def _spans(mask: Array) -> Spans:
    """The stretches start <= f < stop on which a mask (F,) is True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _starts(speed: Array, gait: Array, fps: float, settings: AutoTagSettings) -> Spans:
    """From the last stillness before each leaving of 'idle' to where the speed has arrived."""
    within, lead = round(settings.change_time * fps), round(0.5 * settings.shortest * fps)
    starts = []
    for a, b in _spans(gait > 0):
        if a == 0:
            continue
        rising = speed[a : min(a + within, b)]
        begin = max(a - lead, 0)
        begin += lead - int(np.argmin(speed[begin : a + 1][::-1])) if a >= lead else 0
        arrival = a + int(np.argmax(rising >= settings.arrived * rising.max()))
        starts.append((begin, arrival + 1))
    return starts
