"""What looks wrong in clips and their tracks, as a user should know before they are a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..body import axes
from ..body.rig import Roles
from ..body.toe_ends import measure_leg_lengths
from ..maths import quat
from ..motion.clip import Clip
from ..motion.simulation_bone import SimulationBoneSettings
from .parts import BuildNote, ReelPart
from .root_checks import check_roots
from .sources import Source

_SHORTEST_LEG, _LONGEST_LEG = 0.015, 30.0  # metres, of animals and giants
_LOOP_GAP_TOLERANCE = 0.05  # metres a bone may jump where a loop starts again
_ROOT_REST_TOLERANCE = 0.01  # metres and radians below which a root bone counts as still


def collect_warnings(
    parts: Sequence[ReelPart], roles: Roles, bone: SimulationBoneSettings
) -> list[BuildNote]:
    """Return what a user should know about clips and their tracks."""
    warnings = [
        BuildNote(part.source.name, text, "file") for part in parts for text in part.clip.warnings
    ]
    if bone.source == "root":
        warnings += _collect_root_warnings(parts, roles)
    warnings += check_size(parts, roles) + check_roots(parts, roles)
    loops = [part for part in parts if part.source.loop]
    return warnings + [note for part in loops for note in _collect_loop_warnings(part, roles.hips)]


def _collect_root_warnings(parts: Sequence[ReelPart], roles: Roles) -> list[BuildNote]:
    """Warn if the root bone that should lead the character moves in no clip."""
    moved = max(np.ptp(part.track.rows, axis=0).max() for part in parts)
    if moved > _ROOT_REST_TOLERANCE or roles.root is None:
        return []
    text = (
        f"The root bone '{parts[0].clip.skeleton.names[roles.root]}' does not move in any clip, so "
        "it cannot lead the character; use the simulation bone 'article'."
    )
    return [BuildNote(parts[0].source.name, text, "root")]


def _collect_loop_warnings(part: ReelPart, hips: int) -> list[BuildNote]:
    """Warn if the last pose of a loop differs from the first, seen from the simulation bone."""
    ends, clip, track = [0, -1], part.clip, part.track
    skeleton = clip.skeleton
    _, positions = quat.fk(clip.rotations[ends], clip.positions[ends], skeleton.parents)
    ground = np.column_stack([track.positions, np.zeros(track.frame_count)])[ends, None]
    first, last = quat.inv_mul_vec(quat.from_yaw(track.yaw[ends])[:, None], positions - ground)
    gaps = np.linalg.norm(last - first, axis=-1)
    gaps[skeleton.get_ancestors(hips)] = 0.0  # these ride on the simulation bone
    bone = int(gaps.argmax())
    if gaps[bone] <= _LOOP_GAP_TOLERANCE:
        return []
    text = (
        f"The loop '{part.source.name}' does not end as it starts: the bone "
        f"'{skeleton.names[bone]}' jumps by {100 * gaps[bone]:.0f} cm; choose its start and stop "
        "so that its last frame repeats its first."
    )
    return [BuildNote(part.source.name, text, "loop")]


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
