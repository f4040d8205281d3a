"""Weigh what feet should do, as tasks of one problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ...maths.along_time import count_frames_to
from ...maths.easing import smoothstep
from ...motion.margins import MARGINS
from ..live.contact_lock import compute_lift_share
from ..numbers import NUMBERS as FEET
from .banded import BandedSystem, Quantity
from .feet_plan import Feet, FootTrack
from .numbers import NUMBERS
from .placement import HIPS, FeetPlacement

# a wish that adds its terms to the problem, linearized near a placement
Task = Callable[[BandedSystem, Feet, FeetPlacement], None]


def _keep_pace(system: BandedSystem, feet: Feet, near: FeetPlacement) -> None:
    """A low toe steps like the data, a high one like the motion, and changes its pace evenly."""
    even = (NUMBERS.even * feet.plan.fps) ** 2
    for k, foot in enumerate(feet.feet):
        low = _measure_lowness(foot)
        low = np.minimum(low[1:], low[:-1])
        high = np.maximum(foot.toe[:, 2], foot.heights + near.floors[k])
        pace = np.diff(np.column_stack([foot.toe[:, :2], high]), axis=0)
        pace[:, :2] += low[:, None] * (foot.steps[:-1] - pace[:, :2])
        rests = foot.planted[1:] & foot.planted[:-1]
        pace[rests] = 0.0
        # no jerk where a path leaves or reaches a plant or passes a jump
        change = np.diff(pace, axis=0)
        change[rests[1:] | rests[:-1] | foot.jumped[1:-1]] = 0.0
        edge = np.where(rests[1:] ^ rests[:-1], NUMBERS.depart, 1.0)
        level = np.where(rests, 0.0, NUMBERS.free + NUMBERS.near * low)
        system.add(foot.select(0, 2, 1), pace[:, :2], level)
        system.add(foot.select(2, 1, 1), pace[:, 2:], NUMBERS.free)
        system.add(foot.select(0, 2, 2), change[:, :2], even * edge)
        system.add(foot.select(2, 1, 2), change[:, 2:], even * NUMBERS.free)


def _measure_lowness(foot: FootTrack) -> np.ndarray:
    """Return how near (T,) a toe is to the ground: 1 where it stands, 0 at `low` above that."""
    above = np.maximum(foot.above, foot.heights - foot.leg.toe_height)
    return np.clip(2.0 - 2.0 ** (np.maximum(above, 0.0) / FEET.sliding_height), 0.0, 1.0)


def _keep_places(system: BandedSystem, feet: Feet, near: FeetPlacement) -> None:
    """A toe stands where the motion has it, or where a person put it, and swings back to it."""
    fps = feet.plan.fps
    stand, firm, stay = (value / fps**2 for value in (NUMBERS.stand, NUMBERS.firm, NUMBERS.stay))
    back = NUMBERS.free / (NUMBERS.come_back * fps) ** 2
    for foot in feet.feet:
        far = count_frames_to(foot.planted) > NUMBERS.ease * fps if foot.planted.any() else True
        swing = np.where(far, stay, back * (1.0 - _measure_lowness(foot)) ** 2)
        weight = np.where(foot.firm, firm, np.where(foot.planted, stand, swing))
        held = (foot.planted | foot.firm)[:, None]
        system.add(foot.select(0, 2), np.where(held, foot.stand, foot.toe[:, :2]), weight)


def _keep_heights(system: BandedSystem, feet: Feet, near: FeetPlacement) -> None:
    """A toe swings as high as in the data and clear of the floor, and stands on it."""
    fps = feet.plan.fps
    swing = 1.0 / (NUMBERS.rise * fps) ** 2
    firm = NUMBERS.firm / fps**2
    for k, foot in enumerate(feet.feet):
        clear = find_clearance(feet, foot, near.toes[k], near.floors[k])
        wanted = np.maximum(foot.toe[:, 2], foot.heights + near.floors[k])
        wanted = np.where(foot.planted, clear, np.maximum(wanted, clear))
        weight = np.where(foot.planted, NUMBERS.level * swing, swing)
        weight = np.where(foot.planted & foot.firm, firm, weight)
        system.add(foot.select(2, 1), wanted[:, None], weight)


def find_clearance(feet: Feet, foot: FootTrack, path: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """Return how high (T,) a toe has to be on a path (T, 3) over a floor (T,)."""
    fps = feet.plan.fps
    over = _measure_lift(feet, foot, path)
    raised = foot.raised
    if foot.planted.any():
        # no foot leaves the ground or meets it at full height
        leave = min(NUMBERS.leave, MARGINS.lift * feet.plan.hardest)
        time = np.sqrt(6.0 * np.maximum(over, 1e-6) / leave)
        over = over * smoothstep(count_frames_to(foot.planted) / (time * fps))
        at = np.flatnonzero(foot.planted)
        raised = np.interp(np.arange(len(path)), at, raised[at])
    return floor + foot.leg.toe_height + raised + over


def _measure_lift(feet: Feet, foot: FootTrack, path: np.ndarray) -> np.ndarray:
    """Return how far (T,) a toe is lifted for its speed, and for its excess over the data's."""
    fps = feet.plan.fps
    speed = np.linalg.norm(np.gradient(path[:, :2], 1.0 / fps, axis=0), axis=-1)
    played = np.linalg.norm(foot.steps, axis=-1) * fps
    played[1:] = np.maximum(played[1:], played[:-1])
    hurry = np.minimum(NUMBERS.steep * _measure_swings(path, foot.planted), NUMBERS.highest)
    clear = feet.plan.clearance * compute_lift_share(speed)
    return np.maximum(clear, hurry * compute_lift_share(speed - played))


def _measure_swings(path: np.ndarray, planted: np.ndarray) -> np.ndarray:
    """Return the length (T,) in metres of the swing around each frame of a path (T, 3)."""
    starts = np.flatnonzero(np.diff(planted, prepend=not planted[0]))
    level = path[:, :2]
    size = np.maximum.reduceat(level, starts) - np.minimum.reduceat(level, starts)
    return np.repeat(np.linalg.norm(size, axis=-1), np.diff(starts, append=len(path)))


def _keep_hips_up(system: BandedSystem, feet: Feet, near: FeetPlacement) -> None:
    """Hips stay as high as in the motion, and come down evenly."""
    fps = feet.plan.fps
    weight = NUMBERS.drop / fps**2
    system.add(HIPS, 0.0, weight)
    system.add(HIPS._replace(order=2), 0.0, weight * (NUMBERS.drop_even * fps) ** 4)


def _keep_knees_even(system: BandedSystem, feet: Feet, near: FeetPlacement) -> None:
    """A leg's length changes as evenly as in the motion, weighed by how far its knee goes."""
    even = (NUMBERS.knee * feet.plan.fps) ** 2
    for k, foot in enumerate(feet.feet):
        length = near.find_length(k)
        reach = near.reaches[k]
        wanted = foot.extension[:, None] - reach[:, None] + length.evaluate(near.values)
        bent = np.maximum(1.0 - (reach / foot.length) ** 2, NUMBERS.knee_gain**-2)
        change = np.diff(wanted, 2, axis=0)
        system.add(length._replace(order=2), change, even / bent[1:-1])


def _keep_heels(system: BandedSystem, feet: Feet, near: FeetPlacement) -> None:
    """A foot keeps its attitude, but for a heel that has to come down, and pitches evenly."""
    fps = feet.plan.fps
    for foot in feet.feet:
        weight = 1.0 / (NUMBERS.pitch * fps) ** 2 if foot.has_ankle else NUMBERS.rest_step
        system.add(foot.select(3, 1), (foot.down * foot.size)[:, None], weight)
        system.add(foot.select(3, 1, 2), 0.0, (NUMBERS.even * fps) ** 2)


def _go_on(system: BandedSystem, feet: Feet, near: FeetPlacement) -> None:
    """Feet go on from where those of the window before were."""
    if feet.before is not None:
        count, columns = feet.before.shape
        target = np.zeros((system.frames, columns))
        weight = np.zeros(system.frames)
        target[:count] = feet.before
        weight[:count] = NUMBERS.firm
        system.add(Quantity(np.arange(columns)), target, weight)


TASKS: Mapping[str, Task] = {
    "Pace": _keep_pace,
    "Places": _keep_places,
    "Heights": _keep_heights,
    "HipsUp": _keep_hips_up,
    "EvenKnees": _keep_knees_even,
    "Heels": _keep_heels,
    "GoOn": _go_on,
}
