"""Marks along the way of a take: at stops, at sharp turns, and now and then between them."""

from __future__ import annotations

import numpy as np

from motion_matching.app.marks.tracing import trace

FPS = 30.0


def make_track(*pieces):
    """Return a track (T, 3) of pieces of seconds, speed and direction; it faces where it goes."""
    rows = [(0.0, 0.0, pieces[0][2])]
    for seconds, speed, way in pieces:
        for _ in range(round(seconds * FPS)):
            x, y, _ = rows[-1]
            step = speed / FPS
            rows.append((x + step * np.sin(way), y - step * np.cos(way), way))
    return np.array(rows)


def get_seconds(track):
    return [round(mark.tick / FPS, 2) for mark in trace(track, FPS)]


def test_a_straight_way_has_marks_at_its_ends_and_every_two_seconds():
    assert get_seconds(make_track((6.0, 1.2, 0.0))) == [0.0, 2.0, 4.0, 6.0]
    assert get_seconds(make_track((1.0, 1.2, 0.0))) == [0.0, 1.0]


def test_stops_are_held_where_they_begin():
    traced = trace(make_track((1.0, 0.0, 0.0), (3.0, 1.2, 0.0), (2.0, 0.0, 0.0)), FPS)
    assert traced[0].tick == 0
    assert abs(traced[0].hold - 1.0) < 0.3
    last = traced[-1]
    assert abs(last.tick / FPS - 4.0) < 0.3
    assert abs(last.tick / FPS + last.hold - 6.0) < 0.05
    assert all(mark.hold == 0.0 for mark in traced[1:-1])
    # a pause that is shorter than a stop is none
    traced = trace(make_track((3.0, 1.2, 0.0), (0.3, 0.0, 0.0), (3.0, 1.2, 0.0)), FPS)
    assert all(mark.hold == 0.0 for mark in traced)


def test_sharp_turns_have_marks_and_wide_ones_none_of_their_own():
    seconds = get_seconds(make_track((2.9, 1.2, 0.0), (3.1, 1.2, 1.5)))
    assert any(abs(each - 2.9) < 0.1 for each in seconds), seconds
    ways = [(0.1, 1.2, 0.05 * k) for k in range(60)]
    assert get_seconds(make_track(*ways)) == [0.0, 2.0, 4.0, 6.0]


def test_a_character_that_only_stands_is_one_mark():
    [mark] = trace(make_track((5.0, 0.0, 0.3)), FPS)
    assert mark.tick == 0
    assert abs(mark.hold - 5.0) < 0.05
