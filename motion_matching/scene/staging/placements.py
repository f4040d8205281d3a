"""Read places on the ground from a scene: objects to walk to, and curves to walk along."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Vector
from mathutils.geometry import interpolate_bezier

from ...engine.control.performer import Placement
from ...engine.errors import MotionMatchingError
from ..blender.handle import Handle

_FORWARD = (0.0, -1.0, 0.0)
_BODIES = ("MESH", "ARMATURE", "CURVE", "SURFACE", "META", "FONT", "VOLUME", "POINTCLOUD")
_FLAT = 0.1  # metres that what counts as ground may be high
_SET = 6.0  # metres from which on what a body stands in counts as a set
# metres between two spots, and how many there are on a side
_STEP = 0.25
_MOST_STEPS = 80
_PER_SEGMENT = 48  # points between two control points of a Bézier curve


class CurvePath(NamedTuple):
    """A curve's points (N, 2) on the ground, the radii (N,) at them, and whether it is closed."""

    points: np.ndarray
    radii: np.ndarray
    cyclic: bool


def read_object_placement(target: Handle) -> Placement | None:
    """Return an object's current position and heading, or None if it was deleted."""
    obj = target.find()
    return _to_placement(obj.matrix_world) if obj else None


def _to_placement(matrix: Matrix) -> Placement:
    place = matrix.translation
    forward = matrix.to_3x3() @ Vector(_FORWARD)
    return Placement(place.x, place.y, float(np.arctan2(forward[0], -forward[1])))


def sample_placements(obj: bpy.types.Object, frames: Sequence[float]) -> list[Placement]:
    """Return an object's positions and headings at frames of the current scene."""
    return list(map(_to_placement, sample_matrices(obj, frames)))


def sample_points(
    obj: bpy.types.Object, frames: Sequence[float]
) -> list[tuple[float, float, float]]:
    """Return an object's positions at frames of the current scene."""
    places = (matrix.translation for matrix in sample_matrices(obj, frames))
    return [(place.x, place.y, place.z) for place in places]


def sample_matrices(obj: bpy.types.Object, frames: Sequence[float]) -> list[Matrix]:
    """Return an object's world matrices at frames of the current scene.

    They are evaluated in a scene of their own, so that nothing in the user's changes.
    """
    scene = bpy.data.scenes.new("Sampling")
    result = []
    render = scene.render
    own = bpy.context.scene.render
    render.fps = own.fps
    render.fps_base = own.fps_base
    try:
        scene.collection.objects.link(obj)
        for frame in frames:
            scene.frame_set(math.floor(frame), subframe=frame % 1.0)
            evaluated = obj.evaluated_get(scene.view_layers[0].depsgraph)
            result.append(evaluated.matrix_world.copy())
    finally:
        bpy.data.scenes.remove(scene)
    return result


def is_animated(obj: bpy.types.Object) -> bool:
    """Return whether keys, drivers or constraints may move an object or one of its parents."""
    one: Any = obj
    while one and not (one.animation_data or one.constraints):
        one = one.parent
    return one is not None


def find_free_spot(low: np.ndarray, high: np.ndarray) -> float:
    """Return the X nearest to 0 where a body of the bounds `low` and `high` (3,) touches nothing.

    What is flat on the ground or as large as a set does not count: a body stands on it or in it.
    """
    shown = [obj for obj in bpy.context.view_layer.objects if obj.visible_get()]
    boxes = np.array([_compute_bounds(obj) for obj in shown if obj.type in _BODIES])
    boxes = boxes.reshape(-1, 2, 3)
    size = boxes[:, 1] - boxes[:, 0]
    solid = (boxes[:, 1, 2] > _FLAT) & (size[:, :2].min(axis=1) < _SET)
    boxes = boxes[solid & np.all((boxes[:, 0] < high)[:, 1:] & (boxes[:, 1] > low)[:, 1:], axis=1)]
    steps = _STEP * np.arange(_MOST_STEPS)
    for x in np.stack([steps, -steps], axis=1).ravel().tolist():
        if not np.any((boxes[:, 0, 0] < high[0] + x) & (boxes[:, 1, 0] > low[0] + x)):
            return float(x)
    return 0.0


def _compute_bounds(obj: bpy.types.Object) -> np.ndarray:
    """Return the lowest and the highest corner (2, 3) of an object in the world."""
    matrix = np.array(obj.matrix_world)
    corners = np.array(obj.bound_box) @ matrix[:3, :3].T + matrix[:3, 3]
    return np.stack([corners.min(axis=0), corners.max(axis=0)])


def read_curve_path(obj: bpy.types.Object) -> CurvePath:
    """Read the first spline of a curve object as it lies in the world, seen from above.

    Radii are factors of the speed. Raises MotionMatchingError if it is no curve, or is empty.
    """
    if obj.type != "CURVE" or not obj.data.splines:
        raise MotionMatchingError(f"'{obj.name}' is no curve; choose one with a spline to follow.")
    spline = obj.data.splines[0]
    is_bezier = spline.type == "BEZIER"
    points, radii = _sample_bezier(spline) if is_bezier else _sample_evaluated(obj, spline)
    world = np.array(obj.matrix_world)
    points = points @ world[:3, :3].T + world[:3, 3]
    return CurvePath(points[:, :2], radii, bool(spline.use_cyclic_u))


def read_curve_bytes(obj: bpy.types.Object) -> bytes:
    """Return what a curve's path depends on, to see cheaply whether it has changed."""
    if obj.type != "CURVE" or not obj.data.splines:
        return b""
    spline = obj.data.splines[0]
    is_bezier = spline.type == "BEZIER"
    points: Any = spline.bezier_points if is_bezier else spline.points
    sizes = {"co": 3, "handle_left": 3, "handle_right": 3} if is_bezier else {"co": 4}
    parts = [np.array(obj.matrix_world, np.float32)]
    for name, size in {**sizes, "radius": 1}.items():
        parts.append(np.empty(size * len(points), np.float32))
        points.foreach_get(name, parts[-1])
    shape = spline.type, spline.use_cyclic_u, spline.use_endpoint_u, spline.order_u
    return str((*shape, spline.resolution_u)).encode() + b"".join(part.tobytes() for part in parts)


def _sample_bezier(spline: bpy.types.Spline) -> tuple[np.ndarray, np.ndarray]:
    knots = list(spline.bezier_points)
    ends = knots[1:] + knots[:1] if spline.use_cyclic_u else knots[1:]
    points = [np.array(knots[0].co)[None]]
    radii = [np.array([knots[0].radius])]
    for a, b in zip(knots, ends, strict=False):
        between = interpolate_bezier(a.co, a.handle_right, b.handle_left, b.co, _PER_SEGMENT + 1)
        points.append(np.array(between)[1:])
        radii.append(np.linspace(a.radius, b.radius, _PER_SEGMENT + 1)[1:])
    last = -1 if spline.use_cyclic_u else None  # the last is the first again
    return np.concatenate(points)[:last], np.concatenate(radii)[:last]


def _sample_evaluated(
    obj: bpy.types.Object, spline: bpy.types.Spline
) -> tuple[np.ndarray, np.ndarray]:
    """Return points of a polygon, or of a NURBS curve as Blender draws it without bevel."""
    if spline.type == "POLY":
        points = np.array([point.co[:3] for point in spline.points])
        return points, np.array([point.radius for point in spline.points])
    bare: Any = obj.data.copy()
    bare.bevel_depth = bare.extrude = 0.0
    bare.bevel_object = None
    copied = bpy.data.objects.new(obj.name, bare)
    try:
        mesh = copied.to_mesh()
        edges = np.array([edge.vertices[:] for edge in mesh.edges]).reshape(-1, 2)
        points = np.array([mesh.vertices[i].co for i in _find_first_chain(edges)])
        copied.to_mesh_clear()
    finally:
        bpy.data.objects.remove(copied)
        bpy.data.curves.remove(bare)
    return points, np.ones(len(points))


def _find_first_chain(edges: np.ndarray) -> list[int]:
    """Return the vertices of the first line among edges that run from each vertex to the next."""
    chain = dict.fromkeys(edges[0].tolist() if len(edges) else [0])  # in their order
    last = list(chain)[-1]
    for a, b in edges[1:].tolist():
        if a != last or b in chain:
            break
        chain[b] = None
        last = b
    return list(chain)
