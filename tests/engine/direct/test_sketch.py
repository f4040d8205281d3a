"""Where a take would go, found while a mark is dragged: few states, and only around the mark."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.direct import sketch
from motion_matching.engine.direct.director import PREVIEW_STATES
from motion_matching.engine.direct.shot.shot import Mark, Shot

SHOT = Shot(10.0, marks=(Mark(3.0, (0.6, -2.6), 0.3), Mark(7.0, (2.5, -5.5), 0.9)))
LONG = Shot(
    60.0,
    marks=tuple(
        Mark(5.0 * k, (2.0 * np.sin(1.2 * k), -4.5 * k), float(0.4 * np.cos(1.2 * k)))
        for k in range(1, 12)
    ),
)


class Cancelled(Exception):  # noqa: N818
    """Ends the work."""


def move(shot, index, aside):
    x, y = shot.marks[index].position
    moved = replace(shot.marks[index], position=(x + aside, y))
    return replace(shot, marks=(*shot.marks[:index], moved, *shot.marks[index + 1 :]))


@pytest.fixture(scope="module")
def long(director):
    return director.sketch(LONG)


def test_a_sketch_is_the_way_of_a_preview(director):
    found = sketch.compute_way(director.sketch(SHOT), director.footage)
    take = director.direct(SHOT, PREVIEW_STATES).take
    np.testing.assert_array_equal(found.places, take.simulation)
    assert found.met == (True, True)
    assert np.allclose(found.marks, [mark.position for mark in SHOT.marks])
    assert np.abs(found.at - found.marks).max() < 0.01


def test_footfalls_lie_beside_the_way_of_each_leg(director, walking):
    way = sketch.compute_way(director.sketch(SHOT), director.footage)
    assert set(way.footfalls[:, 3]) == {0.0, 1.0}
    apart = np.linalg.norm(way.footfalls[:, None, :2] - way.places[:, :2], axis=-1).min(axis=1)
    assert apart.max() < 0.5
    assert 8 <= len(way.footfalls) <= 60


def test_a_mark_out_of_reach_is_not_met(director):
    far = move(SHOT, 0, 40.0)
    way = sketch.compute_way(director.sketch(far), director.footage)
    assert way.met == (False, True)


def test_only_what_is_around_a_dragged_mark_is_searched_again(director, long):
    again = director.sketch(move(LONG, 4, 0.4), long)
    start, stop = again.span
    assert 10.0 < start < 25.0 < stop < 40.0
    fps = director.footage.fps
    before, after = round((start - 0.5) * fps), round((stop + 1.5) * fps)
    old, new = long.closed.places, again.closed.places
    np.testing.assert_array_equal(old[:before], new[:before])
    np.testing.assert_array_equal(old[after:], new[after:])
    way = sketch.compute_way(again, director.footage)
    assert all(way.met)


@pytest.mark.slow
def test_a_mark_that_is_dragged_on_and_back_is_still_met(director, long):
    found = long
    for aside in (0.2, 0.5, 0.8, 0.4, 0.0):
        found = director.sketch(move(LONG, 4, aside), found)
    assert all(sketch.compute_way(found, director.footage).met)


def test_without_a_change_nothing_is_searched(director, long):
    asked = []
    again = director.sketch(LONG, long, progress=asked.append)
    assert not asked
    assert again.plan is long.plan


def test_what_changes_more_than_places_is_searched_as_a_whole(director, long):
    runs = replace(LONG, marks=(replace(LONG.marks[0], gait="run"), *LONG.marks[1:]))
    for other in (runs, replace(LONG, seed=3), replace(LONG, marks=LONG.marks[:-1])):
        assert sketch.find_changed_span(LONG, other) is None
    assert sketch.find_changed_span(SHOT, move(SHOT, 0, 0.1)) is None, "most of a short shot"


def test_a_sketch_can_be_cancelled_in_a_piece(director, long):
    def cancel(_share):
        raise Cancelled

    with pytest.raises(Cancelled):
        director.sketch(move(LONG, 4, 0.4), long, progress=cancel)
