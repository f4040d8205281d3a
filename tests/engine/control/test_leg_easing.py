"""Legs that a correction would make leap move evenly instead, and else stay as they were bent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from motion_matching.engine.control.knee_limit import compute_bends
from motion_matching.engine.control.leg_easing import ease_legs
from motion_matching.engine.database.database import measure_character_legs
from motion_matching.engine.maths import quat

FPS, MOST = 60.0, 30.0


def bend_at_once(database) -> tuple[np.ndarray, np.ndarray]:
    """Make still poses (120, 7, B), and the same with a knee that bends at once from frame 60 on."""
    still = np.array(database.poses[np.full(120, 100)], np.float64)
    bent, leg = still.copy(), measure_character_legs(database)[0]
    shin = leg.chain[leg.shin]
    turn = quat.from_angle_axis(np.full(60, -0.2), np.array(leg.hinge))
    bent[60:, 3:, shin] = quat.mul(still[60:, 3:, shin], turn)
    return still, bent


def measure_accelerations(poses: np.ndarray, database) -> np.ndarray:
    places = quat.compute_world(poses, database.skeleton.parents)[1]
    return np.linalg.norm(np.diff(places, n=2, axis=0), axis=-1).max(axis=1) * FPS**2


def measure_knee_rates(poses: np.ndarray, database) -> np.ndarray:
    places = quat.compute_world(poses, database.skeleton.parents)[1]
    leg = database.roles.legs[0]
    joints = (places[:, bone] for bone in (leg.thigh, leg.shin, leg.foot))
    return np.abs(np.diff(compute_bends(*joints))) * FPS


def test_a_leg_that_would_leap_moves_evenly(demo_database):
    still, bent = bend_at_once(demo_database)
    eased = bent.copy()
    legs = measure_character_legs(demo_database)
    ease_legs(eased, still, demo_database.skeleton, legs, FPS, MOST, np.zeros((120, 2), bool))
    assert measure_accelerations(bent, demo_database).max() > 3.0 * MOST
    assert measure_accelerations(eased, demo_database).max() <= MOST
    away = np.abs(np.arange(120) - 60) > 0.2 * FPS
    np.testing.assert_array_equal(eased[away], bent[away])


def test_a_knee_that_would_bend_faster_than_in_the_data_moves_evenly(demo_database):
    still, bent = bend_at_once(demo_database)
    eased = bent.copy()
    legs = [replace(leg, knee_rate=4.0) for leg in measure_character_legs(demo_database)]
    ease_legs(eased, still, demo_database.skeleton, legs, FPS, 1e3, np.zeros((120, 2), bool))
    assert measure_knee_rates(bent, demo_database).max() > 10.0
    assert measure_knee_rates(eased, demo_database).max() <= 4.0


def test_legs_that_do_not_leap_are_left_as_they_are(demo_database):
    still, bent = bend_at_once(demo_database)
    eased = bent.copy()
    legs = measure_character_legs(demo_database)
    ease_legs(eased, still, demo_database.skeleton, legs, FPS, 1e3, np.zeros((120, 2), bool))
    np.testing.assert_array_equal(eased, bent)


def test_legs_that_are_to_stand_firm_stay_as_they_were_bent(demo_database):
    still, bent = bend_at_once(demo_database)
    eased, firm = bent.copy(), np.zeros((120, 2), bool)
    firm[50:63, 0] = True
    legs = measure_character_legs(demo_database)
    ease_legs(eased, still, demo_database.skeleton, legs, FPS, MOST, firm)
    np.testing.assert_array_equal(eased[firm[:, 0]], bent[firm[:, 0]])
    assert np.any(eased[63:70] != bent[63:70])


def test_a_swing_is_evened_out_before_a_leg_that_stands(demo_database):
    """A toe that stands stays in place where its leg leaps as it lands."""
    still, bent = bend_at_once(demo_database)
    eased, planted = bent.copy(), np.zeros((120, 2), bool)
    planted[60:, 0] = True
    legs, firm = measure_character_legs(demo_database), np.zeros((120, 2), bool)
    hardest = measure_accelerations(bent, demo_database).max()
    ease_legs(eased, still, demo_database.skeleton, legs, FPS, 0.6 * hardest, firm, planted)
    assert measure_accelerations(eased, demo_database).max() <= 0.6 * hardest
    np.testing.assert_array_equal(eased[60:], bent[60:])


def test_a_leg_that_stands_gives_way_where_its_swing_is_too_short(demo_database):
    still, bent = bend_at_once(demo_database)
    eased, planted = bent.copy(), np.ones((120, 2), bool)
    planted[58:60, 0] = False
    legs, firm = measure_character_legs(demo_database), np.zeros((120, 2), bool)
    ease_legs(eased, still, demo_database.skeleton, legs, FPS, MOST, firm, planted)
    assert measure_accelerations(eased, demo_database).max() <= MOST


def test_a_leg_that_stands_stays_where_it_leaps_no_harder_than_the_motion_itself(demo_database):
    """Its swing is evened out all the same, and it gives way only beyond that."""
    still, bent = bend_at_once(demo_database)
    planted, firm = np.ones((120, 2), bool), np.zeros((120, 2), bool)
    planted[57:60, 0] = False
    legs, leap = measure_character_legs(demo_database), measure_accelerations(bent, demo_database)
    stands = planted[:, 0]
    for share, stays in ((1.01, True), (0.2, False)):
        eased, hardest = bent.copy(), share * leap.max()
        ease_legs(eased, still, demo_database.skeleton, legs, FPS, MOST, firm, planted, hardest)
        assert np.array_equal(eased[stands], bent[stands]) == stays
        assert measure_accelerations(eased, demo_database).max() < max(hardest, MOST)
        assert np.any(eased[57:60] != bent[57:60])


def test_no_leg_leaps_harder_for_being_eased(demo_database):
    """Back to a motion that leaps itself there is nothing to even out."""
    still, bent = bend_at_once(demo_database)
    leaping, legs = still.copy(), measure_character_legs(demo_database)
    shin = legs[0].chain[legs[0].shin]
    turn = quat.from_angle_axis(np.full(58, -0.4), np.array(legs[0].hinge))
    leaping[62:, 3:, shin] = quat.mul(still[62:, 3:, shin], turn)
    eased = bent.copy()
    ease_legs(eased, leaping, demo_database.skeleton, legs, FPS, MOST, np.zeros((120, 2), bool))
    hardest = [measure_accelerations(each, demo_database).max() for each in (bent, eased)]
    assert hardest[1] <= hardest[0] + 1e-6


def test_legs_part_smoothly_from_those_that_stay(demo_database):
    still, bent = bend_at_once(demo_database)
    eased, firm = bent.copy(), np.zeros((120, 2), bool)
    firm[62, 0] = True
    legs = measure_character_legs(demo_database)
    ease_legs(eased, still, demo_database.skeleton, legs, FPS, MOST, firm)
    assert measure_accelerations(bent, demo_database).max() > 10.0 * MOST
    assert measure_accelerations(eased, demo_database).max() <= 1.5 * MOST
