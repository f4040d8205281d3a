"""Settings of what a database is built from: sources, bones by role, and the simulation bone."""

from __future__ import annotations

import os
from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .properties_tags import MotionMatchingTag
from .property_options import MANY, OVERRIDE, changed

ROLES = (
    "root",
    "hips",
    "spine",
    "head",
    *(f"{side}_{part}" for side in ("left", "right") for part in ("thigh", "shin", "foot", "toe")),
)
AXES = [(axis, axis, f"The {axis} axis of the file") for axis in ("X", "Y", "Z", "-X", "-Y", "-Z")]


def _given(self: Any, context: bpy.types.Context) -> None:
    """Another file, of which is not known yet how it is reached from the Blender file; one as seen from this Blender file
    would be another one where that is saved elsewhere.
    """
    self.beside = ""
    if self.filepath.startswith("//") and bpy.data.filepath:
        self.filepath = os.path.normpath(bpy.path.abspath(self.filepath))
    changed(self, context)


class MotionMatchingSource(bpy.types.PropertyGroup):
    """A piece of motion to build from, and how it is used"""

    enabled: BoolProperty(
        name="Use", default=True, update=changed, description="Build from this source", **OVERRIDE
    )
    kind: EnumProperty(
        name="Kind",
        default="ACTION",
        update=changed,
        description="Where the motion comes from",
        **OVERRIDE,
        items=[
            ("ACTION", "Action", "An action of this armature", "ACTION", 0),
            ("FILE", "File", "A motion capture file with the same skeleton", "FILE", 1),
        ],
    )
    action: PointerProperty(
        name="Action",
        type=bpy.types.Action,
        update=changed,
        description="Action whose motion is taken",
        **OVERRIDE,
    )
    filepath: StringProperty(
        name="File",
        subtype="FILE_PATH",
        update=_given,
        **OVERRIDE,
        description="Motion capture file (BVH); it may be moved along with this Blender file, as it is found from there too",
    )
    beside: StringProperty(
        name="Beside",
        options={"HIDDEN"},
        **OVERRIDE,
        description="The same file as seen from the Blender file, as that was saved last",
    )
    mirror: BoolProperty(
        name="Mirror",
        default=True,
        update=changed,
        **OVERRIDE,
        description="Add the mirror image as well: twice the motion, as good to the left as to the right",
    )
    loop: BoolProperty(
        name="Loop",
        default=False,
        update=changed,
        **OVERRIDE,
        description="Take the motion as a cycle whose last frame repeats its first, so it can go on for ever",
    )
    speed: FloatProperty(
        name="Speed",
        default=1.0,
        min=0.1,
        max=10.0,
        soft_min=0.5,
        soft_max=2.0,
        precision=2,
        update=changed,
        **OVERRIDE,
        description="How fast the motion is played; higher is livelier, and beyond 1.2 looks hurried",
    )
    use_range: BoolProperty(
        name="Limit Range",
        default=False,
        update=changed,
        description="Take a part of the frames only",
        **OVERRIDE,
    )
    frame_start: IntProperty(
        name="Start",
        default=1,
        min=0,
        soft_max=10000,
        update=changed,
        **OVERRIDE,
        description="First frame that is taken; frames of a file are counted from zero",
    )
    frame_end: IntProperty(
        name="End",
        default=250,
        min=1,
        soft_max=10000,
        update=changed,
        description="Last frame that is taken",
        **OVERRIDE,
    )
    use_path: BoolProperty(
        name="By Hand",
        default=False,
        update=changed,
        options={"HIDDEN"},
        **OVERRIDE,
        description="Take the simulation bone's path from an empty that was edited by hand",
    )
    path: PointerProperty(
        name="Path",
        type=bpy.types.Object,
        update=changed,
        options={"HIDDEN"},
        **OVERRIDE,
        description="Empty whose keys are the path of the simulation bone through this source",
    )
    gait: EnumProperty(
        name="Gait",
        default="none",
        update=changed,
        **OVERRIDE,
        description="Tag all its frames with a gait, which a performance can ask for",
        items=[
            ("none", "Any", "No gait is noted; speeds are found from the motion itself"),
            ("idle", "Idle", "Standing, and turning in place"),
            ("walk", "Walk", "Walking"),
            ("run", "Run", "Running"),
        ],
    )
    tags: StringProperty(
        name="Tags",
        update=changed,
        **OVERRIDE,
        description="Names for all its frames, separated by commas; no_use frames are never played, no_entry frames only by "
        "playing on into them, prefer frames rather than others",
    )
    tag_ranges: CollectionProperty(
        name="Tags",
        type=MotionMatchingTag,
        description="Ranges of its frames that are tagged",
        **MANY,
    )
    tag_index: IntProperty(
        name="Active Tag", description="Range whose details are shown", **OVERRIDE
    )


def _role(name: str) -> Any:
    return StringProperty(
        name=name,
        update=changed,
        description="Bone with this role; empty to have it found by names, shape and motion",
        **OVERRIDE,
    )


class MotionMatchingRoles(bpy.types.PropertyGroup):
    """Bones by role, where they are not found on their own"""

    root: _role("Root")
    hips: _role("Hips")
    spine: _role("Spine")
    head: _role("Head")
    left_thigh: _role("Left Thigh")
    left_shin: _role("Left Shin")
    left_foot: _role("Left Foot")
    left_toe: _role("Left Toe")
    right_thigh: _role("Right Thigh")
    right_shin: _role("Right Shin")
    right_foot: _role("Right Foot")
    right_toe: _role("Right Toe")
    preset: StringProperty(
        name="Preset",
        options={"HIDDEN"},
        description="Preset that was applied or saved last",
        **OVERRIDE,
    )


class MotionMatchingSimulationBone(bpy.types.PropertyGroup):
    """How the path of the character over the ground is found in the sources"""

    source: EnumProperty(
        name="Source",
        default="spine",
        update=changed,
        description="What leads the simulation bone",
        **OVERRIDE,
        items=[
            (
                "spine",
                "Spine and Hips",
                "Place from the upper spine, heading from the hips, both smoothed",
            ),
            ("root", "Root Bone", "An existing root bone, taken as it is"),
        ],
    )
    position_window: FloatProperty(
        name="Smooth Place",
        default=0.5,
        min=0.0,
        soft_max=3.0,
        max=30.0,
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
        update=changed,
        **OVERRIDE,
        description="Time over which the place is smoothed; longer takes out the sway of steps, and blunts starts and stops",
    )
    position_order: IntProperty(
        name="Place Order",
        default=3,
        min=0,
        max=9,
        update=changed,
        **OVERRIDE,
        description="Order of the smoothing polynomial; higher follows starts and stops more closely",
    )
    direction_window: FloatProperty(
        name="Smooth Heading",
        default=1.0,
        min=0.0,
        soft_max=3.0,
        max=30.0,
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
        update=changed,
        **OVERRIDE,
        description="Time over which the heading is smoothed; longer takes out the swing of the hips, and blunts turns",
    )
    direction_order: IntProperty(
        name="Heading Order",
        default=3,
        min=0,
        max=9,
        update=changed,
        **OVERRIDE,
        description="Order of the smoothing polynomial; higher follows turns more closely",
    )
    standing: FloatProperty(
        name="While Standing",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        update=changed,
        **OVERRIDE,
        description="Part of both times that is left while standing or turning sharply; lower: starts, stops and turns stay "
        "crisp, so both can be longer while moving along",
    )
    heading: EnumProperty(
        name="Heading",
        default="direction",
        update=changed,
        description="What of the heading is smoothed",
        **OVERRIDE,
        items=[
            ("direction", "Direction", "The direction on the ground, as a vector"),
            ("angle", "Angle", "The angle, unwrapped over whole turns"),
        ],
    )


CLASSES = (MotionMatchingSource, MotionMatchingRoles, MotionMatchingSimulationBone)
