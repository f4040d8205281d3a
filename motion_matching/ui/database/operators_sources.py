"""Operators on the list of sources: add actions, remove sources, and change all that the search
shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import bpy

from ... import app, engine, scene
from ...app.characters import get_active_armature, get_active_settings
from ...app.items import get_active
from ...app.runtime import runtime
from ...app.typed import settings_of
from ...engine.errors import SettingsError
from ..operator_base import CHARACTER, NothingToDoError, Operator, n_
from ..panel_base import format_count
from ..properties import MotionMatchingSettings
from ..typed_properties import choice, switch
from .properties import MotionMatchingSource

Edit = Callable[
    [MotionMatchingSource, MotionMatchingSource], None
]  # given a source, and the active one


def add_source(obj: bpy.types.Object, name: str, **values: Any) -> MotionMatchingSource:
    """Add a source to the end of an armature's list, and make it active. The first one brings the
    default features.
    """
    settings = settings_of(obj)
    # Blender does not store a group that was never read, and a library override cannot change it
    # then
    for group in ("roles", "simulation_bone", "features", "controller", "script"):
        getattr(settings, group)
    if not settings.features.items:
        app.features.set_features(
            settings.features, engine.presets.load("features", "default"), "default"
        )
    source = app.items.add(settings.sources, name)
    for key, value in values.items():
        setattr(source, key, value)
    settings.source_index = len(settings.sources) - 1
    return source


def add_action_sources(
    obj: bpy.types.Object, actions: Iterable[bpy.types.Action], mirror: bool
) -> int:
    """Add the actions that are not sources yet, and return how many."""
    present = {source.action for source in settings_of(obj).sources}
    new = [action for action in actions if action not in present]
    for action in new:
        is_cyclic = scene.blender.actions.is_cyclic(action)
        add_source(obj, action.name, kind="ACTION", action=action, mirror=mirror, loop=is_cyclic)
    return len(new)


def report_added(count: int, noun: str) -> str:
    """Return what to report of added sources. NothingToDoError if there are none."""
    if not count:
        raise NothingToDoError(f"All of these {noun}s are sources already")
    return f"Added {format_count(count, noun)}"


def select_only(obj: bpy.types.Object, context: bpy.types.Context) -> None:
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
        "Use the mirror images as well: twice the motion, and left turns as good as right ones",
    )


# Requirements


def has_actions(context: bpy.types.Context) -> str:
    return (
        ""
        if bpy.data.actions
        else n_("There is no action in this file: create or append one, or add files")
    )


def has_listed_sources(context: bpy.types.Context) -> str:
    return "" if get_active_settings(context).sources else n_("The list of sources is empty")


def has_shown_sources(context: bpy.types.Context) -> str:
    found = find_shown_indices(get_active_settings(context))
    return "" if found else n_("No source is found: search for something else, or clear the search")


# The active source


class MOTION_MATCHING_OT_add_actions(MirrorOption, Operator, bpy.types.Operator):
    """Add actions of this armature to the motion that its database is built from"""

    bl_idname = "motion_matching.add_actions"
    bl_label = "Add Actions"
    requires = (*CHARACTER, has_actions)

    which: str = choice(
        "ALL",
        "Actions",
        "Actions to add",
        items=[
            ("ALL", "All of the Armature", "Every action that moves its bones, except its takes"),
            ("ACTIVE", "Active Action", "The action that is assigned to it"),
        ],
    )

    def run(self, context: bpy.types.Context) -> str:
        obj = get_active_armature(context)
        if self.which == "ACTIVE":
            data = obj.animation_data
            chosen = [data.action] if data and data.action else []
        else:
            takes = {take.action for take in settings_of(obj).takes}
            chosen = [
                action for action in scene.blender.actions.find_actions(obj) if action not in takes
            ]
        if not chosen:
            raise SettingsError(
                f"No action moves the bones of armature '{obj.name}'; assign one to it, or add "
                "files."
            )
        return report_added(add_action_sources(obj, chosen, self.mirror), "action")


class MOTION_MATCHING_OT_remove_source(Operator, bpy.types.Operator):
    """Remove the active source from the list; its action or file stays"""

    bl_idname = "motion_matching.remove_source"
    bl_label = "Remove Source"
    requires = (*CHARACTER, has_listed_sources)

    all: bool = switch(False, "All", "Remove all sources from the list", options={"SKIP_SAVE"})

    def run(self, context: bpy.types.Context) -> None:
        settings = get_active_settings(context)
        if self.all:
            settings.sources.clear()  # in a library override, those of the linked file stay
        else:
            _remove_source(settings, min(settings.source_index, len(settings.sources) - 1))
        _finish_removal(settings)


def _remove_source(settings: MotionMatchingSettings, index: int) -> None:
    app.items.remove(settings.sources, index, f"The source '{settings.sources[index].name}'")


def _finish_removal(settings: MotionMatchingSettings) -> None:
    settings.source_index = max(0, min(settings.source_index, len(settings.sources) - 1))
    app.status.invalidate()


# All sources that the search shows


def is_match(source: MotionMatchingSource, words: list[str]) -> bool:
    """Tell whether all words, in lower case, are in the shown name of a source, its gait or its
    tags.
    """
    name = source.action.name if source.action else source.name
    text = f"{name} {source.gait} {source.tags}".lower()
    return all(word in text for word in words)


def find_shown_indices(settings: MotionMatchingSettings) -> list[int]:
    """Return the indices of the sources that the search shows; of all if nothing is
    searched for.
    """
    words = settings.search.lower().split()
    return [
        index
        for index, source in enumerate(settings.sources)
        if not words or is_match(source, words)
    ]


class _ShownSources:
    """The indices of the sources that the list showed last, and what they depend on."""

    def __init__(self) -> None:
        self.state: tuple[Any, ...] = ()
        self.indices: list[int] = []


def get_shown_indices(settings: MotionMatchingSettings) -> list[int]:
    """Return the same for drawing: computed again only if something that it depends on has
    changed.
    """
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


def _copy_from_active(*names: str) -> Edit:
    def edit(source: MotionMatchingSource, active: MotionMatchingSource) -> None:
        for name in names:
            setattr(source, name, getattr(active, name))

    return edit


def _set_value(name: str, value: bool) -> Edit:
    def edit(source: MotionMatchingSource, active: MotionMatchingSource) -> None:
        setattr(source, name, value)

    return edit


EDITS: dict[str, tuple[str, str, Any, Edit]] = {
    "on": ("Switch On", "Build from them", "CHECKBOX_HLT", _set_value("enabled", True)),
    "off": ("Switch Off", "Leave them out", "CHECKBOX_DEHLT", _set_value("enabled", False)),
    "mirror": ("Mirror", "Add their mirror images", "MOD_MIRROR", _set_value("mirror", True)),
    "no_mirror": (
        "Do Not Mirror",
        "Use them without mirror images",
        "X",
        _set_value("mirror", False),
    ),
    "loop": (
        "Loop",
        "Use them as cycles whose last frame is the first again",
        "FILE_REFRESH",
        _set_value("loop", True),
    ),
    "no_loop": ("Do Not Loop", "Let them end where they end", "X", _set_value("loop", False)),
    "whole": (
        "Whole Range",
        "Use all of their frames",
        "FULLSCREEN_ENTER",
        _set_value("use_range", False),
    ),
    "speed": (
        "Speed of the Active",
        "Play them as fast as the active source",
        "TIME",
        _copy_from_active("speed"),
    ),
    "gait": (
        "Gait of the Active",
        "Give them the gait of the active source",
        "CON_FOLLOWPATH",
        _copy_from_active("gait"),
    ),
    "tags": (
        "Tags of the Active",
        "Give them the tags of the active source",
        "BOOKMARKS",
        _copy_from_active("tags"),
    ),
    "range": (
        "Range of the Active",
        "Use the same frames as of the active source",
        "FULLSCREEN_EXIT",
        _copy_from_active("use_range", "frame_start", "frame_end"),
    ),
}


class MOTION_MATCHING_OT_edit_sources(Operator, bpy.types.Operator):
    """Change all sources that the list shows: those that the search finds, or all"""

    bl_idname = "motion_matching.edit_sources"
    bl_label = "Edit Shown Sources"
    requires = (*CHARACTER, has_listed_sources, has_shown_sources)

    edit: str = choice(
        "on",
        "Edit",
        "What is changed",
        items=[
            (key, name, text, icon, index)
            for index, (key, (name, text, icon, _)) in enumerate(EDITS.items())
        ],
    )

    def run(self, context: bpy.types.Context) -> str:
        settings = get_active_settings(context)
        name, _, _, edit = EDITS[self.edit]
        active = get_active(settings.sources, settings.source_index) or settings.sources[0]
        indices = find_shown_indices(settings)
        for index in indices:
            edit(settings.sources[index], active)
        app.status.invalidate()
        return f"{name}: {format_count(len(indices), 'source')}"


class MOTION_MATCHING_OT_remove_sources(Operator, bpy.types.Operator):
    """Remove all sources that the list shows; their actions and files stay"""

    bl_idname = "motion_matching.remove_sources"
    bl_label = "Remove Shown Sources"
    requires = (*CHARACTER, has_listed_sources, has_shown_sources)

    def run(self, context: bpy.types.Context) -> None:
        settings, refused = get_active_settings(context), ""
        for index in reversed(find_shown_indices(settings)):
            try:
                _remove_source(settings, index)
            except SettingsError as error:
                refused = str(error)
        if refused:
            self.report({"WARNING"}, refused)
        _finish_removal(settings)


CLASSES = (
    MOTION_MATCHING_OT_add_actions,
    MOTION_MATCHING_OT_remove_source,
    MOTION_MATCHING_OT_edit_sources,
    MOTION_MATCHING_OT_remove_sources,
)
