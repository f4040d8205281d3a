"""The panel of live performing."""

from __future__ import annotations

from typing import Any

import bpy

from ... import app, engine
from ...app.runtime import runtime
from ...app.typed import armature_of
from .. import preferences
from ..panel_base import (
    ArmaturePanel,
    State,
    draw_progress,
    draw_wrapped_text,
    set_options,
    split_layout,
)
from ..properties import MotionMatchingSettings
from . import layers
from .operators import MOTION_MATCHING_OT_ask_for_tag as AskForTag
from .operators import MOTION_MATCHING_OT_discard_recording as DiscardRecording
from .operators import MOTION_MATCHING_OT_push as Push
from .operators import MOTION_MATCHING_OT_record as Record
from .operators import MOTION_MATCHING_OT_recover_take as RecoverTake
from .operators import MOTION_MATCHING_OT_start as Start
from .operators import MOTION_MATCHING_OT_stop as Stop
from .operators import MOTION_MATCHING_OT_tune as Tune
from .properties import MotionMatchingPlay


class MOTION_MATCHING_PT_play(ArmaturePanel, bpy.types.Panel):
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
        if play.steer != "devices":
            column.prop(play, play.steer, text=" ")
        if play.steer in ("curve", "target"):
            column.row().prop(play, "gait", expand=True)
        _draw_tag_buttons(layout, obj, play)
        column = split_layout(layout)
        column.prop_search(
            play, "collection", armature_of(obj), "collections_all", icon="GROUP_BONE"
        )
        column.prop(play, "mode")
        column.prop(play, "timeline")
        column.prop(play, "view")
        if play.steer == "devices":
            row = column.row(align=True)
            row.prop(play, "push")
            if live:
                row.operator(Push.bl_idname, text="", icon="FORCE_FORCE")
        column.prop(settings, "obstacles")


def _draw_session(layout: bpy.types.UILayout) -> None:
    """Draw the buttons that start, record and stop, and what there is to say of the session."""
    live = runtime.live
    buttons = layout.column(align=True)
    buttons.scale_y = 1.6
    if live is None:
        buttons.operator(Start.bl_idname, icon="PLAY")
        layout.operator(Tune.bl_idname, icon="EMPTY_ARROWS")
    else:
        recording = live.session.is_recording
        buttons.operator(
            Record.bl_idname,
            text="Stop Recording" if recording else "Record",
            depress=recording,
            icon="SNAP_FACE" if recording else "RADIOBUT_ON",
        )
        buttons.operator(Stop.bl_idname, icon="CANCEL")
    draw_progress(layout)
    draw_wrapped_text(layout, preferences.describe_keys(), "INFO")
    for warning in live.warnings if live else ():
        draw_wrapped_text(layout, warning, "ERROR")
    if runtime.end_message and live is None:
        draw_wrapped_text(layout, runtime.end_message, "ERROR")
    if runtime.interrupted and live is None:
        box, count = layout.box(), len(runtime.interrupted)
        draw_wrapped_text(
            box,
            "A recording was cut off" if count == 1 else f"{count} recordings were cut off",
            "RECOVER_LAST",
        )
        row = box.row(align=True)
        row.operator(RecoverTake.bl_idname)
        row.operator(DiscardRecording.bl_idname, text="Discard")


def _draw_tag_buttons(
    layout: bpy.types.UILayout, obj: bpy.types.Object, play: MotionMatchingPlay
) -> None:
    """Draw a button for each tag to ask for, including those that are asked for but that no source
    has.
    """
    live, requested = runtime.live, engine.database.tags.parse_names(play.tags)
    known = (
        live.database.requestable_tags
        if live and live.database
        else app.status.get_status(obj).tags
    )
    if not (known or requested):
        return
    layout.label(text="Ask For", icon="BOOKMARKS")
    grid = layout.grid_flow(row_major=True, columns=3, even_columns=True, align=True)
    for name in dict.fromkeys((*known, *requested)):
        icon: Any = "NONE" if name in known else "ERROR"
        set_options(
            grid.operator(AskForTag.bl_idname, text=name, depress=name in requested, icon=icon),
            name=name,
        )


class MOTION_MATCHING_PT_layers(ArmaturePanel, bpy.types.Panel):
    """What is drawn into the view while live"""

    bl_label = "Shown While Live"
    bl_parent_id = "MOTION_MATCHING_PT_play"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        column = split_layout(self.layout)
        for name in layers.PROPERTIES:
            column.prop(settings.play, name)


CLASSES = (MOTION_MATCHING_PT_play, MOTION_MATCHING_PT_layers)
