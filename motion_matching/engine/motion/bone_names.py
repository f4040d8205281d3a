"""What the names of bones say: on which side a bone is, and which part of the body it is.

Conventions covered: Mixamo, LAFAN1, Bandai-Namco, CMU (ASF and BVH), Rokoko, Xsens, the Unreal mannequin, Rigify's
deform bones, MotionBuilder, 3ds Max Biped, DAZ and plain BVH. Namespaces and prefixes do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_SWAP = {"left": "right", "right": "left", "l": "r", "r": "l"}

# a side spelt out as a word of its own, in snake case, spaced or in camel case, or as a letter between separators
_CLEAR = re.compile(
    r"(?<![A-Za-z])(?:left|right|LEFT|RIGHT)(?![A-Za-z])"
    r"|(?<![A-Z])(?:Left|Right)(?![a-z])"
    r"|(?<![A-Za-z0-9])[LlRr](?![A-Za-z0-9])"
)
# spellings that may be chance ('lowerback' does not start with a side): they count where the counterpart exists
_VAGUE = (
    re.compile(r"(?:(?<=^)|(?<=[:_\-. ]))(?:left|right)", re.IGNORECASE),
    re.compile(r"(?:left|right)$", re.IGNORECASE),
    re.compile(r"(?:(?<=^)|(?<=[:_\-. ]))[lrLR](?=[A-Za-z])"),
    re.compile(r"(?<=[a-z0-9])[LR](?=$|[0-9_\-. ])"),
    re.compile(r"(?<=[_\-. ])[lrLR](?=[0-9])"),
)

# per part, spellings without side, digits and separators, the surest first
PARTS: dict[str, tuple[str, ...]] = {
    "thigh": ("thigh", "upleg", "upperleg", "legupper", "femur", "thighbend", "hip", "leg"),
    "shin": ("shin", "calf", "lowleg", "lowerleg", "leglower", "tibia", "knee", "leg"),
    "foot": ("foot", "ankle"),
    "toe": ("toebase", "toes", "toe", "ball"),
    "arm": (
        "upperarm",
        "uparm",
        "humerus",
        "shldr",
        "shldrbend",
        "arm",
        "clavicle",
        "collar",
        "shoulder",
    ),
    "head": ("head",),
    "hips": ("hips", "pelvis", "hip"),
    "spine": ("upperchest", "chest", "thorax", "torso", "spine"),
    "neck": ("neck", "lowerneck"),
}


def _swapped(match: re.Match[str]) -> str:
    word = match.group()
    other = _SWAP[word.lower()]
    if word.isupper():
        return other.upper()
    return other.capitalize() if word[0].isupper() else other


def swap_sides(text: str) -> str:
    """The text with every clearly spelt left and right exchanged: 'turn_left' gives 'turn_right'."""
    return _CLEAR.sub(_swapped, text)


def _marker(name: str, names: Collection[str]) -> re.Match[str] | None:
    """Where a name tells its side."""
    clear = _CLEAR.search(name)
    if clear:
        return clear
    for pattern in _VAGUE:
        match = pattern.search(name)
        if match and name[: match.start()] + _swapped(match) + name[match.end() :] in names:
            return match
    return None


def counterpart(name: str, names: Collection[str]) -> str | None:
    """Name of the same bone on the other side: None without a side; it may be missing from `names`."""
    marker = _marker(name, names)
    if marker is None:
        return None
    if marker.re is _CLEAR:
        return swap_sides(name)
    return name[: marker.start()] + _swapped(marker) + name[marker.end() :]


def split_side(name: str, names: Collection[str]) -> tuple[str, str]:
    """Core of a name in plain lower-case letters, and its side 'L', 'R' or ''."""
    marker = _marker(name, names)
    side = "" if marker is None else marker.group()[0].upper()
    core = name if marker is None else name[: marker.start()] + " " + name[marker.end() :]
    return re.sub(r"[^a-z]", "", core.split(":")[-1].lower()), side


def candidates(names: Sequence[str], part: str) -> list[tuple[int, str]]:
    """Bones that could be a part by their name, as (bone, side), the surest first."""
    known = set(names)
    # a control rig holds a chain of every kind; its deform bones are the ones that follow the performance
    deform = any(name.startswith("DEF-") for name in names)
    ranked = []
    for bone, name in enumerate(names):
        if deform and not name.startswith("DEF-"):
            continue
        core, side = split_side(name, known)
        for rank, spelling in enumerate(PARTS[part]):
            if core.endswith(spelling):
                ranked.append((rank, len(core), bone, side))
                break
    return [(bone, side) for _, _, bone, side in sorted(ranked)]
