"""Ground from a collection: evaluated meshes block a character as boxes do, slopes and steps do
not.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.database import Database
from motion_matching.engine.ground.ground import Box, Boxes, Walls
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.takes import takes
from motion_matching.scene.staging.ground import (
    build_ground,
    collect_object_triangles,
    collect_visible_triangles,
    measure_rise,
)
from tests.command_line import check_refusals, run_with_errors
from tests.command_line import run as run_command
from tests.demo import load_few
from tests.scene.bodies import create_person


def add_collection(name):
    made = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(made)
    return made


def add_mesh(collection, name, points, faces):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    collection.objects.link(obj)
    return obj


def add_cube(collection, name, size=(1, 1, 1), place=(0, 0, 0), yaw=0.0):
    # the location is the centre of its base
    points = [
        (x, y, z)
        for z in (0.0, 1.0)
        for x, y in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
    ]
    faces = [(3, 2, 1, 0), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
    obj = add_mesh(collection, name, points, faces)
    obj.location, obj.rotation_euler, obj.scale = place, (0, 0, yaw), size
    return obj


def add_plane(collection, name, half, place=(0, 0, 0), rotation=(0, 0, 0)):
    points = [(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)]
    obj = add_mesh(collection, name, points, [(0, 1, 2, 3)])
    obj.location, obj.rotation_euler = place, rotation
    return obj


def test_an_object_counts_with_its_children_and_its_instances():
    scene = bpy.context.scene.collection
    parent = bpy.data.objects.new("Stairs", None)
    scene.objects.link(parent)
    for number in range(3):
        add_cube(scene, f"Step {number}", place=(0, -number, 0)).parent = parent
    add_cube(scene, "Beside", place=(5, 0, 0))
    bpy.context.view_layer.update()
    triangles = collect_object_triangles(parent)
    assert len(triangles) == 3 * 12
    assert triangles[..., 0].max() < 1.0
    parent.location.z = 2.0
    bpy.context.view_layer.update()
    assert build_ground(collect_object_triangles(parent))[0].height(0.0, -1.0) == 3.0
    assert len(collect_object_triangles(bpy.data.objects["Step 1"])) == 12


def build_floor_and_walls(collection):
    bpy.context.view_layer.update()
    return build_ground(collect_visible_triangles(collection))


@pytest.mark.slow
def test_meshes_block_a_character_as_boxes_do(demo_database: Database, tmp_path: Path) -> None:
    databases.save(load_few(), tmp_path / "walk.npz")
    boxes = [Box((0, -4.5), (40, 1)), Box((3, -2), (1, 6), 0.2), Box((-2.5, -2), (1, 1), 0.7)]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    obstacles = add_collection("Obstacles")
    add_plane(obstacles, "Floor", 50)
    (_wide, _narrow, _small) = boxes
    # an array modifier, a child of a rotated and scaled parent, and a collection instance
    array = add_cube(obstacles, "Array", (2, 1, 2), (-19, -4.5, 0)).modifiers.new("Array", "ARRAY")
    array.count = 20
    parent = bpy.data.objects.new("Parent", None)
    obstacles.objects.link(parent)
    parent.location, parent.rotation_euler, parent.scale = (3, -2, 0), (0, 0, 0.2), (0.5, 3, 1)
    add_cube(obstacles, "Child", (2, 2, 2)).parent = parent
    library = bpy.data.collections.new("Library")
    add_cube(library, "Small", (1, 1, 1.2))
    instance = bpy.data.objects.new("Instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", library
    instance.location, instance.rotation_euler = (-2.5, -2, 0), (0, 0, 0.7)
    obstacles.objects.link(instance)

    floor, walls = build_floor_and_walls(obstacles)
    meshes, solid = Walls(walls, floor), Boxes(boxes)
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(2000):
        start = solid.slide(*[tuple(rng.uniform(-5, 5, 2).tolist())] * 2, 0.3)
        stop = tuple((start + rng.normal(size=2)).tolist())
        a, b = meshes.slide(start, stop, 0.3), solid.slide(start, stop, 0.3)
        # in single precision the two triangles of a side differ by 1e-6, which turns a way along it
        # by a thousandth
        assert math.dist(a, b) < 2e-3, (start, stop, a, b)
        held += math.dist(b, stop) > 1e-3
    assert held > 200

    database = databases.load(str(tmp_path / "walk.npz"))
    settings = takes.make_default_settings(database)
    for yaw, gait in ((0.0, 0.0), (0.5, 0.0), (0.8, 1.0), (-0.9, 1.0)):
        go = Intent(move=(math.sin(yaw), -math.cos(yaw)), gait=gait)
        wanted = Performance("go", database.fps, tuple([Intent()] * 15 + [go] * 150))
        on = (replace(wanted, floor=where) for where in (meshes, solid))
        a, b = (takes.perform(database, settings, performance) for performance in on)
        assert a.blocked.any()
        assert np.array_equal(a.frames, b.frames), (yaw, gait)
        np.testing.assert_allclose(a.poses, b.poses, atol=1e-3)


def test_slopes_steps_and_bridges_do_not_block() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    ways = add_collection("Ways")
    add_plane(ways, "Floor", 20)

    def is_blocked(x):
        """Tell whether a character that walks along Y across the place is blocked."""
        return Walls(walls, floor).slide((x, -5.0), (x, 5.0), 0.3) != (x, 5.0)

    add_cube(ways, "Step", (1, 1, 0.25), (-10, 0, 0))
    add_cube(ways, "Block", (1, 1, 0.5), (-8, 0, 0))
    add_cube(ways, "Beam", (1, 1, 0.3), (-6, 0, 1.9))
    add_cube(ways, "Low beam", (1, 1, 0.3), (-4, 0, 1.5))
    add_plane(ways, "Gentle", 1, (0, 0, 0), (math.radians(40), 0, 0))
    add_plane(ways, "Steep", 1, (4, 0, 0), (math.radians(60), 0, 0))
    add_cube(ways, "Bridge", (2, 4, 0.2), (8, 0, 2.5))
    add_cube(ways, "Slab", (2, 2, 3), (12, 0, -2.8))
    hidden = add_cube(ways, "Hidden", (1, 1, 2), (15, 0, 0))
    hidden.hide_viewport = True
    floor, walls = build_floor_and_walls(ways)
    found = {x: is_blocked(x) for x in (-10, -8, -6, -4, 0, 4, 8, 12, 15)}
    assert found == {
        -10: False,
        -8: True,
        -6: False,
        -4: True,
        0: False,
        4: True,
        8: False,
        12: False,
        15: False,
    }, found
    for (x, y), height in {
        (-10, 0): 0.25,
        (-6, 0): 0,
        (8, 0): 0,
        (12, 0): 0.2,
        (18, 3): 0,
        (50, 0): 0,
    }.items():
        assert abs(floor.height(x, y) - height) < 1e-5, (x, y, floor.height(x, y))
    assert abs(floor.height(0.3, 0.5) - 0.5 * math.tan(math.radians(40))) < 1e-5

    # on a hill, heights are measured above its floor
    hills = add_collection("Hills")
    add_plane(hills, "Hill", 30, (0, 0, 10), (0, math.radians(-10), 0))
    add_cube(hills, "Wall", (1, 1, 1.5), (5, 0, 10 + 5 * math.tan(math.radians(10))))
    add_cube(hills, "Deep", (1, 1, 1.5), (-5, 0, 0))
    floor, walls = build_floor_and_walls(hills)
    assert is_blocked(5.0)
    assert not is_blocked(-5.0)
    assert abs(floor.height(8, 3) - 10 - 8 * math.tan(math.radians(10))) < 1e-4

    # only walls; an empty collection
    bare = add_collection("Bare")
    add_plane(bare, "Screen", 2, (0, 0, 1), (math.pi / 2, 0, 0))
    floor, walls = build_floor_and_walls(bare)
    assert len(walls) > 0
    assert is_blocked(0.0)
    assert floor.height(0.0, 0.0) == 0.0
    assert len(collect_visible_triangles(add_collection("Empty"))) == 0


def check_command(folder):
    database, user, out = folder / "walk.npz", folder / "user.blend", folder / "out.blend"
    take, again, saved = folder / "take.bvh", folder / "again.bvh", folder / "saved.json"

    def run(*arguments):
        options = ("--seconds", 6, "--script", "flips", "--quiet")
        return run_with_errors("take", database, *options, *arguments)

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    create_person("Hero")
    add_cube(add_collection("Obstacles"), "Cube", (8, 1, 2), (0, -2.5, 0))
    add_collection("Nothing")
    moving = add_cube(add_collection("Moving"), "Cube", (8, 1, 2), (0, -20, 0))
    moving.keyframe_insert("location", frame=1)
    moving.location = (0, -2.5, 0)
    moving.keyframe_insert("location", frame=50)
    bpy.ops.wm.save_as_mainfile(filepath=str(user))
    before = user.read_bytes()

    def measure_reach(file):
        return -bvh.load(file, scale=0.01).compute_world()[1][:, 0, 1].min()  # the hips, towards -Y

    assert run("--onto", user, "-o", out, "--bvh", take) == (0, "")
    assert measure_reach(take) > 2.2
    held = (
        "--onto",
        user,
        "-o",
        out,
        "--ground-collection",
        "Obstacles",
        "--save-performance",
        saved,
    )
    assert run(*held, "--bvh", take) == (0, "")
    assert 1.5 < measure_reach(take) < 1.8, measure_reach(take)
    # the performance alone gives the same take, as it stores the walls
    assert run_command("take", database, "--script", saved, "--bvh", again, "--quiet") == 0
    assert again.read_bytes() == take.read_bytes()

    def build_arguments(frame):
        return (
            "--onto",
            user,
            "-o",
            out,
            "--ground-collection",
            "Moving",
            "--frame",
            frame,
            "--bvh",
            take,
        )

    assert run(*build_arguments(1)) == (0, "")
    assert measure_reach(take) > 2.2
    assert run(*build_arguments(50)) == (0, "")
    assert measure_reach(take) < 1.8

    boxes = folder / "boxes.json"
    boxes.write_text('[{"center": [0, -2.5], "size": [8, 1], "height": 1.2}]')
    assert run("--obstacles", boxes, "-o", out, "--bvh", take) == (0, "")
    assert 1.5 < measure_reach(take) < 1.8
    bpy.ops.wm.open_mainfile(filepath=str(out))
    corners = np.array([v.co for v in bpy.data.objects["Obstacles"].data.vertices])
    np.testing.assert_allclose(
        (corners.min(axis=0), corners.max(axis=0)), ((-4, -3, 0), (4, -2, 1.2)), atol=1e-6
    )

    wrong = folder / "wrong.json"
    wrong.write_text('[{"center": [0, -2.5]}]')
    cases = (
        (("--onto", user, "-o", out, "--ground-collection", "Obstacle"), "'Obstacles'"),
        (("--onto", user, "-o", out, "--ground-collection", "Nothing"), "shows no mesh"),
        (("-o", out, "--ground-collection", "Obstacles"), "--onto"),
        (("-o", out, "--obstacles", folder / "no.json"), "does not exist"),
        (("-o", out, "--obstacles", wrong), "'size' of box 1"),
        (("-o", out, "--obstacles", saved), "the list"),
    )
    check_refusals(run, cases, out)
    assert user.read_bytes() == before


@pytest.mark.slow
def test_the_command_line_makes_takes_among_obstacles(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    databases.save(load_few(), folder / "walk.npz")
    check_command(folder)


@pytest.mark.slow
def test_the_command_line_directs_up_a_slope(tmp_path: Path) -> None:
    database, user = tmp_path / "walk.npz", tmp_path / "user.blend"
    scene, out, take = (tmp_path / name for name in ("scene.json", "out.blend", "take.bvh"))
    databases.save(load_few(), database)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    create_person("Hero")
    tilt = math.radians(10.0)
    # its edge lies across the origin: it rises toward -Y
    middle = (0, -5 * math.cos(tilt), 5 * math.sin(tilt))
    add_plane(add_collection("Slope"), "Plane", 10, middle, (-tilt, 0, 0))
    bpy.ops.wm.save_as_mainfile(filepath=str(user))
    mark = {"time": 4.0, "position": [0.0, -4.0]}
    scene.write_text(json.dumps({"seconds": 5.0, "marks": [mark]}))

    def run(*options):
        return run_with_errors("direct", database, scene, "--quiet", *options)

    on_slope = "--onto", user, "-o", out, "--ground-collection", "Slope"
    climbs = []
    for options in ((), on_slope):
        assert run("--bvh", take, *options) == (0, "")
        hips = bvh.load(take, scale=0.01).compute_world()[1][:, 1]
        climbs.append(hips[120, 2] - hips[0, 2])
    assert abs(climbs[0]) < 0.1
    assert abs(climbs[1] - climbs[0] - 4.0 * math.tan(tilt)) < 0.05
    written = out.read_bytes()
    assert "--onto" in run("--bvh", take, "--ground-collection", "Slope")[1]
    mark["position"] = [30.0, 0.0]  # beside a cliff
    middle = (30, 0, 2)
    bpy.ops.wm.open_mainfile(filepath=str(user))
    add_plane(bpy.data.collections["Slope"], "Roof", 4, middle, (0, 0, 0))
    bpy.ops.wm.save_as_mainfile(filepath=str(user))
    scene.write_text(json.dumps({"seconds": 60.0, "marks": [mark | {"time": 50.0}]}))
    code, sentence = run(*on_slope)
    assert code == 1
    assert "The mark at 50 s is inside an obstacle, or no straight way of steps" in sentence
    assert out.read_bytes() == written


def find_rise(collection):
    bpy.context.view_layer.update()
    return measure_rise(collect_visible_triangles(collection))


def test_floor_that_leads_on_rises_and_a_table_does_not() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    ways = add_collection("Ways")
    assert find_rise(ways) == 0.0
    add_plane(ways, "Floor", 20)
    add_cube(ways, "Table", (1, 1, 0.75), (5, 0, 0))
    assert find_rise(ways) == pytest.approx(0.0, abs=1e-6)
    add_cube(ways, "Step", (1, 1, 0.2), (2, 0, 0))
    assert find_rise(ways) == pytest.approx(0.2, abs=1e-6)
    for number in range(5):
        add_cube(ways, f"Stair {number}", (1, 0.3, 0.18 * (number + 1)), (0, 0.3 * number, 0))
    # now the table stands between two treads in height, as if a step led to it
    assert find_rise(ways) == pytest.approx(0.9, abs=1e-6)


def test_a_slope_rises_and_leads_down_as_well() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    ways = add_collection("Ways")
    add_plane(ways, "Slope", 2, rotation=(math.radians(20.0), 0, 0))
    assert find_rise(ways) == pytest.approx(4 * math.sin(math.radians(20.0)), abs=1e-5)
    add_plane(ways, "Wall", 2, place=(0, 3, 0), rotation=(math.radians(80.0), 0, 0))
    assert find_rise(ways) == pytest.approx(4 * math.sin(math.radians(20.0)), abs=1e-5)
    # nothing leads up to it
    add_plane(ways, "Roof", 2, place=(0, 0, 4), rotation=(math.radians(20.0), 0, 0))
    assert find_rise(ways) == pytest.approx(4 * math.sin(math.radians(20.0)), abs=1e-5)
