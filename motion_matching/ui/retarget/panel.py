"""Draw the panel of retargeting: the source, options, and bones by role."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ... import app
from ...app.property_access import armature_of, get_active, settings_of
from ..base import panel_base as base
from ..properties import MotionMatchingSettings
from .properties import MotionMatchingBonePair, MotionMatchingRetarget, MotionMatchingRetargetResult

_MOST_NOTES = 3
_MOST_ROWS = 6  # of results; more are scrolled through


class MOTION_MATCHING_PT_retarget(base.StateHeader, base.ArmaturePanel, bpy.types.Panel):
    """Copy motion of any other character to this one as a new action, without a database"""

    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 5

    def get_state(
        self, obj: bpy.types.Object, settings: MotionMatchingSettings
    ) -> base.State | None:
        if wrong := len(settings.retarget.results):
            return "ERROR", f"{wrong} Wrong"
        summary = settings.retarget.summary
        icon = "ERROR" if "needs" in summary.lower() else "BONE_DATA"
        return (icon, summary) if summary else None

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        group = settings.retarget
        column = base.split_layout(self.layout)
        column.prop(group, "action")
        column.prop(group, "source")
        column = self.layout.column(align=True)
        base.draw_work_button(column, "motion_matching.retarget_action", icon="ARMATURE_DATA")
        base.draw_work_button(column, "motion_matching.retarget_file", icon="FILE_FOLDER")
        if group.better_axes:
            text = f"The character lies or stands on its head; it stands with {group.better_axes}"
            box = self.layout.box()
            base.draw_wrapped_text(box, text, "ERROR")
            base.draw_work_button(box, "motion_matching.retarget_again", icon="EMPTY_AXIS")
        if notes := app.retarget.retargeting.get_notes(group):
            draw_notes(self.layout, notes)
        if group.results:
            draw_results(self.layout, group)


class MOTION_MATCHING_UL_retarget_results(base.List, bpy.types.UIList):
    """New actions that differ from their sources"""

    def draw_row(self, layout: bpy.types.UILayout, item: MotionMatchingRetargetResult) -> None:
        results = settings_of(item.id_data).retarget.results
        row = layout.row()
        row.label(text=item.action.name if item.action else item.name, icon="ERROR")
        name = "motion_matching.show_retarget_result"
        base.draw_icon(row, name, "HIDE_OFF", index=results.find(item.name))


def draw_results(layout: bpy.types.UILayout, group: MotionMatchingRetarget) -> None:
    """Draw which results are wrong: what is wrong with the chosen one, and a click to each."""
    box = layout.box()
    chosen = get_active(group.results, group.result_index)
    if len(group.results) > 1:
        names = "MOTION_MATCHING_UL_retarget_results", group, "results", "result_index"
        side = base.draw_list(box, *names, rows=min(len(group.results), _MOST_ROWS), tip="text")
        side.operator("motion_matching.clear_retarget_results", text="", icon="X")
    if chosen is not None:
        base.draw_wrapped_text(box, chosen.text, "ERROR")
        row = box.row(align=True)
        show = row.operator("motion_matching.show_retarget_result", text="Show", icon="HIDE_OFF")
        base.set_options(show, index=group.result_index)
        if len(group.results) == 1:
            row.operator("motion_matching.clear_retarget_results", text="", icon="X")


def draw_notes(layout: bpy.types.UILayout, notes: Sequence[str]) -> None:
    """Draw what was mended in the motion that was retargeted last, or is wrong with it."""
    box = layout.box()
    for note in notes[:_MOST_NOTES]:
        base.draw_wrapped_text(box, note, "INFO")
    if (more := len(notes) - _MOST_NOTES) > 0:
        box.label(text=f"And {more} more")


class _RetargetPanel(base.ArmaturePanel):
    """A mixin of closed panels below it."""

    bl_parent_id = "MOTION_MATCHING_PT_retarget"
    bl_options = {"DEFAULT_CLOSED"}


class MOTION_MATCHING_PT_retarget_options(_RetargetPanel, bpy.types.Panel):
    """How motion is retargeted"""

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        group = settings.retarget
        column = base.split_layout(self.layout)
        for name in ("foot_ik", "hand_ik", "keep_translations", "scale", "fit_root", "keep_frames"):
            column.prop(group, name)
        column.prop(settings, "fewer_keys")


class MOTION_MATCHING_UL_bone_pairs(base.List, bpy.types.UIList):
    """Bones by role, found or set"""

    def draw_row(self, layout: bpy.types.UILayout, item: MotionMatchingBonePair) -> None:
        row = layout.split(factor=0.36)
        given = item.source != item.found_source or item.target != item.found_target
        unsure: Any = "QUESTION" if app.mapping.bone_table.is_doubtful(item.confidence) else "NONE"
        row.label(text=item.name, icon="GREASEPENCIL" if given else unsure)
        cells = row.split(factor=0.5)
        cells.label(text=item.source or "-")
        cells.label(text=item.target or "-")


class MOTION_MATCHING_PT_retarget_bones(_RetargetPanel, bpy.types.Panel):
    """Bones by role in the source and in this character. Correct any wrong ones here"""

    bl_label = "Bones"

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        group = settings.retarget
        layout = self.layout
        base.draw_preset_row(layout, "mappings", group.preset)
        base.draw_work_button(layout, "motion_matching.find_retarget_bones", icon="VIEWZOOM")
        if not group.pairs:
            return
        names = "MOTION_MATCHING_UL_bone_pairs", group, "pairs", "pair_index"
        side = base.draw_list(layout, *names, rows=8)
        side.operator("motion_matching.clear_retarget_bones", text="", icon="X")
        if 0 <= group.pair_index < len(group.pairs):
            draw_pair(layout, obj, group.pairs[group.pair_index])


def draw_pair(
    layout: bpy.types.UILayout, obj: bpy.types.Object, pair: MotionMatchingBonePair
) -> None:
    """Draw the bones of one role, to change them."""
    column = base.split_layout(layout)
    source = settings_of(obj).retarget.source
    if source and source.type == "ARMATURE":
        column.prop_search(pair, "source", armature_of(source), "bones")
    else:
        column.prop(pair, "source")
    column.prop_search(pair, "target", armature_of(obj), "bones")
    column.prop(pair, "offset")
    row = column.row()
    row.enabled = False
    row.prop(pair, "confidence")
