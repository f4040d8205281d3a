"""The operator that trains a motion field."""

from __future__ import annotations

import bpy

from . import fields, polls, request, status
from .work import Steps, Working


class MOTION_MATCHING_OT_train(Working, bpy.types.Operator):
    """Find out what every pose is worth for all that can be asked, so that the motion field plans ahead. The database is \
built first where it has to be. Esc keeps what is done, and the next time it goes on from there"""

    bl_idname = "motion_matching.train"
    bl_label = "Train"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_sources(cls, context)

    def given_up(self) -> str:
        return fields.last_words

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        obj = request.armature_of(context)
        uid = obj.session_uid
        words = yield from fields.trained(obj)
        status.refresh(request.held(uid))
        return words


CLASSES = (MOTION_MATCHING_OT_train,)
