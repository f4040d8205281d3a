"""Settings for building databases: sources, roles, the simulation bone, and named databases."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import bpy

from ... import app
from ...engine.motion.settings import SimulationBoneSettings
from ...engine.skeleton.bone_names import ROLES
from ..base.property_updates import invalidate_status
from ..base.typed_properties import (
    Items,
    Named,
    choice,
    collection,
    declare,
    describe_by,
    hidden_text,
    integer,
    named_by,
    number,
    pointer,
    settings_group,
    suggest,
    switch,
    text,
    updates,
)
from ..tags.properties import FRAME, MotionMatchingTag

AXES = tuple(
    (axis, axis, f"The {axis} axis of the file") for axis in ("X", "Y", "Z", "-X", "-Y", "-Z")
)
# options of factors by which motion is played faster
SPEED: Any = {"min": 0.1, "max": 10.0, "soft_min": 0.5, "soft_max": 2.0, "precision": 2}
_KINDS = (
    ("ACTION", "Action", "An action of this armature", "ACTION", 0),
    ("FILE", "File", "A motion capture file with the same skeleton", "FILE", 1),
)
_GROUNDS = (
    ("FOUND", "Found", "Find slopes and stairs from the planted feet"),
    ("LEVEL", "Level", "Level ground, without any climbing"),
    ("OBJECT", "From Object", "An object of the scene, such as a ramp or stairs"),
)
_SHAPES = ("MESH", "CURVE", "SURFACE", "FONT", "EMPTY")
_GAITS = (
    ("none", "Any", "No gait tag; speeds are measured from the motion"),
    ("idle", "Idle", "Standing, and turning in place"),
    ("walk", "Walk", "Walking"),
    ("run", "Run", "Running"),
)


def _change_filepath(self: MotionMatchingSource, context: bpy.types.Context) -> None:
    """Make the path absolute: saving this Blender file elsewhere would change a relative one."""
    self.beside = ""  # not known yet for this file
    if self.filepath.startswith("//") and bpy.data.filepath:
        self.filepath = os.path.normpath(bpy.path.abspath(self.filepath))
    invalidate_status(self, context)


def is_ground(source: Any, obj: bpy.types.Object) -> bool:
    """Return whether an object can be the ground of a source: a shape, or an empty with some."""
    return obj.type in _SHAPES


def _describe_source(source: Any) -> Iterable[str]:
    gait = "" if source.gait == "none" else source.gait.title()
    finding = app.database.status.find_finding(source)
    told = finding.reason if finding else ""
    return filter(None, (", ".join(filter(None, (gait, source.tags))), source.filepath, told))


@settings_group
@named_by(describe=_describe_source)  # a source is called as its action or file is
@updates(invalidate_status)
class MotionMatchingSource(Named, bpy.types.PropertyGroup):
    """A piece of motion that the database is built from, and how it is used"""

    enabled: bool = switch(True, "Use", "Build from this source")
    kind: str = choice("ACTION", "Kind", "Where the motion comes from", _KINDS)
    action: bpy.types.Action = pointer(bpy.types.Action, "Action", "Action with the motion")
    filepath: str = text(
        "",
        "File",
        "Motion capture file (BVH). It is found again if you move it together with this Blender "
        "file",
        subtype="FILE_PATH",
        update=_change_filepath,
    )
    character: str = text(
        "",
        "Character",
        "Root bone of the character to use, in a file with several. Leave empty for the one with "
        "the most bones",
        **suggest(lambda source, context, text: app.sources.source_files.list_performers(source)),
    )
    performer: bpy.types.Object = pointer(
        bpy.types.Object,
        "Performer",
        "Armature of the action, if it is another one: the motion is retargeted. Leave empty for "
        "an action of this armature",
        poll=lambda source, obj: obj.type == "ARMATURE",
    )
    beside: str = hidden_text(
        "Beside",
        "The path relative to the Blender file at the last save",
        update=None,
        subtype="FILE_NAME",  # may hold what is no text, and begin with "//"
    )
    mirror: bool = switch(
        True,
        "Mirror",
        "Also add the mirror image: twice the motion, with equally good left and right turns",
    )
    tempo: bool = switch(
        False,
        "Other Tempos",
        "Also add the motion a tenth slower and a tenth faster: three times the motion, with "
        "speeds between the captured ones",
    )
    loop: bool = switch(
        False, "Loop", "Repeat the motion as a cycle; its last frame must equal its first"
    )
    speed: float = number(
        1.0, "Speed", "Playback speed of the motion; higher: livelier, hurried above 1.2", **SPEED
    )
    use_range: bool = switch(False, "Limit Range", "Use only a part of the frames")
    frame_start: int = integer(
        1, "Start", "First frame to use; frames of a file are counted from zero", **FRAME
    )
    frame_end: int = integer(250, "End", "Last frame to use", min=1, soft_max=10000)
    keep_frames: bool = switch(
        False,
        "Keep Frames",
        "Use all frames unchanged. Off: the build removes or interpolates T-poses at the ends, "
        "leaps, and lost or frozen frames",
    )
    keep_floor: bool = switch(
        False,
        "Keep Floor",
        "Keep the motion at its height. Off: the build moves it to the floor of the other clips, "
        "and to height zero",
    )
    ground: str = choice(
        "FOUND",
        "Ground",
        "Ground of the capture. Motion on slopes and stairs plays where the ground rises the same "
        "way",
        _GROUNDS,
    )
    ground_object: bpy.types.Object = pointer(
        bpy.types.Object,
        "Object",
        "Mesh with the ground of the capture, at its place in the motion, including its children. "
        "It is read on the current frame",
        poll=is_ground,
    )
    use_path: bool = switch(
        False,
        "By Hand",
        "Use a hand-edited empty as the path of the simulation bone",
        options={"HIDDEN"},
    )
    path: bpy.types.Object = pointer(
        bpy.types.Object,
        "Path",
        "Empty with the path of the simulation bone through this source as keys",
        options={"HIDDEN"},
    )
    gait: str = choice(
        "none", "Gait", "Tag all frames with a gait for performances to ask for", _GAITS
    )
    tags: str = text(
        "",
        "Tags",
        "Tags for all frames, separated by commas. no_use: never play the frames, no_entry: reach "
        "them only by playing on into them, prefer: favour them",
    )
    tag_ranges: Items[MotionMatchingTag] = collection(
        MotionMatchingTag, "Tags", "Tagged ranges of frames"
    )
    tag_index: int = integer(0, "Active Tag", "Range whose details are shown", update=None)


_ROLE_HELP = "Bone with this role; leave empty to find it by name, shape and motion"


@settings_group
@updates(invalidate_status)
@declare(**{role: text("", role.replace("_", " ").title(), _ROLE_HELP) for role in ROLES})
class MotionMatchingRoles(bpy.types.PropertyGroup):
    """Bones by role, where the automatic search fails"""

    preset: str = hidden_text("Preset", "Last applied or saved preset", update=None)


@settings_group
@updates(invalidate_status)
class MotionMatchingChosenBone(bpy.types.PropertyGroup):
    """A bone that was chosen for a role, which is its name"""

    bone: str = text("", "Bone", "Bone with this role; '-' if there is none")


@settings_group
@updates(invalidate_status)
class MotionMatchingSourceRoles(bpy.types.PropertyGroup):
    """Bones chosen by role for sources of one skeleton, whose signature is the name"""

    roles: Items[MotionMatchingChosenBone] = collection(
        MotionMatchingChosenBone, "Roles", "Bones chosen by role"
    )
    preset: str = hidden_text("Preset", "Last applied or saved preset", update=None)


@settings_group
@describe_by(SimulationBoneSettings, update=invalidate_status)
class MotionMatchingSimulationBone(bpy.types.PropertyGroup):
    """How to find the path of the character over the ground in the sources"""

    source: str
    position_window: float
    position_order: int
    direction_window: float
    direction_order: int
    standing: float
    heading: str


class BuildRecord:
    """A mixin of groups that record the last build of a database."""

    built_key: str = hidden_text("Built Key", "Content of the last build")
    built_of: str = hidden_text(
        "Built Of", "Sources and settings of the last build, to find changes since then"
    )
    built_notes: str = hidden_text("Build Notes", "Notes of the last build")


@settings_group
@named_by(lambda database, name: setattr(database, "label", name))
class MotionMatchingDatabase(Named, BuildRecord, bpy.types.PropertyGroup):
    """A database with a name, built from some of the sources"""

    label: str = text("", "Name", "Name of this database")
    sources: str = hidden_text("Sources", "Names of its sources, while another database is shown")
    trained_key: str = hidden_text("Trained Key", "Motion field last trained from it")
