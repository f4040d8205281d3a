"""Find ground that rises and falls below a clip, such as slopes and stairs, from where feet stand.

A clip that climbs is stored as on level ground, with its own ground beside it: the body is lowered
by the ground below it, and each foot keeps its height above its ground. So all other code may
assume level ground, and in play the scene's ground replaces the clip's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..body.rig import Roles
from ..ground.ground import Ground, follow_steps
from ..ground.ground_ahead import ClimbSpeeds
from ..legs.bending import bend_leg
from ..legs.legs import measure_legs
from ..legs.two_bones import pitch_up
from ..maths.along_time import apply_savitzky_golay, compute_window, find_runs
from ..maths.numeric import arctan2
from ..maths.rotations import quat
from ..motion.clip import Clip
from ..motion.contacts import ContactSettings, find_contacts
from .numbers import NUMBERS


@dataclass(frozen=True)
class OwnGround:
    """The ground of a clip in metres, from where it is first stood on: `heights` (F,) below the
    body, and `footing` (F, L), how much higher than that the ground of each foot is.

    Between two stances the ground of a foot is on the line between them. `tilts` (F, L) are the
    angles in radians by which heels are lower on a slope.
    """

    heights: np.ndarray
    footing: np.ndarray
    tilts: np.ndarray

    def crop(self, start: int, stop: int) -> OwnGround:
        """Return the frames start <= f < stop."""
        return OwnGround(*(part[start:stop] for part in vars(self).values()))

    @property
    def feet(self) -> np.ndarray:
        """The height (F, L) of the ground of each foot."""
        return self.heights[:, None] + self.footing

    @property
    def is_uneven(self) -> bool:
        """Whether it rises or falls at all."""
        return bool(max(np.ptp(self.heights), np.ptp(self.feet)) > NUMBERS.even_ground)

    def find_climbing(self, fps: float) -> np.ndarray:
        """Return the frames (F,) in which the ground below the body rises or falls."""
        return np.asarray(np.abs(np.gradient(self.heights)) * fps > NUMBERS.climbs)

    def mirrored(self, legs: Sequence[int]) -> OwnGround:
        """Return the ground of the mirror image, with legs in this order."""
        legs = list(legs)
        return OwnGround(self.heights, self.footing[:, legs], self.tilts[:, legs])


class BodyOverGround(NamedTuple):
    """A body of a clip at a rate of `fps`: its hips (F, 3) and `lowest` (F,) part, in metres.

    `leg` is the length of its legs.
    """

    hips: np.ndarray
    lowest: np.ndarray
    fps: float
    leg: float


def find_standing_pitch(pitches: np.ndarray, contacts: np.ndarray) -> float:
    """Return the pitch of feet flat on the ground, from all pitches (F, L) and their contacts."""
    return float(np.percentile(pitches[contacts], NUMBERS.flat_pitch)) if contacts.any() else 0.0


def find_ground(
    toes: np.ndarray,
    contacts: np.ndarray,
    pitches: np.ndarray,
    body: BodyOverGround,
    floor: Ground | None = None,
) -> OwnGround | None:
    """Return the ground of a clip, at the height of toes that stand; None if it is level.

    Toes (F, L, 3) are in metres, contacts (F, L). `pitches` (F, L) in radians are relative to feet
    that stand flat on level ground. With a known `floor`, the ground has its height below standing
    toes, even if level.
    """
    (hips, lowest, fps, leg), legs = body, range(toes.shape[1])
    stances = [_find_stances(toes[:, k], contacts[:, k], lowest, leg) for k in legs]
    heights = [height for own in stances for *_, height in own]
    if not heights or (floor is None and np.ptp(heights) <= NUMBERS.stairs * leg):
        return None
    if floor is not None:
        stances = [
            [(a, b, _look_below(floor, np.median(toes[a:b, k], axis=0), leg)) for a, b, _ in own]
            for k, own in enumerate(stances)
        ]
    below = _follow_body(toes, stances, hips)
    # order 1 is a mean
    below = apply_savitzky_golay(below, compute_window(NUMBERS.ground_window, fps, len(below)), 1)
    feet = []
    tilts = []
    for k, own in enumerate(stances):
        feet.append(follow_steps(toes[:, k, :2], own, below))
        flat = NUMBERS.flat_pitch
        lying = [(a, b, -float(np.percentile(pitches[a:b, k], flat))) for a, b, _ in own]
        tilts.append(follow_steps(toes[:, k, :2], lying, np.zeros(len(below))))
    return OwnGround(below, np.column_stack(feet) - below[:, None], np.column_stack(tilts))


def _find_stances(
    toe: np.ndarray, stands: np.ndarray, lowest: np.ndarray, leg: float
) -> list[tuple[int, int, float]]:
    """Return start, stop and height of the times a toe (F, 3) stands and carries the body."""
    carries = toe[:, 2] - lowest < NUMBERS.carrying * leg
    return [
        (start, stop, float(np.median(toe[start:stop, 2])))
        for start, stop in find_runs(stands).tolist()
        if carries[start:stop].any()
    ]


def _look_below(floor: Ground, toe: np.ndarray, leg: float) -> float:
    """Return the height of a floor below a toe (3,) that stands on it, also near a stair's edge.

    If the toe does not stand on the floor right below, the nearest floor beside it counts.
    """
    x, y, z = toe.tolist()
    below = floor.height(x, y)
    if abs(z - below) <= NUMBERS.carrying * leg:
        return below
    aside = NUMBERS.around_toe
    ways = ((aside, 0.0), (-aside, 0.0), (0.0, aside), (0.0, -aside))
    beside = (floor.height(x + a, y + b) for a, b in ways)
    return min([below, *beside], key=lambda height: abs(z - height))


def _follow_body(
    toes: np.ndarray, stances: list[list[tuple[int, int, float]]], hips: np.ndarray
) -> np.ndarray:
    """Return the height (F,) of the ground below hips (F, 3): a foot's while they pass it."""
    knots = []
    for k, own in enumerate(stances):
        for start, stop, height in own:
            place = np.median(toes[start:stop, k, :2], axis=0)
            away = np.linalg.norm(hips[start:stop, :2] - place, axis=-1)
            near = start + np.flatnonzero(away <= away.min() + 0.01)
            knots += [(int(near[0]), height), (int(near[-1]), height)]
    times, heights = np.array(sorted(knots)).T
    times, which = np.unique(times, return_inverse=True)
    heights = np.bincount(which, heights) / np.bincount(which)
    return np.interp(np.arange(len(hips)), times, heights)


def _pitch(arms: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return arms (T, 3) made steeper by angles (T,)."""
    length = np.linalg.norm(arms, axis=-1)
    level = np.linalg.norm(arms[:, :2], axis=-1)
    steep = arctan2(arms[:, 2], level) + angles
    return np.asarray(pitch_up(arms, length * np.sin(steep) - arms[:, 2]))


def measure_speeds(
    track: np.ndarray, ground: np.ndarray, starts: np.ndarray, fps: float
) -> ClimbSpeeds | None:
    """Return the speed at which the data climbs; None where it does not.

    A `track` (N, 3) leads over the height (N,) of a ground, in ranges from `starts`.
    """
    steps = np.hypot(*np.diff(track[:, :2], axis=0).T) * fps
    rises = np.diff(ground) * fps
    inside = np.ones(len(steps), bool)
    inside[starts[1:] - 1] = False
    climbs = inside & (np.abs(rises) > NUMBERS.climbs) & (steps > NUMBERS.climbs)
    steps, slopes = steps[climbs], rises[climbs] / steps[climbs]
    known = []
    for step in np.unique(np.round(slopes / NUMBERS.slopes_alike)):
        alike = np.abs(slopes - step * NUMBERS.slopes_alike) <= NUMBERS.slopes_alike
        known.append((step * NUMBERS.slopes_alike, np.percentile(steps[alike], NUMBERS.fastest)))
    return ClimbSpeeds(*(tuple(column) for column in np.array(known).T.tolist())) if known else None


def describe_climb(ground: OwnGround, hips: np.ndarray) -> str:
    """Describe the ground that a clip climbs with hips (F, 3), and its rise."""
    rises = np.diff(ground.heights)
    up = float(np.max(ground.heights - np.minimum.accumulate(ground.heights)))
    down = float(np.max(np.maximum.accumulate(ground.heights) - ground.heights))
    ways = [(way, far) for way, far in (("up", up), ("down", down)) if far > NUMBERS.told_climb]
    far = " and ".join(f"{far:.1f} m {way}" for way, far in ways) or f"by {max(up, down):.1f} m"
    steps, tilts = _list_steps(ground)
    climbs = np.abs(rises) > NUMBERS.steady_climb * np.abs(rises).max()
    along = np.linalg.norm(np.diff(hips[:, :2], axis=0), axis=1)
    slope = float(np.median(np.arctan2(np.abs(rises), along)[climbs])) if climbs.any() else 0.0
    if len(steps) < 2:
        return f"a rise, {far}"
    if np.median(tilts * np.sign(steps)) > NUMBERS.lying * slope:
        return f"a slope of {np.degrees(slope):.0f}°, {far}"
    return f"stairs: {100.0 * np.median(np.abs(steps)):.3g} cm a step, {far}"


def _list_steps(ground: OwnGround) -> tuple[np.ndarray, np.ndarray]:
    """Return the rises of steps, and the tilts of the feet that took them."""
    stands = sorted(
        (start, float(heights[start]), float(tilts[(start + stop) // 2]))
        for heights, tilts in zip(ground.feet.T, ground.tilts.T, strict=True)
        for start, stop in find_runs(np.abs(np.diff(heights)) < NUMBERS.same_ground).tolist()
    )
    _, heights, tilts = np.array(stands).reshape(-1, 3).T
    steps = np.diff(heights)
    climbs = np.abs(steps) > NUMBERS.step
    return steps[climbs], tilts[1:][climbs]


def lower_feet(clip: Clip, roles: Roles, footing: np.ndarray, tilts: np.ndarray) -> Clip:
    """Return a clip with a simulation bone whose toes are lower by `footing` (F, L) in metres.

    Legs bend for that, and heels come up by the angles `tilts` (F, L) in radians.
    """
    climbs = np.flatnonzero(np.any(footing != 0.0, axis=1))
    if not len(climbs):
        return clip
    local = np.concatenate([clip.positions[climbs], clip.rotations[climbs]], axis=-1)
    poses = np.ascontiguousarray(local.transpose(0, 2, 1), np.float64)
    parents = clip.skeleton.parents
    rotations, positions = quat.compute_world(poses, parents)
    legs = measure_legs(clip.skeleton, roles, poses)
    for leg, fall, tilt in zip(legs, footing[climbs].T, tilts[climbs].T, strict=True):
        toe = positions[:, leg.chain[-1]]
        ankle = positions[:, leg.chain[leg.foot]]
        goal = toe - fall[:, None] * [0.0, 0.0, 1.0]
        deep = np.full(len(goal), -np.inf)
        arm = _pitch(ankle - toe, tilt)
        bend_leg(leg, poses, (rotations, positions), parents, goal, arm, deep)
    result = clip.rotations.copy()
    result[climbs] = poses[:, 3:].transpose(0, 2, 1)
    return replace(clip, rotations=quat.unroll(result))


class ClipFeet(NamedTuple):
    """Toes (F, L, 3) of a clip, their contacts (F, L), and whether their floor was tilted."""

    toes: np.ndarray
    contacts: np.ndarray
    tilted: bool = False


def find_feet(
    clip: Clip, roles: Roles, settings: ContactSettings, leg_lengths: np.ndarray
) -> ClipFeet:
    """Return the toes of a clip and their contacts at any height."""
    compute = clip.skeleton.compute_bone_position
    local = (clip.rotations, clip.positions)
    toes = np.stack([compute(leg.toe, *local) for leg in roles.legs], axis=1)
    anywhere = replace(settings, max_height=None)
    contacts = find_contacts(toes, clip.fps, anywhere, leg_lengths, unsteady=False)
    if contacts.mean() < NUMBERS.few_contacts:
        contacts = find_contacts(toes, clip.fps, anywhere, leg_lengths)
    return ClipFeet(toes, contacts)


def is_level(heights: np.ndarray, leg: float) -> bool:
    """Return whether feet that stand at heights (N,) are on a level floor."""
    if not len(heights):
        return True
    low, high = np.percentile(heights, (20, 80))
    return bool(high - low <= NUMBERS.level_stances * leg)


def is_off_zero(height: float, leg: float) -> bool:
    """Return whether toes at a height in metres, of legs of a length, stand on no floor at zero."""
    return not NUMBERS.deepest_toe * leg <= height <= NUMBERS.highest_toe * leg


def find_lowest(clip: Clip, roles: Roles) -> np.ndarray:
    """Return the height (F,) of the lowest part of the body."""
    body = [roles.hips, *clip.skeleton.get_descendants(roles.hips)]
    return clip.compute_world()[1][:, body, 2].min(axis=1)


def measure_pitches(clip: Clip, toes: np.ndarray, roles: Roles) -> np.ndarray:
    """Return the angles (F, L) at which ankles are above toes (F, L, 3)."""
    compute = clip.skeleton.compute_bone_position
    local = (clip.rotations, clip.positions)
    arms = np.stack([compute(leg.foot, *local) for leg in roles.legs], axis=1) - toes
    return arctan2(arms[..., 2], np.linalg.norm(arms[..., :2], axis=-1))


def lift(clip: Clip, rise: float | np.ndarray) -> Clip:
    """Return a clip whose roots are higher by a `rise` in metres, or by some (F, 1)."""
    positions = clip.positions.copy()
    positions[:, clip.skeleton.parents < 0, 2] += np.float32(rise)
    return replace(clip, positions=positions)
