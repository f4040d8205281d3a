"""Compute a body's motion in the world, and which of its frames count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .. import retargeting  # only reports compare hips
from ..body.rig import Roles
from ..legs.joints import compute_accelerations
from ..motion.clip import Clip
from ..motion.simulation_bone import GroundTrack, SimulationBoneSettings, find_track
from .numbers import NUMBERS


@dataclass(frozen=True)
class BodyMotion:
    """World motion of F frames: bones (F, B, 3), joints of legs, and the simulation bone.

    `legs` (F, L, 4, 3) are the thigh, shin, foot and toe of each leg.
    """

    fps: float
    positions: np.ndarray
    legs: np.ndarray
    track: GroundTrack

    @property
    def toes(self) -> np.ndarray:
        """Toes (F, L, 3)."""
        return self.legs[:, :, 3]

    @cached_property
    def velocity(self) -> np.ndarray:
        """Ground velocity (F, 2) of the simulation bone."""
        return np.gradient(self.track.positions, 1 / self.fps, axis=0)

    @cached_property
    def turn_rate(self) -> np.ndarray:
        """Absolute turn rate (F,) of the simulation bone, rad/s."""
        return np.abs(np.gradient(self.track.yaw, 1 / self.fps))

    @cached_property
    def toe_speed(self) -> np.ndarray:
        """Horizontal speeds (F, L) of toes in m/s, by central differences."""
        return np.linalg.norm(np.gradient(self.toes[..., :2], 1 / self.fps, axis=0), axis=-1)

    @cached_property
    def knee_rates(self) -> np.ndarray:
        """Speeds (F, L) at which knees bend or stretch, in rad/s, since the frame before."""
        upper, lower = np.moveaxis(np.diff(self.legs[:, :, :3], axis=2), 2, 0)
        sine = np.linalg.norm(np.cross(upper, lower), axis=-1)
        bend = np.arctan2(sine, np.sum(upper * lower, axis=-1))
        return np.abs(np.diff(bend, axis=0, prepend=bend[:1])) * self.fps

    @cached_property
    def crossings(self) -> np.ndarray:
        """Metres (F,) by which the ankles of the first two legs passed each other sideways."""
        if self.legs.shape[1] < 2:
            return np.zeros(len(self.legs))
        hips, ankles = (self.legs[:, 0, at, :2] - self.legs[:, 1, at, :2] for at in (0, 2))
        width = np.maximum(np.linalg.norm(hips, axis=-1), 1e-9)
        return -np.sum(ankles * hips, axis=-1) / width

    @cached_property
    def bone_accelerations(self) -> np.ndarray:
        """Acceleration (F, B) of every bone in m/s², by second differences; 0 at both ends."""
        return compute_accelerations(self.positions, self.fps)

    @cached_property
    def acceleration(self) -> np.ndarray:
        """Largest acceleration (F,) among the bones, m/s²."""
        return self.bone_accelerations.max(axis=-1)


@dataclass(frozen=True)
class Frames:
    """Measures of F frames of any clips, in any order.

    - of L toes (F, L): `toe_speeds` in m/s, `toe_heights` above their floor, and `contacts`
    - `knee_rates` (F, L) in rad/s and `crossings` (F,) in metres, as of a body
    - the largest `accelerations` (F,) among the bones in m/s²
    - `begins` (F,): whether a frame does not go on from the one before
    """

    toe_speeds: np.ndarray
    toe_heights: np.ndarray
    contacts: np.ndarray
    knee_rates: np.ndarray
    crossings: np.ndarray
    accelerations: np.ndarray
    begins: np.ndarray

    @classmethod
    def from_body(cls, body: BodyMotion, contacts: np.ndarray, floors: np.ndarray) -> Frames:
        """Return the frames of a body with its contacts (F, L), over floors (L,)."""
        heights = np.maximum(body.toes[..., 2] - floors, 0.0)
        of_legs = body.knee_rates, body.crossings
        begins = np.arange(len(heights)) == 0
        return cls(body.toe_speed, heights, contacts, *of_legs, body.acceleration, begins)

    @classmethod
    def concatenate(cls, parts: Iterable[Frames]) -> Frames:
        """Return the frames of all parts."""
        return cls(*map(np.concatenate, zip(*(vars(part).values() for part in parts), strict=True)))

    def select(self, frames: np.ndarray) -> Frames:
        """Return some of the frames, by their numbers; those after one another go on."""
        selected = Frames(*(values[frames] for values in vars(self).values()))
        steps = np.diff(frames, prepend=frames[:1] + 1)
        # motion at another rate plays frames twice, or leaves some out
        return replace(selected, begins=(steps < 0) | (steps > NUMBERS.most_frames_on))


def measure_body(
    clip: Clip, roles: Roles, hips_forward: np.ndarray, settings: SimulationBoneSettings
) -> BodyMotion:
    """Measure the world motion of a clip, with the simulation bone found as for the database."""
    _, positions = clip.compute_world()
    [stiff] = retargeting.loose_hips.stiffen_hips([clip], roles)
    track = find_track(stiff, roles.hips, roles.spine, hips_forward, settings, root=roles.root)
    positions = positions.astype(np.float64)
    return BodyMotion(clip.fps, positions, positions[:, roles.leg_bones], track)
