"""Find arms and hands of a body by shape alone, and the parts of its forelegs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS
from .sampled_body import measure_bones


@dataclass(frozen=True)
class BodyShape:
    """World `positions` (F, B, 3) of a skeleton, the way (F, 3) to its left, and its height."""

    skeleton: Skeleton
    positions: np.ndarray
    left: np.ndarray
    lengths: np.ndarray
    height: float

    @classmethod
    def measure(
        cls, skeleton: Skeleton, positions: np.ndarray, thighs: tuple[int, int]
    ) -> BodyShape:
        """Measure a body whose left and right thigh are known."""
        left = positions[:, thighs[0]] - positions[:, thighs[1]]
        left = left / np.maximum(np.linalg.norm(left, axis=-1, keepdims=True), 1e-9)
        height = float(np.median(np.ptp(positions[..., 2], axis=1)))
        return cls(skeleton, positions, left, measure_bones(skeleton, positions), height)

    def measure_reach(self, bone: int) -> tuple[float, list[int]]:
        """Return the length of the longest chain from a bone, and the chain."""
        reach = {bone: 0.0}
        for below in self.skeleton.get_descendants(bone):
            reach[below] = reach[int(self.skeleton.parents[below])] + float(self.lengths[below])
        last = max(reach, key=lambda one: reach[one])
        chain = self.skeleton.get_chain_to_root(last)
        return reach[last], chain[: chain.index(bone) + 1][::-1]

    def measure_side(self, bone: int, middle: int) -> float:
        """Return how far the bones from `bone` down are left of `middle`, on average."""
        below = [bone, *self.skeleton.get_descendants(bone)]
        offset = self.positions[:, below].mean(axis=1) - self.positions[:, middle]
        return float(np.mean(np.sum(offset * self.left, axis=-1)))

    def measure_tip(self, bone: int) -> float:
        """Return the length of a bone at the end of a chain, 0 if it is not known."""
        ends = [np.linalg.norm(offset) for last, offset in self.skeleton.end_sites if last == bone]
        return float(max(ends, default=0.0))

    def measure_steps(self, chain: Sequence[int]) -> list[float]:
        """Return the distances between bones that follow each other in a chain."""
        return [
            float(np.median(np.linalg.norm(self.positions[:, b] - self.positions[:, a], axis=-1)))
            for a, b in pairwise(chain)
        ]


def find_arms_by_shape(
    shape: BodyShape, trunk: Sequence[int], excluded: Collection[int]
) -> dict[str, dict[str, tuple[int, ...]]]:
    """Return the chains of both arms by side 'L' and 'R'; {} if there is no pair.

    They are the longest pair of branches of the `trunk`, from the hips to the head, without the
    `excluded` bones of legs.
    """
    pairs = [pair for bone in trunk[1:] for pair in _list_pairs(shape, bone, trunk, excluded)]
    for _, left, right in sorted(pairs, reverse=True):
        arms = {"L": split_arm(shape, left), "R": split_arm(shape, right)}
        if all(arms.values()):
            return arms
    return {}


def _list_pairs(
    shape: BodyShape, fork: int, trunk: Sequence[int], excluded: Collection[int]
) -> list[tuple[float, list[int], list[int]]]:
    """Return the pairs of branches of a bone that are apart sideways and similar in length.

    Each is the shorter one's length, and the longest chains on the left and on the right.
    """
    children = shape.skeleton.get_children(fork)
    branches = {b: shape.measure_reach(b) for b in children if b not in trunk and b not in excluded}
    pairs = []
    for one, two in combinations(branches, 2):
        apart = shape.measure_side(one, fork) - shape.measure_side(two, fork)
        shorter, longer = sorted((branches[one][0], branches[two][0]))
        if (
            abs(apart) > NUMBERS.branch_aside * shape.height
            and shorter > NUMBERS.arm_alike * longer
        ):
            left, right = (one, two) if apart > 0.0 else (two, one)
            pairs.append((shorter, branches[left][1], branches[right][1]))
    return pairs


def split_arm(shape: BodyShape, chain: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Split a chain into collar, upper arm, forearm and hand; {} if it is too short.

    Upper arm and forearm are neighbours of similar length that take most of the chain; fingers
    branch from a hand.
    """
    joints = merge_inline(shape, chain)
    palm = next((k for k, bone in enumerate(joints) if k > 1 and _is_palm(shape, bone)), None)
    if palm is not None:
        joints = joints[: palm + 1]
    at = np.cumsum([0.0, *shape.measure_steps(joints)])
    tip = shape.measure_tip(joints[-1])
    best: tuple[float, tuple[int, ...]] = (-np.inf, ())
    for i, j, k in combinations(range(len(joints)), 3):
        upper, lower = at[j] - at[i], at[k] - at[j]
        alike = min(upper, lower) / max(upper, lower, 1e-9)
        if alike <= NUMBERS.arm_alike or palm not in (None, k):
            continue
        fork = len(shape.skeleton.get_children(joints[k])) > 1
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
    upper_arm, forearm, hand = (list(chain).index(bone) for bone in best[1])
    cuts = {
        "collar": chain[:upper_arm],
        "upper_arm": chain[upper_arm:forearm],
        "forearm": chain[forearm:hand],
        "hand": chain[hand : hand + 1],
    }
    return {part: tuple(bones) for part, bones in cuts.items() if bones}


def _is_palm(shape: BodyShape, bone: int) -> bool:
    """Return whether fingers branch from a bone: three chains or more."""
    return len(shape.skeleton.get_children(bone)) > 2


def merge_inline(shape: BodyShape, chain: Sequence[int]) -> list[int]:
    """Return a chain without bones that only halve a segment: in line, and as long as the next."""
    kept = [chain[0]]
    for before, bone, after in zip(chain, chain[1:], chain[2:], strict=False):
        upper = shape.positions[:, bone] - shape.positions[:, before]
        lower = shape.positions[:, after] - shape.positions[:, bone]
        one, two = np.linalg.norm(upper, axis=-1), np.linalg.norm(lower, axis=-1)
        cosine = np.sum(upper * lower, axis=-1) / np.maximum(one * two, 1e-9)
        halves = np.max(np.abs(one - two)) < NUMBERS.equal_halves * np.max(one)
        if not (halves and np.max(1.0 - cosine) < NUMBERS.inline):
            kept.append(bone)
    return [*kept, *chain[1:][-1:]]


def split_foreleg(
    shape: BodyShape, chain: Sequence[int], ahead: np.ndarray
) -> dict[str, tuple[int, ...]]:
    """Split a chain from the chest to a paw; its elbow is the first long joint that points back.

    `ahead` (F, 3) is the way from the hips to the chest. Bones above the upper arm are the collar.
    """
    joints = merge_inline(shape, chain)
    elbow = _find_elbow(shape, joints, ahead)
    first = 0 if elbow is None else elbow - 1
    parts = ("upper_arm", "forearm", "hand", "fore_toe")
    cuts = [list(chain).index(bone) for bone in joints[first : first + 4]]
    # a paw ends with its first toe
    ends = [*cuts[1:], cuts[-1] + 1 if len(cuts) == len(parts) else len(chain)]
    result = {
        part: tuple(chain[cut:end]) for part, cut, end in zip(parts, cuts, ends, strict=False)
    }
    if first:
        result["collar"] = tuple(chain[: cuts[0]])
    return result


def _find_elbow(shape: BodyShape, joints: Sequence[int], ahead: np.ndarray) -> int | None:
    """Return the index of the first joint that bends back between two long segments."""
    steps = shape.measure_steps(joints)
    way = ahead / np.maximum(np.linalg.norm(ahead, axis=-1, keepdims=True), 1e-9)
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
