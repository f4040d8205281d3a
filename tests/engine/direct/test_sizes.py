"""Shots of creatures of other sizes: the same takes, in their own units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.database.database import Database
from motion_matching.engine.direct.director import Director
from motion_matching.engine.direct.footage.footage import make_footage
from motion_matching.engine.direct.footage.jump_table import build_table
from motion_matching.engine.direct.shot.shot import Mark, Shot
from motion_matching.engine.direct.sketch import compute_way
from motion_matching.engine.ground.ground import Box
from motion_matching.engine.takes import takes
from tests.engine.sizes import make_sizes

BESIDE = Box((1.5, -3.0), (0.4, 0.4), 0.3, 0.8)
SHOT = Shot(
    6.0,
    marks=(Mark(4.0, (0.4, -3.2), 0.3, 0.5), Mark(5.2, (0.6, -3.2), part="left_hand", height=1.2)),
    obstacles=(BESIDE,),
)


@pytest.mark.slow
@pytest.mark.parametrize("size", [4.0, 0.25])
def test_creatures_of_any_size_are_directed_alike(walking: Database, size: float):
    people, other = make_sizes(walking, size)
    scale, footages = other.scale, (make_footage(people), make_footage(other))
    table = build_table(footages[0])
    usual = takes.make_default_settings(people)
    settings = usual, scale.to_world(usual)
    directors = [
        Director(footage, table, each) for footage, each in zip(footages, settings, strict=True)
    ]
    shots = SHOT, replace(scale.to_world(SHOT), floor=SHOT.floor)
    own, done = (each.make(shot) for each, shot in zip(directors, shots, strict=True))
    np.testing.assert_array_equal(done.take.frames, own.take.frames)
    small = scale.to_body(done.take)
    np.testing.assert_allclose(small.poses, own.take.poses, atol=1e-3)
    np.testing.assert_allclose(small.desired_velocity, own.take.desired_velocity, atol=1e-3)
    assert done.report["reached"] == own.report["reached"] > 0
    for one, its in zip(done.report["marks"], own.report["marks"], strict=True):
        assert scale.to_body(one["time"], "s") == pytest.approx(its["time"])
        assert scale.to_body(one["place_error"], "m") == pytest.approx(its["place_error"], abs=1e-3)
    assert done.take.performance.fps == other.fps
    again, anew = (
        each.direct_again(each_done, 1.0 * time, 3.0 * time)
        for each, each_done, time in zip(directors, (own, done), (1.0, scale.time), strict=True)
    )
    np.testing.assert_allclose(scale.to_body(anew.take).poses, again.take.poses, atol=1e-3)
    ways = [
        compute_way(each.sketch(shot), footage)
        for each, shot, footage in zip(directors, shots, footages, strict=True)
    ]
    np.testing.assert_allclose(ways[1].footfalls[:, :2] / size, ways[0].footfalls[:, :2], atol=1e-3)
