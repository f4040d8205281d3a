"""Ways round obstacles: free, round a corner, or none at all, which is told from a free one."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from motion_matching.engine.direct.obstacles.obstruction import Obstruction
from motion_matching.engine.direct.obstacles.routing import find_route
from motion_matching.engine.direct.shot.shot import Shot
from motion_matching.engine.ground.ground import Box

RADIUS = 0.3
ROOM = (((-2, -2), (2, -2)), ((2, -2), (2, 2)), ((2, 2), (-2, 2)), ((-2, 2), (-2, -2)))
START = np.zeros(2)


def draw(seed):
    """Return boxes, walls and a goal that a seed scatters."""
    rng = np.random.default_rng(seed)

    def point():
        return tuple(rng.uniform(-4.0, 4.0, 2).tolist())

    boxes = [
        Box(point(), tuple(rng.uniform(0.1, 3.0, 2).tolist()), float(rng.uniform(-3.0, 3.0)))
        for _ in range(rng.integers(0, 4))
    ]
    return boxes, [(point(), point()) for _ in range(rng.integers(0, 4))], np.array(point())


def surround(boxes, walls):
    shot = Shot(1.0, obstacles=tuple(boxes), walls=tuple(walls))
    return Obstruction.from_shot(shot, RADIUS)


def find(goal, boxes=(), walls=()):
    return find_route(START, np.array(goal, float), surround(boxes, walls))


def test_a_free_way_is_straight():
    route = find((3.0, 0.0))
    assert route.complete
    assert len(route.places) == 0
    assert route.length == 3.0


def test_a_closed_room_has_no_way_out_and_ends_before_its_wall():
    route = find((0.0, -4.0), walls=ROOM)
    assert not route.complete
    assert np.allclose(route.end, (0.0, -2.0 + RADIUS), atol=0.15)


def test_a_door_is_a_way_and_a_crack_is_none():
    def leave(gap):
        walls = (*ROOM[1:], ((-2, -2), (-gap / 2, -2)), ((gap / 2, -2), (2, -2)))
        return find((0.5, -4.0), walls=walls)

    assert leave(0.8).complete
    assert not leave(0.5).complete


def test_walls_that_only_touch_leave_no_way_between_them():
    assert not find(
        (0.0, -4.0), walls=[((-9, -2), (0, -2)), ((0, -2), (9, -2)), *ROOM[1:]]
    ).complete


@given(st.integers(0, 10**6))
@settings(max_examples=60)
def test_no_way_comes_nearer_than_the_body_is_wide(seed):
    boxes, walls, goal = draw(seed)
    obstruction = surround(boxes, walls)
    assume(obstruction.measure_distances(START[None])[0] >= RADIUS)
    route = find_route(START, goal, obstruction)
    points = np.vstack([START, route.places, route.end])
    assert obstruction.measure_ways(points[:-1], points[1:]).min() >= RADIUS - 1e-5
    assert not route.complete or np.allclose(route.end, goal)


@given(st.integers(0, 10**6))
def test_distances_of_ways_are_those_of_their_points(seed):
    boxes, walls, stop = draw(seed)
    obstruction = surround(boxes, walls)
    points = START + np.linspace(0.0, 1.0, 400)[:, None] * (stop - START)
    sampled = obstruction.measure_distances(points).min()
    step = np.linalg.norm(stop - START) / 399
    [measured] = obstruction.measure_ways(START[None], stop[None])
    assert sampled - step <= measured <= sampled + 1e-9 or measured == sampled
