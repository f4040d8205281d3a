"""Bring motion onto characters without setting any bone, and measure what it becomes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from motion_matching.engine.body.body_roles import BodyRoles, find_body_roles
from motion_matching.engine.body.limbs import FINGERS
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip, join_clips
from motion_matching.engine.retargeting.anatomy import Anatomy
from motion_matching.engine.retargeting.result.report import measure_retargeted
from motion_matching.engine.retargeting.result.result_check import check_result
from motion_matching.engine.retargeting.result.result_measure import SeenBody
from motion_matching.engine.retargeting.retarget import Retargeter
from motion_matching.engine.retargeting.settings import RetargetSettings
from motion_matching.engine.skeleton.skeleton import Skeleton

from .bodies import TARGETS, get_roles, load_data, load_target

_TIMED = 10_000  # frames
_CM = 100.0
_AVERAGED = ("slide", "source_slide", "height", "hips", "legs", "legs_p95", "torso")

Measures = dict[str, Any]


class Cell(NamedTuple):
    """Data, and the character that it is brought onto."""

    data: str
    target: str


class Body(NamedTuple):
    """A skeleton as it is, and as it was taken for without help."""

    truth: Anatomy
    found: Anatomy

    @property
    def right(self) -> frozenset[str]:
        """The parts whose bones were all found."""
        true, guessed = self.truth.roles.chains, self.found.roles.chains
        return frozenset(role for role, bones in true.items() if guessed.get(role) == bones)


def study_body(skeleton: Skeleton, truth: BodyRoles, clips: Sequence[Clip] = ()) -> Body:
    """Find the parts of a skeleton by names and shape, and measure it by them and as it is."""
    anatomy = Anatomy.from_clips(skeleton, truth, clips)
    roles = find_body_roles(skeleton, clips)
    if roles.chains == truth.chains and roles.four_legged == truth.four_legged:
        return Body(anatomy, anatomy)
    return Body(anatomy, Anatomy.from_clips(skeleton, roles, clips))


@lru_cache(maxsize=2)  # cells of one kind of data follow each other
def _study_data(name: str) -> tuple[list[Clip], Body]:
    clips, truth = load_data(name)
    return clips, study_body(clips[0].skeleton, truth, clips)


def measure_cell(cell: Cell, folder: Path) -> tuple[Cell, Measures]:
    """Bring the data of a cell onto its character, whose rig is in `folder` if it is Rigify's."""
    started = time.perf_counter()
    clips, source = _study_data(cell.data)
    character = load_target(cell.target, folder)
    target = study_body(character.skeleton, get_roles(character))
    measures = measure(clips, source, target, TARGETS[cell.target].unit)
    return cell, measures | {"spent": time.perf_counter() - started}


def measure(clips: Sequence[Clip], source: Body, target: Body, unit: float = 1.0) -> Measures:
    """Measure how clips become motion of a target, whose lengths are metres times `unit`."""
    retargeter = Retargeter(source.found, target.found)
    results = [retargeter.retarget(clip) for clip in clips]
    measured = [
        measure_retargeted(clip, result, source.truth, target.truth)
        for clip, result in zip(clips, results, strict=True)
    ]
    frames = [clip.frame_count for clip in clips]
    averages = {
        key: float(np.average([part[key] for part in measured], weights=frames))
        for key in _AVERAGED
    }
    for key in ("slide", "source_slide", "height"):
        averages[key] /= unit
    checks = _check_results(clips, results, source, target)
    shared = source.truth.roles.chains.keys() & target.truth.roles.chains.keys()
    there = _measure_return(clips[0], results[0], source, target)
    return {
        **averages,
        "bones": target.truth.skeleton.bone_count,
        "parts": len(shared),
        "found": len(shared & source.right & target.right) / len(shared),
        "added_slide": averages["slide"] - averages["source_slide"],
        "off_hips": abs(averages["hips"] - 1.0),
        "against": sum(part["against"] for part in measured),
        **checks,
        "back_cm": there and there[0],
        "back_degrees": there and there[1],
        "seconds": _measure_seconds(clips, retargeter),
    }


def _check_results(
    clips: Sequence[Clip], results: Sequence[Clip], source: Body, target: Body
) -> Measures:
    """Return how far fingers and the roll of feet, toes and hands are off, and what is wrong.

    They are 95th percentiles over the frames, of the worst part of the worst clip; None without
    one. 'wrong' is the number of parts beyond the limits that results are checked by.
    """
    bodies = [
        SeenBody.from_clips(body.truth.skeleton, body.truth.roles, seen)
        for body, seen in ((source, clips), (target, ()))
    ]
    checks = [
        check_result(*bodies, clip, result, RetargetSettings())
        for clip, result in zip(clips, results, strict=True)
    ]
    figures = [figure for check in checks for figure in check.figures]
    rolls = [figure.p95 for figure in figures if figure.kind == "roll"]
    fingers = [figure.p95 for figure in figures if figure.role.split("_")[-1] in FINGERS]
    return {
        "fingers": max(fingers, default=None),
        "roll": max(rolls, default=None),
        "wrong": sum(len(check.wrong) + bool(check.tear) for check in checks),
    }


def _measure_return(
    clip: Clip, result: Clip, source: Body, target: Body
) -> tuple[float, float] | None:
    """Return how far joints and turns of limbs are off, in cm and degrees, back on the source.

    None if the target lacks a bone of the source.
    """
    ours, theirs = source.truth.roles.chains, target.truth.roles.chains
    if any(len(theirs.get(role, ())) < len(bones) for role, bones in ours.items()):
        return None
    returned = Retargeter(target.found, source.found).retarget(result)
    bones = [bone for limb in source.truth.limbs.values() for bone in limb.bones.joints]
    before, after = clip.compute_world(), returned.compute_world()
    away = np.linalg.norm(before[1] - after[1], axis=-1)[:, bones]
    turned = quat.angle_between(*(part[0][:, bones].astype(np.float64) for part in (before, after)))
    return _CM * float(away.mean()), float(np.degrees(turned).mean())


def _measure_seconds(clips: Sequence[Clip], retargeter: Retargeter) -> float:
    """Return the seconds of the processor that a clip of 10,000 frames takes."""
    once = join_clips(clips)
    clip = join_clips([once] * -(-_TIMED // once.frame_count)).crop(0, _TIMED)
    started = time.process_time()
    retargeter.retarget(clip)
    return time.process_time() - started
