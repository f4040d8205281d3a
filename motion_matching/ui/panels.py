"""The sidebar's tab "Motion": panels in the order in which one works. They read, and compute nothing.

`bl_order` leaves room: 0 Character, 1 Database, 2 Controller, 3 Play, 4 Takes, 5 Insight.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import bpy

from . import ground_paths, polls, rig_status, status, work
from .operators_build import MOTION_MATCHING_OT_build as Build
from .operators_build import MOTION_MATCHING_OT_clear_cache as ClearCache
from .operators_databases import MOTION_MATCHING_OT_add_database as AddDatabase
from .operators_databases import MOTION_MATCHING_OT_remove_database as RemoveDatabase
from .operators_demo import MOTION_MATCHING_OT_add_demo_performer as AddDemoPerformer
from .operators_path import MOTION_MATCHING_OT_computed_path as ComputedPath
from .operators_path import MOTION_MATCHING_OT_edit_path as EditPath
from .operators_path import MOTION_MATCHING_OT_select_path as SelectPath
from .operators_path import MOTION_MATCHING_OT_smooth_path as SmoothPath
from .operators_presets import MOTION_MATCHING_OT_remove_preset as RemovePreset
from .operators_presets import MOTION_MATCHING_OT_save_preset as SavePreset
from .operators_rig import FIXES
from .operators_rig import MOTION_MATCHING_OT_fix_rig as FixRig
from .operators_sources import MOTION_MATCHING_OT_add_actions as AddActions
from .operators_sources import MOTION_MATCHING_OT_add_files as AddFiles
from .operators_sources import MOTION_MATCHING_OT_remove_source as RemoveSource
from .properties_sources import ROLES
from .request import armature_of, path_is_there

# by the kind of a status: icon, two words, and what to do
_STATES = {
    "unknown": ("SORTTIME", "Looking", ""),
    "empty": ("LAYER_USED", "No Sources", "Add actions of this armature, or files"),
    "broken": ("ERROR", "Needs Help", ""),
    "none": ("LAYER_USED", "Not Built", "Build to make the database"),
    "elsewhere": (
        "FILE_REFRESH",
        "Not Built Here",
        "Built on another machine, or cleared since: build it again",
    ),
    "stale": ("FILE_REFRESH", "Stale", "Sources or settings changed: build again"),
    "fresh": ("CHECKMARK", "Fresh", ""),
}


class Panel:
    """What all panels of the tab share."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Motion"


class ArmaturePanel(Panel):
    """A panel that there is with an armature only."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return armature_of(context) is not None


class SourcePanel(ArmaturePanel):
    """A closed part of the database's panel about its chosen source."""

    bl_parent_id = "MOTION_MATCHING_PT_database"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = armature_of(context)
        return obj is not None and polls.has_active(obj.motion_matching, "sources", "source_index")


def split(layout: bpy.types.UILayout) -> bpy.types.UILayout:
    column = layout.column()
    column.use_property_split = True
    column.use_property_decorate = False
    return column


def header(panel: Any, icon: Any, text: str) -> None:
    row = panel.layout.row(align=True)
    row.active = False
    row.label(text=text, icon=icon)


def told(layout: bpy.types.UILayout, context: bpy.types.Context, text: str, icon: Any) -> None:
    """A sentence in as many lines as the panel's width asks for."""
    width = context.region.width / (
        context.preferences.system.ui_scale or 1.0
    )  # zero without a window
    column = layout.column(align=True)
    column.scale_y = 0.8
    for line in _lines(text, max(20, int((width - 60) / 6.2))):
        column.label(text=line, icon=icon)
        icon = "BLANK1"


@lru_cache(maxsize=200)
def _lines(text: str, letters: int) -> list[str]:
    """A text in lines of less than so many letters."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= letters:
            lines.append("")
        lines[-1] += f"{word} "
    return lines


def progress(layout: bpy.types.UILayout) -> None:
    if work.running:
        text, part = work.running
        row = layout.row()
        row.progress(factor=part, text=text)


class MOTION_MATCHING_PT_start(Panel, bpy.types.Panel):
    """What an empty file offers"""

    bl_label = "Motion Matching"
    bl_order = 0

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return armature_of(context) is None

    def draw(self, context: bpy.types.Context) -> None:
        column = self.layout.column()
        if any(obj.type == "ARMATURE" for obj in context.view_layer.objects):
            told(
                column, context, "Select an armature to work with, or add another performer", "INFO"
            )
        column.operator_context = "INVOKE_DEFAULT"
        button = column.row()
        button.scale_y = 1.6
        button.operator(AddDemoPerformer.bl_idname, icon="OUTLINER_OB_ARMATURE")
        progress(column)


class MOTION_MATCHING_PT_character(ArmaturePanel, bpy.types.Panel):
    """Who performs, and what carries it over the ground"""

    bl_label = "Character"
    bl_order = 0

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        obj = armature_of(context)
        broken, rig = status.shown(obj).kind == "broken", rig_status.shown(obj)
        problem = rig.problems[0] if rig and rig.problems else None
        if problem and problem.serious:
            header(self, "ERROR", problem.label)
        elif broken:
            header(self, "ERROR", "Needs Help")
        elif problem:
            header(self, "INFO", problem.label)
        else:
            header(self, "CHECKMARK", "Ready")

    def draw(self, context: bpy.types.Context) -> None:
        obj = armature_of(context)
        settings, found = obj.motion_matching, status.shown(obj)
        self.layout.label(text=obj.name, icon="OUTLINER_OB_ARMATURE")
        if found.problem:
            told(self.layout, context, found.problem, "ERROR")
        for problem in rig.problems if (rig := rig_status.shown(obj)) else ():
            box = self.layout.box()
            told(box, context, problem.sentence, "ERROR" if problem.serious else "INFO")
            if problem.fix:
                box.operator(
                    FixRig.bl_idname, text=FIXES[problem.fix][0], icon="TOOL_SETTINGS"
                ).fix = problem.fix
        column = split(self.layout)
        column.prop(settings, "root")
        if settings.root == "BONE":
            column.prop_search(settings, "root_bone", obj.data, "bones", text=" ")
        column.prop(settings, "bones")


class MOTION_MATCHING_PT_roles(ArmaturePanel, bpy.types.Panel):
    """Bones by role; those left empty are found by names, shape and motion"""

    bl_label = "Roles"
    bl_parent_id = "MOTION_MATCHING_PT_character"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        roles = armature_of(context).motion_matching.roles
        given, rig = (
            sum(bool(getattr(roles, role)) for role in ROLES),
            rig_status.shown(armature_of(context)),
        )
        missing = (
            any(problem.label == "Roles Missing" for problem in rig.problems) if rig else False
        )
        header(
            self,
            "ERROR" if missing else "BONE_DATA",
            "Missing" if missing else f"{given} Given" if given else "Found",
        )

    def draw(self, context: bpy.types.Context) -> None:
        obj = armature_of(context)
        found = found_roles(obj)
        preset_row(self.layout, "rigs", obj.motion_matching.roles.preset)
        column = split(self.layout)
        for role in ROLES:
            role_row(column, obj, obj.motion_matching.roles, role, found)


def found_roles(obj: bpy.types.Object) -> dict[str, str]:
    """Bones by role: as in the database where that is fresh, else as names and rest pose tell."""
    rig = rig_status.shown(obj)
    return status.shown(obj).roles or (rig.roles if rig else {})


def role_row(
    column: bpy.types.UILayout, obj: bpy.types.Object, roles: Any, role: str, found: dict[str, str]
) -> None:
    """A picker of a role's bone, and below the bone that was found where none is given."""
    column.prop_search(roles, role, obj.data, "bones")
    if role in found and not getattr(roles, role):
        row = column.row()
        row.active = False
        row.alignment = "RIGHT"
        row.scale_y = 0.6
        row.label(text=found[role])


class MOTION_MATCHING_PT_database(ArmaturePanel, bpy.types.Panel):
    """The motion that is played from"""

    bl_label = "Database"
    bl_order = 1

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        icon, words, _ = _STATES[status.shown(armature_of(context)).kind]
        header(self, icon, words)

    def draw(self, context: bpy.types.Context) -> None:
        obj = armature_of(context)
        settings, layout = obj.motion_matching, self.layout
        layout.operator_context = "INVOKE_DEFAULT"
        if settings.sources:
            layout.prop(settings, "search", text="", icon="VIEWZOOM", placeholder="Search")
        row = layout.row()
        row.template_list(
            "MOTION_MATCHING_UL_sources", "", settings, "sources", settings, "source_index", rows=5
        )
        side = row.column(align=True)
        side.menu("MOTION_MATCHING_MT_add_sources", text="", icon="ADD")
        side.operator(RemoveSource.bl_idname, text="", icon="REMOVE")
        side.separator()
        side.menu("MOTION_MATCHING_MT_shown_sources", text="", icon="DOWNARROW_HLT")
        if not settings.sources:
            row = layout.row(align=True)
            row.operator(AddActions.bl_idname, icon="ACTION")
            row.operator(AddFiles.bl_idname, icon="FILE_FOLDER")
        found = status.shown(obj)
        button = layout.row()
        button.scale_y = 1.4
        button.operator(
            Build.bl_idname,
            text="Build Again" if found.kind == "fresh" else "Build",
            icon="MODIFIER",
        )
        progress(layout)
        _summary(layout, context, found, settings.built_notes)


def _summary(
    layout: bpy.types.UILayout, context: bpy.types.Context, found: status.Status, notes: str
) -> None:
    hint = f"{found.why}. Build again" if found.why else _STATES[found.kind][2]
    if hint and not work.running:
        told(layout, context, hint, "INFO")
    if found.kind != "fresh":
        return
    column = layout.column(align=True)
    column.scale_y = 0.8
    minutes, seconds = divmod(round(found.seconds), 60)
    column.label(
        text=f"{found.frames} frames, {minutes} min {seconds} s at {found.fps:g} fps",
        icon="CHECKMARK",
    )
    column.label(
        text=f"{found.clips} clips, {found.bones} bones, {found.megabytes:.0f} MB", icon="BLANK1"
    )
    told(layout, context, found.coverage, "BLANK1")
    for note in notes.splitlines():
        told(layout, context, note, "ERROR")


class MOTION_MATCHING_PT_databases(ArmaturePanel, bpy.types.Panel):
    """Databases that have names, each of some of the sources"""

    bl_label = "Databases"
    bl_parent_id = "MOTION_MATCHING_PT_database"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        shown = polls.active(armature_of(context).motion_matching, "databases", "database_index")
        if shown:
            header(self, "NONE", shown.label)

    def draw(self, context: bpy.types.Context) -> None:
        settings, row = armature_of(context).motion_matching, self.layout.row()
        row.template_list(
            "MOTION_MATCHING_UL_databases",
            "",
            settings,
            "databases",
            settings,
            "database_index",
            rows=3,
        )
        side = row.column(align=True)
        side.operator(AddDatabase.bl_idname, text="", icon="ADD")
        side.operator(RemoveDatabase.bl_idname, text="", icon="REMOVE")


class MOTION_MATCHING_PT_source(SourcePanel, bpy.types.Panel):
    """How the chosen source is used"""

    bl_label = "Source"

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        source = polls.active(armature_of(context).motion_matching, "sources", "source_index")
        if source.gait != "none":
            header(self, "NONE", source.gait.title())

    def draw(self, context: bpy.types.Context) -> None:
        source = polls.active(armature_of(context).motion_matching, "sources", "source_index")
        column = split(self.layout)
        column.prop(source, "action" if source.kind == "ACTION" else "filepath")
        column.prop(source, "gait")
        column.prop(source, "tags")
        column.prop(source, "speed")
        row = column.row(heading="Range")
        row.prop(source, "use_range", text="")
        limits = row.row(align=True)
        limits.active = source.use_range
        limits.prop(source, "frame_start", text="")
        limits.prop(source, "frame_end", text="")


class MOTION_MATCHING_PT_reading(ArmaturePanel, bpy.types.Panel):
    """How sources are read"""

    bl_label = "Reading"
    bl_parent_id = "MOTION_MATCHING_PT_database"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        settings = armature_of(context).motion_matching
        column = split(self.layout)
        column.prop(settings, "speed")
        column.prop(settings, "contact_speed")
        column.prop(settings, "auto_tags")
        column.prop(settings, "up", text="Files Up")
        column.prop(settings, "forward", text="Files Forward")
        column.prop(settings, "file_scale", text="Files Scale")
        self.layout.operator(ClearCache.bl_idname, icon="TRASH")


class MOTION_MATCHING_PT_simulation_bone(ArmaturePanel, bpy.types.Panel):
    """How the path of the character over the ground is found"""

    bl_label = "Simulation Bone"
    bl_parent_id = "MOTION_MATCHING_PT_database"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        source = polls.active(armature_of(context).motion_matching, "sources", "source_index")
        if source and source.use_path:
            header(
                self,
                *(
                    ("ERROR", "Path Lost")
                    if not path_is_there(source)
                    else ("EMPTY_ARROWS", "By Hand")
                ),
            )

    def draw(self, context: bpy.types.Context) -> None:
        obj = armature_of(context)
        settings, layout = obj.motion_matching, self.layout
        bone, roles, found = settings.simulation_bone, settings.roles, found_roles(obj)
        layout.prop(
            settings, "show_path", toggle=True, icon="HIDE_OFF" if settings.show_path else "HIDE_ON"
        )
        if settings.show_path and ground_paths.note:
            told(layout, context, ground_paths.note, "ERROR")
        column = split(layout)
        column.prop(bone, "source")
        for role in ("spine", "hips") if bone.source == "spine" else ("root",):
            role_row(column, obj, roles, role, found)
        layout.operator_menu_enum(SmoothPath.bl_idname, "preset", icon="PRESET")
        smoothing = split(layout)
        smoothing.active = bone.source == "spine"
        smoothing.prop(bone, "position_window")
        smoothing.prop(bone, "direction_window")
        smoothing.prop(bone, "standing", slider=True)
        smoothing.prop(bone, "position_order")
        smoothing.prop(bone, "direction_order")
        smoothing.prop(bone, "heading")
        self._draw_by_hand(context, polls.active(settings, "sources", "source_index"))

    def _draw_by_hand(self, context: bpy.types.Context, source: Any) -> None:
        self.layout.operator_context = "INVOKE_DEFAULT"
        if source is None or not source.use_path:
            self.layout.operator(EditPath.bl_idname, icon="EMPTY_ARROWS")
            return
        if not path_is_there(source):
            told(
                self.layout,
                context,
                "The empty with the path was deleted: undo that, or go back",
                "ERROR",
            )
        column = self.layout.column(align=True)
        if path_is_there(source):
            column.operator(
                SelectPath.bl_idname, text=f"Select '{source.path.name}'", icon="EMPTY_ARROWS"
            )
        column.operator(ComputedPath.bl_idname, icon="LOOP_BACK")


def preset_row(layout: bpy.types.UILayout, kind: str, preset: str) -> None:
    """Blender's row of a preset menu, with a button to add and one to remove."""
    row = layout.row(align=True)
    row.operator_context = "INVOKE_DEFAULT"
    row.menu(f"MOTION_MATCHING_MT_{kind}", text=_title(preset) if preset else "Presets")
    row.operator(SavePreset.bl_idname, text="", icon="ADD").kind = kind
    remove = row.operator(RemovePreset.bl_idname, text="", icon="REMOVE")
    remove.kind, remove.name = kind, preset


@cache
def _title(preset: str) -> str:
    return bpy.path.display_name(preset, title_case=True)


CLASSES = (
    MOTION_MATCHING_PT_start,
    MOTION_MATCHING_PT_character,
    MOTION_MATCHING_PT_roles,
    MOTION_MATCHING_PT_database,
    MOTION_MATCHING_PT_databases,
    MOTION_MATCHING_PT_source,
    MOTION_MATCHING_PT_reading,
    MOTION_MATCHING_PT_simulation_bone,
)
