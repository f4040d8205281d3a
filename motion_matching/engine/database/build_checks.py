"""What looks wrong in clips and their tracks, as a user should know before they are a database."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..body.rig import Roles
from ..body.toe_ends import measure_leg_lengths
from ..maths import quat
from ..motion.clip import Clip
from ..motion.simulation_bone import SimulationBoneSettings
from .parts import BuildNote, ReelPart
from .root_checks import check_roots

_SHORTEST_LEG, _LONGEST_LEG = 0.015, 30.0  # metres, of animals and giants
_UPRIGHT = np.cos(np.radians(60.0))
_LOOP_GAP_TOLERANCE = 0.05  # metres a bone may jump where a loop starts again
_ROOT_REST_TOLERANCE = 0.01  # metres and radians below which a root bone counts as still
_MOST_FRAMES = 100  # of a clip that are looked at


def collect_warnings(
    parts: Sequence[ReelPart], roles: Roles, bone: SimulationBoneSettings
) -> list[BuildNote]:
    """Return what a user should know about clips and their tracks."""
    warnings = [
        BuildNote(part.source.name, text, "file") for part in parts for text in part.clip.warnings
    ]
    if bone.source == "root":
        warnings += _collect_root_warnings(parts, roles)
    warnings += check_size(parts, roles) + check_axes(parts, roles) + check_roots(parts, roles)
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
