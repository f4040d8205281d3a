"""Tags on ranges of a source's frames."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty

from . import status
from .property_options import OVERRIDE, suggesting
from .tag_colors import color_of

KINDS: Any = [
    ("FREE", "Tag", "A name that performances can ask for", "BOOKMARKS", 0),
    (
        "no_entry",
        "Do Not Start Here",
        "Frames that are entered only by playing on into them",
        "IMPORT",
        1,
    ),
    ("no_use", "Do Not Use", "Frames that are never played", "CANCEL", 2),
    ("prefer", "Prefer", "Frames that cost less than others, or more", "SOLO_ON", 3),
    (
        "loop",
        "Loop",
        "Frames that go round as a cycle, the last of which repeats the first",
        "FILE_REFRESH",
        4,
    ),
]
LABELS: Any = {identifier: name for identifier, name, *_ in KINDS}
NEW = LABELS["FREE"]  # the name of a new range


def changed(self: Any, context: bpy.types.Context) -> None:
    """A range of frames: the database may be another, and it is drawn where frames are."""
    status.forget()
    redrawn(self, context)


def named(self: Any, context: bpy.types.Context) -> None:
    """A range that still has the colour of new ones gets that of its name."""
    if max(abs(a - b) for a, b in zip(self.color, color_of(NEW), strict=True)) < 1e-3:
        self.color = color_of(name_of(self))
    changed(self, context)


def name_of(tag: Any) -> str:
    """What a range is called: by its own name, or by what it means."""
    return tag.label if tag.kind == "FREE" else LABELS[tag.kind]


def used_names(self: Any, context: bpy.types.Context, text: str) -> list[str]:
    """The names that ranges of any source of the character have already."""
    used = {
        tag.label
        for source in self.id_data.motion_matching.sources
        for tag in source.tag_ranges
        if tag.kind == "FREE"
    }
    return sorted((name for name in used if text.lower() in name.lower()), key=str.lower)


def redrawn(self: Any, context: bpy.types.Context) -> None:
    status.redraw("WINDOW", "DOPESHEET_EDITOR")


class MotionMatchingTag(bpy.types.PropertyGroup):
    """A range of a source's frames with a name to ask for, or with a meaning to the search"""

    label: StringProperty(
        name="Name",
        default=NEW,
        update=named,
        description="Name that performances ask for",
        **suggesting(used_names),
        **OVERRIDE,
    )
    kind: EnumProperty(
        name="Kind",
        default="FREE",
        items=KINDS,
        update=named,
        description="What the range means",
        **OVERRIDE,
    )
    frame_start: IntProperty(
        name="Start",
        default=1,
        min=0,
        soft_max=10000,
        update=changed,
        **OVERRIDE,
        description="First frame of the range; frames of a file are counted from zero",
    )
    frame_end: IntProperty(
        name="End",
        default=250,
        min=0,
        soft_max=10000,
        update=changed,
        description="Last frame of the range",
        **OVERRIDE,
    )
    bias: FloatProperty(
        name="Cost",
        default=-1.0,
        min=-1000.0,
        max=1000.0,
        soft_min=-5.0,
        soft_max=5.0,
        precision=2,
        update=changed,
        description="What is added to the cost of its frames; lower: played more often, above zero: avoided",
        **OVERRIDE,
    )
    color: FloatVectorProperty(
        name="Color",
        subtype="COLOR_GAMMA",
        size=3,
        default=(0.35, 0.6, 0.9),
        min=0.0,
        max=1.0,
        update=redrawn,
        **OVERRIDE,
        description="Color of the range where it is drawn",
    )


CLASSES = (MotionMatchingTag,)
