"""Breathe and shift the weight while a stance is held, so that a body which no data moves is alive.

A layer on the played pose, like a look. Hips, chest and head move by some millimetres along waves
that never repeat; legs bend so that their feet stay exactly where the pose has them. Feet planted
elsewhere draw the hips down: a nearly straight leg gives way softly, so it would not reach its
plant, and its foot would rise and sink with each breath.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...legs.legs import Joint, LegGeometry, bend, compute_world_joints
from ...legs.two_bones import turn_limb
from ...maths.rotations.scalar_quat import Quaternion, Vector, inv_mul, mul, mul_vec
from ...maths.springs import spring
from .looking import Gaze
from .numbers import NUMBERS

_NEVER: Quaternion = (1.0, 0.0, 0.0, 0.0)


class _Wave:
    """A value that swings between 0 and 1, with a new time and height for each swing."""

    def __init__(self, rng: np.random.Generator, least: float, most: float) -> None:
        self._rng = rng
        self._half = (0.5 * least, 0.5 * most)
        self._start = 0.5
        self._goal = 0.5
        self._age = 0.0
        self._seconds = 0.0
        self._is_high = bool(rng.random() < 0.5)

    def advance(self, dt: float) -> float:
        """Return the value after some seconds."""
        self._age += dt
        if self._age >= self._seconds:
            self._age -= self._seconds
            self._seconds = float(self._rng.uniform(*self._half))
            self._is_high = not self._is_high
            self._start, inner = self._goal, NUMBERS.shift_inner * float(self._rng.random())
            self._goal = 1.0 - inner if self._is_high else inner
        share = 0.5 - 0.5 * math.cos(math.pi * min(self._age / self._seconds, 1.0))
        return self._start + (self._goal - self._start) * share


class Breathing:
    """Moves the held poses of a character, whose bones have `parents`, from a seed."""

    def __init__(
        self, parents: np.ndarray, hips: int, legs: Sequence[LegGeometry], gaze: Gaze | None
    ) -> None:
        self._parents, self._hips, self._legs = parents.tolist(), hips, tuple(legs)
        self._trunk = _find_trunk(gaze)
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Stand still, and breathe from a seed when a pose is held."""
        breath = NUMBERS.breath_least, NUMBERS.breath_most
        shift = NUMBERS.shift_least, NUMBERS.shift_most
        times = (breath, shift, shift, shift)
        self._waves = [
            _Wave(np.random.default_rng([seed, number]), *time) for number, time in enumerate(times)
        ]
        self._share = 0.0
        self._rate = 0.0
        self.spare = [0.0] * len(self._legs)  # metres by which legs are bent more than in the pose
        # metres by which the hips come down to reach plants
        self._drop = 0.0
        self._drop_rate = 0.0

    def apply(
        self,
        pose: np.ndarray,
        plants: Sequence[Vector | None] | None,
        amount: float,
        buffer: float,
        dt: float,
    ) -> None:
        """Move a pose (7, B), held or just released, by an amount; 1 is usual.

        Where it is held, `plants` (L,) are the world positions of planted toes, None for free ones.
        Legs stay `buffer` metres short of straight.
        """
        goal = 0.0 if plants is None else amount
        if plants is None and max(self._share, self._drop) < NUMBERS.unseen_share:
            self._share = self._rate = self._drop = self._drop_rate = 0.0
            self.spare = [0.0] * len(self._legs)
            return
        halflife = NUMBERS.end_halflife if plants is None else NUMBERS.begin_halflife
        self._share, self._rate = spring(self._share, self._rate, goal, halflife, dt)
        breath, *shifts = (self._share * (2.0 * wave.advance(dt) - 1.0) for wave in self._waves)
        side, ahead, twist = shifts
        before = [self._compute_leg(pose, leg) for leg in self._legs]
        trunk = self._compute_trunk(pose)
        self._move_hips(pose, side, ahead, breath)
        self._lower_hips(pose, plants or (), before, dt)
        self._turn_trunk(pose, trunk, breath, twist)
        for k, (leg, joints) in enumerate(zip(self._legs, before, strict=True)):
            _hold_foot(pose, leg, joints, self._compute_leg(pose, leg), buffer)
            bent = _measure_reach(leg, self._compute_leg(pose, leg))
            self.spare[k] = max(_measure_reach(leg, joints) - bent, 0.0)

    def _compute_leg(self, pose: np.ndarray, leg: LegGeometry) -> list[Joint]:
        """Return the joints of a leg's chain in the character's frame, each after its parent."""
        bones = pose.take(leg.chain, axis=1).T.tolist()
        return compute_world_joints([0.0, 0.0, 0.0, *_NEVER], bones, range(len(bones)))

    def _compute_chain(self, pose: np.ndarray, bone: int) -> Quaternion:
        """Return the rotation of a bone in the character's frame."""
        turn = _NEVER
        while bone > 0:
            w, x, y, z = pose[3:, bone].tolist()
            turn = mul((w, x, y, z), turn)
            bone = self._parents[bone]
        return turn

    def _compute_trunk(self, pose: np.ndarray) -> list[Quaternion]:
        """Return the rotations of the moved bones of the trunk."""
        return [self._compute_chain(pose, bone) for bone in self._trunk]

    def _move_hips(self, pose: np.ndarray, side: float, ahead: float, breath: float) -> None:
        up = NUMBERS.breath_lift * breath - NUMBERS.sway_sink * self._share
        self._shift_hips(pose, NUMBERS.sway_aside * side, NUMBERS.sway_ahead * ahead, up)
        above = self._compute_chain(pose, self._parents[self._hips])
        hips = self._compute_chain(pose, self._hips)
        rolled = mul(_turn(NUMBERS.hip_roll * side, (0.0, 1.0, 0.0)), hips)
        pose[3:, self._hips] = inv_mul(above, rolled)

    def _shift_hips(self, pose: np.ndarray, x: float, y: float, z: float) -> None:
        """Shift the hips along the character's axes, in metres."""
        w, a, b, c = self._compute_chain(pose, self._parents[self._hips])
        pose[:3, self._hips] += mul_vec((w, -a, -b, -c), (x, y, z))

    def _lower_hips(
        self,
        pose: np.ndarray,
        plants: Sequence[Vector | None],
        before: Sequence[list[Joint]],
        dt: float,
    ) -> None:
        """Lower the hips until no leg has to stretch further than it did `before`."""
        drop = 0.0
        for leg, joints, plant in zip(self._legs, before, plants, strict=False):
            if plant is not None:
                goal = _find_ankle(leg, joints, _localize(pose, plant))
                reach = _measure_reach(leg, joints)
                x, y, z = self._compute_leg(pose, leg)[leg.thigh + 1][0]
                level = math.hypot(x - goal[0], y - goal[1])
                drop = max(drop, z - goal[2] - math.sqrt(max(reach**2 - level**2, 0.0)))
        drop = min(drop, NUMBERS.lowest_hips)
        self._drop, self._drop_rate = spring(
            self._drop, self._drop_rate, drop, NUMBERS.settling_halflife, dt
        )
        self._shift_hips(pose, 0.0, 0.0, -self._drop)

    def _turn_trunk(
        self, pose: np.ndarray, trunk: list[Quaternion], breath: float, twist: float
    ) -> None:
        """Turn the chest with a breath, and the bones above it less."""
        for bone, attitude, share in zip(
            self._trunk, trunk, (1.0, NUMBERS.head_share), strict=False
        ):
            lean = _turn(share * NUMBERS.breath_chest * breath, (1.0, 0.0, 0.0))
            turn = _turn(share * NUMBERS.trunk_twist * twist, (0.0, 0.0, 1.0))
            above = self._compute_chain(pose, self._parents[bone])
            pose[3:, bone] = inv_mul(above, mul(turn, mul(lean, attitude)))


def _find_trunk(gaze: Gaze | None) -> tuple[int, ...]:
    """Return the chest and the bone above it, if the chest turns without turning a leg."""
    if gaze is None or not gaze.has_spine:
        return ()
    return gaze.chain[gaze.chest - 1 : gaze.chest + 1]


def _turn(angle: float, axis: tuple[float, float, float]) -> Quaternion:
    c, s = math.cos(0.5 * angle), math.sin(0.5 * angle)
    return c, s * axis[0], s * axis[1], s * axis[2]


def _measure_reach(leg: LegGeometry, joints: Sequence[Joint]) -> float:
    return math.dist(joints[leg.thigh + 1][0], joints[leg.foot + 1][0])


def _localize(pose: np.ndarray, place: Vector) -> Vector:
    """Return a place in the world, in the frame of a pose's (7, B) character."""
    x, y, z, w, *axis = pose[:, 0].tolist()
    a, b, c = axis
    return mul_vec((w, -a, -b, -c), (place[0] - x, place[1] - y, place[2] - z))


def _find_ankle(leg: LegGeometry, joints: Sequence[Joint], plant: Vector) -> Vector:
    """Return the ankle of a planted toe, with the heel on the floor or above."""
    (x, y, z) = joints[leg.foot + 1][0]
    (tx, ty, tz) = joints[-1][0]
    up = max(z - tz, leg.foot_height - leg.toe_height)
    return plant[0] + x - tx, plant[1] + y - ty, plant[2] + up


def _hold_foot(
    pose: np.ndarray, leg: LegGeometry, before: list[Joint], now: list[Joint], buffer: float
) -> None:
    """Bend a leg of a pose (7, B) so that its foot stays in place."""
    (_, above_hip), (root, hip) = now[leg.thigh : leg.thigh + 2]
    (_, above_knee), knee = now[leg.shin : leg.shin + 2]
    (_, above_ankle), (ankle, _) = now[leg.foot : leg.foot + 2]
    goal, attitude = before[leg.foot + 1]
    whole, lower, _ = bend(root, knee, ankle, goal, leg.hinge, buffer)
    rotations = above_hip, hip, above_knee, knee[1], above_ankle
    bones = (leg.chain[k] for k in (leg.thigh, leg.shin, leg.foot))
    for bone, rotation in zip(bones, turn_limb(rotations, whole, lower, attitude), strict=True):
        pose[3:, bone] = rotation
