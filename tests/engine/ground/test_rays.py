"""Rays, such as those below the mouse, meet the ground where one sees it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motion_matching.engine.ground.ground import FLAT, Box, Boxes
from motion_matching.engine.ground.rays import cast_ray


class Hills:
    """A floor of waves along X with a step at Y = 2."""

    def height(self, x: float, y: float) -> float:
        return 0.4 * math.sin(x) + (1.0 if y > 2.0 else -0.5)

    def slide(self, start, stop, radius):
        return stop


def aim(origin, target) -> np.ndarray:
    way = np.subtract(target, origin)
    return way / np.linalg.norm(way)


@pytest.mark.parametrize("ground", [FLAT, Boxes([Box((1.0, 1.0), (1.0, 1.0))])])
def test_a_ray_meets_flat_ground(ground):
    origin, target = (3.0, -8.0, 4.0), (1.5, 2.5, 0.0)
    assert cast_ray(ground, origin, aim(origin, target)) == pytest.approx(target)
    raised = (1.5, 2.5, 0.7)
    assert cast_ray(ground, origin, aim(origin, raised), above=0.7) == pytest.approx(raised)


@pytest.mark.parametrize("target", [(0.3, -1.0), (1.5, 5.0), (-2.0, 2.5), (-7.0, -3.0)])
def test_a_ray_meets_hills_where_they_are_seen_first(target):
    ground = Hills()
    point = (*target, ground.height(*target))
    origin = (point[0] + 2.0, point[1] - 4.0, point[2] + 6.0)
    hit = cast_ray(ground, origin, aim(origin, point))
    assert hit is not None
    assert hit[2] == pytest.approx(ground.height(*hit[:2]), abs=1e-4)
    assert math.dist(hit, origin) <= math.dist(point, origin) + 1e-4
    assert hit == pytest.approx(point, abs=1e-3)


def test_a_ray_to_the_sky_or_from_below_meets_nothing():
    for ground in (FLAT, Hills()):
        assert cast_ray(ground, (0.0, 0.0, 2.0), (0.0, 1.0, 0.0)) is None
        assert cast_ray(ground, (0.0, 0.0, 2.0), (0.6, 0.0, 0.8)) is None
        assert cast_ray(ground, (0.0, 0.0, -3.0), (0.0, 0.0, -1.0)) is None
        far = aim((0.0, 0.0, 2.0), (9_000.0, 0.0, 0.0))
        assert cast_ray(ground, (0.0, 0.0, 2.0), far) is None, "beyond the horizon"
