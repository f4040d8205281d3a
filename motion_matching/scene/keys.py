"""Fewer keys: curves are thinned out as far as no bone leaves its place by more than a stated distance.

What is promised is measured: the skeleton is posed at every frame by what is left of the curves, and the heads and
tails of all bones are compared with where all the keys put them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..engine.maths import quat
from ..engine.motion.skeleton import Skeleton
from .armature import BoneMap
from .rotation_modes import from_mode

_GREED = 4.0  # how much more than its sure share each track is allowed at first
_SAMPLES = 500  # frames that tell how far bones reach


@dataclass(frozen=True)
class Track:
    """The curves of a property, whose keys lie on the same frames: `values` (C, F) of a bone, by its place.

    `mode` is a rotation mode, or "" for a location in units of the armature.
    """

    bone: int
    mode: str
    values: np.ndarray


Masks = list[np.ndarray]  # of each track (F,): which frames keep their key
Points = Callable[
    [Sequence[Track]], np.ndarray
]  # of tracks: heads and tails of bones (F, 2, B, 3), metres


def fewer_keys(
    tracks: Sequence[Track],
    points: Points,
    shares: Sequence[float],
    skeleton: Skeleton,
    distance: float,
) -> Masks:
    """Frames whose keys are enough to keep every point within `distance` of its place, at every frame.

    `shares` are the largest errors of the tracks, in radians or units, that together move no point by more than a
    metre. Errors seldom add up, so tracks are allowed more than that; where a point then strays too far, all tracks
    that move it get keys, until none does.
    """
    full = points(tracks)
    masks = thinned(tracks, [_GREED * distance * share for share in shares])
    chains = [{bone, *skeleton.ancestors(bone)} for bone in range(skeleton.bone_count)]
    moved_by = [[i for i, track in enumerate(tracks) if track.bone in chain] for chain in chains]
    while True:
        left = [
            replace(t, values=interpolated(t.values, mask))
            for t, mask in zip(tracks, masks, strict=True)
        ]
        strays = np.max(np.sum((points(left) - full) ** 2, axis=-1), axis=1)  # (F, B)
        frames, bones = _peaks(strays, distance**2)
        count = sum(mask.sum() for mask in masks)
        for bone in np.unique(bones):
            for i in moved_by[bone]:
                masks[i][frames[bones == bone]] = True
        if sum(mask.sum() for mask in masks) == count:  # nothing strays, but for rounding
            return masks


def _peaks(values: np.ndarray, limit: float) -> tuple[np.ndarray, np.ndarray]:
    """Where columns of values (F, B) above the limit are highest, frame by frame beside its neighbours: rows, columns."""
    around = np.pad(values, ((1, 1), (0, 0)))
    rows, columns = np.nonzero((values > limit) & (values >= around[:-2]) & (values >= around[2:]))
    return rows, columns


def thinned(tracks: Sequence[Track], limits: Sequence[float]) -> Masks:
    """The frames of each track whose keys are enough to stay within its limit, radians or units, on straight lines.

    All stretches of all tracks are split at once (Douglas and Peucker): each one that strays gets a key where it is
    furthest from its line. The loop runs as often as the most divided stretch is split.
    """
    frames = tracks[0].values.shape[1]
    values = np.zeros((4, len(tracks), frames), np.float32)
    for i, (track, limit) in enumerate(zip(tracks, limits, strict=True)):
        values[: len(track.values), i] = _lengths_of(track) * track.values / max(limit, 1e-12)
    kept = np.zeros((len(tracks), frames), dtype=bool)
    kept[:, [0, -1]] = True
    inner: np.ndarray = values[:, :, 1:-1].reshape(
        4, -1
    )  # what lies within stretches, one stretch after the other
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
        at = np.minimum.reduceat(
            np.where(error == np.repeat(worst, length), offset, np.float32(frames)), first
        )
        wide = worst > 1.0
        inner = inner[:, np.repeat(wide, length) & (offset != np.repeat(at, length))]
        middle = start + at.astype(start.dtype)
        row, start, middle, stop = row[wide], start[wide], middle[wide], stop[wide]
        kept[row, middle] = True
        row = np.repeat(row, 2)
        start, stop = (
            np.stack([start, middle], axis=1).ravel(),
            np.stack([middle, stop], axis=1).ravel(),
        )
        there = stop - start > 1
        row, start, stop = row[there], start[there], stop[there]
    return list(kept)


def interpolated(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Curves (C, F) on straight lines between the frames that the mask (F,) keeps."""
    kept = np.flatnonzero(mask)
    place = np.arange(len(mask))
    return np.stack([np.interp(place, kept, curve[kept]) for curve in values]).astype(values.dtype)


def shares_of(
    skeleton: Skeleton, tracks: Sequence[Track], full: np.ndarray, scale: float
) -> list[float]:
    """Of each track the error, in radians or units of the armature, that is sure to be within its share of a metre.

    An error e of a rotation moves what hangs on the bone by up to e times its distance; the errors along a chain add
    up at most, so each track of a bone gets an equal part of it. `full` are the points (F, 2, B, 3).
    """
    full = full[:: max(1, len(full) // _SAMPLES)]
    tracks_of = np.bincount([track.bone for track in tracks], minlength=skeleton.bone_count)
    above = [skeleton.ancestors(bone) for bone in range(skeleton.bone_count)]
    number = [int(tracks_of[[bone, *chain]].sum()) for bone, chain in enumerate(above)]
    most, reach = np.array(number), np.full(skeleton.bone_count, 1e-6)
    for bone in range(skeleton.bone_count):
        for joint in [bone, *above[bone]]:
            most[joint] = max(most[joint], number[bone])
            away = np.linalg.norm(full[:, :, bone] - full[:, :1, joint], axis=-1)
            reach[joint] = max(reach[joint], float(away.max()))
    return [1.0 / (most[t.bone] * (reach[t.bone] if t.mode else scale)) for t in tracks]


def points_of(skeleton: Skeleton, bones: BoneMap, tails: np.ndarray, frames: int) -> Points:
    """What poses a skeleton by tracks; `tails` (B, 3) are in the bones' own frames, metres.

    Bones without a track rest. Between calls, the same tracks are posed again.
    """
    rotations = np.tile(quat.IDENTITY.astype(np.float32), (frames, skeleton.bone_count, 1))
    locations = np.zeros((frames, skeleton.bone_count, 3), np.float32)
    single = replace(
        bones,
        before=bones.before.astype(np.float32),
        after=bones.after.astype(np.float32),
        rest_positions=bones.rest_positions.astype(np.float32),
    )

    def points(tracks: Sequence[Track]) -> np.ndarray:
        for track in tracks:
            if track.mode:
                rotations[:, track.bone] = from_mode(track.values, track.mode)
            else:
                locations[:, track.bone] = track.values.T
        turned, heads = quat.fk(*single.from_basis(rotations, locations), skeleton.parents)
        return np.stack([heads, heads + quat.mul_vec(turned, tails.astype(np.float32))], axis=1)

    return points


def _lengths_of(track: Track) -> np.ndarray:
    """Factors (C, 1) with which the length of a difference of values is at least the angle in radians."""
    factors = np.ones((len(track.values), 1))
    if track.mode == "QUATERNION":
        factors *= 2.0  # a quaternion goes half as far as what it turns
    elif track.mode == "AXIS_ANGLE":
        # an axis that is off by d turns by up to 2 sin(angle / 2) d; the sum of two is at most their length by sqrt 2
        factors[1:] = 2.0 * max(float(np.abs(np.sin(0.5 * track.values[0])).max()), 1e-3)
        factors *= np.sqrt(2.0)
    elif track.mode:
        factors *= np.sqrt(3.0)  # three angles add up at most
    return factors
