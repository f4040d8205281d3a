"""Retargeted clips as new actions of their armature."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import bpy
import numpy as np

from ...engine.motion.clip import Clip
from ...engine.motion.skeleton import Skeleton
from ..blender import actions, playback
from ..blender.handle import fit_name
from ..rig.fitting import ArmatureState
from ..rig.root_target import RootTarget
from ..writing.bake import bake
from ..writing.pose_guard import preserve_pose
from .sources import SourceMotion, find_origin, move_clip
from .targets import check_takes_keys
from .transfer import Retargeted

_STILL = 1e-5  # quaternion components, and metres, that a bone at rest is off its rest at most


def write_retargeted(
    obj: bpy.types.Object,
    retargeted: Retargeted,
    *,
    name: str = "",
    frame_start: int = 1,
    fewer_keys: float = 0.0,
) -> list[bpy.types.Action]:
    """Write retargeted motion as `write_clips` does."""
    options: Any = {"name": name, "frame_start": frame_start, "fewer_keys": fewer_keys}
    return write_clips(obj, retargeted.pairs, retargeted.hips, retargeted.mapped_bones, **options)


def write_clips(
    obj: bpy.types.Object,
    pairs: Sequence[tuple[SourceMotion, Clip]],
    hips: str,
    mapped: Collection[str],
    *,
    name: str = "",
    frame_start: int = 1,
    fewer_keys: float = 0.0,
) -> list[bpy.types.Action]:
    """Write clips of an armature's own skeleton, each with the motion that it came from.

    Each becomes a new action that is kept in the file; the first is assigned. It begins where its
    source did, or at `frame_start` if that came from a file. The `mapped` bones are keyed, with
    those above them and those that the clip moves; what the others do is left alone. Raises
    RigError, with nothing left behind, if the armature does not take the keys.
    """
    made: list[bpy.types.Action] = []
    origin = find_origin(obj)
    try:
        with preserve_pose(obj), playback.preserve_animation(obj):
            standing = ArmatureState.from_object(obj)
            for source, clip in pairs:
                moved = {*mapped, *find_moving_bones(clip)}
                check_takes_keys(obj, moved, hips)
                first = source.first_frame
                action = bake(
                    move_clip(clip, origin),
                    obj,
                    name=fit_name(name or f"{source.clip.name} {obj.name}"),
                    frame_start=frame_start if first is None else first,
                    root=RootTarget.HIPS,
                    hips=hips,
                    fewer_keys=fewer_keys,
                    bones=moved | find_bones_above(clip.skeleton, moved),
                    standing=standing,
                )
                made.append(action)
                action.use_fake_user = True
                if source.is_cyclic:
                    mark_as_cycle(action)
    except BaseException:
        for action in made:
            bpy.data.actions.remove(action)
        raise
    if made:
        actions.assign(obj, made[0])
    return made


def find_moving_bones(clip: Clip) -> list[str]:
    """Return the bones that are off their rest in any frame."""
    skeleton = clip.skeleton
    same = np.abs(np.sum(clip.rotations * skeleton.rest_rotations, axis=-1))
    turned = np.min(same, axis=0) < 1.0 - _STILL
    away = np.abs(clip.positions - skeleton.rest_positions).max(axis=(0, 2)) > _STILL
    return [skeleton.names[bone] for bone in np.flatnonzero(turned | away)]


def find_bones_above(skeleton: Skeleton, bones: Collection[str]) -> set[str]:
    """Return the bones above some of a skeleton."""
    below = (skeleton.index(name) for name in bones)
    return {skeleton.names[bone] for one in below for bone in skeleton.get_ancestors(one)}


def mark_as_cycle(action: bpy.types.Action) -> None:
    """Mark an action as a cycle from its first key to its last."""
    start, end = action.frame_range[0], action.frame_range[1]
    action.use_frame_range, action.use_cyclic = True, True
    action.frame_start, action.frame_end = start, end
