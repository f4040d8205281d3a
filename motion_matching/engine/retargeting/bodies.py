"""Examine the bodies of retargeting: their roles, measures, and pairs of bones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np

from ..body.body_roles import BodyPlan, BodyRoles, check_body_plan, find_body_roles
from ..errors import RigError
from ..motion.clip import Clip
from ..skeleton.skeleton import Skeleton
from .anatomy import Anatomy
from .pairs.bone_mapping import NEEDED, BoneMapping, pair_roles
from .retarget import Retargeter
from .settings import RetargetSettings

# bones by role chosen by hand: one, all of the part, or '' for none
BoneNames = Mapping[str, str | Sequence[str]]
_Item = TypeVar("_Item")
_DEFAULTS = RetargetSettings()
_NOTHING = ("", [""], ("",))


class RetargetBody:
    """A skeleton with clips of it, examined once, when its roles or measures are needed.

    `given` are bones by role chosen by hand. Errors begin with `who`, if given.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        clips: Sequence[Clip] = (),
        given: BoneNames | None = None,
        who: str = "",
    ) -> None:
        self.skeleton = skeleton
        self.clips = clips
        self.given = given or {}
        self.who = who

    @cached_property
    def roles(self) -> BodyRoles:
        """Its bones by role. Raises RigError if hips or legs are missing."""
        for role in NEEDED:
            if self.given.get(role) in _NOTHING:
                raise RigError(
                    f"{self.who or 'A body'} cannot do without {role.replace('_', ' ')}; "
                    "name its bone."
                )
        try:
            return find_body_roles(self.skeleton, self.clips, self.given)
        except RigError as error:
            raise RigError(f"{self.who}: {error}" if self.who else str(error)) from error

    @cached_property
    def plan(self) -> BodyPlan:
        """The faults of its roles, and its missing parts."""
        return check_body_plan(self.skeleton, self.roles, self.clips, self.given)

    @cached_property
    def anatomy(self) -> Anatomy:
        """Its measures. Raises RigError if it stands neither at rest nor in its clips."""
        return Anatomy.from_clips(self.skeleton, self.roles, self.clips)

    @property
    def stands(self) -> bool:
        """Whether it has all required parts, and stands at rest or in its clips."""
        try:
            return self.anatomy is not None
        except RigError:
            return False

    def pair_bones(self, target: RetargetBody) -> BoneMapping:
        """Pair its bones with those of another body, and report faults of either."""
        names = self.who or "The source", target.who or "The character"
        plans = self.plan, target.plan
        return pair_roles(self.skeleton, target.skeleton, self.roles, target.roles, plans, names)

    def make_retargeter(
        self, target: RetargetBody, settings: RetargetSettings = _DEFAULTS
    ) -> Retargeter:
        """Return the retargeter of its clips onto another body."""
        return Retargeter(self.anatomy, target.anatomy, settings)


def group_by_skeleton(
    items: Iterable[_Item], get_skeleton: Callable[[_Item], Skeleton]
) -> list[list[_Item]]:
    """Group items by skeleton: together they show more of it than each does alone."""
    groups: dict[tuple[tuple[str, ...], bytes], list[list[_Item]]] = {}
    for item in items:
        skeleton = get_skeleton(item)
        named = groups.setdefault((skeleton.names, skeleton.parents.tobytes()), [])
        alike = (group for group in named if _rests_alike(get_skeleton(group[0]), skeleton))
        group = next(alike, None)
        if group is None:
            named.append([item])
        else:
            group.append(item)
    return [group for named in groups.values() for group in named]


def _rests_alike(one: Skeleton, two: Skeleton) -> bool:
    """Return whether skeletons of the same names rest alike, wherever roots and hips rest."""
    if one is two:
        return True
    hips = next((b for b in range(one.bone_count) if len(one.get_children(b)) != 1), 0)
    above = set(one.get_chain_to_root(hips))
    fixed = [bone for bone in range(one.bone_count) if bone not in above]
    return np.allclose(
        one.rest_positions[fixed], two.rest_positions[fixed], rtol=1e-4, atol=1e-5
    ) and np.allclose(one.rest_rotations, two.rest_rotations, atol=1e-4)
