"""Operators on presets: JSON files that Blender's preset menus list, shipped ones and the user's own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..engine import presets
from ..engine.errors import MotionMatchingError, SettingsError
from . import feature_list, polls, request, rig_status
from .properties_sources import ROLES

KINDS = [
    ("features", "Features", "What frames are compared by"),
    ("controllers", "Controller", "How the character answers"),
    ("rigs", "Roles", "Bones by role"),
]


def add_shipped() -> None:
    """Have Blender find the shipped presets."""
    bpy.utils.register_preset_path(_shipped())


def remove_shipped() -> None:
    """Have Blender find them no more."""
    bpy.utils.unregister_preset_path(_shipped())


def _shipped() -> str:
    """The folder in which Blender looks for `presets/`."""
    return str(presets.folder("features").parents[2])


def user_folder(kind: str, create: bool = False) -> Path:
    """Where the user's own presets of a kind lie. SettingsError where there is no such place."""
    found = bpy.utils.user_resource(
        "SCRIPTS", path=f"presets/motion_matching/{kind}", create=create
    )
    if create and not found:
        raise SettingsError(
            "Blender has no folder for presets of your own; see that it may write to its user folder."
        )
    return Path(found)


def _kind() -> Any:
    return EnumProperty(name="Kind", items=KINDS, description="What the preset is about")


class MOTION_MATCHING_OT_apply_preset(bpy.types.Operator):
    """Take over the settings of a preset"""

    bl_idname = "motion_matching.apply_preset"
    bl_label = "Apply Preset"
    bl_options = {"REGISTER", "UNDO"}

    kind: _kind()
    filepath: StringProperty(
        name="File",
        subtype="FILE_PATH",
        description="JSON file of the preset, or the name of a shipped one",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_armature_also_live(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = request.armature_of(context).motion_matching
        try:
            data, name = presets.load(self.kind, self.filepath), Path(self.filepath).stem
            if self.kind == "features":
                feature_list.set_features(settings.features, data, name)
            elif self.kind == "rigs":
                request.set_roles(
                    settings.roles, request.roles_in(request.armature_of(context), data, name), name
                )
            else:
                request.set_controller(settings.controller, data.get("settings"), name)
        except MotionMatchingError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class MOTION_MATCHING_OT_save_preset(bpy.types.Operator):
    """Keep these settings as a preset of your own"""

    bl_idname = "motion_matching.save_preset"
    bl_label = "Save Preset"
    bl_options = {"REGISTER"}

    kind: _kind()
    name: StringProperty(
        name="Name",
        default="My Preset",
        description="Name of the preset, and of its file",
        maxlen=60,
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_armature_also_live(cls, context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.prop(self, "name")

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..engine.files import replacing

        settings = request.armature_of(context).motion_matching
        name = re.sub(r"\W+", "_", self.name).strip("_").lower()
        try:
            if not name:
                raise SettingsError(
                    f"'{self.name}' cannot be the name of a file; use letters and digits."
                )
            if self.kind == "features":
                if not settings.features.items:
                    raise SettingsError(
                        "There are no features to keep; apply a preset first, and change it."
                    )
                feature_list.schema_of(settings.features)
                data, owner = feature_list.features_data(settings.features), settings.features
            elif self.kind == "rigs":
                # with nothing given, what was found is worth keeping
                bones = (
                    request.roles_of(settings)
                    or rig_status.refresh(request.armature_of(context)).roles
                )
                if not bones:
                    raise SettingsError(
                        "There are no roles to keep; choose bones for hips, spine and legs first."
                    )
                data, owner = (
                    {"roles": {role: bone for role, bone in bones.items() if role in ROLES}},
                    settings.roles,
                )
            else:
                data, owner = (
                    {"settings": request.controller_data(settings.controller)},
                    settings.controller,
                )
            with replacing(
                user_folder(self.kind, create=True) / f"{name}.json", SettingsError
            ) as temporary:
                temporary.write_text(json.dumps(data, indent=4), encoding="utf-8")
        except MotionMatchingError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        owner.preset = name
        return {"FINISHED"}


class MOTION_MATCHING_OT_remove_preset(bpy.types.Operator):
    """Delete the preset of your own that was applied or saved last; the settings stay"""

    bl_idname = "motion_matching.remove_preset"
    bl_label = "Remove Preset"
    bl_options = {"REGISTER"}

    kind: _kind()
    name: StringProperty(name="Name", description="Name of the preset")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_armature_also_live(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        path = user_folder(self.kind) / f"{self.name}.json"
        if not self.name or not path.is_file():
            self.report(
                {"ERROR"}, f"There is no preset '{self.name}' of your own; shipped ones stay."
            )
            return {"CANCELLED"}
        try:
            path.unlink()
        except OSError as cause:
            self.report(
                {"ERROR"},
                f"{path} cannot be deleted ({cause.strerror}); see that you may write there.",
            )
            return {"CANCELLED"}
        return {"FINISHED"}


class _PresetMenu:
    """A menu of the presets of a kind, shipped ones and the user's own, as Blender's own preset menus are."""

    preset_operator = MOTION_MATCHING_OT_apply_preset.bl_idname
    preset_extensions = {".json"}
    kind = ""

    def draw(self: Any, context: bpy.types.Context) -> None:
        self.path_menu(
            bpy.utils.preset_paths(f"motion_matching/{self.kind}"),
            self.preset_operator,
            props_default={"kind": self.kind},
            filter_ext=lambda ending: ending.lower() in self.preset_extensions,
            display_name=bpy.path.display_name,
        )


class MOTION_MATCHING_MT_features(_PresetMenu, bpy.types.Menu):
    """Presets of what frames are compared by"""

    bl_label = "Feature Presets"
    kind = "features"


class MOTION_MATCHING_MT_controllers(_PresetMenu, bpy.types.Menu):
    """Presets of how the character answers"""

    bl_label = "Controller Presets"
    kind = "controllers"


class MOTION_MATCHING_MT_rigs(_PresetMenu, bpy.types.Menu):
    """Bones by role, as common rigs name them"""

    bl_label = "Rig Presets"
    kind = "rigs"


CLASSES = (
    MOTION_MATCHING_OT_apply_preset,
    MOTION_MATCHING_OT_save_preset,
    MOTION_MATCHING_OT_remove_preset,
    MOTION_MATCHING_MT_features,
    MOTION_MATCHING_MT_controllers,
    MOTION_MATCHING_MT_rigs,
)
