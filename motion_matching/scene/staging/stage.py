"""Set up a stage for a take: ground, light, camera and a viewport that looks through it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...engine.ground.ground import Box, Wall

Colour = tuple[float, float, float]

# from where the camera looks: the character's front, its left, and above
VIEW = np.array([0.55, -1.0, 0.5])
LENS_MM = 35.0
SENSOR_MM = 36.0
RENDER_SIZE = (1280, 720)
MARGIN = 1.12
SKY = (0.5, 0.52, 0.55)
GROUND: tuple[Colour, Colour] = ((0.36, 0.37, 0.38), (0.29, 0.3, 0.31))
OBSTACLE: Colour = (0.3, 0.36, 0.45)
# corners of a box by face: below, above, and around
BOX_FACES = np.array(
    [[3, 2, 1, 0], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]
)
WALL_HEIGHT = 1.0  # metres: of walls that are only lines on the ground
MOST_TILES = 60  # along the longer side of the ground


def create_material(name: str, colour: Colour, roughness: float = 0.7) -> bpy.types.Material:
    """Create a plain material of one colour."""
    material = bpy.data.materials.new(name)
    material.diffuse_color = (*colour, 1.0)
    material.roughness = roughness
    inputs = _get_inputs(material, "Principled BSDF")
    inputs["Base Color"].default_value = (*colour, 1.0)
    inputs["Roughness"].default_value = roughness
    return material


def build_stage(scene: bpy.types.Scene, low: np.ndarray, high: np.ndarray) -> None:
    """Set up ground, light and camera to show all between two corners `(3,)`, in metres."""
    _add_light(scene)
    around = low[:2] - 2.0, high[:2] + 2.0
    extent = float(np.max(around[1] - around[0]))
    sizes = (step * 10.0**power for power in range(9) for step in (1, 2, 5))
    _add_ground(scene, *around, next(size for size in sizes if extent <= MOST_TILES * size))
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    camera = _add_camera(scene, corners)
    for screen in bpy.data.screens:
        for area in screen.areas:
            space: Any = area.spaces.active
            if area.type == "VIEW_3D":
                space.region_3d.view_perspective = "CAMERA"
                space.clip_end = camera.data.clip_end


def _add_light(scene: bpy.types.Scene) -> None:
    """Add a sun of 3 W/m², a grey sky, and shadows."""
    light: Any = bpy.data.lights.new("Sun", "SUN")
    light.energy = 3.0
    light.angle = 0.1
    sun = bpy.data.objects.new("Sun", light)
    sun.rotation_euler = (0.7, 0.25, 0.5)
    sun.location = (0.0, 0.0, 5.0)
    scene.collection.objects.link(sun)
    scene.world = world = bpy.data.worlds.new("World")
    world.color = SKY
    _get_inputs(world, "Background")["Color"].default_value = (*SKY, 1.0)
    # depends on the colour settings
    scene.view_settings.view_transform = "Standard"  # type: ignore[assignment]
    shading = scene.display.shading
    shading.light = "STUDIO"
    shading.show_cavity = True
    shading.show_shadows = True


def _add_ground(scene: bpy.types.Scene, low: np.ndarray, high: np.ndarray, tile: float) -> None:
    """Add a chequered plane at height zero around two corners `(2,)`, of `tile` metres a tile."""
    start, stop = np.floor(low / tile), np.ceil(high / tile)
    columns, rows = (stop - start).astype(int)
    x, y = np.meshgrid(start[0] + np.arange(columns + 1), start[1] + np.arange(rows + 1))
    points = np.stack([tile * x, tile * y, np.zeros_like(x)], axis=-1).reshape(-1, 3)
    corner = np.arange(points.shape[0]).reshape(rows + 1, columns + 1)
    corners = [corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]]
    names = ("Ground light", "Ground dark")
    materials = [create_material(*pair) for pair in zip(names, GROUND, strict=True)]
    faces = np.stack(corners, axis=-1).reshape(-1, 4)
    ground = _add_mesh(scene, "Ground", points.tolist(), faces.tolist(), materials)
    chequer = (x + y)[:-1, :-1].astype(np.int32) % 2
    ground.data.polygons.foreach_set("material_index", chequer.ravel())
    ground.hide_select = True


def _add_mesh(
    scene: bpy.types.Scene,
    name: str,
    points: list[Any],
    faces: list[list[int]],
    materials: list[bpy.types.Material],
) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    for material in materials:
        mesh.materials.append(material)
    obj = bpy.data.objects.new(name, mesh)
    scene.collection.objects.link(obj)
    return obj


def add_obstacles(scene: bpy.types.Scene, boxes: Sequence[Box], walls: Sequence[Wall]) -> None:
    """Add a mesh of the obstacles of a performance, if there are any."""
    points: list[tuple[float, float, float]] = []
    faces: list[list[int]] = []
    for box in boxes:
        faces += (len(points) + BOX_FACES).tolist()
        points += [(x, y, z) for z in (0.0, box.height) for x, y in box.corners]
    for (ax, ay), (bx, by) in walls:
        faces.append([len(points) + k for k in range(4)])
        points += [(ax, ay, 0.0), (bx, by, 0.0), (bx, by, WALL_HEIGHT), (ax, ay, WALL_HEIGHT)]
    if points:
        _add_mesh(scene, "Obstacles", points, faces, [create_material("Obstacles", OBSTACLE)])


def _get_inputs(owner: bpy.types.Material | bpy.types.World, node: str) -> Any:
    """Return the inputs of a node of the default shader."""
    if owner.node_tree is None:  # from 5.0 on there always is one, and use_nodes is deprecated
        owner.use_nodes = True
    return owner.node_tree.nodes[node].inputs


def compute_camera_pose(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return axes `(3, 3)` and the nearest position `(3,)` from which all points `(N, 3)` are seen.

    The rows of the axes are right, up, back.
    """
    back = VIEW / np.linalg.norm(VIEW)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(back, right), back])
    seen = points @ axes.T
    # a point is in the picture where |x - X| <= slope (Z - z) for a camera at X, Z; so for y
    slopes = 0.5 * SENSOR_MM / LENS_MM / MARGIN * np.array(RENDER_SIZE) / max(RENDER_SIZE)
    most = np.max(seen[:, :2] + slopes * seen[:, 2:], axis=0)
    least = np.max(slopes * seen[:, 2:] - seen[:, :2], axis=0)
    distance = np.max((most + least) / (2.0 * slopes))
    return axes, np.array([*(0.5 * (most - least)), distance]) @ axes


def _add_camera(scene: bpy.types.Scene, points: np.ndarray) -> bpy.types.Object:
    """Add the scene's camera as `compute_camera_pose` places it; it sees all points `(N, 3)`."""
    axes, position = compute_camera_pose(points)
    scene.render.resolution_x, scene.render.resolution_y = RENDER_SIZE
    scene.render.resolution_percentage = 100
    distance = float(np.max((position - points) @ axes[2]))
    data = bpy.data.cameras.new("Camera")
    data.lens = LENS_MM
    data.sensor_width = SENSOR_MM
    data.clip_start, data.clip_end = min(0.1, 0.01 * distance), max(1000.0, 3.0 * distance)
    camera = bpy.data.objects.new("Camera", data)
    matrix = np.eye(4)
    matrix[:3, :3] = axes.T
    matrix[:3, 3] = position
    camera.matrix_world = Matrix(matrix.tolist())
    scene.collection.objects.link(camera)
    scene.camera = camera
    return camera
