"""Put clips onto one floor at height zero.

A foot counts as planted or airborne by its height above one common floor. Captures of several days,
studios or bodies often differ by more than a foot is lifted, and some exporters have the origin at
the hips.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..body.rig import Roles
from ..body.toe_ends import measure_leg_lengths
from ..maths.along_time import find_runs
from ..motion.clip import Clip
from ..motion.contacts import ContactSettings
from .climbs import ClipFeet, find_feet, find_lowest, is_level, is_off_zero, lift
from .numbers import NUMBERS
from .own_grounds import has_given_ground, lay_flat
from .reel import BuildNote, Fault, ReelPart
from .tilted_floors import STEEPEST, find_tilt, level, level_points, measure_steepness
from .uneven_feet import find_rises, may_be_uneven


class _Floor(NamedTuple):
    """Height of standing feet in a clip in metres, and the seconds of contacts.

    The floor may be anywhere from `low` to `high`: feet roll and rise within a stance, in all
    stances alike. `toes` (F, L, 3) and `contacts` (F, L) are of the whole clip.
    """

    height: float
    seconds: float
    low: float
    high: float
    toes: np.ndarray
    contacts: np.ndarray

    def is_other(self, height: float, least: float) -> bool:
        """Return whether a height is certainly more than `least` metres away from this floor."""
        return not self.low - least <= height <= self.high + least


def level_floors(
    parts: Sequence[ReelPart], roles: Roles, settings: ContactSettings, keep_floor: bool = False
) -> tuple[list[ReelPart], list[BuildNote]]:
    """Return the parts on the floor that feet stand on for longest, at zero, and notes on changes.

    Clips without a level floor, as on stairs and slopes, keep their height above it, and so do
    clips with a floor far from the others'. Sources that keep their floor stay unchanged; undecided
    sources do if `keep_floor`.
    """
    keeps = [
        keep_floor if part.source.keep_floor is None else part.source.keep_floor for part in parts
    ]
    free = [part for part, is_kept in zip(parts, keeps, strict=True) if not is_kept]
    levelled, faults = _level_all(free, roles, settings) if free else ([], [])
    notes = [fault.describe() for fault in faults]
    if any(keeps):
        kept = {part.source.name for part, is_kept in zip(parts, keeps, strict=True) if is_kept}
        _, faults = _level_all(parts, roles, settings)
        notes += [one.describe_kept() for one in faults if one.source in kept and one.deed]
    rest = iter(levelled)
    return [
        part if is_kept else next(rest) for part, is_kept in zip(parts, keeps, strict=True)
    ], notes


def _level_all(
    parts: Sequence[ReelPart], roles: Roles, settings: ContactSettings
) -> tuple[list[ReelPart], list[Fault]]:
    """Return all parts on one floor, and faults of the parts moved or far from it."""
    skeleton = parts[0].clip.skeleton
    lengths = measure_leg_lengths(skeleton.compute_rest_world()[1][None], roles)
    leg = float(np.mean(lengths))
    feet = [find_feet(part.clip, roles, settings, lengths) for part in parts]
    parts, feet, levelled = _level_tilted(parts, feet, leg)
    parts, feet, evened = _even_out(parts, feet, roles, leg)
    parts, feet, climbing = lay_flat(parts, feet, roles, leg)
    levelled += evened + climbing
    floors = [_find_floor(part.clip, each, leg) for part, each in zip(parts, feet, strict=True)]
    heights = [floor.height for floor in floors if floor]
    if not heights or (
        np.ptp(heights) <= NUMBERS.other_floor * leg and not is_off_zero(heights[0], leg)
    ):
        return parts, levelled
    soles = [
        _measure_sole(part.clip, roles, floor) if floor else np.inf
        for part, floor in zip(parts, floors, strict=True)
    ]
    floors = [
        floor if sole < NUMBERS.carrying * leg else None
        for floor, sole in zip(floors, soles, strict=True)
    ]
    tilted = [each.tilted for each in feet]
    known = [floor for floor, askew in zip(floors, tilted, strict=True) if floor and not askew]
    common = _find_common_floor(
        known or [floor for floor in floors if floor], NUMBERS.other_floor * leg
    )
    base = 0.0
    if is_off_zero(common, leg):
        base = common - float(np.median([sole for sole in soles if sole < NUMBERS.carrying * leg]))
    result, faults = [], levelled
    for part, floor, askew in zip(parts, floors, tilted, strict=True):
        name = part.source.name
        rise = floor.height - common if floor else 0.0
        # the height of a tilted floor is as uncertain as its tilt
        is_near = askew or abs(rise) <= NUMBERS.meant_floor * leg
        is_other = floor is not None and (
            abs(rise) > NUMBERS.meant_floor * leg
            or floor.is_other(common, NUMBERS.other_floor * leg)
        )
        moves = is_other and (is_near or abs(rise) > NUMBERS.highest_floor * leg)
        by = base + (rise if moves else 0.0)
        result.append(replace(part, clip=lift(part.clip, -by)) if by else part)
        if base:
            faults.append(_describe_origin(name, common + (rise if moves else 0.0)))
        if is_other and not askew and not (base and moves):
            faults.append(_describe(name, rise, moves))
    return result, faults


def _describe_origin(name: str, height: float) -> Fault:
    """Return the fault of a clip whose feet stood at a `height` in metres, and are now at zero."""
    way = "above" if height > 0 else "below"
    size = f"{abs(height):.2f} m" if abs(height) >= 1 else f"{100 * abs(height):.2g} cm"
    return Fault(name, f"The feet of '{name}' stand {size} {way} zero", "moved onto the ground")


def _describe(name: str, rise: float, moves: bool) -> Fault:
    """Return the fault of a clip whose floor is higher by a `rise` in metres, and if it `moves`."""
    what = (
        f"The feet of '{name}' stand {100 * abs(rise):.3g} cm {'higher' if rise > 0 else 'lower'} "
        "than those of other clips"
    )
    if moves:
        return Fault(name, what, "moved onto their floor")
    what += ", too far to plant them on one floor"
    return Fault(name, what, "", "move the clip onto the floor of the others, or leave it out")


def _level_tilted(
    parts: Sequence[ReelPart], feet: Sequence[ClipFeet], leg: float
) -> tuple[list[ReelPart], list[ClipFeet], list[Fault]]:
    """Return parts and feet with tilted floors made level, and a fault for each."""
    level_parts, level_feet, faults = list(parts), list(feet), []
    for number, (part, (toes, contacts, _)) in enumerate(zip(parts, feet, strict=True)):
        planted = toes[contacts]
        seeks = len(planted) and not has_given_ground(part)
        up = find_tilt(planted, leg) if seeks else None
        if up is None:
            continue
        steep = measure_steepness(up)
        if steep <= STEEPEST:
            faults.append(_describe_tilt(part.source.name, steep))
            centre = planted.mean(axis=0)
            level_parts[number] = replace(part, clip=level(part.clip, up, centre))
            level_feet[number] = ClipFeet(level_points(toes, up, centre), contacts, True)
    return level_parts, level_feet, faults


def _even_out(
    parts: Sequence[ReelPart],
    feet: Sequence[ClipFeet],
    roles: Roles,
    leg: float,
) -> tuple[list[ReelPart], list[ClipFeet], list[Fault]]:
    """Return parts and feet with uneven feet put on the floor, and a fault for each."""
    even_parts, even_feet, faults = list(parts), list(feet), []
    for number, (part, (toes, contacts, tilted)) in enumerate(zip(parts, feet, strict=True)):
        heights = toes[..., 2][contacts]
        if has_given_ground(part) or not len(heights) or not may_be_uneven(heights, leg):
            continue
        lowest = find_lowest(part.clip, roles)
        rises = find_rises(toes, contacts, lowest, part.clip.fps, leg)
        if rises is None:
            continue
        even_parts[number] = replace(part, clip=lift(part.clip, -rises[:, None]))
        even_feet[number] = ClipFeet(
            toes - rises[:, None, None] * [0.0, 0.0, 1.0], contacts, tilted
        )
        what = f"The feet of '{part.source.name}' hover and sink by {100 * np.ptp(rises):.2g} cm"
        advice = "if its rotations were copied from other proportions, retarget it instead"
        deed = "lowered and raised to stand on them"
        faults.append(Fault(part.source.name, what, deed, advice))
    return even_parts, even_feet, faults


def _describe_tilt(name: str, steep: float) -> Fault:
    """Return the fault of a clip with a floor that is `steep` in radians."""
    angle = f"{np.degrees(steep):.2g}°"
    return Fault(name, f"The floor of '{name}' is tilted by {angle}", "levelled")


def _find_floor(clip: Clip, feet: ClipFeet, leg: float) -> _Floor | None:
    """Return the floor of a clip, None if its feet do not stand on a level one."""
    toes, contacts, _ = feet
    stances = [
        toes[start:stop, foot, 2]
        for foot in range(contacts.shape[1])
        for start, stop in find_runs(contacts[:, foot]).tolist()
    ]
    if not stances:
        return None
    heights = np.concatenate(stances)
    if not is_level(heights, leg):
        return None
    height = np.median(heights)
    lowest = _bound([stance.min() for stance in stances], -NUMBERS.sure)
    highest = _bound([stance.max() for stance in stances], NUMBERS.sure)
    return _Floor(float(height), len(heights) / clip.fps, lowest, highest, toes, contacts)


def _bound(heights: Sequence[float], errors: float) -> float:
    """Return the mean of heights (N,) of stances, and some of its standard `errors` above it.

    A single stance has no spread, so it bounds nothing.
    """
    if len(heights) == 1:
        return float(np.copysign(np.inf, errors))
    error = np.std(heights, ddof=1) / np.sqrt(len(heights))
    return float(np.mean(heights) + errors * error)


def _measure_sole(clip: Clip, roles: Roles, floor: _Floor) -> float:
    """Return the usual height in metres of feet in contact above the lowest part of a body.

    It is large in handstands.
    """
    toes, contacts = floor.toes, floor.contacts
    frames = np.flatnonzero(contacts.any(axis=1))
    frames = frames[:: -(-len(frames) // NUMBERS.floor_frames)]
    sample = replace(clip, positions=clip.positions[frames], rotations=clip.rotations[frames])
    lowest = find_lowest(sample, roles)
    standing = np.where(contacts[frames], toes[frames, :, 2], np.inf).min(axis=1)
    return float(np.median(standing - lowest))


def _find_common_floor(floors: Sequence[_Floor], near: float) -> float:
    """Return the median of the heights, `near` each other, with most contact time; 0 without any.

    Of about equally common floors, it is the one closest to zero.
    """
    if not floors:
        return 0.0
    heights, seconds = np.array([(floor.height, floor.seconds) for floor in floors]).T
    alike = np.abs(heights[:, None] - heights) <= near
    votes = alike @ seconds
    often = np.flatnonzero(votes >= NUMBERS.as_common * votes.max())
    best = often[np.argmin(np.abs(heights[often]))]
    return float(np.median(heights[alike[best]]))
