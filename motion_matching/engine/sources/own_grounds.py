"""Give clips that climb their own ground, found or given, and lay them flat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..body.rig import Roles
from ..body.toe_ends import measure_leg_lengths
from ..ground.ground import FLAT, Ground
from ..motion.clip import Clip
from ..motion.contacts import ContactSettings
from .climbs import (
    BodyOverGround,
    ClipFeet,
    OwnGround,
    describe_climb,
    find_feet,
    find_ground,
    find_lowest,
    find_standing_pitch,
    is_level,
    is_off_zero,
    lift,
    measure_pitches,
)
from .numbers import NUMBERS
from .reel import GIVEN_GROUND, SLOPE, Fault, ReelPart


def has_given_ground(part: ReelPart) -> bool:
    """Return whether the ground of a part is given, not found."""
    return part.floor is not None and part.floor is not FLAT


def lay_flat(
    parts: Sequence[ReelPart], feet: Sequence[ClipFeet], roles: Roles, leg: float
) -> tuple[list[ReelPart], list[ClipFeet], list[Fault]]:
    """Put parts and feet that climb on level ground, with their own; return a fault for each."""
    flat_parts = list(parts)
    flat_feet = list(feet)
    faults = []
    standing = [toes[..., 2][contacts] for toes, contacts, _ in feet]
    pairs = list(zip(parts, standing, strict=True))
    are_level = [not has_given_ground(p) and is_level(heights, leg) for p, heights in pairs]
    climbing = [
        n
        for n, part in enumerate(parts)
        if part.floor is not FLAT and not are_level[n] and len(standing[n])
    ]
    if not climbing:
        return flat_parts, flat_feet, []
    known = [n for n, level in enumerate(are_level) if level and len(standing[n])]
    pitches = [
        measure_pitches(part.clip, each.toes, roles) for part, each in zip(parts, feet, strict=True)
    ]
    flat = np.median(
        [find_standing_pitch(pitches[n], feet[n].contacts) for n in known or range(len(parts))]
    )
    heights = [np.median(standing[n]) for n in known]
    for number in climbing:
        part = parts[number]
        own = feet[number]
        body = _measure_body(part.clip, roles, leg)
        ground = find_ground(*own[:2], pitches[number] - flat, body, part.floor)
        if ground is None:
            continue
        if part.floor is None:
            # toes stand at the same height above it as above level ground
            first = ground.heights[0]
            stands = np.median(heights) if heights else _guess_toe_height(first, leg)
            ground = replace(ground, heights=ground.heights - stands)
        clip = lift(part.clip, -ground.heights[:, None])
        is_own = ground.is_uneven
        flat_parts[number] = replace(part, clip=clip, ground=ground if is_own else None)
        toes = own.toes - ground.feet[..., None] * [0.0, 0.0, 1.0]
        flat_feet[number] = own._replace(toes=toes)
        faults += _describe(part, ground, body.hips, toes[..., 2][own.contacts], leg)
    return flat_parts, flat_feet, faults


def find_own_ground(
    clip: Clip, roles: Roles, settings: ContactSettings, floor: Ground | None = None
) -> tuple[OwnGround, np.ndarray] | None:
    """Return the ground of a single clip and its contacts (F, L); None on level ground.

    It is on a `floor` if that is given. A build also uses how feet of other clips stand on level
    ground.
    """
    if floor is FLAT:
        return None
    lengths = measure_leg_lengths(clip.skeleton.compute_rest_world()[1][None], roles)
    leg = float(np.mean(lengths))
    feet = find_feet(clip, roles, settings, lengths)
    heights = feet.toes[..., 2][feet.contacts]
    if not len(heights) or (floor is None and is_level(heights, leg)):
        return None
    pitches = measure_pitches(clip, feet.toes, roles)
    body = _measure_body(clip, roles, leg)
    ground = find_ground(*feet[:2], pitches, body, floor)
    if ground is None:
        return None
    level = feet.contacts & ~ground.find_climbing(clip.fps)[:, None]
    flat = find_standing_pitch(pitches, level if level.any() else feet.contacts)
    ground = replace(ground, tilts=ground.tilts + flat)
    if floor is None:
        stands = _guess_toe_height(ground.heights[0], leg)
        ground = replace(ground, heights=ground.heights - stands)
    return ground, feet.contacts


def _guess_toe_height(first: float, leg: float) -> float:
    """Estimate the height of standing toes above a floor by where they `first` stand."""
    return 0.0 if is_off_zero(first, leg) else first


def _measure_body(clip: Clip, roles: Roles, leg: float) -> BodyOverGround:
    hips = clip.skeleton.compute_bone_position(roles.hips, clip.rotations, clip.positions)
    return BodyOverGround(hips, find_lowest(clip, roles), clip.fps, leg)


def _describe(
    part: ReelPart, ground: OwnGround, hips: np.ndarray, above: np.ndarray, leg: float
) -> list[Fault]:
    """Return notes on a ground, with standing feet at heights `above` (N,) it."""
    name = part.source.name
    low, high = np.percentile(above, (10, 90))
    if has_given_ground(part) and high - low > NUMBERS.misses_ground * leg:
        what = (
            f"The feet of '{name}' stand at heights that differ by {100 * (high - low):.0f} cm "
            "above the ground that it was given"
        )
        advice = "move that ground below its feet, or have it found"
        return [Fault(name, what, "", advice, GIVEN_GROUND)]
    if not ground.is_uneven:
        return []
    what = f"'{name}' climbs {describe_climb(ground, hips)}"
    advice = "" if part.floor else "if its floor is level, turn the clip so that it is, too"
    return [Fault(name, what, "taken for ground like that", advice, SLOPE)]
