"""Views while keys are held: where one looks, and orbit, pan and zoom with the mouse.

Blender ignores shortcuts of the mouse while another key is held, so a live session has to move the
view itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d, region_2d_to_location_3d
from mathutils import Quaternion, Vector

if TYPE_CHECKING:
    from ...live.inputs.devices.keyboard import Keyboard

_WHEEL = 1.2  # how much further away a notch of the wheel leads
_DRAG = 0.006  # the same for a pixel, as a logarithm
_STEEP = 0.05  # least part of the view's direction along the ground for it to count
_WHEELS = {"WHEELUPMOUSE": 1.0 / _WHEEL, "WHEELDOWNMOUSE": _WHEEL}
_TRACKPAD = ("TRACKPADPAN", "TRACKPADZOOM")
_SEEN_HEIGHTS = (0.0, 1.0, 1.8)  # metres above the ground: of a character, one is enough


class View(NamedTuple):
    """A 3D view: its region, and how that looks at the scene."""

    region: Any
    data: Any


def find_views(window: bpy.types.Window | None) -> Iterator[View]:
    """Yield all 3D views of a window, the largest first."""
    areas = [area for area in window.screen.areas if area.type == "VIEW_3D"] if window else []
    for area in sorted(areas, key=lambda area: area.width * area.height, reverse=True):
        space: Any = area.spaces.active
        regions = [region for region in area.regions if region.type == "WINDOW"]
        # the four views of a quad view come in the order of their regions; a single view is the
        # last one's
        data = list(space.region_quadviews) or [space.region_3d]
        for region, seen in zip(regions[-len(data) :], data, strict=False):
            if seen:
                yield View(region, seen)


def find_view_at(window: bpy.types.Window | None, x: int, y: int) -> View | None:
    """Return the 3D view below the mouse, unless a sidebar or a header covers it."""
    for area in window.screen.areas if window else ():
        if area.type == "VIEW_3D" and contains(area, x, y):
            for region in area.regions:
                is_visible = region.width > 1 and region.height > 1
                if is_visible and region.type != "WINDOW" and contains(region, x, y):
                    return None
    return next((view for view in find_views(window) if contains(view.region, x, y)), None)


def contains(part: Any, x: int, y: int) -> bool:
    """Tell whether a pixel of the screen lies in an area or a region."""
    return part.x <= x < part.x + part.width and part.y <= y < part.y + part.height


def compute_heading(data: Any) -> float:
    """Return the heading of a view in radians; from straight above, up is ahead."""
    matrix = data.view_matrix
    x, y = -matrix[2][0], -matrix[2][1]
    if math.hypot(x, y) < _STEEP:
        x, y = matrix[1][0], matrix[1][1]
    return math.atan2(x, -y)


class Navigation:
    """Orbit, pan and zoom with the middle button, the wheel and a trackpad, as in Blender.

    Keys that the keyboard uses to steer do not count as modifiers.
    """

    def __init__(self, keyboard: Keyboard) -> None:
        self._keyboard = keyboard
        self._drag_start: tuple[int, int] | None = None  # where the middle button went down
        self._mouse = (0, 0)  # where the mouse was

    def handle(self, window: bpy.types.Window | None, event: bpy.types.Event) -> bool:
        """Handle an event; return whether it was one of these."""
        (x, y) = self._mouse
        self._mouse = (event.mouse_x, event.mouse_y)
        dx, dy = event.mouse_x - x, event.mouse_y - y
        if event.type == "MIDDLEMOUSE" and event.value == "RELEASE":
            was = self._drag_start
            self._drag_start = None
            return was is not None
        if event.type == "MOUSEMOVE":
            view = find_view_at(window, *self._drag_start) if self._drag_start else None
            if view:
                self._drag(view, event, dx, dy)
            return view is not None
        view = find_view_at(window, event.mouse_x, event.mouse_y)
        if view is None or view.data.view_perspective == "CAMERA":
            return False
        if event.type == "MIDDLEMOUSE" and event.value == "PRESS" and not event.alt:
            self._drag_start = event.mouse_x, event.mouse_y
        elif event.type in _WHEELS and not (event.ctrl or event.shift or event.alt):
            _zoom(view, _WHEELS[event.type])
        elif event.type in _TRACKPAD:
            dx, dy = event.mouse_x - event.mouse_prev_x, event.mouse_y - event.mouse_prev_y
            self._drag(view, event, dx, dy)
        else:
            return False
        return True

    def _is_modifier(self, kind: str) -> bool:
        return not any(self._keyboard.uses(f"{side}_{kind}") for side in ("LEFT", "RIGHT"))

    def _drag(self, view: View, event: bpy.types.Event, dx: int, dy: int) -> None:
        if event.type == "TRACKPADZOOM" or (event.ctrl and self._is_modifier("CTRL")):
            _zoom(view, math.exp(-_DRAG * dy))
        elif event.shift and self._is_modifier("SHIFT"):
            _pan(view, dx, dy)
        else:
            _orbit(view, dx, dy)


def _orbit(view: View, dx: int, dy: int) -> None:
    """Turn about the vertical and the view's horizontal axis, as Blender's turntable does."""
    data = view.data
    inputs = bpy.context.preferences.inputs
    if data.is_orthographic_side_view and inputs.use_auto_perspective:
        data.view_perspective = "PERSP"
    turn = inputs.view_rotate_sensitivity_turntable
    around = Quaternion((0, 0, 1), -turn * dx)
    over = Quaternion((1, 0, 0), turn * dy)
    data.view_rotation = around @ data.view_rotation @ over


def _pan(view: View, dx: int, dy: int) -> None:
    (region, data), center = view, view.data.view_location.copy()
    middle = Vector((region.width / 2, region.height / 2))
    before = region_2d_to_location_3d(region, data, middle, center)
    after = region_2d_to_location_3d(region, data, middle + Vector((dx, dy)), center)
    data.view_location = center + before - after


def _zoom(view: View, factor: float) -> None:
    view.data.view_distance = min(max(view.data.view_distance * factor, 0.01), 10_000.0)


def _shows(view: View, point: Vector) -> bool:
    pixel = location_3d_to_region_2d(*view, point)
    region = view.region
    return bool(pixel and 0.0 <= pixel.x < region.width and 0.0 <= pixel.y < region.height)


class ViewFollower:
    """Moves views along with the character."""

    HALFLIFE = 0.15  # seconds

    def __init__(self, window: bpy.types.Window | None, position: tuple[float, float]) -> None:
        self._screen = window.screen.name if window else ""
        self._position = position

    def look_at(self, window: bpy.types.Window | None, ground: float) -> None:
        """Move views that do not show the character, who stands at the `ground`, to it."""
        x, y = self._position
        points = [Vector((x, y, ground + height)) for height in _SEEN_HEIGHTS]
        for view in find_views(window):
            if view.data.view_perspective != "CAMERA" and not any(_shows(view, p) for p in points):
                view.data.view_location = points[1]

    def set_position(self, position: tuple[float, float]) -> None:
        """Note the character's position (x, y) without moving views."""
        self._position = position

    def follow(
        self, window: bpy.types.Window | None, position: tuple[float, float], dt: float = math.inf
    ) -> None:
        """Move views toward the character's position (x, y) for `dt` seconds, or all the way."""
        (x, y) = position
        (x0, y0) = self._position
        step = (1.0 - 0.5 ** (dt / self.HALFLIFE)) * Vector((x - x0, y - y0, 0.0))
        if window is None or window.screen.name != self._screen or step.length < 1e-5:
            return
        self._position = x0 + step.x, y0 + step.y
        for view in find_views(window):
            if view.data.view_perspective != "CAMERA":
                view.data.view_location = view.data.view_location + step
