"""The study of slopes and stairs measures what is put there by hand, and marks what misses."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from building.studies import climbing, ground_command, quality
from building.studies.climbing import Traces
from building.studies.ground_pictures import GROUND, View, draw_views
from building.studies.grounds import BEGIN, GROUNDS, STEPS, Terrain, make_performance, make_shot
from building.studies.sheets import COLOURS
from motion_matching.engine.control.rollout import Take
from motion_matching.engine.ground.ground import FLAT
from motion_matching.engine.maths import planar
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.takes import baking, takes
from tests.demo import load_climbing


@cache
def stand() -> Take:
    """Return a baked second of standing."""
    data = load_climbing()
    performance = Performance("stand", data.fps, (Intent(),) * 30)
    settings = takes.make_default_settings(data)
    return baking.bake_feet(takes.perform(data, settings, performance), data)


def load() -> quality.Loaded:
    """Return the database with its settings, and without what its sources measure."""
    data, none = load_climbing(), np.zeros(2)
    return quality.Loaded(data, takes.make_default_settings(data), none, none, 1.0, {})


def measure_over(take: Take, terrain: Terrain) -> Traces:
    performance = replace(take.performance, floor=terrain)
    return climbing.measure(replace(take, performance=performance), load_climbing(), 50.0)


def find_joints(take: Take) -> np.ndarray:
    return quat.compute_world(take.poses.astype(float), load_climbing().skeleton.parents)[1]


# ---------------------------------------------------------------- grounds


def test_ramps_stairs_and_hills_are_as_steep_as_they_say():
    for name, which in GROUNDS.items():
        end = which.ground.height(0.0, -100.0)
        assert which.ground.height(0.0, 1.0 - BEGIN) == 0.0 or not which.straight
        if name.startswith("ramp"):
            _, way, degrees = name.split("_")
            sign = 1.0 if way == "up" else -1.0
            assert end == pytest.approx(sign * 3.0 * math.tan(math.radians(float(degrees))))
        if name.startswith("stairs"):
            _, way, riser = name.split("_")
            assert end == pytest.approx((1.0 if way == "up" else -1.0) * STEPS * 0.01 * int(riser))
    points = np.random.default_rng(0).uniform(-20.0, 20.0, (500, 2))
    facing = planar.yaw_to_forward(np.linspace(0.0, 6.0, 500))
    slopes = climbing.measure_rises(GROUNDS["hills"].ground, points, facing)
    assert 0.25 < np.abs(slopes).max() < math.tan(math.radians(25.0))


def test_what_is_performed_is_the_same_on_the_flat():
    loaded = load()
    for ground, flat in (("stairs_up_17", "flat"), ("hills", "open")):
        two = [make_performance(GROUNDS[name], loaded, "walk", 8.0, 1) for name in (ground, flat)]
        assert two[0].intents == two[1].intents
        assert (two[0].ground, two[1].ground) == (GROUNDS[ground].ground, FLAT)
    assert make_shot(GROUNDS["stairs_up_17"]).floor is GROUNDS["stairs_up_17"].ground


# ---------------------------------------------------------------- measures


def test_a_foot_seven_millimetres_deep_is_measured_so():
    on_it = measure_over(stand(), Terrain(lambda x, y: 0.0))
    np.testing.assert_allclose(on_it.heights, 0.0, atol=1e-3)
    below = measure_over(stand(), Terrain(lambda x, y: 0.007))
    np.testing.assert_allclose(below.heights, on_it.heights - 0.007, atol=1e-6)
    assert below.lowest == pytest.approx(on_it.lowest - 0.007, abs=1e-6)
    above = measure_over(stand(), Terrain(lambda x, y: -0.02))
    np.testing.assert_allclose(above.heights, on_it.heights + 0.02, atol=1e-6)


def test_a_toe_a_centimetre_behind_a_riser_is_a_centimetre_deep():
    data, take = load_climbing(), stand()
    joints = find_joints(take)
    y = joints[15, data.roles.legs[0].toe, 1]
    on_it = measure_over(take, Terrain(lambda px, py: 0.0))
    assert on_it.lowest == pytest.approx(0.0, abs=1e-3)
    behind = Terrain(lambda px, py: 0.17 if py < y + 0.01 else 0.0)
    assert measure_over(take, behind).lowest == pytest.approx(-0.01, abs=0.0021)
    deep = Terrain(lambda px, py: 0.03 if py < y + 0.5 else 0.0)
    assert measure_over(take, deep).lowest == pytest.approx(on_it.lowest - 0.03, abs=1e-3)


@pytest.mark.parametrize(("share", "over"), [(0.15, True), (0.35, True), (0.8, False)])
@pytest.mark.parametrize("riser", [0.17, -0.17])
def test_an_edge_counts_under_the_middle_of_a_foot(share: float, over: bool, riser: float):
    """A share of 0 is the toe, and 1 the ankle."""
    data, take = load_climbing(), stand()
    joints = find_joints(take)
    leg = data.roles.legs[0]
    toe, ankle = joints[15, [leg.toe, leg.foot], :2]
    along = (ankle - toe) / np.linalg.norm(ankle - toe)
    edge = share * np.linalg.norm(ankle - toe)
    terrain = Terrain(lambda x, y: riser * float((np.array([x, y]) - toe) @ along > edge))
    stands = np.ones((len(joints), 1), bool)
    found = climbing.find_edges(terrain, joints, data, stands[:, [0, 0]] & [True, False], take.fps)
    assert found.tolist() == [over]


def test_neither_a_ramp_nor_a_moment_makes_a_stance_on_an_edge():
    data, take = load_climbing(), stand()
    joints, stands = find_joints(take), np.ones((take.frame_count, 2), bool)
    ramp = Terrain(lambda x, y: math.tan(math.radians(30.0)) * -y)
    assert not climbing.find_edges(ramp, joints, data, stands, take.fps).any()
    stands[2:] = False
    assert len(climbing.find_edges(ramp, joints, data, stands, take.fps)) == 0


def test_a_trunk_that_leans_ten_degrees_more_is_measured_so():
    data, take = load_climbing(), stand()
    joints = find_joints(take)
    facing = planar.yaw_to_forward(take.character[:, 2].astype(float))
    before = climbing.measure_leans(joints, facing, data)
    across = np.column_stack([-facing[:, 1], facing[:, 0], np.zeros(len(facing))])
    turn = quat.from_angle_axis(np.full(len(across), math.radians(10.0)), across)
    leaning = quat.mul_vec(turn[:, None], joints)
    after = climbing.measure_leans(leaning, facing, data)
    np.testing.assert_allclose(np.degrees(after - before), 10.0, atol=1e-6)


@pytest.mark.slow
def test_a_walk_up_stairs_is_measured_where_they_are():
    data, loaded = load_climbing(), load()
    performance = make_performance(GROUNDS["stairs_up_17"], loaded, "walk", 12.0, 0)
    take = takes.perform(data, loaded.settings, performance)
    told = climbing.measure(take, data, climbing.find_most(take, data))
    assert 0.15 < len(told.on_slopes) / take.frame_count < 0.7
    assert len(told.on_slopes) + len(told.on_level) == take.frame_count
    assert told.on_slopes.mean() > 0.7
    assert told.on_level.mean() < 0.1
    assert len(climbing.select_leans(told, 1.0)) > len(climbing.select_leans(told, -1.0)) == 0
    flat = replace(take, performance=replace(performance, floor=FLAT))
    assert climbing.measure(flat, data, 50.0).heights.max() > 1.0  # over stairs that are not there
    view = draw_views([View(take, data)] * 2)
    for colour in (GROUND, COLOURS["left"], COLOURS["right"], COLOURS[""]):
        halves = np.array_split(np.all(view == colour, axis=-1), 2)
        assert halves[0].sum() == halves[1].sum() > 100


# ---------------------------------------------------------------- the page


def make_traces(height: float, hips: float, pops: int = 0) -> Traces:
    some = np.full(20, height)
    return Traces(
        heights=some,
        slides=np.full(20, 0.01),
        lowest=height,
        edges=np.array([pops > 0]),
        hips=np.full(20, hips),
        leans=np.radians(np.full(20, 5.0)),
        rises=np.full(20, 0.3),
        pops=pops,
        hardest=60.0,
        on_slopes=np.ones(10, bool),
        on_level=np.zeros(10, bool),
    )


def test_takes_of_all_seeds_are_one_row():
    told = climbing.combine([make_traces(0.001, 3.0, 1), make_traces(-0.02, 4.0, 2)])
    assert (len(told.heights), len(told.edges), told.pops) == (40, 2, 3)
    assert (told.lowest, told.hardest) == (-0.02, 60.0)


def test_what_misses_a_target_is_bold_and_hips_are_compared_with_the_flat():
    rows = {
        ("climbing", "flat", "walk", "baked"): make_traces(0.0, 3.0),
        ("climbing", "ramp_up_10", "walk", "baked"): make_traces(0.004, 3.3),
        ("climbing", "stairs_up_17", "walk", "baked"): make_traces(-0.007, 6.0, 2),
    }
    assert ground_command.find_flat(list(rows)[2], rows) == pytest.approx(3.0)
    feet, body = (
        ground_command.format_table(columns, rows, straight=True).splitlines()[2:]
        for columns in (ground_command.FEET, ground_command.BODY)
    )
    assert "**" not in "".join(feet[:2] + body[:2])
    assert "**-7 to -7**" in feet[2]
    assert "**1 of 1**" in feet[2]
    assert "1.10" in body[1]
    assert "**2.00**" in body[2]
    assert "**2**" in body[2]
    targets = ground_command.format_targets(rows)
    assert all(line.rstrip(" |").endswith("1 of 2") for line in targets.splitlines()[2:])


def test_all_jobs_have_their_flat():
    jobs = ground_command.list_jobs(("climbing",), list(GROUNDS), 2)
    assert len(set(jobs)) == len(jobs)
    done = {(job.ground, job.gait) for job in jobs}
    for name, which in GROUNDS.items():
        assert {("flat" if which.straight else "open", gait) for gait in which.gaits} <= done, name
