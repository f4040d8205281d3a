"""Two segments are nearest where no other pair of their points is nearer."""

import numpy as np

from motion_matching.engine.feet.live.segments import find_nearest
from motion_matching.engine.maths.numeric import ARRAYS, FLOATS, split


def test_segments_are_nearest_where_a_fine_grid_of_their_points_is():
    rng = np.random.default_rng(3)
    u, v, w = rng.normal(size=(3, 200, 3))
    s, t = find_nearest(split(u), split(v), split(w), ARRAYS)
    found = np.linalg.norm(w + s[:, None] * u - t[:, None] * v, axis=1)
    grid = np.linspace(0.0, 1.0, 41)
    points = w[:, None, None] + grid[:, None, None] * u[:, None, None]
    points = points - grid[:, None] * v[:, None, None]
    nearest = np.linalg.norm(points, axis=-1).min(axis=(1, 2))
    assert np.all(found <= nearest + 1e-12)
    assert np.all(nearest - found < 0.1)


def test_parallel_and_empty_segments_have_a_distance():
    along, none, aside = (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 2.0, 0.0)
    for u, v in ((along, along), (along, none), (none, none)):
        s, t = find_nearest(u, v, aside, FLOATS)
        assert (s * u[0] - t * v[0], 2.0) == (0.0, 2.0)
