"""The study of choices measures takes that differ in what is chosen, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from building.studies import choices, choices_command, spots
from building.studies.choices import FIELDS, TABLES, Cast, ChoiceJob
from building.studies.sets import OTHERS
from motion_matching.engine.facts.avoided_postures import find_odd_frames
from motion_matching.engine.facts.idles import find_standing
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.takes import takes
from tests.demo import load_demo, load_few


@pytest.fixture(scope="module")
def cast() -> Cast:
    return Cast(load_demo())


def test_each_table_compares_what_differs_and_has_a_place_in_the_manual():
    for name, table in TABLES.items():
        assert len(set(table.choices.values())) == len(table.choices)
        for choice in table.choices.values():
            PerformerSettings().with_changes(dict(choice.changes))
            assert choice.method in {"matching", choices.DIRECTOR, *FIELDS}
        text = table.document.read_text(encoding="utf-8")
        assert text.count(f"<!-- study: choices {name} -->") == 1


def test_a_set_without_runs_walks_and_what_is_for_runs_only_runs(cast):
    def find_gaits(table, loaded):
        return {job.gait for job in choices.list_jobs(table, loaded, 1)}

    settings = cast.loaded.settings
    walker = cast.loaded._replace(settings=settings.with_changes({"run": settings.steering.walk}))
    assert find_gaits("control", cast.loaded) == {"walk", "run"}
    assert find_gaits("postures", cast.loaded) == {"run"}
    assert find_gaits("control", walker) == find_gaits("postures", walker) == {"walk"}


@pytest.mark.slow
def test_an_object_that_does_not_wait_is_never_off_its_way(cast):
    [waits, goes_on] = (
        cast.measure(ChoiceJob("control", "run", choice, "turns", 0), 12.0)[0]["waits"]
        for choice in ("as shipped", "no Object Waits")
    )
    assert goes_on == pytest.approx(0.0, abs=1e-6)
    assert waits > 0.02


def test_a_head_that_looks_faces_the_new_way_sooner(cast):
    shares = ("Look 0", "Look 1")
    found = [cast.measure(ChoiceJob("look", "walk", s, "flips", 0), 10.0) for s in shares]
    rows = [choices.combine(each) for each in found]
    assert rows[1]["head"] < rows[0]["head"]
    part = choices_command.format_part(
        "look", {("generated", "walk", s): row for s, row in zip(shares, rows, strict=True)}, "text"
    )
    lines = [line for line in part.splitlines() if line.startswith("| generated")]
    assert [f"| {row['head']:.2f} |" in " ".join(line.split()) for row, line in zip(rows, lines, strict=True)] == [True, True]  # fmt: skip


def test_takes_of_a_row_are_pooled():
    first = {
        "answers": [1.0, 2.0],
        "heads": [],
        "waits": 0.1,
        "freezes": 1,
        "path": 0.2,
        "price": None,
    }
    second = first | {"answers": [9.0], "waits": 0.3, "freezes": 2, "path": 0.4, "price": 3.0}
    row = choices.combine([first, second])
    assert row == {
        "answer": 2.0, "head": None, "waits": 0.3, "freezes": 3.0, "price": 3.0,
        "path": pytest.approx(0.3),
    }  # fmt: skip


def test_a_character_is_led_to_spots_and_rests_there():
    database = load_demo()
    settings = takes.make_default_settings(database)
    found = spots.draw_spots(0)
    away = np.linalg.norm(found, axis=1)
    assert len(found) == spots.COUNT
    assert spots.NEAREST <= away.min() <= away.max() <= spots.FARTHEST
    measured = spots.measure_way(
        MotionMatching(database, settings), settings, np.array([0.0, -3.0]), 0.0
    )
    assert measured["rests"] < spots.THERE
    assert measured["beyond"] < spots.THERE
    assert 0.9 < measured["longers"][0] < 2.0


@pytest.mark.slow
def test_the_notebooks_field_and_the_director_are_among_the_choices():
    few = Cast(load_few())
    for table, choice in (
        ("notebook", "notebook, values"),
        ("notebook", "notebook, greed"),
        ("postures", "director, 10"),
    ):
        [found] = few.measure(ChoiceJob(table, "walk", choice, "random", 0), 5.0)
        row = choices.combine([found])
        cells = choices_command.list_cells(table, row)
        assert len(cells) == len(TABLES[table].columns)
        assert row["odd"] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "stands", "stumbles"), [("moving", 0, 0), ("stumbling", 1, 1)])
def test_a_set_of_this_study_alone_is_what_it_says(name, stands, stumbles):
    database = Cast(OTHERS[name].build(Path())).loaded.database
    assert {"walk", "run"} <= set(database.tag_names)
    assert (database.derive(find_standing) & database.playable).any() == stands
    assert database.derive(find_odd_frames).any() == stumbles
