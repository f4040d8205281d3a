"""The study of searches in two stages finds the best frame if it looks among enough."""

from __future__ import annotations

import numpy as np
import pytest

from building.studies import two_stages
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.takes import takes
from tests.demo import load_demo


def test_among_all_trajectories_the_best_frame_is_always_found():
    database = load_demo()
    found = two_stages.measure(database, 8.0, 0, nearest=database.frame_count)
    assert found["searches"] > 20
    assert found["found"] == found["changed"] == 1.0
    assert found["ratio"] == 1.0


def test_among_few_it_is_often_missed_and_costs_more():
    found = two_stages.measure(load_demo(), 8.0, 0, nearest=20)
    assert found["changed"] < found["found"] < 1.0
    assert found["changed"] < 0.9
    assert found["ratio"] > 1.0
    row = two_stages.list_cells("generated", "default", found)
    part = two_stages.format_part([row], 0.1)
    assert sum(line.startswith("| generated") for line in part.splitlines()) == 1


def test_the_path_is_told_from_the_pose():
    database = load_demo()
    method = MotionMatching(database, takes.make_default_settings(database))
    path = two_stages.find_path_columns(method)
    assert len(path) == len(method._rows[0])
    assert path.sum() == pytest.approx(12), "three times two numbers each of path and facing"
    kept = two_stages.keep_enterable(method, np.arange(400, 600), 500)
    assert 500 not in kept
    assert {400, 599} <= set(kept.tolist())


def test_the_articles_have_a_place_for_the_study():
    text = two_stages.DOCUMENT.read_text(encoding="utf-8")
    assert text.count("<!-- study: search -->") == 1


def test_a_winner_that_is_remembered_is_the_best_again_if_nothing_has_changed():
    database = load_demo()
    method = MotionMatching(database, takes.make_default_settings(database))
    frames = np.flatnonzero(database.find_candidates(0.5))[::2000]
    noted = [two_stages._Query(method._rows[f], int(f), (k,)) for k, f in enumerate(frames)]
    found = two_stages.compare_remembered(method, [*noted, *noted])
    assert found == {"remembered": len(noted), "again": 1.0, "worse": 1.0}
    # the pose counts too: another frame with the same wish has another winner
    alike = [query._replace(key=(0,)) for query in noted]
    assert two_stages.compare_remembered(method, alike)["again"] < 0.5
