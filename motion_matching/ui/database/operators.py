"""Operators on databases, and on the simulation bone's path through a source."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import bpy

from ... import app, engine, scene
from ...app.character.characters import get_active_armature, get_active_settings, get_armature
from ...app.property_access import get_active, settings_of
from ...app.runtime import runtime
from ...engine.errors import DatabaseError, SettingsError
from ..base.operator_base import (
    CHARACTER,
    IDLE,
    SOURCES,
    BrowsingOperator,
    ConfirmedOperator,
    NothingToDoError,
    Operator,
    SteppedOperator,
    can_assign_action,
    get_active_source,
    has_active_source,
    in_object_mode,
    n_,
)
from ..base.panel_base import format_count
from ..base.typed_properties import TOLERANCE, choice, number, switch, text
from .operators_sources import add_source, select_only
from .properties import MotionMatchingSource

_NOTEBOOK = "Two seconds for both: removes all sway, blunts starts, stops and turns"
PRESET_ITEMS = (
    ("article", "Article", "Half a second for the position, a second for the heading"),
    ("notebook", "Notebook", _NOTEBOOK),
    ("adaptive", "Adaptive", "Long while moving, short while standing or turning sharply"),
)


# Databases


class MOTION_MATCHING_OT_build(SteppedOperator, bpy.types.Operator):
    """Build the database from the sources that are switched on"""

    bl_idname = "motion_matching.build"
    bl_label = "Build"
    bl_options = {"REGISTER"}
    requires = SOURCES

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        uid = obj.session_uid
        database = yield from app.database.build.load_or_build_steps(obj, again=True)
        obj = get_armature(uid)
        notes = app.strip.warnings.describe_notes(settings_of(obj).built_notes)
        for item in (*notes, *app.database.status.get_status(obj).warnings):
            self.tell("WARNING", item.text)
        return f"Built {app.database.status.describe_database(database)}"


class MOTION_MATCHING_OT_add_standing(SteppedOperator, bpy.types.Operator):
    """Add a built-in idle clip, fitted to this character, as a source: it breathes and shifts its \
weight. Build again to use it"""

    bl_idname = "motion_matching.add_standing"
    bl_label = "Add Standing"
    requires = (*SOURCES, can_assign_action)

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        uid = get_active_armature(context).session_uid
        action = yield from app.retarget.retargeting.add_standing_steps(get_armature(uid))
        add_source(
            get_armature(uid), action.name, kind="ACTION", action=action, mirror=True, gait="idle"
        )
        app.database.status.invalidate()
        return f"Added '{action.name}': build again to use it"


# Preview


def is_previewing(context: bpy.types.Context) -> str:
    return "" if runtime.source_preview else n_("Preview a source first")


class MOTION_MATCHING_OT_preview_source(SteppedOperator, bpy.types.Operator):
    """Play the active source as a skeleton over the character, following the timeline. Nothing is \
imported or assigned. Press again or Esc to stop"""

    bl_idname = "motion_matching.preview_source"
    bl_label = "Preview"
    bl_options = {"REGISTER"}
    requires = (*CHARACTER, has_active_source)

    mirrored: bool = switch(
        False, "Mirrored", "Show the mirror image of the motion", options={"SKIP_SAVE"}
    )

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj, preview = get_active_armature(context), runtime.source_preview
        settings = settings_of(obj)
        is_shown = app.sources.source_preview.is_shown(obj, settings.sources[settings.source_index])
        if preview and is_shown and preview.mirrored == self.mirrored:
            app.sources.source_preview.stop()
            return ""
        index = settings.source_index
        yield from app.sources.source_preview.preview_steps(obj, index, self.mirrored)
        return ""


class MOTION_MATCHING_OT_stop_preview(Operator, bpy.types.Operator):
    """End the preview of a source, and return to the previous frame"""

    bl_idname = "motion_matching.stop_preview"
    bl_label = "Stop Preview"
    bl_options = {"REGISTER"}
    requires = (*CHARACTER, is_previewing)

    def run(self, context: bpy.types.Context) -> None:
        app.sources.source_preview.stop()


class MOTION_MATCHING_OT_clear_cache(ConfirmedOperator, bpy.types.Operator):
    """Delete all databases and trained motion fields from the disk; they can be built again at \
any time"""

    bl_idname = "motion_matching.clear_cache"
    bl_label = "Clear Cache"
    bl_options = {"REGISTER"}
    requires = IDLE  # panels ask at every redraw, which is no time to look at the disk

    def run(self, context: bpy.types.Context) -> str:
        freed, in_use = app.database.library.get_library().clear()
        app.database.status.invalidate()
        if in_use:
            files = format_count(in_use, "file")
            message = f"{files} still in use were kept; clear the cache again after a restart"
            self.tell("WARNING", message)
        return f"Cleared {freed / 1e6:.0f} MB" if freed else "There was nothing to clear"


class MOTION_MATCHING_OT_move_databases(BrowsingOperator, bpy.types.Operator):
    """Choose a folder, and move databases and trained motion fields to 'Motion Matching \
Databases' inside it. Other open Blenders use it after a restart"""

    bl_idname = "motion_matching.move_databases"
    bl_label = "Move Databases"
    bl_options = {"REGISTER"}
    requires = IDLE

    directory: str = text("", "Folder", "Folder to move the databases to", subtype="DIR_PATH")

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        if not self.directory:
            raise DatabaseError("No folder was chosen; choose one to move the databases to.")
        message = yield from app.database.library.move_steps(Path(bpy.path.abspath(self.directory)))
        app.database.status.invalidate()
        return message


class MOTION_MATCHING_OT_move_databases_back(SteppedOperator, bpy.types.Operator):
    """Move the databases and trained motion fields back to Blender's user folder"""

    bl_idname = "motion_matching.move_databases_back"
    bl_label = "Move Back"
    bl_options = {"REGISTER"}
    requires = IDLE

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        message = yield from app.database.library.move_steps(None)
        app.database.status.invalidate()
        return message


class MOTION_MATCHING_OT_add_database(Operator, bpy.types.Operator):
    """Add a named database of the sources that are switched on"""

    bl_idname = "motion_matching.add_database"
    bl_label = "Add Database"
    requires = SOURCES

    label: str = text("Database", "Name", "Name of the database")

    def run(self, context: bpy.types.Context) -> None:
        app.database.databases.add(get_active_settings(context), self.label.strip() or "Database")


def has_database(context: bpy.types.Context) -> str:
    settings = get_active_settings(context)
    active = get_active(settings.databases, settings.database_index)
    return "" if active else n_("Choose a named database first")


class MOTION_MATCHING_OT_remove_database(Operator, bpy.types.Operator):
    """Remove the active database from the list; its sources stay"""

    bl_idname = "motion_matching.remove_database"
    bl_label = "Remove Database"
    requires = (*CHARACTER, has_database)

    def run(self, context: bpy.types.Context) -> None:
        try:
            app.database.databases.remove(get_active_settings(context))
        except SettingsError as error:  # it comes with a linked file
            self.tell("WARNING", str(error))
            raise NothingToDoError from None


# The path of the simulation bone


class MOTION_MATCHING_OT_smooth_path(Operator, bpy.types.Operator):
    """Apply a preset of smoothing times and orders to the simulation bone"""

    bl_idname = "motion_matching.smooth_path"
    bl_label = "Smoothing Preset"

    preset: str = choice("article", "Preset", "Preset to apply", PRESET_ITEMS)

    def run(self, context: bpy.types.Context) -> None:
        bone = get_active_settings(context).simulation_bone
        for name, value in asdict(engine.motion.simulation_bone.PRESETS[self.preset]).items():
            setattr(bone, name, value)


def has_computed_path(context: bpy.types.Context) -> str:
    source = get_active_source(context)
    if source.use_path:
        return n_("This source has a hand-edited path: go back to the computed one first")
    return "" if source.enabled else n_("Switch on this source first")


class MOTION_MATCHING_OT_edit_path(SteppedOperator, bpy.types.Operator):
    """Convert the simulation bone's path of the active source to a keyed empty, to edit by hand. \
The next build uses it instead of the computed path"""

    bl_idname = "motion_matching.edit_path"
    bl_label = "Edit by Hand"
    requires = (*CHARACTER, has_active_source, has_computed_path)

    fewer_keys: float = number(
        0.01,
        "Fewer Keys",
        "Largest distance from the computed path allowed when removing keys; 0 keys every frame",
        **TOLERANCE,
    )

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        uid, index = obj.session_uid, settings_of(obj).source_index
        app.sources.source_list.check_source(obj, settings_of(obj).sources[index])
        number = app.sources.source_list.get_enabled_indices(obj).index(
            index
        )  # the others may be broken
        build_settings = app.settings.get_build_settings(obj)
        read = yield from app.database.build.read_sources_steps(uid)
        sources = [source for source, _ in read]
        first = read[number][1] + (sources[number].start or 0)
        tracks = yield from app.steps.run_in_background_steps(
            lambda report: engine.building.build.find_tracks(sources, build_settings, report),
            "Finding the path",
        )
        (obj, source), track = app.sources.source_list.get_source(uid, index), tracks[number]
        if track is None:
            raise SettingsError(
                f"The source '{source.name}' is too short to build from; use more of its frames."
            )
        read_placement = scene.reading.path_preview.read_placement
        rides = source.kind == "ACTION" and read_placement(obj, source.action) is not None
        name = f"{source.action.name if source.action else source.name} Path"
        source.path = scene.reading.hand_path.create_path(
            obj, name, track, first, rides=rides, fewer_keys=self.fewer_keys
        )
        source.use_path, settings_of(source.path).performer = True, obj
        names = f"'{source.path.name}' has the path of '{source.name}'"
        return f"{names}: edit its keys, and build again"


def has_hand_path(context: bpy.types.Context) -> str:
    message = n_("This source already has its computed path")
    return "" if get_active_source(context).use_path else message


def use_computed_path(context: bpy.types.Context, source: MotionMatchingSource) -> str:
    """Build a source from its computed path again; say so if the object of the path stays."""
    if context.object == source.path and context.mode == "OBJECT":
        # with the empty, the panels would be gone
        select_only(get_active_armature(context), context)
    path, source.path, source.use_path = source.path, None, False
    app.database.status.invalidate()
    if path is None:
        return ""
    # earlier versions only set the performer
    is_own = settings_of(path).performer is not None
    if scene.reading.hand_path.remove_path(path, is_own):
        return ""
    return f"'{path.name}' stays, because something else uses it or Edit by Hand did not make it"


class MOTION_MATCHING_OT_computed_path(Operator, bpy.types.Operator):
    """Use the computed path of the active source again, and remove the hand-edited empty"""

    bl_idname = "motion_matching.computed_path"
    bl_label = "Back to Computed"
    requires = (*CHARACTER, has_active_source, has_hand_path)

    def run(self, context: bpy.types.Context) -> str | None:
        return use_computed_path(context, get_active_source(context)) or None


def has_path_here(context: bpy.types.Context) -> str:
    source = get_active_source(context)
    if source.use_path and source.path and source.path.name in context.view_layer.objects:
        return ""
    return n_("Edit the path by hand first, with its empty in this view layer")


class MOTION_MATCHING_OT_select_path(Operator, bpy.types.Operator):
    """Select the empty with the path of the active source, to edit its keys"""

    bl_idname = "motion_matching.select_path"
    bl_label = "Select Path"
    requires = (*CHARACTER, has_active_source, has_path_here, in_object_mode)

    def run(self, context: bpy.types.Context) -> None:
        select_only(get_active_source(context).path, context)
