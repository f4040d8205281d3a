"""The study of retargeting on the kinds of skeletons that exporters write, by stand-ins of each.

A built-in clip is put on another skeleton, so that what the body does is known exactly. It is
brought onto a character and measured against the clip itself; and a skeleton that rests upright
gets the clip from the plain one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from building.locomotion import locomotion
from motion_matching.engine.body.body_roles import BodyRoles
from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import MotionMatchingError
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.retargeting.bodies import RetargetBody
from motion_matching.engine.retargeting.result.result_check import ResultCheck, check_result
from motion_matching.engine.retargeting.result.result_measure import SeenBody
from motion_matching.engine.retargeting.settings import RetargetSettings
from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.engine import stand_in_poses, stand_ins
from tests.engine.characters import FINGERS, HUMANOID_ROLES, Character, make_mixamo

from .bodies import get_roles

_FRAMES = 300
_TIPTOE, _SWING = 30.0, 40.0  # degrees
_SETTINGS = RetargetSettings()
_GROUPS = {
    "lean": ("hips", "spine"),
    "legs": ("thigh", "shin"),
    "arms": ("upper_arm", "forearm"),
    "fingers": FINGERS,
}
_ENDS = ("foot", "toe")
_GROUP_OF = {part: group for group, parts in _GROUPS.items() for part in parts}
_CM = 100.0


class StandIn(NamedTuple):
    """A kind of skeleton: how it is made of a plain clip, and its bones that have other names.

    `rests` tells whether it rests upright, so that it serves as a character as well.
    """

    text: str
    make: Callable[[Clip], Clip]
    names: Mapping[str, tuple[str, ...]] = {}
    make_plain: Callable[[Clip], Clip] = lambda clip: clip
    rests: bool = True


class Row(NamedTuple):
    """A stand-in as a source or as a character, and what became of it; `refusal` if nothing."""

    kind: str
    use: str
    figures: Mapping[str, float]
    refusal: str = ""


def _insert_hip_joints(clip: Clip) -> Clip:
    moved = stand_ins.insert_hip_joints(clip, ("LHipJoint", "RHipJoint"))
    names = {"UpLeg": "{}Hip", "Leg": "{}Knee", "Foot": "{}Ankle"}
    return stand_ins.rename_sides(moved, names, stand_ins.SIDES)


def _write_six_channels(kind: str, clip: Clip) -> Clip:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "six.bvh"
        stand_ins.write_six_channels(clip, path, kind)
        return bvh.load(path)


def _kneel(clip: Clip) -> Clip:
    return stand_in_poses.hold_pose(clip, "kneeling on insteps")


def _crawl(clip: Clip) -> Clip:
    return stand_in_poses.hold_pose(clip, "crawling")


_add_fingers, _lay = stand_ins.add_fingers, stand_ins.lay_rest_along_x
_HIPS = {
    f"{side}_{part}": (f"{side.title()}{name}",)
    for side in ("left", "right")
    for part, name in (("thigh", "Hip"), ("shin", "Knee"), ("foot", "Ankle"))
}
_NUMBERED = {
    f"{side}_{finger}": tuple(f"{name}{bone}{end}" for bone in (1, 2, 3))
    for side in ("left", "right")
    for number, finger in enumerate(FINGERS, 1)
    for name, end in [
        (f"finger{number}-", f".{side[0]}") if number > 1 else (f"{side[0]}thumb", "")
    ]
}
STAND_INS = {
    "centre": StandIn(
        "a centre above pelvis and spine",
        partial(stand_ins.put_centre_above, centre="COG", pelvis="Pelvis"),
        {"hips": ("COG", "Pelvis")},
    ),
    "hip joints": StandIn("hip joints above the thighs", _insert_hip_joints, _HIPS),
    "four finger bones": StandIn(
        "fingers of four bones, the last a tip", partial(_add_fingers, bones=4), {}, _add_fingers
    ),
    "numbered fingers": StandIn(
        "a thumb that is named beside fingers that have numbers",
        partial(_add_fingers, fingers=stand_ins.NUMBERED_FINGERS),
        _NUMBERED,
        _add_fingers,
    ),
    "six channels": StandIn(
        "positions of all joints, which count from their offsets",
        partial(_write_six_channels, "zero"),
        rests=False,
    ),
    "rest along X": StandIn("a rest pose with all bones along X", _lay, rests=False),
    "tiptoe": StandIn(
        "the same with a heel that never comes down",
        lambda clip: _lay(stand_in_poses.stand_on_tiptoe(clip, _TIPTOE)),
        {},
        partial(stand_in_poses.stand_on_tiptoe, degrees=_TIPTOE),
        rests=False,
    ),
    "loose hips": StandIn(
        f"hips that swing by {_SWING:.0f}°, with joints that turn back",
        partial(stand_in_poses.loosen_hips, degrees=_SWING),
    ),
    "kneeling": StandIn(
        "kneeling on the insteps all the time, with a rest along X",
        lambda clip: _lay(_kneel(clip)), {}, _kneel, rests=False,
    ),
    "crawling": StandIn(
        "crawling all the time, with a rest along X",
        lambda clip: _lay(_crawl(clip)), {}, _crawl, rests=False,
    ),
}  # fmt: skip


def study_stand_ins() -> list[Row]:
    """Measure all stand-ins: as sources, and those that rest upright as characters too."""
    clip = locomotion.generate()[3].crop(0, _FRAMES)
    rows = [_study(kind, "source", clip) for kind in STAND_INS]
    rows += [_study(kind, "character", clip) for kind, one in STAND_INS.items() if one.rests]
    return rows


def _study(kind: str, use: str, clip: Clip) -> Row:
    stand_in = STAND_INS[kind]
    plain = stand_in.make_plain(clip)
    study = _study_source if use == "source" else _study_character
    try:
        return Row(kind, use, _summarize(study(stand_in, plain, clip)))
    except (MotionMatchingError, ArithmeticError) as error:
        return Row(kind, use, {}, str(error))


def _study_source(stand_in: StandIn, plain: Clip, clip: Clip) -> ResultCheck:
    """Bring the stand-in onto a character, and compare that with the plain clip."""
    moved, character = stand_in.make(clip), make_mixamo()
    source, target = RetargetBody(moved.skeleton, [moved]), RetargetBody(character.skeleton)
    result = source.make_retargeter(target, _SETTINGS).retarget(moved)
    return check_result(
        SeenBody.from_clips(plain.skeleton, _find_truth(plain.skeleton, {})),
        SeenBody.from_clips(character.skeleton, get_roles(character)),
        plain,
        result,
        _SETTINGS,
    )


def _study_character(stand_in: StandIn, plain: Clip, clip: Clip) -> ResultCheck:
    """Bring the plain clip onto the stand-in's skeleton."""
    skeleton = stand_in.make(clip).skeleton
    source, target = RetargetBody(plain.skeleton, [plain]), RetargetBody(skeleton)
    result = source.make_retargeter(target, _SETTINGS).retarget(plain)
    return check_result(
        SeenBody.from_clips(plain.skeleton, _find_truth(plain.skeleton, {})),
        SeenBody.from_clips(skeleton, _find_truth(skeleton, stand_in.names)),
        plain,
        result,
        _SETTINGS,
    )


def _find_truth(skeleton: Skeleton, names: Mapping[str, tuple[str, ...]]) -> BodyRoles:
    """Return the true parts of a stand-in's skeleton, given those with other names."""
    roles = HUMANOID_ROLES | dict(_list_fingers()) | dict(names)
    known = set(skeleton.names)
    return get_roles(Character(skeleton, {r: n for r, n in roles.items() if set(n) <= known}))


def _list_fingers() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the bones of all fingers, as they are named and as they are numbered."""
    for side in stand_ins.SIDES:
        for finger in stand_ins.FINGERS:
            role = f"{side}_{finger}".lower()
            yield role, tuple(f"{side}Hand{finger}{bone}" for bone in (1, 2, 3))


def _summarize(check: ResultCheck) -> dict[str, float]:
    """Return how many degrees parts are off: legs in half of the frames, others in one of twenty.

    'torn' is how many centimetres a bone is away from where it rests in its parent, and 'wrong'
    the number of parts that are beyond their limits.
    """
    figures: dict[str, list[float]] = {}
    for figure in check.figures:
        part = figure.role.removeprefix("left_").removeprefix("right_")
        value = figure.median if part in ("thigh", "shin") else figure.p95
        key = figure.kind if part in _ENDS else _GROUP_OF.get(part, "")
        figures.setdefault(key, []).append(value)
    worst = {key: max(values) for key, values in figures.items() if key}
    torn = _CM * check.tear.distance if check.tear else 0.0
    return worst | {"torn": torn, "wrong": float(len(check.wrong) + bool(check.tear))}
