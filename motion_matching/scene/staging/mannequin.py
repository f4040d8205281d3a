"""Create the mannequin as a mesh object: two materials, vertex groups, and an armature modifier.

Its mesh is sculpted by `building/mannequin` and shipped as `mannequin.npz`. Every joint is a ball
whose weights go over from one bone to the next.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np

from ...engine.building.demo_clips import load_demo_skeleton
from ...engine.skeleton.skeleton import Skeleton
from ..rig.armature import to_blender_names
from .body import create_skin
from .stage import Colour, create_material

BODY: Colour = (0.78, 0.72, 0.62)
ACCENT: Colour = (0.03, 0.17, 0.42)
MATERIALS = {"Mannequin": BODY, "Mannequin Accent": ACCENT}
_FILE = Path(__file__).with_name("mannequin.npz")


def is_demo_skeleton(skeleton: Skeleton) -> bool:
    """Return whether a skeleton rests as the demo's does, from the hips on and at any size."""
    demo = load_demo_skeleton()
    if not set(demo.names) <= set(skeleton.names) or not _find_tips(demo) <= _find_tips(skeleton):
        return False
    bones = [skeleton.index(name) for name in demo.names]
    above = [skeleton.names[parent] if parent >= 0 else "" for parent in skeleton.parents[bones]]
    if above[1:] != [demo.names[parent] for parent in demo.parents[1:]]:
        return False
    (turns, heads), (_, expected) = skeleton.compute_rest_world(), demo.compute_rest_world()
    size = _measure_size(skeleton, demo)
    alike = np.allclose(heads[bones], size * expected, atol=1e-3 * size)
    return bool(size > 0.0 and alike and np.allclose(np.abs(turns[bones, 0]), 1.0, atol=1e-4))


class Mannequin(NamedTuple):
    """Points (V, 3) of the mannequin about a skeleton at rest, weights (V, B), and faces."""

    points: np.ndarray
    weights: np.ndarray
    faces: list[list[int]]
    accent: np.ndarray


def load_mannequin() -> Mannequin:
    """Load the mannequin from the file that it is shipped as."""
    with np.load(_FILE, allow_pickle=False) as file:
        faces = [*file["quads"].tolist(), *file["triangles"].tolist()]
        return Mannequin(file["points"], file["weights"], faces, file["accent"])


def create_mannequin(armature: bpy.types.Object, skeleton: Skeleton, name: str) -> bpy.types.Object:
    """Create a mannequin for an armature of the demo's skeleton, and link it beside that."""
    demo = load_demo_skeleton()
    mannequin = load_mannequin()
    points = _measure_size(skeleton, demo) * mannequin.points
    bones = [skeleton.index(name) for name in demo.names]
    weights = np.zeros((len(points), skeleton.bone_count), np.float32)
    weights[:, bones] = mannequin.weights
    fitted = mannequin._replace(points=points, weights=weights)
    return create_mannequin_mesh(armature, name, fitted, skeleton)


def create_mannequin_mesh(
    armature: bpy.types.Object, name: str, mannequin: Mannequin, skeleton: Skeleton
) -> bpy.types.Object:
    """Create the mesh object of a mannequin with weights for the bones of a skeleton."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(mannequin.points.tolist(), [], mannequin.faces)
    mesh.polygons.foreach_set("use_smooth", np.ones(len(mesh.polygons), dtype=bool))
    mesh.polygons.foreach_set("material_index", mannequin.accent.astype(np.int32))
    for label, colour in MATERIALS.items():
        mesh.materials.append(bpy.data.materials.get(label) or create_material(label, colour, 0.45))
    obj, modifier = create_skin(armature, mesh)
    for name, weights in zip(to_blender_names(skeleton.names), mannequin.weights.T, strict=True):
        if weights.any():
            rounded = weights.round(6)
            group = obj.vertex_groups.new(name=name)
            for value in np.unique(rounded[rounded > 0]):  # points of equal weight together
                group.add(np.flatnonzero(rounded == value).tolist(), float(value), "REPLACE")
    modifier.use_deform_preserve_volume = True  # a ball about a joint stays one
    return obj


def _measure_size(skeleton: Skeleton, demo: Skeleton) -> float:
    """Return how many times as high as the demo's the hips rest."""
    heights = [rig.compute_rest_world()[1][rig.index("Hips"), 2] for rig in (skeleton, demo)]
    return float(heights[0] / heights[1])


def _find_tips(skeleton: Skeleton) -> set[str]:
    return {skeleton.names[bone] for bone, _ in skeleton.end_sites}
