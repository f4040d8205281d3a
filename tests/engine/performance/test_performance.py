"""Recorded performances: saved in full, the same at any frame rate, and checked entry by entry."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motion_matching.engine.control import rollout
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.database.frame_names import format_frame
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.ground.ground import Box
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.maths import planar
from motion_matching.engine.performance import performance, scripts
from motion_matching.engine.performance.intent import FuturePath, Intent
from motion_matching.engine.performance.performance import LONGEST_TAKE, Performance
from motion_matching.engine.performance.settings import PerformerSettings, Speeds, Steering
from motion_matching.engine.takes import takes
from tests.demo import demo_settings, load_demo

SPEEDS = PerformerSettings().steering.walk


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files of all examples of a property."""
    return tmp_path_factory.mktemp("performances")


NUMBERS = st.floats(-5.0, 5.0)
PAIRS = st.tuples(NUMBERS, NUMBERS)
NAMES = st.text("abcdefgh_-ü 1", min_size=1, max_size=8)


@st.composite
def draw_path(draw: st.DrawFn) -> FuturePath:
    times = tuple(sorted(draw(st.sets(st.floats(0.0, 3.0), min_size=1, max_size=4))))
    count = len(times)
    places = draw(st.lists(PAIRS, min_size=count, max_size=count))
    return FuturePath(times, tuple(places), draw(st.tuples(*[NUMBERS] * count)))


INTENTS = st.builds(
    Intent,
    move=PAIRS,
    velocity=st.none() | PAIRS,
    facing=st.none() | NUMBERS,
    gait=st.floats(0.0, 1.0),
    path=st.none() | draw_path(),
    tags=st.frozensets(NAMES, max_size=3),
    jump_to=st.none() | NAMES,
    push=st.none() | PAIRS,
    enter=st.none() | NAMES,
    look_at=st.none() | st.tuples(NUMBERS, NUMBERS, NUMBERS),
)
CHANGES = st.fixed_dictionaries(
    {},
    optional={"synchronization": st.floats(0.0, 1.0), "weights": st.lists(st.floats(0.5, 2.0))},
)
SIZES = st.floats(0.1, 5.0)
BOXES = st.builds(Box, PAIRS, st.tuples(SIZES, SIZES), NUMBERS, SIZES)


@given(
    st.lists(st.tuples(INTENTS, st.integers(1, 4)), min_size=1, max_size=4),
    st.floats(1.0, 144.0),
    st.builds(
        partial,
        st.just(Performance),
        name=NAMES,
        position=PAIRS,
        facing=NUMBERS,
        seed=st.integers(0, 2**32),
        settings=CHANGES,
        changes=st.lists(st.tuples(st.integers(0, 9), CHANGES), max_size=3).map(tuple),
        obstacles=st.lists(BOXES, max_size=2).map(tuple),
        walls=st.lists(st.tuples(PAIRS, PAIRS), max_size=2).map(tuple),
    ),
)
def test_performances_survive_saving_and_loading(folder, runs, fps, make):
    intents = tuple(intent for intent, ticks in runs for _ in range(ticks))
    before = make(fps=fps, intents=intents)
    performance.save(before, folder / "mine.json")
    assert performance.load(folder / "mine.json") == before


def test_resampling_keeps_the_duration_of_a_performance():
    wanted = scripts.build_script("square", 10.0, 30.0, SPEEDS, SPEEDS)
    faster = wanted.resample(60.0)
    assert faster.seconds == pytest.approx(wanted.seconds)
    assert faster.intents[::2] == wanted.intents


@given(st.sampled_from([24.0, 59.94, 60.0]) | st.floats(20.0, 144.0), st.integers(0, 119))
def test_a_jump_or_push_is_requested_once_at_any_frame_rate(fps, tick):
    once = Intent(move=(0.0, -1.0), jump_to="wave", push=(1.0, 0.0))
    intents = tuple(once if i == tick else Intent(move=(0.0, -1.0)) for i in range(120))
    at_rate = Performance("wave", 60.0, intents).resample(fps)
    requests = [i for i, intent in enumerate(at_rate.intents) if intent.jump_to]
    assert requests == [i for i, intent in enumerate(at_rate.intents) if intent.push]
    assert len(requests) == 1
    assert requests[0] / fps == pytest.approx(tick / 60.0, abs=1 / min(fps, 60.0))
    assert {intent.move for intent in at_rate.intents} == {(0.0, -1.0)}


def test_all_changes_of_settings_at_one_tick_apply(demo_database):
    settings = takes.make_default_settings(demo_database)
    performer = Performer(MotionMatching(demo_database, settings), settings)
    wanted = Performance(
        "changing",
        60.0,
        (Intent(),) * 40,
        changes=(
            (20, {"stop_factor": 0.5}),
            (21, {"gait_halflife": 0.3}),
            (21, {"stop_factor": 0.6}),
        ),
    )
    rollout.solve(performer, wanted)
    assert (performer.settings.steering.stop_factor, performer.settings.steering.gait_halflife) == (
        0.6,
        0.3,
    )


def test_a_take_needs_at_least_five_ticks(demo_database):
    settings = takes.make_default_settings(demo_database)
    report = None
    for count in range(1, 6):
        wanted = Performance("short", 2 * demo_database.fps, (Intent(),) * (2 * count))
        if count < 5:
            with pytest.raises(SettingsError, match=r"'short'.*at least 5"):
                takes.perform(demo_database, settings, wanted)
        else:
            report = takes.report(takes.perform(demo_database, settings, wanted), demo_database)
    assert report is not None
    assert takes.summarize(report)


@pytest.mark.parametrize("name", scripts.SEEDED)
def test_random_scripts_are_determined_by_their_seed(name):
    a, b, c = (scripts.build_script(name, 20.0, 30.0, SPEEDS, SPEEDS, seed=s) for s in (1, 1, 2))
    assert a == b
    assert a.intents != c.intents


def test_turns_go_to_either_side_by_90_to_180_degrees_every_two_to_four_seconds():
    wanted = scripts.build_script("turns", 120.0, 30.0, SPEEDS, SPEEDS, gait="run", seed=4)
    assert all(intent == Intent() for intent in wanted.intents[:30])
    moves = np.array([intent.move for intent in wanted.intents])
    np.testing.assert_allclose(np.linalg.norm(moves[30:], axis=1), 1.0)
    assert {intent.gait for intent in wanted.intents[30:]} == {1.0}
    yaws = np.arctan2(moves[30:, 0], -moves[30:, 1])
    at = np.flatnonzero(np.diff(yaws)) + 1
    turned = planar.wrap(yaws[at] - yaws[at - 1])
    assert np.abs(turned).min() >= np.radians(89.9)
    assert 10 < (turned > 0).sum() < len(turned) - 10
    assert np.ptp(np.abs(turned)) > np.radians(60)
    held = np.diff([0, *at]) / 30.0
    assert 2.0 <= held.min() < 2.5
    assert 3.5 < held.max() <= 4.0


@pytest.mark.parametrize("speed", [0.6, 1.75, 4.0])
@pytest.mark.parametrize("name", ["figure_eight", "square", "flips", "strafe_circle"])
def test_scripts_without_a_length_come_back_to_where_they_began(name, speed):
    settings = PerformerSettings(steering=Steering(walk=Speeds(speed, speed, speed)))
    whole = scripts.build_script(name, 0, 30.0, settings.steering.walk, settings.steering.run)
    track = rollout.simulate(whole, settings, 30.0)
    apart = np.linalg.norm(track[-1, :2] - track[0, :2])
    assert apart < 0.02 * max(speed, 1.0), (whole.seconds, apart)
    assert np.linalg.norm(track[-1, :2] - track[-2, :2]) * 30.0 < 0.02 * max(speed, 1.0)
    if name == "figure_eight":  # two whole circles beside each other
        across, along = np.ptp(track[:, 0]), np.ptp(track[:, 1])
        assert across == pytest.approx(2.0 * along, rel=0.03)
        turned = np.unwrap(track[:, 2])
        assert np.ptp(turned) == pytest.approx(2.0 * np.pi, abs=0.2)


def test_slower_characters_take_longer_for_the_same_eight():
    def measure(speed):
        slow = Speeds(speed, speed, speed)
        return scripts.build_script("figure_eight", 0, 30.0, slow, slow).seconds

    assert measure(0.5) > 1.5 * measure(1.0)
    assert 0 < measure(0.0) < LONGEST_TAKE


@pytest.mark.parametrize("name", scripts.SEEDED)
def test_a_random_script_without_a_length_ends_standing(name):
    whole = scripts.build_script(name, 0, 30.0, SPEEDS, SPEEDS, seed=3)
    assert whole.seconds > 20.0
    assert set(whole.intents[-30:]) == {Intent()}


def test_pushes_go_to_any_side_at_the_full_speed_every_few_seconds():
    fast = Speeds(3.0, 2.0, 1.0)
    wanted = scripts.build_script("pushes", 120.0, 30.0, SPEEDS, fast, gait="run", seed=4)
    pushes = {i: intent.push for i, intent in enumerate(wanted.intents) if intent.push}
    assert 25 < len(pushes) < 50
    gaps = np.diff(list(pushes)) / 30.0
    assert gaps.min() > 2.4
    assert gaps.max() < 4.2
    sides = np.array(list(pushes.values()))
    assert np.allclose(np.linalg.norm(sides, axis=1), 3.0)
    assert (np.abs(np.sign(sides).sum(axis=0)) < len(sides)).all()  # to both sides, on both axes
    moving = {(intent.move, intent.gait) for intent in wanted.intents[30:]}
    assert len(moving) == 1, "nothing else changes"
    again = performance.from_json(performance.to_json(wanted), "here")
    assert again.intents == wanted.intents


# ---------------------------------------------------------------- invalid files


def write_performance(folder, **changes):
    """Write a file of ten ticks with some entries changed, or left out where they are None."""
    data = {
        "format": performance.FORMAT,
        "fps": 30,
        "intents": [{"ticks": 10, "move": [0, -1]}],
    } | changes
    file = folder / "wrong.json"
    file.write_text(json.dumps({key: value for key, value in data.items() if value is not None}))
    return file


def expect_refusal(file):
    with pytest.raises(SettingsError) as error:
        performance.load(file)
    assert "wrong.json" in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400
    return str(error.value)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "motion-matching performance"}', "not json", "[" * 100_000]
)
def test_other_files_are_refused(tmp_path, text):
    (tmp_path / "wrong.json").write_text(text)
    expect_refusal(tmp_path / "wrong.json")


ENDLESS = 1e999  # JSON reads it as infinity
PATH = {"times": [0, 1], "positions": [[0, 0], [1, 1]], "yaws": [0, 0]}


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("intents", None),
        ("intents", []),
        ("intents", [5]),
        ("intents", "abc"),
        ("intents", {"move": [0, 1]}),
        ("fps", None),
        ("fps", ENDLESS),
        ("fps", 0.001),
        ("fps", True),
        ("fps", "30"),
        ("fps", 10**400),
        ("position", [0]),
        ("position", [0, ENDLESS]),
        ("position", 3),
        ("facing", "north"),
        ("facing", False),
        ("seed", -1),
        ("seed", 1.5),
        ("settings", [1]),
        ("settings", 7),
        ("changes", {"walk": 1}),
        ("changes", [[1]]),
        ("changes", [[-1, {}]]),
        ("changes", [[0.5, {}]]),
        ("changes", [[1, "walk"]]),
        ("name", 7),
        ("setings", {}),
    ],
)
def test_an_invalid_entry_is_named(tmp_path, entry, value):
    assert f"'{entry}'" in expect_refusal(write_performance(tmp_path, **{entry: value}))


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("ticks", 0),
        ("ticks", -3),
        ("ticks", 1.5),
        ("ticks", True),
        ("ticks", "many"),
        ("move", [0]),
        ("move", "ab"),
        ("move", [0, float("nan")]),
        ("move", [0, 1e30]),
        ("move", [True, 0]),
        ("move", {"x": 1}),
        ("velocity", [ENDLESS, 0]),
        ("velocity", [1e30, 0]),
        ("velocity", 1),
        ("facing", float("nan")),
        ("facing", [1]),
        ("gait", 50),
        ("gait", -0.1),
        ("gait", None),
        ("tags", "abc"),
        ("tags", [1]),
        ("jump_to", 5),
        ("jump_to", ""),
        ("push", [1]),
        ("push", [ENDLESS, 0]),
        ("push", "hard"),
        ("mvoe", [0, 1]),
        ("path", 5),
        ("path", []),
        ("path", {}),
        ("path", PATH | {"times": []}),
        ("path", PATH | {"yaws": [0]}),
        ("path", {"times": [], "positions": [], "yaws": []}),
        ("path", PATH | {"times": [1, 0]}),
        ("path", PATH | {"times": [0, 0]}),
        ("path", PATH | {"positions": [[0, 0], [0, ENDLESS]]}),
        ("path", PATH | {"speed": 1}),
    ],
)
def test_an_invalid_intent_is_named_with_its_number(tmp_path, entry, value):
    intents = [{"ticks": 10}, {"ticks": 10, "move": [0, -1]} | {entry: value}]
    text = expect_refusal(write_performance(tmp_path, intents=intents))
    assert f"'{entry}'" in text
    assert "intent 2" in text


def test_optional_entries_of_an_intent_may_be_null(tmp_path):
    intents = [
        {"ticks": 10, "velocity": None, "facing": None, "path": None, "jump_to": None, "push": None}
    ]
    assert (
        performance.load(write_performance(tmp_path, intents=intents)).intents == (Intent(),) * 10
    )


def test_a_performance_longer_than_any_take_is_refused(tmp_path):
    most = int(LONGEST_TAKE * 1000)
    text = expect_refusal(
        write_performance(tmp_path, fps=1000, intents=[{"ticks": most}, {"ticks": 1}])
    )
    assert f"{LONGEST_TAKE:g}" in text
    expect_refusal(write_performance(tmp_path, intents=[{"ticks": 10**9}]))


def test_overlaid_performances_become_one():
    """Use the later performance's intents from its tick on, without its lead-in, and its settings
    there.
    """

    def make_performance(x, count, **more):
        return Performance("", 30.0, (Intent(move=(x, 0.0)),) * count, **more)

    first = make_performance(
        0.1, 20, settings={"drift": 0.1}, changes=((5, {"drift": 0.2}), (12, {"drift": 0.3}))
    )
    second = make_performance(
        0.2, 9, settings={"drift": 0.4}, changes=((2, {"drift": 0.5}), (6, {"drift": 0.6}))
    )
    whole = performance.overlay(first, [(10, second, 4), (22, make_performance(0.3, 3), 0)])
    assert [intent.move[0] for intent in whole.intents] == [0.1] * 10 + [0.2] * 5 + [0.1] * 5 + [
        0.0
    ] * 2 + [0.3] * 3
    assert whole.changes == (
        (5, {"drift": 0.2}),
        (10, {"drift": 0.5}),
        (12, {"drift": 0.6}),
        (15, {"drift": 0.3}),
        (22, {}),
    )
    assert whole.settings == first.settings


def test_unreasonable_settings_are_refused_by_name():
    settings = PerformerSettings()
    for name in (
        "velocity_halflife",
        "rotation_halflife",
        "inertialization_halflife",
        "clamp_distance",
        "search_interval",
    ):
        for value in (1e308, -1.0, float("nan"), True, "slow", 10**400):
            with pytest.raises(SettingsError, match=f"'{name}'"):
                settings.with_changes({name: value})
    for name, value in (
        ("walk", {"forward": 1e308, "side": 1, "back": 1}),
        ("run", 3.0),
        ("weights", [0, 0]),
        ("weights", [1e308]),
        ("weights", []),
        ("continuing_bias", ENDLESS),
        ("continuing_bias", True),
    ):
        with pytest.raises(SettingsError, match=name):
            settings.with_changes({name: value})


def test_a_frame_to_enter_is_stored_resampled_and_entered_if_the_data_has_it():
    database, settings = load_demo(), demo_settings()
    plain = takes.prepare_performance(
        database, settings, "square", gait="walk", seconds=3.0, seed=0
    )
    expected = takes.perform(database, settings, plain)
    frame = int(np.flatnonzero(database.find_candidates(settings.search.end_guard))[1000])
    for name in (format_frame(database, frame), "gone:12", "nonsense"):
        intents = list(plain.intents)
        intents[30] = intents[30]._replace(enter=name)
        asked = replace(plain, intents=tuple(intents))
        assert performance.from_json(performance.to_json(asked), "here") == asked
        half = asked.resample(0.5 * database.fps)
        assert [k for k, intent in enumerate(half.intents) if intent.enter] == [15]
        take = takes.perform(database, settings, asked)
        np.testing.assert_array_equal(take.frames[:30], expected.frames[:30])
        if name.startswith(("gone", "nonsense")):
            np.testing.assert_array_equal(take.frames, expected.frames)
        else:
            assert take.frames[30] == database.successors[frame]
            assert take.jumped[30]
