"""Retarget motion onto an armature of the open file, or of a copy of another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np

from ...engine.files.file_paths import check_clashes
from ...engine.progress import ReportProgress, ignore_progress
from ...engine.retargeting.result.result_check import ResultCheck
from ..blender.animation import actions
from ..blender.files import find_armature, open_blend, save_after
from ..blender.transforms.transforms import Transform
from ..controls.check_baked import check_baked
from ..rig.root_target import move_clip
from .checking import ResultReader, check_all_right
from .sources import SourceMotion, find_origin
from .targets import read_target
from .transfer import Retargeted, RetargetRequest, retarget
from .writing import WriteOptions, find_start, write_retargeted

_DEFAULTS = WriteOptions()
FORCE = "keep it all the same with force=True"
_CHECKED = 40  # frames of an action that are evaluated


def retarget_onto(
    obj: bpy.types.Object,
    motions: Sequence[SourceMotion],
    request: RetargetRequest,
    options: WriteOptions = _DEFAULTS,
    *,
    bones: str | None = None,
    force: str = FORCE,
    with_measures: bool = False,
    report: ReportProgress = ignore_progress,
) -> tuple[list[bpy.types.Action], Retargeted]:
    """Retarget motion onto an armature object as new actions, and assign the first of them.

    `bones` is as for `read_target`. What was written is compared with its source. Raises RigError
    if either character or a bone cannot be used, and ResultError, which says how to `force` it, if
    the result is wrong; nothing is left behind. Without a word for `force`, everything is kept.
    """
    target = read_target(obj, bones, request.target_bones)
    done = retarget(motions, target, request, report, with_measures=with_measures)
    places = [find_origin(obj, find_start(motion, options)) for motion, _ in done.pairs]
    report("Writing", 1.0)
    made, checks = write_and_check(obj, done, request, options, bones=bones, force=force)
    done.checks.extend(checks)
    if with_measures and target.rig:
        report("Checking the controls", 1.0)
        _check_controls(obj, made, done, places)
    return made, done


def write_and_check(
    obj: bpy.types.Object,
    done: Retargeted,
    request: RetargetRequest,
    options: WriteOptions,
    *,
    bones: str | None = None,
    force: str = FORCE,
) -> tuple[list[bpy.types.Action], list[ResultCheck]]:
    """Write retargeted motion as new actions, and compare what Blender plays with the sources.

    Raises what `retarget_onto` does of writing and of the result.
    """
    reader = ResultReader(done, request, bones, options.fewer_keys)
    checks = []

    def accept(made: Sequence[bpy.types.Action]) -> None:
        checks.extend(reader.check(obj, made))
        if force:
            check_all_right(checks, force)

    return write_retargeted(obj, done, options, accept), checks


def _check_controls(
    obj: bpy.types.Object,
    made: Sequence[bpy.types.Action],
    done: Retargeted,
    places: Sequence[Transform],
) -> None:
    """Add to the measures how far deform bones are off at most, as Blender evaluates some frames.

    'off_bone' is the worst, by 'off_cm' and 'off_degrees'.
    """
    for action, (_, clip), measures, place in zip(
        made, done.pairs, done.measures, places, strict=True
    ):
        actions.assign(obj, action)
        first, last = int(action.frame_range[0]), int(action.frame_range[1])
        frames = sorted(set(np.linspace(first, last, _CHECKED).astype(int).tolist()))
        found = check_baked(obj, move_clip(clip, place), frames, first)
        worst = max(done.mapped_bones, key=lambda bone: found[bone].cm)
        off = found[worst]
        measures.update(off_bone=worst, off_cm=off.cm, off_degrees=off.degrees)
    actions.assign(obj, made[0])


def retarget_into_copy(
    motions: Sequence[SourceMotion],
    request: RetargetRequest,
    onto: Path,
    path: Path,
    options: WriteOptions = _DEFAULTS,
    *,
    armature: str | None = None,
    frame_start: int | None = None,
    force: str = FORCE,
    report: ReportProgress = ignore_progress,
) -> tuple[list[str], str, Retargeted]:
    """Retarget motion onto an armature of a Blender file, and save a copy with the new actions.

    The open file gives way to it. `armature` is by default the only one, `frame_start` where its
    scene starts. Returns the names of the actions and of the armature. Raises what opening,
    retargeting and saving raise.
    """
    check_clashes([("'onto'", onto)], [("'path'", path)])
    open_blend(onto)
    obj = find_armature(onto, armature, "--armature", takes_keys=True)
    start = bpy.context.scene.frame_start if frame_start is None else frame_start
    options = replace(options, frame_start=start)
    with save_after(path):
        made, done = retarget_onto(
            obj, motions, request, options, force=force, with_measures=True, report=report
        )
    return [action.name for action in made], obj.name, done
