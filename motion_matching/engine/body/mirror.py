"""Mirror motion: the left side does what the right side did, and the other way round.

Let M be the reflection of the world in the plane X = 0. The counterpart b' of a bone b turns as G'
= M G S, where the constant S depends on the axes of both bones and has determinant -1. Write S = -Q
with a rotation Q, and the minus signs cancel: a mirrored local rotation is `inv(Q of the parent) *
L * Q`, two quaternion products, whatever axes bones have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, permutations, product

import numpy as np

from ..errors import RigError
from ..maths.rotations import quat
from ..motion.clip import Clip
from ..skeleton.skeleton import Skeleton
from .bone_pairs import find_bone_pairs
from .numbers import NUMBERS
from .rig import Roles, find_roles
from .sampled_body import SampledBody

_REFLECTION = np.diag([-1.0, 1.0, 1.0])
# the negative of the reflection in X is the half-turn about X
_WORLD = np.array([0.0, 1.0, 0.0, 0.0])


@dataclass(frozen=True)
class Symmetry:
    """How a skeleton maps to its mirror image.

    `pairs` (B,) are the counterparts; `turns` (B, 4) the rotations Q, with Q of a bone times Q of
    its counterpart = -1; `offsets` (B, 3) the local positions that each side keeps, zero for the
    hips and above, which move freely; `one_sided` (B,) the bones on a side without a counterpart,
    such as a sword, which stay as they are in their parent.
    """

    pairs: np.ndarray
    turns: np.ndarray
    offsets: np.ndarray
    one_sided: np.ndarray


def mirror(clip: Clip, roles: Roles | None = None, symmetry: Symmetry | None = None) -> Clip:
    """Return the clip reflected in the world's plane X = 0; each side keeps its bone lengths.

    If a skeleton has several clips, join them: from one clip alone, the roll of bones is only as
    symmetric as its average pose. Raises RigError as `find_symmetry` does.
    """
    if symmetry is None:
        symmetry = find_symmetry(clip, roles)
    source = symmetry.pairs
    one_sided = symmetry.one_sided
    turns = symmetry.turns
    parents = clip.skeleton.parents
    above = quat.inv(np.where((parents >= 0)[:, None], turns[parents], _WORLD))
    rotations = quat.mul(quat.mul(above, clip.rotations), turns)[:, source]
    moved = -quat.mul_vec(above, clip.positions - symmetry.offsets)
    positions = symmetry.offsets + moved[:, source]
    rotations[:, one_sided] = clip.rotations[:, one_sided]
    positions[:, one_sided] = clip.positions[:, one_sided]
    rotations = quat.normalize(rotations).astype(clip.rotations.dtype)
    return replace(clip, rotations=rotations, positions=positions.astype(clip.positions.dtype))


def find_symmetry(clip: Clip, roles: Roles | None = None) -> Symmetry:
    """Find the symmetry of a clip's skeleton.

    A rest pose that is symmetric about some plane gives it exactly. Otherwise the offsets of bones
    do, and the average pose the roll that offsets leave open. Raises RigError if a pair differs.
    """
    skeleton = clip.skeleton
    roles = find_roles(skeleton, [clip]) if roles is None else roles
    pairs = find_bone_pairs(skeleton, roles, [clip])
    body = SampledBody.from_clips(skeleton, [clip])
    above_hips = skeleton.get_chain_to_root(roles.hips)
    offsets = clip.positions.mean(axis=0, dtype=np.float64)
    offsets[above_hips] = 0.0
    across = _compute_lateral_vectors(roles, pairs, body.positions)
    one_sided = _find_one_sided(skeleton, pairs, above_hips, body.positions, across)
    pairs = np.where(one_sided, np.arange(len(pairs)), pairs)
    local, world = (quat.to_matrix(turns).mean(axis=0) for turns in (body.local, body.rotations))
    lengths = np.linalg.norm(offsets, axis=-1, keepdims=True)
    directions = offsets / np.where(lengths > 1e-3, lengths, np.inf)  # zero if too short for one
    fit = _Fit(skeleton.parents, pairs, above_hips, ~one_sided, local, world, directions)
    axes = _find_rest_axes(skeleton, pairs, above_hips, one_sided)
    if axes is None:
        hips_across = np.mean(quat.inv_mul_vec(body.rotations[:, roles.hips], across), axis=0)
        axes = fit.solve_below_hips(hips_across)
    axes = fit.solve_above_hips(axes)
    _check_offsets(skeleton, pairs, ~one_sided, offsets, axes)
    turns = quat.from_matrix(-axes)
    own = np.arange(len(pairs))
    turns[pairs == own, 0] = 0.0
    turns = quat.normalize(turns)
    later = pairs < own  # signed so that mirroring twice changes nothing
    turns[later] = -quat.inv(turns[pairs[later]])
    return Symmetry(pairs, turns, offsets, one_sided)


def _compute_lateral_vectors(roles: Roles, pairs: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return world vectors (F, 3) from the right to the left thigh of the first pair of legs."""
    for leg in roles.legs:
        if pairs[leg.thigh] != leg.thigh:
            sign = -1.0 if leg.side == "R" else 1.0
            return sign * (positions[:, leg.thigh] - positions[:, pairs[leg.thigh]])
    raise RigError(
        "The rig cannot be mirrored: no leg has a counterpart on the other side; "
        "name a left and a right leg in the rig's roles, or do not mirror."
    )


def _find_one_sided(
    skeleton: Skeleton,
    pairs: np.ndarray,
    above_hips: Sequence[int],
    positions: np.ndarray,
    across: np.ndarray,
) -> np.ndarray:
    """Return which bones (B,) are on a side without a counterpart, including their descendants."""
    lateral = quat.normalize_vectors(across)
    result = np.zeros(len(pairs), dtype=bool)
    for bone, parent in enumerate(skeleton.parents.tolist()):
        if parent < 0 or bone in above_hips:
            continue
        offset = positions[:, bone] - positions[:, parent]
        aside = abs(float(np.mean(np.sum(offset * lateral, axis=-1))))
        off_plane = aside > 0.01 and aside > 0.5 * float(np.mean(np.linalg.norm(offset, axis=-1)))
        alone = pairs[bone] == bone and (pairs[parent] != parent or off_plane)
        result[bone] = result[parent] or alone
    return result


def _find_rest_axes(
    skeleton: Skeleton, pairs: np.ndarray, above_hips: Sequence[int], one_sided: np.ndarray
) -> np.ndarray | None:
    """Return S (B, 3, 3) of a rest pose that is symmetric about any plane; None if it is not."""
    rotations, positions = (array.astype(np.float64) for array in skeleton.compute_rest_world())
    body = ~one_sided
    body[list(above_hips[1:])] = False
    size = float(np.ptp(positions[body], axis=0).max())
    between = (positions - positions[pairs])[body]
    normal = np.linalg.eigh(between.T @ between)[1][:, -1]
    plane = np.eye(3) - 2.0 * np.outer(normal, normal)
    centre = positions[body].mean(axis=0)
    error = np.linalg.norm((positions - centre) @ plane + centre - positions[pairs], axis=-1)[body]
    apart = np.linalg.norm(between, axis=-1).max()
    if apart < 0.05 * size or error.max() > NUMBERS.symmetric * size:
        return None
    matrices = quat.to_matrix(rotations)
    return np.swapaxes(matrices, -1, -2) @ plane @ matrices[pairs]


@dataclass(frozen=True)
class _Fit:
    """Fits S (B, 3, 3) from the hips down to offsets and average poses.

    A local rotation L of a bone under p becomes `inv(S_p) L S` on its counterpart. So S is near
    `inv(A) S_p A'` for average rotations A and A', and maps the offsets of the counterpart's
    children exactly to those of the bone's.
    """

    parents: np.ndarray
    pairs: np.ndarray
    above_hips: Sequence[int]
    body: np.ndarray
    local: np.ndarray
    world: np.ndarray
    offsets: np.ndarray

    def solve_below_hips(self, across: np.ndarray) -> np.ndarray:
        """Return S of the hips, whose lateral axis is `across` (3,), and of all other bones."""
        axes = np.tile(-np.eye(3), (len(self.pairs), 1, 1))
        reflection = np.eye(3) - 2.0 * np.outer(across, across) / (across @ across)
        axes[self.above_hips[0]] = self._choose(reflection, True)
        axes = self.solve_above_hips(axes)
        done = set(self.above_hips)
        for bone, other in enumerate(self.pairs.tolist()):
            if bone in done or not self.body[bone]:
                continue
            parent = int(self.parents[bone])
            above = axes[parent] if parent >= 0 else _REFLECTION
            ours, theirs = self._get_child_offsets(bone)
            target = self.local[bone].T @ above @ self.local[other] + NUMBERS.firm_offsets * (
                ours.T @ theirs
            )
            axes[bone] = self._choose(target, bone == other)
            axes[other] = axes[bone].T
            done |= {bone, other}
        return axes

    def solve_above_hips(self, axes: np.ndarray) -> np.ndarray:
        """Return `axes` with S of the bones above the hips, from the world if they never turn."""
        axes = axes.copy()
        for bone, above in pairwise(self.above_hips):
            still = self.world[above].T @ _REFLECTION @ self.world[above]
            if np.linalg.svd(self.world[above], compute_uv=False).min() > NUMBERS.never_turns:
                axes[above] = _find_nearest_orthogonal(still, True)
            else:
                moving = self.local[bone] @ axes[bone] @ self.local[bone].T
                axes[above] = self._choose(moving + 0.1 * still, True)
        return axes

    @cached_property
    def _choose(self) -> Callable[[np.ndarray, bool], np.ndarray]:
        """Chooses among signed permutations if they map all offsets, as on most mocap rigs."""
        for bone in range(len(self.pairs)):
            ours, theirs = self._get_child_offsets(bone)
            ours, theirs = ours[ours.any(axis=1)], theirs[ours.any(axis=1)]
            cosines = np.einsum("ci,sij,cj->sc", ours, _SIGNED, theirs)
            if len(ours) and cosines.min(axis=1).max() < NUMBERS.aligned:
                return _find_nearest_orthogonal
        return _find_nearest_signed

    def _get_child_offsets(self, bone: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the offsets (C, 3) of a bone's children, and those of their counterparts."""
        children = np.flatnonzero((self.parents == bone) & self.body)
        return self.offsets[children], self.offsets[self.pairs[children]]


_FLIPPED = [
    np.eye(3)[list(order)] * np.array(signs)
    for order in permutations(range(3))
    for signs in product((1.0, -1.0), repeat=3)
]
# the 24 matrices (24, 3, 3) with determinant -1 that exchange and flip axes
_SIGNED = np.stack([matrix for matrix in _FLIPPED if np.linalg.det(matrix) < 0])
_SIGNED_REFLECTIONS = np.stack([m for m in _SIGNED if np.trace(m) == 1.0 and np.all(m == m.T)])


def _find_nearest_signed(target: np.ndarray, centre: bool) -> np.ndarray:
    """Return the signed permutation nearest to `target` (3, 3), a reflection in the middle."""
    options = _SIGNED_REFLECTIONS if centre else _SIGNED
    return options[np.argmax(np.einsum("sij,ij->s", options, target))]


def _find_nearest_orthogonal(target: np.ndarray, centre: bool) -> np.ndarray:
    """Return the orthogonal matrix with determinant -1 nearest to `target`, as above."""
    if centre:
        normal = np.linalg.eigh(target + target.T)[1][:, 0]
        return np.eye(3) - 2.0 * np.outer(normal, normal)
    left, _, right = np.linalg.svd(target)
    return left @ np.diag([1.0, 1.0, -np.linalg.det(left @ right)]) @ right


def _check_offsets(
    skeleton: Skeleton, pairs: np.ndarray, body: np.ndarray, offsets: np.ndarray, axes: np.ndarray
) -> None:
    """Raise RigError if the offsets of a pair differ more than in measured bodies."""
    mapped = np.einsum("bij,bj->bi", axes[skeleton.parents], offsets[pairs])
    error = np.linalg.norm(mapped - offsets, axis=-1)
    paired = body & (skeleton.parents >= 0) & (pairs != np.arange(len(pairs)))
    wrong = paired & (error > 0.02 + 0.2 * np.linalg.norm(offsets, axis=-1))
    if wrong.any():
        bone = int(np.argmax(np.where(wrong, error, 0.0)))
        left, right = sorted((skeleton.names[bone], skeleton.names[pairs[bone]]))
        raise RigError(
            f"Bones '{left}' and '{right}' are not mirror images: "
            f"they differ by {100 * error[bone]:.0f} cm; check the rig's sides, or do not mirror."
        )
