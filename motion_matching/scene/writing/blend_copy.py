"""A take on an armature of a user's Blender file, saved as a copy of the file."""

from __future__ import annotations

from pathlib import Path

import bpy

from ...engine.errors import MotionMatchingError
from ...engine.files import replacing
from ...engine.motion.clip import Clip
from ...engine.silence import silence_output
from ..blender.files import find_armature, open_blend, save_copy
from ..rig.root_target import RootTarget
from .bake import Mark, bake


def save_onto(
    clip: Clip,
    file: Path,
    armature: str | None,
    path: Path,
    *,
    title: str,
    frame_start: int | None = None,
    root: RootTarget | None = None,
    root_bone: str = "",
    hips: str | None = None,
    fewer_keys: float = 0.0,
    track: str | None = None,
    mark: Mark | None = None,
) -> bpy.types.Action:
    """Write a copy of a Blender file in which an armature performs the clip.

    `armature` is its name, or None for the only one. The file is opened in place of the one that is
    open, and itself stays as it is. The clip starts on `frame_start`, or where the scene starts;
    the other options are those of `bake`, and `mark` is called with the action and its first frame.
    Raises what opening, baking and saving raise.
    """
    open_blend(file)
    obj = find_armature(file, armature)
    start = bpy.context.scene.frame_start if frame_start is None else frame_start
    with replacing(path, MotionMatchingError) as unfinished, silence_output():
        action = bake(
            clip,
            obj,
            name=title,
            frame_start=start,
            root=root,
            root_bone=root_bone,
            hips=hips,
            fewer_keys=fewer_keys,
            track=track,
        )
        if mark:
            mark(action, start)
        unfinished.unlink()  # else Blender would keep it as a backup
        save_copy(unfinished)
    return action
