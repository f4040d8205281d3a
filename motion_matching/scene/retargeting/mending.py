"""Motion to retarget without frames that no body can have moved through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...engine.database.mending import mend_clip
from ...engine.database.parts import BuildNote
from ...engine.database.root_checks import check_clip_roots
from ...engine.retargeting.bodies import group_by_skeleton
from .sources import SourceMotion


def mend_motions(
    motions: Sequence[SourceMotion], keep_frames: bool = False
) -> tuple[list[SourceMotion], list[BuildNote]]:
    """Return motion without T-poses at its ends and with lost frames filled, and notes on it.

    The notes also name other problems, as for a database. Actions keep their place in time, so one
    without its first frame begins a frame later. With `keep_frames`, everything is only reported.
    """
    mended, notes = [], []
    for motion in motions:
        first, loop = motion.first_frame, motion.is_cyclic
        found = mend_clip(motion.clip, first or 0, loop=loop, keep_frames=keep_frames)
        later = None if first is None else first + found.skipped
        mended.append(replace(motion, clip=found.clip, first_frame=later, skipped=found.skipped))
        notes += found.notes
    for group in group_by_skeleton(mended, lambda motion: motion.clip.skeleton):
        notes += check_clip_roots([motion.clip for motion in group])
    return mended, notes
