"""What a data set is asked to hold: shares of its frames that stand, walk, run, turn or have a tag.

Speed and turning are averaged over the second around a frame: hips swing with each stride.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ..control.rollout import Take
from ..database.database import Database
from ..errors import SettingsError
from ..insight.coverage.coverage import GroundMotion, measure_track, measure_tracks
from ..motion.rest import AT_REST
from .numbers import NUMBERS

# SPEED and TURN as in "speed:2-3"; the upper end may be open
_BETWEEN = re.compile(r"(speed|turn):(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)?")


class MeasuredMotion(NamedTuple):
    """F frames: speed in m/s and turn rate in rad/s (F,), and the bits of their tags (F,)."""

    speed: np.ndarray
    turn: np.ndarray
    tags: np.ndarray

    @classmethod
    def from_ground(cls, motion: GroundMotion, tags: np.ndarray) -> MeasuredMotion:
        """Return what counts of the motion of frames."""
        return cls(motion.mean_speed, np.abs(motion.mean_turn_rate), tags)

    @classmethod
    def from_take(cls, take: Take, database: Database) -> MeasuredMotion:
        """Measure a take."""
        tags = np.asarray(database.tags)[take.frames]
        return cls.from_ground(measure_track(take.character, take.fps), tags)

    @classmethod
    def from_database(cls, database: Database) -> MeasuredMotion:
        """Measure all frames of a database, each range by itself."""
        ranges = zip(database.starts, database.stops, strict=True)
        motion = measure_tracks((database.track[a:b] for a, b in ranges), database.fps)
        return cls.from_ground(motion, np.asarray(database.tags))


Find = Callable[[MeasuredMotion, Database], np.ndarray]


def _find_standing(motion: MeasuredMotion, database: Database) -> np.ndarray:
    return motion.speed < AT_REST.moving * database.pace


def _find_walking(motion: MeasuredMotion, database: Database) -> np.ndarray:
    return ~_find_standing(motion, database) & ~_find_running(motion, database)


def _find_running(motion: MeasuredMotion, database: Database) -> np.ndarray:
    return motion.speed >= database.walk_to_run


def _find_turning(motion: MeasuredMotion, database: Database) -> np.ndarray:
    return motion.turn >= NUMBERS.turning


KINDS: Mapping[str, Find] = MappingProxyType(
    {
        "standing": _find_standing,
        "walking": _find_walking,
        "running": _find_running,
        "turning": _find_turning,
    }
)
_GAITS = ("standing", "walking", "running")


class Want(NamedTuple):
    """A share (0 to 1) of all frames that is wanted of a kind of motion, and what finds it."""

    name: str
    share: float
    find: Find
    tag: str = ""


def parse_wants(texts: Sequence[str], database: Database) -> list[Want]:
    """Return what texts such as 'running=30' ask for, in per cent of frames.

    Raises SettingsError for what is no kind or tag, for shares that cannot be, and for motion that
    the database has nothing of.
    """
    wants = [_parse_want(text, database) for text in texts]
    names = [want.name for want in wants]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise SettingsError(f"--want names '{twice}' twice; give one share.")
    gaits = [want.share for want in wants if want.name in _GAITS]
    total = sum(gaits)
    if total > 1.0 + 1e-9 or (len(gaits) == len(_GAITS) and total < 1.0 - 1e-9):
        words = "at most " if len(gaits) < len(_GAITS) else ""
        raise SettingsError(
            f"--want asks for {100 * total:g} % of standing, walking and running together; give "
            f"{words}100 %."
        )
    motion = MeasuredMotion.from_database(database)
    for want in wants:
        found = want.find(motion, database) & database.playable
        if want.share > 0.0 and not found.any():
            raise SettingsError(
                f"--want asks for '{want.name}', but no frame of the database is such motion; "
                "leave it out, or add clips."
            )
    return wants


def _parse_want(text: str, database: Database) -> Want:
    name, _, number = text.rpartition("=")
    try:
        percent = float(number)
    except ValueError:
        percent = math.nan
    if not name or not 0.0 <= percent <= 100.0:
        raise SettingsError(
            f"--want {text} gives no share; write a number from 0 to 100, as in --want running=30."
        )
    share = percent / 100.0
    if name in KINDS:
        return Want(name, share, KINDS[name])
    if match := _BETWEEN.fullmatch(name):
        kind, low, high = match.groups()
        return Want(name, share, _find_between(kind, float(low), float(high or math.inf)))
    if name in database.requestable_tags:
        return Want(name, share, _find_tag(name), name)
    tags = ", ".join(database.requestable_tags) or "none"
    raise SettingsError(
        f"--want {text} names no kind of motion; use {', '.join(KINDS)}, speed:2-3 in m/s, "
        f"turn:90-180 in degrees a second, or a tag of the database ({tags})."
    )


def _find_between(kind: str, low: float, high: float) -> Find:
    def find(motion: MeasuredMotion, _: Database) -> np.ndarray:
        values = motion.speed if kind == "speed" else np.degrees(motion.turn)
        return (values >= low) & (values < high)

    return find


def _find_tag(tag: str) -> Find:
    def find(motion: MeasuredMotion, database: Database) -> np.ndarray:
        return (motion.tags & np.uint32(1 << database.tag_names.index(tag))) != 0

    return find


def count_kinds(wants: Sequence[Want], take: Take, database: Database) -> dict[str, int]:
    """Count the frames of a take that are of each kind: those wanted, all others, and all tags."""
    finds = {
        **KINDS,
        **{tag: _find_tag(tag) for tag in database.requestable_tags if tag not in KINDS},
        **{want.name: want.find for want in wants},
    }
    motion = MeasuredMotion.from_take(take, database)
    return {name: int(find(motion, database).sum()) for name, find in finds.items()}
