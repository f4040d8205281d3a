"""Frames that no body can have moved through are found and mended; good motion stays as it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from building.locomotion.locomotion import Move, perform
from motion_matching.engine.building.build import (
    BuildReport,
    BuildSettings,
    build,
    find_tracks,
    propose_tags,
)
from motion_matching.engine.building.unmended import find_unmended
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.tags.tags import TagRange
from motion_matching.engine.database.tags.thresholds import AutoTagSettings
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.mending import mending
from motion_matching.engine.mending.source_doctor import examine, measure_steps, mend
from motion_matching.engine.motion.clip import Clip, resample
from motion_matching.engine.motion.conforming import find_sliding_bones
from motion_matching.engine.sources.sources import Source, find_sources
from tests.demo import generate_clips
from tests.engine.animals import make_dog_motions

RATES = [24.0, 30.0, 60.0, 120.0]
MOCAP = os.environ.get("MOTION_MATCHING_MOCAP")


def make_walking(fps: float, seconds: float = 4.0) -> Clip:
    return perform("walk", [Move(seconds, 1.4)], fps, np.random.default_rng(4))


def make_dog(fps: float) -> Clip:
    clip = make_dog_motions()[0].clip
    return resample(clip, fps).crop(0, round(4.0 * fps))


BODIES: dict[str, Callable[[float], Clip]] = {"person": make_walking, "dog": make_dog}
of_bodies_and_rates = [(body, fps) for body in BODIES for fps in RATES]


def take_frames(clip: Clip, frames: np.ndarray) -> Clip:
    return replace(clip, positions=clip.positions[frames], rotations=clip.rotations[frames])


def add_rest_pose(clip: Clip, count: int, at_end: bool, in_place: bool) -> Clip:
    """Add frames in the rest pose, at the origin or where the clip is."""
    rest = clip.skeleton.rest_positions.astype(np.float32), clip.skeleton.rest_rotations
    positions, rotations = (np.repeat(part[None], count, axis=0) for part in rest)
    if in_place:
        sliding = find_sliding_bones(clip)
        positions[:, sliding] = clip.positions[-1 if at_end else 0, sliding]
    order = slice(None, None, -1 if at_end else 1)
    return replace(
        clip,
        positions=np.concatenate([positions, clip.positions][order]),
        rotations=np.concatenate([np.float32(rotations), clip.rotations][order]),
    )


def move(clip: Clip, frames: slice, way: tuple[float, float, float]) -> Clip:
    positions = clip.positions.copy()
    positions[frames, clip.skeleton.parents < 0] += np.float32(way)
    return replace(clip, positions=positions)


# ---------------------------------------------------------------- what is found


@given(st.sampled_from(of_bodies_and_rates), st.integers(1, 3), st.booleans(), st.booleans())
@settings(max_examples=16)
def test_rest_poses_at_the_ends_are_left_out(body_and_rate, count, at_end, in_place):
    body, fps = body_and_rate
    clip = BODIES[body](fps)
    posed = add_rest_pose(clip, count, at_end, in_place)
    [finding] = found = examine(posed)
    start = clip.frame_count if at_end else 0
    assert finding[:4] == ("alien", start, start + count, "cut")
    [(first, left)] = mend(posed, found)
    assert first == (0 if at_end else count)
    assert np.array_equal(left.positions, clip.positions)
    assert np.array_equal(left.rotations, clip.rotations)


@pytest.mark.parametrize(("body", "fps"), of_bodies_and_rates)
def test_a_leap_parts_a_clip_in_two(body, fps):
    clip = BODIES[body](fps)
    middle = clip.frame_count // 2
    leaping = move(clip, slice(middle, None), (0.6, 0.4, 0.0))
    [finding] = found = examine(leaping)
    assert finding[:4] == ("leap", middle, middle, "split")
    assert finding.metres == pytest.approx(np.hypot(0.6, 0.4), rel=0.3)
    pieces = [(first, piece.frame_count) for first, piece in mend(leaping, found)]
    assert pieces == [(0, middle), (middle, clip.frame_count - middle)]


@pytest.mark.parametrize("fps", RATES)
def test_a_body_that_leaps_away_and_back_goes_straight_on(fps):
    clip = make_walking(fps)
    spike = slice(clip.frame_count // 2, clip.frame_count // 2 + 2)
    leaping = move(clip, spike, (0.3, 0.5, 0.3))
    [finding] = found = examine(leaping)
    assert finding[:4] == ("glitch", spike.start, spike.stop, "fill")
    [(_, filled)] = mend(leaping, found)
    np.testing.assert_allclose(filled.positions, clip.positions, atol=0.03)
    apart = np.abs(np.sum(filled.rotations * clip.rotations, axis=-1))
    assert np.degrees(2 * np.arccos(np.minimum(apart, 1.0))).max() < 12.0


@pytest.mark.parametrize("fps", RATES)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("is_lost", [False, True])
def test_repeated_frames_are_interpolated(fps, count, is_lost):
    """Frames were lost, or a capture repeats one and goes on from there."""
    clip = make_walking(fps)
    middle = clip.frame_count // 2
    frames = np.arange(clip.frame_count)
    if is_lost:
        frames[middle + 1 : middle + 1 + count] = middle
    else:
        frames = np.insert(frames, middle + 1, [middle] * count)
    holding = take_frames(clip, frames)
    [finding] = found = examine(holding)
    assert finding[:4] == ("repeated", middle + 1, middle + 1 + count, "fill")
    [(_, filled)] = mend(holding, found)
    assert examine(filled) == []
    if is_lost:
        np.testing.assert_allclose(filled.positions, clip.positions, atol=0.02)


@pytest.mark.parametrize(("body", "fps"), of_bodies_and_rates)
@pytest.mark.parametrize("goes_on", [False, True])
def test_a_stuck_capture_is_cut_out(body, fps, goes_on):
    """After it, the body goes on from there, or from where it came to meanwhile."""
    clip, length = BODIES[body](fps), round(0.3 * fps)
    steps = measure_steps(clip)
    ways = np.minimum(steps.steps[:-1], steps.steps[1:])
    middle = clip.frame_count // 4 + int(ways[clip.frame_count // 4 :][: round(fps)].argmax()) + 1
    frames = np.arange(clip.frame_count)
    if goes_on:
        frames = np.insert(frames, middle + 1, [middle] * length)
    else:
        frames[middle + 1 : middle + 1 + length] = middle
    stuck = take_frames(clip, frames)
    found = [finding for finding in examine(stuck) if finding.kind == "frozen"]
    assert [finding[:4] for finding in found] == [
        ("frozen", middle + 1, middle + 1 + length, "cut")
    ]


def test_a_pose_that_turns_over_from_one_frame_to_the_next_is_a_leap():
    clip = make_walking(30.0)
    rotations = clip.rotations.copy()
    turn = quat.from_scaled_angle_axis(np.array([0.0, 0.0, 2.0]))
    rotations[60:, 0] = quat.mul(turn, rotations[60:, 0])
    [finding] = examine(replace(clip, rotations=rotations))
    assert (finding.kind, finding.start) == ("leap", 60)


# ---------------------------------------------------------------- what is not


@pytest.mark.slow
@pytest.mark.parametrize("fps", RATES)
def test_nothing_is_found_in_the_demo(fps):
    for clip in generate_clips(fps=fps):
        assert examine(clip) == [], clip.name


@pytest.mark.parametrize("fps", [30.0, 60.0])
def test_nothing_is_found_in_a_dog_that_runs(fps):
    for motion in make_dog_motions():
        assert examine(resample(motion.clip, fps)) == [], motion.clip.name


@pytest.mark.slow
@pytest.mark.skipif(not MOCAP, reason="MOTION_MATCHING_MOCAP is not set")
def test_nothing_is_found_in_clean_captures():
    for folder in ("bandai-namco", "lafan1"):
        for source in find_sources([Path(MOCAP or "") / folder]):
            assert examine(source.load({})) == [], source.name


def test_a_blow_is_no_leap():
    """A body that is stopped or set going at once changes its velocity, but its place does not."""
    clip = make_walking(60.0)
    positions = clip.positions.copy()
    roots = clip.skeleton.parents < 0
    pushed = np.linspace(0.0, 5.0, 60, dtype=np.float32)  # 5 m/s at once
    positions[120:180, roots, 0] += pushed[:, None]
    positions[180:, roots, 0] += np.float32(5.0)
    assert examine(replace(clip, positions=positions)) == []


def test_holds_that_are_eased_into_are_no_faults():
    clip = make_walking(30.0)
    times = np.arange(clip.frame_count, dtype=np.float64)
    ease = np.clip((times - 30.0) / 20.0, 0.0, 1.0)
    warped = np.minimum(times, 30.0) + 20.0 * (ease - ease**2 / 2.0)  # slows down to a halt
    held = np.interp(times, times, warped)
    low = np.floor(held).astype(int)
    share = (held - low)[:, None, None]
    after = np.minimum(low + 1, clip.frame_count - 1)
    positions = (1 - share) * clip.positions[low] + share * clip.positions[after]
    rotations = quat.normalize((1 - share) * clip.rotations[low] + share * clip.rotations[after])
    eased = replace(clip, positions=np.float32(positions), rotations=np.float32(rotations))
    assert examine(eased) == []


def test_motion_in_steps_is_told_and_stays_as_it_is():
    clip = make_walking(24.0)
    stepped = take_frames(clip, np.arange(clip.frame_count) // 2 * 2)
    [finding] = found = examine(stepped)
    assert (finding.kind, finding.mend) == ("stepped", "")
    assert [first for first, _ in mend(stepped, found)] == [0]


# ---------------------------------------------------------------- clips that stay in one piece


@pytest.mark.parametrize("at_end", [False, True])
def test_a_clip_loses_rest_poses_and_says_with_which_frame_it_begins_and_ends(at_end):
    clip = make_walking(30.0)
    posed = add_rest_pose(clip, 2, at_end, in_place=False)
    mended = mending.mend_clip(posed, 11)
    assert np.array_equal(mended.clip.positions, clip.positions)
    assert mended.skipped == (0 if at_end else 2)
    [note] = mended.notes
    last = 11 + clip.frame_count
    words = f"ends with frame {last - 1}" if at_end else "begins with frame 13"
    assert note.text.endswith(f"so they were left out; the new action {words} of its source.")
    kept = mending.mend_clip(posed, 11, keep_frames=True)
    assert kept.clip is posed
    assert [note.kind for note in kept.notes] == ["kept frames"]


def test_leaps_and_stuck_captures_keep_their_place_in_time():
    clip = make_walking(30.0)
    middle = clip.frame_count // 2
    leaping = move(clip, slice(middle, None), (0.6, 0.4, 0.0))
    frames = np.insert(np.arange(clip.frame_count), middle, [middle] * 12)
    for wrong in (leaping, take_frames(clip, frames)):
        mended = mending.mend_clip(wrong)
        assert (mended.clip, mended.skipped) == (wrong, 0)
        [note] = mended.notes
        assert note.text.endswith("; the new action does the same.")
        assert not mending.mend_clip(wrong, keep_frames=True).notes


def test_clean_clips_and_loops_stay_as_they_are():
    clip = make_walking(30.0)
    assert mending.mend_clip(clip) == (clip, 0, [])
    posed = add_rest_pose(clip, 1, at_end=False, in_place=False)
    looped = mending.mend_clip(posed, loop=True)
    assert looped.clip is posed
    assert [note.kind for note in looped.notes] == ["alien"]


# ---------------------------------------------------------------- in a build


def build_from(*sources: Source, **settings: object) -> tuple[Database, BuildReport]:
    return build(sources, BuildSettings(**settings))


def list_kinds(report: BuildReport) -> list[str]:
    return [note.kind for note in report.warnings]


def test_a_build_leaves_a_rest_pose_out_unless_its_source_keeps_it():
    clip = make_walking(30.0)
    posed = add_rest_pose(clip, 1, at_end=False, in_place=False)
    plain, _ = build_from(Source(clip=clip))
    mended, report = build_from(Source(clip=posed))
    [note] = report.warnings
    assert note.text.startswith("Frame 0 of 'walk' is unlike the others")
    for field in ("poses", "velocities", "features", "track"):
        assert np.array_equal(getattr(mended, field), getattr(plain, field)), field
    assert mended.get_frame_source(0).frame == 1
    whole = build_from(Source(clip=posed, keep_frames=True))
    for database, report in (whole, build_from(Source(clip=posed), keep_frames=True)):
        assert database.frame_count == posed.frame_count
        [note] = report.warnings
        assert note.kind == "kept frames"
        assert note.text.startswith("Frame 0 of 'walk' is unlike the others")
        assert note.text.endswith("it was kept as it is, and would be left out otherwise.")
    for keeping in (Source(clip=clip, keep_frames=True), Source(clip=clip, keep_floor=True)):
        assert build_from(keeping)[1].warnings == ()
    assert build_from(Source(clip=posed, keep_frames=False), keep_frames=True)[1].warnings


def test_tags_paths_and_proposals_keep_the_frames_of_the_source():
    clip = make_walking(30.0)
    middle = clip.frame_count // 2
    leaping = move(clip, slice(middle, None), (0.6, 0.4, 0.0))
    tag = TagRange("hop", middle + 3, middle + 8)
    database, report = build_from(Source(clip=leaping, tags=(tag,)))
    assert list_kinds(report) == ["leap"]
    tagged = np.flatnonzero(database.tags).tolist()
    frames = [database.get_frame_source(frame).frame for frame in tagged]
    assert frames == list(range(middle + 3, middle + 8))

    settings = BuildSettings()
    posed = add_rest_pose(clip, 2, at_end=False, in_place=False)
    [track, of_posed] = find_tracks([Source(clip=clip), Source(clip=posed)], settings)
    np.testing.assert_allclose(of_posed.rows[2:], track.rows)
    np.testing.assert_allclose(of_posed.rows[:2], track.rows[[0, 0]])
    sources = [Source(clip=clip), Source(clip=posed)]
    [tags, of_posed] = propose_tags(sources, settings, AutoTagSettings())
    assert [(one.name, (one.start or 0) + 2) for one in tags[1:]] == [
        (one.name, one.start) for one in of_posed[1:]
    ]


def test_loops_are_told_but_stay_as_they_are():
    posed = add_rest_pose(make_walking(30.0), 1, at_end=False, in_place=False)
    database, report = build_from(Source(clip=posed, loop=True))
    assert "alien" in list_kinds(report)
    assert database.frame_count == posed.frame_count - 1
    _, report = build_from(Source(clip=posed, loop=True, keep_frames=True))
    assert "kept frames" not in list_kinds(report), "nothing would be mended"


def test_alike_findings_are_told_in_one_sentence():
    clip = make_walking(30.0, 8.0)
    frames = np.arange(clip.frame_count)
    for lost in range(60, 230, 40):
        frames[lost] = lost - 1
    taken = take_frames(clip, frames)
    [note] = mending.mend_sources([Source(clip=clip)], [taken], [examine(taken)]).notes
    assert note.text.startswith("Frames 60, 100, 140 and 2 more of 'walk' repeat")


def test_a_database_of_before_says_what_a_build_would_mend():
    posed = add_rest_pose(make_walking(30.0), 1, at_end=False, in_place=False)
    kept, _ = build_from(Source(clip=posed), keep_frames=True)
    assert kept.derive(find_unmended) == ()  # this was asked for
    [note] = replace(kept, settings={}).derive(find_unmended)
    assert note.text.startswith("Frame 0 of 'walk' is unlike the others")
    assert "build again" in note.text
    for clip in (make_walking(30.0), posed):
        assert replace(build_from(Source(clip=clip))[0], settings={}).derive(find_unmended) == ()


def test_a_source_list_has_the_switches(tmp_path):
    (tmp_path / "walk.bvh").write_text("")
    (tmp_path / "list.json").write_text('[{"file": "walk.bvh", "keep_frames": true}]')
    [source] = find_sources([tmp_path / "list.json"])
    assert (source.keep_frames, source.keep_floor) == (True, None)
    (tmp_path / "list.json").write_text('[{"file": "walk.bvh", "keep_floor": 1}]')
    with pytest.raises(SettingsError, match="keep_floor"):
        find_sources([tmp_path / "list.json"])


# ---------------------------------------------------------------- hips


@pytest.mark.parametrize(
    ("scale", "kind", "words"),
    [
        (0.0, "in place", "walks in place"),
        (0.01, "units", "100 times less"),
        (100.0, "units", "100 times farther"),
    ],
)
@pytest.mark.parametrize("body", sorted(BODIES))
def test_hips_that_do_not_go_where_feet_push_are_told(body, scale, kind, words):
    clip = BODIES[body](60.0)
    positions = clip.positions.copy()
    sides = slice(None, 2) if scale == 0.0 else slice(None)
    positions[:, clip.skeleton.parents < 0, sides] *= np.float32(scale)
    wrong = replace(clip, positions=positions)
    _, report = build_from(Source(clip=clip))
    assert not report.warnings
    _, report = build_from(Source(clip=wrong))
    [note] = [note for note in report.warnings if note.kind in ("in place", "units")]
    assert (note.source, note.kind) == (clip.name, kind)
    assert words in note.text


def test_standing_and_turning_are_not_in_place():
    clips = [clip for clip in generate_clips(fps=30) if "idle" in clip.name]
    _, report = build_from(*(Source(clip=clip) for clip in clips))
    assert not report.warnings
