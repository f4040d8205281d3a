"""Takes of built-in and real clips meet the standards that their reports measure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.control import scripts
from motion_matching.engine.control.take import join
from motion_matching.engine.database.build import BuildSettings, build
from motion_matching.engine.database.sources import find_sources
from motion_matching.engine.maths import quat
from motion_matching.engine.motion import bvh
from motion_matching.engine.takes import baking, takes
from tests.engine.scripted import perform_script

_HARDEST = 1.2  # times the 99th percentile of the sources
_FURTHEST = np.radians(5.0)  # how far knees may bend beyond the data


def assert_good_take(database, script, gait, seconds=60.0):
    """Check for freezes, spins, pops, overbent knees, and for the desired speed where the data has
    it.
    """
    performed = perform_script(database, script, gait, seconds)
    report = takes.report(performed, database)
    take, sources = report["take"], report["sources"]
    most = measure_knees(database.poses, database).max() + _FURTHEST
    baked = baking.bake_feet(performed, database)
    for each in (performed, baked):
        assert measure_jump_accelerations(each, database) <= _HARDEST * sources["acceleration_p99"]
        assert measure_knees(each.poses, database).max() <= most
    assert take["freezes"] == 0
    assert take["turn_rate_max"] <= 1.2 * sources["turning_p99"]
    assert take["jump_acceleration_p99"] <= sources["acceleration_max"]
    if take["wanted_speed_in_data"] > 0.2:
        assert take["achieved_speed"] == pytest.approx(take["desired_speed"], rel=0.1)


def compute_positions(poses, database):
    local = np.asarray(poses).transpose(0, 2, 1).astype(np.float64)
    return quat.fk(local[..., 3:], local[..., :3], database.skeleton.parents)[1]


def measure_jump_accelerations(take, database):
    """Return the 99th percentile of the largest bone accelerations in the world at the two ticks
    around each jump, in m/s².
    """
    second = np.diff(compute_positions(take.poses, database)[:, 1:], 2, axis=0) * take.fps**2
    at_jumps = (take.jumped | np.append(take.jumped[1:], False))[1:-1]
    return np.percentile(np.linalg.norm(second, axis=-1).max(axis=-1)[at_jumps], 99)


def measure_knees(poses, database):
    """Measure how far the knees (L, F) are bent, in radians; 0 is straight."""
    at = np.concatenate(
        [compute_positions(poses[k : k + 5000], database) for k in range(0, len(poses), 5000)]
    )
    bends = []
    for leg in database.roles.legs:
        upper, lower = at[:, leg.shin] - at[:, leg.thigh], at[:, leg.foot] - at[:, leg.shin]
        cosine = (
            np.sum(upper * lower, axis=-1)
            / np.linalg.norm(upper, axis=-1)
            / np.linalg.norm(lower, axis=-1)
        )
        bends.append(np.arccos(np.clip(cosine, -1.0, 1.0)))
    return np.array(bends)


@pytest.mark.slow
@pytest.mark.parametrize("gait", ["walk", "run"])
@pytest.mark.parametrize("script", scripts.NAMES)
def test_takes_of_the_built_in_clips(demo_database, script, gait):
    assert_good_take(demo_database, script, gait)


@pytest.fixture(scope="module")
def bandai_namco(mocap):
    return build(find_sources([mocap / "bandai-namco"]), BuildSettings(mirror=True))[0]


@pytest.mark.parametrize("gait", ["walk", "run"])
@pytest.mark.parametrize("script", [name for name in scripts.NAMES if name != "stop_and_go"])
def test_takes_of_bandai_namco(bandai_namco, script, gait):
    assert_good_take(bandai_namco, script, gait)


@pytest.fixture(scope="module")
def lafan1(mocap):
    return build(find_sources([mocap / "lafan1"]), BuildSettings(mirror=True))[0]


@pytest.mark.parametrize("script", scripts.NAMES)
def test_walking_takes_of_lafan1(lafan1, script):
    assert_good_take(lafan1, script, "walk")


def test_a_character_stops_on_request(demo_database):
    take = perform_script(demo_database, "stop_and_go", "walk", 30)
    speed = np.linalg.norm(np.diff(take.character[:, :2], axis=0), axis=1) * take.fps
    # the second half of each rest, after a second of lead-in and three of walking
    resting = [(t - 1.0) % 5.0 > 4.2 for t in np.arange(len(speed)) / take.fps]
    assert speed[resting].mean() < 0.05


def test_a_report_measures_the_written_file(demo_database, tmp_path):
    take = perform_script(demo_database, "square", "walk", 6)
    takes.write_bvh(take, tmp_path / "take.bvh")
    written = takes.report(take, demo_database, tmp_path / "take.bvh")
    assert written == takes.report(take, demo_database)
    clip = bvh.load(tmp_path / "take.bvh")
    still = clip.positions.copy()
    still[:] = still[0]
    bvh.save(
        type(clip)(
            clip.name,
            clip.skeleton,
            still,
            np.broadcast_to(clip.rotations[:1], clip.rotations.shape),
            clip.fps,
        ),
        tmp_path / "still.bvh",
    )
    frozen = takes.report(take, demo_database, tmp_path / "still.bvh")
    assert frozen["take"]["speed_mean"] < 1e-6
    assert frozen["take"]["freezes"] > 0


def test_a_take_written_as_bvh_moves_like_the_take(demo_database, tmp_path):
    take = perform_script(demo_database, "flips", "run", 5)
    takes.write_bvh(take, tmp_path / "take.bvh")
    clip = bvh.load(tmp_path / "take.bvh", scale=0.01)
    _, written = clip.compute_world()
    _, performed = take.to_clip().compute_world()
    for bone, name in enumerate(clip.skeleton.names):
        np.testing.assert_allclose(
            written[:, bone], performed[:, take.skeleton.index(name)], atol=1e-4
        )


def test_bone_names_that_bvh_cannot_hold_do_not_change_a_report(demo_database):
    """Whitespace becomes '_' in the measured file, where two names may become one and are numbered."""
    bare = demo_database.skeleton.names[1:]
    odd = {"Hips": "Bip01 Pelvis", "Head": "Bip01_Pelvis", "LeftFoot": "Bip01 {L} Foot"}
    names = ("Simulation", *(odd.get(n, n) for n in bare))
    renamed = replace(demo_database, skeleton=demo_database.skeleton.with_names(names))
    settings = takes.make_default_settings(demo_database)
    wanted = takes.prepare_performance(
        demo_database, settings, "square", gait="walk", seconds=4, seed=0
    )
    reports = [
        takes.report(takes.perform(database, settings, wanted), database)
        for database in (demo_database, renamed)
    ]
    assert reports[0]["take"] == reports[1]["take"]


def test_used_clips_are_listed_with_their_seconds(demo_database):
    take = perform_script(demo_database, "random", "walk", 10, seed=1)
    clips = takes.list_used_clips(take, demo_database)
    assert sum(c["seconds"] + c["mirrored"] for c in clips) == pytest.approx(10.0, abs=0.2)
    assert {c["clip"] for c in clips} == {
        demo_database.get_frame_source(int(f)).clip for f in take.frames
    }


def test_every_jump_is_explained_by_its_candidates(demo_database):
    take = perform_script(demo_database, "flips", "walk", 8)
    jumps = takes.explain_jumps(take, demo_database)
    assert len(jumps) == take.jumped.sum()
    for tick, jump in zip(np.flatnonzero(take.jumped), jumps, strict=True):
        entered = demo_database.get_frame_source(int(take.frames[tick]) - 1)
        best = jump["candidates"][0]
        assert (best["clip"], best["frame"], best["mirrored"]) == (
            entered.clip,
            entered.frame,
            entered.mirrored,
        )
        assert best["cost"] == pytest.approx(sum(best["by_feature"].values()), abs=0.01)


def test_a_report_names_the_speeds_that_clips_lack(demo_database):
    settings = takes.make_default_settings(demo_database)
    wanted = takes.prepare_performance(
        demo_database, settings, "square", gait="walk", seconds=4, seed=0
    )
    report = takes.report(takes.perform(demo_database, settings, wanted), demo_database)
    assert report["speeds_not_in_data"] == []
    faster = settings.with_changes({"walk": {"forward": 9.0, "side": 1.0, "back": 0.5}})
    report = takes.report(takes.perform(demo_database, faster, wanted), demo_database)
    (lacking,) = report["speeds_not_in_data"]
    assert (lacking["gait"], lacking["direction"], lacking["wanted"]) == ("walk", "forward", 9.0)
    assert 3.0 < lacking["found"] < 6.0
    assert "9.00 m/s is set" in takes.summarize(report)


def test_later_takes_replace_parts_of_earlier_ones(demo_database):
    square, flips = (
        perform_script(demo_database, script, seconds=4) for script in ("square", "flips")
    )
    assert np.array_equal(join([(0, square)]).poses, square.poses)

    # the later take wins where both overlap, and the first continues after it
    short = flips.crop(flips.frame_count - 30)
    both = join([(0, square), (20, short)])
    assert both.frame_count == square.frame_count
    for name in ("poses", "frames", "contacts", "desired_velocity"):
        values, old, new = (getattr(take, name) for take in (both, square, short))
        assert np.array_equal(values[:20], old[:20])
        assert np.array_equal(values[20:50], new)
        assert np.array_equal(values[50:], old[50:])
    old, new = (
        {tick + at for tick, _ in take.decisions} for at, take in ((0, square), (20, short))
    )
    assert [tick for tick, _ in both.decisions] == sorted(
        {tick for tick in old if not 20 <= tick < 50} | new
    )

    # appended, and after a gap
    count = square.frame_count
    assert np.array_equal(
        join([(0, square), (count, flips)]).poses, np.concatenate([square.poses, flips.poses])
    )
    apart = join([(0, square), (count + 5, flips)])
    assert np.all(apart.poses[count : count + 5] == square.poses[-1])
    assert np.array_equal(apart.poses[count + 5 :], flips.poses)
