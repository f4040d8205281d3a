"""Contacts as pose markers of an action, for an animator to move before the bake is repeated.

A range is a pair of markers, 'left foot plant' on its first frame and 'left foot lift' on the first
one after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import bpy

from ...engine.control.contact_ranges import ContactRange, check_ranges
from ...engine.errors import SettingsError
from ..blender.actions import get_scene_fps
from ..blender.files import format_names, open_blend

_PLANT, _LIFT = "plant", "lift"


def write_markers(
    action: bpy.types.Action,
    ranges: Sequence[ContactRange],
    legs: Sequence[str],
    frame_start: int,
    rate: float = 1.0,
) -> None:
    """Mark ranges on an action whose take starts at `frame_start`, in place of its contact markers.

    `rate` is the scene's frames per tick of the take. Markers do not store the points of ranges,
    nor ranges that are too short for a frame.
    """
    for marker in [m for m in action.pose_markers if _parse_marker(m.name, legs)]:
        action.pose_markers.remove(marker)
    for r in ranges:
        start, stop = round(r.start * rate), round(r.stop * rate)
        for what, frame in ((_PLANT, start), (_LIFT, stop)) if start < stop else ():
            marker = action.pose_markers.new(f"{legs[r.leg]} foot {what}")
            marker.frame = frame_start + frame


def make_marker_writer(
    ranges: Sequence[ContactRange], legs: Sequence[str], fps: float
) -> Callable[[bpy.types.Action, int], None]:
    """Return a function that writes a take's ranges onto an action, given its first frame."""

    def mark(action: bpy.types.Action, frame_start: int) -> None:
        write_markers(action, ranges, legs, frame_start, get_scene_fps(bpy.context.scene) / fps)

    return mark


def read_markers(
    action: bpy.types.Action, legs: Sequence[str], frame_start: int, rate: float = 1.0
) -> list[ContactRange]:
    """Read the ranges that an action is marked with; raise SettingsError if they do not pair up."""
    marks = sorted(
        (m.frame, *meaning) for m in action.pose_markers if (meaning := _parse_marker(m.name, legs))
    )
    ranges, planted = [], {}
    for frame, what, leg in marks:
        tick = max(round((frame - frame_start) / rate), 0)
        if (what == _PLANT) == (leg in planted):
            foot, other = f"{legs[leg]} foot", _LIFT if what == _PLANT else _PLANT
            raise SettingsError(
                f"The action '{action.name}' has a marker '{foot} {what}' on frame {frame} and no "
                f"'{foot} {other}' before it; add that, or remove it."
            )
        if what == _PLANT:
            planted[leg] = tick
        elif tick > (start := planted.pop(leg)):
            ranges.append(ContactRange(leg, start, tick))
    for leg in planted:
        raise SettingsError(
            f"The action '{action.name}' ends without a marker '{legs[leg]} foot {_LIFT}'; add it."
        )
    return check_ranges(ranges, legs, f"the markers of action '{action.name}'")


def read_in_scene(
    action: bpy.types.Action, legs: Sequence[str], frame_start: int, fps: float
) -> list[ContactRange]:
    """Read markers as `read_markers`, for a take at `fps` whose action is in the open scene."""
    return read_markers(action, legs, frame_start, get_scene_fps(bpy.context.scene) / fps)


def read_file(path: Path, legs: Sequence[str], fps: float) -> list[ContactRange]:
    """Read the only marked action in a Blender file, for a take at `fps` from its first key on."""
    open_blend(path)
    marked = [
        a for a in bpy.data.actions if any(_parse_marker(m.name, legs) for m in a.pose_markers)
    ]
    marked = [action for action in marked if not action.library] or marked
    if len(marked) != 1:
        names = format_names(marked) or "none"
        raise SettingsError(
            f"{path} must hold one action with markers of contacts, such as '{legs[0]} foot "
            f"{_PLANT}', and has {names}; remove the markers of the others, or bake it again."
        )
    return read_in_scene(marked[0], legs, round(marked[0].frame_range[0]), fps)


def _parse_marker(name: str, legs: Sequence[str]) -> tuple[str, int] | None:
    """Return the kind and the leg of a contact marker; None for other markers."""
    leg, _, what = name.partition(" foot ")
    return (what, list(legs).index(leg)) if leg in legs and what in (_PLANT, _LIFT) else None
