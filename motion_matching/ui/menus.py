"""Add entries to Blender's menus Pose, Add > Armature, File > Import, and the Dope Sheet's."""

from __future__ import annotations

from typing import Any

import bpy

from ..app.character.characters import get_active_armature
from ..app.property_access import settings_of
from .base.panel_base import set_options
from .database.operators_sources import EDITS
from .takes.panel import draw_bake_button


class VIEW3D_MT_motion_matching(bpy.types.Menu):
    """Motion matching for this armature"""

    bl_label = "Motion Matching"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator("motion_matching.add_actions", icon="ACTION")
        layout.operator("motion_matching.add_files", icon="FILE_FOLDER")
        layout.separator()
        layout.operator("motion_matching.build", icon="MODIFIER")
        layout.operator("motion_matching.start", icon="PLAY")
        if obj := get_active_armature(context):
            draw_bake_button(layout, settings_of(obj).script)
        layout.separator()
        layout.operator("motion_matching.retarget_action", icon="ARMATURE_DATA")
        layout.operator("motion_matching.retarget_file", icon="FILE_FOLDER")


class MOTION_MATCHING_MT_add_sources(bpy.types.Menu):
    """Ways to add sources"""

    bl_label = "Add Motion"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator_context = "INVOKE_DEFAULT"
        name = "motion_matching.add_actions"
        set_options(layout.operator(name, text="Add Actions", icon="ACTION"), which="ALL")
        set_options(layout.operator(name, text="Add Active Action", icon="PLAY"), which="ACTIVE")
        others = layout.operator(
            name, text="Add Actions of Selected Armatures", icon="ARMATURE_DATA"
        )
        set_options(others, which="OTHERS")
        layout.operator("motion_matching.add_assets", icon="ASSET_MANAGER")
        name = "motion_matching.add_blend_actions"
        text = "Add From Blender File"
        layout.operator(name, text=text, icon="FILE_BLEND")
        layout.separator()
        layout.operator("motion_matching.add_files", icon="FILE")
        layout.operator("motion_matching.add_folder", icon="FILE_FOLDER")
        name = "motion_matching.import_motion"
        layout.operator(name, text="Import Motion Capture", icon="IMPORT")


class MOTION_MATCHING_MT_shown_sources(bpy.types.Menu):
    """Edit or remove all sources in the list"""

    bl_label = "All Shown Sources"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        for key, (name, _, icon, _) in EDITS.items():
            if key in ("mirror", "loop", "whole", "speed"):
                layout.separator()
            button = layout.operator("motion_matching.edit_sources", text=name, icon=icon)
            set_options(button, edit=key)
        layout.separator()
        layout.operator("motion_matching.remove_sources", icon="TRASH")


def _draw_in_pose_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.separator()
    self.layout.menu("VIEW3D_MT_motion_matching", icon="ARMATURE_DATA")


def _draw_in_add_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.operator_context = "INVOKE_DEFAULT"
    name = "motion_matching.add_demo_performer"
    self.layout.operator(name, text="Demo Performer", icon="OUTLINER_OB_ARMATURE")
    button = self.layout.operator(name, text="Demo Performer with Stairs", icon="BLANK1")
    set_options(button, climbs=True)


def _draw_in_import_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    text = "Motion Capture for Matching (.bvh/.fbx/.glb/.gltf)"
    self.layout.operator("motion_matching.import_motion", text=text)


def _draw_in_dope_sheet_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.separator()
    self.layout.menu("MOTION_MATCHING_MT_tags", icon="BOOKMARKS")


_MENU_ENTRIES: Any = (
    ("VIEW3D_MT_pose", _draw_in_pose_menu),
    ("VIEW3D_MT_armature_add", _draw_in_add_menu),
    ("TOPBAR_MT_file_import", _draw_in_import_menu),
    ("DOPESHEET_MT_key", _draw_in_dope_sheet_menu),
    ("DOPESHEET_MT_context_menu", _draw_in_dope_sheet_menu),
)


def add() -> None:
    """Add entries to Blender's menus."""
    for menu, draw in _MENU_ENTRIES:
        getattr(bpy.types, menu).append(draw)


def remove() -> None:
    """Remove them again."""
    for menu, draw in reversed(_MENU_ENTRIES):
        getattr(bpy.types, menu).remove(draw)
