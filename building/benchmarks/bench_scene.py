"""Between Blender's data and the engine's: sampling actions, and baking clips. Loads Blender."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import bpy
import numpy as np

from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.scene.reading.sampling import sample
from motion_matching.scene.rig.armature import compute_standing_rest, create_armature
from motion_matching.scene.writing.bake import bake
from tests.scene.keys import read_channels

from . import bench_path
from .bench_search import Row
from .data import Recordings, add_fingers

BONES = 65
SAMPLED_FRAMES, BAKED_FRAMES = 5_000, 10_000
CURVES_REACH, EVALUATED_REACH = 50_000.0, 250_000.0  # microseconds for 1,000 frames
BAKE_REACH = 50_000.0
FEWER_KEYS = 0.005  # metres that bones may be off for fewer keys
TOLERANCE = 1e-4  # metres and radians, of bones relative to their parents


def run(recordings: Recordings, quick: bool) -> list[Row]:
    """Raise AssertionError if curves and Blender's evaluation give different clips."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    clip = make_clip(recordings, 500 if quick else SAMPLED_FRAMES)
    bpy.context.scene.render.fps = round(clip.fps)
    armature = create_armature(clip.skeleton, "Bench")
    rows = measure_sampling(armature, clip, 2 if quick else 5)
    rows += bench_path.run(clip, 5 if quick else 30)
    clip = make_clip(recordings, 1_000 if quick else BAKED_FRAMES)
    return rows + measure_baking(create_armature(clip.skeleton, "Bake"), clip, 2 if quick else 7)


def make_clip(recordings: Recordings, frames: int) -> Clip:
    """Make a clip with many bones from frames of a database, on the ground from bone 0 on."""
    database = add_fingers(recordings.build_database(recordings.find_recipe(frames)), BONES)
    poses = database.poses[:frames].transpose(0, 2, 1)
    rotations = quat.unroll(quat.normalize(poses[..., 3:]))
    clip = Clip(
        "Bench", database.skeleton, np.ascontiguousarray(poses[..., :3]), rotations, database.fps
    )
    return replace(clip, skeleton=compute_standing_rest(clip))


def measure_sampling(armature: bpy.types.Object, clip: Clip, repeats: int) -> list[Row]:
    """Measure an action read from its curves and evaluated, on an armature without constraints or
    mesh.
    """
    action = bake(clip, armature, name="Bench")
    [read], [evaluated] = sample(armature, [action]), sample(armature, [action], evaluate=True)
    assert not read.evaluated_because, read.description
    apart = max(
        np.abs(read.clip.positions - evaluated.clip.positions).max(),
        quat.angle_between(read.clip.rotations, evaluated.clip.rotations).max(),
    )
    if apart > TOLERANCE:
        raise AssertionError(
            f"An action read from its curves and the same evaluated are {apart:.2g} apart"
        )
    curves, blender = _time_in_turns(
        lambda: sample(armature, [action]),
        lambda: sample(armature, [action], evaluate=True),
        repeats,
    )
    ours = _make_row(clip, "action to clip, from its curves", curves, CURVES_REACH)
    theirs = _make_row(clip, "action to clip, evaluated", blender, EVALUATED_REACH)
    return [replace(ours, other=theirs.item, ratio=ours.median / theirs.median), theirs]


def measure_baking(armature: bpy.types.Object, clip: Clip, repeats: int) -> list[Row]:
    """Measure a clip baked with a key on every frame, and with fewer keys."""

    def time_bakes(**options: float) -> tuple[list[float], int]:
        seconds, keys = [], 0
        for _ in range(repeats):
            start = time.perf_counter()
            action = bake(clip, armature, name="Bench", **options)
            seconds.append(time.perf_counter() - start)
            keys = sum(map(len, read_channels(action).values()))
            armature.animation_data_clear()
            bpy.data.actions.remove(action)
        return seconds, keys

    full, every = time_bakes()
    thinned, kept = time_bakes(fewer_keys=FEWER_KEYS)
    thin = _make_row(
        clip,
        f"clip to action, {kept / every:.0%} of the keys for {1000 * FEWER_KEYS:g} mm",
        thinned,
        BAKE_REACH,
    )
    return [_make_row(clip, "clip to action", full, BAKE_REACH), replace(thin, reach=None)]


def _time_in_turns(
    first: Callable[[], object], second: Callable[[], object], repeats: int
) -> tuple[list[float], list[float]]:
    """Return the seconds of both, which take turns."""
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for work, times in zip((first, second), spent, strict=True):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
    return spent


def _make_row(clip: Clip, item: str, seconds: list[float], reach: float) -> Row:
    """Give times for 1,000 frames."""
    spent = [1e9 * s / clip.frame_count for s in seconds]
    return Row(
        f"{clip.skeleton.bone_count} bones",
        clip.frame_count,
        item,
        statistics.median(spent),
        max(spent),
        reach,
    )
