"""Two takes side by side: what each measures as it is played now, beside the clips that both are made of.

The body is measured from the action, with all that was edited in it; what was wanted, from the performance that the take
keeps, which is performed again with the settings that it had.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy

from ..engine.errors import RigError
from . import request
from .baking import joined, parts_of, performed
from .operators_build import built
from .work import Steps, in_background

if TYPE_CHECKING:
    from ..engine.control.take import Take
    from ..engine.matching.database import Database
    from ..engine.motion.clip import Clip


class Row(NamedTuple):
    """What is measured, for both takes and for the clips; empty where it is not known."""

    label: str
    first: str
    second: str
    clips: str


class Comparison(NamedTuple):
    """The takes that were compared, and what was found."""

    names: tuple[str, str]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


_ELSEWHERE = 0.05  # metres

shown: dict[int, Comparison] = {}  # by the armature's session_uid, what was compared last


def compared(obj: bpy.types.Object, names: tuple[str, str]) -> Steps[Comparison]:
    """Work that measures two takes of an armature, by the names of their actions."""
    uid = obj.session_uid
    database = yield from built(obj)
    measured = []
    for name in names:
        measured.append((yield from _measured(uid, name, database)))
    clips, *columns = [
        _written(measures) for measures in (measured[0].clips, *(each.take for each in measured))
    ]
    notes = (
        f"'{name}' {words}"
        for name, each in zip(names, measured, strict=True)
        for words in each.notes
    )
    labels = (measure.label for measure in _MEASURES)
    rows = (Row(*row) for row in zip(labels, *columns, clips, strict=True))
    return Comparison(names, tuple(row for row in rows if row.first or row.second), tuple(notes))


class _Measured(NamedTuple):
    take: dict[str, Any]
    clips: dict[str, Any]
    notes: tuple[str, ...]


def _measured(uid: int, name: str, database: Database) -> Steps[_Measured]:
    """Work that gives what a take measures, beside the clips."""
    obj, parts = request.held(uid), parts_of(bpy.data.actions[name])
    parts = tuple(part._replace(wanted=request.on_ground_of(obj, part.wanted)) for part in parts)
    made = yield from performed(database, request.performer_settings(obj, database), parts)
    yield f"Reading {name}", 1.0
    take, clip = _together(
        joined(parts, made), _played(request.held(uid), name, min(part.frame for part in parts))
    )
    names = _bone_names(database)
    if missing := set(names.values()) - set(clip.skeleton.names):
        raise RigError(
            f"The take '{name}' cannot be measured, as the armature has lost the bone '{min(missing)}' of its "
            "database; build that again."
        )

    def measure(tell: Callable[[str, float], None]) -> _Measured:
        from ..engine import takes

        report = takes.report_on(clip, names, take, database)
        is_greedy = any(
            each.performance.method != part.wanted.method
            for each, part in zip(made, parts, strict=True)
        )
        is_elsewhere = _is_elsewhere(
            take, clip, names[database.role_names["hips"]], database.roles.hips
        )
        of_frames = {measure.name for measure in _MEASURES if measure.is_of_frames}
        own = {
            key: value
            for key, value in report["take"].items()
            if not ((is_greedy or is_elsewhere) and key in of_frames)
        }
        notes = ["was planned ahead by values that are not kept any more"] if is_greedy else []
        if is_elsewhere:
            notes.append(
                "goes elsewhere when it is performed again, as its database was changed since"
            )
        return _Measured(own, report["sources"], tuple(notes))

    return (yield from in_background(measure, "Measuring"))


def _played(obj: bpy.types.Object, name: str, first: int) -> Clip:
    """What an action plays from a frame to its end."""
    from ..scene.sampling import sample

    action = bpy.data.actions[name]
    last = max(int(action.frame_range[1]), first + 1)
    bones = None if obj.motion_matching.bones == "AUTO" else obj.motion_matching.bones.lower()
    return sample(obj, [action], bones=bones, frames=(first, last))[0].clip


def _together(take: Take, clip: Clip) -> tuple[Take, Clip]:
    """Both at the rate of the take, as long as the shorter one."""
    from ..engine.motion.resampling import resample

    clip = resample(clip, take.fps)
    count = min(take.frame_count, clip.frame_count)
    return take.sliced(0, count), clip.sliced(0, count)


def _is_elsewhere(take: Take, clip: Clip, hips: str, bone: int) -> bool:
    """Whether the hips, a bone of each, are mostly not where they are in the clip."""
    import numpy as np

    def places(of: Clip, number: int) -> np.ndarray:
        return of.world()[1][:, number, :2]

    away = places(take.clip(), bone) - places(clip, clip.skeleton.names.index(hips))
    return bool(np.median(np.linalg.norm(away, axis=1)) > _ELSEWHERE)


def _bone_names(database: Database) -> dict[str, str]:
    from ..scene.armature import blender_names

    bones = database.skeleton.names[1:]
    return dict(zip(bones, blender_names(bones), strict=True))


class _Measure(NamedTuple):
    """What is shown: its label with the unit, its name in a report, how it is written, and whether it is of the frames."""

    label: str
    name: str
    write: Callable[[float], str]
    is_of_frames: bool = False


_MEASURES = (
    _Measure("Length  s", "seconds", lambda value: f"{value:.1f}"),
    _Measure("Foot Slide  cm/s", "foot_slide_mann", lambda value: f"{100 * value:.1f}"),
    _Measure(
        "In Contact  cm/s",
        "foot_slide_contacts",
        lambda value: f"{100 * value:.1f}",
        is_of_frames=True,
    ),
    _Measure("Wanted  m/s", "desired_speed", lambda value: f"{value:.2f}"),
    _Measure("Reached  m/s", "achieved_along_wish", lambda value: f"{value:.2f}"),
    _Measure("Turned After  s", "response_time_median", lambda value: f"{value:.2f}"),
    _Measure(
        "Strays  m", "simulation_distance_mean", lambda value: f"{value:.2f}", is_of_frames=True
    ),
    _Measure("Jumps  /s", "jumps_per_second", lambda value: f"{value:.1f}", is_of_frames=True),
)


def _written(measures: dict[str, Any]) -> list[str]:
    """The measures in words, those that are not there empty."""
    return [
        "" if measures.get(measure.name) is None else measure.write(measures[measure.name])
        for measure in _MEASURES
    ]
