"""Settings of retargeting: the source, options, and bones by role."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy

from ...engine.retargeting.settings import RetargetSettings
from ..base.property_updates import invalidate_status
from ..base.typed_properties import (
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
        "Bones of the source with this role, from top to bottom, separated by commas; your changes "
        "stay until you clear them",
    )
    target: str = text(
        "",
        "Character",
        "Bones of this character with this role, from top to bottom, separated by commas; your "
        "changes stay until you clear them",
        update=invalidate_status,
    )
    found_source: str = hidden_text("Found Source", "Bones found in the source")
    found_target: str = hidden_text("Found Target", "Bones found in the character")
    offset: Sequence[float] = numbers(
        (0.0, 0.0, 0.0),
        "Offset",
        "Rotation added to the source's. Limbs: X is the hinge of knee or elbow, and Y points "
        "along the limb. Torso: X points left, and Z up",
        update=invalidate_status,
        subtype="EULER",
        unit="ROTATION",
        soft_min=-math.pi,
        soft_max=math.pi,
    )
    confidence: float = number(
        0.0,
        "Confidence",
        "Certainty of both: 1 for known names, less if only the shape was used",
        **_CONFIDENCE,
    )


@settings_group
class MotionMatchingRetargetResult(bpy.types.PropertyGroup):
    """A new action that is not what its source does"""

    action: bpy.types.Action = pointer(bpy.types.Action, "Action", "The new action")
    text: str = hidden_text("What Is Wrong", "The part that is off most, and by how much")
    role: str = hidden_text("Role", "Role of the wrong bones")
    bones: str = hidden_text("Bones", "Wrong bones of the character")
    frame: int = integer(0, "Frame", "The frame with the largest error")


@settings_group
@describe_by(RetargetSettings, update=invalidate_status)
class MotionMatchingRetarget(bpy.types.PropertyGroup):
    """How to retarget motion of other characters to this one"""

    foot_ik: bool
    hand_ik: float
    keep_translations: bool
    fit_root: str
    action: bpy.types.Action = pointer(
        bpy.types.Action,
        "Action",
        "Action of another armature; empty: the one of the other selected armature",
    )
    source: bpy.types.Object = pointer(
        bpy.types.Object,
        "Source",
        "Armature of the action; empty: the other selected one, or the one with the bones it moves",
        poll=lambda self, obj: obj.type == "ARMATURE" and obj != self.id_data,
    )
    legs: str = choice("IK", "Legs", "What moves the legs of a control rig", _LIMBS)
    arms: str = choice("FK", "Arms", "What moves the arms of a control rig", _LIMBS)
    scale: float = number(
        0.0,
        "Scale",
        "Distance the character moves for each metre of the source; 0: found from the leg lengths",
        update=invalidate_status,
        **_SCALE,
    )
    pairs: Items[MotionMatchingBonePair] = collection(
        MotionMatchingBonePair, "Bones", "Bones by role, found or set"
    )
    pair_index: int = integer(0, "Active Role", "Role with the bones to show")
    results: Items[MotionMatchingRetargetResult] = collection(
        MotionMatchingRetargetResult, "Results", "New actions that differ from their sources"
    )
    result_index: int = integer(0, "Active Result", "Result with the details to show")
    summary: str = hidden_text("Summary", "Number of mapped roles")
    keep_frames: bool = switch(
        False,
        "Keep Frames",
        "Use all frames unchanged. Off: T-poses at the ends are removed and single lost frames "
        "interpolated",
    )
    notes: str = hidden_text("Notes", "Repairs and problems of the last retargeted motion")
    better_axes: str = hidden_text(
        "Better Axes", "Axes with which the last retargeted files would stand upright"
    )
    lying_files: str = hidden_text("Lying Files", "The last retargeted files, if they lie down")
    preset: str = hidden_text("Preset", "Last applied or saved mapping")
