"""Ground to climb in a scene: stairs of boxes, and the ground of a generated clip."""

from __future__ import annotations

import bpy
import numpy as np

from building.locomotion.climbs import find_climb

RISER, TREAD, STEPS, BEGIN = 0.17, 0.29, 6, 1.2


def add_stairs() -> bpy.types.Collection:
    """Add boxes that rise along -Y, and a platform."""
    collection = bpy.data.collections.new("Stairs")
    bpy.context.scene.collection.children.link(collection)
    for step in range(STEPS):
        near = -BEGIN - step * TREAD
        far = -BEGIN - (step + 1) * TREAD if step < STEPS - 1 else -BEGIN - STEPS * TREAD - 4.0
        mesh = bpy.data.meshes.new(f"Step {step}")
        corners = [
            (x, y, z) for x in (-1.5, 1.5) for y in (far, near) for z in (0.0, (step + 1) * RISER)
        ]
        faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        mesh.from_pydata(corners, [], faces)
        collection.objects.link(bpy.data.objects.new(mesh.name, mesh))
    return collection


def find_height(ahead: float) -> float:
    return RISER * min(max(int((ahead - BEGIN) // TREAD) + 1, 0), STEPS)


def add_ground_of(clip: str) -> bpy.types.Object:
    """Add the ground of a generated clip as a mesh, along -Y."""
    edges = find_climb(clip).ground.edges
    along = np.concatenate([[-5.0], np.repeat(edges, 2), [30.0]])
    along[1:-1] += np.tile([-1e-4, 1e-4], len(edges))
    middle = np.column_stack([np.zeros(len(along)), -along])
    heights = find_climb(clip).compute_height(middle)
    rows = [(x, -a, z) for a, z in zip(along, heights, strict=True) for x in (-2.0, 2.0)]
    mesh = bpy.data.meshes.new(clip)
    faces = [(k + 2, k + 3, k + 1, k) for k in range(0, len(rows) - 2, 2)]
    mesh.from_pydata([tuple(map(float, row)) for row in rows], [], faces)
    obj = bpy.data.objects.new(f"Ground of {clip}", mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    return obj
