"""Takes of several recordings: joined without a seam, also when they are performed differently."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.control import rollout
from motion_matching.engine.control.performer import Performer
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance import scripts
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.performance.start_state import build_start_state
from motion_matching.engine.takes.baking import bake_feet
from motion_matching.engine.takes.joining import continue_from, splice
from tests.engine.performance.test_start_state import (
    compute_joints,
    measure_accelerations,
    measure_largest_acceleration,
)


def perform_parts(database, settings, performances, tick, redo=False, lead_back=0.0):
    """Return the base and the take with the second performance over it from a tick on."""
    performer = Performer(MotionMatching(database, settings), settings)
    base = rollout.solve(performer, performances[0])
    over = performances[1]
    if redo:
        over = continue_from(base, tick, over)
    return base, splice(base, tick, rollout.solve(performer, over), database, lead_back), over


def record(database, settings, tick, seed):
    """Return two performances, the second of which goes on from the first before a tick."""
    walk, run = settings.steering.walk, settings.steering.run
    first = scripts.build_script("random", 14.0, database.fps, walk, run, seed=seed)
    performer = Performer(MotionMatching(database, settings), settings)
    base = rollout.solve(performer, first)
    poses = base.poses[tick - 2 : tick + 1]
    (x, y, yaw), start = build_start_state(base.skeleton.names, poses, base.fps)
    intents = scripts.build_script("random", 6.0, database.fps, walk, run, seed=seed + 9).intents
    return first, Performance("over", base.fps, intents[30:130], (x, y), yaw, start=start)


@pytest.mark.slow
@pytest.mark.parametrize("lead_back", [0.0, 2.5])
@pytest.mark.parametrize("changes", [{}, {"velocity_halflife": 0.5, "turn_limit": 3.0}])
def test_parts_join_without_a_seam_with_any_settings(demo_database, settings, changes, lead_back):
    limit, tick = measure_largest_acceleration(demo_database), 120
    other = settings.with_changes(changes)
    for seed in range(3):
        parts = record(demo_database, settings, tick, seed)
        base, take, over = perform_parts(demo_database, other, parts, tick, True, lead_back)
        assert (over is parts[1]) == (not changes)
        assert take.frame_count == base.frame_count
        end = tick + len(over.intents)
        baked = bake_feet(take, demo_database)
        for poses in (take.poses, baked.poses):
            joints = compute_joints(poses, base.skeleton)
            seams = np.concatenate([joints[tick - 5 : tick + 15], joints[end - 5 : end + 60]])
            for part in (seams[:20], seams[20:]):
                assert measure_accelerations(part, base.fps).max() < limit, seed
        np.testing.assert_allclose(take.character[:, :2], take.poses[:, :2, 0], atol=1e-4)
        apart = [np.linalg.norm(t.simulation - t.character, axis=1)[-1] for t in (take, base)]
        assert apart[0] == pytest.approx(apart[1], abs=0.02) or lead_back
        if lead_back:
            assert np.allclose(take.character[-1, :2], base.character[-1, :2], atol=1e-3)
