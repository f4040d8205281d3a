"""What was found out about a character's data: its coverage and its map of poses, kept until Blender loads another file.

Work finds it out, panels tell it, and drawing sees it. It is of one database, whose key it knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
from bpy.app.handlers import persistent

from . import request, status
from .baking import parts_of
from .operators_build import built
from .polls import active
from .work import Steps, in_background

if TYPE_CHECKING:
    import numpy as np

    from ..engine.control.settings import PerformerSettings
    from ..engine.matching.database import Database
    from ..engine.matching.inspection import Inspection
    from ..engine.matching.pose_map import PoseMap
    from ..engine.matching.strands import Strands
    from .inspector import Inspector

MOST_STRANDS = 400
_GAP = 0.5  # metres between strands of the data and those of the simulation object


class Measured(NamedTuple):
    """How the data with a `key`, in its `edition`, covers what was `beside` it, as the panel tells it and as strands.

    Those of the simulation object are drawn `apart`, in metres to the left of those of the data.
    """

    key: str
    edition: int
    beside: tuple[Any, ...]
    summary: tuple[str, ...]
    to_capture: tuple[str, ...]
    strands: Strands
    simulation: Strands
    inspection: Inspection
    apart: float


class Mapped(NamedTuple):
    """The map of poses of the data with a `key`, in its `edition`, and the colours (N, 3) of its frames."""

    key: str
    edition: int
    poses: PoseMap
    colours: np.ndarray


measured: dict[int, Measured] = {}  # by the armature's session_uid
mapped: dict[int, Mapped] = {}


# ---------------------------------------------------------------- finding out


def measure(obj: bpy.types.Object) -> Steps[Measured]:
    """Work that measures how the data of an armature covers what is beside it. Errors are those of building."""
    uid = obj.session_uid
    database = yield from built(obj)
    obj = request.held(uid)
    key, beside = obj.motion_matching.built_key, beside_of(obj)
    tracks, settings = _tracks(obj, database)

    def found(tell: Callable[[str, float], None]) -> Measured:
        return _measured(
            database, settings, (key, status.edition(key), beside), _told(tracks, tell)
        )

    measured[uid] = yield from in_background(found, "Measuring")
    status.redraw("WINDOW")
    return measured[uid]


def _tracks(
    obj: bpy.types.Object, database: Database
) -> tuple[Iterator[np.ndarray], PerformerSettings]:
    """The tracks of the simulation object that the data is measured against, made one by one, and its settings."""
    from ..engine.control.rollout import simulate
    from ..engine.matching import coverage

    settings = request.performer_settings(obj, database)
    action = _recording(obj)
    if action is None:
        return coverage.wanted_tracks(settings, database.fps), settings
    parts = parts_of(action)
    wishes = [
        (
            request.on_ground_of(obj, part.wanted),
            round(part.lead_in * database.fps / part.wanted.fps),
        )
        for part in parts
    ]
    tracks = (simulate(wanted, settings, database.fps)[before:] for wanted, before in wishes)
    return tracks, settings.changed(parts[0].wanted.settings)


def _told(tracks: Iterator[np.ndarray], tell: Callable[[str, float], None]) -> list[np.ndarray]:
    """All tracks; between two of them the work may be given up."""
    found = []
    for track in tracks:
        found.append(track)
        tell("Measuring", 1.0 - 1.0 / (1.0 + 0.2 * len(found)))
    return found


def _measured(
    database: Database,
    settings: PerformerSettings,
    of: tuple[str, int, tuple[Any, ...]],
    tracks: list[np.ndarray],
) -> Measured:
    from ..engine.matching import inspection, strands

    found = inspection.measured(database, settings, tracks)
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
        strands.of_database(database, MOST_STRANDS),
        strands.of_tracks(tracks, database.fps, MOST_STRANDS),
    )
    apart = data.width + simulation.width + _GAP
    return Measured(*of, summary, tuple(found.data["to_capture"]), data, simulation, found, apart)


def map_poses(obj: bpy.types.Object) -> Steps[Mapped]:
    """Work that maps the poses of an armature's database. Errors are those of building."""
    uid = obj.session_uid
    database = yield from built(obj)
    return (yield from map_database(uid, request.held(uid).motion_matching.built_key, database))


def map_database(uid: int, key: str, database: Database) -> Steps[Mapped]:
    """Work that maps the poses of a database, unless they are."""

    def found(tell: Callable[[str, float], None]) -> Mapped:
        import numpy as np

        from ..engine.matching import pose_map, strands

        colours = strands.colours(np.hypot(*database.root_motion[:, :2].T))
        return Mapped(*data, pose_map.map_of(database), colours)

    data = key, status.edition(key)
    if uid not in mapped or mapped[uid][:2] != data:
        mapped[uid] = yield from in_background(found, "Mapping Poses")
    status.redraw("WINDOW")
    return mapped[uid]


# ---------------------------------------------------------------- whether it still holds


def beside_of(obj: bpy.types.Object) -> tuple[Any, ...]:
    """What an armature's data is to lie beside: a recording, or what the settings of its controller lead."""
    from ..scene import recording

    if obj.motion_matching.insight.beside == "controller":
        return "controller", request.state_of(obj.motion_matching.controller)
    action = _recording(obj)
    return (
        ("recording", action.session_uid, recording.count_of_parts(action))
        if action
        else ("recording",)
    )


def _recording(obj: bpy.types.Object) -> bpy.types.Action | None:
    """The recording that an armature's data is to lie beside, if it is one."""
    settings = obj.motion_matching
    take = active(settings, "takes", "take_index") if settings.insight.beside == "take" else None
    return (
        take.action
        if take
        else settings.insight.recording
        if settings.insight.beside == "recording"
        else None
    )


def outdated(obj: bpy.types.Object, found: Measured | Mapped | Inspector) -> str:
    """Why what was found about an armature does not hold any more, in a sentence; nothing where it does."""
    now = status.shown(obj)
    if now.kind == "unknown":
        return ""
    if now.key != found.key:
        return "The database has changed since"
    if status.edition(now.key) != found.edition:
        return "The database was built again since"
    if isinstance(found, Measured) and found.beside != (beside := beside_of(obj)):
        if found.beside[0] == beside[0] == "controller":
            return "The controller has changed since"
        both = found.beside[:2] == beside[:2]
        return (
            "The recording was recorded into since"
            if both
            else "The data lies beside something else"
        )
    return ""


# ---------------------------------------------------------------- forgetting


@persistent
def _after_load(*_: Any) -> None:
    measured.clear()
    mapped.clear()


def start() -> None:
    """Forget what was found when another file is loaded."""
    bpy.app.handlers.load_post.append(_after_load)


def stop() -> None:
    """Forget it all."""
    if _after_load in bpy.app.handlers.load_post:
        bpy.app.handlers.load_post.remove(_after_load)
    _after_load()
