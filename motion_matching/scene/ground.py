"""The ground as the meshes of a collection have it: a floor with its slopes, and walls that stand in the way.

Faces are taken as the scene shows them, with modifiers and in the world. Those that are steeper than 50 degrees become
walls where a body would run into them; the others are floor where they face upwards, and ceilings otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ..engine.control.ground import FLAT, STEP, Point, Wall
from ..engine.errors import SettingsError
from .blend_sources import open_blend

STEEPEST = math.cos(math.radians(50.0))  # of a floor's normal, upwards
BODY = 1.8  # metres above the floor from which on nothing stands in the way any more, as from STEP downwards
_BESIDE = 0.25  # metres from a wall, where the floor is looked for
_UPRIGHT = 1e-4  # of a wall's normal, upwards: it is a line seen from above
_SHAPES = {"MESH", "CURVE", "SURFACE", "FONT"}
_MOST_LAYERS = 1000


class Floor:
    """A floor of triangles (N, 3, 3), at height zero where there is none. Obstacles are no part of it: see `walls_of`.

    Where several lie above each other, the lowest counts that leaves room for a body: below a bridge it is the way
    under it, provided that the bridge has a lower side.
    """

    def __init__(self, triangles: np.ndarray) -> None:
        points = triangles.reshape(-1, 3)
        faces = np.arange(len(points)).reshape(-1, 3)
        self._tree: Any = BVHTree.FromPolygons(points.tolist(), faces.tolist(), all_triangles=True)
        self._top = float(points[:, 2].max(initial=0.0)) + 1.0

    def height(self, x: float, y: float) -> float:
        """See `Ground`."""
        return self._at(x, y)[0]

    def normal(self, x: float, y: float) -> tuple[float, float, float]:
        """See `Ground`."""
        return self._at(x, y)[1]

    def slide(self, start: Point, stop: Point, radius: float) -> Point:
        """See `Ground`."""
        return stop

    def _at(self, x: float, y: float) -> tuple[float, tuple[float, float, float]]:
        found: tuple[float, tuple[float, float, float]] = (0.0, FLAT.normal(x, y))
        ceiling = math.inf
        for z, normal in self._layers(x, y):
            upwards = normal[2] > 0.0
            if upwards and ceiling - z >= BODY:
                found = z, normal
            # below the back of a floor is the inside of the ground
            ceiling = -math.inf if upwards else z
        return found

    def _layers(self, x: float, y: float) -> Iterator[tuple[float, tuple[float, float, float]]]:
        """Heights and normals of all that lies at a place, from the top down."""
        down, z = Vector((0.0, 0.0, -1.0)), self._top
        for _ in range(_MOST_LAYERS):
            hit, normal, _, _ = self._tree.ray_cast(Vector((x, y, z)), down)
            if hit is None:
                return
            yield hit.z, normal.to_tuple()
            z = hit.z - 1e-4


def ground_in(
    file: Path, collection: str, frame: int | None = None
) -> tuple[Floor, tuple[Wall, ...]]:
    """Floor and walls of a collection of a Blender file, on a frame, or where its scene starts.

    The file that is open gives way to it. SettingsError where there is no such collection or nothing of it is shown,
    MotionDataError where the file cannot be opened.
    """
    open_blend(file)
    chosen: Any = bpy.data.collections.get(collection)
    if chosen is None:
        names = ", ".join(f"'{c.name}'" for c in bpy.data.collections) or "none"
        raise SettingsError(f"{file} has no collection '{collection}'; it has {names}.")
    scene = bpy.context.scene
    scene.frame_set(scene.frame_start if frame is None else frame)
    triangles = shown_triangles(chosen)
    if not len(triangles):
        raise SettingsError(
            f"The collection '{collection}' of {file} shows no mesh in the scene '{scene.name}'; unhide its "
            "objects, or choose another."
        )
    return ground_of(triangles)


def ground_of(triangles: np.ndarray) -> tuple[Floor, tuple[Wall, ...]]:
    """Floor and walls of triangles (N, 3, 3)."""
    upwards = np.abs(_normals(triangles)[:, 2])
    floor = Floor(triangles[upwards >= STEEPEST])
    return floor, walls_of(triangles[upwards < STEEPEST], floor)


def shown_triangles(collection: bpy.types.Collection) -> np.ndarray:
    """Triangles (N, 3, 3) in the world of all objects of a collection and those inside of it that the viewport shows."""
    objects = set(collection.all_objects)
    graph = bpy.context.evaluated_depsgraph_get()
    found: list[np.ndarray] = [np.zeros((0, 3, 3))]
    for instance in graph.object_instances:
        owner = instance.parent if instance.is_instance else instance.object
        if owner.original in objects and instance.object.type in _SHAPES:
            triangles = _triangles(instance.object) @ np.array(instance.matrix_world.to_3x3()).T
            found.append(triangles + np.array(instance.matrix_world.translation))
    triangles = np.concatenate(found)
    return triangles[np.linalg.norm(_cross(triangles), axis=1) > 1e-12]


def _triangles(shape: bpy.types.Object) -> np.ndarray:
    """Triangles (N, 3, 3) of an evaluated object in its own space."""
    mesh = shape.to_mesh()
    try:
        mesh.calc_loop_triangles()
        points = np.empty(3 * len(mesh.vertices), np.float32)
        corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
        mesh.vertices.foreach_get("co", points)
        mesh.loop_triangles.foreach_get("vertices", corners)
    finally:
        shape.to_mesh_clear()
    return points.reshape(-1, 3)[corners].reshape(-1, 3, 3).astype(np.float64)


def _cross(triangles: np.ndarray) -> np.ndarray:
    """Normals (N, 3) as long as twice the areas."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    return np.cross(b - a, c - a)


def _normals(triangles: np.ndarray) -> np.ndarray:
    normals = _cross(triangles)
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


def walls_of(triangles: np.ndarray, floor: Floor) -> tuple[Wall, ...]:
    """What of steep triangles (N, 3, 3) is as high above the floor as a body, as lines on the ground.

    The floor is that on the lower side of each triangle, so a ledge is a wall for whoever stands above it as well.
    """
    walls: dict[Wall, None] = {}
    normals = _normals(triangles)
    beside = _BESIDE * normals[:, :2] / np.linalg.norm(normals[:, :2], axis=1, keepdims=True)
    middles = triangles[:, :, :2].mean(axis=1)
    for triangle, normal, a, b in zip(
        triangles, normals, middles - beside, middles + beside, strict=True
    ):
        low = min(floor.height(*a.tolist()), floor.height(*b.tolist()))
        corners = _cut(_cut(triangle.tolist(), low + STEP, 1.0), low + BODY, -1.0)
        if not corners:
            continue
        ends = [(x, y) for x, y, _ in corners]
        if abs(normal[2]) < _UPRIGHT:
            along = [x * normal[1] - y * normal[0] for x, y in ends]
            ends = [ends[int(np.argmin(along))], ends[int(np.argmax(along))]]
        for start, stop in zip(ends, (*ends[1:], ends[0]), strict=True):
            if start != stop:
                walls[min(start, stop), max(start, stop)] = None
    return tuple(walls)


def _cut(corners: list[list[float]], height: float, side: float) -> list[list[float]]:
    """The part of a polygon that is above (1) or below (-1) a height."""
    kept = []
    for a, b in zip(corners, [*corners[1:], *corners[:1]], strict=True):
        over_a, over_b = side * (a[2] - height), side * (b[2] - height)
        if over_a >= 0.0:
            kept.append(a)
        if over_a * over_b < 0.0:
            mix = over_a / (over_a - over_b)
            kept.append([p + (q - p) * mix for p, q in zip(a, b, strict=True)])
    return kept
