"""Tags that are asked for: what the panel Play names of them, what a database has, and names to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from . import status

if TYPE_CHECKING:
    from ..engine.matching.database import Database


class Asking:
    """What a live session asks for. `warnings` say what nothing in the data has, which is not asked for then."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: tuple[str, float] | None = None  # that the answer is of
        self._answer: frozenset[str] = frozenset()
        self.warnings: tuple[str, ...] = ()

    def of(self, text: str, end_guard: float) -> frozenset[str]:
        """The tags of a text that there are frames with, all of them together; `end_guard` in seconds."""
        if (text, end_guard) != self._known:
            self._known = text, end_guard
            asked = frozenset(names(text))
            there = asked & frozenset(self._database.free_tags)
            missing = ", ".join(sorted(asked - there))
            self.warnings = (
                (f"Nothing is tagged {missing}: tag ranges of the sources, and build",)
                if missing
                else ()
            )
            if self._database.lack_of(there, end_guard):
                self.warnings += (
                    f"Nothing is tagged {', '.join(sorted(there))} at once: ask for fewer",
                )
                there = frozenset()
            self._answer = there
        return self._answer

    def next(self, play: Any) -> None:
        """Ask for the next tag of the database alone, after the last one for none."""
        ring = ("", *self._database.free_tags)
        play.tags = ring[(ring.index(play.tags) + 1) % len(ring)] if play.tags in ring else ""
        status.redraw()


def names(text: str) -> tuple[str, ...]:
    """The names that a text asks for."""
    from ..engine.matching.tags import names_in  # registering does without it

    return names_in(text)


def toggled(text: str, name: str) -> str:
    """The text with a name added at its end, or taken away."""
    asked = names(text)
    return ", ".join(n for n in asked if n != name) if name in asked else ", ".join((*asked, name))


def suggested(self: Any, context: bpy.types.Context, text: str) -> list[str]:
    """The tags of the database, behind the names that are written already."""
    from .request import armature_of

    obj = armature_of(context)
    written, comma, begun = text.rpartition(",")
    before = f"{written.strip()}, " if comma else ""
    tags = status.shown(obj).tags if obj else ()
    return [before + tag for tag in tags if tag.lower().startswith(begun.strip().lower())]
