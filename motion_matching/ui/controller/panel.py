"""Draw the panel of the controller and the training of a motion field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import bpy

from ... import app
from ...app.character.characters import get_active_settings
from ...app.property_access import is_changed
from ...app.runtime import runtime
from ...engine.performance.settings import BY_DATA, AsPublished
from ...engine.settings import get_defaults
from ..base.panel_base import (
    AdvancedPanel,
    State,
    StateHeader,
    add_tall_row,
    draw_preset_row,
    draw_work_button,
    draw_wrapped_text,
    set_options,
    split_layout,
)
from ..properties import MotionMatchingSettings
from .properties import MotionMatchingController, MotionMatchingLabel

if TYPE_CHECKING:
    from ...app.live.host import LiveSession

_MAX_ACTIONS = 20  # that are listed
_FOOT_LOCK_SETTINGS = (
    "lock_halflife",
    "foot_halflife",
    "unlock_radius",
    "swing_clearance",
    "stretch_buffer",
)

# by the state of a field's values: icon, two words, and what that means
_TRAINING_STATES = {
    "unknown": ("SORTTIME", "Looking", ""),
    "missing": (
        "LAYER_USED",
        "Not Trained",
        "Not trained: does not plan beyond Look Ahead",
    ),
    "stopped": ("PAUSE", "Stopped", "Stopped halfway: plays greedily until training is finished"),
    "elsewhere": (
        "FILE_REFRESH",
        "Not Trained Here",
        "Trained on another machine, or cleared: plays greedily until you train it again",
    ),
    "stale": (
        "FILE_REFRESH",
        "Stale",
        "Database or training settings have changed: plays greedily until you train it again",
    ),
    "fresh": ("CHECKMARK", "Trained", "Trained: plans ahead"),
}


_SETTINGS = MotionMatchingController.__annotations__.keys() - {"label_index", "preset"}


def _is_any_changed(controller: MotionMatchingController, names: Iterable[str]) -> bool:
    """Return whether any of these settings differs from its default, and counts."""
    unused = BY_DATA if controller.speeds_from_data else ()
    return is_changed(controller, (name for name in names if name not in unused))


class MOTION_MATCHING_PT_controller(StateHeader, AdvancedPanel, bpy.types.Panel):
    """How the character responds"""

    bl_label = "Controller"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 6

    @classmethod
    def is_in_use(cls, obj: bpy.types.Object, settings: MotionMatchingSettings) -> bool:
        return _is_any_changed(settings.controller, _SETTINGS)

    def get_state(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> State:
        is_field = settings.controller.method == "FIELD"
        return "CON_FOLLOWPATH", "Motion Field" if is_field else "Motion Matching"

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        controller = settings.controller
        self.layout.row().prop(controller, "method", expand=True)
        draw_preset_row(self.layout, "controllers", controller.preset)
        column = split_layout(self.layout)
        column.prop(controller, "velocity_halflife")
        column.prop(controller, "rotation_halflife")
        if controller.method == "MATCHING" and controller.inertialization == "spring":
            column.prop(controller, "inertialization_halflife")
        column.prop(controller, "displacement")
        column.prop(controller, "foot_lock")
        column.prop(controller, "idle")
        column.prop(controller, "breathing")


class _SettingsPanel(AdvancedPanel):
    """A mixin of panels that show some of the settings, for one method or for both."""

    bl_parent_id = "MOTION_MATCHING_PT_controller"
    method = ""
    names: tuple[str, ...] = ()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        return cls.method in ("", get_active_settings(context).controller.method)

    @classmethod
    def is_in_use(cls, obj: bpy.types.Object, settings: MotionMatchingSettings) -> bool:
        return _is_any_changed(settings.controller, cls.names)

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        controller = settings.controller
        column = split_layout(self.layout)
        for name in self.names:
            if controller.speeds_from_data and name in BY_DATA:
                continue
            row = column.row()
            row.active = _is_relevant(controller, name)
            if name not in ("walk", "run"):
                row.prop(controller, name)
                continue
            speeds = row.column(align=True)
            for index, text in enumerate((f"{name.title()} Forward", "Side", "Back")):
                speeds.prop(controller, name, index=index, text=text)


def _is_relevant(controller: MotionMatchingController, name: str) -> bool:
    """Tell whether a setting makes a difference with the others as they are."""
    if name in ("tempo", "prediction", "inertialization"):
        return controller.method == "MATCHING"
    if name == "blend_time":
        return controller.method == "MATCHING" and controller.inertialization == "cubic"
    if name == "field":
        return controller.method == "FIELD"
    if name in _FOOT_LOCK_SETTINGS:
        return controller.foot_lock
    if name.startswith("look_"):
        return controller.look > 0.0
    return is_relevant_to_displacement(controller, name)


def is_relevant_to_displacement(
    settings: MotionMatchingController | MotionMatchingLabel, name: str
) -> bool:
    """Tell the same of a setting of displacement: the controller's, or that of a label."""
    if name in ("clamp_distance", "clamp_angle"):
        return settings.clamp
    if name in ("object_waits", "catch_up"):
        waits = settings.displacement == "adjust" and settings.adjust_by_velocity
        return settings.clamp and waits and (name == "object_waits" or settings.object_waits)
    if name == "synchronization":
        return settings.displacement == "synchronize"
    if name.startswith("adjust_") and settings.displacement != "adjust":
        return False
    return settings.adjust_by_velocity or not name.endswith("_ratio")


class MOTION_MATCHING_PT_speeds(_SettingsPanel, bpy.types.Panel):
    """How fast the character moves and turns"""

    bl_label = "Speeds"
    bl_options = {"DEFAULT_CLOSED"}
    names = (
        "speeds_from_data",
        "walk",
        "run",
        "turn_limit",
        "strafe",
        "stop_factor",
        "turning_speed",
        "tempo",
        "gait_halflife",
    )

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        super().draw_settings(obj, settings)
        coverage = app.database.status.get_status(obj).coverage
        if settings.controller.speeds_from_data and coverage:
            draw_wrapped_text(self.layout, coverage, "INFO")


def _is_training_free(settings: MotionMatchingSettings) -> bool:
    """Return whether quality, speed and similarity can be chosen; the notebook's are its own."""
    return settings.controller.field != "notebook"


class MOTION_MATCHING_PT_neighbours(_SettingsPanel, bpy.types.Panel):
    """How a motion field blends similar poses"""

    bl_label = "Neighbours"
    method = "FIELD"
    names = (
        "neighbours",
        "drift",
        "planted_share",
        "lookahead",
        "posture_weight",
        "favour",
    )

    @classmethod
    def is_in_use(cls, obj: bpy.types.Object, settings: MotionMatchingSettings) -> bool:
        return super().is_in_use(obj, settings) or is_changed(settings.training, ("metric",))

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        super().draw_settings(obj, settings)
        column = split_layout(self.layout)
        column.active = _is_training_free(settings)
        column.prop(settings.training, "metric")
        live = runtime.live
        if live and live.decision and live.armature.uid == obj.session_uid:
            _draw_actions(self.layout.box(), live, settings.controller.favour)


def _draw_actions(layout: bpy.types.UILayout, live: LiveSession, favour: int) -> None:
    """Draw source, share and value of each neighbour's action, and a button that forces it."""
    decision = live.decision
    cells = layout.split(factor=0.6)
    names = cells.column(align=True)
    figures = cells.split(factor=0.4)
    shares = figures.column(align=True)
    values = figures.column(align=True)
    for column, heading in ((names, "Nearest"), (shares, "Share"), (values, "Value")):
        column.label(text=heading)
    for index, frame in enumerate(decision.frames[:_MAX_ACTIONS].tolist()):
        is_forced = index + 1 == favour
        icon: Any = "PLAY" if index == decision.chosen else "UNPINNED"
        if is_forced:
            icon = "PINNED"
        row = names.row(align=True)
        button = row.operator("motion_matching.favour", text="", icon=icon, depress=is_forced)
        set_options(button, number=index + 1)
        source = app.database.frame_numbers.get_numbered_source(
            live.database, live.first_frames, frame
        )
        # the frame comes first, because the end of long names is cut off
        row.label(text=f"{source.frame} of {source.clip_label}")
        shares.label(text=f"{decision.weights[index]:.0%}")
        values.label(text=f"{decision.scores[index]:.3f}")
    if (more := len(decision.scores) - _MAX_ACTIONS) > 0:
        layout.label(text=f"{more} More")


class MOTION_MATCHING_PT_training(StateHeader, _SettingsPanel, bpy.types.Panel):
    """What to train a motion field for, so that it plans ahead"""

    bl_label = "Training"
    method = "FIELD"

    @classmethod
    def is_in_use(cls, obj: bpy.types.Object, settings: MotionMatchingSettings) -> bool:
        return True  # a motion field has to be trained

    def get_state(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> State:
        return _TRAINING_STATES[app.controller.training.get_training_state(obj)][:2]

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        layout = self.layout
        training = settings.training
        state = app.controller.training.get_training_state(obj)
        column = split_layout(layout)
        quality = column.column()
        quality.prop(training, "quality", slider=True)
        draw_wrapped_text(column, app.controller.training.describe_quality(obj), "BLANK1")
        speed = column.row(heading="Direction and")
        speed.prop(training, "speed")
        quality.active = speed.active = _is_training_free(settings)
        column.prop(
            training, "tags", placeholder=", ".join(app.database.status.get_status(obj).tags)
        )
        text = "Continue Training" if state == "stopped" else "Train"
        row = add_tall_row(layout)
        draw_work_button(row, "motion_matching.train", text=text, icon="FORCE_VORTEX")
        if meaning := _TRAINING_STATES[state][2]:
            draw_wrapped_text(layout, meaning, "CHECKMARK" if state == "fresh" else "INFO")
        if state == "fresh" and (mismatch := app.controller.training.describe_action_mismatch(obj)):
            draw_wrapped_text(layout, mismatch, "INFO")


class MOTION_MATCHING_PT_search(_SettingsPanel, bpy.types.Panel):
    """When to search for a better frame, and which frames may be entered"""

    bl_label = "Search"
    bl_options = {"DEFAULT_CLOSED"}
    method = "MATCHING"
    names = (
        "search_interval",
        "continuing_bias",
        "support_weight",
        "price_weight",
        "posture_weight",
        "sharp_velocity",
        "sharp_angle",
        "end_guard",
        "surroundings",
        "skip_ahead",
        "wait",
    )


class MOTION_MATCHING_PT_blending(_SettingsPanel, bpy.types.Panel):
    """How the pose offset of a jump fades out"""

    bl_label = "Blending"
    bl_options = {"DEFAULT_CLOSED"}
    names = ("blend_stretch", "blend_root", "root_halflife")


class MOTION_MATCHING_PT_look(_SettingsPanel, bpy.types.Panel):
    """How far the head turns ahead of the body"""

    bl_label = "Look"
    bl_options = {"DEFAULT_CLOSED"}
    names = (
        *("look", "look_at", "look_ahead"),
        *("look_halflife", "look_limit", "look_tilt", "look_spine"),
    )


class MOTION_MATCHING_PT_displacement(_SettingsPanel, bpy.types.Panel):
    """How the character and the simulation object stay together"""

    bl_label = "Displacement"
    bl_options = {"DEFAULT_CLOSED"}
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
        "object_waits",
        "catch_up",
        "collision_radius",
    )

    @classmethod
    def is_in_use(cls, obj: bpy.types.Object, settings: MotionMatchingSettings) -> bool:
        return super().is_in_use(obj, settings) or len(settings.controller.labels) > 0


class MOTION_MATCHING_PT_feet(_SettingsPanel, bpy.types.Panel):
    """How planted feet are held"""

    bl_label = "Feet"
    bl_options = {"DEFAULT_CLOSED"}
    names = ("foot_lock", *_FOOT_LOCK_SETTINGS, "hips_halflife")


class MOTION_MATCHING_PT_as_published(_SettingsPanel, bpy.types.Panel):
    """What only reproduces a publication: all of it in one choice, or one by one"""

    bl_label = "As Published"
    bl_options = {"DEFAULT_CLOSED"}
    names = tuple(get_defaults(AsPublished))

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        self.layout.operator_menu_enum("motion_matching.as_published", "article", icon="BOOKMARKS")
        super().draw_settings(obj, settings)
