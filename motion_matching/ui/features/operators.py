"""Operators on the list of features: add, remove and move one. They also run while live."""

from __future__ import annotations

from typing import Any, cast

import bpy

from ... import app
from ...app.character.characters import get_active_settings
from ...app.property_access import ActiveItem, get_active
from ...engine.database.features.kinds import KINDS as FEATURE_KINDS
from ...engine.database.features.kinds import find_kind
from ...engine.errors import SettingsError
from ..base.function_operators import operator
from ..base.operator_base import CHARACTER_ALSO_LIVE, MoveOperator, Operator, n_
from ..base.panel_base import set_options
from ..base.typed_properties import choice, text
from .properties import AHEAD, BEHIND, KINDS, MotionMatchingFeatures, get_title


def has_feature(context: bpy.types.Context) -> str:
    features = get_active_settings(context).features
    active = get_active(features.items, features.index)
    return "" if active else n_("Choose a preset, or add a feature first")


def _get_feature(context: bpy.types.Context) -> ActiveItem:
    features = get_active_settings(context).features
    title = get_title(features.items[features.index])
    return ActiveItem(features, "items", "index", f"The feature '{title}'")


def _finish_edit(features: MotionMatchingFeatures) -> None:
    features.preset = ""
    app.database.status.invalidate()


class MOTION_MATCHING_OT_add_feature(Operator, bpy.types.Operator):
    """Add a feature to compare frames by. Build again to use it; a live session is not affected"""

    requires = CHARACTER_ALSO_LIVE

    kind: str = choice("bone_position", "Kind", "Quantity to compare", KINDS)
    bone: str = text(
        "",
        "Bone",
        "Role such as left_foot, or the name of a bone; empty for one without this feature",
        options={"SKIP_SAVE"},
    )
    times: str = text(
        "",
        "Times",
        "Seconds from now, separated by commas; negative: looks back, empty: the next second, or "
        "for a bone now",
        options={"SKIP_SAVE"},
    )

    def run(self, context: bpy.types.Context) -> None:
        features = get_active_settings(context).features
        if not features.items:  # the default ones are in use without a list
            app.controller.features.set_default_features(features)
        index = min(features.index + 1, len(features.items))
        present = {(item.kind, item.bone) for item in features.items}
        item = app.property_access.add(features.items, self.kind)
        item.kind = self.kind
        kind = find_kind(self.kind)
        item.axes = kind.axes[0]
        if kind.is_path:
            item.bone = ""
            item.times = self.times or AHEAD
        else:
            roles = kind.usual_bones
            missing = (role for role in roles if (self.kind, role) not in present)
            item.bone = self.bone or next(missing, roles[0])
            item.times = ""
            item.bone_times = self.times if kind.has_times else ""
        features.items.move(len(features.items) - 1, index)
        features.index = index
        _finish_edit(features)


@operator(requires=(*CHARACTER_ALSO_LIVE, has_feature))
def remove_feature(context: bpy.types.Context) -> None:
    """Remove the active feature. To ignore it for a while, set its weight to zero instead, which \
needs no build"""
    features = get_active_settings(context).features
    if len(features.items) == 1:
        raise SettingsError("The search needs at least one feature; add another first.")
    _get_feature(context).remove()
    _finish_edit(features)


class MOTION_MATCHING_OT_move_feature(MoveOperator, bpy.types.Operator):
    """Move the active feature in the list; the order makes no difference to the motion"""

    requires = (*CHARACTER_ALSO_LIVE, has_feature)

    def get_item(self, context: bpy.types.Context) -> ActiveItem:
        return _get_feature(context)

    def finish(self, context: bpy.types.Context) -> None:
        _finish_edit(get_active_settings(context).features)


class MOTION_MATCHING_MT_add_feature(bpy.types.Menu):
    """Features to compare frames by"""

    bl_label = "Add Feature"

    def draw(self, context: bpy.types.Context) -> None:
        for times, suffix in (("", ""), (AHEAD, " Ahead"), (BEHIND, " Behind")):
            for kind in FEATURE_KINDS:
                if kind.is_path == bool(times):
                    add = MOTION_MATCHING_OT_add_feature.bl_idname
                    icon = cast(Any, kind.icon)
                    button = self.layout.operator(add, text=f"{kind.label}{suffix}", icon=icon)
                    set_options(button, kind=kind.name, times=times)
            if suffix != " Behind":
                self.layout.separator()
