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
from ..base import operator_base as base
from ..base.function_operators import operator, stepped_operator
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


class MOTION_MATCHING_OT_build(base.SteppedOperator, bpy.types.Operator):
    """Build the database from the sources that are switched on"""

    bl_options = {"REGISTER"}
    requires = base.SOURCES

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        uid = obj.session_uid
        database = yield from app.database.build.load_or_build_steps(obj, again=True)
        obj = get_armature(uid)
        notes = app.strip.warnings.describe_notes(settings_of(obj).built_notes)
        for item in (*notes, *app.database.status.get_status(obj).warnings):
            self.tell("WARNING", item.text)
        return f"Built {app.database.status.describe_database(database)}"


@stepped_operator(requires=(*base.SOURCES, base.can_assign_action))
def add_standing(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Add a built-in idle clip, fitted to this character, as a source: it breathes and shifts its \
weight. Build again to use it"""
    uid = get_active_armature(context).session_uid
    action = yield from app.retarget.retargeting.add_standing_steps(get_armature(uid))
    add_source(
        get_armature(uid), action.name, kind="ACTION", action=action, mirror=True, gait="idle"
    )
    app.database.status.invalidate()
    return f"Added '{action.name}': build again to use it"


# Preview


def is_previewing(context: bpy.types.Context) -> str:
    return "" if runtime.source_preview else base.n_("Preview a source first")


class MOTION_MATCHING_OT_preview_source(base.SteppedOperator, bpy.types.Operator):
    """Play the active source as a skeleton over the character, following the timeline. Nothing is \
imported or assigned. Press again or Esc to stop"""

    bl_label = "Preview"
    bl_options = {"REGISTER"}
    requires = (*base.CHARACTER, base.has_active_source)

    mirrored: bool = switch(
        False, "Mirrored", "Show the mirror image of the motion", options={"SKIP_SAVE"}
    )

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        preview = runtime.source_preview
        settings = settings_of(obj)
        is_shown = app.sources.source_preview.is_shown(obj, settings.sources[settings.source_index])
        if preview and is_shown and preview.mirrored == self.mirrored:
            app.sources.source_preview.stop()
            return ""
        index = settings.source_index
        yield from app.sources.source_preview.preview_steps(obj, index, self.mirrored)
        return ""


@operator(requires=(*base.CHARACTER, is_previewing), options={"REGISTER"})
def stop_preview(context: bpy.types.Context) -> None:
    """End the preview of a source, and return to the previous frame"""
    app.sources.source_preview.stop()


class MOTION_MATCHING_OT_clear_cache(base.ConfirmedOperator, bpy.types.Operator):
    """Delete all databases and trained motion fields from the disk; they can be built again at \
any time"""

    bl_options = {"REGISTER"}
    requires = base.IDLE  # panels ask at every redraw, which is no time to look at the disk

    def run(self, context: bpy.types.Context) -> str:
        freed, in_use = app.database.library.get_library().clear()
        app.database.status.invalidate()
        if in_use:
            files = format_count(in_use, "file")
            message = f"{files} still in use were kept; clear the cache again after a restart"
            self.tell("WARNING", message)
        return f"Cleared {freed / 1e6:.0f} MB" if freed else "There was nothing to clear"


class MOTION_MATCHING_OT_move_databases(base.BrowsingOperator, bpy.types.Operator):
    """Choose a folder, and move databases and trained motion fields to 'Motion Matching \
Databases' inside it. Other open Blenders use it after a restart"""

    bl_options = {"REGISTER"}
    requires = base.IDLE

    directory: str = text("", "Folder", "Folder to move the databases to", subtype="DIR_PATH")

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        if not self.directory:
            raise DatabaseError("No folder was chosen; choose one to move the databases to.")
        message = yield from app.database.library.move_steps(Path(bpy.path.abspath(self.directory)))
        app.database.status.invalidate()
        return message


@stepped_operator("Move Back", requires=base.IDLE, options={"REGISTER"})
def move_databases_back(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Move the databases and trained motion fields back to Blender's user folder"""
    message = yield from app.database.library.move_steps(None)
    app.database.status.invalidate()
    return message


class MOTION_MATCHING_OT_add_database(base.Operator, bpy.types.Operator):
    """Add a named database of the sources that are switched on"""

    requires = base.SOURCES

    label: str = text("Database", "Name", "Name of the database")

    def run(self, context: bpy.types.Context) -> None:
        app.database.databases.add(get_active_settings(context), self.label.strip() or "Database")


def has_database(context: bpy.types.Context) -> str:
    settings = get_active_settings(context)
    active = get_active(settings.databases, settings.database_index)
    return "" if active else base.n_("Choose a named database first")


class MOTION_MATCHING_OT_remove_database(base.Operator, bpy.types.Operator):
    """Remove the active database from the list; its sources stay"""

    requires = (*base.CHARACTER, has_database)

    def run(self, context: bpy.types.Context) -> None:
        try:
            app.database.databases.remove(get_active_settings(context))
        except SettingsError as error:  # it comes with a linked file
            self.tell("WARNING", str(error))
            raise base.NothingToDoError from None


# The path of the simulation bone


class MOTION_MATCHING_OT_smooth_path(base.Operator, bpy.types.Operator):
    """Apply a preset of smoothing times and orders to the simulation bone"""

    bl_label = "Smoothing Preset"

    preset: str = choice("article", "Preset", "Preset to apply", PRESET_ITEMS)

    def run(self, context: bpy.types.Context) -> None:
        bone = get_active_settings(context).simulation_bone
        for name, value in asdict(engine.motion.simulation_bone.PRESETS[self.preset]).items():
            setattr(bone, name, value)


def has_computed_path(context: bpy.types.Context) -> str:
    source = base.get_active_source(context)
    if source.use_path:
        return base.n_("This source has a hand-edited path: go back to the computed one first")
    return "" if source.enabled else base.n_("Switch on this source first")


class MOTION_MATCHING_OT_edit_path(base.SteppedOperator, bpy.types.Operator):
    """Convert the simulation bone's path of the active source to a keyed empty, to edit by hand. \
The next build uses it instead of the computed path"""

    bl_label = "Edit by Hand"
    requires = (*base.CHARACTER, base.has_active_source, has_computed_path)

    fewer_keys: float = number(
        0.01,
        "Fewer Keys",
        "Largest distance from the computed path allowed when removing keys; 0 keys every frame",
        **TOLERANCE,
    )

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        uid = obj.session_uid
        index = settings_of(obj).source_index
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
        (obj, source) = app.sources.source_list.get_source(uid, index)
        track = tracks[number]
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
        source.use_path = True
        settings_of(source.path).performer = obj
        names = f"'{source.path.name}' has the path of '{source.name}'"
        return f"{names}: edit its keys, and build again"


def has_hand_path(context: bpy.types.Context) -> str:
    message = base.n_("This source already has its computed path")
    return "" if base.get_active_source(context).use_path else message


def use_computed_path(context: bpy.types.Context, source: MotionMatchingSource) -> str:
    """Build a source from its computed path again; say so if the object of the path stays."""
    if context.object == source.path and context.mode == "OBJECT":
        # with the empty, the panels would be gone
        select_only(get_active_armature(context), context)
    path = source.path
    source.path = None
    source.use_path = False
    app.database.status.invalidate()
    if path is None:
        return ""
    # earlier versions only set the performer
    is_own = settings_of(path).performer is not None
    if scene.reading.hand_path.remove_path(path, is_own):
        return ""
    return f"'{path.name}' stays, because something else uses it or Edit by Hand did not make it"


@operator("Back to Computed", requires=(*base.CHARACTER, base.has_active_source, has_hand_path))
def computed_path(context: bpy.types.Context) -> str | None:
    """Use the computed path of the active source again, and remove the hand-edited empty"""
    return use_computed_path(context, base.get_active_source(context)) or None


def has_path_here(context: bpy.types.Context) -> str:
    source = base.get_active_source(context)
    if source.use_path and source.path and source.path.name in context.view_layer.objects:
        return ""
    return base.n_("Edit the path by hand first, with its empty in this view layer")


@operator(requires=(*base.CHARACTER, base.has_active_source, has_path_here, base.in_object_mode))
def select_path(context: bpy.types.Context) -> None:
    """Select the empty with the path of the active source, to edit its keys"""
    select_only(base.get_active_source(context).path, context)
