"""Takes of built-in and real clips meet the standards that their reports measure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.bvh import bvh
from motion_matching.engine.control.rollout import join
from motion_matching.engine.facts.idles import find_idles
from motion_matching.engine.maths import planar
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance import scripts
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import baking, metrics, takes
from tests.demo import generate_clips
from tests.engine import animals
from tests.engine.scripted import perform_script

_HARDEST = 1.2  # times the 99th percentile of the sources
_FURTHEST = np.radians(5.0)  # how far knees may bend beyond the data


def assert_good_take(database, script, gait, seconds=30.0):
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


@pytest.mark.slow
@pytest.mark.parametrize("gait", ["walk", "run"])
@pytest.mark.parametrize("script", [name for name in scripts.UNDISTURBED if name != "stop_and_go"])
def test_takes_of_bandai_namco(bandai_namco, script, gait):
    # twice as long: it jumps so rarely that one jump in half a minute is its percentile
    assert_good_take(bandai_namco, script, gait, 60.0)


@pytest.mark.parametrize("script", scripts.NAMES)
def test_walking_takes_of_lafan1(lafan1, script):
    assert_good_take(lafan1, script, "walk")


@pytest.mark.slow
def test_a_character_stops_on_request(demo_database):
    take = perform_script(demo_database, "stop_and_go", "walk", 30)
    speed = np.linalg.norm(np.diff(take.character[:, :2], axis=0), axis=1) * take.fps
    # the second half of each rest, after a second of lead-in and three of walking
    resting = [(t - 1.0) % 5.0 > 4.2 for t in np.arange(len(speed)) / take.fps]
    assert speed[resting].mean() < 0.05


@pytest.mark.slow
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


def play_a_clip(database):
    """Return a take that plays the only clip of a database from its first to its last frame."""
    count = database.frame_count
    take = perform_script(database, "square", seconds=count / database.fps)
    assert take.frame_count == count
    return replace(
        take,
        poses=np.array(database.poses),
        unlocked_poses=np.array(database.poses),
        frames=np.arange(count),
        jumped=np.zeros(count, bool),
        character=np.array(database.track),
        contacts=np.array(database.contacts),
    )


def test_a_clip_played_as_it_is_measures_the_same_as_the_clip():
    clip = next(clip for clip in generate_clips() if "run" in clip.name)
    database = build([Source(clip=clip)], BuildSettings())[0]
    assert len(database.ranges) == 1
    take = play_a_clip(database)
    report = takes.report(take, database, live=take)
    played = report["played"]
    assert played["foot_slide_mann"] > 0.01
    for name, value in played.items():
        assert report["sources"][name] == value
        assert report["live"][name] == pytest.approx(value, rel=1e-6)
        # rounding in the file grows with the square of the rate
        close = {"abs": 0.05} if "acceleration" in name else {"abs": 1e-3}
        assert report["take"][name] == pytest.approx(value, **close), name
    assert report["take"]["pops"] == report["live"]["pops"] == 0

    # a bone that leaps by 10 cm in one frame is a pop, at its second
    poses = take.poses.copy()
    poses[40, 2, database.roles.hips] += 0.1
    leaping = takes.report(replace(take, poses=poses), database)
    assert leaping["take"]["pops"] == 1
    assert leaping["take"]["pop_seconds"] == [pytest.approx(40 / take.fps, abs=1.1 / take.fps)]
    assert leaping["take"]["acceleration_max"] > played["acceleration_max"]
    assert leaping["played"] == played


def test_a_take_measures_the_same_anywhere_and_facing_anywhere(demo_database):
    take = perform_script(demo_database, "turns", "run", 8)
    facing = quat.from_yaw(np.array(1.1))
    poses = take.poses.astype(np.float64)
    poses[:, :2, 0] = planar.rotate(poses[:, :2, 0], 1.1) + np.array([4.0, -9.0])
    poses[:, 3:, 0] = quat.mul(facing, poses[:, 3:, 0])
    floors = metrics.measure_toe_floors(takes.make_source_bodies(demo_database)[0])
    before, after = (
        baking.measure_live(each, demo_database, floors, 50.0)
        for each in (take, replace(take, poses=poses, unlocked_poses=poses))
    )
    for name in set(before) - {"leg_correction_mean", "leg_correction_max"}:
        assert after[name] == pytest.approx(before[name], rel=1e-3, abs=1e-3), name
    assert before["foot_skate_from_height"] > 0


@pytest.mark.slow
def test_the_summary_shows_the_take_beside_the_live_one_and_the_frames_played(demo_database):
    live = perform_script(demo_database, "turns", "walk", 20)
    report = takes.report(baking.bake_feet(live, demo_database), demo_database, live=live)
    lines = takes.summarize(report).splitlines()
    assert len(lines) == 9
    for label in ("foot slide", "slips", "legs", "acceleration"):
        [line] = (line for line in lines if line.startswith(f"  {label} "))
        assert "(live" in line
        assert "frames played" in line
    times = report["take"]["response_times"]
    answered = sum(time is not None for time in times)
    assert f"after a turn ({answered} of {len(times)})" in lines[1]
    assert "on average" in lines[7]
    assert "cm·s" in lines[7]
    assert "pops (live" in lines[6] or "pop (live" in lines[6]


def test_desires_are_in_the_data_where_a_second_of_it_goes_and_turns_as_far(demo_database):
    take = perform_script(demo_database, "turns", "run", 4)
    frames = round(take.fps)
    track, stops = demo_database.track, demo_database.stops[demo_database.range_of_frame]
    here = np.flatnonzero(np.arange(len(track)) + frames < stops)
    moved = track[here + frames] - track[here]
    moved[:, :2] = planar.rotate(moved[:, :2], -track[here, 2])
    path = np.cumsum(np.vstack([np.zeros(2), take.desired_velocity]), axis=0) / take.fps
    expected = []
    for tick, yaw in enumerate(take.desired_yaw):
        later = min(tick + frames, take.frame_count - 1)
        way = planar.rotate(path[later] - path[tick], -yaw)
        turn = planar.wrap(moved[:, 2] - (take.desired_yaw[later] - yaw))
        near = np.linalg.norm(moved[:, :2] - way, axis=1) <= max(0.1 * np.linalg.norm(way), 0.1)
        expected.append(np.count_nonzero(near & (np.abs(turn) < 0.3)) >= frames)
    assert 0.1 < np.mean(expected) < 0.9
    np.testing.assert_array_equal(takes.find_ticks_in_data(take, demo_database), expected)


def test_speeds_that_are_steady_nowhere_are_not_zero_but_unknown(demo_database):
    report = takes.report(perform_script(demo_database, "square", "walk", 0.9), demo_database)
    for name in ("desired_speed", "achieved_speed", "achieved_along_wish"):
        assert report["take"][name] is None, name
    assert "of the desired" not in takes.summarize(report)


@pytest.mark.slow
def test_a_turn_is_answered_at_the_speed_of_the_data_if_more_is_desired(demo_database):
    usual = perform_script(demo_database, "flips", "walk", 20)
    wish = {"walk": {"forward": 9.0, "side": 9.0, "back": 9.0}}
    reachable = takes.find_reachable_speeds(usual, demo_database)
    moving = np.linalg.norm(usual.desired_velocity, axis=1) > 0.5
    assert 3.0 < reachable[moving].max() < 6.0
    faster = perform_script(demo_database, "flips", "walk", 8, **wish)
    assert np.linalg.norm(faster.desired_velocity, axis=1).max() > 8.0
    assert takes.find_reachable_speeds(faster, demo_database)[-1] < 6.0
    times = takes.report(faster, demo_database)["take"]["response_times"]
    assert times
    assert all(0.3 < time < 2.0 for time in times)


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


@pytest.mark.slow
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
    ticks = [round(jump["second"] * take.fps) for jump in jumps]
    idles = demo_database.derive(find_idles)
    for tick in set(np.flatnonzero(take.jumped).tolist()) - set(ticks):
        run = idles.starts.searchsorted(take.frames[tick], side="right") - 1
        assert take.frames[tick] < idles.stops[run], "only idles are entered without a search"
    assert len(ticks) >= 5
    for tick, jump in zip(ticks, jumps, strict=True):
        entered = demo_database.get_frame_source(int(take.frames[tick]) - 1)
        best = jump["candidates"][0]
        assert (best["clip"], best["frame"], best["mirrored"]) == (
            entered.clip,
            entered.frame,
            entered.mirrored,
        )
        costs = sum(best["by_feature"].values()) + best["feet"]
        assert best["cost"] == pytest.approx(costs, abs=0.01)
        assert jump["price"] == pytest.approx(float(take.prices[tick]), abs=1e-5)
    told = [jump["flips_if"] for jump in jumps if jump["flips_if"]]
    assert len(told) > len(jumps) / 2
    assert all(("below" in each) != ("above" in each) for each in told)


@pytest.mark.slow
def test_takes_blended_by_a_cubic_are_as_good_and_their_jumps_end(demo_database):
    changes = {"inertialization": "cubic", "blend_time": 0.25}
    take = perform_script(demo_database, "random", "walk", 40, **changes)
    spring = perform_script(demo_database, "random", "walk", 40)
    report, other = (takes.report(each, demo_database) for each in (take, spring))
    assert report["take"]["pops"] == report["take"]["freezes"] == 0
    assert report["take"]["knee_rate_max"] <= 1.3 * report["played"]["knee_rate_max"]
    slides = [
        [
            takes.report(
                perform_script(demo_database, "random", "walk", 40, seed=seed, **how), demo_database
            )
            for seed in (1, 2)
        ]
        for how in (changes, {})
    ]
    cubic, usual = (
        sum(each["take"]["foot_slide_contacts"] for each in (first, *rest))
        for first, rest in zip((report, other), slides, strict=True)
    )
    assert cubic < usual, "over several takes"
    # where no jump has been for its longest time, the motion is that of the data, whole
    longest = round(3 * 0.25 * take.fps)
    since = np.arange(take.frame_count) - np.maximum.accumulate(
        np.where(take.jumped, np.arange(take.frame_count), -1)
    )
    calm = since > longest
    assert calm.sum() > 20
    np.testing.assert_allclose(
        take.unlocked_poses[calm, :, 1:], demo_database.poses[take.frames[calm], :, 1:], atol=1e-5
    )
    baked = takes.report(baking.bake_feet(take, demo_database), demo_database)["take"]
    assert baked["pops"] == 0
    assert baked["foot_slide_contacts"] < report["take"]["foot_slide_contacts"]


def test_a_report_measures_the_prices_of_all_jumps(demo_database):
    take = perform_script(demo_database, "flips", "walk", 8)
    measures = takes.report(take, demo_database)["take"]
    prices = take.prices[take.jumped]
    assert len(prices) > 5
    assert measures["jump_price_mean"] == pytest.approx(prices.mean())
    assert measures["jump_price_max"] == pytest.approx(prices.max())
    assert prices.mean() < measures["jump_price_p95"] < prices.max()
    each_second = measures["jump_price_mean"] * measures["jumps_per_second"]
    assert measures["jump_price_per_second"] == pytest.approx(each_second)
    # a bake only moves the feet; a longer blending costs more
    baked = metrics.measure_jump_prices(baking.bake_feet(take, demo_database))
    assert baked["jump_price_mean"] == measures["jump_price_mean"]
    slower = perform_script(demo_database, "flips", "walk", 8, inertialization_halflife=0.2)
    assert metrics.measure_jump_prices(slower)["jump_price_mean"] > prices.mean()
    still = replace(take, prices=np.full_like(take.prices, np.nan))
    assert metrics.measure_jump_prices(still)["jump_price_mean"] is None
    assert metrics.measure_jump_prices(still)["jump_price_per_second"] == 0.0


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


@pytest.mark.slow
@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
def test_a_direction_in_which_an_animal_only_drifts_is_as_fast_as_its_fastest(fps):
    sources = [Source(clip=motion.clip) for motion in animals.make_dog_motions()]
    database = build(sources, BuildSettings(fps=fps, mirror=True))[0]
    take = perform_script(database, "flips", "walk", 12)
    reachable = takes.find_reachable_speeds(take, database)
    assert reachable[np.linalg.norm(take.desired_velocity, axis=1) > 0.5].min() > 2.0
