"""Two takes side by side: measures of both as they are played now, and of their clips.

The second one may be a variant of the first, which is performed for the comparison alone.

The body is measured from the action, with all edits. The goals come from the performance that the
take stores, which is performed again with the settings that it had.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...engine.body.rig import Roles
from ...engine.control.rollout import Take
from ...engine.database.database import Database
from ...engine.errors import RigError, SettingsError
from ...engine.feet.contact_ranges import ContactRange
from ...engine.motion.clip import Clip, resample
from ...engine.progress import ReportProgress
from ...engine.takes import takes
from ...engine.takes.baking import bake_feet
from ...engine.takes.comparison import MEASURES
from ...scene.blender.handle import Handle
from ...scene.reading import markers
from ...scene.reading.sampling import sample
from ...scene.rig.armature import to_blender_names
from ..character.characters import get_armature, get_bone_choice
from ..database.build import load_or_build_steps
from ..settings import get_performer_settings
from ..steps import Steps, run_in_background_steps
from ..strip.warnings import Button, WarningItem, forget_resolved
from .take_actions import find_take_action, join_takes, perform_steps, read_parts_on_ground
from .variants import perform_variant_steps


class ComparedRow(NamedTuple):
    """A measure of both takes and of the clips, as text; empty where it is not known."""

    label: str
    first: str
    second: str
    clips: str


class Comparison(NamedTuple):
    """The takes that were compared, the result, and what it could not measure."""

    names: tuple[str, str]
    rows: tuple[ComparedRow, ...]
    warnings: tuple[WarningItem, ...] = ()


_DIVERGENCE = 0.05  # metres
# what keeps a take from being measured whole
NOTES = {
    "values gone": "used trained values that are no longer stored",
    "terms gone": "used cost terms of a script, which cannot be stored",
    "goes elsewhere": "takes another path when performed again, because its database has changed",
}


def compare_steps(
    obj: bpy.types.Object, one: bpy.types.Action, other: bpy.types.Action | None, kind: str = "TAKE"
) -> Steps[Comparison]:
    """Measure a take of an armature, and another one or a variant of it (a `kind` of these).

    Raises SettingsError if one is deleted meanwhile, and what `perform_variant_steps` does.
    """
    uid = obj.session_uid
    take = Handle.from_block(one, "actions")
    second = Handle.from_block(other, "actions") if kind == "TAKE" and other else None
    names = (one.name, second.name if second else "")
    database = yield from load_or_build_steps(obj)
    measured = [(yield from measure_steps(uid, take, database))]
    if second:
        measured.append((yield from measure_steps(uid, second, database)))
    else:
        variant = yield from perform_variant_steps(get_armature(uid), take, kind)
        names = (names[0], variant.name)
        report = yield from run_in_background_steps(
            lambda _: takes.report(variant.take, variant.database), "Measuring"
        )
        measured.append(TakeMeasures(report["take"], report["sources"], ()))
    columns = (measured[0].take, measured[1].take, measured[0].clips)
    rows = [ComparedRow(each.label, *map(each.format_in, columns)) for each in MEASURES]
    named = zip(names, measured, strict=True)
    items = tuple(_describe_note(name, kind) for name, each in named for kind in each.notes)
    forget_resolved(uid, NOTES, items)
    return Comparison(names, tuple(row for row in rows if row.first or row.second), items)


def _describe_note(take: str, kind: str) -> WarningItem:
    select = Button(
        "Select", "motion_matching.select_take", "RESTRICT_SELECT_OFF", (("name", take),)
    )
    return WarningItem(kind, f"'{take}' {NOTES[kind]}: bake it again", "takes", (take,), (select,))


class TakeMeasures(NamedTuple):
    """Measures of a take and of the clips by their names in a report, and keys of `NOTES`."""

    take: dict[str, Any]
    clips: dict[str, Any]
    notes: tuple[str, ...]


def measure_steps(uid: int, handle: Handle, database: Database) -> Steps[TakeMeasures]:
    """Measure a take, and the clips."""
    obj = get_armature(uid)
    parts = read_parts_on_ground(obj, find_take_action(handle))
    settings = get_performer_settings(obj, database)
    made = yield from perform_steps(database, settings, parts, as_recorded=True)
    yield f"Reading {handle.name}", 1.0
    action = find_take_action(handle)
    first = round(min(part.frame for part in parts))
    name = action.name
    last = max(int(action.frame_range[1]), first + 1)
    obj = get_armature(uid)
    [sampled] = sample(obj, [action], bones=get_bone_choice(obj), frames=(first, last))
    take = join_takes(parts, made, database)
    clip = resample(sampled.clip, take.fps)
    count = min(take.frame_count, clip.frame_count)
    take = take.crop(0, count)
    clip = clip.crop(0, count)
    bones = database.source_bones
    bone_names = dict(zip(bones, to_blender_names(bones), strict=True))
    if missing := set(bone_names.values()) - set(clip.skeleton.names):
        text = f"The take '{name}' cannot be measured, as the armature has lost the bone"
        raise RigError(f"{text} '{min(missing)}' of its database; build that again.")
    methods = [part.performance.method for part in parts]
    ranges = _read_contacts(action, first, take, database)

    def measure(_: ReportProgress) -> TakeMeasures:
        report = takes.report_clip(clip, bone_names, take, database)
        measures = report["take"]
        notes = []
        # without its values a take goes elsewhere too, whatever became of its database
        if [each.performance.method for each in made] != methods:
            notes.append("values gone")
        elif any(part.performance.terms for part in parts):
            notes.append("terms gone")
        else:
            shown = bake_feet(take, database, ranges) if ranges else take
            if _has_diverged(shown, clip, bone_names, database.roles):
                notes.append("goes elsewhere")
        if notes:
            per_frame = {measure.name for measure in MEASURES if measure.is_per_frame}
            measures = {key: value for key, value in measures.items() if key not in per_frame}
        return TakeMeasures(measures, report["sources"], tuple(notes))

    return (yield from run_in_background_steps(measure, "Measuring"))


def _read_contacts(
    action: bpy.types.Action, first: int, take: Take, database: Database
) -> list[ContactRange]:
    """Return when the feet of a take's action were planted, none if they are as performed.

    Unpaired markers count as none: *Bake Again* reports them.
    """
    if not take.settings["foot_lock"]:
        return []
    try:
        ranges = markers.read_in_scene(action, database.roles.leg_names, first, take.fps)
    except SettingsError:
        return []
    return [r for r in ranges if r.start < take.frame_count]


def _has_diverged(take: Take, clip: Clip, names: Mapping[str, str], roles: Roles) -> bool:
    """Return whether a take mostly moves otherwise than its clip, anywhere on the ground.

    What goes on from an overwritten part was carried from its keys: not quite where the take is.
    """
    bones = [roles.hips, *(leg.shin for leg in roles.legs)]
    found = [clip.skeleton.names.index(names[take.skeleton.names[bone]]) for bone in bones]
    performed = _describe_motion(take.to_clip().compute_world()[1][:, bones], take.fps)
    played = _describe_motion(clip.compute_world()[1][:, found], take.fps)
    return bool(np.median(np.abs(performed - played).max(axis=1)) > _DIVERGENCE)


def _describe_motion(joints: np.ndarray, fps: float) -> np.ndarray:
    """Return what hips and knees (T, J, 3) do, in metres and from any side: values (T, D).

    They are how far the hips go in the next second, and how far beside and above them knees are.
    """
    hips = joints[:, 0]
    later = np.minimum(np.arange(len(hips)) + round(fps), len(hips) - 1)
    way = np.linalg.norm((hips[later] - hips)[:, :2], axis=-1)
    knees = joints[:, 1:] - hips[:, None]
    return np.column_stack([way, np.linalg.norm(knees[..., :2], axis=-1), knees[..., 2]])
