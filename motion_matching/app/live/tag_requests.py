"""Requested tags: those that the panel Play names, those that a database has, and suggestions."""

from __future__ import annotations

from typing import Any

import bpy

from ...engine.database.database import Database
from ...engine.database.tags import parse_names
from .. import callbacks, status
from ..characters import get_active_armature


class TagRequest:
    """The tags that a live session requests; `warnings` name those that the data lacks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._resolved_for: tuple[str, float] | None = None  # text and end guard
        self._resolved_tags: frozenset[str] = frozenset()
        self.warnings: tuple[str, ...] = ()

    def resolve(self, text: str, end_guard: float) -> frozenset[str]:
        """Return the tags of a text, if some frames have them all together; `end_guard` in s."""
        if (text, end_guard) == self._resolved_for:
            return self._resolved_tags
        self._resolved_for, warnings = (text, end_guard), []
        requested = frozenset(parse_names(text))
        available = requested & frozenset(self._database.requestable_tags)
        if missing := ", ".join(sorted(requested - available)):
            warnings.append(f"No frame is tagged {missing}: tag ranges of the sources and build")
        if self._database.explain_missing_tags(available, end_guard):
            names = ", ".join(sorted(available))
            warnings.append(f"No frame is tagged {names} at once: request fewer tags")
            available = frozenset()
        self._resolved_tags, self.warnings = available, tuple(warnings)
        return available

    def request_next(self, play: Any) -> None:
        """Request the next tag of the database alone; after the last one, none."""
        ring = ("", *self._database.requestable_tags)
        play.tags = ring[(ring.index(play.tags) + 1) % len(ring)] if play.tags in ring else ""
        callbacks.redraw()


def toggle_name(text: str, name: str) -> str:
    """Return a list of names with one added at its end, or taken away."""
    names = parse_names(text)
    return ", ".join(n for n in names if n != name) if name in names else ", ".join((*names, name))


def suggest_tags(self: Any, context: bpy.types.Context, text: str) -> list[str]:
    """Return the tags of the database that complete a list of names."""
    obj = get_active_armature(context)
    written, comma, begun = text.rpartition(",")
    before = f"{written.strip()}, " if comma else ""
    tags = status.get_status(obj).tags if obj else ()
    return [before + tag for tag in tags if tag.lower().startswith(begun.strip().lower())]
