"""What is known about a character's data: its coverage and its map of poses, until Blender loads
another file.

Work computes it, panels and views show it. It is of one database, whose key it stores.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np

from ..engine.control.rollout import simulate
from ..engine.insight import coverage, inspection, pose_map, strands
from ..scene.writing import recording
from . import callbacks, status
from .build import load_or_build_steps
from .characters import get_armature
from .items import get_active
from .runtime import runtime
from .settings import add_obstacles, get_controller_state, get_performer_settings
from .steps import ReportProgress, Steps, run_in_background_steps
from .takes import read_parts
from .typed import settings_of

if TYPE_CHECKING:
    from ..engine.control.settings import PerformerSettings
    from ..engine.database.database import Database
    from ..engine.insight.inspection import Inspection
    from ..engine.insight.pose_map import PoseMap
    from ..engine.insight.strands import Strands
    from .inspector import Inspector

MAX_STRANDS = 400
_GAP = 0.5  # metres between strands of the data and those of the simulation object


class CoverageReport(NamedTuple):
    """How the data with a `key`, in its `edition`, covers its `reference`: as text for the panel,
    and as strands.

    Strands of the simulation object are drawn `simulation_offset` metres to the left of those of
    the data.
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
    """The map of poses of the data with a `key`, in its `edition`, and the colours (N, 3) of its
    frames.
    """

    key: str
    edition: int
    poses: PoseMap
    colours: np.ndarray


# ---------------------------------------------------------------- computing


def measure_steps(obj: bpy.types.Object) -> Steps[CoverageReport]:
    """Measure how the data of an armature covers its reference. Errors are those of building."""
    uid = obj.session_uid
    database = yield from load_or_build_steps(obj)
    obj = get_armature(uid)
    key, reference = settings_of(obj).built_key, get_reference(obj)
    tracks, settings = _get_reference_tracks(obj, database)

    def measure(report: ReportProgress) -> CoverageReport:
        of = key, status.get_edition(key), reference
        return _measure_coverage(database, settings, of, _collect_tracks(tracks, report))

    result = runtime.coverage_reports[uid] = yield from run_in_background_steps(
        measure, "Measuring"
    )
    callbacks.redraw("WINDOW")
    return result


def _get_reference_tracks(
    obj: bpy.types.Object, database: Database
) -> tuple[Iterator[np.ndarray], PerformerSettings]:
    """Return the tracks of the simulation object that the data is measured against, made one by
    one, and its settings.
    """
    settings = get_performer_settings(obj, database)
    action = _get_reference_recording(obj)
    if action is None:
        return coverage.simulate_tracks(settings, database.fps), settings
    parts = read_parts(action)
    performances = [
        (
            add_obstacles(obj, part.performance),
            round(part.lead_in * database.fps / part.performance.fps),
        )
        for part in parts
    ]
    tracks = (
        simulate(performance, settings, database.fps)[lead_in:]
        for performance, lead_in in performances
    )
    return tracks, settings.with_changes(parts[0].performance.settings)


def _collect_tracks(tracks: Iterator[np.ndarray], report: ReportProgress) -> list[np.ndarray]:
    """Return all tracks; between two of them the work may be cancelled."""
    result = []
    for track in tracks:
        result.append(track)
        report("Measuring", 1.0 - 1.0 / (1.0 + 0.2 * len(result)))
    return result


def _measure_coverage(
    database: Database,
    settings: PerformerSettings,
    of: tuple[str, int, tuple[Any, ...]],
    tracks: list[np.ndarray],
) -> CoverageReport:
    found = inspection.inspect_tracks(database, settings, tracks)
    holes, overlap = (
        int(found.covered.holes.sum()),
        {name: table["overlap"] for name, table in found.histograms.items()},
    )
    summary = (
        f"{database.frame_count} frames, {database.seconds:.0f} s",
        f"{holes} hole{'' if holes == 1 else 's'} in the map of speeds and turns"
        if holes
        else "No hole in the map of speeds and turns",
        *(
            f"{name.replace('_', ' ').capitalize()}s overlap by {part:.0%}"
            for name, part in overlap.items()
        ),
    )
    data, simulation = (
        strands.from_database(database, MAX_STRANDS),
        strands.from_tracks(tracks, database.fps, MAX_STRANDS),
    )
    apart = data.width + simulation.width + _GAP
    return CoverageReport(
        *of, summary, tuple(found.data["to_capture"]), data, simulation, found, apart
    )


def map_poses_steps(obj: bpy.types.Object) -> Steps[MappedPoses]:
    """Map the poses of an armature's database. Errors are those of building."""
    uid = obj.session_uid
    database = yield from load_or_build_steps(obj)
    return (yield from map_database_steps(uid, settings_of(get_armature(uid)).built_key, database))


def map_database_steps(uid: int, key: str, database: Database) -> Steps[MappedPoses]:
    """Map the poses of a database, unless that was done."""

    def map_poses(_: ReportProgress) -> MappedPoses:
        colours = strands.compute_colours(np.hypot(*database.root_motion[:, :2].T))
        return MappedPoses(*data, pose_map.build_pose_map(database), colours)

    data = key, status.get_edition(key)
    known = runtime.pose_maps
    if uid not in known or known[uid][:2] != data:
        known[uid] = yield from run_in_background_steps(map_poses, "Mapping Poses")
    callbacks.redraw("WINDOW")
    return known[uid]


# ---------------------------------------------------------------- whether it is current


def get_reference(obj: bpy.types.Object) -> tuple[Any, ...]:
    """Return what identifies the reference of an armature's data: a recording, or the settings of
    its controller.
    """
    if settings_of(obj).insight.beside == "controller":
        return "controller", get_controller_state(settings_of(obj).controller)
    action = _get_reference_recording(obj)
    return (
        ("recording", action.session_uid, recording.count_parts(action))
        if action
        else ("recording",)
    )


def _get_reference_recording(obj: bpy.types.Object) -> bpy.types.Action | None:
    """Return the recording that an armature's data is compared with, if it is one."""
    settings = settings_of(obj)
    take = (
        get_active(settings.takes, settings.take_index)
        if settings.insight.beside == "take"
        else None
    )
    return (
        take.action
        if take
        else settings.insight.recording
        if settings.insight.beside == "recording"
        else None
    )


def explain_staleness(
    obj: bpy.types.Object, found: CoverageReport | MappedPoses | Inspector
) -> str:
    """Return why something that was computed for an armature is stale, as a sentence; nothing where
    it is current.
    """
    current = status.get_status(obj)
    if current.kind == "unknown":
        return ""
    if current.key != found.key:
        return "The database has changed since"
    if status.get_edition(current.key) != found.edition:
        return "The database was built again since"
    if isinstance(found, CoverageReport) and found.reference != (reference := get_reference(obj)):
        if found.reference[0] == reference[0] == "controller":
            return "The controller has changed since"
        is_same_recording = found.reference[:2] == reference[:2]
        return (
            "The recording was recorded into since"
            if is_same_recording
            else "The data lies beside something else"
        )
    return ""
