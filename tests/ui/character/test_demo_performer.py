"""The demo performer comes into the active collection, beside what stands at the origin."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Vector

from motion_matching.scene.reading.sampling import sample

ops = bpy.ops.motion_matching


def compute_bounds(obj):
    bpy.context.view_layer.update()
    return np.array([obj.matrix_world @ Vector(corner) for corner in obj.bound_box])


@pytest.mark.slow
def test_a_performer_stands_in_the_active_collection_beside_others():
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    cube = bpy.data.objects["Cube"]
    shot = bpy.data.collections.new("Shot")
    bpy.context.scene.collection.children.link(shot)
    layer = bpy.context.view_layer.layer_collection.children["Shot"]
    bpy.context.view_layer.active_layer_collection = layer
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None

    bounds = [compute_bounds(cube)]
    for _ in range(2):
        assert ops.add_demo_performer() == {"FINISHED"}
        performer = bpy.context.object
        assert performer.users_collection == (shot,)
        [body] = performer.children
        assert body.users_collection == (shot,)
        bounds.append(compute_bounds(body))
        for other in bounds[:-1]:
            low, high = bounds[-1].min(axis=0), bounds[-1].max(axis=0)
            assert np.any((low > other.max(axis=0)) | (high < other.min(axis=0)))
    assert abs(performer.location.x) < 6.0
    assert performer.location.y == performer.location.z == 0.0

    # its motion begins where it stands
    [found] = sample(performer, [performer.motion_matching.sources[0].action])
    _, heads = found.clip.compute_world()
    assert abs(heads[0, 0, 0] - performer.location.x) < 0.3


@pytest.mark.slow
def test_a_performer_stands_at_the_origin_of_a_set_on_its_ground():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.mesh.primitive_plane_add(size=3.0)
    bpy.ops.mesh.primitive_cube_add(size=10.0, location=(0, 0, 5))
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None
    ops.add_demo_performer()
    assert bpy.context.object.location.length == 0.0


def test_a_performer_comes_into_the_scene_if_the_active_collection_is_hidden():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    shot = bpy.data.collections.new("Shot")
    bpy.context.scene.collection.children.link(shot)
    layer = bpy.context.view_layer.layer_collection.children["Shot"]
    bpy.context.view_layer.active_layer_collection = layer
    layer.exclude = True
    ops.add_demo_performer()
    assert bpy.context.object.users_collection == (bpy.context.scene.collection,)
