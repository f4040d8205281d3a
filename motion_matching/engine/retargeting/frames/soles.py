"""Find soles in the frames of feet, on bodies whose rest pose does not show them.

A foot that stands flat shows its sole best. A foot that is never flat, as on tiptoe or in kneeling
and crawling, is assumed to mirror the other one, or to have a usual height. Knees show its
direction, because ankles hardly turn sideways.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...body.limbs import LimbBones
from ...maths.rotations import quat
from ...skeleton.skeleton import Skeleton
from ..numbers import NUMBERS
from .frame_axes import draw_ankle, get_axis, make_frames
from .neutral_pose import UP, StandingPoses, find_left

SURE = NUMBERS.sure_of_foot


@dataclass(frozen=True)
class Sole:
    """The way up (3,) from a sole in the frame of its foot, and whether it was `seen` flat.

    A foot that was not may still be `planted` on its toes.
    """

    up: np.ndarray
    seen: bool
    planted: bool

    def measure_slope(self, way: np.ndarray) -> float:
        """Return the angle of the ball below the ankle, from which its `way` (3,) leads."""
        return float(np.arcsin(np.clip(-self.up @ quat.normalize_vectors(way), -1.0, 1.0)))

    def find_toe(
        self,
        skeleton: Skeleton,
        limb: LimbBones,
        poses: StandingPoses,
        name: str,
        frame: np.ndarray,
    ) -> np.ndarray:
        """Return C (4,) of the toe of a foot not seen flat, given the foot's `frame` (4,)."""
        assert limb.toe is not None
        foot = quat.mul(poses.rotations[:, limb.end], frame)
        if self.planted:  # its toes are flat
            return make_frames(
                poses.average_direction(limb.toe, get_axis(foot, 1) * [1.0, 1.0, 0.0], name),
                poses.average_direction(limb.toe, UP, name),
            )
        along = limb.tip
        slope = NUMBERS.toes_slope
        if not along.any():  # it rests in line with the foot
            slope = 0.0
            rest = skeleton.compute_rest_world()[0].astype(np.float64)
            turn = quat.inv_mul(rest[limb.toe], rest[limb.end])
            along = quat.mul_vec(turn, skeleton.rest_positions[limb.toe].astype(np.float64))
        # toes bend about the axis across the foot
        across = poses.average_direction(limb.toe, get_axis(foot, 0))
        up = _tilt_sole(along, across, slope)
        return make_frames(along - (along @ up) * up, up)


def find_soles(
    poses: StandingPoses, limbs: Mapping[str, LimbBones], ways: Mapping[str, np.ndarray], leg: float
) -> dict[str, Sole]:
    """Return the soles of feet by leg; `ways` (3,) lead from ankles to balls, in feet's frames."""
    usual = {}
    for name, way in ways.items():
        height = NUMBERS.ankle_height * leg / max(float(np.linalg.norm(way)), 1e-9)
        usual[name] = min(float(np.arcsin(min(height, 1.0))), NUMBERS.steepest_foot)
    ups = {name: poses.average_direction(limbs[name].end, UP, name) for name in ways}
    seen = {
        name: Sole(quat.normalize_vectors(up), True, name in poses.grounded)
        for name, up in ups.items()
    }
    seconds = {name: float(poses.durations[poses.flat[name] > 0].sum()) for name in ways}
    shares = dict.fromkeys(seconds, 1.0)
    if not poses.stands:
        shares = {name: min(1.0, span / NUMBERS.seen_feet) for name, span in seconds.items()}
    slopes = {}
    for name, sole in seen.items():
        slope = sole.measure_slope(ways[name])
        if sole.planted and 0.0 <= slope <= usual[name] + NUMBERS.too_steep:
            slopes[name] = usual[name] + shares[name] * (slope - usual[name])
    flattest = min(slopes.values(), default=None)
    soles = {}
    for name, sole in seen.items():
        most = -np.inf if flattest is None else flattest + NUMBERS.feet_unlike * shares[name]
        is_flat = slopes.get(name, np.inf) <= most
        slope = slopes[name] if is_flat else usual[name] if flattest is None else flattest
        across = quat.normalize_vectors(np.cross(ways[name], sole.up))
        sureness = min(1.0, seconds[name] / SURE)
        if not sole.planted:
            across = _find_hinge(poses, limbs, name)
            sureness = 0.0
        across = draw_ankle(across, ways[name], sureness)
        soles[name] = Sole(_tilt_sole(ways[name], across, slope), is_flat, sole.planted)
    return soles


def _tilt_sole(way: np.ndarray, across: np.ndarray, slope: float) -> np.ndarray:
    """Return the way up (3,) from a sole with the ball at a `slope` below the ankle."""
    along = quat.normalize_vectors(way)
    above = quat.normalize_vectors(np.cross(across, along))
    return np.cos(slope) * above - np.sin(slope) * along


def _find_hinge(poses: StandingPoses, limbs: Mapping[str, LimbBones], name: str) -> np.ndarray:
    """Return the mean axis (3,) of a knee in the frame of its foot; knees bend backward."""
    limb = limbs[name]
    points = poses.positions
    upper, lower = map(quat.normalize_vectors, limb.find_ways(points))
    hinge = poses.average_direction(limb.end, np.cross(lower, upper))
    if np.linalg.norm(hinge) > NUMBERS.knee_hinge:
        return hinge
    return poses.average_direction(limb.end, -find_left(points, limbs))
