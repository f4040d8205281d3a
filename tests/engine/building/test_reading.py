"""Sources are read in processes and from a cache, and the database stays the same to the byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.building.reading import Reading
from motion_matching.engine.bvh import bvh
from motion_matching.engine.bvh.clip_cache import ClipCache
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.tags.tags import TagRange
from motion_matching.engine.errors import MotionDataError
from motion_matching.engine.sources.sources import Source, find_sources
from tests.demo import generate_clips


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of three BVH files."""
    folder = tmp_path / "files"
    folder.mkdir()
    for clip in generate_clips()[:3]:
        bvh.save(clip.crop(0, 80), folder / f"{clip.name}.bvh")
    return folder


def build_file(sources: list[Source], path: Path, reading: Reading | None = None) -> bytes:
    """Return the bytes of a database's file."""
    database, _ = build(sources, BuildSettings(), reading=reading)
    databases.save(database, path)
    return path.read_bytes()


def list_kept(cache: ClipCache) -> list[Path]:
    return sorted(cache.folder.glob("*.clip"))


@pytest.mark.slow
def test_two_processes_build_what_one_builds(files: Path, tmp_path: Path):
    sources = find_sources([files])
    alone = build_file(sources, tmp_path / "alone.npz")
    assert build_file(sources, tmp_path / "two.npz", Reading(workers=2)) == alone
    (files / "broken.bvh").write_text("HIERARCHY\nnothing")
    with pytest.raises(MotionDataError, match=r"broken\.bvh"):
        build(find_sources([files]), BuildSettings(), reading=Reading(workers=2))
    left, report = build(
        find_sources([files]), BuildSettings(), reading=Reading(workers=2), skip_broken=True
    )
    assert len(left.ranges) == 3
    assert [note.source for note in report.skipped] == ["broken"]


def test_a_later_build_reads_only_what_changed(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cache = ClipCache(tmp_path / "cache")
    reading = Reading(cache=cache)
    sources = find_sources([files])
    alone = build_file(sources, tmp_path / "alone.npz")
    assert build_file(sources, tmp_path / "first.npz", reading) == alone
    assert len(list_kept(cache)) == 3
    read: list[str] = []
    load = bvh.load
    monkeypatch.setattr(
        bvh, "load", lambda file, **how: (read.append(Path(file).name), load(file, **how))[1]
    )
    assert build_file(sources, tmp_path / "again.npz", reading) == alone
    tagged = [replace(source, tags=(TagRange("tag"),), stop=70) for source in sources]
    build_file(tagged, tmp_path / "tagged.npz", reading)
    assert read == []
    changed = sources[1].file
    assert changed
    changed.write_text(changed.read_text().replace("Frames: 80", "Frames: 79"))
    build_file(sources, tmp_path / "changed.npz", reading)
    assert read == [changed.name]


def test_what_is_kept_is_what_is_read(files: Path, tmp_path: Path):
    cache = ClipCache(tmp_path / "cache")
    [file, *_] = sorted(files.glob("*.bvh"))
    how = {"root": None, "up": "Y", "forward": "Z", "scale": None}
    cache.read(file, **how)
    kept, read = cache.read(file, **how), bvh.load(file, **how)
    for name in ("positions", "rotations"):
        assert np.array_equal(getattr(kept, name), getattr(read, name))
    for name in ("parents", "rest_positions", "rest_rotations"):
        ours, theirs = (getattr(clip.skeleton, name) for clip in (kept, read))
        assert np.array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
    assert kept.skeleton.names == read.skeleton.names
    assert kept.skeleton.end_sites == read.skeleton.end_sites
    assert (kept.name, kept.fps, kept.warnings) == (read.name, read.fps, read.warnings)


def test_a_damaged_clip_is_read_again_and_a_foreign_file_stays(files: Path, tmp_path: Path):
    cache = ClipCache(tmp_path / "cache")
    sources = find_sources([files])
    alone = build_file(sources, tmp_path / "alone.npz", Reading(cache=cache))
    damaged, foreign, _ = list_kept(cache)
    damaged.write_bytes(damaged.read_bytes()[:5000])
    foreign.write_text("somebody's")
    assert build_file(sources, tmp_path / "again.npz", Reading(cache=cache)) == alone
    assert foreign.read_text() == "somebody's"
    assert damaged.stat().st_size > 5000


def test_the_cache_keeps_what_was_used_last(files: Path, tmp_path: Path):
    cache = ClipCache(tmp_path / "cache")
    build_file(find_sources([files]), tmp_path / "file.npz", Reading(cache=cache))
    size = max(path.stat().st_size for path in list_kept(cache))
    ClipCache(cache.folder, 2 * size).make_room()
    assert 1 <= len(list_kept(cache)) <= 2
    ClipCache(cache.folder, 0).make_room()
    assert not list_kept(cache)
