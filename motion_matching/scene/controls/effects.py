"""Compute where deform bones end up for given channels of controls: the way back, in numpy.

A bone of a limb with IK ends up in two places, by FK and by IK; both count, so that a switch
between them keeps the pose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from ...engine.maths.rotations import quat
from ...engine.progress import ShareSteps
from ..blender.transforms.transforms import Y_AXIS, compose, to_frames
from .control_rig import ControlLimb, KeyedControls
from .pose_graph import PoseGraph

Places = tuple[np.ndarray, np.ndarray]  # a point and an axis, (F, 3) each
Compute = Callable[[], Places]


@dataclass(frozen=True)
class Effect:
    """A deform bone as some controls move it: `compute` gives its head and its axis."""

    bone: str
    compute: Compute


def list_effects(graph: PoseGraph, keyed: KeyedControls) -> list[Effect]:
    """Return the effects of the controls that get keys."""
    rig = keyed.rig
    turned = {**rig.place, **rig.follow}
    by_bone = {bone: partial(_carry, graph, control, bone) for control, bone in turned.items()}
    result = [Effect(bone, compute) for bone, compute in by_bone.items()]
    for control, bone in rig.shift.items():
        result += _list_stretch_effects(graph, by_bone, partial(_carry, graph, control, bone), bone)
    for limb in rig.limbs:
        if limb.name in keyed.by_fk:
            for control, bone in zip(limb.fk, limb.bones, strict=True):
                result.append(Effect(bone, partial(_carry, graph, control, bone)))
        if limb.name in keyed.by_ik:
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


def _carry(graph: PoseGraph, control: str, bone: str) -> Places:
    rotation, position = graph.compute_carried(bone, control)
    return position, quat.mul_vec(rotation, Y_AXIS)


def _list_stretch_effects(
    graph: PoseGraph, by_bone: Mapping[str, Compute], compute: Compute, bone: str
) -> Iterator[Effect]:
    """Yield a bone that only a location moves, and the one above: both stretch between heads."""
    data = graph.obj.data.bones[bone]
    above = by_bone.get(data.parent.name) if data.parent else None
    below = next((by_bone[c.name] for c in data.children if c.name in by_bone), None)
    if above:
        yield Effect(data.parent.name, partial(_aim_between, above, compute))
    yield Effect(bone, partial(_aim_between, compute, below) if below else compute)


def _aim_between(start: Compute, end: Compute) -> Places:
    head = start()[0]
    tail = end()[0]
    return head, quat.normalize_vectors(tail - head)


def _list_ik_effects(graph: PoseGraph, limb: ControlLimb) -> Iterator[Effect]:
    yield Effect(limb.bones[2], partial(_carry, graph, limb.end, limb.bones[2]))
    if limb.toe and len(limb.bones) > 3:
        yield Effect(limb.bones[3], partial(_carry, graph, limb.toe, limb.bones[3]))

    def compute(joint: int) -> Places:
        head, tail = solve_limb(graph, limb)[joint : joint + 2]
        return head, quat.normalize_vectors(tail - head)

    for joint in (0, 1):
        yield Effect(limb.bones[joint], partial(compute, joint))


def solve_limb(graph: PoseGraph, limb: ControlLimb) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where IK puts the hip, the knee and the ankle, (F, 3) each, by the limb's controls."""
    rests = [graph.get_rest(control)[1] for control in limb.fk[:3]]
    upper, lower = (float(np.linalg.norm(b - a)) for a, b in pairwise(rests))
    back = to_frames(graph.compute_offset(limb.fk[2], limb.end))
    ankle = compose(graph.compute_pose(limb.end), back)[1]
    hip = graph.compute_base(limb.fk[0])[1]
    pole = graph.compute_pose(limb.pole)[1]
    way = ankle - hip
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    reach = np.clip(length, abs(upper - lower) + 1e-6, upper + lower)
    way = way / np.maximum(length, 1e-9)
    out = pole - hip
    out = quat.normalize_vectors(out - np.sum(out * way, axis=-1, keepdims=True) * way)
    along = (upper**2 - lower**2 + reach**2) / (2.0 * reach)
    aside = np.sqrt(np.maximum(upper**2 - along**2, 0.0))
    return hip, hip + along * way + aside * out, hip + reach * way
