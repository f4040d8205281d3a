"""Motion matching in Blender's own menus: Pose, Add > Armature, File > Import, and those of the Dope Sheet."""

from __future__ import annotations

from typing import Any

import bpy

from . import (
    operators_bake,
    operators_build,
    operators_demo,
    operators_import,
    operators_live,
    operators_source_edit,
    operators_sources,
    panels_tags,
)


class VIEW3D_MT_motion_matching(bpy.types.Menu):
    """Motion matching of this armature"""

    bl_label = "Motion Matching"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator(operators_sources.MOTION_MATCHING_OT_add_actions.bl_idname, icon="ACTION")
        layout.operator(
            operators_sources.MOTION_MATCHING_OT_add_files.bl_idname, icon="FILE_FOLDER"
        )
        layout.separator()
        layout.operator(operators_build.MOTION_MATCHING_OT_build.bl_idname, icon="MODIFIER")
        layout.operator(operators_live.MOTION_MATCHING_OT_start.bl_idname, icon="PLAY")
        layout.operator(
            operators_bake.MOTION_MATCHING_OT_bake_script.bl_idname, icon="ACTION_TWEAK"
        )


class MOTION_MATCHING_MT_add_sources(bpy.types.Menu):
    """Ways to bring motion to build from"""

    bl_label = "Add Motion"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator_context = "INVOKE_DEFAULT"
        add_actions = operators_sources.MOTION_MATCHING_OT_add_actions.bl_idname
        layout.operator(add_actions, text="Add All Actions", icon="ACTION").which = "ALL"
        layout.operator(add_actions, text="Add Active Action", icon="PLAY").which = "ACTIVE"
        layout.operator(
            operators_import.MOTION_MATCHING_OT_add_assets.bl_idname, icon="ASSET_MANAGER"
        )
        layout.operator(
            operators_import.MOTION_MATCHING_OT_add_blend_actions.bl_idname, icon="FILE_BLEND"
        )
        layout.separator()
        layout.operator(operators_sources.MOTION_MATCHING_OT_add_files.bl_idname, icon="FILE")
        layout.operator(
            operators_sources.MOTION_MATCHING_OT_add_folder.bl_idname, icon="FILE_FOLDER"
        )
        layout.operator(operators_import.MOTION_MATCHING_OT_import_motion.bl_idname, icon="IMPORT")


class MOTION_MATCHING_MT_shown_sources(bpy.types.Menu):
    """What can be done with all sources that the list shows"""

    bl_label = "All Shown Sources"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        for key, (name, _, icon, _) in operators_source_edit.EDITS.items():
            if key in ("mirror", "loop", "whole", "speed"):
                layout.separator()
            layout.operator(
                operators_source_edit.MOTION_MATCHING_OT_edit_sources.bl_idname,
                text=name,
                icon=icon,
            ).edit = key
        layout.separator()
        layout.operator(
            operators_source_edit.MOTION_MATCHING_OT_remove_sources.bl_idname, icon="TRASH"
        )


def _in_pose(self: Any, context: bpy.types.Context) -> None:
    self.layout.separator()
    self.layout.menu(VIEW3D_MT_motion_matching.__name__, icon="ARMATURE_DATA")


def _in_add(self: Any, context: bpy.types.Context) -> None:
    self.layout.operator_context = "INVOKE_DEFAULT"
    self.layout.operator(
        operators_demo.MOTION_MATCHING_OT_add_demo_performer.bl_idname,
        text="Demo Performer",
        icon="OUTLINER_OB_ARMATURE",
    )


def _in_import(self: Any, context: bpy.types.Context) -> None:
    self.layout.operator(
        operators_sources.MOTION_MATCHING_OT_add_files.bl_idname,
        text="Motion Capture to Match (.bvh)",
    )


def _in_dope_sheet(self: Any, context: bpy.types.Context) -> None:
    self.layout.separator()
    self.layout.menu(panels_tags.MOTION_MATCHING_MT_tags.__name__, icon="BOOKMARKS")


_ADDED = (
    ("VIEW3D_MT_pose", _in_pose),
    ("VIEW3D_MT_armature_add", _in_add),
    ("TOPBAR_MT_file_import", _in_import),
    ("DOPESHEET_MT_key", _in_dope_sheet),
    ("DOPESHEET_MT_context_menu", _in_dope_sheet),
)


def add() -> None:
    """Append to Blender's menus."""
    for menu, draw in _ADDED:
        getattr(bpy.types, menu).append(draw)


def remove() -> None:
    """Take everything off them again."""
    for menu, draw in reversed(_ADDED):
        getattr(bpy.types, menu).remove(draw)


CLASSES = (
    VIEW3D_MT_motion_matching,
    MOTION_MATCHING_MT_add_sources,
    MOTION_MATCHING_MT_shown_sources,
)
