"""Preferences act: keys, buttons, reported conflicts, and the layers of the HUD."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host, performing
from motion_matching.app.live.alerts import TickRate
from motion_matching.app.preferences import apply_layer_defaults
from motion_matching.app.runtime import runtime
from motion_matching.engine.blending.transition_cost import measure_prices
from motion_matching.engine.errors import SettingsError
from motion_matching.live.inputs.devices.gamepad import BUTTONS
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput
from motion_matching.ui import keymaps, preferences
from motion_matching.ui.play import drawing as play_drawing
from motion_matching.ui.play import layers
from tests.live.virtual_pad import VirtualPad, sdl2
from tests.steps import run_steps
from tests.ui.characters import create_character, expect_refusal
from tests.ui.drawn import RecordingLayout


def check_refused(*words):
    said = preferences.find_problem()
    assert said, said
    assert all(word in said for word in words), said
    assert said.endswith("."), said
    assert said.count(".") == 1, said
    with pytest.raises(SettingsError) as caught:  # a session would use it
        preferences.create_devices()
    assert str(caught.value) == said


def test_conflicting_keys_and_buttons_are_reported(addon):
    chosen = addon.preferences

    assert preferences.find_problem() == ""
    keyboard, others = preferences.create_devices()
    assert keyboard.uses("SPACE")
    assert len(others) == 1

    assert "motion_matching" in chosen.location

    # a key or button has one action, and some are reserved for the session
    chosen.key_push = "E, w"
    check_refused("key W", "'Ahead'", "'Push'")
    chosen.key_push = "E, E"
    check_refused("key E", "twice", "'Push'")
    chosen.key_push = "Esc"
    check_refused("key ESC", "'Push'", "stop")
    for name in ("MIDDLEMOUSE", "TIMER"):
        chosen.key_push = name
        check_refused(f"no key '{name}'", "'Push'")
    chosen.key_push = "NOTHING_LIKE_IT, Q"
    assert preferences.find_problem() == "", "an unknown key is left out"
    assert preferences.create_devices()[0].uses("Q")
    chosen.key_push = "Q"
    assert preferences.find_problem() == ""
    assert preferences.create_devices()[0].uses("Q")
    chosen.pad_push = "start"
    check_refused("button Start", "'Push'", "'Record'")
    chosen.pad_push = "x"
    assert preferences.find_problem() == ""

    # unused devices cause no conflict
    chosen.pad_run, chosen.pad_record = "a", "a"
    check_refused("button A")
    chosen.use_gamepad = False
    assert preferences.find_problem() == ""
    assert preferences.create_devices()[1] == ()


def find_items(action):
    return [
        item
        for item in keymaps.iterate_items(preferences.STEER)
        if item.properties.action == action
    ]


def test_a_key_that_is_pressed_in_the_keymap_steers(addon):
    preferences.create_keys()
    [item] = find_items("push")
    item.type = "Q"
    keyboard, _ = preferences.create_devices()
    assert keyboard.uses("Q")
    assert not keyboard.uses("E")
    assert "Q: push" in preferences.describe_keys()
    first, second = find_items("ahead")
    first.type, second.active = "I", False
    keyboard, _ = preferences.create_devices()
    assert keyboard.uses("I")
    assert not keyboard.uses("W")
    assert not keyboard.uses("UP_ARROW")
    assert preferences.describe_keys().startswith("I A S D: steer")
    item.type = "I"
    check_refused("key I", "'Ahead'", "'Push'")
    item.type = "NONE"
    assert preferences.find_problem() == ""
    assert "-: push" in preferences.describe_keys()


def test_keys_that_an_earlier_version_stored_are_carried_over(addon):
    chosen = addon.preferences
    chosen.key_ahead, chosen.key_push = "i, NUMPAD_8, HOME", "Q"
    keymaps.remove_keys()
    assert keymaps.get_keymap(keymaps.NAME) is None
    preferences.create_keys()  # as registering does
    assert [item.type for item in find_items("ahead")] == ["I", "NUMPAD_8", "HOME"]
    assert [item.type for item in find_items("push")] == ["Q"]
    assert [item.type for item in find_items("left")] == ["A", "LEFT_ARROW"]
    keyboard, _ = preferences.create_devices()
    assert keyboard.uses("HOME")


def test_the_line_of_keys_lists_what_works_with_what_steers():
    assert "W A S D: steer" in preferences.describe_keys()
    clicks = preferences.describe_keys("click")
    assert clicks == "Click on the ground to go there,  C: next tag,  Space: record,  Esc: stop"
    for steer in ("curve", "target", "take"):
        assert preferences.describe_keys(steer) == clicks.partition(",  ")[2]


def test_the_shortcut_of_start_is_told_as_it_is(addon):
    assert keymaps.get_shortcut(preferences.START) == "Ctrl Alt M"
    [item] = keymaps.iterate_shortcuts(preferences.START)
    item.type, item.alt = "F8", False
    assert keymaps.get_shortcut(preferences.START) == "Ctrl F8"
    item.active = False
    assert keymaps.get_shortcut(preferences.START) == ""
    item.active, item.type, item.alt = True, "M", True


def test_keys_are_added_and_removed(addon):
    ops = bpy.ops.motion_matching
    preferences.create_keys()
    assert ops.add_key(action="push") == {"FINISHED"}
    own, added = find_items("push")
    assert added.type == "NONE"
    assert preferences.find_problem() == "", "the new one has no key yet"
    added.type = "Q"
    keyboard, _ = preferences.create_devices()
    assert keyboard.uses("Q")
    assert keyboard.uses("E")
    keymaps.get_keymap(keymaps.NAME).keymap_items.remove(own)  # as Blender's button does
    keyboard, _ = preferences.create_devices()
    assert keyboard.uses("Q")
    assert not keyboard.uses("E")
    assert "Q: push" in preferences.describe_keys()
    expect_refusal(ops.add_key, "'jump'", "push", action="jump")


def test_start_has_several_shortcuts(addon):
    ops, start = bpy.ops.motion_matching, preferences.START
    [own] = keymaps.iterate_shortcuts(start)
    assert ops.add_key() == {"FINISHED"}
    own, added = keymaps.iterate_shortcuts(start)
    assert keymaps.get_shortcut(start) == "Ctrl Alt M"
    added.type, own.active = "F8", False
    assert keymaps.get_shortcut(start) == "F8"
    own.active = True
    bpy.context.window_manager.keyconfigs.addon.keymaps["3D View"].keymap_items.remove(added)
    [own] = keymaps.iterate_shortcuts(start)


def test_gamepad_buttons_follow_the_preferences(addon):
    chosen = addon.preferences

    found = {
        sdl2.SDL_GameControllerGetStringForButton(code).decode()
        for code in range(sdl2.SDL_CONTROLLER_BUTTON_MAX)
    }
    offered = [item.identifier for item in chosen.bl_rna.properties["pad_run"].enum_items]
    assert set(offered) <= found
    assert len(offered) >= 14
    for action in BUTTONS:
        wanted = {"run": "a", "strafe": "b", "push": "dpup", "tag": "y", "record": "back"}[action]
        setattr(chosen, f"pad_{action}", wanted)
    chosen.dead_zone = 0.4
    _, [gamepad] = preferences.create_devices()
    with VirtualPad() as pad:
        gamepad.open()

        def press(name):
            pad.set_button(name, True)
            gamepad.poll()
            controls, commands = gamepad.read_controls(), gamepad.take_commands()
            pad.set_button(name, False)
            gamepad.poll()
            return controls, commands

        for name in ("rightshoulder", "leftshoulder", "x", "start"):
            controls, commands = press(name)
            assert not any((controls.run, controls.strafe, controls.push, commands)), name
        assert press("a")[0].run
        assert press("b")[0].strafe
        assert press("dpup")[0].push
        assert press("back")[1] == ["record"]
        pad.push_stick(0.0, 0.35)
        gamepad.poll()
        assert gamepad.read_controls().move == (0.0, 0.0)
        pad.push_stick(0.0, 0.9)
        gamepad.poll()
        assert gamepad.read_controls().move[1] > 0.5
        gamepad.close()


def test_the_preferences_set_the_layers_of_a_new_character(addon):
    chosen = addon.preferences

    obj = create_character()
    play = obj.motion_matching.play
    names = [name.removeprefix("show_") for name in layers.PROPERTIES]
    assert {
        "paths",
        "object",
        "ground",
        "contacts",
        "text",
        "recording",
        "warnings",
        "map",
        "ghosts",
        "ghost_row",
        "handles",
    } == set(names)
    for name in names:  # off by default, and the same in both places
        is_quiet = name in ("contacts", "text", "map", "ghosts", "ghost_row")
        assert getattr(chosen, f"show_{name}") == getattr(play, f"show_{name}") == (not is_quiet)

    # preferences apply until the character has its own setting
    chosen.show_text, chosen.show_paths, chosen.show_object = True, False, False
    play.show_object = True
    apply_layer_defaults(play)
    assert play.show_text
    assert not play.show_paths
    assert play.show_object
    chosen.show_text = False
    apply_layer_defaults(play)
    assert play.show_text, "the character has its own setting now"


class Drawn:
    """Preferences with a layout of their own."""

    def __init__(self, preferences, layout):
        self._preferences, self.layout = preferences, layout

    def __getattr__(self, name):
        return getattr(self._preferences, name)


def test_colors_and_databases_have_headings_that_blender_draws(addon):
    layout = RecordingLayout()  # Blender draws the heading of a column only before a switch
    type(addon.preferences).draw(Drawn(addon.preferences, layout), bpy.context)
    assert {"Colors", "Databases"} <= set(layout.texts)


def test_the_slowest_tick_of_the_last_second_is_tracked():
    pace, now = TickRate(), 0.0

    def run_second(slow=()):
        nonlocal now
        for tick in range(24):
            now += 1 / 24
            pace.add_ticks(now, 2, 0.03 if tick in slow else 0.004)

    run_second()
    run_second()
    run_second()
    assert abs(pace.rate - 48) < 0.5
    assert abs(pace.seconds - 0.002) < 1e-9
    assert abs(pace.slowest - 0.002) < 1e-9
    run_second(slow=(7,))
    run_second()
    assert abs(pace.slowest - 0.015) < 1e-9 or pace.slowest < 0.003
    run_second()
    assert abs(pace.slowest - 0.002) < 1e-9, "a slow tick is reported for one second"
    pace.add_ticks(now, 0, 5.0)  # no tick, so none is slow
    run_second()
    assert abs(pace.slowest - 0.002) < 1e-9


def test_ticks_of_the_start_do_not_count_for_the_first_second():
    pace = TickRate()
    pace.add_ticks(0.0, 12, 0.05)  # what a slow start has to catch up with
    for tick in range(24):
        pace.add_ticks((tick + 1) / 24, 1, 0.004)
    assert pace.rate == pytest.approx(24.0)


def test_the_view_warns_of_speeds_without_data_and_of_slow_ticks(addon):
    chosen = addon.preferences

    obj = create_character(clips=("walk_starts_and_stops", "walk_curves"))
    ops = bpy.ops.motion_matching
    ops.add_actions()
    settings = obj.motion_matching
    ready = run_steps(performing.prepare_steps(obj))
    fps, now = ready[0].fps, 0.0
    chosen.tick_budget = 10.0  # the machine may be busy
    keyboard = Keyboard()
    live = performing.start(obj, *ready, keyboard, SteeringInput(keyboard), now)

    def run(seconds):
        nonlocal now
        for _ in range(round(seconds * fps)):
            now += 1 / fps
            live.tick(now, 0.0)
        return runtime.get_cache(play_drawing.HudCache).snapshot

    def tap(key):
        keyboard.handle(key, "PRESS")
        keyboard.handle(key, "RELEASE")

    def list_warnings():
        return " ".join(runtime.get_cache(play_drawing.HudCache).snapshot.warnings)

    keyboard.handle("W", "PRESS")
    assert run(2.0), runtime.get_cache(play_drawing.HudCache).snapshot.warnings
    assert not runtime.get_cache(play_drawing.HudCache).snapshot.warnings, runtime.get_cache(
        play_drawing.HudCache
    ).snapshot.warnings
    _wanted, matched = runtime.get_cache(play_drawing.HudCache).snapshot.lines[:2]
    np.testing.assert_allclose(matched.points[0][:2], live.position, atol=1e-6)
    gone = np.linalg.norm(np.diff(matched.points, axis=0), axis=1).sum()
    assert abs(gone - ready[2].steering.walk.forward) < 0.3, (
        gone,
        ready[2].steering.walk,
    )  # after one second
    assert runtime.get_cache(play_drawing.HudCache).snapshot.texts == ()
    assert runtime.get_cache(play_drawing.HudCache).snapshot.recorded is None

    # the figures tell what the last jump costs the eye
    settings.play.show_text = True
    texts = run(0.1).texts
    last, parents = (
        live.session.performer.last_transition,
        live.session.performer.skeleton.parents,
    )
    [price] = measure_prices([last], parents)
    assert f"Last jump  {100 * price:.2f} cm·s" in texts
    settings.play.show_text = False

    # speeds without clips are reported while requested, unless switched off
    settings.controller.speeds_from_data = False
    settings.controller.walk = (4.0, 1.0, 1.0)
    run(1.0)
    assert "4.0 was requested" in list_warnings(), list_warnings()
    assert "forward" in list_warnings(), list_warnings()
    assert "Match Speeds to Data" in list_warnings(), list_warnings()
    settings.play.show_warnings = False
    run(0.1)
    assert not runtime.get_cache(play_drawing.HudCache).snapshot.warnings
    settings.play.show_warnings = True
    keyboard.handle("W", "RELEASE")
    run(0.5)
    assert not runtime.get_cache(play_drawing.HudCache).snapshot.warnings, "nothing is requested"
    settings.controller.speeds_from_data = True
    tap("F")  # facing ahead and walking back: clips are missing
    keyboard.handle("S", "PRESS")
    run(1.0)
    assert "back" in list_warnings(), list_warnings()
    assert "clips" in list_warnings(), list_warnings()
    assert "Match" not in list_warnings(), list_warnings()
    keyboard.handle("S", "RELEASE")
    tap("F")

    # a tick over the budget
    chosen.tick_budget = 1e-5
    run(2.5)
    assert "tick took" in list_warnings(), list_warnings()
    assert "0.01" in list_warnings(), list_warnings()
    chosen.tick_budget = 10.0
    run(1.5)
    assert not runtime.get_cache(play_drawing.HudCache).snapshot.warnings

    # each layer can be switched
    keyboard.handle("W", "PRESS")
    tap("SPACE")
    play = settings.play
    play.show_text = play.show_contacts = True
    run(1.0)
    full = runtime.get_cache(play_drawing.HudCache).snapshot
    assert live.session.is_recording
    assert full.recorded > 0.5
    assert len(full.texts) == 5
    assert full.texts[-1].endswith(f"{fps:.0f} of {fps:.0f} ticks/s"), full.texts
    assert len(full.lines) > 4
    for name, part in (
        ("paths", "lines"),
        ("object", "lines"),
        ("text", "texts"),
        ("recording", "recorded"),
    ):
        setattr(play, f"show_{name}", False)
        shown = run(1 / fps)
        assert getattr(shown, part) in ((), None) or len(getattr(shown, part)) < len(
            getattr(full, part)
        ), name
        full = shown
    assert isinstance(full, tuple)
    host.end()
