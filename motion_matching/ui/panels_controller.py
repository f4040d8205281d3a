"""The panel of the controller: how the character answers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import bpy

from . import fields, performing, status
from .operators_live import MOTION_MATCHING_OT_favour as Favour
from .operators_training import MOTION_MATCHING_OT_train as Train
from .panels import ArmaturePanel, header, preset_row, progress, split, told
from .request import armature_of

if TYPE_CHECKING:
    from ..engine.field.method import Decision

_MOST_ACTIONS = 20  # that are listed

# by how the values of a field stand: icon, two words, and what that means
_STANDING = {
    "unknown": ("SORTTIME", "Looking", ""),
    "missing": (
        "LAYER_USED",
        "Not Trained",
        "Not trained: plays greedily, as serves best within Look Ahead",
    ),
    "stopped": (
        "PAUSE",
        "Stopped",
        "Stopped half-way: plays greedily until it is trained to the end",
    ),
    "elsewhere": (
        "FILE_REFRESH",
        "Not Trained Here",
        "Trained on another machine, or cleared since: plays greedily until it is trained again",
    ),
    "stale": (
        "FILE_REFRESH",
        "Stale",
        "Database or training changed: plays greedily until it is trained again",
    ),
    "fresh": ("CHECKMARK", "Trained", "Trained: plans ahead"),
}


class MOTION_MATCHING_PT_controller(ArmaturePanel, bpy.types.Panel):
    """How the character answers"""

    bl_label = "Controller"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 2

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        controller = armature_of(context).motion_matching.controller
        header(
            self,
            "CON_FOLLOWPATH",
            "Motion Field" if controller.method == "FIELD" else "Motion Matching",
        )

    def draw(self, context: bpy.types.Context) -> None:
        controller = armature_of(context).motion_matching.controller
        self.layout.row().prop(controller, "method", expand=True)
        preset_row(self.layout, "controllers", controller.preset)
        column = split(self.layout)
        column.prop(controller, "velocity_halflife")
        column.prop(controller, "rotation_halflife")
        if controller.method == "MATCHING":
            column.prop(controller, "inertialization_halflife")
        column.prop(controller, "displacement")
        column.prop(controller, "foot_lock")


class _OpenPart(ArmaturePanel):
    """A part of the controller's panel that shows settings one below the other."""

    bl_parent_id = "MOTION_MATCHING_PT_controller"
    names: tuple[str, ...] = ()

    def draw(self: Any, context: bpy.types.Context) -> None:
        controller = armature_of(context).motion_matching.controller
        column = split(self.layout)
        for name in self.names:
            row = column.row()
            row.active = _matters(controller, name)
            if name in ("walk", "run"):
                _speeds(row, controller, name)
            else:
                row.prop(controller, name)


class _Part(_OpenPart):
    """One that is closed at first."""

    bl_options = {"DEFAULT_CLOSED"}


def _speeds(layout: bpy.types.UILayout, controller: Any, gait: str) -> None:
    """The three speeds of a gait, each with its direction."""
    column = layout.column(align=True)
    for index, text in enumerate((f"{gait.title()} Forward", "Side", "Back")):
        column.prop(controller, gait, index=index, text=text)


_OF_LOCKED_FEET = (
    "lock_halflife",
    "foot_halflife",
    "unlock_radius",
    "swing_clearance",
    "stretch_buffer",
)


def _matters(controller: Any, name: str) -> bool:
    """Whether a setting makes a difference with the others as they are."""
    if name in ("walk", "run", "turn_limit"):
        return not controller.speeds_from_data
    if name in ("clamp_distance", "clamp_angle"):
        return controller.clamp
    if name in _OF_LOCKED_FEET:
        return controller.foot_lock
    if name == "synchronization":
        return controller.displacement == "synchronize"
    if name.startswith("adjust_"):
        ratio = name.endswith("_ratio")
        return controller.displacement == "adjust" and (controller.adjust_by_velocity or not ratio)
    return True


class MOTION_MATCHING_PT_speeds(_Part, bpy.types.Panel):
    """How fast the character goes and turns"""

    bl_label = "Speeds"
    names = ("speeds_from_data", "walk", "run", "turn_limit", "stop_factor", "gait_halflife")


def _plays(context: bpy.types.Context, method: str) -> bool:
    """Whether the character is set to a method."""
    obj = armature_of(context)
    return obj is not None and obj.motion_matching.controller.method == method


class MOTION_MATCHING_PT_search(_Part, bpy.types.Panel):
    """When another frame is looked for, and which may be taken"""

    bl_label = "Search"
    names = (
        "search_interval",
        "continuing_bias",
        "sharp_velocity",
        "sharp_angle",
        "end_guard",
        "surroundings",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _plays(context, "MATCHING")


class MOTION_MATCHING_PT_neighbours(_OpenPart, bpy.types.Panel):
    """How a motion field blends poses that are alike"""

    bl_label = "Neighbours"
    names = ("neighbours", "drift", "planted_share", "lookahead", "favour")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _plays(context, "FIELD")

    def draw(self, context: bpy.types.Context) -> None:
        super().draw(context)
        obj, live = armature_of(context), performing.current
        split(self.layout).prop(obj.motion_matching.training, "metric")
        if live and live.decision and live.armature.uid == obj.session_uid:
            _actions(
                self.layout.box(),
                live.database,
                live.decision,
                obj.motion_matching.controller.favour,
            )


def _actions(layout: bpy.types.UILayout, database: Any, decision: Decision, favour: int) -> None:
    """The actions of the last tick, one for each neighbour from the nearest on: where it is from, how much it counted in
    what was done, and what its action was worth. Its button forces it."""
    count = len(decision.scores)
    of_each = zip(
        decision.frames.tolist(), decision.weights.tolist(), decision.scores.tolist(), strict=True
    )
    table = [("Nearest", "Share", "Value")]
    for frame, weight, score in itertools.islice(of_each, _MOST_ACTIONS):
        source = database.source_of(frame)
        # the frame comes first, for the end of long names is cut off
        name = f"{source.frame} of {source.clip}{' (mirrored)' if source.mirrored else ''}"
        table.append((name, f"{weight:.0%}", f"{score:.3f}"))
    cells = layout.split(factor=0.6)
    names, figures = cells.column(align=True), cells.split(factor=0.4)
    columns = figures.column(align=True), figures.column(align=True)
    for number, (name, *of_it) in enumerate(table):
        row = names.row(align=True)
        if number:
            icon: Any = (
                "PINNED"
                if number == favour
                else "PLAY"
                if number == decision.chosen + 1
                else "UNPINNED"
            )
            row.operator(
                Favour.bl_idname, text="", icon=icon, depress=number == favour
            ).number = number
        row.label(text=name)
        for column, figure in zip(columns, of_it, strict=True):
            column.label(text=figure)
    if count > _MOST_ACTIONS:
        layout.label(text=f"{count - _MOST_ACTIONS} More")


class MOTION_MATCHING_PT_training(ArmaturePanel, bpy.types.Panel):
    """What a motion field is trained for, so that it plans ahead"""

    bl_label = "Training"
    bl_parent_id = "MOTION_MATCHING_PT_controller"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _plays(context, "FIELD")

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        icon, words, _ = _STANDING[fields.standing(armature_of(context))]
        header(self, icon, words)

    def draw(self, context: bpy.types.Context) -> None:
        obj, layout = armature_of(context), self.layout
        training, stands = obj.motion_matching.training, fields.standing(obj)
        column = split(layout)
        column.prop(training, "quality", slider=True)
        told(column, context, fields.quality_in_words(obj), "BLANK1")
        column.row(heading="Direction and").prop(training, "speed")
        column.prop(training, "tags", placeholder=", ".join(status.shown(obj).tags))
        layout.operator_context = "INVOKE_DEFAULT"
        button = layout.row()
        button.scale_y = 1.4
        button.operator(
            Train.bl_idname,
            text="Go On Training" if stands == "stopped" else "Train",
            icon="FORCE_VORTEX",
        )
        progress(layout)
        if _STANDING[stands][2]:
            told(
                layout, context, _STANDING[stands][2], "CHECKMARK" if stands == "fresh" else "INFO"
            )
        if stands == "fresh" and (others := fields.others_than_trained(obj)):
            told(layout, context, others, "INFO")
        split(layout).prop(training, "show_residuals")


class MOTION_MATCHING_PT_displacement(_Part, bpy.types.Panel):
    """How the character and what is steered keep together"""

    bl_label = "Displacement"
    names = (
        "displacement",
        "synchronization",
        "adjust_position_halflife",
        "adjust_rotation_halflife",
        "adjust_by_velocity",
        "adjust_position_ratio",
        "adjust_rotation_ratio",
        "clamp",
        "clamp_distance",
        "clamp_angle",
        "collision_radius",
    )


class MOTION_MATCHING_PT_feet(_Part, bpy.types.Panel):
    """How planted feet are held"""

    bl_label = "Feet"
    names = ("foot_lock", *_OF_LOCKED_FEET, "hips_halflife")


CLASSES = (
    MOTION_MATCHING_PT_controller,
    MOTION_MATCHING_PT_speeds,
    MOTION_MATCHING_PT_neighbours,
    MOTION_MATCHING_PT_training,
    MOTION_MATCHING_PT_search,
    MOTION_MATCHING_PT_displacement,
    MOTION_MATCHING_PT_feet,
)
