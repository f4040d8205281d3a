"""Compute where deform bones end up for given channels of controls: the way back, in numpy.

A bone of a limb with IK ends up in two places, by FK and by IK; both count, so that a switch
between them keeps the pose.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...engine.maths.rotations import quat
from ...engine.progress import ShareSteps
from ..blender.transforms.transforms import compose, invert
from .control_rig import ControlLimb, ControlRig
from .pose_graph import PoseGraph

_Y = np.array([0.0, 1.0, 0.0])
Places = tuple[np.ndarray, np.ndarray]  # a point and an axis, (F, 3) each


@dataclass(frozen=True)
class Effect:
    """A deform bone as some controls move it: `compute` gives its head and its axis."""

    bone: str
    compute: Callable[[], Places]


def list_effects(
    graph: PoseGraph, rig: ControlRig, by_fk: Collection[str], by_ik: Collection[str]
) -> list[Effect]:
    """Return the effects of a rig's controls, for the limbs that are keyed by FK and by IK."""
    turned = {**rig.place, **rig.follow}
    by_bone = {bone: _follow_back(graph, control, bone) for control, bone in turned.items()}
    result = [Effect(bone, compute) for bone, compute in by_bone.items()]
    for control, bone in rig.shift.items():
        result += _list_stretch_effects(graph, by_bone, _follow_back(graph, control, bone), bone)
    for limb in rig.limbs:
        if limb.name in by_fk:
            pairs = zip(limb.fk, limb.bones, strict=True)
            result += [Effect(bone, _follow_back(graph, control, bone)) for control, bone in pairs]
        if limb.name in by_ik:
            result += _list_ik_effects(graph, limb)
    return result


def compute_places_steps(effects: Iterable[Effect]) -> ShareSteps[Places]:
    """Return heads and axes (E, F, 3) of all effects, which are computed one by one."""
    places = []
    for effect in effects:
        places.append(effect.compute())
        yield None
    heads, axes = zip(*places, strict=True)
    return np.stack(np.broadcast_arrays(*heads)), np.stack(np.broadcast_arrays(*axes))


def find_causes(graph: PoseGraph, effects: list[Effect]) -> list[frozenset[str]]:
    """Return the controls whose channels decide each effect."""
    result = []
    for effect in effects:
        graph.used.clear()
        effect.compute()
        result.append(frozenset(graph.used))
    return result


def find_above(graph: PoseGraph, controls: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the controls that decide where each control starts from."""
    result = {}
    for control in controls:
        graph.used.clear()
        graph.compute_base(control)
        result[control] = frozenset(graph.used)
    return result


def _follow_back(graph: PoseGraph, control: str, bone: str) -> Callable[[], Places]:
    offset = tuple(part[None] for part in invert(graph.compute_offset(control, bone)))

    def compute() -> Places:
        rotation, position = compose(graph.compute_pose(control), (offset[0], offset[1]))
        return position, quat.mul_vec(rotation, _Y)

    return compute


def _list_stretch_effects(
    graph: PoseGraph,
    by_bone: dict[str, Callable[[], Places]],
    compute: Callable[[], Places],
    bone: str,
) -> Iterator[Effect]:
    """Yield a bone that only a location moves, and the one above: both stretch between heads."""
    data = graph.obj.data.bones[bone]
    above = by_bone.get(data.parent.name) if data.parent else None
    below = next((by_bone[c.name] for c in data.children if c.name in by_bone), None)
    if above:
        yield Effect(data.parent.name, _aim_between(above, compute))
    yield Effect(bone, _aim_between(compute, below) if below else compute)


def _aim_between(start: Callable[[], Places], end: Callable[[], Places]) -> Callable[[], Places]:
    def compute() -> Places:
        head, tail = start()[0], end()[0]
        return head, quat.normalize_vectors(tail - head)

    return compute


def _list_ik_effects(graph: PoseGraph, limb: ControlLimb) -> Iterator[Effect]:
    end = limb.target if limb.roll and limb.target else limb.ik
    yield Effect(limb.bones[2], _follow_back(graph, end, limb.bones[2]))
    if limb.toe and len(limb.bones) > 3:
        yield Effect(limb.bones[3], _follow_back(graph, limb.toe, limb.bones[3]))

    def compute_upper() -> Places:
        hip, knee, _ = solve_limb(graph, limb)
        return hip, quat.normalize_vectors(knee - hip)

    def compute_lower() -> Places:
        _, knee, ankle = solve_limb(graph, limb)
        return knee, quat.normalize_vectors(ankle - knee)

    yield Effect(limb.bones[0], compute_upper)
    yield Effect(limb.bones[1], compute_lower)


def solve_limb(graph: PoseGraph, limb: ControlLimb) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where IK puts the hip, the knee and the ankle, (F, 3) each, by the limb's controls."""
    rests = [graph.get_rest(control)[1] for control in limb.fk[:3]]
    upper, lower = (float(np.linalg.norm(b - a)) for a, b in pairwise(rests))
    end = limb.target if limb.roll and limb.target else limb.ik
    back = graph.compute_offset(limb.fk[2], end)
    ankle = compose(graph.compute_pose(end), (back[0][None], back[1][None]))[1]
    hip, pole = graph.compute_base(limb.fk[0])[1], graph.compute_pose(limb.pole)[1]
    way = ankle - hip
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    reach = np.clip(length, abs(upper - lower) + 1e-6, upper + lower)
    way = way / np.maximum(length, 1e-9)
    out = pole - hip
    out = quat.normalize_vectors(out - np.sum(out * way, axis=-1, keepdims=True) * way)
    along = (upper**2 - lower**2 + reach**2) / (2.0 * reach)
    aside = np.sqrt(np.maximum(upper**2 - along**2, 0.0))
    return hip, hip + along * way + aside * out, hip + reach * way
