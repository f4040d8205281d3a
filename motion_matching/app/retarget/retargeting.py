"""Motion of other characters as new actions of one: read, retargeted and written in steps."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from ...engine.body.axes import FileAxes, describe_mistake, find_all_better_axes
from ...engine.building.demo_clips import load_standing
from ...engine.errors import RigChangedError, SettingsError
from ...engine.files import json_files
from ...engine.names import to_readable
from ...engine.progress import ReportProgress, map_steps
from ...engine.retargeting.pairs.bone_mapping import BoneMapping
from ...engine.retargeting.settings import RetargetSettings
from ...engine.settings import get_descriptions
from ...scene.blender.animation import playback
from ...scene.blender.animation.actions import find_actions
from ...scene.retargeting import files, sources, targets, transfer, writing
from ...scene.retargeting.checking import ResultReader
from ...scene.retargeting.sources import SourceMotion
from ...scene.retargeting.transfer import Retargeted, RetargetRequest
from ..character.characters import (
    get_armature,
    get_axes,
    get_bone_choice,
    get_roles,
    resolve_armature,
)
from ..character.controls import get_control_settings
from ..mapping.bone_table import SIDES, get_given_bones, show_mapping
from ..property_access import read_names, settings_of, to_plain_value
from ..steps import Steps, run_in_background_steps, scale_progress_steps
from . import retarget_results

_READING = "Reading"
_WRITING = "Writing"


class ActionSource(NamedTuple):
    """An action, and the armature object that it was made for."""

    armature: bpy.types.Object
    action: bpy.types.Action


def find_action(context: bpy.types.Context, obj: bpy.types.Object) -> bpy.types.Action | None:
    """Return the action to retarget: the chosen one, or what the other selected armature plays."""
    if chosen := settings_of(obj).retarget.action:
        return chosen
    other = settings_of(obj).retarget.source or find_other_armature(context, obj)
    data = other.animation_data if other else None
    return data.action if data else None


def find_other_armature(
    context: bpy.types.Context, obj: bpy.types.Object
) -> bpy.types.Object | None:
    """Return the selected armature, or that of a selected mesh, that is not this one."""
    found = (resolve_armature(other) for other in context.selected_objects)
    return next((other for other in found if other and other != obj), None)


def find_source(context: bpy.types.Context, obj: bpy.types.Object) -> ActionSource:
    """Return what *Retarget Action* reads. SettingsError, which says what to do, without it."""
    action = find_action(context, obj)
    if action is None:
        raise SettingsError(
            f"There is no action to retarget to '{obj.name}'; choose one, or also select the "
            "armature that plays it."
        )
    if chosen := settings_of(obj).retarget.source:
        return ActionSource(chosen, action)
    other = find_other_armature(context, obj)
    if other is None or action not in find_actions(other):
        other = sources.find_source_armature(action, obj)
    return ActionSource(other, action)


def get_request(obj: bpy.types.Object) -> RetargetRequest:
    """Return how motion is retargeted onto an armature. SettingsError for wrong settings."""
    group = settings_of(obj).retarget
    values = {
        name: to_plain_value(getattr(group, name)) for name in get_descriptions(RetargetSettings)
    }
    values["scale"] = values["scale"] or None
    turned = {pair.role: pair.offset for pair in group.pairs if any(pair.offset)}
    values["offsets"] = {role: tuple(map(math.degrees, turn)) for role, turn in turned.items()}
    source, target = (get_given_bones(group.pairs, side) for side in SIDES)
    given: dict[str, str | list[str]] = {**get_leg_roles(obj)}
    given.update(target)
    return RetargetRequest(RetargetSettings(**values), source, given)


def get_leg_roles(obj: bpy.types.Object) -> dict[str, str]:
    """Return the bones given in the panel *Roles* that retargeting uses: hips, legs and head.
    There, the spine is one bone, and a body needs no root.
    """
    given = get_roles(settings_of(obj))
    return {role: bone for role, bone in given.items() if role not in ("spine", "root")}


def get_write_options(obj: bpy.types.Object) -> writing.WriteOptions:
    """Return how retargeted motion is written; from files it begins where the scene does."""
    fewer_keys = to_plain_value(settings_of(obj).fewer_keys)
    start = bpy.context.scene.frame_start
    controls = get_control_settings(obj)
    return writing.WriteOptions(frame_start=start, fewer_keys=fewer_keys, controls=controls)


def add_standing_steps(obj: bpy.types.Object) -> Steps[bpy.types.Action]:
    """Retarget the built-in standing onto an armature, and return the new action.

    What the armature plays stays. Raises SettingsError for a body with four legs, and RigError as
    retargeting does; then nothing was added.
    """
    uid = obj.session_uid
    request = RetargetRequest(target_bones=get_leg_roles(obj))
    target = targets.read_target(obj, get_bone_choice(obj), request.target_bones)

    retargeted = yield from run_in_background_steps(
        lambda report: transfer.retarget([SourceMotion(load_standing())], target, request, report),
        "Adding Standing",
    )
    obj = get_armature(uid)
    if retargeted.mapping.target.four_legged:
        raise SettingsError(
            f"'{obj.name}' has four legs, and the built-in standing two; add a clip of standing."
        )
    yield "Writing", 1.0
    obj = get_armature(uid)
    with playback.preserve_animation(obj):
        [action] = writing.write_retargeted(obj, retargeted, get_write_options(obj))
    return action


def retarget_action_steps(obj: bpy.types.Object, source: ActionSource) -> Steps[str]:
    """Retarget an action onto an armature as a new action, and describe it."""
    told, _ = yield from _retarget_steps(obj, _read_action_steps(source))
    return told


def _read_action_steps(source: ActionSource) -> Steps[list[SourceMotion]]:
    armature, action = source
    choice = get_bone_choice(armature)
    read = sources.read_action_steps(armature, action, bones=choice)
    stage = f"{_READING} {action.name}", 0.0
    yield stage
    motion = yield from map_steps(read, lambda _: stage)
    return [motion]


def retarget_files_steps(
    obj: bpy.types.Object,
    paths: Sequence[Path],
    character: str | None,
    file_axes: FileAxes | None = None,
) -> Steps[str]:
    """Retarget all motion in files of one skeleton onto an armature, and describe what was made.

    With `file_axes`, the settings have these from then on. If bodies lie because of the axes, the
    files are kept in mind, with those under which they would stand.
    """
    axes = get_axes(settings_of(obj)) | (file_axes._asdict() if file_axes else {})
    have_axes = all(path.suffix.lower() == files.BVH for path in paths)
    read_with = FileAxes(axes["up"], axes["forward"]) if have_axes else None

    def read() -> Steps[list[SourceMotion]]:
        motions: list[SourceMotion] = []
        for number, path in enumerate(paths):
            yield f"{_READING} {path.name}", number / len(paths)
            if path.suffix.lower() == files.BVH:
                work = _read_bvh_steps(path, character, axes)
                motions.append((yield from scale_progress_steps(work, number, len(paths))))
            else:
                motions += files.read_imported_motions(path, character=character)
        return motions

    uid = obj.session_uid
    told, lying = yield from _retarget_steps(obj, read(), read_with)
    obj = get_armature(uid)
    group = settings_of(obj).retarget
    settings = settings_of(obj)
    if file_axes:
        settings.up, settings.forward = file_axes
    better = {axes for _, axes in lying}
    is_common = have_axes and len(better) == 1
    group.better_axes = str(*better) if is_common else ""
    names = {name for name, _ in lying}
    lying_paths = [str(path) for path in paths if to_readable(path.stem) in names]
    kept = lying_paths, [character] if character else []
    group.lying_files = json.dumps(kept, ensure_ascii=False) if is_common else ""
    return told


def retarget_again_steps(obj: bpy.types.Object) -> Steps[str]:
    """Retarget the files that lie with the axes under which they stand. SettingsError without."""
    axes = get_better_axes(obj)
    (paths, character) = _read_lying_files(obj)
    return retarget_files_steps(obj, paths, character, axes)


def get_better_axes(obj: bpy.types.Object) -> FileAxes | None:
    """Return the axes under which the files that were retargeted last would stand, or None."""
    return FileAxes.from_text(settings_of(obj).retarget.better_axes)


def _read_lying_files(obj: bpy.types.Object) -> tuple[list[Path], str | None]:
    text = settings_of(obj).retarget.lying_files
    try:
        lists = json_files.expect_list(json_files.parse(text, "files"), "the files", 2)
        paths, characters = (
            [json_files.expect_text(name, "a file") for name in json_files.expect_list(part, "it")]
            for part in lists
        )
    except (ValueError, SettingsError) as error:
        raise SettingsError("The list of retargeted files is lost; retarget them again.") from error
    return list(map(Path, paths)), next(iter(characters), None)


def _read_bvh_steps(path: Path, character: str | None, axes: Any) -> Steps[SourceMotion]:
    stage = f"{_READING} {path.name}"
    return run_in_background_steps(
        lambda _: files.read_bvh(path, character=character, **axes), stage
    )


def _retarget_steps(
    obj: bpy.types.Object,
    read: Steps[list[SourceMotion]],
    read_with: FileAxes | None = None,
) -> Steps[tuple[str, list[tuple[str, FileAxes]]]]:
    """Read motion, retarget it onto an armature, and write it.

    Returns a description, and the names of clips that lie because of their axes, with better ones.
    """
    uid = obj.session_uid
    request = get_request(obj)
    keep_frames = settings_of(obj).retarget.keep_frames
    target = _read_target(obj, request)
    motions = yield from read
    request = _leave_out_others(motions, request)
    notes: list[str] = []

    def run(report: ReportProgress) -> tuple[Retargeted, list[tuple[str, FileAxes]]]:
        clips = [motion.clip for motion in motions]
        better = find_all_better_axes(clips, read_with or FileAxes())
        lying = [(clip.name, one) for clip, one in zip(clips, better, strict=True) if one]
        mended, found = sources.mend_motions(motions, keep_frames)
        notes.extend(note.text for note in found)
        return transfer.retarget(mended, target, request, report), lying

    retargeted, lying = yield from run_in_background_steps(run, "Retargeting")
    yield _WRITING, 0.0
    obj = _find_unchanged(uid, target, request)
    options = get_write_options(obj)
    choice = get_bone_choice(obj)
    work = writing.write_retargeted_steps(obj, retargeted, options)
    made = yield from map_steps(work, lambda part: (_WRITING, part or 0.0))
    obj = get_armature(uid)
    show_mapping(obj, retargeted.mapping, motions[0].clip.skeleton, target.skeleton)
    told = describe(made, retargeted.mapping)
    text = json.dumps([to_readable(note) for note in notes], ensure_ascii=False)
    settings_of(obj).retarget.notes = text if notes else ""
    if notes:
        told += f". {notes[0].rstrip('.')}"
    if lying:
        name, axes = lying[0]
        told += f". {describe_mistake(name, axes if read_with else None).rstrip('.')}"
    reader = ResultReader(retargeted, request, choice, options.fewer_keys)
    told += yield from retarget_results.check_steps(obj, made, reader)
    return told, lying


def get_notes(group: Any) -> list[str]:
    """Return what was mended in the motion that was retargeted last, or is wrong with it."""
    return read_names(group.notes) or []


def describe(made: Sequence[bpy.types.Action], mapping: BoneMapping) -> str:
    """Say what was made, how much of the body is mapped, and which parts are doubtful."""
    what = f"'{made[0].name}'" if len(made) == 1 else f"{len(made)} actions"
    text = f"Retargeted {what}: mapped {mapping.mapped_count} of {mapping.total} parts of the body"
    doubtful = ", ".join(role.replace("_", " ") for role in mapping.doubtful)
    text = f"{text}; check the bones of {doubtful}" if doubtful else text
    return "; ".join([text, *(problem.rstrip(".") for problem in mapping.problems[:1])])


def _leave_out_others(motions: Sequence[SourceMotion], request: RetargetRequest) -> RetargetRequest:
    """Return a request without bones that were given for another source."""
    known = {"", *(name for motion in motions for name in motion.clip.skeleton.names)}
    given = {role: names for role, names in request.source_bones.items() if known >= set(names)}
    return replace(request, source_bones=given)


def _read_target(obj: bpy.types.Object, request: RetargetRequest) -> targets.Target:
    return targets.read_target(obj, get_bone_choice(obj), request.target_bones)


def _find_unchanged(uid: int, target: targets.Target, request: RetargetRequest) -> bpy.types.Object:
    """Return an armature. RigChangedError if its bones were changed since they were read."""
    obj = get_armature(uid)
    if not _read_target(obj, request).has_same_bones(target):
        raise RigChangedError(f"'{obj.name}' has changed; start again.")
    return obj


def find_bones_steps(obj: bpy.types.Object, source: ActionSource) -> Steps[str]:
    """Find the bones of an action's armature and of this one by role, for the table."""
    uid = obj.session_uid
    request = get_request(obj)
    target = _read_target(obj, request)
    motions = yield from _read_action_steps(source)

    request = _leave_out_others(motions, request)

    mapping = yield from run_in_background_steps(
        lambda _: transfer.find_mapping(motions, target, request), "Finding Bones"
    )
    obj = _find_unchanged(uid, target, request)
    show_mapping(obj, mapping, motions[0].clip.skeleton, target.skeleton)
    return settings_of(obj).retarget.summary
