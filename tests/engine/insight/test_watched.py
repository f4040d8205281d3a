"""A watched performance gives the same take, and the inspector agrees with its search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.insight.frames.frame_inspector import inspect_frame
from motion_matching.engine.insight.frames.watching import WatchedTake, watch
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance import scripts
from motion_matching.engine.takes import takes


@pytest.fixture(scope="module")
def watched(demo_database) -> WatchedTake:
    settings = takes.make_default_settings(demo_database)
    wanted = scripts.build_script(
        "flips", 8.0, demo_database.fps, settings.steering.walk, settings.steering.run
    )
    return watch(
        demo_database, settings, replace(wanted, changes=((200, {"velocity_halflife": 0.5}),))
    )


def test_watching_gives_the_same_take_as_performing(watched, demo_database):
    same = takes.perform(
        demo_database, takes.make_default_settings(demo_database), watched.take.performance
    )
    np.testing.assert_array_equal(watched.take.frames, same.frames)
    np.testing.assert_array_equal(watched.take.poses, same.poses)
    assert len(watched.goals) == watched.take.frame_count


def test_the_inspector_predicts_every_jump_a_tick_before(watched, demo_database):
    """A search enters the frame before the one that its tick shows."""
    method = MotionMatching(demo_database, takes.make_default_settings(demo_database))
    jumps = np.flatnonzero(watched.take.jumped)
    # an idle is entered without a search
    searched = [tick for tick in jumps.tolist() if not watched.get_goal_after(tick - 1)[0].stands]
    jumps = np.array(searched)[:6]
    assert len(jumps) >= 4
    for tick in jumps.tolist():
        goal, settings = watched.get_goal_after(tick - 1)
        found = inspect_frame(
            demo_database,
            settings,
            int(watched.take.frames[tick - 1]),
            goal.trajectory,
            tags=goal.tags,
            feet=goal.feet,
            method=method,
        )
        assert demo_database.successors[found.chosen] == watched.take.frames[tick]


def test_each_tick_has_its_own_settings(watched):
    halflives = [settings.steering.velocity_halflife for _, settings in watched.goals]
    assert halflives[199] != 0.5
    assert set(halflives[200:]) == {0.5}


def test_cropping_removes_the_lead_in_from_take_and_goals(watched):
    later = watched.crop(50)
    assert later.take.frames[0] == watched.take.frames[50]
    assert later.get_goal_after(0) is watched.goals[51]
    assert later.get_goal_after(later.take.frame_count - 1) is watched.goals[-1]
