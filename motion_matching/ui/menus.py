"""Motion matching in Blender's own menus: Pose, Add > Armature, File > Import, and those of the
Dope Sheet.
"""

from __future__ import annotations

from typing import Any

import bpy

from .character.operators import MOTION_MATCHING_OT_add_demo_performer as AddDemoPerformer
from .database.operators import MOTION_MATCHING_OT_build as Build
from .database.operators_import import MOTION_MATCHING_OT_add_assets as AddAssets
from .database.operators_import import MOTION_MATCHING_OT_add_blend_actions as AddBlendActions
from .database.operators_import import MOTION_MATCHING_OT_add_files as AddFiles
from .database.operators_import import MOTION_MATCHING_OT_add_folder as AddFolder
from .database.operators_import import MOTION_MATCHING_OT_import_motion as ImportMotion
from .database.operators_sources import EDITS
from .database.operators_sources import MOTION_MATCHING_OT_add_actions as AddActions
from .database.operators_sources import MOTION_MATCHING_OT_edit_sources as EditSources
from .database.operators_sources import MOTION_MATCHING_OT_remove_sources as RemoveSources
from .panel_base import set_options
from .play.operators import MOTION_MATCHING_OT_start as Start
from .tags.panel import MOTION_MATCHING_MT_tags as TagsMenu
from .takes.operators import MOTION_MATCHING_OT_bake_script as BakeScript


class VIEW3D_MT_motion_matching(bpy.types.Menu):
    """Motion matching of this armature"""

    bl_label = "Motion Matching"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator(AddActions.bl_idname, icon="ACTION")
        layout.operator(AddFiles.bl_idname, icon="FILE_FOLDER")
        layout.separator()
        layout.operator(Build.bl_idname, icon="MODIFIER")
        layout.operator(Start.bl_idname, icon="PLAY")
        layout.operator(BakeScript.bl_idname, icon="ACTION_TWEAK")


class MOTION_MATCHING_MT_add_sources(bpy.types.Menu):
    """Ways to add motion to build from"""

    bl_label = "Add Motion"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator_context = "INVOKE_DEFAULT"
        set_options(
            layout.operator(AddActions.bl_idname, text="Add All Actions", icon="ACTION"),
            which="ALL",
        )
        set_options(
            layout.operator(AddActions.bl_idname, text="Add Active Action", icon="PLAY"),
            which="ACTIVE",
        )
        layout.operator(AddAssets.bl_idname, icon="ASSET_MANAGER")
        layout.operator(AddBlendActions.bl_idname, icon="FILE_BLEND")
        layout.separator()
        layout.operator(AddFiles.bl_idname, icon="FILE")
        layout.operator(AddFolder.bl_idname, icon="FILE_FOLDER")
        layout.operator(ImportMotion.bl_idname, icon="IMPORT")


class MOTION_MATCHING_MT_shown_sources(bpy.types.Menu):
    """What can be done with all sources that the list shows"""

    bl_label = "All Shown Sources"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        for key, (name, _, icon, _) in EDITS.items():
            if key in ("mirror", "loop", "whole", "speed"):
                layout.separator()
            set_options(layout.operator(EditSources.bl_idname, text=name, icon=icon), edit=key)
        layout.separator()
        layout.operator(RemoveSources.bl_idname, icon="TRASH")


def _draw_in_pose_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.separator()
    self.layout.menu(VIEW3D_MT_motion_matching.__name__, icon="ARMATURE_DATA")


def _draw_in_add_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.operator_context = "INVOKE_DEFAULT"
    self.layout.operator(
        AddDemoPerformer.bl_idname, text="Demo Performer", icon="OUTLINER_OB_ARMATURE"
    )


def _draw_in_import_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.operator(AddFiles.bl_idname, text="Motion Capture to Match (.bvh)")


def _draw_in_dope_sheet_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.separator()
    self.layout.menu(TagsMenu.__name__, icon="BOOKMARKS")


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


CLASSES = (
    VIEW3D_MT_motion_matching,
    MOTION_MATCHING_MT_add_sources,
    MOTION_MATCHING_MT_shown_sources,
)
