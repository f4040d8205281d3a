"""Views while keys are held: what somebody looks along, and orbit, pan and zoom by the mouse.

Blender matches no shortcut of the mouse while another key is down, so a live session has to move the view by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import bpy
from mathutils import Quaternion, Vector

_WHEEL = 1.2  # how much further away a notch of the wheel leads
_DRAG = 0.006  # the same for a pixel, as a logarithm
_STEEP = 0.05  # of the view's direction that has to lie on the ground for it to count
_WHEELS = {"WHEELUPMOUSE": 1.0 / _WHEEL, "WHEELDOWNMOUSE": _WHEEL}
_TRACKPAD = ("TRACKPADPAN", "TRACKPADZOOM")


class View(NamedTuple):
    """A 3D view: its region, and how that looks at the scene."""

    region: Any
    data: Any


def views(window: bpy.types.Window | None) -> Iterator[View]:
    """All 3D views of a window, the largest first."""
    areas = [area for area in window.screen.areas if area.type == "VIEW_3D"] if window else []
    for area in sorted(areas, key=lambda area: area.width * area.height, reverse=True):
        space: Any = area.spaces.active
        regions = [region for region in area.regions if region.type == "WINDOW"]
        # the four views of a quad view come in the order of their regions; a single view is the last one's
        data = list(space.region_quadviews) or [space.region_3d]
        yield from (
            View(region, seen)
            for region, seen in zip(regions[-len(data) :], data, strict=False)
            if seen
        )


def view_at(window: bpy.types.Window | None, x: int, y: int) -> View | None:
    """The 3D view below the mouse, unless a sidebar or a header lies over it."""
    for area in window.screen.areas if window else ():
        if (
            area.type == "VIEW_3D"
            and area.x <= x < area.x + area.width
            and area.y <= y < area.y + area.height
        ):
            over = [
                region
                for region in area.regions
                if region.type != "WINDOW" and region.width > 1 and region.height > 1
            ]
            if any(_holds(region, x, y) for region in over):
                return None
    return next((view for view in views(window) if _holds(view.region, x, y)), None)


def _holds(region: Any, x: int, y: int) -> bool:
    return region.x <= x < region.x + region.width and region.y <= y < region.y + region.height


def heading(data: Any) -> float:
    """The heading in radians of somebody who looks through a view; from straight above, up is ahead."""
    matrix = data.view_matrix
    x, y = -matrix[2][0], -matrix[2][1]
    if math.hypot(x, y) < _STEEP:
        x, y = matrix[1][0], matrix[1][1]
    return math.atan2(x, -y)


class Navigation:
    """Orbit, pan and zoom with the middle button, the wheel and a trackpad, as Blender has them.

    `is_modifier` says whether a key may count as a modifier, which one that steers may not.
    """

    def __init__(self, is_modifier: Callable[[str], bool]) -> None:
        self._is_modifier = is_modifier
        self._at: tuple[int, int] | None = None  # where the middle button went down
        self._last = (0, 0)  # where the mouse was

    def handle(self, window: bpy.types.Window | None, event: bpy.types.Event) -> bool:
        """Take in an event; True where it was one of these."""
        (x, y), self._last = self._last, (event.mouse_x, event.mouse_y)
        dx, dy = event.mouse_x - x, event.mouse_y - y
        if event.type == "MIDDLEMOUSE" and event.value == "RELEASE":
            was, self._at = self._at, None
            return was is not None
        if event.type == "MOUSEMOVE":
            view = view_at(window, *self._at) if self._at else None
            if view:
                self._drag(view, event, dx, dy)
            return view is not None
        view = view_at(window, event.mouse_x, event.mouse_y)
        if view is None or view.data.view_perspective == "CAMERA":
            return False
        if event.type == "MIDDLEMOUSE" and event.value == "PRESS" and not event.alt:
            self._at = event.mouse_x, event.mouse_y
        elif event.type in _WHEELS and not (event.ctrl or event.shift or event.alt):
            _zoom(view, _WHEELS[event.type])
        elif event.type in _TRACKPAD:
            self._drag(
                view, event, event.mouse_x - event.mouse_prev_x, event.mouse_y - event.mouse_prev_y
            )
        else:
            return False
        return True

    def _drag(self, view: View, event: bpy.types.Event, dx: int, dy: int) -> None:
        if event.type == "TRACKPADZOOM" or (event.ctrl and self._is_modifier("CTRL")):
            _zoom(view, math.exp(-_DRAG * dy))
        elif event.shift and self._is_modifier("SHIFT"):
            _pan(view, dx, dy)
        else:
            _orbit(view, dx, dy)


def _orbit(view: View, dx: int, dy: int) -> None:
    """About the vertical, and over the view's own horizontal: Blender's turntable."""
    data, turn = view.data, bpy.context.preferences.inputs.view_rotate_sensitivity_turntable
    if data.is_orthographic_side_view and bpy.context.preferences.inputs.use_auto_perspective:
        data.view_perspective = "PERSP"
    data.view_rotation = (
        Quaternion((0.0, 0.0, 1.0), -turn * dx)
        @ data.view_rotation
        @ Quaternion((1.0, 0.0, 0.0), turn * dy)
    )


def _pan(view: View, dx: int, dy: int) -> None:
    from bpy_extras.view3d_utils import region_2d_to_location_3d

    middle = Vector((view.region.width / 2, view.region.height / 2))
    before, after = (
        region_2d_to_location_3d(view.region, view.data, at, view.data.view_location)
        for at in (middle, middle + Vector((dx, dy)))
    )
    view.data.view_location = view.data.view_location + before - after


def _zoom(view: View, factor: float) -> None:
    view.data.view_distance = min(max(view.data.view_distance * factor, 0.01), 10_000.0)


class Following:
    """Moves views along with the character."""

    HALFLIFE = 0.15  # seconds

    def __init__(self, window: bpy.types.Window | None, place: tuple[float, float]) -> None:
        self._screen, self._place = window.screen.name if window else "", place

    def stay(self, place: tuple[float, float]) -> None:
        """The character is at a place, and views stay where they are."""
        self._place = place

    def follow(
        self, window: bpy.types.Window | None, place: tuple[float, float], dt: float = math.inf
    ) -> None:
        """The character is at a place (x, y) now, `dt` seconds after it was told last; without it, be there at once."""
        part = 1.0 - 0.5 ** (dt / self.HALFLIFE)
        step = Vector((part * (place[0] - self._place[0]), part * (place[1] - self._place[1]), 0.0))
        if window is None or window.screen.name != self._screen or step.length < 1e-5:
            return
        self._place = self._place[0] + step.x, self._place[1] + step.y
        for view in views(window):
            if view.data.view_perspective != "CAMERA":
                view.data.view_location = view.data.view_location + step
