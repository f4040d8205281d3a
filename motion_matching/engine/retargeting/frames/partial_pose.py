"""Pose some bones of a skeleton in the world; all others keep their rest in their parents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ...maths.rotations import quat
from ...motion.clip import Clip
from ...skeleton.skeleton import Skeleton


@dataclass(frozen=True)
class Link:
    """Attachment of a bone to the nearest posed bone above, `anchor` (-1: the world).

    `above` (4,) is the rotation of its parent and `place` (3,) where its head rests, both in the
    anchor's frame.
    """

    anchor: int
    above: np.ndarray
    place: np.ndarray


def find_links(skeleton: Skeleton, posed: Iterable[int]) -> dict[int, Link]:
    """Return links of all bones whose poses are known or wanted, computed once for all frames."""
    chosen = set(posed)
    return {bone: _find_link(skeleton, bone, chosen) for bone in range(skeleton.bone_count)}


def _find_link(skeleton: Skeleton, bone: int, posed: set[int]) -> Link:
    rotation = quat.IDENTITY
    place = skeleton.rest_positions[bone].astype(np.float64)
    for above in skeleton.get_ancestors(bone):
        if above in posed:
            return Link(above, rotation, place)
        turn = skeleton.rest_rotations[above].astype(np.float64)
        place = skeleton.rest_positions[above] + quat.mul_vec(turn, place)
        rotation = quat.mul(turn, rotation)
    return Link(-1, rotation, place)


class PartialPose:
    """World rotations (F, 4) of posed bones, and world positions (F, 3) of placed bones.

    `shifts` (F, 3) move bones in the world away from where they rest in their parents.
    """

    def __init__(self, skeleton: Skeleton, links: Mapping[int, Link], frame_count: int) -> None:
        self.skeleton = skeleton
        self._links = links
        self._count = frame_count
        self.rotations: dict[int, np.ndarray] = {}
        self.placed: dict[int, np.ndarray] = {}
        self.shifts: dict[int, np.ndarray] = {}

    def compute_position(self, bone: int, rests: bool = False) -> np.ndarray:
        """Return the world position (F, 3) of the head of a bone, or as if it `rests` there."""
        if bone in self.placed and not rests:
            return self.placed[bone]
        link = self._links[bone]
        shift = 0.0 if rests else self.shifts.get(bone, 0.0)
        if link.anchor < 0:
            return np.broadcast_to(link.place, (self._count, 3)) + shift
        turned = quat.mul_vec(self.rotations[link.anchor], link.place)
        return self.compute_position(link.anchor) + turned + shift

    def compute_local(self, turns: Mapping[int, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return local rotations (F, B, 4) and positions (F, B, 3), float32.

        Bones are turned once more by `turns` (4,) in their own frames, and bones below follow.
        """
        skeleton = self.skeleton
        shape = (self._count, skeleton.bone_count)
        rotations = np.empty((*shape, 4), np.float32)
        rotations[:] = skeleton.rest_rotations
        positions = np.empty((*shape, 3), np.float32)
        positions[:] = skeleton.rest_positions
        if not self.rotations:
            return rotations, positions
        bones = list(self.rotations)
        links = [self._links[bone] for bone in bones]
        still = np.broadcast_to(quat.IDENTITY, (self._count, 4))
        anchors = [self.rotations.get(link.anchor, still) for link in links]
        above = quat.mul(np.stack(anchors, axis=1), np.array([link.above for link in links]))
        local = quat.inv_mul(above, np.stack([self.rotations[bone] for bone in bones], axis=1))
        for bone, turn in turns.items():
            if bone in self.rotations:
                index = bones.index(bone)
                local[:, index] = quat.mul(local[:, index], turn)
        rotations[:, bones] = quat.unroll(quat.normalize(local))
        for bone in {**self.placed, **self.shifts}:
            away = self.compute_position(bone) - self.compute_position(bone, rests=True)
            positions[:, bone] += quat.inv_mul_vec(above[:, bones.index(bone)], away)
        return rotations, positions


class WorldMotion:
    """World rotations (F, 4) and positions (F, 3), float64, of some bones of a clip.

    Positions are those of the bones `placed`, and of all above them.
    """

    def __init__(self, clip: Clip, bones: Iterable[int], placed: Iterable[int]) -> None:
        skeleton = clip.skeleton
        points = {above for bone in placed for above in skeleton.get_chain_to_root(bone)}
        wanted = {above for bone in bones for above in skeleton.get_chain_to_root(bone)}
        self.rotations: dict[int, np.ndarray] = {}
        self.positions: dict[int, np.ndarray] = {}
        for bone in sorted(wanted | points):
            parent = int(skeleton.parents[bone])
            rotation = clip.rotations[:, bone].astype(np.float64)
            self.rotations[bone] = (
                quat.mul(self.rotations[parent], rotation) if parent >= 0 else rotation
            )
            if bone in points:
                position = clip.positions[:, bone].astype(np.float64)
                if parent >= 0:
                    position = quat.mul_vec(self.rotations[parent], position)
                    position += self.positions[parent]
                self.positions[bone] = position
