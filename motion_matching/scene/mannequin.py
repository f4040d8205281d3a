"""The mannequin as a mesh object: two materials, vertex groups, and an armature modifier."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..engine.motion.skeleton import Skeleton
from .armature import blender_names
from .mannequin_shape import mannequin_shape
from .stage import Colour, material

BODY: Colour = (0.78, 0.72, 0.62)
ACCENT: Colour = (0.03, 0.17, 0.42)
MATERIALS = {"Mannequin": BODY, "Mannequin Accent": ACCENT}


def create_mannequin(armature: bpy.types.Object, skeleton: Skeleton, name: str) -> bpy.types.Object:
    """A mannequin around an armature that was made from the demo's skeleton, which moves it; it is linked beside it.

    Its left limbs and its front are accented. The two materials are those of the file where it has them already.
    """
    shape = mannequin_shape(skeleton)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(shape.points.tolist(), [], [*shape.quads.tolist(), *shape.triangles.tolist()])
    mesh.polygons.foreach_set("use_smooth", np.ones(len(mesh.polygons), dtype=bool))
    mesh.polygons.foreach_set("material_index", shape.accent.astype(np.int32))
    for label, colour in MATERIALS.items():
        mesh.materials.append(bpy.data.materials.get(label) or material(label, colour, 0.45))
    obj = bpy.data.objects.new(name, mesh)
    armature.users_collection[0].objects.link(obj)
    _add_groups(obj, blender_names(skeleton.names), shape.weights)
    obj.parent = armature
    modifier: Any = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    modifier.use_deform_preserve_volume = True  # a ball about a joint stays one
    return obj


def _add_groups(obj: bpy.types.Object, names: tuple[str, ...], weights: np.ndarray) -> None:
    """A vertex group per bone of the weights (V, B); points of equal weight are added together."""
    for name, column in zip(names, weights.T.round(6), strict=True):
        if not column.any():
            continue
        group = obj.vertex_groups.new(name=name)
        for value in np.unique(column[column > 0]):
            group.add(np.flatnonzero(column == value).tolist(), float(value), "REPLACE")
