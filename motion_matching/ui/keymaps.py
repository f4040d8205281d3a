"""Shortcuts in Blender's keymaps: Start in the 3D Viewport, and the keys of a live session.

The keys are items of a keymap of their own, which no editor handles: a session reads it. So they
are pressed to be chosen, reset, exported and kept as all others, with the user's keymap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import bpy

from .base.panel_base import draw_aligned, draw_icon

NAME = "Motion Matching Live"
_VIEW = "3D View"
SHORTCUT = "M", "PRESS"  # of Start, with Ctrl and Alt
_SPACE: Any = {"space_type": "EMPTY", "region_type": "WINDOW"}


def get_keymap(name: str, operator: str = "") -> Any:
    """Return a keymap as the user has it, or else the extension's; None if there is none.

    With an `operator`, one that has it comes first: without a window, Blender makes no keymaps of
    the user, or does not merge the extension's into them.
    """
    configs: Any = bpy.context.window_manager.keyconfigs
    found = [config.keymaps.get(name) for config in (configs.user, configs.addon) if config]
    keymaps = [keymap for keymap in found if keymap is not None]
    having = (k for k in keymaps if operator and k.keymap_items.find_from_operator(operator))
    return next(having, next(iter(keymaps), None))


def iterate_items(operator: str) -> Iterator[Any]:
    """Yield the items for live sessions, in the order in which they were made."""
    # just after enabling the extension, an item of the user has no properties yet
    yield from (item for item in _list_items(get_keymap(NAME), operator) if item.properties)


def iterate_shortcuts(operator: str) -> Iterator[Any]:
    """Yield the items of an operator in the 3D Viewport, in the order in which they were made."""
    yield from _list_items(get_keymap(_VIEW, operator), operator)


def _list_items(keymap: Any, operator: str) -> list[Any]:
    """Return the items of an operator, the user's last, because Blender puts the last one first."""
    items = keymap.keymap_items if keymap else ()
    own = (item for item in items if item.idname == operator)
    return sorted(own, key=lambda item: (item.is_user_defined, item.id))


def add_key(operator: str, action: str) -> None:
    """Add an item without a key to the user's keymap, for an action of a live session."""
    if (keymap := get_keymap(NAME)) is not None:
        keymap.keymap_items.new(operator, "NONE", "PRESS").properties.action = action


def add_shortcut(operator: str) -> None:
    """Add an item without a key to the user's keymap of the 3D Viewport."""
    if (keymap := get_keymap(_VIEW, operator)) is not None:
        keymap.keymap_items.new(operator, "NONE", "PRESS")


def restore_keys(operator: str) -> None:
    """Make the keys of live sessions and the shortcut of an operator the extension's own again."""
    configs: Any = bpy.context.window_manager.keyconfigs
    if configs.user and (keymap := configs.user.keymaps.get(NAME)):
        keymap.restore_to_default()
    if (view := get_keymap(_VIEW, operator)) is None:
        return
    for item in list(iterate_shortcuts(operator)):
        if item.is_user_defined:
            view.keymap_items.remove(item)
        elif item.is_user_modified:
            view.restore_item_to_default(item)
    if not any(iterate_shortcuts(operator)):  # the extension's own was removed
        view.keymap_items.new(operator, *SHORTCUT, ctrl=True, alt=True)


def read_keys(operator: str, actions: Sequence[str]) -> dict[str, list[str]] | None:
    """Return the keys of each action by Blender's names; None without a keymap."""
    if get_keymap(NAME) is None:
        return None
    keys: dict[str, list[str]] = {action: [] for action in actions}
    for item in iterate_items(operator):
        if item.active and item.type != "NONE":
            keys[item.properties.action].append(item.type)
    return keys


def write_keys(operator: str, keys: Mapping[str, Sequence[str]]) -> None:
    """Make these the extension's keys of actions, without names unknown to Blender."""
    configs: Any = bpy.context.window_manager.keyconfigs
    if configs.addon is None:  # as without a window in some Blenders
        return
    configs.default.keymaps.new(NAME, **_SPACE)  # users get the keymaps that are in this one too
    keymap = configs.addon.keymaps.new(NAME, **_SPACE)
    for item in list(keymap.keymap_items):
        keymap.keymap_items.remove(item)
    known: Any = bpy.types.KeyMapItem.bl_rna.properties["type"]
    for action, names in keys.items():
        for name in names:
            if name in known.enum_items:
                added: Any = keymap.keymap_items.new(operator, name, "PRESS")
                added.properties.action = action


def remove_keys() -> None:
    """Remove the keymap of live sessions; what the user changed in it stays in the preferences."""
    configs: Any = bpy.context.window_manager.keyconfigs
    for config in (configs.addon, configs.default):
        if config and (keymap := config.keymaps.get(NAME)):
            config.keymaps.remove(keymap)


def get_shortcut(operator: str) -> str:
    """Return the shortcut of an operator in the 3D Viewport as Blender writes it; may be empty."""
    usable = (i for i in iterate_shortcuts(operator) if i.active and i.type != "NONE")
    return next((item.to_string() for item in usable), "")


def draw_label(layout: bpy.types.UILayout, label: str) -> bpy.types.UILayout:
    """Draw a label aligned with the labels of settings, and return the row beside it."""
    split = layout.split(factor=0.4)
    split.use_property_split = False
    draw_aligned(split, label)
    return split.row(align=True)


def draw_key(layout: bpy.types.UILayout, item: Any) -> None:
    """Draw a button that takes the next key pressed for a live session."""
    layout.row(align=True).prop(item, "type", text="", event=True)
    _draw_change(layout, item, NAME)


def draw_shortcuts(layout: bpy.types.UILayout, operator: str) -> None:
    """Draw the shortcuts of an operator in the 3D Viewport, to change, add and remove them."""
    items = list(iterate_shortcuts(operator))
    for number, item in enumerate(items):
        row = draw_label(layout, "" if number else "Start")
        row.prop(item, "active", text="")
        row.prop(item, "type", text="", full_event=True)
        _draw_change(row, item, _VIEW)
        if item == items[-1]:
            draw_add(row)
    if not items:
        draw_add(draw_label(layout, "Start"))


def draw_add(layout: bpy.types.UILayout, action: str = "") -> None:
    """Draw a button that adds a key for an action, or a shortcut of Start without one."""
    draw_icon(layout, "motion_matching.add_key", "ADD", action=action)


def _draw_change(layout: bpy.types.UILayout, item: Any, name: str) -> None:
    """Draw the button that Blender's keymap editor has beside an item: it resets or removes it."""
    changed = item.is_user_modified and not item.is_user_defined
    row = layout.row(align=True)
    row.context_pointer_set("keymap", get_keymap(name))
    kind, icon = ("restore", "BACK") if changed else ("remove", "X")
    draw_icon(row, f"preferences.keyitem_{kind}", icon, item_id=item.id)
