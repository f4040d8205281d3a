"""Number the frames of a database as users see them: like the timeline, as in a preview.

The database counts the frames of each clip from 0, and most actions begin at frame 1.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import bpy

from ...engine.database.database import Database, FrameSource
from ...engine.sources.sources import name_of_file
from ..sources.source_files import find_file
from ..sources.source_list import find_first_frame, list_usable


def get_clip_name(source: Any) -> str:
    """Return the name of a source's clip; nothing if it has lost its action."""
    if source.kind == "FILE":
        return name_of_file(find_file(source), source.character)
    return source.action.name if source.action else ""


def find_first_frames(obj: bpy.types.Object, database: Database) -> tuple[int, ...]:
    """Return the frame at which the source of each range of a database begins.

    Sources with the same clip follow each other as in the list. It is 0 if there is none any more.
    """
    firsts: dict[str, list[int]] = defaultdict(list)  # by clip
    for source in list_usable(obj):
        firsts[get_clip_name(source)].append(find_first_frame(obj, source))
    keys: dict[str, dict[Any, int]] = defaultdict(dict)  # of sources by clip, in their order
    result = []
    for number, origin in enumerate(database.ranges):
        key = database.range_sources[number].key if database.range_sources is not None else ""
        index = keys[origin.clip].setdefault(key, len(keys[origin.clip]))
        own = firsts[origin.clip] or [0]
        result.append(own[min(index, len(own) - 1)])
    return tuple(result)


def get_numbered_source(
    database: Database, first_frames: tuple[int, ...], frame: int
) -> FrameSource:
    """Return where a frame comes from, with the number that it has in the timeline."""
    source = database.get_frame_source(frame)
    first = first_frames[int(database.range_of_frame[frame])]
    return replace(source, frame=source.frame + first)
