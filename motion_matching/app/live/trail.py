"""What drawing knows of the live session: where its character is seen, and its last frames."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...engine.control.performer import Placement

_FRAMES = 60


@dataclass
class Trail:
    """The session_uid of an armature, where it is seen, and its frames of the data with a `key`."""

    uid: int
    key: str
    placement: Placement
    frames: deque[int] = field(default_factory=lambda: deque(maxlen=_FRAMES))
    neighbour_frames: Sequence[int] = ()  # that a motion field has blended last
