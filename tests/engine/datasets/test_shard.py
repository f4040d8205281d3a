"""Takes that are unlike the frames they play are left out, and named with what is unlike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.datasets.shard import TakeMaker
from motion_matching.engine.takes import takes
from tests.demo import load_few


def test_a_take_that_is_unlike_its_frames_is_noted_with_measure_and_limit():
    database = load_few()
    maker = TakeMaker(database, takes.make_default_settings(database), (), 5.0, "live")
    shard = maker.make((1, 0, 1), 2)
    assert [made.told["seeds"] for made in shard.made] == [(1, 0, 1, 0, 0), (1, 0, 1, 1, 0)]
    assert shard.refused == []
    lifted = shard.made[0].take.poses.copy()
    lifted[:, 2, database.roles.hips] += 0.5
    bad = shard.made[0]._replace(take=replace(shard.made[0].take, poses=lifted))
    assert shard.refuse(bad, database)
    [noted] = shard.refused
    value, most = noted["unlike"]["joint_distance"]
    assert noted["seeds"] == (1, 0, 1, 0, 0)
    assert value == pytest.approx(0.5 * 22 / 23, abs=0.05)
    assert value > most
    stored = shard.store(database, {"kind": "takes"})
    assert stored.header["data_set"]["refused"][0]["seeds"] == [1, 0, 1, 0, 0]
    assert np.array_equal(stored.get_take(1)["frames"], shard.made[1].take.frames)
