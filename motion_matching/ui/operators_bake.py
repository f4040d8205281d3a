"""Operators that make takes: bake a script, and bake a take again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import bpy

from . import polls, request
from .baking import Part, Wish, baked, parts_of, standing_where
from .properties_takes import SCRIPTS, script_properties
from .work import Steps, Working

if TYPE_CHECKING:
    from ..engine.control.settings import PerformerSettings
    from ..engine.matching.database import Database


class MOTION_MATCHING_OT_bake_script(Working, bpy.types.Operator):
    """Perform a script with the database, from the current frame on, and bake it into a new action. \
The database is built first where it has to be"""

    bl_idname = "motion_matching.bake_script"
    bl_label = "Bake Script"
    bl_options = {"REGISTER", "UNDO"}

    __annotations__ = script_properties()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.may_perform(cls, context)

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        label, frame = (
            next(label for name, label, _ in SCRIPTS if name == self.script),
            context.scene.frame_current,
        )

        def wish(obj: bpy.types.Object, database: Database, settings: PerformerSettings) -> Wish:
            from ..engine import takes
            from ..engine.matching.tags import names_in

            wanted = takes.performance_for(
                database,
                settings,
                self.script,
                gait=self.gait,
                seconds=self.seconds,
                seed=self.seed,
            )
            wanted = takes.asking_for(wanted, frozenset(names_in(self.tags)), database, settings)
            wanted = standing_where(obj, request.on_ground_of(obj, wanted))
            return Wish(f"{label} {self.gait.title()}", (Part(wanted, frame),))

        return baked(request.armature_of(context), wish)


class MOTION_MATCHING_OT_bake_again(Working, bpy.types.Operator):
    """Perform the active take again with the database and the settings as they are now, and bake it into a new action. \
Feet stand when its contact markers say so, which can be moved in the Action Editor"""

    bl_idname = "motion_matching.bake_again"
    bl_label = "Bake Again"
    bl_options = {"REGISTER", "UNDO"}

    __annotations__ = {
        "use_markers": bpy.props.BoolProperty(
            name="Contacts from Markers",
            default=True,
            description="Plant feet from each plant marker to the lift marker after it, instead of finding anew when they "
            "stand; only of use while the same frames are played",
        )
    }

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.may_perform(cls, context) and polls.knows_performance(
            cls, polls.chosen_take(cls, context)
        )

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        obj = request.armature_of(context)
        name = polls.active(obj.motion_matching, "takes", "take_index").action.name

        def wish(obj: bpy.types.Object, database: Database, settings: PerformerSettings) -> Wish:
            from ..scene import contact_markers
            from ..scene.bake import scene_fps

            action = bpy.data.actions[name]
            # the settings of now take the place of those that it was performed with
            again = Wish(
                name,
                tuple(
                    part._replace(
                        wanted=replace(
                            request.on_ground_of(obj, part.wanted), settings={}, changes=()
                        )
                    )
                    for part in parts_of(action)
                ),
                beside=name,
            )
            if not self.use_markers:
                return again
            rate = scene_fps(bpy.context.scene) / database.fps
            ranges = contact_markers.read_markers(
                action, database.roles.leg_names, again.frame, rate
            )
            return again._replace(ranges=ranges or None)

        return baked(obj, wish)


CLASSES = (MOTION_MATCHING_OT_bake_script, MOTION_MATCHING_OT_bake_again)
