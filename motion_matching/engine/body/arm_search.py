"""Find arms, hands and fingers of a body, and the parts of its forelegs.

Arms are found by shape alone, fingers by their words or numbers, otherwise by the shape of five
chains.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np

from ..maths.rotations import quat
from ..skeleton.bone_names import split_side
from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS
from .published_rigs import ARM_PARTS
from .sampled_body import SampledBody, measure_segments

Chains = dict[str, tuple[int, ...]]

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
_FINGER_WORDS = {
    "thumb": ("thumb",),
    "index": ("index", "pointer", "fore"),
    "middle": ("middle", "mid"),
    "ring": ("ring", "third"),
    "pinky": ("pinky", "pinkie", "little", "small"),
}
_PALM = re.compile(r"metacarpal|carpal|inhand|palm|base$|mc$")
_NUMBERED_FINGER = re.compile(r"finger[s_]?(\d+)", re.IGNORECASE)


def find_arms_by_shape(
    shape: SampledBody, left: np.ndarray, trunk: Sequence[int], excluded: Collection[int]
) -> dict[str, Chains]:
    """Return the chains of both arms by side 'L' and 'R'; {} if there is no pair.

    They are the longest pair of branches of the `trunk`, from the hips to the head, without the
    `excluded` bones of legs. The way to the `left` is (F, 3).
    """
    others = {*trunk, *excluded}
    pairs = [pair for bone in trunk[1:] for pair in _list_pairs(shape, left, bone, others)]
    for _, one, two in sorted(pairs, reverse=True):
        arms = {"L": split_arm(shape, one), "R": split_arm(shape, two)}
        if all(arms.values()):
            return arms
    return {}


def _list_pairs(
    shape: SampledBody, left: np.ndarray, fork: int, others: Collection[int]
) -> list[tuple[float, list[int], list[int]]]:
    """Return pairs of like branches on two sides: the shorter length, left and right chain."""
    skeleton = shape.skeleton
    height = float(np.median(np.ptp(shape.positions[..., 2], axis=1)))
    branches = [bone for bone in skeleton.get_children(fork) if bone not in others]
    reaches = {bone: shape.measure_reach(bone) for bone in branches}
    asides = {
        bone: shape.measure_side([bone, *skeleton.get_descendants(bone)], fork, left)
        for bone in branches
    }
    pairs = []
    for pair in combinations(branches, 2):
        right_one, left_one = sorted(pair, key=lambda bone: asides[bone])
        apart = asides[left_one] - asides[right_one]
        shorter, longer = sorted(reaches[bone][0] for bone in pair)
        if apart > NUMBERS.branch_aside * height and shorter > NUMBERS.arm_alike * longer:
            pairs.append((shorter, reaches[left_one][1], reaches[right_one][1]))
    return pairs


def split_arm(shape: SampledBody, chain: Sequence[int]) -> Chains:
    """Split a chain into collar, upper arm, forearm and hand; {} if it is too short.

    Upper arm and forearm are neighbours of similar length that take most of the chain; fingers
    branch from a hand.
    """
    joints = merge_inline(shape, chain)
    get_children = shape.skeleton.get_children
    palm = next((k for k, b in enumerate(joints) if k > 1 and len(get_children(b)) > 2), None)
    joints = joints if palm is None else joints[: palm + 1]
    at = np.cumsum([0.0, *measure_segments(shape.positions[:, joints])])
    tip = shape.skeleton.measure_tip(joints[-1])
    best: tuple[float, tuple[int, ...]] = (-np.inf, ())
    for i, j, k in combinations(range(len(joints)), 3):
        upper = at[j] - at[i]
        lower = at[k] - at[j]
        alike = min(upper, lower) / max(upper, lower, 1e-9)
        if alike <= NUMBERS.arm_alike or palm not in (None, k):
            continue
        fork = len(get_children(joints[k])) > 1
        stub = k == len(joints) - 1 and not fork and tip < NUMBERS.hand_length * lower
        score = (
            (upper + lower) / (at[-1] + tip)
            - (1.0 - alike)
            + NUMBERS.fork * fork
            - NUMBERS.last_bone * stub
        )
        best = max(best, (float(score), (joints[i], joints[j], joints[k])))
    if not best[1]:
        return {}
    cuts = [0, *(list(chain).index(bone) for bone in best[1])]
    parts = zip(ARM_PARTS, cuts, [*cuts[1:], cuts[-1] + 1], strict=False)
    return {part: tuple(chain[cut:end]) for part, cut, end in parts if end > cut}


def merge_inline(shape: SampledBody, chain: Sequence[int]) -> list[int]:
    """Return a chain without bones that only halve a segment: in line, and as long as the next."""
    kept = [chain[0]]
    for before, bone, after in zip(chain, chain[1:], chain[2:], strict=False):
        upper = shape.positions[:, bone] - shape.positions[:, before]
        lower = shape.positions[:, after] - shape.positions[:, bone]
        one = np.linalg.norm(upper, axis=-1)
        two = np.linalg.norm(lower, axis=-1)
        cosine = np.sum(upper * lower, axis=-1) / np.maximum(one * two, 1e-9)
        halves = np.max(np.abs(one - two)) < NUMBERS.equal_halves * np.max(one)
        if not (halves and np.max(1.0 - cosine) < NUMBERS.inline):
            kept.append(bone)
    return [*kept, *chain[1:][-1:]]


def split_foreleg(shape: SampledBody, chain: Sequence[int], ahead: np.ndarray) -> Chains:
    """Split a chain from the chest to a paw; its elbow is the first long joint that points back.

    `ahead` (F, 3) is the way from the hips to the chest. Bones above the upper arm are the collar.
    """
    joints = merge_inline(shape, chain)
    first = (_find_elbow(shape, joints, ahead) or 1) - 1
    cuts = [list(chain).index(bone) for bone in joints[first : first + 4]]
    # a paw ends with its first toe
    ends = [*cuts[1:], cuts[-1] + 1 if len(cuts) == 4 else len(chain)]
    parts = zip(ARM_PARTS[1:], cuts, ends, strict=False)
    result = {part: tuple(chain[cut:end]) for part, cut, end in parts}
    return result | ({"collar": tuple(chain[: cuts[0]])} if first else {})


def _find_elbow(shape: SampledBody, joints: Sequence[int], ahead: np.ndarray) -> int | None:
    """Return the index of the first joint that bends back between two long segments."""
    steps = measure_segments(shape.positions[:, joints]).tolist()
    way = quat.normalize_vectors(ahead)
    for j in range(1, len(joints) - 1):
        above, here, below = (shape.positions[:, joints[k]] for k in (j - 1, j, j + 1))
        line = below - above
        square = np.maximum(np.sum(line * line, axis=-1, keepdims=True), 1e-12)
        share = np.sum((here - above) * line, axis=-1, keepdims=True) / square
        out = float(np.mean(np.sum((here - above - share * line) * way, axis=-1)))
        long = min(steps[j - 1], steps[j]) > NUMBERS.elbow_segment * sum(steps)
        if long and out < -NUMBERS.elbow_back * sum(steps):
            return j
    return None


# fingers


def find_fingers_by_name(skeleton: Skeleton, hand: int) -> Chains:
    """Return the chains of the fingers below a hand by their names, without palm bones."""
    fingers: dict[str, list[int]] = {}
    unnamed: list[int] = []
    for bone in skeleton.get_descendants(hand):
        core = split_side(skeleton.names[bone], skeleton.names)[0]
        named = (f for f, words in _FINGER_WORDS.items() if any(word in core for word in words))
        finger = next(named, "")
        (fingers.setdefault(finger, []) if finger else unnamed).append(bone)
    fingers = _number_fingers(skeleton, unnamed, "thumb" in fingers) | fingers
    return {finger: _trim_finger(skeleton, finger, bones) for finger, bones in fingers.items()}


def _number_fingers(skeleton: Skeleton, below: list[int], has_thumb: bool) -> dict[str, list[int]]:
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


def find_fingers_by_shape(shape: SampledBody, hand: int) -> Chains:
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
    ways = [skeleton.get_path(hand, end)[1:] for end in ends]
    shared = Counter(bone for way in ways for bone in way)
    return [[bone for bone in way if shared[bone] == 1] for way in ways]


def _leave_out_palm(shape: SampledBody, hand: int, chain: list[int]) -> list[int]:
    """Return a finger without a first bone in the palm, which one of five bones always has."""
    if len(chain) < 4:
        return chain
    away, first = measure_segments(shape.positions[:, [hand, *chain[:2]]])
    return chain[1:] if len(chain) > 4 or first > away else chain
