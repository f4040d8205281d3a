"""Compute the channels of a rig's controls within a live tick, from which control carries which.
The link between two controls is measured once, in random poses. Mostly it is rigid; controls that
only shift a bone may lie between two others, and the place in between is fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from ....engine.maths.rotations import quat
from ...blender.transforms.transforms import Transform, compose_matrices
from ..pose_graph import PoseGraph

_POSES = 48  # random poses in which it is measured what carries a control
_TURN = 0.4  # radians that they turn each control by
_MOVE = 0.04  # of its length by which each is moved
_SEED = 5
_RIGID = 1e-4  # of elements of a matrix: slack up to which one control carries another


@dataclass(frozen=True, eq=False)
class Level:
    """Controls (N,) whose `carriers` (N,) are posed before them, or -1.

    `relative` (N, 4, 4) is how they rest in their carriers. `unplaced` and `unturned` are those, of
    all controls, whose position or rotation is not wanted.
    """

    controls: np.ndarray
    carriers: np.ndarray
    relative: np.ndarray
    unplaced: np.ndarray
    unturned: np.ndarray


@dataclass(frozen=True, eq=False)
class Between:
    """A control whose base transform interpolates between two others.

    `weights` (13, 12) lead from the pose of the second, and one, to the base in the first.
    """

    control: int
    first: int
    second: int
    weights: np.ndarray

    def compute(self, posed: np.ndarray) -> np.ndarray:
        """Return the base (4, 4) for poses (N, 4, 4) of all controls."""
        result = np.eye(4)
        seen = invert_rigid(posed[self.first]) @ posed[self.second]
        result[:3] = (_list_features(seen[None]) @ self.weights).reshape(3, 4)
        return posed[self.first] @ result


@dataclass(frozen=True, eq=False)
class ControlChain:
    """The controls of a rig, level by level, and those between two others at the end.

    The locations of `local` (N,) are along the controls' own axes, and `axes` (N, 3, 3) lead there
    from those axes.
    """

    levels: tuple[Level, ...]
    between: tuple[Between, ...]
    local: np.ndarray
    axes: np.ndarray

    @classmethod
    def measure(
        cls,
        graph: PoseGraph,
        controls: Sequence[str],
        placed: Sequence[bool],
        turned: Sequence[bool],
    ) -> ControlChain:
        """Measure the chain of controls; `placed` and `turned` ones take wanted places or turns."""
        posed = _pose_randomly(graph, controls, placed)
        carriers = np.full(len(controls), -1)
        between = []
        for index, name in enumerate(controls):
            posed.used.clear()
            base = posed.compute_base(name)
            used = [i for i, other in enumerate(controls) if other in posed.used]
            if not used:
                continue
            # by how much its base moves in the frames of others
            slack = [
                float(np.abs(compose_matrices(*base) - _carry(posed, name, controls[i])).max())
                for i in used
            ]
            carriers[index] = used[int(np.argmin(slack))]
            if not turned[index] and placed[index] and min(slack) > _RIGID:
                between += _fit_between(posed, controls, index, used, base)
        local = np.array([graph.obj.data.bones[name].use_local_location for name in controls])
        rests = np.stack([compose_matrices(*graph.get_rest(name)) for name in controls])
        axes = np.where(local[:, None, None], np.eye(3), rests[:, :3, :3])
        levels = _build_levels(rests, carriers, placed, turned)
        return cls(levels, tuple(between), local, axes)

    def compute_channels(self, wanted: np.ndarray) -> Transform:
        """Return rotations (N, 4) and locations (N, 3) for wanted poses (N, 4, 4) of controls.

        What is not wanted of them is filled in.
        """
        bases = np.empty_like(wanted)
        for level in self.levels:
            base = level.relative
            if level.carriers[0] >= 0:
                base = wanted[level.carriers] @ base
            bases[level.controls] = base
            wanted[level.unplaced, :3, 3] = bases[level.unplaced, :3, 3]
            wanted[level.unturned, :3, :3] = bases[level.unturned, :3, :3]
        for one in self.between:
            bases[one.control] = base = one.compute(wanted)
            wanted[one.control, :3, :3] = base[:3, :3]
        back = np.swapaxes(bases[:, :3, :3], -1, -2)
        away = wanted[:, :3, 3] - bases[:, :3, 3]
        locations = np.matmul(self.axes @ back, away[..., None])[..., 0]
        return quat.from_matrix(back @ wanted[:, :3, :3]), locations


def _pose_randomly(graph: PoseGraph, controls: Sequence[str], placed: Sequence[bool]) -> PoseGraph:
    """Turn controls, and move the ones with positions of their own."""
    rng = np.random.default_rng(_SEED)
    posed = graph.create_alike()
    for name, is_placed in zip(controls, placed, strict=True):
        turn = quat.from_scaled_angle_axis(rng.normal(size=(_POSES, 3)) * _TURN)
        away = is_placed * _MOVE * graph.obj.data.bones[name].length
        posed.give_basis(name, turn, away * rng.normal(size=(_POSES, 3)))
    return posed


def _carry(graph: PoseGraph, name: str, carrier: str) -> np.ndarray:
    offset = compose_matrices(*graph.compute_offset(name, carrier))
    return compose_matrices(*graph.compute_pose(carrier)) @ offset


def _fit_between(
    graph: PoseGraph, controls: Sequence[str], index: int, used: Sequence[int], base: Transform
) -> list[Between]:
    """Return how a control lies between the two others that explain its position best."""
    poses = {i: compose_matrices(*graph.compute_pose(controls[i])) for i in used}
    own = compose_matrices(*base)
    fits: list[tuple[float, Between]] = []
    for first, second in permutations(used, 2):
        back = invert_rigid(poses[first])
        goal = np.broadcast_to(back @ own, (_POSES, 4, 4))[:, :3].reshape(-1, 12)
        features = _list_features(np.broadcast_to(back @ poses[second], (_POSES, 4, 4)))
        weights = np.linalg.lstsq(features, goal, rcond=1e-6)[0]
        error = np.abs(features @ weights - goal)[:, 3::4].max()
        fits.append((float(error), Between(index, first, second, weights)))
    return [min(fits, key=lambda fit: fit[0])[1]] if fits else []


def _list_features(matrices: np.ndarray) -> np.ndarray:
    """Return poses (F, 4, 4) as rows (F, 13), with a one."""
    flat = matrices[:, :3].reshape(-1, 12)
    return np.concatenate([flat, np.ones((len(flat), 1))], axis=1)


def _build_levels(
    rests: np.ndarray, carriers: np.ndarray, placed: Sequence[bool], turned: Sequence[bool]
) -> tuple[Level, ...]:
    """Return the levels of controls, outwards from the ones that nothing carries."""
    depth = np.zeros(len(rests), int)
    for index in range(len(rests)):
        above = carriers[index]
        while above >= 0:
            depth[index] += 1
            above = carriers[above]
    levels = []
    for step in range(int(depth.max()) + 1):
        own = np.flatnonzero(depth == step)
        over = carriers[own]
        relative = invert_rigid(rests[over]) @ rests[own] if step else rests[own]
        unplaced, unturned = (own[~np.array(mask)[own]] for mask in (placed, turned))
        levels.append(Level(own, over, relative, unplaced, unturned))
    return tuple(levels)


def invert_rigid(matrices: np.ndarray) -> np.ndarray:
    """Return the inverse of matrices (..., 4, 4) of rotations and translations."""
    result = np.zeros_like(matrices)
    back = np.swapaxes(matrices[..., :3, :3], -1, -2)
    result[..., :3, :3] = back
    result[..., :3, 3] = -np.matmul(back, matrices[..., :3, 3:])[..., 0]
    result[..., 3, 3] = 1.0
    return result
