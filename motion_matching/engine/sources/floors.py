"""Put clips onto one floor at height zero.

A foot counts as planted or airborne by its height above one common floor. Captures of several days,
studios or bodies often differ by more than a foot is lifted, and some exporters have the origin at
the hips. Floors of a badly calibrated capture are tilted: over a few metres a degree lifts a foot
as much as a step does. After rotations were copied onto other proportions, feet stand on the floor
in some poses only: the more a knee bends, the higher they hover, or the deeper they sink.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..body.rig import Roles
from ..body.toe_ends import measure_leg_lengths
from ..maths.along_time import compute_window, find_runs
from ..maths.rotations import quat
from ..motion.clip import Clip
from ..motion.contacts import ContactSettings
from .climbs import ClipFeet, find_feet, find_lowest, is_level, is_off_zero, lift
from .numbers import NUMBERS
from .own_grounds import has_given_ground, lay_flat
from .reel import BuildNote, Fault, ReelPart

_UP = np.array([0.0, 0.0, 1.0])


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
    chosen = [part.source.keep_floor for part in parts]
    keeps = [keep_floor if keep is None else keep for keep in chosen]
    free = [part for part, is_kept in zip(parts, keeps, strict=True) if not is_kept]
    levelled, faults = _level_all(free, roles, settings) if free else ([], [])
    notes = [fault.describe() for fault in faults]
    if any(keeps):
        kept = {part.source.name for part, is_kept in zip(parts, keeps, strict=True) if is_kept}
        _, faults = _level_all(parts, roles, settings)
        notes += [one.describe_kept() for one in faults if one.source in kept and one.deed]
    rest = iter(levelled)
    result = [one if is_kept else next(rest) for one, is_kept in zip(parts, keeps, strict=True)]
    return result, notes


def _level_all(
    parts: Sequence[ReelPart], roles: Roles, settings: ContactSettings
) -> tuple[list[ReelPart], list[Fault]]:
    """Return all parts on one floor, and faults of the parts moved or far from it."""
    skeleton = parts[0].clip.skeleton
    lengths = measure_leg_lengths(skeleton.compute_rest_world()[1][None], roles)
    leg = float(np.mean(lengths))
    feet = [find_feet(part.clip, roles, settings, lengths) for part in parts]
    parts = list(parts)
    faults = []
    for correct in (_level_tilt, _even_out):
        for number, (part, own) in enumerate(zip(parts, feet, strict=True)):
            is_found = own.contacts.any() and not has_given_ground(part)
            corrected = correct(part, own, roles, leg) if is_found else None
            if corrected:
                parts[number], feet[number], fault = corrected
                faults.append(fault)
    parts, feet, climbing = lay_flat(parts, feet, roles, leg)
    faults += climbing
    floors = [_find_floor(part.clip, each, leg) for part, each in zip(parts, feet, strict=True)]
    heights = [floor.height for floor in floors if floor]
    if not heights or (
        np.ptp(heights) <= NUMBERS.other_floor * leg and not is_off_zero(heights[0], leg)
    ):
        return parts, faults
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
    known = known or [floor for floor in floors if floor]
    common = _find_common_floor(known, NUMBERS.other_floor * leg)
    base = 0.0
    if is_off_zero(common, leg):
        base = common - float(np.median([sole for sole in soles if sole < NUMBERS.carrying * leg]))
    result = []
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


_Corrected = tuple[ReelPart, ClipFeet, Fault]


def _level_tilt(part: ReelPart, feet: ClipFeet, _: Roles, leg: float) -> _Corrected | None:
    """Return a part and its feet with a tilted floor made level, and the fault, if it has one."""
    clip = part.clip
    planted = feet.toes[feet.contacts]
    up = _find_tilt(planted, leg)
    steep = 0.0 if up is None else float(np.arccos(np.clip(up @ _UP, -1.0, 1.0)))
    if up is None or steep > NUMBERS.steepest_tilt:
        return None
    turn = quat.between(up, _UP)
    centre = planted.mean(axis=0)
    roots = clip.skeleton.parents < 0
    positions = clip.positions.copy()
    rotations = clip.rotations.copy()
    positions[:, roots] = centre + quat.mul_vec(turn, positions[:, roots] - centre)
    rotations[:, roots] = quat.mul(turn, rotations[:, roots].astype(np.float64))
    levelled = replace(part, clip=replace(clip, positions=positions, rotations=rotations))
    toes = centre + quat.mul_vec(turn, feet.toes - centre)
    name = part.source.name
    angle = f"{np.degrees(steep):.2g}°"
    fault = Fault(name, f"The floor of '{name}' is tilted by {angle}", "levelled")
    return levelled, ClipFeet(toes, feet.contacts, True), fault


def _find_tilt(feet: np.ndarray, leg: float) -> np.ndarray | None:
    """Return the up (3,) of the tilted floor of feet (N, 3) of a body; None for others."""
    centred = feet - feet.mean(axis=0)
    uneven = np.ptp(np.percentile(centred[:, 2], (5, 95)))
    if uneven <= NUMBERS.level_feet * leg:
        return None
    _, scales, ways = np.linalg.svd(centred[:, :2], full_matrices=False)
    known = scales > NUMBERS.tilt_reach * leg * np.sqrt(len(feet))
    if not known.any():
        return None
    ways = ways[known]
    along = centred[:, :2] @ ways.T
    slopes = centred[:, 2] @ along / scales[known] ** 2
    left = np.ptp(np.percentile(centred[:, 2] - along @ slopes, (5, 95)))
    if left > NUMBERS.tilt_rest * uneven or left > NUMBERS.stairs * leg:
        return None
    return quat.normalize_vectors(np.append(-slopes @ ways, 1.0))


def _even_out(part: ReelPart, feet: ClipFeet, roles: Roles, leg: float) -> _Corrected | None:
    """Return a part and its uneven feet put on the floor, and the fault, if it has them."""
    if not _may_be_uneven(feet.toes[..., 2][feet.contacts], leg):
        return None
    rises = _find_rises(feet, find_lowest(part.clip, roles), part.clip.fps, leg)
    if rises is None:
        return None
    evened = replace(part, clip=lift(part.clip, -rises[:, None]))
    toes = feet.toes - rises[:, None, None] * _UP
    what = f"The feet of '{part.source.name}' hover and sink by {100 * np.ptp(rises):.2g} cm"
    advice = "if its rotations were copied from other proportions, retarget it instead"
    fault = Fault(part.source.name, what, "lowered and raised to stand on them", advice)
    return evened, feet._replace(toes=toes), fault


def _may_be_uneven(heights: np.ndarray, leg: float) -> bool:
    """Return whether heights (N,) of standing feet in metres differ, but less than on stairs."""
    if not len(heights):
        return False
    apart = np.ptp(np.percentile(heights, (5, 95)))
    return bool(NUMBERS.uneven_feet * leg < apart < NUMBERS.stairs * leg)


def _find_rises(feet: ClipFeet, lowest: np.ndarray, fps: float, leg: float) -> np.ndarray | None:
    """Return the smooth excess height (F,) of standing feet over the `lowest`, None if even."""
    heights = feet.toes[..., 2]
    contacts = feet.contacts
    carries = contacts & (heights - lowest[:, None] < NUMBERS.carrying * leg)
    stood = np.flatnonzero(carries.any(axis=1))
    if not _may_be_uneven(heights[carries], leg):
        return None
    low, middle, high = np.percentile(heights[carries], (5, 50, 95))
    off = np.clip(heights, low, high) - middle
    rises = np.sum(off * carries, axis=1)[stood] / carries.sum(axis=1)[stood]
    filled = np.interp(np.arange(len(heights)), stood, rises)
    smooth = _smooth(filled, compute_window(NUMBERS.body_window, fps))
    left = np.percentile((heights - smooth[:, None])[carries], (5, 95))
    return smooth if np.ptp(left) < NUMBERS.uneven_rest * (high - low) else None


def _smooth(values: np.ndarray, window: int) -> np.ndarray:
    """Return values (F,) as weighted means of an odd `window` about each."""
    weights = np.hanning(window + 2)[1:-1]
    padded = np.pad(values, window // 2, mode="edge")
    return np.convolve(padded, weights / weights.sum(), "valid")


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
    """Return the mean of heights (N,) and some standard `errors`; infinite for a single one."""
    if len(heights) == 1:
        return float(np.copysign(np.inf, errors))
    error = np.std(heights, ddof=1) / np.sqrt(len(heights))
    return float(np.mean(heights) + errors * error)


def _measure_sole(clip: Clip, roles: Roles, floor: _Floor) -> float:
    """Return how high feet in contact are above the body's lowest part, large in handstands."""
    toes = floor.toes
    contacts = floor.contacts
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
