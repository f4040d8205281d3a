"""Features of the contacts of a foot with the ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .base import Array, BoneKind

if TYPE_CHECKING:
    from ..bone_motion import BoneMotion
    from ..features import Feature

_AROUND = 0.1  # seconds around a frame within which a foot's contact is averaged
_STRIDES = 2.0  # medians of the time between a foot's contacts that it looks ahead


class FootContact(BoneKind):
    """How much of the time around each frame a leg stands, 0 to 1."""

    name = "foot_contact"
    label = "Contact"
    help = "Whether a foot is on the ground"
    icon = "SNAP_FACE_CENTER"
    number = 5
    is_number = True
    usual_bones = ("left_foot", "right_foot")

    def compute_now(self, bone: BoneMotion, feature: Feature) -> Array:
        table, leg = bone.table, bone.find_leg()
        reach = round(_AROUND * table.fps)
        window = np.hanning(2 * reach + 3)[1:-1]
        result = np.empty((len(table.track), 1))
        for start, stop, loop in zip(table.starts, table.stops, table.loops, strict=True):
            stands = table.contacts[start:stop, leg].astype(np.float64)
            padded = np.pad(stands, reach, mode="wrap" if loop else "edge")
            result[start:stop, 0] = np.convolve(padded, window / window.sum(), mode="valid")
        return result


class FootNextContact(BoneKind):
    """In how many seconds a leg next touches down, up to two of its usual strides."""

    name = "foot_next_contact"
    label = "Next Contact"
    help = "How long until a foot comes down next"
    icon = "TIME"
    number = 9
    is_number = True
    usual_bones = ("left_foot", "right_foot")

    def compute_now(self, bone: BoneMotion, feature: Feature) -> Array:
        table, leg = bone.table, bone.find_leg()
        waits: list[np.ndarray] = []
        strides: list[np.ndarray] = [np.empty(0)]
        for start, stop, loop in zip(table.starts, table.stops, table.loops, strict=True):
            stands = table.contacts[start:stop, leg].astype(bool)
            before = np.concatenate([stands[-1:] if loop else [True], stands[:-1]])
            lands = np.flatnonzero(stands & ~before).astype(np.float64)
            further = lands[:1] + len(stands) if loop else [np.inf]
            ahead = np.concatenate([lands, further if len(further) else [np.inf]])
            strides.append(np.diff(ahead[np.isfinite(ahead)]))
            frames = np.arange(len(stands))
            waits.append(ahead[np.searchsorted(lands, frames, side="right")] - frames)
        seconds, known = np.concatenate(waits) / table.fps, np.concatenate(strides) / table.fps
        finite = seconds[np.isfinite(seconds)]
        longest = _STRIDES * float(np.median(known)) if len(known) else finite.max(initial=0.0)
        return np.asarray(np.minimum(seconds, longest))[:, None]


KINDS = (FootContact(), FootNextContact())
