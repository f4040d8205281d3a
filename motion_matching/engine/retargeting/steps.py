"""Bring a clip from one body onto another, step by step; all arrays are over its frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..body.limbs import ARMS, LEGS
from ..legs.two_bones import STRAIGHTEST, bend_to
from ..maths.along_time import compute_window
from ..maths.numeric import arctan2
from ..maths.rotations import quat
from ..motion.clip import Clip
from .foot_goals import (
    bend_toes,
    ease_drop,
    find_ball_goals,
    find_drop,
    find_pitch,
    find_tilt,
    measure_mismatch,
    smooth,
)
from .frames.frame_axes import get_axis, rotate, slerp
from .frames.neutral_pose import UP, find_planted
from .frames.partial_pose import PartialPose, WorldMotion
from .numbers import NUMBERS
from .plan import RetargetPlan, compute_limb_scale, list_shared_feet

_PARTS = ("upper", "lower", "end")


class Retargeting:
    """The steps for one clip, or for several end to end. All arrays are over its frames.

    `counts` are the frames of each of several, which do not follow one another.
    """

    def __init__(self, plan: RetargetPlan, clip: Clip, counts: Sequence[int] = ()) -> None:
        self.cuts = np.cumsum(counts)[:-1].tolist() if counts else []
        pelvis = plan.source.pelvis
        self.clip = clip if pelvis is None else pelvis.stiffen(clip)
        self.plan = plan
        self.scale = plan.scale
        self.source = plan.source
        self.target = plan.target
        self.settings = plan.settings
        joints = [bone for limb in self.source.limbs.values() for bone in limb.bones.joints[:3]]
        roots = self.source.roles.chains.get("root", ())[:1]
        placed = [self.source.leg_carrier, *joints, *roots]
        self.motion = WorldMotion(self.clip, self.source.frames, placed)
        self.pose = PartialPose(self.target.usual, plan.links, clip.frame_count)
        self.balls: dict[str, np.ndarray] = {}
        self.planted: dict[str, np.ndarray] = {}
        self.aims: dict[str, dict[str, np.ndarray]] = {}

    def run(self) -> Clip:
        if self.clip.frame_count:
            self._turn_bones()
            if self.settings.keep_translations:
                self._keep_translations()
            self._place_hips()
            if self.settings.foot_ik:
                self._find_source_balls()
                self._plant(LEGS, self._lower_hips)
                self._stand_on_forelegs()
            if self.settings.hand_ik:
                self._pin_hands()
            self._move_root()
        frames = self.target.frames
        added = {
            bone: quat.mul_inv(quat.mul(frames[bone], turn), frames[bone])
            for bone, turn in self.plan.added.items()
        }
        rotations, positions = self.pose.compute_local(added)
        skeleton = self.target.skeleton
        return replace(self.clip, skeleton=skeleton, positions=positions, rotations=rotations)

    def _map_clips(self, change: Callable[..., np.ndarray], *arrays: np.ndarray) -> np.ndarray:
        """Apply `change` to arrays (F, ...), clip by clip."""
        if not self.cuts:
            return change(*arrays)
        parts = zip(*(np.split(array, self.cuts) for array in arrays), strict=True)
        return np.concatenate([change(*part) for part in parts])

    def _get_frame(self, bone: int) -> np.ndarray:
        """Return the anatomical frame (F, 4) of a source's bone."""
        return quat.mul(self.motion.rotations[bone], self.source.frames[bone])

    def _set_frame(self, bone: int, frame: np.ndarray) -> None:
        """Turn a bone of the target so that its anatomical frame is `frame` (F, 4)."""
        self.pose.rotations[bone] = quat.mul_inv(frame, self.target.frames[bone])

    # directions

    def _turn_bones(self) -> None:
        """Give all bones the directions of the source's."""
        direct = [match for match in self.plan.matches if match.share == 0.0]
        worlds = np.stack([self.motion.rotations[match.first] for match in direct], axis=1)
        turned = quat.mul(worlds, self.plan.constants)
        for index, match in enumerate(direct):
            self.pose.rotations[match.bone] = turned[:, index]
        for match in self.plan.matches:
            if match.share > 0.0:
                before, after = map(self._get_frame, (match.first, match.second))
                self._set_frame(match.bone, slerp(before, after, match.share))
        for name in self.plan.limbs:
            bones = self.source.limbs[name].bones
            others = self.target.limbs[name].bones
            self.aims[name] = {part: self._get_frame(getattr(bones, part)) for part in _PARTS}
            self.aims[name]["end"] = self._turn_held(others.end, self.aims[name]["end"])

    def _turn_held(self, bone: int, frame: np.ndarray) -> np.ndarray:
        """Turn a frame (F, 4) by the offset of a bone that feet depend on, if it has one."""
        return quat.mul(frame, self.plan.held[bone]) if bone in self.plan.held else frame

    def _keep_translations(self) -> None:
        """Move bones of trunk and arms in their parents as the source's, scaled."""
        legs = {bone for leg in LEGS for bone in self.target.limbs[leg].bones.joints}
        moved: dict[int, np.ndarray] = {}
        of_legs = self._find_translation(self.source.leg_carrier)
        for match in sorted(self.plan.matches, key=lambda match: match.bone):
            if match.bone in legs or match.bone == self.target.hips:
                continue
            ways = [self._find_translation(b) - of_legs for b in (match.first, match.second)]
            moved[match.bone] = self.scale * (ways[0] + match.share * (ways[1] - ways[0]))
            shift = moved[match.bone] - moved.get(self.plan.links[match.bone].anchor, 0.0)
            if np.abs(shift).max() > NUMBERS.bone_slides * self.target.leg:
                self.pose.shifts[match.bone] = shift

    def _find_translation(self, bone: int) -> np.ndarray:
        """Return how far (F, 3) a source's bone is moved by the bones from the hips down to it."""
        total = np.zeros((self.clip.frame_count, 3))
        for below in self.source.skeleton.get_chain_to_root(bone):
            if below == self.source.hips:
                break
            away = self.clip.positions[:, below] - self.source.usual.rest_positions[below]
            if np.abs(away).max() > 1e-6:
                above = int(self.source.skeleton.parents[below])
                total += quat.mul_vec(self.motion.rotations[above], away)
        return total

    # hips and feet

    def _place_hips(self) -> None:
        """Put the middle of the hip joints where the source's is, above the ankles, scaled."""
        source = self.source
        target = self.target
        turn = self.motion.rotations[source.leg_carrier]
        middle = self.motion.positions[source.leg_carrier] + rotate(turn, source.carrier_middle)
        middle = self.plan.travel * (middle - source.ankle * UP) + target.ankle * UP
        offset = rotate(self.pose.rotations[target.hips], target.hip_middle)
        self.pose.placed[target.hips] = middle - offset

    def _plant(self, legs: Sequence[str], lower: Callable[[np.ndarray], None]) -> None:
        """Bring the balls of feet to where the source's are; `lower` the body (F,) if needed."""
        names = [name for name in legs if name in self.balls]
        goals = {}
        drops = np.zeros(self.clip.frame_count)
        for name in names:
            limb = self.target.limbs[name]
            planted = self.planted[name]
            goals[name] = self._find_goal(name)
            root = self.pose.compute_position(limb.bones.upper)
            ankle = self._find_ankle(name, goals[name])
            drops = np.maximum(drops, find_drop(root, ankle, STRAIGHTEST * limb.reach, planted))
        if drops.any():
            lower(self._map_clips(lambda drop: ease_drop(drop, self.clip.fps), drops))
        for name in names:
            self._solve(name, self._find_ankle(name, goals[name]))
            self._level_toes(name, goals[name])

    def _level_toes(self, name: str, ball: np.ndarray) -> None:
        """Keep toes on the ground below a raised heel if the source has none to follow."""
        ours = self.source.limbs[name].bones
        theirs = self.target.limbs[name]
        toe = theirs.bones.toe
        if toe is None or ours.toe is not None or self.target.roles.four_legged:
            return
        heights = ball[:, 2] - theirs.ball_height
        self._set_frame(toe, bend_toes(self.aims[name]["end"], heights, self.target.leg))

    def _lower_hips(self, drop: np.ndarray) -> None:
        hips = self.target.hips
        self.pose.placed[hips] = self.pose.placed[hips] - drop[:, None] * UP

    def _stand_on_forelegs(self) -> None:
        """Bring the chest to a height at which forelegs stand like the source's, and plant them."""
        names = [name for name in ARMS if name in self.balls]
        if len(names) < 2:
            self._plant(ARMS, lambda drop: None)
            return
        scale = compute_limb_scale(self.source, self.target, ARMS)
        shoulders = []
        grounds = []
        for name in names:
            ours = self.source.limbs[name]
            theirs = self.target.limbs[name]
            shoulders.append(self.motion.positions[ours.bones.upper][:, 2])
            grounds.append(theirs.ball_height - scale * ours.ball_height)
        heights = scale * np.mean(shoulders, axis=0) + np.mean(grounds)
        self._tilt_trunk(heights - self._find_chest()[:, 2], NUMBERS.tilt_slack)
        self._plant(ARMS, lambda drop: self._tilt_trunk(-drop, 0.0))

    def _find_chest(self, arms: Sequence[str] = ARMS) -> np.ndarray:
        """Return the middle (F, 3) between the joints of shoulders and upper arms."""
        joints = [self.target.limbs[name].bones.upper for name in arms]
        return np.mean([self.pose.compute_position(bone) for bone in joints], axis=0)

    def _tilt_trunk(self, rise: np.ndarray, slack: float) -> None:
        """Turn the spine about its lowest bone so that the shoulders `rise` (F,)."""
        spine = [bone for bone in self.target.get_chain("spine") if bone in self.pose.rotations]
        if not spine:
            return
        pivot = self.pose.compute_position(spine[0])
        turn = self._map_clips(
            lambda way, high: find_tilt(way, high, slack, self.clip.fps),
            self._find_chest() - pivot,
            rise,
        )
        collars = [self.target.limbs[name].bones.collar for name in ARMS]
        for bone in [*spine, *(bone for bone in collars if bone in self.pose.rotations)]:
            self.pose.rotations[bone] = quat.mul(turn, self.pose.rotations[bone])

    def _find_source_balls(self) -> None:
        """Find the source's balls (F, 3) and when they rest (F,), for limbs that both stand on."""
        for name in list_shared_feet(self.source, self.target):
            limb = self.source.limbs[name]
            ankle = self.motion.positions[limb.bones.end]
            self.balls[name] = ankle + rotate(self._get_frame(limb.bones.end), limb.foot)
        # planted feet of an animal are inferred from their relative speeds, so all at once
        joined = np.stack(list(self.balls.values()), axis=1)
        leg = self.source.leg
        animal = self.source.roles.four_legged
        planted = self._map_clips(
            lambda balls: find_planted(balls, self.clip.fps, leg, animal), joined
        )
        self.planted = dict(zip(self.balls, planted.T, strict=True))

    def _find_goal(self, name: str) -> np.ndarray:
        """Return where (F, 3) the ball of a foot goes, and pitch the foot for it."""
        ours = self.source.limbs[name]
        theirs = self.target.limbs[name]
        aims = self.aims[name]
        root = self.pose.compute_position(theirs.bones.upper)
        upper = theirs.lengths[0]
        lower = theirs.lengths[1]
        leg = upper * get_axis(aims["upper"], 1) + lower * get_axis(aims["lower"], 1)
        ideal = root + leg + rotate(aims["end"], theirs.foot) - theirs.ball_height * UP
        scaled = self.plan.travel * (self.balls[name] - ours.ball_height * UP)
        goal = self._map_clips(
            lambda a, b, c: find_ball_goals(a, b, c, self.clip.fps, self.target.leg),
            scaled,
            ideal,
            self.planted[name],
        )
        goal = goal + theirs.ball_height * UP
        self._pitch_foot(name, root, goal, np.linalg.norm(leg, axis=-1))
        return goal

    def _pitch_foot(self, name: str, root: np.ndarray, ball: np.ndarray, far: np.ndarray) -> None:
        """Pitch a foot that is longer or shorter for its leg, instead of bending the knee."""
        ours = self.source.limbs[name]
        theirs = self.target.limbs[name]
        aims = self.aims[name]
        share = measure_mismatch(self.scale * ours.foot[1], theirs.foot[1])
        if share > 0.0 and not self.target.roles.four_legged:
            turn = find_pitch(root, ball, aims["end"], theirs.foot, far)
            window = compute_window(NUMBERS.steady, self.clip.fps)
            turn = self._map_clips(lambda angles: smooth(angles, window), turn)
            turn = quat.from_angle_axis(share * turn, get_axis(aims["end"], 0))
            aims["end"] = quat.mul(turn, aims["end"])
            self._set_frame(theirs.bones.end, aims["end"])

    def _find_ankle(self, name: str, ball: np.ndarray) -> np.ndarray:
        return ball - rotate(self.aims[name]["end"], self.target.limbs[name].foot)

    def _solve(self, name: str, goal: np.ndarray) -> None:
        """Bend a limb as the source's so that its last bone is at `goal` (F, 3)."""
        limb = self.target.limbs[name]
        root = self.pose.compute_position(limb.bones.upper)
        frames = [self.aims[name][part] for part in ("upper", "lower")]
        upper, lower = (
            length * get_axis(frame, 1)
            for length, frame in zip(limb.lengths[:2], frames, strict=True)
        )
        # X is the hinge
        whole, at_joint = bend_to(upper, lower, goal - root, get_axis(frames[0], 0), STRAIGHTEST)
        turns = whole, quat.mul(whole, at_joint)
        for bone, frame, turn in zip(limb.bones.joints[:2], frames, turns, strict=True):
            self._set_frame(bone, self._turn_held(bone, quat.mul(turn, frame)))

    # options

    def _pin_hands(self) -> None:
        """Bring hands to the source's places relative to the shoulders, scaled."""
        names = [name for name in ARMS if name in self.plan.limbs]
        names = [name for name in names if self.target.limbs[name].ball is None]
        if not names:
            return
        shoulders = [self.motion.positions[self.source.limbs[n].bones.upper] for n in names]
        ours = np.mean(shoulders, axis=0)
        theirs = self._find_chest(names)
        for name in names:
            hand = self.motion.positions[self.source.limbs[name].bones.end]
            free = self.pose.compute_position(self.target.limbs[name].bones.end)
            pinned = theirs + self.scale * (hand - ours)
            self._solve(name, free + self.settings.hand_ik * (pinned - free))

    def _move_root(self) -> None:
        """Move the bone above the hips; the hips stay where they are in the world."""
        root = self.plan.root
        if root is None:
            return
        rotations, places = self.target.usual.compute_rest_world()
        is_below = self.settings.fit_root == "ground"
        turn, place = self._follow_hips() if is_below else self._follow_root()
        self.pose.rotations[root] = quat.mul(turn, rotations[root].astype(np.float64))
        self.pose.placed[root] = place + rotate(turn, places[root].astype(np.float64))

    def _follow_root(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the turn (F, 4) and scaled shift (F, 3) of the source's root from its rest."""
        bone = self.source.roles.chains["root"][0]
        rotation = self.motion.rotations[bone]
        position = self.motion.positions[bone]
        moves = self._map_clips(self._find_moves, rotation, position)[:, None]
        turn = self._get_frame(bone)
        place = self.plan.travel * (position - rotate(turn, self.source.root_place))
        return np.where(moves, turn, quat.IDENTITY), np.where(moves, place, 0.0)

    def _find_moves(self, rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
        """Return whether a root goes or turns in a clip, for each frame (F,) the same."""
        angles = quat.angle_between(rotation, rotation[:1])
        far = np.ptp(position, axis=0).max() >= NUMBERS.root_moves * self.source.leg
        return np.full(len(rotation), far or angles.max() >= NUMBERS.root_moves)

    def _follow_hips(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the facing (F, 4) of the hips, and their place on the ground (F, 3)."""
        bones = [self.target.limbs[leg].bones.upper for leg in LEGS]
        left, right = (self.pose.compute_position(bone) for bone in bones)
        across = left - right
        middle = 0.5 * (left + right)
        turn = quat.from_yaw(np.unwrap(arctan2(across[:, 1], across[:, 0])))
        return turn, middle * [1.0, 1.0, 0.0]
