"""A solve that is ended early keeps the best take so far, and changes nothing before there is one."""

from __future__ import annotations

import bpy
import pytest

from motion_matching.app.database import library
from motion_matching.app.direct import flipping, solving
from motion_matching.app.marks import marks, outcomes
from motion_matching.app.runtime import runtime
from motion_matching.app.steps import EndedEarly
from motion_matching.engine.direct.footage import jump_table
from motion_matching.ui.director import drawing
from tests.ui.characters import create_character, read_state
from tests.ui.director.marked import add_marks

ops = bpy.ops.motion_matching


@pytest.fixture
def obj():
    obj = create_character()
    ops.add_actions()
    obj.motion_matching.director.use_range = True
    obj.motion_matching.director.frame_end = 600  # for the whole search to take its time
    add_marks()
    return obj


def end_early(steps, text):
    """End steps as soon as they tell a text, and return what they report."""
    while text not in next(steps)[0]:
        pass
    try:
        steps.throw(EndedEarly())
        while True:
            next(steps)
    except StopIteration as done:
        return done.value


@pytest.mark.slow
def test_the_best_so_far_is_baked_and_told(obj):
    told = end_early(solving.solve_steps(obj), "Directing, 3 of 3 Met So Far")
    assert "3 of 3 marks are met. Ended early, with the best result so far" in told
    [take] = obj.motion_matching.takes
    assert take.action == obj.animation_data.action
    assert [outcomes.get_outcome(mark) for mark in marks.list_marks(obj)] == ["met"] * 3

    # solved again, it is the take of the whole search
    assert ops.direct_again() == {"FINISHED"}
    assert ops.direct() == {"FINISHED"}
    assert len(obj.motion_matching.takes) == 3


def test_the_way_of_the_best_so_far_is_drawn_until_the_end(obj):
    steps = solving.solve_steps(obj)
    while "3 of 3 Met So Far" not in next(steps)[0]:
        assert drawing.find_shown() is None or runtime.best_way is not None
    way, size = drawing.find_shown()
    assert way.met == (True, True, True)
    assert len(way.places) > 100
    assert size == pytest.approx(1.0, abs=0.2)
    assert [width for _, width, _ in drawing.build_lines(way, size)]
    steps.close()
    assert drawing.find_shown() is None


@pytest.mark.slow
def test_the_variations_so_far_are_baked_and_told(obj):
    told = end_early(solving.solve_variations_steps(obj, 6), "Directing, 1 of 6 Found")
    assert "Ended early, with the best result so far" in told
    found = flipping.list_directed(obj)
    assert 1 <= len(found) < 6


@pytest.mark.slow
def test_before_there_is_a_take_nothing_is_changed(obj):
    ops.build()
    jump_table.get_table_path(library.get_library().get_path(obj.motion_matching.built_key)).unlink(
        missing_ok=True
    )
    before = read_state()
    for text in ("Finding Jumps", "Directing"):
        steps = solving.solve_steps(obj)
        with pytest.raises(EndedEarly):
            end_early(steps, text)
        assert read_state() == before
    assert not obj.motion_matching.takes
