"""Settings of how the character answers; names and values are those of the engine's."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    StringProperty,
)

from ..engine.control.settings import PerformerSettings
from .property_options import OVERRIDE

DEFAULTS = PerformerSettings()


def _tuned(self: Any, context: bpy.types.Context) -> None:
    """The settings are no longer the preset's."""
    self.preset = ""


def _seconds(name: str, field: str, description: str, soft_max: float = 1.0) -> Any:
    return FloatProperty(
        name=name,
        default=getattr(DEFAULTS, field),
        min=0.0,
        max=1000.0,
        soft_max=soft_max,
        precision=2,
        step=1,
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
        update=_tuned,
        description=description,
        **OVERRIDE,
    )


def _factor(name: str, field: str, description: str) -> Any:
    return FloatProperty(
        name=name,
        default=getattr(DEFAULTS, field),
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        update=_tuned,
        description=description,
        **OVERRIDE,
    )


def _angle(name: str, field: str, description: str, soft_max: float = 3.14159265) -> Any:
    return FloatProperty(
        name=name,
        default=getattr(DEFAULTS, field),
        min=0.0,
        max=1000.0,
        soft_max=soft_max,
        subtype="ANGLE",
        unit="ROTATION",
        update=_tuned,
        description=description,
        **OVERRIDE,
    )


def _distance(name: str, field: str, description: str, soft_max: float) -> Any:
    return FloatProperty(
        name=name,
        default=getattr(DEFAULTS, field),
        min=0.0,
        max=1000.0,
        soft_max=soft_max,
        precision=3,
        subtype="DISTANCE",
        unit="LENGTH",
        update=_tuned,
        description=description,
        **OVERRIDE,
    )


def _switch(name: str, field: str, description: str) -> Any:
    return BoolProperty(
        name=name,
        default=getattr(DEFAULTS, field),
        update=_tuned,
        description=description,
        **OVERRIDE,
    )


def _speeds(name: str, field: str, description: str) -> Any:
    speeds = getattr(DEFAULTS, field)
    return FloatVectorProperty(
        name=name,
        size=3,
        default=(speeds.forward, speeds.side, speeds.back),
        min=0.01,
        max=100.0,
        soft_max=8.0,
        precision=2,
        unit="VELOCITY",
        description=description,
        **OVERRIDE,
    )


class MotionMatchingController(bpy.types.PropertyGroup):
    """How the character answers; names and values are those of the engine's settings"""

    method: EnumProperty(
        name="Method",
        default="MATCHING",
        **OVERRIDE,
        description="What turns wishes into motion, live and in baked takes; a session keeps the one that it began with",
        items=[
            (
                "MATCHING",
                "Motion Matching",
                "Plays the clips, and jumps to where they go on as it is wished",
            ),
            (
                "FIELD",
                "Motion Field",
                "Blends the poses of the clips that are alike, at every tick anew; trained, it "
                "plans ahead",
            ),
        ],
    )
    speeds_from_data: BoolProperty(
        name="Match Speeds to Data",
        default=True,
        **OVERRIDE,
        description="Take the full speeds and the fastest turn from the motion itself, which the character can then reach",
    )
    walk: _speeds(
        "Walk",
        "walk",
        "Full walking speed forward, to the side and back; faster than the sources is never reached",
    )
    run: _speeds(
        "Run",
        "run",
        "Full running speed forward, to the side and back; faster than the sources is never reached",
    )
    turn_limit: _angle(
        "Turn Limit",
        "turn_limit",
        "Fastest turn in a second that is asked for; higher: turns on the spot "
        "sooner, feet slide more",
        12.56637061,
    )
    velocity_halflife: _seconds(
        "Velocity",
        "velocity_halflife",
        "Time in which half of a change of speed is taken up; longer: calmer and later",
    )
    rotation_halflife: _seconds(
        "Heading",
        "rotation_halflife",
        "Time in which half of a turn is taken up; longer: wider turns",
    )
    stop_factor: FloatProperty(
        name="Stop Factor",
        default=DEFAULTS.stop_factor,
        min=0.0,
        max=1000.0,
        soft_max=2.0,
        precision=2,
        update=_tuned,
        description="Multiplies the velocity's time while nothing is wanted; below 1 stops sooner",
        **OVERRIDE,
    )
    gait_halflife: _seconds(
        "Gait",
        "gait_halflife",
        "Time in which half of a change of gait is taken up; longer: softer",
    )
    search_interval: _seconds(
        "Search Every",
        "search_interval",
        "Time between searches for a better frame; longer: plays longer pieces, answers later",
    )
    sharp_velocity: FloatProperty(
        name="Sharp Velocity",
        default=DEFAULTS.sharp_velocity,
        min=0.0,
        max=1000.0,
        soft_max=4.0,
        unit="VELOCITY",
        update=_tuned,
        **OVERRIDE,
        description="A change of the wanted velocity beyond this is answered at once; lower: more sudden answers",
    )
    sharp_angle: _angle(
        "Sharp Angle",
        "sharp_angle",
        "A change of the wanted facing beyond this is answered at once; lower: more sudden answers",
    )
    end_guard: _seconds(
        "End Guard",
        "end_guard",
        "No frame so near the end of its clip is entered; longer: fewer dead ends",
    )
    surroundings: _seconds(
        "Surroundings",
        "surroundings",
        "No frame so near the current one is entered; longer: fewer stutters",
    )
    continuing_bias: FloatProperty(
        name="Continuing Bias",
        default=DEFAULTS.continuing_bias,
        min=-1000.0,
        max=1000.0,
        soft_min=0.0,
        soft_max=2.0,
        precision=2,
        update=_tuned,
        **OVERRIDE,
        description="How much better than playing on another frame must be; higher: fewer jumps, answers later",
    )
    inertialization_halflife: _seconds(
        "Blending",
        "inertialization_halflife",
        "Time in which half of the difference at a jump fades; longer: smoother, feet slide more",
    )
    displacement: EnumProperty(
        name="Displacement",
        default=DEFAULTS.displacement,
        update=_tuned,
        **OVERRIDE,
        description="How the character, led by the motion, and the simulation object that is steered keep together",
        items=[
            ("synchronize", "Synchronize", "Both go where motion and steering lead, in parts"),
            ("adjust", "Adjust", "The character is pulled after the simulation object"),
            ("independent", "Independent", "Neither follows the other"),
        ],
    )
    synchronization: _factor(
        "Synchronization",
        "synchronization",
        "Who leads: the motion (0), which keeps feet planted, or the steering (1), which is exact",
    )
    adjust_position_halflife: _seconds(
        "Adjust Position",
        "adjust_position_halflife",
        "Time in which half of the distance is made up; longer: feet slide less, strays more",
    )
    adjust_rotation_halflife: _seconds(
        "Adjust Heading",
        "adjust_rotation_halflife",
        "Time in which half of the turn is made up; longer: feet slide less, strays more",
    )
    adjust_by_velocity: _switch(
        "Only While Moving",
        "adjust_by_velocity",
        "Pull by no more than a part of its own motion, so that it never slides while it stands",
    )
    adjust_position_ratio: _factor(
        "Position Part",
        "adjust_position_ratio",
        "Largest part of its own motion that it is pulled by; higher: strays less, slides more",
    )
    adjust_rotation_ratio: _factor(
        "Heading Part",
        "adjust_rotation_ratio",
        "Largest part of its own turning that it is turned by; higher: strays less, slides more",
    )
    clamp: _switch(
        "Clamp",
        "clamp",
        "Hold the character and the simulation object within a distance and an angle of each other",
    )
    clamp_distance: _distance(
        "Distance",
        "clamp_distance",
        "Farthest from the simulation object; shorter is more exact and slides more",
        1.0,
    )
    clamp_angle: _angle(
        "Angle",
        "clamp_angle",
        "Most it is turned away from the simulation object; smaller is more exact and slides more",
    )
    collision_radius: _distance(
        "Body Radius",
        "collision_radius",
        "Nearest that the middle of the character comes to an "
        "obstacle; larger: goes round in wider curves",
        1.0,
    )
    foot_lock: _switch(
        "Lock Feet", "foot_lock", "Hold planted toes where they are by bending the legs"
    )
    lock_halflife: _seconds(
        "Plant Blending",
        "lock_halflife",
        "Time in which a toe that lands comes to rest; longer: softer, slides more",
        0.5,
    )
    foot_halflife: _seconds(
        "Release Blending",
        "foot_halflife",
        "Time in which a toe that is let go returns to the motion; longer: softer, legs bend more",
        0.5,
    )
    swing_clearance: _distance(
        "Swing Clearance",
        "swing_clearance",
        "Least height of a toe that moves over the floor; higher: feet scuff less, knees lift more; "
        "0 leaves the motion's own",
        0.1,
    )
    hips_halflife: _seconds(
        "Hips",
        "hips_halflife",
        "Time in which the hips take up half of a step in the ground; longer: softer, legs bend more",
    )
    unlock_radius: _distance(
        "Unlock Radius",
        "unlock_radius",
        "A plant is given up where the motion has the toe further away; "
        "larger holds longer, legs bend more",
        0.5,
    )
    stretch_buffer: _distance(
        "Stretch Buffer",
        "stretch_buffer",
        "How much short of straight a leg stays; larger: no popping knees, feet slip sooner",
        0.1,
    )
    neighbours: IntProperty(
        name="Neighbours",
        default=DEFAULTS.neighbours,
        min=1,
        max=100,
        soft_max=30,
        update=_tuned,
        description="How many of the nearest poses are blended; more: smoother, freer, slower",
        **OVERRIDE,
    )
    drift: _factor(
        "Drift Correction",
        "drift",
        "How much the character keeps to the nearest pose of the clips; more: steadier, less free",
    )
    planted_share: _factor(
        "Planted From",
        "planted_share",
        "Weight of the neighbours from which on a toe is planted; lower: held longer",
    )
    lookahead: _seconds(
        "Look Ahead",
        "lookahead",
        "How far is looked along the neighbours' clips, to find which serve; "
        "longer: calmer, answers later",
    )
    favour: IntProperty(
        name="Favour",
        default=DEFAULTS.favour,
        min=0,
        max=100,
        soft_max=30,
        update=_tuned,
        description="Neighbour whose action is taken whatever it is worth, 1 being the nearest pose; 0 leaves the choice to "
        "the field",
        **OVERRIDE,
    )
    preset: StringProperty(
        name="Preset",
        default="balanced",
        description="Preset that these settings come from",
        **OVERRIDE,
    )


CLASSES = (MotionMatchingController,)
