"""Contacts and tags as pose markers of an action, which an animator moves in the editor.

A range of contact is a pair of markers, 'left foot plant' on its first frame and 'left foot lift'
on the first one after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import bpy

from ...engine.database.tags.tags import PREFER, PREFERENCE, TagRange
from ...engine.errors import SettingsError
from ...engine.feet.contact_ranges import ContactRange, check_ranges
from ..blender.animation.actions import get_scene_fps
from ..blender.files import format_names, open_blend

_PLANT = "plant"
_LIFT = "lift"
_BEGIN = "tag: "
_END = "end: "
_MAX_BYTES = 63  # of a marker's name


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
    for marker in [m for m in action.pose_markers if _parse_contact(m.name, legs)]:
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
    parsed = [(m.frame, _parse_contact(m.name, legs)) for m in action.pose_markers]
    marks = sorted((frame, *meaning) for frame, meaning in parsed if meaning)
    ranges = []
    planted = {}
    for frame, what, leg in marks:
        tick = max(round((frame - frame_start) / rate), 0)
        if (what == _PLANT) == (leg in planted):
            foot = f"{legs[leg]} foot"
            other = _LIFT if what == _PLANT else _PLANT
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
    every = {action: [m.name for m in action.pose_markers] for action in bpy.data.actions}
    marked = [a for a, names in every.items() if any(_parse_contact(n, legs) for n in names)]
    marked = [action for action in marked if not action.library] or marked
    if len(marked) != 1:
        names = format_names(marked) or "none"
        raise SettingsError(
            f"{path} must hold one action with markers of contacts, such as '{legs[0]} foot "
            f"{_PLANT}', and has {names}; remove the markers of the others, or bake it again."
        )
    return read_in_scene(marked[0], legs, round(marked[0].frame_range[0]), fps)


def _parse_contact(name: str, legs: Sequence[str]) -> tuple[str, int] | None:
    """Return the kind and the leg of a contact marker; None for other markers."""
    leg, _, what = name.partition(" foot ")
    return (what, list(legs).index(leg)) if leg in legs and what in (_PLANT, _LIFT) else None


class MarkedRange(NamedTuple):
    """A tag on frames of an action, both inclusive; the bias is that of 'prefer'."""

    name: str
    start: int
    end: int
    bias: float = PREFERENCE


def write_tags(action: bpy.types.Action, ranges: Sequence[MarkedRange]) -> None:
    """Replace an action's tag markers; raise SettingsError first if a tag is too long for one."""
    names = [f"{r.name} {r.bias:g}" if r.name == PREFER else r.name for r in ranges]
    for name in names:
        if len((_BEGIN + name).encode()) > _MAX_BYTES:
            raise SettingsError(
                f"The tag '{name}' is too long for the name of a marker, which holds "
                f"{_MAX_BYTES - len(_BEGIN)} letters of it at most; shorten it."
            )
    differ = len({r.bias for r in ranges if r.name == PREFER}) > 1
    for marker in [m for m in action.pose_markers if m.name.startswith((_BEGIN, _END))]:
        action.pose_markers.remove(marker)
    for r, name in zip(ranges, names, strict=True):
        action.pose_markers.new(_BEGIN + name).frame = r.start
        action.pose_markers.new(_END + (name if differ else r.name)).frame = r.end + 1


def read_tags(action: bpy.types.Action) -> list[MarkedRange]:
    """Return an action's marked ranges by their start; raise SettingsError if they do not pair up.

    If several of a name have begun, an end belongs to the first with its bias, else to the first.
    """
    # an end on the frame of another beginning of its name comes first
    marks = sorted(
        (m.frame, m.name.startswith(_BEGIN), m.name)
        for m in action.pose_markers
        if m.name.startswith((_BEGIN, _END))
    )
    ranges: list[MarkedRange] = []
    begun: dict[str, list[tuple[int, float]]] = {}
    for frame, begins, text in marks:
        name, bias = _parse_tag(text, action.name)
        if begins:
            begun.setdefault(name, []).append((frame, bias))
        elif opened := begun.get(name):
            start, bias = opened.pop(
                next((k for k, begin in enumerate(opened) if begin[1] == bias), 0)
            )
            ranges.append(MarkedRange(name, start, frame - 1, bias))
        else:
            raise SettingsError(
                f"The action '{action.name}' has a marker '{text}' on frame {frame} and no "
                f"'{_BEGIN}{name}' before it; add that, or remove it."
            )
    for name, opened in begun.items():
        if opened:
            raise SettingsError(
                f"The action '{action.name}' has a marker '{_BEGIN}{name}' on frame {opened[0][0]} "
                f"and no '{_END}{name}' after it; add that, or remove it."
            )
    return sorted(ranges, key=lambda r: (r.start, r.end, r.name))


def read_clip_tags(action: bpy.types.Action, first: int) -> tuple[TagRange, ...]:
    """Return an action's tags in frames of its clip, which starts at its frame `first`."""
    return tuple(
        TagRange(name, max(start - first, 0), end + 1 - first, bias if name == PREFER else None)
        for name, start, end, bias in read_tags(action)
        if first <= end >= start
    )


def _parse_tag(text: str, action: str) -> tuple[str, float]:
    """Return the tag that a marker names, and its bias."""
    name = text[len(_BEGIN) :].strip()
    first, _, number = name.partition(" ")
    if first != PREFER or not number:
        return name, PREFERENCE
    try:
        return first, float(number)
    except ValueError:
        raise SettingsError(
            f"The marker '{text}' of action '{action}' gives no number behind '{PREFER}'; write it "
            f"as in '{_BEGIN}{PREFER} -2'."
        ) from None
