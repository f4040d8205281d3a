"""Shortcuts in Blender's keymaps: Start in the 3D Viewport, and the keys of a live session.

The keys are items of a keymap of their own, which no editor handles: a session reads it. So they
are pressed to be chosen, reset, exported and kept as all others, with the user's keymap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import bpy

from .panel_base import draw_right, set_options

NAME = "Motion Matching Live"
_VIEW = "3D View"
_SPACE: Any = {"space_type": "EMPTY", "region_type": "WINDOW"}


def get_keymap(name: str) -> Any:
    """Return a keymap as the user has it; None if there is none.

    Without a window, Blender makes no keymaps of the user, and those of extensions count.
    """
    configs = bpy.context.window_manager.keyconfigs
    found = configs.user.keymaps.get(name) if configs.user else None
    if found is not None or configs.addon is None:
        return found
    return configs.addon.keymaps.get(name)


def iterate_items(operator: str) -> Iterator[Any]:
    """Yield the items for live sessions, in the order in which they were made."""
    keymap = get_keymap(NAME)
    items = keymap.keymap_items if keymap else ()
    for item in sorted(items, key=lambda item: item.id):  # Blender puts the last one first
        # just after enabling the extension, an item of the user has none yet
        if item.idname == operator and item.properties:
            yield item


def find_shortcut(operator: str) -> Any:
    """Return the item of an operator in the 3D Viewport, or None."""
    configs: Any = bpy.context.window_manager.keyconfigs
    for config in (configs.user, configs.addon):
        keymap = config.keymaps.get(_VIEW) if config else None
        if keymap and (item := keymap.keymap_items.find_from_operator(operator)):
            return item
    return None


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
    """Make these the extension's keys of actions; those that Blender does not know are left out."""
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
    item = find_shortcut(operator)
    return item.to_string() if item and item.active and item.type != "NONE" else ""


def draw_label(layout: bpy.types.UILayout, label: str) -> bpy.types.UILayout:
    """Draw a label where those of settings are, and return the row beside it."""
    split = layout.split(factor=0.4)
    split.use_property_split = False
    draw_right(split, label)
    return split.row(align=True)


def draw_key(layout: bpy.types.UILayout, item: Any) -> None:
    """Draw a button that takes the next key pressed for a live session."""
    layout.row(align=True).prop(item, "type", text="", event=True)
    _draw_reset(layout, item, NAME)


def draw_shortcut(layout: bpy.types.UILayout, operator: str) -> None:
    """Draw the shortcut of an operator in the 3D Viewport, to change it."""
    if item := find_shortcut(operator):
        row = draw_label(layout, "Start")
        row.prop(item, "active", text="")
        row.prop(item, "type", text="", full_event=True)
        _draw_reset(row, item, _VIEW)


def _draw_reset(layout: bpy.types.UILayout, item: Any, name: str) -> None:
    if item.is_user_modified:
        row = layout.row(align=True)
        row.context_pointer_set("keymap", get_keymap(name))
        button = row.operator("preferences.keyitem_restore", text="", icon="BACK")
        set_options(button, item_id=item.id)
