"""The panel of tags: ranges of the chosen source, and what each means."""

from __future__ import annotations

from typing import Any

import bpy

from . import polls
from .operators_tags import MOTION_MATCHING_OT_add_tag as AddTag
from .operators_tags import MOTION_MATCHING_OT_markers_to_tags as MarkersToTags
from .operators_tags import MOTION_MATCHING_OT_propose_tags as ProposeTags
from .operators_tags import MOTION_MATCHING_OT_remove_tag as RemoveTag
from .operators_tags import MOTION_MATCHING_OT_tag_at_playhead as TagAtPlayhead
from .operators_tags import MOTION_MATCHING_OT_tags_to_markers as TagsToMarkers
from .operators_tags import active_source
from .panels import SourcePanel, header, split
from .properties_tags import KINDS
from .request import armature_of

_LABELS: Any = {identifier: (name, icon) for identifier, name, _, icon, _ in KINDS}
_ADDED: Any = (
    ("Tag Selected Keys", "KEYFRAME_HLT", "KEYS"),
    ("Tag from Playhead", "ADD", "PLAYHEAD"),
)


class MOTION_MATCHING_UL_tags(bpy.types.UIList):
    """Ranges of a source's frames"""

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        icon: int | None,
        active_data: Any,
        active_property: str | None,
        index: int | None = 0,
        flt_flag: int | None = 0,
    ) -> None:
        label, symbol = _LABELS[item.kind]
        row = layout.row(align=True)
        swatch = row.row()
        swatch.ui_units_x = 0.6
        swatch.prop(item, "color", text="")
        if item.kind == "FREE":
            row.prop(item, "label", text="", emboss=False, icon=symbol)
        else:
            row.label(text=label, icon=symbol)
        tail = row.row()
        tail.alignment = "RIGHT"
        tail.label(text=f"{item.frame_start}-{item.frame_end}")


class MOTION_MATCHING_PT_tags(SourcePanel, bpy.types.Panel):
    """Ranges of the chosen source's frames: to be asked for, barred, preferred, or played round"""

    bl_label = "Tags"

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        count = len(active_source(context).tag_ranges)
        if count:
            header(self, "NONE", f"{count} Range{'s' * (count > 1)}")

    def draw(self, context: bpy.types.Context) -> None:
        source, layout = active_source(context), self.layout
        row = layout.row()
        row.template_list(
            "MOTION_MATCHING_UL_tags", "", source, "tag_ranges", source, "tag_index", rows=3
        )
        side = row.column(align=True)
        side.operator(AddTag.bl_idname, text="", icon="ADD").frames = "PLAYHEAD"
        side.operator(AddTag.bl_idname, text="", icon="KEYFRAME_HLT").frames = "KEYS"
        side.operator(RemoveTag.bl_idname, text="", icon="REMOVE")
        tag = polls.active(source, "tag_ranges", "tag_index")
        if tag is not None:
            column = split(layout)
            column.prop(tag, "kind")
            if tag.kind == "FREE":
                column.prop(tag, "label")
            if tag.kind == "prefer":
                column.prop(tag, "bias")
            for name, end in (("frame_start", False), ("frame_end", True)):
                line = column.row(align=True)
                line.prop(tag, name)
                line.operator(TagAtPlayhead.bl_idname, text="", icon="TIME").end = end
        split(layout).prop(armature_of(context).motion_matching, "show_tags")
        row = layout.row(align=True)
        row.operator(TagsToMarkers.bl_idname, icon="PMARKER_ACT")
        row.operator(MarkersToTags.bl_idname, icon="PMARKER")
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator(ProposeTags.bl_idname, icon="VIEWZOOM")


class MOTION_MATCHING_PT_thresholds(SourcePanel, bpy.types.Panel):
    """From when on the motion counts as what, where tags are proposed and where all sources are tagged by Auto Tags"""

    bl_label = "Thresholds"
    bl_parent_id = "MOTION_MATCHING_PT_tags"

    def draw(self, context: bpy.types.Context) -> None:
        thresholds = armature_of(context).motion_matching.thresholds
        column = split(self.layout)
        for name in thresholds.__annotations__:
            column.prop(thresholds, name)


class MOTION_MATCHING_MT_tags(bpy.types.Menu):
    """Tags on the frames of the source that is shown"""

    bl_label = "Motion Tags"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        for text, icon, frames in _ADDED:
            layout.operator_menu_enum(
                AddTag.bl_idname, "kind", text=text, icon=icon
            ).frames = frames
        layout.operator(
            TagAtPlayhead.bl_idname, text="Start Range at Playhead", icon="TIME"
        ).end = False
        layout.operator(
            TagAtPlayhead.bl_idname, text="End Range at Playhead", icon="TIME"
        ).end = True
        layout.separator()
        layout.operator(TagsToMarkers.bl_idname, text="Ranges to Pose Markers", icon="PMARKER_ACT")
        layout.operator(MarkersToTags.bl_idname, text="Ranges from Pose Markers", icon="PMARKER")


CLASSES = (
    MOTION_MATCHING_MT_tags,
    MOTION_MATCHING_UL_tags,
    MOTION_MATCHING_PT_tags,
    MOTION_MATCHING_PT_thresholds,
)
