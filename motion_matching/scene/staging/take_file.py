"""A take as a Blender file: in a scene made for it, or in a copy of a user's file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...engine.control.contact_ranges import ContactRange
from ...engine.control.take import Take
from ...engine.database.database import Database
from ..reading import contact_markers
from ..rig.root_target import RootTarget
from ..writing import blend_copy
from . import blend_file


def write_take(
    take: Take,
    ranges: Sequence[ContactRange],
    database: Database,
    path: Path,
    *,
    onto: Path | None = None,
    armature: str | None = None,
    frame_start: int | None = None,
    root: RootTarget | None = None,
    root_bone: str = "",
    fewer_keys: float = 0.0,
    track: str | None = None,
) -> None:
    """Write a take with its contacts as markers; in a copy of the file `onto` if one is given.

    The open file gives way to it. `armature`, `frame_start`, `root_bone` and `track` are about a
    copy; all options are those of `bake` and `save_onto`, and so are the errors.
    """
    clip, hips = take.to_clip(), database.role_names["hips"]
    mark = contact_markers.make_marker_writer(ranges, database.roles.leg_names, take.fps)
    if onto is None:
        blend_file.save_take(
            clip,
            path,
            title=take.name,
            root=root,
            hips=hips,
            fewer_keys=fewer_keys,
            mark=mark,
            obstacles=(take.performance.obstacles, take.performance.walls),
        )
        return
    blend_copy.save_onto(
        clip,
        onto,
        armature,
        path,
        title=take.name,
        frame_start=frame_start,
        root=root,
        root_bone=root_bone,
        hips=hips,
        fewer_keys=fewer_keys,
        track=track,
        mark=mark,
    )
