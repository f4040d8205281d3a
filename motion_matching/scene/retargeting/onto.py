"""Retarget motion onto an armature of the open file, or of a copy of another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import bpy

from ...engine.files import check_clashes
from ...engine.progress import ReportProgress, ignore_progress
from ..blender.files import find_armature, open_blend, save_after
from .sources import SourceMotion
from .targets import read_target
from .transfer import Retargeted, RetargetRequest, retarget
from .writing import WriteOptions, write_retargeted

_DEFAULTS = WriteOptions()


def retarget_onto(
    obj: bpy.types.Object,
    motions: Sequence[SourceMotion],
    request: RetargetRequest,
    options: WriteOptions = _DEFAULTS,
    *,
    bones: str | None = None,
    with_measures: bool = False,
    report: ReportProgress = ignore_progress,
) -> tuple[list[bpy.types.Action], Retargeted]:
    """Retarget motion onto an armature object as new actions, of which the first is assigned.

    `bones` is as for `read_target`. Raises RigError, with nothing left behind, if either character
    or a bone cannot be used.
    """
    target = read_target(obj, bones, request.target_bones)
    done = retarget(motions, target, request, report, with_measures=with_measures)
    return write_retargeted(obj, done, options), done


def retarget_into_copy(
    motions: Sequence[SourceMotion],
    request: RetargetRequest,
    onto: Path,
    path: Path,
    options: WriteOptions = _DEFAULTS,
    *,
    armature: str | None = None,
    frame_start: int | None = None,
    report: ReportProgress = ignore_progress,
) -> tuple[list[str], str, Retargeted]:
    """Retarget motion onto an armature of a Blender file, and save a copy with the new actions.

    The open file gives way to it. `armature` is by default the only one, `frame_start` where its
    scene starts. Returns the names of the actions and of the armature. Raises what opening,
    retargeting and saving raise.
    """
    check_clashes([("'onto'", onto)], [("'path'", path)])
    open_blend(onto)
    obj = find_armature(onto, armature, "--armature")
    start = bpy.context.scene.frame_start if frame_start is None else frame_start
    options = replace(options, frame_start=start)
    with save_after(path):
        made, done = retarget_onto(
            obj, motions, request, options, with_measures=True, report=report
        )
    return [action.name for action in made], obj.name, done
