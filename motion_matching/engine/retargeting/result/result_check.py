"""Judge retargeted motion: find parts that are off the source's, and torn bones.

A part is wrong if the median of its error over all frames, or its 95th percentile, is beyond the
limit. Retargeting gives most parts the direction of their source's, so one limit applies to both.
Legs and the pitch of feet change to keep feet in place: their 95th percentile may be a multiple of
the limit. Deliberate changes by settings are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...body.limbs import FINGERS, SIDES
from ...motion.clip import Clip
from ..frames.end_frames import UNSURE
from ..numbers import NUMBERS
from ..settings import RetargetSettings
from .result_measure import Error, SeenBody, measure_result

_TRUNK = ("hips", "spine", "head")
_LEGS = ("thigh", "shin")
_ENDS = ("foot", "toe", "hand", "fore_toe")
_SPREAD_TURN = "pitch"


class Figure(NamedTuple):
    """Error of a part in degrees: the median and the 95th percentile over frames.

    `frame` is the worst, counted from the start of the clip. `limit` applies to the median, `most`
    to the percentile.
    """

    role: str
    kind: str
    median: float
    p95: float
    limit: float
    most: float
    frame: int

    @property
    def excess(self) -> float:
        """The error as a multiple of its limit; above 1 it is wrong."""
        return max(self.median / self.limit, self.p95 / self.most)


class Tear(NamedTuple):
    """A bone away from its rest in its parent: by metres, at most in a frame."""

    bone: str
    parent: str
    distance: float
    length: float
    frame: int


@dataclass(frozen=True)
class ResultCheck:
    """Result of a clip: figures of all parts, and the most torn bone, if any."""

    clip: str
    figures: tuple[Figure, ...]
    tear: Tear | None = None

    @property
    def is_wrong(self) -> bool:
        return self.tear is not None or bool(self.wrong)

    @property
    def wrong(self) -> list[Figure]:
        """The figures beyond their limits, from the trunk to the parts that it carries."""
        found = [figure for figure in self.figures if figure.excess > 1.0]
        roles = {figure.role for figure in found}
        carried = {below for role in roles for below in _list_turned(role) if below != role}

        def rank(figure: Figure) -> tuple[bool, bool, float]:
            return figure.role in carried, figure.role not in _TRUNK, -figure.excess

        return sorted(found, key=rank)

    @property
    def excess(self) -> float:
        """The largest error as a multiple of its limit."""
        torn = self.tear.distance / (NUMBERS.torn * self.tear.length) if self.tear else 0.0
        return max(torn, *(figure.excess for figure in self.figures), 0.0)

    @property
    def frame(self) -> int:
        """The worst frame of the largest error, from the start of the clip."""
        if self.tear:
            return self.tear.frame
        return self.wrong[0].frame if self.wrong else 0

    @property
    def role(self) -> str:
        """The part with the largest error, "" if a bone is torn or all is right."""
        return "" if self.tear or not self.wrong else self.wrong[0].role

    def count_frames(self, frames: np.ndarray) -> ResultCheck:
        """Return it with frames counted by those (F,) of the whole clip that its own stand for."""
        figures = tuple(f._replace(frame=int(frames[f.frame])) for f in self.figures)
        tear = self.tear and self.tear._replace(frame=int(frames[self.tear.frame]))
        return replace(self, figures=figures, tear=tear)

    def describe(self) -> str:
        """Describe the fault in an unfinished sentence: the clip, the part and the figure."""
        if self.tear:
            tear = self.tear
            return (
                f"'{self.clip}' came out torn: bone '{tear.bone}' is {100 * tear.distance:.1f} cm "
                f"from where it rests in '{tear.parent}'"
            )
        if not self.wrong:
            return f"'{self.clip}' came out as its source"
        worst = self.wrong[0]
        is_usual = worst.median / worst.limit >= worst.p95 / worst.most
        figure, limit = (worst.median, worst.limit) if is_usual else (worst.p95, worst.most)
        part = worst.role.replace("_", " ")
        share = "half" if is_usual else "one in twenty"
        return (
            f"'{self.clip}' came out wrong: the {worst.kind} of the {part} is off by {figure:.0f}° "
            f"or more in {share} of the frames, where {limit:.0f}° is allowed"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values, for reports."""
        return {
            "wrong": self.is_wrong,
            "parts": [figure._asdict() | {"excess": figure.excess} for figure in self.figures],
            "torn": self.tear and self.tear._asdict(),
        }


def check_result(
    source: SeenBody,
    target: SeenBody,
    source_clip: Clip,
    target_clip: Clip,
    settings: RetargetSettings,
    *,
    stray: float = 0.0,
    stretches: bool = False,
) -> ResultCheck:
    """Compare a result with its source, both as seen, frame by frame.

    Bones may `stray` some metres from where they should be; those of control rigs may stretch.
    """
    left_out = _list_changed(settings)
    errors = measure_result(source, target, source_clip, target_clip)
    errors = [error for error in errors if len(error.degrees) and error.role not in left_out]
    figures = _judge_all(errors, target.roles.four_legged, stray) if errors else []
    most = NUMBERS.torn_on_controls if stretches else NUMBERS.torn
    tear = find_tear(target, target_clip, most, legs_only=settings.keep_translations)
    return ResultCheck(source_clip.name, tuple(figures), tear)


def _judge_all(errors: Sequence[Error], four_legged: bool, stray: float) -> list[Figure]:
    """Return the figures of errors with equal frames, all sorted at once: most clips are short."""
    degrees = np.array([error.degrees for error in errors])
    counts = (~np.isnan(degrees)).sum(axis=1)
    ordered = np.sort(degrees, axis=1)  # NaN, for parts not compared, sorts last
    rows = np.arange(len(errors))
    medians, most = (
        ordered[rows, np.rint(share * (counts - 1)).astype(int)] for share in (0.5, 0.95)
    )
    frames = np.nanargmax(degrees, axis=1)
    result = []
    for row, error in enumerate(errors):
        limit, spread = _find_limit(error, four_legged)
        if stray:
            limit += float(np.degrees(np.arctan2(2.0 * stray, max(error.length, 1e-6))))
        measured = float(medians[row]), float(most[row]), limit, spread * limit
        result.append(Figure(error.role, error.kind, *measured, int(frames[row])))
    return result


def _find_limit(error: Error, four_legged: bool) -> tuple[float, float]:
    """Return the limit in degrees, and the allowed multiple for the 95th percentile."""
    part = error.role.removeprefix("left_").removeprefix("right_")
    unsure = UNSURE if error.is_unsure else 0.0
    if part in FINGERS:
        return NUMBERS.finger_limit, 1.0
    if error.kind == "turn":
        return NUMBERS.palm_limit, 1.0
    if part in _ENDS:
        is_spread = part == "foot" and error.kind == _SPREAD_TURN
        return NUMBERS.end_limit + unsure, NUMBERS.pitch_spread if is_spread else 1.0
    if part in _TRUNK:
        return (
            (NUMBERS.head_limit, NUMBERS.spread) if part == "head" else (NUMBERS.trunk_limit, 1.0)
        )
    if four_legged:
        return NUMBERS.animal_limits * NUMBERS.limb_limit, NUMBERS.spread
    return NUMBERS.limb_limit, NUMBERS.spread if part in _LEGS else 1.0


# deliberate changes by settings

_ARM = ("collar", "upper_arm", "forearm", "hand", "fore_toe", *FINGERS)
_LEG = ("thigh", "shin", "foot", "toe")
_BELOW = {part: limb[n + 1 :] for limb in (_ARM, _LEG) for n, part in enumerate(limb[:4])}


def _list_changed(settings: RetargetSettings) -> set[str]:
    """Return the roles that settings turn away from the source's directions."""
    changed = {role for given in settings.offsets for role in _list_turned(given)}
    if settings.hand_ik:
        changed |= set(_both_sides("upper_arm", "forearm"))
    if settings.scale and settings.foot_ik:
        changed |= set(_both_sides("thigh", "shin", "foot"))
    return changed


def _list_turned(role: str) -> Iterator[str]:
    """Yield a turned role, and all that follow it."""
    yield role
    side, _, part = role.partition("_")
    if side in SIDES:
        yield from (f"{side}_{below}" for below in _BELOW.get(part, ()))
        return
    yield from ("spine", "head") if role in ("root", "hips", "spine") else ("head",)
    if role in ("root", "hips", "spine"):
        yield from _both_sides(*_BELOW["collar"])
    if role in ("root", "hips"):
        yield "hips"
        yield from _both_sides("thigh", *_BELOW["thigh"])


def _both_sides(*parts: str) -> Iterator[str]:
    yield from (f"{side}_{part}" for part in parts for side in SIDES)


# torn bones


def find_tear(
    body: SeenBody, clip: Clip, most: float = NUMBERS.torn, *, legs_only: bool = False
) -> Tear | None:
    """Return the bone farthest from its rest in its parent, if one is too far.

    `most` is the allowed distance as a share of its length. A bone may move freely if it carries
    the whole body, so that nothing else on the bones above is part of a body: has a role, or is a
    branch of some bones in a line, in other places than the bones below.
    """
    skeleton = body.skeleton
    below = np.flatnonzero(skeleton.parents >= 0)
    if not clip.frame_count or not len(below):
        return None
    lengths = np.linalg.norm(skeleton.rest_positions[below], axis=-1)
    lengths = np.maximum(lengths.astype(np.float64), NUMBERS.shortest_bone * body.leg)
    # files may rest away from where their bones move
    places = skeleton.rest_positions, body.usual_positions
    away = np.min([np.linalg.norm(clip.positions[:, below] - p[below], axis=-1) for p in places], 0)
    shares = away.max(axis=0) / lengths
    legs = {bone for limb in body.limbs.values() if limb.kind == "leg" for bone in limb.joints[1:]}
    for index in np.argsort(-shares):
        bone = int(below[index])
        if shares[index] <= most:
            return None
        if (legs_only and bone not in legs) or _carries_body(body, bone):
            continue
        return Tear(
            skeleton.names[bone],
            skeleton.names[skeleton.parents[bone]],
            float(away[:, index].max()),
            float(lengths[index]),
            int(away[:, index].argmax()),
        )
    return None


def _carries_body(body: SeenBody, bone: int) -> bool:
    """Return whether no part of a body lies beside the bones above and below a bone."""
    skeleton = body.skeleton
    above = skeleton.get_ancestors(bone)
    inside = [bone, *skeleton.get_descendants(bone)]
    outside = set(range(skeleton.bone_count)) - {*above, *inside}
    roles = {b for role, chain in body.roles.chains.items() if role != "root" for b in chain}
    if outside & roles:
        return False
    return _find_longest(body, outside, [*above, *inside]) < NUMBERS.branch


def _find_longest(body: SeenBody, bones: Collection[int], others: Sequence[int]) -> int:
    """Return the number of bones in the longest line, without those in the places of others."""
    skeleton = body.skeleton
    places = skeleton.compute_rest_world()[1].astype(np.float64)
    longest = dict.fromkeys(range(skeleton.bone_count), 0)
    for bone in sorted(bones):
        away = np.linalg.norm(places[others] - places[bone], axis=-1).min()
        is_own = away > NUMBERS.same_place * body.leg
        longest[bone] = longest.get(int(skeleton.parents[bone]), 0) + is_own
    return max((longest[bone] for bone in bones), default=0)
