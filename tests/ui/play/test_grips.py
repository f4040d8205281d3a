"""Grips lie on what a character goes to, follows and avoids, and moving one moves that."""

from __future__ import annotations

import math

import bpy
import pytest
from mathutils import Vector

from motion_matching.ui.play import grips
from tests.ui.characters import create_character, expect_refusal


@pytest.fixture
def obj():
    return create_character(clips=("walk_curves",))


def link(name, data=None):
    made = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(made)
    return made


def make_curve(kind="BEZIER", count=3):
    data = bpy.data.curves.new("Way", "CURVE")
    spline = data.splines.new(kind)
    points = spline.bezier_points if kind == "BEZIER" else spline.points
    points.add(count - 1)
    for number, point in enumerate(points):
        point.co = (number, 0.5 * number, 0.0, 1.0)[: len(point.co)]
        if kind == "BEZIER":
            point.handle_left = point.co - Vector((0.3, 0.0, 0.0))
            point.handle_right = point.co + Vector((0.3, 0.0, 0.0))
    return link("Way", data)


def update():
    bpy.context.view_layer.update()


def find(obj, kind):
    return [grip for grip in grips.find_grips(obj) if grip.kind == kind]


def move(grip, location):
    options = {"kind": grip.kind, "name": grip.name, "index": grip.number}
    assert bpy.ops.motion_matching.move_grip(**options, location=location) == {"FINISHED"}
    update()


def test_only_what_steers_has_grips(obj):
    play = obj.motion_matching.play
    play.target, play.curve = link("Goal"), make_curve()
    kinds = {"devices": set(), "click": set(), "target": {"target", "facing"}, "curve": {"point"}}
    for steer, expected in kinds.items():
        play.steer = steer
        assert {grip.kind for grip in grips.find_grips(obj)} == expected, steer
    play.target = None
    play.steer = "target"
    assert grips.find_grips(obj) == []


@pytest.mark.parametrize("is_child", [False, True])
def test_a_target_is_moved_and_turned_in_the_world(obj, is_child):
    play, goal = obj.motion_matching.play, link("Goal")
    if is_child:
        goal.parent = link("Parent")
        goal.parent.location, goal.parent.rotation_euler.z = (2.0, 3.0, 0.0), 0.7
    goal.location, goal.scale = (1.0, -2.0, 0.25), (1.0, 2.0, 1.0)
    play.steer, play.target = "target", goal
    update()
    [grip] = find(obj, "target")
    assert grip.position == pytest.approx(tuple(goal.matrix_world.translation))
    move(grip, (4.0, 5.0, 0.5))
    assert tuple(goal.matrix_world.translation) == pytest.approx((4.0, 5.0, 0.5), abs=1e-5)
    [grip] = find(obj, "facing")
    move(grip, (4.0 + 3.0, 5.0, 0.5))  # toward +X
    forward = goal.matrix_world.to_3x3() @ Vector((0.0, -1.0, 0.0))
    assert math.atan2(forward.x, -forward.y) == pytest.approx(0.5 * math.pi, abs=1e-3)
    [grip] = find(obj, "facing")
    assert grip.position[0] > 4.5
    assert grip.position[1] == pytest.approx(5.0, abs=1e-3)
    assert tuple(goal.matrix_world.to_scale()) == pytest.approx((1.0, 2.0, 1.0), abs=1e-4)


@pytest.mark.parametrize("kind", ["BEZIER", "POLY", "NURBS"])
def test_the_points_of_the_curve_are_moved_with_their_handles(obj, kind):
    way = make_curve(kind)
    way.location, way.rotation_euler.z, way.scale = (1.0, 1.0, 0.0), 0.5, (2.0, 2.0, 2.0)
    play = obj.motion_matching.play
    play.steer, play.curve = "curve", way
    update()
    found = find(obj, "point")
    assert [grip.number for grip in found] == [0, 1, 2]
    spline = way.data.splines[0]
    points = spline.bezier_points if kind == "BEZIER" else spline.points
    assert found[2].position == pytest.approx(tuple(way.matrix_world @ points[2].co.xyz))
    before = [tuple(point.co) for point in points]
    move(found[2], (7.0, -3.0, 0.0))
    assert tuple(way.matrix_world @ points[2].co.xyz) == pytest.approx((7.0, -3.0, 0.0), abs=1e-5)
    assert [tuple(point.co) for point in points][:2] == before[:2]
    if kind == "BEZIER":
        shift = points[2].handle_right - points[2].co
        assert tuple(shift) == pytest.approx((0.3, 0.0, 0.0), abs=1e-5)
    else:
        assert points[2].co.w == 1.0


def test_of_a_curve_with_many_points_the_ends_can_be_dragged(obj):
    play = obj.motion_matching.play
    play.steer, play.curve = "curve", make_curve("POLY", 300)
    assert [grip.number for grip in find(obj, "point")] == [0, 299]
    play.curve = link("Empty", bpy.data.curves.new("Empty", "CURVE"))
    assert find(obj, "point") == []


def test_obstacles_that_stand_on_the_ground_can_be_dragged(obj):
    collection = bpy.data.collections.new("Ground")
    bpy.context.scene.collection.children.link(collection)
    for name, height in (("Wall", 2.0), ("Floor", 0.0), ("Hidden", 2.0)):
        mesh = bpy.data.meshes.new(name)
        corners = [(0, 0, 0), (1, 0, 0), (1, 0.5, height), (0, 0.5, height)]
        mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
        collection.objects.link(bpy.data.objects.new(name, mesh))
    bpy.data.objects["Hidden"].hide_viewport = True
    obj.motion_matching.obstacles = collection
    update()
    [grip] = find(obj, "obstacle")
    assert grip.name == "Wall"
    move(grip, (3.0, 1.0, 0.0))
    assert tuple(bpy.data.objects["Wall"].location) == (3.0, 1.0, 0.0)


def test_what_is_gone_or_linked_is_reported_and_not_offered(obj):
    operator = bpy.ops.motion_matching.move_grip
    expect_refusal(operator, "no object 'Gone'", kind="target", name="Gone")
    make_curve()
    expect_refusal(operator, "no point 7", kind="point", name="Way", index=7)
    expect_refusal(operator, "no point 0", kind="point", name="Hero", index=0)


def test_each_kind_has_a_tooltip(obj):
    operator = grips.MOTION_MATCHING_OT_move_grip
    tips = set()
    for kind, _, _ in grips._KINDS:
        properties = type("Properties", (), {"kind": kind})
        tips.add(operator.description(bpy.context, properties))
    assert len(tips) == 4
    assert all(tip and not tip.endswith(".") for tip in tips)
