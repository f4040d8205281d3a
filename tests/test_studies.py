"""Studies combine what they measure as they say, and their pages mark what misses a figure."""

from __future__ import annotations

import importlib
import pkgutil
import zlib

import numpy as np
import pytest

from building import benchmarks, studies
from building.studies import (
    bodies,
    peers,
    quality,
    report,
    retargeting,
    retargeting_report,
    sheets,
    stages,
    stages_command,
    stand_ins,
)
from building.studies.figures import BY_KEY
from building.studies.quality import Job
from tests.demo import generate_clips
from tests.engine import characters

PERFORMER = bodies.make_performer()


@pytest.mark.parametrize("package", [benchmarks, studies], ids=lambda each: each.__name__)
def test_what_measures_can_be_imported(package):
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


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
        assert len(lines) == 5
        assert lines[0].split(" | ")[4].strip() == text
        [summary] = (
            line for line in page.splitlines() if line.startswith("| pops in 10 minutes, live")
        )
        assert summary.split(" | ")[2].strip() == text
        assert summary.endswith(f"{int(pops == 0)} of 1 |")
    assert "C++ demo" in page


def test_retargeting_is_studied_without_help_and_measured_with_the_true_parts():
    walk = generate_clips()[3].crop(60, 240)
    source = retargeting.study_body(walk.skeleton, bodies.get_roles(PERFORMER))
    child = characters.make_child()
    measures = retargeting.measure(
        [walk], source, retargeting.study_body(child.skeleton, bodies.get_roles(child))
    )
    assert measures["found"] == 1.0
    assert abs(measures["hips"] - 1.0) < 0.02
    # the child has fewer bones in its spine, so that motion does not come back as it was
    assert measures["back_cm"] is None
    # a part is only right if all its bones were found
    spine = {"spine": ("spine",), "hips": ("hips",), "neck": ("chest", "neck")}
    other = characters.Character(child.skeleton, child.roles | spine)
    found = retargeting.study_body(child.skeleton, bodies.get_roles(other))
    assert other.roles.keys() - found.right == {"spine", "neck"}


def test_the_page_of_retargeting_marks_what_is_missed():
    walk = generate_clips()[3].crop(60, 240)
    body = retargeting.study_body(walk.skeleton, bodies.get_roles(PERFORMER))
    measures = retargeting.measure([walk], body, body)
    assert measures["back_cm"] < 0.01
    cell = retargeting.Cell("generated", "performer")
    for legs, text in ((2.9, "2.9"), (3.1, "**3.1**")):
        page = retargeting_report.format_page({cell: measures | {"legs": legs}})
        [row] = (line for line in page.splitlines() if line.startswith("| performer"))
        assert text in [part.strip() for part in row.split("|")]
        [summary] = (line for line in page.splitlines() if line.startswith("| legs, degrees"))
        assert summary.endswith(f"{int(legs < 3.0)} of 1 |")


@pytest.mark.slow
def test_kinds_of_skeletons_are_measured_against_the_motion_that_they_are_made_of():
    rows = {(row.kind, row.use): row for row in stand_ins.study_stand_ins()}
    assert {kind for kind, _ in rows} == set(stand_ins.STAND_INS)
    plain = rows["rest along X", "source"]
    assert not plain.refusal
    assert max(plain.figures.values()) < 2.0
    walk = generate_clips()[3].crop(60, 240)
    body = retargeting.study_body(walk.skeleton, bodies.get_roles(PERFORMER))
    cells = {retargeting.Cell("generated", "performer"): retargeting.measure([walk], body, body)}
    ours = {"Mixamo": (peers.Figures(0.86, 1.1, 0), 0.86)}
    wrong = plain._replace(figures=plain.figures | {"roll": 165.0})
    refused = plain._replace(figures={}, refusal="no legs")
    page = retargeting_report.format_page(cells, [plain, wrong, refused], ours)
    lines = [line for line in page.splitlines() if line.startswith("| rest along X")]
    assert ["**165.0**" in line for line in lines] == [False, True, False]
    assert "no legs" in lines[2]
    [peer] = (line for line in page.splitlines() if line.startswith("| Mixamo"))
    assert [cell.strip() for cell in peer.split("|")][2:5] == ["0.86", "0.86", "4.01"]


def test_a_contact_sheet_is_a_picture_of_all_its_figures(tmp_path):
    figure = np.zeros((3, 1, 2, 2))
    figure[:, 0, 1] = [0.5, 1.0]
    picture = sheets.draw([sheets.Figures(figure, ["left"])] * 2, (40, 60))
    assert picture.shape == (120, 120, 3)
    blue = np.all(picture == sheets.COLOURS["left"], axis=-1)
    assert (blue.reshape(2, 60, 3, 40).sum(axis=(1, 3)) > 20).all()
    sheets.write_png(tmp_path / "sheet.png", picture)
    written = (tmp_path / "sheet.png").read_bytes()
    length = int.from_bytes(written[33:37], "big")
    lines = np.frombuffer(zlib.decompress(written[41 : 41 + length]), np.uint8)
    assert np.array_equal(lines.reshape(120, 361)[:, 1:].reshape(picture.shape), picture)


@pytest.mark.slow
def test_feet_without_a_rule_show_what_it_is_for(demo_database):
    loaded = quality.measure_sources(demo_database)
    job = stages.Job("generated", "run", "turns", 0)
    told = stages.measure_ways(job, loaded, 6.0, ("Rest", "Pitch"))
    whole = told[""]
    assert told["Rest"]["slide"] > 2.0 * whole["slide"]
    page = stages_command.format_page({job: told}, 0.1)
    lines = [line.replace(" ", "") for line in page.splitlines()]
    slide = stages_command.FIGURES["slide"]
    changed = slide.factor * (told["Rest"]["slide"] - whole["slide"])
    assert any(line.startswith(f"|Rest|{changed:.2f}|") for line in lines)
