"""Operators on many sources at once: those that the search leaves shown in the list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
from bpy.props import EnumProperty

from . import items, polls, request, status

Edit = Callable[[Any, Any], None]  # given a source, and the active one


def is_found(source: Any, words: list[str]) -> bool:
    """Whether all words, in small letters, are in the name of a source as it is shown, its gait or its tags."""
    text = f"{source.action.name if source.action else source.name} {source.gait} {source.tags}".lower()
    return all(word in text for word in words)


def shown(settings: Any) -> list[int]:
    """Places of the sources that the search leaves; of all where nothing is searched."""
    words = settings.search.lower().split()
    return [
        place
        for place, source in enumerate(settings.sources)
        if not words or is_found(source, words)
    ]


_last: tuple[tuple[Any, ...], list[int]] = (), []  # what was shown where last, and places


def shown_last(settings: Any) -> list[int]:
    """The same for drawing: found again only where something that it hangs on has changed."""
    global _last
    state = (
        settings.id_data.session_uid,
        settings.search,
        status.changes,
        settings.sources.keys(),
        bpy.data.actions.keys(),
    )
    if _last[0] != state:
        _last = state, shown(settings)
    return _last[1]


def _same(*names: str) -> Edit:
    def edit(source: Any, active: Any) -> None:
        for name in names:
            setattr(source, name, getattr(active, name))

    return edit


def _set(name: str, value: Any) -> Edit:
    def edit(source: Any, active: Any) -> None:
        setattr(source, name, value)

    return edit


EDITS: dict[str, tuple[str, str, Any, Edit]] = {
    "on": ("Switch On", "Build from them", "CHECKBOX_HLT", _set("enabled", True)),
    "off": ("Switch Off", "Leave them out", "CHECKBOX_DEHLT", _set("enabled", False)),
    "mirror": ("Mirror", "Add their mirror images", "MOD_MIRROR", _set("mirror", True)),
    "no_mirror": ("Do Not Mirror", "Take them as they are alone", "X", _set("mirror", False)),
    "loop": (
        "Loop",
        "Take them as cycles whose last frame repeats the first",
        "FILE_REFRESH",
        _set("loop", True),
    ),
    "no_loop": ("Do Not Loop", "Let them end where they end", "X", _set("loop", False)),
    "whole": (
        "Whole Range",
        "Take all of their frames",
        "FULLSCREEN_ENTER",
        _set("use_range", False),
    ),
    "speed": (
        "Speed of the Active",
        "Play them as fast as the active source",
        "TIME",
        _same("speed"),
    ),
    "gait": (
        "Gait of the Active",
        "Tag them with the gait of the active source",
        "CON_FOLLOWPATH",
        _same("gait"),
    ),
    "tags": (
        "Tags of the Active",
        "Give them the tags of the active source",
        "BOOKMARKS",
        _same("tags"),
    ),
    "range": (
        "Range of the Active",
        "Take the same frames as of the active source",
        "FULLSCREEN_EXIT",
        _same("use_range", "frame_start", "frame_end"),
    ),
}


class MOTION_MATCHING_OT_edit_sources(bpy.types.Operator):
    """Change all sources that the list shows: those that are searched for, or all"""

    bl_idname = "motion_matching.edit_sources"
    bl_label = "Edit Shown Sources"
    bl_options = {"REGISTER", "UNDO"}

    edit: EnumProperty(
        name="Edit",
        default="on",
        description="What is changed",
        items=[
            (key, name, text, icon, place)
            for place, (key, (name, text, icon, _)) in enumerate(EDITS.items())
        ],
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_shown(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = request.armature_of(context).motion_matching
        name, _, _, edit = EDITS[self.edit]
        active = polls.active(settings, "sources", "source_index") or settings.sources[0]
        places = shown(settings)
        for place in places:
            edit(settings.sources[place], active)
        status.forget()
        self.report({"INFO"}, f"{name}: {counted(len(places), 'source')}")
        return {"FINISHED"}


class MOTION_MATCHING_OT_remove_sources(bpy.types.Operator):
    """Take all sources that the list shows off it; their actions and files stay"""

    bl_idname = "motion_matching.remove_sources"
    bl_label = "Remove Shown Sources"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_shown(cls, context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..engine.errors import SettingsError

        settings = request.armature_of(context).motion_matching
        places, refused = shown(settings), ""
        for place in reversed(places):
            try:
                items.remove(
                    settings.sources, place, f"The source '{settings.sources[place].name}'"
                )
            except SettingsError as error:
                refused = str(error)
        if refused:
            self.report({"WARNING"}, refused)
        settings.source_index = max(0, min(settings.source_index, len(settings.sources) - 1))
        status.forget()
        return {"FINISHED"}


def has_shown(cls: Any, context: bpy.types.Context) -> bool:
    """Whether the list of sources shows any."""
    if not polls.has_armature(cls, context):
        return False
    settings = request.armature_of(context).motion_matching
    if not settings.sources:
        cls.poll_message_set("The list of sources is empty")
    elif not shown(settings):
        cls.poll_message_set("No source is found: search for something else, or empty the search")
    else:
        return True
    return False


def counted(number: int, noun: str) -> str:
    """A number with its noun: '1 action', '2 actions'."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


CLASSES = (MOTION_MATCHING_OT_edit_sources, MOTION_MATCHING_OT_remove_sources)
