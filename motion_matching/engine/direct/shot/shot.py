"""Data of a shot: marks to hit, paths to follow, and jumps to avoid."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import MISSING, InitVar, dataclass, field, replace
from typing import Any

import numpy as np

from ...ground.ground import FLAT, Box, Ground, Wall, to_body_units
from ...scale import Scale, measured
from ..numbers import NUMBERS
from .mark_goals import goal, list_goals

Point = tuple[float, float]

LONGEST_SHOT = 600.0  # seconds
MOST_VARIATIONS = 20  # of a shot
SLOWEST = NUMBERS.slowest
FASTEST = NUMBERS.fastest
GAITS = ("walk", "run")
CHARACTER, HIPS = "character", "hips"  # parts of marks other than limbs
HANDS = ("left_hand", "right_hand")  # limbs that have palms
_DISTANCE: Any = {"most": 100.0, "soft_most": 1.0, "entry": "tolerance"}


@measured(height="m")
@dataclass(frozen=True)
class Pose:
    """A pose by the `rotations` of bones, each w, x, y and z relative to the bone above it.

    They are as in the database's poses, with hips relative to the character. `height` is the height
    of the hips above the ground in metres; None keeps the motion's.
    """

    rotations: tuple[tuple[str, tuple[float, float, float, float]], ...] = ()
    height: float | None = None


@dataclass(frozen=True)
class Mark:
    """Requests at a time in seconds; None or empty leaves a value free. `GOALS` describes each.

    - `position` and `height` of the `part` in metres in the world: of the character, its hips, or a
      limb, such as 'left_hand'; `facing` in radians
    - `frame` of a clip, as `frame_names.find_frame` takes it; () of `tags` ends earlier ones
    - `pose`, or the frame of a clip that shows it; each joint is within `pose_tolerance` of it
    - `palm`: direction x, y and z in the world
    """

    time: float = goal(
        MISSING,
        "Frame",
        "Frame to meet the mark on; drag its timeline marker to change it",
        "s",
        by="frame",
    )
    position: Point | None = goal(
        None, "Place", "Be at the start of the arrow on this frame", "m", by="use_place"
    )
    facing: float | None = goal(
        None,
        "Facing",
        "Face along the arrow on this frame",
        "rad",
        by="use_facing",
        steers=True,
        rival="heading",
    )
    hold: float = goal(
        0.0,
        "Hold",
        "Time to stand still from this frame on, or to keep only the limb there; 0: go on at once",
        "s",
        most=LONGEST_SHOT,
        soft_most=10.0,
        words="{:.1f} s",
    )
    frame: str | None = goal(
        None,
        "Moment",
        "Source frame to play on this frame, such as walk_01:120, or walk_01:120:mirrored",
        entry="text",
        by="moment",
        steers=True,
        rival="frame",
        words="{}",
    )
    gait: str | None = goal(
        None, "Gait", "Gait from this mark on", steers=True, entry="gait", rival="gait", words="{}"
    )
    tags: tuple[str, ...] | None = goal(
        None,
        "Other Tags",
        "Ask for different tags from this mark on",
        entry="tags",
        by="use_tags tags",
        steers=True,
        words="{}",
    )
    tolerance: float = goal(
        0.01,
        "Tolerance",
        "Largest distance from its place at which a mark counts as met",
        "m",
        **_DISTANCE,
    )
    facing_tolerance: float = goal(
        0.035,
        "Facing Tolerance",
        "Largest angle from its facing at which a mark counts as met",
        "rad",
        most=math.pi,
        entry="tolerance",
        steers=True,
    )
    pose: Pose | str | None = goal(
        None,
        "Pose",
        "Match the pose stored with Keep Pose at This Frame on this frame",
        "own",
        by="use_pose pose",
        rival="pose",
        words="Pose",
    )
    pose_tolerance: float = goal(
        0.02,
        "Pose Tolerance",
        "Largest distance of any joint at which the pose counts as met",
        "m",
        **_DISTANCE,
    )
    pose_fade: float = goal(
        0.5, "Fade", "Time to blend into the pose and out of it", "s", most=10.0
    )
    part: str = goal(
        CHARACTER,
        "Part",
        "Part of the body to bring to the start of the arrow on this frame",
    )
    height: float | None = goal(
        None,
        "Height",
        "Match the height of the arrow on this frame; off: the height of the motion",
        "m",
        by="use_height",
    )
    leads: bool = goal(
        True,
        "Lead Character",
        "Choose way and motion for this mark; off: only bring the limb or pose there, wherever the "
        "character is",
    )
    palm: tuple[float, float, float] | None = goal(
        None,
        "Palm",
        "Direction of the palm while the hand is at the mark",
        "direction",
        parts=HANDS,
        rival="where the palm faces",
        words="Palm {}",
    )

    @classmethod
    def from_pin(
        cls, limb: str, start: float, stop: float, position: tuple[float, float, float]
    ) -> Mark:
        """Return a mark that does not lead, for a limb to be at a point from `start` to `stop`."""
        x, y, z = position
        return cls(start, (x, y), hold=stop - start, part=limb, height=z, leads=False)

    @property
    def is_limb(self) -> bool:
        """Whether a limb has to be somewhere."""
        return self.is_of_part and self.part != HIPS

    @property
    def is_of_part(self) -> bool:
        """Whether hips or a limb have to be somewhere, and not the character as a whole."""
        return self.position is not None and self.part != CHARACTER

    @property
    def is_place(self) -> bool:
        """Whether the character has to be somewhere, to face somewhere, or to stand."""
        is_asked = self.position is not None or self.facing is not None or self.hold > 0.0
        return self.leads and is_asked

    def free(self) -> Mark:
        """Return the same without a place, a heading and a hold."""
        free = replace(self, position=None, facing=None, hold=0.0, part=CHARACTER, height=None)
        return replace(free, palm=None)

    def find_span(self, fps: float, begins: float = 0.0) -> tuple[int, int]:
        """Return its first and last tick in a take that `begins` at a second of the shot."""
        return round((self.time - begins) * fps), round((self.time + self.hold - begins) * fps)

    def find_goals(self, places: np.ndarray) -> np.ndarray:
        """Return goals (K, 3) of its part, now at places; a free height stays the same."""
        height = places[:, 2] if self.height is None else np.full(len(places), self.height)
        return np.column_stack([np.tile(self.position or (), (len(places), 1)), height])


GOALS = list_goals(Mark)  # by field


@measured(times="s", positions="m")
@dataclass(frozen=True)
class TimedPath:
    """`positions` (K, 2) and `yaws` (K,) at ascending `times` (K,) in seconds.

    Without yaws, the character faces where it goes.
    """

    times: tuple[float, ...]
    positions: tuple[Point, ...]
    yaws: tuple[float, ...] | None = None


@measured(start="s", stop="s")
@dataclass(frozen=True)
class ForbiddenJump:
    """An unwanted jump: from around a frame to around another, as CLIP:FRAME.

    It is forbidden from `start` to `stop` in seconds, by default everywhere.
    """

    source: str
    target: str
    start: float = 0.0
    stop: float = LONGEST_SHOT


@measured(time="s")
@dataclass(frozen=True)
class KeptJump:
    """A required jump from exactly one frame to another, as CLIP:FRAME, at a time in seconds."""

    source: str
    target: str
    time: float


@measured(start="s", stop="s")
@dataclass(frozen=True)
class Tempo:
    """A range in seconds with the rate at which it is played, such as 0.9 for slower."""

    start: float
    stop: float
    rate: float


@measured(seconds="s", position="m", walls="m")
@dataclass(frozen=True)
class Shot:
    """A scene for one character, of `seconds`, from a start position and heading.

    The `seed` chooses among solutions that are about as good. `pieces` are directed anew, one after
    the other, after the whole shot. The character goes on the `floor`, which is not saved to files.
    `pins` are further marks, for scripts of earlier versions.
    """

    seconds: float
    position: Point = (0.0, 0.0)
    facing: float = 0.0
    gait: str = "walk"
    marks: tuple[Mark, ...] = ()
    paths: tuple[TimedPath, ...] = ()
    pins: InitVar[tuple[Mark, ...]] = ()
    forbidden: tuple[ForbiddenJump, ...] = ()
    obstacles: tuple[Box, ...] = ()
    walls: tuple[Wall, ...] = ()
    seed: int = 0
    name: str = field(default="direct", compare=False)
    pieces: tuple[Piece, ...] = ()
    kept: tuple[KeptJump, ...] = ()
    tempos: tuple[Tempo, ...] = ()
    floor: Ground = FLAT

    def __post_init__(self, pins: tuple[Mark, ...]) -> None:
        object.__setattr__(self, "marks", (*self.marks, *pins))

    @property
    def leading(self) -> Shot:
        """The shot with its leading marks only, for which way and motion are chosen."""
        return replace(self, marks=tuple(mark for mark in self.marks if mark.leads))

    @property
    def current(self) -> Shot:
        """The current requests, after all pieces."""
        return self.pieces[-1].shot if self.pieces else self

    def to_body_units(self, scale: Scale) -> Shot:
        """Return the same shot for a creature of a scale, without its pieces."""
        floor = to_body_units(self.floor, scale)
        return replace(scale.to_body(replace(self, pieces=())), floor=floor)

    def with_seed(self, seed: int) -> Shot:
        """Return the same shot with another seed."""
        return replace(self, seed=seed)

    def list_gaits(self) -> Iterator[tuple[float, str]]:
        """Yield each time at which a gait begins, and the gait, in order."""
        yield 0.0, self.gait
        yield from sorted((mark.time, mark.gait) for mark in self.marks if mark.gait)

    def list_tags(self) -> Iterator[tuple[float, frozenset[str]]]:
        """Yield each time at which the requested tags change, and these, in order."""
        changes = [(mark.time, mark.tags) for mark in self.marks if mark.tags is not None]
        for time, tags in sorted(changes):
            yield time, frozenset(tags)


@dataclass(frozen=True)
class Piece:
    """A range in seconds that was directed anew, and the requests of that time."""

    start: float
    stop: float
    shot: Shot
