"""Follow changes of a character's settings: the `update` callbacks of properties."""

from __future__ import annotations

from typing import Any

import bpy

from ... import app
from ...app.runtime import runtime


def follow_selection(self: Any, context: bpy.types.Context) -> None:
    """Show another source or take, which has become the active one."""
    runtime.changed("selection")


def invalidate_status(self: Any, context: bpy.types.Context) -> None:
    """Check whether the database still fits the settings."""
    runtime.changed("database")


def apply_weights(self: Any, context: bpy.types.Context) -> None:
    """Have a live session apply other weights. The database does not depend on them."""
    runtime.changed("weights")


def refresh_path(self: Any, context: bpy.types.Context) -> None:
    """Draw another path into the 3D view, or none."""
    runtime.changed("path")


def redraw_views(self: Any, context: bpy.types.Context) -> None:
    app.callbacks.redraw("WINDOW")


def suggest_tags(self: Any, context: bpy.types.Context, text: str) -> list[str]:
    """Return the tags that complete a text. What knows them is loaded on use."""
    return app.live.tag_requests.suggest_tags(self, context, text)
