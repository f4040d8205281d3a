"""Read from the names of bones on which side a bone is, and which part of the body it is.

Conventions covered: Mixamo, LAFAN1, Bandai-Namco, CMU (ASF and BVH), Rokoko, Xsens, the Unreal
mannequin, Rigify's deform bones, MotionBuilder, 3ds Max Biped, DAZ and plain BVH. Namespaces and
prefixes do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

# the roles that are given by hand, of characters with two legs
ROLES = (
    "root",
    "hips",
    "spine",
    "head",
    *(f"{side}_{part}" for side in ("left", "right") for part in ("thigh", "shin", "foot", "toe")),
)

_SWAP = {"left": "right", "right": "left", "l": "r", "r": "l"}

# a side as a separate word, in any case or camel case, or as a letter between separators
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
_SUFFIX = re.compile(r"(?:stretch|bend|jnt|joint|bone|bind|skin)$")
# words as in 'upper_arm', 'UpperArm' and 'IKHand'
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

# per part, spellings without side, digits and separators, the surest first
_PARTS = {
    "thigh": "thigh upleg upperleg legupper femur thighbend hip leg",
    "shin": "shin calf lowleg lowerleg leglower tibia knee leg",
    "foot": "foot ankle",
    "toe": "toebase toes toe ball",
    "arm": "upperarm uparm humerus shldr shldrbend arm clavicle collar shoulder",
    "head": "head skull",
    "hips": "hips pelvis hip",
    "spine": "upperchest chest thorax torso spine",
    "neck": "neck lowerneck",
    "tail": "tail",
}


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
    """Find where a name gives its side: of several places the last, as in Rigify's 'r_toe.L'."""
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


def split_side(name: str, names: Collection[str]) -> tuple[str, str]:
    """Return the core of a name in plain lower-case letters, and its side 'L', 'R' or ''."""
    marker = _find_side_marker(name, names)
    side = "" if marker is None else marker.group()[0].upper()
    core = name if marker is None else name[: marker.start()] + " " + name[marker.end() :]
    core = _MIDDLE.sub("", core.split(":")[-1])
    return re.sub(r"[^a-z]", "", core.lower()), side


def strip_suffix(core: str) -> str:
    """Return a core without what programs add to the names of all bones, such as 'jnt'."""
    return _SUFFIX.sub("", core)


def split_words(name: str) -> list[str]:
    """Return the lower-case words of a name without its namespace: 'x:LeftToe_End' gives three."""
    return [word.lower() for word in _WORD.findall(name.split(":")[-1])]


def find_candidates(names: Sequence[str], part: str) -> list[tuple[int, str]]:
    """Return the bones whose names could mean a part, as (bone, side), the surest first.

    A name that spells another part out does not mean this one: an upper leg is no leg below a knee.
    """
    known, spellings = set(names), _PARTS[part].split()
    # a control rig holds a chain of every kind; its deform bones follow the performance
    deform = any(name.startswith("DEF-") for name in names)
    ranked = []
    for bone, name in enumerate(names):
        if deform and not name.startswith("DEF-"):
            continue
        core, side = split_side(name, known)
        core = strip_suffix(core)
        spelt = next((spelling for spelling in spellings if core.endswith(spelling)), "")
        if spelt and _find_longest_spelling(core) in spellings:
            ranked.append((spellings.index(spelt), len(core), bone, side))
    return [(bone, side) for _, _, bone, side in sorted(ranked)]


def _find_longest_spelling(core: str) -> str:
    """Return the longest spelling of any part that a core ends with, '' without one."""
    spellings = (spelling for part in _PARTS.values() for spelling in part.split())
    return max((one for one in spellings if core.endswith(one)), key=len, default="")


def make_unique_names(names: Iterable[str], notes: list[str] | None = None) -> tuple[str, ...]:
    """Return the names with '.001' and so on added to repeated ones, each with one of `notes`."""
    result: dict[str, None] = {}
    numbers: dict[str, int] = {}  # the last one that was given to each name
    for name in names:
        new, number = name, numbers.get(name, 0)
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
