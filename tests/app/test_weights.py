"""Feature weights are not part of the content key: changing one hashes nothing and updates a live
session once.
"""

from __future__ import annotations

import bpy
import pytest

from motion_matching.app.database import content, status
from motion_matching.app.live import host, performing
from motion_matching.app.runtime import runtime
from motion_matching.engine.progress import run_to_end
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput
from motion_matching.scene.library import library
from tests.ui.characters import create_character

ops = bpy.ops.motion_matching


@pytest.fixture
def obj():
    obj = create_character()
    ops.add_actions(mirror=False)
    ops.apply_preset(kind="features", filepath="default")
    assert ops.build() == {"FINISHED"}
    return obj


@pytest.fixture
def hashes(monkeypatch):
    """Every hash computed for a database key."""
    calls = []

    class Counted(library.DatabaseKeyBuilder):
        def __init__(self, *arguments):
            calls.append(arguments)
            super().__init__(*arguments)

    monkeypatch.setattr(library, "DatabaseKeyBuilder", Counted)
    return calls


def change_weights(features):
    """Drag a slider of each kind."""
    for value in (1.5, 2.0, 2.5):
        features.items[0].weight = value
    features.responsiveness = 1.25
    features.continuity = 0.75
    features.past = 0.5


def test_changing_a_weight_hashes_nothing(obj, hashes):
    told = []
    runtime.subscribe("weights", lambda: told.append("weights"))
    runtime.subscribe("database", lambda: told.append("database"))
    count = runtime.statuses.change_count
    change_weights(obj.motion_matching.features)
    assert told == 6 * ["weights"]
    assert not runtime.statuses.stale
    assert runtime.statuses.change_count == count
    assert status.get_status(obj).kind == "fresh"
    assert hashes == []
    assert obj.motion_matching.features.preset == "", "it is no longer the preset's"

    # values in the key do
    obj.motion_matching.features.items[0].axes = "xy"
    assert told[6:] == ["database"]
    assert runtime.statuses.stale == {obj.session_uid}
    assert status.refresh(obj).kind == "stale"
    assert len(hashes) == 1
    assert content.compute_key(obj) != status.get_status(obj).key
    assert len(hashes) == 2


def test_a_live_session_applies_new_weights_once(obj, hashes, monkeypatch):
    database, method, settings = run_to_end(performing.prepare_steps(obj))
    hashes.clear()
    keyboard = Keyboard()
    live = performing.start(obj, database, method, settings, keyboard, SteeringInput(keyboard), 0.0)
    live.tick(0.05, 0.0)
    applied = []
    apply = live.session.apply
    monkeypatch.setattr(
        live.session, "apply", lambda new: applied.append(new.search.weights) or apply(new)
    )

    change_weights(obj.motion_matching.features)
    assert applied == [], "not before a tick"
    for tick in range(60):
        live.tick(0.06 + tick / 60.0, 0.0)
    [weights] = applied
    assert weights != settings.search.weights
    assert hashes == []
    host.end()
