"""Retargeted clips as new actions of their armature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import bpy
import numpy as np

from ...engine.motion.clip import Clip
from ...engine.progress import ShareSteps, map_steps, run_to_end
from ..blender.animation import actions, playback
from ..blender.handle import Handle, fit_name
from ..controls.bake_controls import ControlSettings, solve_bake_steps
from ..rig.fitting import ArmatureState
from ..rig.root_target import move_clip
from ..writing.bake import bake
from .sources import SourceMotion, find_origin
from .targets import check_takes_keys
from .transfer import Retargeted

Accept = Callable[[Sequence[bpy.types.Action]], None]
Writer = Callable[[str], bpy.types.Action]
_STILL = 1e-5  # quaternion components, and metres, that a bone at rest is off its rest at most


@dataclass(frozen=True)
class WriteOptions:
    """Options for writing retargeted motion. Actions have `name`, or the names of their source and
    character. They begin where their source did, or at `frame_start` if it came from a file.
    `fewer_keys` is how far, in metres, any bone may stray, for fewer keys. `controls` are for
    control rigs.
    """

    name: str = ""
    frame_start: int = 1
    fewer_keys: float = 0.0
    controls: ControlSettings = field(default_factory=ControlSettings)


class _Placed(NamedTuple):
    """A clip in the world, the frame it begins at, and how the armature stood before."""

    clip: Clip
    start: int
    standing: ArmatureState


def write_retargeted(
    obj: bpy.types.Object,
    retargeted: Retargeted,
    options: WriteOptions,
    accept: Accept = lambda made: None,
) -> list[bpy.types.Action]:
    """Write retargeted motion onto its armature at once, as `write_retargeted_steps` does."""
    return run_to_end(write_retargeted_steps(obj, retargeted, options, accept))


def write_retargeted_steps(
    obj: bpy.types.Object,
    retargeted: Retargeted,
    options: WriteOptions,
    accept: Accept = lambda made: None,
) -> ShareSteps[list[bpy.types.Action]]:
    """Write retargeted motion onto its armature, of a control rig onto its controls, in pieces.

    Each clip becomes a new action that is kept in the file; the first is assigned. It starts where
    the armature stands on its first frame. Raises RigError, with nothing left behind, if the
    armature does not take the keys. What `accept` raises, given the actions, leaves nothing behind
    either, nor do steps that are closed. Raises RigChangedError if the armature or an action was
    deleted between two pieces.
    """
    armature = Handle.from_block(obj, "objects")
    standing = ArmatureState.from_object(obj)
    made: list[Handle] = []
    starts = [find_start(motion, options) for motion, _ in retargeted.pairs]
    places = [find_origin(obj, start) for start in starts]
    try:
        for (source, clip), start, place in zip(retargeted.pairs, starts, places, strict=True):
            name = fit_name(options.name or f"{source.clip.name} {armature.name}")
            placed = _Placed(move_clip(clip, place), start, standing)
            work = _prepare_steps(armature.require(), retargeted, options, placed)
            write = yield from map_steps(work, partial(_share, len(made), len(places)))
            obj = armature.require()
            with playback.preserve_pose(obj), playback.preserve_animation(obj):
                action = write(name)
            made.append(Handle.from_block(action, "actions"))
            action.use_fake_user = True
            if source.is_cyclic:  # from its first key to its last
                low, high = action.frame_range[0], action.frame_range[1]
                action.use_frame_range = action.use_cyclic = True
                action.frame_start = low
                action.frame_end = high
        written = [handle.require() for handle in made]
        accept(written)
    except BaseException:
        for handle in made:
            if action := handle.find():
                bpy.data.actions.remove(action)
        raise
    if written:
        actions.assign(armature.require(), written[0])
    return written


def find_start(motion: SourceMotion, options: WriteOptions) -> int:
    """Return the frame of the scene that a motion's action begins at."""
    return options.frame_start if motion.first_frame is None else motion.first_frame


def _share(index: int, count: int, part: float | None) -> float:
    """Return the share of all clips that is done with a part of one."""
    return (index + (part or 0.0)) / count


def _prepare_steps(
    obj: bpy.types.Object, retargeted: Retargeted, options: WriteOptions, placed: _Placed
) -> ShareSteps[Writer]:
    """Prepare to write a clip, of a control rig in pieces; return what writes it under a name."""
    rig = retargeted.target.rig
    distance = options.fewer_keys
    if rig is None:
        yield None
        return partial(_bake_bones, Handle.from_block(obj, "objects"), retargeted, distance, placed)
    settings = options.controls
    if distance:
        settings = replace(settings, fewer_keys=True, distance=distance)
    write = yield from solve_bake_steps(obj, rig, placed.clip, settings, placed.start)
    return lambda name: write(name, None)


def _bake_bones(
    armature: Handle, retargeted: Retargeted, fewer_keys: float, placed: _Placed, name: str
) -> bpy.types.Action:
    """Key the mapped bones, the bones above them, and all moving ones; leave others alone."""
    obj = armature.require()
    clip = placed.clip
    skeleton = clip.skeleton
    moved = {*retargeted.mapped_bones, *_find_moving_bones(clip)}
    below = map(skeleton.index, moved)
    above = {skeleton.names[bone] for one in below for bone in skeleton.get_ancestors(one)}
    check_takes_keys(obj, moved, retargeted.hips)
    return bake(
        clip,
        obj,
        name=name,
        frame_start=placed.start,
        hips=retargeted.hips,
        fewer_keys=fewer_keys,
        bones=moved | above,
        standing=placed.standing,
    )


def _find_moving_bones(clip: Clip) -> list[str]:
    """Return the bones that are off their rest in any frame."""
    skeleton = clip.skeleton
    same = np.abs(np.sum(clip.rotations * skeleton.rest_rotations, axis=-1))
    turned = np.min(same, axis=0) < 1.0 - _STILL
    away = np.abs(clip.positions - skeleton.rest_positions).max(axis=(0, 2)) > _STILL
    return [skeleton.names[bone] for bone in np.flatnonzero(turned | away)]
