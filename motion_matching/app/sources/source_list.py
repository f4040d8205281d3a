"""Read the sources of a character: the enabled ones, their problems, and their tags."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import bpy

from ... import engine, scene  # whose modules load on use: panels need this one
from ...engine.errors import SettingsError
from .. import property_access
from ..character.characters import get_armature
from ..property_access import settings_of, to_plain_value
from ..strip import warnings
from . import source_grounds
from .source_files import find_file

if TYPE_CHECKING:
    from ...engine.body.axes import FileAxes
    from ...engine.database.tags.tags import TagRange
    from ...ui.database.properties import MotionMatchingSource
    from ...ui.tags.properties import MotionMatchingTag


def get_active_source(obj: bpy.types.Object) -> MotionMatchingSource | None:
    """Return the active source of an armature, or None."""
    settings = settings_of(obj)
    return property_access.get_active(settings.sources, settings.source_index)


def find_other_performer(
    obj: bpy.types.Object, action: bpy.types.Action
) -> bpy.types.Object | None:
    """Return the armature of an action, if its rest pose differs from this one's. An action belongs
    to the armatures that play it, or have it as a source or a take.
    """
    owners = [
        other for other in scene.blender.files.list_armatures() if action in _list_actions(other)
    ]
    if obj in owners:
        return None
    rest = scene.rig.armature.read_rest_bytes(obj)
    others = (other for other in owners if scene.rig.armature.read_rest_bytes(other) != rest)
    return next(others, None)


def _list_actions(obj: bpy.types.Object) -> set[bpy.types.Action]:
    """Return the actions that an armature plays, or has as sources and takes."""
    settings = settings_of(obj)
    played = {action for action, _ in scene.blender.animation.actions.get_played_actions(obj)}
    own = [source for source in settings.sources if source.performer in (None, obj)]
    return played | {one.action for one in (*own, *settings.takes) if one.action}


def get_enabled_indices(obj: bpy.types.Object) -> list[int]:
    """Return the indices of sources that are on and can be read. SettingsError if none can."""
    sources = settings_of(obj).sources
    enabled = [(index, source) for index, source in enumerate(sources) if source.enabled]
    if not enabled:
        text = f"Armature '{obj.name}' has no source to build from; add actions or files."
        raise SettingsError(text)
    whole = [index for index, source in enabled if not find_source_problem(source)]
    if not whole:
        check_source(obj, enabled[0][1])
    return whole


def get_source(uid: int, index: int) -> tuple[bpy.types.Object, MotionMatchingSource]:
    """Return the armature of a session_uid, and one of its sources. SettingsError if it is gone."""
    obj = get_armature(uid)
    if index >= len(settings_of(obj).sources):
        raise SettingsError("The sources have changed; start again.")
    return obj, settings_of(obj).sources[index]


def use_axes(obj: bpy.types.Object, up: str, forward: str) -> FileAxes:
    """Read files with other axes from now on, and forget notes on the former axes.

    Raises SettingsError for axes that are not perpendicular.
    """
    axes = engine.body.axes.FileAxes(up, forward)
    engine.bvh.bvh.compute_blender_axes(*axes)
    settings = settings_of(obj)
    settings.up, settings.forward = axes
    notes = warnings.parse_notes(settings.built_notes)
    settings.built_notes = warnings.notes_to_text(n for n in notes if n.kind != "axes")
    return axes


def list_usable(obj: bpy.types.Object) -> list[MotionMatchingSource]:
    """Return the sources that are on and have something to read."""
    sources = settings_of(obj).sources
    return [source for source in sources if source.enabled and not find_source_problem(source)]


def find_source_problem(source: MotionMatchingSource) -> str:
    """Return why a source cannot be built from and what to do, or nothing: a sentence's end."""
    return diagnose(source)[1]


def diagnose(source: MotionMatchingSource) -> tuple[str, str]:
    """Return a kind of `warnings.SourceProblem`, and what `find_source_problem` returns."""
    if source.kind == "ACTION" and source.action is None:
        return "lost", "has lost its action; choose another, or remove the source"
    if source.kind == "FILE" and not source.filepath:
        return "lost", "has no file; choose one, or remove the source"
    file = find_file(source)
    if file and not os.path.isfile(file):
        problem = f"needs {file}, which does not exist"
        return "missing", f"{problem}; correct its path, or remove the source"
    if source.use_range and source.frame_end <= source.frame_start:
        return "range", "ends before it starts; correct its range"
    if source.use_path and not has_path_object(source):
        problem = "has lost its hand-edited path"
        return "path", f"{problem}; undo that, or go back to the computed path"
    if source.ground == source_grounds.OBJECT and not source_grounds.has_object(source):
        return "no ground", "has no object for its ground; choose one, or set Ground to Found"
    return "", ""


def get_label(source: MotionMatchingSource) -> str:
    """Return the name that a source is shown by: that of its action, which may have changed."""
    return source.action.name if source.action else source.name


def check_source(obj: bpy.types.Object, source: MotionMatchingSource) -> None:
    """Raise SettingsError if a source has nothing to read."""
    if problem := find_source_problem(source):
        raise SettingsError(f"The source '{source.name}' of armature '{obj.name}' {problem}.")


def has_path_object(source: MotionMatchingSource) -> bool:
    """Return whether the empty with a source's path is in a scene, not just left in the file."""
    path = source.path  # in a damaged file, any block
    return isinstance(path, bpy.types.Object) and bool(path.users_scene)


def get_tag_name(tag: MotionMatchingTag) -> str:
    """Return the name that a range has in a database; nothing if it lacks one."""
    return tag.label.strip() if tag.kind == "FREE" else tag.kind


def find_first_frame(obj: bpy.types.Object, source: MotionMatchingSource) -> int:
    """Return the frame of the timeline that is the first of a source's clip."""
    if source.kind == "FILE":
        return 0
    if source.use_range:
        return source.frame_start
    actions = scene.blender.animation.actions
    curves = actions.get_active_curves(source.action, actions.find_slot(source.action, obj))
    first, _ = actions.compute_frame_range(source.action, curves)
    return first


def build_tag_ranges(source: MotionMatchingSource, first: int = 0) -> tuple[TagRange, ...]:
    """Return the tags of a source whose clip starts at frame `first`: gait, tags and ranges.

    Raises SettingsError for a range without a name, or one that ends before it starts.
    """
    tags = engine.database.tags.tags
    gait = [] if source.gait == "none" else [source.gait]
    names = dict.fromkeys((*gait, *tags.parse_names(source.tags)))
    ranges = [tags.TagRange(name) for name in names]
    for tag in source.tag_ranges:
        name = get_tag_name(tag)
        frames = f"{tag.frame_start} to {tag.frame_end}"
        what = f"The source '{source.name}' has a range of tags, {frames}, that"
        if not name:
            raise SettingsError(f"{what} has no name; give it one, or remove it.")
        if tag.frame_end < tag.frame_start:
            raise SettingsError(f"{what} ends before it starts; correct it.")
        if tag.frame_end >= first:  # what lies before the clip is on none of its frames
            bias = to_plain_value(tag.bias) if name == tags.PREFER else None
            start, stop = max(tag.frame_start - first, 0), tag.frame_end + 1 - first
            ranges.append(tags.TagRange(name, start, stop, bias))
    return tuple(ranges)
