"""Describe the pose and the velocities from which a performance can go on.

A start state is in the character's frame, so the start position and heading of the performance can
move and turn it. It names its bones, because performances are stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..files.json_files import EntryError, expect_list, expect_number, expect_object
from ..maths.numeric import arctan2
from ..maths.planar import rotate, rotate_xy, wrap
from ..maths.rotations import quat
from ..skeleton.skeleton import Skeleton
from ..units import BONE, BONE_VELOCITY, GROUND_MOTION, POSE, VELOCITY, measured
from .numbers import NUMBERS

# metres, and metres or radians per second
_LARGEST_PLACE = 1e4
_LARGEST_VELOCITY = 1e5
_ROUNDING = 1e-7  # metres and quaternion components within which a bone has not moved

ROOTS = ("carried", "placed", "free")
GroundPlace = tuple[float, float, float]  # x, y and yaw


@measured(pose=POSE, velocity=VELOCITY, root=GROUND_MOTION)
class MovingPose(NamedTuple):
    """A pose (7, B) whose bone 0 is at the origin, velocities (6, B), and the root's velocity (3,).

    Velocities are as in a database; the root's is in its own axes, as in `Motion`, and not a number
    if it is unknown.
    """

    pose: np.ndarray
    velocity: np.ndarray
    root: np.ndarray

    def advance(self, seconds: float) -> np.ndarray:
        """Return the pose (7, B) some seconds later, with bone 0 where the root has moved it."""
        result = self.pose.astype(np.float64)
        result[:3] += seconds * self.velocity[:3]
        turns = quat.from_scaled_angle_axis(seconds * self.velocity[3:].T.astype(np.float64))
        result[3:] = quat.normalize(quat.mul(turns, result[3:].T)).T
        x, y, turn = (seconds * np.nan_to_num(self.root.astype(np.float64))).tolist()
        result[:, 0] = [x, y, self.pose[2, 0], *quat.from_yaw(np.array(turn))]
        return result

    def lower(self, height: float, parents: np.ndarray) -> MovingPose:
        """Return it with bone 0 on the ground at a height, which then counts as zero."""
        pose = self.pose.copy()
        pose[2, parents == 0] -= height - pose[2, 0]
        pose[2, 0] = 0.0
        return self._replace(pose=pose)


@measured(poses=BONE, velocities=BONE_VELOCITY)
@dataclass(frozen=True)
class StartState:
    """Poses and velocities of named bones; bone 0 is the simulation bone.

    For each bone `poses` holds seven numbers, position and rotation in its parent, and `velocities`
    six, linear and angular per second. Those of bone 0 are the velocity of the character in its own
    axes. The `root` says what is known of it: it is 'carried'; or only 'placed', and moves like the
    motion that continues it; or 'free', chosen so that the hips lie to it like in that motion.
    """

    bones: tuple[str, ...]
    poses: tuple[tuple[float, ...], ...]
    velocities: tuple[tuple[float, ...], ...]
    root: str = ROOTS[0]

    def fits(self, skeleton: Skeleton) -> bool:
        """Return whether it has all bones of a skeleton."""
        return set(skeleton.names) <= set(self.bones)

    @property
    def root_velocity(self) -> tuple[float, float, float]:
        """The velocity of the character in its own axes, in m/s, and its turn rate in rad/s."""
        x, y, _, _, _, turn = self.velocities[0]
        return x, y, turn

    def to_moving_pose(self, skeleton: Skeleton) -> MovingPose:
        """Return it for a skeleton that it fits, as float32."""
        order = [self.bones.index(name) for name in skeleton.names]
        pose, velocity = (part[:, order].copy() for part in self._arrays)
        root = velocity[[0, 1, 5], 0]
        if self.root == "placed":
            root[:] = np.nan
        velocity[:, 0] = 0.0
        return MovingPose(pose, velocity, root)

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        both = np.array(self.poses, np.float32), np.array(self.velocities, np.float32)
        return tuple(np.ascontiguousarray(part.T) for part in both)  # type: ignore[return-value]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data: 13 numbers for each bone."""
        rows = zip(self.bones, self.poses, self.velocities, strict=True)
        data: dict[str, Any] = {"bones": {bone: [*pose, *speed] for bone, pose, speed in rows}}
        return data if self.root == ROOTS[0] else data | {"root": self.root}

    @classmethod
    def from_dict(cls, data: Any, where: str) -> StartState:
        """Read JSON data. Raises EntryError, which names the wrong entry."""
        expect_object(data, where, ("bones", "root"))
        bones: Mapping[str, Any] = expect_object(data.get("bones"), f"'bones' of {where}")
        poses = []
        velocities = []
        for bone, row in bones.items():
            name = f"'{bone}' of {where}"
            numbers = expect_list(row, name, 13)
            pose = [
                expect_number(n, f"a number of {name}", -_LARGEST_PLACE, _LARGEST_PLACE)
                for n in numbers[:7]
            ]
            speed = [
                expect_number(n, f"a number of {name}", -_LARGEST_VELOCITY, _LARGEST_VELOCITY)
                for n in numbers[7:]
            ]
            poses.append(tuple(pose))
            velocities.append(tuple(speed))
        root = data.get("root", ROOTS[0])
        if root not in ROOTS:
            raise EntryError(f"'root' of {where} is {root!r}; use one of {', '.join(ROOTS)}")
        return cls(tuple(bones), tuple(poses), tuple(velocities), root)


def build_start_state(
    names: Sequence[str],
    poses: np.ndarray,
    fps: float,
    *,
    root: str = ROOTS[0],
    fastest: float = np.inf,
) -> tuple[GroundPlace, StartState]:
    """Return place and state of the second of three poses (3, 7, B), a tick apart.

    Bone 0 is the character in the world. Velocities are those of the ticks before and after, or of
    the only one in which anything moves: at an end of its motion a character moves on like inside.
    A character faster than `fastest` (m/s) has leapt and counts as still.
    """
    local = np.stack([_see_from_character(pose) for pose in poses])
    roots = np.stack([poses[:, 0, 0], poses[:, 1, 0], _get_yaw(poses)], axis=-1)
    steps = [_measure_step(local[k], local[k + 1], roots[k], roots[k + 1]) for k in (0, 1)]
    moving = [step for step in steps if np.abs(step).max() > _ROUNDING]
    velocity = fps * np.mean(moving or [0.0 * steps[0]], axis=0)
    if np.hypot(*velocity[:2, 0]) > fastest:
        velocity = np.zeros_like(velocity)
    x, y, yaw = roots[1].tolist()
    rows = (tuple(map(tuple, part.T.astype(np.float32).tolist())) for part in (local[1], velocity))
    pose_rows, velocity_rows = rows
    return (x, y, yaw), StartState(tuple(names), pose_rows, velocity_rows, root)


def align_root(
    state: MovingPose, entered: MovingPose, parents: np.ndarray, hips: int
) -> tuple[GroundPlace, MovingPose]:
    """Return the place of bone 0 at which the hips lie to it like in the entered motion.

    The place is in the frame of the bone 0 before. The state as seen from there is also returned;
    in the world the body moves as before.
    """
    roots = []
    poses = []
    for seconds in (0.0, NUMBERS.root_step):
        ours = state.advance(seconds)
        theirs = entered.advance(seconds)
        (turn, place), (other_turn, other_place) = (
            _find_bone(pose, parents, hips) for pose in (ours, theirs)
        )
        between = quat.mul_inv(turn, other_turn)
        yaw = wrap(2.0 * float(np.arctan2(between[3], between[0])))
        x, y = (place[:2] - rotate(other_place[:2], yaw)).tolist()
        root = compose_places((x, y, yaw), _get_place(theirs))
        roots.append(np.array(root))
        poses.append(_see_from_character(_reroot(ours, parents, root)))
    velocity = (_measure_step(*poses, *roots) / NUMBERS.root_step).astype(np.float32)
    own = velocity[[0, 1, 5], 0]
    velocity[:, 0] = 0.0
    x, y, yaw = roots[0].tolist()
    return (x, y, yaw), MovingPose(poses[0].astype(np.float32), velocity, own)


def compose_places(a: GroundPlace, b: GroundPlace) -> GroundPlace:
    """Compose the places `a` and `b`, with `b` given in the frame of `a`."""
    x, y = rotate_xy(b[0], b[1], a[2])
    return a[0] + x, a[1] + y, a[2] + b[2]


def _see_from_character(pose: np.ndarray) -> np.ndarray:
    """Return a pose (7, B) with bone 0 above the origin, and ahead."""
    result = pose.astype(np.float64)
    result[:, 0] = [0.0, 0.0, pose[2, 0], 1.0, 0.0, 0.0, 0.0]
    return result


def _get_yaw(poses: np.ndarray) -> np.ndarray:
    """Return the unwrapped headings (K,) of bone 0 in poses (K, 7, B)."""
    return np.unwrap(2.0 * arctan2(poses[:, 6, 0], poses[:, 3, 0]).astype(np.float64))


def _measure_step(
    pose: np.ndarray, later: np.ndarray, root: np.ndarray, later_root: np.ndarray
) -> np.ndarray:
    """Return how a pose changes (6, B); bone 0 by its step in its own axes and its turn."""
    turns = quat.mul_inv(later[3:].T, pose[3:].T)
    result = np.zeros((6, pose.shape[1]))
    result[:3] = later[:3] - pose[:3]
    result[3:] = quat.to_scaled_angle_axis(quat.positive(turns)).T
    result[:, 0] = 0.0
    result[:2, 0] = rotate(later_root[:2] - root[:2], -root[2])
    result[5, 0] = wrap(later_root[2] - root[2])
    return result


def _find_bone(pose: np.ndarray, parents: np.ndarray, bone: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation (4,) and position (3,) of a bone in the world."""
    rotation = pose[3:, bone]
    position = pose[:3, bone]
    while (bone := int(parents[bone])) >= 0:
        position = pose[:3, bone] + quat.mul_vec(pose[3:, bone], position)
        rotation = quat.mul(pose[3:, bone], rotation)
    return rotation, position


def _get_place(pose: np.ndarray) -> GroundPlace:
    """Return the place on the ground of a pose's (7, B) bone 0."""
    x, y = pose[:2, 0].tolist()
    return x, y, 2.0 * float(np.arctan2(pose[6, 0], pose[3, 0]))


def _reroot(pose: np.ndarray, parents: np.ndarray, root: GroundPlace) -> np.ndarray:
    """Return the same pose in the world with bone 0 somewhere else on the ground."""
    x, y, yaw = root
    result = pose.copy()
    turn = quat.from_yaw(np.array(yaw))
    place = np.array([x, y, pose[2, 0]])
    for bone in np.flatnonzero(parents == 0):
        rotation, position = _find_bone(pose, parents, int(bone))
        result[:3, bone] = quat.inv_mul_vec(turn, position - place)
        result[3:, bone] = quat.inv_mul(turn, rotation)
    result[:, 0] = [*place, *turn]
    return result
