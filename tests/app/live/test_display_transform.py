"""A character shown in place over a moving ground is recorded where it goes in the world."""

from __future__ import annotations

import bpy
import numpy as np

from motion_matching.app.live import display_transform, host
from motion_matching.app.runtime import runtime
from motion_matching.ui.play import drawing as play_drawing
from motion_matching.ui.play import navigation
from tests.live.hero import Hero, add_bone_collection
from tests.live.stage import FPS
from tests.scene.keys import read_channels


def record_hero(**play):
    hero = Hero(**play)
    live = hero.start()
    live.toggle_recording()
    seen, ticks, layers = [], [], []
    for _ in range(140):
        hero.run(1)
        seen.append(np.array(hero.obj.matrix_world))
        ticks.append(live.session._frame.character)
        layers.append(runtime.get_cache(play_drawing.HudCache).snapshot)
    bpy.context.scene.frame_set(1)  # plays the keys, which hold world motion
    seen.append(np.array(hero.obj.matrix_world))
    return hero, live, np.array(seen), np.array(ticks), layers


def test_in_place_the_ground_moves_and_keys_hold_world_motion() -> None:
    hero, live, seen, ticks, layers = record_hero(view="still")
    assert np.abs(seen[-2, :2, 3] - ticks[-2, :2]).max() < 0.1
    assert np.linalg.norm(ticks[-1, :2]) > 1.0
    colors = {line.color for line in layers[-1].lines}
    assert colors == {"desired", "chosen"}, "a ground is drawn although the view is still"
    host.end()
    true = {key: keys.copy() for key, keys in read_channels(hero.obj.animation_data.action).items()}

    hero, live, seen, again, layers = record_hero(view="spot")
    assert np.array_equal(again, ticks)
    assert np.abs(seen[:, :2, 3]).max() < 1e-6, "it has left its place"
    assert np.ptp(ticks[:, 2]) > 0.3
    facing = np.arctan2(seen[:-1, 1, 0], seen[:-1, 0, 0])
    np.testing.assert_allclose(facing[1:], ticks[:-1, 2], atol=0.1)  # it turns as in the world
    # the ring of the simulation object and the path are drawn around it
    for at in (0, 70, 139):
        ground = [line for line in layers[at].lines if line.color == "guide"]
        rest = [line for line in layers[at].lines if line.color != "guide"]
        rest = rest[:4]  # the marks along the paths come last
        assert len(ground) == 2
        assert len(rest) == 4
        assert max(np.linalg.norm(line.points[0][:2]) for line in rest) < 0.8, rest

    # the ground's metre lines move against the motion
    def get_mark(at, axis):
        return layers[at].lines[2 + axis].points[0][axis]

    for at in (30, 70, 139):
        for axis in (0, 1):
            moved = get_mark(at, axis) + ticks[at][axis]
            assert abs(moved - round(moved)) < 1e-4, (at, axis)
    host.end()
    kept = read_channels(hero.obj.animation_data.action)
    assert kept.keys() == true.keys()
    assert all(np.array_equal(kept[key], true[key]) for key in kept)

    # switching the view keeps its place, and switching back returns to the world
    hero = Hero(view="still")
    live = hero.start()
    hero.run(130)
    here = np.array(hero.obj.matrix_world)[:2, 3]
    assert np.linalg.norm(here) > 0.5
    hero.obj.motion_matching.play.view = "spot"
    hero.run(60)
    stays = np.array(hero.obj.matrix_world)[:2, 3]
    hero.run(60)
    assert np.array_equal(np.array(hero.obj.matrix_world)[:2, 3], stays)
    assert np.linalg.norm(stays - here) < 0.6
    assert np.allclose(live.position, stays, atol=1e-5)
    hero.obj.motion_matching.play.view = "follow"
    hero.run(30)
    assert (
        np.linalg.norm(np.array(hero.obj.matrix_world)[:2, 3] - live.session._frame.character[:2])
        < 0.1
    )
    host.end()


def test_overlays_are_drawn_around_a_character_in_place() -> None:
    # overlays also surround a character without root motion, relative to its own front
    def bake_in_place(hero):
        hero.obj.motion_matching.root = "IN_PLACE"

    def drive_arms(hero):
        add_bone_collection(hero.obj, "Arms", "LeftArm", "Head")
        hero.obj.motion_matching.play.collection = "Arms"

    for prepare in (bake_in_place, drive_arms):
        hero = Hero(view="follow")
        obj = hero.obj
        obj.location, obj.rotation_euler = (2.0, 3.0, 0.0), (0.0, 0.0, 0.7)
        prepare(hero)
        bpy.context.view_layer.update()
        live = hero.start()
        hero.run(140)
        frame = live.session._frame
        assert np.allclose(obj.matrix_world.translation, (2.0, 3.0, 0.0), atol=1e-6)
        assert np.allclose(live.position, (2.0, 3.0), atol=1e-6)
        assert np.linalg.norm(frame.character[:2]) > 1.0
        matched = next(
            line
            for line in runtime.get_cache(play_drawing.HudCache).snapshot.lines
            if line.color == "chosen"
        ).points
        assert np.allclose(matched[0][:2], (2.0, 3.0), atol=1e-6)
        # a second ahead in its own frame, as in the world
        true = display_transform.DisplayTransform().transform_placement(frame.character)
        [ahead] = play_drawing._find_matched_placements(live.database, frame, [1.0])

        def to_local(point, place):
            dx, dy = point[0] - place[0], point[1] - place[1]
            c, s = np.cos(place[2]), np.sin(place[2])
            return c * dx + s * dy, c * dy - s * dx

        np.testing.assert_allclose(
            to_local(matched[-1], (2.0, 3.0, 0.7)), to_local(ahead, true), atol=1e-5
        )
        assert (
            len(
                [
                    line
                    for line in runtime.get_cache(play_drawing.HudCache).snapshot.lines
                    if line.color == "guide"
                ]
            )
            == 2
        )
        host.end()


def test_walls_move_with_the_ground() -> None:
    # walls move with the ground and stay at their true distance
    hero = Hero(view="spot")
    mesh = bpy.data.meshes.new("Wall")
    mesh.from_pydata([(-1, -2, -1), (1, -2, -1), (1, -2, 2), (-1, -2, 2)], [], [(0, 1, 2, 3)])
    box = bpy.data.objects.new("Wall", mesh)
    collection = bpy.data.collections.new("Walls")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(box)
    bpy.context.view_layer.update()
    hero.obj.motion_matching.obstacles = collection
    live = hero.start()
    hero.run(130)
    character = live.session._frame.character
    walls = [
        line.points
        for line in runtime.get_cache(play_drawing.HudCache).snapshot.lines
        if line.color == "guide"
    ][2:]
    assert walls, "the wall is near"
    for wall in walls:
        for x, y, _ in wall:
            assert abs(y + character.y + 2.0) < 1e-4, (
                x,
                y,
                character,
            )
            assert abs(x + character.x) < 1.0 + 1e-4, (
                x,
                y,
                character,
            )
    host.end()


def test_the_view_follows_only_if_set() -> None:
    window = bpy.context.window_manager.windows[0]
    hero = Hero()
    window = bpy.context.window_manager.windows[0]
    seen = next(navigation.find_views(window)).data
    seen.view_location = (0.0, 0.0, 1.0)
    following = navigation.ViewFollower(window, (0.0, 0.0))
    live = hero.start()
    assert live.view_follows
    for _ in range(160):
        hero.run(1)
        following.follow(window, live.position, 1.0 / FPS)
    away = np.linalg.norm(np.array(seen.view_location)[:2] - live.position)
    assert np.linalg.norm(live.position) > 1.0, away
    assert away < 0.5, away
    assert seen.view_location.z == 1.0, away
    hero.obj.motion_matching.play.view = "still"
    assert not live.view_follows
    place = seen.view_location.copy()
    hero.run(60)
    following.set_position(live.position)
    hero.obj.motion_matching.play.view = "follow"
    following.follow(window, live.position, 1.0 / FPS)
    assert (seen.view_location - place).length < 1e-6, "motion during the pause is not caught up"
    host.end()
