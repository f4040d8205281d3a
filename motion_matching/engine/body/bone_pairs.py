"""Pair the bones of the left side with those of the right side, by name or by shape."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ..errors import RigError
from ..maths.rotations import quat
from ..motion.clip import Clip
from ..skeleton.bone_names import find_counterpart
from ..skeleton.skeleton import Skeleton
from .rig import Roles, find_roles
from .sampled_body import SampledBody


def find_bone_pairs(
    skeleton: Skeleton, roles: Roles | None = None, clips: Sequence[Clip] = ()
) -> np.ndarray:
    """Return the index (B,) of each bone's counterpart on the other side, or its own without one.

    Bones are paired by name, or by shape if names do not pair the legs. Raises RigError if the
    parents of a pair are not a pair.
    """
    known = {name: bone for bone, name in enumerate(skeleton.names)}
    pairs: np.ndarray = np.arange(skeleton.bone_count)
    own = pairs.copy()
    for bone, name in enumerate(skeleton.names):
        pairs[bone] = known.get(find_counterpart(name, known) or name, bone)
    pairs = np.where(pairs[pairs] == own, pairs, own)
    sided = [] if roles is None else [leg.thigh for leg in roles.legs if leg.side]
    if np.all(pairs == own) or np.any(pairs[sided] == own[sided]):
        roles = roles or find_roles(skeleton, clips)
        left, right = (roles.get_thighs(side) for side in "LR")
        if not left or not right:
            raise RigError(
                "The rig cannot be mirrored: it has no left and right leg; "
                "name both in the rig's roles, or do not mirror."
            )
        return _find_pairs_by_shape(skeleton, (left, right), clips)
    for bone, parent in enumerate(skeleton.parents):
        other = skeleton.parents[pairs[bone]]
        if pairs[bone] != bone and (pairs[parent] if parent >= 0 else -1) != other:
            raise RigError(
                f"Bones '{skeleton.names[bone]}' and '{skeleton.names[pairs[bone]]}' cannot be "
                "mirrored: their parents are not a pair; rename them, or do not mirror."
            )
    return pairs


def _find_pairs_by_shape(
    skeleton: Skeleton, thighs: tuple[Sequence[int], Sequence[int]], clips: Sequence[Clip]
) -> np.ndarray:
    """Return counterparts (B,) by similar chains on either side of a line between `thighs`."""
    body = SampledBody.from_clips(skeleton, clips)
    left, right = (body.positions[:, list(bones)].mean(axis=1) for bones in thighs)
    lateral = quat.normalize_vectors(left - right)
    shape = _Dissimilarity(body)
    pairs = np.arange(skeleton.bone_count)
    for bone in range(skeleton.bone_count):
        other = int(pairs[bone])
        if other == bone:
            pairs_of_children = _pair_children(shape, bone, lateral)
        elif bone < other:
            pairs_of_children = shape.match_children(bone, other, siblings=True)[0]
        else:
            continue
        for one, two in pairs_of_children:
            pairs[one] = two
            pairs[two] = one
    return pairs


class _Dissimilarity:
    """Measures in metres how the lengths of the chains below two bones differ, in any pose."""

    def __init__(self, body: SampledBody) -> None:
        self.body = body
        self.skeleton = body.skeleton
        self.lengths = body.lengths
        self.differences: dict[tuple[int, int], float] = {}

    def measure_length(self, bone: int) -> float:
        """Return the length from a bone to its parent plus that of all bones below."""
        return float(self.lengths[[bone, *self.skeleton.get_descendants(bone)]].sum())

    def match_children(
        self, one: int, two: int, *, siblings: bool = False
    ) -> tuple[list[tuple[int, int]], float]:
        """Pair children that differ least, also from `siblings`; return by how much."""
        from scipy.optimize import linear_sum_assignment  # loads in 0.2 s

        ours = self.skeleton.get_children(one)
        theirs = self.skeleton.get_children(two)
        costs = [self.compare(a, b) for a in ours for b in theirs]
        cost = np.array(costs, dtype=np.float64).reshape(len(ours), len(theirs))
        if siblings and ours and len(ours) == len(theirs):
            profiles = self._measure_distances(ours)[:, None] - self._measure_distances(theirs)
            cost += np.abs(profiles).sum(axis=-1)
        rows, columns = linear_sum_assignment(cost)
        pairs = [(ours[i], theirs[j]) for i, j in zip(rows, columns, strict=True)]
        return pairs, float(cost[rows, columns].sum())

    def compare(self, one: int, two: int) -> float:
        """Return the difference in lengths of two bones and of all below, matched at best."""
        if (one, two) not in self.differences:
            pairs, difference = self.match_children(one, two)
            children = self.skeleton.get_children(one) + self.skeleton.get_children(two)
            matched = {bone for pair in pairs for bone in pair}
            own = abs(float(self.lengths[one] - self.lengths[two]))
            rest = sum(self.measure_length(b) + 0.01 for b in children if b not in matched)
            self.differences[one, two] = own + difference + rest
        return self.differences[one, two]

    def _measure_distances(self, siblings: list[int]) -> np.ndarray:
        """Return the distances (C, C) of C bones from each of them, in ascending order."""
        points = self.body.positions[:, siblings]
        distances = np.linalg.norm(points[:, :, None] - points[:, None], axis=-1)
        return np.sort(np.median(distances, axis=0), axis=-1)


def _pair_children(shape: _Dissimilarity, bone: int, lateral: np.ndarray) -> list[tuple[int, int]]:
    """Pair similar children of a bone in the middle that are equally far to the left and right."""
    aside = {}
    for child in shape.skeleton.get_children(bone):
        below = [child, *shape.skeleton.get_descendants(child)]
        aside[child] = shape.body.measure_side(below, bone, lateral)
    options = []
    for one, two in combinations(aside, 2):
        farther = max(abs(aside[one]), abs(aside[two]))
        uneven = abs(aside[one] + aside[two])
        difference = shape.compare(one, two)
        allowed = 0.25 * (shape.measure_length(one) + shape.measure_length(two)) + 0.01
        if aside[one] * aside[two] < 0 and uneven < farther and difference < allowed:
            options.append((difference + uneven, one, two))
    chosen: list[tuple[int, int]] = []
    for _, one, two in sorted(options):
        if not any({one, two} & set(pair) for pair in chosen):
            chosen.append((one, two))
    return chosen
