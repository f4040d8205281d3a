"""Requested tags act live, in recordings and in baked scripts; tags without data are reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.database import status
from motion_matching.app.database.content import compute_key
from motion_matching.app.database.library import get_library
from motion_matching.app.live import host, performing, tag_requests
from motion_matching.app.runtime import runtime
from motion_matching.engine.control import rollout
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.database import Database
from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance import performance
from motion_matching.engine.takes import takes
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput
from motion_matching.scene.writing import recording
from motion_matching.ui.play import drawing as play_drawing
from tests.live.hero import Hero
from tests.live.stage import make_performer
from tests.ui.characters import create_character, expect_refusal


def add_tags(demo_database: Database) -> Database:
    """Tag the mirror images 'left', the others 'right', and the first half second of clips 'begin'."""
    mirrored = np.array([r.mirrored for r in demo_database.ranges])[demo_database.range_of_frame]
    since = (
        np.arange(demo_database.frame_count) - demo_database.starts[demo_database.range_of_frame]
    )
    to_end = demo_database.stops[demo_database.range_of_frame] - np.arange(
        demo_database.frame_count
    )
    bits = np.where(mirrored, 1, 2) | np.where(since < 15, 4, 0) | np.where(to_end < 3, 8, 0) | 16
    return replace(
        demo_database,
        tag_names=("left", "right", "begin", "end", "prefer"),
        tags=bits.astype(np.uint32),
    )


@pytest.fixture(scope="module")
def tagged_file(demo_database: Database, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("asking") / "tagged.npz"
    databases.save(add_tags(demo_database), path)
    return path


def test_unknown_tags_are_reported(demo_database: Database) -> None:
    database = add_tags(demo_database)
    settings = takes.make_default_settings(database)
    assert database.requestable_tags == ("left", "right", "begin", "end")
    assert database.explain_missing_tags(frozenset(), settings.search.end_guard) == ""
    assert (
        database.explain_missing_tags(frozenset({"left", "begin"}), settings.search.end_guard) == ""
    )
    wanted = takes.prepare_performance(database, settings, "square", gait="walk", seconds=4, seed=0)
    for tags, words in (
        ({"swim"}, "tagged 'swim'"),
        ({"left", "right"}, "'left' and 'right'"),
        ({"end"}, "'end'"),
    ):
        with pytest.raises(DatabaseError, match=words):
            takes.request_tags(wanted, frozenset(tags), database, settings)
    asked = takes.request_tags(
        takes.request_tags(wanted, frozenset({"left"}), database, settings),
        frozenset({"begin"}),
        database,
        settings,
    )
    assert all(intent.tags == {"left", "begin"} for intent in asked.intents)
    assert [intent._replace(tags=frozenset()) for intent in asked.intents] == list(wanted.intents)


@pytest.mark.slow
def test_tag_requests_act_live_and_in_recordings(demo_database: Database) -> None:
    database = add_tags(demo_database)
    ops = bpy.ops.motion_matching
    hero = Hero(database=database, seconds=60.0, show_text=True)
    obj, play = hero.obj, hero.obj.motion_matching.play
    assert tag_requests.suggest_tags(None, bpy.context, "l") == [], "before there is a database"

    def plays_tag(name):
        return bool(database.make_tag_mask({name})[hero.live.session._frame.frame])

    def measure_share(name, ticks=90):
        found = []
        for _ in range(ticks):
            hero.run(1)
            found.append(plays_tag(name))
        return sum(found) / ticks

    live = hero.start()
    hero.run(30)
    assert live.session.requested_tags == frozenset()
    assert "asked" not in " ".join(runtime.get_cache(play_drawing.HudCache).snapshot.texts)

    # a requested tag plays from the next tick on, and the view shows it
    for name, other in (("left", "right"), ("right", "left")):
        assert ops.ask_for_tag(name=name) == {"FINISHED"}
        hero.run(1)
        assert plays_tag(name), "not at once"
        assert measure_share(name) == 1.0
        assert measure_share(other, 1) == 0.0
        assert live.session.requested_tags == {name}, runtime.get_cache(
            play_drawing.HudCache
        ).snapshot.texts
        assert f"requested  {name}" in runtime.get_cache(play_drawing.HudCache).snapshot.texts[1], (
            runtime.get_cache(play_drawing.HudCache).snapshot.texts
        )
        assert not any("tagged" in warning.text for warning in live.warnings)
        ops.ask_for_tag(name=name)
        assert play.tags == ""
    hero.run(5)
    assert live.session.requested_tags == frozenset()

    # tags without data are reported, and the session continues without them
    for text, words in (
        ("swim", "tagged swim"),
        ("left, right", "left, right at once"),
        ("end", "end at once"),
        ("prefer", "tagged prefer"),
    ):
        play.tags = text
        hero.run(10)
        assert runtime.live is live, text
        assert live.session.requested_tags == frozenset(), text
        said = tuple(warning.text for warning in live.warnings)
        assert any(words in text for text in said), said
        assert runtime.get_cache(play_drawing.HudCache).snapshot.warnings == said
    play.tags = "swim, left"
    hero.run(1)
    assert live.session.requested_tags == {"left"}
    assert plays_tag("left")
    assert "swim" in live.warnings[0].text
    [button] = live.warnings[0].buttons
    assert button.properties == (("name", "swim"),)
    play.tags = ""
    hero.run(2)
    assert not any("tagged" in warning.text for warning in live.warnings)
    host.end()

    # a key cycles through the tags and back to none
    hero.live = live = performing.start(
        obj,
        database,
        MotionMatching(database, live.session.performer.settings),
        live.session.performer.settings,
        (keyboard := Keyboard()),
        SteeringInput(keyboard),
        hero.now,
    )
    hero.run(2)
    seen = []
    for _ in range(5):
        keyboard.handle("C", "PRESS")
        keyboard.handle("C", "RELEASE")
        hero.run(2)
        seen.append(play.tags)
    assert seen == ["left", "right", "begin", "end", ""], seen

    # a recording stores the requests and plays the same again
    hero.run(60)
    live.toggle_recording()
    poses, _wanted_tags = [], []
    for tick in range(120):
        if tick == 40:
            play.tags = "left"
        if tick == 80:
            play.tags = ""
        hero.run(1)
        poses.append(live.session._frame.pose)
    host.end()
    [part] = recording.read_recorded_parts(obj.animation_data.action)
    kept = performance.from_json(part["performance"], "the take")
    lead = part["lead_in"]
    assert [sorted(i.tags) for i in kept.intents[lead : lead + 120]] == [[]] * 40 + [
        ["left"]
    ] * 40 + [[]] * 40
    solved = rollout.solve(make_performer(database=database), kept)
    assert np.array_equal(solved.poses[lead : lead + 120], np.stack(poses))


def test_a_baked_script_requests_tags() -> None:
    ops, obj = (
        bpy.ops.motion_matching,
        create_character(clips=("walk_curves", "walk_starts_and_stops")),
    )
    settings = obj.motion_matching
    ops.add_actions(mirror=False)
    settings.sources[0].tags = "walk, mine"
    settings.sources[1].tags = "walk, theirs"
    assert ops.build() == {"FINISHED"}
    status.refresh(obj)
    assert set(status.get_status(obj).tags) == {"mine", "theirs", "walk"}
    assert tag_requests.suggest_tags(None, bpy.context, "m") == ["mine"]
    assert tag_requests.suggest_tags(None, bpy.context, "walk, t") == ["walk, theirs"]
    get_library().load(compute_key(obj))

    def read_performance(action):
        [part] = recording.read_recorded_parts(action)
        return performance.from_json(part["performance"], "the take")

    expect_refusal(ops.bake_script, "swim", "its tags are", tags="swim", seconds=2.0)
    expect_refusal(ops.bake_script, "'mine' and 'theirs'", tags="mine, theirs", seconds=2.0)
    assert len(settings.takes) == 0
    for tags in ("mine", "theirs", "walk, mine"):
        assert ops.bake_script(script="square", seconds=2.0, tags=tags) == {"FINISHED"}
        kept = read_performance(settings.takes[settings.take_index].action)
        assert {intent.tags for intent in kept.intents} == {
            frozenset(tag_requests.parse_names(tags))
        }
    assert ops.bake_again() == {"FINISHED"}
    assert {
        intent.tags
        for intent in read_performance(settings.takes[settings.take_index].action).intents
    } == {frozenset({"walk", "mine"})}
