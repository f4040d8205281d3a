"""Measure a body's motion beside the motion that it was retargeted from, by joints in the world.

Both are measured as seen: no step, constant or plan of retargeting is used, only the roles of
bones. Directions are those between joints; feet, toes and hands are compared in the shared frames
of `end_frames`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...body.body_roles import BodyRoles
from ...body.limbs import ARMS, FINGERS, LEGS, SIDES, LimbBones, list_limbs
from ...maths.numeric import arctan2
from ...maths.rotations import quat
from ...motion.clip import Clip
from ...skeleton.skeleton import Skeleton
from ..frames.end_frames import EndFrames, find_knuckle, find_top
from ..frames.frame_axes import average, get_axis, rotate
from ..frames.neutral_pose import UP
from ..frames.partial_pose import WorldMotion
from ..numbers import NUMBERS

_PHALANGES = 3  # segments of a finger from its knuckle; the rest is its tip
_ENDS = ("foot", "toe", "hand", "fore_toe")
_TURNS = ("pitch", "roll", "yaw")  # about X, Y and Z of the shared frames


class BonePoint(NamedTuple):
    """The head of a bone, or a place (3,) in its frame."""

    bone: int
    tip: tuple[float, float, float] | None = None


class Error(NamedTuple):
    """Error in degrees (F,) of a part that is `length` metres long; NaN where it is allowed.

    `is_unsure` means that the shared frames of this part may be `UNSURE` degrees off themselves.
    """

    role: str
    kind: str
    degrees: np.ndarray
    length: float
    is_unsure: bool = False


@dataclass(frozen=True)
class SeenBody:
    """A skeleton with its parts, clips that it was seen in, and the shared frames of its ends."""

    skeleton: Skeleton
    roles: BodyRoles
    ends: EndFrames
    clips: tuple[Clip, ...] = ()

    @classmethod
    def from_clips(
        cls, skeleton: Skeleton, roles: BodyRoles, clips: Sequence[Clip] = ()
    ) -> SeenBody:
        """Examine a body at rest, and in clips if its rest pose does not stand.

        Raises RigError if a part of a leg is missing.
        """
        ends = EndFrames.from_body(skeleton, roles, clips)
        return cls(skeleton, roles, ends, tuple(clips))

    @cached_property
    def usual_positions(self) -> np.ndarray:
        """Usual places (B, 3) of bones in their parents in its clips, at rest without clips."""
        clips = [clip for clip in self.clips if clip.frame_count]
        if not clips:
            return self.skeleton.rest_positions
        return np.median([np.median(clip.positions, axis=0) for clip in clips], axis=0)

    @cached_property
    def limbs(self) -> dict[str, LimbBones]:
        return list_limbs(self.skeleton, self.roles)

    @cached_property
    def segments(self) -> dict[str, tuple[BonePoint, BonePoint]]:
        """The joints between which segments of limbs lie, by role."""
        found: dict[str, tuple[BonePoint, BonePoint]] = {}
        for limb in self.limbs.values():
            names = ("upper_arm", "forearm") if limb.kind == "arm" else ("thigh", "shin")
            joints = [BonePoint(bone) for bone in limb.joints[:3]]
            for name, pair in zip(names, pairwise(joints), strict=True):
                found[f"{limb.side}_{name}"] = pair
        return found

    @cached_property
    def fingers(self) -> dict[str, list[BonePoint]]:
        """The joints of fingers by role, from the knuckle on."""
        roles = (f"{side}_{finger}" for side in SIDES for finger in FINGERS)
        found = {role: self._find_finger(role) for role in roles}
        return {role: joints for role, joints in found.items() if len(joints) > 1}

    def _find_finger(self, role: str) -> list[BonePoint]:
        arm = self.limbs.get(f"{role.split('_')[0]}_arm")
        knuckle = find_knuckle(self.skeleton, self.roles, role, arm)
        if knuckle is None:
            return []
        chain = self.roles.chains[role]
        bones = list(chain[chain.index(knuckle) :])
        positions = self.skeleton.compute_rest_world()[1].astype(np.float64)
        joints = [BonePoint(bone) for bone in bones]
        length = sum(np.linalg.norm(positions[b] - positions[a]) for a, b in pairwise(bones))
        below = self.skeleton.get_children(bones[-1])
        tips = [tip for bone, tip in self.skeleton.end_sites if bone == bones[-1]]
        if below:
            joints.append(BonePoint(below[0]))
        elif tips and np.linalg.norm(tips[0]) > NUMBERS.finger_tip * length:
            joints.append(BonePoint(bones[-1], tips[0]))
        return joints[: _PHALANGES + 1]

    @cached_property
    def leg(self) -> float:
        """The mean length of thigh and shin at rest."""
        return float(np.mean([sum(self.list_lengths(self.limbs[leg])[:2]) for leg in LEGS]))

    def list_lengths(self, limb: LimbBones) -> list[float]:
        """Return the lengths of a limb's segments at rest; the last one ends at the ball or tip."""
        points = self.skeleton.compute_rest_world()[1][limb.joints].astype(np.float64)
        lengths = np.linalg.norm(np.diff(points, axis=0), axis=-1).tolist()
        return [*lengths, float(np.linalg.norm(limb.tip))]

    @cached_property
    def top(self) -> int | None:
        """The first bone of the head, or the one next to it."""
        return find_top(self.roles)


def measure_result(
    source: SeenBody, target: SeenBody, source_clip: Clip, target_clip: Clip
) -> list[Error]:
    """Return the error of each part of a clip against the source's in every frame.

    Both clips have the same frames. The kinds are 'lean' (of the ways from the hip joints to
    shoulders and head), 'facing' (of the line between the hip joints), 'direction' (of segments of
    limbs and fingers), 'pitch', 'yaw' and 'roll' (of feet, toes and hands), and 'turn' (of a hand
    against its source's as a whole).
    """
    pair = _SeenMotion(source, source_clip), _SeenMotion(target, target_clip)
    errors = [*_measure_trunk(*pair), *_measure_limbs(*pair), *_measure_fingers(*pair)]
    return [*errors, *_measure_ends(*pair)]


class _SeenMotion:
    """Joints and bones of a body in the world; all arrays are over frames."""

    def __init__(self, body: SeenBody, clip: Clip) -> None:
        self.body = body
        ends = [body.roles.chains[role][0] for role in _list_end_roles(body)]
        joints = [joint for pair in body.segments.values() for joint in pair]
        joints += [joint for finger in body.fingers.values() for joint in finger]
        placed = {joint.bone for joint in joints}
        placed |= set() if body.top is None else {body.top}
        motion = WorldMotion(clip, [*ends, *placed], placed)
        self.rotations = motion.rotations
        self.positions = motion.positions

    def find_way(self, start: BonePoint, end: BonePoint) -> np.ndarray:
        """Return the way (F, 3) from one joint to another."""
        return self._find_place(end) - self._find_place(start)

    def _find_place(self, joint: BonePoint) -> np.ndarray:
        place = self.positions[joint.bone]
        if joint.tip is not None:
            place = place + rotate(self.rotations[joint.bone], np.array(joint.tip))
        return place

    def find_hip_joints(self) -> list[np.ndarray]:
        return [self.positions[self.body.limbs[leg].upper] for leg in LEGS]

    def find_shoulders(self) -> np.ndarray | None:
        """Return the middle (F, 3) of the joints of both upper arms, if it has them."""
        limbs = self.body.limbs
        joints = [self.positions[limbs[arm].upper] for arm in ARMS if arm in limbs]
        return np.mean(joints, axis=0) if len(joints) == 2 else None

    def find_head(self) -> np.ndarray | None:
        return None if self.body.top is None else self.positions[self.body.top]

    def find_frame(self, role: str, frame: np.ndarray) -> np.ndarray:
        """Return the shared frame (F, 4) of an end in the world."""
        return quat.mul(self.rotations[self.body.roles.chains[role][0]], frame)


def _list_end_roles(body: SeenBody) -> list[str]:
    roles = [f"{side}_{part}" for part in _ENDS for side in SIDES]
    return [role for role in roles if body.roles.chains.get(role)]


def measure_angles(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the angles (F,) in degrees between unit vectors (F, 3)."""
    return np.degrees(2.0 * np.arcsin(np.clip(0.5 * np.linalg.norm(a - b, axis=-1), 0.0, 1.0)))


def _compare(role: str, kind: str, way: np.ndarray, other: np.ndarray) -> Error:
    """Return the error of the direction (F, 3) of a part, given the source's and its own way."""
    length = float(np.median(np.linalg.norm(other, axis=-1))) if len(other) else 0.0
    ways = [quat.normalize_vectors(each) for each in (way, other)]
    return Error(role, kind, measure_angles(*ways), length)


def _measure_trunk(ours: _SeenMotion, theirs: _SeenMotion) -> Iterator[Error]:
    pair = ours, theirs
    hips = [motion.find_hip_joints() for motion in pair]
    yield _compare("hips", "facing", *(left - right for left, right in hips))
    middles = [0.5 * (left + right) for left, right in hips]
    four_legged = ours.body.roles.four_legged
    parts = [("spine", _SeenMotion.find_shoulders), ("head", _SeenMotion.find_head)]
    for role, find in parts[:1] if four_legged else parts:
        places = [find(motion) for motion in pair]
        ways = [p - m for p, m in zip(places, middles, strict=True) if p is not None]
        if len(ways) == 2:
            yield _compare(role, "lean", ways[0], _level_trunk(*ways) if four_legged else ways[1])


def _level_trunk(way: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the trunk (F, 3) of another animal, turned to stand as steeply as the first's."""
    steep = [arctan2(w[:, 2], np.linalg.norm(w[:, :2], axis=-1)) for w in (way, other)]
    shift = float(np.median(steep[0] - steep[1])) if len(way) else 0.0
    rise = np.full(len(way), np.clip(shift, -NUMBERS.most_tilt, NUMBERS.most_tilt))
    across = quat.normalize_vectors(np.cross(other, UP))
    return quat.mul_vec(quat.from_angle_axis(rise, across), other)


def _measure_limbs(ours: _SeenMotion, theirs: _SeenMotion) -> Iterator[Error]:
    segments = ours.body.segments
    others = theirs.body.segments
    forced = {} if ours.body.roles.four_legged else _find_forced_bends(ours, theirs)
    for role in (role for role in segments if role in others):
        ways = ours.find_way(*segments[role]), theirs.find_way(*others[role])
        error = _compare(role, "direction", *ways)
        if role in forced:
            error = error._replace(degrees=np.maximum(error.degrees - forced[role], 0.0))
        yield error


def _find_forced_bends(ours: _SeenMotion, theirs: _SeenMotion) -> dict[str, np.ndarray]:
    """Return errors in degrees (F,) of thighs and shins that unlike lengths of legs cause."""
    result = {}
    size = theirs.body.leg / ours.body.leg
    for name in LEGS:
        pair = ours.body.limbs[name], theirs.body.limbs[name]
        places = [m.positions for m in (ours, theirs)]
        lengths = [
            [np.median(np.linalg.norm(p[b] - p[a], axis=-1)) for a, b in pairwise(limb.joints[:3])]
            for p, limb in zip(places, pair, strict=True)
        ]
        reach = np.linalg.norm(places[0][pair[0].end] - places[0][pair[0].upper], axis=-1)
        bends = [
            _find_corners(np.array(each), distance)
            for each, distance in zip(lengths, (reach, size * reach), strict=True)
        ]
        for part, one, two in zip(("thigh", "shin"), *bends, strict=True):
            result[f"{pair[0].side}_{part}"] = np.degrees(np.abs(one - two))
    return result


def _find_corners(lengths: np.ndarray, distance: np.ndarray) -> list[np.ndarray]:
    """Return the angles (F,) of two segments to the line between their ends at a distance (F,)."""
    upper, lower = lengths
    far = np.clip(distance, abs(upper - lower), upper + lower)
    far = np.maximum(far, 1e-9)
    sides = ((upper, lower), (lower, upper))
    cosines = [(far**2 + one**2 - two**2) / (2.0 * far * max(one, 1e-9)) for one, two in sides]
    return [np.arccos(np.clip(cosine, -1.0, 1.0)) for cosine in cosines]


def _measure_fingers(ours: _SeenMotion, theirs: _SeenMotion) -> Iterator[Error]:
    """Yield the errors of the segments of fingers, or of halves if numbers of bones differ."""
    for role in (role for role in ours.body.fingers if role in theirs.body.fingers):
        pair = ours.body.fingers[role], theirs.body.fingers[role]
        counts = [len({joint.bone for joint in joints[:_PHALANGES]}) for joints in pair]
        segments = [list(pairwise(joints)) for joints in pair]
        if counts[0] != counts[1]:
            # the first segment, and the rest as one
            segments = [list(pairwise((*joints[:2], *joints[2:][-1:]))) for joints in pair]
        for one, two in zip(*segments, strict=False):  # the last may have no known end
            yield _compare(role, "direction", ours.find_way(*one), theirs.find_way(*two))


def _measure_ends(ours: _SeenMotion, theirs: _SeenMotion) -> Iterator[Error]:
    """Yield the errors of feet, toes and hands about the axes of their shared frames.

    Lines of knuckles differ in how far palms are turned. Where a rest pose shows no hands, or
    without shared frames, the constant part of 'turn' is separate from their motion.
    """
    ends = ours.body.ends, theirs.body.ends
    length = NUMBERS.end_length * theirs.body.leg
    known = set(_list_end_roles(theirs.body)) if len(ours.find_hip_joints()[0]) else set()
    for role in (role for role in _list_end_roles(ours.body) if role in known):
        shared, is_sure = _find_shared(role, *ends)
        frames = shared or (quat.IDENTITY, quat.IDENTITY)
        turns = [m.find_frame(role, f) for m, f in zip((ours, theirs), frames, strict=True)]
        if not is_sure:
            if shared is not None:
                yield Error(role, "turn", np.degrees(quat.angle_between(*turns)), length)
            turns[0] = quat.mul(turns[0], average(quat.inv_mul(*turns)))
        away = quat.to_scaled_angle_axis(quat.positive(quat.inv_mul(*turns)))
        away = np.abs(np.degrees(away))
        bodies = (ours.body, theirs.body)
        leg = role.replace("foot", "leg")
        shares = [b.list_lengths(b.limbs[leg])[2] / b.leg for b in bodies if role.endswith("foot")]
        if shares and max(shares) > NUMBERS.other_foot * min(shares):
            # feet of other lengths for their legs are pitched otherwise
            heel_up = np.abs(get_axis(turns[0], 1)[:, 2]) > NUMBERS.heel_up
            if not heel_up.all():
                away[heel_up, 0] = np.nan
        is_unsure = role in ends[0].unsure | ends[1].unsure
        for axis, kind in enumerate(_TURNS):
            yield Error(role, kind, away[:, axis], length, is_unsure)


def _find_shared(
    role: str, ours: EndFrames, theirs: EndFrames
) -> tuple[tuple[np.ndarray, np.ndarray] | None, bool]:
    """Return frames of an end that both have, or palms, and if they show its turn."""
    if role in ours.frames and role in theirs.frames:
        return (ours.frames[role], theirs.frames[role]), True
    if role in ours.palms and role in theirs.palms:
        return (ours.palms[role], theirs.palms[role]), False
    return None, False
