"""After a jump, a body soon moves as the foot does that it stands on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.takes import takes


def perform(database: Database, **changes: Any) -> Take:
    """Return a run with sharp turns in which the motion alone leads the character."""
    leads = {"displacement": "synchronize", "synchronization": 0.0, "idle": False}
    settings = takes.make_default_settings(database).with_changes(leads | changes)
    performance = takes.prepare_performance(
        database, settings, "turns", gait="run", seconds=30.0, seed=2
    )
    return takes.perform(database, settings, performance)


def measure_slide(take: Take, database: Database) -> float:
    """Return the mean speed in m/s of standing toes, before they are locked, soon after jumps."""
    toes = np.array([leg.toe for leg in database.roles.legs])
    places = database.skeleton.compute_bone_positions(toes, take.unlocked_poses)[..., :2]
    speed = np.linalg.norm(np.diff(places, axis=0), axis=-1) * take.fps
    soon = np.zeros(take.frame_count - 1, bool)
    for tick in np.flatnonzero(take.jumped):
        soon[tick + round(0.1 * take.fps) : tick + round(0.2 * take.fps)] = True
    return float(speed[soon[:, None] & take.contacts[1:] & take.contacts[:-1]].mean())


@pytest.mark.slow
def test_standing_feet_slide_less_soon_after_jumps(demo_database):
    slides = [
        measure_slide(perform(demo_database, root_halflife=halflife), demo_database)
        for halflife in (0.0, 0.06)
    ]
    assert slides[1] < 0.9 * slides[0]


@pytest.mark.slow
def test_a_root_that_moves_at_once_is_left_as_it_is(demo_database):
    one, other = (
        perform(demo_database, root_halflife=halflife, blend_root=False) for halflife in (0.0, 0.06)
    )
    assert np.array_equal(one.poses, other.poses)
