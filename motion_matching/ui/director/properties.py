"""Settings of the director: what a mark asks for, and the shot of a character."""

from __future__ import annotations

from typing import Any

import bpy

from ... import app
from ...engine.direct.shot.mark import GOALS, Mark
from ..base.typed_properties import (
    choice,
    declare,
    described,
    hidden_text,
    integer,
    number,
    pointer,
    settings_group,
    switch,
    text,
)
from ..takes.properties import GAITS, tags_text

_FRAME: Any = {"min": -1_048_574, "max": 1_048_574, "soft_min": 0, "soft_max": 10_000}
VARIATIONS: Any = {"min": 2, "max": 20, "soft_max": 6}
_KINDS = (
    ("MARK", "Mark", "Where the character should be on a frame, and what it should do"),
    ("PIN", "Pin", "A mark without Lead Character, in files of earlier versions"),
    ("TEMPO", "Tempo", "Playback speed over a range of frames"),
)
LIMBS = (
    ("left_hand", "Left Hand", "The end of the left forearm"),
    ("right_hand", "Right Hand", "The end of the right forearm"),
    ("left_foot", "Left Foot", "The ankle of the left leg"),
    ("right_foot", "Right Foot", "The ankle of the right leg"),
)
PARTS = (
    ("character", "Character", "The character as a whole: the ground below its upper body"),
    ("hips", "Hips", "The hips"),
    *LIMBS,
)
_PALMS = (
    ("FREE", "Free", "As in the motion"),
    ("DOWN", "Down", "Down, as on a table or a rail"),
    ("UP", "Up", "Up, as to carry or to receive something"),
    ("ARROW", "Along Arrow", "Along the arrow on this frame, as against a wall"),
)
_MARK_GAITS = (
    ("SAME", "Same", "As before this mark"),
    *((name.upper(), label, f"{help} from this mark on") for name, label, help in GAITS),
)
_ON = ("use_place", "use_facing")  # at first
_CHOICES = {"part": PARTS, "palm": _PALMS, "gait": _MARK_GAITS}


def _declare(field: str, name: str) -> Any:
    """Return a property of a field of marks: its choices, its switch, or its value."""
    goal = GOALS[field]
    if items := _CHOICES.get(name):
        return choice(items[0][0], goal.label, goal.help, items)
    if name.startswith("use_"):
        return switch(name in _ON, goal.label, goal.help)
    if goal.entry == "text":
        return text("", goal.label, goal.help)
    options: Any = {"step": 10} if goal.unit == "s" else {}
    if goal.initial is not None:
        options["default"] = goal.initial
    return described(Mark, field, **options)


_DECLARED = {
    name: _declare(field, name)
    for field, goal in GOALS.items()
    for name in goal.properties
    if name not in ("frame", "tags", "pose")  # which the class declares itself
}


@settings_group
@declare(**_DECLARED)
class MotionMatchingMark(bpy.types.PropertyGroup):
    """Settings of an empty that is a mark"""

    character: bpy.types.Object = pointer(
        bpy.types.Object, "Character", "Armature of this mark", options={"HIDDEN"}
    )
    kind: str = choice("MARK", "Kind", "Purpose of the empty", _KINDS)
    frame: int = integer(
        0,
        GOALS["time"].label,
        GOALS["time"].help,
        get=lambda mark: app.marks.marks.get_frame(mark.id_data),
        set=lambda mark, frame: app.marks.marks.set_frame(mark.id_data, frame),
        **_FRAME,
    )
    stored_frame: int = integer(
        0,
        "Stored Frame",
        "Frame of the mark while it has no timeline marker",
        options={"HIDDEN"},
        **_FRAME,
    )
    marker_name: str = hidden_text("Marker", "Last known name of its timeline marker")
    use_place: bool
    part: str
    use_height: bool
    palm: str
    leads: bool
    use_facing: bool
    hold: float
    moment: str
    gait: str
    use_tags: bool
    tags: str = tags_text(
        "Tags", "Tags to ask for from this mark on, separated by commas; empty: no tags"
    )
    use_pose: bool
    pose: str = hidden_text("Kept Pose", "Rotations of bones and the height of the hips, as JSON")
    limb: str = choice(
        "left_hand",
        "Limb",
        "Limb of a pin, in files of earlier versions",
        LIMBS,
        options={"HIDDEN"},
    )
    frame_end: int = integer(0, "End", "Last frame of the tempo", **_FRAME)
    rate: float = number(
        1.0,
        "Rate",
        "Playback speed in these frames; below 1: slower, above 1: faster",
        min=0.9,
        max=1.1,
        subtype="FACTOR",
    )
    asked: str = hidden_text("Asked", "Settings at the last solve")
    reason: str = hidden_text("Reason", "Why the last solve missed it")


def _show_mark(self: Any, context: bpy.types.Context) -> None:
    if context.mode == "OBJECT":
        app.marks.marks.select_chosen(self.id_data)


@settings_group
class MotionMatchingDirector(bpy.types.PropertyGroup):
    """The shot of a character: all settings except its marks"""

    marks: bpy.types.Collection = pointer(
        bpy.types.Collection, "Marks", "Collection whose empties are the marks of this character"
    )
    mark_index: int = integer(
        0, "Active Mark", "Mark whose settings are shown, and which is selected", update=_show_mark
    )
    marker_names: str = hidden_text("Markers", "Names of the timeline markers made for marks")
    gait: str = choice("walk", "Gait", "Gait until a mark asks for another one", GAITS)
    seed: int = integer(
        0,
        "Seed",
        "Change the number for a different take that is about as good",
        min=0,
        soft_max=1000,
    )
    variations: int = integer(3, "Variations", "Number of different takes to find", **VARIATIONS)
    use_range: bool = switch(
        False,
        "Custom Range",
        "Use your own range. Off: from the start of the scene to a second after the last mark",
    )
    frame_start: int = integer(1, "Start", "First frame of the take", **_FRAME)
    frame_end: int = integer(250, "End", "Last frame of the take", **_FRAME)
    path: bpy.types.Object = pointer(
        bpy.types.Object,
        "Path",
        "Curve to follow over the frames below; the radius of each point sets the speed there",
        poll=lambda self, obj: obj.type == "CURVE",
    )
    path_start: int = integer(1, "Path Start", "Frame at the beginning of the curve", **_FRAME)
    path_end: int = integer(250, "Path End", "Frame at the end of the curve", **_FRAME)
