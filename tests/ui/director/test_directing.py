"""The director in Blender: marks in the scene, solved into takes."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from motion_matching.app.character import characters
from motion_matching.app.direct import solving
from motion_matching.app.marks import marks, outcomes, shots
from motion_matching.scene.direct import own_track, stored_shots
from tests.scene.keys import read_channels
from tests.ui.characters import create_character, expect_refusal, read_state
from tests.ui.director.marked import FRAMES, PLACES, add_mark, add_marks, read_place
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching


@pytest.fixture(autouse=True)
def obj():
    obj = create_character()
    ops.add_actions()
    return obj


@pytest.mark.slow
def test_three_marks_are_met_and_told(obj):
    placed = add_marks()
    assert [mark.name for mark in placed] == ["Mark", "Mark.001", "Mark.002"]
    assert outcomes.get_state(obj)[1] == "3 Marks"
    assert ops.direct() == {"FINISHED"}
    [take] = obj.motion_matching.takes
    assert take.action == obj.animation_data.action
    assert tuple(take.action.frame_range) == (1, 204 + 24)
    assert any("plant" in marker.name for marker in take.action.pose_markers)
    told = [(outcomes.get_outcome(mark), marks.mark_of(mark).reason) for mark in placed]
    assert told == [("met", "")] * 3, told
    assert outcomes.get_state(obj) == ("CHECKMARK", "Solved")
    for frame, place in zip(FRAMES, PLACES, strict=True):
        away = read_place(obj, frame) - place
        assert np.linalg.norm(away[:2]) < 0.01, (frame, away)
        assert abs(away[2]) < 0.035, (frame, away)
    draw_panels()

    # a mark that is moved has to be solved again; then it is met where it is now
    placed[1].location.x += 0.4
    bpy.context.view_layer.update()
    assert outcomes.get_outcome(placed[1]) == "changed"
    assert ops.direct() == {"FINISHED"}
    second = obj.motion_matching.takes[1].action
    assert second != take.action
    away = read_place(obj, FRAMES[1]) - PLACES[1]
    assert np.linalg.norm(away[:2] - (0.4, 0.0)) < 0.01, away
    assert outcomes.get_outcome(placed[1]) == "met"


def test_marks_are_ordinary_objects_and_markers(obj):
    first, second, third = add_marks()
    markers = bpy.context.scene.timeline_markers
    assert {m.name: m.frame for m in markers} == {"Mark": 60, "Mark.001": 132, "Mark.002": 204}
    assert first.users_collection[0].name == "Marks of Hero"

    # the arrow lies on the ground and points where the mark faces; cleared, it faces ahead
    arrow = np.array(third.matrix_world)[:3, 2]
    np.testing.assert_allclose(arrow, (math.sin(0.7), -math.cos(0.7), 0.0), atol=1e-6)
    assert abs(shots.read_place(third, 204).yaw - 0.7) < 1e-6
    third.rotation_euler = (0.0, 0.0, 0.5)
    bpy.context.view_layer.update()
    assert abs(shots.read_place(third, 204).yaw - 0.5) < 1e-6

    # a marker that is dragged moves its mark in time, and the other way round
    markers["Mark"].frame = 66
    assert marks.mark_of(first).frame == 66
    marks.mark_of(first).frame = 70
    assert markers["Mark"].frame == 70
    second.name = "Door"
    assert marks.mark_of(second).frame == 132
    markers["Mark.001"].frame = 140
    assert marks.mark_of(second).frame == 140

    # a copy is a mark of its own, one that is deleted is none
    copy = second.copy()
    first.users_collection[0].objects.link(copy)
    marks.mark_of(copy).frame = 160
    assert [each.name for each in marks.list_marks(obj)] == ["Mark", "Door", "Door.001", "Mark.002"]
    bpy.data.objects.remove(third)
    marks.refresh_markers(obj)
    assert {m.name: m.frame for m in markers} == {"Mark": 70, "Door": 140, "Door.001": 160}

    # with a mark selected, panels and operators are those of its character
    bpy.context.view_layer.objects.active = copy
    assert characters.get_active_armature(bpy.context) == obj
    bpy.context.scene.frame_set(70)
    expect_refusal(ops.add_mark, "'Mark' is already at frame 70")
    marks.choose(obj, copy)
    assert ops.remove_mark() == {"FINISHED"}
    assert [each.name for each in marks.list_marks(obj)] == ["Mark", "Door"]
    assert "Door.001" not in markers
    assert characters.get_active_armature(bpy.context) == obj
    draw_panels()


def test_a_mark_that_is_keyed_is_where_it_is_on_its_frame(obj):
    mark = add_mark(60, (0.1, -1.6, 0.0))
    for frame, x in ((60, 0.1), (80, 0.9)):
        mark.location.x = x
        mark.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(80)
    assert abs(shots.read_place(mark, 60).x - 0.1) < 1e-6
    assert ops.direct() == {"FINISHED"}
    assert np.linalg.norm(read_place(obj, 60)[:2] - (0.1, -1.6)) < 0.01
    for frame in (60, 80):
        bpy.context.scene.frame_set(frame)
        assert outcomes.get_outcome(mark) == "met"


def test_what_cannot_be_directed_is_said_and_changes_nothing(obj):
    assert not ops.direct.poll()
    expect_refusal(ops.direct, "Add a mark first")
    expect_refusal(ops.remove_mark, "Choose a mark")
    _, second, _ = add_marks()
    expect_refusal(ops.direct_again, "Bake a take first")
    before = read_state()

    def refuse(*words):
        expect_refusal(ops.direct, *words)
        now = read_state() | {"keys": None}
        assert now == before | {"keys": None}

    mark = marks.mark_of(second)
    bpy.context.scene.frame_start = 100
    before["frame"] = read_state()["frame"]
    refuse("'Mark' at frame 60 is before the shot begins at 100")
    bpy.context.scene.frame_start = 1
    before["frame"] = read_state()["frame"]
    director = obj.motion_matching.director
    director.use_range, director.frame_start, director.frame_end = True, 1, 150
    refuse("'Mark.002' at frame 204 is after its end at 150")
    director.frame_end = 20_000
    refuse("14 minutes")
    director.use_range = False
    mark.moment = "walk_curves"
    refuse("'Mark.001' at frame 132", "not a frame of a clip")
    mark.moment = ""
    mark.use_tags, mark.tags = True, "dance"
    refuse("dance")
    mark.use_tags = False
    second.location.x = float("nan")
    refuse("'Mark.001' at frame 132 has no place")
    second.location.x = 0.0
    mark.frame = 60
    refuse("Two marks at frame 60 contradict each other")
    mark.frame = 132
    ops.add_pin(limb="left_hand")
    before = read_state()
    pin = marks.get_active_mark(obj)
    marks.set_frame(pin, -3)
    refuse("'Left Hand' at frame -3 is before the shot begins at 1")
    marks.set_frame(pin, 60)
    marks.mark_of(pin).part = "hips"
    refuse("mark at frame 60 does not lead")


@pytest.mark.slow
def test_walls_are_avoided_and_marks_in_them_refused(obj):
    add_mark(120, (0.0, -3.0, 0.0))
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, -1.6, 0.5))
    collection = bpy.data.collections.new("Walls")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(bpy.context.object)
    obj.motion_matching.obstacles = collection
    bpy.context.view_layer.objects.active = obj
    assert ops.direct() == {"FINISHED"}
    places = np.array([read_place(obj, frame)[:2] for frame in range(1, 130)])
    inside = np.all(np.abs(places - (0.0, -1.6)) < 0.5, axis=1)
    assert not inside.any()
    mark = marks.list_marks(obj)[0]
    mark.location.y = -2.2
    expect_refusal(ops.direct, "at frame 120 is inside an obstacle")  # or too close to it
    mark.location.y = -1.7
    expect_refusal(ops.direct, "at frame 120 is inside an obstacle", "at 1.0 m")


@pytest.mark.slow
def test_a_slope_of_the_obstacles_lifts_the_take_as_solving_again_does(obj):
    add_mark(150, (0.0, -4.0, 0.0))
    mesh = bpy.data.meshes.new("Slope")
    corners = [(-5.0, -1.0, 0.0), (5.0, -1.0, 0.0), (5.0, -9.0, 1.6), (-5.0, -9.0, 1.6)]
    mesh.from_pydata(corners, [], [(0, 3, 2, 1)])
    collection = bpy.data.collections.new("Ground")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(bpy.data.objects.new("Slope", mesh))
    obj.motion_matching.obstacles = collection
    bpy.context.view_layer.objects.active = obj
    assert ops.direct() == {"FINISHED"}
    assert outcomes.get_state(obj) == ("CHECKMARK", "Solved")
    heights = []
    for frame in (1, 150):
        bpy.context.scene.frame_set(frame)
        posed = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        tails = [(posed.matrix_world @ bone.tail).z for bone in posed.pose.bones]
        heights.append(min(tails))
    assert heights[1] - heights[0] == pytest.approx(0.6, abs=0.06)
    assert ops.direct_again() == {"FINISHED"}
    first, again = (read_channels(take.action) for take in obj.motion_matching.takes[:2])
    assert again.keys() == first.keys()
    for key in first:
        np.testing.assert_allclose(again[key], first[key], atol=1e-6, err_msg=str(key))


@pytest.mark.slow
def test_a_directed_take_is_solved_again_after_reopening(obj, tmp_path):
    add_marks()
    assert ops.direct() == {"FINISHED"}
    before = read_channels(obj.motion_matching.takes[0].action)
    path = str(tmp_path / "directed.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Hero"]
    assert outcomes.get_state(obj) == ("CHECKMARK", "Solved")
    bpy.context.view_layer.objects.active = obj
    for mark in marks.list_marks(obj):  # what is stored with the take counts
        bpy.data.objects.remove(mark)
    assert ops.direct_again() == {"FINISHED"}
    again = read_channels(obj.motion_matching.takes[1].action)
    assert again.keys() == before.keys()
    for key in before:
        np.testing.assert_allclose(again[key], before[key], atol=1e-6, err_msg=str(key))
    expect_refusal(ops.bake_again, "has lost its performance")

    # discarding it takes its shot along
    texts = len(bpy.data.texts)
    assert ops.remove_take() == {"FINISHED"}
    assert len(bpy.data.texts) == texts - 1
    assert len(bpy.data.actions) == 4
    stored = obj.motion_matching.takes[0].action
    bpy.data.texts.remove(stored_shots.find_text(stored))
    expect_refusal(ops.direct_again, "was not directed")
    stored[stored_shots.SHOT] = {"shot": bpy.data.texts.new("else"), "frame": "x"}
    expect_refusal(ops.direct_again, "has lost its shot")


@pytest.mark.slow
def test_keys_by_hand_stay_above_all_solves(obj):
    add_marks()
    obj.motion_matching.use_nla = True
    assert ops.direct() == {"FINISHED"}
    data = obj.animation_data
    [track] = data.nla_tracks
    assert track.name == own_track.TRACK
    assert data.action is None
    first = track.strips[0].action
    assert first.get(stored_shots.SHOT)

    hand = data.nla_tracks.new(prev=track)
    hand.name = "By Hand"
    waved = bpy.data.actions.new("Waved")
    hand.strips.new("Waved", 60, waved)
    edited = bpy.data.actions.new("Edited")
    data.action = edited
    data.action_blend_type = "COMBINE"
    bone = obj.pose.bones["LeftArm"]
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion = (0.9, 0.1, 0.4, 0.1)
    bone.keyframe_insert("rotation_quaternion", frame=100)
    keys = read_channels(edited)
    track.strips[0].blend_type = "COMBINE"
    for seed in (1, 2):
        obj.motion_matching.director.seed = seed
        assert ops.direct() == {"FINISHED"}
        assert [each.name for each in data.nla_tracks] == [own_track.TRACK, "By Hand"]
        [strip] = data.nla_tracks[0].strips
        assert strip.action == obj.motion_matching.takes[-1].action != first
        assert (strip.frame_start, strip.blend_type) == (1, "COMBINE")
        assert data.nla_tracks[1].strips[0].action == waved
        assert data.action == edited
        now = read_channels(edited)
        assert now.keys() == keys.keys()
        assert all(np.array_equal(now[key], keys[key]) for key in keys)
        away = read_place(obj, FRAMES[1]) - PLACES[1]
        assert np.linalg.norm(away[:2]) < 0.01, away


def test_a_hand_is_pinned_to_an_object(obj):
    bpy.context.scene.frame_set(60)
    add_mark(60, (0.0, -1.4, 0.0))
    marks.mark_of(marks.get_active_mark(obj)).hold = 2.0
    bpy.context.scene.frame_set(72)
    bpy.context.scene.cursor.location = (0.35, -1.75, 1.1)
    assert ops.add_pin(limb="left_hand") == {"FINISHED"}
    pin = marks.get_active_mark(obj)
    assert (pin.name, marks.get_frame(pin), marks.mark_of(pin).hold) == ("Left Hand", 72, 1.0)
    assert ops.direct() == {"FINISHED"}
    for frame in (72, 84, 96):
        bpy.context.scene.frame_set(frame)
        seen = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        hand = (seen.matrix_world @ seen.pose.bones["LeftHand"].matrix).translation
        assert (hand - pin.location).length < 0.01, (frame, hand)
    assert outcomes.get_outcome(pin) == "met", marks.mark_of(pin).reason


def add_way(director, *points):
    """Add a curve through points, each a place and a radius, and follow it from 49 to 145."""
    curve = bpy.data.curves.new("Way", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("POLY")
    spline.points.add(len(points) - 1)
    for point, (x, y, radius) in zip(spline.points, points, strict=True):
        point.co, point.radius = (x, y, 0.0, 1.0), radius
    way = bpy.data.objects.new("Way", curve)
    bpy.context.scene.collection.objects.link(way)
    director.path, director.path_start, director.path_end = way, 49, 145
    return way


def test_radii_of_a_curve_are_factors_of_the_speed(obj):
    """Half as wide, two metres take as long as four that are wide."""
    points = (0.0, -0.8, 0.6), (0.0, -2.29, 0.6), (0.0, -2.31, 1.2), (0.0, -5.3, 1.2)
    way = add_way(obj.motion_matching.director, *points)
    assert ops.direct() == {"FINISHED"}
    for share, y in ((0.25, -1.55), (0.5, -2.3), (0.75, -3.8), (1.0, -5.3)):
        frame = 49 + round(96 * share)
        assert abs(read_place(obj, frame)[1] - y) < 0.1, (frame, read_place(obj, frame))
    way.data.splines[0].points[1].radius = 0.0
    expect_refusal(ops.direct, "'Way'", "radius of 0")


@pytest.mark.slow
def test_a_curve_is_followed_over_its_frames(obj):
    director = obj.motion_matching.director
    way = add_way(director, (0.0, -0.8, 1.0), (0.0, -5.2, 1.0))
    assert ops.direct() == {"FINISHED"}
    for share in (0.25, 0.5, 0.75, 1.0):
        frame = 49 + round(96 * share)
        away = read_place(obj, frame)[:2] - (0.0, -0.8 - 4.4 * share)
        assert np.linalg.norm(away) < 0.1, (frame, away)
    # from the first frame on, it begins on the curve
    director.path_start, way.location = 1, (3.0, 0.0, 0.0)
    assert ops.direct() == {"FINISHED"}
    np.testing.assert_allclose(read_place(obj, 1), (3.0, -0.8, 0.0), atol=1e-3)
    director.path_end = 0
    expect_refusal(ops.direct, "'Way'", "from frame 1 to 0")


@pytest.mark.slow
def test_a_take_is_directed_by_marks_along_it(obj):
    assert ops.bake_script(script="stop_and_go", seconds=10.0) == {"FINISHED"}
    take = obj.motion_matching.takes[0].action
    ends = [read_place(obj, frame) for frame in (1, 240)]
    add_mark(30, (5.0, 5.0, 0.0))  # is replaced
    assert ops.direct_take() == {"FINISHED"}
    placed = marks.list_marks(obj)
    assert 4 <= len(placed) <= 10
    assert all(each.location.x < 4.9 for each in placed)
    assert sum(marks.mark_of(each).hold > 0.5 for each in placed) >= 1
    assert all(outcomes.get_outcome(each) == "met" for each in placed), [
        marks.mark_of(each).reason for each in placed
    ]
    directed = obj.motion_matching.takes[1].action
    assert stored_shots.is_directed(directed)
    assert not stored_shots.is_directed(take)
    for frame, end in zip((1, 240), ends, strict=True):
        assert np.linalg.norm((read_place(obj, frame) - end)[:2]) < 0.02, (frame, end)
    expect_refusal(ops.direct_take, "has lost its performance")


def test_adding_moving_and_solving_are_steps_of_undo():
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="start")
    bpy.context.scene.frame_set(60)
    bpy.context.scene.cursor.location = (0.1, -1.6, 0.0)
    assert ops.add_mark("EXEC_DEFAULT", True) == {"FINISHED"}
    assert ops.direct("EXEC_DEFAULT", True) == {"FINISHED"}
    bpy.data.objects["Mark"].location.x = 0.5
    bpy.ops.ed.undo_push(message="Move")

    def read():
        obj = bpy.data.objects["Hero"]
        found = [outcomes.get_outcome(mark) for mark in marks.list_marks(obj)]
        return found, len(obj.motion_matching.takes), len(bpy.context.scene.timeline_markers)

    bpy.context.view_layer.update()
    assert read() == (["changed"], 1, 1)
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    assert read() == (["met"], 1, 1)
    bpy.ops.ed.undo()
    assert read() == ([""], 0, 1)
    bpy.ops.ed.undo()
    assert read() == ([], 0, 0)
    assert "Marks of Hero" not in bpy.data.collections
    bpy.ops.ed.redo()
    bpy.ops.ed.redo()
    bpy.context.view_layer.update()
    assert read() == (["met"], 1, 1)
    draw_panels()


def test_each_character_has_marks_of_its_own(obj):
    mine = add_mark(60, (0.1, -1.6, 0.0))
    other = obj.copy()  # as Shift D makes it: it points at the same collection
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.objects.active = other
    assert marks.list_marks(other) == []
    draw_panels()
    bpy.context.scene.cursor.location = (3.0, -1.6, 0.0)
    assert ops.add_mark() == {"FINISHED"}  # on the frame of the first one's mark
    [theirs] = marks.list_marks(other)
    assert marks.list_marks(obj) == [mine]
    collections = [each.users_collection[0].name for each in (mine, theirs)]
    assert collections == ["Marks of Hero", "Marks of Hero.001"]
    marks.remove_mark(other, theirs)
    assert list(bpy.context.scene.timeline_markers.keys()) == ["Mark"]
    assert marks.get_frame(mine) == 60


def test_a_solve_that_is_closed_early_changes_nothing(obj):
    add_mark(60, (0.1, -1.6, 0.0))
    before, markers = read_state(), len(bpy.context.scene.timeline_markers)
    ops.build()
    before["keys"] = read_state()["keys"]
    steps = solving.solve_steps(obj)
    texts = []
    for text, _ in steps:
        texts.append(text)
        if text == "Directing":
            break
    steps.close()
    assert "Directing" in texts
    assert read_state() == before
    assert len(bpy.context.scene.timeline_markers) == markers
    assert outcomes.get_state(obj)[1] == "1 Mark"
