"""Copies of sources at other tempos: the same poses and tags, a tenth slower and faster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.cli import main
from motion_matching.engine.building.build import BuildSettings, build, find_tracks, propose_tags
from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.engine.database import frame_names
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.tags.tags import TagRange
from motion_matching.engine.database.tags.thresholds import AutoTagSettings
from motion_matching.engine.errors import DatabaseError, SettingsError
from motion_matching.engine.facts import postures
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.sources.sources import Source, read_source_list
from motion_matching.engine.takes import pruning
from tests.demo import generate_clips

TEMPOS = (1.0, 0.9, 1.1)
TAGS = (TagRange("limp", 40, 90), TagRange("wave_left", 120, 160))


@pytest.fixture(scope="module")
def clip() -> Clip:
    return next(clip for clip in generate_clips() if clip.name == "walk_speeds")


@pytest.fixture(scope="module")
def database(clip: Clip) -> Database:
    sources = [Source(clip=clip, tags=TAGS, tempo=True)]
    return build(sources, BuildSettings(mirror=True))[0]


def get_slice(database: Database, index: int) -> slice:
    return slice(int(database.starts[index]), int(database.stops[index]))


def test_copies_are_told_apart_by_their_names(database: Database):
    labels = ["walk_speeds", "walk_speeds at 0.9x", "walk_speeds at 1.1x"]
    assert [r.label for r in database.ranges] == 2 * labels
    assert [r.mirrored for r in database.ranges] == 3 * [False] + 3 * [True]
    assert {r.clip for r in database.ranges} == {"walk_speeds"}
    for index, origin in enumerate(database.ranges):
        frame = int(database.starts[index]) + 50
        text = frame_names.format_frame(database, frame)
        assert text.startswith(f"{origin.label}:{round(50 * origin.tempo)}")
        assert frame_names.find_frame(database, text) == frame


def test_copies_are_a_tenth_slower_and_faster(database: Database):
    speeds = np.linalg.norm(database.root_motion[:, :2], axis=1)
    ways, means = [], []
    for index in range(6):
        own = get_slice(database, index)
        track = database.track[own, :2]
        ways.append(np.linalg.norm(np.diff(track, axis=0), axis=1).sum())
        means.append(speeds[own].mean())
    for index, origin in enumerate(database.ranges):
        assert means[index] / means[0] == pytest.approx(origin.tempo, rel=0.01)
        assert ways[index] == pytest.approx(ways[0], rel=0.01)


def test_tags_and_poses_of_copies_are_those_of_the_clip(database: Database, clip: Clip):
    for index, origin in enumerate(database.ranges):
        own = get_slice(database, index)
        frames = np.arange(own.stop - own.start) * origin.source_frames_per_frame
        name = "wave_right" if origin.mirrored else "wave_left"
        for tag in (TAGS[0], replace(TAGS[1], name=name)):
            inside = (frames >= tag.start - 1e-6) & (frames < tag.stop - 1e-6)
            np.testing.assert_array_equal(database.make_tag_mask({tag.name})[own], inside)
    original, slow = get_slice(database, 0), get_slice(database, 1)
    poses = database.poses[original][::9], database.poses[slow][::10]
    count = min(map(len, poses))
    np.testing.assert_allclose(poses[0][:count, :3, 1:], poses[1][:count, :3, 1:], atol=0.02)


def test_copies_have_the_steps_of_the_clip(database: Database):
    def count_steps(index: int) -> int:
        own = np.asarray(database.contacts[get_slice(database, index)], bool)
        return int((own[1:] & ~own[:-1]).sum())

    steps = [count_steps(index) for index in range(6)]
    assert steps[0] > 10
    assert max(steps) - min(steps) <= 2
    shares = [database.contacts[get_slice(database, index)].mean() for index in range(6)]
    np.testing.assert_allclose(shares, shares[0], atol=0.05)


def test_without_them_databases_keys_and_files_are_as_before(clip: Clip, database, tmp_path):
    assert "tempo" not in BuildSettings().get_content()
    assert BuildSettings(tempo=True).get_content()["tempo"] is True
    plain, _ = build([Source(clip=clip, tags=TAGS)], BuildSettings(mirror=True))
    assert all("tempo" not in origin.to_dict() for origin in plain.ranges)
    first = get_slice(database, 0)
    np.testing.assert_allclose(plain.poses[: first.stop], database.poses[first], atol=1e-6)
    for number, each in enumerate((plain, database)):
        databases.save(each, tmp_path / f"{number}.npz")
        assert databases.load(tmp_path / f"{number}.npz").ranges == each.ranges
    bad = replace(database, ranges=tuple(replace(r, tempo=-1.0) for r in database.ranges))
    databases.save(bad, tmp_path / "bad.npz")
    with pytest.raises(DatabaseError):
        databases.load(tmp_path / "bad.npz")


def test_the_switch_of_a_source_overrides_that_of_the_build(clip: Clip, tmp_path):
    def count(tempo: bool | None, by_default: bool) -> int:
        return len(
            build([Source(clip=clip, tempo=tempo)], BuildSettings(tempo=by_default))[0].ranges
        )

    assert [count(*each) for each in ((None, True), (True, False), (False, True))] == [3, 3, 1]
    bvh.save(clip, tmp_path / "walk.bvh")
    (tmp_path / "list.json").write_text('[{"file": "walk.bvh", "tempo": true}]')
    assert read_source_list(tmp_path / "list.json")[0].tempo is True
    (tmp_path / "list.json").write_text('[{"file": "walk.bvh", "tempo": 1.1}]')
    with pytest.raises(SettingsError, match="'tempo' of source 1"):
        read_source_list(tmp_path / "list.json")


def test_the_command_line_makes_copies_of_all(clip: Clip, tmp_path, capsys):
    bvh.save(clip, tmp_path / "walk.bvh")
    command = ["build", str(tmp_path / "walk.bvh"), "-o", str(tmp_path / "walk.npz"), "--tempo"]
    assert main(command) == 0
    assert "of 1 clip, at other tempos too" in capsys.readouterr().out
    labels = [origin.label for origin in databases.load(tmp_path / "walk.npz").ranges]
    assert labels == ["walk", "walk at 0.9x", "walk at 1.1x"]


def test_what_is_told_of_a_source_is_told_once(clip: Clip):
    """Also what is found in it, and what can be spared of it."""
    raised = replace(clip, positions=clip.positions + np.float32([0.0, 0.0, 0.4]) * _at_root(clip))
    sources = [Source(clip=raised, tags=(TagRange("none", 9000, 9001),))]
    settings = BuildSettings(auto_tags=AutoTagSettings())
    plain, copied = (build(sources, replace(settings, tempo=tempo)) for tempo in (False, True))
    kinds = [[note.kind for note in report.warnings] for _, report in (plain, copied)]
    assert kinds[0] == kinds[1]
    assert {"floor", "tag"} <= set(kinds[0])
    assert copied[1].proposed == plain[1].proposed
    of_source = [replace(sources[0], tempo=True)]
    assert propose_tags(of_source, settings, AutoTagSettings()) == propose_tags(
        sources, settings, AutoTagSettings()
    )
    one, other = find_tracks(of_source, settings)[0], find_tracks(sources, settings)[0]
    np.testing.assert_array_equal(one.rows, other.rows)
    assert {found.clip for found in postures.find_odd_postures(copied[0])} <= {clip.name}


def _at_root(clip: Clip) -> np.ndarray:
    return (np.arange(clip.skeleton.bone_count) == 0)[:, None].astype(np.float32)


def test_a_copy_that_would_be_too_short_is_left_out(clip: Clip):
    schema = BuildSettings().schema
    needed = max(round((schema.past + schema.future) * clip.fps), 5)
    built, report = build(
        [Source(clip=clip.crop(0, needed + 1)), Source(clip=clip)], BuildSettings(tempo=True)
    )
    labels = [origin.label for origin in built.ranges[:3]]
    assert labels == ["walk_speeds", "walk_speeds at 0.9x", "walk_speeds"]
    assert not report.skipped


def test_pieces_to_spare_hold_the_same_motion_at_all_tempos(database: Database):
    pieces = pruning._find_pieces(database)
    assert sorted(np.concatenate(pieces).tolist()) == list(range(database.frame_count))
    for frames in pieces:
        ranges = database.range_of_frame[frames]
        assert set(ranges.tolist()) == set(range(6))
        places = [database.get_frame_source(frame).frame for frame in frames.tolist()]
        spans = [(min(own), max(own)) for own in _split(places, ranges)]
        assert np.ptp(spans, axis=0).max() <= 3
    spare = np.isin(np.arange(database.frame_count), pieces[0])
    listed = pruning.list_ranges(database, spare)
    assert [one.range_index for one in listed] == [0]


def _split(places: list[int], ranges: np.ndarray) -> list[list[int]]:
    return [[p for p, r in zip(places, ranges, strict=True) if r == k] for k in range(6)]
