"""Draw the panel of live sessions."""

from __future__ import annotations

from typing import Any

import bpy

from ... import app, engine
from ...app.live.leaders import LEADERS
from ...app.preferences import shows_advanced
from ...app.property_access import armature_of, settings_of
from ...app.runtime import runtime
from .. import preferences
from ..base import panel_base as base
from ..properties import MotionMatchingSettings
from . import layers


class MOTION_MATCHING_PT_play(base.StateHeader, base.ArmaturePanel, bpy.types.Panel):
    """Steer the character live, and record it"""

    bl_label = "Perform"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 2

    def get_state(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> base.State:
        live = runtime.live
        if live is None:
            return "LAYER_USED", "Not Live"
        if live.session.is_waiting:
            return "RADIOBUT_OFF", "Waiting for Input"
        if live.session.is_recording:
            return "RADIOBUT_ON", f"{live.session.recorded_seconds:.0f} s"
        return "PLAY", app.strip.state.describe_rate(live)

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        layout = self.layout
        play = settings.play
        live = runtime.live
        if driven := app.strip.state.describe_driven(obj):
            base.draw_wrapped_text(layout, driven, "CON_ARMATURE")
        column = base.split_layout(layout)
        column.prop(play, "steer")
        kind = LEADERS.get(play.steer)
        if kind and kind.missing:
            column.prop(play, play.steer, text=" ")
        if kind and kind.has_gait:
            column.row().prop(play, "gait", expand=True)
        # below, because it takes more or fewer lines for each way of steering
        base.draw_wrapped_text(layout, preferences.describe_keys(play.steer), "INFO")
        _draw_tag_buttons(layout, obj)
        column = base.split_layout(layout)
        bones = armature_of(obj)
        column.prop_search(play, "collection", bones, "collections_all", icon="GROUP_BONE")
        column.prop(play, "mode")
        if play.mode == "overwrite":
            column.prop(play, "lead_back")
        column.prop(play, "record_at_start")
        column.prop(play, "timeline")
        column.prop(play, "view")
        if play.steer == "devices":
            row = column.row(align=True)
            row.prop(play, "push")
            if live:
                row.operator("motion_matching.push", text="", icon="FORCE_FORCE")
        column.prop(settings, "obstacles")
        layout.operator("motion_matching.tune", icon="EMPTY_ARROWS")


def _draw_tag_buttons(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """Draw a button for each tag to ask for, including requested tags that no source has."""
    requested = engine.database.tags.tags.parse_names(settings_of(obj).play.tags)
    database = runtime.live.database if runtime.live else None
    known = database.requestable_tags if database else app.database.status.get_status(obj).tags
    if not (known or requested):
        return
    layout.label(text="Ask For", icon="BOOKMARKS")
    grid = layout.grid_flow(row_major=True, columns=3, even_columns=True, align=True)
    for name in dict.fromkeys((*known, *requested)):
        look: Any = {"depress": name in requested, "icon": "NONE" if name in known else "ERROR"}
        button = grid.operator("motion_matching.ask_for_tag", text=name, **look)
        base.set_options(button, name=name)


class MOTION_MATCHING_PT_layers(base.ArmaturePanel, bpy.types.Panel):
    """What to draw in the view while live"""

    bl_label = "Shown While Live"
    bl_parent_id = "MOTION_MATCHING_PT_play"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        column = base.split_layout(self.layout)
        play = settings.play
        for name in layers.PROPERTIES:
            is_row = name == "show_ghost_row"
            if is_row and not (shows_advanced() or play.show_ghost_row):
                continue
            row = column.row()
            row.active = play.show_ghosts or not is_row
            row.prop(play, name)
