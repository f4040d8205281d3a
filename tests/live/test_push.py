"""A push by its button in the panel: to where the keys lead, as hard as is set, and of what devices steer alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

PUSH = """
from tests.live.hero import *
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.live.inputs.keyboard import Keyboard
from motion_matching.live.inputs.led import Led
from motion_matching.live.inputs.replay import Replay
from motion_matching.live.inputs.steering import Steering
from motion_matching.engine.control.ground import FLAT
from motion_matching.ui import steering
from tests.live.stage import DATABASE, SETTINGS
push = bpy.ops.motion_matching.push
hero = Hero(push=3.0)
assert not push.poll(), "nothing is live"

def start(source):
    method = MotionMatching(DATABASE, SETTINGS)
    hero.live = performing.start(hero.obj, DATABASE, method, SETTINGS, keyboard, source, hero.now)
    hero.run(20)
    return hero.live.session

keyboard = Keyboard()
session = start(steering.source(hero.obj.motion_matching.play, keyboard, None, SETTINGS, FPS, FLAT))
for key, way in (("A", (1.0, 0.0)), ("S", (0.0, 1.0))):  # the view looks along -Y
    keyboard.handle(key, "PRESS")
    hero.run(40)
    count, before = len(session._history.intents), np.array(session.velocity)
    assert push() == {"FINISHED"}
    hero.run(6)
    faster = np.array(session.velocity) - before
    pushes = [intent.push for intent in session._history.intents[count:] if intent.push]
    assert len(pushes) == 1 and np.allclose(pushes[0], 3.0 * np.array(way)), pushes
    assert faster @ way > 0.75 and performing.current is hero.live, faster
    keyboard.handle(key, "RELEASE")
performing.end()

start(Led(Replay(wanted(), FPS), Steering(keyboard)))
assert not push.poll(), "a recording goes where it went"
performing.end()
"""


def test_a_push_has_a_button(demo_file: Path, run_in_blender: Callable[..., str]):
    run_in_blender(PUSH, demo_file)
