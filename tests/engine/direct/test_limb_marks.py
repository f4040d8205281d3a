"""Marks that put the hips, a hand or a foot somewhere: the search and closing lead the part there."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.direct.director import Director
from motion_matching.engine.direct.footage.footage import make_footage
from motion_matching.engine.direct.footage.jump_table import build_table
from motion_matching.engine.direct.limbs.body_parts import find_bone
from motion_matching.engine.direct.limbs.limb_marks import reach_marks
from motion_matching.engine.direct.numbers import NUMBERS
from motion_matching.engine.direct.shot import shot_file
from motion_matching.engine.direct.shot.mark import Mark, Pose
from motion_matching.engine.direct.shot.shot import Shot
from motion_matching.engine.direct.sketch import compute_way
from motion_matching.engine.direct.variations import find_variations
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.ground.ground import Box
from motion_matching.engine.maths import planar
from motion_matching.engine.takes import baking, metrics, takes
from tests.engine.sentences import check_sentence

PARTS = ("hips", "left_hand", "right_hand", "left_foot", "right_foot")
RAILING = Mark(4.0, (0.4, -3.2), 0.3, part="left_hand", height=1.0)


def find_part(done, mark, database):
    """Return where (T, 3) the part of a mark is in a take."""
    bone = find_bone(database, mark.part)
    return done.take.skeleton.compute_bone_positions([bone], done.take.poses)[:, 0]


def measure(done, mark, database):
    """Return how far a part is from its mark then, with the height if that is asked for."""
    place = find_part(done, mark, database)[round(mark.time * done.take.fps)]
    wanted = np.array([*mark.position, place[2] if mark.height is None else mark.height])
    return float(np.linalg.norm(place - wanted))


def draw_shot(seed, part):
    """Return a shot with two marks for a part, a few steps apart."""
    rng, place, yaw, marks = np.random.default_rng(seed), np.zeros(2), 0.0, []
    for time in (4.0, 8.0):
        yaw += rng.uniform(-0.8, 0.8)
        place = place + rng.uniform(2.5, 5.0) * planar.yaw_to_forward(np.array(yaw))
        facing = yaw + rng.uniform(-0.3, 0.3) if rng.random() < 0.5 else None
        x, y = place.tolist()
        marks.append(Mark(time, (x, y), facing, part=part))
    return Shot(10.0, marks=tuple(marks))


def check_seeded(director, part, seeds, least):
    """Check that a share of seeded marks is reached, to 1 cm and with small corrections."""
    database, reached, asked = director.footage.database, 0, 0
    for seed in range(seeds):
        shot = draw_shot(seed, part)
        done = director.make(shot)
        for mark, told in zip(shot.marks, done.report["marks"], strict=True):
            assert not told["reached"] or measure(done, mark, database) <= 0.01
            asked, reached = asked + 1, reached + told["reached"]
        assert done.report["lead_max"] <= NUMBERS.largest_lead + 1e-4
        assert done.report["turn_max"] <= NUMBERS.largest_turn + 1e-4
    assert reached >= least * asked, (part, reached, asked)


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_seeded_marks_are_reached_to_the_centimetre(director, part):
    check_seeded(director, part, 4, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["hips", "left_hand", "right_foot"])  # clips are mirrored
def test_seeded_marks_are_reached_with_motion_capture(bandai_director, part):
    check_seeded(bandai_director, part, 8, 0.85)


@pytest.fixture(scope="module")
def railing(director):
    return director.make(Shot(8.0, marks=(RAILING,)))


def test_a_hand_is_at_a_railing_as_high_as_asked(railing, walking):
    [told] = railing.report["marks"]
    assert told["reached"], told
    assert told["place_error"] < 0.01
    assert told["facing_error"] < 0.035
    assert measure(railing, RAILING, walking) < 0.01


def test_the_character_itself_is_led_so_that_the_hand_is_there(director, walking):
    """Before the limb is bent, it is there already; a character on the mark is an arm away."""
    free = replace(RAILING, height=None)
    done = director.direct(Shot(8.0, marks=(free,)))
    assert measure(done, free, walking) < 0.005
    place = done.take.character[round(4.0 * done.take.fps), :2]
    assert 0.1 < np.linalg.norm(place - RAILING.position) < 0.8


def test_the_arm_moves_as_calmly_as_without_the_mark(railing, director, walking):
    tick, fps = round(4.0 * railing.take.fps), railing.take.fps
    hand = find_part(railing, RAILING, walking)
    steps = np.linalg.norm(np.diff(hand[tick - round(fps) : tick + round(fps)], axis=0), axis=1)
    assert steps.max() * fps < 3.0
    played = metrics.measure_frames(takes.find_played_frames(railing.take, walking))
    sources, _ = takes.make_source_bodies(walking)
    floors = metrics.measure_toe_floors(sources)
    baked = baking.measure_live(railing.take, walking, floors, played["acceleration_max"])
    assert baked["pops"] == 0


@pytest.mark.parametrize("height", [None, 0.25])
def test_a_foot_is_at_its_mark_with_both_feet_planted(director, walking, height):
    mark = Mark(4.0, (0.3, -4.0), part="right_foot", height=height)
    done = director.make(Shot(8.0, marks=(mark,)))
    assert done.report["reached"] == 1
    assert measure(done, mark, walking) < 0.01
    toes = baking.compute_toe_positions(done.take.poses, walking)[..., :2]
    steps = np.linalg.norm(np.diff(toes, axis=0), axis=-1) * done.take.fps
    stands = done.take.locked[1:] & done.take.locked[:-1]
    assert np.percentile(steps[stands], 99) < 0.05


def test_a_hand_stays_while_its_mark_is_held(director, walking):
    mark = replace(RAILING, hold=1.0)
    done = director.make(Shot(8.0, marks=(mark,)))
    assert done.report["reached"] == 1
    first, last = (round(time * done.take.fps) for time in (4.0, 5.0))
    away = find_part(done, mark, walking)[first : last + 1] - [*mark.position, mark.height]
    assert np.linalg.norm(away, axis=1).max() < 0.01


def test_hips_come_down_to_a_height_with_the_feet_on_the_ground(director, walking):
    mark = Mark(4.0, (0.4, -3.2), 0.3, 1.0, part="hips", height=0.8)
    done = director.make(Shot(8.0, marks=(mark,)))
    [told] = done.report["marks"]
    assert told["reached"], told
    assert measure(done, mark, walking) < 0.02
    toes = baking.compute_toe_positions(done.take.poses, walking)[..., 2]
    assert toes[round(4.2 * done.take.fps)].max() < 0.06


def test_both_hands_are_at_their_marks_at_once(director, walking):
    left = Mark(4.0, (0.35, -3.1), 0.0, 1.0, part="left_hand", height=1.1)
    right = replace(left, position=(-0.2, -3.1), part="right_hand")
    done = director.make(Shot(8.0, marks=(left, right)))
    assert done.report["reached"] == 2, done.report["marks"]
    assert max(measure(done, mark, walking) for mark in (left, right)) < 0.01


def test_a_hand_bends_to_its_mark_where_the_character_has_a_mark_of_its_own(director, walking):
    place = Mark(4.0, (0.0, -3.2), 0.0, 2.0)
    hand = Mark(5.0, (0.3, -3.5), part="left_hand", height=1.1)
    done = director.make(Shot(8.0, marks=(place, hand)))
    assert done.report["reached"] == 2
    x, y, _ = done.take.character[round(4.0 * done.take.fps)]
    assert math.dist((x, y), place.position) < 0.01


@pytest.mark.slow
def test_a_mark_far_away_is_missed_in_a_sentence_and_the_rest_is_met(director):
    far = Mark(2.0, (9.0, -9.0), part="left_hand")
    done = director.make(Shot(8.0, marks=(far, Mark(6.0, (0.0, -6.0)))))
    missed, met = done.report["marks"]
    assert met["reached"]
    assert not missed["reached"]
    assert missed["reason"].startswith("The left hand misses its mark by ")
    assert "no motion goes" in missed["reason"]
    assert missed["reason"].endswith(".")


@pytest.mark.slow
def test_a_height_beyond_reach_is_told(director):
    done = director.make(Shot(8.0, marks=(replace(RAILING, height=2.4),)))
    [told] = done.report["marks"]
    assert not told["reached"]
    assert "beyond its reach" in told["reason"]
    assert "another height" in told["reason"]


@pytest.mark.slow
def test_another_piece_and_other_seeds_keep_the_mark(director, railing, walking):
    shot = railing.shot
    again = director.direct_again(railing, 2.0, 6.0, shot.with_seed(4))
    assert again.report["reached"] == 1
    assert measure(again, RAILING, walking) < 0.01
    before = round(2.0 * again.take.fps)
    assert again.take.poses[:before].tobytes() == railing.take.poses[:before].tobytes()
    for done in find_variations(director, shot, 2, states=120):
        assert measure(done, RAILING, walking) < 0.01


def test_a_preview_tells_that_the_mark_is_met(director):
    way = compute_way(director.sketch(Shot(8.0, marks=(RAILING,))), director.footage)
    assert way.met == (True,)
    assert math.dist(way.at[0], RAILING.position) < 0.1


@pytest.mark.slow
def test_a_hand_may_be_on_an_obstacle(director):
    box = Box((0.4, -3.9), (1.0, 1.0))
    mark = Mark(5.0, (0.3, -3.45), 0.0, 1.0, part="left_hand", height=1.1)
    done = director.make(Shot(8.0, marks=(mark,), obstacles=(box,)))
    assert done.report["reached"] == 1, done.report["marks"]


@pytest.mark.slow
def test_a_larger_character_does_the_same_in_its_own_size(giant):
    size, footage = 4.0, make_footage(giant)
    x, y = RAILING.position
    mark = replace(RAILING, time=8.0, position=(size * x, size * y), height=size * RAILING.height)
    done = Director(footage, build_table(footage)).make(Shot(16.0, marks=(mark,)))
    assert done.report["reached"] == 1
    assert measure(done, mark, giant) < 0.01


class Deck:
    """A floor that is a metre high everywhere."""

    def height(self, x, y):
        return 1.0

    def slide(self, start, stop, radius):
        return stop


@pytest.mark.parametrize(
    "mark",
    [replace(RAILING, height=2.0), Mark(4.0, (0.4, -3.2), 0.3, 1.0, part="hips", height=1.8)],
)
def test_heights_are_those_in_the_world(director, walking, mark):
    done = director.make(Shot(8.0, marks=(mark,), floor=Deck()))
    assert done.report["reached"] == 1, done.report["marks"]
    assert measure(done, mark, walking) < 0.02


def test_a_limb_that_is_there_is_not_bent(railing, walking):
    again = reach_marks(railing.take, [RAILING], walking)
    assert np.abs(again.poses - railing.take.poses).max() < 1e-3


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        ((replace(RAILING, part="left_wing"),), ("left_wing", "this body has not", "left_hand")),
        ((replace(RAILING, part="character"),), ("has a height, but is for the character",)),
        ((replace(RAILING, position=None),), ("is for the left hand, but has no place",)),
        ((replace(RAILING, time=0.0),), ("0 s", "begins where its character is")),
        ((replace(RAILING, height=math.nan),), ("4 s", "is no number")),
        ((replace(RAILING, position=(math.inf, 0.0)),), ("4 s", "is no number")),
        ((RAILING, replace(RAILING, height=1.1)), ("contradict", "place")),
        ((RAILING, replace(RAILING, position=(0.0, -3.2))), ("contradict", "place")),
        (
            (replace(RAILING, part="hips", height=None), Mark(4.0, (0.4, -3.2))),
            ("contradict", "the hips are where the character is"),
        ),
        ((replace(RAILING, part="hips", pose=Pose(height=0.9)),), ("leave one of them out",)),
    ],
)
def test_marks_that_cannot_be_are_refused_in_a_sentence(director, marks, words):
    with pytest.raises(SettingsError) as error:
        director.direct(Shot(8.0, marks=marks))
    check_sentence(error, *words)


def test_they_are_written_with_three_numbers_and_read_again():
    shot = Shot(8.0, marks=(RAILING, Mark(6.0, (1.0, 2.0), part="hips")))
    text = shot_file.to_json(shot)
    first, second = json.loads(text)["marks"]
    assert first["position"] == [0.4, -3.2, 1.0]
    assert first["part"] == "left_hand"
    assert "height" not in first
    assert second["position"] == [1.0, 2.0]
    assert shot_file.from_json(text, "here") == replace(shot, name=shot.name)


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ({"position": [0, 0, 1]}, "three numbers"),
        ({"position": [0, 0, 1, 2], "part": "hips"}, "'position' of mark 1"),
        ({"position": [0, 0, math.nan], "part": "hips"}, "a number of 'position' of mark 1"),
        ({"position": [0, 0], "part": 3}, "'part' of mark 1"),
    ],
)
def test_files_with_such_marks_that_are_none_are_refused(mark, words):
    text = json.dumps({"seconds": 3, "marks": [{"time": 1, **mark}]})
    with pytest.raises(SettingsError, match=words):
        shot_file.from_json(text, "here")
