"""Request the tags named in Perform, check them against the database, and suggest tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ...engine.database.database import Database
from ...engine.database.tags.tags import parse_names
from .. import callbacks
from ..character.characters import get_active_armature
from ..database import status
from ..strip.warnings import Button, WarningItem


class TagRequest:
    """The tags that a live session requests; `warnings` name tags that the data lacks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._resolved_for: tuple[str, float] | None = None  # text and end guard
        self._resolved_tags: frozenset[str] = frozenset()
        self.warnings: tuple[WarningItem, ...] = ()

    def resolve(self, text: str, end_guard: float) -> frozenset[str]:
        """Return the tags of a text, if some frames have them all together; `end_guard` in s."""
        if (text, end_guard) == self._resolved_for:
            return self._resolved_tags
        self._resolved_for = (text, end_guard)
        warnings = []
        requested = frozenset(parse_names(text))
        available = requested & frozenset(self._database.requestable_tags)
        if missing := sorted(requested - available):
            text = f"No frame is tagged {', '.join(missing)}: add that tag to a source"
            warnings.append(warn_of_tags("missing tags", text, missing))
        if self._database.explain_missing_tags(available, end_guard):
            names = sorted(available)
            text = f"No frame is tagged {', '.join(names)} at once: request fewer tags"
            warnings.append(warn_of_tags("tags at once", text, names))
            available = frozenset()
        self._resolved_tags, self.warnings = available, tuple(warnings)
        return available

    def request_next(self, play: Any) -> None:
        """Request the next tag of the database alone; after the last one, none."""
        ring = ("", *self._database.requestable_tags)
        play.tags = ring[(ring.index(play.tags) + 1) % len(ring)] if play.tags in ring else ""
        callbacks.redraw()


def warn_of_tags(kind: str, text: str, names: Sequence[str]) -> WarningItem:
    """Return a warning about requested tags, with a button for each that stops asking for it."""
    ask = "motion_matching.ask_for_tag"
    buttons = (Button(f"Do Not Ask for {name}", ask, "X", (("name", name),)) for name in names)
    return WarningItem(kind, text, "play", tuple(names), tuple(buttons))


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
