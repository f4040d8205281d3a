"""Find where parts of the body are in a plan, and in a take of it, to close on their marks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...control.rollout import Take
from ...performance.settings import PerformerSettings
from ..fit.closing import Anchor, Closed, PartTrack
from ..footage.footage import Footage
from ..limbs.body_parts import find_bone
from ..search.beam import ShotPlan
from .playing import blend


def has_parts(anchors: Sequence[Anchor]) -> bool:
    """Return whether a part of the body has to be somewhere."""
    return any(anchor.part for anchor in anchors)


def track_parts(
    anchors: Sequence[Anchor], plan: ShotPlan, footage: Footage, settings: PerformerSettings
) -> list[Anchor]:
    """Return anchors that know where a plan, with its fading jumps, has their parts."""
    if not has_parts(anchors):
        return list(anchors)
    poses, _ = blend(footage, plan, np.arange(len(plan.frames), dtype=float), settings)
    parts = {anchor.part for anchor in anchors if anchor.part}
    tracks = {part: PartTrack(_find_offsets(poses, part, footage)) for part in parts}
    return [anchor._replace(track=tracks.get(anchor.part)) for anchor in anchors]


def _find_offsets(poses: np.ndarray, part: str, footage: Footage) -> np.ndarray:
    """Return where (T, 2) a part is from the character in poses (T, 7, B)."""
    database = footage.database
    bone = find_bone(database, part)
    places = database.skeleton.compute_bone_positions([bone], poses, root=0)
    return np.asarray(places[:, 0, :2])


def follow_take(
    anchors: Sequence[Anchor], take: Take, closed: Closed, footage: Footage
) -> list[Anchor]:
    """Return anchors whose parts are where a take of a closed plan has them at their ticks.

    They differ a little from the plan, because time was bent and poses were added.
    """
    result = []
    for anchor in anchors:
        track = anchor.track
        tick = min(anchor.tick, take.frame_count - 1)
        if track is not None and anchor.place is not None:
            [shown] = _find_offsets(take.poses[tick : tick + 1], anchor.part, footage)
            track = track.shift(shown - track.sample(float(closed.plan_ticks[tick]))[0])
        result.append(anchor._replace(track=track))
    return result
