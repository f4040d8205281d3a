"""Operators on the list of sources: add actions, remove sources, and edit all shown ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.types import Action, Context, Object

from ... import app, scene
from ...app.character.characters import (
    get_active_armature,
    get_active_settings,
    get_selected_armatures,
)
from ...app.property_access import get_active, settings_of
from ...app.runtime import runtime
from ...engine.errors import SettingsError
from ..base.operator_base import CHARACTER, NothingToDoError, Operator, n_
from ..base.panel_base import format_count
from ..base.typed_properties import choice, switch
from ..properties import MotionMatchingSettings
from .properties import AXES, MotionMatchingSource

_WHICH = (
    ("ALL", "All of the Armature", "All actions that move its bones, except its takes"),
    ("ACTIVE", "Active Action", "Its assigned action"),
    (
        "OTHERS",
        "Of Selected Armatures",
        "All actions of the other selected armatures, retargeted to the active one",
    ),
)


def add_source(obj: Object, name: str, **values: Any) -> MotionMatchingSource:
    """Add a source, and make it active. The first one brings the default features."""
    settings = settings_of(obj)
    # a library override cannot change a group that was never read, which Blender does not store
    for group in ("roles", "simulation_bone", "features", "controller", "script"):
        getattr(settings, group)
    if not settings.features.items:
        app.controller.features.set_default_features(settings.features)
    source = app.property_access.add(settings.sources, name)
    for key, value in values.items():
        setattr(source, key, value)
    settings.source_index = len(settings.sources) - 1
    return source


def add_action_sources(
    obj: Object, actions: Iterable[Action], mirror: bool, performer: Object | None = None
) -> int:
    """Add the actions (of another `performer`) that are not sources yet, and return how many."""
    present = {source.action for source in settings_of(obj).sources}
    new = [action for action in actions if action not in present]
    for action in new:
        is_cyclic = scene.blender.animation.actions.is_cyclic(action)
        source = add_source(
            obj, action.name, kind="ACTION", action=action, mirror=mirror, loop=is_cyclic
        )
        source.performer = performer
    return len(new)


def describe_added(count: int, noun: str) -> str:
    """Return what to report of new sources. NothingToDoError if there are none."""
    if not count:
        raise NothingToDoError(f"All of these {noun}s are already sources")
    return f"Added {format_count(count, noun)}"


def select_only(obj: Object, context: Context) -> None:
    """Make an object the active and only selected one."""
    for other in context.selected_objects:
        other.select_set(False)
    context.view_layer.objects.active = obj
    obj.select_set(True)


class MirrorOption:
    """A mixin of operators that add sources."""

    mirror: bool = switch(
        True,
        "Mirror",
        "Also use the mirror images: twice the motion, with equally good left and right turns",
    )


# Requirements


def has_actions(context: Context) -> str:
    message = n_("There is no action in this file: create or append one, or add files")
    return "" if bpy.data.actions else message


def has_listed_sources(context: Context) -> str:
    message = n_("The list of sources is empty: add actions or files first")
    return "" if get_active_settings(context).sources else message


def has_shown_sources(context: Context) -> str:
    found = find_shown_indices(get_active_settings(context))
    return "" if found else n_("No source is found: search for something else, or clear the search")


# The active source


class MOTION_MATCHING_OT_add_actions(MirrorOption, Operator, bpy.types.Operator):
    """Add actions of this armature as sources"""

    requires = (*CHARACTER, has_actions)

    which: str = choice("ALL", "Actions", "Actions to add", _WHICH)

    def run(self, context: Context) -> str:
        obj = get_active_armature(context)
        others: list[Object] = []
        if self.which == "OTHERS":
            return describe_added(self._add_of_others(context, obj), "action")
        if self.which == "ACTIVE":
            data = obj.animation_data
            chosen = [data.action] if data and data.action else []
        else:
            chosen, others = _find_own_actions(obj)
        if not chosen:
            problem = f"No action moves the bones of armature '{obj.name}'"
            if others:
                problem += f" but those of '{others[0].name}', which has another rest pose"
            raise SettingsError(f"{problem}; assign one to it, or add files.")
        added = describe_added(add_action_sources(obj, chosen, self.mirror), "action")
        return added + (f", not {_describe_others(others)}" if others else "")

    def _add_of_others(self, context: Context, obj: Object) -> int:
        """Add the actions of the other selected armatures, and return how many."""
        others = [one for one in get_selected_armatures(context) if one != obj]
        found = {other: _find_own_actions(other)[0] for other in others}
        if not any(found.values()):
            raise SettingsError(
                "No other selected armature has an action; select the armature with the motion, "
                f"then '{obj.name}' as the active one."
            )
        return sum(
            add_action_sources(obj, actions, self.mirror, other) for other, actions in found.items()
        )


def _find_own_actions(obj: Object) -> tuple[list[Action], list[Object]]:
    """Return the actions that fit and are no takes, and the armatures that left out ones are of."""
    takes = {take.action for take in settings_of(obj).takes}
    fitting = [
        each for each in scene.blender.animation.actions.find_actions(obj) if each not in takes
    ]
    owners = [app.sources.source_list.find_other_performer(obj, action) for action in fitting]
    own = [action for action, owner in zip(fitting, owners, strict=True) if owner is None]
    return own, [owner for owner in owners if owner]


def _describe_others(others: list[Object]) -> str:
    names = ", ".join(f"'{name}'" for name in dict.fromkeys(other.name for other in others))
    return f"{format_count(len(others), 'action')} of {names}, which has another rest pose"


class MOTION_MATCHING_OT_remove_source(Operator, bpy.types.Operator):
    """Remove the active source from the list; its action or file stays"""

    requires = (*CHARACTER, has_listed_sources)

    all: bool = switch(False, "All", "Remove all sources from the list", options={"SKIP_SAVE"})

    def run(self, context: Context) -> None:
        settings = get_active_settings(context)
        if self.all:
            settings.sources.clear()  # in a library override, those of the linked file stay
        else:
            _remove_source(
                settings, app.property_access.clamp_index(settings.sources, settings.source_index)
            )
        _finish_removal(settings)


def _remove_source(settings: MotionMatchingSettings, index: int) -> None:
    app.property_access.remove(
        settings.sources, index, f"The source '{settings.sources[index].name}'"
    )


def _finish_removal(settings: MotionMatchingSettings) -> None:
    settings.source_index = app.property_access.clamp_index(settings.sources, settings.source_index)
    app.database.status.invalidate()


# All sources that the search shows


def is_match(source: MotionMatchingSource, words: list[str]) -> bool:
    """Tell whether all words, in lower case, are in a source's shown name, gait or tags."""
    name = source.action.name if source.action else source.name
    text = f"{name} {source.gait} {source.tags}".lower()
    return all(word in text for word in words)


def find_shown_indices(settings: MotionMatchingSettings) -> list[int]:
    """Return the indices of the sources that the search shows."""
    words = settings.search.lower().split()
    sources = settings.sources
    return [n for n, source in enumerate(sources) if not words or is_match(source, words)]


@dataclass
class _ShownSources:
    """The indices of the sources that the list showed last, and what they depend on."""

    state: tuple[Any, ...] = ()
    indices: Sequence[int] = ()


def get_shown_indices(settings: MotionMatchingSettings) -> Sequence[int]:
    """Return what `find_shown_indices` does, computed again only if something has changed."""
    shown = runtime.get_cache(_ShownSources)
    state = (
        settings.id_data.session_uid,
        settings.search,
        runtime.statuses.change_count,
        settings.sources.keys(),
        bpy.data.actions.keys(),
    )
    if shown.state != state:
        shown.state, shown.indices = state, find_shown_indices(settings)
    return shown.indices


_LOOP = "Repeat them as cycles; the last frame must equal the first"
_RANGE = ("use_range", "frame_start", "frame_end")
# by the edit: its name, its help, its icon, and the new values or the names of those to copy
EDITS: dict[str, tuple[str, str, Any, dict[str, bool | str] | tuple[str, ...]]] = {
    "on": ("Switch On", "Build from them", "CHECKBOX_HLT", {"enabled": True}),
    "off": ("Switch Off", "Leave them out", "CHECKBOX_DEHLT", {"enabled": False}),
    "mirror": ("Mirror", "Add their mirror images", "MOD_MIRROR", {"mirror": True}),
    "no_mirror": ("Do Not Mirror", "Use them without mirror images", "X", {"mirror": False}),
    "tempo": ("Other Tempos", "Also add them slower and faster", "TIME", {"tempo": True}),
    "no_tempo": ("One Tempo", "Use them only at their own speed", "X", {"tempo": False}),
    "loop": ("Loop", _LOOP, "FILE_REFRESH", {"loop": True}),
    "no_loop": ("Do Not Loop", "Do not repeat them", "X", {"loop": False}),
    "keep_frames": (
        "Keep Frames",
        "Use all of their frames unchanged, including T-poses and leaps",
        "LOOP_BACK",
        {"keep_frames": True},
    ),
    "mend_frames": (
        "Mend Frames",
        "Remove T-poses, leaps and frozen frames, and interpolate lost ones",
        "TOOL_SETTINGS",
        {"keep_frames": False},
    ),
    "keep_floor": ("Keep Floor", "Leave them at their height", "LOOP_BACK", {"keep_floor": True}),
    "mend_floor": (
        "Mend Floor",
        "Move them onto one floor at height zero",
        "TOOL_SETTINGS",
        {"keep_floor": False},
    ),
    "level_ground": (
        "Level Ground",
        "Assume level ground, without any climbing",
        "LOOP_BACK",
        {"ground": "LEVEL"},
    ),
    "find_ground": (
        "Find Ground",
        "Find slopes and stairs from the planted feet",
        "TOOL_SETTINGS",
        {"ground": "FOUND"},
    ),
    "whole": ("Whole Range", "Use all of their frames", "FULLSCREEN_ENTER", {"use_range": False}),
    "speed": ("Copy Speed from Active", "Use the active source's speed", "TIME", ("speed",)),
    "gait": ("Copy Gait from Active", "Use the active source's gait", "CON_FOLLOWPATH", ("gait",)),
    "tags": ("Copy Tags from Active", "Use the active source's tags", "BOOKMARKS", ("tags",)),
    "range": ("Copy Range from Active", "Use its frames", "FULLSCREEN_EXIT", _RANGE),
}
EDIT_ITEMS = [
    (key, name, help, icon, index)
    for index, (key, (name, help, icon, _)) in enumerate(EDITS.items())
]


def change_sources(settings: MotionMatchingSettings, edit: str, indices: Iterable[int]) -> None:
    """Make one of `EDITS` to sources."""
    values = EDITS[edit][3]
    active = get_active(settings.sources, settings.source_index) or settings.sources[0]
    if isinstance(values, tuple):
        values = {key: getattr(active, key) for key in values}
    for index in indices:
        for key, value in values.items():
            setattr(settings.sources[index], key, value)
    app.database.status.invalidate()


class MOTION_MATCHING_OT_edit_sources(Operator, bpy.types.Operator):
    """Change all sources in the list: the ones that match the search, or all without a search"""

    bl_label = "Edit Shown Sources"
    requires = (*CHARACTER, has_listed_sources, has_shown_sources)

    edit: str = choice("on", "Edit", "What is changed", EDIT_ITEMS)

    def run(self, context: Context) -> str:
        settings = get_active_settings(context)
        indices = find_shown_indices(settings)
        change_sources(settings, self.edit, indices)
        return f"{EDITS[self.edit][0]}: {format_count(len(indices), 'source')}"


def has_file_sources(context: Context) -> str:
    sources = get_active_settings(context).sources
    is_there = any(source.kind == "FILE" for source in sources)
    return "" if is_there else n_("There is no file among the sources, and only files have axes")


class MOTION_MATCHING_OT_use_axes(Operator, bpy.types.Operator):
    """Use these axes, which make the characters stand upright, for all files from the next build \
on"""

    bl_label = "Use These Axes"
    requires = (*CHARACTER, has_file_sources)

    up: str = choice("Y", "Up", "Axis of the files that points up", AXES)
    forward: str = choice("Z", "Forward", "Axis of the files that points forward", AXES)

    def run(self, context: Context) -> str:
        axes = app.sources.source_list.use_axes(get_active_armature(context), self.up, self.forward)
        return f"Files are now read with {axes}; build the database again"


class MOTION_MATCHING_OT_remove_sources(Operator, bpy.types.Operator):
    """Remove all sources in the list; their actions and files stay"""

    bl_label = "Remove Shown Sources"
    requires = (*CHARACTER, has_listed_sources, has_shown_sources)

    def run(self, context: Context) -> None:
        settings = get_active_settings(context)
        refused = ""
        for index in reversed(find_shown_indices(settings)):
            try:
                _remove_source(settings, index)
            except SettingsError as error:
                refused = str(error)
        if refused:
            self.tell("WARNING", refused)
        _finish_removal(settings)
