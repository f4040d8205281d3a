"""Clips with odd postures: stumbles in the middle of a run."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from tests.demo import generate_clips

RUNS = ("run_corners", "run_curves", "run_speeds", "run_at_random")


def bend(clip: Clip, share: np.ndarray, angle: float = 60.0, arms: float = 75.0) -> Clip:
    """Bend a clip of the demo performer forward and fling its arms out, by a share (F,) of angles.

    The angles are in degrees.
    """
    skeleton = clip.skeleton
    rotations = clip.rotations.astype(np.float64)
    _, places = quat.fk(rotations, clip.positions.astype(np.float64), skeleton.parents)
    left, right = (places[:, skeleton.index(f"{side}UpLeg")] for side in ("Left", "Right"))
    across = quat.normalize_vectors((left - right) * [1.0, 1.0, 0.0])
    ahead = np.cross(across, [0.0, 0.0, 1.0])
    for name, axis, degrees in (
        ("Spine", across, angle),
        ("LeftArm", ahead, -arms),
        ("RightArm", ahead, arms),
    ):
        bone = skeleton.index(name)
        world, _ = skeleton.compute_bone_world(bone, rotations, clip.positions)
        above, _ = skeleton.compute_bone_world(
            int(skeleton.parents[bone]), rotations, clip.positions
        )
        turned = quat.mul(quat.from_angle_axis(np.radians(degrees) * share, axis), world)
        rotations[:, bone] = quat.inv_mul(above, turned)
    return replace(clip, rotations=rotations.astype(clip.rotations.dtype))


def plan_stumbles(
    clip: Clip, part: float, rng: np.random.Generator, seconds: float = 1.0
) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Plan stumbles in a part of a clip, but for its first and last two seconds, where it stands.

    Returns the share (F,) of a full stumble at each frame, and the frames of each.
    """
    share, stumbles = np.zeros(clip.frame_count), []
    length = round(seconds * clip.fps)
    start, end = round(2.0 * clip.fps), clip.frame_count - round(2.0 * clip.fps)
    while start + length <= end:
        share[start : start + length] = np.sin(np.linspace(0.0, np.pi, length)) ** 2
        stumbles.append((start, start + length))
        start += round(length / part * rng.uniform(0.9, 1.1))
    return share, stumbles


@cache
def make_stumbling_runs(
    part: float = 1.0 / 3.0, fps: float = 30.0
) -> tuple[tuple[Clip, ...], dict[str, list[tuple[int, int]]]]:
    """Return running clips that stumble in a part of their time, and the frames of the stumbles."""
    rng, clips, stumbles = np.random.default_rng(3), [], {}
    for clip in generate_clips(fps=fps):
        if clip.name in RUNS:
            share, stumbles[clip.name] = plan_stumbles(clip, part, rng)
            clips.append(bend(clip, share))
    return tuple(clips), stumbles
