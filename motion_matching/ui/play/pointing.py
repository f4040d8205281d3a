"""Pointing at the ground: what lies below the mouse, and clicks that say where to go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy_extras.view3d_utils import region_2d_to_origin_3d, region_2d_to_vector_3d

from ... import engine
from . import navigation

if TYPE_CHECKING:
    from ...app.live.host import LiveSession
    from ...engine.ground.ground import Ground

_HIGH = 100.0  # metres from which the rays of a view without perspective come
# pixels that the navigation gizmo takes: beside the axes, and below them for its buttons
_NAVIGATION_SIDE = 30.0
_NAVIGATION_BUTTONS = 230.0

Point3 = tuple[float, float, float]


def find_ground_below(
    view: navigation.View, x: int, y: int, ground: Ground, above: float = 0.0
) -> Point3 | None:
    """Return the point of the ground, raised by `above`, below a pixel of the screen; or None."""
    region, data = view
    pixel = x - region.x, y - region.y
    origin: Any = region_2d_to_origin_3d(region, data, pixel)
    direction: Any = region_2d_to_vector_3d(region, data, pixel).normalized()
    if not data.is_perspective and direction.z < 0.0:
        origin = origin + direction * min((origin.z - _HIGH) / -direction.z, 0.0)
    return engine.ground.rays.cast_ray(ground, origin, direction, above)


class GroundClicks:
    """Clicks and drags with the left button, which say where the character of a session goes."""

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self._press: tuple[int, int] | None = None  # where the button went down

    def handle(self, window: bpy.types.Window | None, event: bpy.types.Event) -> bool:
        """Handle an event; return whether it was one of these."""
        if not self._live.display.takes_goals:
            return False
        if event.type == "MOUSEMOVE" and self._press:
            return self._go(window, event)
        if event.type != "LEFTMOUSE":
            return False
        was = self._press
        self._press = None
        if event.value == "RELEASE":
            return was is not None
        is_modified = event.ctrl or event.alt or event.shift or event.oskey
        if is_modified or _is_on_navigation(window, event.mouse_x, event.mouse_y):
            return False
        if navigation.find_view_at(window, event.mouse_x, event.mouse_y) is None:
            return False
        self._press = event.mouse_x, event.mouse_y
        return self._go(window, event)

    def _go(self, window: bpy.types.Window | None, event: bpy.types.Event) -> bool:
        view = navigation.find_view_at(window, *self._press) if self._press else None
        if view:
            ground = self._live.session.performer.ground
            point = find_ground_below(view, event.mouse_x, event.mouse_y, ground)
            if point:
                self._live.display.go_to(*point[:2])
        return view is not None


def _is_on_navigation(window: bpy.types.Window | None, x: int, y: int) -> bool:
    """Tell whether a pixel belongs to the axes and buttons in the corner of a 3D view."""
    view: Any = bpy.context.preferences.view
    scale = bpy.context.preferences.system.ui_scale
    size = view.gizmo_size_navigate_v3d
    for area in window.screen.areas if window else ():
        if area.type != "VIEW_3D" or not navigation.contains(area, x, y):
            continue
        space: Any = area.spaces.active
        if not (space.show_gizmo and space.show_gizmo_navigate):
            return False
        sidebars = (r.x for r in area.regions if r.type == "UI" and r.width > 1)
        right = min((area.x + area.width, *sidebars))
        top = area.y + area.height
        width, height = size + _NAVIGATION_SIDE, size + _NAVIGATION_BUTTONS
        return bool(x > right - width * scale and y > top - height * scale)
    return False
