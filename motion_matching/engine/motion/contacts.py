"""When feet are on the ground: a toe that hardly moves is in contact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import SettingsError
from .smoothing import odd_frames

METHODS = ("speed", "displacement")
_NOTEBOOK_FPS = 30.0


@dataclass(frozen=True)
class ContactSettings:
    """How contacts are found.

    `method` "speed" compares the toe's speed by central differences with `speed` (m/s); "displacement" compares its
    way to the next frame with `displacement` (metres per 1/30 s, scaled to the clip's rate). `median` (seconds, 0 for
    none) is the majority vote that drops flicker. `max_height` (metres above the ground) bars toes that rest in the
    air; None does not look at heights. SettingsError for values that make no sense.
    """

    method: str = "speed"
    speed: float = 0.15
    displacement: float = 0.01 * 0.1**0.5
    median: float = 0.1
    max_height: float | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SettingsError(
                f"Contact method '{self.method}' is unknown: use one of {', '.join(METHODS)}."
            )
        for name in ("speed", "displacement", "median"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise SettingsError(f"Contact setting '{name}' must be zero or more, not {value}.")
        if self.max_height is not None and not np.isfinite(self.max_height):
            raise SettingsError(
                f"Contact setting 'max_height' must be metres or none, not {self.max_height}."
            )


PRESETS = {
    # toe speed below 0.15 m/s, median over six frames at 60 fps
    "article": ContactSettings(),
    # the motion field notebook: squared way per frame below 0.1 square centimetres at 30 fps, nothing filtered
    "notebook": ContactSettings(method="displacement", median=0.0),
}


def find_contacts(toe_positions: np.ndarray, fps: float, settings: ContactSettings) -> np.ndarray:
    """Contacts (F, L) as booleans of L toes with world `toe_positions` (F, L, 3) in metres."""
    toe_positions = np.asarray(toe_positions, dtype=np.float64)
    if settings.method == "speed":
        contacts = _speeds(toe_positions, fps) < settings.speed
    else:
        contacts = _displacements(toe_positions) < settings.displacement * _NOTEBOOK_FPS / fps
    if settings.max_height is not None:
        contacts &= toe_positions[..., 2] <= settings.max_height
    return _majority(contacts, odd_frames(settings.median, fps))


def _speeds(positions: np.ndarray, fps: float) -> np.ndarray:
    """Speeds (F, L) in m/s by central differences; a single frame stands still."""
    if len(positions) < 2:
        return np.zeros(positions.shape[:2])
    return np.linalg.norm(np.gradient(positions, 1.0 / fps, axis=0), axis=-1)


def _displacements(positions: np.ndarray) -> np.ndarray:
    """Way (F, L) in metres to the next frame; the last frame repeats the one before."""
    if len(positions) < 2:
        return np.zeros(positions.shape[:2])
    ways = np.linalg.norm(np.diff(positions, axis=0), axis=-1)
    return np.concatenate([ways, ways[-1:]])


def _majority(contacts: np.ndarray, window: int) -> np.ndarray:
    """Median over `window` frames; beyond the ends the end frames go on."""
    if window < 3:
        return contacts
    from scipy.ndimage import median_filter

    return median_filter(contacts.astype(np.uint8), size=(window, 1), mode="nearest").astype(bool)
