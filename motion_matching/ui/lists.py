"""Lists of the panels: sources and takes."""

from __future__ import annotations

from typing import Any

import bpy

from .operators_source_edit import shown_last

_KIND_ICONS: Any = {"ACTION": "ACTION", "FILE": "FILE"}


class MOTION_MATCHING_UL_sources(bpy.types.UIList):
    """Motion that the database is built from"""

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        icon: int | None,
        active_data: Any,
        active_property: str | None,
        index: int | None = 0,
        flt_flag: int | None = 0,
    ) -> None:
        row = layout.row(align=True)
        row.prop(item, "enabled", text="")
        lost = item.action is None if item.kind == "ACTION" else not item.filepath
        rest = row.row(align=True)
        rest.active = item.enabled
        rest.label(
            text=item.action.name if item.action else item.name,
            icon="ERROR" if lost else _KIND_ICONS[item.kind],
        )
        rest.prop(item, "loop", text="", icon="FILE_REFRESH")
        rest.prop(item, "mirror", text="", icon="MOD_MIRROR")

    def draw_filter(self, context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
        """The search stands above the list."""

    def filter_items(
        self, context: bpy.types.Context, data: Any, property: str
    ) -> tuple[list[int], list[int]]:
        if not data.search:
            return [], []
        flags = [0] * len(data.sources)
        for place in shown_last(data):
            flags[place] = self.bitflag_filter_item
        return flags, []


class MOTION_MATCHING_UL_takes(bpy.types.UIList):
    """Takes of the character"""

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        icon: int | None,
        active_data: Any,
        active_property: str | None,
        index: int | None = 0,
        flt_flag: int | None = 0,
    ) -> None:
        row = layout.row(align=True)
        if item.action is None:
            row.label(text=f"{item.name} (deleted)", icon="ERROR")
            return
        animation = data.id_data.animation_data
        assigned = bool(animation and animation.action == item.action)
        row.prop(item.action, "name", text="", emboss=False, icon="PLAY" if assigned else "ACTION")
        tail = row.row()
        tail.alignment = "RIGHT"
        tail.label(text=f"{item.seconds:.1f} s")
        tail.prop(
            item,
            "is_kept",
            text="",
            icon="FAKE_USER_ON" if item.is_kept else "FAKE_USER_OFF",
            emboss=False,
        )


class MOTION_MATCHING_UL_databases(bpy.types.UIList):
    """Databases that have names"""

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        icon: int | None,
        active_data: Any,
        active_property: str | None,
        index: int | None = 0,
        flt_flag: int | None = 0,
    ) -> None:
        layout.prop(item, "label", text="", emboss=False, icon="ASSET_MANAGER")


CLASSES = (MOTION_MATCHING_UL_sources, MOTION_MATCHING_UL_databases, MOTION_MATCHING_UL_takes)
