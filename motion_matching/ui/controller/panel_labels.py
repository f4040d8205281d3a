"""Draw the labels of displacement: tags whose frames are displaced in their own way."""

from __future__ import annotations

import bpy

from ... import app
from ...app.property_access import get_active
from ...engine.performance.labels import find_unknown_tags
from ...engine.performance.settings import DISPLACEMENTS, LABELLED
from ..base.panel_base import (
    AdvancedPanel,
    List,
    State,
    StateHeader,
    draw_list,
    draw_move_buttons,
    draw_wrapped_text,
    format_count,
    split_layout,
)
from ..properties import MotionMatchingSettings
from .panel import is_relevant_to_displacement
from .properties import MotionMatchingLabel


class MOTION_MATCHING_UL_labels(List, bpy.types.UIList):
    """Tags whose frames are displaced in their own way"""

    def draw_row(self, layout: bpy.types.UILayout, item: MotionMatchingLabel) -> None:
        row = layout.row(align=True)
        row.prop(item, "tags", text="", emboss=False, icon="BOOKMARKS", placeholder="Tags")
        tail = row.row()
        tail.alignment = "RIGHT"
        tail.label(text=DISPLACEMENTS[item.displacement][0])


class MOTION_MATCHING_PT_labels(StateHeader, AdvancedPanel, bpy.types.Panel):
    """Displacement settings of their own for frames with certain tags"""

    bl_label = "Labels"
    bl_parent_id = "MOTION_MATCHING_PT_displacement"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def is_in_use(cls, obj: bpy.types.Object, settings: MotionMatchingSettings) -> bool:
        return len(settings.controller.labels) > 0

    def get_state(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> State | None:
        count = len(settings.controller.labels)
        return ("NONE", format_count(count, "Label")) if count else None

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        controller = settings.controller
        layout = self.layout
        kind = "MOTION_MATCHING_UL_labels"
        side = draw_list(layout, kind, controller, "labels", "label_index", 3)
        side.operator_menu_enum("motion_matching.add_label", "kind", text="", icon="ADD")
        side.operator("motion_matching.remove_label", text="", icon="REMOVE")
        draw_move_buttons(side, "motion_matching.move_label")
        if not controller.labels:
            return
        column = split_layout(layout)
        column.prop(controller, "label_blend")
        label = get_active(controller.labels, controller.label_index)
        for name in LABELLED if label else ():
            row = column.row()
            row.active = is_relevant_to_displacement(label, name)
            row.prop(label, name)
        status = app.database.status.get_status(obj)
        unknown = find_unknown_tags(app.controller.labels.build_labels(controller), status.tags)
        if status.frames and unknown:
            names = ", ".join(f"'{name}'" for name in unknown)
            draw_wrapped_text(layout, f"No frame is tagged {names}", "INFO")
            split_layout(layout).prop(settings, "auto_tags")
