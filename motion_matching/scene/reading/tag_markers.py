"""Tags as pose markers of an action, which an animator moves in the Action Editor, and back.

A range is a pair of markers, 'tag: limp' on its first frame and 'end: limp' on the first one after
it. After the tag 'prefer' comes its bias, as in 'tag: prefer -2'; if biases differ, it comes after
the end as well, because ranges may overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy

from ...engine.database.tags import PREFER, PREFERENCE, TagRange
from ...engine.errors import SettingsError

_BEGIN, _END = "tag: ", "end: "
_MAX_BYTES = 63  # of a marker's name


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
        name, bias = _parse_marker(text, action.name)
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
    ranges = [r for r in read_tags(action) if first <= r.end >= r.start]
    biases = [r.bias if r.name == PREFER else None for r in ranges]
    return tuple(
        TagRange(r.name, max(r.start - first, 0), r.end + 1 - first, bias)
        for r, bias in zip(ranges, biases, strict=True)
    )


def _parse_marker(text: str, action: str) -> tuple[str, float]:
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
