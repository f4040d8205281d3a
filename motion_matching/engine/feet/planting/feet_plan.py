"""Plan the feet of a take: their motion in the data, and their goals."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...ground.ground import FLAT, Ground
from ...legs.legs import LegGeometry
from ..contact_ranges import ContactRange
from .banded import Quantity

_NO_LENGTH = 1e-3  # metres: the ankle of a shorter foot does not show its attitude


class ToeMotion(NamedTuple):
    """The data's motion of toes: steps (T, L, 2) to the next frame, and heights (T, L).

    `jumped` (T,): ticks that do not continue the one before; their steps are of another motion.
    `stand` (T, L, 2): places of toes during contacts, if not those of the motion. `pitches` (T, L):
    largest angles of heels. `sides` (T, L): how far ankles are on their own side of the neighbours.
    """

    steps: np.ndarray
    heights: np.ndarray
    jumped: np.ndarray
    stand: np.ndarray | None = None
    pitches: np.ndarray | None = None
    sides: np.ndarray | None = None


@dataclass(frozen=True)
class FeetPlan:
    """Goals of the feet of a take.

    They stand during `ranges`, and do not give way in `firm` ones. `data` is the toes' motion, by
    default that of the poses. `starts` (L, 2) are the toes' first places.
    A swing is at least `clearance` metres high, and a leg stays `buffer` metres short of straight.
    Joints of legs accelerate by at most `hardest` in m/s². `left_out` names tasks and limits to
    omit, which shows their effect.
    """

    legs: Sequence[LegGeometry]
    ranges: Sequence[ContactRange]
    fps: float
    clearance: float
    buffer: float
    data: ToeMotion | None = None
    ground: Ground = FLAT
    firm: Sequence[ContactRange] = ()
    starts: np.ndarray | None = None
    hardest: float = np.inf
    left_out: Collection[str] = ()


@dataclass(frozen=True)
class FootTrack:
    """A foot of a take of T frames: its motion and its goals.

    Of its `toe` (T, 3), its `arm` (T, 3) from there to the ankle, and the `hip` (T, 3), in metres.
    The ankle pitches about `axis` (T, 3), and the knee bends about `hinge` (T, 3), of the world.
    `upper` and `lower` are the lengths (T,) of the leg, `extension` (T,) is the motion's distance
    from hip to ankle. `steps` (T, 2) to the next frame and `heights` (T,) over the floor are the
    data's, `above` (T,) is the toe's height in the motion over its standing height.

    It is `planted` (T,) at places `stand` (T, 2), which are `firm` (T,) where a person chose them,
    and `raised` (T,) over where it would stand. `down` (T,) is by which angle its heel comes down,
    `side` (T,) how far it is on its own side of the neighbouring foot.
    """

    leg: LegGeometry
    column: int
    toe: np.ndarray
    arm: np.ndarray
    axis: np.ndarray
    hip: np.ndarray
    hinge: np.ndarray
    upper: np.ndarray
    lower: np.ndarray
    extension: np.ndarray
    above: np.ndarray
    steps: np.ndarray
    heights: np.ndarray
    jumped: np.ndarray
    planted: np.ndarray
    stand: np.ndarray
    firm: np.ndarray
    raised: np.ndarray
    down: np.ndarray
    side: np.ndarray

    @property
    def length(self) -> np.ndarray:
        """The length (T,) of the straight leg."""
        return self.upper + self.lower

    @property
    def size(self) -> np.ndarray:
        """The length (T,) of the arm, at least that of a foot that can pitch."""
        return np.maximum(np.linalg.norm(self.arm, axis=-1), _NO_LENGTH)

    @property
    def has_ankle(self) -> bool:
        """Whether foot and toe are two bones."""
        return self.leg.chain[self.leg.foot] != self.leg.chain[-1]

    def select(self, first: int, count: int, order: int = 0) -> Quantity:
        """Return `count` of its unknowns from the `first`: x, y and z of the toe, and the pitch."""
        start = self.column + first
        return Quantity(np.arange(start, start + count), None, order)

    def crop(self, frames: slice) -> FootTrack:
        """Return the foot in some frames."""
        arrays = {name: each for name, each in vars(self).items() if isinstance(each, np.ndarray)}
        cropped: dict[str, Any] = {name: each[frames] for name, each in arrays.items()}
        return replace(self, **cropped)


class Feet(NamedTuple):
    """All feet of a body with their goals, and its place (T, 3) with the floor below.

    They go on from unknowns `before` (N, K) in the first frames, if any.
    """

    feet: list[FootTrack]
    plan: FeetPlan
    bodies: np.ndarray
    before: np.ndarray | None = None

    @property
    def columns(self) -> int:
        """Unknowns of a frame: how far the hips come down, and four of each foot."""
        return 4 * len(self.feet) + 1

    def crop(self, frames: slice, before: np.ndarray | None) -> Feet:
        """Return the feet in some frames, which go on from unknowns `before` (N, K)."""
        feet = [foot.crop(frames) for foot in self.feet]
        return Feet(feet, self.plan, self.bodies[frames], before)
