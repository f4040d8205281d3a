"""A dog from its motions to a take: all its legs count, stand and follow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from building.locomotion.locomotion import Move, perform
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.bvh import bvh
from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import load_schema
from motion_matching.engine.database.statistics import measure_speeds
from motion_matching.engine.database.tags.thresholds import AutoTagSettings
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.performance import scripts
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.performance.settings import WALK_TO_RUN
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import baking, takes
from tests.engine import animals

FEET = ["left_foot", "left2_foot", "right_foot", "right2_foot"]


@pytest.fixture(scope="module")
def motions() -> list[animals.Motion]:
    return animals.make_dog_motions()


@pytest.fixture(scope="module")
def database(motions: list[animals.Motion]) -> Database:
    return build([Source(clip=motion.clip) for motion in motions], BuildSettings())[0]


def test_a_database_has_the_contacts_of_four_paws(database, motions):
    right = database.contacts == np.concatenate([motion.contacts for motion in motions])
    assert (right.mean(axis=0) > 0.96).all()


def test_all_legs_are_in_the_default_features_and_weigh_as_much_together(database):
    default = load_schema("default")
    for kind in ("bone_position", "bone_velocity"):
        of_feet = [f for f in database.schema.features if f.kind == kind and f.bone != "hips"]
        first = [f for f in default.features if f.kind == kind and f.bone != "hips"]
        assert [f.bone for f in of_feet] == FEET
        assert sum(f.weight**2 for f in of_feet) == pytest.approx(sum(f.weight**2 for f in first))
    assert default.with_all_legs(("left", "right")) == default
    assert database.schema.with_all_legs(database.roles.leg_names) == database.schema


def test_a_dogs_database_is_the_same_after_saving(database, tmp_path):
    databases.save(database, tmp_path / "dog.npz")
    loaded = databases.load(tmp_path / "dog.npz")
    assert loaded.roles == database.roles
    assert loaded.role_names == database.role_names
    assert loaded.role_names["left2_toe"] == "LeftHand"
    assert loaded.toe_ends.keys() == {
        f"{side}{end}_end" for side in ("Left", "Right") for end in ("Foot", "Hand")
    }


@pytest.mark.parametrize("script", ["figure_eight", "square"])
@pytest.mark.parametrize("gait", ["walk", "run"])
@pytest.mark.slow
def test_a_dogs_paws_stay_planted_and_it_follows(database, script, gait):
    live, _, report = make_take(database, script, gait)
    take, played = report["take"], report["played"]
    assert live.contacts.mean(axis=0).min() > 0.25  # of all four paws
    assert report["live"]["contacts_locked"] > 0.97
    assert report["live"]["foot_skate_from_contacts"] < 0.12
    assert take["contacts_locked"] > 0.98
    assert take["foot_skate_from_contacts"] < 0.02
    assert take["foot_slide_mann"] < 1.1 * played["foot_slide_mann"]
    assert take["simulation_distance_mean"] < 0.08
    assert take["achieved_along_wish"] > 0.9 * take["desired_speed"]


@pytest.mark.slow
def test_a_dog_that_never_moves_aside_turns_to_where_it_moves(database, demo_database):
    assert takes.make_default_settings(demo_database).steering.strafe
    assert not takes.make_default_settings(database).steering.strafe
    intents = 240 * [Intent(move=(1.0, 0.0), facing=0.0)]
    settings = takes.make_default_settings(database)
    take = takes.perform(database, settings, Performance("aside", database.fps, tuple(intents)))
    moved = take.character[-1] - take.character[-120]
    seconds = 119 / database.fps
    assert moved[0] == pytest.approx(settings.steering.walk.forward * seconds, rel=0.15)
    assert abs(take.character[-1, 2] - np.pi / 2) < 0.2


def make_take(database: Database, script: str, gait: str) -> tuple[Take, Take, dict[str, Any]]:
    """Return a take before its feet are baked, the baked one and its report."""
    settings = takes.make_default_settings(database)
    performance = scripts.build_script(
        script, 20, database.fps, settings.steering.walk, settings.steering.run, gait=gait
    )
    live = takes.perform(database, settings, performance)
    baked = baking.bake_feet(live, database)
    return live, baked, takes.report(baked, database, live=live)


@pytest.mark.parametrize("size", [0.08, 10.0])
@pytest.mark.slow
def test_paws_of_a_mouse_and_of_a_giant_stay_planted(size):
    motions = animals.make_dog_motions(size)
    database = build([Source(clip=motion.clip) for motion in motions], BuildSettings())[0]
    _, baked, report = make_take(database, "square", "walk")
    take, pace = report["take"], np.sqrt(size)
    assert take["contacts_locked"] > 0.9
    assert take["foot_skate_from_contacts"] < 0.08 * pace
    assert take["simulation_distance_mean"] < 0.08 * size
    assert take["achieved_along_wish"] > 0.9 * take["desired_speed"]
    heights = baking.compute_toe_positions(baked.poses, database)[..., 2]
    assert heights.max() < 0.3 * size  # people's clearance would be as high as a mouse


def test_a_take_is_written_with_the_bones_of_its_sources(database, motions, tmp_path):
    settings = takes.make_default_settings(database)
    performance = scripts.build_script(
        "square", 3, database.fps, settings.steering.walk, settings.steering.run
    )
    take = takes.perform(database, settings, performance)
    takes.write_bvh(take, tmp_path / "take.bvh")
    names = motions[0].clip.skeleton.names
    assert set(bvh.load(tmp_path / "take.bvh", scale=0.01).skeleton.names) == set(names)


def test_mirrored_legs_change_sides(motions):
    mirrored = build([Source(clip=motions[1].clip)], BuildSettings(mirror=True))[0]
    half = mirrored.frame_count // 2
    left, right = mirrored.contacts[:half], mirrored.contacts[half:]
    assert (left[:, [1, 0, 3, 2]] == right).mean() > 0.995


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.08, 1.0, 10.0])
def test_gaits_are_parted_between_the_speeds_of_walking_and_trotting(size):
    motions = animals.make_dog_motions(size, fps=60.0 if size >= 1.0 else 200.0)
    database = build([Source(clip=motion.clip) for motion in motions], BuildSettings())[0]
    pace = np.sqrt(size)
    assert animals.WALK.speed * pace < database.walk_to_run < animals.TROT.speed * pace
    walk, run = measure_speeds(database)
    assert walk.forward == pytest.approx(animals.WALK.speed * pace, rel=0.1)
    assert run.forward > 0.95 * animals.TROT.speed * pace


def test_a_dog_that_only_trots_runs_by_the_length_of_its_legs():
    motion = animals.make_motion("trot", [(animals.TROT, 8.0, 0.0)])
    database = build([Source(clip=motion.clip)], BuildSettings(auto_tags=AutoTagSettings()))[0]
    assert 1.3 < database.walk_to_run < 1.8
    assert database.make_tag_mask({"run"}).mean() > 0.6


def scale(clip: Clip, size: float) -> Clip:
    """Return a clip of a body of another size that moves as quickly."""
    skeleton = replace(
        clip.skeleton, rest_positions=(size * clip.skeleton.rest_positions).astype(np.float32)
    )
    return replace(clip, skeleton=skeleton, positions=(size * clip.positions).astype(np.float32))


def build_scaled(size: float, *moves: list[Move]) -> Database:
    """Build people of another size, each clip with its own moves."""
    clips = [
        perform(f"clip {number}", each, 30.0, np.random.default_rng(number))
        for number, each in enumerate(moves)
    ]
    return build([Source(clip=scale(clip, size)) for clip in clips], BuildSettings())[0]


def test_a_creature_slower_than_others_of_its_size_desires_no_more_than_it_can():
    walk, _ = measure_speeds(build_scaled(0.05, [Move(8.0, 1.2)]))
    assert walk.forward == pytest.approx(0.06, rel=0.1)


@pytest.mark.parametrize("size", [100.0, 0.01])
def test_a_character_in_wrong_units_is_told_with_what_to_do(size):
    clip = perform("walk", [Move(4.0, 1.2)], 30.0, np.random.default_rng(0))
    database, report = build([Source(clip=scale(clip, size))], BuildSettings())
    (note,) = (note for note in report.warnings if note.kind == "size")
    assert "scale" in note.text
    assert f"{size:.3g} times" in note.text
    if size > 1.0:
        with pytest.raises(SettingsError, match=r"100 m/s.*scale"):
            takes.make_default_settings(database)


def test_characters_of_common_sizes_are_not_taken_for_wrong_units():
    for size in (0.08, 1.0, 10.0):
        clip = perform("walk", [Move(4.0, 1.2)], 30.0, np.random.default_rng(0))
        _, report = build([Source(clip=scale(clip, size))], BuildSettings())
        assert not [note for note in report.warnings if note.kind == "size"]


def test_people_run_from_the_same_speed_on(demo_database):
    assert demo_database.pace == 1.0
    assert demo_database.walk_to_run == WALK_TO_RUN
    assert AutoTagSettings(run_speed=1.9).at_pace(0.5).run_speed == 1.9
