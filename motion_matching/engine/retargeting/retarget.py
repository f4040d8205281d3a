"""Bring motion from one skeleton onto another by the roles of their bones.

Torso, arms, hands and feet take the directions of the source in the world. Hips follow the source's
by the length of the legs, the balls of the feet stand where the source's do, and knees and elbows
bend to the side that the source's bend to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..body.body_roles import BODY_ROLES
from ..errors import RigError, SettingsError
from ..motion.clip import Clip, join_clips
from .anatomy import Anatomy
from .numbers import NUMBERS
from .plan import RetargetPlan
from .settings import RetargetSettings
from .steps import Retargeting

_DEFAULTS = RetargetSettings()


class Retargeter:
    """Brings clips of one body onto another. Raises SettingsError for unknown roles of offsets."""

    def __init__(
        self, source: Anatomy, target: Anatomy, settings: RetargetSettings = _DEFAULTS
    ) -> None:
        self.source = source
        self.target = target
        self.settings = settings
        unknown = [role for role in settings.offsets if role not in BODY_ROLES]
        if unknown:
            raise SettingsError(
                f"'{unknown[0]}' is no part of a body that an offset can turn; give one of "
                f"{', '.join(BODY_ROLES)}."
            )
        self.plan = RetargetPlan.from_bodies(source, target, settings)

    def retarget(self, clip: Clip) -> Clip:
        """Return the clip on the target's skeleton. Raises RigError for one of another skeleton."""
        return self.retarget_all([clip])[0]

    def retarget_all(self, clips: Sequence[Clip]) -> list[Clip]:
        """Return clips on the target's skeleton: many short ones take no longer than a long one.

        Raises RigError for one of another skeleton.
        """
        ours = self.source.skeleton
        for clip in clips:
            theirs = clip.skeleton
            if theirs.names != ours.names or not np.array_equal(theirs.parents, ours.parents):
                raise RigError(
                    f"'{clip.name}' has other bones than the skeleton that it is retargeted from; "
                    "choose clips of that skeleton."
                )
        result: list[Clip] = []
        for batch in _make_batches(clips):
            counts = [clip.frame_count for clip in batch]
            joined = batch[0] if len(batch) == 1 else join_clips(batch)
            moved = Retargeting(self.plan, joined, counts).run()
            stops = np.cumsum(counts).tolist()
            for clip, start, stop in zip(batch, [0, *stops], stops, strict=False):
                part = moved.crop(start, stop)
                result.append(replace(part, name=clip.name, warnings=clip.warnings))
        return result


def _make_batches(clips: Sequence[Clip]) -> list[list[Clip]]:
    """Return clips in their order in groups of one rate, each of not too many frames."""
    batches: list[list[Clip]] = []
    for clip in clips:
        last = batches[-1] if batches else []
        frames = sum(other.frame_count for other in last) + clip.frame_count
        alike = last and last[0].fps == clip.fps and clip.frame_count and last[0].frame_count
        if alike and frames <= NUMBERS.frames_at_once:
            last.append(clip)
        else:
            batches.append([clip])
    return batches
