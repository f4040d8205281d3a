"""Mirrored motion: what the left does, the right does, and the other way round.

With M the reflection of the world in the plane X = 0, the counterpart b' of a bone b turns as G' = M G S, where S is
a constant of the two bones' axes with determinant -1. Written as S = -Q with a rotation Q the minus signs cancel, so
a mirrored local rotation is `inv(Q of the parent) * L * Q`: two quaternion products, whatever axes the bones have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product

import numpy as np

from ..errors import RigError
from ..maths import quat
from .bone_names import counterpart, swap_sides
from .clip import Clip
from .rig import Roles, find_roles
from .rig_shape import above, pairs_by_shape, sample
from .skeleton import Skeleton

_REFLECTION = np.diag([-1.0, 1.0, 1.0])
_WORLD = np.array([0.0, 1.0, 0.0, 0.0])  # minus the reflection in X is the half-turn about X
_SYMMETRIC = 0.02  # largest deviation of a symmetric rest pose, as part of its size
_ALIGNED = np.cos(
    np.radians(0.5)
)  # offsets on a rig whose bones share axes up to signs differ less
_NEVER_TURNS = (
    1.0 - 1e-6
)  # smallest singular value of the mean rotation of a bone that stands still
_FIRM = 1e4  # offsets decide where a bone points, the average pose only how it rolls about them


@dataclass(frozen=True)
class Symmetry:
    """How a skeleton maps to its mirror image.

    `pairs` (B,) counterparts; `turns` (B, 4) the rotations Q, with Q of a bone times Q of its counterpart = -1;
    `offsets` (B, 3) local positions that each side keeps, zero for the hips and above, which move freely;
    `one_sided` (B,) bones without counterpart on a side, such as a sword, that stay as they are in their parent.
    """

    pairs: np.ndarray
    turns: np.ndarray
    offsets: np.ndarray
    one_sided: np.ndarray


def mirror(
    clip: Clip,
    pairs: np.ndarray | None = None,
    roles: Roles | None = None,
    symmetry: Symmetry | None = None,
) -> Clip:
    """The clip reflected in the world's plane X = 0, with bone lengths of the skeleton's own sides.

    Give the `symmetry` of all clips of a skeleton where there are several: found from one clip alone, the roll of
    bones is only as symmetric as its average pose. RigError as in `find_symmetry`.
    """
    if symmetry is None:
        symmetry = find_symmetry([clip], pairs, roles)
    source, keep, turns = symmetry.pairs, symmetry.one_sided, symmetry.turns
    parents = clip.skeleton.parents
    over = quat.inv(np.where((parents >= 0)[:, None], turns[parents], _WORLD))
    rotations = quat.mul(quat.mul(over, clip.rotations), turns)[:, source]
    positions = (
        symmetry.offsets + (-quat.mul_vec(over, clip.positions - symmetry.offsets))[:, source]
    )
    rotations[:, keep], positions[:, keep] = clip.rotations[:, keep], clip.positions[:, keep]
    rotations = quat.normalize(rotations).astype(clip.rotations.dtype)
    return replace(clip, rotations=rotations, positions=positions.astype(clip.positions.dtype))


def find_symmetry(
    clips: Sequence[Clip], pairs: np.ndarray | None = None, roles: Roles | None = None
) -> Symmetry:
    """The symmetry of the skeleton that all `clips` share.

    A rest pose that is symmetric about some plane gives it exactly. Otherwise the offsets of bones do, and the
    average pose decides the roll of bones that offsets leave open. RigError where the bones of a pair differ.
    """
    skeleton = clips[0].skeleton
    roles = find_roles(skeleton, clips) if roles is None else roles
    pairs = bone_pairs(skeleton, roles, clips) if pairs is None else pairs
    local, positions, rotations, _ = sample(skeleton, clips)
    above_hips = above(skeleton, roles.hips)
    offsets = np.mean(
        [clip.positions.mean(axis=0, dtype=np.float64) for clip in clips if clip.frame_count],
        axis=0,
    )
    offsets[above_hips] = 0.0
    across = _across(roles, pairs, positions)
    one_sided = _one_sided(skeleton, pairs, above_hips, positions, across)
    pairs = np.where(one_sided, np.arange(len(pairs)), pairs)
    fit = _Fit(
        skeleton.parents,
        pairs,
        above_hips,
        ~one_sided,
        quat.to_matrix(local).mean(axis=0),
        quat.to_matrix(rotations).mean(axis=0),
        _directions(offsets),
    )
    axes = _axes_of_rest(skeleton, pairs, above_hips, one_sided)
    if axes is None:
        hips_across = np.mean(quat.inv_mul_vec(rotations[:, roles.hips], across), axis=0)
        axes = fit.below(hips_across)
    axes = fit.above(axes)
    _check(skeleton, pairs, ~one_sided, offsets, axes)
    return Symmetry(pairs, _turns(axes, pairs), offsets, one_sided)


def swap_side_tags(names: Iterable[str]) -> tuple[str, ...]:
    """Tags with left and right exchanged, as words or as single letters: 'turn_left', 'Strafe L', 'leftFootDown'."""
    return tuple(swap_sides(name) for name in names)


def bone_pairs(
    skeleton: Skeleton, roles: Roles | None = None, clips: Sequence[Clip] = ()
) -> np.ndarray:
    """Index (B,) of each bone's counterpart on the other side; a bone in the middle, or without one, has itself.

    By name, and by shape where names do not pair the legs. RigError where pairs hang on bones that are no pair.
    """
    known = {name: bone for bone, name in enumerate(skeleton.names)}
    pairs: np.ndarray = np.arange(skeleton.bone_count)
    for bone, name in enumerate(skeleton.names):
        pairs[bone] = known.get(counterpart(name, known) or name, bone)
    pairs = np.where(pairs[pairs] == np.arange(len(pairs)), pairs, np.arange(len(pairs)))
    legs = () if roles is None else roles.legs
    if np.all(pairs == np.arange(len(pairs))) or any(
        pairs[leg.thigh] == leg.thigh for leg in legs if leg.side
    ):
        roles = roles or find_roles(skeleton, clips)
        left, right = ([leg.thigh for leg in roles.legs if leg.side == side] for side in "LR")
        if not left or not right:
            raise RigError(
                "The rig cannot be mirrored: no left and right leg are known; "
                "name both in the rig's roles, or do not mirror."
            )
        return pairs_by_shape(skeleton, (left, right), clips)
    for bone, parent in enumerate(skeleton.parents):
        other = skeleton.parents[pairs[bone]]
        if pairs[bone] != bone and (pairs[parent] if parent >= 0 else -1) != other:
            raise RigError(
                f"Bones '{skeleton.names[bone]}' and '{skeleton.names[pairs[bone]]}' cannot be mirrored: "
                "the bones above them are no pair; rename them, or do not mirror."
            )
    return pairs


def _across(roles: Roles, pairs: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """World vectors (F, 3) from right to left between the thighs of the pairs of legs that leave the hips first."""
    for leg in roles.legs:
        if pairs[leg.thigh] != leg.thigh:
            sign = -1.0 if leg.side == "R" else 1.0
            return sign * (positions[:, leg.thigh] - positions[:, pairs[leg.thigh]])
    raise RigError(
        "The rig cannot be mirrored: no leg has a counterpart on the other side; "
        "name a left and a right leg in the rig's roles, or do not mirror."
    )


def _one_sided(
    skeleton: Skeleton,
    pairs: np.ndarray,
    above_hips: Sequence[int],
    positions: np.ndarray,
    across: np.ndarray,
) -> np.ndarray:
    """Which bones (B,) have no counterpart although they sit on a side, and those below them."""
    lateral = across / np.linalg.norm(across, axis=-1, keepdims=True)
    result = np.zeros(len(pairs), dtype=bool)
    for bone, parent in enumerate(int(p) for p in skeleton.parents):
        if parent < 0 or bone in above_hips:
            continue
        offset = positions[:, bone] - positions[:, parent]
        aside = abs(float(np.mean(np.sum(offset * lateral, axis=-1))))
        off_plane = aside > 0.01 and aside > 0.5 * float(np.mean(np.linalg.norm(offset, axis=-1)))
        alone = pairs[bone] == bone and (pairs[parent] != parent or off_plane)
        result[bone] = result[parent] or alone
    return result


def _directions(vectors: np.ndarray) -> np.ndarray:
    """Unit vectors; those too short to tell a direction are zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 1e-3, lengths, np.inf)


def _axes_of_rest(
    skeleton: Skeleton, pairs: np.ndarray, above_hips: Sequence[int], one_sided: np.ndarray
) -> np.ndarray | None:
    """S (B, 3, 3) of a rest pose that is symmetric about a plane, whichever it is; None where it is not."""
    rotations, positions = (array.astype(np.float64) for array in skeleton.rest_world())
    body = ~one_sided
    body[list(above_hips[1:])] = False
    size = float(np.ptp(positions[body], axis=0).max())
    between = (positions - positions[pairs])[body]
    normal = np.linalg.eigh(between.T @ between)[1][:, -1]
    plane = np.eye(3) - 2.0 * np.outer(normal, normal)
    centre = positions[body].mean(axis=0)
    error = np.linalg.norm((positions - centre) @ plane + centre - positions[pairs], axis=-1)[body]
    if np.linalg.norm(between, axis=-1).max() < 0.05 * size or error.max() > _SYMMETRIC * size:
        return None
    matrices = quat.to_matrix(rotations)
    return np.swapaxes(matrices, -1, -2) @ plane @ matrices[pairs]


@dataclass(frozen=True)
class _Fit:
    """Finds S (B, 3, 3) along the hierarchy from where offsets and average poses must map to.

    A local rotation L of a bone under p becomes `inv(S_p) L S` on its counterpart, so S is near `inv(A) S_p A'` for
    average rotations A and A', and takes the offsets of the counterpart's children exactly to those of the bone's.
    """

    parents: np.ndarray
    pairs: np.ndarray
    above_hips: Sequence[int]
    body: np.ndarray
    local: np.ndarray
    world: np.ndarray
    offsets: np.ndarray

    def below(self, across: np.ndarray) -> np.ndarray:
        """S of the hips, whose lateral axis is `across` (3,), and of all bones that do not lie above them."""
        free = self._descend(across, _nearest)
        return self._descend(across, _nearest_signed) if self._is_aligned() else free

    def above(self, axes: np.ndarray) -> np.ndarray:
        """`axes` with S of the bones above the hips: what the hips say, or the world where a bone never turns."""
        axes = axes.copy()
        choose = _nearest_signed if self._is_aligned() else _nearest
        for bone, over in zip(self.above_hips, self.above_hips[1:], strict=False):
            still = self.world[over].T @ _REFLECTION @ self.world[over]
            if np.linalg.svd(self.world[over], compute_uv=False).min() > _NEVER_TURNS:
                axes[over] = _nearest(still, True)
            else:
                axes[over] = choose(
                    self.local[bone] @ axes[bone] @ self.local[bone].T + 0.1 * still, True
                )
        return axes

    def _descend(
        self, across: np.ndarray, choose: Callable[[np.ndarray, bool], np.ndarray]
    ) -> np.ndarray:
        axes = np.tile(-np.eye(3), (len(self.pairs), 1, 1))
        hips = self.above_hips[0]
        axes[hips] = choose(np.eye(3) - 2.0 * np.outer(across, across) / (across @ across), True)
        axes = self.above(axes)
        done = set(self.above_hips)
        for bone, other in enumerate(int(b) for b in self.pairs):
            if bone in done or not self.body[bone]:
                continue
            parent = int(self.parents[bone])
            over = axes[parent] if parent >= 0 else _REFLECTION
            wanted = self.local[bone].T @ over @ self.local[other] + _FIRM * self._children(bone)
            axes[bone] = choose(wanted, bone == other)
            axes[other] = axes[bone].T
            done |= {bone, other}
        return axes

    def _children(self, bone: int) -> np.ndarray:
        """Sum of outer products (3, 3) of the children's offsets with those of their counterparts."""
        children = np.flatnonzero((self.parents == bone) & self.body)
        return self.offsets[children].T @ self.offsets[self.pairs[children]]

    def _is_aligned(self) -> bool:
        """Whether some signed permutation of axes maps the children's offsets of each bone, as on most mocap rigs."""
        for bone in range(len(self.pairs)):
            children = np.flatnonzero((self.parents == bone) & self.body)
            ours, theirs = self.offsets[children], self.offsets[self.pairs[children]]
            ours, theirs = ours[ours.any(axis=1)], theirs[ours.any(axis=1)]
            cosines = np.einsum("ci,sij,cj->sc", ours, _SIGNED, theirs)
            if len(ours) and cosines.min(axis=1).max() < _ALIGNED:
                return False
        return True


def _signed_permutations() -> np.ndarray:
    """The 24 matrices (24, 3, 3) with determinant -1 that exchange and flip axes."""
    every = [
        np.eye(3)[list(order)] * np.array(signs)
        for order in permutations(range(3))
        for signs in product((1.0, -1.0), repeat=3)
    ]
    return np.stack([matrix for matrix in every if np.linalg.det(matrix) < 0])


_SIGNED = _signed_permutations()


def _nearest_signed(wanted: np.ndarray, centre: bool) -> np.ndarray:
    """The signed permutation nearest to `wanted` (3, 3); a reflection for a bone in the middle."""
    options = _SIGNED[np.isclose(np.trace(_SIGNED, axis1=1, axis2=2), 1.0)] if centre else _SIGNED
    if centre:
        options = options[[np.allclose(option, option.T) for option in options]]
    return options[np.argmax(np.einsum("sij,ij->s", options, wanted))]


def _nearest(wanted: np.ndarray, centre: bool) -> np.ndarray:
    """The orthogonal matrix with determinant -1 nearest to `wanted` (3, 3); a reflection for a bone in the middle."""
    if centre:
        normal = np.linalg.eigh(wanted + wanted.T)[1][:, 0]
        return np.eye(3) - 2.0 * np.outer(normal, normal)
    left, _, right = np.linalg.svd(wanted)
    return left @ np.diag([1.0, 1.0, -np.linalg.det(left @ right)]) @ right


def _turns(axes: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Rotations Q = -S (B, 4), signed so that a bone's times its counterpart's is -1: twice is no change."""
    turns = quat.from_matrix(-axes)
    centre = pairs == np.arange(len(pairs))
    turns[centre, 0] = 0.0
    turns = quat.normalize(turns)
    later = pairs < np.arange(len(pairs))
    turns[later] = -quat.inv(turns[pairs[later]])
    return turns


def _check(
    skeleton: Skeleton, pairs: np.ndarray, body: np.ndarray, offsets: np.ndarray, axes: np.ndarray
) -> None:
    """RigError where the offsets of a pair are no mirror images, beyond what measured bodies differ by."""
    under = skeleton.parents >= 0
    mapped = np.einsum("bij,bj->bi", axes[skeleton.parents], offsets[pairs])
    error = np.linalg.norm(mapped - offsets, axis=-1)
    wrong = (
        under
        & body
        & (pairs != np.arange(len(pairs)))
        & (error > 0.02 + 0.2 * np.linalg.norm(offsets, axis=-1))
    )
    if wrong.any():
        bone = int(np.argmax(np.where(wrong, error, 0.0)))
        left, right = sorted((skeleton.names[bone], skeleton.names[pairs[bone]]))
        raise RigError(
            f"Bones '{left}' and '{right}' are no mirror images: "
            f"they differ by {100 * error[bone]:.0f} cm; check the rig's sides, or do not mirror."
        )
