"""Draw the panel of tags: ranges of the active source, and thresholds for finding tags."""

from __future__ import annotations

from typing import Any

import bpy

from ...app.property_access import get_active, is_changed
from ..base import panel_base as base
from ..database.preview_drawing import draw_button
from ..properties import MotionMatchingSettings
from .properties import KINDS, MotionMatchingTag, MotionMatchingThresholds

_LABELS: Any = {identifier: (name, icon) for identifier, name, _, icon, _ in KINDS}


class MOTION_MATCHING_UL_tags(base.List, bpy.types.UIList):
    """Ranges of a source's frames"""

    def draw_row(self, layout: bpy.types.UILayout, item: MotionMatchingTag) -> None:
        label, symbol = _LABELS[item.kind]
        row = layout.row(align=True)
        swatch = row.row()
        swatch.ui_units_x = 0.6
        swatch.prop(item, "color", text="")
        if item.kind == "FREE":
            row.prop(item, "label", text="", emboss=False, icon=symbol)
        else:
            row.label(text=label, icon=symbol)
        base.draw_aligned(row, f"{item.frame_start}-{item.frame_end}")


class MOTION_MATCHING_PT_tags(base.StateHeader, base.SourcePanel, bpy.types.Panel):
    """Frame ranges of the active source, to ask for, exclude, prefer or loop"""

    def get_state(
        self, obj: bpy.types.Object, settings: MotionMatchingSettings
    ) -> base.State | None:
        count = len(settings.sources[settings.source_index].tag_ranges)
        return ("NONE", base.format_count(count, "Range")) if count else None

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        source = settings.sources[settings.source_index]
        layout = self.layout
        title = layout.split(factor=0.6)
        icon: Any = source.kind  # whose icons have the same names
        title.label(text=source.whole_name, icon=icon)
        draw_button(title, source)
        side = base.draw_list(
            layout, "MOTION_MATCHING_UL_tags", source, "tag_ranges", "tag_index", 3
        )
        base.draw_icon(side, "motion_matching.add_tag", "ADD", frames="PLAYHEAD")
        base.draw_icon(side, "motion_matching.add_tag", "KEYFRAME_HLT", frames="KEYS")
        side.operator("motion_matching.remove_tag", text="", icon="REMOVE")
        tag = get_active(source.tag_ranges, source.tag_index)
        if tag is not None:
            column = base.split_layout(layout)
            column.prop(tag, "kind")
            if tag.kind == "FREE":
                column.prop(tag, "label")
            if tag.kind == "prefer":
                column.prop(tag, "bias")
            for name, is_end in (("frame_start", False), ("frame_end", True)):
                line = column.row(align=True)
                line.prop(tag, name)
                base.draw_icon(line, "motion_matching.tag_at_playhead", "TIME", end=is_end)
        base.split_layout(layout).prop(settings, "show_tags")
        row = layout.row(align=True)
        row.operator("motion_matching.tags_to_markers", icon="PMARKER_ACT")
        row.operator("motion_matching.markers_to_tags", icon="PMARKER")
        layout.operator("motion_matching.propose_tags", icon="VIEWZOOM")


class MOTION_MATCHING_PT_thresholds(base.AdvancedPanel, base.SourcePanel, bpy.types.Panel):
    """Thresholds of Propose Tags and Auto Tags"""

    bl_parent_id = "MOTION_MATCHING_PT_tags"

    @classmethod
    def is_in_use(cls, obj: bpy.types.Object, settings: MotionMatchingSettings) -> bool:
        return is_changed(settings.thresholds, MotionMatchingThresholds.__annotations__)

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        column = base.split_layout(self.layout)
        for name in MotionMatchingThresholds.__annotations__:
            column.prop(settings.thresholds, name)


class MOTION_MATCHING_MT_tags(bpy.types.Menu):
    """Tags on the frames of the shown source"""

    bl_label = "Motion Tags"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        add = "motion_matching.add_tag"
        keys = layout.operator_menu_enum(add, "kind", text="Tag Selected Keys", icon="KEYFRAME_HLT")
        base.set_options(keys, frames="KEYS")
        playhead = layout.operator_menu_enum(add, "kind", text="Tag from Playhead", icon="ADD")
        base.set_options(playhead, frames="PLAYHEAD")
        name = "motion_matching.tag_at_playhead"
        base.set_options(
            layout.operator(name, text="Start Range at Playhead", icon="TIME"), end=False
        )
        base.set_options(layout.operator(name, text="End Range at Playhead", icon="TIME"), end=True)
        layout.separator()
        name = "motion_matching.tags_to_markers"
        layout.operator(name, text="Ranges to Pose Markers", icon="PMARKER_ACT")
        name = "motion_matching.markers_to_tags"
        layout.operator(name, text="Ranges from Pose Markers", icon="PMARKER")
