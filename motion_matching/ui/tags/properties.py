"""Settings of tags: ranges of a source's frames, and thresholds to find tags in the motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ... import app
from ...app.property_access import settings_of
from ...engine.database.tags.thresholds import AutoTagSettings
from ..base.property_updates import invalidate_status
from ..base.typed_properties import (
    choice,
    describe_by,
    integer,
    number,
    numbers,
    settings_group,
    suggest,
    text,
    updates,
)

_NO_ENTRY = "Reach these frames only by playing on into them"
_LOOP = "Repeat these frames as a cycle; the last must equal the first"
KINDS: Any = (
    ("FREE", "Tag", "A name for performances to ask for", "BOOKMARKS", 0),
    ("no_entry", "Do Not Start Here", _NO_ENTRY, "IMPORT", 1),
    ("no_use", "Do Not Use", "Never play these frames", "CANCEL", 2),
    ("prefer", "Prefer", "Change the cost of these frames", "SOLO_ON", 3),
    ("loop", "Loop", _LOOP, "FILE_REFRESH", 4),
)
FRAME: Any = {"min": 0, "soft_max": 10000}
_COST: Any = {"min": -1000.0, "max": 1000.0, "soft_min": -5.0, "soft_max": 5.0}
LABELS: Any = {identifier: name for identifier, name, *_ in KINDS}
NEW_NAME = LABELS["FREE"]  # the name of a new range


def invalidate_and_redraw(self: MotionMatchingTag, context: bpy.types.Context) -> None:
    """Mark the database as stale after a change of a range, which editors draw as well."""
    app.database.status.invalidate()
    redraw_editors(self, context)


def apply_name_color(self: MotionMatchingTag, context: bpy.types.Context) -> None:
    """Give a range that still has the color of new ones the color of its name."""
    new = app.controller.tag_colors.get_tag_color(NEW_NAME)
    if max(abs(a - b) for a, b in zip(self.color, new, strict=True)) < 1e-3:
        self.color = app.controller.tag_colors.get_tag_color(get_tag_name(self))
    invalidate_and_redraw(self, context)


def get_tag_name(tag: MotionMatchingTag) -> str:
    """Return the name of a range, or what it means if it has none."""
    return tag.label if tag.kind == "FREE" else LABELS[tag.kind]


def suggest_used_names(self: MotionMatchingTag, context: bpy.types.Context, text: str) -> list[str]:
    """Return the names of the character's ranges that contain a text."""
    tags = (tag for source in settings_of(self.id_data).sources for tag in source.tag_ranges)
    used = {tag.label for tag in tags if tag.kind == "FREE"}
    return sorted((name for name in used if text.lower() in name.lower()), key=str.lower)


def redraw_editors(self: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    app.callbacks.redraw("WINDOW", editor="DOPESHEET_EDITOR")


@settings_group
@updates(invalidate_and_redraw)
class MotionMatchingTag(bpy.types.PropertyGroup):
    """A range of a source's frames with a name to ask for, or with a meaning to the search"""

    label: str = text(
        NEW_NAME,
        "Name",
        "Name for performances to ask for",
        update=apply_name_color,
        **suggest(suggest_used_names),
    )
    kind: str = choice("FREE", "Kind", "Meaning of the range", KINDS, update=apply_name_color)
    frame_start: int = integer(
        1, "Start", "First frame of the range; frames of a file are counted from zero", **FRAME
    )
    frame_end: int = integer(250, "End", "Last frame of the range", **FRAME)
    bias: float = number(
        -1.0,
        "Cost",
        "Added to the cost of these frames; lower: played more often, above zero: avoided",
        precision=2,
        **_COST,
    )
    color: Sequence[float] = numbers(
        (0.35, 0.6, 0.9),
        "Color",
        "Color of the range in the Dope Sheet and the Timeline",
        subtype="COLOR_GAMMA",
        min=0.0,
        max=1.0,
        update=redraw_editors,
    )


@settings_group
@describe_by(AutoTagSettings, is_hard=True, update=invalidate_status)
class MotionMatchingThresholds(bpy.types.PropertyGroup):
    """Thresholds for finding tags in the motion"""

    idle_speed: float
    run_speed: float
    strafe_angle: float
    back_angle: float
    turn_rate: float
    least_turn: float
    plant_angle: float
    hysteresis: float
    shortest: float
    speed_window: float
    turn_window: float
    change_time: float
    arrived: float
