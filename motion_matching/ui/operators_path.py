"""Operators on the simulation bone: settings of a preset, and a source's path as an empty that is edited by hand."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty

from ..engine.errors import SettingsError
from . import polls, request, status
from .operators_build import read_sources
from .operators_sources import choose
from .work import Steps, Working, in_background

SETTINGS = [
    ("article", "Article", "Half a second for the place, a second for the heading"),
    (
        "notebook",
        "Notebook",
        "Two seconds for both, which takes out all sway and blunts starts, stops and turns",
    ),
    ("adaptive", "Adaptive", "Long while moving along, short while standing or turning sharply"),
]


def chosen_source(cls: Any, context: bpy.types.Context) -> Any:
    """The chosen source, or None with what to do said."""
    if not polls.has_armature(cls, context):
        return None
    source = polls.active(request.armature_of(context).motion_matching, "sources", "source_index")
    if source is None:
        cls.poll_message_set("Add actions or files, and choose one in the list")
    return source


class MOTION_MATCHING_OT_smooth_path(bpy.types.Operator):
    """Smooth the simulation bone by windows and orders that are known to work"""

    bl_idname = "motion_matching.smooth_path"
    bl_label = "Smooth As"
    bl_options = {"REGISTER", "UNDO"}

    preset: EnumProperty(
        name="Preset",
        items=SETTINGS,
        default="article",
        description="Windows and orders that are set",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_armature(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        from dataclasses import asdict

        from ..engine.motion.simulation_bone import PRESETS

        bone = request.armature_of(context).motion_matching.simulation_bone
        for name, value in asdict(PRESETS[self.preset]).items():
            setattr(bone, name, value)
        return {"FINISHED"}


class MOTION_MATCHING_OT_edit_path(Working, bpy.types.Operator):
    """Make the simulation bone's path through the chosen source an empty with keys, which can be edited and is then built \
from in place of the computed path"""

    bl_idname = "motion_matching.edit_path"
    bl_label = "Edit by Hand"
    bl_options = {"REGISTER", "UNDO"}

    fewer_keys: FloatProperty(
        name="Fewer Keys",
        default=0.0,
        min=0.0,
        max=1.0,
        soft_max=0.02,
        precision=4,
        subtype="DISTANCE",
        unit="LENGTH",
        description="How far the path may be from the computed one in exchange for fewer keys; zero keys every frame",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        source = chosen_source(cls, context)
        if source is None:
            return False
        if source.use_path:
            cls.poll_message_set(
                "This source has a path by hand: go back to the computed one first"
            )
        elif not source.enabled:
            cls.poll_message_set("Switch on this source first")
        return source.enabled and not source.use_path

    def steps(self, context: bpy.types.Context) -> Steps[str]:
        from ..engine.matching.build import find_tracks
        from ..scene import hand_path
        from ..scene.path_preview import placed_by

        obj = request.armature_of(context)
        uid, chosen = obj.session_uid, obj.motion_matching.source_index
        request.check_source(obj, obj.motion_matching.sources[chosen])
        number = request.enabled_places(obj).index(chosen)  # the others may be broken
        settings = request.build_settings(obj)
        read = yield from read_sources(uid)
        sources, first = (
            [source for source, _ in read],
            read[number][1] + (read[number][0].start or 0),
        )
        tracks = yield from in_background(
            lambda tell: find_tracks(sources, settings, tell), "Finding the path"
        )
        obj, track = request.held(uid), tracks[number]
        if chosen >= len(obj.motion_matching.sources):
            raise SettingsError("The sources changed meanwhile; edit the path again.")
        source = obj.motion_matching.sources[chosen]
        if track is None:
            raise SettingsError(
                f"The source '{source.name}' is too short to be built from; take more of its frames."
            )
        rides = source.kind == "ACTION" and placed_by(obj, source.action) is not None
        name = f"{source.action.name if source.action else source.name} Path"
        source.path = hand_path.create_path(
            obj, name, track, first, rides=rides, fewer_keys=self.fewer_keys
        )
        source.use_path, source.path.motion_matching.performer = True, obj
        return (
            f"'{source.path.name}' has the path of '{source.name}': edit its keys, and build again"
        )


class MOTION_MATCHING_OT_computed_path(bpy.types.Operator):
    """Build from the computed path of the chosen source again, and remove the empty that was edited by hand"""

    bl_idname = "motion_matching.computed_path"
    bl_label = "Back to Computed"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        source = chosen_source(cls, context)
        if source and not source.use_path:
            cls.poll_message_set("This source has its computed path already")
        return bool(source and source.use_path)

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..scene import hand_path

        obj = request.armature_of(context)
        source = chosen_source(type(self), context)
        if context.object == source.path and context.mode == "OBJECT":
            choose(obj, context)  # with the empty, the panels would be gone
        path, source.path, source.use_path = source.path, None, False
        users = (
            other.path
            for one in bpy.data.objects
            if one.type == "ARMATURE"
            for other in one.motion_matching.sources
        )
        if path and path.library is None and path not in users:
            hand_path.remove_path(path)
        status.forget()
        return {"FINISHED"}


class MOTION_MATCHING_OT_select_path(bpy.types.Operator):
    """Select the empty that the chosen source takes its path from, to edit its keys"""

    bl_idname = "motion_matching.select_path"
    bl_label = "Select Path"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        source = chosen_source(cls, context)
        if source is None:
            return False
        layer = context.view_layer.objects
        if not (source.use_path and source.path and source.path.name in layer):
            cls.poll_message_set(
                "Edit the path by hand first; its empty has to be in this view layer"
            )
            return False
        if context.mode != "OBJECT":
            cls.poll_message_set("Go to Object Mode first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        source = chosen_source(type(self), context)
        choose(source.path, context)
        return {"FINISHED"}


CLASSES = (
    MOTION_MATCHING_OT_smooth_path,
    MOTION_MATCHING_OT_edit_path,
    MOTION_MATCHING_OT_computed_path,
    MOTION_MATCHING_OT_select_path,
)
