"""Gamepads through the real library: sticks set speed and facing, buttons act, pads come and go."""

from __future__ import annotations

import itertools
import math
import signal
import subprocess
import sys

import numpy as np
import pytest

from motion_matching.engine.control.performer import Placement
from motion_matching.live.inputs.base import Situation
from motion_matching.live.inputs.devices.gamepad import Gamepad, apply_response
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput
from tests.conftest import CHECKOUT
from tests.live.virtual_pad import VirtualPad, sdl2


@pytest.fixture
def steering():
    steering = SteeringInput(others=[Gamepad()])
    yield steering
    steering.close()
    steering.close()


def get_intent(steering: SteeringInput, heading: float = 0.0):
    steering.poll()
    place = Placement(0.0, 0.0, 0.0)
    return steering.get_intent(Situation(0, 1 / 30, place, place, heading))


# ---------------------------------------------------------------- response


def test_stick_response_keeps_direction_and_covers_the_full_range():
    rng = np.random.default_rng(0)
    for _ in range(300):
        dead_zone, curve, angle = (
            rng.uniform(0.0, 0.5),
            rng.uniform(0.5, 3.0),
            rng.uniform(-math.pi, math.pi),
        )
        lengths = []
        for length in np.linspace(0.0, 1.4, 40):
            x, y = apply_response(
                length * math.cos(angle), length * math.sin(angle), dead_zone, curve
            )
            lengths.append(math.hypot(x, y))
            if length <= dead_zone:
                assert lengths[-1] == 0.0
            else:
                assert math.cos(math.atan2(y, x) - angle) == pytest.approx(1.0)
        assert all(a <= b + 1e-12 for a, b in itertools.pairwise(lengths))
        assert max(lengths) == pytest.approx(1.0)


def test_the_dead_zone_is_round_and_has_no_step():
    assert math.hypot(*apply_response(0.15 + 1e-6, 0.0, 0.15, 1.0)) < 1e-5
    # a dead zone per axis would remove the small one
    x, y = apply_response(0.8, 0.1, 0.15, 1.0)
    assert y / x == pytest.approx(0.1 / 0.8)


# ---------------------------------------------------------------- the real library with virtual pads


def test_left_stick_deflection_sets_the_speed(steering):
    with VirtualPad() as pad:
        steering.open()
        for heading in (0.0, 1.0, -2.5):
            for turn in np.linspace(-3.0, 3.0, 7):
                for length in (0.3, 0.6, 1.0):
                    pad.push_stick(-length * math.sin(turn), length * math.cos(turn))
                    move = get_intent(steering, heading).move
                    assert math.hypot(*move) == pytest.approx(
                        math.hypot(*apply_response(length, 0.0, 0.15, 1.5)), abs=1e-3
                    )
                    assert math.cos(
                        math.atan2(move[0], -move[1]) - heading - turn
                    ) == pytest.approx(1.0, abs=1e-4)
        pad.push_stick(0.05, -0.1)
        assert get_intent(steering).move == (0.0, 0.0)


def test_the_right_stick_sets_the_facing_relative_to_the_view(steering):
    with VirtualPad() as pad:
        steering.open()
        pad.push_stick(0.0, 1.0)
        assert get_intent(steering).facing is None
        for turn in (-2.0, 0.5, 3.0):
            pad.push_stick(-math.sin(turn), math.cos(turn), right=True)
            assert math.cos(get_intent(steering, 0.3).facing - 0.3 - turn) == pytest.approx(
                1.0, abs=1e-4
            )
        pad.push_stick(0.0, 0.0, right=True)
        assert get_intent(steering).facing is None


def test_each_button_press_acts_once(steering):
    with VirtualPad() as pad:
        steering.open()
        gaits = []
        for is_down in (True, True, False, True, False):
            pad.set_button("rightshoulder", is_down)
            gaits.append(get_intent(steering).gait)
        assert gaits == [1.0, 1.0, 1.0, 0.0, 0.0]
        pad.set_button("leftshoulder", True)
        assert get_intent(steering, 0.7).facing == 0.7
        pad.set_button("x", True)
        assert get_intent(steering).push is not None
        assert get_intent(steering).push is None
        pad.set_button("start", True)
        steering.poll()
        steering.poll()
        assert steering.take_commands() == ["record"]
        assert steering.take_commands() == []


def test_buttons_can_be_held_and_rebound():
    steering = SteeringInput(others=[Gamepad({"run": "a"}, hold=("run",))])
    with VirtualPad() as pad:
        steering.open()
        gaits = []
        for is_down in (True, False, True):
            pad.set_button("a", is_down)
            gaits.append(get_intent(steering).gait)
        assert gaits == [1.0, 0.0, 1.0]
        steering.close()


def test_the_last_pad_touched_steers(steering):
    steering.open()
    assert steering.take_messages() == [], "a session without a pad is nothing to report"
    with VirtualPad("First") as first:
        assert get_intent(steering).move == (0.0, 0.0)
        assert steering.take_messages() == ["The gamepad 'First' is connected."]
        first.push_stick(0.0, 1.0)
        assert get_intent(steering).move == pytest.approx((0.0, -1.0), abs=1e-4)
        with VirtualPad("Second") as second:
            assert get_intent(steering).move == pytest.approx((0.0, -1.0), abs=1e-4)
            first.push_stick(0.0, 0.0)
            second.push_stick(1.0, 0.0)
            assert get_intent(steering).move == pytest.approx((-1.0, 0.0), abs=1e-4)
            second.unplug()  # while moving: it must not move on forever
            assert get_intent(steering).move == (0.0, 0.0)
            assert steering.take_messages() == [
                "The gamepad 'Second' is connected.",
                "The gamepad 'Second' was disconnected.",
            ]
        first.push_stick(0.0, -1.0)
        assert get_intent(steering).move == pytest.approx((0.0, 1.0), abs=1e-4)
    assert get_intent(steering).move == (0.0, 0.0)


def test_keys_steer_while_a_pad_is_at_rest():
    steering = SteeringInput(Keyboard(), [Gamepad()])
    with VirtualPad() as pad:
        steering.open()
        steering.keyboard.handle("A", "PRESS")
        assert get_intent(steering).move == pytest.approx((1.0, 0.0))
        pad.push_stick(1.0, 0.0)
        assert get_intent(steering).move == pytest.approx((-1.0, 0.0), abs=1e-4)
        pad.push_stick(0.0, 0.0)
        assert get_intent(steering).move == pytest.approx((1.0, 0.0))
        steering.close()


def test_sdl_starts_only_joysticks_and_leaves_ctrl_c_alone(steering):
    before = signal.getsignal(signal.SIGINT)
    with VirtualPad():
        steering.open()
        assert not sdl2.SDL_WasInit(sdl2.SDL_INIT_VIDEO)
        assert sdl2.SDL_GetHint(b"SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS") == b"1"
        steering.close()
    assert signal.getsignal(signal.SIGINT) is before
    assert not sdl2.SDL_WasInit(sdl2.SDL_INIT_JOYSTICK)


def test_signals_still_end_a_program_that_reads_gamepads():
    """SDL would turn unhandled signals into events."""
    script = (
        "import os, signal, time\nfrom motion_matching.live.inputs.devices.gamepad import Gamepad\n"
        "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
        "Gamepad().open()\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(30)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=CHECKOUT, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == -signal.SIGINT, done.stderr


def test_without_the_library_the_keyboard_works_and_one_line_says_why(monkeypatch, steering):
    monkeypatch.setitem(sys.modules, "sdl2", None)  # makes the import fail
    steering.open()
    steering.keyboard.handle("W", "PRESS")
    assert get_intent(steering).move == pytest.approx((0.0, -1.0))
    [line] = steering.take_messages()
    assert "SDL2" in line
    assert "keyboard" in line
    assert steering.take_messages() == []
