"""Each goal of a mark in Blender: its properties reach the shot, and a change of one is noticed."""

from __future__ import annotations

import pytest

from motion_matching.app.marks import marks, outcomes, shots
from motion_matching.engine.direct.shot.mark import GOALS, Mark
from tests.ui.director.marked import FRAMES
from tests.ui.drawn import draw_panels

OTHERS = {"pose": '{"rotations": {"Hips": [1, 0, 0, 0]}}', "moment": "walk:12", "tags": "brave"}


def find_other(mark, name):
    """Return another value of a property than it has now."""
    described, value = mark.bl_rna.properties[name], getattr(mark, name)
    if name in OTHERS:
        return OTHERS[name]
    if described.type == "BOOLEAN":
        return not value
    if described.type == "ENUM":
        return next(each.identifier for each in described.enum_items if each.identifier != value)
    return value + 1 if described.type == "INT" else 0.5 * (value + described.soft_max)


@pytest.fixture
def hand(obj):
    """A mark for a hand, at which all goals count."""
    mark = marks.list_marks(obj)[1]
    asked = marks.mark_of(mark)
    asked.part, asked.use_height = "left_hand", True
    return mark


PAIRS = [(field, name) for field, goal in GOALS.items() for name in goal.properties]


def test_each_property_of_a_goal_is_noticed(hand):
    mark = marks.mark_of(hand)
    before = outcomes.describe_request(hand)
    known = {before}
    for field, name in PAIRS:
        value = getattr(mark, name)
        setattr(mark, name, find_other(mark, name))
        known.add(now := outcomes.describe_request(hand))
        assert now != before, (field, name)
        setattr(mark, name, value)
        assert outcomes.describe_request(hand) == before, name
    assert len(known) == len(PAIRS) + 1
    draw_panels()


def read_field(hand, field):
    """Return what a mark asks for, by its properties and by its empty."""
    placed = shots.place_mark(Mark(0.0), hand, FRAMES[1])
    return marks.read_values(hand)[field], getattr(placed, field)


@pytest.mark.parametrize("field", GOALS)
def test_each_goal_is_read_of_its_properties(hand, field):
    mark, before, said = marks.mark_of(hand), read_field(hand, field), marks.describe(hand)
    for name in GOALS[field].properties:
        setattr(mark, name, find_other(mark, name))
    assert read_field(hand, field) != before
    assert not GOALS[field].words or marks.describe(hand) != said
