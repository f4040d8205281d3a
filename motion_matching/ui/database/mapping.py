"""The mapping of the active source's bones to the character's: its operators and its panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import bpy

from ... import app
from ...app.character.characters import get_active_armature
from ...app.runtime import runtime
from ..base import operator_base, panel_base
from ..base.function_operators import operator
from ..base.typed_properties import choice, listed, text
from ..properties import MotionMatchingSettings

if TYPE_CHECKING:
    from ...app.mapping.mapping import SourceState
    from ...engine.retargeting.pairs.bone_mapping import BonePair

_SIDES = (
    ("SOURCE", "Source", "A bone of the source's skeleton"),
    ("CHARACTER", "Character", "A bone of this armature"),
)


@dataclass
class _BoneItems:
    """The items of the menu that is open: Blender keeps no reference to their texts."""

    items: Sequence[tuple[str, str, str]] = field(default_factory=list)


def _list_bones(operator: Any, context: bpy.types.Context | None) -> Sequence[tuple[str, str, str]]:
    """Return the bones to choose from, after the choice to have one found and to use none."""
    obj = get_active_armature(context or bpy.context)
    source = operator_base.get_active_source(bpy.context)
    if operator.side == "SOURCE":
        names = app.mapping.source_skeletons.read_source_skeleton(obj, source).names
    else:
        names = app.mapping.source_skeletons.read_own_skeleton(obj).names
    shown = runtime.get_cache(_BoneItems)
    shown.items = [
        (app.mapping.mapping.AUTOMATIC, "Automatic", "Find the bone by its name and place"),
        (app.mapping.mapping.NO_BONE, "None", "Leave this part of the body in its rest pose"),
        *((name, name, f"Use the bone '{name}'") for name in names),
    ]
    return shown.items


class MOTION_MATCHING_OT_choose_bone(operator_base.Operator, bpy.types.Operator):
    """Choose the bone for a part of the body, in the source or in the character"""

    bl_property = "bone"
    requires = (*operator_base.CHARACTER, operator_base.has_active_source)

    role: str = text("", "Role", "Part of the body")
    side: str = choice("SOURCE", "Side", "Whose bone it is", _SIDES)
    bone: str = listed("Bone", "Bone of this part of the body", _list_bones)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context) -> None:
        obj = get_active_armature(context)
        source = operator_base.get_active_source(context)
        app.mapping.mapping.choose_bone(obj, source, self.side == "SOURCE", self.role, self.bone)
        app.database.status.invalidate()


@operator("Find All Bones", requires=(*operator_base.CHARACTER, operator_base.has_active_source))
def reset_mapping(context: bpy.types.Context) -> None:
    """Clear the bones chosen by hand, and find all automatically"""
    obj = get_active_armature(context)
    source = operator_base.get_active_source(context)
    if not app.mapping.mapping.reset(obj, source):
        raise operator_base.NothingToDoError("No bone was chosen by hand")
    app.database.status.invalidate()


ICONS: Any = {"same": "CHECKMARK", "mapped": "ARMATURE_DATA", "help": "ERROR"}


def find_state(obj: bpy.types.Object, source: Any) -> SourceState | None:
    """Return how the skeleton of a source is used, if that is known."""
    return app.database.status.get_status(obj).states.get(source.name)


class MOTION_MATCHING_PT_mapping(panel_base.StateHeader, panel_base.SourcePanel, bpy.types.Panel):
    """Which bones of the active source move which bones of the character"""

    bl_label = "Bones"
    bl_parent_id = "MOTION_MATCHING_PT_source"

    def get_state(
        self, obj: bpy.types.Object, settings: MotionMatchingSettings
    ) -> panel_base.State | None:
        state = find_state(obj, settings.sources[settings.source_index])
        return (ICONS[state.kind], state.text) if state else None

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        source = settings.sources[settings.source_index]
        layout = self.layout
        state = find_state(obj, source)
        if state is None or state.kind == "same":
            panel_base.draw_wrapped_text(
                layout, "The source has the character's skeleton", "CHECKMARK"
            )
            return
        if state.reason:
            panel_base.draw_wrapped_text(layout, state.reason, "ERROR")
        if state.mapping:
            _draw_pairs(layout, state.mapping.pairs)
        row = layout.row(align=True)
        row.menu("MOTION_MATCHING_MT_source_mappings", text="Presets")
        panel_base.draw_icon(
            row, "motion_matching.save_preset", "ADD", kind="mappings", for_source=True
        )
        layout.operator("motion_matching.reset_mapping", icon="LOOP_BACK")


def _draw_pairs(layout: bpy.types.UILayout, pairs: tuple[BonePair, ...]) -> None:
    """Draw a row for each part of the body: its name, the source's bone, and the character's."""
    column = layout.column(align=True)
    for pair in pairs:
        row = column.row(align=True)
        is_unsure = pair.target and app.mapping.bone_table.is_doubtful(pair.confidence)
        icon: Any = "QUESTION" if is_unsure else "NONE"
        row.label(text=pair.role.replace("_", " ").title(), icon=icon)
        for side, bones in (("SOURCE", pair.source), ("CHARACTER", pair.target)):
            text = bones[0] if bones else "-"
            button = row.operator("motion_matching.choose_bone", text=text)
            panel_base.set_options(button, role=pair.role, side=side)
