"""A simple body of one rounded piece per bone: as a mesh for an armature, or as plain numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import numpy as np

from ...engine.maths.rotations import quat
from ...engine.skeleton.skeleton import Skeleton
from ..rig.armature import (
    compute_tails,
    find_ground_bones,
    find_sides,
    measure_extent,
    to_blender_names,
)
from .stage import create_material

SIDES = 16  # corners of a ring
# outline of a piece from head to tail: how far along, and how wide
ALONG = np.array([-0.06, -0.03, 0.1, 0.3, 0.55, 0.8, 0.97, 1.03])
WIDTH = np.array([0.0, 0.5, 0.86, 1.0, 0.95, 0.8, 0.5, 0.0])
COLOURS = {"": (0.62, 0.6, 0.56), "L": (0.16, 0.38, 0.62), "R": (0.72, 0.32, 0.18)}  # by side
LABELS = {"": "middle", "L": "left", "R": "right"}


def create_body(armature: bpy.types.Object, skeleton: Skeleton, name: str) -> bpy.types.Object:
    """Create a mesh object around the bones of a skeleton's armature, weighted to them one by one.

    Left and right are tinted if names distinguish them. Bones on the ground get no piece.
    """
    bones = [bone for bone in range(skeleton.bone_count) if bone not in find_ground_bones(skeleton)]
    points, faces = build_pieces(skeleton, bones)
    per_piece = len(points) // len(bones)
    starts = per_piece * np.arange(len(bones))

    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], faces)
    mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), dtype=bool))
    for side, colour in COLOURS.items():
        mesh.materials.append(create_material(f"{name} {LABELS[side]}", colour))
    labels = find_sides(skeleton)
    slots = np.array([list(COLOURS).index(labels[bone]) for bone in bones], dtype=np.int32)
    mesh.polygons.foreach_set("material_index", np.repeat(slots, len(faces) // len(bones)))

    obj, _ = create_skin(armature, mesh)
    names = to_blender_names(skeleton.names)
    for bone, start in zip(bones, starts, strict=True):
        obj.vertex_groups.new(name=names[bone]).add(range(start, start + per_piece), 1.0, "REPLACE")
    return obj


def build_pieces(skeleton: Skeleton, bones: list[int]) -> tuple[np.ndarray, list[list[int]]]:
    """Return points (V, 3) of a body around bones at rest, as many for each, and its faces."""
    points = np.concatenate([_build_piece(*shape) for shape in _compute_shapes(skeleton, bones)])
    quads, triangles = _build_faces()
    piece = [*quads.tolist(), *triangles.tolist()]
    starts = range(0, len(points), len(points) // len(bones))
    return points, [[start + corner for corner in face] for start in starts for face in piece]


def create_skin(armature: bpy.types.Object, mesh: bpy.types.Mesh) -> tuple[bpy.types.Object, Any]:
    """Create an object of a mesh that an armature moves, beside it; return it and its modifier."""
    obj = bpy.data.objects.new(mesh.name, mesh)
    armature.users_collection[0].objects.link(obj)
    obj.parent = armature
    modifier: Any = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    return obj, modifier


def _compute_shapes(
    skeleton: Skeleton, bones: list[int]
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, float, float]]:
    """Return head, tail, sideways direction, half width and half depth of each bone's piece."""
    _, heads = skeleton.compute_rest_world()
    ends = compute_tails(skeleton)
    sideways = _compute_sideways(skeleton, heads)
    size = measure_extent(heads[bones])
    labels = find_sides(skeleton)
    sided = {bone for bone, label in enumerate(labels) if label}
    trunk = {above for bone in sided for above in skeleton.get_ancestors(bone)} - sided
    shapes = []
    for bone in bones:
        head = heads[bone]
        axis = ends[bone] - heads[bone]
        length = float(np.linalg.norm(axis))
        axis /= length
        # where the piece starts and ends along the bone
        before = 0.0
        after = length
        if bone in trunk:
            wide = 0.085 * size
            deep = 0.058 * size
            # its pieces overlap
            before = -0.025 * size
            after = length + 0.025 * size
        elif not labels[bone] and not skeleton.get_children(bone):  # a head
            wide = 0.048 * size
            deep = 0.056 * size
            before = -0.01 * size
            after = max(length, 0.13 * size)
        else:
            thinnest = 0.012 if labels[bone] else 0.03
            wide = deep = float(np.clip(0.2 * length, thinnest * size, 0.042 * size))
        shapes.append((head + before * axis, head + after * axis, sideways, wide, deep))
    return shapes


def _build_piece(
    head: np.ndarray, tail: np.ndarray, sideways: np.ndarray, wide: float, deep: float
) -> np.ndarray:
    """Return points of a turned shape from head to tail: its rings, then its two poles."""
    axis = tail - head
    forward = np.cross(sideways, axis)
    if np.linalg.norm(forward) < 1e-3 * np.linalg.norm(axis):  # a bone that points sideways
        forward = np.array([0.0, -1.0, 0.0])
    forward = forward / np.linalg.norm(forward)
    across = np.cross(forward, axis) / np.linalg.norm(axis)
    angles = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    circle = wide * np.cos(angles)[:, None] * across + deep * np.sin(angles)[:, None] * forward
    rings = head + ALONG[1:-1, None, None] * axis + WIDTH[1:-1, None, None] * circle
    return np.concatenate([rings.reshape(-1, 3), head + ALONG[[0, -1], None] * axis])


def _build_faces() -> tuple[np.ndarray, np.ndarray]:
    """Return corners of a piece's quads (Q, 4), and of the triangles (T, 3) at its poles."""
    rings = len(ALONG) - 2
    ring = np.arange(rings * SIDES).reshape(rings, SIDES)
    on = np.roll(ring, -1, axis=1)
    quads = np.stack([ring[:-1], on[:-1], on[1:], ring[1:]], axis=-1).reshape(-1, 4)
    first, last = np.full(SIDES, rings * SIDES), np.full(SIDES, rings * SIDES + 1)
    fans = [np.stack([on[0], ring[0], first], -1), np.stack([ring[-1], on[-1], last], -1)]
    return quads, np.concatenate(fans)


def _compute_sideways(skeleton: Skeleton, heads: np.ndarray) -> np.ndarray:
    """Return the horizontal direction from right to left in the rest pose; X without such names."""
    labels = np.array(find_sides(skeleton))
    if not np.any(labels == "L") or not np.any(labels == "R"):
        return np.array([1.0, 0.0, 0.0])
    across = heads[labels == "L"].mean(axis=0) - heads[labels == "R"].mean(axis=0)
    across[2] = 0.0
    length = np.linalg.norm(across)
    return across / length if length > 1e-6 else np.array([1.0, 0.0, 0.0])


class Skin(NamedTuple):
    """Triangles (T, 3) of points that each follow a bone, without any data-block in the file.

    `points` (metres) and `normals` (V, 3) are at rest, and `bones` (V,) are the bones they follow.
    `rest` (B, 3, 4) is the inverse of the bones at rest.
    """

    points: np.ndarray
    normals: np.ndarray
    bones: np.ndarray
    rest: np.ndarray
    triangles: np.ndarray

    def pose(self, rotations: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return points and normals (V, 3) for bones (B, 4) and (B, 3) in the world."""
        moved = quat.to_matrix(rotations) @ self.rest
        moved[..., 3] += positions
        matrices = moved.astype(np.float32)[self.bones]
        points = np.einsum("vij,vj->vi", matrices[..., :3], self.points) + matrices[..., 3]
        return points, np.einsum("vij,vj->vi", matrices[..., :3], self.normals)


def build_skin(skeleton: Skeleton, hips: int = 0) -> Skin:
    """Return a body of one rounded piece for each bone that hangs from the hips of a skeleton."""
    below = {hips, *skeleton.get_descendants(hips)} - find_ground_bones(skeleton)
    bones = sorted(below) or list(range(skeleton.bone_count))
    points, faces = build_pieces(skeleton, bones)
    triangles = np.array(
        [(face[0], face[k], face[k + 1]) for face in faces for k in range(1, len(face) - 1)],
        np.int32,
    )
    rotations, positions = skeleton.compute_rest_world()
    turns = quat.to_matrix(quat.inv(rotations))
    return Skin(
        points.astype(np.float32),
        _compute_normals(points, triangles).astype(np.float32),
        np.repeat(bones, len(points) // len(bones)),
        np.concatenate([turns, -(turns @ positions[..., None])], axis=-1),
        triangles,
    )


def _compute_normals(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the normals (V, 3) of points: the mean of adjacent triangles, weighted by area."""
    a, b, c = (points[corner] for corner in triangles.T)
    across = np.cross(b - a, c - a)
    sums = np.zeros((len(points), 3))
    for corner in triangles.T:
        np.add.at(sums, corner, across)
    return quat.normalize_vectors(sums)
