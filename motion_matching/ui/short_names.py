"""Shorten names in lists to the parts in which they differ: long ones share most letters.

The common end of all names is left out, whole words at a time, and so are redundant words, which
follow every name with the same beginning. Of names that are still too long, some letters from a
word on and the last ones are shown. An ellipsis stands for what is left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, combinations, takewhile
from typing import Any, NamedTuple

import bpy

from ..app.runtime import runtime
from .typed_properties import Class, text

ELLIPSIS = "…"
_BEGIN = 2  # letters of a word that is only hinted at
_LETTER = 6.6  # width in pixels at the interface's scale, on average
_WORD = re.compile(r"[^\s_\-.:/\\|]*[\s_\-.:/\\|]+|[^\s_\-.:/\\|]+")  # with what ends it


class ShortName(NamedTuple):
    """The shown form of a name, and the text behind each ellipsis, from left to right."""

    shown: str
    hidden: tuple[str, ...] = ()

    def restore(self, edited: str) -> str:
        """Return the whole name that an edited text means; without ellipses, it is that itself."""
        for part in self.hidden:
            edited = edited.replace(ELLIPSIS, part, 1)
        return edited.replace(ELLIPSIS, "")


def shorten(names: Collection[str], room: int) -> dict[str, ShortName]:
    """Return the short form of each name; two that differ have short forms that differ.

    They have at most `room` letters wherever that is enough to distinguish the names.
    """
    listed = set(names)
    end = _find_shared_end(listed)
    followers: dict[str, set[str]] = defaultdict(set)  # the words that come after each beginning
    for name in listed:
        words = _WORD.findall(name[: len(name) - len(end)])
        for before, word in zip(accumulate(words, initial=""), words, strict=False):
            followers[before].add(word)
    longest = max(map(len, listed), default=0)
    by_words = {name: _hide_words(name, end, followers, room, longest) for name in listed}
    found: dict[str, ShortName] = {}
    _choose(found, {name: [short] for name, short in by_words.items()}, room)
    for cut in (_cut_once, _cut_twice) if len(listed) > 1 else ():
        left = listed - found.keys()
        first = {name: _find_first_telling(name, end, followers) for name in left}
        _choose(found, {name: cut(name, end, first[name], room) for name in left}, room)
    _choose(found, {name: [by_words[name]] for name in listed - found.keys()}, longest)
    return {name: ShortName(name) for name in listed} | found


def _choose(
    found: dict[str, ShortName], ways: Mapping[str, Iterable[ShortName]], room: int
) -> None:
    """Add the first of the ways to show each name that fits, and that shows no other name."""
    fitting = {
        name: [short for short in dict.fromkeys(shorts) if len(short.shown) <= room]
        for name, shorts in ways.items()
    }
    counts = Counter(shown for each in fitting.values() for shown in {s.shown for s in each})
    counts.update(short.shown for short in found.values())
    for name, shorts in fitting.items():
        if unique := next((short for short in shorts if counts[short.shown] == 1), None):
            found[name] = unique


def _find_shared_end(names: Collection[str]) -> str:
    """Return the whole words with which all of several names end, and what comes before them."""
    if not names:
        return ""
    first, last = min(n[::-1] for n in names), max(n[::-1] for n in names)  # others lie between
    pairs = zip(_WORD.findall(first), _WORD.findall(last), strict=False)
    shared = "".join(word for word, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    is_all = len(names) < 2 or len(shared) >= min(map(len, names))
    return "" if is_all else shared[::-1]


def _hide_words(
    name: str, end: str, followers: Mapping[str, Collection[str]], room: int, longest: int
) -> ShortName:
    """Leave out an `end`, and redundant words from the left, until the longest name fits.

    These are words without an alternative that come before others with one.
    """
    if len(name) <= room:
        return ShortName(name)
    words = _WORD.findall(name[: len(name) - len(end)])
    tells = [len(followers[before]) > 1 for before in accumulate(["", *words[:-1]])]
    last = max((index for index, does in enumerate(tells) if does), default=0)
    too_long, start = longest - len(end) + bool(end) - room, 0
    spans: list[tuple[int, int]] = []
    for index, word in enumerate(words):
        if index < last and not tells[index] and too_long > 0:
            is_new = start == (spans[-1][1] if spans else 0)  # which adds an ellipsis
            too_long -= len(word) - is_new
        else:
            spans.append((start, start + len(word)))
        start += len(word)
    return _show(name, *spans)


def _find_first_telling(name: str, end: str, followers: Mapping[str, Collection[str]]) -> int:
    """Return where the first word begins that has an alternative."""
    starts = _find_words(name, end)
    return next((start for start in starts if len(followers[name[:start]]) > 1), 0)


def _find_words(name: str, end: str) -> list[int]:
    """Return where each word before an `end` begins."""
    return [match.start() for match in _WORD.finditer(name, 0, len(name) - len(end))]


def _cut_once(name: str, end: str, first: int, room: int) -> Iterator[ShortName]:
    """Yield ways to show letters from a word on and the last ones, best first: early and even."""
    for start in _find_words(name, end):
        if start >= first:
            yield from _cut_middle(name, end, (), start, room - (start > 0))


def _cut_twice(name: str, end: str, first: int, room: int) -> Iterator[ShortName]:
    """Also yield variants that show the beginning of an earlier word."""
    starts = [start for start in _find_words(name, end) if start >= first]
    for one, other in combinations(starts, 2):
        if one + _BEGIN < other:
            used = (one > 0) + _BEGIN + len(ELLIPSIS)
            yield from _cut_middle(name, end, ((one, one + _BEGIN),), other, room - used)


def _cut_middle(
    name: str, end: str, before: Sequence[tuple[int, int]], start: int, room: int
) -> Iterator[ShortName]:
    """Yield ways to show letters from a `start` on and the last ones before an `end`."""
    stop = len(name) - len(end)
    room -= bool(end)
    if stop - start <= room:
        yield _show(name, *before, (start, stop))
        return
    last = min(stop - _find_words(name, end)[-1], room - 2)
    for tail in range(last, 0, -1):
        yield _show(name, *before, (start, start + room - 1 - tail), (stop - tail, stop))
    yield _show(name, *before, (start, start + room - (not end)))


def _show(name: str, *spans: tuple[int, int]) -> ShortName:
    """Return a name reduced to spans of its letters, from left to right."""
    edges = [0, *(edge for span in spans for edge in span), len(name)]
    hidden = [name[start:stop] for start, stop in zip(edges[::2], edges[1::2], strict=True)]
    shown = [*(name[start:stop] for start, stop in spans), ""]
    pairs = zip(hidden, shown, strict=True)
    text = "".join((ELLIPSIS if gap else "") + part for gap, part in pairs)
    return ShortName(text, tuple(filter(None, hidden)))


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
            names = {name: ShortName(name)} | shorten(
                [get_full_name(each) for each in items], items[0].ROOM if items else 0
            )
            self._found[key] = state, names
        return names[name]


def get_full_name(item: Any) -> str:
    """Return the name of a source, take or database, which is that of its action if it has one."""
    action = getattr(item, "action", None)
    return str(action.name if action else getattr(item, "label", "") or item.name)


def has_room(name: str, reserved: float) -> bool:
    """Return whether a name fits into the region beside `reserved` pixels."""
    scale = bpy.context.preferences.system.ui_scale or 1.0  # zero without a window
    return bpy.context.region.width / scale - reserved > _LETTER * len(name)


def find_short_name(obj: bpy.types.Object, kind: str, name: str) -> str:
    """Return what is shown of a name in an armature's list."""
    return runtime.get_cache(ShortNames).find_in(obj, kind, name).shown


def _get_shown_name(item: Any) -> str:
    return runtime.get_cache(ShortNames).find(item).shown


class ListItem:
    """A mixin of items of an armature's lists: the name that a row shows, and the row's tooltip.

    `LIST` is the list, a property of the armature's settings, and `ROOM` the letters of a name that
    fit beside the rest of a row into the sidebar as it opens. `named_by` makes the properties.
    """

    LIST = ""
    ROOM = 17
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
            "Name, with the part it shares with others as an ellipsis",
            get=_get_shown_name,
            set=set_shown,
        ),
        "whole_name": text("", "Name", "Name", get=get_full_name, set=set_whole),
        "tip": text("", "Details", "The full name, and more details", get=get_tip),
    }

    def decorate(cls: Class) -> Class:
        cls.__annotations__ |= dict.fromkeys(names, "str")
        for name, declared in names.items():
            setattr(cls, name, declared)
        return cls

    return decorate
