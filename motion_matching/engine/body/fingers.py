"""Find the fingers of a hand: by their words or numbers, otherwise by the shape of five chains."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from ..skeleton.bone_names import split_side
from ..skeleton.skeleton import Skeleton
from .arm_search import BodyShape

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
_FINGER_WORDS = {
    "thumb": "thumb",
    "index": "index pointer fore",
    "middle": "middle mid",
    "ring": "ring third",
    "pinky": "pinky pinkie little small",
}
_PALM = re.compile(r"metacarpal|carpal|inhand|palm|base$|mc$")
_NUMBERED_FINGER = re.compile(r"finger[s_]?(\d+)", re.IGNORECASE)


def find_fingers_by_name(skeleton: Skeleton, hand: int) -> dict[str, tuple[int, ...]]:
    """Return the chains of the fingers below a hand by their names, without palm bones."""
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

    With a named thumb, they count the other fingers or all of them.
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
    """Return the bones of a finger in a line, top to bottom, without the one in the palm."""
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


def find_fingers_by_shape(shape: BodyShape, hand: int) -> dict[str, tuple[int, ...]]:
    """Return the five fingers of a hand: the thumb parts first, the others follow from it.

    Other numbers of chains are ambiguous and give none.
    """
    chains = [_leave_out_palm(shape, hand, way) for way in _list_fingers(shape.skeleton, hand)]
    if len(chains) != 5:
        return {}
    tips, bases = (
        np.stack([shape.positions[:, chain[end]] for chain in chains], axis=1) for end in (-1, 0)
    )
    from_hand = np.median(np.linalg.norm(bases - shape.positions[:, [hand]], axis=-1), axis=0)
    between = np.median(np.linalg.norm(tips[:, :, None] - tips[:, None], axis=-1), axis=0)
    # the thumb starts nearest to the wrist and ends farthest from the other fingers
    apart = between.sum(axis=1) / between.sum(axis=1).max()
    thumb = int(np.argmax(apart - from_hand / max(float(from_hand.max()), 1e-9)))
    spread = np.median(np.linalg.norm(bases - bases[:, [thumb]], axis=-1), axis=0)
    order = [thumb, *(int(i) for i in np.argsort(spread) if i != thumb)]
    # a thumb of four bones has one in the palm, if other fingers have one
    palms = len(chains[thumb]) > 3 and all(len(chain) > 3 for chain in chains)
    chains[thumb] = chains[thumb][palms:]
    return {word: tuple(chains[i]) for word, i in zip(FINGERS, order, strict=True)}


def _list_fingers(skeleton: Skeleton, hand: int) -> list[list[int]]:
    """Return the chains of bones below a hand that carry one end each, top to bottom."""
    below = skeleton.get_descendants(hand)
    ends = [bone for bone in below if not skeleton.get_children(bone)]
    ways = [skeleton.get_chain_to_root(end) for end in ends]
    ways = [way[: way.index(hand)][::-1] for way in ways]
    shared = Counter(bone for way in ways for bone in way)
    return [[bone for bone in way if shared[bone] == 1] for way in ways]


def _leave_out_palm(shape: BodyShape, hand: int, chain: list[int]) -> list[int]:
    """Return a finger without a first bone in the palm, which reaches away from the wrist.

    A finger of five bones always has one.
    """
    if len(chain) < 4:
        return chain
    away, first = shape.measure_steps([hand, *chain[:2]])
    return chain[1:] if len(chain) > 4 or first > away else chain
