"""A pruned database keeps what is played and what is unlike it, and plays as before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.database import Database
from motion_matching.engine.errors import DatabaseError, SettingsError
from motion_matching.engine.maths.along_time import find_runs
from motion_matching.engine.sources.sources import Source, assign_tags
from motion_matching.engine.takes import pruning, takes
from tests.demo import generate_clips, load_few
from tests.engine import animals


@pytest.fixture(scope="module")
def pruned(demo_database, settings) -> tuple[np.ndarray, pruning.Pruning]:
    """How often each frame is played, and what a fifth of the database would leave out."""
    tried = pruning.prepare_performances(demo_database, settings, 20.0, 0)
    played = pruning.count_played(demo_database, settings, tried)
    assert played.sum() == sum(len(performance.intents) for performance in tried)
    return played, pruning.find_spare_frames(demo_database, played, 0.2)


@pytest.mark.slow
def test_about_the_share_stays_and_most_of_what_is_played(demo_database, pruned):
    played, result = pruned
    assert 0.2 <= result.kept < 0.22
    assert result.kept == pytest.approx(1.0 - result.spare.mean())
    assert result.covered == pytest.approx(played[~result.spare].sum() / played.sum())
    assert result.covered > 0.6
    assert played[~result.spare].mean() > 10.0 * played[result.spare].mean()


@pytest.mark.slow
def test_what_goes_is_like_what_stays(demo_database, pruned):
    """Pieces chosen at random leave frames out that are farther from all that stays."""
    _, result = pruned
    rows, random = pruning._get_rows(demo_database), np.random.default_rng(0)
    pieces = pruning._find_pieces(demo_database)
    stays = np.zeros(demo_database.frame_count, bool)
    for index in random.permutation(len(pieces)):
        if stays.mean() > result.kept:
            break
        stays[pieces[index]] = True
    farthest = pruning._measure_distances(rows, rows[stays]).max()
    assert result.farthest < 0.9 * farthest


@pytest.mark.slow
def test_a_clip_and_its_mirror_image_stay_or_go_together(demo_database, pruned):
    _, result = pruned
    by_place: dict[tuple[str, float], list[np.ndarray]] = {}
    for start, stop, origin in zip(
        demo_database.starts, demo_database.stops, demo_database.ranges, strict=True
    ):
        place = origin.clip, origin.first_source_frame
        by_place.setdefault(place, []).append(result.spare[start:stop])
    mirrored = [both for both in by_place.values() if len(both) == 2]
    assert mirrored
    assert all(np.array_equal(*both) for both in mirrored)


def test_sources_of_one_length_are_pieces_of_their_own():
    sources = [Source(clip=motion.clip) for motion in animals.make_dog_motions(fps=30.0)]
    dog = build(sources, BuildSettings(mirror=True))[0]
    pieces = pruning._find_pieces(dog)
    assert max(map(len, pieces)) <= 2 * 2 * dog.fps, "a clip and its mirror image, below 2 s"
    assert np.array_equal(np.sort(np.concatenate(pieces)), np.arange(dog.frame_count))


@pytest.mark.slow
def test_a_smaller_database_plays_the_same_motion(demo_database, settings, pruned, tmp_path):
    _, result = pruned
    smaller = pruning.leave_out(demo_database, result.spare)
    databases.save(smaller, tmp_path / "small.npz")
    smaller = databases.load(tmp_path / "small.npz")
    kept = np.flatnonzero(~result.spare)
    assert smaller.frame_count == len(kept)
    for frame in (0, len(kept) // 2, len(kept) - 1):
        assert smaller.get_frame_source(frame) == demo_database.get_frame_source(int(kept[frame]))
    performance = takes.prepare_performance(
        smaller, settings, "random", gait="walk", seconds=10.0, seed=4
    )
    take = takes.perform(smaller, settings, performance)
    calm = ~take.jumped
    calm[1:] &= calm[:-1]
    joined = np.diff(take.frames)[calm[1:]] == 1
    assert joined.all(), "between jumps, frames follow each other within a kept piece"


@pytest.mark.slow
def test_takes_lose_little_with_a_fifth_of_the_frames(demo_database, settings, pruned):
    _, result = pruned
    smaller = pruning.leave_out(demo_database, result.spare)
    unseen = pruning.prepare_performances(demo_database, settings, 20.0, 7)[:2]
    whole, small = pruning.measure_loss(demo_database, smaller, settings, unseen)
    assert small["response_time_median"] < 1.15 * whole["response_time_median"]
    assert small["achieved_along_wish"] > 0.95 * whole["achieved_along_wish"]
    assert small["foot_slide_mann"] < 1.15 * whole["foot_slide_mann"]


@pytest.mark.slow
def test_what_carries_a_tag_set_by_hand_stays(demo_database, pruned):
    played, _ = pruned
    waves = slice(int(demo_database.starts[3]) + 40, int(demo_database.starts[3]) + 90)
    tags = np.array(demo_database.tags)
    names = (*demo_database.tag_names, "wave")
    tags[waves] |= np.uint32(1 << (len(names) - 1))
    tagged = replace(demo_database, tags=tags, tag_names=names)
    assert not pruning.find_spare_frames(tagged, played, 0.1).spare[waves].any()


@pytest.mark.slow
def test_tags_say_which_frames_of_the_clips_are_spare(demo_database, pruned):
    _, result = pruned
    tags = pruning.list_tags(demo_database, result.spare)
    for name, ranges in tags.items():
        index = next(
            i for i, r in enumerate(demo_database.ranges) if r.clip == name and not r.mirrored
        )
        spare = result.spare[demo_database.starts[index] : demo_database.stops[index]]
        step = demo_database.ranges[index].source_frames_per_frame
        found = [(round(t.start / step), round(t.stop / step)) for t in ranges]
        assert found == [tuple(run) for run in find_runs(spare).tolist()]


def test_a_build_with_the_tags_excludes_the_same_frames():
    """Also where clips are brought to another rate, so that frames lie between those of a clip."""
    sources = [
        Source(clip=clip) for clip in generate_clips() if clip.name.startswith("walk_curves")
    ]
    settings = BuildSettings(fps=24.0 * 1.1, mirror=True)
    database = build(sources, settings)[0]
    spare = pruning.find_spare_frames(database, np.zeros(database.frame_count), 0.3).spare
    tagged = assign_tags(sources, pruning.list_tags(database, spare))
    assert np.array_equal(build(tagged, settings)[0].playable, ~spare)


@pytest.mark.parametrize("keep", [0.0, 1.0, -0.5, float("nan")])
def test_a_share_that_means_nothing_is_refused(demo_database, keep):
    with pytest.raises(SettingsError, match="cannot be kept"):
        pruning.find_spare_frames(demo_database, np.zeros(demo_database.frame_count), keep)


def test_a_database_without_sources_has_to_be_built_again(demo_database: Database):
    old = replace(demo_database, range_sources=None)
    with pytest.raises(DatabaseError, match="build it again"):
        pruning.find_spare_frames(old, np.zeros(old.frame_count), 0.2)


@pytest.mark.slow
def test_motion_that_nobody_plays_stays_by_how_unlike_it_is():
    few = load_few()
    result = pruning.find_spare_frames(few, np.zeros(few.frame_count), 0.3)
    assert 0.3 <= result.kept < 0.32
    assert result.covered == 0.0
    assert np.isfinite(result.farthest)


def test_loops_stay_and_are_stored(tmp_path):
    clips = generate_clips()[:3]
    sources = [
        Source(clip=clips[0], start=70, stop=130, loop=True),
        *(Source(clip=clip) for clip in clips[1:]),
    ]
    whole = build(sources, BuildSettings(mirror=True))[0]
    spare = np.zeros(whole.frame_count, bool)
    looped = [index for index, origin in enumerate(whole.ranges) if origin.loop]
    assert looped
    for index, (start, stop) in enumerate(zip(whole.starts, whole.stops, strict=True)):
        spare[start + (stop - start) // 2 : stop] = index not in looped
    file = tmp_path / "small.npz"
    databases.save(pruning.leave_out(whole, spare), file)
    smaller = databases.load(file)
    assert sum(origin.loop for origin in smaller.ranges) == len(looped)
    # a loop that is cut is none any more
    spare[whole.starts[looped[0]]] = True
    databases.save(pruning.leave_out(whole, spare), file)
    assert sum(origin.loop for origin in databases.load(file).ranges) == len(looped) - 1
