"""Hands that reach over tables, onto rails and to shelves, while the body stays beside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from building.studies.furnished import make_scene, measure_scene
from motion_matching.engine.direct.limbs.hands_clear import keep_hands_out
from motion_matching.engine.direct.limbs.limb_marks import reach_marks
from motion_matching.engine.direct.limbs.limbs import find_limbs
from motion_matching.engine.direct.obstacles.obstruction import Obstruction
from motion_matching.engine.direct.shot.shot import Mark, Shot
from motion_matching.engine.direct.sketch import compute_way
from motion_matching.engine.ground.ground import Box

TABLE = Box((0.0, -3.3), (1.2, 0.6), height=0.9)
STAND = Mark(4.0, (0.0, -3.0), 0.0, 2.0)
LEAVE = Mark(9.0, (-3.0, -1.0))


def make_table_shot(deep, part="left_hand", hold=1.0, facing=0.0):
    """Return a shot with a hand so many metres over the near edge of a table."""
    hand = Mark(4.0, (0.0, -3.0 - deep), facing, hold, part=part, height=0.93)
    return Shot(10.0, marks=(hand, LEAVE), obstacles=(TABLE,))


def measure_hand(done, mark):
    """Return how far a hand is from its mark at most while that is held."""
    first, last = (round(t * done.take.fps) for t in (mark.time, mark.time + mark.hold))
    bone = find_limbs(done.take.skeleton)[mark.part].end
    hand = done.take.skeleton.compute_bone_positions([bone], done.take.poses[first : last + 1])
    return float(np.linalg.norm(hand[:, 0] - [*mark.position, mark.height], axis=1).max())


def reach(director, goal, part="left_hand"):
    """Return a take that stands and has a hand at a place (3,), and the outcome of that."""
    hand = Mark(4.5, (goal[0], goal[1]), hold=1.0, part=part, height=goal[2])
    done = director.make(Shot(8.0, marks=(STAND, hand)), states=80)
    return done, hand, done.report["marks"][1]


@pytest.mark.slow
@pytest.mark.parametrize("deep", [0.05, 0.2])
@pytest.mark.parametrize("facing", [0.0, None])
def test_the_body_stays_before_a_table_and_the_hand_reaches_over_it(director, deep, facing):
    shot = make_table_shot(deep, facing=facing)
    done = director.make(shot)
    assert done.report["reached"] == 2, done.report["marks"]
    assert measure_hand(done, shot.marks[0]) < 0.01
    take, roles = done.take, director.footage.database.roles
    bones = [roles.hips, *(leg.toe for leg in roles.legs)]
    joints = take.skeleton.compute_bone_positions(bones, take.poses)
    away = np.maximum(np.abs(joints[..., :2] - TABLE.center) - 0.5 * np.array(TABLE.size), 0.0)
    nearest = np.linalg.norm(away, axis=-1).min(axis=0)
    assert nearest[0] >= 0.29
    assert nearest[1:].min() > 0.1
    assert joints[:, 0, 2].min() > 0.85
    assert done.report["inside"]["frames"] == 0


def test_the_preview_stays_before_the_table_as_well(director):
    way = compute_way(director.sketch(make_table_shot(0.1)), director.footage)
    assert way.met == (True, True)
    away = np.maximum(np.abs(way.places[:, :2] - TABLE.center) - 0.5 * np.array(TABLE.size), 0.0)
    assert np.linalg.norm(away, axis=1).min() >= 0.29


@pytest.mark.slow
def test_what_is_too_far_over_a_table_is_told_with_how_much(director):
    wide = TABLE._replace(center=(0.0, -4.5), size=(3.0, 3.0))
    hand = Mark(4.0, (0.0, -3.8), 0.0, 1.0, part="left_hand", height=0.93)
    done = director.make(Shot(9.0, marks=(hand,), obstacles=(wide,)), states=80)
    [told] = done.report["marks"]
    assert told["reason"].startswith("An obstacle is in the way: the left hand is 0.")
    assert done.report["inside"]["frames"] == 0
    assert told["place_error"] == pytest.approx(measure_hand(done, hand), abs=1e-3)


@pytest.mark.parametrize(
    "goal",
    [(0.2, -3.6, 0.93), (0.1, -3.9, 0.9), (0.6, -3.4, 1.0), (0.25, -3.35, 0.5), (0.2, -3.3, 1.75)],
)
@pytest.mark.parametrize("mirrored", [False, True])
def test_what_the_arm_does_not_reach_is_reached_by_the_trunk(director, goal, mirrored):
    x, y, z = goal
    done, hand, told = reach(
        director, (-x, y, z) if mirrored else goal, "right_hand" if mirrored else "left_hand"
    )
    assert told["reached"], told
    assert measure_hand(done, hand) < 0.01


@pytest.mark.slow
def test_feet_stay_where_they_are_while_the_body_leans(director):
    done, _, _ = reach(director, (0.1, -3.9, 0.9))
    before = director.direct(done.shot, 80)
    planted = director._plant(before.take, done.shot)
    legs = [bone for leg in director.footage.database.roles.leg_bones for bone in leg[2:]]
    a, b = (t.skeleton.compute_bone_positions(legs, t.poses) for t in (planted, done.take))
    assert np.abs(a - b).max() < 0.005


def test_a_lean_comes_and_goes_within_a_second_and_calmly(director):
    before = director.direct(Shot(8.0, marks=(STAND,)), 80)
    planted = director._plant(before.take, before.shot)
    hand = Mark(4.5, (0.1, -3.9), hold=1.0, part="left_hand", height=0.9)
    leant = reach_marks(planted, [hand], director.footage.database)
    fps, change = planted.fps, np.abs(leant.poses - planted.poses).max(axis=(1, 2))
    changed = np.flatnonzero(change > 1e-6) / fps
    assert 3.5 <= changed[0] <= 4.3
    assert 5.7 <= changed[-1] <= 6.5
    trunk = [director.footage.database.roles.hips, director.footage.database.roles.spine]
    joints = leant.skeleton.compute_bone_positions(trunk, leant.poses)
    speeds = np.diff(joints, axis=0) * fps
    assert np.linalg.norm(speeds, axis=-1)[round(3.5 * fps) : round(6.5 * fps)].max() < 2.0
    hard = np.linalg.norm(np.diff(speeds, axis=0) * fps, axis=-1)
    assert hard[round(3.5 * fps) : round(6.5 * fps)].max() < 30.0


def test_hips_go_back_when_the_trunk_goes_forward(director):
    before = director.direct(Shot(8.0, marks=(STAND,)), 80)
    planted = director._plant(before.take, before.shot)
    hand = Mark(4.5, (0.1, -3.9), hold=1.0, part="left_hand", height=0.9)
    leant = reach_marks(planted, [hand], director.footage.database)
    tick, roles = round(5.0 * planted.fps), director.footage.database.roles
    a, b = (
        t.skeleton.compute_bone_positions([roles.hips, roles.head], t.poses)[tick]
        for t in (planted, leant)
    )
    assert b[1, 1] < a[1, 1] - 0.2  # the head goes forward, along -Y
    assert a[0, 1] + 0.03 < b[0, 1] < a[0, 1] + 0.2


def test_both_hands_reach_at_once_though_the_character_has_a_mark_as_well(director):
    hands = [
        Mark(4.0, (x, -3.55), None, 1.0, part=part, height=0.95)
        for x, part in ((0.2, "left_hand"), (-0.2, "right_hand"))
    ]
    done = director.make(Shot(8.0, marks=(replace(STAND, hold=1.0), *hands)), states=80)
    assert done.report["reached"] == 3, done.report["marks"]
    assert max(measure_hand(done, hand) for hand in hands) < 0.01


@pytest.mark.slow
def test_a_mark_inside_an_obstacle_is_told_and_the_hand_stays_at_its_surface(director):
    shot = make_table_shot(0.1)
    low = replace(shot.marks[0], height=0.7)
    done = director.make(replace(shot, marks=(low, LEAVE)), states=80)
    told = done.report["marks"][0]
    assert not told["reached"]
    assert "inside an obstacle, which the left hand does not enter" in told["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
def test_nothing_is_entered_in_seeded_scenes(director, number):
    """One of each kind: a table, a rail, a door and a shelf."""
    scene = make_scene(number)
    done = director.make(scene.shot, states=80)
    measured = measure_scene(scene, done, director.footage.database)
    assert measured.inside == 0
    assert measured.hands_inside == 0
    assert measured.hand < 0.01
    assert measured.lowest > 0.75
    assert measured.hands_reached == measured.hands_asked, measured.reasons


def test_a_hand_just_beyond_a_rail_is_lifted_over_it_and_not_pulled_back(director, walking):
    """It passes a hand's breadth beyond a thin rail, a centimetre lower than that."""
    before = director.direct(Shot(8.0, marks=(STAND,)), 80)
    planted = director._plant(before.take, before.shot)
    mark = Mark(4.5, (0.2, -3.42), hold=1.0, part="left_hand", height=0.99)
    reached = reach_marks(planted, [mark], walking)
    rail = Shot(8.0, obstacles=(Box((0.0, -3.35), (3.0, 0.05), height=1.0),))
    free = replace(mark, part="right_hand")
    clear = keep_hands_out(reached, [free], Obstruction.from_shot(rail, 0.3))
    bone = find_limbs(reached.skeleton)["left_hand"].end
    held = slice(round(4.5 * reached.fps), round(5.5 * reached.fps) + 1)
    a, b = (t.skeleton.compute_bone_positions([bone], t.poses)[held, 0] for t in (reached, clear))
    assert np.abs(b - a)[:, :2].max() < 0.005
    assert (b[:, 2] > 0.999).all()
    assert (b - a)[:, 2].max() < 0.03


@pytest.mark.slow
def test_a_hand_that_is_left_because_the_body_goes_on_is_told_so(director):
    """The obstacle beside it is not the reason."""
    shot = make_table_shot(0.1, hold=3.0)
    gone = Mark(5.0, (-2.0, -2.0))
    done = director.make(replace(shot, marks=(shot.marks[0], gone)), states=80)
    told = done.report["marks"][0]
    assert not told["reached"]
    assert "an obstacle is in the way" not in told["reason"].lower(), told["reason"]
