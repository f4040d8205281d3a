"""Settings of how the character responds, and of what a motion field is trained for."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...engine.control.labels import LABELLED
from ...engine.control.settings import PerformerSettings
from ..takes.properties import tags_text
from ..typed_properties import (
    Items,
    choice,
    collection,
    describe_by,
    described,
    hidden_text,
    integer,
    pointer,
    settings_group,
    switch,
    text,
)

_METHODS = (
    (
        "MATCHING",
        "Motion Matching",
        "Plays clips, and jumps to the frames that continue best toward the goal",
    ),
    ("FIELD", "Motion Field", "Blends similar poses anew in every tick; once trained, plans ahead"),
)
_METRICS = (
    (
        "default",
        "Body and Path",
        "The pose and motion of the bones, and how the character moves and turns",
    ),
    ("notebook", "Body", "The pose and motion of the bones alone: the metric of the notebook"),
)


def _clear_preset(self: MotionMatchingController, context: bpy.types.Context) -> None:
    self.preset = ""


@settings_group
@describe_by(PerformerSettings, LABELLED)
class MotionMatchingLabel(bpy.types.PropertyGroup):
    """How character and simulation object stay together while frames of some tags are played"""

    tags: str = tags_text(
        "Tags",
        "Tags of the frames that are displaced in this way, separated by commas; each of them will "
        "do",
    )
    displacement: str
    synchronization: float
    adjust_position_halflife: float
    adjust_rotation_halflife: float
    adjust_by_velocity: bool
    adjust_position_ratio: float
    adjust_rotation_ratio: float
    object_waits: bool
    clamp: bool
    clamp_distance: float
    clamp_angle: float


@settings_group
@describe_by(PerformerSettings, update=_clear_preset)
class MotionMatchingController(bpy.types.PropertyGroup):
    """How the character responds"""

    method: str = choice(
        "MATCHING",
        "Method",
        "How steering becomes motion, live and in baked takes; a live session keeps its method",
        _METHODS,
    )
    speeds_from_data: bool = switch(
        True,
        "Match Speeds to Data",
        "Take full speeds, the fastest turn and whether the character moves aside from the motion "
        "itself, so that it can do what it is asked to",
    )
    walk: Sequence[float] = described(PerformerSettings, "walk", min=0.01)
    run: Sequence[float] = described(PerformerSettings, "run", min=0.01)
    turn_limit: float
    strafe: bool
    velocity_halflife: float
    rotation_halflife: float
    prediction: str
    stop_factor: float
    turning_speed: float
    gait_halflife: float
    search_interval: float
    sharp_velocity: float
    sharp_angle: float
    end_guard: float
    surroundings: float
    skip_ahead: bool
    wait: bool
    tempo: float
    continuing_bias: float
    support_weight: float
    price_weight: float
    posture_weight: float
    idle: bool
    breathing: float
    look: float
    look_ahead: float
    look_halflife: float
    look_limit: float
    look_tilt: float
    look_spine: float
    look_at: bpy.types.Object = pointer(
        bpy.types.Object,
        "Look At",
        "Object that the head turns to, unless it is behind; it may move. Empty: the head turns to "
        "where the character is asked to go",
    )
    inertialization: str
    inertialization_halflife: float
    blend_time: float
    blend_stretch: float
    blend_root: bool
    root_halflife: float
    displacement: str
    synchronization: float
    adjust_position_halflife: float
    adjust_rotation_halflife: float
    adjust_by_velocity: bool
    adjust_position_ratio: float
    adjust_rotation_ratio: float
    object_waits: bool
    clamp: bool
    clamp_distance: float
    clamp_angle: float
    catch_up: float
    labels: Items[MotionMatchingLabel] = collection(
        MotionMatchingLabel,
        "Labels",
        "Tags whose frames are displaced in their own way; of those that a frame carries, the "
        "first one in the list counts",
    )
    label_index: int = integer(0, "Active Label", "The label whose settings are shown", min=0)
    label_blend: float
    collision_radius: float
    foot_lock: bool
    lock_halflife: float
    foot_halflife: float
    swing_clearance: float
    hips_halflife: float
    unlock_radius: float
    stretch_buffer: float
    field: str
    neighbours: int
    drift: float
    planted_share: float
    lookahead: float
    favour: int
    preset: str = text("balanced", "Preset", "Preset that these settings come from")


@settings_group
class MotionMatchingTraining(bpy.types.PropertyGroup):
    """What a motion field is trained for"""

    quality: int = integer(
        3,
        "Quality",
        "How well the field is trained, and for how long: from a quick draft to all poses of the "
        "database, with more of them blended and more directions",
        min=1,
        max=5,
    )
    metric: str = choice(
        "default", "Similarity", "What makes poses similar, with and without training", _METRICS
    )
    speed: bool = switch(
        True,
        "Speed",
        "Train for speeds as well as directions; with neither speeds nor tags, standing still may "
        "serve as well as walking",
    )
    tags: str = tags_text(
        "Tags",
        "Tags that can be asked for afterwards, separated by commas, one at a time; a field that "
        "is trained for walk and run but not for speeds changes between them with the gait",
    )
    trained_key: str = hidden_text("Trained Key", "Content that the last training was for")
