"""Variants of a take: what it performs, with other settings, by another method or database.

Nothing is baked: a variant is a take of the engine, which is measured, or seen beside the first.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import bpy

from ...engine.control.rollout import Take
from ...engine.database import database as databases
from ...engine.errors import SettingsError
from ...engine.performance.settings import BY_DATA
from ...engine.takes import takes as engine_takes
from ...scene.blender.handle import Handle
from ..controller import controller_presets
from ..controller.training import ChosenMethod
from ..database.build import load_with_settings_steps
from ..property_access import settings_of
from ..steps import Steps, run_in_background_steps
from .take_actions import (
    TakePart,
    filter_settings,
    find_take_action,
    join_takes,
    perform_steps,
    plant_steps,
    read_parts_on_ground,
)

_LOADING = "Loading the database"


class TakeVariant(NamedTuple):
    """A take that was performed once more: the ticks of all its parts, with what, and its name."""

    take: Take
    database: databases.Database
    name: str


def perform_variant_steps(obj: bpy.types.Object, take: Handle, kind: str) -> Steps[TakeVariant]:
    """Perform a take of an armature once more, with one thing changed; feet are planted as baked.

    `kind` is 'SETTINGS' for the present settings and method, 'METHOD' for the method that did not
    make it, and 'PRESET' and 'DATABASE' for the controller preset and the file that the armature's
    settings name. Raises SettingsError if the take is gone, the preset or the file is missing, or a
    field was not trained for a requested tag, and DatabaseError if the file is no database.
    """
    obj, database, settings = yield from load_with_settings_steps(obj)
    parts = list(read_parts_on_ground(obj, find_take_action(take)))
    if kind == "SETTINGS":
        chosen = ChosenMethod.from_object(obj)
        name = "Current Settings"
    elif kind == "PRESET":
        chosen = ChosenMethod.from_name(parts[0].performance.method)
        preset = controller_presets.find_file(settings_of(obj).compare_preset)
        settings = controller_presets.apply_to(settings, preset)
        name = bpy.path.display_name(preset.stem, title_case=True)
    elif kind == "METHOD":
        is_field = bool(parts[0].performance.method)
        chosen = ChosenMethod(False) if is_field else ChosenMethod.from_training(obj)
        name = "Motion Matching" if is_field else "Motion Field"
    else:
        method = ChosenMethod.from_name(parts[0].performance.method)
        chosen = replace(method, file=None)  # its values belong to the other data
        path = find_database_file(obj)
        name = path.stem
        own = database
        database = yield from run_in_background_steps(lambda _: databases.load(path), _LOADING)
        settings = engine_takes.make_default_settings(database)
        parts = [_suit(part, own, database) for part in parts]
    if kind in ("SETTINGS", "PRESET"):
        plain = (replace(part.performance, settings={}, changes=()) for part in parts)
        pairs = zip(parts, plain, strict=True)
        parts = [part._replace(performance=performed) for part, performed in pairs]
    made = yield from perform_steps(database, settings, parts, chosen)
    joined = join_takes(parts, made, database)

    planted, _ = yield from plant_steps(joined, database)
    return TakeVariant(planted, database, name)


def find_database_file(obj: bpy.types.Object) -> Path:
    """Return the database to compare a character with. SettingsError if none is named, or gone."""
    given = settings_of(obj).compare_database
    if not given:
        raise SettingsError("No database to compare with is chosen; choose a file in 'Database'.")
    path = Path(bpy.path.abspath(given, library=obj.library))
    if not path.is_file():
        text = f"The database to compare with, '{path}', does not exist"
        raise SettingsError(f"{text}; choose another file in 'Database'.")
    return path


def _suit(part: TakePart, own: databases.Database, other: databases.Database) -> TakePart:
    """Return a part with the settings that are not of its own data: speeds, and maybe weights."""
    removed = {*BY_DATA, *(("weights",) if own.schema != other.schema else ())}
    performed = filter_settings(part.performance, lambda name, _: name not in removed)
    return part._replace(performance=performed)
