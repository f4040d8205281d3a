"""Read the preferences; `ui.preferences` describes and draws them."""

from __future__ import annotations

from typing import Any

import bpy

ROOT = __package__.rpartition(".")[0]
TICK_BUDGET = 0.01  # seconds


def get_preferences() -> Any:
    """Return the preferences, or None if the package is no enabled extension."""
    addon: Any = bpy.context.preferences.addons.get(ROOT)
    return addon.preferences if addon else None


def shows_advanced() -> bool:
    """Return whether panels show what is rarely changed; no preferences could switch it on."""
    preferences = get_preferences()
    return preferences is None or preferences.show_advanced


def get_tick_budget() -> float:
    """Return the seconds that a tick may take."""
    preferences = get_preferences()
    return preferences.tick_budget if preferences else TICK_BUDGET


def apply_layer_defaults(play: Any) -> None:
    """Show the layers of the preferences, except for layers that the character sets itself."""
    preferences = get_preferences()
    for name in play.bl_rna.properties.keys() if preferences else ():
        if name.startswith("show_") and not play.is_property_set(name):
            setattr(play, name, getattr(preferences, name))
