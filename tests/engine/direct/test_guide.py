"""The guide of a shot: through marks, standing, and along paths."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.direct.search.guide import make_guide, sample_path
from motion_matching.engine.direct.shot.shot import Mark, Shot, TimedPath
from motion_matching.engine.maths import planar

FPS = 30.0


def test_a_guide_passes_all_marks_in_time(settings):
    marks = (Mark(2.0, (0.5, -2.0), 0.5), Mark(4.5, (3.0, -3.0), 1.5), Mark(7.0, (3.0, 0.0)))
    guide = make_guide(Shot(8.0, marks=marks), FPS, settings)
    for mark in marks:
        x, y, yaw = guide.way[round(mark.time * FPS)]
        assert (x, y) == pytest.approx(mark.position, abs=1e-9)
        if mark.facing is not None:
            assert planar.wrap(yaw - mark.facing) == pytest.approx(0.0, abs=1e-9)
    assert np.abs(np.diff(guide.way[:, 2])).max() < 0.3


def test_a_guide_stands_where_it_is_held(settings):
    guide = make_guide(Shot(6.0, marks=(Mark(2.0, (0.0, -2.0), 0.0, hold=1.5),)), FPS, settings)
    held = guide.way[round(2.0 * FPS) : round(3.5 * FPS) + 1]
    assert np.ptp(held[:, :2], axis=0).max() < 1e-9
    assert guide.stands[round(2.5 * FPS)]
    assert not guide.stands[round(1.0 * FPS)]


@pytest.mark.parametrize("later", [Mark(8.0, frame="walk:3"), Mark(8.0, gait="run"), None])
def test_a_guide_leaves_a_mark_that_was_held_if_more_is_asked_for(settings, later):
    marks = (Mark(2.0, (0.0, -2.0), 0.0, hold=1.0), *filter(None, [later]))
    way = make_guide(Shot(10.0, marks=marks), FPS, settings).way
    gone = np.linalg.norm(way[round(6.0 * FPS), :2] - way[round(3.0 * FPS), :2])
    assert gone > 1.0 if later else gone < 1e-9


def test_a_guide_goes_on_at_the_gait_that_is_asked_for(settings):
    guide = make_guide(Shot(6.0, marks=(Mark(3.0, gait="run"),)), FPS, settings)
    speed = np.linalg.norm(np.diff(guide.way[:, :2], axis=0), axis=1) * FPS
    assert speed[round(2.5 * FPS)] == pytest.approx(settings.steering.walk.forward, rel=0.3)
    assert speed[round(5.5 * FPS)] == pytest.approx(settings.steering.run.forward, rel=0.2)


def test_a_guide_walks_backward_all_the_way_if_both_ends_face_back(settings):
    """Also before a mark at which it turns round and goes forward."""
    marks = (Mark(3.0, (0.0, 3.0), 0.0), Mark(6.0, (0.0, 0.0), 0.0))
    guide = make_guide(Shot(6.0, marks=marks), FPS, settings)
    assert np.abs(planar.wrap(guide.way[:, 2])).max() < 0.1


def test_a_guide_faces_where_it_goes_between_marks_that_do_not_agree(settings):
    marks = (Mark(6.0, (6.0, 0.0), -np.pi / 2),)
    guide = make_guide(Shot(6.0, facing=np.pi, marks=marks), FPS, settings)
    middle = guide.way[round(3.0 * FPS)]
    assert planar.wrap(middle[2] - np.pi / 2) == pytest.approx(0.0, abs=0.2)


def test_a_path_is_followed_while_it_lasts(settings):
    times = tuple(np.arange(1.0, 4.01, 0.25).tolist())
    positions = tuple((0.5 * t, -1.2 * t + 0.2 * float(np.sin(t))) for t in times)
    path = TimedPath(times, positions)
    guide = make_guide(Shot(6.0, paths=(path,)), FPS, settings)
    ticks = np.arange(round(1.0 * FPS), round(4.0 * FPS) + 1)
    assert np.allclose(guide.way[ticks, :2], sample_path(path, ticks / FPS)[:, :2])
    assert guide.follows[ticks].all()
    assert guide.follows.sum() == len(ticks)
    jumps = np.linalg.norm(np.diff(guide.way[:, :2], axis=0), axis=1) * FPS
    assert jumps.max() < 3.0
