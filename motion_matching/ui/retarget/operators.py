"""Operators that put motion of other characters onto this one, and find bones by role."""

from __future__ import annotations

import bpy
from bpy_extras.io_utils import ImportHelper

from ... import app, scene
from ...app.character.characters import get_active_armature
from ...app.property_access import settings_of
from ...engine.errors import SettingsError
from ..base import operator_base as base
from ..base.function_operators import operator, stepped_operator
from ..base.typed_properties import integer
from ..database import operators_import as imports


def has_retarget_action(context: bpy.types.Context) -> str:
    message = base.n_("Choose an action, or also select the armature that plays it")
    found = app.retarget.retargeting.find_action(context, get_active_armature(context))
    return "" if found else message


def has_bones(context: bpy.types.Context) -> str:
    pairs = settings_of(get_active_armature(context)).retarget.pairs
    return "" if pairs else base.n_("There are no bones to clear: they are found when you retarget")


def has_results(context: bpy.types.Context) -> str:
    results = settings_of(get_active_armature(context)).retarget.results
    return "" if results else base.n_("There are no wrong results")


class _RetargetOperator(base.SteppedOperator):
    """Base class of operators that create actions. Once they exist, Esc only ends the check of \
them."""

    @property
    def keeps_best(self) -> bool:
        return app.retarget.retarget_results.is_checking()


class MOTION_MATCHING_OT_retarget_action(_RetargetOperator, bpy.types.Operator):
    """Retarget an action of another armature to this one, as a new action. Uses the chosen \
action, or the one the other selected armature plays. Bones may have any names and rest pose"""

    requires = (*base.CHARACTER, base.can_assign_action, has_retarget_action)

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        source = app.retarget.retargeting.find_source(context, obj)
        return app.retarget.retargeting.retarget_action_steps(obj, source)


class MOTION_MATCHING_OT_retarget_file(  # type: ignore[misc]  # bpy's types of both differ
    imports.FilesOption,
    imports.CharacterOption,
    _RetargetOperator,
    base.BrowsingOperator,
    bpy.types.Operator,
    ImportHelper,
):
    """Retarget BVH, FBX or glTF files to this armature, as new actions. Bones may have any names \
and rest pose. Nothing else is imported"""

    bl_options = {"REGISTER", "UNDO", "PRESET"}
    requires = (*base.CHARACTER, base.can_assign_action)

    filter_glob: str = imports.filter_files("*.bvh;*.fbx;*.glb;*.gltf;*.vrma")

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        endings = scene.retargeting.files.READABLE
        paths = imports.find_chosen_files(self, endings)
        imported = [path for path in paths if path.suffix.lower() != imports.EXTENSION]
        if imported and (problem := base.in_object_mode(context)):
            raise SettingsError(f"{problem}, as Blender's importer of {imported[0].name} needs it.")
        obj = get_active_armature(context)
        character = self.character or None
        return app.retarget.retargeting.retarget_files_steps(obj, paths, character)


def has_better_axes(context: bpy.types.Context) -> str:
    axes = app.retarget.retargeting.get_better_axes(get_active_armature(context))
    return "" if axes else base.n_("The last retargeted files need no other axes")


class MOTION_MATCHING_OT_retarget_again(_RetargetOperator, bpy.types.Operator):
    """Retarget the last files again with the axes that make the character stand upright, and use \
these axes from now on. The actions made before stay"""

    bl_label = "Use These Axes"
    requires = (*base.CHARACTER, base.can_assign_action, has_better_axes)

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        return app.retarget.retargeting.retarget_again_steps(get_active_armature(context))


@stepped_operator("Find Bones", requires=(*base.CHARACTER, has_retarget_action))
def find_retarget_bones(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Find the bones of both armatures by role, to review and change them before retargeting"""
    obj = get_active_armature(context)
    source = app.retarget.retargeting.find_source(context, obj)
    return app.retarget.retargeting.find_bones_steps(obj, source)


@operator("Clear Bones", requires=(*base.CHARACTER_ALSO_LIVE, has_bones))
def clear_retarget_bones(context: bpy.types.Context) -> None:
    """Clear the bones in the table, and find all again"""
    app.mapping.bone_table.clear_bones(get_active_armature(context))


class MOTION_MATCHING_OT_show_retarget_result(base.Operator, bpy.types.Operator):
    """Play this action, go to the frame with the largest error, and select the wrong bones"""

    bl_label = "Show Wrong Result"
    requires = (*base.CHARACTER, base.can_assign_action, has_results)

    index: int = integer(0, "Result", "Place in the list of results", min=0, options={"SKIP_SAVE"})

    def run(self, context: bpy.types.Context) -> str:
        return app.retarget.retarget_results.show(
            get_active_armature(context), self.index, context.scene
        )


@operator("Clear Results", requires=(*base.CHARACTER_ALSO_LIVE, has_results))
def clear_retarget_results(context: bpy.types.Context) -> None:
    """Clear the list of wrong results; the actions stay"""
    settings_of(get_active_armature(context)).retarget.results.clear()
