"""Settings of retargeting: what is read, how it is moved over, and bones by role."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy

from ...engine.retargeting.settings import RetargetSettings
from ..property_updates import invalidate_status
from ..typed_properties import (
    Items,
    choice,
    collection,
    describe_by,
    hidden_text,
    integer,
    number,
    numbers,
    pointer,
    settings_group,
    switch,
    text,
)

_LIMBS = (
    ("IK", "IK", "Foot or hand, and a pole target"),
    ("FK", "FK", "The controls of each segment"),
)
_SCALE: Any = {"min": 0.0, "max": 1000.0, "soft_max": 10.0, "precision": 3, "subtype": "FACTOR"}
_CONFIDENCE: Any = {"min": 0.0, "max": 1.0, "subtype": "FACTOR", "precision": 2}


@settings_group
class MotionMatchingBonePair(bpy.types.PropertyGroup):
    """The bones of one role in both characters"""

    role: str = hidden_text("Role", "Role of the bones")
    source: str = text(
        "",
        "Source",
        "Bones of the source with this role, from top to bottom, separated by commas; others than "
        "those that were found are used until Clear Bones",
    )
    target: str = text(
        "",
        "Character",
        "Bones of this character with this role, from top to bottom, separated by commas; others "
        "than those that were found are used until Clear Bones",
        update=invalidate_status,
    )
    found_source: str = hidden_text("Found Source", "What was found in the source")
    found_target: str = hidden_text("Found Target", "What was found in the character")
    offset: Sequence[float] = numbers(
        (0.0, 0.0, 0.0),
        "Offset",
        "Rotation that is added to what the source does: of a limb, X is the hinge of knee or "
        "elbow and Y the way along it; of the torso, X is to the left and Z upward",
        update=invalidate_status,
        subtype="EULER",
        unit="ROTATION",
        soft_min=-math.pi,
        soft_max=math.pi,
    )
    confidence: float = number(
        0.0,
        "Confidence",
        "How sure both are: 1 for names that are known, less where shape alone tells",
        **_CONFIDENCE,
    )


@settings_group
class MotionMatchingRetargetResult(bpy.types.PropertyGroup):
    """A new action that is not what its source does"""

    action: bpy.types.Action = pointer(bpy.types.Action, "Action", "The new action")
    text: str = hidden_text("What Is Wrong", "The part that is off most, and by how much")
    role: str = hidden_text("Role", "Role of the bones that are wrong")
    bones: str = hidden_text("Bones", "Bones of the character that are wrong")
    frame: int = integer(0, "Frame", "The frame in which it shows most")


def is_armature(self: Any, obj: bpy.types.Object) -> bool:
    """Return whether an object can be the source of this character."""
    return obj.type == "ARMATURE" and obj != self.id_data


@settings_group
@describe_by(RetargetSettings, update=invalidate_status)
class MotionMatchingRetarget(bpy.types.PropertyGroup):
    """How motion of other characters is brought onto this one"""

    foot_ik: bool
    hand_ik: float
    keep_translations: bool
    fit_root: str
    action: bpy.types.Action = pointer(
        bpy.types.Action,
        "Action",
        "Action of another armature; empty: what the other selected armature plays",
    )
    source: bpy.types.Object = pointer(
        bpy.types.Object,
        "Source",
        "Armature that the action was made for; empty: the other selected one, or the one whose "
        "bones it moves",
        poll=is_armature,
    )
    legs: str = choice("IK", "Legs", "What moves the legs of a control rig", _LIMBS)
    arms: str = choice("FK", "Arms", "What moves the arms of a control rig", _LIMBS)
    scale: float = number(
        0.0,
        "Scale",
        "How far the character moves for each metre of the source; 0: found from the length of the "
        "legs",
        update=invalidate_status,
        **_SCALE,
    )
    pairs: Items[MotionMatchingBonePair] = collection(
        MotionMatchingBonePair, "Bones", "Bones by role, as they were found or set"
    )
    pair_index: int = integer(0, "Active Role", "Role whose bones are shown")
    results: Items[MotionMatchingRetargetResult] = collection(
        MotionMatchingRetargetResult, "Results", "New actions that are not what their sources do"
    )
    result_index: int = integer(0, "Active Result", "Result that is told about")
    summary: str = hidden_text("Summary", "How many roles are mapped")
    keep_frames: bool = switch(
        False,
        "Keep Frames",
        "Use all frames as they are. Otherwise T-poses at the ends are left out and single lost "
        "frames are interpolated",
    )
    notes: str = hidden_text(
        "Notes", "What was mended in the motion that was retargeted last, or is wrong with it"
    )
    better_axes: str = hidden_text(
        "Better Axes", "Axes under which the files that were retargeted last would stand"
    )
    lying_files: str = hidden_text(
        "Lying Files", "The files that were retargeted last, if they lie"
    )
    preset: str = hidden_text("Preset", "Mapping that was applied or saved last")
