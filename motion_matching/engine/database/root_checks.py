"""Clips whose hips do not go where their feet push them: in place, or in another unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..body import rig, toe_ends
from ..body.rig import Roles
from ..errors import RigError
from ..motion.clip import Clip
from .parts import BuildNote, ReelPart

_WINDOW_SECONDS = 0.5  # seconds, about a step, over which ways are compared
_WALK_SPEED = 0.4  # m/s of people, by which feet on the ground slide back in a walk
_PERSON_LEG = 0.9  # metres, to which speeds are scaled
_IN_PLACE_SHARE = 0.25  # of the way that the feet push, below which hips stay in place
_CORRELATION = 0.9  # correlation of the ways of hips and feet that differ by their unit alone
_UNIT_RATIO = 5.0  # times; feet push half as far as hips go in runs, and slip in bad captures
_HIPS_SPEED = 20.0  # m/s of people's hips: twice as fast as the fastest sprint
_UNITS = np.array([10.0, 100.0, 1000.0])  # of lengths that files come in


class _Ways(NamedTuple):
    """Ways (K, 2) of the hips over the ground, and those that the feet push, in metres."""

    hips: np.ndarray
    pushed: np.ndarray


def check_roots(parts: Sequence[ReelPart], roles: Roles) -> list[BuildNote]:
    """Return notes on clips that walk in place, and on those whose hips move in another unit."""
    leg = _measure_leg(parts[0].clip, roles)
    found = (_check(part.source.name, part.clip, roles, leg) for part in parts)
    return [note for note in found if note is not None]


def check_clip_roots(clips: Sequence[Clip]) -> list[BuildNote]:
    """Return what `check_roots` does of clips of one skeleton, if its legs are found."""
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
    scale = np.sqrt(leg / _PERSON_LEG) * _WINDOW_SECONDS
    gone, pushed = (float(np.median(np.linalg.norm(way, axis=1))) for way in ways)
    walks = pushed > _WALK_SPEED * scale
    times = gone / max(pushed, 1e-9)
    if (gone > _HIPS_SPEED * scale and times > _UNIT_RATIO) or (walks and _differ_by_unit(ways)):
        unit = _UNITS[np.argmin(np.abs(np.log(_UNITS * min(times, 1.0 / times))))]
        text = (
            f"The hips of '{name}' go about {unit:.0f} times {'farther' if times > 1 else 'less'} "
            "than its feet push them, so their positions are in another unit than the bones; "
            "export both in one unit."
        )
        return BuildNote(name, text, "units")
    if not walks or times > _IN_PLACE_SHARE:
        return None
    speed = pushed / _WINDOW_SECONDS
    text = (
        f"'{name}' walks in place: its feet slide back at {speed:.2g} m/s under hips that stay; "
        "export it with its root motion."
    )
    return BuildNote(name, text, "in place")


def _measure_ways(clip: Clip, roles: Roles) -> _Ways:
    """Return the ways in windows of a clip in which its lowest foot stays the lowest."""
    compute, local = clip.skeleton.compute_bone_position, (clip.rotations, clip.positions)
    hips = compute(roles.hips, *local)
    toes = np.stack([compute(leg.toe, *local) for leg in roles.legs], axis=1) - hips[:, None]
    lowest = toes[..., 2].argmin(axis=1)
    steps = np.diff(toes[..., :2], axis=0)[np.arange(len(toes) - 1), lowest[:-1]]
    steps[lowest[1:] != lowest[:-1]] = 0.0
    edges = np.arange(0, len(toes), max(round(_WINDOW_SECONDS * clip.fps), 1))
    pushed = np.concatenate([np.zeros((1, 2)), np.cumsum(-steps, axis=0)])[edges]
    return _Ways(np.diff(hips[edges, :2], axis=0), np.diff(pushed, axis=0))


def _differ_by_unit(ways: _Ways) -> bool:
    """Return whether hips go the way that feet push, but much farther or less far."""
    hips, pushed = ways.hips.ravel(), ways.pushed.ravel()
    both = hips @ pushed
    sizes = np.linalg.norm(hips) * np.linalg.norm(pushed)
    times = both / (pushed @ pushed)
    return bool(both > _CORRELATION * sizes > 0.0 and not 1.0 / _UNIT_RATIO < times < _UNIT_RATIO)
