"""The feet of a clip: where they are and when they stand, at whatever height its floor is."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..body.rig import Roles
from ..motion.clip import Clip
from ..motion.contacts import ContactSettings, find_contacts

# as shares of the length of the legs
_HIGHEST_TOE = 0.2  # toes that stand on a floor at zero are below this: soles may be thick
_DEEPEST_TOE = -0.1  # and above this: they may sink into soft ground
_LEVEL = 0.06  # heights of feet on a level floor lie within this
_FEW = 0.1  # share of frames with a contact, below which feet may tremble or slide


class ClipFeet(NamedTuple):
    """Toes (F, L, 3) of a clip, their contacts (F, L), and whether their floor was tilted."""

    toes: np.ndarray
    contacts: np.ndarray
    tilted: bool = False


def find_feet(
    clip: Clip, roles: Roles, settings: ContactSettings, leg_lengths: np.ndarray
) -> ClipFeet:
    """Return the toes of a clip and their contacts at any height."""
    compute, local = clip.skeleton.compute_bone_position, (clip.rotations, clip.positions)
    toes = np.stack([compute(leg.toe, *local) for leg in roles.legs], axis=1)
    anywhere = replace(settings, max_height=None)
    contacts = find_contacts(toes, clip.fps, anywhere, leg_lengths, unsteady=False)
    if contacts.mean() < _FEW:
        contacts = find_contacts(toes, clip.fps, anywhere, leg_lengths)
    return ClipFeet(toes, contacts)


def is_level(heights: np.ndarray, leg: float) -> bool:
    """Return whether feet that stand at heights (N,) are on a level floor."""
    if not len(heights):
        return True
    low, high = np.percentile(heights, (20, 80))
    return bool(high - low <= _LEVEL * leg)


def is_off_zero(height: float, leg: float) -> bool:
    """Return whether toes at a height in metres, of legs of a length, stand on no floor at zero."""
    return not _DEEPEST_TOE * leg <= height <= _HIGHEST_TOE * leg


def find_lowest(clip: Clip, roles: Roles) -> np.ndarray:
    """Return the height (F,) of the lowest part of the body."""
    body = [roles.hips, *clip.skeleton.get_descendants(roles.hips)]
    return clip.compute_world()[1][:, body, 2].min(axis=1)


def measure_pitches(clip: Clip, toes: np.ndarray, roles: Roles) -> np.ndarray:
    """Return the angles (F, L) at which ankles are above toes (F, L, 3)."""
    compute, local = clip.skeleton.compute_bone_position, (clip.rotations, clip.positions)
    arms = np.stack([compute(leg.foot, *local) for leg in roles.legs], axis=1) - toes
    return np.arctan2(arms[..., 2], np.linalg.norm(arms[..., :2], axis=-1))


def lift(clip: Clip, rise: float | np.ndarray) -> Clip:
    """Return a clip whose roots are higher by a `rise` in metres, or by some (F, 1)."""
    positions = clip.positions.copy()
    positions[:, clip.skeleton.parents < 0, 2] += np.float32(rise)
    return replace(clip, positions=positions)
