"""The study of transitions compares takes and jumps as it says."""

from __future__ import annotations

import numpy as np
import pytest

from building.studies import quality, transitions, transitions_report
from building.studies.transitions import TABLES, TransitionJob
from motion_matching.engine.control.trajectory import TrajectoryPoint
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import load_schema
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance.settings import PerformerSettings


@pytest.fixture(scope="module")
def loaded(demo_database: Database) -> quality.Loaded:
    return quality.measure_sources(demo_database)


def test_every_table_has_the_shipped_settings_and_others_that_differ():
    for name in ("feet locked", "price", "features"):
        shipped, *others = TABLES[name].values()
        assert shipped == transitions.Variant()
        assert shipped not in others
    for variants in TABLES.values():
        assert len(set(variants.values())) == len(variants)
        for variant in variants.values():
            PerformerSettings().with_changes(dict(variant.changes))
            load_schema(variant.features)
    jobs = transitions.list_jobs(("generated",), list(TABLES), 2)
    assert len(set(jobs)) == len(jobs) == 2 * 2 * 43


def test_the_page_has_a_row_for_each_take_and_the_ratio_of_what_leads(loaded: quality.Loaded):
    variants = TABLES["leads"]
    jobs = [TransitionJob("generated", "run", variant, 0) for variant in variants.values()]
    results = {
        job: transitions.measure(loaded, transitions.perform(loaded, job, 8.0)) for job in jobs
    }
    page = transitions_report.format_page(results, {}, 8.0 / 60.0, 1)
    lines = [line for line in page.splitlines() if line.startswith("| generated")]
    assert len(lines) == len(variants)
    slides = [m["slide"] for m in results.values()]
    for first, line in zip((0, 2), lines[::2], strict=True):
        assert line.rstrip(" |").endswith(f"{slides[first] / slides[first + 1]:.2f}")


def test_jumps_are_those_that_were_made_and_bones_cost_as_in_a_search(loaded: quality.Loaded):
    database = loaded.database
    take = transitions.perform(
        loaded, TransitionJob("generated", "walk", transitions.Variant(), 1), 15.0
    )
    jumps = transitions.list_jumps(take, database)
    assert 5 < len(jumps) <= take.jumped.sum()
    assert (np.abs(np.diff(jumps, axis=1)) > 5).all()
    sources, targets = jumps.T
    method = MotionMatching(database, loaded.settings)
    bones = [f.kind.startswith(("bone_", "foot_")) for f in database.schema.features]
    costs = transitions.compare_bones(database, loaded.settings, sources, targets)
    trajectory = [TrajectoryPoint(0.0, 0.0, 0.0, 0.0, 0.0)] * len(method.trajectory_times)
    for (source, target), cost in zip(jumps[:4].tolist(), costs, strict=False):
        expected = method.compute_costs(trajectory, source)[target, bones].sum()
        assert cost == pytest.approx(expected, rel=1e-4)
    feet, body = transitions.price_jumps(database, loaded.settings, sources, targets)
    assert (feet > 0.0).all()
    # nothing else fades in these, so they cost no more than where jumps overlap, on average
    paid = np.nanmean(take.prices)
    assert 0.4 * paid < body.mean() < 1.6 * paid
