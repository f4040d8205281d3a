"""Settings of live sessions, on the armature: steering, recording and drawing."""

from __future__ import annotations

from typing import Any

import bpy

from ... import scene
from ...app.live.leaders import LEADERS
from ..base.typed_properties import choice, number, pointer, settings_group, switch, text
from ..takes.properties import GAITS, tags_text
from .layers import Layers

_PUSH: Any = {"min": 0.1, "max": 20.0, "soft_max": 5.0, "precision": 1, "unit": "VELOCITY"}
_STEERS = (
    ("devices", "Keys and Gamepad", "You steer"),
    *((name, kind.label, kind.help) for name, kind in LEADERS.items()),
)
_MODES = (
    ("new", "New Take", "A new action, from the current frame on"),
    ("append", "Append", "The end of the armature's current take"),
    ("overwrite", "Overwrite", "The armature's current take, from the current frame on"),
)
_DRIVES = (
    ("auto", "Automatic", "The controls if the rig evaluates at 24 Hz or more, else a proxy"),
    ("controls", "Controls", "The controls, at any speed of the rig"),
    (
        "proxy",
        "Proxy",
        "A mannequin, while the rig and its meshes are hidden; recordings are written to the "
        "controls when they end",
    ),
)
_VIEWS = (
    ("follow", "Follows", "The 3D view moves along with the character"),
    (
        "spot",
        "On the Spot",
        "The character stays in place while the ground moves past below it; keys hold its true "
        "motion",
    ),
    ("still", "Still", "The character moves, and the view stays"),
)


def is_take(self: bpy.types.PropertyGroup, action: bpy.types.Action) -> bool:
    """Tell whether an action was recorded or baked: a take, or a steered path."""
    return scene.writing.recording.is_take(action)


@settings_group
class MotionMatchingPlay(Layers, bpy.types.PropertyGroup):
    """How to perform the character live"""

    steer: str = choice(
        "devices",
        "Steer By",
        "What steers the character; recording is by key or gamepad in any case",
        _STEERS,
    )
    curve: bpy.types.Object = pointer(
        bpy.types.Object,
        "Curve",
        "Curve to follow over the ground; the radii of its points multiply the speed",
        poll=lambda self, obj: obj.type == "CURVE",
    )
    target: bpy.types.Object = pointer(
        bpy.types.Object, "Target", "Object to go to, such as an empty"
    )
    take: bpy.types.Action = pointer(
        bpy.types.Action,
        "Recording",
        "Take or steered path with the steering to repeat, on any data and any character",
        poll=is_take,
    )
    gait: str = choice("walk", "Gait", "Gait along a curve or to a target", GAITS)
    tags: str = tags_text(
        "Ask For",
        "Tags to ask for, separated by commas: only frames with all of them are played. Takes "
        "effect at once while live",
    )
    mode: str = choice("new", "Record", "Where to put a recording", _MODES)
    lead_back: float = number(
        0.0,
        "Blend Back",
        "Time for the rest of an overwritten take to return to its old place; 0: it continues "
        "where the recording ends, moved and turned there",
        min=0.0,
        max=60.0,
        soft_max=10.0,
        unit="TIME_ABSOLUTE",
    )
    record_at_start: bool = switch(
        False,
        "From the Start",
        "Record as soon as the session starts. A new take begins with the first key, stick or "
        "target; along a curve or a recording, with the first tick",
    )
    drive: str = choice(
        "auto", "Live", "What a live session moves on a control rig; takes are the same", _DRIVES
    )
    push: float = number(
        2.0,
        "Push",
        "Speed of a push, which also sets how far it bends the body in a motion field. Takes "
        "effect with the next push while live",
        **_PUSH,
    )
    collection: str = text(
        "",
        "Bones",
        "Bone collection to drive. The character moves over the ground only if the hips are in "
        "it; all other bones keep their own animation, live and in the take. Leave empty to drive "
        "all bones",
    )
    timeline: bool = switch(
        False,
        "With Timeline",
        "Record along with the timeline, while other animation plays: a recording starts and ends "
        "with playback, with each tick keyed at its time. Off: record in real time",
    )
    view: str = choice("follow", "View", "What moves while the character walks", _VIEWS)
