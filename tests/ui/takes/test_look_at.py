"""The head turns to a chosen object, live and in bakes."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host
from tests.live.hero import Hero
from tests.live.stage import FPS
from tests.scene.keys import read_channels
from tests.ui.characters import create_character
from tests.ui.drawn import draw_panels
from tests.ui.takes.test_baking import add_curve, add_target, perform_live, read_performance

ops = bpy.ops.motion_matching


@pytest.fixture
def looking():
    """A character that looks at an object to its left, at the height of its eyes."""
    obj = create_character()
    ops.add_actions()
    target = add_target(3.0, -1.0, "Seen")
    target.location.z = 1.6
    controller = obj.motion_matching.controller
    controller.look, controller.look_at = 1.0, target
    bpy.context.view_layer.update()
    return obj, target


def test_a_baked_script_looks_at_an_object(looking):
    obj, target = looking
    assert draw_panels() > 5
    assert ops.bake_script(script="flips", seconds=4.0) == {"FINISHED"}
    recorded = read_performance(obj.motion_matching.takes[-1].action)
    assert recorded.settings["look"] == 1.0
    [point] = {intent.look_at for intent in recorded.intents}
    assert point == pytest.approx(tuple(target.location), abs=1e-5)


@pytest.mark.slow
def test_a_bake_looks_as_a_live_take_does(looking):
    obj, _ = looking
    obj.motion_matching.play.curve = add_curve([(1.0, 1.0), (1.0, -3.0), (4.0, -5.0)])
    _, recorded = perform_live(obj, "curve")
    ops.bake_again(use_markers=False)
    again = obj.motion_matching.takes[-1].action
    assert ops.bake_along(along="curve") == {"FINISHED"}
    baked = obj.motion_matching.takes[-1].action
    assert read_performance(baked).intents == read_performance(recorded).intents
    mine, theirs = read_channels(baked), read_channels(again)
    assert all(np.array_equal(mine[key], theirs[key]) for key in mine)


@pytest.mark.parametrize("along", ["script", "curve"])
def test_an_object_that_moves_is_looked_at_where_it_is_then(looking, along):
    obj, target = looking
    target.keyframe_insert("location", frame=1)
    target.location.x = 1.0
    target.keyframe_insert("location", frame=61)
    if along == "curve":
        obj.motion_matching.play.curve = add_curve([(0.0, 0.0), (0.0, -4.0)])
        assert ops.bake_along(along="curve") == {"FINISHED"}
    else:
        assert ops.bake_script(script="flips", seconds=4.0) == {"FINISHED"}
    recorded = read_performance(obj.motion_matching.takes[-1].action)
    x = np.array([intent.look_at[0] for intent in recorded.intents])
    assert x[0] == pytest.approx(3.0, abs=0.1)
    assert x[-1] == pytest.approx(1.0, abs=0.01)
    assert (np.diff(x) <= 1e-6).all()
    assert len(np.unique(x)) > 10


@pytest.mark.slow
@pytest.mark.parametrize("view", ["still", "spot"])
def test_a_live_character_looks_at_the_object_as_it_is_seen(view):
    hero = Hero(view=view)
    live = hero.start()
    target = add_target(2.0, -2.0, "Seen")
    hero.obj.motion_matching.controller.look_at = target
    hero.run(round(3 * FPS))
    looked = live.session._history.intents[-1].look_at
    here = np.array(live.session._before.character[:2])
    seen = np.array(live.position) if view == "spot" else here
    np.testing.assert_allclose(looked[:2] - here, np.array(target.location[:2]) - seen, atol=0.1)
    bpy.data.objects.remove(target)
    hero.run(3)
    assert live.session._history.intents[-1].look_at is None
    host.end()
