"""A piece of a take is directed anew, and the rest stays as it is, to the bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.direct.shot import shot_file
from motion_matching.engine.direct.shot.shot import ForbiddenJump, Mark, Shot
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.takes import baking, metrics, takes
from tests.engine.sentences import check_sentence

SHOT = Shot(
    20.0,
    marks=(
        Mark(4.0, (1.0, -3.0), 0.6),
        Mark(8.0, (3.5, -5.0), 1.2),
        Mark(12.0, (7.0, -6.0), 1.0),
        Mark(16.0, (9.0, -9.0), 0.5),
    ),
)
START, STOP = 6.0, 13.0


@pytest.fixture(scope="module")
def done(director):
    return director.finish(director.direct(SHOT))


@pytest.fixture(scope="module")
def moved():
    marks = (SHOT.marks[0], Mark(9.0, (3.2, -5.6), 1.2), *SHOT.marks[2:])
    return replace(SHOT, marks=marks)


@pytest.fixture(scope="module")
def again(director, done, moved):
    return director.direct_again(done, START, STOP, moved)


@pytest.mark.slow
def test_outside_of_the_piece_nothing_changes_to_the_bit(done, again):
    check_rest_is_same(done, again, START)


def check_rest_is_same(done, again, start):
    fps = done.take.fps
    before, after = round(start * fps), round((STOP + 1.0) * fps)
    for name in ("poses", "unlocked_poses", "character", "frames", "jumped", "contacts"):
        old, new = (getattr(each.take, name) for each in (done, again))
        assert old[:before].tobytes() == new[:before].tobytes(), name
        assert old[after:].tobytes() == new[after:].tobytes(), name
    assert not np.array_equal(done.take.poses, again.take.poses)


@pytest.mark.parametrize("start", [6.0333, 6.0667])
def test_a_piece_may_start_on_any_frame(director, done, start):
    again = director.direct_again(done, start, STOP, SHOT.with_seed(5))
    check_rest_is_same(done, again, start)


def test_a_mark_that_was_moved_is_hit(again, moved):
    assert again.report["reached"] == 4
    take = again.take
    x, y, _ = take.character[round(9.0 * take.fps)]
    assert (x, y) == pytest.approx(moved.marks[1].position, abs=0.01)


def test_the_ends_of_the_piece_do_not_pop(again, walking):
    """As everywhere, no joint accelerates much more than in the frames played."""
    played = metrics.measure_frames(takes.find_played_frames(again.take, walking))
    take = again.take
    body = baking.make_body(take.poses, take.character, walking)
    around = np.concatenate([_find_around(time, take.fps) for time in (START, STOP, STOP + 0.5)])
    assert body.acceleration[around].max() <= 1.2 * played["acceleration_max"]


def _find_around(time: float, fps: float) -> np.ndarray:
    return round(time * fps) + np.arange(-round(0.6 * fps), round(0.6 * fps) + 1)


@pytest.mark.slow
def test_a_jump_of_the_piece_can_be_forbidden(director, done, walking):
    jumps = np.flatnonzero(done.plan.jumps)
    fps = done.take.fps
    inside = [j for j in jumps.tolist() if (START + 0.5) * fps < j < (STOP - 1.0) * fps]
    at, frames = inside[0], done.plan.frames
    names = []
    for frame in (frames[at - 1], frames[at]):
        source = walking.get_frame_source(int(frame))
        names.append(f"{source.clip}:{source.frame}{':mirrored' if source.mirrored else ''}")
    shot = replace(SHOT, forbidden=(ForbiddenJump(*names),))
    other = director.direct_again(done, START, STOP, shot)
    span = slice(round((START - 0.3) * fps), round((STOP + 1.0) * fps))
    leaves = np.abs(other.plan.frames[:-1] - frames[at - 1]) < 4
    enters = np.abs(other.plan.frames[1:] - frames[at]) < 4
    assert not (leaves & enters & other.plan.jumps[1:])[span].any()


@pytest.mark.slow
def test_the_first_piece_and_the_last_can_be_directed_anew(director, done):
    for start, stop in ((0.0, 5.0), (14.0, 20.0)):
        other = director.direct_again(done, start, stop, SHOT.with_seed(5))
        assert other.report["reached"] == 4
        assert other.take.frame_count == done.take.frame_count


@pytest.mark.parametrize(
    ("start", "stop", "words"),
    [(5.0, 5.2, "from 5 s to 5.2 s"), (15.0, 25.0, "from 15 s to 25 s"), (6.0, 4.0, "6 s to 4 s")],
)
def test_a_piece_that_cannot_be_is_refused(director, done, start, stop, words):
    with pytest.raises(SettingsError) as error:
        director.direct_again(done, start, stop)
    check_sentence(error, words)


def test_a_shot_of_another_length_is_refused(director, done):
    with pytest.raises(SettingsError) as error:
        director.direct_again(done, START, STOP, replace(SHOT, seconds=18.0))
    check_sentence(error, "18 s")


@pytest.mark.slow
def test_a_take_with_its_pieces_is_made_again_to_the_byte(director, again):
    assert len(again.shot.pieces) == 1
    read = shot_file.from_json(shot_file.to_json(again.shot), "here")
    assert read == again.shot
    made = director.make(read)
    assert made.take.poses.tobytes() == again.take.poses.tobytes()
    assert made.report == again.report
