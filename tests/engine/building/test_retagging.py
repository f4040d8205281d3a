"""Other tags on a database: the same as a build with them, without reading the sources again."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from motion_matching.engine.building import retagging
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database import database as databases
from motion_matching.engine.database import statistics
from motion_matching.engine.database.tags.tags import TagRange
from motion_matching.engine.database.tags.thresholds import AutoTagSettings
from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.sources.sources import Source
from tests.demo import generate_clips

SETTINGS = BuildSettings(mirror=True, fps=30.0, speed=1.1)
LOOP = TagRange("loop", 60, 121)


@pytest.fixture(scope="module")
def sources():
    clips = list(generate_clips())[:4]
    sources = [Source(clip=clip, key=str(number)) for number, clip in enumerate(clips)]
    sources[1] = replace(sources[1], start=10, stop=200, mirror=False)
    sources[2] = replace(sources[2], loop=True, speed=0.9)
    sources[3] = replace(sources[3], tempo=True)
    return sources


@pytest.fixture(scope="module")
def untagged(sources, tmp_path_factory):
    """The database of these sources without tags but a loop, as it is read from its file."""
    path = tmp_path_factory.mktemp("retagging") / "untagged.npz"
    tagged = [replace(sources[0], tags=(LOOP,)), *sources[1:]]
    databases.save(build(tagged, SETTINGS)[0], path)
    return databases.load(path)


def check_same(now, expected):
    for field in fields(expected):
        one, other = getattr(now, field.name), getattr(expected, field.name)
        if isinstance(other, np.ndarray):
            assert one.dtype == other.dtype, field.name
            np.testing.assert_array_equal(one, other, err_msg=field.name)
        elif field.name != "skeleton":
            assert one == other, field.name


TAGS = {
    "sides_of_a_mirrored_clip": ((LOOP, TagRange("lean_left", 30, 90)), (), (), ()),
    "no_use_excludes_accelerations": (
        (LOOP, TagRange("no_use", 33, 78)),
        (TagRange("no_use"),),
        (TagRange("no_use", 5, 6), TagRange("no_use", None, 3)),
        (),
    ),
    "all_kinds": (
        (TagRange("prefer", 0, 90, -2.5), LOOP, TagRange("prefer", 40), TagRange("walk")),
        (TagRange("no_entry", 12, 80), TagRange("far", 900, 950)),
        (TagRange("loop", 5, 20), TagRange("run", 3, 7)),
        (TagRange("limp", 1, 2), TagRange("no_use", 50)),
    ),
    "none": ((LOOP,), (), (), ()),
}


@pytest.mark.parametrize("name", TAGS)
@pytest.mark.parametrize("auto_tags", [None, AutoTagSettings(), AutoTagSettings(run_speed=1.2)])
def test_other_tags_give_the_database_of_a_build_with_them(sources, untagged, name, auto_tags):
    tagged = [replace(s, tags=tags) for s, tags in zip(sources, TAGS[name], strict=True)]
    settings = replace(SETTINGS, auto_tags=auto_tags)
    expected, report = build(tagged, settings)
    by_key = {source.key: source.tags for source in tagged}
    now = retagging.retag(untagged, by_key, auto_tags)
    check_same(now, expected)
    idle = retagging.find_idle_tags(untagged, by_key)
    assert list(idle) == [note for note in report.warnings if note.kind == "tag"]
    # again from there, back to how it began
    plain = {source.key: () for source in sources} | {"0": (LOOP,)}
    check_same(retagging.retag(now, plain), untagged)


COMPUTED = ("root_motion", "range_of_frame", "peaks", "playable", "successors", "normalization")


def compute_all(database):
    return {name: getattr(database, name) for name in COMPUTED}


@pytest.mark.parametrize("name", TAGS)
def test_what_was_computed_before_holds_with_other_tags(sources, untagged, name):
    tagged = [replace(s, tags=tags) for s, tags in zip(sources, TAGS[name], strict=True)]
    expected, _ = build(tagged, SETTINGS)
    compute_all(untagged)
    now = retagging.retag(untagged, {source.key: source.tags for source in tagged})
    kept, wanted = compute_all(now), compute_all(expected)
    normalization, other = kept.pop("normalization"), wanted.pop("normalization")
    for field in fields(other):
        one, two = getattr(normalization, field.name), getattr(other, field.name)
        np.testing.assert_array_equal(one, two, err_msg=field.name)
    for computed in wanted:
        np.testing.assert_array_equal(kept[computed], wanted[computed], err_msg=computed)
    assert statistics.measure_top_speeds(now) == statistics.measure_top_speeds(expected)
    assert now.root_motion is untagged.root_motion, "computed once"


def test_tags_that_cannot_be_used_are_refused_as_in_a_build(sources, untagged):
    by_key = {source.key: () for source in sources}
    many = tuple(TagRange(f"tag {number}") for number in range(33))
    with pytest.raises(DatabaseError, match="33 different tags"):
        retagging.retag(untagged, by_key | {"0": many})
    with pytest.raises(DatabaseError, match="build it again"):
        retagging.retag(untagged, {"0": ()})


def test_a_database_of_an_earlier_version_opens_but_is_not_tagged_again(untagged, tmp_path):
    before = replace(untagged, range_sources=None)
    databases.save(before, tmp_path / "before.npz")
    opened = databases.load(tmp_path / "before.npz")
    assert not retagging.can_retag(opened)
    assert retagging.can_retag(untagged)
    check_same(opened, before)
