"""Marks that a first search misses, because one turns otherwise on the way than the guide guesses."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.direct.fit.revising import Revised, lay_pieces
from motion_matching.engine.direct.search.beam import ShotPlan
from motion_matching.engine.direct.shot.shot import Mark, Shot


@pytest.mark.slow
@pytest.mark.parametrize(("degrees", "metres"), [(-75, 5.5), (60, 6.0), (75, 6.0)])
def test_a_run_aside_from_a_stand_and_back_to_its_heading_arrives(director, degrees, metres):
    """Both marks face ahead, so the guide strafes, which nobody does at a run."""
    aside = np.radians(degrees)
    place = (metres * float(np.sin(aside)), -metres * float(np.cos(aside)))
    shot = Shot(7.0, marks=(Mark(1.0, (0.0, 0.0), 0.0, hold=0.5), Mark(4.5, place, 0.0)))
    report = director.direct(shot).report
    assert report["reached"] == 2, report["marks"]
    assert report["lead_max"] <= 0.1


@pytest.mark.slow
def test_marks_searched_again_leave_those_far_behind_them_met(director):
    """A piece that ends a little turned must not move the minutes of walking that follow it."""
    aside = np.radians(75)
    place = np.array([6.0 * np.sin(aside), -6.0 * np.cos(aside)])
    hard = (Mark(1.0, (0.0, 0.0), 0.0, hold=0.5), Mark(4.5, tuple(place.tolist()), 0.0))
    walk = tuple(
        Mark(4.5 + 5.0 * k, (float(place[0]), float(place[1]) - 5.0 * k), 0.0) for k in range(1, 40)
    )
    report = director.direct(Shot(202.0, marks=hard + walk)).report
    assert [mark["time"] for mark in report["marks"] if not mark["reached"]] == []


def test_a_plan_lies_where_it_was_outside_of_a_piece_that_turned_it():
    t = np.arange(200.0)
    before = np.column_stack([np.sin(0.05 * t), -0.03 * t, 0.4 * np.cos(0.05 * t)])
    turned = lay_from(before, 90, (0.2, -0.1, 0.3))
    piece = Revised(ShotPlan(np.zeros(200, int), np.zeros(200, bool), 0.0), 60, 90)
    laid = lay_pieces(turned, before, [piece])
    np.testing.assert_array_equal(laid[:60], before[:60])
    np.testing.assert_allclose(laid[91:, :2], before[91:, :2], atol=1e-9)
    np.testing.assert_allclose(laid[91:, 2], before[91:, 2] + 2.0 * np.pi, atol=1e-9)
    assert np.abs(np.diff(laid, axis=0)).max() < 0.3


def lay_from(way, tick, shift):
    """Move and turn a way from a tick on, growing over the 30 before it, and once around."""
    share = np.clip((np.arange(len(way)) - tick + 30) / 30.0, 0.0, 1.0)[:, None]
    x, y, turn = shift
    c, s = np.cos(share * turn), np.sin(share * turn)
    places = np.hstack([c * way[:, :1] - s * way[:, 1:2], s * way[:, :1] + c * way[:, 1:2]])
    places += share * (x, y)
    return np.hstack([places, way[:, 2:] + share * (turn + 2.0 * np.pi)])
