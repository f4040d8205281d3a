"""Pair the bones of two skeletons by their roles, whatever their names and counts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...body.body_roles import BODY_ROLES, BodyPlan, BodyRoles, check_body_plan, find_body_roles
from ...motion.clip import Clip
from ...skeleton.skeleton import Skeleton
from ..numbers import NUMBERS

# parts that retargeting requires
NEEDED = ("hips", *(f"{side}_{part}" for side in ("left", "right") for part in ("thigh", "shin")))
LEAST_CONFIDENCE = NUMBERS.least_confidence


@dataclass(frozen=True)
class BonePair:
    """Bones of one role, top to bottom; empty for a skeleton that lacks the part.

    The source lacks only parts that it should have.
    """

    role: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    confidence: float


@dataclass(frozen=True)
class BoneMapping:
    """Pairs of all roles of the source, in the order of the body.

    `problems` are sentences about bones that do not form a body.
    """

    pairs: tuple[BonePair, ...]
    source: BodyRoles
    target: BodyRoles
    problems: tuple[str, ...] = ()

    @property
    def mapped_count(self) -> int:
        """The number of the source's parts that the target also has."""
        return sum(bool(pair.source and pair.target) for pair in self.pairs)

    @property
    def total(self) -> int:
        """The number of the source's parts, including parts that it should have."""
        return len(self.pairs)

    @property
    def doubtful(self) -> tuple[str, ...]:
        """Required roles that are missing, or were found with little confidence."""
        sure = {pair.role: pair.confidence for pair in self.pairs if pair.source and pair.target}
        return tuple(role for role in NEEDED if sure.get(role, 0.0) < LEAST_CONFIDENCE)

    @property
    def needs_help(self) -> bool:
        """Whether hips or a leg are missing or doubtful, or bones do not form a body."""
        return bool(self.doubtful or self.problems)

    def to_json(self) -> str:
        """Return the mapping as JSON text, equal for equal mappings."""
        pairs: list[dict[str, Any]] = [
            {
                "role": pair.role,
                "source": list(pair.source),
                "target": list(pair.target),
                "confidence": round(pair.confidence, 3),
            }
            for pair in self.pairs
        ]
        four_legged = {"source": self.source.four_legged, "target": self.target.four_legged}
        return json.dumps({"pairs": pairs, "four_legged": four_legged}, sort_keys=True)


def map_bones(
    source_skeleton: Skeleton,
    target_skeleton: Skeleton,
    source_clips: Sequence[Clip] = (),
    target_clips: Sequence[Clip] = (),
    source_overrides: Mapping[str, str | Sequence[str]] | None = None,
    target_overrides: Mapping[str, str | Sequence[str]] | None = None,
) -> BoneMapping:
    """Find the roles of both skeletons and pair their bones.

    Overrides are those of `find_body_roles`. Raises RigError as it does.
    """
    source = find_body_roles(source_skeleton, source_clips, source_overrides)
    target = find_body_roles(target_skeleton, target_clips, target_overrides)
    plans = (
        check_body_plan(source_skeleton, source, source_clips, source_overrides or {}),
        check_body_plan(target_skeleton, target, target_clips, target_overrides or {}),
    )
    return pair_roles(source_skeleton, target_skeleton, source, target, plans)


def pair_roles(
    source_skeleton: Skeleton,
    target_skeleton: Skeleton,
    source: BodyRoles,
    target: BodyRoles,
    plans: tuple[BodyPlan, BodyPlan] = (BodyPlan(), BodyPlan()),
    names: tuple[str, str] = ("The source", "The character"),
) -> BoneMapping:
    """Pair the bones of two skeletons whose roles are known.

    `plans` list the faults of the source and the target; sentences use `names` for both.
    """
    pairs = []
    for role in BODY_ROLES:
        if role in source.chains or role in plans[0].missing:
            sure = [roles.confidence[role] for roles in (source, target) if role in roles.chains]
            ours, theirs = (roles.chains.get(role, ()) for roles in (source, target))
            pairs.append(
                BonePair(
                    role,
                    tuple(source_skeleton.names[bone] for bone in ours),
                    tuple(target_skeleton.names[bone] for bone in theirs),
                    min(sure) if ours else 0.0,
                )
            )
    problems = (plan.describe(who) for plan, who in zip(plans, names, strict=True))
    return BoneMapping(tuple(pairs), source, target, tuple(p for part in problems for p in part))
