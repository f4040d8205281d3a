"""Operators on ranges of tags: add, change, remove, exchange with markers, and propose."""

from __future__ import annotations

import bpy

from ... import app, engine, scene
from ...app.character.characters import get_active_armature, get_active_settings, get_armature
from ...app.property_access import get_active, settings_of
from ...engine.errors import SettingsError
from ..base import operator_base as base
from ..base.function_operators import operator, stepped_operator
from ..base.panel_base import format_count
from ..base.typed_properties import choice, switch, text
from ..database.properties import MotionMatchingSource
from .drawing import get_shown_source
from .properties import KINDS, LABELS, MotionMatchingTag

_FROM_PLAYHEAD = "The preview range, or else from the current frame on"
_FROM_KEYS = "From the first to the last selected key of the source's action"
_FRAMES = (("PLAYHEAD", "Playhead", _FROM_PLAYHEAD), ("KEYS", "Selected Keys", _FROM_KEYS))


def _activate_shown_source(context: bpy.types.Context) -> MotionMatchingSource:
    """Return the source to tag: the one that this editor shows becomes the active one."""
    settings = get_active_settings(context)
    shown = get_shown_source(context)
    for index, source in enumerate(settings.sources if shown else ()):
        if source == shown:
            settings.source_index = index
    return base.get_active_source(context)


def add_range(
    source: MotionMatchingSource, name: str, kind: str, start: int, end: int
) -> MotionMatchingTag:
    """Add a range to the end of a source's tags, with the color of its name, and make it active."""
    tag = app.property_access.add(source.tag_ranges, "Range")
    tag.kind = kind
    tag.label = name
    tag.frame_start = start
    tag.frame_end = end
    tag.color = app.controller.tag_colors.get_tag_color(name)
    source.tag_index = len(source.tag_ranges) - 1
    return tag


def _get_inherited_names(source: MotionMatchingSource) -> set[str]:
    """Return the names of ranges from a linked file, which an override cannot remove."""
    override = source.id_data.override_library
    linked = settings_of(override.reference).sources.get(source.name) if override else None
    return {tag.name for tag in linked.tag_ranges} if linked else set()


# Requirements


def has_range(context: bpy.types.Context) -> str:
    source = base.get_active_source(context)
    active = get_active(source.tag_ranges, source.tag_index)
    return "" if active else base.n_("Add a range of frames first")


def has_source_action(context: bpy.types.Context) -> str:
    source = base.get_active_source(context)
    is_action = source.kind == "ACTION" and source.action is not None
    return "" if is_action else base.n_("Choose a source that is an action: files have no markers")


class MOTION_MATCHING_OT_add_tag(base.Operator, bpy.types.Operator):
    """Tag frames of the active source: the preview range, or else the frames from the current one \
on; or from the first to the last selected key"""

    bl_label = "Add Range"
    requires = (*base.CHARACTER, base.has_active_source)

    kind: str = choice("FREE", "Kind", "Meaning of the range", KINDS)
    label: str = text(
        "",
        "Name",
        "Name for performances to ask for; leave empty to name it later",
        options={"SKIP_SAVE"},
    )
    frames: str = choice("PLAYHEAD", "Frames", "Which frames are tagged", _FRAMES)

    def run(self, context: bpy.types.Context) -> None:
        source = _activate_shown_source(context)
        start, end = self._find_frames(context, source)
        label = self.label.strip() if self.kind == "FREE" else ""
        add_range(source, label or LABELS[self.kind], self.kind, max(start, 0), max(end, 0))
        app.database.status.invalidate()

    def _find_frames(
        self, context: bpy.types.Context, source: MotionMatchingSource
    ) -> tuple[int, int]:
        timeline = context.scene
        to_source = app.sources.source_preview.to_source_frame
        if self.frames == "KEYS":
            keys = _find_selected_keys(source, get_active_armature(context))
            if keys is None:
                problem = f"No key of '{source.name}' is selected"
                raise SettingsError(f"{problem}; select some in the Dope Sheet.")
            return keys
        if timeline.use_preview_range:
            ends = timeline.frame_preview_start, timeline.frame_preview_end
            return to_source(source, ends[0]), to_source(source, ends[1])
        start = to_source(source, timeline.frame_current)
        end = _get_last_frame(source)
        if end <= start:  # the current frame may be in another part of the timeline, or clip
            end = start + round(scene.blender.animation.actions.get_scene_fps(timeline))
        return start, end


def _find_selected_keys(
    source: MotionMatchingSource, obj: bpy.types.Object
) -> tuple[int, int] | None:
    """Return the frames of the first and the last selected key of a source, or None."""
    if source.kind != "ACTION" or source.action is None:
        return None
    actions = scene.blender.animation.actions
    slot = actions.find_slot(source.action, obj)
    return actions.find_selected_frame_range(actions.get_active_curves(source.action, slot))


def _get_last_frame(source: MotionMatchingSource) -> int:
    """Return the last used frame of a source, or zero if only its file knows."""
    if source.use_range:
        return source.frame_end
    return round(source.action.frame_range[1]) if source.kind == "ACTION" and source.action else 0


class MOTION_MATCHING_OT_tag_at_playhead(base.Operator, bpy.types.Operator):
    """Start or end the active range at the current frame"""

    bl_label = "Set at Playhead"
    requires = (*base.CHARACTER, base.has_active_source, has_range)

    end: bool = switch(False, "End", "Set the end of the range instead of its start")

    def run(self, context: bpy.types.Context) -> None:
        source = _activate_shown_source(context)
        tag = get_active(source.tag_ranges, source.tag_index)
        if tag is None:
            raise SettingsError("The shown source has no range of frames; add one first.")
        frame = app.sources.source_preview.to_source_frame(source, context.scene.frame_current)
        frame = max(frame, 0)
        if self.end:
            tag.frame_end, tag.frame_start = frame, min(tag.frame_start, frame)
        else:
            tag.frame_start, tag.frame_end = frame, max(tag.frame_end, frame)


class MOTION_MATCHING_OT_remove_tag(base.Operator, bpy.types.Operator):
    """Remove the active range; the frames stay"""

    bl_label = "Remove Range"
    requires = (*base.CHARACTER, base.has_active_source, has_range)

    all: bool = switch(False, "All", "Remove all ranges of the source", options={"SKIP_SAVE"})

    def run(self, context: bpy.types.Context) -> None:
        source = base.get_active_source(context)
        if self.all:
            source.tag_ranges.clear()
        else:
            app.property_access.remove(
                source.tag_ranges, source.tag_index, f"The range of '{source.name}'"
            )
        source.tag_index = app.property_access.clamp_index(source.tag_ranges, source.tag_index)
        app.database.status.invalidate()
        app.callbacks.redraw("WINDOW", editor="DOPESHEET_EDITOR")


@operator("To Markers", requires=(*base.CHARACTER, base.has_active_source, has_source_action))
def tags_to_markers(context: bpy.types.Context) -> str:
    """Write the ranges as pose markers of the action, to edit them in the Action Editor. Other \
markers stay"""
    source = base.get_active_source(context)
    markers = scene.reading.markers
    if source.action.library:
        problem = f"The action '{source.action.name}' is linked from another file"
        raise SettingsError(f"{problem}; make it local first.")
    if not source.tag_ranges:
        raise SettingsError(f"The source '{source.name}' has no ranges to write; add some.")
    ranges = []
    for tag in source.tag_ranges:
        name = tag.label if tag.kind == "FREE" else tag.kind
        bias = round(tag.bias, 6)
        ranges.append(markers.MarkedRange(name, tag.frame_start, tag.frame_end, bias))
    markers.write_tags(source.action, ranges)
    return f"Marked {format_count(len(source.tag_ranges), 'range')} on '{source.action.name}'"


@operator("From Markers", requires=(*base.CHARACTER, base.has_active_source, has_source_action))
def markers_to_tags(context: bpy.types.Context) -> str:
    """Replace the ranges in the list by the pose markers of the action"""
    source = base.get_active_source(context)
    ranges = scene.reading.markers.read_tags(source.action)
    if not ranges:
        raise SettingsError(
            f"The action '{source.action.name}' has no markers of tags, such as 'tag: limp' "
            "and 'end: limp'; write some, or add ranges here."
        )
    if _get_inherited_names(source):
        raise SettingsError(
            f"Ranges of '{source.name}' come from the linked file, and can be replaced by "
            "markers only there."
        )
    colors = {tag.label: tuple(tag.color) for tag in source.tag_ranges}
    source.tag_ranges.clear()
    for marked in ranges:
        kind = marked.name if marked.name in LABELS else "FREE"
        name = LABELS.get(marked.name, marked.name)
        tag = add_range(source, name, kind, max(marked.start, 0), max(marked.end, 0))
        tag.bias, tag.color = marked.bias, colors.get(tag.label, tag.color)
    app.database.status.invalidate()
    return f"Read {format_count(len(ranges), 'range')} from '{source.action.name}'"


def _find_proposed_ranges(source: MotionMatchingSource) -> list[int]:
    """Return the indices of the ranges of a source that were proposed, or have such names."""
    names = engine.database.tags.auto_tags.NAMES
    tags = enumerate(source.tag_ranges)
    return [index for index, tag in tags if tag.kind == "FREE" and tag.label in names]


@stepped_operator("Propose Tags for All Sources", requires=base.SOURCES)
def propose_tags(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Tag idling, walking, running, turns, strafing, moving backward, starts and stops in all \
enabled sources, as ranges to edit. Replaces earlier proposals"""
    obj = get_active_armature(context)
    uid = obj.session_uid
    settings = app.settings.get_build_settings(obj)
    thresholds = app.settings.get_thresholds(settings_of(obj).thresholds)
    read = yield from app.database.build.read_sources_steps(uid)
    sources, firsts = zip(*read, strict=True)
    propose = engine.building.build.propose_tags
    proposed = yield from app.steps.run_in_background_steps(
        lambda report: propose(sources, settings, thresholds, report), "Proposing"
    )
    obj = get_armature(uid)
    listed = [
        settings_of(obj).sources[index]
        for index in app.sources.source_list.get_enabled_indices(obj)
    ]
    if len(listed) != len(proposed):
        raise SettingsError("The sources changed meanwhile; propose tags again.")
    for source in listed:
        inherited = _get_inherited_names(source)
        for tag in (source.tag_ranges[index] for index in _find_proposed_ranges(source)):
            if tag.name in inherited:
                raise SettingsError(
                    f"The range '{tag.label}' of '{source.name}' comes from the linked file, "
                    "and cannot be replaced; change its label, or propose tags there."
                )
    for source, tags, first in zip(listed, proposed, firsts, strict=True):
        for index in reversed(_find_proposed_ranges(source)):
            source.tag_ranges.remove(index)
        for new in tags:
            add_range(source, new.name, "FREE", new.start + first, new.stop - 1 + first)
        source.tag_index = 0
    app.database.status.invalidate()
    ranges = format_count(sum(map(len, proposed)), "range")
    return f"Proposed {ranges} on {format_count(len(listed), 'source')}"
