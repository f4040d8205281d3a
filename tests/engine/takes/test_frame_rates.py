"""The same motion at another frame rate is performed as well."""

from __future__ import annotations

from functools import cache

import pytest

from motion_matching.engine.database.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.sources import Source
from motion_matching.engine.locomotion import locomotion
from motion_matching.engine.takes import baking, metrics, takes

RATES = (24.0, 60.0, 120.0)
SECONDS = 30.0


@cache
def build_at(fps: float) -> Database:
    """Build the demo clips, which follow splines, at another rate."""
    sources = [Source(clip=clip) for clip in locomotion.generate()]
    return build(sources, BuildSettings(mirror=True, fps=fps))[0]


@cache
def bake_at(fps: float, script: str) -> dict[str, float]:
    """Run a script, bake the feet, and measure them."""
    database = build_at(fps)
    settings = takes.make_default_settings(database)
    performance = takes.prepare_performance(
        database, settings, script, gait="run", seconds=SECONDS, seed=0
    )
    take = takes.perform(database, settings, performance)
    floors = metrics.measure_toe_floors(takes.make_source_bodies(database)[0])
    most = metrics.measure_frames(takes.find_played_frames(take, database))["acceleration_max"]
    return baking.measure_live(baking.bake_feet(take, database), database, floors, most)


@pytest.mark.parametrize("script", ["random", "turns"])
@pytest.mark.parametrize("fps", RATES)
def test_a_bake_holds_as_many_contacts_at_any_rate(fps, script):
    usual, other = bake_at(30.0, script), bake_at(fps, script)
    assert other["contacts_locked"] > usual["contacts_locked"] - 0.015
    assert other["foot_skate_from_contacts"] < usual["foot_skate_from_contacts"] + 0.003  # m/s
    assert other["pops"] == 0
