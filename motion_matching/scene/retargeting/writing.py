"""Retargeted clips as new actions of their armature."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ...engine.motion.clip import Clip
from ...engine.motion.skeleton import Skeleton
from ..blender import actions, playback
from ..blender.handle import fit_name
from ..controls.bake_controls import ControlSettings, bake_controls
from ..rig.carried import move_clip
from ..rig.fitting import ArmatureState
from ..writing.bake import bake
from ..writing.pose_guard import preserve_pose
from .sources import SourceMotion, find_origin
from .targets import check_takes_keys
from .transfer import Retargeted

Accept = Callable[[Sequence[bpy.types.Action]], None]
Writer = Callable[[Clip, str, int], bpy.types.Action]
_STILL = 1e-5  # quaternion components, and metres, that a bone at rest is off its rest at most


@dataclass(frozen=True)
class WriteOptions:
    """How retargeted motion is written.

    Actions have `name`, or those of their source and character. They begin where their source did,
    or at `frame_start` if it came from a file. `fewer_keys` is how far, in metres, any bone may
    stray, for fewer keys. `controls` are for control rigs.
    """

    name: str = ""
    frame_start: int = 1
    fewer_keys: float = 0.0
    controls: ControlSettings = field(default_factory=ControlSettings)


def write_retargeted(
    obj: bpy.types.Object,
    retargeted: Retargeted,
    options: WriteOptions,
    accept: Accept = lambda made: None,
) -> list[bpy.types.Action]:
    """Write retargeted motion onto its armature, of a control rig onto its controls.

    Each clip becomes a new action that is kept in the file; the first is assigned. It starts where
    the armature stands on its first frame. Raises RigError, with nothing left behind, if the
    armature does not take the keys. What `accept` raises, given the actions, leaves nothing behind
    either.
    """
    made: list[bpy.types.Action] = []
    starts = [find_start(motion, options) for motion, _ in retargeted.pairs]
    places = [find_origin(obj, start) for start in starts]
    try:
        with preserve_pose(obj), playback.preserve_animation(obj):
            write = _find_writer(obj, retargeted, options)
            for (source, clip), start, place in zip(retargeted.pairs, starts, places, strict=True):
                name = fit_name(options.name or f"{source.clip.name} {obj.name}")
                action = write(move_clip(clip, place), name, start)
                made.append(action)
                action.use_fake_user = True
                if source.is_cyclic:
                    mark_as_cycle(action)
        accept(made)
    except BaseException:
        for action in made:
            bpy.data.actions.remove(action)
        raise
    if made:
        actions.assign(obj, made[0])
    return made


def find_start(motion: SourceMotion, options: WriteOptions) -> int:
    """Return the frame of the scene that a motion's action begins at."""
    return options.frame_start if motion.first_frame is None else motion.first_frame


def _find_writer(obj: bpy.types.Object, retargeted: Retargeted, options: WriteOptions) -> Writer:
    """Return what writes a clip in the world as an action, given its name and first frame."""
    if rig := retargeted.target.rig:
        settings, distance = options.controls, options.fewer_keys
        if distance:
            settings = replace(settings, fewer_keys=True, distance=distance)
        return lambda clip, name, start: bake_controls(obj, rig, clip, settings, start, name)
    standing = ArmatureState.from_object(obj)
    hips, mapped = retargeted.hips, retargeted.mapped_bones

    def write(clip: Clip, name: str, start: int) -> bpy.types.Action:
        return _bake_bones(obj, clip, name, start, hips, mapped, options.fewer_keys, standing)

    return write


def _bake_bones(
    obj: bpy.types.Object,
    clip: Clip,
    name: str,
    start: int,
    hips: str,
    mapped: Collection[str],
    fewer_keys: float,
    standing: ArmatureState,
) -> bpy.types.Action:
    """Key the mapped bones, those above them, and those that move; leave what others do alone."""
    moved = {*mapped, *find_moving_bones(clip)}
    check_takes_keys(obj, moved, hips)
    return bake(
        clip,
        obj,
        name=name,
        frame_start=start,
        hips=hips,
        fewer_keys=fewer_keys,
        bones=moved | find_bones_above(clip.skeleton, moved),
        standing=standing,
    )


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
