"""The benchmark of the tick compares two ways to the same poses."""

from __future__ import annotations

import pytest

from building.benchmarks import bench_tick
from building.benchmarks.data import FEATURES
from building.benchmarks.naive_tick import NaiveTick
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.database.features.features import load_schema
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.takes import takes


@pytest.mark.slow
def test_the_loops_over_bones_follow_the_tick(demo_database):
    """With a new setting that they do not know, add its plain value to the benchmark's."""
    database = demo_database.with_schema(load_schema(FEATURES))
    settings = takes.make_default_settings(database)
    settings = settings.with_changes({"search_interval": 0.0, **bench_tick._PLAIN})
    performer = Performer(MotionMatching(database, settings), settings)
    script = takes.prepare_performance(
        database, settings, "random", gait="run", seconds=5.0, seed=1
    )
    loops = NaiveTick(database, settings, performer.reset((0.0, 0.0), 0.0).frame)
    bench_tick._verify(performer, loops, script.intents)
