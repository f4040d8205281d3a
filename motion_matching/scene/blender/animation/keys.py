"""Fewer keys: thin out curves as long as no bone strays by more than a stated distance.

The skeleton is posed at every frame by what is left of the curves, and the heads and tails of all
bones are compared with where all the keys put them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....engine.skeleton.skeleton import Skeleton

_GREED = 4.0  # how much more than its safe share each track is allowed at first
_SAMPLES = 500  # frames that show how far bones reach


@dataclass(frozen=True)
class KeyTrack:
    """The curves of a bone's property, whose keys lie on the same frames: `values` (C, F).

    `bone` is an index, `mode` a rotation mode, or "" for a location in units of the armature.
    """

    bone: int
    mode: str
    values: np.ndarray


Masks = list[np.ndarray]  # which frames keep their key, (F,) for each track
# returns heads and tails of bones (F, 2, B, 3), in metres, as tracks pose them
ComputePoints = Callable[[Sequence[KeyTrack]], np.ndarray]


def reduce_keys(
    tracks: Sequence[KeyTrack],
    compute_points: ComputePoints,
    shares: Sequence[float],
    skeleton: Skeleton,
    distance: float,
) -> Masks:
    """Choose frames whose keys keep every point within `distance` of its position, at every frame.

    `shares` are the largest errors of the tracks, in radians or units, that together move no point
    by more than a metre. Tracks are allowed more, because errors seldom add up; all tracks that
    move a point too far get keys.
    """
    full = compute_points(tracks)
    masks = thin_tracks(tracks, [_GREED * distance * share for share in shares])
    chains = [{bone, *skeleton.get_ancestors(bone)} for bone in range(skeleton.bone_count)]
    moved_by = [[i for i, track in enumerate(tracks) if track.bone in chain] for chain in chains]
    while True:
        left = list(map(_interpolate, tracks, masks))
        strays = np.max(np.sum((compute_points(left) - full) ** 2, axis=-1), axis=1)  # (F, B)
        frames, bones = find_peaks(strays, distance**2)
        count = sum(mask.sum() for mask in masks)
        for bone in np.unique(bones):
            for i in moved_by[bone]:
                masks[i][frames[bones == bone]] = True
        if sum(mask.sum() for mask in masks) == count:  # nothing strays, but for rounding
            return masks


def find_peaks(values: np.ndarray, limit: float) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns of local maxima over frames, above the limit, in values (F, B)."""
    around = np.pad(values, ((1, 1), (0, 0)))
    rows, columns = np.nonzero((values > limit) & (values >= around[:-2]) & (values >= around[2:]))
    return rows, columns


def thin_tracks(tracks: Sequence[KeyTrack], limits: Sequence[float]) -> Masks:
    """Choose keys of each track that stay within its limit, radians or units, on straight lines.

    All stretches that stray are split at once, where furthest from their line (Douglas and
    Peucker).
    """
    frames = tracks[0].values.shape[1]
    values = np.zeros((4, len(tracks), frames), np.float32)
    for i, (track, limit) in enumerate(zip(tracks, limits, strict=True)):
        scaled = _compute_length_factors(track) * track.values / max(limit, 1e-12)
        values[: len(track.values), i] = scaled
    masks = np.zeros((len(tracks), frames), dtype=bool)
    masks[:, [0, -1]] = True
    # the insides of all stretches, one after the other
    inner: np.ndarray = values[:, :, 1:-1].reshape(4, -1)
    row: np.ndarray = np.arange(len(tracks))
    start, stop = np.zeros_like(row), np.full_like(row, frames - 1)
    while len(row) and frames > 2:
        length = stop - start - 1
        first = np.cumsum(length) - length
        offset = (np.arange(inner.shape[1]) - np.repeat(first - 1, length)).astype(np.float32)
        error = np.zeros_like(offset)
        for curve, component in zip(values, inner, strict=True):
            low = curve[row, start]
            slope = (curve[row, stop] - low) / (stop - start).astype(np.float32)
            error += (component - np.repeat(low, length) - np.repeat(slope, length) * offset) ** 2
        worst = np.maximum.reduceat(error, first)
        candidates = np.where(error == np.repeat(worst, length), offset, np.float32(frames))
        at = np.minimum.reduceat(candidates, first)
        wide = worst > 1.0
        inner = inner[:, np.repeat(wide, length) & (offset != np.repeat(at, length))]
        middle = start + at.astype(start.dtype)
        row = row[wide]
        start = start[wide]
        middle = middle[wide]
        stop = stop[wide]
        masks[row, middle] = True
        row = np.repeat(row, 2)
        ends = np.stack([[start, middle], [middle, stop]], axis=-1).reshape(2, -1)
        divisible = ends[1] - ends[0] > 1
        row = row[divisible]
        (start, stop) = ends[:, divisible]
    return list(masks)


def _interpolate(track: KeyTrack, mask: np.ndarray) -> KeyTrack:
    """Return a track on straight lines between the frames that the mask (F,) selects."""
    keys = np.flatnonzero(mask)
    frames = np.arange(len(mask))
    curves = np.stack([np.interp(frames, keys, curve[keys]) for curve in track.values])
    return replace(track, values=curves.astype(track.values.dtype))


def compute_error_shares(
    skeleton: Skeleton, tracks: Sequence[KeyTrack], full: np.ndarray, scale: float
) -> list[float]:
    """Compute the error of each track, radians or units, that is within its share of a metre.

    An error e of a rotation moves what hangs on the bone by up to e times its distance. Errors
    along a chain add up at most, so each track gets an equal part. `full` are the points (F, 2, B,
    3).
    """
    full = full[:: max(1, len(full) // _SAMPLES)]
    tracks_of = np.bincount([track.bone for track in tracks], minlength=skeleton.bone_count)
    above = [skeleton.get_ancestors(bone) for bone in range(skeleton.bone_count)]
    number = [int(tracks_of[[bone, *chain]].sum()) for bone, chain in enumerate(above)]
    most = np.array(number)
    reach = np.full(skeleton.bone_count, 1e-6)
    for bone in range(skeleton.bone_count):
        for joint in [bone, *above[bone]]:
            most[joint] = max(most[joint], number[bone])
            away = np.linalg.norm(full[:, :, bone] - full[:, :1, joint], axis=-1)
            reach[joint] = max(reach[joint], float(away.max()))
    return [1.0 / (most[t.bone] * (reach[t.bone] if t.mode else scale)) for t in tracks]


def _compute_length_factors(track: KeyTrack) -> np.ndarray:
    """Return factors (C, 1) by which differences of values are at least their angle in radians."""
    factors = np.ones((len(track.values), 1))
    if track.mode == "QUATERNION":
        factors *= 2.0  # a quaternion goes half as far as what it turns
    elif track.mode == "AXIS_ANGLE":
        # an axis that is off by d turns by up to 2 sin(angle / 2) d; the sum of two is at most
        # their length by sqrt 2
        factors[1:] = 2.0 * max(float(np.abs(np.sin(0.5 * track.values[0])).max()), 1e-3)
        factors *= np.sqrt(2.0)
    elif track.mode:
        factors *= np.sqrt(3.0)  # three angles add up at most
    return factors
