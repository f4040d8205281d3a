"""Ranges of a shot that are slower or faster than the data, with all marks met on their ticks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.direct.shot import shot_file
from motion_matching.engine.direct.shot.shot import Mark, Shot, Tempo
from motion_matching.engine.errors import SettingsError
from tests.engine.sentences import check_sentence

SHOT = Shot(
    10.0,
    marks=(
        Mark(2.0, (0.3, -1.4), 0.3),
        Mark(6.0, (2.6, -4.4), 0.9),
        Mark(9.0, frame="walk_speeds:150"),
    ),
)
TEMPO = Tempo(2.5, 5.5, 0.9)


@pytest.fixture(scope="module")
def slower(director):
    return director.make(replace(SHOT, tempos=(TEMPO,)))


def measure_rates(done, start, stop):
    """Return how many frames of the data a tick shows on average, jumps aside."""
    take = done.take
    span = slice(round(start * take.fps), round(stop * take.fps))
    return float(np.diff(done.closed.plan_ticks)[span].mean())


def test_a_range_is_played_slower_and_the_rest_as_it_was(slower):
    assert measure_rates(slower, 3.0, 5.0) == pytest.approx(0.9, abs=0.03)
    assert measure_rates(slower, 0.0, 2.4) == pytest.approx(1.0, abs=0.03)
    assert slower.report["tempos"][0]["reached"]
    assert 0.85 <= slower.report["rate_min"] <= slower.report["rate_max"] <= 1.15


def test_marks_and_moments_are_met_beside_a_tempo(slower):
    assert [mark["reached"] for mark in slower.report["marks"]] == [True] * 3
    take = slower.take
    x, y, _ = take.character[round(6.0 * take.fps)]
    assert (x, y) == pytest.approx(SHOT.marks[1].position, abs=0.01)


def test_a_range_can_be_faster(director):
    done = director.direct(replace(SHOT, tempos=(replace(TEMPO, rate=1.1),)))
    assert measure_rates(done, 3.0, 5.0) == pytest.approx(1.1, abs=0.03)
    assert done.report["reached"] == 4


def test_a_piece_keeps_its_tempo_and_the_rest_to_the_bit(director, slower):
    again = director.direct_again(slower, 3.0, 7.0, slower.shot.with_seed(3))
    assert again.report["reached"] == 4
    before, after = round(2.8 * again.take.fps), round(8.2 * again.take.fps)
    for old, new in ((slower.take.poses, again.take.poses),):
        assert old[:before].tobytes() == new[:before].tobytes()
        assert old[after:].tobytes() == new[after:].tobytes()
    with pytest.raises(SettingsError) as error:
        director.direct_again(slower, 3.0, 7.0, SHOT)
    check_sentence(error, "slower or faster")


def test_tempos_are_read_as_they_were_written(slower):
    assert shot_file.from_json(shot_file.to_json(slower.shot), "here") == slower.shot
    text = shot_file.to_json(replace(SHOT, tempos=(replace(TEMPO, rate=0.5),)))
    with pytest.raises(SettingsError) as error:
        shot_file.from_json(text, "here")
    check_sentence(error, "'rate' of tempo 1")


@pytest.mark.parametrize(
    ("tempos", "words"),
    [
        ((TEMPO, Tempo(5.0, 8.0, 1.1)), ("5 s to 5.5 s", "overlap")),
        ((Tempo(8.0, 12.0, 1.1),), ("8 s to 12 s", "not within")),
    ],
)
def test_tempos_that_cannot_be_are_refused(director, tempos, words):
    with pytest.raises(SettingsError) as error:
        director.direct(replace(SHOT, tempos=tempos))
    check_sentence(error, *words)
