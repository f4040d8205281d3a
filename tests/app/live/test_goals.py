"""Goals that move while a character goes to them: a click on the ground, and a changed curve."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host, steering
from motion_matching.app.runtime import runtime
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.leaders.path import PathInput
from motion_matching.ui.play import drawing
from tests.demo import demo_settings
from tests.live.hero import Hero
from tests.live.stage import FPS


def start_hero(**play):
    hero = Hero(**play)
    settings = hero.obj.motion_matching.play

    def create(ground):
        return steering.create_input(settings, Keyboard(), (), demo_settings(), FPS, ground)

    hero.start(create)
    return hero


def where(hero):
    return np.array(hero.live.session._frame.simulation_object[:2])


def get_rings():
    return [line for line in runtime.get_cache(drawing.HudCache).snapshot.lines if line.width == 4]


@pytest.mark.slow
def test_the_character_goes_where_one_clicks():
    hero = start_hero(steer="click")
    live = hero.live
    assert live.display.takes_goals
    hero.run(30)
    assert live.display.goal is None
    assert not get_rings()
    assert np.abs(where(hero)).max() < 0.2, "it stands until the first click"
    live.display.go_to(2.0, -3.0)
    assert live.display.goal == pytest.approx((2.0, -3.0))
    hero.run(round(6 * FPS))
    assert np.linalg.norm(where(hero) - (2.0, -3.0)) < 0.1
    [ring] = get_rings()
    assert np.mean(ring.points[:-1], axis=0)[:2] == pytest.approx((2.0, -3.0), abs=1e-6)
    live.toggle_recording()
    live.display.go_to(0.0, -1.0)
    hero.run(round(6 * FPS))
    assert np.linalg.norm(where(hero) - (0.0, -1.0)) < 0.1
    host.end()
    assert len(hero.obj.motion_matching.takes) == 1


def test_on_the_spot_a_click_counts_where_the_ground_is_seen():
    hero = start_hero(steer="click", view="spot")
    hero.live.display.go_to(0.0, -3.0)
    hero.run(round(2 * FPS))
    seen, there = np.array(hero.live.position), where(hero)
    assert np.linalg.norm(there) > 0.5, "it has gone"
    assert np.linalg.norm(seen) < 0.2, "and is seen where it was"
    beside = tuple(seen + np.array([1.0, 0.0]))
    hero.live.display.go_to(*beside)
    aside = np.array(hero.live.session.source.leader.point) - hero.live.display._character[:2]
    assert np.linalg.norm(aside) == pytest.approx(1.0, abs=0.05)
    assert hero.live.display.goal == pytest.approx(beside)
    host.end()


def make_way(kind):
    data = bpy.data.curves.new("Way", "CURVE")
    spline = data.splines.new(kind)
    spline.points.add(4)
    spline.use_endpoint_u = True
    for number, point in enumerate(spline.points):
        point.co = (0.0, -2.0 * number, 0.0, 1.0)
    way = bpy.data.objects.new("Way", data)
    bpy.context.scene.collection.objects.link(way)
    bpy.context.view_layer.update()
    return way


@pytest.mark.parametrize("kind", ["POLY", "NURBS"])
def test_a_curve_that_changes_is_followed_at_once(kind):
    hero = Hero(steer="curve")
    way, play = make_way(kind), hero.obj.motion_matching.play
    play.curve = way
    hero.start(
        lambda ground: steering.create_input(play, Keyboard(), (), demo_settings(), FPS, ground)
    )
    hero.run(round(2 * FPS))
    first = steering.find_leader(hero.live.session.source, PathInput)
    before = where(hero)
    bpy.ops.motion_matching.move_grip(kind="point", name="Way", index=4, location=(3.0, -6.0, 0.0))
    bpy.context.view_layer.update()
    hero.run(2)
    second = steering.find_leader(hero.live.session.source, PathInput)
    assert second is not first
    assert np.linalg.norm(where(hero) - before) < 0.3, "it goes on from where it is"
    hero.run(5)
    assert steering.find_leader(hero.live.session.source, PathInput) is second, "and once only"
    # the whole object
    way.location.x = 0.3
    bpy.context.view_layer.update()
    hero.run(2)
    assert steering.find_leader(hero.live.session.source, PathInput) is not second
    while runtime.live is hero.live and where(hero)[0] < 3.2:
        hero.run(1)
        assert hero.now < 130.0
    assert np.linalg.norm(where(hero) - (3.3, -6.0)) < 0.4
    host.end()


def test_a_curve_that_becomes_unusable_leaves_the_path_that_was_followed():
    hero = Hero(steer="curve")
    way, play = make_way("POLY"), hero.obj.motion_matching.play
    play.curve = way
    hero.start(
        lambda ground: steering.create_input(play, Keyboard(), (), demo_settings(), FPS, ground)
    )
    hero.run(30)
    first = steering.find_leader(hero.live.session.source, PathInput)
    way.data.splines.clear()
    way.data.update_tag()
    bpy.context.view_layer.update()
    hero.run(30)
    assert runtime.live is hero.live
    assert steering.find_leader(hero.live.session.source, PathInput) is first
    bpy.data.objects.remove(way)
    hero.run(30)
    assert runtime.live is hero.live
    host.end()
