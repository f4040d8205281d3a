"""Detect when feet are on the ground: a toe that hardly moves is in contact.

Limits are those of people. Those of animals depend on the lengths of their legs and on the speed of
their swinging toes. Their stances are short, so that a frame at the end of one counts, too.

Between two swings a foot rests. Where most steps of a clip have no rest, such as after a crude
retarget or with trembling joints, the slowest speeds of that clip's own toes decide.
"""

from __future__ import annotations

import numpy as np

from ..maths.along_time import compute_window, count_frames, find_runs
from .numbers import NUMBERS
from .settings import ContactSettings

_GIVEN_RATE = 30.0

PRESETS = {
    # toe speed below 0.15 m/s, median over six frames at 60 fps
    "article": ContactSettings(),
    # the motion field notebook: squared displacement below 0.1 cm² a frame at 30 fps, unfiltered
    "notebook": ContactSettings(method="displacement", median=0.0),
}


def is_person(leg_lengths: np.ndarray) -> bool:
    """Return whether legs of such lengths (L,) in metres may be a person's: two of that size."""
    return len(leg_lengths) <= 2 and bool(np.all(_compute_size(leg_lengths) == 1.0))


def _compute_size(leg_lengths: np.ndarray) -> np.ndarray:
    """Return lengths of legs in metres as multiples of people's: 1 from children to tall adults."""
    lengths = np.asarray(leg_lengths, dtype=np.float64)
    return lengths / np.clip(lengths, *NUMBERS.peoples_legs)


def find_contacts(
    toe_positions: np.ndarray,
    fps: float,
    settings: ContactSettings,
    leg_lengths: np.ndarray | None = None,
    *,
    unsteady: bool = True,
) -> np.ndarray:
    """Return which of L toes are on the ground, (F, L), from world positions (F, L, 3) in m.

    `leg_lengths` (L,) are in metres, without them those of people. Toes that tremble or slide in
    every step have hardly any contacts unless they may be `unsteady`.
    """
    toes = np.asarray(toe_positions, dtype=np.float64)
    by_speed = settings.method == "speed"
    limit = settings.speed if by_speed else settings.displacement * _GIVEN_RATE / fps
    lengths = np.ones(toes.shape[1]) if leg_lengths is None else leg_lengths
    quicker = min(1.0, float(np.sqrt(_compute_size(lengths)).min()))
    if len(toes) < 2:
        moved = np.zeros(toes.shape[:2])  # a single frame stands still
    elif by_speed:
        moved = _measure_speeds(toes, fps, count_frames(fps) if is_person(lengths) else 1)
    else:
        moved = np.linalg.norm(np.diff(toes, axis=0), axis=-1)
        moved = np.concatenate([moved, moved[-1:]])
    window = compute_window(settings.median * quicker, fps)
    if is_person(lengths) or len(toes) < 2:
        contacts = moved < limit
        if unsteady and by_speed and len(toes) > 2:
            _correct_unsteady_contacts(contacts, toes, fps, limit, window)
    else:
        rate = 1.0 if by_speed else fps
        contacts = _find_animal_contacts(toes, rate * moved, fps, rate * limit, lengths)
    if settings.max_height is not None:
        contacts &= toes[..., 2] <= settings.max_height
    return _remove_flicker(contacts, window)


def _remove_flicker(contacts: np.ndarray, window: int) -> np.ndarray:
    """Return contacts (F, L) by the majority of the frames in a window."""
    if window < 3:
        return contacts
    from scipy.ndimage import median_filter  # loads in 0.15 s

    return median_filter(contacts.astype(np.uint8), size=(window, 1), mode="nearest").astype(bool)


def _correct_unsteady_contacts(
    contacts: np.ndarray, toes: np.ndarray, fps: float, limit: float, window: int
) -> None:
    """Find the contacts (F, L) of toes (F, L, 3) anew if they hardly ever rest between swings.

    Their velocities are smoothed, and the `limit` in m/s is raised to their sliding speed.
    """
    lasting = _remove_flicker(contacts, window)
    speeds = _measure_smooth_speeds(toes, fps)
    swings = np.percentile(speeds, NUMBERS.swing_percentile, axis=0)
    steps = [
        find_runs(own < max(NUMBERS.between_swings * swing, limit)).tolist()
        for own, swing in zip(speeds.T, swings.tolist(), strict=True)
    ]
    slow = speeds < limit
    steady = [_measure_steadiness(*leg) for leg in zip(lasting.T, slow.T, steps, strict=True)]
    if np.mean(steady) >= NUMBERS.steady_share:
        return
    for leg in np.flatnonzero(np.less(steady, NUMBERS.steady_share)):
        own = speeds[:, leg]
        rest = np.median(
            [np.percentile(own[a:b], NUMBERS.between_percentile) for a, b in steps[leg]]
        )
        resting = min(NUMBERS.unsteady_times * float(rest), NUMBERS.resting_most * swings[leg])
        contacts[:, leg] = own < max(limit, resting)


def _measure_steadiness(contacts: np.ndarray, slow: np.ndarray, steps: list[list[int]]) -> float:
    """Return which share of `slow` frames (F,), and of `steps`, have contacts (F,): the smaller."""
    of_steps = float(np.mean([contacts[a:b].any() for a, b in steps])) if steps else 1.0
    return min(of_steps, float(np.mean(contacts[slow])) if slow.any() else 1.0)


def _measure_speeds(toes: np.ndarray, fps: float, frames: int) -> np.ndarray:
    """Return speeds (F, L) in m/s from the mean of the `frames` before to that of those after."""
    half = min(frames, (len(toes) - 1) // 2)
    if half < 2:
        return np.asarray(np.linalg.norm(np.gradient(toes, 1.0 / fps, axis=0), axis=-1))
    weights = np.full(half, 1.0 / half**2)
    weights[-1] *= 0.5
    return _weigh_speeds(toes, fps * np.concatenate([-weights[::-1], [0.0], weights]))


def _measure_smooth_speeds(toes: np.ndarray, fps: float) -> np.ndarray:
    """Return speeds (F, L) in m/s, as the slope of the line that fits a moment of positions best.

    Source: Savitzky and Golay 1964, Smoothing and differentiation of data by simplified least
    squares procedures.
    """
    window = min(max(compute_window(NUMBERS.steady_seconds, fps), 3), (len(toes) - 1) // 2 * 2 + 1)
    half = window // 2
    ramp = np.arange(-half, half + 1.0)
    return _weigh_speeds(toes, fps * ramp / (ramp @ ramp))


def _weigh_speeds(toes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return speeds (F, L) of toes (F, L, 3), by the weights (W,) of the positions around."""
    half = len(weights) // 2
    moments = np.lib.stride_tricks.sliding_window_view(toes, len(weights), axis=0)
    return np.pad(np.linalg.norm(moments @ weights, axis=-1), ((half, half), (0, 0)), mode="edge")


def _find_animal_contacts(
    toes: np.ndarray, speeds: np.ndarray, fps: float, limit: float, leg_lengths: np.ndarray
) -> np.ndarray:
    """Return where toes (F, L, 3) rest: their `speeds` (F, L) are below a `limit` that fits them.

    The one given, in m/s, is people's. It grows with the speed of swings, from a minimum for the
    lengths of the legs: in natural motion speeds grow with the root of a length, in scaled
    animations with the length.
    """
    size = _compute_size(leg_lengths)
    steps = fps * np.linalg.norm(np.diff(toes, axis=0), axis=-1)
    slow, fast = np.percentile(steps, (NUMBERS.rest_percentile, NUMBERS.swing_percentile), axis=0)
    limits = limit * np.maximum(fast / NUMBERS.swing_speed, np.minimum(size, np.sqrt(size)))
    # recordings of small or quick feet tremble where they rest
    trembling = np.minimum(NUMBERS.trembling_times * slow, NUMBERS.resting_most * fast)
    limits = np.maximum(limits, trembling)
    # the first and the last frame of a stance have a step of rest on one side only
    rest = np.minimum(np.concatenate([steps[:1], steps]), np.concatenate([steps, steps[-1:]]))
    return (speeds < limits) | (rest < NUMBERS.half_limit * limits)
