"""Draw the panel of the director: the list of marks, the active one's settings, and solving."""

from __future__ import annotations

from typing import Any

import bpy

from ... import app
from ...app.character.characters import get_active_armature
from ...app.property_access import get_active, settings_of
from ...app.runtime import runtime
from ...engine.direct.shot.mark import GOALS, MarkGoal
from ..base import panel_base as base
from ..properties import MotionMatchingSettings

_ROWS = ("hold", "gait")  # goals that are drawn below the place of a mark
_DRAWN = ("time", "part", "palm", "leads", "pose", "pose_tolerance", "pose_fade")  # not as a row
_ICONS = {"MARK": "EMPTY_SINGLE_ARROW", "TEMPO": "TIME"}
_OUTCOMES = {"": "BLANK1", "met": "CHECKMARK", "missed": "ERROR", "changed": "FILE_REFRESH"}


class MOTION_MATCHING_UL_marks(base.List, bpy.types.UIList):
    """Marks of the character, in the order of their frames"""

    def draw_row(self, layout: bpy.types.UILayout, item: bpy.types.Object) -> None:
        mark = app.marks.marks.mark_of(item)
        icon: Any = _ICONS[mark.kind] if mark.leads else "PINNED"
        split = layout.split(factor=0.28)
        split.label(text=str(app.marks.marks.get_frame(item)), icon=icon)
        row = split.row(align=True)
        text = app.marks.marks.describe(item)
        cells = row.split(factor=0.5) if text else row  # or a long text would squeeze the name
        cells.prop(item, "name", text="", emboss=False)
        if text:
            base.draw_aligned(cells, text)
        outcome: Any = _OUTCOMES[app.marks.outcomes.get_outcome(item)]
        row.label(text="", icon=outcome)

    def filter_items(
        self, context: bpy.types.Context, data: Any, property: str
    ) -> tuple[list[int], list[int]]:
        """Show only marks of the active character, in the order of their frames."""
        items = list(getattr(data, property))
        obj = get_active_armature(context)
        if obj is None:
            return [], []
        shown = [app.marks.marks.is_mark_of(item, obj) for item in items]
        frames = [
            app.marks.marks.get_frame(item) if is_shown else 0
            for item, is_shown in zip(items, shown, strict=True)
        ]
        order = sorted(range(len(items)), key=lambda k: (frames[k], items[k].name))
        places = [0] * len(items)
        for place, index in enumerate(order):
            places[index] = place
        return [self.bitflag_filter_item if each else 0 for each in shown], places


class MOTION_MATCHING_PT_director(base.StateHeader, base.ArmaturePanel, bpy.types.Panel):
    """Marks for the character to meet, solved into a take"""

    bl_label = "Direct"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 3

    def get_state(
        self, obj: bpy.types.Object, settings: MotionMatchingSettings
    ) -> base.State | None:
        return app.marks.outcomes.get_state(obj)

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        layout = self.layout
        director = settings.director
        row = layout.row(align=True)
        row.operator("motion_matching.add_mark", icon="ADD")
        base.draw_icon(row, "motion_matching.add_mark", "ARMATURE_DATA", where="CHARACTER")
        row.operator("motion_matching.keep_pose", text="", icon="POSE_HLT")
        row.operator_menu_enum("motion_matching.add_pin", "limb", text="", icon="PINNED")
        row.operator_menu_enum("motion_matching.add_tempo", "pace", text="", icon="TIME")
        if director.marks:
            names = "MOTION_MATCHING_UL_marks", director, "marks.objects", "mark_index"
            side = base.draw_list(layout, *names, rows=4)
            side.operator("motion_matching.remove_mark", text="", icon="REMOVE")
        if (active := app.marks.marks.get_active_mark(obj)) is not None:
            _draw_reason(layout, obj, active)
            _draw_mark(layout, active)
        _draw_preview(layout, obj)
        base.draw_work_button(
            base.add_tall_row(layout), "motion_matching.direct", icon="TRACKING_FORWARDS"
        )
        row = layout.row(align=True)
        count = {"count": director.variations}
        base.draw_work_button(row, "motion_matching.direct_variations", count, icon="DUPLICATE")
        row.prop(director, "variations", text="")
        _draw_flipping(layout, obj)
        column = layout.column(align=True)
        base.draw_work_button(column, "motion_matching.direct_again", icon="FILE_REFRESH")
        base.draw_work_button(column, "motion_matching.direct_take", icon="TRACKING_BACKWARDS")
        follow = column.operator(
            "motion_matching.bake_again", text="Re-solve Path", icon="CON_FOLLOWPATH"
        )
        base.set_options(follow, method="DIRECTOR")


def _draw_preview(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """Draw the switch of the preview, what its way meets, and why there is none."""
    preview = runtime.mark_preview
    if preview is None or preview.armature.uid != obj.session_uid:
        base.draw_work_button(layout, "motion_matching.preview_marks", icon="HIDE_OFF")
        if preview is None and runtime.mark_preview_end:
            base.draw_wrapped_text(layout, runtime.mark_preview_end, "INFO")
        return
    told = preview.describe()
    text = f"Preview: {told}" if told else "Preview"
    end = "motion_matching.end_mark_preview"
    layout.operator(end, text=text, icon="HIDE_ON", depress=True)
    if preview.note:
        base.draw_wrapped_text(layout, preview.note, "INFO")


def _draw_flipping(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """Draw the directed take that is active between arrows to the others, if there are others."""
    directed = app.direct.flipping.list_directed(obj)
    settings = settings_of(obj)
    active = get_active(settings.takes, settings.take_index)
    if len(directed) < 2 or active is None or active.action not in directed:
        return
    row = layout.row(align=True)
    base.draw_icon(row, "motion_matching.flip_take", "TRIA_LEFT", backward=True)
    base.draw_aligned(row, app.direct.flipping.describe(active.action), "CENTER")
    row.operator("motion_matching.flip_take", text="", icon="TRIA_RIGHT")


def _draw_reason(
    layout: bpy.types.UILayout, obj: bpy.types.Object, empty: bpy.types.Object
) -> None:
    """Draw why a mark is missed, by the last solve or by the preview."""
    if app.marks.outcomes.get_outcome(empty) == "missed":
        base.draw_wrapped_text(layout, app.marks.marks.mark_of(empty).reason, "ERROR")
    elif reason := app.direct.previewing.get_reason(obj, empty):
        base.draw_wrapped_text(layout, reason, "INFO")


def _draw_mark(layout: bpy.types.UILayout, empty: bpy.types.Object) -> None:
    """Draw what a mark asks for: when, what, where and how long."""
    mark = app.marks.marks.mark_of(empty)
    column = base.split_layout(layout)
    column.prop(mark, "frame")
    if mark.kind != app.marks.marks.MARK:
        column.prop(mark, "frame_end")
        column.prop(mark, "rate")
        return
    row = column.row(heading="Match")
    row.prop(mark, "use_place", toggle=True)
    if mark.leads:
        row.prop(mark, "use_facing", toggle=True)
    part = column.column()
    part.active = mark.use_place
    part.prop(mark, "part")
    if app.marks.marks.is_of_part(empty):
        part.prop(mark, "use_height")
    if app.marks.marks.is_of_hand(empty):
        part.prop(mark, "palm")
    column.prop(mark, "leads")
    for name in _ROWS:
        _draw_goal(column, empty, GOALS[name])


def _draw_goal(column: bpy.types.UILayout, empty: bpy.types.Object, goal: MarkGoal) -> None:
    """Draw a goal as a row: its value, and the switch before it if it has one."""
    mark = app.marks.marks.mark_of(empty)
    (*switches, name) = goal.properties
    if not app.marks.marks.can_ask(empty, goal):
        return
    if not switches:
        column.prop(mark, name)
        return
    row = column.row(heading=mark.bl_rna.properties[name].name)
    row.prop(mark, switches[0], text="")
    field = row.row()
    field.enabled = getattr(mark, switches[0])
    field.prop(mark, name, text="")


class _DirectorPanel(base.ArmaturePanel):
    """A mixin of closed panels below it."""

    bl_parent_id = "MOTION_MATCHING_PT_director"
    bl_options = {"DEFAULT_CLOSED"}


class MOTION_MATCHING_PT_mark(_DirectorPanel, bpy.types.Panel):
    """Further options of the active mark"""

    bl_label = "Mark Options"

    @classmethod
    def is_shown(cls, obj: bpy.types.Object, settings: MotionMatchingSettings) -> bool:
        active = app.marks.marks.get_active_mark(obj)
        return active is not None and settings_of(active).mark.kind == "MARK"

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        active = app.marks.marks.get_active_mark(obj)
        if active is None:
            return
        mark = app.marks.marks.mark_of(active)
        column = base.split_layout(self.layout)
        for name, goal in GOALS.items():
            if not goal.is_placed and name not in (*_ROWS, *_DRAWN):
                _draw_goal(column, active, goal)
        column.prop(mark, "use_pose")
        pose = column.column(align=True)
        pose.enabled = mark.use_pose
        pose.prop(mark, "pose_tolerance", text="Within")
        pose.prop(mark, "pose_fade")


class MOTION_MATCHING_PT_jumps(_DirectorPanel, bpy.types.Panel):
    """Where the active take jumps between clips, and how to change that"""

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        layout = self.layout
        take = get_active(settings.takes, settings.take_index)
        jumps = app.direct.jumps.list_jumps(take.action) if take else []
        jump = app.direct.jumps.choose_jump(jumps, bpy.context.scene.frame_current)
        row = layout.row(align=True)
        base.draw_icon(row, "motion_matching.go_to_jump", "PREV_KEYFRAME", backward=True)
        place = f"{jumps.index(jump) + 1} of {len(jumps)}, at {jump.frame}" if jump else "No Jump"
        base.draw_aligned(row, place, "CENTER")
        row.operator("motion_matching.go_to_jump", text="", icon="NEXT_KEYFRAME")
        if jump:
            base.draw_table(layout, jump.list_facts(), 0.2)
        column = layout.column(align=True)
        row = column.row(align=True)
        pinned = jump is not None and jump.is_pinned
        pin: Any = "PINNED" if pinned else "UNPINNED"
        row.operator("motion_matching.pin_jump", icon=pin, depress=pinned)
        base.draw_work_button(row, "motion_matching.replace_jump", icon="FILE_REFRESH")
        base.draw_work_button(column, "motion_matching.forbid_jump", icon="CANCEL")
        base.draw_work_button(column, "motion_matching.direct_range", icon="PREVIEW_RANGE")


class MOTION_MATCHING_PT_shot(_DirectorPanel, bpy.types.Panel):
    """The shot: its range, gait, seed and path"""

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        director = settings.director
        column = base.split_layout(self.layout)
        column.row().prop(director, "gait", expand=True)
        column.prop(director, "seed")
        column.prop(director, "use_range")
        limits = column.column(align=True)
        limits.enabled = director.use_range
        limits.prop(director, "frame_start")
        limits.prop(director, "frame_end")
        column.prop(director, "path")
        frames = column.column(align=True)
        frames.enabled = director.path is not None
        frames.prop(director, "path_start", text="Start")
        frames.prop(director, "path_end", text="End")
        column.prop(settings, "obstacles")
        column.prop(settings, "use_nla")
