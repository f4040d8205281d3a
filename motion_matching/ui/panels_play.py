"""The panel of live performing."""

from __future__ import annotations

from typing import Any

import bpy

from . import asking, layers, performing, preferences, recordings, status, work
from .operators_live import MOTION_MATCHING_OT_ask_for_tag as AskForTag
from .operators_live import MOTION_MATCHING_OT_discard_recording as DiscardRecording
from .operators_live import MOTION_MATCHING_OT_push as Push
from .operators_live import MOTION_MATCHING_OT_record as Record
from .operators_live import MOTION_MATCHING_OT_recover_take as RecoverTake
from .operators_live import MOTION_MATCHING_OT_start as Start
from .operators_live import MOTION_MATCHING_OT_stop as Stop
from .operators_live import MOTION_MATCHING_OT_tune as Tune
from .panels import ArmaturePanel, header, progress, split, told
from .request import armature_of


class MOTION_MATCHING_PT_play(ArmaturePanel, bpy.types.Panel):
    """Steer the character live, and record it"""

    bl_label = "Play"
    bl_order = 3

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        live = performing.current
        if live is None:
            header(self, "LAYER_USED", "Not Live")
        elif live.session.is_recording:
            header(self, "RADIOBUT_ON", f"{live.session.recorded_seconds:.0f} s")
        else:
            header(self, "PLAY", f"{live.pace.rate:.0f} Ticks/s")

    def draw(self, context: bpy.types.Context) -> None:
        layout, live = self.layout, performing.current
        layout.operator_context = "INVOKE_DEFAULT"
        button = layout.column(align=True)
        button.scale_y = 1.6
        if live is None:
            button.operator(Start.bl_idname, icon="PLAY")
            layout.operator(Tune.bl_idname, icon="EMPTY_ARROWS")
        else:
            recording = live.session.is_recording
            button.operator(
                Record.bl_idname,
                text="Stop Recording" if recording else "Record",
                depress=recording,
                icon="SNAP_FACE" if recording else "RADIOBUT_ON",
            )
            button.operator(Stop.bl_idname, icon="CANCEL")
        if work.running:
            progress(layout)
        told(layout, context, preferences.keys_in_words(), "INFO")
        for warning in live.warnings if live else ():
            told(layout, context, warning, "ERROR")
        if performing.last_words and live is None:
            told(layout, context, performing.last_words, "ERROR")
        if recordings.left and live is None:
            _left(layout, context)
        obj = armature_of(context)
        play = obj.motion_matching.play
        column = split(layout)
        column.prop(play, "steer")
        if play.steer != "devices":
            column.prop(play, play.steer, text=" ")
        if play.steer in ("curve", "target"):
            column.row().prop(play, "gait", expand=True)
        _asked(layout, obj)
        column = split(layout)
        column.prop_search(play, "collection", obj.data, "collections_all", icon="GROUP_BONE")
        column.prop(play, "mode")
        column.prop(play, "timeline")
        column.prop(play, "view")
        if play.steer == "devices":
            row = column.row(align=True)
            row.prop(play, "push")
            if live:
                row.operator(Push.bl_idname, text="", icon="FORCE_FORCE")
        column.prop(obj.motion_matching, "obstacles")


def _asked(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """The tags to ask for, each a button, and those that are asked for without there being any."""
    live, asked = performing.current, asking.names(obj.motion_matching.play.tags)
    known = live.database.free_tags if live and live.database else status.shown(obj).tags
    if not (known or asked):
        return
    layout.label(text="Ask For", icon="BOOKMARKS")
    grid = layout.grid_flow(row_major=True, columns=3, even_columns=True, align=True)
    for name in dict.fromkeys((*known, *asked)):
        icon: Any = "NONE" if name in known else "ERROR"
        grid.operator(AskForTag.bl_idname, text=name, depress=name in asked, icon=icon).name = name


def _left(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    box = layout.box()
    count = len(recordings.left)
    told(
        box,
        context,
        "A recording was cut off" if count == 1 else f"{count} recordings were cut off",
        "RECOVER_LAST",
    )
    row = box.row(align=True)
    row.operator(RecoverTake.bl_idname)
    row.operator(DiscardRecording.bl_idname, text="Discard")


class MOTION_MATCHING_PT_layers(ArmaturePanel, bpy.types.Panel):
    """What is drawn into the view while live"""

    bl_label = "Shown While Live"
    bl_parent_id = "MOTION_MATCHING_PT_play"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        play = armature_of(context).motion_matching.play
        column = split(self.layout)
        for name in layers.PROPERTIES:
            column.prop(play, name)


CLASSES = (MOTION_MATCHING_PT_play, MOTION_MATCHING_PT_layers)
