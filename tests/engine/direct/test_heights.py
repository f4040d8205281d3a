"""Directed takes on uneven ground: heights along the way, feet planted on it, and pieces."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.direct.limbs.limbs import find_limbs
from motion_matching.engine.direct.obstacles.heights import can_walk, compute_heights
from motion_matching.engine.direct.shot.shot import Mark, Shot
from motion_matching.engine.direct.variations import find_variations
from motion_matching.engine.ground.ground import FLAT, Walls
from motion_matching.engine.takes import baking

SHOT = Shot(6.0, marks=(Mark(5.0, (0.0, -5.0), 0.0),))
DEPTH, RISE = 0.3, 0.15


class Stairs:
    """Seven steps up along -Y, from 1.5 m on."""

    def height(self, x, y):
        return RISE * min(max(math.floor((-y - 1.5) / DEPTH) + 1, 0), 7)

    def slide(self, start, stop, radius):
        return stop


class Slope:
    """A slope of one in six along -Y."""

    def height(self, x, y):
        return max(-y - 1.0, 0.0) / 6.0

    def slide(self, start, stop, radius):
        return stop


@pytest.fixture(scope="module")
def level(director):
    return director.make(SHOT)


@pytest.fixture(scope="module", params=[Stairs, Slope])
def climbed(director, request):
    return director.make(Shot(SHOT.seconds, marks=SHOT.marks, floor=request.param()))


def _measure_toes(done, database):
    """Return how far toes (T, L) are above the floor, and which stand."""
    toes = baking.compute_toe_positions(done.take.poses, database)
    floor = done.shot.floor
    below = [[floor.height(x, y) for x, y in row] for row in toes[..., :2].tolist()]
    return toes[..., 2] - below, done.take.locked


def test_a_level_floor_changes_nothing_to_the_bit(director, level):
    again = director.make(Shot(SHOT.seconds, marks=SHOT.marks, floor=Walls(())))
    assert np.array_equal(again.take.poses, level.take.poses)
    assert not level.take.poses[:, 2, 0].any()


def test_the_way_is_that_of_level_ground(climbed, level):
    assert np.array_equal(climbed.take.character, level.take.character)
    assert climbed.report["reached"] == 1


def test_planted_toes_stand_on_the_ground_as_on_level_ground(climbed, level, walking):
    above, locked = _measure_toes(climbed, walking)
    before, stood = _measure_toes(level, walking)
    assert locked.mean() > 0.8 * stood.mean()
    assert abs(np.median(above[locked]) - np.median(before[stood])) < 0.005
    assert np.percentile(np.abs(above[locked] - np.median(above[locked])), 95) < 0.03


def test_the_body_climbs_as_high_as_the_ground_and_smoothly(climbed):
    height, fps = climbed.take.poses[:, 2, 0], climbed.take.fps
    x, y = climbed.take.character[-1, :2]
    assert height[-1] == pytest.approx(climbed.shot.floor.height(x, y), abs=0.01)
    assert np.abs(np.diff(height, 2)).max() * fps**2 < 5.0


@pytest.mark.slow
def test_a_piece_on_uneven_ground_leaves_the_rest_and_has_no_step_at_its_seams(director, climbed):
    again = director.direct_again(climbed, 2.0, 4.0, Shot(6.0, marks=SHOT.marks, seed=3))
    take, before = again.take, climbed.take
    first, last = round(1.8 * take.fps), round(5.0 * take.fps)
    assert take.poses[:first].tobytes() == before.poses[:first].tobytes()
    assert take.poses[last:].tobytes() == before.poses[last:].tobytes()
    assert not np.array_equal(take.poses, before.poses)
    assert np.abs(np.diff(take.poses[:, 2, 0])).max() < 0.05
    made = director.make(again.shot)
    assert np.array_equal(made.take.poses, take.poses)


@pytest.mark.slow
def test_a_hand_is_pinned_on_a_slope_as_on_level_ground(director, walking):
    hand, slope = find_limbs(walking.skeleton)["left_hand"].end, Slope()
    stand = Shot(7.0, marks=(Mark(4.5, (0.0, -4.0), 0.0, hold=2.5),))
    take = director.make(stand).take
    tick = round(6.0 * take.fps)
    x, y, z = walking.skeleton.compute_bone_positions([hand], take.poses[[tick]])[0, 0]
    rise = slope.height(*take.character[tick, :2])
    for floor, height in ((FLAT, z + 0.1), (slope, z + 0.1 + rise)):
        pin = Mark.from_pin("left_hand", 5.5, 6.5, (x, y - 0.1, height))
        shot = replace(stand, marks=(*stand.marks, pin), floor=floor)
        _, told = director.make(shot).report["marks"]
        assert told["reached"]
        assert told["place_error"] < 0.01


@pytest.mark.slow
def test_variations_on_a_slope_stand_on_it(director, level, walking):
    shot = Shot(SHOT.seconds, marks=SHOT.marks, floor=Slope())
    first, second = find_variations(director, shot, 2)
    assert not np.array_equal(first.take.frames, second.take.frames)
    before, stood = _measure_toes(level, walking)
    for done in (first, second):
        above, locked = _measure_toes(done, walking)
        assert done.report["reached"] == 1
        assert abs(np.median(above[locked]) - np.median(before[stood])) < 0.005


def test_heights_ease_before_and_after_a_step():
    points = np.column_stack([np.zeros(200), -np.linspace(0.0, 1.9, 200)])
    heights = compute_heights(Stairs(), points, 9.0)
    assert heights[0] == 0.0
    assert np.all(np.diff(heights) >= -1e-12)
    assert np.abs(np.diff(heights)).max() < RISE / 9.0


def test_only_lines_of_low_steps_can_be_walked():
    class Table(Stairs):
        def height(self, x, y):
            return 0.75 * (y < -2.0)

    assert can_walk(Stairs(), (0.0, 0.0), (0.0, -4.0))
    assert can_walk(FLAT, (0.0, 0.0), (3.0, -4.0))
    assert not can_walk(Table(), (0.0, 0.0), (0.0, -4.0))
