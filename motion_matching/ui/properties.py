"""The settings of a character, on its armature object: `object.motion_matching`."""

from __future__ import annotations

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

from . import (
    databases,
    properties_controller,
    properties_databases,
    properties_features,
    properties_sources,
    properties_tags,
    properties_takes,
    properties_thresholds,
    properties_training,
)
from .properties_controller import MotionMatchingController
from .properties_databases import MotionMatchingDatabase
from .properties_features import MotionMatchingFeatures
from .properties_insight import MotionMatchingInsight
from .properties_play import MotionMatchingPlay
from .properties_sources import (
    AXES,
    MotionMatchingRoles,
    MotionMatchingSimulationBone,
    MotionMatchingSource,
)
from .properties_takes import MotionMatchingScript, MotionMatchingTake, is_comparable
from .properties_thresholds import MotionMatchingThresholds
from .properties_training import MotionMatchingTraining
from .property_options import MANY, OVERRIDE, changed, chosen, seen


class MotionMatchingSettings(bpy.types.PropertyGroup):
    """Motion matching of this armature"""

    sources: CollectionProperty(
        name="Sources",
        type=MotionMatchingSource,
        description="Motion that the database is built from",
        **MANY,
    )
    source_index: IntProperty(
        name="Active Source",
        update=chosen,
        description="Source whose details are shown",
        **OVERRIDE,
    )
    databases: CollectionProperty(
        name="Databases",
        type=MotionMatchingDatabase,
        description="Lists of sources that are built from, by name",
        **MANY,
    )
    database_index: IntProperty(
        name="Active Database",
        update=databases.switched,
        **OVERRIDE,
        description="Database whose sources are switched on, and which is built and played",
    )
    database_shown: IntProperty(
        name="Shown Database",
        default=-1,
        options={"HIDDEN"},
        **OVERRIDE,
        description="Database that the sources are switched on for",
    )
    show_path: BoolProperty(
        name="Show in Viewport",
        default=False,
        update=seen,
        **OVERRIDE,
        description="Draw the path of the simulation bone through the chosen source into the 3D view: thin as it is found, "
        "thick as it is smoothed, blue as it was edited by hand; arrows say where the character faces",
    )
    search: StringProperty(
        name="Search",
        options={"TEXTEDIT_UPDATE"},
        **OVERRIDE,
        description="Words that the sources shown have in their names, gaits or tags; edits of all shown ones leave the "
        "others alone",
    )
    bones: EnumProperty(
        name="Bones",
        default="AUTO",
        update=changed,
        description="Bones that make up the skeleton",
        **OVERRIDE,
        items=[
            ("AUTO", "Automatic", "Those that deform on a control rig, else all"),
            ("ALL", "All", "All bones of the armature"),
            ("DEFORM", "Deform", "Bones that deform, and what joins them"),
        ],
    )
    roles: PointerProperty(
        name="Roles",
        type=MotionMatchingRoles,
        description="Bones by role, where they are not found on their own",
        **OVERRIDE,
    )
    root: EnumProperty(
        name="Root Motion",
        default="AUTO",
        description="What carries the character over the ground in a take",
        **OVERRIDE,
        items=[
            ("AUTO", "Automatic", "A bone above the hips that is there for it, else the object"),
            ("OBJECT", "Object", "The armature object"),
            ("BONE", "Root Bone", "A bone above the hips"),
            ("HIPS", "Hips", "The hips bone itself"),
            ("IN_PLACE", "In Place", "Nothing, it stays where it is"),
        ],
    )
    root_bone: StringProperty(
        name="Root Bone",
        description="Bone that carries the character; empty to take the one above the hips",
        **OVERRIDE,
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
        description="How fast all sources are played; 1.1 makes most captured walking livelier",
    )
    contact_speed: FloatProperty(
        name="Contact Speed",
        default=0.15,
        min=0.0,
        max=10.0,
        soft_max=1.0,
        precision=2,
        unit="VELOCITY",
        update=changed,
        **OVERRIDE,
        description="A toe slower than this stands; higher: feet are held longer, and sooner dragged along",
    )
    auto_tags: BoolProperty(
        name="Auto Tags",
        default=False,
        update=changed,
        **OVERRIDE,
        description="Tag idling, walking, running, turns, strafing, backing, starts and stops, as found from the motion",
    )
    thresholds: PointerProperty(
        name="Thresholds",
        type=MotionMatchingThresholds,
        description="From when on the motion counts as what",
        **OVERRIDE,
    )
    up: EnumProperty(
        name="Up",
        default="Y",
        items=AXES,
        update=changed,
        description="Axis of the files that points up",
        **OVERRIDE,
    )
    forward: EnumProperty(
        name="Forward",
        default="Z",
        items=AXES,
        update=changed,
        description="Axis of the files that characters face",
        **OVERRIDE,
    )
    file_scale: FloatProperty(
        name="Scale",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        max=1000.0,
        precision=4,
        update=changed,
        **OVERRIDE,
        description="Metres for each unit of the files; zero to find it from the size of the skeleton",
    )
    simulation_bone: PointerProperty(
        name="Simulation Bone",
        type=MotionMatchingSimulationBone,
        description="How the path on the ground is found",
        **OVERRIDE,
    )
    show_tags: BoolProperty(
        name="Show in Timeline",
        default=True,
        update=properties_tags.redrawn,
        **OVERRIDE,
        description="Draw the ranges into the Dope Sheet and the Timeline: those of the source whose action they show, or "
        "of the chosen one where the armature plays none",
    )
    features: PointerProperty(
        name="Features",
        type=MotionMatchingFeatures,
        description="What frames are compared by",
        **OVERRIDE,
    )
    controller: PointerProperty(
        name="Controller",
        type=MotionMatchingController,
        description="How the character answers",
        **OVERRIDE,
    )
    training: PointerProperty(
        name="Training",
        type=MotionMatchingTraining,
        description="What a motion field is trained for",
        **OVERRIDE,
    )
    script: PointerProperty(
        name="Script",
        type=MotionMatchingScript,
        description="The script that is baked next",
        **OVERRIDE,
    )
    obstacles: PointerProperty(
        name="Obstacles",
        type=bpy.types.Collection,
        **OVERRIDE,
        description="Collection whose meshes are the ground and stand in the way, live and in baked takes; steep faces are "
        "walls, as the viewport shows them when it starts",
    )
    fewer_keys: FloatProperty(
        name="Fewer Keys",
        default=0.0,
        min=0.0,
        max=1.0,
        soft_max=0.02,
        precision=4,
        subtype="DISTANCE",
        unit="LENGTH",
        **OVERRIDE,
        description="How far any bone may be from its place in exchange for fewer keys; zero keeps every key",
    )
    use_nla: BoolProperty(
        name="Push to NLA",
        default=False,
        description="Put each take onto an NLA track of its own, above all others",
        **OVERRIDE,
    )
    set_frame_range: BoolProperty(
        name="Set Frame Range",
        default=False,
        description="Set the scene's frame range to that of each new take",
        **OVERRIDE,
    )
    play: PointerProperty(
        name="Play",
        type=MotionMatchingPlay,
        description="How the character is performed live",
        **OVERRIDE,
    )
    takes: CollectionProperty(
        name="Takes",
        type=MotionMatchingTake,
        description="Takes that were baked for this character",
        **MANY,
    )
    take_index: IntProperty(
        name="Active Take",
        update=chosen,
        **OVERRIDE,
        description="Take that is played, baked again, discarded and compared",
    )
    compare_with: PointerProperty(
        name="With",
        type=bpy.types.Action,
        poll=is_comparable,
        **OVERRIDE,
        description="Take that the active one is compared with",
    )
    insight: PointerProperty(
        name="Insight",
        type=MotionMatchingInsight,
        description="What is shown of the data",
        **OVERRIDE,
    )
    performer: PointerProperty(
        name="Performer",
        type=bpy.types.Object,
        options={"HIDDEN"},
        **OVERRIDE,
        description="Armature whose simulation bone this empty is, on a source that is edited by hand",
    )
    built_key: StringProperty(
        name="Built Key",
        options={"HIDDEN"},
        description="Content that the last database was built from",
        **OVERRIDE,
    )
    built_of: StringProperty(
        name="Built Of",
        options={"HIDDEN"},
        description="What the last database was built from, to tell what changed since",
        **OVERRIDE,
    )
    built_notes: StringProperty(
        name="Build Notes",
        options={"HIDDEN"},
        description="What there was to say about the last build",
        **OVERRIDE,
    )


CLASSES = (
    *properties_tags.CLASSES,
    *properties_sources.CLASSES,
    *properties_databases.CLASSES,
    *properties_features.CLASSES,
    *properties_controller.CLASSES,
    *properties_training.CLASSES,
    *properties_thresholds.CLASSES,
    *properties_takes.CLASSES,
    MotionMatchingSettings,
)
