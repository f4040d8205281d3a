"""Feature weights act at once while live, and a session continues when the list of features
changes.
"""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.live import host
from motion_matching.app.runtime import runtime
from motion_matching.engine.database.features.features import load_schema
from tests.demo import load_demo
from tests.live.hero import Hero


@pytest.mark.slow
def test_a_session_continues_when_features_change() -> None:
    ops = bpy.ops.motion_matching
    hero = Hero(seconds=120.0)
    obj = hero.obj
    features = obj.motion_matching.features
    live = hero.start()
    hero.run(40)

    # the listed default equals the features in use
    assert ops.apply_preset(kind="features", filepath="default") == {"FINISHED"}
    hero.run(20)
    assert live.plays_features, live.messages
    assert not live.messages, live.messages
    count = len(load_demo().schema.features)

    def measure_path_error(ticks):
        """Return the trajectory features' share of the cost of the played frames."""
        method = live.session.performer.method
        parts = [
            k for k, f in enumerate(load_demo().schema.features) if f.kind.startswith("trajectory")
        ]
        misses = []
        for _ in range(ticks):
            hero.run(1)
            index = live.session.performer.method._frame
            goal = live.session.performer._build_trajectory()
            costs = (
                method.compute_costs(goal, index)[index]
                / np.array(live.session.performer.settings.search.weights) ** 2
            )
            misses.append(costs[parts].sum())
        return float(np.mean(misses))

    # a weight acts without a build: first the path hardly counts, then it counts most
    for item in features.items:
        item.weight = 0.01 if item.kind.startswith("trajectory") else 1.0
    hero.run(20)
    assert live.session.performer.settings.search.weights[5] == 0.01
    deaf = measure_path_error(200)
    for item in features.items:
        item.weight = 5.0 if item.kind.startswith("trajectory") else 1.0
    hero.run(20)
    keen = measure_path_error(200)
    print("misses the path by", deaf, "and by", keen)
    assert keen < 0.5 * deaf
    features.responsiveness = 2.0
    hero.run(20)
    assert live.session.performer.settings.search.weights[5] == 10.0

    # the weights can be saved as a preset at once, and the session continues
    assert ops.save_preset(kind="features", name="Keen") == {"FINISHED"}
    assert features.preset == "keen"
    assert ops.save_preset(kind="controllers", name="Keen") == {"FINISHED"}
    hero.run(20)
    assert runtime.live is live
    assert live.plays_features
    assert ops.remove_preset(kind="controllers", name="keen") == {"FINISHED"}

    # after a feature is added, removed, moved or changed, the session keeps its features and says
    # so once; weights of the remaining ones still act
    live.toggle_recording()

    def check_session_continues(change, says):
        live.messages.clear()
        change()
        hero.run(30)
        assert runtime.live is live, live.ending
        assert live.session.is_recording, live.ending
        assert not live.ending, live.ending
        assert len(live.session.performer.settings.search.weights) == count
        assert [
            line for line in live.messages if "Features" in line and "keeps its own" in line
        ] == live.messages, live.messages
        assert len(live.messages) == says, live.messages

    check_session_continues(lambda: ops.add_feature(kind="bone_position", bone="head"), 1)
    check_session_continues(lambda: ops.add_feature(kind="trajectory_velocity", times="-0.5"), 0)
    assert not live.plays_features
    features.items[0].weight = 0.7
    hero.run(20)
    assert abs(live.session.performer.settings.search.weights[0] - 0.7) < 1e-6
    check_session_continues(lambda: ops.apply_preset(kind="features", filepath="default"), 0)
    assert live.plays_features

    def remove_feature():
        features.index = 2
        ops.remove_feature()

    check_session_continues(remove_feature, 1)
    check_session_continues(lambda: ops.apply_preset(kind="features", filepath="default"), 0)
    check_session_continues(lambda: ops.move_feature(direction="DOWN"), 0)
    check_session_continues(lambda: ops.apply_preset(kind="features", filepath="nucl_ai"), 1)
    check_session_continues(lambda: features.items.clear(), 0)
    assert live.plays_features

    def add_duplicate():
        ops.add_feature(kind="bone_position", bone="left_foot")

    check_session_continues(add_duplicate, 1)
    check_session_continues(lambda: setattr(features, "normalization", "dimension"), 0)
    check_session_continues(lambda: setattr(features, "difference", "absolute"), 0)
    host.end()
    assert len(obj.motion_matching.takes) == 1


def test_features_of_jumps_follow_the_blending_that_is_set() -> None:
    database = load_demo().with_schema(load_schema("spring"))
    hero = Hero(seconds=30.0, database=database)
    bpy.ops.motion_matching.apply_preset(kind="features", filepath="spring")
    controller = hero.obj.motion_matching.controller
    live = hero.start()
    hero.run(20)
    method = live.session.performer.method
    assert method.features.values is database.features
    before = np.array(database.features)
    controller.inertialization_halflife = 0.2
    hero.run(20)
    values = method.features.values
    assert (np.abs(values[:6]).mean(axis=1) > 1.5 * np.abs(before[:6]).mean(axis=1)).all()
    np.testing.assert_array_equal(values[6:], before[6:])
    assert live.plays_features
    assert not live.messages
    # back at the first time, they are what they were but for rounding
    controller.inertialization_halflife = 0.1
    hero.run(20)
    np.testing.assert_allclose(method.features.values, before, rtol=1e-5, atol=1e-6)
    host.end()
