"""Data of a shot: marks to hit, paths to follow, and jumps to avoid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import InitVar, dataclass, field, replace

import numpy as np

from ...ground.ground import FLAT, Box, Ground, Wall, to_body_units
from ...scale import Scale, measured
from ..numbers import NUMBERS

Point = tuple[float, float]

LONGEST_SHOT = 600.0  # seconds
MOST_VARIATIONS = 20  # of a shot
SLOWEST = NUMBERS.slowest
FASTEST = NUMBERS.fastest
GAITS = ("walk", "run")
CHARACTER, HIPS = "character", "hips"  # parts of marks other than limbs
HANDS = ("left_hand", "right_hand")  # limbs that have palms


@measured(height="m")
@dataclass(frozen=True)
class Pose:
    """A pose by the `rotations` of bones, each w, x, y and z relative to the bone above it.

    They are as in the database's poses, with hips relative to the character. `height` is the height
    of the hips above the ground in metres; None keeps the motion's.
    """

    rotations: tuple[tuple[str, tuple[float, float, float, float]], ...] = ()
    height: float | None = None


@measured(
    time="s",
    position="m",
    hold="s",
    tolerance="m",
    pose_tolerance="m",
    pose_fade="s",
    height="m",
)
@dataclass(frozen=True)
class Mark:
    """Requests at a time in seconds; None or empty leaves a value free.

    - `position` in metres and `facing` in radians, each within its tolerance
    - `part`: what is at the position: the character, its hips, or a limb, such as 'left_hand';
      `height`: its height in metres in the world
    - `hold`: seconds to stay there from then on
    - `frame` of a clip to show, as `frame_names.find_frame` takes it
    - `gait` and `tags` to move with from then on; () ends earlier tags, None keeps them
    - `pose` to be in, or the frame of a clip that shows it, with each joint within
      `pose_tolerance`; it fades in and out within `pose_fade` seconds
    - `palm`: direction x, y and z in the world that the palm of a hand faces while it is there;
      None leaves that to the motion
    - `leads`: whether way and motion are chosen for it; else only a limb or a pose is brought there
      from the motion
    """

    time: float
    position: Point | None = None
    facing: float | None = None
    hold: float = 0.0
    frame: str | None = None
    gait: str | None = None
    tags: tuple[str, ...] | None = None
    tolerance: float = 0.01  # metres
    facing_tolerance: float = 0.035  # radians
    pose: Pose | str | None = None
    pose_tolerance: float = 0.02  # metres
    pose_fade: float = 0.5  # seconds
    part: str = CHARACTER
    height: float | None = None
    leads: bool = True
    palm: tuple[float, float, float] | None = None

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
