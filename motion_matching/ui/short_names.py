"""Names in lists by the parts in which they differ: long ones of motion capture share most letters.

What all names of a list end with is left out, whole words at a time, and so are words that tell
nothing: all names with the same beginning go on with them. An ellipsis stands for what is left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate, groupby, takewhile
from operator import itemgetter
from typing import Any, NamedTuple

import bpy

from ..app.runtime import runtime
from .typed_properties import Class, text

ELLIPSIS = "…"
_ENOUGH = 14  # letters, which fit into the sidebar as it opens; shorter names stay whole
_LETTER = 6.0  # width in pixels at the interface's scale, on average
_WORD = re.compile(r"[^\s_\-.:/\\|]*[\s_\-.:/\\|]+|[^\s_\-.:/\\|]+")  # with what ends it


class ShortName(NamedTuple):
    """What is shown of a name, and what its ellipses stand for, from left to right."""

    shown: str
    hidden: tuple[str, ...] = ()

    def restore(self, edited: str) -> str:
        """Return the whole name that an edited text means; without ellipses, it is that itself."""
        for part in self.hidden:
            edited = edited.replace(ELLIPSIS, part, 1)
        return edited.replace(ELLIPSIS, "")


def shorten(names: Sequence[str]) -> dict[str, ShortName]:
    """Return the short form of each name; two that differ have short forms that differ."""
    listed = set(names)
    end = _find_shared_end(listed)
    followers: dict[str, set[str]] = defaultdict(set)  # the words that come after each beginning
    for name in listed:
        words = _WORD.findall(name[: len(name) - len(end)])
        for before, word in zip(accumulate(words, initial=""), words, strict=False):
            followers[before].add(word)
    result = {name: _shorten_name(name, end, followers) for name in listed}
    counts = Counter(short.shown for short in result.values())
    return {
        name: short if counts[short.shown] == 1 else ShortName(name)
        for name, short in result.items()
    }


def _find_shared_end(names: Collection[str]) -> str:
    """Return the whole words with which all of several names end, and what comes before them."""
    if not names:
        return ""
    first, last = min(n[::-1] for n in names), max(n[::-1] for n in names)  # others lie between
    pairs = zip(_WORD.findall(first), _WORD.findall(last), strict=False)
    shared = "".join(word for word, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    is_all = len(names) < 2 or len(shared) >= min(map(len, names))
    return "" if is_all else shared[::-1]


def _shorten_name(name: str, end: str, followers: Mapping[str, Collection[str]]) -> ShortName:
    """Leave out an `end`, and from the left as many words that tell nothing as needed.

    These are words without an alternative that come before others with one.
    """
    if len(name) <= _ENOUGH:
        return ShortName(name)
    words = _WORD.findall(name[: len(name) - len(end)])
    tells = [len(followers[before]) > 1 for before in accumulate(["", *words[:-1]])]
    last = max((index for index, does in enumerate(tells) if does), default=0)
    too_long, parts = len(name) - len(end) - _ENOUGH, []
    for index, word in enumerate(words):
        is_hidden = index < last and not tells[index] and too_long > 0
        too_long -= len(word) if is_hidden else 0
        parts.append((is_hidden, word))
    runs = [
        (is_hidden, "".join(w for _, w in run)) for is_hidden, run in groupby(parts, itemgetter(0))
    ]
    runs += [(True, end)] if end else []
    shown = "".join(ELLIPSIS if is_hidden else run for is_hidden, run in runs)
    return ShortName(shown, tuple(run for is_hidden, run in runs if is_hidden))


class ShortNames:
    """The short names of each list, found again only when the list seems to have changed."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], tuple[tuple[object, ...], dict[str, ShortName]]] = {}

    def find(self, item: ListItem) -> ShortName:
        """Return the short name of an item of an armature's list."""
        return self.find_in(item.id_data, item.LIST, get_full_name(item))

    def find_in(self, obj: Any, kind: str, name: str) -> ShortName:
        """Return the short form of a name in an armature's list; one that it lacks stays whole."""
        items, key = getattr(obj.motion_matching, kind), (obj.session_uid, kind)
        # reading thousands of names at each redraw would be slow
        state = len(items), *(get_full_name(item) for item in (*items[:1], *items[-1:]))
        before, names = self._found.get(key, (None, {}))
        if state != before or name not in names:
            names = {name: ShortName(name)} | shorten([get_full_name(each) for each in items])
            self._found[key] = state, names
        return names[name]


def get_full_name(item: Any) -> str:
    """Return the name of a source, take or database, which is that of its action if it has one."""
    action = getattr(item, "action", None)
    return str(action.name if action else getattr(item, "label", "") or item.name)


def has_room(name: str, reserved: float) -> bool:
    """Return whether a name fits into the region beside so many `reserved` pixels."""
    scale = bpy.context.preferences.system.ui_scale or 1.0  # zero without a window
    return bpy.context.region.width / scale - reserved > _LETTER * len(name)


def find_short_name(obj: bpy.types.Object, kind: str, name: str) -> str:
    """Return what is shown of a name in an armature's list."""
    return runtime.get_cache(ShortNames).find_in(obj, kind, name).shown


def _get_shown_name(item: Any) -> str:
    return runtime.get_cache(ShortNames).find(item).shown


class ListItem:
    """A mixin of items of an armature's lists: the name that a row shows, and the row's tooltip.

    `LIST` is the list, a property of the armature's settings. `named_by` makes the properties.
    """

    LIST = ""
    id_data: bpy.types.ID

    shown_name: str
    whole_name: str
    tip: str


def named_by(
    rename: Callable[[Any, str], None] | None = None,
    describe: Callable[[Any], Iterable[str]] | None = None,
) -> Callable[[Class], Class]:
    """Return a decorator of items: what renames one, and the lines of its tooltip below the name.

    These are functions outside the class, as Blender 4.2 crashes at its end if a class of settings
    has methods.
    """

    def set_shown(item: Any, edited: str) -> None:
        set_whole(item, runtime.get_cache(ShortNames).find(item).restore(edited))

    def set_whole(item: Any, name: str) -> None:
        if rename and name.strip(ELLIPSIS + " "):
            rename(item, name.strip())

    def get_tip(item: Any) -> str:
        return "\n".join((get_full_name(item), *(describe(item) if describe else ())))

    names: Any = {
        "shown_name": text(
            "",
            "Name",
            "Name, with an ellipsis for what it shares with others",
            get=_get_shown_name,
            set=set_shown,
        ),
        "whole_name": text("", "Name", "Name", get=get_full_name, set=set_whole),
        "tip": text("", "Details", "The whole name, and what else is known", get=get_tip),
    }

    def decorate(cls: Class) -> Class:
        cls.__annotations__ |= dict.fromkeys(names, "str")
        for name, declared in names.items():
            setattr(cls, name, declared)
        return cls

    return decorate
