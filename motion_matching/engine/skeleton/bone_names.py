"""Detect a bone's side from its name. Namespaces and prefixes do not matter."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

# roles that are assigned by hand, for characters with two legs
ROLES = (
    "root",
    "hips",
    "spine",
    "head",
    *(f"{side}_{part}" for side in ("left", "right") for part in ("thigh", "shin", "foot", "toe")),
)

_SWAP = {"left": "right", "right": "left", "l": "r", "r": "l"}

# a side: a separate word in any case or camel case, or a letter between separators
_CLEAR = re.compile(
    r"(?<![A-Za-z])(?:left|right|LEFT|RIGHT)(?![A-Za-z])"
    r"|(?<![A-Z])(?:Left|Right)(?![a-z])"
    r"|(?<![A-Za-z0-9])[LlRr](?![A-Za-z0-9])"
)
_AT_END = re.compile(r"[.\d]*")  # what may follow a side at the end, such as '.001'
# spellings that may be chance, such as 'lowerback': they count if the counterpart exists
_VAGUE = (
    re.compile(r"(?:(?<=^)|(?<=[:_\-. ]))(?:left|right)", re.IGNORECASE),
    re.compile(r"(?:left|right)$", re.IGNORECASE),
    re.compile(r"(?:(?<=^)|(?<=[:_\-. ]))[lrLR](?=[A-Za-z])"),
    re.compile(r"(?<=[a-z0-9])[LR](?=$|[0-9_\-. ])"),
    re.compile(r"(?<=[_\-. ])[lrLR](?=[0-9])"),
)

# markers of bones in the middle, as in 'Head_M' and 'spine_01.x'
_MIDDLE = re.compile(r"(?<=[:_\-. ])[CMXcmx](?=[_\-. \d]|$)|^[CMcm](?=[_\-. ])")
_NAMESPACE = re.compile(r"[:|]")
# words as in 'upper_arm', 'UpperArm' and 'IKHand'
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def _swap_word(match: re.Match[str]) -> str:
    word = match.group()
    other = _SWAP[word.lower()]
    if word.isupper():
        return other.upper()
    return other.capitalize() if word[0].isupper() else other


def swap_sides(text: str) -> str:
    """Exchange every clearly spelt left and right: 'turn_left' gives 'turn_right'."""
    return _CLEAR.sub(_swap_word, text)


def _find_side_marker(name: str, names: Collection[str]) -> re.Match[str] | None:
    """Find the side marker in a name: the last one of several, as in Rigify's 'r_toe.L'."""
    if clear := list(_CLEAR.finditer(name)):
        return clear[-1] if _AT_END.fullmatch(name, clear[-1].end()) else clear[0]
    matches = (pattern.search(name) for pattern in _VAGUE)
    return next((match for match in matches if match and _swap_first(match) in names), None)


def _swap_first(match: re.Match[str]) -> str:
    return match.re.sub(_swap_word, match.string, count=1)


def find_counterpart(name: str, names: Collection[str]) -> str | None:
    """Return the name of the same bone on the other side, which `names` may lack, if it has one."""
    marker = _find_side_marker(name, names)
    if marker is None:
        return None
    if marker.re is not _CLEAR:
        return _swap_first(marker)
    swapped = name[: marker.start()] + _swap_word(marker) + name[marker.end() :]
    return swapped if swapped in names else swap_sides(name)


def cut_side(name: str, names: Collection[str]) -> tuple[str, str]:
    """Return a name without namespace and marker of a side, and its side 'L', 'R' or ''."""
    marker = _find_side_marker(name, names)
    side = "" if marker is None else marker.group()[0].upper()
    core = name if marker is None else name[: marker.start()] + " " + name[marker.end() :]
    return _MIDDLE.sub("", _NAMESPACE.split(core)[-1]), side


def split_side(name: str, names: Collection[str]) -> tuple[str, str]:
    """Return the core of a name in plain lower-case letters, and its side 'L', 'R' or ''."""
    core, side = cut_side(name, names)
    return re.sub(r"[^a-z]", "", core.lower()), side


def split_words(name: str) -> list[str]:
    """Return the lower-case words of a name without its namespace: 'x:LeftToe_End' gives three."""
    return [word.lower() for word in _WORD.findall(name.split(":")[-1])]


def make_unique_names(names: Iterable[str], notes: list[str] | None = None) -> tuple[str, ...]:
    """Return the names with '.001' and so on added to repeated ones, each with one of `notes`."""
    result: dict[str, None] = {}
    numbers: dict[str, int] = {}  # the last number given to each name
    for name in names:
        new = name
        number = numbers.get(name, 0)
        while new in result:
            number += 1
            new = f"{name}.{number:03d}"
        numbers[name] = number
        if number and notes is not None:
            notes.append(f"has more than one joint named '{name}': one of them is renamed '{new}'")
        result[new] = None
    return tuple(result)


def join_quoted(names: Iterable[str]) -> str:
    """Return the names in quotes, separated by commas."""
    return ", ".join(f"'{name}'" for name in names)
