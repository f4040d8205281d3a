"""Names in lists by the part in which they differ: long ones of motion capture share most letters.

What all names of a list begin or end with is left out, whole words at a time, and an ellipsis
stands for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..app.runtime import runtime

ELLIPSIS = "…"
_LONG = 20  # letters; shorter names stay whole
_LEAST = 3  # letters that are worth leaving out
_WORD_END = re.compile(r"[\s_\-.:/\\|]")


class Shared(NamedTuple):
    """What all names of a list begin and end with."""

    start: str = ""
    end: str = ""

    @classmethod
    def from_names(cls, names: Sequence[str]) -> Shared:
        """Find what to leave out of names: nothing if they are short, or fewer than two."""
        if len(names) < 2 or max(map(len, names)) <= _LONG:
            return cls()
        start = _cut_to_words(os.path.commonprefix(names))
        rests = [name[len(start) :][::-1] for name in names]
        end = _cut_to_words(os.path.commonprefix(rests))[::-1]
        shared = cls(*(part if len(part) >= _LEAST else "" for part in (start, end)))
        return shared if all(map(shared.fits, names)) else cls()

    def fits(self, name: str) -> bool:
        """Return whether a name begins and ends with this, and has more."""
        longer = len(name) > len(self.start) + len(self.end)
        return longer and name.startswith(self.start) and name.endswith(self.end)

    def shorten(self, name: str) -> str:
        """Return what is left of a name."""
        if not self.fits(name):
            return name
        rest = name[len(self.start) : len(name) - len(self.end)]
        return f"{ELLIPSIS if self.start else ''}{rest}{ELLIPSIS if self.end else ''}"

    def restore(self, text: str) -> str:
        """Return the whole name that is meant by a text, whose ellipses stand for what is left out.

        A text without them is a whole name itself.
        """
        if self.start and text.startswith(ELLIPSIS):
            text = self.start + text[len(ELLIPSIS) :]
        if self.end and text.endswith(ELLIPSIS):
            text = text[: -len(ELLIPSIS)] + self.end
        return text


def _cut_to_words(start: str) -> str:
    """Return a start up to the end of its last whole word, with what separates it from the next."""
    ends = [match.end() for match in _WORD_END.finditer(start)]
    return start[: ends[-1]] if ends else ""


class SharedNames:
    """What the names of each list share, found again only when the list seems to have changed."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], tuple[tuple[int, str, str], Shared]] = {}

    def find(self, owner: Any, property: str) -> Shared:
        """Return what the names of a list of an owner (an armature's settings) share."""
        items, key = getattr(owner, property), (owner.id_data.session_uid, property)
        if not len(items):
            return Shared()
        # reading thousands of names at each redraw would be slow
        state = len(items), get_full_name(items[0]), get_full_name(items[-1])
        before, shared = self._found.get(key, (None, Shared()))
        if state != before:
            shared = Shared.from_names([get_full_name(item) for item in items])
            self._found[key] = state, shared
        return shared

    def forget(self, owner: Any, property: str) -> None:
        """Find out anew what the names share, because one of them does not fit."""
        self._found.pop((owner.id_data.session_uid, property), None)


def get_full_name(item: Any) -> str:
    """Return the name of a source, take or database, which is that of its action if it has one."""
    action = getattr(item, "action", None)
    return str(action.name if action else getattr(item, "label", "") or item.name)


def find_shared(item: Any, property: str) -> Shared:
    """Return what the name of an item shares with all others of its list."""
    cache, owner = runtime.get_cache(SharedNames), item.id_data.motion_matching
    shared = cache.find(owner, property)
    if (shared.start or shared.end) and not shared.fits(get_full_name(item)):
        cache.forget(owner, property)
        shared = cache.find(owner, property)
    return shared
