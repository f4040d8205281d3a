"""Variations: takes of one shot that differ, and that can be made again from their seeds."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from motion_matching.engine.direct.director import PREVIEW_STATES
from motion_matching.engine.direct.shot.shot import Mark, Shot
from motion_matching.engine.direct.variations import find_variations, measure_difference
from motion_matching.engine.errors import SettingsError
from tests.engine.sentences import check_sentence

SHOT = Shot(8.0, marks=(Mark(3.5, (0.6, -2.5), 0.4), Mark(7.0, (2.6, -4.4), 1.0)), seed=4)


@pytest.fixture(scope="module")
def varied(director):
    return list(find_variations(director, SHOT, 3, states=PREVIEW_STATES))


def test_variations_differ_and_meet_the_same_marks(director, varied):
    assert len(varied) == 3
    for a, b in combinations(varied, 2):
        frames, apart = measure_difference(a.take, b.take, director.footage.database)
        assert frames >= 0.5 or apart >= 0.25
    assert [each.report["reached"] for each in varied] == [2, 2, 2]


def test_each_variation_is_made_again_from_its_seed(director, varied):
    seeds = [each.shot.seed for each in varied]
    assert seeds[0] == 4
    assert seeds == sorted(set(seeds))
    assert [each.report["variation"]["seed"] for each in varied] == seeds
    again = director.make(SHOT.with_seed(seeds[-1]), states=PREVIEW_STATES)
    assert again.take.poses.tobytes() == varied[-1].take.poses.tobytes()


def test_a_take_does_not_differ_from_itself(director, varied):
    take = varied[0].take
    assert measure_difference(take, take, director.footage.database) == (0.0, 0.0)
    moved = replace(take, character=take.character + np.array([0.3, 0.4, 0.0]))
    assert measure_difference(take, moved, director.footage.database) == (0.0, pytest.approx(0.5))


def test_the_progress_of_variations_grows_to_one(director):
    shares: list[float] = []
    short = replace(SHOT, seconds=2.0, marks=())
    list(find_variations(director, short, 2, None, 8, shares.append))
    assert shares[-1] > 0.9
    assert all(0.0 < share <= 1.0 for share in shares)


@pytest.mark.parametrize("count", [0, 21])
def test_a_number_of_variations_that_cannot_be_is_refused(director, count):
    with pytest.raises(SettingsError) as error:
        list(find_variations(director, SHOT, count))
    check_sentence(error, str(count), "from 1 to 20")
