"""Read the meshes of a collection as ground: a floor with slopes, and walls that block the way.

Faces count as the scene shows them. Those steeper than 50 degrees become walls where a body would
run into them; the others are floor if they face up, and ceilings otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ...engine.errors import SettingsError
from ...engine.ground.ground import STEP, Ground, Point, Wall
from ...engine.sources.sources import GroundObject, Source
from ..blender.files import open_blend

STEEPEST = math.cos(math.radians(50.0))  # the least Z of a floor's normal
BODY = 1.8  # metres above the floor: only what is between STEP and this blocks the way
_BESIDE = 0.25  # metres from a wall at which its floor is found
_UPRIGHT = 1e-4  # a wall whose normal has less Z is a line seen from above
_SHAPES = {"MESH", "CURVE", "SURFACE", "FONT"}
_MAX_LAYERS = 1000


class Floor:
    """A floor of triangles (N, 3, 3), at height zero elsewhere. Obstacles are no part of it.

    If several lie above each other, the lowest counts that leaves room for a body: below a bridge
    it is the way under it, provided that the bridge has a lower side.
    """

    def __init__(self, triangles: np.ndarray) -> None:
        points = triangles.reshape(-1, 3)
        faces = np.arange(len(points)).reshape(-1, 3)
        self._tree: Any = BVHTree.FromPolygons(points.tolist(), faces.tolist(), all_triangles=True)
        self._top = float(points[:, 2].max(initial=0.0)) + 1.0

    def height(self, x: float, y: float) -> float:
        """See `Ground`."""
        height = 0.0
        ceiling = math.inf
        for z, faces_up in self._cast_layers(x, y):
            if faces_up and ceiling - z >= BODY:
                height = z
            # below the back of a floor is the inside of the ground
            ceiling = -math.inf if faces_up else z
        return height

    def slide(self, start: Point, stop: Point, radius: float) -> Point:
        """See `Ground`."""
        return stop

    def _cast_layers(self, x: float, y: float) -> Iterator[tuple[float, bool]]:
        """Yield the height of each face at a point, from the top down, and whether it faces up."""
        down = Vector((0.0, 0.0, -1.0))
        z = self._top
        for _ in range(_MAX_LAYERS):
            hit, normal, _, _ = self._tree.ray_cast(Vector((x, y, z)), down)
            if hit is None:
                return
            yield hit.z, normal.z > 0.0
            z = hit.z - 1e-4


def read_ground(
    file: Path, collection: str, frame: int | None = None
) -> tuple[Floor, tuple[Wall, ...]]:
    """Open a Blender file; read floor and walls of a collection, on a frame or the scene's first.

    Raises SettingsError if it has no such collection or none of it is shown, MotionDataError if the
    file cannot be opened.
    """
    open_blend(file)
    chosen: Any = bpy.data.collections.get(collection)
    if chosen is None:
        names = ", ".join(f"'{c.name}'" for c in bpy.data.collections) or "none"
        raise SettingsError(f"{file} has no collection '{collection}'; it has {names}.")
    scene = bpy.context.scene
    scene.frame_set(scene.frame_start if frame is None else frame)
    triangles = collect_visible_triangles(chosen)
    if not len(triangles):
        raise SettingsError(
            f"The collection '{collection}' of {file} shows no mesh in the scene '{scene.name}'; "
            "unhide its objects, or choose another."
        )
    return build_ground(triangles)


def read_object_floor(name: str) -> Floor:
    """Read what an object of the open file and its children show as a floor.

    Raises SettingsError if there is no such object, or none of it is shown.
    """
    obj: Any = bpy.data.objects.get(name)
    if obj is None:
        raise SettingsError(f"It has no object '{name}'; correct the name.")
    triangles = collect_object_triangles(obj)
    if not len(triangles):
        text = f"The object '{name}' shows no mesh in the scene '{bpy.context.scene.name}'"
        raise SettingsError(f"{text}; unhide it, or choose another.")
    return build_ground(triangles)[0]


def build_ground(triangles: np.ndarray) -> tuple[Floor, tuple[Wall, ...]]:
    """Build floor and walls of triangles (N, 3, 3)."""
    upwards = np.abs(_compute_normals(triangles)[:, 2])
    floor = Floor(triangles[upwards >= STEEPEST])
    return floor, build_walls(triangles[upwards < STEEPEST], floor)


def measure_rise(triangles: np.ndarray) -> float:
    """Return between which heights floor of triangles (N, 3, 3) leads on, in metres.

    Slopes and steps lead on from height zero, a table top does not.
    """
    floors = triangles[_compute_normals(triangles)[:, 2] >= STEEPEST][:, :, 2]
    spans = sorted(zip(floors.min(axis=1).tolist(), floors.max(axis=1).tolist(), strict=True))
    low = high = 0.0
    for bottom, top in spans:
        if bottom <= high + STEP and top >= low - STEP:
            high = max(high, top)
    for bottom, top in sorted(spans, key=lambda span: -span[1]):
        if bottom <= high + STEP and top >= low - STEP:
            low = min(low, bottom)
    return high - low


def collect_visible_triangles(collection: bpy.types.Collection) -> np.ndarray:
    """Return world triangles (N, 3, 3) of all visible objects in a collection and its children.

    Where empties instance the collection, as they do when it is linked, its instances count.
    """
    return _collect_triangles(set(collection.all_objects))


def collect_object_triangles(obj: bpy.types.Object) -> np.ndarray:
    """Return world triangles (N, 3, 3) of an object and its children, as far as they are shown."""
    return _collect_triangles({obj, *obj.children_recursive})


def _collect_triangles(objects: set[bpy.types.Object]) -> np.ndarray:
    """Return world triangles (N, 3, 3) of those objects that are shown, and of their instances."""
    graph = bpy.context.evaluated_depsgraph_get()
    parts: list[np.ndarray] = [np.zeros((0, 3, 3))]
    for instance in graph.object_instances:
        owner = (instance.parent if instance.is_instance else instance.object).original
        stands_for = instance.object if owner.instance_type == "COLLECTION" else owner
        if not objects.isdisjoint((owner, stands_for.original)) and instance.object.type in _SHAPES:
            axes = np.array(instance.matrix_world.to_3x3())
            triangles = _read_triangles(instance.object) @ axes.T
            parts.append(triangles + np.array(instance.matrix_world.translation))
    triangles = np.concatenate(parts)
    return triangles[np.linalg.norm(_compute_area_normals(triangles), axis=1) > 1e-12]


def _read_triangles(shape: bpy.types.Object) -> np.ndarray:
    """Return triangles (N, 3, 3) of an evaluated object in its own space."""
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


def _compute_area_normals(triangles: np.ndarray) -> np.ndarray:
    """Return normals (N, 3) as long as twice the areas."""
    a = triangles[:, 0]
    b = triangles[:, 1]
    c = triangles[:, 2]
    return np.cross(b - a, c - a)


def _compute_normals(triangles: np.ndarray) -> np.ndarray:
    normals = _compute_area_normals(triangles)
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


def build_walls(triangles: np.ndarray, floor: Floor) -> tuple[Wall, ...]:
    """Return as lines on the ground the parts of steep triangles (N, 3, 3) at body height.

    That is above the floor on the lower side, so a ledge is a wall for who stands above it as well.
    """
    walls: dict[Wall, None] = {}
    normals = _compute_normals(triangles)
    beside = _BESIDE * normals[:, :2] / np.linalg.norm(normals[:, :2], axis=1, keepdims=True)
    middles = triangles[:, :, :2].mean(axis=1)
    sides = np.stack([middles - beside, middles + beside], axis=1).tolist()
    for triangle, normal, points in zip(triangles, normals, sides, strict=True):
        low = min(floor.height(x, y) for x, y in points)
        corners = _clip_polygon(_clip_polygon(triangle.tolist(), low + STEP, 1.0), low + BODY, -1.0)
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


def _clip_polygon(corners: list[list[float]], height: float, side: float) -> list[list[float]]:
    """Return the part of a polygon that is above (1) or below (-1) a height."""
    result = []
    for a, b in zip(corners, [*corners[1:], *corners[:1]], strict=True):
        over_a = side * (a[2] - height)
        over_b = side * (b[2] - height)
        if over_a >= 0.0:
            result.append(a)
        if over_a * over_b < 0.0:
            mix = over_a / (over_a - over_b)
            result.append([p + (q - p) * mix for p, q in zip(a, b, strict=True)])
    return result


def read_grounds(sources: Sequence[Source]) -> list[Source]:
    """Return the sources with their grounds, as they are on the first frame of their scenes.

    A Blender file is opened in place of the one that is open. Raises SettingsError for an object
    that is missing or not shown, MotionDataError if a file cannot be opened.
    """
    wanted = [(one.ground, one.name) for one in sources if isinstance(one.ground, GroundObject)]
    floors: dict[GroundObject, Ground] = {}
    for file in dict.fromkeys(ground.file for ground, _ in wanted):
        open_blend(file)
        scene = bpy.context.scene
        scene.frame_set(scene.frame_start)
        for ground, name in wanted:
            if ground.file == file and ground not in floors:
                floors[ground] = _read(ground, name)
    named = ((source, source.ground) for source in sources)
    return [
        replace(source, ground=floors[own]) if isinstance(own, GroundObject) else source
        for source, own in named
    ]


def _read(wanted: GroundObject, source: str) -> Ground:
    try:
        return read_object_floor(wanted.name)
    except SettingsError as error:
        raise SettingsError(
            f"The ground of the source '{source}' cannot be read from {wanted.file}. {error}"
        ) from None
