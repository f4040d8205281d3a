"""Place the balls of feet on a body of other proportions, so that nothing slides or floats.

The chest of a four-legged body is raised or lowered until its forelegs can stand as the source's.
"""

from __future__ import annotations

import numpy as np

from ..maths.along_time import compute_window, compute_windowed_minimum, count_frames_to, find_runs
from ..maths.easing import smoothstep
from ..maths.numeric import arctan2
from ..maths.rotations import quat
from .frames.frame_axes import get_axis
from .frames.neutral_pose import UP
from .numbers import NUMBERS


def find_ball_goals(
    source: np.ndarray, ideal: np.ndarray, planted: np.ndarray, fps: float, leg: float
) -> np.ndarray:
    """Return goals (F, 3) of a ball from the scaled source's, shifted where `planted` (F,).

    Both have the heights of their planted balls at zero. `ideal` (F, 3) is the place of the ball by
    the directions of the leg alone. A foot of another length, or hips of another width, shift it by
    a vector that is constant while the ball rests.
    """
    free = ideal.copy()
    # long feet reach lower on the way from and to the ground
    free[:, 2] = np.maximum(ideal[:, 2], NUMBERS.clearance * source[:, 2])
    runs = find_runs(planted)
    if not len(runs):
        return free
    means = _average_runs(ideal - source, runs)
    floors = find_floor_heights(source[:, 2], runs, leg)
    means[:, 2] = floors - _average_runs(source[:, 2:], runs)[:, 0]
    held = source + _hold(means, runs, len(source))
    away = smoothstep(count_frames_to(planted) / (NUMBERS.contact_ease * fps))[:, None]
    return held + away * (free - held)


def _average_runs(values: np.ndarray, runs: np.ndarray) -> np.ndarray:
    """Return the means (K, ...) of values (F, ...) over runs (K, 2)."""
    sums = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])
    return (sums[runs[:, 1]] - sums[runs[:, 0]]) / (runs[:, 1] - runs[:, 0])[:, None]


def find_floor_heights(heights: np.ndarray, runs: np.ndarray, leg: float) -> np.ndarray:
    """Return the heights (K,) of the ground in runs of contact, from the balls' own (F,).

    Small ones are errors of a floor at zero, others are steps and boxes.
    """
    mean = _average_runs(heights[:, None], runs)[:, 0]
    return mean * smoothstep(np.abs(mean) / (NUMBERS.same_floor * leg) - 1.0)


def _hold(values: np.ndarray, runs: np.ndarray, count: int) -> np.ndarray:
    """Return values (K, 3) over all frames: held in runs (K, 2), and led from each to the next."""
    frames = np.arange(count)
    run = np.searchsorted(runs[:, 0], frames, side="right") - 1
    before = np.maximum(run, 0)
    after = np.minimum(run + 1, len(runs) - 1)
    start, stop = runs[before, 1] - 1, runs[after, 0]
    share = smoothstep((frames - start) / np.maximum(stop - start, 1))
    share = np.where((run < 0) | (after == before), 0.0, share)[:, None]
    return values[before] + share * (values[after] - values[before])


def measure_mismatch(ours: float, theirs: float) -> float:
    """Return the difference from 0 to 1 of two lengths of feet, scaled alike."""
    ratio = abs(float(np.log(max(theirs, 1e-9) / max(ours, 1e-9))))
    low, high = NUMBERS.feet_alike, NUMBERS.feet_other
    return float(smoothstep((ratio - low) / (high - low)))


def find_pitch(
    root: np.ndarray, ball: np.ndarray, foot: np.ndarray, way: np.ndarray, far: np.ndarray
) -> np.ndarray:
    """Return angles (F,) that turn a foot about its ball so that the leg bends as the source's.

    `root` and `ball` (F, 3) are the hip joint and the ball, `foot` (F, 4) its frames, `way` (3,)
    leads from the ankle to the ball in these, and `far` (F,) is the distance of the ankle from the
    hip joint by the source's bend of the knee. A flat foot stays flat.
    """
    x, y, z = (get_axis(foot, axis) for axis in range(3))
    to_root = root - ball
    across, along, above = (np.sum(to_root * axis, axis=-1) for axis in (x, y, z))
    radius = float(np.hypot(way[1], way[2]))
    distance = np.hypot(along, above)
    square = np.maximum(far**2 - (across + way[0]) ** 2, 0.0)
    cosine = (distance**2 + radius**2 - square) / np.maximum(2.0 * distance * radius, 1e-9)
    spread = np.arccos(np.clip(cosine, -1.0, 1.0))
    start = np.arctan2(-way[2], -way[1])
    middle = np.arctan2(above, along) - start
    options = np.stack([middle - spread, middle + spread])
    options = (options + np.pi) % (2.0 * np.pi) - np.pi
    turn = np.take_along_axis(options, np.abs(options).argmin(axis=0)[None], axis=0)[0]
    pitch = _measure_pitch(y, z)
    back = -NUMBERS.smaller_foot * pitch
    return np.clip(turn, np.minimum(back, pitch), np.maximum(back, pitch))


def bend_toes(foot: np.ndarray, heights: np.ndarray, leg: float) -> np.ndarray:
    """Return frames (F, 4) of toes that stay level below the raised heel of a `foot` (F, 4).

    `heights` (F,) are those of its ball above its stance: in the air toes follow the foot.
    """
    x, y, z = (get_axis(foot, axis) for axis in range(3))
    near = 1.0 - smoothstep(heights / (NUMBERS.ball_lifted * leg))
    bend = near * np.clip(_measure_pitch(y, z), 0.0, NUMBERS.toes_bend)
    return quat.mul(quat.from_angle_axis(bend, x), foot)


def _measure_pitch(ahead: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Return the angle (F,) of the heel above the toes by axes (F, 3), fading out upside down."""
    pitch = arctan2(-ahead[:, 2], up[:, 2])
    low = NUMBERS.upside_down
    return pitch * (1.0 - smoothstep((np.abs(pitch) - low) / (np.pi - low)))


def smooth(values: np.ndarray, window: int) -> np.ndarray:
    """Return means (F,) over windows of an odd number of frames."""
    if window < 3 or not values.any():
        return values
    padded = np.pad(values, window // 2, mode="edge")
    sums = np.cumsum(np.concatenate([[0.0], padded]))
    return (sums[window:] - sums[:-window]) / window


def find_drop(root: np.ndarray, ankle: np.ndarray, reach: float, planted: np.ndarray) -> np.ndarray:
    """Return how far (F,) hips have to sink to reach a planted foot."""
    way = root - ankle
    level = np.minimum(np.linalg.norm(way[:, :2], axis=-1), 0.95 * reach)
    short = way[:, 2] - np.sqrt(reach**2 - level**2)
    return np.where(planted, np.maximum(short, 0.0), 0.0)


def ease_drop(drop: np.ndarray, fps: float) -> np.ndarray:
    """Return a smooth curve (F,) that is nowhere below `drop` (F,)."""
    if not drop.any():
        return drop
    window = compute_window(NUMBERS.hips_drop, fps)
    return smooth(-compute_windowed_minimum(-drop, window), window // 4 * 2 + 1)


def find_tilt(way: np.ndarray, rise: np.ndarray, slack: float, fps: float) -> np.ndarray:
    """Return turns (F, 4) of the trunk that raise the chest by `rise` (F,).

    `way` (F, 3) leads to the chest from where the trunk turns. Turns are smaller by up to `slack`
    radians, for which the forelegs bend instead.
    """
    level = np.linalg.norm(way[:, :2], axis=-1)
    length = np.maximum(np.hypot(level, way[:, 2]), 1e-9)
    present = arctan2(way[:, 2], level)
    angle = np.arcsin(np.clip((way[:, 2] + rise) / length, -0.99, 0.99)) - present
    angle -= np.clip(angle, -slack, slack)
    steep = smoothstep((np.abs(present) - NUMBERS.rearing) / (NUMBERS.reared - NUMBERS.rearing))
    angle = np.clip(angle, -NUMBERS.most_tilt, NUMBERS.most_tilt) * (1.0 - steep)
    axis = quat.normalize_vectors(np.cross(way * [1.0, 1.0, 0.0], UP))
    return quat.from_angle_axis(smooth(angle, compute_window(NUMBERS.steady, fps)), axis)
