"""When feet are on the ground: a toe that hardly moves is in contact."""

from __future__ import annotations

import numpy as np

from .settings import ContactSettings
from .smoothing import compute_odd_window

_NOTEBOOK_FPS = 30.0


PRESETS = {
    # toe speed below 0.15 m/s, median over six frames at 60 fps
    "article": ContactSettings(),
    # the motion field notebook: squared displacement below 0.1 square centimetres a frame at 30
    # fps, unfiltered
    "notebook": ContactSettings(method="displacement", median=0.0),
}


def find_contacts(toe_positions: np.ndarray, fps: float, settings: ContactSettings) -> np.ndarray:
    """Return which of L toes with world `toe_positions` (F, L, 3) in metres are on the ground, (F,
    L) booleans.
    """
    toe_positions = np.asarray(toe_positions, dtype=np.float64)
    if settings.method == "speed":
        contacts = _compute_speeds(toe_positions, fps) < settings.speed
    else:
        contacts = (
            _compute_displacements(toe_positions) < settings.displacement * _NOTEBOOK_FPS / fps
        )
    if settings.max_height is not None:
        contacts &= toe_positions[..., 2] <= settings.max_height
    return _filter_by_majority(contacts, compute_odd_window(settings.median, fps))


def _compute_speeds(positions: np.ndarray, fps: float) -> np.ndarray:
    """Return speeds (F, L) in m/s by central differences; a single frame stands still."""
    if len(positions) < 2:
        return np.zeros(positions.shape[:2])
    return np.linalg.norm(np.gradient(positions, 1.0 / fps, axis=0), axis=-1)


def _compute_displacements(positions: np.ndarray) -> np.ndarray:
    """Return the distances (F, L) in metres to the next frame; the last frame repeats the one
    before.
    """
    if len(positions) < 2:
        return np.zeros(positions.shape[:2])
    distances = np.linalg.norm(np.diff(positions, axis=0), axis=-1)
    return np.concatenate([distances, distances[-1:]])


def _filter_by_majority(contacts: np.ndarray, window: int) -> np.ndarray:
    """Return the median over `window` frames, with the end frames repeated beyond the ends."""
    if window < 3:
        return contacts
    from scipy.ndimage import median_filter  # loads in 0.15 s

    return median_filter(contacts.astype(np.uint8), size=(window, 1), mode="nearest").astype(bool)
