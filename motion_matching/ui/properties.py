"""Declare the settings of a character, on its armature object: `object.motion_matching`."""

from __future__ import annotations

from typing import Any

import bpy

from .. import app
from ..engine.motion.settings import ContactSettings
from .base.property_updates import follow_selection, invalidate_status, refresh_path
from .base.typed_properties import (
    TOLERANCE,
    Items,
    choice,
    collection,
    described,
    group,
    integer,
    number,
    pointer,
    settings_group,
    suggest,
    switch,
    text,
)
from .controller.properties import MotionMatchingController, MotionMatchingTraining
from .database.properties import (
    AXES,
    SPEED,
    BuildRecord,
    MotionMatchingDatabase,
    MotionMatchingRoles,
    MotionMatchingSimulationBone,
    MotionMatchingSource,
    MotionMatchingSourceRoles,
)
from .director.properties import MotionMatchingDirector, MotionMatchingMark
from .features.properties import MotionMatchingFeatures
from .insight.properties import MotionMatchingInsight
from .jobs.properties import MotionMatchingJob
from .play.properties import MotionMatchingPlay
from .retarget.properties import MotionMatchingRetarget
from .tags.properties import MotionMatchingThresholds, redraw_editors
from .takes.properties import (
    COMPARISONS,
    MotionMatchingScript,
    MotionMatchingTake,
    is_comparable,
    suggest_presets,
)

_BONES = (
    ("AUTO", "Automatic", "The deform bones of a control rig, otherwise all"),
    ("ALL", "All", "All bones of the armature"),
    ("DEFORM", "Deform", "Deform bones, and the bones that connect them"),
)
_FILE_SCALE: Any = {"min": 0.0, "max": 1000.0, "soft_max": 1.0, "precision": 4}
_ROOTS = (
    ("AUTO", "Automatic", "A root bone above the hips if there is one, otherwise the object"),
    ("OBJECT", "Object", "The armature object"),
    ("BONE", "Root Bone", "A bone above the hips"),
    ("HIPS", "Hips", "The hips bone itself"),
    ("IN_PLACE", "In Place", "Nothing: it stays where it is"),
)


@settings_group
class MotionMatchingSettings(BuildRecord, bpy.types.PropertyGroup):
    """Motion matching for this armature"""

    sources: Items[MotionMatchingSource] = collection(
        MotionMatchingSource, "Sources", "Motion to build the database from"
    )
    source_index: int = integer(
        0, "Active Source", "Source whose details are shown", update=follow_selection
    )
    databases: Items[MotionMatchingDatabase] = collection(
        MotionMatchingDatabase,
        "Databases",
        "Named databases, each built from its own choice of sources",
    )
    database_index: int = integer(
        0,
        "Active Database",
        "Database to build and play; switches its sources on",
        update=app.database.databases.switch_database,
    )
    database_shown: int = integer(
        -1, "Shown Database", "Database of the enabled sources", options={"HIDDEN"}
    )
    show_path: bool = switch(
        False,
        "Show in Viewport",
        "Draw the path of the simulation bone through the active source in the 3D view. Thin: as "
        "found, thick: smoothed, violet: edited by hand; arrows show the facing",
        update=refresh_path,
    )
    search: str = text(
        "",
        "Search",
        "Words in the names, gaits or tags of the sources to show. Edits of all shown sources skip "
        "the hidden ones",
        options={"TEXTEDIT_UPDATE"},
    )
    bones: str = choice("AUTO", "Bones", "Bones of the skeleton", _BONES, update=invalidate_status)
    roles: MotionMatchingRoles = group(MotionMatchingRoles, "Roles")
    source_roles: Items[MotionMatchingSourceRoles] = collection(
        MotionMatchingSourceRoles,
        "Source Roles",
        "Bones chosen by role for the skeletons of sources",
    )
    root: str = choice(
        "AUTO", "Root Motion", "What moves the character over the ground in a take", _ROOTS
    )
    root_bone: str = text(
        "", "Root Bone", "Bone that moves the character; leave empty to use the one above the hips"
    )
    speed: float = number(
        1.0,
        "Speed",
        "Playback speed of all sources; 1.1 makes most captured walking livelier",
        update=invalidate_status,
        **SPEED,
    )
    contact_speed: float = described(ContactSettings, "speed", max=10.0, update=invalidate_status)
    auto_tags: bool = switch(
        False,
        "Auto Tags",
        "Tag idling, walking, running, turns, strafing, moving backward, starts, stops and planted "
        "turns from the motion",
        update=invalidate_status,
    )
    compact: bool = switch(
        False,
        "Compact",
        "Store rotations and velocities in 16 bits: the file is about half as large, joints are "
        "within half a millimeter, and loading takes longer",
        update=invalidate_status,
    )
    thresholds: MotionMatchingThresholds = group(MotionMatchingThresholds, "Thresholds")
    up: str = choice("Y", "Up", "Axis of the files that points up", AXES, update=invalidate_status)
    forward: str = choice(
        "Z", "Forward", "Axis of the files that points forward", AXES, update=invalidate_status
    )
    file_scale: float = number(
        0.0,
        "Scale",
        "Metres per unit of the files; 0: found from the size of the skeleton",
        update=invalidate_status,
        **_FILE_SCALE,
    )
    simulation_bone: MotionMatchingSimulationBone = group(
        MotionMatchingSimulationBone, "Simulation Bone"
    )
    show_tags: bool = switch(
        True,
        "Show in Timeline",
        "Draw the ranges of the shown action's source in the Dope Sheet and the Timeline, or of "
        "the active source if the armature plays no action",
        update=redraw_editors,
    )
    features: MotionMatchingFeatures = group(MotionMatchingFeatures, "Features")
    controller: MotionMatchingController = group(MotionMatchingController, "Controller")
    training: MotionMatchingTraining = group(MotionMatchingTraining, "Training")
    script: MotionMatchingScript = group(MotionMatchingScript, "Script")
    job: MotionMatchingJob = group(MotionMatchingJob, "Job")
    obstacles: bpy.types.Collection = pointer(
        bpy.types.Collection,
        "Obstacles",
        "Collection whose visible meshes are the ground and the obstacles, live and in baked "
        "takes; steep faces are walls. A live session uses them as they are when it starts",
    )
    retarget: MotionMatchingRetarget = group(MotionMatchingRetarget, "Retarget")
    fewer_keys: float = number(
        0.0,
        "Fewer Keys",
        "Largest error allowed when removing keys. 0 keys every frame",
        **TOLERANCE,
    )
    use_nla: bool = switch(
        False, "Push to NLA", "Put each take on a new NLA track above all others"
    )
    set_frame_range: bool = switch(
        True, "Set Frame Range", "Extend the scene to the end of a longer take"
    )
    play: MotionMatchingPlay = group(MotionMatchingPlay, "Play")
    takes: Items[MotionMatchingTake] = collection(
        MotionMatchingTake, "Takes", "Recorded and baked takes of this character"
    )
    take_index: int = integer(
        0, "Active Take", "Take to play, bake again, delete and compare", update=follow_selection
    )
    compare_by: str = choice("TAKE", "Compare", "What to compare the active take with", COMPARISONS)
    compare_with: bpy.types.Action = pointer(
        bpy.types.Action, "With", "Take to compare the active one with", poll=is_comparable
    )
    compare_database: str = text(
        "",
        "Database",
        "Database (.npz) to perform the active take with, such as one of the command line",
        subtype="FILE_PATH",
    )
    compare_preset: str = text(
        "",
        "Preset",
        "Controller preset to perform the active take with, shipped or your own",
        **suggest(suggest_presets),
    )
    compare_apart: float = number(
        0.8,
        "Apart",
        "Distance of the other take to the side, in heights of the larger character; 0: one over "
        "the other",
        subtype="FACTOR",
        soft_min=-3.0,
        soft_max=3.0,
        precision=2,
        step=10,
    )
    insight: MotionMatchingInsight = group(MotionMatchingInsight, "Insight")
    director: MotionMatchingDirector = group(MotionMatchingDirector, "Director")
    mark: MotionMatchingMark = group(MotionMatchingMark, "Mark")
    performer: bpy.types.Object = pointer(
        bpy.types.Object,
        "Performer",
        "Armature of the simulation bone that this empty stands for, with a path edited by hand",
        options={"HIDDEN"},
    )
