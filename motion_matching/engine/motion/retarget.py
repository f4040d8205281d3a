"""Bring motion from one skeleton onto another by the roles of their bones.

Torso, arms, hands and feet take the directions of the source in the world. Hips follow the source's
by the length of the legs, the balls of the feet stand where the source's do, and knees and elbows
bend to the side that the source's bend to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..errors import RigError, SettingsError
from ..maths import quat
from .anatomy import Anatomy, Limb
from .body_roles import BODY_ROLES, BodyRoles, find_body_roles
from .bone_matches import match_bones
from .clip import Clip
from .foot_goals import ease_drop, find_ball_goals, find_drop, find_pitch, measure_mismatch
from .frame_axes import get_axis, rotate, slerp
from .limb_bones import ARMS, LEGS
from .neutral_pose import UP, find_planted
from .partial_pose import PartialPose, WorldMotion, find_links
from .retarget_settings import RetargetSettings
from .skeleton import Skeleton
from .two_bones import REACH, find_pole, solve_two_bones

_MOVES = 0.01  # of a leg's length, and radians: a root bone that moves less is at rest
_DEFAULTS = RetargetSettings()
_PARTS = ("upper", "lower", "end")


class Retargeter:
    """Brings clips of one body onto another. Raises SettingsError for unknown roles of offsets."""

    def __init__(
        self, source: Anatomy, target: Anatomy, settings: RetargetSettings = _DEFAULTS
    ) -> None:
        self.source, self.target, self.settings = source, target, settings
        self.scale = settings.scale or compute_scale(source, target)
        unknown = [role for role in settings.offsets if role not in BODY_ROLES]
        if unknown:
            raise SettingsError(f"'{unknown[0]}' is not a role of a body that can be turned.")
        self.limbs = [name for name in target.limbs if name in source.limbs]
        self.matches = match_bones(source, target)
        self.root = self._find_root()
        posed = [match.bone for match in self.matches]
        self.links = find_links(
            target.skeleton, posed if self.root is None else [*posed, self.root]
        )

    def retarget(self, clip: Clip) -> Clip:
        """Return the clip on the target's skeleton. Raises RigError for one of another skeleton."""
        skeleton = self.source.skeleton
        if clip.skeleton.names != skeleton.names:
            raise RigError(
                f"'{clip.name}' has other bones than the skeleton it is retargeted from; choose "
                "clips of that skeleton."
            )
        return _Retargeting(self, clip).run()

    def _find_root(self) -> int | None:
        """Return the target's bone above the hips that moves, if there is one."""
        roots, ours = (body.roles.chains.get("root", ()) for body in (self.target, self.source))
        moves = {"rest": False, "source": bool(ours), "ground": True}[self.settings.fit_root]
        return roots[0] if roots and moves else None


class _Retargeting:
    """The steps for one clip. All arrays are over its frames."""

    def __init__(self, plan: Retargeter, clip: Clip) -> None:
        self.plan, self.clip, self.scale = plan, clip, plan.scale
        self.source, self.target, self.settings = plan.source, plan.target, plan.settings
        ends = [limb.bones.toe for limb in self.source.limbs.values() if limb.bones.toe is not None]
        self.motion = WorldMotion(clip, [*self.source.frames, *ends])
        self.pose = PartialPose(self.target.skeleton, plan.links, clip.frame_count)
        self.aims: dict[str, dict[str, np.ndarray]] = {}

    def run(self) -> Clip:
        if self.clip.frame_count:
            self._turn_bones()
            self._place_hips()
            if self.settings.foot_ik:
                self._plant(LEGS, lower_hips=True)
                self._plant(ARMS, lower_hips=False)
            if self.settings.hand_ik:
                self._pin_hands()
            self._move_root()
        rotations, positions = self.pose.compute_local()
        return replace(
            self.clip, skeleton=self.target.skeleton, positions=positions, rotations=rotations
        )

    def _get_frame(self, bone: int) -> np.ndarray:
        """Return the anatomical frame (F, 4) of a source's bone."""
        return quat.mul(self.motion.rotations[bone], self.source.frames[bone])

    def _set_frame(self, bone: int, frame: np.ndarray) -> None:
        """Turn a bone of the target so that its anatomical frame is `frame` (F, 4)."""
        self.pose.rotations[bone] = quat.mul_inv(frame, self.target.frames[bone])

    # directions

    def _turn_bones(self) -> None:
        """Give all bones the directions of the source's."""
        for match in self.plan.matches:
            frame = self._get_frame(match.first)
            if match.share > 0.0:
                frame = slerp(frame, self._get_frame(match.second), match.share)
            self._set_frame(match.bone, frame)
        for name in self.plan.limbs:
            bones = self.source.limbs[name].bones
            self.aims[name] = {part: self._get_frame(getattr(bones, part)) for part in _PARTS}

    # hips and feet

    def _place_hips(self) -> None:
        """Put the middle of the hip joints where the source's is, above the ankles, scaled."""
        source, target = self.source, self.target
        turn = self.motion.rotations[source.hips]
        middle = self.motion.positions[source.hips] + rotate(turn, source.hip_middle)
        middle = self.scale * (middle - source.ankle * UP) + target.ankle * UP
        offset = rotate(self.pose.rotations[target.hips], target.hip_middle)
        self.pose.placed[target.hips] = middle - offset

    def _plant(self, names: Sequence[str], lower_hips: bool) -> None:
        """Bring the balls of feet to where the source's are."""
        names = [
            name
            for name in names
            if name in self.plan.limbs
            and self.target.limbs[name].ball is not None
            and self.source.limbs[name].ball is not None
        ]
        if not names:
            return
        balls, planted = self._find_source_balls(names)
        goals, drops = {}, np.zeros(self.clip.frame_count)
        for index, name in enumerate(names):
            goals[name] = self._find_goal(name, balls[:, index], planted[:, index])
        for index, name in enumerate(names):
            limb = self.target.limbs[name]
            ankle = self._find_ankle(name, goals[name])
            root = self.pose.compute_position(limb.bones.upper)
            drop = find_drop(root, ankle, REACH * limb.reach, planted[:, index])
            drops = np.maximum(drops, drop)
        if lower_hips:
            self.pose.placed[self.target.hips] = (
                self.pose.placed[self.target.hips] - ease_drop(drops, self.clip.fps)[:, None] * UP
            )
        for name in names:
            self._solve(name, self._find_ankle(name, goals[name]))

    def _find_source_balls(self, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the source's balls (F, L, 3), and when they rest (F, L)."""
        balls = []
        for name in names:
            limb = self.source.limbs[name]
            ankle = self.motion.positions[limb.bones.end]
            balls.append(ankle + rotate(self.aims[name]["end"], limb.foot))
        joined = np.stack(balls, axis=1)
        animal = self.source.roles.four_legged
        return joined, find_planted(joined, self.clip.fps, self.source.leg, animal)

    def _find_goal(self, name: str, ball: np.ndarray, planted: np.ndarray) -> np.ndarray:
        """Return where (F, 3) the ball of a foot goes, and pitch the foot for it."""
        ours, theirs, aims = self.source.limbs[name], self.target.limbs[name], self.aims[name]
        root = self.pose.compute_position(theirs.bones.upper)
        upper, lower = theirs.lengths[0], theirs.lengths[1]
        leg = upper * get_axis(aims["upper"], 1) + lower * get_axis(aims["lower"], 1)
        ideal = root + leg + rotate(aims["end"], theirs.foot) - theirs.ball_height * UP
        scaled = self.scale * (ball - ours.ball_height * UP)
        goal = find_ball_goals(scaled, ideal, planted, self.clip.fps, self.target.leg)
        goal = goal + theirs.ball_height * UP
        self._pitch_foot(name, root, goal, np.linalg.norm(leg, axis=-1))
        return goal

    def _pitch_foot(self, name: str, root: np.ndarray, ball: np.ndarray, far: np.ndarray) -> None:
        """Pitch a foot that is longer or shorter for its leg, instead of bending the knee."""
        ours, theirs, aims = self.source.limbs[name], self.target.limbs[name], self.aims[name]
        share = measure_mismatch(self.scale * ours.foot[1], theirs.foot[1])
        if share > 0.0 and not self.target.roles.four_legged:
            turn = find_pitch(root, ball, aims["end"], theirs.foot, far, self.clip.fps)
            turn = quat.from_angle_axis(share * turn, get_axis(aims["end"], 0))
            aims["end"] = quat.mul(turn, aims["end"])
            self._set_frame(theirs.bones.end, aims["end"])

    def _find_ankle(self, name: str, ball: np.ndarray) -> np.ndarray:
        return ball - rotate(self.aims[name]["end"], self.target.limbs[name].foot)

    def _solve(self, name: str, goal: np.ndarray) -> None:
        """Bend a limb as the source's so that its last bone is at `goal` (F, 3)."""
        limb: Limb = self.target.limbs[name]
        root = self.pose.compute_position(limb.bones.upper)
        frames = [self.aims[name][part] for part in ("upper", "lower")]
        pole = find_pole(*frames, limb.lengths, goal - root)
        ways = solve_two_bones(root, goal, limb.lengths[:2], pole)
        for bone, frame, way in zip(
            (limb.bones.upper, limb.bones.lower), frames, ways, strict=True
        ):
            # the shortest turn leaves the twist of the source
            turn = quat.between(get_axis(frame, 1), way)
            self._set_frame(bone, quat.mul(turn, frame))

    # options

    def _pin_hands(self) -> None:
        """Bring hands to where the source's are against the shoulders, scaled."""
        names = [name for name in ARMS if name in self.plan.limbs]
        names = [name for name in names if self.target.limbs[name].ball is None]
        if not names:
            return
        ours = np.mean(
            [self.motion.positions[self.source.limbs[n].bones.upper] for n in names], axis=0
        )
        theirs = np.mean(
            [self.pose.compute_position(self.target.limbs[n].bones.upper) for n in names], axis=0
        )
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
        rotations, places = self.target.skeleton.compute_rest_world()
        turn, place = (
            self._follow_hips() if self.settings.fit_root == "ground" else self._follow_root()
        )
        self.pose.rotations[root] = quat.mul(turn, rotations[root].astype(np.float64))
        self.pose.placed[root] = place + rotate(turn, places[root].astype(np.float64))

    def _follow_root(self) -> tuple[np.ndarray, np.ndarray]:
        """Return how the source's root has turned (F, 4) and gone (F, 3) from its rest, scaled."""
        bone = self.source.roles.chains["root"][0]
        rotation, position = self.motion.rotations[bone], self.motion.positions[bone]
        angles = quat.angle_between(rotation, rotation[:1])
        if np.ptp(position, axis=0).max() < _MOVES * self.source.leg and angles.max() < _MOVES:
            return np.tile(quat.IDENTITY, (len(rotation), 1)), np.zeros((len(rotation), 3))
        turn = self._get_frame(bone)
        rest = self.source.root_place
        return turn, self.scale * (position - rotate(turn, rest))

    def _follow_hips(self) -> tuple[np.ndarray, np.ndarray]:
        """Return where the hips face (F, 4), and their place on the ground (F, 3)."""
        bones = [self.target.limbs[leg].bones.upper for leg in LEGS]
        left, right = (self.pose.compute_position(bone) for bone in bones)
        across, middle = left - right, 0.5 * (left + right)
        turn = quat.from_yaw(np.unwrap(np.arctan2(across[:, 1], across[:, 0])))
        return turn, middle * [1.0, 1.0, 0.0]


def compute_scale(source: Anatomy, target: Anatomy) -> float:
    """Return how many metres of the target a metre of the source is, by the lengths of legs."""
    if not (source.roles.four_legged and target.roles.four_legged):
        return target.leg / source.leg
    ours, theirs = (_measure_stance(body, source) for body in (source, target))
    return theirs / ours


def _measure_stance(body: Anatomy, like: Anatomy) -> float:
    """Return how high the hips of a body are if its legs stand like another's."""
    heights = [np.dot(body.limbs[leg].lengths, like.limbs[leg].stance) for leg in LEGS]
    return float(np.mean(heights))


def retarget_clips(
    clips: Sequence[Clip],
    target: Skeleton,
    *,
    source_roles: BodyRoles | Mapping[str, str] | None = None,
    target_roles: BodyRoles | Mapping[str, str] | None = None,
    target_clips: Sequence[Clip] = (),
    settings: RetargetSettings = _DEFAULTS,
) -> list[Clip]:
    """Return clips of any skeletons on the target's; those of one skeleton are measured together.

    Roles are found by names and shape where they are not given, or given by bone names in part.
    """
    onto = _measure(target, target_clips, target_roles)
    retargeters: list[tuple[Skeleton, Retargeter]] = []
    result = []
    for clip in clips:
        known = next((r for s, r in retargeters if is_same_skeleton(s, clip.skeleton)), None)
        if known is None:
            alike = [other for other in clips if is_same_skeleton(other.skeleton, clip.skeleton)]
            known = Retargeter(_measure(clip.skeleton, alike, source_roles), onto, settings)
            retargeters.append((clip.skeleton, known))
        result.append(known.retarget(clip))
    return result


def _measure(
    skeleton: Skeleton, clips: Sequence[Clip], roles: BodyRoles | Mapping[str, str] | None
) -> Anatomy:
    if not isinstance(roles, BodyRoles):
        roles = find_body_roles(skeleton, clips, roles)
    return Anatomy.from_clips(skeleton, roles, clips)


def is_same_skeleton(one: Skeleton, two: Skeleton) -> bool:
    """Return whether skeletons have the same bones that rest alike."""
    return one is two or (
        one.names == two.names
        and np.array_equal(one.parents, two.parents)
        and np.allclose(one.rest_positions, two.rest_positions, rtol=1e-4, atol=1e-5)
        and np.allclose(one.rest_rotations, two.rest_rotations, atol=1e-4)
    )
