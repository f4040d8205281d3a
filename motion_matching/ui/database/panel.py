"""Draw the panel of the database: sources, named databases, reading, and the simulation bone."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, Object, UILayout

from ... import app
from ...app.property_access import get_active, is_changed
from ..base import panel_base as base
from ..character.panel import draw_roles
from ..properties import MotionMatchingSettings
from . import ground_paths, preview_drawing
from .operators_sources import get_shown_indices
from .properties import MotionMatchingDatabase, MotionMatchingSimulationBone, MotionMatchingSource

_FOLLOWED = {"spine": ("spine", "hips"), "root": ("root",), "hips": ("hips",)}  # roles by source
_MAPPED = "ARMATURE_DATA"  # the icon of sources of other skeletons
_ELSEWHERE = "Built on another machine, or cleared: build it again"
# what to do, by the kind of a status, where the strip does not say it all
_HINTS = {"elsewhere": _ELSEWHERE, "stale": "Sources or settings have changed: build again"}


class MOTION_MATCHING_UL_sources(base.List, bpy.types.UIList):
    """Motion to build the database from"""

    def draw_row(self, layout: UILayout, item: MotionMatchingSource) -> None:
        """Draw whether and by which name a source is used; *Source* below shows the rest."""
        row = layout.row(align=True)
        row.prop(item, "enabled", text="")
        name = row.row(align=True)
        name.active = item.enabled
        name.label(text=item.whole_name, icon=_choose_icon(item))

    def draw_filter(self, context: Context, layout: UILayout) -> None:
        """Draw nothing: the search stands above the list."""

    def filter_items(
        self, context: Context, data: MotionMatchingSettings, property: str
    ) -> tuple[list[int], list[int]]:
        if not data.search:
            return [], []
        flags = [0] * len(data.sources)
        for index in get_shown_indices(data):
            flags[index] = self.bitflag_filter_item
        return flags, []


def _choose_icon(item: MotionMatchingSource) -> Any:
    is_lost = item.action is None if item.kind == "ACTION" else not item.filepath
    obj: Any = item.id_data
    state = app.database.status.get_status(obj).states.get(item.name, app.mapping.mapping.SAME)
    if is_lost or state.kind == "help":
        return "ERROR"
    if app.database.status.find_finding(item):
        return "INFO"
    return _MAPPED if state.kind == "mapped" else item.kind  # kinds have the names of their icons


def _describe_findings(source: MotionMatchingSource) -> str:
    """Return the findings on a source: its climb in one line, because its ground says the rest."""
    finding = app.database.status.find_finding(source)
    if finding is None or finding.kind == app.strip.warnings.SLOPE:
        climb = finding.reason if finding else preview_drawing.describe_climb(source)
        told = climb.partition(";")[0].removeprefix(
            f"'{app.sources.source_list.get_label(source)}' climbs "
        )
        return told[:1].upper() + told[1:]
    kind = app.strip.warnings.SOURCE_KINDS[finding.kind]
    return finding.reason or f"'{finding.label}' {kind.one}"


def _draw_ground(layout: UILayout, source: MotionMatchingSource) -> None:
    layout.active = not source.keep_floor
    layout.prop(source, "ground")
    if source.ground == "OBJECT":
        layout.prop(source, "ground_object")


class MOTION_MATCHING_UL_databases(base.List, bpy.types.UIList):
    """Databases that have names"""

    def draw_row(self, layout: UILayout, item: MotionMatchingDatabase) -> None:
        layout.prop(item, "whole_name", text="", emboss=False, icon="ASSET_MANAGER")


class MOTION_MATCHING_PT_database(base.StateHeader, base.ArmaturePanel, bpy.types.Panel):
    """The motion to play"""

    bl_label = "Motion"
    bl_order = 1

    def get_state(self, obj: Object, settings: MotionMatchingSettings) -> base.State:
        return app.strip.state.get_database_state(obj)

    def draw_settings(self, obj: Object, settings: MotionMatchingSettings) -> None:
        layout = self.layout
        if settings.sources:
            layout.prop(settings, "search", text="", icon="VIEWZOOM", placeholder="Search")
        names = "MOTION_MATCHING_UL_sources", settings, "sources", "source_index"
        side = base.draw_list(layout, *names, tip="tip")
        side.menu("MOTION_MATCHING_MT_add_sources", text="", icon="ADD")
        side.operator("motion_matching.remove_source", text="", icon="REMOVE")
        side.separator()
        base.draw_icon(side, "motion_matching.preview_source", "HIDE_OFF", mirrored=False)
        side.menu("MOTION_MATCHING_MT_shown_sources", text="", icon="DOWNARROW_HLT")
        if not settings.sources:
            row = layout.row(align=True)
            row.operator("motion_matching.add_actions", icon="ACTION")
            row.operator("motion_matching.add_files", icon="FILE_FOLDER")
        _draw_summary(layout, app.database.status.get_status(obj))
        base.draw_warnings(layout, obj, "database")


def _draw_summary(layout: UILayout, status: app.database.status.Status) -> None:
    hint = f"{status.stale_reason}. Build again" if status.stale_reason else ""
    if hint := hint or _HINTS.get(status.kind, ""):
        base.draw_wrapped_text(layout, hint, "INFO")
    if status.kind != "fresh":
        return
    length = app.database.status.format_length(status.frames, status.seconds, status.fps)
    counts = base.format_count(status.clips, "clip"), base.format_count(status.bones, "bone")
    size = f"{', '.join(counts)}, {status.megabytes:.0f} MB"
    row = layout.row(align=True)
    base.draw_small_lines(row, (length, size), "INFO")
    row.operator("motion_matching.build", text="", icon="FILE_REFRESH")
    base.draw_wrapped_text(layout, status.coverage, "BLANK1")


class MOTION_MATCHING_PT_databases(base.StateHeader, base.DatabasePanel, bpy.types.Panel):
    """Named databases, each built from its own choice of sources"""

    def get_state(self, obj: Object, settings: MotionMatchingSettings) -> base.State | None:
        shown = get_active(settings.databases, settings.database_index)
        return ("NONE", shown.label) if shown else None

    def draw_settings(self, obj: Object, settings: MotionMatchingSettings) -> None:
        names = "MOTION_MATCHING_UL_databases", settings, "databases", "database_index"
        side = base.draw_list(self.layout, *names, rows=3, tip="tip")
        side.operator("motion_matching.add_database", text="", icon="ADD")
        side.operator("motion_matching.remove_database", text="", icon="REMOVE")


class MOTION_MATCHING_PT_source(base.StateHeader, base.SourcePanel, bpy.types.Panel):
    """How to use the active source"""

    def get_state(self, obj: Object, settings: MotionMatchingSettings) -> base.State | None:
        gait = settings.sources[settings.source_index].gait
        return None if gait == "none" else ("NONE", gait.title())

    def draw_settings(self, obj: Object, settings: MotionMatchingSettings) -> None:
        source = settings.sources[settings.source_index]
        preview_drawing.draw_button(self.layout, source)
        if told := _describe_findings(source):
            base.draw_wrapped_text(self.layout, told, "INFO")
        column = base.split_layout(self.layout)
        for name in ("action" if source.kind == "ACTION" else "filepath", "gait", "tags", "speed"):
            column.prop(source, name)
        column.prop(source, "performer" if source.kind == "ACTION" else "character")
        for name in ("loop", "mirror", "tempo", "keep_frames", "keep_floor"):
            column.prop(source, name)
        _draw_ground(column.column(), source)
        row = column.row(heading="Range")
        row.prop(source, "use_range", text="")
        limits = row.row(align=True)
        limits.active = source.use_range
        if source.action and not source.use_range:
            ends: Any = source.action.frame_range
            limits.label(text=f"{ends[0]:.0f} to {ends[1]:.0f}")
            return
        limits.prop(source, "frame_start", text="")
        limits.prop(source, "frame_end", text="")


class MOTION_MATCHING_PT_reading(base.DatabasePanel, bpy.types.Panel):
    """How to read sources"""

    def draw_settings(self, obj: Object, settings: MotionMatchingSettings) -> None:
        column = base.split_layout(self.layout)
        for name in ("speed", "contact_speed", "auto_tags", "compact"):
            column.prop(settings, name)
        column.prop(settings, "up", text="Files Up")
        column.prop(settings, "forward", text="Files Forward")
        scale = "Files Scale" if settings.file_scale else "Files Scale (Automatic)"
        column.prop(settings, "file_scale", text=scale)
        self.layout.operator("motion_matching.clear_cache", icon="TRASH")


class MOTION_MATCHING_PT_simulation_bone(
    base.StateHeader, base.AdvancedPanel, base.DatabasePanel, bpy.types.Panel
):
    """How to find the path of the character over the ground"""

    @classmethod
    def is_in_use(cls, obj: Object, settings: MotionMatchingSettings) -> bool:
        source = get_active(settings.sources, settings.source_index)
        names = MotionMatchingSimulationBone.__annotations__
        is_by_hand = source is not None and source.use_path
        return settings.show_path or is_by_hand or is_changed(settings.simulation_bone, names)

    def get_state(self, obj: Object, settings: MotionMatchingSettings) -> base.State | None:
        source = get_active(settings.sources, settings.source_index)
        if not (source and source.use_path):
            return None
        is_found = app.sources.source_list.has_path_object(source)
        return ("EMPTY_ARROWS", "By Hand") if is_found else ("ERROR", "Path Lost")

    def draw_settings(self, obj: Object, settings: MotionMatchingSettings) -> None:
        layout = self.layout
        bone = settings.simulation_bone
        icon: Any = "HIDE_OFF" if settings.show_path else "HIDE_ON"
        layout.prop(settings, "show_path", toggle=True, icon=icon)
        if settings.show_path and (note := ground_paths.get_cache().note):
            base.draw_wrapped_text(layout, note, "ERROR")
        column = base.split_layout(layout)
        column.prop(bone, "source")
        draw_roles(column, obj, _FOLLOWED[bone.source])
        layout.operator_menu_enum("motion_matching.smooth_path", "preset", icon="PRESET")
        smoothing = base.split_layout(layout)
        smoothing.active = bone.source != "root"
        smoothing.prop(bone, "position_window")
        smoothing.prop(bone, "direction_window")
        smoothing.prop(bone, "standing", slider=True)
        smoothing.prop(bone, "position_order")
        smoothing.prop(bone, "direction_order")
        smoothing.prop(bone, "heading")
        self._draw_by_hand(get_active(settings.sources, settings.source_index))

    def _draw_by_hand(self, source: MotionMatchingSource | None) -> None:
        if source is None or not source.use_path:
            self.layout.operator("motion_matching.edit_path", icon="EMPTY_ARROWS")
            return
        column = self.layout.column(align=True)
        if app.sources.source_list.has_path_object(source):
            name = f"Select '{source.path.name}'"
            column.operator("motion_matching.select_path", text=name, icon="EMPTY_ARROWS")
        else:
            hint = "The empty with the path was deleted: undo that, or go back to the computed path"
            base.draw_wrapped_text(column, hint, "ERROR")
        column.operator("motion_matching.computed_path", icon="LOOP_BACK")
