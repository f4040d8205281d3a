"""The sets of motion that quality is studied on, as databases with their mirror images."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from building.locomotion import locomotion
from building.locomotion.climbs import generate_climbs
from building.locomotion.locomotion import Move
from motion_matching.engine.building import retagging
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.tags.thresholds import AutoTagSettings
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.sources.sources import Source, find_sources
from tests.engine import animals
from tests.engine.stumbles import RUNS, make_stumbling_runs

_SMALL, _SMALL_RATE = 0.6, 48.0
_STRAIGHT_RATE = 120.0
# share of a leg's length that is left, at which a leg that reaches farthest is hardly bent: 3.6°
_SHORTER = 0.9925
_TWO_SPEEDS = (1.2, 1.6)  # m/s
_ABDUCTED = 0.35  # radians by which elbows leave the plane of their limb in each stride
_OTHER_NAMES = {
    "joint_Root": "Root", "Chest": "Spine2",
    "Shoulder_L": "LeftShoulder", "UpperArm_L": "LeftArm", "LowerArm_L": "LeftForeArm",
    "Hand_L": "LeftHand", "UpperLeg_L": "LeftUpLeg", "LowerLeg_L": "LeftLeg",
    "Foot_L": "LeftFoot", "Toes_L": "LeftToeBase",
    "Shoulder_R": "RightShoulder", "UpperArm_R": "RightArm", "LowerArm_R": "RightForeArm",
    "Hand_R": "RightHand", "UpperLeg_R": "RightUpLeg", "LowerLeg_R": "RightLeg",
    "Foot_R": "RightFoot", "Toes_R": "RightToeBase",
}  # fmt: skip


class MotionSet(NamedTuple):
    """What a set is made of, and how; `folder` is the one below MOTION_MATCHING_MOCAP, if any."""

    text: str
    folder: str
    build: Callable[[Path], Database]


def _build_generated(_: Path) -> Database:
    sources = [Source(clip=clip) for clip in locomotion.generate()]
    return build(sources, BuildSettings(mirror=True))[0]


def _build_climbing(_: Path) -> Database:
    clips = [*locomotion.generate(), *generate_climbs()]
    return build([Source(clip=clip) for clip in clips], BuildSettings(mirror=True))[0]


def _build_moving(_: Path) -> Database:
    """Build without standing, with tags of gaits: those that are put on later would replace it."""
    sources = [Source(clip=clip) for clip in locomotion.generate()]
    database = build(sources, BuildSettings(mirror=True, auto_tags=AutoTagSettings()))[0]
    return retagging.exclude(database, database.make_tag_mask({"idle"}))


def _build_stumbling(_: Path) -> Database:
    runs, _stumbles = make_stumbling_runs()
    others = [clip for clip in locomotion.generate() if clip.name not in RUNS]
    sources = [Source(clip=clip) for clip in (*runs, *others)]
    return build(sources, BuildSettings(mirror=True))[0]


def _build_two_walks(_: Path) -> Database:
    clips = [
        locomotion.perform(f"walk at {speed}", [Move(20.0, speed)], 30.0, np.random.default_rng(0))
        for speed in _TWO_SPEEDS
    ]
    return build([Source(clip=clip) for clip in clips], BuildSettings(mirror=True))[0]


def _build_dog(_: Path) -> Database:
    sources = [Source(clip=motion.clip) for motion in animals.make_dog_motions()]
    return build(sources, BuildSettings(mirror=True))[0]


def _build_abducting_dog(_: Path) -> Database:
    motions = animals.make_dog_motions(along_x=True, abduction=_ABDUCTED)
    sources = [Source(clip=motion.clip) for motion in motions]
    return build(sources, BuildSettings(mirror=True))[0]


def _build_straight(_: Path) -> Database:
    clips = locomotion.generate(fps=_STRAIGHT_RATE)
    sources = [Source(clip=_straighten(clip)) for clip in clips]
    return build(sources, BuildSettings(mirror=True, fps=_STRAIGHT_RATE))[0]


def _straighten(clip: Clip) -> Clip:
    """Return a generated clip whose feet and hips stay where they are, and whose legs are shorter."""
    skeleton, names = clip.skeleton, list(clip.skeleton.names)
    positions, rest = clip.positions.copy(), skeleton.rest_positions.copy()
    worlds, places = quat.fk(clip.rotations, clip.positions, skeleton.parents)
    for side in ("Left", "Right"):
        thigh, shin, foot = (names.index(side + part) for part in ("UpLeg", "Leg", "Foot"))
        upper, lower = places[:, shin] - places[:, thigh], places[:, foot] - places[:, shin]
        a, b = (_SHORTER * np.linalg.norm(way, axis=-1).mean() for way in (upper, lower))
        whole = upper + lower
        reach = np.linalg.norm(whole, axis=-1)
        cosine = (a * a + reach**2 - b * b) / (2.0 * a * reach)
        along = whole / reach[:, None]
        across = quat.normalize_vectors(upper - np.sum(upper * along, -1, keepdims=True) * along)
        at_hip = np.arccos(np.clip(cosine, -1.0, 1.0))[:, None]
        knee = a * (np.cos(at_hip) * along + np.sin(at_hip) * across)
        worlds[:, thigh] = quat.mul(quat.between(upper, knee), worlds[:, thigh])
        worlds[:, shin] = quat.mul(quat.between(lower, whole - knee), worlds[:, shin])
        for bone in (shin, foot):
            positions[:, bone] *= _SHORTER
            rest[bone] *= _SHORTER
    rotations = clip.rotations.copy()
    for bone, parent in enumerate(skeleton.parents):
        if parent >= 0:
            rotations[:, bone] = quat.inv_mul(worlds[:, parent], worlds[:, bone])
    body = replace(skeleton, rest_positions=rest)
    turns = quat.unroll(quat.normalize(rotations)).astype(np.float32)
    return replace(clip, skeleton=body, positions=positions, rotations=turns)


def _build_recorded(folder: Path) -> Database:
    return build(find_sources([folder]), BuildSettings(mirror=True))[0]


def _build_small(folder: Path) -> Database:
    loaded = [source.load(BuildSettings().get_axes()) for source in find_sources([folder])]
    sources = [Source(clip=_shrink(clip)) for clip in loaded]
    return build(sources, BuildSettings(mirror=True, fps=_SMALL_RATE))[0]


def _shrink(clip: Clip) -> Clip:
    """Return a clip of a smaller body with other bone names."""
    skeleton = clip.skeleton
    names = tuple(f"mixamorig:{_OTHER_NAMES.get(name, name)}" for name in skeleton.names)
    body = replace(skeleton, names=names, rest_positions=skeleton.rest_positions * _SMALL)
    return replace(clip, skeleton=body, positions=clip.positions * _SMALL)


SETS = {
    "generated": MotionSet("the built-in clips", "", _build_generated),
    "bandai": MotionSet("Bandai-Namco's motion capture", "bandai-namco", _build_recorded),
    "lafan1": MotionSet("LAFAN1's take of pushing and walking", "lafan1", _build_recorded),
    "small": MotionSet(
        f"Bandai-Namco's, {_SMALL:g} times as large, at {_SMALL_RATE:g} frames a second, with "
        "Mixamo's bone names",
        "bandai-namco",
        _build_small,
    ),
    "dog": MotionSet(
        "a generated dog that walks, trots and canters, but neither sideways nor backward, as "
        "`random` asks for",
        "",
        _build_dog,
    ),
    "cmu-walks": MotionSet(
        "eight walks and runs of CMU's, at 60 frames a second, with what the doctor of sources mends",
        "cmu-walks",
        _build_recorded,
    ),
    "straight": MotionSet(
        f"the built-in clips at {_STRAIGHT_RATE:g} frames a second, with legs so short that their "
        "knees are nearly straight",
        "",
        _build_straight,
    ),
    "abducting": MotionSet(
        "the same dog with bones that rest along X, and elbows that leave the plane of their limb",
        "",
        _build_abducting_dog,
    ),
}

# sets of a single study
OTHERS = {
    "climbing": MotionSet("the built-in clips with ramps and stairs", "", _build_climbing),
    "two-walks": MotionSet("two straight walks of 1.2 and 1.6 m/s", "", _build_two_walks),
    "moving": MotionSet("the built-in clips without their standing", "", _build_moving),
    "stumbling": MotionSet(
        "the built-in clips, whose runs stumble a third of the time", "", _build_stumbling
    ),
}


def find_set(name: str) -> tuple[MotionSet, Path]:
    """Return a set that is here, and the folder of its clips."""
    return (OTHERS[name], Path()) if name in OTHERS else find_sets()[name]


def find_sets() -> dict[str, tuple[MotionSet, Path]]:
    """Return the sets whose clips are here, each with their folder, by name."""
    mocap = os.environ.get("MOTION_MATCHING_MOCAP")
    return {
        name: (motion_set, Path(mocap or "") / motion_set.folder)
        for name, motion_set in SETS.items()
        if mocap or not motion_set.folder
    }
