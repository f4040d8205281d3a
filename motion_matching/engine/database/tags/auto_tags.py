"""Propose tags from how the simulation bone moves: gait, turns, plants, strafing, starts, stops.

Each compares a speed or turn rate with a threshold, with hysteresis. Values are averaged over a
step or a stride, so that neither swaying steps nor a single frame make a range. The results are
ordinary ranges that a user may edit.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...maths.along_time import find_runs
from ...maths.numeric import arctan2
from ...motion.simulation_bone import GroundTrack, compute_local_velocity
from .thresholds import AutoTagSettings

NAMES = (
    "idle",
    "walk",
    "run",
    "turn_left",
    "turn_right",
    "strafe",
    "back",
    "start",
    "stop",
    "plant",
)
Array = np.ndarray


def propose(
    track: GroundTrack, fps: float, settings: AutoTagSettings
) -> list[tuple[str, int, int]]:
    """Propose tags of one clip from its simulation bone: name and frames start <= f < stop, sorted.

    Every frame gets one of 'idle', 'walk' and 'run'; the others lie on top of these.
    """
    if track.frame_count < 3:
        return []
    velocity, rate = _measure_motion(track, fps, settings)
    speed = np.linalg.norm(velocity, axis=1)
    shortest = max(round(settings.shortest * fps), 1)
    hysteresis = settings.hysteresis
    gait = _classify_levels(speed, (settings.idle_speed, settings.run_speed), hysteresis)
    gait = _merge_short_levels(gait, shortest)
    gait = _absorb_passing_walks(gait, round(settings.change_time * fps))
    moving = gait > 0
    angle = np.where(moving, np.abs(arctan2(velocity[:, 0], -velocity[:, 1])), np.nan)
    # both angles have the margin of the first: they separate sectors of one width
    bounds = (settings.strafe_angle, settings.back_angle)
    sector = _classify_levels(angle, bounds, hysteresis, settings.strafe_angle)
    spans = {name: find_runs(gait == k).tolist() for k, name in enumerate(("idle", "walk", "run"))}
    for name, mask in (
        ("strafe", moving & (sector == 1)),
        ("back", moving & (sector == 2)),
        ("turn_left", _classify_levels(rate, (settings.turn_rate,), hysteresis) > 0),
        ("turn_right", _classify_levels(-rate, (settings.turn_rate,), hysteresis) > 0),
    ):
        least = settings.least_turn if name.startswith("turn") else 0.0
        spans[name] = [
            (a, b)
            for a, b in find_runs(mask).tolist()
            if b - a >= shortest and abs(track.yaw[b - 1] - track.yaw[a]) >= least
        ]
    spans["start"] = _find_starts(speed, gait, fps, settings)
    stops = _find_starts(speed[::-1], gait[::-1], fps, settings)
    count = track.frame_count
    spans["stop"] = [(count - b, count - a) for a, b in stops]
    if settings.plant_angle:
        spans["plant"] = find_runs(_find_plants(track, fps, settings)).tolist()
    proposals = [(name, a, b) for name, pairs in spans.items() for a, b in pairs]
    return sorted(proposals, key=lambda tag: (tag[1:], tag[0]))


def _measure_motion(
    track: GroundTrack, fps: float, settings: AutoTagSettings
) -> tuple[Array, Array]:
    """Return averaged local velocity (F, 2) and averaged turn rate (F,), per second."""
    from scipy.ndimage import uniform_filter1d  # a database's settings load without scipy

    def average(values: Array, seconds: float) -> Array:
        return uniform_filter1d(values, 2 * int(0.5 * seconds * fps) + 1, axis=0, mode="nearest")

    velocity, rate = compute_local_velocity(track, fps)
    return average(velocity, settings.speed_window), average(rate, settings.turn_window)


def _classify_levels(
    values: Array, bounds: Iterable[float], hysteresis: float, scale: float | None = None
) -> Array:
    """Count the bounds that each of the values (F,) exceeds, with hysteresis.

    A bound is passed once a value is clear of it by a margin: the share `hysteresis` of `scale`, or
    of the bound itself. NaN repeats the level before.
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


def _merge_short_levels(levels: Array, shortest: int) -> Array:
    """Merge runs of levels (F,) below `shortest` frames into the longer neighbour."""
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


def _absorb_passing_walks(gait: Array, shorter: int) -> Array:
    """Count walking of fewer than `shorter` frames beside a run as part of the run; gaits (F,)."""
    gait = gait.copy()
    for a, b in find_runs(gait == 1).tolist():
        if b - a < shorter and 2 in (*gait[max(a - 1, 0) : a], *gait[b : b + 1]):
            gait[a:b] = 2
    return gait


def _find_starts(
    speed: Array, gait: Array, fps: float, settings: AutoTagSettings
) -> list[tuple[int, int]]:
    """Find each start: from the last standstill before leaving 'idle' to full speed."""
    within = max(round(settings.change_time * fps), 1)
    lead = round(0.5 * settings.shortest * fps)
    starts = []
    for a, b in find_runs(gait > 0).tolist():
        if a == 0:
            continue
        rising = speed[a : min(a + within, b)]
        begin = max(a - lead, 0)
        begin += lead - int(np.argmin(speed[begin : a + 1][::-1])) if a >= lead else 0
        arrival = a + int(np.argmax(rising >= settings.arrived * rising.max()))
        starts.append((begin, arrival + 1))
    return starts


def _find_plants(track: GroundTrack, fps: float, settings: AutoTagSettings) -> Array:
    """Return the frames (F,) around sharp turns: of the way while moving, or of the body.

    Both compare averages over the times before and after a frame. A foot is planted from the end of
    the old way until the new one is taken.
    """
    count = track.frame_count
    half = max(round(settings.speed_window * fps), 1)
    middle = np.arange(count)
    first, last = np.maximum(middle - half, 0), np.minimum(middle + half, count - 1)
    before = track.positions - track.positions[first]
    after = track.positions[last] - track.positions
    least = settings.idle_speed / fps
    goes = np.linalg.norm(before, axis=1) > least * np.maximum(middle - first, 1)
    goes &= np.linalg.norm(after, axis=1) > least * np.maximum(last - middle, 1)
    cross = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    way = np.where(goes, np.abs(np.arctan2(cross, np.sum(before * after, axis=1))), 0.0)
    sums = np.concatenate([[0.0], np.cumsum(track.yaw)])
    means = [(sums[b + 1] - sums[a]) / (b + 1 - a) for a, b in ((first, middle), (middle, last))]
    turned = np.maximum(way, np.abs(means[1] - means[0]))
    sharp = _classify_levels(turned, (settings.plant_angle,), settings.hysteresis) > 0
    counts = np.concatenate([[0], np.cumsum(sharp)])
    around = half // 2
    begin = np.maximum(middle - around, 0)
    end = np.minimum(middle + around + 1, count)
    near: Array = counts[end] > counts[begin]
    return near
