"""Operators on how the bones of a source are mapped to the character's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy

from ... import app
from ...app.character.characters import get_active_armature
from ...app.runtime import runtime
from ..base import operator_base as base
from ..base.function_operators import operator
from ..base.typed_properties import choice, listed, text

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
    obj, source = get_active_armature(context or bpy.context), base.get_active_source(bpy.context)
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


class MOTION_MATCHING_OT_choose_bone(base.Operator, bpy.types.Operator):
    """Choose the bone for a part of the body, in the source or in the character"""

    bl_property = "bone"
    requires = (*base.CHARACTER, base.has_active_source)

    role: str = text("", "Role", "Part of the body")
    side: str = choice("SOURCE", "Side", "Whose bone it is", _SIDES)
    bone: str = listed("Bone", "Bone of this part of the body", _list_bones)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context) -> None:
        obj, source = get_active_armature(context), base.get_active_source(context)
        app.mapping.mapping.choose_bone(obj, source, self.side == "SOURCE", self.role, self.bone)
        app.database.status.invalidate()


@operator("Find All Bones", requires=(*base.CHARACTER, base.has_active_source))
def reset_mapping(context: bpy.types.Context) -> None:
    """Clear the bones chosen by hand, and find all automatically"""
    obj, source = get_active_armature(context), base.get_active_source(context)
    if not app.mapping.mapping.reset(obj, source):
        raise base.NothingToDoError("No bone was chosen by hand")
    app.database.status.invalidate()
