"""Turn the head toward the requested direction, or a point, ahead of the body.

A layer on the played pose: head and neck, and the spine by a share, turn on top of the motion. The
motion itself, its feet and its root stay unchanged.

Source: article 002, which names looking ahead as the cheapest way to seem responsive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...body.rig import Roles
from ...legs.legs import compute_world_joints
from ...maths.easing import clamp
from ...maths.planar import wrap
from ...maths.rotations import quat
from ...maths.rotations.scalar_quat import Quaternion, Vector, inv_mul, mul, mul_vec
from ...maths.springs import compute_decay, spring
from ...performance.settings import Life
from ...skeleton.skeleton import Skeleton
from .numbers import NUMBERS

# share of a follower's halflife for its spring: three equal rates y make half of a step after
# 2.674 / y, and the rate of a spring is 2 ln 2 / halflife
_PART = 2.0 * math.log(2.0) / 2.674


@dataclass(frozen=True)
class Gaze:
    """The bones that turn for a look, below bone 0 down to the head, and where they face.

    `spine` and `neck` are the shares, from 0 to 1, of a turn of the spine and of the neck that have
    been made at each bone. `chest` is an index in `chain`, before which 0 stands for bone 0.
    `head_ahead` and `chest_ahead` point ahead in the frames of head and chest.
    """

    chain: tuple[int, ...]
    spine: tuple[float, ...]
    neck: tuple[float, ...]
    chest: int
    head_ahead: Vector
    chest_ahead: Vector

    @property
    def has_spine(self) -> bool:
        """Whether any of the spine can turn without turning a leg."""
        return self.spine[-1] > 0.0


def measure_gaze(skeleton: Skeleton, roles: Roles, poses: np.ndarray) -> Gaze | None:
    """Find what turns for a look, from poses (F, 7, B) whose bone 0 is the simulation bone.

    None for a character whose head is unknown or faces in all directions, or whose only bones that
    could turn carry legs.
    """
    if roles.head is None:
        return None
    above_legs = {bone for leg in roles.legs for bone in skeleton.get_ancestors(leg.foot)}
    chain = skeleton.get_chain_to_root(roles.head)[::-1][1:]
    free = [bone not in above_legs and bone != roles.hips for bone in chain]
    if not chain or not free[-1]:
        return None
    chest = chain.index(roles.spine) if roles.spine in chain[:-1] else -1
    turns_spine = [is_free and k <= chest for k, is_free in enumerate(free)]
    turns_neck = [is_free and k > chest for k, is_free in enumerate(free)]
    sample = np.array(poses[:: max(len(poses) // NUMBERS.front_frames, 1)])
    sample[..., 0] = [0, 0, 0, 1, 0, 0, 0]
    rotations, _ = quat.compute_world(sample, skeleton.parents)
    head = _find_front(rotations[:, roles.head])
    front = _find_front(rotations[:, chain[chest]]) if chest >= 0 else (0.0, -1.0, 0.0)
    if head is None or front is None:
        return None
    spine, neck = (_accumulate(each) for each in (turns_spine, turns_neck))
    return Gaze(tuple(chain), spine, neck, chest + 1, head, front)


def _find_front(rotations: np.ndarray) -> Vector | None:
    """Return the average level direction ahead, in the frame of a bone with rotations (F, 4)."""
    ahead, up = (
        quat.inv_mul_vec(rotations, np.array(axis)).mean(axis=0)
        for axis in ([0.0, -1.0, 0.0], [0.0, 0.0, 1.0])
    )
    up /= max(float(np.linalg.norm(up)), 1e-9)
    ahead = ahead - (ahead @ up) * up
    length = float(np.linalg.norm(ahead))
    x, y, z = (ahead / max(length, 1e-9)).tolist()
    return (x, y, z) if length > NUMBERS.clear_front else None


def _accumulate(turns: list[bool]) -> tuple[float, ...]:
    """Return the share of a turn made at each bone, if all turning bones turn alike."""
    return tuple((np.cumsum(turns) / max(sum(turns), 1)).tolist())


class Look:
    """Turns the head softly, pose after pose, toward what a character looks at."""

    def __init__(self, gaze: Gaze | None) -> None:
        self._gaze = gaze
        self._chain = np.array(gaze.chain if gaze else (), np.intp)
        self.reset()

    def reset(self) -> None:
        """Look like the motion."""
        self._turn, self._tilt = _Follower(), _Follower()

    def is_needed(self, settings: Life) -> bool:
        """Return whether there is anything to turn, or to turn back."""
        return self._gaze is not None and (settings.look > 0.0 or self._is_turned)

    def apply(
        self,
        pose: np.ndarray,
        heading: float,
        point: Vector | None,
        settings: Life,
        dt: float,
    ) -> None:
        """Turn the head of a local pose (7, B), whose bone 0 is in the world, a tick later.

        `heading` is where the character is asked to go, in radians from where it faces, and counts
        whole turns. A `point` in the world counts more, unless it is behind.
        """
        gaze = self._gaze
        if gaze is None or not self.is_needed(settings):
            return
        bones = pose.take(self._chain, axis=1).T.tolist()
        root = pose[:, 0].tolist()
        joints = compute_world_joints(root, bones, range(len(bones)))
        yaw = 2.0 * math.atan2(root[6], root[3])
        place, head = joints[-1]
        own, rise, is_level = _read_direction(mul_vec(head, gaze.head_ahead), yaw)
        chest, _, _ = _read_direction(mul_vec(joints[gaze.chest][1], gaze.chest_ahead), yaw)
        turn = is_level * (heading - own)
        tilt = 0.0
        if point is not None:
            to_point = point[0] - place[0], point[1] - place[1], point[2] - place[2]
            aside, up, is_beside = _read_direction(to_point, yaw)
            angle = abs(aside)
            seen = 1.0 - _ease((angle - NUMBERS.behind) / (NUMBERS.far_behind - NUMBERS.behind))
            turn += seen * (is_level * is_beside * wrap(aside - own) - turn)
            tilt = seen * (up - rise)
        spine = settings.look_spine if gaze.has_spine else 0.0
        self._follow(settings, turn, tilt, spine, dt)
        if not self._is_turned:
            return
        turned = (1.0 - spine) * self._turn.value
        turned = _limit(turned, settings.look_limit, is_level * wrap(own - chest))
        tilted = _limit(self._tilt.value, settings.look_tilt, rise)
        across = math.cos(yaw + is_level * own), math.sin(yaw + is_level * own)
        _turn_bones(pose, gaze, joints, spine / (1.0 - spine) * turned, turned, tilted, across)

    @property
    def _is_turned(self) -> bool:
        """Whether anything is left of a look."""
        return self._turn.size + self._tilt.size > NUMBERS.unseen_angle

    def _follow(self, settings: Life, turn: float, tilt: float, spine: float, dt: float) -> None:
        """Bring the turn and the tilt nearer to their goals."""
        most = NUMBERS.beyond_limit * settings.look_limit / (1.0 - spine)
        time = settings.look_halflife
        self._turn.follow(settings.look * clamp(turn, most), time, dt)
        self._tilt.follow(
            settings.look * clamp(tilt, NUMBERS.beyond_limit * settings.look_tilt), time, dt
        )


class _Follower:
    """An angle that follows a goal without sudden changes of its acceleration.

    A spring follows the damped goal. So a leap of the goal accelerates it half as hard as a spring
    alone with the same delay.
    """

    def __init__(self) -> None:
        self.value = self._rate = self._lagging = 0.0

    @property
    def size(self) -> float:
        """Distance from resting at 0."""
        return abs(self.value) + abs(self._rate) + abs(self._lagging)

    def follow(self, goal: float, halflife: float, dt: float) -> None:
        """Come nearer to a goal, to half of it in a halflife."""
        _, left = compute_decay(_PART * halflife, dt)
        self._lagging = goal + (self._lagging - goal) * left
        self.value, self._rate = spring(self.value, self._rate, self._lagging, _PART * halflife, dt)


def _turn_bones(
    pose: np.ndarray,
    gaze: Gaze,
    joints: list[tuple[Vector, Quaternion]],
    spine: float,
    neck: float,
    tilt: float,
    across: tuple[float, float],
) -> None:
    """Turn the bones of a look by angles about the vertical, and tilt the neck about `across`."""
    above = joints[0][1]
    for k, bone in enumerate(gaze.chain):
        attitude = joints[k + 1][1]
        share = gaze.neck[k]
        half = 0.5 * (spine * gaze.spine[k] + neck * share)
        if half or tilt * share:
            lift = 0.5 * tilt * share
            c, s = math.cos(lift), math.sin(lift)
            turn = math.cos(half), 0.0, 0.0, math.sin(half)
            attitude = mul(turn, mul((c, -s * across[0], -s * across[1], 0.0), attitude))
            pose[3:, bone] = inv_mul(above, attitude)
        above = attitude


def _read_direction(vector: Vector, yaw: float) -> tuple[float, float, float]:
    """Return the heading of a direction from `yaw`, its elevation, and a weight of the heading.

    The weight is 1, and goes to 0 where the direction comes near the vertical.
    """
    x, y, z = vector
    level = math.hypot(x, y)
    share = level / (math.hypot(level, z) + 1e-12)
    heading = wrap(math.atan2(x, -y) - yaw) if level > 0.0 else 0.0
    known = _ease((share - NUMBERS.upright_share) / NUMBERS.level_share)
    return heading, math.atan2(z, level), known


def _ease(x: float) -> float:
    """Step from 0 to 1 as `easing.smoothstep` does, on a single number."""
    x = 0.0 if x < 0.0 else 1.0 if x > 1.0 else x
    return x * x * (3.0 - 2.0 * x)


def _limit(turn: float, limit: float, own: float) -> float:
    """Return a turn on top of an `own` one so that both stay within a limit, approached softly."""
    room = limit - own if turn > 0.0 else limit + own
    if room <= NUMBERS.unseen_angle:
        return 0.0
    return turn / (1.0 + (turn / room) ** 4) ** 0.25
