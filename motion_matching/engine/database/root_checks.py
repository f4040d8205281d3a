"""Clips whose hips do not go where their feet push them: in place, or in another unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..body.rig import Roles
from ..body.toe_ends import measure_leg_lengths
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
    skeleton = parts[0].clip.skeleton
    leg = float(np.mean(measure_leg_lengths(skeleton.compute_rest_world()[1][None], roles)))
    return [note for part in parts if (note := _check(part, roles, leg)) is not None]


def _check(part: ReelPart, roles: Roles, leg: float) -> BuildNote | None:
    ways, name = _measure_ways(part, roles), part.source.name
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


def _measure_ways(part: ReelPart, roles: Roles) -> _Ways:
    """Return the ways in windows of a clip in which its lowest foot stays the lowest."""
    clip = part.clip
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
