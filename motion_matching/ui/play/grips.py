"""Find handles in the view: of a target, the points of a curve, and obstacles.

A grip names what it moves, and is found again for each redraw and each movement.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
from mathutils import Matrix, Vector

from ... import app, engine
from ...app.character.characters import get_active_armature
from ...app.property_access import settings_of
from ...app.runtime import runtime
from ...engine.errors import SettingsError
from ..base.operator_base import CHARACTER_ALSO_LIVE, Operator
from ..base.typed_properties import choice, integer, numbers, text
from . import navigation, pointing
from .pointing import Point3

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...engine.ground.ground import Ground

_KINDS = (
    ("target", "Target", "Drag the target; while live, the character goes there at once"),
    ("facing", "Facing", "Turn the target; the character faces there once it has arrived"),
    ("point", "Point", "Drag this point of the curve; while live, the character follows at once"),
    ("obstacle", "Obstacle", "Drag this obstacle; it takes effect when a live session starts"),
)
_FACING = 0.7  # metres from a target to its second grip
# of a curve with more points, its ends have grips
_MAX_POINTS = 64
_MAX_OBSTACLES = 32
_SHAPES = {"MESH", "CURVE", "SURFACE", "FONT"}


_LOCATION: Any = {"subtype": "TRANSLATION", "unit": "LENGTH", "soft_min": -1e3, "soft_max": 1e3}


class Grip(NamedTuple):
    """A grip in the world: its kind, the object that it moves, and the number of the point."""

    kind: str
    name: str
    number: int
    position: Point3


def find_grips(obj: bpy.types.Object) -> list[Grip]:
    """Return the grips of what a character goes to, follows, and avoids."""
    settings = settings_of(obj)
    play = settings.play
    grips = list[Grip]()
    if play.steer == "target" and play.target and play.target.is_editable:
        grips += _find_target_grips(play.target)
    if play.steer == "curve" and play.curve and play.curve.data.is_editable:
        grips += _find_curve_grips(play.curve)
    if settings.obstacles and runtime.live is None:  # a session keeps the ground of its start
        grips += _find_obstacle_grips(settings.obstacles)
    return grips


def _find_target_grips(target: bpy.types.Object) -> Iterator[Grip]:
    x, y, z = place = _get_position(target)
    yield Grip("target", target.name, 0, place)
    yaw = app.character.characters.get_placement(target).yaw
    ahead = x + _FACING * math.sin(yaw), y - _FACING * math.cos(yaw), z
    yield Grip("facing", target.name, 0, ahead)


def _get_position(obj: bpy.types.Object) -> Point3:
    matrix: Any = obj.matrix_world
    return matrix[0][3], matrix[1][3], matrix[2][3]


def _find_curve_grips(curve: bpy.types.Object) -> Iterator[Grip]:
    points = _get_points(curve)
    numbers = range(len(points))
    world: Any = curve.matrix_world
    for index in numbers if len(points) <= _MAX_POINTS else (0, len(points) - 1):
        yield Grip("point", curve.name, index, tuple(world @ points[index].co.xyz))


def _get_points(curve: bpy.types.Object) -> Any:
    """Return the control points of the spline that is followed; empty if there is none."""
    data: Any = curve.data
    spline = data.splines[0] if data.splines else None
    if spline is None:
        return ()
    return spline.bezier_points if spline.type == "BEZIER" else spline.points


def _find_obstacle_grips(collection: bpy.types.Collection) -> Iterator[Grip]:
    count = 0
    members: Any = collection.all_objects
    for obj in members:
        stands = obj.type in _SHAPES and obj.dimensions.z > engine.ground.ground.STEP
        if stands and obj.parent is None and obj.is_editable and obj.visible_get():
            yield Grip("obstacle", obj.name, 0, _get_position(obj))
            count += 1
            if count == _MAX_OBSTACLES:
                return


def move(grip: Grip, position: Sequence[float]) -> None:
    """Move what a grip holds to a position (x, y, z), or turn it there. SettingsError if gone."""
    obj: Any = bpy.data.objects.get(grip.name)
    if obj is None:
        raise SettingsError(f"There is no object '{grip.name}'; choose another one to move.")
    if grip.kind == "point":
        _move_point(obj, grip.number, Vector(position))
    elif grip.kind == "facing":
        _turn(obj, Vector(position))
    elif obj.parent or obj.constraints:
        world = obj.matrix_world.copy()
        world.translation = Vector(position)
        obj.matrix_world = world
    else:
        obj.location = position


def _move_point(curve: bpy.types.Object, index: int, position: Vector) -> None:
    points = _get_points(curve) if curve.type == "CURVE" else ()
    if not 0 <= index < len(points):
        raise SettingsError(f"'{curve.name}' has no point {index}; choose another one to move.")
    point = points[index]
    local = curve.matrix_world.inverted() @ position
    shift = local - point.co.xyz  # of a point that is (x, y, z), or (x, y, z, weight)
    if hasattr(point, "handle_left"):
        left, right = point.handle_left + shift, point.handle_right + shift
        point.co = local
        point.handle_left = left
        point.handle_right = right
    else:
        point.co = (local.x, local.y, local.z, point.co.w)


def _turn(target: bpy.types.Object, position: Vector) -> None:
    world = target.matrix_world
    way = position - world.translation
    turn = math.atan2(way.x, -way.y) - app.character.characters.get_placement(target).yaw
    place = Matrix.Translation(world.translation)
    target.matrix_world = place @ Matrix.Rotation(turn, 4, "Z") @ place.inverted() @ world


class MOTION_MATCHING_OT_move_grip(Operator, bpy.types.Operator):
    """Move the target, a curve point or an obstacle"""

    bl_label = "Move Handle"
    bl_options = {"UNDO"}
    requires = CHARACTER_ALSO_LIVE

    kind: str = choice("target", "Kind", "What is moved", _KINDS)
    name: str = text("", "Object", "Name of the object to move")
    index: int = integer(0, "Point", "Number of the curve point, from 0", min=0)
    location: Sequence[float] = numbers(
        (0.0, 0.0, 0.0), "Location", "Where it is moved to", **_LOCATION
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        """Return the tooltip of a grip."""
        return next(help for kind, _, help in _KINDS if kind == properties.kind)

    def run(self, context: bpy.types.Context) -> None:
        move(Grip(self.kind, self.name, self.index, (0.0, 0.0, 0.0)), self.location)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        """Drag it over the ground, until the button is released."""
        held = (self.kind, self.name, self.index)
        grips = find_grips(get_active_armature(context))
        grip = next((grip for grip in grips if grip[:3] == held), None)
        if grip is None:
            return {"CANCELLED"}
        self._before = grip.position
        self._mouse = (event.mouse_x, event.mouse_y)
        self._ground = _get_ground(context, grip)
        x, y, z = grip.position
        self._above = z - self._ground.height(x, y)
        start = self._find_below(context, event)
        if start is None:
            return {"CANCELLED"}
        self._offset = x - start[0], y - start[1]
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            return {"FINISHED"}
        if event.type in {"RIGHTMOUSE", "ESC"} and event.value == "PRESS":
            return self._move_to(context, self._before) and {"CANCELLED"}
        if event.type != "MOUSEMOVE":
            return {"PASS_THROUGH"}
        if point := self._find_below(context, event):
            x, y = point[0] + self._offset[0], point[1] + self._offset[1]
            return self._move_to(context, (x, y, self._ground.height(x, y) + self._above))
        return {"RUNNING_MODAL"}

    def _find_below(self, context: bpy.types.Context, event: bpy.types.Event) -> Point3 | None:
        view = navigation.find_view_at(context.window, *self._mouse)
        mouse = event.mouse_x, event.mouse_y
        above = self._above
        return view and pointing.find_ground_below(view, *mouse, self._ground, above)

    def _move_to(self, context: bpy.types.Context, position: Sequence[float]) -> set[Any]:
        self.location = position
        result = self.execute(context)
        return {"RUNNING_MODAL"} if result == {"FINISHED"} else result


def _get_ground(context: bpy.types.Context, grip: Grip) -> Ground:
    """Return the ground that a grip moves over; obstacles are part of it, and stay at a height."""
    if grip.kind == "obstacle":
        return engine.ground.ground.FLAT
    if runtime.live:
        return runtime.live.session.performer.ground
    return app.settings.read_ground(get_active_armature(context))[0]
