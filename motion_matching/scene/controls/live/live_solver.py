"""Solve for the controls of a rig one pose at a time, near what a bake of the same pose keys.

What a rig is like is measured once; a pose then costs a handful of array operations. The roll
control of a foot stays at rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ....engine.maths.rotations import quat
from ....engine.skeleton.skeleton import Skeleton
from ...blender.transforms.transforms import Transform, compose_matrices, invert
from ..control_rig import ControlLimb, KeyedControls
from ..pose_graph import PoseGraph
from ..solve_controls import aim_pole, measure_limb
from .live_chain import ControlChain


class LiveSolver:
    """Finds the channels of controls for poses of deform bones, which are in the armature's space.

    The `bones` are those whose poses are needed, in their order.
    """

    def __init__(self, graph: PoseGraph, keyed: KeyedControls) -> None:
        limbs = tuple(replace(limb, roll="", target="") for limb in keyed.rig.limbs)
        rig = replace(keyed.rig, limbs=limbs)
        solved = [limb for limb in rig.limbs if limb.name in keyed.by_ik]
        self.controls = replace(keyed, rig=rig).controls
        bones = {**rig.place, **rig.follow, **rig.shift}
        for limb in rig.limbs:
            bones |= dict(zip(limb.fk, limb.bones, strict=True))
        for limb in solved:
            bones |= {limb.ik: limb.bones[2], limb.pole: limb.bones[1]}
            bones |= {limb.toe: limb.bones[3]} if limb.toe and len(limb.bones) > 3 else {}
        poles = {limb.pole for limb in solved}
        turned = {*self.controls} - poles - {*rig.shift}
        placed = {*rig.place, *rig.shift, *(limb.ik for limb in solved), *poles}
        self.bones = [*dict.fromkeys(bones[c] for c in self.controls)]
        self.bones += [b for limb in solved for b in limb.bones[:3] if b not in self.bones]
        place = {bone: i for i, bone in enumerate(self.bones)}
        self._follows = np.array([place[bones[c]] for c in self.controls])
        offsets = [graph.compute_offset(c, bones[c]) for c in self.controls]
        self._offsets = np.stack([compose_matrices(*offset) for offset in offsets])
        masks = [c in placed for c in self.controls], [c in turned for c in self.controls]
        self._chain = ControlChain.measure(graph, self.controls, *masks)
        self._poles = _Poles(graph, solved, self.controls, place) if solved else None

    def compute(self, poses: np.ndarray) -> Transform:
        """Return rotations (N, 4) and locations (N, 3) of controls for poses (D, 4, 4) of bones."""
        wanted = poses[self._follows] @ self._offsets
        if self._poles:
            wanted[self._poles.controls, :3, 3] = self._poles.compute(poses)
        return self._chain.compute_channels(wanted)

    def iterate_world_controls(self) -> Iterator[tuple[int, np.ndarray, np.ndarray, bool]]:
        """Yield the controls that nothing carries, which are posed in the armature's space.

        These are row, rest rotation (4,) and position (3,), and if locations are along its axes.
        """
        level = self._chain.levels[0]
        local = self._chain.local
        rests = level.relative
        parts = quat.from_matrix(rests[:, :3, :3]), rests[:, :3, 3], local[level.controls].tolist()
        return zip(level.controls.tolist(), *parts, strict=True)


class _Poles:
    """Places of the poles of limbs (L), by the poses of their deform bones."""

    def __init__(
        self,
        graph: PoseGraph,
        limbs: Sequence[ControlLimb],
        controls: Sequence[str],
        place: Mapping[str, int],
    ) -> None:
        self.controls = np.array([controls.index(limb.pole) for limb in limbs])
        self._bones = np.array([[place[bone] for bone in limb.bones[:3]] for limb in limbs])
        offsets = [
            [graph.compute_offset(c, b) for c, b in zip(limb.fk[:3], limb.bones[:3], strict=True)]
            for limb in limbs
        ]
        self._offsets = np.array([[compose_matrices(*part) for part in parts] for parts in offsets])
        sizes, ahead = zip(*(measure_limb(graph, limb) for limb in limbs), strict=True)
        self._sizes, self._ahead = np.array(sizes)[:, None], np.stack(ahead)[..., None]

    def compute(self, poses: np.ndarray) -> np.ndarray:
        """Return the positions (L, 3) for poses (D, 4, 4) of bones."""
        joints = poses[self._bones] @ self._offsets
        ahead = np.matmul(joints[:, 0, :3, :3], self._ahead)[..., 0]
        hip, knee, ankle = (joints[:, i, :3, 3] for i in range(3))
        return aim_pole(self._sizes, ahead, hip, knee, ankle)


class WorldChain:
    """Poses of some bones of a skeleton in an armature's space, by name, level by level."""

    def __init__(
        self,
        skeleton: Skeleton,
        names: Sequence[str],
        wanted: Sequence[str],
        stand: Transform,
        scale: float,
    ) -> None:
        """Prepare a skeleton whose bones have `names` in the armature, which stands somewhere."""
        index = {name: bone for bone, name in enumerate(names)}
        bones = [index[name] for name in wanted]
        needed = sorted({b for bone in bones for b in skeleton.get_chain_to_root(bone)})
        depths = np.array([skeleton.get_depth(bone) for bone in needed])
        row = {bone: i for i, bone in enumerate(needed)}
        above = np.array([row.get(int(skeleton.parents[bone]), -1) for bone in needed])
        self._levels = [np.flatnonzero(depths == d) for d in range(int(depths.max()) + 1)]
        self._parents = [above[level] for level in self._levels]
        self._needed, self._wanted = np.array(needed), np.array([row[bone] for bone in bones])
        self._back = compose_matrices(*invert((stand[0], stand[1] / scale)))
        self._scale = scale

    def compute(self, pose: np.ndarray) -> np.ndarray:
        """Return the poses (N, 4, 4) of the wanted bones for a local pose (7, B) in metres."""
        local = pose[:, self._needed].T.astype(np.float64)
        posed = compose_matrices(local[:, 3:], local[:, :3] / self._scale)
        posed[self._levels[0]] = self._back @ posed[self._levels[0]]
        for level, parents in zip(self._levels[1:], self._parents[1:], strict=True):
            posed[level] = posed[parents] @ posed[level]
        return posed[self._wanted]
