"""Convert the settings of a character for the engine."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import fields, replace
from typing import Any

import bpy

from ..engine.building.build import BuildSettings
from ..engine.database.database import Database
from ..engine.database.tags.thresholds import AutoTagSettings
from ..engine.errors import SettingsError
from ..engine.files import json_files
from ..engine.ground.ground import Ground, Wall
from ..engine.motion.contacts import ContactSettings
from ..engine.motion.simulation_bone import SimulationBoneSettings
from ..engine.performance.performance import Performance
from ..engine.performance.settings import BY_DATA, ROOMS, PerformerSettings, Speeds, Steering
from ..engine.skeleton.bone_names import ROLES
from ..engine.takes import takes
from ..scene.blender.animation.actions import get_scene_fps
from ..scene.staging.ground import build_ground, collect_visible_triangles
from .character.characters import get_axes, get_roles
from .controller import features, labels
from .mapping import mapping
from .property_access import armature_of, settings_of, to_plain_value

_MOMENTARY = ("favour",)  # settings that no preset keeps
_SPECIAL = (*BY_DATA, "weights", "labels")  # settings that are not copied one by one
_COPIED_SETTINGS = tuple(name for name in ROOMS if name not in _SPECIAL)


def get_build_settings(obj: bpy.types.Object) -> BuildSettings:
    """Return how the database of an armature is built. SettingsError for wrong settings."""
    settings = settings_of(obj)
    return BuildSettings(
        fps=get_scene_fps(bpy.context.scene),
        speed=to_plain_value(settings.speed),
        schema=features.build_schema(settings.features),
        simulation_bone=get_simulation_bone_settings(obj),
        contacts=ContactSettings(speed=to_plain_value(settings.contact_speed)),
        roles=get_roles(settings),
        auto_tags=get_thresholds(settings.thresholds) if settings.auto_tags else None,
        character=mapping.find_character(obj),
        compact=settings.compact,
        **get_axes(settings),
    )


def get_thresholds(thresholds: Any) -> AutoTagSettings:
    """Return the thresholds of automatic tags. SettingsError for wrong ones."""
    return AutoTagSettings(**_read_fields(AutoTagSettings, thresholds))


def get_simulation_bone_settings(obj: bpy.types.Object) -> SimulationBoneSettings:
    """Return how the simulation bone of an armature object is found."""
    group = settings_of(obj).simulation_bone
    return SimulationBoneSettings(**_read_fields(SimulationBoneSettings, group))


def _read_fields(kind: Any, group: Any) -> dict[str, Any]:
    """Return the values that a group of properties has for the fields of a dataclass."""
    return {field.name: to_plain_value(getattr(group, field.name)) for field in fields(kind)}


def set_roles(roles: Any, bones: Mapping[str, str], preset: str = "") -> None:
    """Set bones by role; bones of other roles are found automatically."""
    for role in ROLES:
        setattr(roles, role, bones.get(role, ""))
    roles.preset = preset


def resolve_preset_roles(
    obj: bpy.types.Object, data: Mapping[str, Any], preset: str
) -> dict[str, str]:
    """Return the bones of an armature that a preset names by role, whatever their namespace.

    Raises SettingsError if the preset names none, or one that the armature lacks; head, toes and
    root may be missing.
    """
    names = data.get("roles")
    if not isinstance(names, dict) or not names:
        text = f"The preset '{preset}' has no 'roles'; give an object of bones by role."
        raise SettingsError(text)
    with json_files.name_file(f"preset '{preset}'"):
        for role, name in names.items():
            json_files.expect_name(name, f"the bone of {role}")
    bones = armature_of(obj).bones
    prefix = _find_prefix(set(bones.keys()), {name.rpartition(":")[2] for name in names.values()})
    result = {}
    for role, name in names.items():
        if role not in ROLES:
            text = f"The preset '{preset}' names a role '{role}'; use {', '.join(ROLES)}."
            raise SettingsError(text)
        bone = name if name in bones else prefix + name.rpartition(":")[2]
        if bone in bones:
            result[role] = bone
        elif not role.endswith(("head", "toe", "root")):
            text = f"Armature '{obj.name}' has no bone '{name}', which the preset '{preset}' names"
            advice = "choose another preset, or leave the roles empty to find them"
            raise SettingsError(f"{text} for {role.replace('_', ' ')}; {advice}.")
    return result


def _find_prefix(bones: Set[str], names: Set[str]) -> str:
    """Return the shortest prefix, such as a namespace, that most of these names have in `bones`."""
    ends = [(bone, name) for bone in bones for name in names if name and bone.endswith(name)]
    prefixes = sorted({bone[: -len(name)] for bone, name in ends}, key=len)

    def count_bones(prefix: str) -> int:
        return sum(prefix + name in bones for name in names)

    return max(prefixes, key=count_bones, default="")


def get_performer_settings(obj: bpy.types.Object, database: Database | None) -> PerformerSettings:
    """Return how the character responds, with weights and, if chosen, speeds of a database."""
    settings = settings_of(obj)
    controller = settings.controller
    changes = {name: to_plain_value(getattr(controller, name)) for name in _COPIED_SETTINGS}
    changes["labels"] = labels.read_labels(controller)
    if database:
        changes |= {"weights": features.compute_weights(settings.features, database.schema)}
    if database and controller.speeds_from_data:
        return takes.make_default_settings(database).with_changes(changes)
    walk, run = (Speeds(*map(to_plain_value, gait)) for gait in (controller.walk, controller.run))
    changes |= {"turn_limit": to_plain_value(controller.turn_limit), "strafe": controller.strafe}
    return PerformerSettings(steering=Steering(walk=walk, run=run)).with_changes(changes)


def get_controller_data(controller: Any) -> dict[str, Any]:
    """Return what a preset stores of the controller: all but speeds and momentary settings.

    Labels belong to the data as much: a preset names them only if there are any.
    """
    names = [name for name in _COPIED_SETTINGS if name not in _MOMENTARY]
    data = {name: to_plain_value(getattr(controller, name)) for name in names}
    listed = labels.read_labels(controller)
    return data | ({"labels": listed} if listed else {})


def set_controller(controller: Any, changes: Any, preset: str) -> None:
    """Apply a preset's settings. What it does not name gets its default; speeds and labels stay.

    Raises SettingsError if one is wrong; nothing is changed then.
    """
    given = get_preset_changes(changes, preset)
    listed = given.pop("labels", None)
    for name, value in given.items():
        setattr(controller, name, value)
    if listed is not None:
        labels.set_labels(controller, listed, PerformerSettings().with_changes(changes).coupling)
    controller.preset = preset


def get_preset_changes(changes: Any, preset: str) -> dict[str, Any]:
    """Return all settings that a preset sets, by name: those it does not name get their defaults.

    Speeds are not among them, and labels only if it names them. SettingsError if one is wrong.
    """
    if not isinstance(changes, dict):
        text = f"The preset '{preset}' has no 'settings'; give an object of settings by name."
        raise SettingsError(text)
    settings = PerformerSettings().with_changes(changes)
    names = [name for name in _COPIED_SETTINGS if name not in _MOMENTARY]
    names += ["labels"] if "labels" in changes else []
    flat = settings.flatten()
    return {name: flat[name] for name in names}


def get_controller_state(controller: Any) -> tuple[Any, ...]:
    """Return all of the controller's settings, to see cheaply whether one has changed."""
    by_data = controller.turn_limit, controller.strafe, *controller.walk, *controller.run
    others = (getattr(controller, name) for name in _COPIED_SETTINGS)
    return controller.speeds_from_data, *by_data, *others, labels.get_state(controller)


def add_obstacles(obj: bpy.types.Object, performance: Performance) -> Performance:
    """Return a performance on the ground and among the walls that a character has now."""
    collection = settings_of(obj).obstacles
    if not collection:
        return performance
    floor, walls = build_ground(collect_visible_triangles(collection))
    return replace(performance, floor=floor, walls=walls)


def read_ground(obj: bpy.types.Object) -> tuple[Ground, tuple[Wall, ...]]:
    """Return the ground of a character with the walls on it, and these walls."""
    performance = add_obstacles(obj, Performance("", 1.0, ()))
    return performance.ground, performance.walls
