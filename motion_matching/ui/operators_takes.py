"""Operators on the takes of a character: play one, discard one or all but those that are kept, compare two."""

from __future__ import annotations

import math
from typing import Any

import bpy

from ..engine.errors import MotionMatchingError
from . import comparing, polls, recordings, request, status
from .work import Steps, Working


class MOTION_MATCHING_OT_play_take(bpy.types.Operator):
    """Assign the active take to its armature, go to its first frame, and play"""

    bl_idname = "motion_matching.play_take"
    bl_label = "Play Take"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.may_assign(cls, context) and polls.plays(cls, polls.chosen_take(cls, context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..scene import actions

        obj = request.armature_of(context)
        action = polls.active(obj.motion_matching, "takes", "take_index").action
        try:
            actions.assign(obj, action)
        except MotionMatchingError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        context.scene.frame_set(math.ceil(action.frame_range[0]))
        return {"FINISHED"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        result = self.execute(context)
        if result == {"FINISHED"} and context.screen and not context.screen.is_animation_playing:
            bpy.ops.screen.animation_play()
        return result


class MOTION_MATCHING_OT_remove_take(bpy.types.Operator):
    """Delete the active take with its action and its NLA strips. Undo brings it back"""

    bl_idname = "motion_matching.remove_take"
    bl_label = "Discard Take"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        take = polls.chosen_take(cls, context)
        if take and take.is_kept:
            cls.poll_message_set(
                "This take is kept: let go of it first, with the shield in the list"
            )
            return False
        return take is not None and polls.may_assign(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = request.armature_of(context)
        try:
            recordings.discard_take(obj, obj.motion_matching.take_index)
        except MotionMatchingError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class MOTION_MATCHING_OT_discard_takes(bpy.types.Operator):
    """Delete all takes that are not kept, with their actions and NLA strips. Undo brings them back"""

    bl_idname = "motion_matching.discard_takes"
    bl_label = "Discard Takes Not Kept"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not polls.may_assign(cls, context):
            return False
        takes = request.armature_of(context).motion_matching.takes
        if all(take.is_kept for take in takes):
            cls.poll_message_set("All takes are kept" if takes else "There is no take")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        return context.window_manager.invoke_confirm(self, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = request.armature_of(context)
        loose = [place for place, take in enumerate(obj.motion_matching.takes) if not take.is_kept]
        staying = []
        for place in reversed(loose):
            try:
                recordings.discard_take(obj, place)
            except MotionMatchingError as error:  # it comes with a linked file
                staying.append(str(error))
        if staying:
            self.report({"WARNING"}, staying[-1])
        count = len(loose) - len(staying)
        noun = "take" if count == 1 else "takes"
        self.report({"INFO"}, f"Discarded {count} {noun}")
        return {"FINISHED"} if count else {"CANCELLED"}


class MOTION_MATCHING_OT_compare_takes(Working, bpy.types.Operator):
    """Measure the active take and the one beside it as they play now: how much their feet slide, how well they go where \
they were steered, how fast they answer"""

    bl_idname = "motion_matching.compare_takes"
    bl_label = "Compare"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        take = polls.chosen_take(cls, context)
        if take is None or not (
            polls.has_sources(cls, context) and polls.knows_performance(cls, take)
        ):
            return False
        other = request.armature_of(context).motion_matching.compare_with
        if other is None or other == take.action:
            cls.poll_message_set("Choose another take to compare the active one with")
            return False
        return True

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        obj = request.armature_of(context)
        uid, settings = obj.session_uid, obj.motion_matching
        names = (
            polls.active(settings, "takes", "take_index").action.name,
            settings.compare_with.name,
        )
        comparing.shown[uid] = yield from comparing.compared(obj, names)
        status.redraw()
        return f"Compared '{names[0]}' with '{names[1]}'"


CLASSES = (
    MOTION_MATCHING_OT_play_take,
    MOTION_MATCHING_OT_remove_take,
    MOTION_MATCHING_OT_discard_takes,
    MOTION_MATCHING_OT_compare_takes,
)
