"""Bend a way and its time, so that marks are hit."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.direct.fit.closing import Anchor, close
from motion_matching.engine.direct.search.guide import make_guide
from motion_matching.engine.direct.shot.shot import Shot
from motion_matching.engine.maths import planar

FPS, SECONDS = 30.0, 8.0


@pytest.fixture
def guide(settings):
    return make_guide(Shot(SECONDS), FPS, settings)


@pytest.fixture
def way(guide):
    """A walk in a wide curve at 1.2 m/s, half a second longer than the guide."""
    t = np.arange(guide.tick_count + 15) / FPS
    yaw = 0.3 * t
    steps = np.concatenate([np.zeros((1, 2)), 1.2 / FPS * planar.yaw_to_forward(yaw[:-1])])
    return np.column_stack([np.cumsum(steps, axis=0), yaw])


def test_a_way_that_holds_all_anchors_is_left_as_it_is(way, guide):
    ticks = (0, 100, 200)
    anchors = [Anchor(tick, tuple(way[tick, :2]), float(way[tick, 2])) for tick in ticks]
    closed = close(way, guide, anchors)
    assert np.allclose(closed.places, way[: guide.tick_count], atol=1e-4)
    assert np.allclose(closed.plan_ticks, np.arange(guide.tick_count), atol=1e-2)
    assert np.abs(closed.lead).max() < 1e-3


def test_anchors_are_held_with_small_corrections_all_along(way, guide):
    x, y, yaw = way[180]
    anchors = [
        Anchor(0, (0.0, 0.0), 0.0),
        Anchor(180, (float(x) + 0.15, float(y) - 0.1), float(yaw) + 0.1),
    ]
    closed = close(way, guide, anchors)
    assert closed.places[180, :2] == pytest.approx(anchors[1].place, abs=1e-4)
    assert closed.places[180, 2] == pytest.approx(anchors[1].yaw, abs=1e-4)
    assert np.linalg.norm(closed.lead, axis=1).max() < 0.1
    assert closed.rate.min() > 0.85
    assert closed.rate.max() < 1.15
    assert (np.diff(closed.plan_ticks) > 0.0).all()


def test_corrections_are_the_root_that_the_data_does_not_have(way, guide):
    """Steps are those of the data at the plan's ticks, plus the lead, seen from the character."""
    x, y, _ = way[180]
    closed = close(way, guide, [Anchor(0, (0.0, 0.0)), Anchor(180, (float(x) + 0.2, float(y)))])
    low = closed.plan_ticks.astype(int)
    share = (closed.plan_ticks - low)[:, None]
    played = way[low] * (1.0 - share) + way[low + 1] * share
    data = planar.rotate(np.diff(played[:, :2], axis=0), -played[:-1, 2])
    steps = planar.rotate(np.diff(closed.places[:, :2], axis=0), -closed.places[:-1, 2])
    assert np.allclose((steps - data) * FPS, closed.lead[:-1], atol=1e-6)


def test_turning_all_of_it_turns_the_solution(way, guide):
    x, y, yaw = way[180]
    goal = np.array([x + 0.1, y + 0.05])
    before = close(way, guide, [Anchor(0, (0.0, 0.0), 0.0), Anchor(180, tuple(goal), float(yaw))])
    turn = 0.7
    turned = np.column_stack([planar.rotate(way[:, :2], turn), way[:, 2] + turn])
    anchors = [
        Anchor(0, (0.0, 0.0), turn),
        Anchor(180, tuple(planar.rotate(goal, turn).tolist()), float(yaw) + turn),
    ]
    after = close(turned, guide, anchors)
    assert np.allclose(planar.rotate(before.places[:, :2], turn), after.places[:, :2], atol=1e-5)
    assert np.allclose(before.plan_ticks, after.plan_ticks, atol=1e-4)
