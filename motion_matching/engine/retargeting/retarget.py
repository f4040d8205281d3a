"""Bring motion from one skeleton onto another by the roles of their bones.

Torso, arms, hands and feet take the directions of the source in the world. Hips follow the source's
by the length of the legs, the balls of the feet stand where the source's do, and knees and elbows
bend to the side that the source's bend to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..body.body_roles import BODY_ROLES, BodyRoles, find_body_roles
from ..errors import RigError, SettingsError
from ..motion.clip import Clip, join_clips
from ..motion.skeleton import Skeleton
from .anatomy import Anatomy
from .plan import RetargetPlan
from .settings import RetargetSettings
from .steps import Retargeting

_DEFAULTS = RetargetSettings()
_BATCH = 8000  # frames of short clips that are retargeted at once

# all roles, or some of them by names of bones
GivenRoles = BodyRoles | Mapping[str, str | Sequence[str]]


class Retargeter:
    """Brings clips of one body onto another. Raises SettingsError for unknown roles of offsets."""

    def __init__(
        self, source: Anatomy, target: Anatomy, settings: RetargetSettings = _DEFAULTS
    ) -> None:
        self.source, self.target, self.settings = source, target, settings
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
        for clip in clips:
            self._check_bones(clip)
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

    def _check_bones(self, clip: Clip) -> None:
        ours, theirs = self.source.skeleton, clip.skeleton
        if theirs.names != ours.names or not np.array_equal(theirs.parents, ours.parents):
            raise RigError(
                f"'{clip.name}' has other bones than the skeleton that it is retargeted from; "
                "choose clips of that skeleton."
            )


def _make_batches(clips: Sequence[Clip]) -> list[list[Clip]]:
    """Return clips in their order in groups of one rate, each of not too many frames."""
    batches: list[list[Clip]] = []
    for clip in clips:
        last = batches[-1] if batches else []
        frames = sum(other.frame_count for other in last) + clip.frame_count
        alike = last and last[0].fps == clip.fps and clip.frame_count and last[0].frame_count
        if alike and frames <= _BATCH:
            last.append(clip)
        else:
            batches.append([clip])
    return batches


def retarget_clips(
    clips: Sequence[Clip],
    target: Skeleton,
    *,
    source_roles: GivenRoles | None = None,
    target_roles: GivenRoles | None = None,
    target_clips: Sequence[Clip] = (),
    settings: RetargetSettings = _DEFAULTS,
) -> list[Clip]:
    """Return clips of any skeletons on the target's; those of one skeleton are measured together.

    Roles that are not given are found by names and shape. Raises RigError for bodies without legs
    and for those that stand neither at rest nor in their clips.
    """
    onto = _measure(target, target_clips, target_roles)
    groups: list[list[int]] = []
    for number, clip in enumerate(clips):
        known = (g for g in groups if is_same_skeleton(clips[g[0]].skeleton, clip.skeleton))
        group = next(known, None)
        if group is None:
            groups.append([number])
        else:
            group.append(number)
    result: dict[int, Clip] = {}
    for group in groups:
        alike = [clips[number] for number in group]
        source = _measure(alike[0].skeleton, alike, source_roles)
        moved = Retargeter(source, onto, settings).retarget_all(alike)
        result |= dict(zip(group, moved, strict=True))
    return [result[number] for number in range(len(clips))]


def _measure(skeleton: Skeleton, clips: Sequence[Clip], roles: GivenRoles | None) -> Anatomy:
    if not isinstance(roles, BodyRoles):
        roles = find_body_roles(skeleton, clips, roles)
    return Anatomy.from_clips(skeleton, roles, clips)


def is_same_skeleton(one: Skeleton, two: Skeleton) -> bool:
    """Return whether skeletons have the same bones that rest alike."""
    return one is two or (
        one.names == two.names
        and np.array_equal(one.parents, two.parents)
        and np.allclose(one.rest_positions, two.rest_positions, rtol=1e-4, atol=1e-5)
        and np.allclose(one.rest_rotations, two.rest_rotations, atol=1e-4)
    )
