"""Curves to follow and objects to reach, as they are placed in the scene."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from motion_matching.engine.errors import MotionMatchingError
from motion_matching.scene.blender.handle import Handle
from motion_matching.scene.staging.placements import read_curve_path, read_object_placement


def create_curve(scene, kind, points, cyclic=False, radii=None):
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new(kind)
    spline.use_cyclic_u = cyclic
    knots = spline.bezier_points if kind == "BEZIER" else spline.points
    knots.add(len(points) - 1)
    for number, (knot, point) in enumerate(zip(knots, points, strict=False)):
        knot.co = point if kind == "BEZIER" else (*point, 1.0)
        knot.radius = radii[number] if radii else 1.0
        if kind == "BEZIER":
            knot.handle_left_type = knot.handle_right_type = "AUTO"
    obj = bpy.data.objects.new("Way", data)
    scene.collection.objects.link(obj)
    obj.matrix_world = (
        Matrix.Translation((2, 3, 1))
        @ Euler((0, 0, 0.8)).to_matrix().to_4x4()
        @ Matrix.Scale(1.5, 4)
    )
    bpy.context.view_layer.update()
    return obj


def read_drawn_points(obj):
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    return np.array([obj.matrix_world @ v.co for v in mesh.vertices])[:, :2]


def test_curves_are_sampled_as_blender_draws_them() -> None:
    scene = bpy.context.scene

    corners = [(0, 0, 0), (2, 1, 0.5), (3, 4, 0), (-1, 5, 0)]
    for kind in ("BEZIER", "POLY", "NURBS"):
        for cyclic in (False, True):
            obj = create_curve(scene, kind, corners, cyclic)
            if kind == "NURBS":
                obj.data.splines[0].use_endpoint_u = True
            obj.data.resolution_u = 48
            obj.data.splines[0].resolution_u = 48
            bpy.context.view_layer.update()
            path = read_curve_path(obj)
            assert path.cyclic == cyclic
            line = read_drawn_points(obj)
            # every point lies on the drawn line, and the line is covered
            apart = np.linalg.norm(path.points[:, None] - line[None], axis=2)
            dense = 0.15 if kind != "POLY" else 1e-5
            assert apart.min(axis=1).max() < dense, (kind, cyclic, apart.min(axis=1).max())
            assert apart.min(axis=0).max() < dense, (kind, cyclic, apart.min(axis=0).max())
            steps = np.linalg.norm(np.diff(path.points, axis=0), axis=1)
            assert kind == "POLY" or steps.max() < 0.5
            before = len(bpy.data.objects), len(bpy.data.curves), len(bpy.data.meshes)
            obj.data.bevel_depth = 0.2  # a tube is followed along its centre line
            again = read_curve_path(obj)
            np.testing.assert_allclose(again.points, path.points, atol=1e-6)
            assert before == (len(bpy.data.objects), len(bpy.data.curves), len(bpy.data.meshes))

    path = read_curve_path(create_curve(scene, "BEZIER", corners, radii=[1.0, 0.5, 0.5, 2.0]))
    assert abs(path.radii[0] - 1.0) < 1e-6
    assert abs(path.radii[-1] - 2.0) < 1e-6
    assert abs(path.radii.min() - 0.5) < 1e-6
    assert len(path.radii) == len(path.points)

    for wrong in (
        bpy.data.objects.new("Empty", None),
        bpy.data.objects.new("None", bpy.data.curves.new("None", "CURVE")),
    ):
        with pytest.raises(MotionMatchingError) as caught:
            read_curve_path(wrong)
        assert wrong.name in str(caught.value)


def test_objects_are_read_at_their_evaluated_position() -> None:
    scene = bpy.context.scene

    empty = bpy.data.objects.new("Goal", None)
    scene.collection.objects.link(empty)
    empty.location, empty.rotation_euler = (1, 2, 3), (0, 0, 0.7)
    bpy.context.view_layer.update()
    goal = Handle.from_block(empty, "objects")
    assert np.allclose(read_object_placement(goal), (1, 2, 0.7))
    empty.name = "Elsewhere"
    empty.location.x = 5
    bpy.context.view_layer.update()
    assert np.allclose(read_object_placement(goal), (5, 2, 0.7))
    bpy.data.objects.remove(empty)
    bpy.data.objects.new("Elsewhere", None)
    assert read_object_placement(goal) is None
