"""Settings of the controller, and of the training of motion fields."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...engine.performance.settings import LABELLED, PerformerSettings
from ..base.typed_properties import (
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
from ..takes.properties import tags_text

_METHODS = (
    (
        "MATCHING",
        "Motion Matching",
        "Play clips, and jump to the frames that continue best toward the goal",
    ),
    ("FIELD", "Motion Field", "Blend similar poses anew in every tick; once trained, plan ahead"),
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
        "Tags of the frames to displace this way, separated by commas; a frame needs only one of "
        "them",
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
        "Take full speeds, the fastest turn and strafing from the clips, so that the character is "
        "able to do what you ask",
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
        "Object for the head to turn to, unless it is behind the character; it may move. Empty: "
        "the head turns to the requested direction",
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
        "Displacement settings for frames with certain tags. If several labels match a frame, the "
        "first in the list counts",
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
    preset: str = text("balanced", "Preset", "Preset of these settings")


@settings_group
class MotionMatchingTraining(bpy.types.PropertyGroup):
    """What to train a motion field for"""

    quality: int = integer(
        3,
        "Quality",
        "Quality and length of the training: from a quick draft to all poses of the database, with "
        "more neighbours and directions",
        min=1,
        max=5,
    )
    metric: str = choice(
        "default",
        "Similarity",
        "Measure of how similar poses are, with and without training",
        _METRICS,
    )
    speed: bool = switch(
        True,
        "Speed",
        "Train for speeds as well as directions. Without speeds and tags, standing still may score "
        "as well as walking",
    )
    tags: str = tags_text(
        "Tags",
        "Tags to train for, separated by commas, to ask for one at a time. A field trained for "
        "walk and run, but not for speeds, changes between them with the gait",
    )
    trained_key: str = hidden_text("Trained Key", "Content of the last training")
