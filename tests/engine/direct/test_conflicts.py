"""Marks that cannot both be met lose one of them, and what is missing in the data is named."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.direct.director import Director
from motion_matching.engine.direct.footage.footage import make_footage
from motion_matching.engine.direct.footage.jump_table import build_table
from motion_matching.engine.direct.search.side_steps import is_short_of_side_steps
from motion_matching.engine.direct.shot.shot import Mark, Shot, TimedPath
from motion_matching.engine.sources.sources import Source
from tests.demo import generate_clips


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "turn"), [(0.3, np.pi), (0.5, -2.6)])
def test_of_two_marks_in_conflict_one_is_met(director, seconds, turn):
    first, last = Mark(4.0, (0.0, -4.0), 0.0), Mark(8.0, (0.0, -7.0))
    shot = Shot(9.0, marks=(first, Mark(4.0 + seconds, (0.0, -4.2), turn), last))
    told = director.direct(shot).report["marks"]
    assert sum(mark["reached"] for mark in told[:2]) == 1, told
    assert told[2]["reached"]


def make_circle(radius, speed, aside):
    """Return a timed path round a circle, facing so far (in radians) from where it leads."""
    times = np.arange(0.0, 8.01, 0.1)
    angles = times * speed / radius
    places = radius * np.column_stack([np.sin(angles), np.cos(angles) - 1.0])
    yaws = np.pi / 2.0 - angles + aside
    points = tuple((float(x), float(y)) for x, y in places)
    return TimedPath(tuple(times.tolist()), points, tuple(yaws.tolist()))


@pytest.fixture(scope="module")
def forward():
    """A director of clips that only walk ahead."""
    clips = [clip for clip in generate_clips() if clip.name in ("walk_speeds", "walk_curves")]
    footage = make_footage(build([Source(clip=clip) for clip in clips], BuildSettings())[0])
    return Director(footage, build_table(footage))


@pytest.mark.slow
@pytest.mark.parametrize("aside", [np.pi / 2.0, -np.pi / 2.0])
def test_a_circle_that_is_strafed_says_that_side_steps_are_missing(forward, aside):
    path = make_circle(1.5, 0.8, aside)
    shot = Shot(8.0, facing=path.yaws[0], paths=(path,))
    [told] = forward.direct(shot, 80).report["paths"]
    assert not told["reached"]
    assert "side steps" in told["reason"]
    assert "add clips of them" in told["reason"]


@pytest.mark.slow
def test_a_circle_that_is_walked_ahead_needs_no_side_steps(forward):
    assert not is_short_of_side_steps(make_circle(1.5, 0.8, 0.0), forward.footage)


def test_data_with_side_steps_is_not_short_of_them(director):
    assert not is_short_of_side_steps(make_circle(1.5, 0.6, np.pi / 2.0), director.footage)
