"""The operators of the controller: train a motion field, and favour one of its neighbours."""

from __future__ import annotations

import bpy

from ... import app
from ...app.characters import get_active_armature, get_active_settings, get_armature
from ...app.runtime import runtime
from ..operator_base import CHARACTER_ALSO_LIVE, SOURCES, Operator, SteppedOperator
from ..typed_properties import integer


class MOTION_MATCHING_OT_train(SteppedOperator, bpy.types.Operator):
    """Find the value of every pose for every goal, so that the motion field plans ahead. The \
database is built first if necessary. Esc keeps what is done; the next training continues from \
there"""

    bl_idname = "motion_matching.train"
    bl_label = "Train"
    requires = SOURCES

    def get_cancel_message(self) -> str:
        return runtime.stop_message

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        uid = obj.session_uid
        message = yield from app.training.train_steps(obj)
        app.status.refresh(get_armature(uid))
        return message


class MOTION_MATCHING_OT_favour(Operator, bpy.types.Operator):
    """Always take the action of this neighbour, or let the motion field choose again; takes \
effect at once while live"""

    bl_idname = "motion_matching.favour"
    bl_label = "Favour Neighbour"
    bl_options = {"UNDO"}  # Adjust Last Operation would undo it first, which would end the session
    requires = CHARACTER_ALSO_LIVE

    number: int = integer(
        1, "Neighbour", "Which neighbour, counted from 1, the nearest", min=1, max=100
    )

    def run(self, context: bpy.types.Context) -> None:
        controller = get_active_settings(context).controller
        controller.favour = 0 if controller.favour == self.number else self.number
