"""Operators that put motion of other characters onto this one, and find bones by role."""

from __future__ import annotations

import bpy
from bpy_extras.io_utils import ImportHelper

from ... import app, scene
from ...app.character.characters import get_active_armature
from ...app.property_access import settings_of
from ...engine.errors import SettingsError
from ..base.operator_base import (
    CHARACTER,
    CHARACTER_ALSO_LIVE,
    BrowsingOperator,
    Operator,
    SteppedOperator,
    can_assign_action,
    in_object_mode,
    n_,
)
from ..base.typed_properties import integer
from ..database.operators_import import (
    EXTENSION,
    CharacterOption,
    FilesOption,
    filter_files,
    find_files,
    get_chosen_paths,
)


def has_retarget_action(context: bpy.types.Context) -> str:
    message = n_("Choose an action, or also select the armature that plays it")
    found = app.retarget.retargeting.find_action(context, get_active_armature(context))
    return "" if found else message


def has_bones(context: bpy.types.Context) -> str:
    pairs = settings_of(get_active_armature(context)).retarget.pairs
    return "" if pairs else n_("There are no bones to clear: they are found when you retarget")


def has_results(context: bpy.types.Context) -> str:
    results = settings_of(get_active_armature(context)).retarget.results
    return "" if results else n_("There are no wrong results")


class _RetargetOperator(SteppedOperator):
    """Base class of operators that create actions. Once they exist, Esc only ends the check of \
them."""

    @property
    def keeps_best(self) -> bool:
        return app.retarget.retarget_results.is_checking()


class MOTION_MATCHING_OT_retarget_action(_RetargetOperator, bpy.types.Operator):
    """Retarget an action of another armature to this one, as a new action. Uses the chosen \
action, or the one the other selected armature plays. Bones may have any names and rest pose"""

    bl_idname = "motion_matching.retarget_action"
    bl_label = "Retarget Action"
    requires = (*CHARACTER, can_assign_action, has_retarget_action)

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        source = app.retarget.retargeting.find_source(context, obj)
        return (yield from app.retarget.retargeting.retarget_action_steps(obj, source))


class MOTION_MATCHING_OT_retarget_file(  # type: ignore[misc]  # bpy's types of both differ
    FilesOption,
    CharacterOption,
    _RetargetOperator,
    BrowsingOperator,
    bpy.types.Operator,
    ImportHelper,
):
    """Retarget BVH, FBX or glTF files to this armature, as new actions. Bones may have any names \
and rest pose. Nothing else is imported"""

    bl_idname = "motion_matching.retarget_file"
    bl_label = "Retarget File"
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    requires = (*CHARACTER, can_assign_action)

    filter_glob: str = filter_files("*.bvh;*.fbx;*.glb;*.gltf;*.vrma")

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        endings = scene.retargeting.files.READABLE
        chosen = get_chosen_paths(self, endings)
        paths = [path for one in chosen for path in find_files(one, endings)]
        imported = [path for path in paths if path.suffix.lower() != EXTENSION]
        if imported and (problem := in_object_mode(context)):
            raise SettingsError(f"{problem}, as Blender's importer of {imported[0].name} needs it.")
        obj = get_active_armature(context)
        character = self.character or None
        return (yield from app.retarget.retargeting.retarget_files_steps(obj, paths, character))


def has_better_axes(context: bpy.types.Context) -> str:
    axes = app.retarget.retargeting.get_better_axes(get_active_armature(context))
    return "" if axes else n_("The last retargeted files need no other axes")


class MOTION_MATCHING_OT_retarget_again(_RetargetOperator, bpy.types.Operator):
    """Retarget the last files again with the axes that make the character stand upright, and use \
these axes from now on. The actions made before stay"""

    bl_idname = "motion_matching.retarget_again"
    bl_label = "Use These Axes"
    requires = (*CHARACTER, can_assign_action, has_better_axes)

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        return (
            yield from app.retarget.retargeting.retarget_again_steps(get_active_armature(context))
        )


class MOTION_MATCHING_OT_find_retarget_bones(SteppedOperator, bpy.types.Operator):
    """Find the bones of both armatures by role, to review and change them before retargeting"""

    bl_idname = "motion_matching.find_retarget_bones"
    bl_label = "Find Bones"
    requires = (*CHARACTER, has_retarget_action)

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        source = app.retarget.retargeting.find_source(context, obj)
        return (yield from app.retarget.retargeting.find_bones_steps(obj, source))


class MOTION_MATCHING_OT_clear_retarget_bones(Operator, bpy.types.Operator):
    """Clear the bones in the table, and find all again"""

    bl_idname = "motion_matching.clear_retarget_bones"
    bl_label = "Clear Bones"
    requires = (*CHARACTER_ALSO_LIVE, has_bones)

    def run(self, context: bpy.types.Context) -> None:
        app.mapping.bone_table.clear_bones(get_active_armature(context))


class MOTION_MATCHING_OT_show_retarget_result(Operator, bpy.types.Operator):
    """Play this action, go to the frame with the largest error, and select the wrong bones"""

    bl_idname = "motion_matching.show_retarget_result"
    bl_label = "Show Wrong Result"
    requires = (*CHARACTER, can_assign_action, has_results)

    index: int = integer(0, "Result", "Place in the list of results", min=0, options={"SKIP_SAVE"})

    def run(self, context: bpy.types.Context) -> str:
        return app.retarget.retarget_results.show(
            get_active_armature(context), self.index, context.scene
        )


class MOTION_MATCHING_OT_clear_retarget_results(Operator, bpy.types.Operator):
    """Clear the list of wrong results; the actions stay"""

    bl_idname = "motion_matching.clear_retarget_results"
    bl_label = "Clear Results"
    requires = (*CHARACTER_ALSO_LIVE, has_results)

    def run(self, context: bpy.types.Context) -> None:
        settings_of(get_active_armature(context)).retarget.results.clear()
