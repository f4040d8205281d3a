"""Keys steer relative to the view; none gets stuck, and none acts twice."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motion_matching.engine.control.performer import Placement
from motion_matching.live.inputs.base import Situation
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput

HEADINGS = (0.0, 0.7, -2.0, math.pi)


def make_situation(heading: float = 0.0) -> Situation:
    place = Placement(0.0, 0.0, 0.0)
    return Situation(0, 1 / 30, place, place, heading)


def get_intent(keyboard: Keyboard, heading: float = 0.0):
    return SteeringInput(keyboard).get_intent(make_situation(heading))


def press(*keys: str, **options) -> Keyboard:
    keyboard = Keyboard(**options)
    for key in keys:
        assert keyboard.handle(key, "PRESS")
    return keyboard


def compute_heading(move) -> float:
    """Return the heading of a direction on the ground: 0 is -Y, growing to the left."""
    return math.atan2(move[0], -move[1])


TURNS = [
    ("W", 0.0),
    ("UP_ARROW", 0.0),
    ("A", math.pi / 2),
    ("LEFT_ARROW", math.pi / 2),
    ("S", math.pi),
    ("D", -math.pi / 2),
    ("W A", math.pi / 4),
    ("S D", -3 * math.pi / 4),
    ("UP_ARROW RIGHT_ARROW", -math.pi / 4),
    ("W A D", 0.0),
]


@given(st.floats(-10.0, 10.0), st.sampled_from(TURNS))
@settings(max_examples=50)
def test_keys_move_relative_to_the_view_at_full_speed(heading, keys_and_turn):
    keys, turn = keys_and_turn
    move = get_intent(press(*keys.split()), heading).move
    assert math.hypot(*move) == pytest.approx(1.0)
    assert math.cos(compute_heading(move) - heading - turn) == pytest.approx(1.0)


@pytest.mark.parametrize("keys", ["", "W S", "A D", "W A S D", "W UP_ARROW S"])
def test_opposite_keys_cancel(keys):
    assert get_intent(press(*keys.split())).move == (0.0, 0.0)


def test_any_sequence_of_presses_and_releases_leaves_only_held_keys():
    rng = np.random.default_rng(1)
    keyboard, down = Keyboard(), set()
    keys = ["W", "A", "S", "D", "UP_ARROW", "DOWN_ARROW", "LEFT_ARROW", "RIGHT_ARROW"]
    for _ in range(3000):
        key = str(rng.choice(keys))
        if rng.random() < 0.5:
            down.discard(key)
            keyboard.handle(key, "RELEASE")
        else:
            keyboard.handle(key, "PRESS", is_repeat=key in down)
            down.add(key)
        ahead = bool(down & {"W", "UP_ARROW"}) - bool(down & {"S", "DOWN_ARROW"})
        left = bool(down & {"A", "LEFT_ARROW"}) - bool(down & {"D", "RIGHT_ARROW"})
        move = np.array(get_intent(keyboard).move)
        wanted = np.array([left, -ahead], float)
        np.testing.assert_allclose(move, wanted / max(np.hypot(*wanted), 1.0), atol=1e-12)


def test_a_second_key_for_the_same_direction_outlasts_the_first():
    keyboard = press("W", "UP_ARROW")
    keyboard.handle("W", "RELEASE")
    assert get_intent(keyboard).move == pytest.approx((0.0, -1.0))


def test_losing_focus_releases_all_keys():
    keyboard = press("W", "D", "R", hold=("run",))
    keyboard.release_all()  # the window has lost the focus, and nobody receives the releases
    assert get_intent(keyboard).move == (0.0, 0.0)
    assert get_intent(keyboard).gait == 0.0
    assert not keyboard.handle("W", "RELEASE")  # a late release does nothing
    keyboard.handle(
        "W", "PRESS", is_repeat=True
    )  # still down when the focus returns: it acts again
    assert get_intent(keyboard).move == pytest.approx((0.0, -1.0))


def test_run_and_strafe_toggle_or_act_while_held():
    keyboard = Keyboard()
    seen = []
    for value in ("PRESS", "RELEASE", "DOUBLE_CLICK", "RELEASE", "PRESS", "RELEASE"):
        keyboard.handle("R", value)
        seen.append(get_intent(keyboard).gait)
    assert seen == [1.0, 1.0, 0.0, 0.0, 1.0, 1.0]
    keyboard.handle("R", "PRESS")
    for _ in range(5):  # a held key repeats
        keyboard.handle("R", "PRESS", is_repeat=True)
    assert get_intent(keyboard).gait == 0.0
    keyboard.release_all()
    keyboard.handle("R", "PRESS")
    keyboard.release_all()
    assert get_intent(keyboard).gait == 1.0  # a toggled gait stays

    held = press("F", hold=("run", "strafe"))
    assert get_intent(held, 0.4).facing == 0.4
    held.handle("F", "RELEASE")
    assert get_intent(held, 0.4).facing is None


@pytest.mark.parametrize("heading", HEADINGS)
def test_strafing_faces_along_the_view(heading):
    assert get_intent(press("F", "A"), heading).facing == heading


def test_a_push_acts_once_in_the_direction_of_the_keys():
    keyboard = press("D", "E")
    first, second = get_intent(keyboard), get_intent(keyboard)
    assert first.push[0] < -0.5
    assert first.push[1] == pytest.approx(0.0, abs=1e-12)
    assert second.push is None
    assert get_intent(press("E")).push[1] < -0.5  # ahead, if no key is held


def test_commands_act_once():
    steering = SteeringInput(press("SPACE"))
    steering.keyboard.handle("SPACE", "PRESS", is_repeat=True)
    assert steering.take_commands() == ["record"]
    assert steering.take_commands() == []


def test_shortcuts_and_other_keys_are_left_alone():
    keyboard = Keyboard()
    assert not keyboard.handle("W", "PRESS", is_modified=True)
    assert not keyboard.handle("Q", "PRESS")
    assert not keyboard.handle("W", "CLICK")
    assert get_intent(keyboard).move == (0.0, 0.0)
    keyboard.handle("W", "PRESS")
    assert keyboard.handle(
        "W", "RELEASE", is_modified=True
    )  # Ctrl was pressed later: the key is up all the same
    assert get_intent(keyboard).move == (0.0, 0.0)


def test_keys_can_be_rebound():
    keyboard = Keyboard({"ahead": ("NUMPAD_8",), "run": ("LEFT_SHIFT",)}, hold=("run",))
    assert not keyboard.handle("W", "PRESS")
    assert keyboard.handle("NUMPAD_8", "PRESS")
    assert keyboard.handle("LEFT_SHIFT", "PRESS")
    assert keyboard.handle("A", "PRESS")
    assert get_intent(keyboard).gait == 1.0


def test_a_tap_does_what_a_key_does_and_holds_a_direction():
    keyboard = Keyboard({"run": ("R",)})
    keyboard.tap("left")
    assert get_intent(keyboard).move == pytest.approx((1.0, 0.0))
    keyboard.tap("left")
    assert get_intent(keyboard).move == (0.0, 0.0)
    keyboard.tap("run")
    assert get_intent(keyboard).gait == 1.0
    keyboard.tap("run")
    assert get_intent(keyboard).gait == 0.0
    keyboard.tap("record")
    keyboard.tap("record")
    assert keyboard.take_commands() == ["record", "record"]
