"""Draw the rows that panels of the sidebar's tab "Motion" share.

`bl_order` is that of the rooms: the strip comes first, which has no header.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import Context, Object, UILayout

from ... import app
from ...app.character.characters import get_active_armature
from ...app.preferences import shows_advanced
from ...app.property_access import has_active, settings_of
from ...app.runtime import runtime
from ...engine.errors import shorten

if TYPE_CHECKING:
    from ...app.strip.warnings import Area, Button, WarningItem
    from ..properties import MotionMatchingSettings

    _Base = bpy.types.Panel
    _Lists = bpy.types.UIList
else:
    _Base = _Lists = object  # as in `operator_base`

_LONGEST = 600  # characters of a sentence

State = tuple[Any, str]  # icon and words
TAB = "Motion"


def set_label(cls: Any) -> None:
    """Call a class as it is named behind its kind, such as `_PT_`, unless it has a label."""
    if "bl_label" not in vars(cls):
        cls.bl_label = cls.__name__.rpartition("T_")[2].replace("_", " ").title()


class Panel(_Base):
    """A mixin of all panels of the tab."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        set_label(cls)


class ArmaturePanel(Panel):
    """A mixin of panels about the active armature."""

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = get_active_armature(context)
        return obj is not None and cls.is_shown(obj, settings_of(obj))

    @classmethod
    def is_shown(cls, obj: Object, settings: MotionMatchingSettings) -> bool:
        """Return whether there is something to show of an armature."""
        return True

    def draw(self, context: Context) -> None:
        obj = get_active_armature(context)
        self.layout.operator_context = "INVOKE_DEFAULT"
        self.layout.enabled = runtime.work is None  # the mouse reaches the tab to cancel what runs
        self.draw_settings(obj, settings_of(obj))

    def draw_settings(self, obj: Object, settings: MotionMatchingSettings) -> None:
        raise NotImplementedError


class AdvancedPanel(ArmaturePanel):
    """A mixin of panels that are hidden without *Advanced*, unless they are in use."""

    @classmethod
    def is_shown(cls, obj: Object, settings: MotionMatchingSettings) -> bool:
        is_wanted = shows_advanced() or cls.is_in_use(obj, settings)
        return is_wanted and super().is_shown(obj, settings)

    @classmethod
    def is_in_use(cls, obj: Object, settings: MotionMatchingSettings) -> bool:
        """Return whether a setting was changed, or there are results to show."""
        raise NotImplementedError


class StateHeader(Panel):
    """A mixin of panels of the active armature that show a state in the header, even closed."""

    def draw_header_preset(self, context: Context) -> None:
        obj = get_active_armature(context)
        if state := self.get_state(obj, settings_of(obj)):
            row = self.layout.row(align=True)
            row.active = state[0] == "ERROR"
            row.label(text=state[1], icon=state[0])

    def get_state(self, obj: Object, settings: MotionMatchingSettings) -> State | None:
        raise NotImplementedError


class List(_Lists):
    """A mixin of lists, which draw each item into a row."""

    def draw_item(
        self,
        context: Context,
        layout: UILayout,
        data: Any,
        item: Any,
        icon: int,
        owner: Any,
        property: str,
    ) -> None:
        self.draw_row(layout, item)

    def draw_row(self, layout: UILayout, item: Any) -> None:
        raise NotImplementedError


class DatabasePanel(ArmaturePanel):
    """A mixin of closed panels below that of the database."""

    bl_parent_id = "MOTION_MATCHING_PT_database"
    bl_options = {"DEFAULT_CLOSED"}


class SourcePanel(DatabasePanel):
    """A mixin of panels about the active source."""

    @classmethod
    def is_shown(cls, obj: Object, settings: MotionMatchingSettings) -> bool:
        return has_active(settings.sources, settings.source_index)


def split_layout(layout: UILayout) -> UILayout:
    """Add a column with labels on the left and values on the right."""
    column = layout.column()
    column.use_property_split = True
    column.use_property_decorate = False
    return column


def add_tall_row(layout: UILayout) -> UILayout:
    """Add a row for the button of a panel's next step."""
    row = layout.row()
    row.scale_y = 1.4
    return row


def set_options(button: bpy.types.OperatorProperties, **options: Any) -> None:
    """Set the properties that a button runs its operator with."""
    for name, value in options.items():
        setattr(button, name, value)


def draw_icon(layout: UILayout, operator: str, icon: Any, **options: Any) -> None:
    """Draw a button without a text, which runs its operator with these properties."""
    set_options(layout.operator(operator, text="", icon=icon), **options)


def draw_list(
    layout: UILayout, kind: str, owner: Any, items: str, index: str, rows: int = 5, tip: str = ""
) -> UILayout:
    """Draw a list, and return the column beside it for its buttons, such as plus and minus.

    `items` may belong to a group of the owner: "marks.objects". `tip` is the property of its items
    that their tooltips show.
    """
    row = layout.row()
    (group, _, name) = items.rpartition(".")
    holder = getattr(owner, group) if group else owner
    row.template_list(kind, "", holder, name, owner, index, rows=rows, item_dyntip_propname=tip)
    return row.column(align=True)


def draw_move_buttons(side: UILayout, operator: str) -> None:
    """Draw the arrows that move the active item, in the column beside a list."""
    for direction in ("UP", "DOWN"):
        draw_icon(side, operator, f"TRIA_{direction}", direction=direction)


def draw_table(layout: UILayout, rows: Iterable[Sequence[str]], factor: float) -> None:
    """Draw rows of a label, which takes a `factor` of the width, and values on its right."""
    table = layout.column(align=True)
    table.scale_y = 0.8
    for label, *values in rows:
        row = table.split(factor=factor)
        row.label(text=label)
        cells = row.grid_flow(columns=len(values), row_major=True, even_columns=True)
        for value in values:
            draw_aligned(cells, value)


def draw_aligned(layout: UILayout, text: str, alignment: Any = "RIGHT") -> None:
    """Draw a text at the right edge, or elsewhere: "LEFT" or "CENTER"."""
    row = layout.row()
    row.alignment = alignment
    row.label(text=text)


def draw_small_lines(layout: UILayout, lines: Iterable[str], icon: Any = "NONE") -> None:
    """Draw lines of figures, close together; the first one has the icon."""
    column = layout.column(align=True)
    column.scale_y = 0.8
    for line in lines:
        column.label(text=line, icon=icon)
        icon = "BLANK1" if icon != "NONE" else icon


def draw_wrapped_text(layout: UILayout, text: str, icon: Any, reserved: float = 60.0) -> None:
    """Draw a sentence in as many lines as the width of the panel less `reserved` pixels needs."""
    scale = bpy.context.preferences.system.ui_scale or 1.0  # zero without a window
    width = bpy.context.region.width / scale
    text = shorten(text, _LONGEST)  # it may come from a file
    draw_small_lines(layout, _wrap_lines(text, max(20, int((width - reserved) / 6.2))), icon)


@lru_cache(maxsize=200)
def _wrap_lines(text: str, letters: int) -> list[str]:
    options: Any = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.wrap(text, letters - 1, **options) or [""]


def draw_progress(layout: UILayout) -> None:
    """Draw the progress of the running work."""
    text, part = runtime.progress or ("", 0.0)
    layout.progress(factor=part, text=text)


def draw_work_button(
    layout: UILayout, operator: str, options: Mapping[str, Any] | None = None, **look: Any
) -> None:
    """Draw the button of an operator that takes its time: its progress while it is running."""
    work = runtime.work if runtime.progress else None
    if work and work.operator == operator:
        draw_progress(layout)
    else:
        set_options(layout.operator(operator, **look), **(options or {}))


def draw_button(layout: UILayout, button: Button) -> None:
    """Draw a button of a warning or of the strip."""
    if button.operator.startswith("MOTION_MATCHING_MT_"):
        layout.menu(button.operator, text=button.label, icon=button.icon)
        return
    drawn = layout.operator(button.operator, text=button.label, icon=button.icon)
    set_options(drawn, **dict(button.properties))


def draw_warning(layout: UILayout, item: WarningItem) -> None:
    """Draw a warning with a button for each thing that can be done about it, and to dismiss it."""
    box = layout.box()
    row = box.row(align=True)
    draw_wrapped_text(row, item.text, "ERROR" if item.is_serious else "INFO", reserved=105.0)
    close = row.operator("motion_matching.dismiss_warning", text="", icon="X", emboss=False)
    set_options(close, warning=json.dumps(item.identity))
    if item.buttons:
        cells = box.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
        for button in item.buttons:
            draw_button(cells, button)


ALL_WARNINGS = "all"  # the place of the strip's list


def draw_folded_warnings(layout: UILayout, items: Sequence[WarningItem], place: str) -> None:
    """Draw a line with the number of warnings, which unfolds into their list."""
    is_open = place in runtime.unfolded
    row = layout.row(align=True)
    row.alignment = "LEFT"
    if not items:
        row.active = False
        row.label(text="No Warnings", icon="BLANK1")
        return
    fold = "motion_matching.unfold_warnings"
    arrow: Any = "DOWNARROW_HLT" if is_open else "RIGHTARROW"
    set_options(row.operator(fold, text="", icon=arrow, emboss=False), place=place)
    text = format_count(len(items), "Warning")
    set_options(row.operator(fold, text=text, icon="ERROR", emboss=False), place=place)
    for item in items if is_open else ():
        draw_warning(layout, item)


def draw_warnings(layout: UILayout, obj: Object, area: Area) -> None:
    """Draw the warnings that belong to a panel, unless the list of all shows them already."""
    if ALL_WARNINGS in runtime.unfolded:
        return
    if items := app.strip.state.get_warnings(obj, area):
        draw_folded_warnings(layout, items, area)


def draw_preset_row(layout: UILayout, kind: str, preset: str) -> None:
    """Draw a preset menu, with a button to add and one to remove, as Blender does."""
    row = layout.row(align=True)
    title = bpy.path.display_name(preset, title_case=True) if preset else "Presets"
    row.menu(f"MOTION_MATCHING_MT_{kind}", text=title)
    draw_icon(row, "motion_matching.save_preset", "ADD", kind=kind)
    draw_icon(row, "motion_matching.remove_preset", "REMOVE", kind=kind, name=preset)


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun: '1 action', '2 actions'."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
