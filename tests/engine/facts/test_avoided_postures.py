"""Odd postures are dear by default where their gait has others, in every method; or left out."""

from __future__ import annotations

import json

import numpy as np
import pytest

from motion_matching import api
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.tags.tags import NO_USE, PREFER, TagRange
from motion_matching.engine.facts.avoided_postures import (
    find_avoided_frames,
    find_odd_frames,
    price_frames,
)
from motion_matching.engine.facts.postures import LEAD, find_all_odd_postures, find_odd_postures
from motion_matching.engine.field.states.gaits import RUNNING, find_gait_states
from motion_matching.engine.field.states.states import MotionStates
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.maths.along_time import find_runs
from motion_matching.engine.performance.settings import PerformerSettings, Search
from motion_matching.engine.sources.sources import Source
from tests.command_line import run
from tests.demo import generate_clips
from tests.engine.stumbles import bend, make_stumbling_runs

WEIGHT = PerformerSettings().search.posture_weight


@pytest.fixture(scope="module")
def clips():
    """Return runs that stumble a third of the time, beside all other clips of the demo."""
    runs, _ = make_stumbling_runs(1 / 3)
    names = {clip.name for clip in runs}
    return [*runs, *(clip for clip in generate_clips() if clip.name not in names)]


@pytest.fixture(scope="module")
def stumbling(clips):
    sources = [Source(clip=clip) for clip in clips]
    return build(sources, BuildSettings(mirror=True, keep_frames=True))[0]


def test_mirror_images_and_what_leads_there_are_avoided_too(stumbling):
    found = find_odd_postures(stumbling)
    odd, avoided = stumbling.derive(find_odd_frames), stumbling.derive(find_avoided_frames)
    for one in found:
        assert odd[one.start : one.stop].all()
    assert odd.sum() == 2 * sum(one.stop - one.start for one in found)
    assert avoided[odd].all()
    mirrored = np.array([r.mirrored for r in stumbling.ranges])[stumbling.range_of_frame]
    assert odd[mirrored].sum() == odd[~mirrored].sum()
    lead = round(LEAD * stumbling.fps)
    for start, stop in find_runs(odd).tolist():
        before = max(start - lead + 1, int(stumbling.starts[stumbling.range_of_frame[start]]))
        assert avoided[before:stop].all()
    assert avoided.sum() <= odd.sum() + len(find_runs(odd)) * (lead + 1)


@pytest.mark.slow
def test_they_cost_by_the_setting_and_the_search_stays_exact(stumbling):
    assert np.array_equal(price_frames(stumbling, 0.0), stumbling.bias)
    expected = stumbling.bias + WEIGHT * stumbling.derive(find_avoided_frames)
    np.testing.assert_array_equal(price_frames(stumbling, WEIGHT), expected)
    settings = PerformerSettings(search=Search(end_guard=0.5))
    method, rng = MotionMatching(stumbling, settings), np.random.default_rng(1)
    allowed = stumbling.find_candidates(0.5)
    for weight in (WEIGHT, 0.0, 3.0):
        method.apply(settings.with_changes({"posture_weight": weight}))
        costs = price_frames(stumbling, weight)
        for frame in rng.integers(0, stumbling.frame_count, 60).tolist():
            query = method._rows[frame] + rng.normal(0, 0.2, method._rows.shape[1])
            query = query.astype(np.float32)
            own = np.sum((method._rows - query) ** 2, axis=1) + costs
            best, cost = method._index.find_nearest(query)
            assert cost == pytest.approx(own[allowed].min(), rel=1e-4, abs=1e-4)
            assert own[best] == pytest.approx(own[allowed].min(), rel=1e-4, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_takes_hardly_play_them_and_are_otherwise_as_good(stumbling, seed):
    """By default, a run of one minute shows none, where one in twenty frames is odd without it."""

    def perform(weight):
        options = {"seconds": 60, "gait": "run", "seed": seed, "feet": "live"}
        take = api.perform(stumbling, "random", settings={"posture_weight": weight}, **options)
        return stumbling.derive(find_odd_frames)[take.frames].mean(), api.measure(take, stumbling)[
            "take"
        ]

    (before, free), (after, careful) = perform(0.0), perform(WEIGHT)
    assert before > 0.03
    assert after < 0.005
    assert careful["foot_slide_mann"] < 1.15 * free["foot_slide_mann"]
    assert careful["response_time_median"] < free["response_time_median"] + 0.1


@pytest.mark.slow
def test_a_database_without_any_plays_the_same_to_the_bit(demo_database):
    assert not demo_database.derive(find_odd_frames).any()
    assert np.array_equal(price_frames(demo_database, WEIGHT), demo_database.bias)
    for controller in ("matching", "field"):
        one, two = (
            api.perform(
                *(demo_database, "random"),
                seconds=3,
                gait="run",
                settings={"posture_weight": weight},
                controller=controller,
            )
            for weight in (0.0, WEIGHT)
        )
        assert one.poses.tobytes() == two.poses.tobytes()


@pytest.mark.slow
def test_a_field_blends_none_of_them(stumbling):
    states = MotionStates.from_database(stumbling)
    odd = stumbling.derive(find_odd_frames)[states.frames]
    whole = find_gait_states(stumbling, states)
    without = find_gait_states(stumbling, states, with_odd=False)
    assert (whole[RUNNING] & odd).any()
    np.testing.assert_array_equal(without, whole & ~odd)
    take = api.perform(stumbling, "random", seconds=20, gait="run", controller="field")
    assert not stumbling.derive(find_odd_frames)[take.frames].any()


@pytest.mark.slow
def test_the_director_goes_around_them(stumbling):
    """It meets the same marks without them."""
    marks = (
        api.Mark(4.0, position=(0.0, -12.0)),
        api.Mark(8.0, position=(8.0, -20.0)),
        api.Mark(12.0, position=(20.0, -20.0)),
    )
    shot = api.Shot(13.0, gait="run", marks=marks)

    def direct(weight):
        director = api.open_director(stumbling, settings={"posture_weight": weight})
        taken = api.direct(director, shot)
        return stumbling.derive(find_odd_frames)[taken.take.frames].mean(), taken.report["reached"]

    assert direct(0.0)[0] > 0.05
    assert direct(WEIGHT) == (0.0, 3)


def test_a_gait_with_hardly_anything_else_keeps_them():
    """Of the only clip that runs, all but four seconds are excluded: what stumbles is played."""
    runs, _ = make_stumbling_runs(1 / 3)
    usual = find_odd_postures(build([Source(clip=runs[0])], BuildSettings(keep_frames=True))[0])
    assert usual
    tags, at = [], 0
    for one in usual:
        tags.append(TagRange(NO_USE, at, one.first))
        at = one.last
    tags.append(TagRange(NO_USE, at, runs[0].frame_count))
    source = Source(clip=runs[0], tags=tuple(tag for tag in tags if tag.start < tag.stop))
    walk = next(clip for clip in generate_clips() if clip.name == "walk_curves")
    sources = [source, Source(clip=walk)]
    database, _ = build(sources, BuildSettings(keep_frames=True))
    assert database.derive(find_all_odd_postures)
    assert not database.derive(find_odd_frames).any()


@pytest.mark.slow
def test_a_tag_that_prefers_them_comes_before_the_default(clips):
    clip = clips[0]
    settings = BuildSettings(keep_frames=True)
    others = [Source(clip=each) for each in clips[1:]]
    for bias in (0.0, -1.0, 2.0):
        source = Source(clip=clip, tags=(TagRange(PREFER, bias=bias),))
        database, _ = build([source, *others], settings)
        own = database.range_of_frame == 0
        assert database.ranges[0].clip == clip.name
        assert not database.derive(find_odd_frames)[own].any()
        np.testing.assert_array_equal(price_frames(database, WEIGHT)[own], np.float32(bias))
        assert clip.name not in {one.clip for one in find_odd_postures(database)}


@pytest.mark.slow
def test_a_build_leaves_them_out(clips, tmp_path, capsys):
    folder, file, tags = tmp_path / "clips", tmp_path / "runs.npz", tmp_path / "tags.json"
    folder.mkdir()
    for clip in clips[:4]:
        bvh.save(clip, folder / f"{clip.name}.bvh")
    options = ("--keep-frames", "--mirror", "--leave-out", "odd", "--save-tags", tags)
    assert run("build", folder, "-o", file, *options) == 0
    said = capsys.readouterr().out
    assert "Left out odd postures: " in said
    assert "\nodd postures" not in said
    database = databases.load(file)
    assert find_odd_postures(database) == ()
    assert 0.7 < database.playable.mean() < 0.95
    saved = json.loads(tags.read_text())
    assert {tag["name"] for each in saved.values() for tag in each} == {"no_use"}
    again = tmp_path / "again.npz"
    assert run("build", folder, "-o", again, "--keep-frames", "--mirror", "--tags", tags) == 0
    np.testing.assert_array_equal(databases.load(again).playable, database.playable)
    made = api.build(folder, BuildSettings(mirror=True, keep_frames=True), leave_out="odd")
    np.testing.assert_array_equal(made.playable, database.playable)
    with pytest.raises(api.SettingsError, match="nothing 'jumps' to leave out; use odd"):
        api.build(folder, leave_out="jumps")


def test_a_style_is_not_avoided():
    runs = [clip for clip in generate_clips() if clip.name.startswith("run_")]
    style = bend(runs[0], np.ones(runs[0].frame_count))
    database, _ = build([Source(clip=each) for each in (style, *runs[1:])], BuildSettings())
    assert not database.derive(find_avoided_frames).any()
