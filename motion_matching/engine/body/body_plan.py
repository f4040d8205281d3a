"""Check that bones with roles form a body, and count the parts that were not found.

Roles may be right one by one and still not form a body: legs on another bone than the trunk, a
thigh in the middle of the hips, a head on a claw. Motion retargeted from or onto such a body is
wrong in ways that no measure of single bones shows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..maths.rotations import quat
from ..motion.clip import Clip
from ..skeleton.bone_names import find_counterpart, split_side
from ..skeleton.skeleton import Skeleton
from .body_subset import is_end, is_helper
from .named_bones import NamedBones
from .numbers import NUMBERS
from .published_rigs import ARM_PARTS
from .sampled_body import measure_segments, sample_few_positions

if TYPE_CHECKING:
    from .body_roles import BodyRoles

_SIDES = {"left": "L", "right": "R"}
_TRUNK = ("spine", "neck", "head")
_NEEDED = {"hips", "left_thigh", "right_thigh"}
# segments with compared lengths, and their ends
_SEGMENTS = {"thigh": "shin", "shin": "foot", "upper_arm": "forearm", "forearm": "hand"}
_LEG = ("thigh", "shin", "foot", "toe")
_PAIRS = (("thigh", "shin"), ("upper_arm", "forearm"))


@dataclass(frozen=True)
class PlanFault:
    """A fault of a part of a body: its role, the names of bones, and words about both."""

    role: str
    bones: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class BodyPlan:
    """The faults of a body, and its missing roles, for which no bone was found."""

    faults: tuple[PlanFault, ...] = ()
    missing: tuple[str, ...] = ()

    def describe(self, who: str) -> tuple[str, ...]:
        """Return a sentence for each fault of the body `who`, such as "The source 'walk'"."""
        return tuple(
            f"{who}: {fault.text}; choose the bones in the table of bones." for fault in self.faults
        )


def check_body_plan(
    skeleton: Skeleton,
    roles: BodyRoles,
    clips: Sequence[Clip] = (),
    given: Collection[str] = (),
) -> BodyPlan:
    """Check the roles of a body, in some frames of clips or at rest without clips.

    Lengths of parts `given` by hand are trusted, and parts given as absent are not missing.
    """
    missing = tuple(_list_missing_parts(skeleton, roles, given))
    if not roles.chains.keys() >= _NEEDED:
        return BodyPlan((), missing)  # which is reported without a plan
    checked = _CheckedBody(skeleton, roles, sample_few_positions(skeleton, clips), given)
    faults = (
        *checked.check_fork(),
        *checked.check_trunk_and_arms(),
        *checked.check_places(),
        *checked.check_middle(),
        *checked.check_sides(),
        *checked.check_lengths(),
    )
    return BodyPlan(faults, missing)


class _CheckedBody:
    """A body with its roles and world positions (F, B, 3)."""

    def __init__(
        self, skeleton: Skeleton, roles: BodyRoles, points: np.ndarray, given: Collection[str]
    ) -> None:
        self.skeleton = skeleton
        self.roles = roles
        self.given = given
        self.points = points.astype(np.float64)
        self.hips = roles.chains["hips"]
        self.firsts = {role: chain[0] for role, chain in roles.chains.items()}

    @cached_property
    def leg(self) -> float:
        """The mean length of both legs."""
        lengths = (self._measure(f"{side}_{part}") for side in _SIDES for part in _PAIRS[0])
        return 0.5 * sum(length or 0.0 for length in lengths)

    def _make_fault(self, role: str, bones: Sequence[int], text: str) -> PlanFault:
        return PlanFault(role, tuple(self.skeleton.names[bone] for bone in bones), text)

    def _name(self, role: str) -> str:
        """Return words for a part with its bone, such as "the left thigh 'UpLeg_L'"."""
        bone = self.hips[-1] if role == "hips" else self.firsts[role]
        return f"the {role.replace('_', ' ')} '{self.skeleton.names[bone]}'"

    def _measure_distance(self, one: int, two: int) -> float:
        """Return the distance of two joints in metres, the median over the frames."""
        return float(measure_segments(self.points[:, [one, two]])[0])

    def _measure(self, role: str) -> float | None:
        """Return the length of a segment in metres, if the body has it and its end."""
        side, _, part = role.partition("_")
        end = f"{side}_{_SEGMENTS[part]}"
        if role not in self.firsts or end not in self.firsts:
            return None
        return self._measure_distance(self.firsts[role], self.firsts[end])

    def check_fork(self) -> Iterator[PlanFault]:
        """Check that legs and trunk branch from the hips."""
        thighs = [self.firsts[f"{side}_thigh"] for side in _SIDES]
        trunk = [self.firsts[role] for role in _TRUNK if role in self.firsts][:1]
        fork = self.skeleton.find_common_ancestor([*thighs, *trunk])
        if fork in self.hips or fork is None:
            return
        names = self.skeleton.names
        yield self._make_fault(
            "hips",
            [*self.hips, fork],
            f"legs and trunk branch from '{names[fork]}', not from {self._name('hips')}",
        )

    def check_trunk_and_arms(self) -> Iterator[PlanFault]:
        """Check that legs, trunk and arms hang on the hips."""
        limbs = [f"{side}_{part}" for part in ("thigh", "upper_arm") for side in _SIDES]
        for role in (*_TRUNK, *limbs):
            bone = self.firsts.get(role)
            if bone is not None and self.hips[0] not in self.skeleton.get_ancestors(bone):
                text = f"{self._name(role)} does not hang on {self._name('hips')}"
                yield self._make_fault(role, [bone, self.hips[0]], text)

    def check_places(self) -> Iterator[PlanFault]:
        """Check that no thigh lies in the middle of the hips or on its twin."""
        near = NUMBERS.same_place * self.leg
        left, right = (self.firsts[f"{side}_thigh"] for side in _SIDES)
        if self._measure_distance(left, right) <= near:
            text = f"{self._name('left_thigh')} lies in the place of {self._name('right_thigh')}"
            yield self._make_fault("left_thigh", [left, right], text)
            return
        for role, bone in (("left_thigh", left), ("right_thigh", right)):
            if self._measure_distance(bone, self.hips[-1]) <= near:
                text = f"{self._name(role)} lies in the place of {self._name('hips')}"
                yield self._make_fault(role, [bone, self.hips[-1]], text)

    def check_middle(self) -> Iterator[PlanFault]:
        """Check that spine and head are on no side, by their names and by where they lie."""
        left, right = (self.points[:, self.firsts[f"{side}_thigh"]] for side in _SIDES)
        across = (left - right) / max(float(np.median(np.linalg.norm(left - right, axis=-1))), 1e-9)
        for role in _TRUNK:
            for bone in self.roles.chains.get(role, ())[-1:]:
                way = self.points[:, bone] - 0.5 * (left + right)
                aside = float(np.median(np.abs(np.sum(way * across, axis=-1))))
                far = float(np.median(np.linalg.norm(way, axis=-1)))
                name = self.skeleton.names[bone]
                names = self.skeleton.names
                has_twin = split_side(name, names)[1] and find_counterpart(name, names) in names
                if aside > NUMBERS.head_aside * far or has_twin:
                    text = f"{self._name(role)} is on one side of the body"
                    yield self._make_fault(role, [bone], text)

    def check_sides(self) -> Iterator[PlanFault]:
        """Check that thighs and arms are on the sides that feet and knees show, in any pose."""
        lefts = self._find_lefts()
        if self.roles.four_legged or lefts is None:
            return
        for part in ("thigh", "upper_arm"):
            pair = [self.firsts.get(f"{side}_{part}") for side in _SIDES]
            if None in pair:
                continue
            left, right = (bone for bone in pair if bone is not None)
            across = quat.normalize_vectors(self.points[:, left] - self.points[:, right])
            if float(np.mean(np.sum(across * lefts, axis=-1))) < NUMBERS.opposite:
                ours = self._name(f"left_{part}")
                theirs = self._name(f"right_{part}")
                text = f"{ours} is on the right of the body, and {theirs} on its left"
                yield self._make_fault(f"left_{part}", [left, right], text)

    def _find_lefts(self) -> np.ndarray | None:
        """Return the ways (F, 3) to the left that feet show, None without toes or by odd knees."""
        lefts = []
        hinges = []
        for side in _SIDES:
            bones = [self.firsts.get(f"{side}_{part}") for part in _LEG]
            if None in bones:
                return None
            hip, knee, ankle, toe = (self.points[:, bone] for bone in bones if bone is not None)
            thigh, shin, foot = (
                quat.normalize_vectors(way) for way in (knee - hip, ankle - knee, toe - ankle)
            )
            lefts.append(np.cross(foot, shin))
            hinges.append(np.cross(thigh, shin))
        left = quat.normalize_vectors(np.mean(lefts, axis=0))
        bent = float(np.mean(np.sum(np.mean(hinges, axis=0) * left, axis=-1)))
        return left if bent > -NUMBERS.knee_bent else None

    def check_lengths(self) -> Iterator[PlanFault]:
        """Check the lengths of segments against the other side and their neighbours."""
        for part in _SEGMENTS:
            yield from self._compare(f"left_{part}", f"right_{part}", NUMBERS.uneven_segments)
        for side in _SIDES:
            for upper, lower in _PAIRS:
                yield from self._compare(
                    f"{side}_{upper}", f"{side}_{lower}", NUMBERS.unlike_segments
                )

    def _compare(self, one: str, two: str, most: float) -> Iterator[PlanFault]:
        lengths = self._measure(one), self._measure(two)
        if None in lengths or {one, two} & set(self.given):
            return
        shorter, longer = sorted(length or 0.0 for length in lengths)
        if longer > most * shorter or longer == 0.0:
            bones = [self.firsts[one], self.firsts[two]]
            ours, theirs = (f"{length or 0.0:.2f} m" for length in lengths)
            text = f"{self._name(one)} is {ours} long, and {self._name(two)} {theirs}"
            yield self._make_fault(one, bones, text)


def _list_missing_parts(skeleton: Skeleton, roles: BodyRoles, given: Collection[str]) -> list[str]:
    """Return the roles that names, or the body's other side, promise, but without bones."""
    taken = {bone for chain in roles.chains.values() for bone in chain}
    free = [
        bone
        for bone, name in enumerate(skeleton.names)
        if bone not in taken and not is_helper(name) and not is_end(name)
    ]
    named = NamedBones.read(skeleton).roles
    expected = dict.fromkeys(named[bone] for bone in free if bone in named)
    for side, other in (("left", "right"), ("right", "left")):
        known = [part for part in ARM_PARTS if f"{other}_{part}" in roles.chains]
        expected |= dict.fromkeys(f"{side}_{part}" for part in known)
    return [role for role in expected if role not in roles.chains and role not in given]
