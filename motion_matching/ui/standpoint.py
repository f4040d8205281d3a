"""Where a character is seen while it is live: where it is, or on the spot, and then the ground moves by below it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..engine.control.ground import Wall
    from ..engine.control.performer import Frame, Placement
    from ..live.session import Session

_REACH = 4.0  # metres of ground around the character
_GRID = 1.0  # metres between its lines
_MOST_WALLS = 32


class Standpoint(NamedTuple):
    """What turns by `yaw` and then moves by x and y all that is drawn, so that it lies where the character is seen."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the ground is seen."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return c * x - s * y + self.x, s * x + c * y + self.y

    def place(self, place: Placement) -> Placement:
        """Where somebody who is at a place is seen."""
        x, y = self.point(place.x, place.y)
        return place._replace(x=x, y=y, yaw=place.yaw + self.yaw)


def of(session: Session, character: Placement) -> Standpoint:
    """How a session shows a character that is at a place."""
    if not session.writer.travels:
        x, y, yaw = session.writer.start
        turn = yaw - character.yaw
        c, s = math.cos(turn), math.sin(turn)
        return Standpoint(
            x - c * character.x + s * character.y, y - s * character.x - c * character.y, turn
        )
    if session.spot is None:
        return Standpoint()
    return Standpoint(session.spot[0] - character.x, session.spot[1] - character.y)


def seen(frame: Frame, standpoint: Standpoint) -> Frame:
    """A tick with character and simulation object where they are seen."""
    return frame._replace(
        character=standpoint.place(frame.character),
        simulation_object=standpoint.place(frame.simulation_object),
    )


def ground(
    character: Placement, standpoint: Standpoint, walls: Sequence[Wall]
) -> list[list[tuple[float, float]]]:
    """Lines on the ground around a character, where they are seen: a grid of metres in two windings, and walls."""
    lines = []
    for turned in (False, True):
        across, along = (character.y, character.x) if turned else (character.x, character.y)
        winding: list[tuple[float, float]] = []
        low = _REACH
        for k in range(
            math.ceil((across - _REACH) / _GRID), math.floor((across + _REACH) / _GRID) + 1
        ):
            ends = [(k * _GRID, along - low), (k * _GRID, along + low)]
            winding += [(b, a) if turned else (a, b) for a, b in ends]
            low = -low
        lines.append([standpoint.point(*point) for point in winding])
    return lines + [[standpoint.point(*end) for end in wall] for wall in _near(walls, character)]


def _near(walls: Sequence[Wall], character: Placement) -> list[list[list[float]]]:
    """The walls around a character, the nearest of them where there are many."""
    if not walls:
        return []
    import numpy as np

    ends = np.array(walls)
    start, way = ends[:, 0], ends[:, 1] - ends[:, 0]
    length = np.maximum(np.einsum("wc,wc->w", way, way), 1e-12)
    along = np.clip(np.einsum("wc,wc->w", character[:2] - start, way) / length, 0.0, 1.0)
    away = np.linalg.norm(start + along[:, None] * way - character[:2], axis=1)
    nearest = np.argsort(away)[:_MOST_WALLS]
    return ends[nearest[away[nearest] < _REACH]].tolist()
