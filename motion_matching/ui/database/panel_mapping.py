"""Draw the mapping of the active source's bones to the character's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ... import app
from ..base import panel_base as base
from ..properties import MotionMatchingSettings

if TYPE_CHECKING:
    from ...app.mapping.mapping import SourceState
    from ...engine.retargeting.pairs.bone_mapping import BonePair

ICONS: Any = {"same": "CHECKMARK", "mapped": "ARMATURE_DATA", "help": "ERROR"}


def find_state(obj: bpy.types.Object, source: Any) -> SourceState | None:
    """Return how the skeleton of a source is used, if that is known."""
    return app.database.status.get_status(obj).states.get(source.name)


class MOTION_MATCHING_PT_mapping(base.StateHeader, base.SourcePanel, bpy.types.Panel):
    """Which bones of the active source move which bones of the character"""

    bl_label = "Bones"
    bl_parent_id = "MOTION_MATCHING_PT_source"

    def get_state(
        self, obj: bpy.types.Object, settings: MotionMatchingSettings
    ) -> base.State | None:
        state = find_state(obj, settings.sources[settings.source_index])
        return (ICONS[state.kind], state.text) if state else None

    def draw_settings(self, obj: bpy.types.Object, settings: MotionMatchingSettings) -> None:
        source, layout = settings.sources[settings.source_index], self.layout
        state = find_state(obj, source)
        if state is None or state.kind == "same":
            base.draw_wrapped_text(layout, "The source has the character's skeleton", "CHECKMARK")
            return
        if state.reason:
            base.draw_wrapped_text(layout, state.reason, "ERROR")
        if state.mapping:
            _draw_pairs(layout, state.mapping.pairs)
        row = layout.row(align=True)
        row.menu("MOTION_MATCHING_MT_source_mappings", text="Presets")
        base.draw_icon(row, "motion_matching.save_preset", "ADD", kind="mappings", for_source=True)
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
            base.set_options(button, role=pair.role, side=side)
