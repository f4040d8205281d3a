"""Measure a character's data: its coverage and its map of poses.

Work computes it, panels and views show it until Blender loads another file. Each stores the key of
the database that it describes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np

from ... import engine
from ...engine.control.rollout import simulate
from ...engine.ground.ground import STEP
from ...engine.insight.coverage import coverage, inspection, strands
from ...engine.insight.maps import pose_map
from ...engine.progress import ReportProgress
from ...scene.staging.ground import collect_visible_triangles, measure_rise
from ...scene.writing import recording
from .. import callbacks
from ..character.characters import get_armature
from ..controller.training import get_field_metric
from ..database import status
from ..database.build import load_or_build_steps
from ..property_access import get_active_take, settings_of
from ..runtime import runtime
from ..settings import get_controller_state, get_performer_settings
from ..steps import Steps, run_in_background_steps
from ..takes.take_actions import read_parts_on_ground

if TYPE_CHECKING:
    from ...engine.database.database import Database
    from ...engine.insight.coverage.inspection import Inspection
    from ...engine.insight.coverage.strands import Strands
    from ...engine.insight.maps.field_map import FieldMap
    from ...engine.insight.maps.pose_map import PoseMap
    from ...engine.performance.settings import PerformerSettings
    from .inspector import Inspector

MAX_STRANDS = 400
_GAP = 0.5  # metres between strands of the data and those of the simulation object


class CoverageReport(NamedTuple):
    """Coverage of the `reference` by the data with a `key`, in its `edition`, as text and strands.

    Strands of the simulation object are drawn `simulation_offset` metres to the left of the data.
    """

    key: str
    edition: int
    reference: tuple[Any, ...]
    summary: tuple[str, ...]
    to_capture: tuple[str, ...]
    strands: Strands
    simulation: Strands
    inspection: Inspection
    simulation_offset: float


class MappedPoses(NamedTuple):
    """The map of poses of the data with a `key`, in its `edition`, and colours (N, 3) of frames.

    `states` is the map of its motion field by a `metric`, if that was made.
    """

    key: str
    edition: int
    poses: PoseMap
    colours: dict[str, np.ndarray]  # by what they show
    states: FieldMap | None = None
    metric: str = ""


def measure_steps(obj: bpy.types.Object) -> Steps[CoverageReport]:
    """Measure how the data of an armature covers its reference. Raises errors of building."""
    uid = obj.session_uid
    database = yield from load_or_build_steps(obj)
    obj = get_armature(uid)
    key = settings_of(obj).built_key
    reference = get_reference(obj)
    tracks, settings = _get_reference_tracks(obj, database)
    rise = _find_rise(obj)

    def measure(report: ReportProgress) -> CoverageReport:
        subject = key, runtime.statuses.editions[key], reference
        collected = _collect_tracks(tracks, report)
        compared = inspection.inspect_tracks(database, settings, collected, rise)
        return _report_coverage(database, compared, subject)

    result = yield from run_in_background_steps(measure, "Measuring")
    runtime.coverage_reports[uid] = result
    callbacks.redraw("WINDOW")
    return result


def _get_reference_tracks(
    obj: bpy.types.Object, database: Database
) -> tuple[Iterator[np.ndarray], PerformerSettings]:
    """Return tracks of the simulation object to compare with, made one by one, and its settings."""
    settings = get_performer_settings(obj, database)
    fps = database.fps
    action = _get_reference_recording(obj)
    if action is None:
        return coverage.simulate_tracks(settings, fps), settings
    parts = read_parts_on_ground(obj, action)
    tracks = (
        simulate(part.performance, settings, fps)[part.count_lead_in(fps) :] for part in parts
    )
    return tracks, settings.with_changes(parts[0].performance.settings)


def _collect_tracks(tracks: Iterator[np.ndarray], report: ReportProgress) -> list[np.ndarray]:
    """Return all tracks; between two of them the work may be cancelled."""
    result = []
    for track in tracks:
        result.append(track)
        report("Measuring", 1.0 - 1.0 / (1.0 + 0.2 * len(result)))
    return result


def _find_rise(obj: bpy.types.Object) -> float:
    """Return by how many metres the ground of an armature rises, if that is worth a climb."""
    collection = settings_of(obj).obstacles
    rise = measure_rise(collect_visible_triangles(collection)) if collection else 0.0
    return rise if rise > STEP else 0.0


def _report_coverage(
    database: Database, result: Inspection, subject: tuple[str, int, tuple[Any, ...]]
) -> CoverageReport:
    """Return the report on a subject: the data's key and edition, and its reference."""
    holes = int(result.covered.holes.sum())
    word = "No hole" if holes == 0 else "1 hole" if holes == 1 else f"{holes} holes"
    summary = [
        f"{database.frame_count} frames, {database.seconds:.0f} s",
        f"{word} in the map of speeds and turns",
    ]
    for name, table in result.histograms.items():
        label = name.replace("_", " ").capitalize()
        summary.append(f"{label}s overlap by {table['overlap']:.0%}")
    summary += result.slopes
    data = strands.from_database(database, MAX_STRANDS)
    simulation = strands.from_tracks(result.tracks, database.fps, MAX_STRANDS)
    offset = data.width + simulation.width + _GAP
    to_capture = tuple(result.data["to_capture"])
    return CoverageReport(*subject, tuple(summary), to_capture, data, simulation, result, offset)


def map_poses_steps(obj: bpy.types.Object) -> Steps[MappedPoses]:
    """Map the poses of an armature's database. Raises errors of building."""
    uid = obj.session_uid
    database = yield from load_or_build_steps(obj)
    return (yield from map_database_steps(uid, settings_of(get_armature(uid)).built_key, database))


def map_database_steps(uid: int, key: str, database: Database) -> Steps[MappedPoses]:
    """Map the poses of a database, and the states of its field if they are shown, unless done."""
    obj = get_armature(uid)
    metric = get_field_metric(obj) if settings_of(obj).insight.map == "field" else ""
    data = (key, runtime.statuses.editions[key])
    known = runtime.pose_maps
    done = known.get(uid)
    if done and done[:2] != data:
        done = None

    def map_poses(_: ReportProgress) -> MappedPoses:
        mapped = done or MappedPoses(
            *data, pose_map.build_pose_map(database), _compute_colours(database)
        )
        if not metric:
            return mapped
        compare = engine.field.field_controller.METRICS[metric](database)
        states = engine.insight.maps.field_map.build_field_map(database, compare)
        return mapped._replace(states=states, metric=metric)

    if done is None or (metric and done.metric != metric):
        known[uid] = yield from run_in_background_steps(map_poses, "Mapping Poses")
    callbacks.redraw("WINDOW")
    return known[uid]


def _compute_colours(database: Database) -> dict[str, np.ndarray]:
    """Return colours (N, 3) of frames, by each of what the map can show."""
    maps = engine.insight.maps.field_map
    return {
        "speed": strands.compute_colours(np.hypot(*database.root_motion[:, :2].T)),
        "gait": maps.compute_gait_colours(database),
        "clip": maps.compute_clip_colours(database),
    }


def get_reference(obj: bpy.types.Object) -> tuple[Any, ...]:
    """Return what identifies the reference of the data: a recording, or the controller's state."""
    if settings_of(obj).insight.beside == "controller":
        return "controller", get_controller_state(settings_of(obj).controller)
    action = _get_reference_recording(obj)
    if action is None:
        return ("recording",)
    return "recording", action.session_uid, recording.count_parts(action)


def _get_reference_recording(obj: bpy.types.Object) -> bpy.types.Action | None:
    """Return the recording that an armature's data is compared with, if it is one."""
    settings = settings_of(obj)
    if settings.insight.beside == "take":
        return get_active_take(obj)
    return settings.insight.recording if settings.insight.beside == "recording" else None


def explain_staleness(
    obj: bpy.types.Object, result: CoverageReport | MappedPoses | Inspector
) -> str:
    """Return why a result is not current, as the start of a sentence; nothing if it is."""
    current = status.get_status(obj)
    if current.kind == "unknown":
        return ""
    if current.key != result.key:
        return "The database has changed since"
    if runtime.statuses.editions[current.key] != result.edition:
        return "The database was built again since"
    if not isinstance(result, CoverageReport):
        return ""
    before = result.reference
    now = get_reference(obj)
    if before == now:
        return ""
    if before[0] == now[0] == "controller":
        return "The controller has changed since"
    if before[:2] == now[:2]:
        return "The recording has changed since"
    return "The data was compared with something else"
