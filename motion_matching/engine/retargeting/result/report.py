"""Measure how well motion was brought onto another body."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...body.limbs import ARMS, LEGS
from ...maths.along_time import find_runs
from ...maths.rotations import quat
from ...motion.clip import Clip
from ..anatomy import Anatomy, Limb
from ..foot_goals import find_floor_heights
from ..frames.frame_axes import get_axis, rotate
from ..frames.neutral_pose import UP, find_planted
from ..frames.partial_pose import WorldMotion
from ..numbers import NUMBERS
from ..plan import compute_size, compute_travel, list_shared_feet
from .result_measure import measure_angles

_CM = 100.0


def measure_retargeted(
    source_clip: Clip, target_clip: Clip, source: Anatomy, target: Anatomy
) -> dict[str, float]:
    """Return measures of a retargeted clip beside its source, in centimetres and degrees.

    'slide' and 'source_slide': mean speed in cm/s of the balls of planted feet, the source's scaled
    by the length of the legs. 'height': mean distance of planted balls from the height they stand
    at. 'hips': ratio of the heights of the hips above flat ankles. 'legs' and 'legs_p95': error of
    the directions of the segments of legs, 'torso' of the way from hips to shoulders. 'against':
    frames in which a knee or elbow is bent to the other side than the source's. 'jump': largest
    turn of such a side between two frames, less the source's.
    """
    ours = _BodyMotion(source, source_clip)
    theirs = _BodyMotion(target, target_clip)
    size = compute_size(source, target)
    names = [name for name in source.limbs if name in target.limbs]
    feet = list_shared_feet(source, target)
    result = _measure_feet(ours, theirs, feet, source_clip.fps)
    heights = [float(np.mean(body.middle[:, 2])) - body.anatomy.ankle for body in (ours, theirs)]
    limbs = [zip(ours.get_segments(n), theirs.get_segments(n), strict=True) for n in feet]
    legs = np.concatenate([measure_angles(one, two) for pairs in limbs for one, two in pairs])
    against, jump = _measure_hinges(ours, theirs, names)
    return {
        **result,
        "hips": heights[1] / (size * heights[0]),
        "legs": float(legs.mean()),
        "legs_p95": float(np.percentile(legs, 95)),
        "torso": _measure_torso(ours, theirs),
        "against": float(against),
        "jump": jump,
    }


class _BodyMotion:
    """World motion of a body's joints; all arrays are over frames."""

    def __init__(self, anatomy: Anatomy, clip: Clip) -> None:
        self.anatomy = anatomy
        bones = [b for limb in anatomy.limbs.values() for b in limb.bones.joints]
        self.motion = WorldMotion(clip, [], [anatomy.hips, *bones])
        places = self.motion.positions
        self.middle = np.mean([places[anatomy.limbs[leg].bones.upper] for leg in LEGS], axis=0)

    def get_segments(self, name: str) -> list[np.ndarray]:
        """Return the unit ways (F, 3) along upper and lower segment of a limb."""
        bones = self.anatomy.limbs[name].bones
        places = self.motion.positions
        points = [places[bone] for bone in (bones.upper, bones.lower, bones.end)]
        return [quat.normalize_vectors(b - a) for a, b in pairwise(points)]

    def find_ball(self, limb: Limb) -> np.ndarray:
        """Return where the ball (F, 3) of a foot is."""
        frame = self.get_frame(limb.bones.end)
        return self.motion.positions[limb.bones.end] + rotate(frame, limb.foot)

    def get_frame(self, bone: int) -> np.ndarray:
        return quat.mul(self.motion.rotations[bone], self.anatomy.frames[bone])

    def find_shoulders(self) -> np.ndarray | None:
        """Return the way (F, 3) from the middle of the hip joints to that of the shoulders."""
        arms = [self.anatomy.limbs[arm] for arm in ARMS if arm in self.anatomy.limbs]
        if len(arms) < 2:
            return None
        joints = [self.motion.positions[arm.bones.upper] for arm in arms]
        return np.mean(joints, axis=0) - self.middle


def _measure_feet(
    ours: _BodyMotion, theirs: _BodyMotion, names: list[str], fps: float
) -> dict[str, float]:
    source = ours.anatomy
    target = theirs.anatomy
    size = compute_size(source, target)
    travel = compute_travel(source, target)
    balls = np.stack([ours.find_ball(source.limbs[name]) for name in names], axis=1)
    moved = np.stack([theirs.find_ball(target.limbs[name]) for name in names], axis=1)
    planted = find_planted(balls, fps, source.leg, source.roles.four_legged)
    slides = [_measure_slide(points, planted, fps) for points in (travel * balls, moved)]
    misses = [np.zeros(0)]
    for index, name in enumerate(names):
        heights = size * (balls[:, index, 2] - source.limbs[name].ball_height)
        runs = find_runs(planted[:, index])
        floors = find_floor_heights(heights, runs, target.leg)
        for (start, stop), floor in zip(runs, floors, strict=True):
            height = moved[start:stop, index, 2] - target.limbs[name].ball_height
            misses.append(np.abs(height - floor))
    missed = np.concatenate(misses)
    return {
        "slide": _CM * slides[1],
        "source_slide": _CM * slides[0],
        "height": _CM * float(missed.mean()) if len(missed) else 0.0,
    }


def _measure_slide(balls: np.ndarray, planted: np.ndarray, fps: float) -> float:
    """Return the mean speed over the ground in m/s of balls (F, L, 3) while planted (F, L)."""
    speeds = fps * np.linalg.norm(np.diff(balls[..., :2], axis=0), axis=-1)
    both = planted[1:] & planted[:-1]
    return float(speeds[both].mean()) if both.any() else 0.0


def _measure_torso(ours: _BodyMotion, theirs: _BodyMotion) -> float:
    """Return the mean angle in degrees between torsos, less their difference when standing."""
    (way, stance), (other, standing) = (
        (body.find_shoulders(), body.anatomy.shoulders) for body in (ours, theirs)
    )
    if way is None or other is None or stance is None or standing is None:
        return 0.0
    way = quat.normalize_vectors(way)
    other = quat.normalize_vectors(other)
    if ours.anatomy.roles.four_legged:
        # trunks of animals rise by other angles from the hips to the shoulders
        pitches = [np.arctan2(-way_up[1], way_up[2]) for way_up in (stance, standing)]
        axis = quat.normalize_vectors(np.cross(UP, way))
        turn = np.full(len(axis), pitches[1] - pitches[0])
        way = quat.mul_vec(quat.from_angle_axis(turn, axis), way)
    return float(measure_angles(way, other).mean())


def _measure_hinges(ours: _BodyMotion, theirs: _BodyMotion, names: list[str]) -> tuple[int, float]:
    """Return the count of hinges bent against the source's, over frames, and their largest jump."""
    against = 0
    jump = 0.0
    for name in names:
        axes = [_find_hinge(body, name) for body in (ours, theirs)]
        bent = np.all([np.linalg.norm(axis, axis=-1) > NUMBERS.clear_side for axis in axes], axis=0)
        side = get_axis(ours.get_frame(ours.anatomy.limbs[name].bones.upper), 0)
        signs = [np.sign(np.sum(axis * side, axis=-1)) for axis in axes]
        against += int(np.sum(bent & (signs[0] * signs[1] < 0)))
        units = [quat.normalize_vectors(axis) for axis in axes]
        turns = [measure_angles(unit[1:], unit[:-1]) for unit in units]
        both = bent[1:] & bent[:-1]
        if both.any():
            jump = max(jump, float((turns[1] - turns[0])[both].max()))
    return against, jump


def _find_hinge(body: _BodyMotion, name: str) -> np.ndarray:
    """Return the axis (F, 3) about which a limb is bent, as long as the sine of its bend."""
    upper, lower = body.get_segments(name)
    return np.cross(lower, upper)
