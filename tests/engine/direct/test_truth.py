"""Outcomes are measured from the poses: what a body enters, how low it goes, how its feet stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.direct.conduct import describe_inside
from motion_matching.engine.direct.obstacles.body_clearance import BodyDepths
from motion_matching.engine.direct.obstacles.obstruction import Obstruction
from motion_matching.engine.direct.outcomes import report_shot
from motion_matching.engine.direct.shot.shot import Mark, Shot
from motion_matching.engine.direct.sketch import compute_way
from motion_matching.engine.ground.ground import Box

ROOM = (((-2, -2), (2, -2)), ((2, -2), (2, 2)), ((2, 2), (-2, 2)), ((-2, 2), (-2, -2)))
OUTSIDE = Shot(8.0, marks=(Mark(6.0, (0.0, -4.0)),), walls=ROOM)
AHEAD = Shot(6.0, marks=(Mark(2.5, (0.0, -2.5), 0.0), Mark(5.0, (0.0, -6.0), 0.0)))


@pytest.fixture(scope="module")
def ahead(director):
    return director.make(AHEAD)


def report(director, done, shot, obstacles=()):
    """Return what would be told of a take if other things had been asked for, among obstacles."""
    data = director.footage, director.table
    around = Obstruction.from_shot(replace(shot, obstacles=obstacles), 0.3) if obstacles else None
    return report_shot(done.take, shot, done.plan, done.closed, data, around)


@pytest.mark.slow
def test_a_mark_behind_closed_walls_is_missed_and_the_body_stays_inside(director):
    done = director.make(OUTSIDE)
    [told] = done.report["marks"]
    assert not told["reached"]
    assert told["reason"].startswith("A wall is in the way: the character is 2.")
    assert np.abs(done.take.poses[:, :2, 0]).max() < 1.75
    assert done.report["inside"]["frames"] == 0


def test_the_preview_tells_it_as_well(director):
    way = compute_way(director.sketch(OUTSIDE), director.footage)
    assert way.met == (False,)
    assert way.reasons[0].startswith("A wall is in the way")


def test_a_body_that_goes_through_a_box_is_told_with_depth_and_frames(director, ahead):
    told = report(director, ahead, AHEAD, [Box((0.0, -4.5), (1.0, 0.4))])
    assert [mark["reached"] for mark in told["marks"]] == [True, False]
    assert "inside an obstacle" in told["marks"][1]["reason"]
    assert told["inside"]["frames"] > 5
    assert told["inside"]["depth"] > 0.2
    assert f"{told['inside']['frames']} frames" in describe_inside(told)


def test_a_free_take_enters_nothing(director, ahead):
    told = report(director, ahead, AHEAD, [Box((3.0, -4.5), (1.0, 0.4))])
    assert told["reached"] == 2
    assert told["inside"]["frames"] == 0
    assert describe_inside(told) == ""


@pytest.mark.parametrize("height", [0.04, 0.4, 0.8, 1.2, 1.8])
def test_depths_are_those_of_joints_that_an_oracle_finds_inside(director, ahead, height):
    """A box is entered where one of the joints is in it, and nowhere far from all of them."""
    box, database = Box((0.0, -4.5), (1.0, 0.4), height=height), director.footage.database
    around = Obstruction.from_shot(Shot(1.0, obstacles=(box,)), 0.3)
    depths = BodyDepths(ahead.take, database, around).depths.max(axis=1)
    bones = [database.roles.hips, database.roles.head, *np.ravel(database.roles.leg_bones)]
    joints = ahead.take.skeleton.compute_bone_positions(bones, ahead.take.poses)
    away = np.abs(joints[..., :2] - box.center) - 0.5 * np.array(box.size)
    above = np.maximum(joints[..., 2] - height, 0.0)
    is_in = (away.max(axis=-1) < -0.02) & (joints[..., 2] < height - 0.02)
    gaps = np.hypot(np.linalg.norm(np.maximum(away, 0.0), axis=-1), above).min(axis=1)
    assert (depths[is_in.any(axis=1)] > 0.01).all()
    assert (depths[gaps > 0.4] < 0.0).all()


def test_a_trunk_may_pass_above_what_is_lower(director, ahead):
    low = Box((0.0, -4.5), (4.0, 0.4), height=0.5)
    database = director.footage.database
    around = Obstruction.from_shot(Shot(1.0, obstacles=(low,)), 0.3)
    depths = BodyDepths(ahead.take, database, around)
    trunk = [k for k, name in enumerate(depths._names) if name in ("trunk", "head")]
    assert depths.depths[:, trunk].max() < 0.0


def test_a_hold_in_which_a_foot_steps_is_missed(director, ahead):
    held = replace(AHEAD, marks=(replace(AHEAD.marks[0], hold=1.0), AHEAD.marks[1]))
    told = report(director, ahead, held)["marks"]
    assert not told[0]["reached"]
    assert "a foot goes" in told[0]["reason"].lower()
    assert told[1]["reached"]


def test_a_hold_in_which_both_feet_stand_is_reached(director):
    done = director.make(Shot(8.0, marks=(Mark(4.0, (0.0, -4.0), 0.0, 1.5),)))
    assert done.report["reached"] == 1
    toes = [leg.toe for leg in director.footage.database.roles.legs]
    span = slice(round(4.0 * done.take.fps), round(5.5 * done.take.fps) + 1)
    places = done.take.skeleton.compute_bone_positions(toes, done.take.poses[span])
    assert np.ptp(places[..., :2], axis=0).max() < 0.1


def test_walking_low_is_told_unless_it_is_asked_for(director, ahead):
    hips = director.footage.database.roles.hips
    poses = np.array(ahead.take.poses)
    poses[60:120, 2, hips] -= 0.4
    low = replace(ahead, take=replace(ahead.take, poses=poses))
    told = report(director, low, AHEAD)
    assert told["crouched"]["frames"] == 60
    assert not all(mark["reached"] for mark in told["marks"])
    assert any("hips are as low as" in mark["reason"] for mark in told["marks"])
    asked = replace(AHEAD, marks=(Mark(0.0, tags=("crouch",)), *AHEAD.marks))
    assert report(director, low, asked)["crouched"]["frames"] == 0
