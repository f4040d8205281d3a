"""Tags on ranges of a source's frames."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty

from . import status
from .property_options import OVERRIDE

KINDS: Any = [
    ("FREE", "Tag", "A name that performances can ask for", "BOOKMARKS", 0),
    ("no_entry", "Do Not Start Here", "Frames that are entered only by playing on into them", "IMPORT", 1),
    ("no_use", "Do Not Use", "Frames that are never played", "CANCEL", 2),
    ("prefer", "Prefer", "Frames that cost less than others, or more", "SOLO_ON", 3),
    ("loop", "Loop", "Frames that go round as a cycle, the last of which repeats the first", "FILE_REFRESH", 4),
]


def changed(self: Any, context: bpy.types.Context) -> None:
    """A range of frames: the database may be another, and it is drawn where frames are."""
    status.forget()
    redrawn(self, context)


def redrawn(self: Any, context: bpy.types.Context) -> None:
    status.redraw("WINDOW", "DOPESHEET_EDITOR")


class MotionMatchingTag(bpy.types.PropertyGroup):
    """A range of a source's frames with a name to ask for, or with a meaning to the search"""

    label: StringProperty(
        name="Name", default="Tag", update=changed, description="Name that performances ask for", **OVERRIDE)
    kind: EnumProperty(
        name="Kind", default="FREE", items=KINDS, update=changed, description="What the range means", **OVERRIDE)
    frame_start: IntProperty(
        name="Start", default=1, min=0, soft_max=10000, update=changed, **OVERRIDE,
        description="First frame of the range; frames of a file are counted from zero")
    frame_end: IntProperty(
        name="End", default=250, min=0, soft_max=10000, update=changed, description="Last frame of the range", **OVERRIDE)
    bias: FloatProperty(
        name="Cost", default=-1.0, min=-1000.0, max=1000.0, soft_min=-5.0, soft_max=5.0, precision=2, update=changed,
        description="What is added to the cost of its frames; lower: played more often, above zero: avoided", **OVERRIDE)
    color: FloatVectorProperty(
        name="Color", subtype="COLOR_GAMMA", size=3, default=(0.35, 0.6, 0.9), min=0.0, max=1.0, update=redrawn,
        **OVERRIDE, description="Color of the range where it is drawn")


CLASSES = (MotionMatchingTag,)
