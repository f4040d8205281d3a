"""Settings of the director: what a mark asks for, and the shot of a character."""

from __future__ import annotations

import math
from typing import Any

import bpy

from ... import app
from ..takes.properties import GAITS, tags_text
from ..typed_properties import (
    choice,
    hidden_text,
    integer,
    number,
    pointer,
    settings_group,
    switch,
    text,
)

_FRAME: Any = {"min": -1_048_574, "max": 1_048_574, "soft_min": 0, "soft_max": 10_000}
_SECONDS: Any = {"subtype": "TIME_ABSOLUTE", "unit": "TIME_ABSOLUTE", "precision": 2, "step": 10}
_METRES: Any = {"subtype": "DISTANCE", "unit": "LENGTH", "precision": 3}
VARIATIONS: Any = {"min": 2, "max": 20, "soft_max": 6}
_KINDS = (
    ("MARK", "Mark", "Where the character is to be on a frame, and what it is to do"),
    ("PIN", "Pin", "A mark that does not lead, in files of earlier versions"),
    ("TEMPO", "Tempo", "How fast the motion is played over a range of frames"),
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
    ("FREE", "Free", "As the motion has it"),
    ("DOWN", "Down", "Down, as on a table or a rail"),
    ("UP", "Up", "Up, as to carry or to receive something"),
    ("ARROW", "Along Arrow", "Where the arrow points on this frame, as to a wall"),
)
_MARK_GAITS = (
    ("SAME", "Same", "As before this mark"),
    *((name.upper(), label, f"{help} from this mark on") for name, label, help in GAITS),
)


def _get_frame(mark: Any) -> int:
    return app.direct.marks.get_frame(mark.id_data)


def _set_frame(mark: Any, frame: int) -> None:
    app.direct.marks.set_frame(mark.id_data, frame)


@settings_group
class MotionMatchingMark(bpy.types.PropertyGroup):
    """What an empty asks for as a mark"""

    character: bpy.types.Object = pointer(
        bpy.types.Object,
        "Character",
        "Armature whose mark this empty is",
        options={"HIDDEN"},
    )
    kind: str = choice("MARK", "Kind", "What the empty is for the director", _KINDS)
    frame: int = integer(
        0,
        "Frame",
        "Frame on which the mark is to be met; its marker on the timeline shows it, and moves it",
        get=_get_frame,
        set=_set_frame,
        **_FRAME,
    )
    stored_frame: int = integer(
        0,
        "Stored Frame",
        "Frame of the mark while the timeline has no marker of its name",
        options={"HIDDEN"},
        **_FRAME,
    )
    marker_name: str = hidden_text("Marker", "Name of its timeline marker when it was last seen")
    use_place: bool = switch(True, "Place", "Be where the arrow begins on this frame")
    part: str = choice(
        "character",
        "Part",
        "What is to be where the arrow begins on this frame",
        PARTS,
    )
    use_height: bool = switch(
        False, "Height", "Be as high as the arrow on this frame; off: as high as the motion is"
    )
    palm: str = choice("FREE", "Palm", "Where the palm faces while the hand is at the mark", _PALMS)
    leads: bool = switch(
        True,
        "Lead Character",
        "Choose way and motion for this mark; off: only bring its limb or pose there, from "
        "wherever the motion happens to be",
    )
    use_facing: bool = switch(True, "Facing", "Face where the arrow points on this frame")
    hold: float = number(
        0.0,
        "Stand Still For",
        "Stand still for so long from this frame on, or keep only the limb there; 0: go on at once",
        min=0.0,
        max=600.0,
        soft_max=10.0,
        **_SECONDS,
    )
    moment: str = text(
        "",
        "Moment",
        "Frame of a source to show on this frame, such as walk_01:120, or walk_01:120:mirrored",
    )
    gait: str = choice("SAME", "Gait", "How to go from this mark on", _MARK_GAITS)
    use_tags: bool = switch(
        False, "Other Tags", "Ask for other tags from this mark on than before it"
    )
    tags: str = tags_text(
        "Tags",
        "Tags to ask for from this mark on, separated by commas; empty: for none any more",
    )
    tolerance: float = number(
        0.01,
        "Tolerance",
        "How far from its place a mark still counts as met",
        min=0.0,
        max=100.0,
        soft_max=1.0,
        **_METRES,
    )
    facing_tolerance: float = number(
        0.035,
        "Turned",
        "How far turned from its facing a mark still counts as met",
        min=0.0,
        max=math.pi,
        subtype="ANGLE",
        unit="ROTATION",
    )
    use_pose: bool = switch(
        False, "Pose", "Be in the pose that was kept on this frame, with Keep Pose at This Frame"
    )
    pose: str = hidden_text("Kept Pose", "Rotations of bones and the height of the hips, as JSON")
    pose_tolerance: float = number(
        0.02,
        "Pose Tolerance",
        "How far each joint may be from its place in the pose for it to count as met",
        min=0.0,
        max=100.0,
        soft_max=1.0,
        **_METRES,
    )
    pose_fade: float = number(
        0.5,
        "Fade",
        "Time in which the motion is led to the pose, and from it again",
        min=0.0,
        max=10.0,
        **_SECONDS,
    )
    limb: str = choice(
        "left_hand",
        "Limb",
        "What is to be at a pin, in files of earlier versions",
        LIMBS,
        options={"HIDDEN"},
    )
    frame_end: int = integer(0, "End", "Last frame of the tempo", **_FRAME)
    rate: float = number(
        1.0,
        "Rate",
        "How fast the motion is played in these frames: below 1 slower, above 1 faster",
        min=0.9,
        max=1.1,
        subtype="FACTOR",
    )
    asked: str = hidden_text("Asked", "What it asked for when it was solved last")
    reason: str = hidden_text("Reason", "Why the last solve missed it")


def is_curve(self: Any, obj: bpy.types.Object) -> bool:
    return obj.type == "CURVE"


def _show_mark(self: Any, context: bpy.types.Context) -> None:
    """Select the mark that was chosen in the list."""
    if context.mode == "OBJECT":
        app.direct.marks.select_chosen(self.id_data)


@settings_group
class MotionMatchingDirector(bpy.types.PropertyGroup):
    """The shot of a character: what is directed besides its marks"""

    marks: bpy.types.Collection = pointer(
        bpy.types.Collection,
        "Marks",
        "Collection whose empties are the marks of this character",
    )
    mark_index: int = integer(
        0, "Active Mark", "Mark whose settings are shown, and which is selected", update=_show_mark
    )
    marker_names: str = hidden_text("Markers", "Names of the timeline markers made for marks")
    gait: str = choice("walk", "Gait", "How to go until a mark asks for another gait", GAITS)
    seed: int = integer(
        0,
        "Seed",
        "Another number gives another take that is about as good",
        min=0,
        soft_max=1000,
    )
    variations: int = integer(
        3, "Variations", "How many takes that differ the button beside it finds", **VARIATIONS
    )
    use_range: bool = switch(
        False,
        "Custom Range",
        "Direct a range of your own, instead of from the start of the scene to a second after the "
        "last mark",
    )
    frame_start: int = integer(1, "Start", "First frame of the take", **_FRAME)
    frame_end: int = integer(250, "End", "Last frame of the take", **_FRAME)
    path: bpy.types.Object = pointer(
        bpy.types.Object,
        "Path",
        "Curve to follow over the frames below; radii of its points make it faster or slower there",
        poll=is_curve,
    )
    path_start: int = integer(1, "Path Start", "Frame at the beginning of the curve", **_FRAME)
    path_end: int = integer(250, "Path End", "Frame at the end of the curve", **_FRAME)
