"""Sizes and axes of clips that look wrong, as a user should know before they are a database."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..body.rig import Roles
from ..body.toe_ends import measure_leg_lengths
from ..motion.clip import Clip
from .parts import BuildNote, ReelPart

_SHORTEST_LEG, _LONGEST_LEG = 0.015, 30.0  # metres, of animals and giants
_UPRIGHT = np.cos(np.radians(60.0))
_MOST_FRAMES = 100  # of a clip that are looked at


def check_size(parts: Sequence[ReelPart], roles: Roles) -> list[BuildNote]:
    """Warn if the character is as large or as small as one in other units than metres."""
    skeleton = parts[0].clip.skeleton
    lengths = measure_leg_lengths(skeleton.compute_rest_world()[1][None], roles)
    leg = float(np.mean(lengths))
    if _SHORTEST_LEG < leg < _LONGEST_LEG or not leg:
        return []
    times = 10.0 ** np.round(np.log10(leg))
    text = (
        f"The legs are {leg:.3g} m long, about {times:.3g} times as long as people's; if the "
        "lengths are not in metres, set the scale of the files, or scale the armature, and build "
        "again."
    )
    return [BuildNote(parts[0].source.name, text, "size")]


def check_axes(parts: Sequence[ReelPart], roles: Roles) -> list[BuildNote]:
    """Warn if the hips are hardly ever above the feet, as of files read with another up axis."""
    upright = np.concatenate([_measure_uprightness(part.clip, roles) for part in parts])
    if np.median(upright) > _UPRIGHT:
        return []
    text = (
        "The hips are beside or below the feet most of the time; if the body should stand, choose "
        "another up axis for the files, or turn the armature, and build again."
    )
    return [BuildNote(parts[0].source.name, text, "axes")]


def _measure_uprightness(clip: Clip, roles: Roles) -> np.ndarray:
    """Return the cosines (F,) of the angles between up and the way from the toes to the hips."""
    step = -(-clip.frame_count // _MOST_FRAMES)
    local = clip.rotations[::step], clip.positions[::step]
    compute = clip.skeleton.compute_bone_position
    toes = np.mean([compute(leg.toe, *local) for leg in roles.legs], axis=0)
    way = compute(roles.hips, *local) - toes
    return way[:, 2] / np.maximum(np.linalg.norm(way, axis=1), 1e-9)
