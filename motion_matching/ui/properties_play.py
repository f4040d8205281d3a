"""Settings of live performing, on the armature: how is recorded, and what is drawn into the view."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty

from . import layers
from .asking import suggested
from .property_options import OVERRIDE, suggesting


def _is_curve(self: Any, obj: bpy.types.Object) -> bool:
    return obj.type == "CURVE"


def is_take(self: Any, action: bpy.types.Action) -> bool:
    """Whether an action was recorded or baked: a take, or a steered path."""
    from ..scene import recording

    return recording.is_take(action)


class MotionMatchingPlay(bpy.types.PropertyGroup):
    """How the character is performed live"""

    steer: EnumProperty(
        name="Steer By",
        default="devices",
        description="What steers; keys and gamepad record in any case",
        **OVERRIDE,
        items=[
            ("devices", "Keys and Gamepad", "Whoever holds them"),
            ("curve", "Curve", "A curve object is followed, from rest to rest or round and round"),
            (
                "target",
                "Target",
                "An object is gone to, also where it moves, and faced as it faces",
            ),
            (
                "take",
                "Recording",
                "What was wanted in a recording is wanted again, with its settings, and what was "
                "recorded into it later",
            ),
        ],
    )
    curve: PointerProperty(
        name="Curve",
        type=bpy.types.Object,
        poll=_is_curve,
        **OVERRIDE,
        description="Curve that is followed over the ground; the radii of its points are factors of the speed",
    )
    target: PointerProperty(
        name="Target",
        type=bpy.types.Object,
        description="Object that is gone to, such as an empty",
        **OVERRIDE,
    )
    take: PointerProperty(
        name="Recording",
        type=bpy.types.Action,
        poll=is_take,
        **OVERRIDE,
        description="Take or steered path whose wishes are repeated, with other data or another character if need be",
    )
    gait: EnumProperty(
        name="Gait",
        default="walk",
        description="How fast a curve or a target is followed",
        **OVERRIDE,
        items=[
            ("walk", "Walk", "At walking speed"),
            ("run", "Run", "At running speed, where the sources have it"),
        ],
    )
    tags: StringProperty(
        name="Ask For",
        **suggesting(suggested),
        **OVERRIDE,
        description="Tags that are asked for, separated by commas: only frames that carry them all are played. Also while "
        "live, at once",
    )
    mode: EnumProperty(
        name="Record",
        default="new",
        description="Where a recording goes",
        **OVERRIDE,
        items=[
            ("new", "New Take", "A new action, from the current frame on"),
            ("append", "Append", "The take that the armature plays, after its end"),
            (
                "overwrite",
                "Overwrite",
                "The take that the armature plays, in place of its keys from the current frame on",
            ),
        ],
    )
    push: FloatProperty(
        name="Push",
        default=2.0,
        min=0.1,
        max=20.0,
        soft_max=5.0,
        precision=1,
        unit="VELOCITY",
        **OVERRIDE,
        description="How hard a push is: the speed that it gives, and how far it bends the body of a motion field. Also "
        "while live, from the next push on",
    )
    collection: StringProperty(
        name="Bones",
        **OVERRIDE,
        description="Bone collection that is driven, and with the hips among its bones the character's place; all else goes "
        "on with its own animation, live and in the take. Empty to drive all bones",
    )
    timeline: BoolProperty(
        name="With Timeline",
        default=False,
        **OVERRIDE,
        description="Record along with the timeline, so that other animation plays beside: a recording starts playback and "
        "ends with it, and each tick is keyed at its time; without, time is that of the clock",
    )
    view: EnumProperty(
        name="View",
        default="follow",
        description="What moves while the character goes",
        **OVERRIDE,
        items=[
            ("follow", "Follows", "The 3D view moves along with the character"),
            (
                "spot",
                "On the Spot",
                "The character stays where it is seen, and the ground moves by below it; keys hold "
                "its true motion",
            ),
            ("still", "Still", "The character goes, and the view stays"),
        ],
    )
    show_paths: layers.toggle("paths", **OVERRIDE)
    show_object: layers.toggle("object", **OVERRIDE)
    show_ground: layers.toggle("ground", **OVERRIDE)
    show_contacts: layers.toggle("contacts", **OVERRIDE)
    show_recording: layers.toggle("recording", **OVERRIDE)
    show_warnings: layers.toggle("warnings", **OVERRIDE)
    show_map: layers.toggle("map", **OVERRIDE)
    show_ghosts: layers.toggle("ghosts", **OVERRIDE)
    show_text: layers.toggle("text", **OVERRIDE)


CLASSES = (MotionMatchingPlay,)
