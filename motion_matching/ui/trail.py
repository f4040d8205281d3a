"""What drawing knows of the live session: where its character is seen, and which frames it has played and blended last."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..engine.control.performer import Placement

_FRAMES = 60


class Seen(NamedTuple):
    """The session_uid of an armature, where it is seen on the ground, and the key of the data that it plays."""

    uid: int
    place: Placement
    key: str


live: Seen | None = None
frames: deque[int] = deque(maxlen=_FRAMES)  # of the database
around: Sequence[int] = ()  # frames of the neighbours that a motion field has blended last


def follow(
    uid: int, place: Placement, key: str, frame: int, neighbours: Sequence[int] = ()
) -> None:
    """A live session shows its character at a place, with a frame of the data that has a key and those blended in it."""
    global live, around
    live, around = Seen(uid, place, key), neighbours
    frames.append(frame)


def leave() -> None:
    """The live session has ended."""
    global live, around
    live, around = None, ()
    frames.clear()
