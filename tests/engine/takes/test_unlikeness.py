"""Takes that are unlike the frames they play are found, each by the measure that it is off by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.takes import baking, comparison, takes
from tests.demo import load_few


@pytest.fixture(scope="module")
def database() -> Database:
    return load_few()


@pytest.fixture(scope="module")
def take(database: Database) -> Take:
    settings = takes.make_default_settings(database)
    script = takes.prepare_performance(database, settings, "turns", gait="walk", seconds=8, seed=1)
    return baking.bake_feet(takes.perform(database, settings, script), database)


def find(take: Take, database: Database) -> set[str]:
    return {unlike.measure for unlike in comparison.find_unlike(take, database)}


def test_a_baked_take_is_like_the_frames_it_plays(take, database):
    assert find(take, database) == set()


def test_what_is_off_is_named(take, database):
    jerked = take.poses.copy()
    jerked[60, 2, 0] += 0.3
    assert "acceleration_max" in find(replace(take, poses=jerked), database)
    slid = take.poses.copy()
    slid[:, 0, 0] += np.linspace(0.0, 3.0, len(slid))
    assert "foot_slide_contacts" in find(replace(take, poses=slid), database)
    assert "slips_per_minute" in find(replace(take, poses=slid), database)
    bent = take.poses.copy()
    bent[:, 2, database.roles.hips] -= 0.3
    assert find(replace(take, poses=bent), database) == {"joint_distance"}
