"""The same motion at another frame rate is performed as well."""

from __future__ import annotations

from functools import cache

import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import baking, metrics, takes
from tests.demo import generate_clips
from tests.run_files import pickle_once

RATES = (24.0, 60.0, 120.0)
SECONDS = 20.0


@cache
def build_at(fps: float) -> Database:
    """Build the demo clips, which follow splines, at another rate."""
    sources = [Source(clip=clip) for clip in generate_clips()]
    return build(sources, BuildSettings(mirror=True, fps=fps))[0]


@cache
def measure_at(fps: float, script: str) -> tuple[dict[str, float], dict[str, float]]:
    """Run a script, and measure the take and its bake: once in a run."""
    return pickle_once(f"measured_at_{fps:g}_{script}", lambda: perform_at(fps, script))


def perform_at(fps: float, script: str) -> tuple[dict[str, float], dict[str, float]]:
    database = build_at(fps)
    settings = takes.make_default_settings(database)
    performance = takes.prepare_performance(
        database, settings, script, gait="run", seconds=SECONDS, seed=0
    )
    take = takes.perform(database, settings, performance)
    floors = metrics.measure_toe_floors(takes.make_source_bodies(database)[0])
    most = metrics.measure_frames(takes.find_played_frames(take, database))["acceleration_max"]
    baked = baking.bake_feet(take, database)
    measures = [baking.measure_live(each, database, floors, most) for each in (take, baked)]
    return measures[0], measures[1]


@pytest.mark.slow
@pytest.mark.parametrize("script", ["random", "turns"])
@pytest.mark.parametrize("fps", RATES)
def test_a_bake_holds_as_many_contacts_at_any_rate(fps, script):
    usual, other = measure_at(30.0, script)[1], measure_at(fps, script)[1]
    assert other["contacts_locked"] > usual["contacts_locked"] - 0.015
    assert other["foot_skate_from_contacts"] < usual["foot_skate_from_contacts"] + 0.003  # m/s
    assert other["pops"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("script", ["random", "turns"])
@pytest.mark.parametrize("fps", RATES)
def test_a_live_take_pops_at_no_rate(fps, script):
    """A heel that leaves the floor bends its knee: over few ticks, but not within one."""
    assert measure_at(fps, script)[0]["pops"] == 0
