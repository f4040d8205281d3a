"""Empties of a director: arrows on the ground for marks, and spheres for points of limbs.

An arrow points along its own Z axis. One that stands upright, because its rotation was cleared,
faces as a character with that rotation would.
"""

from __future__ import annotations

import math
from typing import Any

import bpy
from mathutils import Matrix, Vector

from ...engine.control.performer import Placement
from ..blender.handle import fit_name

# metres
_ARROW = 0.6
_SPHERE = 0.06
_AXES = 0.2
_LYING = math.radians(90.0)
_UPRIGHT = 0.2  # share of an arrow that lies on the ground, below which it has no direction there
_NUMBER_BYTES = 4


def ensure_collection(known: bpy.types.Collection | None, name: str) -> bpy.types.Collection:
    """Return a known collection, or a new one of a name; it is linked to the current scene."""
    scene = bpy.context.scene
    collection = known or bpy.data.collections.new(fit_name(name, _NUMBER_BYTES))
    if collection not in scene.collection.children_recursive:
        scene.collection.children.link(collection)
    return collection


def add_arrow(
    collection: bpy.types.Collection, name: str, placement: Placement, height: float
) -> bpy.types.Object:
    """Add an empty whose arrow lies on the ground at a placement, and points where it faces.

    The ground has a `height` in metres there.
    """
    empty = _add_empty(collection, name, "SINGLE_ARROW", _ARROW)
    empty.location = (placement.x, placement.y, height)
    # about Z last, so that R Z turns it on the ground, and the sidebar shows its heading
    empty.rotation_mode = "XYZ"
    empty.rotation_euler = (_LYING, 0.0, placement.yaw)
    return empty


def add_sphere(
    collection: bpy.types.Collection, name: str, point: tuple[float, float, float]
) -> bpy.types.Object:
    """Add an empty at a point that a limb is to be at."""
    empty = _add_empty(collection, name, "SPHERE", _SPHERE)
    empty.location = point
    return empty


def add_axes(collection: bpy.types.Collection, name: str, placement: Placement) -> bpy.types.Object:
    """Add an empty at a placement that shows nothing but where it is."""
    empty = _add_empty(collection, name, "PLAIN_AXES", _AXES)
    empty.location = (placement.x, placement.y, 0.0)
    return empty


def _add_empty(collection: bpy.types.Collection, name: str, kind: Any, size: float) -> Any:
    empty: Any = bpy.data.objects.new(fit_name(name, _NUMBER_BYTES), None)
    empty.empty_display_type = kind
    empty.empty_display_size = size
    empty.show_name = empty.show_in_front = True
    collection.objects.link(empty)
    return empty


def read_arrow(matrix: Matrix) -> Placement:
    """Return where the arrow of an empty with a world matrix is, and where it points."""
    place = matrix.translation
    axes = matrix.to_3x3().normalized()
    way = axes @ Vector((0.0, 0.0, 1.0))
    if math.hypot(way.x, way.y) < _UPRIGHT:
        way = axes @ Vector((0.0, -1.0, 0.0))
    return Placement(place.x, place.y, math.atan2(way.x, -way.y))


def read_direction(matrix: Matrix) -> tuple[float, float, float]:
    """Return where the arrow of an empty with a world matrix points, also up and down."""
    way = matrix.to_3x3().normalized() @ Vector((0.0, 0.0, 1.0))
    return way.x, way.y, way.z
