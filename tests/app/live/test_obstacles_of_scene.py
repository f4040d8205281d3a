"""A live character walks on the same ground, and is stopped by the same walls, as in a bake."""

from __future__ import annotations

import bpy
import numpy as np

from motion_matching.app.live import host
from motion_matching.app.settings import add_obstacles
from motion_matching.engine.facts.character import measure_character_legs
from motion_matching.engine.performance import performance
from motion_matching.engine.takes import takes
from motion_matching.engine.takes.baking import compute_toe_positions
from motion_matching.live.inputs.leaders.replay import ReplayInput
from motion_matching.scene.writing import recording
from tests.demo import demo_settings, load_demo
from tests.live.hero import Hero
from tests.live.stage import FPS, build_performance

SLOPE = ((-20, -20, 4.4), (20, -20, 4.4), (20, 2, 0), (-20, 2, 0))


def create_ground() -> bpy.types.Collection:
    collection = bpy.data.collections.new("Ground")
    bpy.context.scene.collection.children.link(collection)
    return collection


def create_face(collection: bpy.types.Collection, name: str, *corners) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
    obj = bpy.data.objects.new(name, mesh)
    collection.objects.link(obj)
    return obj


def test_live_and_bake_use_the_same_ground() -> None:
    hero = Hero()
    collection = create_ground()
    create_face(collection, "Slope", *SLOPE)
    create_face(collection, "Wall", (-3, -1.5, -1), (3, -1.5, -1), (3, -1.5, 4), (-3, -1.5, 4))
    bpy.context.view_layer.update()
    hero.obj.motion_matching.obstacles = collection
    live = hero.start(ReplayInput(build_performance("figure_eight", seconds=6.0), FPS))
    live.toggle_recording()
    database = load_demo()
    standing = [leg.toe_height for leg in database.derive(measure_character_legs)]
    for _ in range(300):
        hero.run(1)
        frame = live.session._frame
        assert frame.character.y > -1.5 + 0.25, "it went through the wall"
        # it stands as high as its lower foot, as the slope goes down behind it
        toes = compute_toe_positions(frame.pose[None], database)[0]
        below = [0.4 - 0.2 * y for _, y, _ in toes]
        height = frame.pose[2, 0]
        assert min(below) - 0.1 < height < max(below) + 0.1, "it does not stand on the slope"
        assert np.all(toes[:, 2] - standing > np.array(below) - 0.01), "a foot is in the slope"
    host.end()

    # performing the take again on the ground of a bake gives the same motion
    [kept] = recording.read_recorded_parts(hero.obj.animation_data.action)
    again = add_obstacles(hero.obj, performance.from_json(kept["performance"], "the take"))
    take = takes.perform(database, demo_settings(), again)
    assert take.blocked.any()
    assert np.array_equal(take.poses[-1], frame.pose)


def test_a_ground_that_is_edited_or_deleted_counts_from_the_next_session() -> None:
    """A session keeps the ground it started with: the character does not fall through it."""
    hero = Hero()
    collection = create_ground()
    slope = create_face(collection, "Slope", *SLOPE)
    bpy.context.view_layer.update()
    hero.obj.motion_matching.obstacles = collection
    live = hero.start(ReplayInput(build_performance("figure_eight", seconds=6.0), FPS))
    hero.run(30)
    for change in ("lowered", "emptied", "deleted"):
        if change == "lowered":
            for vertex in slope.data.vertices:
                vertex.co.z -= 5.0
        elif change == "emptied":
            slope.data.clear_geometry()
        else:
            bpy.data.objects.remove(slope)
            bpy.data.collections.remove(collection)
        bpy.context.view_layer.update()
        before = live.session._frame.pose
        for _ in range(40):
            hero.run(1)
            frame = live.session._frame
            assert abs(frame.pose[2, 0] - (0.4 - 0.2 * frame.character.y)) < 0.15, change
        assert not np.array_equal(before, frame.pose), f"it stopped as its ground was {change}"
    host.end()

    assert hero.obj.motion_matching.obstacles is None
    live = hero.start(ReplayInput(build_performance("figure_eight", seconds=6.0), FPS))
    hero.run(20)
    assert abs(live.session._frame.pose[2, 0]) < 1e-6, "the ground is flat without obstacles"
    host.end()
