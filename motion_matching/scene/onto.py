"""A take onto an armature of a user's Blender file, saved as a copy of it."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..engine.errors import MotionMatchingError
from ..engine.files import replacing
from ..engine.motion.clip import Clip
from ..engine.silence import silent
from .bake import bake
from .blend_file import Mark, save_copy
from .blend_sources import armature_in, open_blend
from .root_target import RootTarget


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
    """Write a copy of a Blender file in which an armature, the one of that name or the only one, performs the clip.

    The file that is open gives way to it; the file itself stays as it is. The clip starts on `frame_start`, or where
    the scene starts; the other options are those of `bake`, and `mark` is called with the
    action and its first frame. Errors are those of opening, baking and saving.
    """
    open_blend(file)
    obj = armature_in(file, armature)
    start = bpy.context.scene.frame_start if frame_start is None else frame_start
    with replacing(path, MotionMatchingError) as unfinished, silent():
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
