"""The head looks ahead of the body: sooner, within what a neck can do, without pops."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control.life.looking import Gaze, Look, measure_gaze
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.facts.character import measure_character_gaze
from motion_matching.engine.facts.idles import find_standing
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.field.states.neighbours import Metric
from motion_matching.engine.maths.planar import wrap
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance import performance as performances
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.performance.settings import Life
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import baking, metrics, takes
from tests.engine.animals import make_dog_motions
from tests.engine.heads import find_delays, measure_heads
from tests.engine.scripted import perform_script

DT = 1 / 60
FULL = Life(look=1.0)


@pytest.fixture(scope="module")
def flips(demo_database):
    """Takes of flips that do not look, and that do."""
    return [perform_script(demo_database, "flips", seconds=40.0, look=look) for look in (0.0, 1.0)]


@pytest.fixture
def still(demo_database):
    """A standing pose of the demo, with bone 0 at the origin."""
    pose = np.array(
        demo_database.poses[np.flatnonzero(demo_database.derive(find_standing))[0]], np.float32
    )
    pose[:, 0] = [0, 0, 0, 1, 0, 0, 0]
    return pose


def play(look, still, headings, points=None, settings=FULL):
    """Return the poses (T, 7, B) of a look from a still pose at headings, or at points."""
    poses = []
    for tick, heading in enumerate(headings):
        pose = still.copy()
        look.apply(pose, heading, points and points[tick], settings, DT)
        poses.append(pose)
    return np.array(poses)


def test_the_head_faces_the_new_way_sooner_after_a_flip(demo_database, flips):
    before, after = (find_delays(take, demo_database) for take in flips)
    assert len(before) > 8
    assert np.median(after) <= 0.5 * np.median(before)
    assert (before - after).min() >= 0.2


def test_only_bones_from_spine_to_head_turn_and_feet_stay(demo_database, flips):
    plain, looking = flips
    turning = np.abs(plain.poses - looking.poses).max(axis=(0, 1)) > 1e-6
    names = {demo_database.skeleton.names[bone] for bone in np.flatnonzero(turning)}
    assert names == {"Spine", "Chest", "UpperChest", "Neck", "Head"}
    np.testing.assert_array_equal(plain.frames, looking.frames)
    toes = [baking.compute_toe_positions(take.poses, demo_database) for take in flips]
    np.testing.assert_allclose(*toes, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("script", "gait"), [("flips", "walk"), ("random", "walk")])
def test_a_neck_stays_within_its_limits_and_nothing_pops(demo_database, script, gait):
    take = perform_script(demo_database, script, gait, seconds=40.0, look=1.0)
    gaze = demo_database.derive(measure_character_gaze)
    _, _, turns = measure_heads(take.poses, demo_database.skeleton, gaze)
    _, _, own = measure_heads(
        demo_database.poses[take.frames],
        demo_database.skeleton,
        demo_database.derive(measure_character_gaze),
    )
    limit = take.performer_settings.life.look_limit
    assert np.abs(turns).max() <= max(limit, np.abs(own).max()) + math.radians(2.0)
    assert np.abs(turns).max() > 0.8 * limit  # it does turn as far
    played = metrics.measure_frames(takes.find_played_frames(take, demo_database))
    _, places = quat.compute_world(take.poses.astype(np.float64), demo_database.skeleton.parents)
    hardest = np.linalg.norm(np.diff(places, 2, axis=0), axis=-1).max() * take.fps**2
    assert hardest <= 1.2 * played["acceleration_max"]


@pytest.mark.slow
def test_a_bake_contains_the_look_and_a_second_take_is_the_same(demo_database, flips):
    take = flips[1]
    baked = baking.bake_feet(take, demo_database)
    head = demo_database.roles.head
    np.testing.assert_array_equal(baked.poses[:, 3:, head], take.poses[:, 3:, head])
    again = takes.perform(demo_database, take.performer_settings, take.performance)
    assert again.poses.tobytes() == take.poses.tobytes()


@pytest.mark.slow
def test_a_motion_field_looks_too(demo_database):
    controller = FieldController(Metric.from_database(demo_database))
    heads = []
    for look in (0.0, 1.0):
        settings = takes.make_default_settings(demo_database).with_changes({"look": look})
        wanted = takes.prepare_performance(
            demo_database, settings, "flips", gait="walk", seconds=6.0, seed=0
        )
        take = takes.perform(demo_database, settings, wanted, controller=controller)
        heads.append(
            measure_heads(take.poses, take.skeleton, demo_database.derive(measure_character_gaze))[
                0
            ]
        )
    assert np.abs([wrap(turn) for turn in heads[1] - heads[0]]).max() > math.radians(45.0)


def test_without_look_a_pose_stays_as_it_is(demo_database, still):
    look = Look(demo_database.derive(measure_character_gaze))
    poses = play(look, still, [2.0] * 30, settings=Life(look=0.0))
    assert all(pose.tobytes() == still.tobytes() for pose in poses)


def test_a_look_that_is_switched_off_fades(demo_database, still):
    look = Look(demo_database.derive(measure_character_gaze))
    turned = play(look, still, [1.0] * 60)
    fade = Life(look=0.0, look_halflife=0.15)
    faded = play(look, still, [1.0] * 300, settings=fade)
    headings = measure_heads(
        np.concatenate([turned[-1:], faded]),
        demo_database.skeleton,
        demo_database.derive(measure_character_gaze),
    )[0]
    assert np.abs(np.diff(headings)).max() < 0.1
    assert faded[-1].tobytes() == still.tobytes()


def test_a_head_reaches_the_heading_and_the_height_of_what_it_looks_at(demo_database, still):
    head = demo_database.skeleton.compute_bone_positions([demo_database.roles.head], still[None])
    x, y, z = (head[0, 0] + [1.0, -2.0, 0.6]).tolist()
    poses = play(
        Look(demo_database.derive(measure_character_gaze)), still, [0.0] * 120, [(x, y, z)] * 120
    )
    heading, height, _ = measure_heads(
        poses, demo_database.skeleton, demo_database.derive(measure_character_gaze)
    )
    assert heading[-1] == pytest.approx(math.atan2(1.0, 2.0), abs=math.radians(3.0))
    assert height[-1] == pytest.approx(math.atan2(0.6, math.sqrt(5.0)), abs=math.radians(3.0))


def _list_ways(head):
    """Yield points (T, 3) that pass a head above, closely beside, through it, and behind."""
    along = np.linspace(-4.0, 4.0, 180)
    zero = 0.0 * along
    yield np.stack([zero, along, zero + 1.0], axis=-1) + head
    yield np.stack([zero + 0.01, along, zero + 0.5], axis=-1) + head
    yield np.stack([zero + 0.05, along, zero], axis=-1) + head
    yield np.stack([zero, along, zero], axis=-1) + head
    yield np.stack([along, zero + 2.0, zero], axis=-1) + head


def test_nothing_snaps_where_a_point_passes_overhead_or_behind(demo_database, still):
    skeleton, gaze = demo_database.skeleton, demo_database.derive(measure_character_gaze)
    head = skeleton.compute_bone_positions([gaze.chain[-1]], still[None])[0, 0]
    leap = play(Look(gaze), still, [1.2] * 180)  # the hardest of a single change of goal
    most = np.abs(np.diff(measure_heads(leap, skeleton, gaze)[0], 2)).max()
    for way in _list_ways(head):
        poses = play(Look(gaze), still, [0.0] * len(way), [tuple(p) for p in way.tolist()])
        heading, height, turns = measure_heads(poses, skeleton, gaze)
        for angle in (heading, height):
            assert np.abs(np.diff(angle, 2)).max() < 2.5 * most
        assert np.abs(turns).max() <= FULL.look_limit + 1e-6
        assert np.abs(height).max() <= FULL.look_tilt + math.radians(1.0)
    assert abs(heading[-1]) > math.radians(30.0)  # it came from behind


def test_a_goal_that_trembles_straight_behind_does_not_shake_the_head(demo_database, still):
    headings = [math.pi - 0.02 if tick % 2 else -math.pi + 0.02 for tick in range(240)]
    poses = play(Look(demo_database.derive(measure_character_gaze)), still, headings)
    heading, _, _ = measure_heads(
        poses, demo_database.skeleton, demo_database.derive(measure_character_gaze)
    )
    assert np.abs(np.diff(heading)).max() < math.radians(6.0)


def test_a_point_behind_is_left_alone(demo_database, still):
    poses = play(
        Look(demo_database.derive(measure_character_gaze)),
        still,
        [0.3] * 200,
        [(0.1, 3.0, 1.6)] * 200,
    )
    heading, _, _ = measure_heads(
        poses, demo_database.skeleton, demo_database.derive(measure_character_gaze)
    )
    assert heading[-1] == pytest.approx(0.3, abs=0.02)  # where it goes counts then


@pytest.mark.parametrize("size", [0.03, 20.0])
def test_mice_and_giants_look_alike(demo_database, still, size):
    point = (1.0, -1.5, 2.0)
    plain = play(
        Look(demo_database.derive(measure_character_gaze)), still, [0.0] * 60, [point] * 60
    )
    scaled = still.copy()
    scaled[:3] *= size
    other = [tuple(size * value for value in point)] * 60
    sized = play(Look(demo_database.derive(measure_character_gaze)), scaled, [0.0] * 60, other)
    np.testing.assert_allclose(sized[:, 3:], plain[:, 3:], atol=1e-5)


def test_an_animal_turns_its_neck_and_not_its_forelegs():
    motions = make_dog_motions(fps=30.0)
    database = build([Source(clip=motions[0].clip)], BuildSettings())[0]
    gaze = database.derive(measure_character_gaze)
    assert gaze is not None
    assert not gaze.has_spine
    poses = [perform_script(database, "flips", seconds=8.0, look=look).poses for look in (0.0, 1.0)]
    turning = np.abs(poses[1] - poses[0]).max(axis=(0, 1)) > 1e-6
    names = {database.skeleton.names[bone] for bone in np.flatnonzero(turning)}
    assert "Head" in names
    assert names <= {"Neck", "Head"}
    _, _, turns = measure_heads(poses[1], database.skeleton, gaze)
    assert math.radians(45.0) < np.abs(turns).max() <= FULL.look_limit + 1e-6


def test_a_character_without_a_known_head_does_not_look(demo_database, still):
    roles = replace(demo_database.roles, head=None)
    assert measure_gaze(demo_database.skeleton, roles, demo_database.poses[:100]) is None
    poses = play(Look(None), still, [1.0] * 5)
    assert all(pose.tobytes() == still.tobytes() for pose in poses)


def test_a_head_below_the_chest_or_above_the_legs_is_none(demo_database):
    roles, skeleton = demo_database.roles, demo_database.skeleton
    with_hips = replace(roles, head=roles.hips)
    assert measure_gaze(skeleton, with_hips, demo_database.poses[:100]) is None
    without_spine = measure_gaze(
        skeleton, replace(roles, spine=roles.hips), demo_database.poses[:100]
    )
    assert isinstance(without_spine, Gaze)


def test_a_performance_stores_what_is_looked_at():
    wanted = Performance("a", 30.0, (Intent(look_at=(1.0, 2.0, 1.5)), Intent()))
    text = performances.to_json(wanted)
    assert performances.from_json(text, "a file").intents == wanted.intents
    wrong = text.replace("1.5", '"high"')
    with pytest.raises(SettingsError, match="'look_at' of intent 1"):
        performances.from_json(wrong, "a file")


def test_older_recordings_do_not_look():
    settings = {"velocity_halflife": 0.2, "foot_lock": True}
    text = performances.to_json(Performance("a", 30.0, (Intent(),), settings=settings))
    assert performances.from_json(text, "a file").settings["look"] == 0.0
