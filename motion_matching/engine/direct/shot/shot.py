"""Data of a shot: marks to hit, paths to follow, and jumps to avoid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import InitVar, dataclass, field, replace

from ...ground.ground import FLAT, Box, Ground, Wall, to_body_units
from ...scale import Scale
from ...units import measured
from ..numbers import NUMBERS
from .mark import LONGEST_SHOT, Mark, Point

MOST_VARIATIONS = 20  # of a shot
SLOWEST = NUMBERS.slowest
FASTEST = NUMBERS.fastest
GAITS = ("walk", "run")


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
