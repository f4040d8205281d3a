"""Which control carries which, as arrays: the poses of a rig's controls within a live tick.

What lies between two controls is measured once, in random poses, and taken as rigid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...engine.maths import quat
from ..blender.transforms import Transform, compose, invert
from .pose_graph import PoseGraph

_POSES = 6  # random poses in which it is measured what carries a control
_SEED = 5


@dataclass(frozen=True)
class Level:
    """Controls (N,) whose `carriers` (N,) are posed before them, or -1.

    `relative` is how they rest in these. `placed` (N,) have positions of their own. `axes` (N, 4)
    lead from the axes of locations to the controls' own.
    """

    controls: np.ndarray
    carriers: np.ndarray
    relative: Transform
    placed: np.ndarray
    axes: np.ndarray


def build_levels(graph: PoseGraph, controls: Sequence[str], placed: Sequence[bool]) -> list[Level]:
    """Return the levels of controls, from those that nothing carries outwards."""
    carriers = find_carriers(graph, controls)
    depth = np.zeros(len(controls), int)
    for index in range(len(controls)):
        above = carriers[index]
        while above >= 0:
            depth[index] += 1
            above = carriers[above]
    rests = [graph.get_rest(name) for name in controls]
    rotations, positions = (np.stack(part) for part in zip(*rests, strict=True))
    local = np.array([graph.obj.data.bones[name].use_local_location for name in controls])
    axes = np.where(local[:, None], quat.IDENTITY, rotations)
    levels = []
    for step in range(int(depth.max()) + 1):
        own = np.flatnonzero(depth == step)
        over = carriers[own]
        rest = rotations[own], positions[own]
        if step:
            rest = compose(invert((rotations[over], positions[over])), rest)
        levels.append(Level(own, over, rest, np.array(placed)[own], axes[own]))
    return levels


def find_carriers(graph: PoseGraph, controls: Sequence[str]) -> np.ndarray:
    """Return for each control the index of the one that carries it, or -1, (N,)."""
    rng = np.random.default_rng(_SEED)
    posed = PoseGraph(graph.obj, graph.at_rest)
    for name in controls:
        turn = quat.from_scaled_angle_axis(rng.normal(size=(_POSES, 3)) * 0.4)
        posed.give_basis(name, turn, np.zeros((_POSES, 3)))
    result = np.full(len(controls), -1)
    for index, name in enumerate(controls):
        posed.used.clear()
        base = posed.compute_base(name)
        used = [i for i, other in enumerate(controls) if other in posed.used]
        errors = [_measure_slack(posed, name, base, controls[i]) for i in used]
        if used:
            result[index] = used[int(np.argmin(errors))]
    return result


def _measure_slack(graph: PoseGraph, name: str, base: Transform, other: str) -> float:
    """Return by how much a control's base moves in another one's frame."""
    offset = graph.compute_offset(name, other)
    rotation, position = compose(graph.compute_pose(other), (offset[0][None], offset[1][None]))
    turns = quat.angle_between(*np.broadcast_arrays(rotation, base[0]))
    return float(np.max(turns) + np.max(np.linalg.norm(position - base[1], axis=-1)))


def pose_controls(
    levels: list[Level], rotations: np.ndarray, positions: np.ndarray, turns: np.ndarray
) -> Transform:
    """Return the channels, rotations (N, 4) and locations (N, 3), for wanted poses of controls.

    `turns` (N,) tells which have a rotation of their own. Poses are changed in place.
    """
    channels, locations = np.empty_like(rotations), np.zeros_like(positions)
    for level in levels:
        base_r, base_p = level.relative
        if level.carriers[0] >= 0:
            carrier = rotations[level.carriers], positions[level.carriers]
            base_r, base_p = compose(carrier, level.relative)
        own = level.controls
        rotations[own] = np.where(turns[own, None], rotations[own], base_r)
        positions[own] = np.where(level.placed[:, None], positions[own], base_p)
        channels[own] = quat.inv_mul(base_r, rotations[own])
        locations[own] = quat.inv_mul_vec(quat.mul_inv(base_r, level.axes), positions[own] - base_p)
    return channels, locations
