"""Two takes side by side: measures of both as they are played now, and of the clips that both are
made of.

The body is measured from the action, with all edits. The goals come from the performance that the
take stores, which is performed again with the settings that it had.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np

from ..engine.errors import RigError
from ..engine.motion.resampling import resample
from ..engine.takes import takes
from ..scene.reading.sampling import sample
from ..scene.rig.armature import to_blender_names
from .build import load_or_build_steps
from .characters import get_armature, get_bone_choice
from .settings import add_obstacles, get_performer_settings
from .steps import ReportProgress, Steps, run_in_background_steps
from .takes import join_takes, perform_steps, read_parts

if TYPE_CHECKING:
    from ..engine.control.take import Take
    from ..engine.database.database import Database
    from ..engine.motion.clip import Clip


class Row(NamedTuple):
    """A measure of both takes and of the clips, as text; empty where it is not known."""

    label: str
    first: str
    second: str
    clips: str


class Comparison(NamedTuple):
    """The takes that were compared, and the result."""

    names: tuple[str, str]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


_DIVERGENCE = 0.05  # metres


def compare_steps(obj: bpy.types.Object, names: tuple[str, str]) -> Steps[Comparison]:
    """Measure two takes of an armature, by the names of their actions."""
    uid = obj.session_uid
    database = yield from load_or_build_steps(obj)
    measured = []
    for name in names:
        measured.append((yield from _measure_steps(uid, name, database)))
    clips, *columns = [
        _format_measures(measures)
        for measures in (measured[0].clips, *(each.take for each in measured))
    ]
    notes = (
        f"'{name}' {words}"
        for name, each in zip(names, measured, strict=True)
        for words in each.notes
    )
    labels = (measure.label for measure in _MEASURES)
    rows = (Row(*row) for row in zip(labels, *columns, clips, strict=True))
    return Comparison(names, tuple(row for row in rows if row.first or row.second), tuple(notes))


class _TakeMeasures(NamedTuple):
    take: dict[str, Any]
    clips: dict[str, Any]
    notes: tuple[str, ...]


def _measure_steps(uid: int, name: str, database: Database) -> Steps[_TakeMeasures]:
    """Measure a take, and the clips."""
    obj, parts = get_armature(uid), read_parts(bpy.data.actions[name])
    parts = tuple(part._replace(performance=add_obstacles(obj, part.performance)) for part in parts)
    made = yield from perform_steps(database, get_performer_settings(obj, database), parts)
    yield f"Reading {name}", 1.0
    sampled = _sample_action(get_armature(uid), name, min(part.frame for part in parts))
    take, clip = _match_lengths(join_takes(parts, made), sampled)
    names = _get_bone_names(database)
    if missing := set(names.values()) - set(clip.skeleton.names):
        raise RigError(
            f"The take '{name}' cannot be measured, as the armature has lost the bone "
            f"'{min(missing)}' of its database; build that again."
        )

    def measure(_: ReportProgress) -> _TakeMeasures:
        report = takes.report_clip(clip, names, take, database)
        is_greedy = any(
            each.performance.method != part.performance.method
            for each, part in zip(made, parts, strict=True)
        )
        is_elsewhere = _has_diverged(
            take, clip, names[database.role_names["hips"]], database.roles.hips
        )
        of_frames = {measure.name for measure in _MEASURES if measure.is_per_frame}
        own = {
            key: value
            for key, value in report["take"].items()
            if not ((is_greedy or is_elsewhere) and key in of_frames)
        }
        notes = ["was planned ahead by values that are not stored any more"] if is_greedy else []
        if is_elsewhere:
            notes.append(
                "goes elsewhere when it is performed again, as its database was changed since"
            )
        return _TakeMeasures(own, report["sources"], tuple(notes))

    return (yield from run_in_background_steps(measure, "Measuring"))


def _sample_action(obj: bpy.types.Object, name: str, first: int) -> Clip:
    """Sample an action from a frame to its end."""
    action = bpy.data.actions[name]
    last = max(int(action.frame_range[1]), first + 1)
    return sample(obj, [action], bones=get_bone_choice(obj), frames=(first, last))[0].clip


def _match_lengths(take: Take, clip: Clip) -> tuple[Take, Clip]:
    """Return both at the rate of the take, as long as the shorter one."""
    clip = resample(clip, take.fps)
    count = min(take.frame_count, clip.frame_count)
    return take.crop(0, count), clip.crop(0, count)


def _has_diverged(take: Take, clip: Clip, hips: str, bone: int) -> bool:
    """Return whether the hips of the take are mostly elsewhere than those of the clip."""

    def get_positions(of: Clip, number: int) -> np.ndarray:
        return of.compute_world()[1][:, number, :2]

    away = get_positions(take.to_clip(), bone) - get_positions(
        clip, clip.skeleton.names.index(hips)
    )
    return bool(np.median(np.linalg.norm(away, axis=1)) > _DIVERGENCE)


def _get_bone_names(database: Database) -> dict[str, str]:
    bones = database.skeleton.names[1:]
    return dict(zip(bones, to_blender_names(bones), strict=True))


class _Measure(NamedTuple):
    """A row: its label with the unit, its name in a report, how it is written, and whether it is
    measured per frame.
    """

    label: str
    name: str
    format_value: Callable[[float], str]
    is_per_frame: bool = False


_MEASURES = (
    _Measure("Length  s", "seconds", lambda value: f"{value:.1f}"),
    _Measure("Foot Slide  cm/s", "foot_slide_mann", lambda value: f"{100 * value:.1f}"),
    _Measure(
        "In Contact  cm/s",
        "foot_slide_contacts",
        lambda value: f"{100 * value:.1f}",
        is_per_frame=True,
    ),
    _Measure("Wanted  m/s", "desired_speed", lambda value: f"{value:.2f}"),
    _Measure("Reached  m/s", "achieved_along_wish", lambda value: f"{value:.2f}"),
    _Measure("Turned After  s", "response_time_median", lambda value: f"{value:.2f}"),
    _Measure(
        "Strays  m", "simulation_distance_mean", lambda value: f"{value:.2f}", is_per_frame=True
    ),
    _Measure("Jumps  /s", "jumps_per_second", lambda value: f"{value:.1f}", is_per_frame=True),
)


def _format_measures(measures: dict[str, Any]) -> list[str]:
    """Return the measures as text; empty where one is not known."""
    values = [(measure, measures.get(measure.name)) for measure in _MEASURES]
    return ["" if value is None else measure.format_value(value) for measure, value in values]
