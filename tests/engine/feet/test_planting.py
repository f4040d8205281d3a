"""Feet planted for a bake stay in place, plant and lift smoothly, and never bend a leg backwards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.facts.character import measure_character_legs
from motion_matching.engine.feet import contact_ranges
from motion_matching.engine.feet.contact_ranges import ContactRange
from motion_matching.engine.legs.legs import measure_legs
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance import scripts
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.sources.sources import Source, find_sources
from motion_matching.engine.takes import baking, takes
from tests.engine.feet.planted import plant, solve_toe
from tests.engine.rigs import make_dog
from tests.engine.scripted import perform_script

FPS = 60.0
STANDING = 0.03


def make_sliding_steps(
    drag: float = 0.3, frames: int = 240
) -> tuple[np.ndarray, list[ContactRange]]:
    """Make a toe (T, 3) that stands and swings for half a second each, always dragged along at
    `drag` m/s.
    """
    t = np.arange(frames) / FPS
    phase = t % 1.0
    swing = np.clip(phase - 0.5, 0.0, 0.5) * 2.0
    blend = swing**3 * (10 - 15 * swing + 6 * swing**2)
    toe = np.zeros((frames, 3))
    toe[:, 0] = np.floor(t) + blend + drag * t
    toe[:, 2] = STANDING + 0.1 * np.sin(np.pi * swing) ** 2
    return toe, [
        ContactRange(0, round(k * FPS), round((k + 0.5) * FPS)) for k in range(frames // round(FPS))
    ]


def compute_path(
    toe: np.ndarray, ranges: list[ContactRange], data: np.ndarray | None = None, **options
) -> np.ndarray:
    path, _ = solve_toe(toe, ranges, FPS, STANDING, data, **options)
    return path


def test_a_planted_toe_stands_still_at_the_median_of_its_drag():
    toe, ranges = make_sliding_steps()
    path = compute_path(toe, ranges)
    for r in ranges:
        own = path[r.start : r.stop]
        assert np.abs(np.diff(own, axis=0)).max() < 1e-12
        assert own[0, 2] == pytest.approx(STANDING, abs=1e-4)
        assert own[0, :2] == pytest.approx(np.median(toe[r.start : r.stop, :2], axis=0), abs=0.02)


def test_a_toe_plants_and_lifts_smoothly():
    """Planting adds little to how much the speed changes from frame to frame."""
    toe, ranges = make_sliding_steps(drag=0.4)
    change = [
        np.linalg.norm(np.diff(p, n=2, axis=0), axis=1).max() * FPS
        for p in (toe, compute_path(toe, ranges))
    ]
    assert change[1] < change[0] + 0.4


def test_a_toe_hardly_moves_as_its_contact_begins_and_ends():
    """Within a frame of standing it has 0.3 mm to go, however far it is dragged in between."""
    toe, ranges = make_sliding_steps(drag=0.6)
    path = compute_path(toe, ranges)
    steps = np.linalg.norm(np.diff(path[:, :2], axis=0), axis=-1)
    first = [steps[r.start - 1] for r in ranges[1:]]
    last = [steps[r.stop - 1] for r in ranges[:-1]]
    assert max(first + last) < 0.0003


def test_a_dragged_foot_follows_the_data_near_the_ground_and_catches_up():
    toe, ranges = make_sliding_steps(drag=0.3)
    data, _ = make_sliding_steps(drag=0.0)
    shorter = [
        replace(r, start=r.start + 4, stop=r.stop - 4) for r in ranges
    ]  # the foot is down before and after them too
    path = compute_path(toe, shorter, data)
    low = (toe[:, 2] < STANDING + 0.005) & (np.arange(len(toe)) > 4) & (np.arange(len(toe)) < 215)
    apart = [
        np.linalg.norm(np.gradient((p - data)[:, :2], axis=0), axis=1) * FPS for p in (toe, path)
    ]
    assert apart[0][low].mean() == pytest.approx(0.3)
    assert apart[1][low].mean() < 0.1
    np.testing.assert_allclose(path[200, :2], toe[200, :2], atol=0.1)


def test_a_toe_is_unchanged_half_a_second_away_from_its_contacts():
    toe, _ = make_sliding_steps()
    path = compute_path(toe, [ContactRange(0, 120, 150)])
    assert np.abs(path - toe)[90:180].max() > 0.05
    alone = np.r_[: 120 - 30, 150 + 30 : len(toe)]
    np.testing.assert_allclose(path[alone], toe[alone], atol=1e-3)
    np.testing.assert_allclose(path[: 120 - 60], toe[: 120 - 60], atol=1e-6)
    np.testing.assert_allclose(compute_path(toe, []), toe, atol=1e-6)


def test_a_foot_moved_to_another_position_lifts():
    """Step between two plants 0.3 m apart, although the motion keeps the toe on the ground."""
    toe = np.tile([0.0, 0.0, STANDING], (120, 1))
    path = compute_path(
        toe, [ContactRange(0, 0, 50, (0.0, 0.0)), ContactRange(0, 70, 120, (0.3, 0.0))]
    )
    assert path[:, 2].max() > STANDING + 0.02
    assert np.all(path[:50, 2] == pytest.approx(STANDING, abs=1e-4))


def test_a_foot_that_shuffles_on_the_spot_is_hardly_lifted():
    """A step of 0.1 m does not stamp: it swings as high as asked, and no higher."""
    toe = np.tile([0.0, 0.0, STANDING], (120, 1))
    ranges = [ContactRange(0, 0, 50, (0.0, 0.0)), ContactRange(0, 65, 120, (0.1, 0.0))]
    path = compute_path(toe, ranges, clearance=0.025)
    assert STANDING + 0.015 < path[:, 2].max() < STANDING + 0.028


def test_a_toe_swings_clear_of_the_height_at_which_it_stands():
    """A foot that stands on its ball stands higher, and its swing is as much higher."""
    toe, ranges = make_sliding_steps(drag=0.0)
    highest = []
    for raised in (0.0, 0.02):
        low = toe.copy()
        low[:, 2] = STANDING + raised
        path = compute_path(low, ranges, clearance=0.025)
        assert path[ranges[1].start, 2] == pytest.approx(STANDING + raised, abs=1e-4)
        highest.append(path[60:180, 2].max())
    assert highest[1] - highest[0] == pytest.approx(0.02, abs=1e-4)
    assert highest[0] > STANDING + 0.015


def test_a_fast_toe_swings_as_high_as_asked():
    """It leaves and meets the ground no harder than a foot does."""
    toe, ranges = make_sliding_steps(drag=0.0)
    toe[:, 2] = STANDING
    path = compute_path(toe, ranges, clearance=0.025)
    speed = np.linalg.norm(np.gradient(path[:, :2], axis=0), axis=1) * FPS
    assert path[speed > 1.0, 2].min() > STANDING + 0.0245
    assert np.abs(np.diff(path[:, 2], n=2)).max() * FPS**2 < 20.0


def test_a_toe_comes_back_to_the_motion_in_its_swing():
    """Feet that are far from each other's plants do not meet in between."""
    toe, ranges = make_sliding_steps(drag=0.4)
    path = compute_path(toe, ranges)
    away = np.linalg.norm((path - toe)[:, :2], axis=1)
    assert away[45] < 0.4 * away[29]


def test_a_toe_blended_below_the_ground_takes_the_height_of_the_data():
    toe, ranges = make_sliding_steps(drag=0.0)
    sunk = toe.copy()
    sunk[:, 2] -= 0.15 * np.exp(-(((np.arange(len(toe)) - 105) / 9.0) ** 2))
    path = compute_path(sunk, ranges, toe)
    assert sunk[:, 2].min() < STANDING - 0.02
    np.testing.assert_allclose(path[:, 2], toe[:, 2], atol=0.02)
    assert path[:, 2].min() >= STANDING - 1e-9


def test_toes_follow_sloping_ground():
    toe, ranges = make_sliding_steps()
    toe[:, 2] += 0.5 * toe[:, 0]

    class Slope:
        def height(self, x: float, y: float) -> float:
            return 0.5 * x

    path, floor = solve_toe(toe, ranges, FPS, STANDING, ground=Slope(), stands=0.5 * toe[:, 0])
    np.testing.assert_allclose(floor, 0.5 * path[:, 0])
    assert np.min(path[:, 2] - 0.5 * path[:, 0]) >= STANDING - 1e-9


# ---------------------------------------------------------------- whole bodies


@pytest.fixture(scope="module")
def take(demo_database):
    return perform_script(demo_database, "flips")


def measure_knee_bends(poses: np.ndarray, database) -> np.ndarray:
    """Measure bends (T, L) of the knees about their hinges in radians: 0 is straight, negative
    backwards.
    """
    local = poses.transpose(0, 2, 1).astype(np.float64)
    rotations, positions = quat.fk(local[..., 3:], local[..., :3], database.skeleton.parents)
    bends = []
    legs = measure_legs(database.skeleton, database.roles, database.poses[::7])
    for leg, role in zip(legs, database.roles.legs, strict=True):
        upper, lower = (
            positions[:, role.shin] - positions[:, role.thigh],
            positions[:, role.foot] - positions[:, role.shin],
        )
        hinge = quat.mul_vec(rotations[:, role.shin], np.array(leg.hinge))
        bends.append(
            np.arctan2(
                np.sum(np.cross(lower, upper) * hinge, axis=-1), np.sum(upper * lower, axis=-1)
            )
        )
    return np.stack(bends, axis=1)


def measure_planted_steps(take, database) -> np.ndarray:
    """Measure how far planted toes move per tick, while the motion has them within 10 cm of their
    plants.
    """
    ranges = baking.find_contact_ranges(take, database)
    toes = baking.compute_toe_positions(baking.bake_feet(take, database, ranges).poses, database)
    before = baking.compute_toe_positions(take.unlocked_poses, database)
    steps = []
    for r in ranges:
        near = (
            np.linalg.norm(before[r.start : r.stop, r.leg, :2] - toes[r.start, r.leg, :2], axis=1)
            < 0.1
        )
        moved = np.linalg.norm(np.diff(toes[r.start : r.stop, r.leg, :2], axis=0), axis=1)
        steps.append(moved[near[1:] & near[:-1]])
    return np.concatenate(steps)


def test_a_heel_comes_up_so_that_a_toe_stays_as_its_leg_is_too_short(demo_database):
    database, legs = demo_database, demo_database.derive(measure_character_legs)
    heights = baking.compute_toe_positions(database.poses, database)[..., 2].max(axis=1)
    poses = np.array(database.poses[np.full(60, np.argmin(heights))])
    poses[:, :2, 0] = 0.0
    poses[:, 1, 0] = -0.25 * np.linspace(0.0, 1.0, 60) ** 2  # it is moved away from where it stands
    ranges = [
        ContactRange(leg, 0, 60, tuple(place))
        for leg, place in enumerate(
            baking.compute_toe_positions(poses[:1], database)[0, :, :2].tolist()
        )
    ]
    planted = plant(poses, database.skeleton, legs, ranges, FPS)
    toes, free = (baking.compute_toe_positions(p, database) for p in (planted, poses))
    assert np.linalg.norm(free[-1] - free[0], axis=-1).min() > 0.24
    assert np.linalg.norm(toes - toes[0], axis=-1).max() < 0.005


@pytest.mark.slow
def test_planted_toes_move_less_than_a_millimetre_within_reach(demo_database, take):
    performances = [
        take,
        *(
            perform_script(demo_database, script)
            for script in ("figure_eight", "square", "stop_and_go")
        ),
    ]
    steps = np.concatenate([measure_planted_steps(each, demo_database) for each in performances])
    assert len(steps) > 2000
    assert np.mean(steps < 1e-3) > 0.98


def test_planting_keeps_the_body_but_for_the_height_of_its_hips(demo_database, take):
    baked = baking.bake_feet(take, demo_database)
    legs = {
        bone
        for leg in demo_database.roles.legs
        for bone in (leg.thigh, leg.shin, leg.foot, leg.toe)
    }
    rest = [bone for bone in range(demo_database.skeleton.bone_count) if bone not in legs]
    moved = baked.poses[:, :3] - take.unlocked_poses[:, :3]
    hips = demo_database.skeleton.parents == 0
    np.testing.assert_array_equal(moved[:, :, ~hips], 0.0)
    np.testing.assert_array_equal(moved[:, :2], 0.0)
    assert (moved[:, 2] <= 0.0).all()
    turned = quat.angle_between(
        baked.poses[:, 3:, rest].transpose(0, 2, 1).astype(np.float64),
        take.unlocked_poses[:, 3:, rest].transpose(0, 2, 1).astype(np.float64),
    )
    assert turned.max() < 1e-3


@pytest.mark.parametrize("raised", [0.04, 0.12])
def test_a_foot_that_a_held_pose_has_in_the_air_stands_on_the_ground(demo_database, raised):
    """A character without standing motion holds a pose out of a step: no foot of it may hover."""
    take = perform_script(demo_database, "stop_and_go")
    leg = demo_database.derive(measure_character_legs)[0]
    heights = baking.compute_toe_positions(demo_database.poses, demo_database)[:, 0, 2]
    swings = ~np.asarray(demo_database.contacts)[:, 0]
    held = np.flatnonzero(swings)[np.abs(heights[swings] - leg.toe_height - raised).argmin()]
    moved = np.linalg.norm(take.character[60:, :2] - take.character[:-60, :2], axis=-1)
    stands = slice(moved.argmin(), moved.argmin() + 60)
    frames, unlocked = take.frames.copy(), take.unlocked_poses.copy()
    frames[stands], contacts = held, take.contacts.copy()
    unlocked[stands, :, 1:], contacts[stands] = demo_database.poses[held, :, 1:], True
    changed = replace(take, frames=frames, unlocked_poses=unlocked, contacts=contacts)
    baked = baking.bake_feet(changed, demo_database)
    toe = baking.compute_toe_positions(baked.poses, demo_database)[stands][10:50, 0, 2]
    assert heights[held] > leg.toe_height + 0.8 * raised
    np.testing.assert_allclose(toe, leg.toe_height, atol=5e-3)


@pytest.mark.slow
def test_editing_a_range_moves_the_plant(demo_database, take):
    ranges = baking.find_contact_ranges(take, demo_database)
    chosen = next(i for i, r in enumerate(ranges) if r.start > 60 and r.stop - r.start > 8)
    r = ranges[chosen]
    baked = baking.bake_feet(take, demo_database, ranges)
    place = baking.compute_toe_positions(baked.poses, demo_database)[r.start + 3, r.leg]
    point = (float(place[0]) + 0.05, float(place[1]) - 0.03)
    edited = [*ranges[:chosen], replace(r, point=point), *ranges[chosen + 1 :]]
    toes = baking.compute_toe_positions(
        baking.bake_feet(take, demo_database, edited).poses, demo_database
    )
    np.testing.assert_allclose(toes[r.start + 3, r.leg, :2], point, atol=5e-3)
    # without the range, the leg follows the motion
    without = baking.bake_feet(take, demo_database, [*ranges[:chosen], *ranges[chosen + 1 :]])
    assert not without.locked[r.start : r.stop, r.leg].any()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 5])
def test_a_bake_makes_no_joint_leap(demo_database, seed):
    """At times a foot has to come down, or leave, within a moment."""
    take = perform_script(demo_database, "random", "run", 40.0, seed)
    played = takes.find_played_frames(take, demo_database)
    baked = baking.bake_feet(take, demo_database)
    body = baking.make_body(baked.poses, baked.character, demo_database)
    assert body.acceleration.max() <= 1.1 * played.accelerations.max()


@pytest.mark.parametrize("script", ["turns", "random"])
def test_a_bake_stretches_no_leg_farther_than_the_motion(demo_database, script):
    take = perform_script(demo_database, script, "run", 20.0)
    baked, buffer = baking.bake_feet(take, demo_database), PerformerSettings().feet.stretch_buffer
    before, after = (
        quat.compute_world(poses.astype(np.float64), demo_database.skeleton.parents)[1]
        for poses in (take.unlocked_poses, baked.poses)
    )
    for leg in demo_database.roles.legs:
        upper, lower, whole = (
            np.linalg.norm(places[:, a] - places[:, b], axis=-1)
            for places, a, b in (
                (after, leg.thigh, leg.shin),
                (after, leg.shin, leg.foot),
                (before, leg.thigh, leg.foot),
            )
        )
        reach = np.linalg.norm(after[:, leg.thigh] - after[:, leg.foot], axis=-1)
        assert (reach <= np.maximum(upper + lower - buffer, whole) + 1e-4).all()


def test_contacts_saved_as_json_give_the_same_bake(demo_database, take, tmp_path):
    names = demo_database.roles.leg_names
    ranges = baking.find_contact_ranges(take, demo_database)
    contact_ranges.save(ranges, names, take.fps, tmp_path / "contacts.json")
    again = contact_ranges.load(tmp_path / "contacts.json", names, take.fps)
    np.testing.assert_array_equal(
        baking.bake_feet(take, demo_database).poses,
        baking.bake_feet(take, demo_database, again).poses,
    )


@pytest.mark.slow
def test_knees_never_bend_backwards(demo_database):
    """Include knees that a blend of two poses has overstretched."""
    for script, gait in (("random", "walk"), ("strafe_circle", "run")):
        take = perform_script(demo_database, script, gait)
        poses = take.unlocked_poses.copy()
        shin = demo_database.roles.legs[0].shin
        hinge = np.array(
            measure_legs(demo_database.skeleton, demo_database.roles, demo_database.poses[::7])[
                0
            ].hinge
        )
        backward = quat.from_angle_axis(
            np.full(10, 0.2) + measure_knee_bends(poses, demo_database)[100:110, 0], hinge
        )
        local = poses[100:110, 3:, shin].astype(np.float64)
        poses[100:110, 3:, shin] = quat.mul(local, backward)
        assert measure_knee_bends(poses, demo_database)[100:110, 0].max() < -0.1
        baked = baking.bake_feet(replace(take, unlocked_poses=poses), demo_database)
        bends = measure_knee_bends(baked.poses, demo_database)
        before, after = (
            baking.compute_toe_positions(p, demo_database) for p in (poses, baked.poses)
        )
        changed = np.linalg.norm(after - before, axis=-1)
        assert bends[changed > 1e-3].min() > -1e-3
        assert bends.max() < measure_knee_bends(take.unlocked_poses, demo_database).max() + 0.35


def test_all_four_legs_of_an_animal_are_planted():
    parts = ("thigh", "shin", "foot", "toe")
    legs = {"left": "hind_{}_l", "right": "hind_{}_r", "left2": "fore_{}_l", "right2": "fore_{}_r"}
    roles = {f"{leg}_{part}": bone.format(part) for leg, bone in legs.items() for part in parts}
    database = build(
        [Source(clip=make_dog(frames=300))],
        BuildSettings(roles=roles | {"hips": "pelvis", "spine": "withers"}),
    )[0]
    assert len(database.roles.legs) == 4
    poses = np.array(database.poses[:200])
    poses[:, 0, 0] += 0.05 * np.sin(np.arange(200) / 40.0)  # dragged aside
    legs = measure_legs(database.skeleton, database.roles, database.poses)
    ranges = [ContactRange(leg, 30 + 40 * leg, 35 + 40 * leg) for leg in range(4)]
    planted = plant(poses, database.skeleton, legs, ranges, database.fps)
    toes = baking.compute_toe_positions(planted, database)
    before = baking.compute_toe_positions(poses, database)
    for r in ranges:
        moved = [
            np.ptp(places[r.start : r.stop, r.leg, :2], axis=0).max() for places in (before, toes)
        ]
        assert moved[1] < 0.25 * moved[0]


# ---------------------------------------------------------------- measured foot slide


def assert_planted(database, gait, held, seconds=60.0):
    """Check foot slide over all scripts without pushes, by MANN's measure.

    Live, it is at most 10 cm/s walking and 20 running; baked, at most 1.2 times that of the
    sources. In each take, feet slide less baked than live, with small corrections of the legs, and
    more than `held` of the contacts stand; the others are steps.
    """
    live_slides, slides, corrections = [], [], []
    for script in scripts.UNDISTURBED:
        live = perform_script(database, script, gait, seconds)
        baked = baking.bake_feet(live, database)
        report = takes.report(baked, database, live=live)
        measured, sources = report["take"], report["sources"]
        if script != "turns":
            live_slides.append(report["live"]["foot_slide_mann"])
        slides.append(measured["foot_slide_mann"])
        corrections.append(measured["leg_correction_mean"])
        for name in ("foot_slide_mann", "foot_slide_contacts"):
            assert measured[name] <= report["live"][name], (script, name)
        assert measured["contacts_locked"] > held, script
        unlocked = replace(live, poses=live.unlocked_poses)
        before = takes.report(baked, database, live=unlocked)["live"]["pops"]
        assert measured["pops"] <= max(before, report["live"]["pops"]), script
        assert measured["toe_lowest"] > -0.01
        assert measure_lowest_toe(live, database) > -0.01
    assert np.mean(corrections) < 0.07
    assert np.max(corrections) < 0.08
    assert np.mean(live_slides) <= {"walk": 0.10, "run": 0.20}[gait]
    assert np.mean(slides) <= 1.2 * sources["foot_slide_mann"]


def measure_lowest_toe(take, database) -> float:
    """Return the smallest height of a take's toes above their standing height, in metres."""
    standing = [leg.toe_height for leg in database.derive(measure_character_legs)]
    return float((baking.compute_toe_positions(take.poses, database)[..., 2] - standing).min())


@pytest.mark.slow
@pytest.mark.parametrize("gait", ["walk", "run"])
def test_baked_feet_slide_hardly_more_than_those_of_the_sources(demo_database, gait):
    assert_planted(demo_database, gait, 0.9)


@pytest.mark.slow
@pytest.mark.parametrize("gait", ["walk", "run"])
def test_baked_feet_of_bandai_namco(bandai_namco, gait):
    assert_planted(bandai_namco, gait, 0.85)


@pytest.mark.slow
def test_baked_feet_of_lafan1(lafan1):
    assert_planted(lafan1, "walk", 0.86)


@pytest.mark.slow
@pytest.mark.parametrize("script", ["random", "turns"])
def test_feet_of_clips_that_only_go_straight_stand_on_turns(mocap: Path, script):
    """Steered into turns, a few short walks are played in bits."""
    database = build(find_sources([mocap / "cmu-walks"]), BuildSettings(mirror=True))[0]
    live = perform_script(database, script, "walk", 60.0)
    measured = takes.report(baking.bake_feet(live, database), database, live=live)["take"]
    assert measured["foot_slide_contacts"] < 0.01
    assert measured["contacts_locked"] > 0.97
    assert live.locked[live.contacts].mean() > 0.97


@pytest.mark.parametrize("seed", [0, 2])
def test_baked_toes_of_bandai_namco_go_no_deeper_into_the_floor_than_those_played(
    bandai_namco, seed
):
    """Nor do their tips, which a leg that is eased around a leap bends down."""
    live = perform_script(bandai_namco, "random", "walk", 60.0, seed)
    baked = baking.bake_feet(live, bandai_namco)
    played, toes = (
        measure_lowest_tips(poses, bandai_namco)
        for poses in (bandai_namco.poses[live.frames], baked.poses)
    )
    assert toes > min(played, -0.003) - 0.001


def measure_lowest_tips(poses: np.ndarray, database) -> float:
    """Return the smallest height of toes and their tips above where they stand, in metres."""
    rotations, places = quat.compute_world(poses.astype(np.float64), database.skeleton.parents)
    heights = []
    for leg in database.derive(measure_character_legs):
        toe = places[:, leg.chain[-1], 2]
        tip = toe + quat.mul_vec(rotations[:, leg.chain[-1]], np.array(leg.tip))[:, 2]
        heights += [toe - leg.toe_height, tip - leg.tip_height]
    return float(np.min(heights))
