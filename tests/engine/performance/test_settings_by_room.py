"""Tests of settings by room: their flat forms, and scripts written for 0.1.0."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import warnings
from dataclasses import fields, replace

import pytest

from motion_matching.engine.errors import SettingsError
from motion_matching.engine.performance.settings import (
    ROOMS,
    Blending,
    Coupling,
    PerformerSettings,
    Search,
    Speeds,
    Steering,
)

OLD = "ignore:The setting:DeprecationWarning"  # these tests look at the warnings themselves


def test_no_room_has_the_name_of_a_setting():
    assert not ROOMS.keys() & {room.name for room in fields(PerformerSettings)}


def test_flat_and_nested_forms_are_the_same_settings():
    settings = PerformerSettings(
        steering=Steering(walk=Speeds(1.0, 0.9, 0.8), catch_up=0.1),
        search=Search(tempo=5.0, weights=(1.0, 0.5)),
        coupling=Coupling(clamp_distance=0.2),
    ).with_changes({"labels": "ready", "field": "notebook"})
    flat = json.loads(json.dumps(settings.to_dict()))
    assert PerformerSettings().with_changes(flat) == settings
    assert list(flat) == list(ROOMS), "files keep their order"
    assert pickle.loads(pickle.dumps(settings)) == settings


def test_files_have_the_order_of_0_1_0():
    names = list(ROOMS)
    around = {name: names[names.index(name) - 1] for name in names[1:]}
    assert names[0] == "walk"
    assert names[-1] == "weights"
    assert around["turn_limit"] == "prediction"
    assert around["inertialization_halflife"] == "inertialization"
    assert (around["blend_time"], around["blend_stretch"]) == (
        "inertialization_halflife",
        "blend_time",
    )
    assert (around["labels"], around["foot_lock"]) == ("catch_up", "collision_radius")
    assert (around["neighbours"], around["search_interval"]) == ("field", "gait_halflife")


def test_ready_labels_follow_from_the_settings_given_with_them():
    settings = PerformerSettings().with_changes({"labels": "ready", "clamp_distance": 0.4})
    assert settings.coupling.labels[0].settings["clamp_distance"] == pytest.approx(0.6)


@pytest.mark.filterwarnings(OLD)
def test_settings_can_be_given_and_read_without_their_rooms():
    settings = PerformerSettings(
        velocity_halflife=0.2, blend_stretch=2.0, search=Search(wait=False)
    )
    assert settings == PerformerSettings(
        steering=Steering(velocity_halflife=0.2),
        search=Search(wait=False),
        blending=Blending(blend_stretch=2.0),
    )
    changed = replace(settings, tempo=5.0, displacement="synchronize", look=0.5, field="notebook")
    assert changed.search == Search(wait=False, tempo=5.0)
    assert (changed.tempo, changed.displacement, changed.look) == (5.0, "synchronize", 0.5)
    assert changed.field == "notebook"
    assert all(getattr(settings, name) == value for name, value in settings.flatten().items())
    with pytest.raises(SettingsError, match="setting 'tempo' is 99"):
        replace(settings, tempo=99.0)
    with pytest.raises(TypeError, match="speed"):
        PerformerSettings(speed=1.0)
    with pytest.raises(AttributeError, match="speed"):
        _ = settings.speed


@pytest.mark.parametrize(
    "use",
    [
        lambda: PerformerSettings(tempo=5.0),
        lambda: replace(PerformerSettings(), tempo=5.0),
        lambda: PerformerSettings().tempo,
    ],
)
def test_a_warning_where_the_script_is_says_what_has_moved(use):
    with pytest.warns(
        DeprecationWarning, match=r"'tempo' has moved to 'settings.search.tempo'"
    ) as w:
        use()
    assert [each.filename for each in w] == [__file__]


def test_new_names_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        settings = PerformerSettings(search=Search(tempo=5.0))
        settings = replace(settings, search=replace(settings.search, wait=False))
        assert settings.with_changes({"tempo": 4.0}).search.tempo == 4.0
        assert replace(settings, feet=settings.feet) == settings


SCRIPT = """
from dataclasses import replace
from motion_matching import api

settings = api.PerformerSettings(velocity_halflife=0.2, foot_lock=False)
for _ in range(3):
    settings = replace(settings, tempo=settings.tempo + 1.0)
print(settings.tempo, settings.velocity_halflife, settings.walk.forward)
"""


def test_a_script_of_0_1_0_runs_and_is_told_once_for_each_name_of_a_line():
    """With Python's own filter, which shows what a script itself does."""
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3.0", "0.2", "1.75"]
    told = [line for line in done.stderr.splitlines() if "has moved to" in line]
    assert len(told) == len(set(told)) == 6, done.stderr
