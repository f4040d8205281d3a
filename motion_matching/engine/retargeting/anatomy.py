"""Measure the anatomy of a body, to bring motion from it or onto it.

Rest poses are never compared. Each bone gets a constant C from its own frame to an anatomical
frame that means the same on every skeleton: `W_target = W_source C_source inv(C_target)`. Bone
axes, rest poses and units cancel. Of a limb's segment, Y is the way along it, X the hinge of the
knee or elbow, and Z the side that it points to. Of a foot, Y points ahead and Z up from the sole.
Of the torso, the frame is the world's while the body stands upright and faces -Y.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..body.body_roles import BodyRoles
from ..body.limbs import LEGS, LimbBones, find_leg_carrier, get_first, list_limbs
from ..errors import RigError
from ..maths.rotations import quat
from ..motion.clip import Clip
from ..skeleton.skeleton import Skeleton
from .frames.finger_frames import find_finger_frames
from .frames.frame_axes import average, draw_hinge, draw_limb_hinge, get_axis, make_frames, rotate
from .frames.neutral_pose import AHEAD, LEFT, UP, StandingPoses, sample_motion, stand_at_rest
from .frames.soles import Sole, find_soles
from .frames.trunk_stance import find_shoulders, find_turns_upright, find_upright_trunk
from .loose_hips import LoosePelvis
from .numbers import NUMBERS


@dataclass(frozen=True)
class Limb:
    """One arm or leg. Lengths are of its upper, lower and last segment.

    `ball` (3,) is the way from the ankle to the ball of the foot in the foot's anatomical frame;
    hands have none. `ball_height` is its height over the ground while planted. `stance` (3,) is how
    far each segment reaches down then, as a share of its length.
    """

    bones: LimbBones
    lengths: tuple[float, float, float]
    ball: np.ndarray | None = None
    ball_height: float = 0.0
    stance: np.ndarray = field(default_factory=lambda: np.ones(3))

    @property
    def reach(self) -> float:
        """The length of its upper and lower segment."""
        return self.lengths[0] + self.lengths[1]

    @property
    def foot(self) -> np.ndarray:
        """The way to the ball (3,), of a limb that has one."""
        assert self.ball is not None
        return self.ball


@dataclass(frozen=True)
class Anatomy:
    """A body: its roles, the constants C (4,) by bone, its limbs, and its sizes.

    `usual` is the skeleton with bones at their most frequent places in their parents: files may
    rest elsewhere. `hip_middle` (3,) is the middle of the hip joints in the frame of the hips, and
    `carrier_middle` (3,) in that of the bone that carries the legs, mostly the same. `ankle` is the
    height of the ankles over flat soles, `leg` the mean length of thigh and shin. `shoulders` (3,)
    leads from the middle of the hip joints to that of the shoulders while the body stands.
    `root_place` (3,) is where the topmost bone above the hips rests when the body faces -Y.
    `pelvis` is given if the hips bone does not turn with the pelvis.
    """

    skeleton: Skeleton
    usual: Skeleton
    roles: BodyRoles
    frames: Mapping[int, np.ndarray]
    limbs: Mapping[str, Limb]
    hip_middle: np.ndarray
    carrier_middle: np.ndarray
    leg: float
    ankle: float
    shoulders: np.ndarray | None
    root_place: np.ndarray
    pelvis: LoosePelvis | None = None

    @classmethod
    def from_clips(
        cls, skeleton: Skeleton, roles: BodyRoles, clips: Sequence[Clip] = ()
    ) -> Anatomy:
        """Measure a body at rest, or in clips if its rest pose does not stand.

        Raises RigError if legs are missing, or if neither rest nor clips show it standing.
        """
        return _Measuring(skeleton, roles, clips).build()

    @property
    def hips(self) -> int:
        return self.roles.chains["hips"][0]

    @property
    def leg_carrier(self) -> int:
        """The bone of the hips that carries the legs: a pelvis below them, if there is one."""
        return find_leg_carrier(self.skeleton, self.roles)

    def get_chain(self, *roles: str) -> list[int]:
        """Return the bones of roles that follow one another, top to bottom."""
        return [bone for role in roles for bone in self.roles.chains.get(role, ())]


class _Measuring:
    """The steps from poses to an anatomy."""

    def __init__(self, skeleton: Skeleton, roles: BodyRoles, clips: Sequence[Clip]) -> None:
        self.roles = roles
        self.clips = clips
        self.animal = roles.four_legged
        self.bones = list_limbs(skeleton, roles)
        self.hips, self.carrier = roles.chains["hips"][0], find_leg_carrier(skeleton, roles)
        trunk = [b for role in ("spine", "neck", "head") for b in roles.chains.get(role, ())]
        left, right = (self.bones[leg].upper for leg in LEGS)
        self.pelvis = LoosePelvis.find((self.carrier, left, right), trunk, clips)
        if self.pelvis is not None:
            self.clips = [self.pelvis.stiffen(clip) for clip in clips]
            self.roles = self.pelvis.move_bones_at_hips(roles, skeleton)
        self.given = skeleton
        self.skeleton = replace(skeleton, rest_positions=self._find_usual_places(skeleton))
        lengths = np.linalg.norm(self.skeleton.rest_positions, axis=-1)
        leg = self.bones["left_leg"]
        chain = skeleton.get_chain_to_root(leg.end)
        rough = float(lengths[chain[: chain.index(leg.upper)]].sum())
        moving = sample_motion(self.clips, self.bones, self.carrier, rough, self.animal)
        stands = moving is not None and moving.stands
        poses = self._stand_at_rest(True) or (moving if stands else None)
        poses = poses or self._stand_at_rest(False) or moving
        if poses is None:
            raise RigError(
                f"The skeleton below '{skeleton.names[0]}' does not stand in its rest pose; add "
                "motion of it, or choose an armature whose rest pose stands."
            )
        self.poses = poses
        self.moving = moving
        self.soles = self._find_soles(rough)
        self.turns = np.tile(quat.IDENTITY, (len(poses.rotations), 1))
        if not poses.stands:
            self.turns = find_turns_upright(poses, self.roles, self.bones)

    def _stand_at_rest(self, strict: bool) -> StandingPoses | None:
        head = get_first(self.roles, "head")
        return stand_at_rest(self.skeleton, self.bones, self.carrier, head, self.animal, strict)

    def build(self) -> Anatomy:
        frames = self._measure_torso()
        limbs = {name: self._measure_limb(name, frames) for name in self.bones}
        frames |= find_finger_frames(self.skeleton, self.roles, frames)
        legs = [limbs[leg] for leg in LEGS]
        leg = float(np.mean([limb.reach for limb in legs]))
        limbs = {
            name: limb if limb.ball is None else self._measure_stance(name, limb, frames, leg)
            for name, limb in limbs.items()
        }
        legs = [limbs[leg] for leg in LEGS]
        # of feet that are not flat, heights count from where they stand
        below = [0.0 if self.animal else limb.foot[2] for limb in legs]
        ankles = [limb.ball_height - low for limb, low in zip(legs, below, strict=True)]
        places = self.skeleton.compute_rest_world()[1].astype(np.float64)
        root = [places[bone] for bone in self.roles.chains.get("root", ())[:1]] or [np.zeros(3)]
        return Anatomy(
            self.given,
            self.skeleton,
            self.roles,
            frames,
            limbs,
            self._find_hip_middle(self.hips),
            self._find_hip_middle(self.carrier),
            leg,
            float(np.mean(ankles)),
            find_shoulders(self.poses, self.bones),
            quat.mul_vec(self._find_rest_turn(), root[0]),
            self.pelvis,
        )

    def _find_hip_middle(self, bone: int) -> np.ndarray:
        """Return the middle (3,) of the hip joints in the frame of a bone."""
        middles = self.poses.positions[:, [self.bones[leg].upper for leg in LEGS]].mean(axis=1)
        away = middles - self.poses.positions[:, bone]
        return quat.inv_mul_vec(self.poses.rotations[:, bone], away).mean(axis=0)

    def _find_usual_places(self, skeleton: Skeleton) -> np.ndarray:
        """Return usual places (B, 3) of bones in their parents: files may rest elsewhere."""
        places = skeleton.rest_positions
        clips = [clip for clip in self.clips if clip.frame_count]
        below = skeleton.get_descendants(self.hips)
        if not clips or not below:
            return places
        steps = [1 + clip.frame_count // NUMBERS.showing_frames for clip in clips]
        medians = [
            np.median(clip.positions[::step, below], axis=0)
            for clip, step in zip(clips, steps, strict=True)
        ]
        usual = places.copy()
        usual[below] = np.median(medians, axis=0)
        away = np.linalg.norm(usual - places, axis=-1)
        return np.where((away > NUMBERS.away_from_rest * np.ptp(places))[:, None], usual, places)

    def _find_rest_turn(self) -> np.ndarray:
        """Return the rotation (4,) that turns the rest pose to face -Y, if it stands."""
        if not self.poses.is_rest:
            return quat.IDENTITY
        rest = self.skeleton.compute_rest_world()[0].astype(np.float64)
        return quat.mul_inv(self.poses.rotations[0, self.hips], rest[self.hips])

    def _measure_torso(self) -> dict[int, np.ndarray]:
        """Return C of root (at rest, facing ahead), torso and collars: inverse rotations."""
        upright = find_upright_trunk(self.poses, self.skeleton, self.roles, self.bones)
        rest = self.skeleton.compute_rest_world()[0].astype(np.float64)
        turn = self._find_rest_turn()
        roots = self.roles.chains.get("root", ())
        upright |= {bone: quat.mul(turn, rest[bone]) for bone in roots}
        return {bone: quat.inv(rotation) for bone, rotation in upright.items()}

    # limbs

    def _measure_limb(self, name: str, frames: dict[int, np.ndarray]) -> Limb:
        """Return a limb without its stance, and add C of its bones to `frames`."""
        limb = self.bones[name]
        ways = limb.find_ways(self.poses.positions)
        hinge = self._find_hinge(limb, *map(quat.normalize_vectors, ways))
        for bone, way in zip((limb.upper, limb.lower), ways, strict=True):
            along = self.poses.average_direction(bone, quat.normalize_vectors(way))
            across = self.poses.average_direction(bone, hinge)
            if not self.poses.is_rest:
                across = draw_limb_hinge(across, along)
            if limb.kind == "leg" and not self.poses.stands:
                across = draw_hinge(across, along, 0.0)  # bent far, shins turn about themselves
            frames[bone] = make_frames(along, np.cross(across, along))
        first, second = (float(np.median(np.linalg.norm(way, axis=-1))) for way in ways)
        if limb.kind == "arm" and not self.animal:
            frames[limb.end] = self._measure_hand(limb, frames[limb.lower])
            return Limb(limb, (first, second, 0.0))
        ball = self._measure_foot(name, frames, first + second)
        return Limb(limb, (first, second, float(np.linalg.norm(ball))), ball)

    def _find_hinge(self, limb: LimbBones, upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
        """Return the axes (F, 3) of knee or elbow, longer the more it is bent."""
        hinge = np.cross(lower, upper)
        if np.linalg.norm(hinge, axis=-1).max() > np.sin(NUMBERS.bent):
            return hinge
        pole = AHEAD if (limb.kind == "leg") else -AHEAD
        return np.cross(upper, rotate(quat.inv(self.turns), pole))

    def _measure_hand(self, limb: LimbBones, forearm: np.ndarray) -> np.ndarray:
        """Return C (4,) of a hand, given that of its forearm."""
        if not self.poses.is_rest:
            return quat.mul(self._find_hand_turn(limb), forearm)
        # at rest a palm lies as the arm was lowered, and a slight bend of the elbow turns no palm
        points = self.poses.positions[0]
        side = limb.sign * LEFT
        lowered = quat.between(side, quat.normalize_vectors(points[limb.end] - points[limb.lower]))
        hand = quat.mul(lowered, make_frames(side, np.cross(np.cross(side, -AHEAD), side)))
        return quat.inv_mul(self.poses.rotations[0, limb.end], hand)

    def _find_hand_turn(self, limb: LimbBones) -> np.ndarray:
        """Return the inverse turn (4,) of a neutral hand in the frame of the forearm."""
        rotations, points = self.skeleton.compute_rest_world()
        upper, lower = map(quat.normalize_vectors, limb.find_ways(points))
        at_rest = quat.inv_mul(rotations[limb.end], rotations[limb.lower]).astype(np.float64)
        if upper @ lower > NUMBERS.elbow_straight:
            return at_rest
        turns = quat.inv_mul(self.poses.rotations[:, limb.end], self.poses.rotations[:, limb.lower])
        return average(turns)

    def _measure_foot(self, name: str, frames: dict[int, np.ndarray], leg: float) -> np.ndarray:
        """Add C of foot and toe to `frames`; return the way (3,) from the ankle to the ball."""
        limb = self.bones[name]
        poses = self.poses
        to_ball = self._find_way_to_ball(limb)
        sole = self.soles.get(name)
        up = quat.normalize_vectors(poses.average_direction(limb.end, UP, name))
        up = up if sole is None else sole.up
        ahead = poses.average_direction(limb.end, AHEAD, name)
        length = float(np.linalg.norm(to_ball))
        known = length > NUMBERS.no_foot * leg and not self._points_aside(limb, to_ball)
        if self.animal and known:  # feet that stand steeply: like the limb's other segments
            left = poses.average_direction(limb.end, LEFT, name)
            frames[limb.end] = make_frames(to_ball, np.cross(left, to_ball))
        else:
            level = to_ball - (to_ball @ up) * up
            level = level if known and np.linalg.norm(level) > 0.5 * length else ahead
            frames[limb.end] = make_frames(level - (level @ up) * up, up)
        if limb.toe is not None and sole is not None and not sole.seen:
            frames[limb.toe] = sole.find_toe(self.skeleton, limb, poses, name, frames[limb.end])
        elif limb.toe is not None:
            foot = quat.mul(poses.rotations[:, limb.end], frames[limb.end])
            way = get_axis(foot, 1) if not self.animal else AHEAD
            along, above = (poses.average_direction(limb.toe, v, name) for v in (way, UP))
            if sole is not None:  # toes bend about the axis across the foot
                above = np.cross(poses.average_direction(limb.toe, get_axis(foot, 0), name), along)
            frames[limb.toe] = make_frames(along, above)
        if known:
            return quat.inv_mul_vec(frames[limb.end], to_ball)
        ankle = float(poses.flat[name] @ poses.positions[:, limb.end, 2])
        return np.array([0.0, NUMBERS.ball_ahead * leg, -NUMBERS.ball_below * ankle])

    def _points_aside(self, limb: LimbBones, way: np.ndarray) -> bool:
        """Return whether an animal's last bone ends high along a way (3,), as of bare wrists."""
        if not self.animal or limb.toe is not None:
            return False
        ankle = self.poses.positions[:, limb.end, 2]
        tip = ankle + rotate(self.poses.rotations[:, limb.end], way)[:, 2]
        return bool(np.median(tip) > NUMBERS.paw * np.median(ankle))

    def _find_way_to_ball(self, limb: LimbBones) -> np.ndarray:
        """Return the way (3,) from the ankle to the ball in the frame of the foot."""
        if limb.toe is None:
            return limb.tip
        way = self.poses.positions[:, limb.toe] - self.poses.positions[:, limb.end]
        return self.poses.average_direction(limb.end, way)

    def _find_soles(self, leg: float) -> dict[str, Sole]:
        """Return the soles of feet if the rest pose does not show them."""
        if self.animal or self.poses.is_rest:
            return {}
        ways = {name: self._find_way_to_ball(self.bones[name]) for name in LEGS}
        known = {n: way for n, way in ways.items() if np.linalg.norm(way) > NUMBERS.no_foot * leg}
        return find_soles(self.poses, self.bones, known, leg)

    # stance

    def _measure_stance(
        self, name: str, limb: Limb, frames: Mapping[int, np.ndarray], leg: float
    ) -> Limb:
        # motion shows the height of a planted ball better than a rest pose does
        poses = self.poses
        if self.moving is not None and name in self.moving.grounded:
            poses = self.moving
        bones = limb.bones
        weights = poses.flat[name]
        points = poses.positions
        foot = quat.mul(poses.rotations[:, bones.end], frames[bones.end])
        ball = points[:, bones.end] + rotate(foot, limb.foot)
        joints = np.stack([points[:, b] for b in (bones.upper, bones.lower, bones.end)] + [ball], 1)
        ways = quat.normalize_vectors(np.diff(joints, axis=1))
        heights = ball[weights > 0, 2]
        if not (self.animal or (self.moving is not None and name in self.moving.grounded)):
            height = float(heights[0]) if poses.is_rest else NUMBERS.ball_height * leg
            if self.moving is not None:  # the ground below feet that never stand may be far below
                lowest = self.moving.positions[..., 2].min(axis=1)
                low = float(np.percentile(lowest, NUMBERS.planted_balls))
                height += low if low < -NUMBERS.low_ground * leg else 0.0
        else:
            low = np.percentile(heights, NUMBERS.planted_balls)
            near = heights[np.abs(heights - low) <= NUMBERS.around_floor * leg]
            height = float(np.median(near))
        return replace(limb, ball_height=height, stance=weights @ -ways[..., 2])
