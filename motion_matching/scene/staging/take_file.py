"""Write a take as a Blender file: in a scene made for it, or in a copy of a user's file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

import bpy

from ...engine.control.rollout import Take
from ...engine.database.database import Database
from ...engine.feet.contact_ranges import ContactRange
from ...engine.files.file_paths import check_clashes
from ..blender.files import find_armature, open_blend, save_after
from ..reading import markers
from ..writing.bake import BakeOptions, bake
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
    **options: Unpack[BakeOptions],
) -> None:
    """Write a take with its contacts as markers; in a copy of the file `onto` if one is given.

    The open file gives way to it. `armature` (by default the only one), `frame_start` (where its
    scene starts), and of the options `root_bone` and `track` are about a copy. Raises what opening,
    baking and saving raise.
    """
    check_clashes([("'onto'", onto)], [("'path'", path)])
    clip, legs = take.to_clip(), database.roles.leg_names
    mark = markers.make_marker_writer(ranges, legs, take.fps)
    options["hips"] = database.role_names["hips"]
    if onto is None:
        options["root_bone"], options["track"] = "", None
        obstacles = take.performance.obstacles, take.performance.walls
        blend_file.save_take(clip, path, title=take.name, obstacles=obstacles, mark=mark, **options)
        return
    open_blend(onto)
    obj = find_armature(onto, armature, takes_keys=True)
    start = bpy.context.scene.frame_start if frame_start is None else frame_start
    with save_after(path):
        mark(bake(clip, obj, name=take.name, frame_start=start, **options), start)
