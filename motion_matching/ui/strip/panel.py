"""Draw the strip: the current state, the button of the next step, progress, and warnings; and at
the other end of the tab the switch that shows all panels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ... import app
from ...app.character.characters import get_active_armature
from ...app.preferences import get_preferences
from ...app.property_access import settings_of
from ...app.runtime import runtime
from ..base import panel_base as base
from ..takes.panel import draw_bake_button

if TYPE_CHECKING:
    from ...app.strip.warnings import Button


class MOTION_MATCHING_PT_strip(base.Panel, bpy.types.Panel):
    """The current state, and the next step"""

    bl_label = "Motion Matching"
    bl_options = {"HIDE_HEADER"}
    bl_order = 0

    def draw(self, context: bpy.types.Context) -> None:
        obj = get_active_armature(context)
        layout = self.layout
        standing = app.strip.state.get_standing(context, obj)
        work = runtime.work if runtime.progress else None
        text = f"Running: {work.label}" if work else standing.text
        icon: Any = "SORTTIME" if work else standing.icon
        layout.label(text=text, icon=icon)
        layout.operator_context = "INVOKE_DEFAULT"
        # one below the other without a character: their labels are long
        buttons = layout.column(align=True) if obj is None else layout.row(align=True)
        buttons.scale_y = 1.6
        if work:
            _draw_work(buttons, work.operator in app.strip.state.STEPS)
            if obj is None:
                buttons.label(text="")  # as high as the two buttons
        else:
            for button in standing.buttons:
                _draw_step(buttons, button, obj)
        if obj is not None:
            base.draw_folded_warnings(layout, app.strip.state.get_warnings(obj), base.ALL_WARNINGS)


def _draw_work(buttons: bpy.types.UILayout, is_step: bool) -> None:
    """Draw the progress of a step in place of its button, and a button that cancels it."""
    if not is_step:  # whose own button shows that
        base.draw_button(buttons, app.strip.state.CANCEL)
        return
    row = buttons.row(align=True)
    base.draw_progress(row)
    base.draw_button(row, app.strip.state.CANCEL._replace(label=""))


def _draw_step(buttons: bpy.types.UILayout, button: Button, obj: bpy.types.Object | None) -> None:
    if button.operator == app.strip.state.BAKE.operator and obj is not None:
        draw_bake_button(buttons, settings_of(obj).script)
    else:
        base.draw_button(buttons, button)


# what Advanced shows
_HIDDEN = (
    "Controller and Insight",
    "Motion: Features, Simulation Bone",
    "Tags: Thresholds",
    "Shown While Live: Neighbours in Rows",
)


class MOTION_MATCHING_PT_advanced(base.Panel, bpy.types.Panel):
    """Whether to show panels and settings that are rarely changed"""

    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 8

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return get_active_armature(context) is not None and get_preferences() is not None

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(get_preferences(), "show_advanced", text="")

    def draw(self, context: bpy.types.Context) -> None:
        base.draw_small_lines(self.layout, _HIDDEN)
