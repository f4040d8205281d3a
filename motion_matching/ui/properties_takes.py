"""Settings of takes: the script that is baked next, and the takes that there are."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .asking import suggested
from .property_options import OVERRIDE, suggesting

SCRIPTS = [
    ("figure_eight", "Figure Eight", "Two circles, one each way round"),
    ("square", "Square", "A quarter turn every three seconds"),
    (
        "stop_and_go",
        "Stop and Go",
        "Three seconds of going, two of standing, each time off in another direction",
    ),
    ("flips", "Flips", "Straight back every three seconds"),
    ("strafe_circle", "Strafe Circle", "Going once round in sixteen seconds while facing one way"),
    (
        "random",
        "Random",
        "A new direction every few seconds, now and then slower, still, or facing elsewhere",
    ),
]
GAITS = [
    ("walk", "Walk", "At walking speed"),
    ("run", "Run", "At running speed, where the sources have it"),
]


def script_properties(**options: Any) -> dict[str, Any]:
    """What a script is: properties of the settings, where they can be overridden, and of the operator that bakes it."""
    return {
        "script": EnumProperty(
            name="Script",
            default="figure_eight",
            items=SCRIPTS,
            description="What is performed",
            **options,
        ),
        "gait": EnumProperty(
            name="Gait",
            default="walk",
            items=GAITS,
            description="How fast it is performed",
            **options,
        ),
        "seconds": FloatProperty(
            name="Length",
            default=10.0,
            min=0.5,
            max=36_000.0,
            soft_min=2.0,
            soft_max=120.0,
            precision=1,
            step=100,
            subtype="TIME_ABSOLUTE",
            unit="TIME_ABSOLUTE",
            description="How long the take lasts, with a second of standing first",
            **options,
        ),
        "seed": IntProperty(
            name="Seed",
            default=0,
            min=0,
            soft_max=1000,
            description="Another number gives another random take",
            **options,
        ),
        "tags": StringProperty(
            name="Tags",
            **suggesting(suggested),
            **options,
            description="Tags that are asked for, separated by commas: only frames that carry them all are played",
        ),
    }


class MotionMatchingScript(bpy.types.PropertyGroup):
    """The script that is baked next"""

    __annotations__ = script_properties(**OVERRIDE)


def _is_kept(take: Any) -> bool:
    return bool(take.action and (take.stays or take.action.use_fake_user))


def _keep(take: Any, is_kept: bool) -> None:
    take.stays = is_kept
    if take.action and not take.action.library:
        take.action.use_fake_user = is_kept


class MotionMatchingTake(bpy.types.PropertyGroup):
    """A take of this character, recorded or baked"""

    action: PointerProperty(
        name="Action", type=bpy.types.Action, description="Action that holds the take", **OVERRIDE
    )
    seconds: FloatProperty(
        name="Length",
        min=0.0,
        soft_max=3600.0,
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
        description="How long the take lasts",
        **OVERRIDE,
    )
    stays: BoolProperty(
        name="Stays",
        default=False,
        options={"HIDDEN"},
        **OVERRIDE,
        description="Kept also in a file that it was appended to or linked into, where its action loses that mark",
    )
    is_kept: BoolProperty(
        name="Keep",
        get=_is_kept,
        set=_keep,
        description="Keep the take: it is not discarded, and its action stays in the file without the character too",
    )


def is_comparable(settings: Any, action: bpy.types.Action) -> bool:
    """Whether an action is a take of this character other than the active one."""
    takes = [take.action for take in settings.takes]
    return action in takes and takes.index(action) != settings.take_index


CLASSES = (MotionMatchingScript, MotionMatchingTake)
