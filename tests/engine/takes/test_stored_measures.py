"""What is measured of a database is stored in its file, and changes neither takes nor reports."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from motion_matching.engine.building import retagging
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import Normalization
from motion_matching.engine.facts import avoided_postures, character
from motion_matching.engine.matching import fitted_features, method
from motion_matching.engine.takes import stored_measures, takes
from tests.engine.sizes import make_sizes


def reload(database: Database, path: Path, facts: dict[str, Any] | None = None) -> Database:
    """Return a database as it is read from a file with these facts."""
    databases.save(database, path, facts=facts)
    return databases.load(path)


def perform(database: Database) -> takes.Take:
    settings = takes.make_default_settings(database)
    script = takes.prepare_performance(
        database, settings, "turns", gait="walk", seconds=1.0, seed=1
    )
    return takes.perform(database, settings, script)


@pytest.mark.parametrize("size", [1.0, pytest.param(3.0, marks=pytest.mark.slow)])
def test_takes_and_reports_are_the_same_with_stored_measures(demo_database, tmp_path, size):
    database = demo_database if size == 1.0 else make_sizes(demo_database, size)[1]
    takes.save_database(database, tmp_path / "stored.npz")
    stored = databases.load(tmp_path / "stored.npz")
    plain = reload(database, tmp_path / "plain.npz")
    assert stored.get_fact("common_peak", 1) is not None
    assert plain.stored_facts == {}
    made = [perform(each) for each in (stored, plain)]
    np.testing.assert_array_equal(made[0].poses, made[1].poses)
    reports = [takes.report(made[0], each, live=made[0]) for each in (stored, plain)]
    assert json.dumps(reports[0]) == json.dumps(reports[1])


def test_a_stored_database_is_not_measured_again(demo_database, tmp_path):
    facts = stored_measures.collect_facts(demo_database)
    others = {
        name: values[::-1] if len(values) > 1 else [2.0 * values[0]]
        for name, values in facts.items()
    }
    loaded = reload(demo_database, tmp_path / "others.npz", others)
    for name, values in stored_measures.collect_facts(loaded).items():
        assert values == pytest.approx(others[name], rel=1e-6), name


@pytest.fixture
def saved(demo_database, tmp_path):
    """The demo with everything that is stored of it, and the functions stored."""
    takes.save_database(demo_database, tmp_path / "whole.npz")
    return databases.load(tmp_path / "whole.npz")


def assert_same(first: Any, second: Any) -> None:
    """Compare results of functions to the bit, and the types in them."""
    if isinstance(first, np.ndarray):
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)
    elif isinstance(first, Normalization):
        for name in vars(first):
            assert_same(getattr(first, name), getattr(second, name))
    else:
        assert repr(first) == repr(second)


def test_results_of_functions_are_stored_to_the_bit(demo_database, saved):
    for make in stored_measures.DERIVED:
        known = saved.recall(make)
        assert known is not None, make
        assert_same(known[0], make(demo_database))


@pytest.mark.parametrize(
    ("make", "damage"),
    [
        (character.measure_character_legs, [[1, 2]]),
        (character.measure_character_legs, 3),
        (character.measure_character_gaze, [[1], [0.5], [0.5], "x", [0, 0, 0], [0, 0, 0]]),
        (character.measure_character_gaze, [[1], [0.5], [1e99], 0, [0, 0, 0], [0, 0, 0]]),
        (character.measure_climb_speeds, [[1.0], None]),
        (character.find_played_toes, np.zeros((5, 2, 8), np.float32)),
        (character.find_played_toes, np.zeros((1, 2), np.float64)),
        (avoided_postures.find_odd_frames, []),
        (fitted_features.measure_normalization, [[0.0], [1.0], [True]]),
        (fitted_features.measure_normalization, [["x"], [None], [[]]]),
        (method.find_search_order, np.zeros((2, 3), np.int32)),
    ],
)
def test_damaged_results_are_measured_again(demo_database, tmp_path, make, damage):
    loaded = reload(demo_database, tmp_path / "damaged.npz", {f"facts/{make.__name__}": damage})
    assert f"facts/{make.__name__}" in loaded.stored_facts
    assert_same(loaded.derive(make), make(demo_database))


@pytest.mark.parametrize("order", [[], [0] * 512, [-1] * 256, [10**6] * 256])
def test_an_order_of_other_frames_is_not_searched(demo_database, tmp_path, order):
    stored = {"facts/find_search_order": np.array(order, np.int32)}
    loaded = reload(demo_database, tmp_path / "other.npz", stored)
    known, found = (method.find_search_order(each) for each in (demo_database, loaded))
    np.testing.assert_array_equal(known, found)


def test_results_of_another_version_are_measured_again(demo_database, tmp_path):
    facts = stored_measures.collect_derived(demo_database)
    other = reload(demo_database, tmp_path / "other.npz", facts | {"version": 0})
    assert other.stored_facts == {}


@pytest.mark.parametrize(
    "damage",
    [
        {"version": databases.FACTS_VERSION + 1},
        {"toe_floors": [1.0], "common_peak": [None], "gait_peaks": [True, 1.0]},
        {"idle_runs": [0, 3.5], "stance_costs": [1.0], "stance_usual": [10**400]},
        {"idle_runs": [0, 10**8], "stance_costs": [[]], "stance_usual": None},
        {"idle_runs": [-1, 5]},
        {"idle_runs": [1]},
        {"clips": "x", "usual_bearing": [1e300, 0.0], "bone_peaks": {}},
    ],
)
def test_facts_of_another_version_or_kind_are_measured_again(demo_database, tmp_path, damage):
    facts = stored_measures.collect_facts(demo_database)
    loaded = reload(demo_database, tmp_path / "damaged.npz", facts | damage)
    assert stored_measures.collect_facts(loaded) == facts


def test_other_tags_have_facts_of_their_own(demo_database, tmp_path):
    facts = stored_measures.collect_facts(demo_database)
    loaded = reload(demo_database, tmp_path / "stored.npz", facts)
    unused = np.arange(loaded.frame_count) < 100
    assert retagging.exclude(loaded, unused).stored_facts == {}


def sum_numbers(fact: Any) -> float:
    if isinstance(fact, list):
        return sum(map(sum_numbers, fact))
    return 0.0 if fact is None or isinstance(fact, str) else float(np.sum(fact, dtype=np.float64))


def test_the_version_of_facts_rises_with_the_way_their_functions_measure(demo_database):
    """If this fails as they measure in another way, raise `FACTS_VERSION`."""
    facts = stored_measures.collect_derived(demo_database)
    assert databases.FACTS_VERSION == 1
    known = {
        "measure_character_legs": 807.15,
        "measure_character_gaze": 28.616,
        "measure_climb_speeds": 0.0,
        "find_played_toes": 6653543.0,
        "find_standing": 3534.0,
        "find_all_odd_postures": 0.0,
        "find_odd_frames": 0.0,
        "find_avoided_frames": 0.0,
        "measure_normalization": 39.406,
        "measure_velocities": -23799.8,
    }
    sums = {name.removeprefix("facts/"): sum_numbers(fact) for name, fact in facts.items()}
    del sums["find_search_order"]  # any order of the frames is right
    assert sums == pytest.approx(known, rel=1e-3)


def test_a_compact_database_stores_the_facts_of_its_rounded_motion(demo_database, tmp_path):
    poses, velocities = (np.array(a) for a in (demo_database.poses, demo_database.velocities))
    compact = replace(demo_database, poses=poses, velocities=velocities).rounded()
    takes.save_database(compact, tmp_path / "compact.npz")
    loaded = databases.load(tmp_path / "compact.npz")
    plain = reload(compact, tmp_path / "plain.npz")
    for make in stored_measures.DERIVED:
        known = loaded.recall(make)
        assert known is not None, make
        assert_same(known[0], plain.derive(make))


def test_the_version_of_facts_rises_with_the_way_they_are_measured(demo_database):
    """If this fails as facts are measured in another way, raise `FACTS_VERSION`."""
    facts = stored_measures.collect_facts(demo_database)
    assert databases.FACTS_VERSION == 1
    sums = {name: float(np.sum(values)) for name, values in facts.items()}
    known = {
        "stance_usual": 20.783,
        "stance_costs": 12933.8,
        "idle_runs": 2944994.0,
        "common_peak": 73.925,
        "gait_peaks": 141.77,
        "usual_bearing": 88.364,
        "toe_floors": 0.05,
        "bone_peaks": 1146.3,
        "clips": 705.87,
    }
    assert sums == pytest.approx(known, rel=1e-3)
