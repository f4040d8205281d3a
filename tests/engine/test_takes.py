"""Takes from the built-in clips and from real ones keep what their reports promise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine import takes
from motion_matching.engine.control import scripts
from motion_matching.engine.matching.build import BuildSettings, build
from motion_matching.engine.matching.sources import find_sources
from motion_matching.engine.motion import bvh


def report_of(database, script, gait, seconds=60.0):
    settings = takes.default_settings(database)
    wanted = takes.performance_for(database, settings, script, gait=gait, seconds=seconds, seed=0)
    return takes.report(takes.perform(database, settings, wanted), database)


def assert_kept(report):
    """No freeze, no spin, no pop, and the wanted speed where the data has it."""
    take, sources = report["take"], report["sources"]
    assert take["freezes"] == 0
    assert take["turn_rate_max"] <= 1.2 * sources["turning_p99"]
    assert take["jump_acceleration_p99"] <= sources["acceleration_max"]
    if take["wanted_speed_in_data"] > 0.2:
        assert take["achieved_speed"] == pytest.approx(take["desired_speed"], rel=0.1)


@pytest.mark.parametrize("gait", ["walk", "run"])
@pytest.mark.parametrize("script", scripts.NAMES)
def test_takes_of_the_built_in_clips(demo_database, script, gait):
    assert_kept(report_of(demo_database, script, gait))


@pytest.fixture(scope="module")
def bandai_namco(mocap):
    return build(find_sources([mocap / "bandai-namco"]), BuildSettings(mirror=True))[0]


@pytest.mark.parametrize("gait", ["walk", "run"])
@pytest.mark.parametrize("script", [name for name in scripts.NAMES if name != "stop_and_go"])
def test_takes_of_bandai_namco(bandai_namco, script, gait):
    assert_kept(report_of(bandai_namco, script, gait))


@pytest.mark.parametrize("script", scripts.NAMES)
def test_walking_takes_of_lafan1(mocap, script):
    database = build(find_sources([mocap / "lafan1"]), BuildSettings(mirror=True))[0]
    assert_kept(report_of(database, script, "walk"))


def test_a_character_stops_when_it_is_told_to(demo_database):
    settings = takes.default_settings(demo_database)
    wanted = takes.performance_for(demo_database, settings, "stop_and_go", gait="walk", seconds=30, seed=0)
    take = takes.perform(demo_database, settings, wanted)
    speed = np.linalg.norm(np.diff(take.character[:, :2], axis=0), axis=1) * take.fps
    # the second half of each rest, after a lead-in of one second and three of going
    resting = [(t - 1.0) % 5.0 > 4.2 for t in np.arange(len(speed)) / take.fps]
    assert speed[resting].mean() < 0.05


def test_a_report_measures_the_file_that_is_read_back(demo_database, tmp_path):
    settings = takes.default_settings(demo_database)
    wanted = takes.performance_for(demo_database, settings, "square", gait="walk", seconds=6, seed=0)
    take = takes.perform(demo_database, settings, wanted)
    takes.write_bvh(take, tmp_path / "take.bvh")
    written = takes.report(take, demo_database, tmp_path / "take.bvh")
    assert written == takes.report(take, demo_database)
    clip = bvh.load(tmp_path / "take.bvh")
    still = clip.positions.copy()
    still[:] = still[0]
    bvh.save(type(clip)(clip.name, clip.skeleton, still, np.broadcast_to(clip.rotations[:1], clip.rotations.shape),
                        clip.fps), tmp_path / "still.bvh")
    frozen = takes.report(take, demo_database, tmp_path / "still.bvh")
    assert frozen["take"]["speed_mean"] < 1e-6
    assert frozen["take"]["freezes"] > 0


def test_a_take_as_motion_capture_moves_as_the_take(demo_database, tmp_path):
    settings = takes.default_settings(demo_database)
    wanted = takes.performance_for(demo_database, settings, "flips", gait="run", seconds=5, seed=0)
    take = takes.perform(demo_database, settings, wanted)
    takes.write_bvh(take, tmp_path / "take.bvh")
    clip = bvh.load(tmp_path / "take.bvh", scale=0.01)
    _, written = clip.world()
    _, performed = take.clip().world()
    for bone, name in enumerate(clip.skeleton.names):
        np.testing.assert_allclose(written[:, bone], performed[:, take.skeleton.index(name)], atol=1e-4)


def test_bones_may_have_names_that_motion_capture_cannot_hold(demo_database):
    """Whitespace becomes '_' in the file that is measured; so may two names become one, and are told apart there."""
    bare = demo_database.skeleton.names[1:]
    odd = {"Hips": "Bip01 Pelvis", "Head": "Bip01_Pelvis", "LeftFoot": "Bip01 {L} Foot"}
    renamed = replace(demo_database, skeleton=demo_database.skeleton.renamed(("Simulation", *(odd.get(n, n) for n in bare))))
    settings = takes.default_settings(demo_database)
    wanted = takes.performance_for(demo_database, settings, "square", gait="walk", seconds=4, seed=0)
    reports = [takes.report(takes.perform(database, settings, wanted), database) for database in (demo_database, renamed)]
    assert reports[0]["take"] == reports[1]["take"]


def test_the_clips_of_a_take_are_named_with_their_seconds(demo_database):
    settings = takes.default_settings(demo_database)
    wanted = takes.performance_for(demo_database, settings, "random", gait="walk", seconds=10, seed=1)
    take = takes.perform(demo_database, settings, wanted)
    clips = takes.clips_used(take, demo_database)
    assert sum(c["seconds"] + c["mirrored"] for c in clips) == pytest.approx(10.0, abs=0.2)
    assert {c["clip"] for c in clips} == {demo_database.source_of(int(f)).clip for f in take.frames}


def test_every_jump_is_explained_by_the_frames_it_chose_from(demo_database):
    settings = takes.default_settings(demo_database)
    wanted = takes.performance_for(demo_database, settings, "flips", gait="walk", seconds=8, seed=0)
    take = takes.perform(demo_database, settings, wanted)
    jumps = takes.jumps_explained(take, demo_database)
    assert len(jumps) == take.jumped.sum()
    for tick, jump in zip(np.flatnonzero(take.jumped), jumps, strict=True):
        entered = demo_database.source_of(int(take.frames[tick]) - 1)
        best = jump["candidates"][0]
        assert (best["clip"], best["frame"], best["mirrored"]) == (entered.clip, entered.frame, entered.mirrored)
        assert best["cost"] == pytest.approx(sum(best["by_feature"].values()), abs=0.01)
