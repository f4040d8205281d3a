"""The button in the panel pushes in the direction of the keys, with the set strength, and only if
devices steer.
"""

from __future__ import annotations

import bpy
import numpy as np

from motion_matching.app.live import host, performing, steering
from motion_matching.app.runtime import runtime
from motion_matching.engine.ground.ground import FLAT
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import GuidedInput, SteeringInput
from motion_matching.live.inputs.leaders.replay import ReplayInput
from tests.demo import demo_settings, load_demo
from tests.live.hero import Hero
from tests.live.stage import FPS, build_performance


def test_the_push_button_pushes_where_the_keys_point():
    push = bpy.ops.motion_matching.push
    hero = Hero(push=3.0)
    assert not push.poll(), "nothing is live"

    def start(source):
        method = MotionMatching(load_demo(), demo_settings())
        hero.live = performing.start(
            hero.obj, load_demo(), method, demo_settings(), keyboard, source, hero.now
        )
        hero.run(20)
        return hero.live.session

    keyboard = Keyboard()
    session = start(
        steering.create_input(
            hero.obj.motion_matching.play, keyboard, (), demo_settings(), FPS, FLAT
        )
    )
    for key, way in (("A", (1.0, 0.0)), ("S", (0.0, 1.0))):  # the view looks along -Y
        keyboard.handle(key, "PRESS")
        hero.run(40)
        count, before = len(session._history.intents), np.array(session.velocity)
        assert push() == {"FINISHED"}
        hero.run(6)
        faster = np.array(session.velocity) - before
        pushes = [intent.push for intent in session._history.intents[count:] if intent.push]
        assert len(pushes) == 1, pushes
        assert np.allclose(pushes[0], 3.0 * np.array(way)), pushes
        assert faster @ way > 0.75, faster
        assert runtime.live is hero.live, faster
        keyboard.handle(key, "RELEASE")
    host.end()

    start(GuidedInput(ReplayInput(build_performance(), FPS), SteeringInput(keyboard)))
    assert not push.poll(), "a recording cannot be pushed"
    host.end()
