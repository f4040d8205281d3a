"""The panel of live performing."""

from __future__ import annotations

from typing import Any

import bpy

from ... import app, engine
from ...app.runtime import runtime
from ...app.typed import armature_of, settings_of
from .. import preferences
from ..panel_base import (
    ArmaturePanel,
    State,
    StateHeader,
    draw_progress,
    draw_wrapped_text,
    set_options,
    split_layout,
)
from ..properties import MotionMatchingSettings
from . import layers


class MOTION_MATCHING_PT_play(StateHeader, ArmaturePanel, bpy.types.Panel):
    """Steer the character live, and record it"""

    bl_label = "Play"
    bl_order = 3

    def get_state(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> State:
        live = runtime.live
        if live is None:
            return "LAYER_USED", "Not Live"
        if live.session.is_recording:
            return "RADIOBUT_ON", f"{live.session.recorded_seconds:.0f} s"
        return "PLAY", f"{live.pace.rate:.0f} Ticks/s"

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        layout, play, live = self.layout, settings.play, runtime.live
        _draw_session(layout)
        column = split_layout(layout)
        column.prop(play, "steer")
        if play.steer in ("curve", "target", "take"):
            column.prop(play, play.steer, text=" ")
        if play.steer in ("curve", "target", "click"):
            column.row().prop(play, "gait", expand=True)
        _draw_tag_buttons(layout, obj)
        column = split_layout(layout)
        bones = armature_of(obj)
        column.prop_search(play, "collection", bones, "collections_all", icon="GROUP_BONE")
        column.prop(play, "mode")
        column.prop(play, "timeline")
        column.prop(play, "view")
        if play.steer == "devices":
            row = column.row(align=True)
            row.prop(play, "push")
            if live:
                row.operator("motion_matching.push", text="", icon="FORCE_FORCE")
        column.prop(settings, "obstacles")


def _draw_session(layout: bpy.types.UILayout) -> None:
    """Draw the buttons that start, record and stop, and what there is to say of the session."""
    live = runtime.live
    buttons = layout.column(align=True)
    buttons.scale_y = 1.6
    if live is None:
        buttons.operator("motion_matching.start", icon="PLAY")
        layout.operator("motion_matching.tune", icon="EMPTY_ARROWS")
    else:
        record: Any = {"text": "Record", "icon": "RADIOBUT_ON"}
        if live.session.is_recording:
            record = {"text": "Stop Recording", "icon": "SNAP_FACE", "depress": True}
        buttons.operator("motion_matching.record", **record)
        buttons.operator("motion_matching.stop", icon="CANCEL")
    draw_progress(layout)
    draw_wrapped_text(layout, preferences.describe_keys(), "INFO")
    for warning in live.warnings if live else ():
        draw_wrapped_text(layout, warning, "ERROR")
    if runtime.end_message and live is None:
        draw_wrapped_text(layout, runtime.end_message, "ERROR")
    if runtime.interrupted and live is None:
        box, count = layout.box(), len(runtime.interrupted)
        text = "A recording was cut off" if count == 1 else f"{count} recordings were cut off"
        draw_wrapped_text(box, text, "RECOVER_LAST")
        row = box.row(align=True)
        row.operator("motion_matching.recover_take")
        row.operator("motion_matching.discard_recording", text="Discard")


def _draw_tag_buttons(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """Draw a button for each tag to ask for, also for those that are requested but in no source."""
    requested = engine.database.tags.parse_names(settings_of(obj).play.tags)
    database = runtime.live.database if runtime.live else None
    known = database.requestable_tags if database else app.status.get_status(obj).tags
    if not (known or requested):
        return
    layout.label(text="Ask For", icon="BOOKMARKS")
    grid = layout.grid_flow(row_major=True, columns=3, even_columns=True, align=True)
    for name in dict.fromkeys((*known, *requested)):
        look: Any = {"depress": name in requested, "icon": "NONE" if name in known else "ERROR"}
        button = grid.operator("motion_matching.ask_for_tag", text=name, **look)
        set_options(button, name=name)


class MOTION_MATCHING_PT_layers(ArmaturePanel, bpy.types.Panel):
    """What is drawn into the view while live"""

    bl_label = "Shown While Live"
    bl_parent_id = "MOTION_MATCHING_PT_play"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        column = split_layout(self.layout)
        for name in layers.PROPERTIES:
            column.prop(settings.play, name)
