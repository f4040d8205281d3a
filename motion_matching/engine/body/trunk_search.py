"""Find spine and head of a body by shape, on the chain that leads up from the hips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..maths.rotations import quat
from .numbers import NUMBERS
from .sampled_body import SampledBody

UNLIKE = NUMBERS.unlike_pair


def find_upper_body(
    body: SampledBody, hips: int, joints: Mapping[int, int], ahead: np.ndarray
) -> dict[str, int]:
    """Find spine and head on the chain from the hips to the topmost end.

    Arms or forelegs branch from the spine; `joints` are the forks of legs by foot, and `ahead` (F,
    3) is the facing of the body. Bones with a twin on the other side, such as claws and raised
    arms, are neither.
    """
    skeleton = body.skeleton
    legs = {bone for foot in joints for bone in skeleton.get_chain_to_root(foot)}
    forks = set(joints.values()) - {hips}
    chains = {}
    for bone in body.ends:
        above = skeleton.get_chain_to_root(bone)
        if bone not in joints and hips in above[1:]:
            chain = above[: above.index(hips)][::-1]
            # a chain that branches from a leg, such as a twist bone or a toe, is not a spine
            if chain[0] not in legs or forks & set(chain):
                chains[bone] = chain
    tops: list[tuple[float, list[int]]] = []
    for bone, chain in chains.items():
        single = _cut_at_twins(body, hips, bone, chains, ahead)
        end = body.ends[bone] if single == chain else body.positions[:, (single or [hips])[-1]]
        if single:
            tops.append((float(np.median(end[:, 2])), single))
    if not tops:
        return {"spine": hips}
    chain = max(tops, key=lambda top: top[0])[1]
    spine = next((bone for bone in chain if bone in forks), None)
    if spine is None:
        spine = next((bone for bone in chain if _count_long_branches(body, bone, chain) >= 2), None)
    above = chain if spine is None else chain[chain.index(spine) :]
    # face and hair branch from the head; otherwise it is the last bone
    head = next((bone for bone in above[1:] if len(skeleton.get_children(bone)) > 1), chain[-1])
    if _is_tip(body, head):
        head = int(skeleton.parents[head])
    return {"spine": chain[(len(chain) - 1) // 2] if spine is None else spine, "head": head}


def _cut_at_twins(
    body: SampledBody,
    hips: int,
    end: int,
    chains: Mapping[int, list[int]],
    ahead: np.ndarray,
) -> list[int]:
    """Return the bones of a chain from the hips up to where it parts from a twin, if it has one."""
    chain, left = chains[end], np.cross([0.0, 0.0, 1.0], ahead)
    left = quat.normalize_vectors(left)
    kept = len(chain)
    for other, beside in chains.items():
        shared = sum(a == b for a, b in zip(chain, beside, strict=False))
        if other == end or shared >= min(kept, len(beside)):
            continue
        fork = chain[shared - 1] if shared else hips
        ways = (measure_way(body, fork, one) for one in (end, other))
        aside = [_measure_side(body, fork, one[shared:], left) for one in (chain, beside)]
        apart = abs(aside[0] - aside[1])
        is_even = abs(aside[0] + aside[1]) < NUMBERS.twins_uneven * apart
        if (
            apart > 2.0 * NUMBERS.twins_apart * body.height
            and is_even
            and compare_ways(*ways) < UNLIKE
        ):
            kept = shared
    return chain[:kept]


def _measure_side(body: SampledBody, fork: int, bones: Sequence[int], left: np.ndarray) -> float:
    """Return how far bones are to the left of a fork, on average."""
    offset = body.positions[:, list(bones)].mean(axis=1) - body.positions[:, fork]
    return float(np.mean(np.sum(offset * left, axis=-1)))


def measure_way(body: SampledBody, fork: int, foot: int) -> np.ndarray:
    """Return the lengths of the bones from a fork to the end of a foot."""
    chain = body.skeleton.get_chain_to_root(foot)
    tip = np.linalg.norm(body.ends[foot] - body.positions[:, foot], axis=-1)
    return np.append(body.lengths[chain[: chain.index(fork)]][::-1], np.median(tip))


def compare_ways(one: np.ndarray, other: np.ndarray) -> float:
    """Return how unlike the lengths of the bones of two legs are, as a share of the longer one."""
    if len(one) == len(other):
        differs = np.abs(one - other).sum()
    else:  # one may have an extra helper
        differs = abs(one.sum() - other.sum()) + UNLIKE * max(one.sum(), other.sum())
    return float(differs / max(one.sum(), other.sum(), 1e-9))


def _is_tip(body: SampledBody, bone: int) -> bool:
    """Return whether a bone at the end of a chain never turns against its parent."""
    parent = int(body.skeleton.parents[bone])
    if parent < 0 or body.skeleton.get_children(parent) != [bone] or bone not in body.ends:
        return False
    turns = quat.angle_between(body.local[:, bone], body.local[:1, bone])
    return len(turns) > 1 and float(turns.max()) < NUMBERS.leaf_still


def _count_long_branches(body: SampledBody, bone: int, chain: Sequence[int]) -> int:
    """Count the branches of `bone` that are as long as an arm, without the one on the `chain`."""
    count = 0
    for child in body.skeleton.get_children(bone):
        if child not in chain:
            reach = {child: 0.0}
            for lower in body.skeleton.get_descendants(child):
                reach[lower] = reach[int(body.skeleton.parents[lower])] + float(body.lengths[lower])
            count += max(reach.values()) > NUMBERS.long_branch * body.height
    return count
