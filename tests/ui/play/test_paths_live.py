"""Live, the paths show where steering and motion lead, with a mark at each time compared."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motion_matching.app.runtime import runtime
from motion_matching.ui.play import drawing as play_drawing
from tests.app.test_motion_field import ops, start_live
from tests.ui.characters import create_character


@pytest.fixture
def live():
    obj = create_character(clips=("walk_curves",))
    ops.add_actions()
    live, _ = start_live(obj, "W")
    for tick in range(40):
        live.tick((tick + 1) / 24, 0.0)
    return live


def find_marks(color):
    """Return the middles (T, 2) of small rings of a colour, and the headings of their strokes."""
    lines = [
        np.array(line.points)[:, :2]
        for line in runtime.get_cache(play_drawing.HudCache).snapshot.lines
        if line.color == color
    ]
    rings = [line for line in lines if len(line) == 25 and np.ptp(line, axis=0).max() < 0.15]
    middles = np.array([ring[:-1].mean(axis=0) for ring in rings])
    strokes = [line[1] - line[0] for line in lines if len(line) == 2]
    return middles, [math.atan2(x, -y) for x, y in strokes[-len(rings) :]]


def test_marks_are_where_the_object_will_be_and_face_as_it_will(live):
    performer = live.session.performer
    times = [t for t in performer.method.trajectory_times if t > 0]
    expected = performer.predict_path(times)
    middles, facings = find_marks("desired")
    assert len(times) == 3
    np.testing.assert_allclose(middles, [(p.x, p.y) for p in expected], atol=1e-5)
    turned = np.array(facings) - [p.yaw for p in expected]
    np.testing.assert_allclose(np.cos(turned), 1.0, atol=1e-6)


def test_the_chosen_motion_has_marks_on_its_path(live):
    path = next(
        np.array(line.points)[:, :2]
        for line in runtime.get_cache(play_drawing.HudCache).snapshot.lines
        if line.color == "chosen" and line.width == 2.5
    )
    middles, _ = find_marks("chosen")
    assert len(middles) == 3
    np.testing.assert_allclose(middles[-1], path[-1], atol=1e-5)
    for middle in middles:
        steps = np.diff(path, axis=0)
        share = np.clip(((middle - path[:-1]) * steps).sum(1) / (steps**2).sum(1), 0.0, 1.0)
        assert np.linalg.norm(path[:-1] + share[:, None] * steps - middle, axis=1).min() < 0.02
