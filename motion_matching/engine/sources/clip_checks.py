"""Detect clips whose hips do not go where their feet push them: in place, or in another unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..body import axes, rig, toe_ends
from ..body.rig import Roles
from ..errors import RigError
from ..maths.rotations import quat
from ..motion.clip import Clip
from ..motion.simulation_bone import SimulationBoneSettings
from .numbers import NUMBERS
from .reel import BuildNote, ReelPart
from .sources import Source

_UNITS = np.array([10.0, 100.0, 1000.0])  # of length in files


class _Ways(NamedTuple):
    """Ways (K, 2) of the hips over the ground, and those pushed by the feet, in metres."""

    hips: np.ndarray
    pushed: np.ndarray


def check_roots(parts: Sequence[ReelPart], roles: Roles) -> list[BuildNote]:
    """Return notes on clips that walk in place, and on clips whose hips move in another unit."""
    leg = _measure_leg(parts[0].clip, roles)
    found = (_check(part.source.name, part.clip, roles, leg) for part in parts)
    return [note for note in found if note is not None]


def check_clip_roots(clips: Sequence[Clip]) -> list[BuildNote]:
    """Return the notes of `check_roots` for clips of one skeleton, if its legs are found."""
    try:
        roles = rig.find_roles(clips[0].skeleton, clips)
    except RigError:
        return []
    ends = toe_ends.find_toe_ends(clips[0].skeleton, clips, roles)
    clips = [toe_ends.add_toe_ends(clip, ends) for clip in clips]
    roles = toe_ends.use_toe_ends(roles, clips[0].skeleton)
    leg = _measure_leg(clips[0], roles)
    found = (_check(clip.name, clip, roles, leg) for clip in clips)
    return [note for note in found if note is not None]


def _measure_leg(clip: Clip, roles: Roles) -> float:
    rest = clip.skeleton.compute_rest_world()[1][None]
    return float(np.mean(toe_ends.measure_leg_lengths(rest, roles)))


def _check(name: str, clip: Clip, roles: Roles, leg: float) -> BuildNote | None:
    ways = _measure_ways(clip, roles)
    if not len(ways.hips):
        return None
    scale = np.sqrt(leg / NUMBERS.person_leg) * NUMBERS.way_window
    gone, pushed = (float(np.median(np.linalg.norm(way, axis=1))) for way in ways)
    walks = pushed > NUMBERS.walk_speed * scale
    times = gone / max(pushed, 1e-9)
    if (gone > NUMBERS.hips_speed * scale and times > NUMBERS.unit_ratio) or (
        walks and _differ_by_unit(ways)
    ):
        unit = _UNITS[np.argmin(np.abs(np.log(_UNITS * min(times, 1.0 / times))))]
        text = (
            f"The hips of '{name}' go about {unit:.0f} times {'farther' if times > 1 else 'less'} "
            "than its feet push them, so their positions are in another unit than the bones; "
            "export both in one unit."
        )
        return BuildNote(name, text, "units")
    if not walks or times > NUMBERS.in_place:
        return None
    speed = pushed / NUMBERS.way_window
    text = (
        f"'{name}' walks in place: its feet slide back at {speed:.2g} m/s under hips that stay; "
        "export it with its root motion."
    )
    return BuildNote(name, text, "in place")


def _measure_ways(clip: Clip, roles: Roles) -> _Ways:
    """Return the ways in windows of a clip in which its lowest foot stays the lowest."""
    compute = clip.skeleton.compute_bone_position
    local = (clip.rotations, clip.positions)
    hips = compute(roles.hips, *local)
    toes = np.stack([compute(leg.toe, *local) for leg in roles.legs], axis=1) - hips[:, None]
    lowest = toes[..., 2].argmin(axis=1)
    steps = np.diff(toes[..., :2], axis=0)[np.arange(len(toes) - 1), lowest[:-1]]
    steps[lowest[1:] != lowest[:-1]] = 0.0
    edges = np.arange(0, len(toes), max(round(NUMBERS.way_window * clip.fps), 1))
    pushed = np.concatenate([np.zeros((1, 2)), np.cumsum(-steps, axis=0)])[edges]
    return _Ways(np.diff(hips[edges, :2], axis=0), np.diff(pushed, axis=0))


def _differ_by_unit(ways: _Ways) -> bool:
    """Return whether hips go the way that feet push, but much farther or less far."""
    hips = ways.hips.ravel()
    pushed = ways.pushed.ravel()
    both = hips @ pushed
    sizes = np.linalg.norm(hips) * np.linalg.norm(pushed)
    times = both / (pushed @ pushed)
    return bool(
        both > NUMBERS.unit_correlation * sizes > 0.0
        and not 1.0 / NUMBERS.unit_ratio < times < NUMBERS.unit_ratio
    )


def collect_warnings(
    parts: Sequence[ReelPart], roles: Roles, bone: SimulationBoneSettings
) -> list[BuildNote]:
    """Return warnings about clips and their tracks."""
    texts = [(part.source.name, text) for part in parts for text in part.clip.warnings]
    warnings = [BuildNote(name, text, "file") for name, text in texts]
    if bone.source == "root":
        warnings += _collect_root_warnings(parts, roles)
    warnings += check_size(parts, roles) + check_roots(parts, roles)
    loops = [part for part in parts if part.source.loop]
    return warnings + [note for part in loops for note in _collect_loop_warnings(part, roles.hips)]


def _collect_root_warnings(parts: Sequence[ReelPart], roles: Roles) -> list[BuildNote]:
    """Warn if the root bone that should lead the character moves in no clip."""
    moved = max(np.ptp(part.track.rows, axis=0).max() for part in parts)
    if moved > NUMBERS.root_rest or roles.root is None:
        return []
    text = (
        f"The root bone '{parts[0].clip.skeleton.names[roles.root]}' does not move in any clip, so "
        "it cannot lead the character; use the simulation bone 'article'."
    )
    return [BuildNote(parts[0].source.name, text, "root")]


def _collect_loop_warnings(part: ReelPart, hips: int) -> list[BuildNote]:
    """Warn if the last pose of a loop differs from the first, seen from the simulation bone."""
    ends = [0, -1]
    clip = part.clip
    track = part.track
    skeleton = clip.skeleton
    _, positions = quat.fk(clip.rotations[ends], clip.positions[ends], skeleton.parents)
    ground = np.column_stack([track.positions, np.zeros(track.frame_count)])[ends, None]
    first, last = quat.inv_mul_vec(quat.from_yaw(track.yaw[ends])[:, None], positions - ground)
    gaps = np.linalg.norm(last - first, axis=-1)
    gaps[skeleton.get_ancestors(hips)] = 0.0  # bones that ride on the simulation bone
    bone = int(gaps.argmax())
    if gaps[bone] <= NUMBERS.loop_gap:
        return []
    text = (
        f"The loop '{part.source.name}' does not end as it starts: the bone "
        f"'{skeleton.names[bone]}' jumps by {100 * gaps[bone]:.0f} cm; choose its start and stop "
        "so that its last frame repeats its first."
    )
    return [BuildNote(part.source.name, text, "loop")]


def check_size(parts: Sequence[ReelPart], roles: Roles) -> list[BuildNote]:
    """Warn if the size of the character suggests other units than metres."""
    leg = _measure_leg(parts[0].clip, roles)
    if NUMBERS.shortest_leg < leg < NUMBERS.longest_leg or not leg:
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
    """Warn of clips that lie because of their axes, and name the axes under which they would stand.

    `given` are bones by role.
    """
    better = axes.find_all_better_axes(clips, read_with, given)
    of_files = {one for source, one in zip(sources, better, strict=True) if source.clip is None}
    notes = []
    for source, clip, one in zip(sources, clips, better, strict=True):
        if one is None:
            continue
        text = axes.describe_mistake(clip.name, None if source.clip else one)
        if source.clip is None and len(of_files) > 1:  # one choice applies to all files
            text = (
                f"'{clip.name}' lies or stands on its head, unlike other files; export it with "
                "their axes, or build from it alone."
            )
        notes.append(BuildNote(source.name, text, "axes"))
    return notes
