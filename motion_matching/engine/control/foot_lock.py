"""Keep feet where they are planted: contacts lock the toe, inverse kinematics bends the leg to it.

Source: article 002, Sliding and Foot Locking. `contact_lock` places each toe.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter

import numpy as np

from ..maths.planar import wrap
from ..maths.scalar_quat import Quaternion, Vector, between, inv_mul, mul, mul_vec
from ..maths.springs import compute_remainder, spring
from .contact_lock import ContactLock
from .feet_apart import FeetApart
from .ground import FLAT, Ground, compute_step_height, is_flat
from .knee_limit import KneeLimit
from .landing import RULES
from .leap_limit import LeapLimit
from .legs import (
    CLOSE,
    Joint,
    LegGeometry,
    bend,
    compute_world_joints,
    is_bent_backward,
    roll_foot,
    unfold,
)
from .played_toes import PlayedToe, PlayedToes, move_aside
from .settings import PerformerSettings
from .stepping import Stepping

# the joints that a leg turns, each after its parent: hip, knee, ankle, toe
LegJoints = tuple[Joint, ...]

_TRIES = 3  # times that a foot is moved less, for a knee that would leap
_LIFTING = 0.04  # seconds: halflife with which a foot comes up that started below the floor
_DRIFTING = 0.05  # seconds: halflife of how fast a character drifts, as single ticks are uneven


class FootLock:
    """Locks a character's toes; feet follow uneven ground directly, the hips with a spring."""

    def __init__(self, legs: Sequence[LegGeometry], ground: Ground = FLAT) -> None:
        self._legs = tuple(legs)
        self._ground = ground
        self._is_flat = is_flat(ground)
        self._locks = tuple(ContactLock() for _ in legs)
        self._unknown: list[PlayedToe | None] = [None] * len(legs)
        self._steps = Stepping(len(legs))
        self._apart = FeetApart(legs)
        self._knees = tuple(KneeLimit(leg) for leg in legs)
        self._leaps = tuple(LeapLimit() for _ in legs)
        # the bones of all legs, shared ones once; joint 0 is the root, these are the others
        bones = list(dict.fromkeys(bone for leg in legs for bone in leg.chain))
        paths = [(0, *(bones.index(bone) + 1 for bone in leg.chain)) for leg in legs]
        parents = {joint: parent for path in paths for parent, joint in pairwise(path)}
        self._bones = np.array([0, *bones])
        self._parents = [parents[joint] for joint in sorted(parents)]
        # for each leg: the joints of thigh, shin, foot and toe, each after its parent; those bones;
        # and the bones whose rotations are written: once where foot and toe are one bone
        self._joint_getters, self._bone_getters, self._turned_bones = [], [], []
        for leg, path in zip(legs, paths, strict=True):
            ends = (leg.thigh, leg.shin, leg.foot, len(leg.chain) - 1)
            self._joint_getters.append(itemgetter(*(path[k + i] for k in ends for i in (0, 1))))
            self._bone_getters.append(itemgetter(*(path[k + 1] - 1 for k in ends)))
            self._turned_bones += [leg.chain[k] for k in dict.fromkeys(ends)]
        self._bone_count, self._rotation_indices = 0, np.empty(0, np.intp)
        self.reset()

    def release(self) -> None:
        """Leave the toes where the data has them."""
        for each in (*self._locks, *self._knees, *self._leaps):
            each.reset()
        self._apart.reset()
        self._steps.reset()
        self._root: tuple[float, float, float] | None = None  # a tick ago
        self._drift = (0.0, 0.0, 0.0)  # m/s and rad/s
        self._turning = 0.0  # rad/s

    def reset(self) -> None:
        self.release()
        # the lower of those under heel and toe, for each foot
        self._floors = [0.0] * len(self._locks)
        # how far below the floor the feet started, in metres; they come up from there
        self._sunk = [0.0] * len(self._locks)
        self._height: float | None = None
        self._climb = 0.0

    def start_from(
        self, pose: np.ndarray, before: np.ndarray, settings: PerformerSettings, dt: float
    ) -> float:
        """Plant the feet that stand in a pose (7, B) of the world, which was `before` a tick ago.

        Returns the character's height. Feet that are below the floor come up to it smoothly.
        """
        self.reset()
        now, then = (self._compute_joints(each) for each in (pose, before))
        stands = float(pose[2, 0])
        lowest = []
        for k, (leg, lock) in enumerate(zip(self._legs, self._locks, strict=True)):
            own = self._joint_getters[k](now)
            (x, y, z), attitude = own[-1]
            toe, floor = (x, y, z), 0.0
            if not self._is_flat:
                floor = compute_step_height(self._ground, x, y, stands)
            below = [leg.toe_height - z, leg.foot_height - own[-3][0][2]]
            if leg.tip is not None:
                below.append(leg.tip_height - z - mul_vec(attitude, leg.tip)[2])
            self._sunk[k] = max(0.0, max(below) + floor)
            was = self._joint_getters[k](then)
            _, hip, _, knee, _, ankle, *_ = own
            self._knees[k].start_from(
                math.dist(hip[0], ankle[0]),
                math.dist(was[1][0], was[5][0]),
                math.dist(hip[0], knee[0]),
                math.dist(knee[0], ankle[0]),
                dt,
            )
            lock.start_from(toe, was[-1][0], floor + leg.toe_height, settings, dt)
            self._floors[k] = floor
            if lock.locked:
                lowest.append(floor)
        if self._is_flat:
            return 0.0
        x, y = pose[:2, 0].tolist()
        height = min(lowest) if lowest else self._ground.height(x, y)
        self._height = height
        return height

    @property
    def locked(self) -> tuple[bool, ...]:
        """Which toes (L,) are locked."""
        return tuple([lock.locked for lock in self._locks])

    @property
    def plants(self) -> list[Vector | None]:
        """Where toes (L,) are planted in the world, None for those that are not."""
        return [lock.plant if lock.locked else None for lock in self._locks]

    def allow_stretch(self, spare: Sequence[float]) -> None:
        """Let legs (L,) stretch by so many metres before they give way, as a layer bent them."""
        for lock, metres in zip(self._locks, spare, strict=True):
            lock.spare = metres

    @property
    def stepping(self) -> int:
        """Which foot steps because the character stands elsewhere, -1 if none does."""
        return self._steps.foot

    @property
    def offset(self) -> tuple[float, float]:
        """How far in metres a body that stands would have to move to be above its planted feet."""
        return self._steps.offset

    def update_height(self, x: float, y: float, settings: PerformerSettings, dt: float) -> float:
        """Return the character's height, sprung toward the lowest floor under its planted feet."""
        if self._is_flat:
            return 0.0
        floors = zip(self._floors, self._locks, strict=True)
        planted = [floor for floor, lock in floors if lock.locked]
        lowest = min(planted) if planted else self._ground.height(x, y)
        height = lowest if self._height is None else self._height
        height, self._climb = spring(height, self._climb, lowest, settings.hips_halflife, dt)
        self._height = height
        return height

    def apply(
        self,
        pose: np.ndarray,
        contacts: np.ndarray,
        settings: PerformerSettings,
        dt: float,
        stands: bool = False,
        toes: PlayedToes | None = None,
        hardest: float = math.inf,
        calm: float = math.inf,
    ) -> None:
        """Bend the legs of a pose (7, B), placed in the world by bone 0, to their toes' targets.

        Where it `stands`, feet that are planted elsewhere than in the pose step there. Feet about
        to land move as the `toes` of the frame that is played, if these are known. Toes and ankles
        accelerate no harder than the `hardest` in m/s².
        """
        root, *bones = pose.take(self._bones, 1).T.tolist()
        joints = compute_world_joints(root, bones, self._parents)
        buffer, turned = settings.stretch_buffer, []
        legs_joints = [get(joints) for get in self._joint_getters]
        if stands:
            self._begin_step(legs_joints, contacts.tolist(), dt)
        else:
            self._steps.move()
        asides = self._apart.update(legs_joints, self._locks, dt)
        drift = self._measure_drift(root, toes, dt)
        all_played: Sequence[PlayedToe | None] = self._unknown
        if toes and not self._steps.is_active:
            all_played = toes.to_world(root, drift, [not lock.locked for lock in self._locks])
        for k, (leg, contact) in enumerate(zip(self._legs, contacts.tolist(), strict=True)):
            own, lock = legs_joints[k], self._locks[k]
            was_firm, lock.is_held = lock.is_firm, stands
            sunk = self._sunk[k]
            if sunk:
                sunk = self._sunk[k] = sunk * compute_remainder(_LIFTING, dt)
            toe, played = own[-1][0], all_played[k]
            if asides:
                toe = toe[0] + asides[k][0], toe[1] + asides[k][1], toe[2]
                played = played and move_aside(played, asides[k])
            if self._steps.is_active:
                toe = self._steps.place(k, toe, dt)
                contact = contact and k != self._steps.foot
            if self._is_flat:
                target = lock.update(
                    toe, contact, leg.toe_height - sunk, settings, dt, played, hardest
                )
                floors = (-sunk, -sunk, -sunk)
            else:
                target, floors = self._step_on_floor(
                    k, own, toe, root[2], contact, settings, dt, played, hardest
                )
                self._floors[k] = min(floors[:2])
            if lock.is_firm and (not was_firm or not lock.locked):
                turning = self._turning * (lock.left + RULES.beside)
                lock.move_plant(*self._apart.find_room(k, legs_joints, self._locks, turning))
            before = self._bone_getters[k](bones)
            knee = self._knees[k]
            knee.hardest = hardest
            turned += _solve_leg(
                *(leg, own, before, target, floors, buffer, lock, knee, dt, self._leaps[k]),
                min(hardest, calm) * dt * dt,
            )
        pose.put(self._get_rotation_indices(pose.shape[1]), turned)

    def _measure_drift(
        self, root: Sequence[float], toes: PlayedToes | None, dt: float
    ) -> tuple[float, float, float]:
        """Return how the character moves beside the motion that is played, in m/s and rad/s."""
        x, y, yaw = root[0], root[1], 2.0 * math.atan2(root[6], root[3])
        before, self._root = self._root, (x, y, yaw)
        self._turning = wrap(yaw - before[2]) / dt if before else 0.0
        if toes is None or before is None:
            self._drift = (0.0, 0.0, 0.0)
            return self._drift
        vx, vy, turn = toes.root.tolist()
        c, s = math.cos(before[2]), math.sin(before[2])
        kept = compute_remainder(_DRIFTING, dt)
        dx, dy, dyaw = self._drift
        self._drift = (
            kept * dx + (1.0 - kept) * ((x - before[0]) / dt - c * vx + s * vy),
            kept * dy + (1.0 - kept) * ((y - before[1]) / dt - s * vx - c * vy),
            kept * dyaw + (1.0 - kept) * (self._turning - turn),
        )
        return self._drift

    def _begin_step(self, legs: Sequence[LegJoints], contacts: Sequence[bool], dt: float) -> None:
        """Let the foot step that is planted farthest away, if all are planted and one is far."""
        toes = [joints[-1][0] for joints in legs]
        stand = [
            contact and lock.locked for contact, lock in zip(contacts, self._locks, strict=True)
        ]
        plants = [lock.plant if on else None for on, lock in zip(stand, self._locks, strict=True)]
        if self._steps.stand(toes, plants, dt):
            self._locks[self._steps.foot].leave()

    def _compute_joints(self, pose: np.ndarray) -> list[Joint]:
        root, *bones = pose.take(self._bones, 1).T.tolist()
        return compute_world_joints(root, bones, self._parents)

    def _get_rotation_indices(self, bone_count: int) -> np.ndarray:
        """Return the flat indices into a pose (7, B) of the rotations that are written."""
        if bone_count != self._bone_count:
            rows = bone_count * np.arange(3, 7)
            self._bone_count = bone_count
            self._rotation_indices = np.add.outer(np.array(self._turned_bones, np.intp), rows)
        return self._rotation_indices

    def _step_on_floor(
        self,
        k: int,
        joints: LegJoints,
        toe: Vector,
        stands: float,
        contact: bool,
        settings: PerformerSettings,
        dt: float,
        played: PlayedToe | None,
        hardest: float,
    ) -> tuple[Vector, Vector]:
        """Return the target of a leg's toe, and the floor's heights under toe, ankle and tip.

        `toe` is where the data has it, or where its step does.
        """
        lock, ground, toe_height = self._locks[k], self._ground, self._legs[k].toe_height
        x, y, z = toe
        ox, oy, *_ = lock.offset
        shown = lock.plant[:2] if lock.locked else (x + ox, y + oy)
        floor = compute_step_height(ground, *shown, stands)
        below = compute_step_height(ground, *lock.plant[:2], stands) if lock.is_firm else floor
        # a foot is as high above the floor as the data has it above flat ground
        data = (x, y, z - stands + floor)
        sunk = self._sunk[k]
        lowest = below + toe_height - sunk
        target = lock.update(data, contact, lowest, settings, dt, played, hardest)
        ankle, own = joints[-3][0], joints[-1][0]
        ex, ey = ankle[0] - own[0], ankle[1] - own[1]
        heel = compute_step_height(ground, target[0] + ex, target[1] + ey, stands)
        tip = compute_step_height(ground, target[0] - ex, target[1] - ey, stands)
        floor = compute_step_height(ground, *target[:2], stands)
        return target, (floor - sunk, heel - sunk, tip - sunk)


def _solve_leg(
    leg: LegGeometry,
    joints: LegJoints,
    bones: Sequence[list[float]],
    target: Vector,
    floors: Vector,
    buffer: float,
    lock: ContactLock,
    limit: KneeLimit,
    dt: float,
    leap: LeapLimit,
    hardest: float,
) -> list[float]:
    """Return the local rotations of thigh, shin, foot and toe that bring the toe to the target.

    Heel and tip of the foot stay on or above the floor. The step of the ankle changes by at most
    `most` metres. `bones` are the same four before; where foot and toe are one bone, its rotation
    is returned once.
    """
    above_hip, hip, above_knee, knee, above_ankle, ankle, above_toe, toe = joints
    (ax, ay, az), attitude = ankle
    tx, ty, tz = toe[0]
    x, y, z = target
    # the foot keeps its attitude to the floor, but its heel is not pushed into it
    ex, ey, ez = ax - tx, ay - ty, az - tz
    rise = max(ez + floors[1] - floors[0], floors[1] + leg.foot_height - z)
    pitch = None
    if leg.tip is not None and abs(rise - ez) > CLOSE:
        level, length = math.hypot(ex, ey), math.sqrt(ex * ex + ey * ey + ez * ez)
        rise = max(-length, min(length, rise))
        share = math.sqrt(length * length - rise * rise) / (level + 1e-9)
        pitch = between(-ex, -ey, -ez, -ex * share, -ey * share, -rise)
        ex, ey, ez = ex * share, ey * share, rise
        attitude = mul(pitch, attitude)
    goal = (x + ex, y + ey, z + ez)
    now = math.dist(hip[0], ankle[0])
    room, below_heel = z - floors[0] - leg.toe_height, z + ez - floors[1] - leg.foot_height
    if below_heel < room:
        room = below_heel
    if room < 0.0:
        room = 0.0
    if now < leg.folded_length:
        goal = _unfold_goal(leg, hip[0], knee, ankle[0], goal, room)
        target = x, y, z = goal[0] - ex, goal[1] - ey, goal[2] - ez
    wanted, spare, roll = goal, lock.spare, None
    # a body that stands comes to be above its feet by itself
    if not lock.is_held and math.dist(hip[0], goal) > now + spare:
        goal, spare = roll_foot(hip[0], knee[0], ankle[0], target, goal, buffer, spare)
    most = RULES.ease * hardest
    arm = goal[0] - x, goal[1] - y, goal[2] - z
    lowest = floors[0] + leg.toe_height, floors[1] + leg.foot_height
    target, limited = leap.limit(target, arm, lowest, most)
    x, y, z = target
    if limited is not arm or goal is not wanted:
        roll = between(ex, ey, ez, *limited)
        attitude = mul(roll, attitude)
    goal = x + limited[0], y + limited[1], z + limited[2]
    room = max(min(z - lowest[0], goal[2] - lowest[1]), 0.0)
    limit.lean = math.dist(hip[0], goal) / max(hip[0][2] - goal[2], CLOSE)
    moves = pitch is not None or roll is not None or math.dist(goal, ankle[0]) > CLOSE
    if not moves:
        lengths = math.dist(hip[0], knee[0]), math.dist(knee[0], ankle[0])
        moves = is_bent_backward(hip[0], knee, ankle[0], leg.hinge) or limit.holds(
            now, *lengths, room, dt
        )
    place = knee[0]
    if moves:

        def bend_to(goal: Vector) -> tuple[Quaternion, Quaternion, float, Vector]:
            """Return as `bend`, and where the knee comes."""
            limit.state = state
            whole, lower, short = bend(
                hip[0], knee, ankle[0], goal, leg.hinge, buffer, limit, room, dt, spare
            )
            (hx, hy, hz), (kx, ky, kz) = hip[0], knee[0]
            ux, uy, uz = mul_vec(whole, (kx - hx, ky - hy, kz - hz))
            return whole, lower, short, (hx + ux, hy + uy, hz + uz)

        state = limit.state
        whole, lower, short, place = bend_to(goal)
        if leap.is_leap(place, hardest):
            calm = leap.go_on(limited)
            *_, calm_place = bend_to(calm)
            for _ in range(_TRIES):
                share = leap.find_calm_share(place, calm_place, hardest)
                moved = tuple([(1.0 - share) * (c - g) for g, c in zip(goal, calm, strict=True)])
                leap.settle(*moved)
                goal = tuple([g + m for g, m in zip(goal, moved, strict=True)])
                whole, lower, short, place = bend_to(goal)
                if not leap.is_leap(place, hardest):
                    break
        if short > CLOSE or short < -CLOSE:
            share = -short / math.dist(hip[0], goal)
            missed = tuple([share * (g - h) for g, h in zip(goal, hip[0], strict=True)])
            leap.settle(*missed)
        shin = mul(lower, knee[1])
        above = shin if above_ankle is knee else mul(lower, above_ankle[1])
        thigh = inv_mul(above_hip[1], mul(whole, hip[1]))
        foot = inv_mul(mul(whole, above), attitude)
        turned = [*thigh, *inv_mul(above_knee[1], shin), *foot]
    else:
        turned = [*bones[0][3:], *bones[1][3:], *bones[2][3:]]
    leap.bend_knee(place)
    if leg.tip is not None:
        above, own = above_toe[1], toe[1]
        if pitch is not None:
            above = mul(pitch, above)
            own = mul(pitch, own)
        if roll is not None:
            above = mul(roll, above)
        raised = _raise_tip(leg.tip, own, floors[2] + leg.tip_height - z, lock, dt)
        if raised is not None:
            turned += inv_mul(above, raised)
        else:
            turned += bones[3][3:] if roll is None else inv_mul(above, own)
    return turned


def _unfold_goal(
    leg: LegGeometry, hip: Vector, knee: Joint, ankle: Vector, goal: Vector, room: float
) -> Vector:
    """Return a goal for an ankle at most `room` lower, so that the leg folds as in the data."""
    x, y, z = unfold(hip, knee, ankle, leg.hinge, leg.folded_length)
    fall = min(max(-z, 0.0), room)
    goal = goal[0] + x, goal[1] + y, goal[2] + (z if z > 0.0 else -fall)
    further = leg.folded_length - math.dist(hip, goal)
    return _lengthen(hip, goal, further, room - fall) if further > 0.0 else goal


def _lengthen(hip: Vector, goal: Vector, further: float, room: float) -> Vector:
    """Return a goal that is `further` from the hip, and at most `room` lower: a leg folds less."""
    x, y, z = goal[0] - hip[0], goal[1] - hip[1], goal[2] - hip[2]
    length, level = math.sqrt(x * x + y * y + z * z), math.hypot(x, y)
    height = z + max(z * further / (length + 1e-9), -room)
    # what the floor takes of the length goes aside
    share = math.sqrt(max((length + further) ** 2 - height * height, 0.0)) / (level + 1e-9)
    return hip[0] + x * share, hip[1] + y * share, hip[2] + height


def _raise_tip(
    tip: Vector, attitude: Quaternion, lowest: float, lock: ContactLock, dt: float
) -> Quaternion | None:
    """Return a toe's attitude with its tip raised to `lowest` above the joint; None if it is."""
    tx, ty, tz = mul_vec(attitude, tip)
    lifted = lock.raise_tip(lowest - tz, dt)
    if lifted < CLOSE:
        return None
    length = math.sqrt(tx * tx + ty * ty + tz * tz)
    rise = min(tz + lifted, length)
    share = math.sqrt(length * length - rise * rise) / (math.hypot(tx, ty) + 1e-9)
    return mul(between(tx, ty, tz, tx * share, ty * share, rise), attitude)
