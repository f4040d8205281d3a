"""Show the lists of sources, databases and takes in a wide window, with all columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import bpy

from ..app.characters import get_active_settings
from .operator_base import CHARACTER_ALSO_LIVE, Operator
from .panel_base import List
from .typed_properties import choice

WIDE = "wide"  # the id of the lists there
_WIDTH, _MARGIN = 1100, 100  # at the interface's scale: of the window, and around it
_ROWS = 18


class _Layout(NamedTuple):
    """A list: its class, the property of its active index, and columns with shares of the width."""

    kind: str
    active: str
    columns: tuple[tuple[str, float], ...]


_NAME = ("Name", 8.0)
LAYOUTS = {
    "sources": _Layout(
        "MOTION_MATCHING_UL_sources",
        "source_index",
        (_NAME, ("Gait", 2), ("Tags", 3), ("Speed", 1.5), ("Range", 3), ("Loop, Mirror", 2)),
    ),
    "databases": _Layout("MOTION_MATCHING_UL_databases", "database_index", (_NAME, ("State", 2))),
    "takes": _Layout(
        "MOTION_MATCHING_UL_takes",
        "take_index",
        (_NAME, ("Length", 1), ("Frames", 2), ("Keep", 1)),
    ),
}


class NamedList(List):
    """A mixin of lists whose items have long names."""

    list_id: str

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        icon: int,
        owner: Any,
        property: str,
    ) -> None:
        if self.list_id == WIDE:
            self.draw_cells(item, *add_cells(layout, LAYOUTS[item.LIST].columns))
        else:
            self.draw_row(layout, item)

    def draw_cells(self, item: Any, *cells: bpy.types.UILayout) -> None:
        """Draw an item into the columns of the wide list."""
        raise NotImplementedError


def add_cells(
    layout: bpy.types.UILayout, columns: Iterable[tuple[str, float]]
) -> Iterator[bpy.types.UILayout]:
    """Add a row, and return its cells from the left to the right."""
    widths = [width for _, width in columns]
    for number in range(len(widths) - 1):
        split = layout.split(factor=widths[number] / sum(widths[number:]))
        yield split.row(align=True)
        layout = split
    yield layout.row(align=True)


class MOTION_MATCHING_OT_show_wide_list(Operator, bpy.types.Operator):
    """Show the list in a wide window, with full names and all columns"""

    bl_idname = "motion_matching.show_wide_list"
    bl_label = "Show in Wide List"
    bl_options = set()
    requires = CHARACTER_ALSO_LIVE

    kind: str = choice(
        "sources",
        "List",
        "What is listed",
        [(name, name.title(), f"The {name} of this character") for name in LAYOUTS],
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        scale = context.preferences.system.ui_scale
        width = min(_WIDTH, int(context.window.width / scale) - _MARGIN)
        return context.window_manager.invoke_popup(self, width=width)

    def draw(self, context: bpy.types.Context) -> None:
        layout, shown = self.layout, LAYOUTS[self.kind]
        settings = get_active_settings(context)
        layout.label(text=self.kind.title(), icon="FULLSCREEN_ENTER")
        header = layout.row()
        header.active = False
        for (title, _), cell in zip(shown.columns, add_cells(header, shown.columns), strict=True):
            cell.label(text=title)
        layout.template_list(
            shown.kind, WIDE, settings, self.kind, settings, shown.active, rows=_ROWS
        )

    def run(self, context: bpy.types.Context) -> None:
        """Do nothing: changes in the window took effect at once."""
