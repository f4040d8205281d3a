"""Operators on the list of features: add one, remove one, and move one. Also while live."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..engine.errors import SettingsError
from . import feature_list, items, polls, request, status
from .properties_features import AHEAD, BEHIND, KINDS, title_of

_COMPARED = (
    "left_foot",
    "right_foot",
    "hips",
    "head",
    "left_toe",
    "right_toe",
)  # roles, the first that is missing first


class _OnFeatures:
    """A mixin of operators on the list of features, which act also while live."""

    @classmethod
    def poll(cls: Any, context: bpy.types.Context) -> bool:
        return polls.has_armature_also_live(cls, context)


class _OnFeature(_OnFeatures):
    """A mixin of operators on the chosen feature."""

    @classmethod
    def poll(cls: Any, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        features = request.armature_of(context).motion_matching.features
        if polls.active(features, "items", "index") is None:
            cls.poll_message_set("Choose a preset, or add a feature first")
            return False
        return True


def _chosen(features: Any) -> str:
    return f"The feature '{title_of(features.items[features.index])}'"


def _touched(features: Any, index: int) -> set[str]:
    features.index, features.preset = index, ""
    status.forget()
    return {"FINISHED"}


class MOTION_MATCHING_OT_add_feature(_OnFeatures, bpy.types.Operator):
    """Compare frames by one thing more; the database has to be built again, and a live session goes on as it began"""

    bl_idname = "motion_matching.add_feature"
    bl_label = "Add Feature"
    bl_options = {"REGISTER", "UNDO"}

    kind: EnumProperty(
        name="Kind", items=KINDS, default="bone_position", description="What is compared"
    )
    bone: StringProperty(
        name="Bone",
        options={"SKIP_SAVE"},
        description="Role such as left_foot, or the name of a bone; empty for one that is not compared yet",
    )
    times: StringProperty(
        name="Times",
        options={"SKIP_SAVE"},
        description="Seconds from now, separated by commas, negative ones look back; empty for the coming second",
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        features = request.armature_of(context).motion_matching.features
        if not features.items:  # those that are used without a list
            feature_list.list_default(features)
        index = min(features.index + 1, len(features.items))
        there = {(item.kind, item.bone) for item in features.items}
        item = items.added(features.items, self.kind)
        item.kind = self.kind
        if self.kind.startswith("trajectory"):
            item.bone, item.times, item.axes = "", self.times or AHEAD, "xy"
        else:
            missing = (role for role in _COMPARED if (self.kind, role) not in there)
            item.bone, item.times, item.axes = self.bone or next(missing, "hips"), "", "xyz"
        features.items.move(len(features.items) - 1, index)
        return _touched(features, index)


class MOTION_MATCHING_OT_remove_feature(_OnFeature, bpy.types.Operator):
    """Compare frames by the chosen feature no longer. To leave it out for a while, a weight of zero does without a build"""

    bl_idname = "motion_matching.remove_feature"
    bl_label = "Remove Feature"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        features = request.armature_of(context).motion_matching.features
        if len(features.items) == 1:
            self.report(
                {"ERROR"},
                "One feature has to stay, by which frames are compared; add another first.",
            )
            return {"CANCELLED"}
        try:
            items.remove(features.items, features.index, _chosen(features))
        except SettingsError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return _touched(features, min(features.index, len(features.items) - 1))


class MOTION_MATCHING_OT_move_feature(_OnFeature, bpy.types.Operator):
    """Move the chosen feature in the list; what is played does not depend on their order"""

    bl_idname = "motion_matching.move_feature"
    bl_label = "Move Feature"
    bl_options = {"REGISTER", "UNDO"}

    direction: EnumProperty(
        name="Direction",
        default="UP",
        description="Where the feature goes",
        items=[
            ("UP", "Up", "Before the one above it"),
            ("DOWN", "Down", "Behind the one below it"),
        ],
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        features = request.armature_of(context).motion_matching.features
        index = features.index + (1 if self.direction == "DOWN" else -1)
        if not 0 <= index < len(features.items):
            return {"CANCELLED"}
        try:
            items.move(features.items, features.index, index, _chosen(features))
        except SettingsError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return _touched(features, index)


class MOTION_MATCHING_MT_add_feature(bpy.types.Menu):
    """What frames can be compared by"""

    bl_label = "Add Feature"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        for times, suffix in (("", ""), (AHEAD, " Ahead"), (BEHIND, " Behind")):
            for kind, name, _, icon, _ in KINDS:
                if kind.startswith("trajectory") == bool(times):
                    entry = layout.operator(
                        MOTION_MATCHING_OT_add_feature.bl_idname, text=f"{name}{suffix}", icon=icon
                    )
                    entry.kind, entry.times = kind, times
            if suffix != " Behind":
                layout.separator()


CLASSES = (
    MOTION_MATCHING_OT_add_feature,
    MOTION_MATCHING_OT_remove_feature,
    MOTION_MATCHING_OT_move_feature,
    MOTION_MATCHING_MT_add_feature,
)
