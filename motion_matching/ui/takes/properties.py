"""Settings of takes: the script that is baked next, and the character's takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from ... import app
from ...app.live.leaders import LEADERS
from ...engine.performance.scripts import SCRIPTS
from ..base.property_updates import suggest_tags
from ..base.typed_properties import (
    Named,
    choice,
    integer,
    named_by,
    number,
    pointer,
    settings_group,
    suggest,
    switch,
    text,
)

_LENGTH: Any = {"min": 0.0, "max": 36_000.0, "soft_max": 120.0}
_FRAME: Any = {"min": -1_048_574, "max": 1_048_574, "soft_min": 0, "soft_max": 10_000}
_SECONDS: Any = {"subtype": "TIME_ABSOLUTE", "unit": "TIME_ABSOLUTE"}
_SCRIPTS = tuple((name, script.label, script.help) for name, script in SCRIPTS.items())
ALONGS = (
    ("script", "Script", "One of the standard scripts"),
    *((name, kind.label, kind.help) for name, kind in LEADERS.items() if kind.may_bake),
)
GAITS = (
    ("walk", "Walk", "At walking speed"),
    ("run", "Run", "At running speed, if the sources have it"),
)

COMPARISONS = (
    ("TAKE", "Another Take", "Another take of this character"),
    ("SETTINGS", "Current Settings", "The same performance with the current settings and method"),
    (
        "METHOD",
        "Other Method",
        "The same performance by the other method: motion matching or a motion field",
    ),
    ("DATABASE", "Other Database", "The same performance with the database of a file"),
    (
        "PRESET",
        "Controller Preset",
        "The same performance by the same method with the settings of a controller preset and the "
        "current speeds",
    ),
)


def suggest_presets(self: Any, context: bpy.types.Context, text: str) -> list[str]:
    """Return the controller presets that contain a text."""
    return [
        name
        for name in app.controller.controller_presets.list_names()
        if text.lower() in name.lower()
    ]


def tags_text(label: str, help: str) -> str:
    """Declare names of tags, which are suggested while they are typed."""
    return text("", label, help, **suggest(suggest_tags))


class Script:
    """A script to bake; a mixin of the character's settings and of the operator."""

    script: str = choice("figure_eight", "Script", "What to perform", _SCRIPTS)
    gait: str = choice("walk", "Gait", "Gait of the performance", GAITS)
    seconds: float = number(
        0.0,
        "Length",
        "Length of the take; 0: as long as the script, the curve, the way to the target or the "
        "recording",
        precision=1,
        step=100,
        **_LENGTH,
        **_SECONDS,
    )
    seed: int = integer(
        0, "Seed", "Change the number for a different take of the script", min=0, soft_max=1000
    )
    tags: str = tags_text(
        "Tags", "Tags to ask for, separated by commas: only frames with all of them are played"
    )
    frame_start: int = integer(1, "Start", "First frame of the take", **_FRAME)


@settings_group
class MotionMatchingScript(Script, bpy.types.PropertyGroup):
    """The script to bake next"""

    along: str = choice("script", "Perform", "What the character should perform", ALONGS)
    use_frame_start: bool = switch(
        False, "Custom Start", "Begin at your own frame instead of the start of the scene"
    )


def _is_kept(take: MotionMatchingTake) -> bool:
    return bool(take.action and (take.stays or take.action.use_fake_user))


def _set_kept(take: MotionMatchingTake, is_kept: bool) -> None:
    take.stays = is_kept
    if take.action and not take.action.library:
        take.action.use_fake_user = is_kept


def _describe_take(take: Any) -> Iterable[str]:
    if take.action is None:
        return ("Its action was deleted",)
    frames = take.action.frame_range
    return (f"{take.seconds:.1f} s, frames {frames[0]:.0f} to {frames[1]:.0f}",)


def _rename_take(take: Any, name: str) -> None:
    if take.action and not take.action.library:
        take.action.name = name


@settings_group
@named_by(_rename_take, _describe_take)
class MotionMatchingTake(Named, bpy.types.PropertyGroup):
    """A take of this character, recorded or baked"""

    action: bpy.types.Action = pointer(bpy.types.Action, "Action", "Action of the take")
    seconds: float = number(
        0.0, "Length", "Length of the take", min=0.0, soft_max=3600.0, **_SECONDS
    )
    stays: bool = switch(
        False,
        "Stays",
        "Keep the take locked in files that it is appended to or linked into, where its action "
        "loses the fake user",
        options={"HIDDEN"},
    )
    is_kept: bool = switch(
        False,
        "Lock",
        "Protect the take from deletion, and keep its action in the file even without the "
        "character",
        get=_is_kept,
        set=_set_kept,
    )


def is_comparable(settings: Any, action: bpy.types.Action) -> bool:
    """Tell whether an action is another take of this character than the active one."""
    takes = [take.action for take in settings.takes]
    return action in takes and takes.index(action) != settings.take_index
