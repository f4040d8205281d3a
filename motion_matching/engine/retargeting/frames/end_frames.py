"""Find frames of feet, toes and hands that mean the same on two bodies, from how each stands.

They come from joints alone, independent of retargeting's own frames. A foot's Y leads from the
ankle to the ball along the sole, and Z up from the sole. A toe has the frame of its foot. A hand's
Y leads from the wrist to the knuckles and Z up from the back of the hand: between the knuckles
where fingers are known, else as the hand is at rest once the arm is raised to the side by the
shortest way. In a rest pose that stands, the sole is level. Other bodies are examined while they
stand on a foot; if one never does, its shins show the insteps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...body.body_roles import BodyRoles
from ...body.limbs import FINGERS, SIDES, LimbBones, list_limbs
from ...maths.rotations import quat
from ...motion.clip import Clip, crop_middles
from ...skeleton.skeleton import Skeleton
from ..numbers import NUMBERS
from .frame_axes import average, draw_ankle, make_frames, rotate
from .partial_pose import WorldMotion
from .soles import SURE

_KNUCKLES = FINGERS[1:]
_UP = np.eye(3)[2]
UNSURE = NUMBERS.unsure


@dataclass(frozen=True)
class EndFrames:
    """Rotations (4,) by role from a bone's own frame to the shared one.

    `palms` are the frames of hands with known knuckles. `unsure` are roles that may be `UNSURE`
    degrees off.
    """

    frames: Mapping[str, np.ndarray]
    palms: Mapping[str, np.ndarray]
    unsure: frozenset[str] = frozenset()

    @classmethod
    def from_body(
        cls, skeleton: Skeleton, roles: BodyRoles, clips: Sequence[Clip] = ()
    ) -> EndFrames:
        """Find the frames of a body. Raises RigError if a part of a leg is missing."""
        limbs = list_limbs(skeleton, roles)
        stance = _Stance.from_rest(skeleton, roles, limbs)
        frames: dict[str, np.ndarray] = {}
        unsure: frozenset[str] = frozenset()
        if stance:
            for limb in limbs.values():
                frames |= stance.find_frames(limb, roles.four_legged)
        elif not roles.four_legged:
            legs = [limb for limb in limbs.values() if limb.kind == "leg"]
            frames, unsure = _find_moving_feet(clips, legs)
        return cls(frames, dict(_find_palms(skeleton, roles, limbs)), unsure)


# rest poses


@dataclass(frozen=True)
class _Stance:
    """A rest pose that stands, with its ways up and to the left (3,) in the skeleton's axes."""

    rotations: np.ndarray
    positions: np.ndarray
    up: np.ndarray
    left: np.ndarray

    @classmethod
    def from_rest(
        cls, skeleton: Skeleton, roles: BodyRoles, limbs: Mapping[str, LimbBones]
    ) -> _Stance | None:
        """Return the rest pose, if it is symmetric and all legs hang below the trunk."""
        rotations, positions = (part.astype(np.float64) for part in skeleton.compute_rest_world())
        feet = [limb for limb in limbs.values() if limb.kind == "leg" or roles.four_legged]
        ways = quat.normalize_vectors(
            np.array([positions[limb.end] - positions[limb.upper] for limb in feet])
        )
        left = _find_way(positions, limbs["right_leg"].upper, limbs["left_leg"].upper)
        up = _snap(-ways.mean(axis=0))
        least = NUMBERS.animal_stands if roles.four_legged else NUMBERS.rest_stands
        if np.min(ways @ -up) < least or abs(left @ up) > NUMBERS.hips_tilted:
            return None
        top = find_top(roles)
        middle = positions[[limbs["left_leg"].upper, limbs["right_leg"].upper]].mean(axis=0)
        if top is not None and not roles.four_legged:
            trunk = quat.normalize_vectors(positions[top] - middle)
            if trunk @ up < NUMBERS.rest_stands:
                return None
        left = quat.normalize_vectors(left - (left @ up) * up)
        stance = cls(rotations, positions, up, left)
        return stance if stance._is_symmetric(limbs, middle) else None

    def _is_symmetric(self, limbs: Mapping[str, LimbBones], middle: np.ndarray) -> bool:
        leg = limbs["left_leg"]
        length = np.linalg.norm(self.positions[leg.upper] - self.positions[leg.end])
        for kind in ("leg", "arm"):
            pair = [limbs.get(f"{side}_{kind}") for side in SIDES]
            if pair[0] is None or pair[1] is None:
                continue
            for one, two in zip(pair[0].joints, pair[1].joints, strict=False):
                way = self.positions[one] - middle
                mirrored = way - 2.0 * (way @ self.left) * self.left
                apart = np.linalg.norm(mirrored - (self.positions[two] - middle))
                if apart > NUMBERS.mirrored * length:
                    return False
        return True

    def find_frames(self, limb: LimbBones, four_legged: bool) -> dict[str, np.ndarray]:
        """Return the frames of the last parts of a limb by role."""
        if limb.kind == "arm" and not four_legged:
            side = limb.sign * self.left
            lowered = quat.between(side, _find_way(self.positions, limb.lower, limb.end))
            hand = quat.mul(lowered, make_frames(side, self.up))
            return {f"{limb.side}_hand": quat.inv_mul(self.rotations[limb.end], hand)}
        names = ("hand", "fore_toe") if limb.kind == "arm" else ("foot", "toe")
        ball = self._find_ball(limb)
        level = ball - (ball @ self.up) * self.up
        ahead = np.cross(self.left, self.up)
        if np.linalg.norm(level) < 0.5 * np.linalg.norm(ball) or not ball.any():
            level = ahead
        standing = make_frames(level, self.up)
        # feet of animals are not flat, and rest more or less steeply
        foot = make_frames(ball, self.up) if four_legged and ball.any() else standing
        frames = {f"{limb.side}_{names[0]}": quat.inv_mul(self.rotations[limb.end], foot)}
        if limb.toe is not None:
            toe = quat.inv_mul(self.rotations[limb.toe], standing)
            frames[f"{limb.side}_{names[1]}"] = toe
        return frames

    def _find_ball(self, limb: LimbBones) -> np.ndarray:
        if limb.toe is not None:
            return self.positions[limb.toe] - self.positions[limb.end]
        return quat.mul_vec(self.rotations[limb.end], limb.tip)


def _snap(up: np.ndarray) -> np.ndarray:
    """Return the skeleton's axis nearest to a vector (3,), if that leans little from it."""
    up = quat.normalize_vectors(up)
    axis = int(np.argmax(np.abs(up)))
    return np.sign(up[axis]) * np.eye(3)[axis] if abs(up[axis]) >= NUMBERS.trunk_snap else up


def _find_way(positions: np.ndarray, start: int, end: int) -> np.ndarray:
    """Return unit vectors (..., 3) between two joints of (..., B, 3)."""
    return quat.normalize_vectors(positions[..., end, :] - positions[..., start, :])


def find_top(roles: BodyRoles) -> int | None:
    """Return the first bone of the head, or the one next to it."""
    for role in ("head", "neck", "spine"):
        if chain := roles.chains.get(role):
            return chain[0] if role == "head" else chain[-1]
    return None


def _find_palms(
    skeleton: Skeleton, roles: BodyRoles, limbs: Mapping[str, LimbBones]
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the frames of hands by role from the knuckles of fingers at rest."""
    rotations, positions = (part.astype(np.float64) for part in skeleton.compute_rest_world())
    for side in SIDES:
        arm = limbs.get(f"{side}_arm")
        if arm is None:
            continue
        bones = [find_knuckle(skeleton, roles, f"{side}_{name}", arm) for name in _KNUCKLES]
        knuckles = [positions[bone] for bone in bones if bone is not None]
        if len(knuckles) < 2:
            continue
        across = arm.sign * (knuckles[0] - knuckles[-1])
        way = np.mean(knuckles, axis=0) - positions[arm.end]
        palm = make_frames(way, np.cross(across, way))
        yield f"{side}_hand", quat.inv_mul(rotations[arm.end], palm)


def find_knuckle(
    skeleton: Skeleton, roles: BodyRoles, role: str, arm: LimbBones | None
) -> int | None:
    """Return the bone of a finger that starts at its knuckle: the one after a bone of the palm."""
    chain = roles.chains.get(role, ())
    if not chain or arm is None:
        return None
    positions = skeleton.compute_rest_world()[1].astype(np.float64)
    far = [float(np.linalg.norm(positions[bone] - positions[arm.end])) for bone in chain]
    if len(chain) > 1 and not role.endswith("thumb") and far[0] < 0.5 * far[1]:
        return chain[1]
    return chain[0]


# motion


def _find_moving_feet(
    clips: Sequence[Clip], legs: Sequence[LimbBones]
) -> tuple[dict[str, np.ndarray], frozenset[str]]:
    """Return frames of feet and toes by role as clips show them, and which of them are unsure."""
    long = [clip for clip in clips if clip.frame_count > 2]  # enough to show speeds
    parts = crop_middles(long, len(long) or 1, NUMBERS.end_frames, NUMBERS.least_end_frames)
    views = [_LegsView(clip, legs) for clip in parts]
    soles = {leg.side: _Sole.from_views(views, leg) for leg in legs if views}
    known = {side: sole for side, sole in soles.items() if sole is not None}
    slopes = [sole.slope for sole in known.values() if sole.flat]
    frames: dict[str, np.ndarray] = {}
    for leg in legs:
        if leg.side not in known:
            continue
        sole = known[leg.side]
        # sides mirror each other. The flatter one shows the sole: a heel may never come down
        slope = sole.slope
        if slopes and (not sole.flat or slope - min(slopes) > NUMBERS.flat_feet_uneven):
            slope = min(slopes)
        foot = sole.to_frame(slope)
        frames[f"{leg.side}_foot"] = foot
        if leg.toe is not None and sole.flat:
            flats = [(view.rotations, view.flat[leg.side]) for view in views]
            turns = [quat.inv_mul(q[leg.toe][flat], q[leg.end][flat]) for q, flat in flats]
            # toes lie flat below a heel that stays up
            toe = quat.mul(average(np.concatenate(turns)), sole.to_frame(sole.slope))
            frames[f"{leg.side}_toe"] = toe
    return frames, frozenset() if slopes else frozenset(frames)


class _LegsView:
    """The world motion of legs in a clip, and by side when (F,) its foot stands flat."""

    def __init__(self, clip: Clip, legs: Sequence[LimbBones]) -> None:
        bones = [bone for leg in legs for bone in leg.joints]
        motion = WorldMotion(clip, bones, bones)
        self.rotations = motion.rotations
        self.positions = motion.positions
        self.fps = clip.fps
        places = self.positions
        self.leg = float(np.mean([self._measure_leg(leg) for leg in legs]))
        hips = np.mean([places[leg.upper][:, 2] for leg in legs], axis=0)
        low = np.min([places[leg.end][:, 2] for leg in legs], axis=0)
        self.tall = hips - low >= NUMBERS.tall * self.leg
        self.flat = {leg.side: self._find_flat(leg, clip.fps) for leg in legs}

    def _measure_leg(self, leg: LimbBones) -> float:
        joints = [self.positions[bone] for bone in (leg.upper, leg.lower, leg.end)]
        ways = [np.linalg.norm(b - a, axis=-1) for a, b in pairwise(joints)]
        return float(sum(np.median(way) for way in ways))

    def _find_flat(self, leg: LimbBones, fps: float) -> np.ndarray:
        ball = self.find_ball(leg)
        ankle = self.positions[leg.end][:, 2]
        speed = fps * np.linalg.norm(np.gradient(ball, axis=0), axis=-1)
        flat = self.tall & (speed < NUMBERS.ball_still * self.leg)
        if flat.any():
            flat &= ankle <= np.percentile(ankle[flat], NUMBERS.flat_ankles)
        return flat

    def find_ball(self, leg: LimbBones) -> np.ndarray:
        """Return where (F, 3) a foot's ball is, or where the foot ends."""
        if leg.toe is not None:
            return self.positions[leg.toe]
        return self.positions[leg.end] + rotate(self.rotations[leg.end], leg.tip)


@dataclass(frozen=True)
class _Sole:
    """A foot's sole in the frame of its bone: its way to the ball, and the upward direction (3,).

    `slope` is the angle of the ball below the ankle on a level sole. It is a guess if the foot is
    never `flat`. `sureness` from 0 to 1 rates the roll of the foot.
    """

    ball: np.ndarray
    above: np.ndarray
    slope: float
    flat: bool
    sureness: float

    @classmethod
    def from_views(cls, views: Sequence[_LegsView], leg: LimbBones) -> _Sole | None:
        """Return the sole as clips show it, or None if the end of the foot is unknown."""
        balls = []
        ups = []
        insteps = []
        for view in views:
            turn = view.rotations[leg.end]
            flat = view.flat[leg.side]
            balls.append(quat.inv_mul_vec(turn, view.find_ball(leg) - view.positions[leg.end]))
            shin = view.positions[leg.lower] - view.positions[leg.end]
            insteps.append(quat.inv_mul_vec(turn, shin))
            ups.append(quat.inv_mul_vec(turn[flat], _UP))
        ball = np.concatenate(balls).mean(axis=0)
        up = np.concatenate(ups)
        if not np.linalg.norm(ball) > 0.0:
            return None
        ball = quat.normalize_vectors(ball)
        stands = len(up) > 0
        above = up.mean(axis=0) if stands else np.concatenate(insteps).mean(axis=0)
        slope = float(np.arcsin(np.clip(-quat.normalize_vectors(above) @ ball, -1.0, 1.0)))
        seconds = sum(float(view.flat[leg.side].sum()) / view.fps for view in views)
        sureness = min(1.0, seconds / SURE) if stands else 1.0
        return cls(ball, above, slope if stands else NUMBERS.usual_slope, stands, sureness)

    def to_frame(self, slope: float) -> np.ndarray:
        """Return the rotation (4,) to the frame of a foot with this slope."""
        hinge = quat.normalize_vectors(np.cross(self.ball, self.above))
        above = np.cross(draw_ankle(hinge, self.ball, self.sureness), self.ball)
        above = quat.normalize_vectors(above)
        level = np.cos(slope) * self.ball + np.sin(slope) * above
        return make_frames(level, np.cos(slope) * above - np.sin(slope) * self.ball)
