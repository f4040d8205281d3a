"""Base of all kinds of features: their words, values and strokes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...numbers import NUMBERS
from ..motion_table import sample_values
from ..strokes import Stroke, make_arrow, make_cross

if TYPE_CHECKING:
    from ....control.trajectory import TrajectoryPoint
    from ..bone_motion import BoneMotion, FeatureMotion
    from ..features import Feature
    from ..motion_table import MotionTable

Array = np.ndarray
_ROLES = ("left_foot", "right_foot", "hips", "head", "left_toe", "right_toe")


class FeatureKind(ABC):
    """A kind of feature, with all that the extension needs.

    Files store `name`, and Blender files store `number`, so both never change. `label` and `help`
    are the words of the panel and of the manual, `icon` is one of Blender's. `axes` are the
    choices, with the default first. `is_of_pose` and `is_of_moving_pose` say whether a starting
    pose defines it: any pose, or only one with velocities.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str]
    icon: ClassVar[str]
    number: ClassVar[int]
    axes: ClassVar[tuple[str, ...]]
    is_path = False
    is_number = False  # one number instead of three directions
    has_times = True  # or belongs to a jump now
    longest_fade = 0.0  # seconds, for kinds that depend on the fade of jumps
    usual_bones: ClassVar[tuple[str, ...]] = _ROLES  # the first missing one is added
    stroke = ""  # drawn as a 'position', 'velocity' or 'direction', otherwise not at all
    is_of_pose = False
    is_of_moving_pose = False
    is_of_all_frames = False  # values depend on other ranges, too

    @abstractmethod
    def compute(self, motion: FeatureMotion, feature: Feature) -> Array:
        """Return the values (N, T, 3), or (N, T, 1) of a number, for every frame and time."""

    def measure_least_deviation(self, raw: Array, times: Sequence[float]) -> float:
        """Return the deviation below which raw values (D, N) differ by sway alone."""
        return 0.0

    def find_place(self, value: Array, feature: Feature) -> Array:
        """Return the place (3,) of a value in drawings, if it is drawn as a position."""
        return value

    def make_strokes(self, feature: Feature, value: Array, position: Array) -> list[Stroke]:
        """Return the strokes of a value (3,) from the place (3,) of its bone or on the path."""
        if self.stroke == "position":
            centre = position.copy()
            centre[feature.columns] = self.find_place(value, feature)[feature.columns]
            style, arms = ("trajectory", 2) if self.is_path else ("position", 3)
            return make_cross(style, centre, arms)
        return [make_arrow(self.stroke, position, value)] if self.stroke else []


class BoneKind(FeatureKind):
    """A kind of feature of a bone, now or at other times."""

    axes = ("xyz", "xy", "x", "y", "z", "xz", "yz")

    @abstractmethod
    def compute_now(self, bone: BoneMotion, feature: Feature) -> Array:
        """Return the values (N, 3) of a bone, or (N, 1) of a number, for every frame."""

    def compute(self, motion: FeatureMotion, feature: Feature) -> Array:
        now = self.compute_now(motion.get_bone(feature.bone), feature)
        moments = [sample_values(motion.table, now, time) for time in feature.times] or [now]
        return np.stack(moments, axis=1)


class PathKind(FeatureKind):
    """A kind of feature of the character's path, at times before and after a frame."""

    axes = ("xy", "x", "y", "xyz")
    is_path = True

    @abstractmethod
    def compute_at(self, table: MotionTable, time: float, beyond: str) -> Array:
        """Return the values (N, 2) on the ground, or (N, 1), at `time` seconds from each frame.

        See `sample_track` for `beyond`.
        """

    def compute(self, motion: FeatureMotion, feature: Feature) -> Array:
        moments = [self.compute_at(motion.table, time, motion.beyond) for time in feature.times]
        values = np.stack(moments, axis=1)
        size = 1 if self.is_number else 3
        return np.pad(values, ((0, 0), (0, 0), (0, size - values.shape[2])))

    @abstractmethod
    def read_goal(self, point: TrajectoryPoint) -> tuple[float, float]:
        """Return the values of a query at a point of the goal; a single number is first."""

    def measure_least_deviation(self, raw: Array, times: Sequence[float]) -> float:
        """Return how far the sway of hips moves the ends of a trajectory's vectors."""
        squares = np.square(raw, dtype=np.float64).sum(axis=0) / len(times)
        return float(NUMBERS.sway * np.sqrt(squares.mean()))
