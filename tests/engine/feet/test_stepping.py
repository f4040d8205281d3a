"""Feet of a character that stands step to where they should be, one at a time."""

from __future__ import annotations

import math

import pytest

from motion_matching.engine.feet.live.stepping import Stepping

DT = 1.0 / 60.0
LEFT, RIGHT = (0.1, 0.0, 0.02), (-0.1, 0.0, 0.02)


def stand(steps, plants, seconds):
    """Stand with toes LEFT and RIGHT; return where each was (T, 2), as feet follow their steps."""
    plants, places = list(plants), []
    for _ in range(round(seconds / DT)):
        held = [None if k == steps.foot else plant for k, plant in enumerate(plants)]
        steps.stand((LEFT, RIGHT), held, DT)
        before = steps.foot
        moved = [steps.place(k, toe, DT) for k, toe in enumerate((LEFT, RIGHT))]
        if before >= 0:
            plants[before] = moved[before]
        places.append((*plants, before))
    return places


def test_a_foot_that_stands_elsewhere_steps_to_its_place_by_the_other():
    places = stand(Stepping(2), (LEFT, (-0.1, 0.1, 0.02)), 2.0)
    left, right, _ = places[-1]
    assert right == pytest.approx(RIGHT, abs=5e-3)
    assert left == LEFT
    feet = [foot for *_, foot in places]
    assert 0.3 / DT < sum(foot == 1 for foot in feet) < 0.4 / DT
    assert max(place[1][2] for place in places) > 0.04


def test_a_step_starts_and_ends_softly():
    path = [place[1] for place in stand(Stepping(2), (LEFT, (-0.1, 0.12, 0.02)), 1.0)]
    speeds = [math.dist(a, b) / DT for a, b in zip(path[1:], path, strict=False)]
    assert max(abs(a - b) for a, b in zip(speeds[1:], speeds, strict=False)) < 12.0 * DT


def test_both_feet_stay_where_only_the_body_is_off():
    """It comes to be above them."""
    steps = Stepping(2)
    places = stand(steps, ((0.1, 0.05, 0.02), (-0.1, 0.05, 0.02)), 1.0)
    assert {foot for *_, foot in places} == {-1}
    assert steps.offset == pytest.approx((0.0, 0.05))


def test_never_two_feet_at_once():
    wide = stand(Stepping(2), ((0.25, 0.1, 0.02), (-0.2, -0.15, 0.02)), 3.0)
    assert {foot for *_, foot in wide} == {-1, 0, 1}
    left, right, _ = wide[-1]
    assert math.dist(left[:2], right[:2]) == pytest.approx(0.2, abs=0.02)


def test_small_differences_are_no_reason_to_step_later_on():
    steps = Stepping(2)
    stand(steps, (LEFT, RIGHT), 3.0)
    places = stand(steps, (LEFT, (-0.1, 0.05, 0.02)), 1.0)
    assert {foot for *_, foot in places} == {-1}


def test_a_foot_in_the_air_comes_down_in_its_place_by_the_one_that_stands():
    steps = Stepping(2)
    for _ in range(60):
        steps.stand((LEFT, RIGHT), ((0.1, 0.05, 0.02), None), DT)
        x, y, _ = steps.place(1, RIGHT, DT)
    assert (x, y) == pytest.approx((-0.1, 0.05), abs=2e-3)


def test_it_leaves_the_feet_to_the_motion_once_that_moves():
    steps = Stepping(2)
    stand(steps, (LEFT, (-0.1, 0.1, 0.02)), 0.1)
    for _ in range(120):
        steps.move()
        places = [steps.place(k, toe, DT) for k, toe in enumerate((LEFT, RIGHT))]
    assert not steps.is_active
    assert places == [pytest.approx(LEFT), pytest.approx(RIGHT)]
