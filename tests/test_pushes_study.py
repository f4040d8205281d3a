"""The study of pushes scales pushes, and writes a row and a curve for each kind."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from building.studies import dense, pushing, pushing_command
from building.studies.pushing import PushJob
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.takes import takes
from tests.demo import load_demo


@pytest.fixture(scope="module")
def results() -> dict[PushJob, pushing.Measures]:
    jobs = [PushJob("walk", "matching", share) for share in (0.5, 1.0, 2.0)]
    field = FieldController()
    return {job: pushing.measure_job(job, load_demo(), field, 15.0, 0) for job in jobs}


def test_pushes_are_scaled_and_all_else_stays():
    database = load_demo()
    settings = takes.make_default_settings(database)
    performance = takes.prepare_performance(
        database, settings, "pushes", gait="run", seconds=20.0, seed=3
    )
    doubled = pushing.scale_pushes(performance, 2.0)
    pairs = list(zip(performance.intents, doubled.intents, strict=True))
    assert sum(first.push is not None for first, _ in pairs) > 3
    for first, second in pairs:
        assert first._replace(push=None) == second._replace(push=None)
        if first.push is not None:
            assert np.allclose(second.push, 2.0 * np.array(first.push))


def test_harder_pushes_go_further(results):
    distances = [measures["push_distance_median"] for measures in results.values()]
    assert distances == sorted(distances)
    assert distances[-1] > 1.5 * distances[0]


def test_the_manual_has_a_row_for_each_kind_and_the_picture_a_curve(results):
    rows = pushing.list_cells("generated", results)
    part = pushing_command.format_part(rows, 0.25)
    assert sum(line.startswith("| generated") for line in part.splitlines()) == len(results)
    traces = pushing.select_traces(results)
    assert list(traces) == ["walk, motion matching"]
    curve = traces["walk, motion matching"]
    assert curve[:15].max() > 0.5
    assert curve[-10:].max() < 0.3
    picture = ElementTree.fromstring(f"<svg>{pushing_command.draw_recoveries(traces)}</svg>")
    assert len(list(picture.iter("polyline"))) == 1


def test_the_manual_has_a_place_for_each_study():
    for study in (pushing_command, dense):
        part = "dense" if study is dense else "pushes"
        assert study.DOCUMENT.read_text(encoding="utf-8").count(f"<!-- study: {part} -->") == 1
