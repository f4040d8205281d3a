"""The panel of features: what frames are compared by, and the weight of each."""

from __future__ import annotations

from typing import Any, cast

import bpy

from ... import app
from ...app.property_access import get_active, is_changed
from ...app.runtime import runtime
from ...engine.database.features.kinds import find_kind
from ...engine.database.features.kinds.paths import HEIGHT
from ..base import panel_base as base
from ..properties import MotionMatchingSettings
from .properties import MotionMatchingFeature, MotionMatchingFeatures, get_title

_SETTINGS = MotionMatchingFeatures.__annotations__.keys() - {"items", "index", "preset"}


class MOTION_MATCHING_UL_features(base.List, bpy.types.UIList):
    """Features to compare frames by, each with its weight"""

    def draw_row(self, layout: bpy.types.UILayout, item: MotionMatchingFeature) -> None:
        split = layout.split(factor=0.68)
        icon: Any = find_kind(item.kind).icon
        split.label(text=get_title(item), icon=icon)
        split.prop(item, "weight", text="", slider=True)


def _draw_height(layout: bpy.types.UILayout, obj: bpy.types.Object, features: Any) -> None:
    """Offer to list the feature that clips on slopes and stairs bring along, for its weight."""
    is_listed = any(item.kind == HEIGHT.name for item in features.items)
    if is_listed or not app.database.status.get_status(obj).has_heights:
        return
    base.draw_wrapped_text(layout, "Clips on slopes are also compared by Height", "INFO")
    name = "motion_matching.add_feature"
    icon = cast(Any, HEIGHT.icon)
    button = layout.operator(name, text="Adjust Height", icon=icon)
    base.set_options(button, kind=HEIGHT.name)


class MOTION_MATCHING_PT_features(
    base.StateHeader, base.AdvancedPanel, base.DatabasePanel, bpy.types.Panel
):
    """Features to compare frames by, and the weight of each"""

    @classmethod
    def is_in_use(cls, obj: bpy.types.Object, settings: MotionMatchingSettings) -> bool:
        features = settings.features
        is_own = bool(features.items) and features.preset != "default"
        return is_own or is_changed(features, _SETTINGS)

    def get_state(
        self, obj: bpy.types.Object, settings: MotionMatchingSettings
    ) -> base.State | None:
        dimensions = app.database.status.get_status(obj).dimensions
        return ("NONE", f"{dimensions} Values") if dimensions else None

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        features = settings.features
        layout = self.layout
        base.draw_preset_row(layout, "features", features.preset)
        column = base.split_layout(layout)
        column.prop(features, "responsiveness", slider=True)
        column.prop(features, "continuity", slider=True)
        row = column.row()
        row.active = app.controller.features.has_past(features)
        row.prop(features, "past", slider=True)
        if not features.items:
            name = "motion_matching.apply_preset"
            adjust = layout.operator(name, text="Adjust Default Features", icon="OPTIONS")
            base.set_options(adjust, kind="features", filepath="default")
            return
        if runtime.live and not runtime.live.plays_features:
            hint = "The live session uses other features: start it again to use these"
            base.draw_wrapped_text(layout, hint, "INFO")
        side = base.draw_list(layout, "MOTION_MATCHING_UL_features", features, "items", "index")
        side.menu("MOTION_MATCHING_MT_add_feature", text="", icon="ADD")
        side.operator("motion_matching.remove_feature", text="", icon="REMOVE")
        side.separator()
        base.draw_move_buttons(side, "motion_matching.move_feature")
        _draw_height(layout, obj, features)
        column = base.split_layout(layout)
        item = get_active(features.items, features.index)
        if item is not None:
            kind = find_kind(item.kind)
            column.prop(item, "kind")
            column.prop(item, "times" if kind.is_path else "bone")
            if kind.has_times and not kind.is_path:
                column.prop(item, "bone_times")
            if not kind.is_number:
                column.prop(item, "axes")
            if kind.longest_fade:
                column.prop(item, "time")
        column = base.split_layout(layout)
        column.prop(features, "normalization")
        column.prop(features, "difference")
        column.prop(features, "beyond_range")
