"""Measure the largest accelerations of each bone, which limit the speed of a blend."""

from __future__ import annotations

import numpy as np

from .numbers import NUMBERS

_CHUNK = NUMBERS.peaks_at_once * NUMBERS.frames_of_a_peak


def measure_limits(
    velocities: np.ndarray, fps: float, stops: np.ndarray, unused: np.ndarray, peaks: np.ndarray
) -> np.ndarray:
    """Return each bone's largest linear and angular acceleration (2, B) inside ranges.

    Frames that are `unused` (N,) do not count. Only blocks with some of them are measured; others
    use the `peaks` of `measure_peaks`.
    """
    steps = unused[:-1] | unused[1:]
    edges = np.arange(0, len(steps), NUMBERS.frames_of_a_peak)
    counts = np.add.reduceat(steps, edges, dtype=int)
    sizes = np.diff(edges, append=len(steps))
    largest = np.where((counts == 0)[:, None, None], peaks, np.float32(0.0)).max(axis=0)
    for block in np.flatnonzero((counts > 0) & (counts < sizes)).tolist():
        start, stop = int(edges[block]), int(edges[block] + sizes[block])
        squares = _compute_squares(velocities, stops, start, stop)[~steps[start:stop]]
        largest = np.maximum(largest, squares.max(axis=0))
    return (np.sqrt(largest) * fps).astype(np.float32)


def measure_peaks(velocities: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Return the largest squared change of velocities (K, 2, B) in each block of frames."""
    peaks = []
    for start in range(0, len(velocities) - 1, _CHUNK):
        squares = _compute_squares(velocities, stops, start, start + _CHUNK)
        peaks.append(
            np.maximum.reduceat(squares, range(0, len(squares), NUMBERS.frames_of_a_peak), axis=0)
        )
    return np.concatenate(peaks)


def _compute_squares(
    velocities: np.ndarray, stops: np.ndarray, start: int, stop: int
) -> np.ndarray:
    """Return squared changes of velocities (F, 2, B) to the next frame; zero between ranges."""
    squares = np.diff(velocities[start : stop + 1], axis=0) ** 2
    last = stops[:-1][(stops[:-1] > start) & (stops[:-1] <= stop)] - 1 - start
    squares[last] = 0
    x, y, z = np.moveaxis(squares.reshape(len(squares), 2, 3, -1), 2, 0)
    total: np.ndarray = x + y + z  # `sum` is slow along three values
    return total
