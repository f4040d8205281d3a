"""Obstacles: nothing enters them, predictions respect them, and characters at walls stand or slide."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motion_matching.engine.control.performer import Performer
from motion_matching.engine.control.trajectory import SimulationObject
from motion_matching.engine.database.database import Database
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.ground.ground import FLAT, Box, Boxes, Ground, Wall, Walls
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.maths.planar import rotate_xy
from motion_matching.engine.performance import performance as performances
from motion_matching.engine.performance.intent import FuturePath, Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.performance.settings import PerformerSettings, Speeds, Steering
from motion_matching.engine.takes import takes
from tests.strategies import make_generators

RADIUS = 0.3
DT = 1 / 60
SETTINGS = PerformerSettings(
    steering=Steering(
        walk=Speeds(1.5, 1.2, 1.0), run=Speeds(4.0, 3.0, 2.0), collision_radius=RADIUS
    )
)
AHEAD = (1 / 3, 2 / 3, 1.0)


def measure_depth_in_walls(place: tuple[float, float], walls: list[Wall], radius: float) -> float:
    """Return how far a disc overlaps the nearest wall, negative outside, from the distance to its
    segment.
    """
    p, ends = np.array(place), np.array(walls)
    a, along = ends[:, 0], ends[:, 1] - ends[:, 0]
    part = np.sum((p - a) * along, axis=1) / np.maximum(np.sum(along**2, axis=1), 1e-30)
    return radius - float(
        np.min(np.linalg.norm(p - a - np.clip(part, 0, 1)[:, None] * along, axis=1))
    )


def measure_depth_in_boxes(places: np.ndarray, boxes: tuple[Box, ...], radius: float) -> float:
    """Return how far a disc at places (N, 2) overlaps a box at most, negative outside."""
    deepest = -math.inf
    for box in boxes:
        offset = np.asarray(places)[:, :2] - box.center
        c, s = math.cos(box.yaw), math.sin(box.yaw)
        over = np.abs(offset @ np.array([[c, -s], [s, c]])) - 0.5 * np.array(box.size)
        outside = np.linalg.norm(np.maximum(over, 0), axis=1)
        deepest = max(
            deepest, float(np.max(radius - np.where(outside > 0, outside, over.max(axis=1))))
        )
    return deepest


def make_random_walls(rng: np.random.Generator) -> list[Wall]:
    """Make walls that cross, meet at all angles, or are mere posts."""
    walls: list[Wall] = []
    for _ in range(int(rng.integers(3, 15))):
        a, angle, length = (
            rng.uniform(-4, 4, 2),
            rng.uniform(-4, 4),
            rng.choice([0.0, 0.1, 1.0, 3.0]),
        )
        b = a + length * np.array([math.cos(angle), math.sin(angle)])
        walls.append(((float(a[0]), float(a[1])), (float(b[0]), float(b[1]))))
    return walls


def find_free_place(
    walls: list[Wall], radius: float, rng: np.random.Generator
) -> tuple[float, float]:
    while True:
        place = tuple(rng.uniform(-6, 6, 2).tolist())
        if measure_depth_in_walls(place, walls, radius) < -1e-3:
            return place


# ---------------------------------------------------------------- sliding


@given(make_generators(), st.floats(0.05, 0.7))
def test_a_disc_never_enters_walls(rng, radius):
    """Take short and long steps at walls, around their ends and into corners; none goes further
    than asked.
    """
    walls = make_random_walls(rng)
    ground, place = Walls(walls), find_free_place(walls, radius, rng)
    for step in range(300):
        if step % 20 == 0 or max(map(abs, place)) > 5:
            angle = math.atan2(-place[1], -place[0]) + rng.uniform(-1.5, 1.5)
        length = rng.choice([0.02, 0.06, 0.06, 0.5, 3.0])
        wanted = place[0] + length * math.cos(angle), place[1] + length * math.sin(angle)
        stop = ground.slide(place, wanted, radius)
        assert measure_depth_in_walls(stop, walls, radius) < 1e-9
        assert math.dist(place, stop) <= length + 1e-9
        place = stop


def test_no_step_leaves_a_closed_room_however_long():
    room = Boxes(
        [
            Box((0, 2), (4, 0.01)),
            Box((0, -2), (4, 0.01)),
            Box((2, 0), (0.01, 4.01)),
            Box((-2, 0), (0.01, 4.01)),
        ]
    )
    rng, place = np.random.default_rng(0), (0.5, 0.3)
    for _ in range(3000):
        angle, length = rng.uniform(-math.pi, math.pi), rng.choice([0.05, 1.0, 100.0])
        place = room.slide(
            place,
            (place[0] + length * math.cos(angle), place[1] + length * math.sin(angle)),
            RADIUS,
        )
        assert max(map(abs, place)) <= 1.995 - RADIUS


def test_an_unobstructed_step_ends_exactly_at_its_target():
    ground = Boxes([Box((0, -3), (2, 1))])
    assert ground.slide((0.1, 0.2), (0.3, -0.7), RADIUS) == (0.3, -0.7)
    assert ground.slide((-1.4, 0.0), (-1.4, -9.0), RADIUS) == (-1.4, -9.0)


@given(st.floats(-3.2, 3.2))
def test_a_disc_slides_by_the_part_of_its_step_along_the_wall(yaw):
    ground = Walls([(rotate_xy(-10, 0, yaw), rotate_xy(10, 0, yaw))])
    stop = ground.slide(rotate_xy(0, 1, yaw), rotate_xy(3, -1, yaw), RADIUS)
    np.testing.assert_allclose(rotate_xy(*stop, -yaw), (3, RADIUS), atol=1e-4)
    head_on = ground.slide(rotate_xy(0, 1, yaw), rotate_xy(0, -5, yaw), RADIUS)
    np.testing.assert_allclose(rotate_xy(*head_on, -yaw), (0, RADIUS), atol=1e-4)


@given(st.floats(0.3, math.pi / 2))
def test_a_corner_between_two_walls_stops_a_disc(opening):
    """The disc comes to touch both walls and stays there."""
    ground = Walls([((0, 0), (9, 0)), ((0, 0), (9 * math.cos(opening), 9 * math.sin(opening)))])
    half = opening / 2
    place = 5 * math.cos(half), 5 * math.sin(half)
    for _ in range(100):
        place = ground.slide(
            place, (place[0] - 0.1 * math.cos(half), place[1] - 0.1 * math.sin(half)), RADIUS
        )
    assert math.hypot(*place) == pytest.approx(RADIUS / math.sin(half), abs=1e-3)


def test_a_disc_keeps_its_distance_around_the_end_of_a_wall():
    ground, place = Walls([((0, 0), (5, 0))]), (-1.0, 0.05)
    passed = []
    for _ in range(60):
        place = ground.slide(place, (place[0] + 0.05, place[1]), RADIUS)
        passed.append(place)
    assert place[0] > 1
    assert min(math.hypot(*p) for p in passed) == pytest.approx(RADIUS, abs=1e-3)


PLACES = st.tuples(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
SIZES = st.floats(0.3, 4.0)
BOXES = st.builds(Box, PLACES, st.tuples(SIZES, SIZES), st.floats(-3.2, 3.2), SIZES)


@given(BOXES, BOXES, st.lists(PLACES, min_size=20, max_size=20))
def test_a_disc_that_starts_inside_is_moved_out(one, other, places):
    ground = Boxes((one, other))
    for place in places:
        out = ground.slide(place, place, RADIUS)
        assert measure_depth_in_boxes([out], (one, other), RADIUS) < 1e-9
        if measure_depth_in_boxes([place], (one, other), RADIUS) <= 0:
            assert out == place


@pytest.mark.parametrize("place", [(1, 0.5), (-1, 0), (0.25, -1), (0, 1)])
def test_a_disc_whose_center_is_on_the_edge_of_a_box_is_moved_out(place):
    box = Box((0, 0), (2, 2))
    out = Boxes((box,)).slide(place, place, RADIUS)
    assert math.dist(out, place) == pytest.approx(RADIUS, abs=1e-3)
    assert max(map(abs, out)) > 1.0 + RADIUS


def test_a_disc_on_a_wall_is_moved_to_its_nearer_side():
    wall = Walls([((-5, 0), (5, 0))])
    assert wall.slide((1, 0.1), (1, 0.1), RADIUS)[1] == pytest.approx(RADIUS, abs=1e-4)
    assert wall.slide((1, -0.1), (1, -0.1), RADIUS)[1] == pytest.approx(-RADIUS, abs=1e-4)


@given(make_generators(), st.floats(-3.2, 3.2))
def test_sliding_does_not_depend_on_position_and_heading(rng, yaw):
    walls, away = make_random_walls(rng), np.array([130.3, -71.9])

    def there(place: tuple[float, float]) -> tuple[float, float]:
        return tuple((rotate_xy(*place, yaw) + away).tolist())

    here, elsewhere = Walls(walls), Walls([(there(a), there(b)) for a, b in walls])
    for _ in range(20):
        start = find_free_place(walls, RADIUS, rng)
        stop = tuple((start + rng.normal(size=2)).tolist())
        result = elsewhere.slide(there(start), there(stop), RADIUS)
        np.testing.assert_allclose(result, there(here.slide(start, stop, RADIUS)), atol=1e-7)


def test_obstacles_keep_the_height_of_the_floor():
    class Slope:
        height = staticmethod(lambda x, y: 0.5 * x)
        slide = FLAT.slide

    ground: Ground = Boxes([Box((3, 0), (1, 1))], Slope())
    assert (ground.height(2.0, 1.0), FLAT.height(2.0, 1.0)) == (1.0, 0.0)


# ---------------------------------------------------------------- the simulation object


COURT = (
    Box((0, -3), (10, 1)),
    Box((3.5, 0), (1, 6), 0.3),
    Box((-3.5, 0), (1, 6), -0.5),
    Box((0, 0.5), (0.6, 0.6), 0.8),
    Box((0, 3.4), (8, 1)),
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_simulation_object_and_its_prediction_stay_outside(seed):
    rng = np.random.default_rng(seed)
    simulation = SimulationObject(SETTINGS.steering, Boxes(COURT))
    simulation.reset(0.0, -1.0, 0.0)
    held = 0
    for _ in range(30):
        angle = rng.uniform(-math.pi, math.pi)
        intent = Intent(move=(math.sin(angle), -math.cos(angle)), gait=float(rng.integers(2)))
        for _ in range(60):
            simulation.steer(intent, DT)
            predicted = simulation.predict(AHEAD)
            simulation.step(DT)
            places = np.array([p[:2] for p in predicted] + [(simulation.x, simulation.y)])
            assert measure_depth_in_boxes(places, COURT, RADIUS) < 1e-9
            held += simulation.is_blocked
    assert held > 200


def run_into(wall_yaw: float, seconds: float, gait: float = 1.0) -> SimulationObject:
    """Run along -Y into a long wall that is turned by an angle."""
    a, b = rotate_xy(-60, 0, wall_yaw), rotate_xy(60, 0, wall_yaw)
    simulation = SimulationObject(SETTINGS.steering, Walls([((a[0], a[1] - 3), (b[0], b[1] - 3))]))
    for _ in range(round(seconds / DT)):
        simulation.steer(Intent(move=(0.0, -1.0), gait=gait), DT)
        simulation.step(DT)
    return simulation


def test_an_object_held_by_a_wall_stands_and_predicts_standing():
    simulation = run_into(0.0, 4.0)
    assert math.hypot(simulation.vx, simulation.vy) < 1e-9
    assert simulation.is_blocked
    for point in simulation.predict(AHEAD):
        assert math.dist(point[:2], (simulation.x, simulation.y)) < 1e-6
        assert math.hypot(point.vx, point.vy) < 1e-6
    assert math.hypot(simulation.desired_vx, simulation.desired_vy) == pytest.approx(4.0)


@pytest.mark.parametrize("wall_yaw", [0.4, 0.9, -0.6])
def test_an_object_slides_at_its_speed_along_the_wall(wall_yaw):
    simulation = run_into(wall_yaw, 6.0)
    speed = 4.0 * abs(math.sin(wall_yaw))
    assert math.hypot(simulation.vx, simulation.vy) == pytest.approx(speed, rel=0.01)
    points = simulation.predict(AHEAD)
    for time, point in zip(AHEAD, points, strict=True):
        assert math.dist(point[:2], (simulation.x, simulation.y)) == pytest.approx(
            speed * time, rel=0.03
        )
        assert math.hypot(point.vx, point.vy) == pytest.approx(speed, rel=0.03)


def test_the_prediction_at_a_wall_comes_true():
    """Predict before and at the wall; a second later the object is where it was predicted."""
    for wall_yaw in (0.0, 0.5):
        for seconds in (0.5, 0.8, 1.1, 1.5):
            simulation = run_into(wall_yaw, seconds)
            expected = simulation.predict(AHEAD)[-1]
            for _ in range(60):
                simulation.steer(Intent(move=(0.0, -1.0), gait=1.0), DT)
                simulation.step(DT)
            assert math.dist(expected[:2], (simulation.x, simulation.y)) < 0.12


def test_distant_obstacles_change_nothing():
    free, beside = (
        SimulationObject(SETTINGS.steering),
        SimulationObject(SETTINGS.steering, Boxes([Box((40, 0), (1, 1))])),
    )
    for simulation in (free, beside):
        for _ in range(120):
            simulation.steer(Intent(move=(0.3, -0.8)), DT)
            simulation.step(DT)
    assert (free.x, free.y, free.vx, free.vy, free.yaw) == (
        beside.x,
        beside.y,
        beside.vx,
        beside.vy,
        beside.yaw,
    )
    assert free.predict(AHEAD) == beside.predict(AHEAD)
    assert not beside.is_blocked


def test_a_path_through_a_box_is_followed_around_it_and_caught_up():
    """The path turns back inside the box; the object waits at its side, then catches up without a
    leap.
    """
    box = (Box((0, -4), (3, 2)),)
    simulation = SimulationObject(SETTINGS.steering, Boxes(box))
    before, fastest = (0.0, 0.0), 0.0
    for tick in range(600):
        now = tick * DT
        times = tuple(np.linspace(0, 1, 31).tolist())
        # into the box for four seconds, then to the side and past it
        places = tuple(
            (0.0, -(now + t)) if now + t < 4 else (2.5 * (now + t - 4), -4.0) for t in times
        )
        simulation.steer(Intent(path=FuturePath(times, places, (0.0,) * len(times))), DT)
        predicted = [p[:2] for p in simulation.predict(AHEAD)]
        simulation.step(DT)
        place = simulation.x, simulation.y
        assert measure_depth_in_boxes(np.array([*predicted, place]), box, RADIUS) < 1e-9
        fastest, before = max(fastest, math.dist(place, before) / DT), place
    assert fastest <= SETTINGS.steering.run.forward + 1e-6
    assert math.dist(place, (2.5 * (600 * DT - 4), -4.0)) < 0.05


# ---------------------------------------------------------------- takes


WALL = (Box((0, -4), (60, 1)),)
CORNER = (Box((0, -4.5), (60, 1)), Box((3, -2), (1, 6)))
NARROW = (Box((0, -4.5), (60, 1)), Box((2, -2.5), (1, 6), -0.6))


def make_performance(
    database: Database, yaw: float, gait: float, obstacles: tuple[Box, ...], seconds: float = 7.5
) -> Performance:
    go = Intent(move=(math.sin(yaw), -math.cos(yaw)), gait=gait)
    intents = [Intent()] * round(0.5 * database.fps) + [go] * round(seconds * database.fps)
    return Performance("going", database.fps, tuple(intents), obstacles=obstacles)


def measure_longest_in_place(take, database: Database) -> float:
    """Return for how many seconds played frames move above 0.5 m/s while the character stays below
    0.1 m/s.
    """
    played = np.linalg.norm(database.root_motion[take.frames][:, :2], axis=1)
    speed = np.linalg.norm(np.gradient(take.character[:, :2], 1 / take.fps, axis=0), axis=1)
    longest = now = 0
    for stuck in (played > 0.5) & (speed < 0.1):
        now = now + 1 if stuck else 0
        longest = max(longest, now)
    return longest / take.fps


@pytest.mark.slow
@pytest.mark.parametrize("gait", [0.0, 1.0])
@pytest.mark.parametrize(
    ("obstacles", "yaw"),
    [
        (WALL, 0.0),
        (WALL, 0.05),
        (WALL, 0.3),
        (WALL, 0.8),
        (WALL, 1.0),
        (CORNER, 0.6),
        (CORNER, 0.9),
        (NARROW, 0.3),
        (NARROW, 0.7),
        (COURT, 0.2),
    ],
)
def test_a_character_at_a_wall_stands_or_slides(demo_database, settings, obstacles, yaw, gait):
    wanted = make_performance(demo_database, yaw, gait, obstacles)
    if obstacles is COURT:
        wanted = Performance(
            "going", wanted.fps, wanted.intents, position=(0.0, -1.0), obstacles=obstacles
        )
    take = takes.perform(demo_database, settings, wanted)
    for places in (take.character, take.simulation):
        assert measure_depth_in_boxes(places, obstacles, settings.steering.collision_radius) < 1e-3
    assert take.blocked.any()
    assert measure_longest_in_place(take, demo_database) <= 1.0
    if yaw == 0.0:
        # plays a standing motion, and is not merely held in place
        assert np.linalg.norm(get_played_velocity(take, demo_database)[-30:], axis=-1).max() < 0.3
    if obstacles is WALL and yaw == 0.8:
        along = np.ptp(take.character[-30:, 0]) / (29 / take.fps)
        assert along == pytest.approx(
            math.sin(yaw) * np.linalg.norm(take.desired_velocity[-1]), rel=0.3
        )


def get_played_velocity(take, database: Database) -> np.ndarray:
    return database.root_motion[take.frames][:, :2]


@pytest.mark.parametrize(
    "change",
    [
        {"synchronization": 0.0},
        {"synchronization": 1.0},
        {"displacement": "adjust"},
        {"displacement": "adjust", "clamp": True},
        {"displacement": "independent"},
    ],
)
def test_character_and_object_stay_outside_in_every_displacement_mode(
    demo_database, settings, change
):
    settings = settings.with_changes(change)
    for wanted in (
        make_performance(demo_database, 0.7, 1.0, CORNER, 4.0),
        make_performance(demo_database, 0.1, 0.0, NARROW, 4.0),
    ):
        take = takes.perform(demo_database, settings, wanted)
        for places in (take.character, take.simulation):
            assert (
                measure_depth_in_boxes(places, wanted.obstacles, settings.steering.collision_radius)
                < 1e-3
            )
        if settings.coupling.displacement == "synchronize":
            np.testing.assert_allclose(take.character[:, :2], take.simulation[:, :2], atol=1e-12)


def test_a_start_inside_an_obstacle_is_moved_beside_it(demo_database, settings):
    performer = Performer(MotionMatching(demo_database, settings), settings, Boxes(WALL))
    frame = performer.reset((1.0, -3.6), 0.0)
    assert frame.character[:2] == frame.simulation_object[:2]
    assert (
        measure_depth_in_boxes([frame.character[:2]], WALL, settings.steering.collision_radius)
        < 1e-3
    )


def test_moving_and_turning_start_and_obstacles_gives_the_same_take(demo_database, settings):
    yaw, place = 1.1, (5.0, -3.0)
    there = [
        Box(tuple(np.add(rotate_xy(*box.center, yaw), place).tolist()), box.size, box.yaw + yaw)
        for box in CORNER
    ]
    here = make_performance(demo_database, 0.6, 0.0, CORNER)
    turned_intents = tuple(i._replace(move=rotate_xy(*i.move, yaw)) for i in here.intents)
    a = takes.perform(demo_database, settings, here)
    b = takes.perform(
        demo_database,
        settings,
        Performance("there", here.fps, turned_intents, place, yaw, obstacles=tuple(there)),
    )
    assert np.array_equal(a.frames, b.frames)
    x, y = rotate_xy(a.character[:, 0], a.character[:, 1], yaw)
    np.testing.assert_allclose(np.stack([x, y], axis=1) + place, b.character[:, :2], atol=1e-3)


def test_standing_at_a_wall_is_not_reported_as_a_freeze(demo_database, settings):
    report = takes.report(
        takes.perform(demo_database, settings, make_performance(demo_database, 0.0, 0.0, WALL)),
        demo_database,
    )
    assert report["take"]["freezes"] == 0
    assert report["take"]["achieved_speed"] == pytest.approx(
        report["take"]["desired_speed"], rel=0.1
    )


# ---------------------------------------------------------------- files


def test_a_saved_performance_keeps_its_obstacles(demo_database, settings, tmp_path: Path):
    wanted = make_performance(demo_database, 0.6, 0.0, CORNER, 3.0)
    wanted = Performance(
        wanted.name,
        wanted.fps,
        wanted.intents,
        obstacles=CORNER,
        walls=(((1.0, -2.0), (2.0, -2.5)),),
    )
    performances.save(wanted, tmp_path / "p.json")
    loaded = performances.load(tmp_path / "p.json")
    assert (loaded.obstacles, loaded.walls) == (wanted.obstacles, wanted.walls)
    a, b = (takes.perform(demo_database, settings, p) for p in (wanted, loaded))
    assert a.poses.tobytes() == b.poses.tobytes()


def test_obstacles_are_read_as_written(tmp_path: Path):
    file = tmp_path / "boxes.json"
    file.write_text(
        '[{"center": [0, -4], "size": [3, 1]}, {"center": [1, 2], "size": [1, 1], "yaw": 0.5, '
        '"height": 2}]'
    )
    assert performances.load_obstacles(file) == (
        Box((0, -4), (3, 1)),
        Box((1, 2), (1, 1), 0.5, 2.0),
    )


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ({}, "the list"),
        ([3], "box 1"),
        ([{"center": [0, 0]}], "'size' of box 1"),
        ([{"size": [1, 1]}], "'center' of box 1"),
        ([{"center": [0, 0], "size": [1, 0]}], "above zero"),
        ([{"center": [0, 0], "size": [1, "a"]}], "'size' of box 1"),
        ([{"center": [0, 0], "size": [1, 1], "angle": 1}], "'angle'"),
        ([{"center": [0, 0], "size": [1, 1], "height": -1}], "'height' of box 1"),
    ],
)
def test_invalid_obstacles_are_named(tmp_path: Path, content, word):
    file = tmp_path / "boxes.json"
    file.write_text(json.dumps(content))
    with pytest.raises(SettingsError, match=r"boxes\.json") as error:
        performances.load_obstacles(file)
    assert word in str(error.value)
