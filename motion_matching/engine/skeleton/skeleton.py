"""Bones of a character: names, hierarchy and rest pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ..maths.rotations import quat
from ..units import Columns, measured


@measured(rest_positions="m", end_sites=Columns(("", "m")))
@dataclass(frozen=True)
class Skeleton:
    """Bones in an order where parents come before children, in Blender's axes (Z up), metres.

    `parents` (B,) holds -1 for roots; `rest_positions` (B, 3) and `rest_rotations` (B, 4) are local
    to the parent. `end_sites` are tips of chains: bone index and offset (3,) in the bone's frame.
    `in_files` is the same rest pose in the bone frames of the files that an armature was made from.
    """

    names: tuple[str, ...]
    parents: np.ndarray
    rest_positions: np.ndarray
    rest_rotations: np.ndarray
    end_sites: tuple[tuple[int, tuple[float, float, float]], ...] = ()
    in_files: Skeleton | None = None

    def __post_init__(self) -> None:
        count = len(self.names)
        if self.parents.shape != (count,):
            raise ValueError(f"parents must have shape ({count},), not {self.parents.shape}")
        if self.rest_positions.shape != (count, 3) or self.rest_rotations.shape != (count, 4):
            raise ValueError("rest positions must be (B, 3) and rest rotations (B, 4)")
        if np.any(self.parents >= np.arange(count)):
            raise ValueError("parents must come before their children")

    @property
    def bone_count(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """Return the index of the bone with that name; ValueError if there is none."""
        return self.names.index(name)

    def get_hierarchy(self) -> frozenset[tuple[str, str]]:
        """Return each bone's name with that of its parent, '' for roots, whatever their order."""
        above = (self.names[parent] if parent >= 0 else "" for parent in self.parents.tolist())
        return frozenset(zip(self.names, above, strict=True))

    def get_children(self, bone: int) -> list[int]:
        """Return the bones whose parent is this bone."""
        return [int(i) for i in np.flatnonzero(self.parents == bone)]

    def get_ancestors(self, bone: int) -> list[int]:
        """Return the bones above, from the parent up to the root."""
        chain = []
        while (bone := int(self.parents[bone])) >= 0:
            chain.append(bone)
        return chain

    def get_chain_to_root(self, bone: int) -> list[int]:
        """Return the bone itself, then the bones above."""
        return [bone, *self.get_ancestors(bone)]

    def get_path(self, above: int, bone: int) -> list[int]:
        """Return the bones from one down to another below it, with both; else ValueError."""
        chain = self.get_chain_to_root(bone)
        return chain[: chain.index(above) + 1][::-1]

    def get_descendants(self, bone: int) -> list[int]:
        """Return all bones below."""
        below = {bone}
        for child, parent in enumerate(self.parents.tolist()):
            if parent in below:
                below.add(child)
        return sorted(below - {bone})

    def find_common_ancestor(self, bones: Sequence[int]) -> int | None:
        """Return the lowest bone that is above each of `bones` or one of them, if there is one."""
        shared = set.intersection(*(set(self.get_chain_to_root(bone)) for bone in bones))
        return max(shared, key=self.get_depth, default=None)

    def get_depth(self, bone: int) -> int:
        """Return the number of bones above."""
        return len(self.get_ancestors(bone))

    def measure_tip(self, bone: int) -> float:
        """Return the length in metres of a bone at the end of a chain, 0 if it is not known."""
        ends = (offset for last, offset in self.end_sites if last == bone)
        return max((float(np.linalg.norm(offset)) for offset in ends), default=0.0)

    def compute_bone_world(
        self, bone: int, rotations: np.ndarray, positions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return world rotations (..., 4) and positions (..., 3), float64, of one bone.

        The poses `rotations` (..., B, 4) and `positions` (..., B, 3) are local.
        """
        rotation = rotations[..., bone, :].astype(np.float64)
        for above in self.get_ancestors(bone):
            rotation = quat.mul(rotations[..., above, :], rotation)
        position = self.compute_bone_position(bone, rotations, positions)
        return quat.normalize(rotation), position

    def compute_rest_bone_world(self, bone: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the world rotation (4,) and position (3,), float64, of one bone at rest."""
        return self.compute_bone_world(bone, self.rest_rotations, self.rest_positions)

    def compute_bone_position(
        self, bone: int, rotations: np.ndarray, positions: np.ndarray, root: int = -1
    ) -> np.ndarray:
        """Return positions (..., 3), float64, of one bone of local poses (..., B, 4), (..., B, 3).

        They are in the frame of the bone `root` above it, or in the world.
        """
        position = positions[..., bone, :].astype(np.float64)
        for above in self.get_ancestors(bone):
            if above == root:
                break
            position = positions[..., above, :] + quat.mul_vec(rotations[..., above, :], position)
        return position

    def compute_bone_positions(
        self, bones: Sequence[int], poses: np.ndarray, root: int = -1
    ) -> np.ndarray:
        """Return positions (F, N, 3), float64, of bones in poses (F, 7, B), from the chains alone.

        They are in the frame of the bone `root` above them, or in the world.
        """
        local = poses.transpose(0, 2, 1)
        result = np.empty((len(poses), len(bones), 3))
        for k, bone in enumerate(bones):
            chain = local[..., 3:], local[..., :3]
            result[:, k] = self.compute_bone_position(bone, *chain, root)
        return result

    def compute_rest_world(self) -> tuple[np.ndarray, np.ndarray]:
        """Return world rotations (B, 4) and positions (B, 3) of the rest pose."""
        rest = self.rest_rotations, self.rest_positions, self.parents
        rotations, positions = _compute_world(
            tuple((part.tobytes(), part.dtype.str, part.shape) for part in rest)
        )
        return rotations.copy(), positions.copy()

    def with_names(self, names: tuple[str, ...]) -> Skeleton:
        """Return the skeleton with other names (B) for its bones."""
        return replace(self, names=names)


# skeletons are made anew for each clip, and most have the rest pose of another
@lru_cache(maxsize=64)
def _compute_world(
    rest: tuple[tuple[bytes, str, tuple[int, ...]], ...],
) -> tuple[np.ndarray, np.ndarray]:
    rotations, positions, parents = (
        np.frombuffer(data, kind).reshape(shape) for data, kind, shape in rest
    )
    return quat.fk(rotations, positions, parents)
