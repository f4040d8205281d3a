"""Operators on the databases of a character that have names: add one, and remove one."""

from __future__ import annotations

import bpy
from bpy.props import StringProperty

from ..engine.errors import SettingsError
from . import databases, polls, request


class MOTION_MATCHING_OT_add_database(bpy.types.Operator):
    """Give the sources that are switched on a name as a database, beside other databases of the same sources"""

    bl_idname = "motion_matching.add_database"
    bl_label = "Add Database"
    bl_options = {"REGISTER", "UNDO"}

    label: StringProperty(
        name="Name", default="Database", description="What the database is called"
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_sources(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        databases.add(
            request.armature_of(context).motion_matching, self.label.strip() or "Database"
        )
        return {"FINISHED"}


class MOTION_MATCHING_OT_remove_database(bpy.types.Operator):
    """Forget the chosen database; its sources stay in the list, and others may be built from them"""

    bl_idname = "motion_matching.remove_database"
    bl_label = "Remove Database"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not polls.has_armature(cls, context):
            return False
        if (
            polls.active(
                request.armature_of(context).motion_matching, "databases", "database_index"
            )
            is None
        ):
            cls.poll_message_set("Choose a database that has a name first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            databases.remove(request.armature_of(context).motion_matching)
        except SettingsError as error:
            self.report({"WARNING"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


CLASSES = (MOTION_MATCHING_OT_add_database, MOTION_MATCHING_OT_remove_database)
