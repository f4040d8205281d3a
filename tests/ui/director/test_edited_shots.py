"""A directed take whose stored shot was edited has no known jumps, and says so in one sentence."""

from __future__ import annotations

import contextlib
import io
import json

import bpy
import pytest

from motion_matching.app.direct import flipping, jumps
from motion_matching.app.takes import take_list
from motion_matching.engine.direct.shot.shot import KeptJump, Shot
from motion_matching.scene.direct import stored_shots
from tests.ui.characters import create_character
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching
JUMP = {
    "second": 0.5,
    "from": "walk_curves:20",
    "to": "walk_curves:80",
    "price": 0.01,
    "runner_up": {"to": "walk_curves:120", "dearer": 0.002},
}
JUMPY = ("go_to_jump", "pin_jump", "replace_jump", "forbid_jump")


@pytest.fixture
def directed() -> bpy.types.Action:
    """An action that is stored and listed as a directed take, as a bake leaves it."""
    obj = create_character(clips=("walk_curves",))
    ops.add_actions()
    action = bpy.data.actions.new("Directed")
    shot = Shot(seconds=2.0, kept=(KeptJump(JUMP["from"], JUMP["to"], JUMP["second"]),))
    stored_shots.store_shot(action, shot, 10, [JUMP])
    take_list.list_take(obj, action)
    return action


def look(action: bpy.types.Action) -> None:
    """Draw all panels, and use what knows the jumps of directed takes."""
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed):
        draw_panels()
        flipping.describe(action)
        jumps.list_kept(bpy.context.object, 1, 60)
        known = [getattr(ops, name).poll() for name in JUMPY]
        assert known == [bool(jumps.list_jumps(action))] * len(JUMPY)
    assert "Traceback" not in printed.getvalue(), printed.getvalue()


def solve_again() -> str:
    """Return the sentence that refuses to solve the take again."""
    with pytest.raises(RuntimeError) as refusal:
        ops.direct_again()
    said = str(refusal.value).strip()
    assert said.startswith("Error: ")
    assert said.count("\n") == 0
    return said


def test_what_was_not_edited_is_known(directed):
    [jump] = jumps.list_jumps(directed)
    assert (jump.source, jump.target, jump.price) == ("walk_curves:20", "walk_curves:80", 0.01)
    assert jump.runner_up == ("walk_curves:120", 0.002)
    assert jump.is_pinned
    assert jump.frame == 10 + round(0.5 * bpy.context.scene.render.fps)
    assert stored_shots.read_shot(directed)[1] == 10


DEEP = "[" * 100_000
DIGITS = "9" * 5000
TEXTS = ["", "{}", "{", "null", "5", '"x"', DEEP, '{"seconds": ' + DEEP, '{"seconds": "x"}']
TEXTS += ['{"seconds": -1}', f'{{"seconds": {DIGITS}}}', '{"seconds": NaN}', "\0"]


@pytest.mark.parametrize("content", TEXTS, ids=lambda text: text[:20])
def test_an_edited_text_is_told_in_a_sentence(directed, content):
    stored_shots.find_text(directed).from_string(content)
    look(directed)
    assert "Directed" in solve_again()


def test_an_edited_frame_leaves_no_jumps(directed):
    for frame in ("x", float("nan"), 1e30, b"\xff", [1, 2], None):
        if frame is None:
            del directed[stored_shots.SHOT]["frame"]
        else:
            directed[stored_shots.SHOT]["frame"] = frame
        look(directed)
        assert jumps.list_jumps(directed) == []
        assert "was edited" in solve_again()


def make_jump(**changes: object) -> str:
    return json.dumps([JUMP | changes])


JUMPS = ["5", "null", "{}", "[5]", "[null]", "[{}]", DEEP, "[", "", "\0", f"[{DIGITS}]"]
JUMPS += [
    make_jump(**{name: value})
    for name, values in {
        "second": ("x", None, float("nan"), 1e308, [1], -1, True),
        "price": ("x", [1], float("nan"), 1e308, {}),
        "from": ("\ud800", 5, None, ""),
        "to": ("\ud800", 5, None, ["x"]),
        "runner_up": (5, "x", {}, {"to": "\ud800", "dearer": 0.1}, {"to": "x", "dearer": "x"}),
    }.items()
    for value in values
]
JUMPS.append(make_jump().replace("0.5", DIGITS))


def test_edited_jumps_are_not_known(directed):
    for content in JUMPS:
        directed[stored_shots.SHOT]["jumps"] = content
        look(directed)
        assert jumps.list_jumps(directed) == [], content


@pytest.mark.parametrize("name", ["jumps", "kept", "seed"])
def test_entries_of_other_kinds_are_not_known(directed, name):
    for value in (5, b"\xff", [1, 2]):
        directed[stored_shots.SHOT][name] = value
        look(directed)
        assert len(jumps.list_jumps(directed)) == (name != "jumps")


KEPT = ["5", "null", "[5]", DEEP, "[", '[{"from": "a:1", "to": "b:1", "time": "x"}]', f"[{DIGITS}]"]


def test_edited_pins_are_not_known(directed):
    for content in KEPT:
        directed[stored_shots.SHOT]["kept"] = content
        look(directed)
        [jump] = jumps.list_jumps(directed)
        assert not jump.is_pinned, content


def test_an_edited_seed_is_not_known(directed):
    for seed in (DIGITS, "x", "-1", "\u00b2"):
        directed[stored_shots.SHOT]["seed"] = seed
        look(directed)
        assert flipping.describe(directed) == "Directed", seed


def test_a_property_of_another_kind_is_no_shot(directed):
    for value in (5, "x", b"\xff", [1, 2], float("nan")):
        directed[stored_shots.SHOT] = value
        look(directed)
        assert jumps.list_jumps(directed) == []


def test_pins_are_stored_and_released(directed):
    [jump] = jumps.list_jumps(directed)
    assert not jumps.pin(directed, jump)
    assert not jumps.list_jumps(directed)[0].is_pinned
    assert jumps.pin(directed, jump)
    assert jumps.list_jumps(directed)[0].is_pinned
