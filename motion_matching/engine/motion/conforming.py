"""Transfer motion between skeletons with the same bones and the same rest pose.

A file and an armature made from it have different bone frames: local rotations of one mean nothing
to the other. Rest poses relate them. If both rest alike up to a turn T of the whole body,
and G and H are the world rotations of a bone at rest in both, the constant C = inv(H) T G leads
from one frame to the other: a local rotation L becomes `C of the parent * L * inv(C)`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import RigError
from ..maths.rotations import quat
from ..skeleton.skeleton import Skeleton
from .clip import Clip
from .numbers import NUMBERS

_ROUNDING = 1e-6  # metres, and quaternion components, that rounding leaves


def find_sliding_bones(clip: Clip) -> np.ndarray:
    """Return which bones (B,) a clip moves in their parents, roots included."""
    moved = np.ptp(clip.positions, axis=0).max(axis=-1) > NUMBERS.animated_way
    return moved | (clip.skeleton.parents < 0)


def reorder(clip: Clip, names: tuple[str, ...]) -> Clip:
    """Return a clip with its bones in the order of `names`, parents first."""
    skeleton = clip.skeleton
    if skeleton.names == names:
        return clip
    order = [skeleton.index(name) for name in names]
    places = np.append(np.argsort(order), -1)  # -1 stays -1
    ordered = Skeleton(
        names,
        places[skeleton.parents[order]],
        skeleton.rest_positions[order],
        skeleton.rest_rotations[order],
        tuple((int(places[bone]), offset) for bone, offset in skeleton.end_sites),
        skeleton.in_files and _reorder_rest(skeleton.in_files, names),
    )
    return replace(
        clip,
        skeleton=ordered,
        positions=clip.positions[:, order],
        rotations=clip.rotations[:, order],
    )


def _reorder_rest(skeleton: Skeleton, names: tuple[str, ...]) -> Skeleton:
    still = skeleton.rest_positions[None], skeleton.rest_rotations[None]
    return reorder(Clip("", skeleton, *still, 1.0), names).skeleton


def conform(clip: Clip, skeleton: Skeleton, sliding: np.ndarray) -> Clip:
    """Return the same motion in the world on a skeleton with the same bones in the same order.

    Bones that do not move in their parents get the lengths of that skeleton. The frames of bones
    are compared at rest, except for `sliding` ones (B,). Raises RigError if both rest in
    different poses.
    """
    frames, source = _find_frames(clip, skeleton, sliding)
    parents = skeleton.parents
    above = np.where((parents < 0)[:, None], quat.IDENTITY, frames[parents])
    rotations = clip.rotations
    positions = clip.positions
    if np.abs(frames[:, 1:]).max() > _ROUNDING:
        above = above.astype(np.float32)
        below = quat.inv(frames).astype(np.float32)
        rotations = quat.mul(quat.mul(above, rotations), below)
        rotations = quat.unroll(quat.normalize(rotations)).astype(np.float32)
        positions = quat.mul_vec(above, positions).astype(np.float32)
    shift = skeleton.rest_positions - quat.mul_vec(above, source.rest_positions)
    shift[sliding] = 0.0
    if np.abs(shift).max() > _ROUNDING:
        positions = positions + shift.astype(np.float32)
    return replace(clip, skeleton=skeleton, positions=positions, rotations=rotations)


def _find_frames(
    clip: Clip, skeleton: Skeleton, sliding: np.ndarray
) -> tuple[np.ndarray, Skeleton]:
    """Return constants C (B, 4), and the rest that they lead from: the clip's or armature's."""
    tolerances = _compute_tolerances(skeleton)
    own = clip.skeleton
    known = (rest for rest in (skeleton.in_files, skeleton) if rest)
    rests = [own, *(rest for rest in known if has_same_offsets(own, rest, sliding))]
    results = []
    for rest in rests:
        turn, errors = _compare_rests(rest, skeleton, sliding)
        if np.all(errors <= tolerances):
            (from_frames, _), (to_frames, _) = (
                rest.compute_rest_world(),
                skeleton.compute_rest_world(),
            )
            frames = quat.inv_mul(to_frames, quat.mul(turn, from_frames))
            return quat.positive(quat.normalize(frames.astype(np.float64))), rest
        results.append(errors)
    errors = results[0]
    worst = int(np.argmax(errors / tolerances))
    raise RigError(
        f"'{clip.name}' rests in another pose than the character: its bone "
        f"'{skeleton.names[worst]}' is {100 * errors[worst]:.0f} cm off there; use it with the "
        "character that it was made for, or retarget it."
    )


def has_same_offsets(a: Skeleton, b: Skeleton, free: np.ndarray) -> bool:
    """Return whether bones lie alike in their parents' frames, except `free` ones (B,).

    If so, two skeletons made from the same files also have the same bone frames.
    """
    away = np.linalg.norm(a.rest_positions - b.rest_positions, axis=-1)
    return bool(np.all((away <= _compute_tolerances(b)) | free))


def _compute_tolerances(skeleton: Skeleton) -> np.ndarray:
    """Return the tolerance (B,) in metres of each bone's rest position in its parent."""
    lengths = np.linalg.norm(skeleton.rest_positions, axis=-1)
    return NUMBERS.rest_tolerance * np.maximum(lengths, NUMBERS.shortest_bone)


def _compare_rests(
    source: Skeleton, target: Skeleton, sliding: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the turn (4,) of the body between two rests, and how far bones (B,) are off then.

    Bones are measured from their parents. Only directions determine the turn, because a longer shin
    turns nothing; there is no turn unless it explains most of their differences.
    """
    ours, theirs = (_compute_world_offsets(skeleton) for skeleton in (source, target))
    lengths, theirs_lengths = (np.linalg.norm(ways, axis=-1) for ways in (ours, theirs))
    alike = theirs * (lengths / np.maximum(theirs_lengths, _ROUNDING))[:, None]
    ours[sliding] = theirs[sliding] = alike[sliding] = 0.0
    left, _, right = np.linalg.svd(alike.T @ ours)
    matrix = left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right
    turns = np.stack([quat.IDENTITY, quat.from_matrix(matrix)])
    turned = quat.mul_vec(turns[:, None], ours)
    plain, best = np.square(turned - alike).sum(axis=(1, 2))
    chosen = int(plain > 2.0 * best + _ROUNDING**2 * len(ours))
    return turns[chosen], np.linalg.norm(turned[chosen] - theirs, axis=-1)


def _compute_world_offsets(skeleton: Skeleton) -> np.ndarray:
    """Return the ways (B, 3), float64, from the parents to the bones at rest; zero for roots."""
    _, heads = skeleton.compute_rest_world()
    ways = (heads - heads[np.maximum(skeleton.parents, 0)]).astype(np.float64)
    ways[skeleton.parents < 0] = 0.0
    return ways
