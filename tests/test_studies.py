"""The study of quality combines takes as it says, and its page marks what misses a figure."""

from __future__ import annotations

import numpy as np
import pytest

from tests.studies import quality, report
from tests.studies.figures import BY_KEY
from tests.studies.quality import Job


@pytest.fixture(scope="module")
def results(demo_database):
    """Short takes of two seeds."""
    loaded = quality.measure_sources(demo_database)
    jobs = [Job("generated", "walk", "turns", "matching", seed) for seed in range(2)]
    return {job: quality.measure(loaded, job, 6.0) for job in jobs}


def test_takes_of_all_seeds_are_one_row(results):
    [(row, combined)] = quality.combine_rows(results).items()
    assert row == ("generated", "walk", "turns", "matching")
    first, second = results.values()
    assert combined["turns"] == len(first["answers"]) + len(second["answers"]) > 0
    assert combined["answer"] == np.median(first["answers"] + second["answers"])
    for name, measure in (
        ("height_live", "foot_skate_from_height"),
        ("held_live", "contacts_locked"),
    ):
        expected = np.mean([take["live"][measure] for take in (first, second)])
        assert combined[name] == pytest.approx(expected), name
    # some seconds do not say how one stands, and there is no field to compare
    assert combined["apart_live"] is combined["acceleration_to_matching"] is None


def test_a_pop_counts_as_so_many_in_ten_minutes(results):
    takes = [take | {"baked": take["baked"] | {"pops": 1}} for take in results.values()]
    assert quality.combine(takes)["pops_baked"] == pytest.approx(100.0)


def test_a_field_is_compared_with_matching_on_the_same_goals(results):
    job, matching = next(iter(results.items()))
    hard = matching["live"] | {"acceleration_p99": 1.5 * matching["live"]["acceleration_p99"]}
    field = job._replace(method="field")
    rows = quality.combine_rows({field: matching | {"live": hard}, job: matching})
    assert [row[3] for row in rows] == ["matching", "field"]
    assert rows[field.row]["acceleration_to_matching"] == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("key", "value", "excess", "ratio"),
    [
        ("pops_live", 2.0, 2.0, None),
        ("held_baked", 0.97, 0.02, 3.0),
        ("held_baked", 1.0, -0.01, 0.0),
        ("knees_live", 0.9, -0.1, 0.9),
        ("answer", 1.2, 0.2, 1.2),
        ("answer", None, None, None),
    ],
)
def test_figures_say_how_far_a_row_is_beyond_its_bound(key, value, excess, ratio):
    row = ("generated", "walk", "turns", "matching")
    figure = BY_KEY[key]
    assert figure.compute_excess(row, {key: value}) == pytest.approx(excess)
    assert figure.compute_ratio(row, {key: value}) == pytest.approx(ratio)
    still = ("generated", "walk", "random", "matching")
    if key == "answer":
        assert figure.compute_excess(still, {key: value}) is None


def test_the_page_has_each_row_in_each_table_and_marks_what_is_missed(results):
    rows = quality.combine_rows(results)
    [measures] = rows.values()
    for pops, text in ((0.0, "0.0"), (20.0, "**20.0**")):
        measures["pops_live"] = pops
        page = report.format_page(rows, 0.1, 2)
        lines = [line for line in page.splitlines() if line.startswith("| generated | walk")]
        assert len(lines) == 4
        assert lines[0].split(" | ")[4].strip() == text
        [summary] = (
            line for line in page.splitlines() if line.startswith("| pops in 10 minutes, live")
        )
        assert summary.split(" | ")[2].strip() == text
        assert summary.endswith(f"{int(pops == 0)} of 1 |")
    assert "C++ demo" in page
