"""Place a live character in the view: where it is, or on the spot while the ground passes by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...engine.control.performer import Frame, Placement
from ...engine.ground.ground import Wall
from ...engine.maths.planar import rotate_xy
from ...live.inputs.leaders.target import PointInput
from ...live.session import Session
from ...scene.blender.handle import Handle
from ..property_access import settings_of
from .steering import find_leader

_REACH = 4.0  # metres of ground around the character
_GRID = 1.0  # metres between its lines
_MAX_WALLS = 32


class DisplayTransform(NamedTuple):
    """Turns what is drawn by `yaw`, then moves it by x and y to where the character is seen."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    def transform_point(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point of the ground is seen."""
        x, y = rotate_xy(x, y, self.yaw)
        return x + self.x, y + self.y

    def invert_point(self, x: float, y: float) -> tuple[float, float]:
        """Return the point of the ground that is seen at a place."""
        return rotate_xy(x - self.x, y - self.y, -self.yaw)

    def transform_placement(self, placement: Placement) -> Placement:
        """Return where a character with a placement is seen."""
        x, y = self.transform_point(placement.x, placement.y)
        return placement._replace(x=x, y=y, yaw=placement.yaw + self.yaw)


class Display:
    """Where the character of a session is seen, and the point of the ground that it is sent to.

    `position` is where it is seen, and `transform` brings what is around it there.
    """

    def __init__(self, session: Session, armature: Handle, walls: Sequence[Wall]) -> None:
        self._session = session
        self._armature = armature
        self._walls = walls
        self._character = Placement(*session.writer.start)
        self._goal = find_leader(session.source, PointInput)
        self.takes_goals = self._goal is not None  # whether it is led by `go_to`
        self.position: tuple[float, float] = self._character[:2]
        self.transform = DisplayTransform()
        session.find_look_at = self._find_look_at

    def begin(self, obj: bpy.types.Object) -> None:
        """Show the character of a session that has started."""
        self._character = self._session.character
        self.position = self._character[:2]
        self.update_spot(obj)

    def update_spot(self, obj: bpy.types.Object) -> None:
        """Let the character stay on the spot, or travel, as the panel says."""
        stays = settings_of(obj).play.view == "spot"
        if stays != (self._session.spot is not None):
            self._session.spot = self.position if stays else None

    def show(self, frame: Frame) -> Frame:
        """Return a tick with character and simulation object where they are seen."""
        self._character = frame.character
        transform = compute_display_transform(self._session, self._character)
        character = transform.transform_placement(frame.character)
        simulation_object = transform.transform_placement(frame.simulation_object)
        self.transform = transform
        self.position = character[:2]
        return frame._replace(character=character, simulation_object=simulation_object)

    @property
    def goal(self) -> tuple[float, float] | None:
        """Return where on the ground the character was sent to, as it is seen."""
        point = self._goal.point if self._goal else None
        return self.transform.transform_point(*point) if point else None

    def go_to(self, x: float, y: float) -> None:
        """Send the character to a point of the ground, as it is seen."""
        if self._goal:
            self._goal.point = self.transform.invert_point(x, y)

    def _find_look_at(self) -> tuple[float, float, float] | None:
        """Return the point at which the character looks, which is chosen as it is seen."""
        obj = self._armature.find()
        target = settings_of(obj).controller.look_at if obj else None
        if target is None:
            return None
        place = target.matrix_world.translation
        return (*self.transform.invert_point(place.x, place.y), place.z)

    def build_moving_ground(self) -> list[list[tuple[float, float]]]:
        """Return lines of the ground as they pass by, if the character stays in its place."""
        if self._session.writer.travels and self._session.spot is None:
            return []
        return build_ground_lines(self._character, self.transform, self._walls)


def compute_display_transform(session: Session, character: Placement) -> DisplayTransform:
    """Return how a session shows a character with a placement."""
    if not session.writer.travels:
        x, y, yaw = session.writer.start
        turn = yaw - character.yaw
        dx, dy = rotate_xy(character.x, character.y, turn)
        return DisplayTransform(x - dx, y - dy, turn)
    if session.spot is None:
        return DisplayTransform()
    return DisplayTransform(session.spot[0] - character.x, session.spot[1] - character.y)


def build_ground_lines(
    character: Placement, transform: DisplayTransform, walls: Sequence[Wall]
) -> list[list[tuple[float, float]]]:
    """Return lines on the ground around a character as seen: a grid in two windings, and walls."""
    lines = []
    for turned in (False, True):
        across, along = (character.y, character.x) if turned else (character.x, character.y)
        winding: list[tuple[float, float]] = []
        low = _REACH
        first, last = math.ceil((across - _REACH) / _GRID), math.floor((across + _REACH) / _GRID)
        for k in range(first, last + 1):
            ends = [(k * _GRID, along - low), (k * _GRID, along + low)]
            winding += [(b, a) if turned else (a, b) for a, b in ends]
            low = -low
        lines.append(winding)
    lines += _find_near_walls(walls, character)
    return [[transform.transform_point(*point) for point in line] for line in lines]


def _find_near_walls(
    walls: Sequence[Wall], character: Placement
) -> list[list[tuple[float, float]]]:
    """Return the walls around a character, or the nearest of them if there are many."""
    if not walls:
        return []
    ends = np.array(walls)
    start = ends[:, 0]
    way = ends[:, 1] - ends[:, 0]
    length = np.maximum(np.einsum("wc,wc->w", way, way), 1e-12)
    along = np.clip(np.einsum("wc,wc->w", character[:2] - start, way) / length, 0.0, 1.0)
    away = np.linalg.norm(start + along[:, None] * way - character[:2], axis=1)
    nearest = np.argsort(away)[:_MAX_WALLS]
    return ends[nearest[away[nearest] < _REACH]].tolist()
