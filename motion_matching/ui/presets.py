"""Presets: JSON files, shipped ones and the user's own, with Blender's menus and operators."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import bpy

from .. import app, engine
from ..app.character.characters import get_active_armature, get_active_settings
from ..app.property_access import settings_of
from ..engine import names
from ..engine.errors import SettingsError
from ..engine.files import json_files, presets
from ..engine.skeleton.bone_names import ROLES
from .base.operator_base import CHARACTER_ALSO_LIVE, ConfirmedOperator, Operator
from .base.typed_properties import choice, switch, text

KINDS = (
    ("features", "Features", "Features to compare frames by"),
    ("controllers", "Controller", "How the character responds"),
    ("rigs", "Roles", "Bones by role"),
    ("mappings", "Bones", "Bones by role of a source and of the character, for retargeting"),
)
BIN = "removed"  # folder of removed presets, beside those of the kinds


def add_shipped() -> None:
    """Have Blender find the shipped presets."""
    bpy.utils.register_preset_path(_get_shipped_folder())


def remove_shipped() -> None:
    """Undo `add_shipped`."""
    bpy.utils.unregister_preset_path(_get_shipped_folder())


def _get_shipped_folder() -> str:
    return str(presets.find_folder("features").parents[2])


def get_user_folder(kind: str, create: bool = False) -> Path:
    """Return the folder of the user's own presets. SettingsError if it cannot be created."""
    path = f"presets/motion_matching/{kind}"
    folder = bpy.utils.user_resource("SCRIPTS", path=path, create=create)
    if create and not folder:
        raise SettingsError(
            "Blender has no folder for your presets; make sure that it may write to its own."
        )
    return Path(folder)


def _move_to_bin(path: Path) -> Path:
    """Move a preset of the user's to the folder of removed ones; return where it is now.

    Raises SettingsError, with the preset still in its place, if that cannot be done.
    """
    kind = path.parent.name
    number = 1
    try:
        folder = path.parents[1] / BIN / kind
        folder.mkdir(parents=True, exist_ok=True)
        moved = folder / path.name
        while os.path.lexists(moved):  # presets of one name that were removed before
            number += 1
            moved = folder / f"{path.stem} {number}{path.suffix}"
        path.rename(moved)
    except OSError as cause:
        raise SettingsError(
            f"{path} cannot be moved to the removed presets ({cause.strerror}); make sure that you "
            "may write there."
        ) from cause
    return moved


class _PresetOperator(Operator):
    requires = CHARACTER_ALSO_LIVE

    kind: str = choice("features", "Kind", "What the preset is for", KINDS)
    for_source: bool = switch(
        False, "For Source", "Map the active source of the database instead of the panel Retarget"
    )


class MOTION_MATCHING_OT_apply_preset(_PresetOperator, bpy.types.Operator):
    """Use the settings of a preset"""

    filepath: str = text(
        "", "File", "JSON file of the preset, or the name of a shipped one", subtype="FILE_PATH"
    )

    def run(self, context: bpy.types.Context) -> None:
        settings = get_active_settings(context)
        name = Path(self.filepath).stem
        if self.kind == "mappings" and self.for_source:
            obj = get_active_armature(context)
            app.mapping.mapping.apply_preset(obj, _get_source(obj), self.filepath, name)
            app.database.status.invalidate()
            return
        if self.kind == "mappings":
            app.mapping.bone_table.load_bones(settings.retarget, self.filepath, name)
            return
        data = presets.load(self.kind, self.filepath)
        if self.kind == "features":
            app.controller.features.set_features(settings.features, data, name)
        elif self.kind == "rigs":
            bones = app.settings.resolve_preset_roles(get_active_armature(context), data, name)
            app.settings.set_roles(settings.roles, bones, name)
        else:
            app.settings.set_controller(settings.controller, data.get("settings"), name)


class MOTION_MATCHING_OT_save_preset(_PresetOperator, bpy.types.Operator):
    """Save these settings as your own preset"""

    bl_options = {"REGISTER"}

    name: str = text("My Preset", "Name", "Name of the preset, and of its file", maxlen=60)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.prop(self, "name")

    def run(self, context: bpy.types.Context) -> None:
        name = re.sub(r"\W+", "_", self.name).strip("_").lower()
        if not name:
            raise SettingsError(f"'{self.name}' cannot name a file; use letters and digits.")
        obj = get_active_armature(context)
        if self.kind == "mappings" and self.for_source:
            data, owner = app.mapping.mapping.collect_preset(obj, _get_source(obj))
        else:
            data, owner = _collect_data(self.kind, obj)
        path = names.get_child(get_user_folder(self.kind, create=True), name, ".json")
        with engine.files.file_paths.replacing(path, SettingsError) as temporary:
            temporary.write_text(json_files.to_text(data, indent=4), encoding="utf-8")
            if os.path.isfile(path):
                _move_to_bin(path)
        owner.preset = name


def _collect_data(kind: str, obj: bpy.types.Object) -> tuple[dict[str, Any], Any]:
    """Return what a preset holds of a character, and the group that it is from."""
    settings = settings_of(obj)
    if kind == "controllers":
        data = app.settings.get_controller_data(settings.controller)
        return {"settings": data}, settings.controller
    if kind == "features":
        if not settings.features.items:
            raise SettingsError("There are no features to save; apply a preset and change it.")
        app.controller.features.build_schema(settings.features)
        return app.controller.features.get_features_data(settings.features), settings.features
    if kind == "mappings":
        return app.mapping.bone_table.get_mapping_data(settings.retarget), settings.retarget
    # if no roles are chosen, those that were found are worth saving
    bones = (
        app.character.characters.get_roles(settings) or app.character.rig_status.refresh(obj).roles
    )
    if not bones:
        raise SettingsError("There are no roles to save; choose bones for hips, spine and legs.")
    return {"roles": {role: bones[role] for role in bones if role in ROLES}}, settings.roles


def _get_source(obj: bpy.types.Object) -> Any:
    """Return the active source. SettingsError if there is none."""
    if source := app.sources.source_list.get_active_source(obj):
        return source
    raise SettingsError("There is no source with mapped bones; add one first.")


class MOTION_MATCHING_OT_remove_preset(ConfirmedOperator, _PresetOperator, bpy.types.Operator):
    """Remove your own preset that was applied or saved last. The settings stay, and the file \
moves to the folder of removed presets"""

    bl_options = {"REGISTER"}

    name: str = text("", "Name", "Name of the preset")

    def get_question(self) -> str:
        return f"'{self.name}' moves to the folder of removed presets."

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        try:
            self._find_path()
        except SettingsError as error:
            return self._fail(error)
        return super().invoke(context, event)

    def run(self, context: bpy.types.Context) -> str:
        return f"Removed '{self.name}': its file is {_move_to_bin(self._find_path())} now"

    def _find_path(self) -> Path:
        """Return the file. SettingsError if the user has no such preset."""
        # the name comes from the Blender file, which may be anybody's
        path = names.get_child(get_user_folder(self.kind), self.name, ".json")
        if not os.path.isfile(path):
            message = f"You have no preset '{self.name}' of your own"
            raise SettingsError(f"{message}; shipped ones cannot be removed.")
        return path


class _PresetMenu:
    """A menu of the presets of a kind, as Blender's own preset menus are."""

    preset_operator = MOTION_MATCHING_OT_apply_preset.bl_idname
    preset_extensions = frozenset({".json"})
    kind = ""
    for_source = False

    def draw(self, context: bpy.types.Context) -> None:
        menu: Any = self  # whose type says less than Blender takes
        folders = bpy.utils.preset_paths(f"motion_matching/{self.kind}")
        if not folders:
            menu.layout.label(text="None Saved Yet")
            return
        menu.path_menu(
            folders,
            self.preset_operator,
            props_default={"kind": self.kind, "for_source": self.for_source},
            filter_ext=lambda ending: ending.lower() in self.preset_extensions,
            display_name=bpy.path.display_name,
        )


class MOTION_MATCHING_MT_features(_PresetMenu, bpy.types.Menu):
    """Presets of features"""

    bl_label = "Feature Presets"
    kind = "features"


class MOTION_MATCHING_MT_controllers(_PresetMenu, bpy.types.Menu):
    """Presets of the controller"""

    bl_label = "Controller Presets"
    kind = "controllers"


class MOTION_MATCHING_MT_rigs(_PresetMenu, bpy.types.Menu):
    """Bones by role, as common rigs name them"""

    bl_label = "Rig Presets"
    kind = "rigs"


class MOTION_MATCHING_MT_mappings(_PresetMenu, bpy.types.Menu):
    """Bones by role of a source and of the character, for retargeting"""

    bl_label = "Mappings"
    kind = "mappings"


class MOTION_MATCHING_MT_source_mappings(_PresetMenu, bpy.types.Menu):
    """Bones by role of the active source and of the character"""

    bl_label = "Mappings"
    kind = "mappings"
    for_source = True
