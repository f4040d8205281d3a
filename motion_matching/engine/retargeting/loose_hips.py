"""Repair hips bones that turn against the pelvis, while the bones below turn back.

Networks and some solvers write them: the body moves correctly, but the hips bone does not show it.
There the hip joints and the spine define the pelvis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..body.rig import Roles
from ..maths.rotations import quat
from ..motion.clip import Clip
from ..skeleton.skeleton import Skeleton
from .frames.frame_axes import make_frames
from .frames.partial_pose import WorldMotion
from .numbers import NUMBERS

if TYPE_CHECKING:
    from ..body.body_roles import BodyRoles


@dataclass(frozen=True)
class LoosePelvis:
    """The bones whose heads show the rotation of a pelvis, and the turn (4,) of the hips in it."""

    hips: int
    left: int
    right: int
    above: int
    turn: np.ndarray

    @classmethod
    def find(
        cls, bones: tuple[int, int, int], trunk: Sequence[int], clips: Sequence[Clip]
    ) -> LoosePelvis | None:
        """Return the pelvis of a body whose hip joints move against its hips bone, if they do.

        `bones` are the hips, the left and the right thigh, and `trunk` the bones above.
        """
        hips, left, right = bones
        moving = [clip for clip in clips if clip.frame_count]
        if not moving or not _is_loose(moving, hips, left, right):
            return None
        skeleton = moving[0].skeleton
        above = _find_joint_above(moving, trunk, bones)
        pelvis = cls(hips, left, right, above, quat.IDENTITY)
        rotations, points = (part.astype(np.float64) for part in skeleton.compute_rest_world())
        if np.linalg.norm(np.cross(points[left] - points[right], points[above] - points[right])):
            turn = quat.inv_mul(pelvis._find_frames(points), rotations[hips])
            return replace(pelvis, turn=turn)
        return pelvis

    def stiffen(self, clip: Clip) -> Clip:
        """Return the clip with the hips turned as the pelvis; all other bones stay in the world."""
        skeleton = clip.skeleton
        rotations, places = (part.astype(np.float64) for part in clip.compute_world())
        rotations[:, self.hips] = quat.mul(self._find_frames(places), self.turn)
        changed = [self.hips, *skeleton.get_children(self.hips)]
        local, positions = quat.ik(rotations, places, skeleton.parents)
        result = clip.rotations.copy(), clip.positions.copy()
        result[0][:, changed] = quat.unroll(quat.normalize(local[:, changed]))
        result[1][:, changed[1:]] = positions[:, changed[1:]]
        return replace(clip, rotations=result[0], positions=result[1])

    def move_bones_at_hips(self, roles: BodyRoles, skeleton: Skeleton) -> BodyRoles:
        """Return roles in which the spine starts above the hips: bones there are the pelvis."""
        places = skeleton.compute_rest_world()[1]
        near = NUMBERS.at_hips * float(np.linalg.norm(places[self.left] - places[self.right]))
        spine = list(roles.chains.get("spine", ()))
        chains = dict(roles.chains)
        while len(spine) > 1 and np.linalg.norm(places[spine[0]] - places[self.hips]) <= near:
            chains["hips"] = (*chains["hips"], spine.pop(0))
        chains |= {"spine": tuple(spine)} if spine else {}
        return replace(roles, chains=chains)

    def _find_frames(self, places: np.ndarray) -> np.ndarray:
        """Return rotations (..., 4) of the pelvis from positions (..., B, 3) of all bones."""
        left, right, above = (places[..., b, :] for b in (self.left, self.right, self.above))
        return make_frames(left - right, above - 0.5 * (left + right))


def stiffen_hips(clips: Sequence[Clip], roles: Roles) -> list[Clip]:
    """Return clips of one skeleton whose hips are turned as the pelvis of a body with two legs.

    All other bones stay in the world. Clips with hips that face as the body does stay unchanged.
    """
    left, right = roles.get_thighs("L"), roles.get_thighs("R")
    if len(left) != 1 or len(right) != 1:
        return list(clips)
    skeleton = clips[0].skeleton
    spine = skeleton.get_chain_to_root(roles.spine)
    trunk = spine[: spine.index(roles.hips)][::-1] if roles.hips in spine else []
    trunk += [roles.head] if roles.head is not None and roles.head not in trunk else []
    pelvis = LoosePelvis.find((roles.hips, left[0], right[0]), trunk, clips)
    return list(clips) if pelvis is None else [pelvis.stiffen(clip) for clip in clips]


def _is_loose(clips: Sequence[Clip], hips: int, left: int, right: int) -> bool:
    """Return whether the heads of thighs move in the frame of the hips."""
    heads = []
    for clip in clips:
        motion = WorldMotion(clip, [hips], [hips, left, right])
        places = np.stack([motion.positions[bone] for bone in (left, right)], axis=1)
        ways = places - motion.positions[hips][:, None]
        heads.append(quat.inv_mul_vec(motion.rotations[hips][:, None], ways))
    joined = np.concatenate(heads)
    width = float(np.median(np.linalg.norm(joined[:, 0] - joined[:, 1], axis=-1)))
    away = np.linalg.norm(joined - np.median(joined, axis=0), axis=-1).max(axis=-1)
    return float(np.percentile(away, NUMBERS.hips_moving)) > NUMBERS.loose_hips * width


def _find_joint_above(
    clips: Sequence[Clip], above: Sequence[int], bones: tuple[int, int, int]
) -> int:
    """Return the lowest joint of the trunk that is clearly off the line of the hip joints."""
    hips, left, right = bones
    places = np.concatenate([clip.compute_world()[1] for clip in clips]).astype(np.float64)
    across = quat.normalize_vectors(places[:, left] - places[:, right])
    width = float(np.median(np.linalg.norm(places[:, left] - places[:, right], axis=-1)))
    trunk = [hips, *above]
    reaches = [
        float(np.median(np.linalg.norm(np.cross(places[:, b] - places[:, right], across), axis=-1)))
        for b in trunk
    ]
    far = [b for b, reach in zip(trunk, reaches, strict=True) if reach > NUMBERS.raised * width]
    return far[0] if far else trunk[int(np.argmax(reaches))]
