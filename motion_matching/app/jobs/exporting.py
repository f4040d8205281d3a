"""Export what a character would perform as a job: a folder with all that its rows need."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from ...batch import farms
from ...batch.job import load_job
from ...engine.database.database import Database
from ...engine.direct.shot import shot_file
from ...engine.errors import SettingsError
from ...engine.files.file_paths import replacing, to_file_name, write_text
from ...engine.performance import performance as performances
from ...engine.performance.scripts import SCRIPTS
from ...engine.performance.settings import PerformerSettings
from ...engine.takes import takes
from ...scene.blender.handle import Handle
from ..character import controls
from ..character.characters import get_armature
from ..controller.training import ChosenMethod
from ..database.build import load_with_settings_steps
from ..marks import shots
from ..property_access import settings_of
from ..steps import Steps
from ..takes.baking import BakePlan
from ..takes.take_actions import TakePart, find_take_action, read_parts_on_ground

JOBS = "jobs.json"
_CHARACTER = "character.blend"
_DATABASE = "database.npz"
_FIELD = "field.npz"
_SCENE = "scene.json"
_PERFORMANCES = "performances"

Row = dict[str, Any]


@dataclass(frozen=True)
class ExportPlan:
    """What to export: `kind` is "TAKES", "SCENE" or "SCRIPT".

    A scene or a script is performed with `count` seeds in turn, from its own on. `plan` is the
    script, `takes` are those to perform again, and `formats` the files of each row, by option.
    """

    kind: str
    count: int
    plan: BakePlan
    takes: Sequence[Handle]
    formats: Sequence[str]
    chunk: int


class Exported(NamedTuple):
    """The rows of a job, the texts of the files they read, and why takes cannot be rows."""

    rows: list[Row]
    texts: dict[str, str]
    left_out: list[str]


def get_folder(obj: bpy.types.Object) -> Path:
    """Return the folder of an armature's job, by default beside the file.

    Raises SettingsError if the file was never saved.
    """
    if text := settings_of(obj).job.folder:
        return Path(bpy.path.abspath(text))
    if not bpy.data.filepath:
        raise SettingsError("This file was never saved; save it, or choose a folder in 'Folder'.")
    path = Path(bpy.data.filepath)
    return path.with_name(f"{path.stem}_{_make_stem(obj.name)}_job")


def export_steps(obj: bpy.types.Object, plan: ExportPlan) -> Steps[Exported]:
    """Write a job for an armature: its database, character, performances and rows.

    Raises SettingsError if there is nothing to perform, or if the folder holds anything but a job,
    and errors of building the database.
    """
    folder = get_folder(obj)
    _check_folder(folder)
    if not plan.formats:
        raise SettingsError("No file would be written; switch on a format.")
    if "output" in plan.formats and controls.find_rig(obj):
        text = f"'{obj.name}' has a control rig, whose controls a job cannot key"
        raise SettingsError(f"{text}; switch off 'Blender Files', or bake the takes here.")
    uid = obj.session_uid
    obj, database, settings = yield from load_with_settings_steps(obj)
    method = ChosenMethod.from_object(obj)
    make = {"TAKES": _export_takes, "SCENE": _export_scene, "SCRIPT": _export_script}[plan.kind]
    exported = yield from make(uid, database, settings, plan)
    if not exported.rows:
        reasons = " ".join(exported.left_out)
        raise SettingsError(reasons or "There is no take to export; bake one first.")
    with _naming(folder):
        (folder / _PERFORMANCES).mkdir(parents=True, exist_ok=True)
    for name, text in exported.texts.items():
        write_text(folder / name, text, SettingsError)
    yield "Copying the Database", 0.8
    takes.save_database(database, folder / _DATABASE)
    shared: Row = {"database": _DATABASE}
    if method.file and plan.kind != "SCENE":
        _copy(method.file, folder / _FIELD)
        shared["field"] = _FIELD
    if method.is_field and plan.kind != "SCENE":
        shared["controller"] = "field"
    if "output" in plan.formats:
        yield "Copying the Character", 0.9
        shared |= _export_character(get_armature(uid), folder)
    job = {"defaults": shared, "rows": exported.rows}
    write_text(folder / JOBS, json.dumps(job, indent=1) + "\n", SettingsError)
    task = farms.FarmTask("blender", chunk=plan.chunk)
    files = farms.openjd.make_files(load_job(folder / JOBS), task, folder)
    for name, text in files.items():
        write_text(folder / name, text, SettingsError)
    return exported


@contextmanager
def _naming(folder: Path) -> Iterator[None]:
    """Raise what the disk says about a folder as SettingsError, which names it."""
    try:
        yield
    except OSError as cause:
        text = f"The folder {folder} cannot be used ({cause.strerror})"
        raise SettingsError(f"{text}; choose another in 'Folder'.") from cause


def _check_folder(folder: Path) -> None:
    """Raise SettingsError if a folder holds anything, but no job that may be replaced."""
    with _naming(folder):
        is_taken = folder.exists() and not (folder / JOBS).is_file() and any(folder.iterdir())
    if is_taken:
        text = f"The folder {folder} holds other files"
        raise SettingsError(f"{text}; choose an empty one in 'Folder'.")


def _export_takes(
    uid: int, database: Database, settings: PerformerSettings, plan: ExportPlan
) -> Steps[Exported]:
    """Export takes as they were performed."""
    exported = Exported([], {}, [])
    for number, take in enumerate(plan.takes):
        yield f"Exporting {take.name}", number / len(plan.takes)
        parts = read_parts_on_ground(get_armature(uid), find_take_action(take))
        _add_row(exported, take.name, parts, plan)
    return exported


def _export_script(
    uid: int, database: Database, settings: PerformerSettings, plan: ExportPlan
) -> Steps[Exported]:
    """Export a script with one seed after the other, or once if it draws nothing by chance."""
    exported = Exported([], {}, [])
    script = plan.plan
    is_random = script.along == "script" and SCRIPTS[script.script].draw
    count = plan.count if is_random else 1
    for number in range(count):
        yield "Exporting the Script", number / count
        seeded = replace(script, seed=script.seed + number)
        request = yield from seeded.build_request_steps(uid, database, settings)
        performed = replace(request.parts[0].performance, settings=settings.to_dict())
        parts = (request.parts[0]._replace(performance=performed),)
        name = f"{request.name} {seeded.seed}" if count > 1 else request.name
        _add_row(exported, name, parts, plan)
    return exported


def _export_scene(
    uid: int, database: Database, settings: PerformerSettings, plan: ExportPlan
) -> Steps[Exported]:
    """Export the marks and paths of the director, solved with one seed after the other."""
    yield "Exporting the Scene", 0.0
    obj = get_armature(uid)
    request = shots.build_request(obj, database)
    shot = shots.add_surroundings(obj, request)
    changes = _describe_changes(settings, takes.make_default_settings(database))
    rows = []
    for seed in range(shot.seed, shot.seed + plan.count):
        row: Row = {"command": "direct", "scene": _SCENE, "seed": seed, "set": changes}
        name = f"{shot.name} {seed}" if plan.count > 1 else shot.name
        rows.append(row | _name_files(_make_stem(name), request.frame, plan))
    return Exported(rows, {_SCENE: shot_file.to_json(shot)}, [])


def _describe_changes(settings: PerformerSettings, default: PerformerSettings) -> Row:
    """Return the settings that differ from the default ones, as rows take them."""
    given = settings.to_dict()
    plain = default.to_dict()
    changes = {name: value for name, value in given.items() if value != plain[name]}
    speeds = {name: list(changes[name].values()) for name in ("walk", "run") if name in changes}
    return changes | speeds


def _add_row(exported: Exported, name: str, parts: Sequence[TakePart], plan: ExportPlan) -> None:
    """Add the row that performs a take, and its performance.

    Takes of several parts, or led in, are left out: a command performs whole ones from their start.
    """
    first, *others = parts
    if others or first.lead_in or first.collection:
        text = f"'{name}' is recorded in parts or from a recording, and is left out"
        exported.left_out.append(f"{text}; bake it here.")
        return
    stem = _find_free(_make_stem(name), [Path(row["script"]).stem for row in exported.rows])
    path = f"{_PERFORMANCES}/{stem}.json"
    performed = replace(first.performance, name=name, method="")
    exported.texts[path] = performances.to_json(performed)
    row: Row = {"command": "take", "script": path}
    exported.rows.append(row | _name_files(stem, round(first.frame), plan))


def _find_free(stem: str, taken: Sequence[str]) -> str:
    """Return a name that differs from those taken in more than its case."""
    known = {name.casefold() for name in taken}
    numbered = (f"{stem}_{number}" for number in itertools.count(2))
    return next(name for name in itertools.chain((stem,), numbered) if name.casefold() not in known)


def _name_files(stem: str, frame: int, plan: ExportPlan) -> Row:
    """Return the files that a row writes, and the frame it starts on."""
    endings = {"output": ".blend", "bvh": ".bvh", "npz": ".npz", "report": ".json"}
    files = {option: f"takes/{stem}{endings[option]}" for option in plan.formats}
    return files | ({"frame": frame} if "output" in files else {})


def _export_character(obj: bpy.types.Object, folder: Path) -> Row:
    """Save a copy of the open file into a job's folder; return the options about it."""
    with replacing(folder / _CHARACTER, SettingsError) as path:
        path.unlink()  # or Blender would keep it as the version before
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=True)
    settings = settings_of(obj)
    options: Row = {"onto": _CHARACTER, "armature": obj.name}
    if settings.root != "AUTO":
        options["root"] = settings.root.lower().replace("_", "-")
    if settings.root == "BONE" and settings.root_bone:
        options["root_bone"] = settings.root_bone
    if settings.fewer_keys:
        options["fewer_keys"] = settings.fewer_keys
    if settings.obstacles:
        options["ground_collection"] = settings.obstacles.name
    return options


def _copy(source: Path, target: Path) -> None:
    with replacing(target, SettingsError) as path:
        shutil.copyfile(source, path)


def _make_stem(name: str) -> str:
    return to_file_name(name).strip("._") or "take"
