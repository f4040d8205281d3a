"""Keep feet where they are planted: contacts lock the toe, inverse kinematics bends the leg to it.

Source: article 002, Sliding and Foot Locking. `contact_lock` places each toe.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from ...ground.footholds import Footing, find_foothold, measure_slope
from ...ground.ground import FLAT, Ground, compute_step_height, is_flat
from ...legs.legs import CLOSE, Joint, LegGeometry, compute_world_joints
from ...maths.planar import wrap
from ...maths.rotations.scalar_quat import Vector, mul_vec
from ...maths.springs import compute_remainder, spring
from ...performance.settings import FootLocking
from ..numbers import NUMBERS
from ..played_toes import NEVER, PlayedToe, PlayedToes, move_aside
from .contact_lock import ContactLock
from .feet_apart import FeetApart
from .leg_solver import LegJoints, LegSolver, Tick
from .stepping import Stepping


class GroundLine(NamedTuple):
    """The ground of a foot from where it left to where it lands: stairs are a slope to it."""

    x: float
    y: float
    floor: float
    land_x: float
    land_y: float
    land_floor: float

    def find_height(self, x: float, y: float) -> float:
        """Return how high it is at a place."""
        dx, dy = self.land_x - self.x, self.land_y - self.y
        along = dx * (x - self.x) + dy * (y - self.y)
        share = min(max(along / max(dx * dx + dy * dy, CLOSE), 0.0), 1.0)
        return self.floor + share * (self.land_floor - self.floor)


class FootLock:
    """Locks a character's toes; feet follow uneven ground directly, the hips with a spring."""

    def __init__(self, legs: Sequence[LegGeometry], ground: Ground = FLAT) -> None:
        self._legs = tuple(legs)
        self._ground = ground
        self._is_flat = is_flat(ground)
        self._locks = tuple(ContactLock() for _ in legs)
        self._unknown: list[PlayedToe | None] = [None] * len(legs)
        self._level = (0.0,) * len(legs)
        self._steps = Stepping(len(legs))
        self._apart = FeetApart(legs)
        self._solvers = tuple(map(LegSolver, legs, self._locks))
        # the bones of all legs, shared ones once; joint 0 is the root, these are the others
        bones = list(dict.fromkeys(bone for leg in legs for bone in leg.chain))
        paths = [(0, *(bones.index(bone) + 1 for bone in leg.chain)) for leg in legs]
        parents = {joint: parent for path in paths for parent, joint in pairwise(path)}
        self._bones = np.array([0, *bones])
        self._parents = [parents[joint] for joint in sorted(parents)]
        # for each leg: the joints of thigh, shin, foot and toe, each after its parent; those bones;
        # and the bones whose rotations are written: once where foot and toe are one bone
        self._joint_getters = []
        self._bone_getters = []
        self._turned_bones = []
        for leg, path in zip(legs, paths, strict=True):
            ends = (leg.thigh, leg.shin, leg.foot, len(leg.chain) - 1)
            self._joint_getters.append(itemgetter(*(path[k + i] for k in ends for i in (0, 1))))
            self._bone_getters.append(itemgetter(*(path[k + 1] - 1 for k in ends)))
            self._turned_bones += [leg.chain[k] for k in dict.fromkeys(ends)]
        self._bone_count, self._rotation_indices = 0, np.empty(0, np.intp)
        self.reset()

    def release(self) -> None:
        """Leave the toes where the data has them."""
        for lock, solver in zip(self._locks, self._solvers, strict=True):
            lock.reset()
            solver.reset()
        self._apart.reset()
        self._steps.reset()
        self._root: tuple[float, float, float] | None = None  # a tick ago
        self._drift = (0.0, 0.0, 0.0)  # m/s and rad/s
        self._turning = 0.0  # rad/s
        self._shown: list[Vector] = []
        # where and on which floor each foot last stood
        self._left: list[Vector | None] = [None] * len(self._locks)
        # ground on each foot's way, and the fading rest of its changes with its speed
        self._lines: list[GroundLine | None] = [None] * len(self._locks)
        self._gaps = [(0.0, 0.0)] * len(self._locks)

    def reset(self) -> None:
        self.release()
        # the lower of those under heel and toe, for each foot
        self._floors = [0.0] * len(self._locks)
        self._toe_floors = [0.0] * len(self._locks)
        # metres below the floor at which the feet started; they come up from there
        self._sunk = [0.0] * len(self._locks)
        self._height: float | None = None
        self._body = (0.0, 0.0, 0.0)  # where it is, and the floor under it
        self._climb = 0.0

    def start_from(
        self, pose: np.ndarray, before: np.ndarray, settings: FootLocking, dt: float
    ) -> float:
        """Plant the feet that stand in a pose (7, B) of the world, which was `before` a tick ago.

        Returns the character's height. Feet that are below the floor come up to it smoothly.
        """
        self.reset()
        now, then = (self._compute_joints(each) for each in (pose, before))
        x, y = pose[:2, 0].tolist()
        self._body = (x, y, 0.0 if self._is_flat else self._ground.height(x, y))
        lowest = []
        for k, (leg, lock) in enumerate(zip(self._legs, self._locks, strict=True)):
            own = self._joint_getters[k](now)
            toe, attitude = own[-1]
            z = toe[2]
            floor = 0.0
            if not self._is_flat:
                floor = compute_step_height(self._ground, toe[0], toe[1], self._body)
            below = [leg.toe_height - z, leg.foot_height - own[-3][0][2]]
            if leg.tip is not None:
                below.append(leg.tip_height - z - mul_vec(attitude, leg.tip)[2])
            self._sunk[k] = max(0.0, max(below) + floor)
            was = self._joint_getters[k](then)
            self._solvers[k].start_from(own, was, dt)
            lock.start_from(toe, was[-1][0], floor + leg.toe_height, settings, dt)
            self._floors[k] = self._toe_floors[k] = floor
            if lock.locked:
                lowest.append(floor)
        if self._is_flat:
            return 0.0
        self._height = height = min(lowest) if lowest else self._body[2]
        return height

    @property
    def locked(self) -> tuple[bool, ...]:
        """Which toes (L,) are locked."""
        return tuple([lock.locked for lock in self._locks])

    @property
    def plants(self) -> list[Vector | None]:
        """World positions of planted toes (L,), None for free ones."""
        return [lock.plant if lock.locked else None for lock in self._locks]

    @property
    def shown(self) -> list[Vector]:
        """World positions to which toes (L,) were brought a tick ago; empty if they were not."""
        return self._shown

    def allow_stretch(self, spare: Sequence[float]) -> None:
        """Let legs (L,) stretch by some metres before they give way, because a layer bent them."""
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

    @property
    def below(self) -> float:
        """How high the floor was under the body a tick ago."""
        return self._body[2]

    def update_height(
        self,
        x: float,
        y: float,
        settings: FootLocking,
        dt: float,
        footing: Footing | None = None,
    ) -> float:
        """Return the character's height, sprung toward the lowest floor under its planted feet.

        Where the motion has a foot higher or lower than the ground below the body, as on stairs,
        the floor under that foot counts as much lower or higher.
        """
        if self._is_flat:
            return 0.0
        feet, climbs = footing or (self._level, 0.0)
        # a foot that lies on a slope has its heel lower or higher than its toe
        floors = self._toe_floors if footing else self._floors
        planted = [
            floor - higher
            for floor, higher, lock in zip(floors, feet, self._locks, strict=True)
            if lock.locked and higher > -math.inf
        ]
        begins = self._height is None
        before = self._ground.height(x, y) if begins else self._body[2]
        self._body = (x, y, compute_step_height(self._ground, x, y, (x, y, before)))
        lowest = min(planted) if planted else self._body[2]
        height = lowest if self._height is None else self._height
        # by the lag of a spring behind a steady climb
        lowest += climbs * settings.hips_halflife / math.log(2.0)
        height, self._climb = spring(height, self._climb, lowest, settings.hips_halflife, dt)
        self._height = height
        return height

    def apply(
        self,
        pose: np.ndarray,
        contacts: np.ndarray,
        settings: FootLocking,
        dt: float,
        stands: bool = False,
        toes: PlayedToes | None = None,
        hardest: float = math.inf,
        calm: float = math.inf,
    ) -> None:
        """Bend the legs of a pose (7, B), placed in the world by bone 0, to their toes' targets.

        Where it `stands`, feet that are planted elsewhere than in the pose step there. Feet about
        to land move as the `toes` of the frame that is played, if these are known. Legs accelerate
        no harder than the `hardest` in m/s², and than is `calm` in this tick.
        """
        root, *bones = pose.take(self._bones, 1).T.tolist()
        joints = compute_world_joints(root, bones, self._parents)
        tick = Tick(dt, settings.stretch_buffer, hardest, min(hardest, calm) * dt * dt)
        turned: list[float] = []
        shown: list[Vector] = []
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
            own = legs_joints[k]
            lock = self._locks[k]
            was_firm = lock.is_firm
            lock.is_held = stands
            sunk = self._sunk[k]
            if sunk:
                sunk = self._sunk[k] = sunk * compute_remainder(NUMBERS.rise_halflife, dt)
            toe = own[-1][0]
            played = all_played[k]
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
                self._toe_floors[k] = floors[0]
            if lock.is_firm and (not was_firm or not lock.locked):
                turning = self._turning * (lock.left + NUMBERS.beside_seconds)
                lock.move_plant(*self._apart.find_room(k, legs_joints, self._locks, turning))
                if not self._is_flat:
                    self._leave_edge(k, own)
            shown.append(target)
            before = self._bone_getters[k](bones)
            turned += self._solvers[k].solve(own, before, target, floors, tick)
        self._shown = shown
        pose.put(self._get_rotation_indices(pose.shape[1]), turned)

    def _measure_drift(
        self, root: Sequence[float], toes: PlayedToes | None, dt: float
    ) -> tuple[float, float, float]:
        """Return the character's drift from the played motion, in m/s and rad/s."""
        x = root[0]
        y = root[1]
        yaw = 2.0 * math.atan2(root[6], root[3])
        before = self._root
        self._root = (x, y, yaw)
        self._turning = wrap(yaw - before[2]) / dt if before else 0.0
        if toes is None or before is None:
            self._drift = (0.0, 0.0, 0.0)
            return self._drift
        vx, vy, turn = toes.root.tolist()
        c, s = math.cos(before[2]), math.sin(before[2])
        kept = compute_remainder(NUMBERS.drift_halflife, dt)
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

    def _leave_edge(self, k: int, joints: LegJoints) -> None:
        """Let a foot land, or stand, clear of the edge of a tread."""
        lock = self._locks[k]
        x, y, _ = lock.plant
        (tx, ty, _) = joints[-1][0]
        (ax, ay, _) = joints[-3][0]
        share = self._legs[k].tip_share
        ankle = x + ax - tx, y + ay - ty
        dx, dy = find_foothold(self._ground, (x, y), ankle, share, self._body)
        if dx or dy:
            before, after = (
                compute_step_height(self._ground, *place, self._body)
                for place in ((x, y), (x + dx, y + dy))
            )
            lock.move_plant(dx, dy, after - before)

    def _find_line(
        self, k: int, place: tuple[float, float], floor: float, played: PlayedToe | None
    ) -> GroundLine:
        """Return the ground of a foot that is at a place over a floor: in the air, on its way."""
        lock = self._locks[k]
        left = self._left[k]
        knows = lock.is_firm or (played is not None and played.until < NEVER)
        if lock.locked or left is None or not knows:
            return GroundLine(*place, floor, *place, floor)
        x, y = lock.plant[:2] if lock.is_firm or not played else (played.land_x, played.land_y)
        return GroundLine(*left, x, y, compute_step_height(self._ground, x, y, self._body))

    def _step_on_floor(
        self,
        k: int,
        joints: LegJoints,
        toe: Vector,
        stands: float,
        contact: bool,
        settings: FootLocking,
        dt: float,
        played: PlayedToe | None,
        hardest: float,
    ) -> tuple[Vector, Vector]:
        """Return the target of a leg's toe, and the floor's heights under toe, ankle and tip.

        `toe` is where the data has it, or where its step does.
        """
        lock = self._locks[k]
        ground = self._ground
        toe_height = self._legs[k].toe_height
        under = self._body
        x, y, z = toe
        ox, oy, *_ = lock.offset
        shown = lock.plant[:2] if lock.locked else (x + ox, y + oy)
        floor = compute_step_height(ground, *shown, under)
        below = compute_step_height(ground, *lock.plant[:2], under) if lock.is_firm else floor
        # a foot's height above its ground is that of the data above level ground
        line = self._find_line(k, shown, floor, played)
        before = self._lines[k]
        here = line.find_height(*shown)
        gap = 0.0
        if before is not None:
            gap, speed = self._gaps[k]
            gap += before.find_height(*shown) - here
            gap, speed = self._gaps[k] = spring(gap, speed, 0.0, settings.foot_halflife, dt)
        self._lines[k] = line
        data = (x, y, z - stands + here + gap)
        sunk = self._sunk[k]
        lowest = below + toe_height - sunk
        target = lock.update(data, contact, lowest, settings, dt, played, hardest)
        ankle = joints[-3][0]
        own = joints[-1][0]
        ex = ankle[0] - own[0]
        ey = ankle[1] - own[1]
        floor = compute_step_height(ground, *target[:2], under)
        # edges behind and ahead of a foot are on its way, not below it
        slope = measure_slope(ground, target[:2], (target[0] + ex, target[1] + ey))
        rise = slope * math.hypot(ex, ey)
        heel = floor - rise
        tip = floor + rise
        if lock.locked:
            self._left[k] = (*target[:2], floor)
        return target, (floor - sunk, heel - sunk, tip - sunk)
