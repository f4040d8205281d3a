"""Find how an object moves as a whole: by its own keys, its parents, constraints and drivers. Its
place must not be read on whatever frame happens to be shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np

from ....engine.errors import RigError
from ....engine.maths.rotations import quat
from ..animation import actions, curve_poses
from ..transforms.transforms import decompose_similarity
from .evaluation import EvaluationCopy

_PLACING = ("location", "rotation", "scale", "delta_", "constraints", "parent", "matrix_")
_STILL = 1e-4  # metres, and of unit axes: what moves less stays, but for rounding in float32
_LOOKS = 24  # frames of its animation at which an object is looked at
_AXES = np.concatenate([np.eye(3), -np.eye(3)])


def may_move(obj: bpy.types.Object, *, by_itself: bool = True) -> bool:
    """Return whether keys, drivers or constraints could move an object as time goes on.

    Without `by_itself`, its own keys do not count.
    """
    paths = actions.find_animated_paths(obj) if by_itself else set()
    paths |= {curve.data_path for curve in actions.get_drivers(obj)}
    owners = (owner for leader in _iterate_leaders(obj) for owner in (leader, leader.data))
    return any(path.startswith(_PLACING) for path in paths) or any(
        map(curve_poses.is_animated, owners)
    )


def _iterate_leaders(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yield the parents and targets of constraints that place an object, and what places these."""
    seen = {obj}
    waiting = [obj]
    while waiting:
        one = waiting.pop()
        leaders: list[Any] = [one.parent]
        for constraint in (each for each in one.constraints if not each.mute):
            leaders += [getattr(constraint, name, None) for name in ("target", "pole_target")]
            leaders += [each.target for each in getattr(constraint, "targets", ())]
        new = [leader for leader in dict.fromkeys(leaders) if leader and leader not in seen]
        seen.update(new)
        waiting += new
        yield from new


def sample_world(
    obj: bpy.types.Object, frames: Sequence[float], *, by_itself: bool = True
) -> np.ndarray:
    """Return an object's world matrices (F, 4, 4) at frames, without the frame that is shown.

    Without `by_itself`, it plays nothing of its own, and its own channels are as they are.
    """
    channels = curve_poses.Channels(actions.get_assigned_curves(obj) if by_itself else [], frames)
    is_plain = not (by_itself and actions.has_nla_tracks(obj))
    if is_plain and not curve_poses.find_obstacle(obj, channels, ()):
        own = curve_poses.compute_object_matrices(obj, channels)
        worlds = curve_poses.compute_parent_matrix(obj) @ own
        return np.broadcast_to(worlds, (len(frames), 4, 4))
    with EvaluationCopy(obj) as copy:
        if not by_itself:
            copy.clear_pose()
        copy.armature.data.pose_position = "REST"  # which is faster: bones do not matter
        return copy.evaluate_world_matrices(frames)


def find_steady_world(obj: bpy.types.Object, frames: Sequence[float]) -> np.ndarray | None:
    """Return where an object is (4, 4) in frames in which nothing but its own keys moves it.

    None if it is moved, as by a parent.
    """
    worlds = sample_world(obj, _choose(frames), by_itself=False)
    return None if np.ptp(worlds, axis=0).max() > _STILL else worlds[0]


def find_steady_axes(obj: bpy.types.Object) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the tilt (4,) and scale () of an object whose animation changes these, else None.

    Its tilt at rest is not known then. Up is the armature's axis that mostly points up.
    """
    if not may_move(obj):
        return None
    try:
        worlds = sample_world(obj, _choose(_list_frames(obj)))
        turns, _, scales = decompose_similarity(worlds, obj.name)
    except RigError:  # it is hidden, or sheared: said where its motion is read
        return None
    ups = quat.inv_mul_vec(turns, np.array([0.0, 0.0, 1.0]))
    if max(np.ptp(ups, axis=0).max(), np.ptp(scales) / scales[0]) <= _STILL:
        return None
    axis = _AXES[int(np.argmax(_AXES @ ups.mean(axis=0)))]
    return quat.between(axis, np.array([0.0, 0.0, 1.0])), np.median(scales, keepdims=True)[0]


def _list_frames(obj: bpy.types.Object) -> range:
    """Return the frames in which an object, or what places it, is animated; else the scene's."""
    played: list[Any] = [
        action.frame_range
        for one in (obj, *_iterate_leaders(obj))
        for action, _ in actions.get_played_actions(one)
    ]
    scene = bpy.context.scene
    ranges = played or [(scene.frame_start, scene.frame_end)]
    first, last = min(r[0] for r in ranges), max(r[1] for r in ranges)
    return range(int(first), int(last) + 1)


def _choose(frames: Sequence[float]) -> list[float]:
    """Return some frames from the first to the last."""
    picks = np.unique(np.linspace(0, len(frames) - 1, min(_LOOKS, len(frames))).astype(int))
    return [frames[pick] for pick in picks.tolist()]
