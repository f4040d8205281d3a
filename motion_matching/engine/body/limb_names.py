"""Read arms, forelegs and fingers from the names of bones, along the chains that they form.

One word means several parts: a shoulder is a collar above an upper arm and an upper arm above an
elbow. What is above and below in the same chain decides.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from ..motion.bone_names import split_side, strip_suffix
from ..motion.skeleton import Skeleton

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
ARM_PARTS = ("collar", "upper_arm", "forearm", "hand")
SIDES = {"L": "left", "R": "right"}

# endings of names without side, digits and separators; the first that fits counts
_ENDINGS = (
    ("collar", "clavicle collar scapula clav"),
    ("shoulder", "shoulder shldr"),
    ("upper_arm", "upperarm uparm armupper humerus frontthigh forethigh frontupleg frontupperleg"),
    ("forearm", "forearm lowerarm lowarm armlower elbow radius ulna frontshin foreshin frontcalf"),
    ("forearm", "frontlowerleg frontknee"),
    ("hand", "hand wrist palm frontfoot forefoot frontpaw forepaw"),
    ("fore_toe", "fronttoe foretoe fronttoes foretoes"),
    ("arm", "arm"),
)
_FINGER_WORDS = {
    "thumb": "thumb",
    "index": "index pointer fore",
    "middle": "middle mid",
    "ring": "ring third",
    "pinky": "pinky pinkie little small",
}
_PALM = re.compile(r"metacarpal|carpal|inhand|palm|base$|mc$")
_NUMBERED_FINGER = re.compile(r"finger[s_]?(\d+)", re.IGNORECASE)


def read_limb_part(name: str, names: Collection[str]) -> tuple[str, str]:
    """Return what part of an arm or foreleg a name means, or '', and its side 'L', 'R' or ''."""
    core, side = split_side(name, names)
    core = strip_suffix(core).removesuffix("twist")
    for part, endings in _ENDINGS:
        if core.endswith(tuple(endings.split())):
            return part, side
    return "", side


def find_arm_by_name(
    skeleton: Skeleton, side: str, hips: int, excluded: Collection[int]
) -> dict[str, tuple[int, ...]]:
    """Return the chains of an arm on side 'L' or 'R' by part, top to bottom; {} if not named.

    It is below the hips and has none of the `excluded` bones.
    """
    names = set(skeleton.names)
    parts = {}
    for bone, name in enumerate(skeleton.names):
        part, found = read_limb_part(name, names)
        if part and found == side and bone not in excluded:
            parts[bone] = part
    way = _choose_way(skeleton, parts, hips)
    while way and len(same := _find_same(skeleton, parts, way[-1])) == 1:
        way += same
    return _split_way(way, parts) if way else {}


def _choose_way(skeleton: Skeleton, parts: Mapping[int, str], hips: int) -> list[int]:
    """Return the bones from the first to the last named part on the way with most parts."""
    best: list[int] = []
    for bone in parts:
        chain = skeleton.get_chain_to_root(bone)
        if hips not in chain:
            continue
        way = chain[: chain.index(hips)][::-1]
        named = [number for number, one in enumerate(way) if one in parts]
        way = way[named[0] :]
        kinds = len({parts[one] for one in way if one in parts})
        if kinds > len({parts[one] for one in best if one in parts}):
            best = way
    return best


def _find_same(skeleton: Skeleton, parts: Mapping[int, str], bone: int) -> list[int]:
    """Return the children that belong to the same part as a bone, such as a wrist's hand."""
    return [child for child in skeleton.get_children(bone) if parts.get(child) == parts[bone]]


def _split_way(way: Sequence[int], parts: Mapping[int, str]) -> dict[str, tuple[int, ...]]:
    """Split the bones of a named arm into its parts; {} if it has no upper arm and forearm."""
    named = [parts.get(bone, "") for bone in way]
    forearm = _find_first(named, ("forearm",), 1)
    upper = _find_first(named, ("upper_arm",), 0, forearm)
    if upper is None:
        upper = _find_first(named, ("arm",), 0, forearm)
    if upper is None:
        # only where no arm is named does a shoulder stand for it, below the collar
        collar = _find_last(named, ("collar",), forearm)
        upper = _find_first(named, ("shoulder",), 0 if collar is None else collar, forearm)
    if upper is None:
        return {}
    if forearm is None:
        forearm = _find_first(named, ("arm",), upper + 1)
    hand = _find_first(named, ("hand",), (forearm or upper) + 1)
    if forearm is None:
        forearm = upper + 1 if hand is None or hand > upper + 1 else None
    if forearm is None or forearm >= len(way):
        return {}
    toe = None if hand is None else _find_first(named, ("fore_toe",), hand + 1)
    cuts = {"collar": 0, "upper_arm": upper, "forearm": forearm, "hand": hand, "fore_toe": toe}
    present = [(part, cut) for part, cut in cuts.items() if cut is not None]
    ends = [*(cut for _, cut in present[1:]), len(way)]
    return {
        part: tuple(way[cut:end])
        for (part, cut), end in zip(present, ends, strict=True)
        if cut < end
    }


def _find_first(
    named: Sequence[str], wanted: Collection[str], start: int, stop: int | None = None
) -> int | None:
    stop = len(named) if stop is None else stop
    return next((i for i in range(start, stop) if named[i] in wanted), None)


def _find_last(named: Sequence[str], wanted: Collection[str], stop: int | None) -> int | None:
    stop = len(named) if stop is None else stop
    return next((i for i in reversed(range(stop)) if named[i] in wanted), None)


def find_fingers_by_name(skeleton: Skeleton, hand: int) -> dict[str, tuple[int, ...]]:
    """Return the chains of the fingers below a hand that names give, without palm bones."""
    names = set(skeleton.names)
    below = skeleton.get_descendants(hand)
    fingers: dict[str, list[int]] = {}
    for bone in below:
        finger = _read_finger(skeleton.names[bone], names)
        if finger:
            fingers.setdefault(finger, []).append(bone)
    unnamed = [bone for bone in below if not any(bone in bones for bones in fingers.values())]
    fingers = _number_fingers(skeleton, unnamed, "thumb" in fingers) | fingers
    return {
        finger: chain
        for finger, bones in fingers.items()
        if (chain := _trim_finger(skeleton, finger, bones))
    }


def _read_finger(name: str, names: Collection[str]) -> str:
    core = split_side(name, names)[0]
    for finger, words in _FINGER_WORDS.items():
        if any(word in core for word in words.split()):
            return finger
    return ""


def _number_fingers(
    skeleton: Skeleton, below: Sequence[int], has_thumb: bool
) -> dict[str, list[int]]:
    """Return fingers that numbers distinguish: Biped's start at 0 and MakeHuman's at 1.

    Beside a thumb that is named, they count the other fingers or all of them.
    """
    numbers: dict[int, list[int]] = {}
    for bone in below:
        if match := _NUMBERED_FINGER.search(skeleton.names[bone]):
            # Biped's 'Finger12' is the third bone of the second finger
            numbers.setdefault(int(match[1][0]), []).append(bone)
    if not numbers or max(numbers) - min(numbers) > 4:
        return {}
    first = 0 if 0 in numbers else 1
    if has_thumb and min(numbers) == first and len(numbers) < len(FINGERS):
        first -= 1
    return {FINGERS[n - first]: bones for n, bones in numbers.items() if 0 <= n - first < 5}


def _trim_finger(skeleton: Skeleton, finger: str, bones: Sequence[int]) -> tuple[int, ...]:
    """Return the bones of a finger in a line, top to bottom, without that in the palm."""
    chain = [bones[0]]
    for bone in bones[1:]:
        if int(skeleton.parents[bone]) == chain[-1]:
            chain.append(bone)
    first = skeleton.names[chain[0]]
    core = split_side(first, skeleton.names)[0]
    counted = re.findall(r"\d+", first)
    from_zero = bool(counted) and int(counted[-1]) == 0 and len(chain) > 3
    if len(chain) > 1 and (from_zero or (_PALM.search(core) and finger != "thumb")):
        chain = chain[1:]
    return tuple(chain)
