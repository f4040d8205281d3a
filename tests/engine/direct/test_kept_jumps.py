"""Jumps that have to be, and jumps that are forbidden for a while."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.database.frame_names import find_frame
from motion_matching.engine.direct.shot import shot_file
from motion_matching.engine.direct.shot.shot import ForbiddenJump, KeptJump, Mark, Shot
from motion_matching.engine.errors import SettingsError
from tests.engine.sentences import check_sentence

SHOT = Shot(
    12.0,
    marks=(
        Mark(3.0, (0.8, -2.2), 0.6),
        Mark(6.0, (2.6, -3.8), 1.2),
        Mark(9.0, (5.0, -4.6), 1.2),
    ),
)


@pytest.fixture(scope="module")
def done(director):
    return director.make(SHOT)


@pytest.fixture(scope="module")
def jump(done):
    """A jump in the middle of the take, as the report has it."""
    return next(each for each in done.report["jumps"] if 2.0 < each["second"] < 9.0)


@pytest.fixture(scope="module")
def kept(jump):
    return KeptJump(jump["from"], jump["to"], jump["second"])


def list_jumps(report):
    return [(each["from"], each["to"]) for each in report["jumps"]]


def find_times(report, kept):
    listed = report["jumps"]
    assert all(each["runner_up"]["to"] != each["to"] for each in listed)
    return [j["second"] for j in listed if (j["from"], j["to"]) == (kept.source, kept.target)]


@pytest.mark.slow
def test_a_kept_jump_stays_with_another_seed(director, kept):
    shot = replace(SHOT, kept=(kept,))
    for seed in (5, 6):
        report = director.direct(shot.with_seed(seed)).report
        assert find_times(report, kept) == [pytest.approx(kept.time, abs=0.05)]
        assert report["reached"] == report["asked"] == 4
        assert report["kept"][0]["reached"]


@pytest.mark.slow
def test_a_kept_jump_stays_in_a_range_that_is_directed_anew(director, done, kept):
    start, stop = max(kept.time - 2.5, 0.0), kept.time + 2.5
    other = next(each for each in done.report["jumps"] if kept.time < each["second"] < stop)
    forbidden = ForbiddenJump(kept.source, kept.target), ForbiddenJump(other["from"], other["to"])
    shot = replace(SHOT, kept=(kept,), forbidden=forbidden)  # what is kept counts more
    again = director.direct_again(done, start, stop, shot)
    assert find_times(again.report, kept) == [pytest.approx(kept.time, abs=0.05)]
    assert list_jumps(again.report) != list_jumps(done.report)
    made = director.make(shot_file.from_json(shot_file.to_json(again.shot), "here"))
    assert made.take.poses.tobytes() == again.take.poses.tobytes()


@pytest.mark.slow
def test_a_jump_forbidden_for_a_while_may_be_made_later(director, done, kept, walking):
    there = ForbiddenJump(kept.source, kept.target, kept.time - 0.5, kept.time + 0.5)
    frames, fps = done.plan.frames, done.take.fps
    left, to = (find_frame(walking, frame) for frame in (kept.source, kept.target))

    def find_ticks(plan):
        at = np.flatnonzero(plan.jumps)
        near = np.abs(plan.frames[at - 1] - left) <= 0.25 * fps
        near &= np.abs(plan.frames[at] - to) <= 0.25 * fps
        return at[near]

    assert len(find_ticks(done.plan))
    other = director.direct(replace(SHOT, forbidden=(there,))).plan
    assert not np.any(np.abs(find_ticks(other) / fps - kept.time) < 0.4)
    elsewhere = replace(there, start=11.0, stop=12.0)
    same = director.direct(replace(SHOT, forbidden=(elsewhere,))).plan
    assert np.array_equal(same.frames[: round(8.0 * fps)], frames[: round(8.0 * fps)])


def test_a_moment_is_shown_on_time_in_a_range_that_is_directed_anew(director, done):
    moment = Mark(7.5, frame="walk_speeds:150")
    again = director.direct_again(done, 3.0, 11.0, replace(SHOT, marks=(*SHOT.marks, moment)))
    told = again.report["marks"][-1]
    assert told["reached"], told


def test_keeping_and_forbidding_are_read_as_they_were_written(kept):
    forbidden = ForbiddenJump(kept.source, kept.target, 1.0, 2.5), ForbiddenJump("a:1", "b:2")
    shot = replace(SHOT, kept=(kept,), forbidden=forbidden)
    assert shot_file.from_json(shot_file.to_json(shot), "here") == shot


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (KeptJump("walk_speeds:10", "walk_speeds:99999", 2.0), ("walk_speeds", "99999")),
        (KeptJump("walk_speeds:10", "walk_speeds:50", 20.0), ("20 s", "outside of the shot")),
    ],
)
def test_a_jump_that_cannot_be_kept_is_refused(director, wrong, words):
    with pytest.raises(SettingsError) as error:
        director.direct(replace(SHOT, kept=(wrong,)))
    check_sentence(error, *words)
