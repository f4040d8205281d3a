"""Operators of the strip: cancel what runs, and do something about a warning."""

from __future__ import annotations

from typing import Any

import bpy

from ... import app
from ...app.character.characters import get_active_armature, get_active_settings
from ...app.runtime import runtime
from ...engine.errors import SettingsError
from ...engine.files import json_files
from ..base.function_operators import operator
from ..base.operator_base import CHARACTER, CHARACTER_ALSO_LIVE, Operator, n_
from ..base.panel_base import ALL_WARNINGS, format_count
from ..base.typed_properties import choice, text
from ..database.operators import use_computed_path
from ..database.operators_sources import EDIT_ITEMS, EDITS, change_sources
from ..properties import MotionMatchingSettings


def is_at_work(context: bpy.types.Context) -> str:
    return "" if runtime.work else n_("Nothing is running")


@operator(requires=(is_at_work,), options=set())
def cancel(context: bpy.types.Context) -> None:
    """Cancel what is running, as Esc does"""
    runtime.is_cancelled = True  # which the operator that is running looks for


class MOTION_MATCHING_OT_unfold_warnings(Operator, bpy.types.Operator):
    """List these warnings with their remedies, or fold them to one line"""

    bl_options = set()
    requires = CHARACTER_ALSO_LIVE

    place: str = text(
        ALL_WARNINGS, "Place", "Where in the tab they are listed", options={"SKIP_SAVE"}
    )

    def run(self, context: bpy.types.Context) -> None:
        runtime.unfolded ^= {self.place}
        app.callbacks.redraw()


class MOTION_MATCHING_OT_dismiss_warning(Operator, bpy.types.Operator):
    """Hide this warning until something about it changes"""

    bl_options = set()
    requires = CHARACTER_ALSO_LIVE

    warning: str = text("", "Warning", "The warning, as JSON", options={"SKIP_SAVE"})

    def run(self, context: bpy.types.Context) -> None:
        app.strip.warnings.dismiss(
            get_active_armature(context).session_uid, tuple(_parse(self.warning))
        )
        app.callbacks.redraw()


class _NamedSources:
    """A mixin of operators on sources by name."""

    names: str = text("", "Names", "Names of the sources, as a JSON list", options={"SKIP_SAVE"})

    def find_indices(self, settings: MotionMatchingSettings) -> list[int]:
        """Return the indices of the sources. SettingsError if none is there any more."""
        names = set(_parse(self.names))
        found = [n for n, source in enumerate(settings.sources) if source.name in names]
        if not found:
            raise SettingsError("These sources no longer exist; check the panel.")
        return found


def _parse(names: str) -> list[str]:
    try:
        return [str(name) for name in json_files.parse(names or "[]", "names")]
    except (SettingsError, TypeError):
        raise SettingsError(f"'{names}' is no list of names in JSON; give one.") from None


class MOTION_MATCHING_OT_select_source(_NamedSources, Operator, bpy.types.Operator):
    """Make this source active. With several, each click moves to the next one"""

    requires = CHARACTER_ALSO_LIVE

    def run(self, context: bpy.types.Context) -> str:
        settings = get_active_settings(context)
        found = self.find_indices(settings)
        settings.search = ""
        after = (index for index in found if index > settings.source_index)
        settings.source_index = next(after, found[0])
        source = settings.sources[settings.source_index]
        return f"Selected '{app.sources.source_list.get_label(source)}'"


class MOTION_MATCHING_OT_edit_named_sources(_NamedSources, Operator, bpy.types.Operator):
    """Change the sources that a warning is about"""

    bl_label = "Edit Sources"
    requires = CHARACTER

    edit: str = choice("off", "Edit", "What is changed", EDIT_ITEMS)

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        return EDITS[properties.edit][1]

    def run(self, context: bpy.types.Context) -> str:
        settings = get_active_settings(context)
        indices = self.find_indices(settings)
        change_sources(settings, self.edit, indices)
        return f"{EDITS[self.edit][0]}: {format_count(len(indices), 'source')}"


class MOTION_MATCHING_OT_use_computed_paths(_NamedSources, Operator, bpy.types.Operator):
    """Build these sources from their computed paths instead of the lost ones"""

    bl_label = "Back to Computed"
    requires = CHARACTER

    def run(self, context: bpy.types.Context) -> str:
        settings = get_active_settings(context)
        indices = self.find_indices(settings)
        said = [use_computed_path(context, settings.sources[index]) for index in indices]
        counted = f"{self.bl_label}: {format_count(len(indices), 'source')}"
        return ". ".join([counted, *filter(None, said)])


# as `ask_for_tag`
@operator("Match Speeds to Data", requires=CHARACTER_ALSO_LIVE, options={"UNDO"})
def match_speeds(context: bpy.types.Context) -> None:
    """Take the full speeds from the clips, so that the steering asks for no more than they have"""
    get_active_settings(context).controller.speeds_from_data = True
