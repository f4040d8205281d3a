"""What the preferences say holds: keys, buttons, conflicts in a sentence, and what the HUD shows of itself."""

from __future__ import annotations

HEAD = """
import motion_matching
motion_matching.register()
from tests.ui.characters import *
from motion_matching.engine.errors import SettingsError
from motion_matching.ui import preferences
addon = bpy.context.preferences.addons.new()
addon.module = "motion_matching"
chosen = addon.preferences

def refuses(*words):
    said = preferences.problem()
    assert said and all(word in said for word in words), said
    assert said.endswith(".") and said.count(".") == 1, said
    try:
        preferences.devices()
    except SettingsError as error:
        assert str(error) == said
    else:
        raise AssertionError("a session would start with it")
"""

CONFLICTS = (
    HEAD
    + """
assert preferences.problem() == ""
keyboard, pad = preferences.devices()
assert keyboard.uses("SPACE") and pad is not None

assert "motion_matching" in chosen.location

# one key or button cannot do two things, nor what the session needs for itself
chosen.key_push = "E, w"
refuses("key W", "'Ahead'", "'Push'")
chosen.key_push = "E, E"
refuses("key E", "twice", "'Push'")
chosen.key_push = "Esc"
refuses("key ESC", "'Push'", "stop")
for name in ("MIDDLEMOUSE", "TIMER", "NOTHING_LIKE_IT"):
    chosen.key_push = name
    refuses(f"no key '{name}'", "'Push'")
chosen.key_push = "Q"
assert preferences.problem() == "" and preferences.devices()[0].uses("Q")
chosen.pad_push = "start"
refuses("button Start", "'Push'", "'Record'")
chosen.pad_push = "x"
assert preferences.problem() == ""

# what is not used can have no conflict
chosen.pad_run, chosen.pad_record = "a", "a"
refuses("button A")
chosen.use_gamepad = False
assert preferences.problem() == "" and preferences.devices()[1] is None
"""
)


def test_conflicts_of_keys_and_buttons_are_said_in_a_sentence(run_in_blender):
    run_in_blender(CONFLICTS)


PAD = (
    HEAD
    + """
from motion_matching.live.inputs.gamepad import BUTTONS
from tests.live.virtual_pad import VirtualPad, sdl2
found = {sdl2.SDL_GameControllerGetStringForButton(code).decode() for code in range(sdl2.SDL_CONTROLLER_BUTTON_MAX)}
offered = [item.identifier for item in chosen.bl_rna.properties["pad_run"].enum_items]
assert set(offered) <= found and len(offered) >= 14
for action in BUTTONS:
    wanted = {"run": "a", "strafe": "b", "push": "dpup", "tag": "y", "record": "back"}[action]
    setattr(chosen, f"pad_{action}", wanted)
chosen.dead_zone = 0.4
_, gamepad = preferences.devices()
with VirtualPad() as pad:
    gamepad.open()
    def press(name):
        pad.button(name, True)
        gamepad.poll()
        controls, commands = gamepad.controls(), gamepad.take_commands()
        pad.button(name, False)
        gamepad.poll()
        return controls, commands
    for name in ("rightshoulder", "leftshoulder", "x", "start"):
        controls, commands = press(name)
        assert not (controls.run or controls.strafe or controls.push or commands), name
    assert press("a")[0].run and press("b")[0].strafe and press("dpup")[0].push and press("back")[1] == ["record"]
    pad.stick(0.0, 0.35)
    gamepad.poll()
    assert gamepad.controls().move == (0.0, 0.0)
    pad.stick(0.0, 0.9)
    gamepad.poll()
    assert gamepad.controls().move[1] > 0.5
    gamepad.close()
"""
)


def test_the_buttons_of_a_pad_do_what_the_preferences_say(run_in_blender):
    run_in_blender(PAD)


LAYERS = (
    HEAD
    + """
from motion_matching.ui import layers
obj = character()
play = obj.motion_matching.play
names = [name for name, *_ in layers.LAYERS]
assert {"paths", "object", "ground", "contacts", "text", "recording", "warnings", "map", "ghosts"} == set(names)
for name in names:  # quiet by default, and alike in both places
    is_quiet = name in ("contacts", "text", "map", "ghosts")
    assert getattr(chosen, f"show_{name}") == getattr(play, f"show_{name}") == (not is_quiet)

# the preferences speak where a character was not told otherwise
chosen.show_text, chosen.show_paths, chosen.show_object = True, False, False
play.show_object = True
layers.fill_in(play, chosen)
assert play.show_text and not play.show_paths and play.show_object
chosen.show_text = False
layers.fill_in(play, chosen)
assert play.show_text, "it is the character's own by now"
"""
)


def test_the_preferences_say_which_layers_a_new_character_shows(run_in_blender):
    run_in_blender(LAYERS)


PACE = """
from motion_matching.ui.hud import Pace
pace, now = Pace(), 0.0

def second(slow=()):
    global now
    for tick in range(24):
        now += 1 / 24
        pace.note(now, 2, 0.03 if tick in slow else 0.004)

second()
second()
second()
assert abs(pace.rate - 48) < 0.5 and abs(pace.seconds - 0.002) < 1e-9 and abs(pace.slowest - 0.002) < 1e-9
second(slow=(7,))
second()
assert abs(pace.slowest - 0.015) < 1e-9 or pace.slowest < 0.003
second()
assert abs(pace.slowest - 0.002) < 1e-9, "a slow tick is told of for a second"
pace.note(now, 0, 5.0)  # without a tick there is none that is slow
second()
assert abs(pace.slowest - 0.002) < 1e-9
"""


def test_the_slowest_tick_of_the_last_second_is_known(run_in_blender):
    run_in_blender(PACE)


WARNED = (
    HEAD
    + """
from motion_matching.live.inputs.keyboard import Keyboard
from motion_matching.live.inputs.steering import Steering
from motion_matching.ui import hud, performing
import numpy as np
obj = character(clips=("walk_starts_and_stops", "walk_curves"))
ops = bpy.ops.motion_matching
ops.add_actions()
settings = obj.motion_matching
work = performing.prepared(obj)
try:
    while True:
        next(work)
except StopIteration as done:
    ready = done.value
fps, now = ready[0].fps, 0.0
chosen.tick_budget = 10.0  # this machine may be busy
keyboard = Keyboard()
live = performing.start(obj, *ready, keyboard, Steering(keyboard), now)

def run(seconds):
    global now
    for _ in range(round(seconds * fps)):
        now += 1 / fps
        live.tick(now, 0.0)
    return hud._shown

def tap(key):
    keyboard.handle(key, "PRESS")
    keyboard.handle(key, "RELEASE")

def words():
    return " ".join(hud._shown.warnings)

keyboard.handle("W", "PRESS")
assert run(2.0) and not hud._shown.warnings, hud._shown.warnings
wanted, matched = hud._shown.lines[:2]
np.testing.assert_allclose(matched.points[0][:2], live.place, atol=1e-6)
gone = np.linalg.norm(np.diff(matched.points, axis=0), axis=1).sum()
assert abs(gone - ready[2].walk.forward) < 0.3, (gone, ready[2].walk)  # in a second
assert hud._shown.texts == () and hud._shown.recorded is None

# what the clips do not have is said while it is asked for, and where it is switched off
settings.controller.speeds_from_data = False
settings.controller.walk = (4.0, 1.0, 1.0)
run(1.0)
assert "not 4.0" in words() and "forward" in words() and "Match Speeds to Data" in words(), words()
settings.play.show_warnings = False
run(0.1)
assert not hud._shown.warnings
settings.play.show_warnings = True
keyboard.handle("W", "RELEASE")
run(0.5)
assert not hud._shown.warnings, "nothing is asked for"
settings.controller.speeds_from_data = True
tap("F")  # facing ahead and going back: with the speeds of the data, it says that clips are missing
keyboard.handle("S", "PRESS")
run(1.0)
assert "back" in words() and "clips" in words() and "Match" not in words(), words()
keyboard.handle("S", "RELEASE")
tap("F")

# a tick that takes longer than it may
chosen.tick_budget = 1e-5
run(2.5)
assert "tick took" in words() and "0.01" in words(), words()
chosen.tick_budget = 10.0
run(1.5)
assert not hud._shown.warnings

# each layer is a switch
keyboard.handle("W", "PRESS")
tap("SPACE")
play = settings.play
play.show_text = play.show_contacts = True
run(1.0)
full = hud._shown
assert live.session.is_recording and full.recorded > 0.5 and len(full.texts) == 4 and len(full.lines) > 4
for name, part in (("paths", "lines"), ("object", "lines"), ("text", "texts"), ("recording", "recorded")):
    setattr(play, f"show_{name}", False)
    shown = run(1 / fps)
    assert getattr(shown, part) in ((), None) or len(getattr(shown, part)) < len(getattr(full, part)), name
    full = shown
assert isinstance(full, tuple)
performing.end()
"""
)


def test_the_view_warns_of_speeds_without_data_and_of_slow_ticks(run_in_blender):
    run_in_blender(WARNED)
