"""When feet are on the ground: a toe that hardly moves is in contact."""

from __future__ import annotations

import numpy as np

from .settings import ContactSettings
from .smoothing import compute_window

_NOTEBOOK_FPS = 30.0

PRESETS = {
    # toe speed below 0.15 m/s, median over six frames at 60 fps
    "article": ContactSettings(),
    # the motion field notebook: squared displacement below 0.1 cm² a frame at 30 fps, unfiltered
    "notebook": ContactSettings(method="displacement", median=0.0),
}


def find_contacts(toe_positions: np.ndarray, fps: float, settings: ContactSettings) -> np.ndarray:
    """Return which of L toes are on the ground, (F, L), from world positions (F, L, 3) in m."""
    toes = np.asarray(toe_positions, dtype=np.float64)
    by_speed = settings.method == "speed"
    limit = settings.speed if by_speed else settings.displacement * _NOTEBOOK_FPS / fps
    if len(toes) < 2:
        moved = np.zeros(toes.shape[:2])  # a single frame stands still
    elif by_speed:
        moved = np.linalg.norm(np.gradient(toes, 1.0 / fps, axis=0), axis=-1)
    else:
        moved = np.linalg.norm(np.diff(toes, axis=0), axis=-1)
        moved = np.concatenate([moved, moved[-1:]])
    contacts = moved < limit
    if settings.max_height is not None:
        contacts &= toes[..., 2] <= settings.max_height
    window = compute_window(settings.median, fps)
    if window < 3:
        return contacts
    from scipy.ndimage import median_filter  # loads in 0.15 s

    return median_filter(contacts.astype(np.uint8), size=(window, 1), mode="nearest").astype(bool)
