"""Sizes and axes of clips that look wrong, as a user should know before they are a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..body import axes
from ..body.rig import Roles
from ..body.toe_ends import measure_leg_lengths
from ..motion.clip import Clip
from .parts import BuildNote, ReelPart
from .sources import Source

_SHORTEST_LEG, _LONGEST_LEG = 0.015, 30.0  # metres, of animals and giants


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


def check_axes(
    sources: Sequence[Source],
    clips: Sequence[Clip],
    read_with: axes.FileAxes,
    given: Mapping[str, str],
) -> list[BuildNote]:
    """Warn of clips that lie because of their axes, and name those under which they would stand.

    `given` are bones by role.
    """
    better = axes.find_all_better_axes(clips, read_with, given)
    of_files = {one for source, one in zip(sources, better, strict=True) if source.clip is None}
    notes = []
    for source, clip, one in zip(sources, clips, better, strict=True):
        if one is None:
            continue
        text = axes.describe_mistake(clip.name, None if source.clip else one)
        if source.clip is None and len(of_files) > 1:  # one choice is for all files
            text = (
                f"'{clip.name}' lies or stands on its head, unlike other files; export it with "
                "their axes, or build from it alone."
            )
        notes.append(BuildNote(source.name, text, "axes"))
    return notes
