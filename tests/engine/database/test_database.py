"""A database is saved and mapped as it was, says where frames come from, and never opens what it
cannot trust.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from motion_matching.engine.database.build import BuildSettings, build
from motion_matching.engine.database.database import Database, FrameSource, load, save
from motion_matching.engine.database.features import load_schema
from motion_matching.engine.database.sources import Source
from motion_matching.engine.database.tags import TagRange
from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.files import map_arrays, save_arrays
from motion_matching.engine.locomotion.locomotion import Move, perform

FULL_DISK = """
import resource, signal, sys
from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.database.database import load, save
database = load(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
try:
    save(database, sys.argv[2])
except DatabaseError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def database() -> Database:
    """A walk with a turn, tagged in parts, its mirror image, and a piece of it as if it were a
    loop.
    """
    clip = perform(
        "walk", [Move(2.0, 1.2), Move(1.5, 1.2, turn=40)], 30.0, np.random.default_rng(0)
    )
    tags = (
        TagRange("turn_left", 110),
        TagRange("start", 20, 50),
        TagRange("no_use", 100, 105),
        TagRange("no_entry", 60, 62),
    )
    sources = [
        Source(clip=clip, mirror=True, tags=tags),
        Source(clip=replace(clip, name="cycle"), start=70, stop=104, loop=True),
    ]
    return build(sources, BuildSettings(schema=load_schema("nucl_ai")))[0]


@pytest.fixture
def saved(database: Database, tmp_path: Path) -> Path:
    file = tmp_path / "walk.npz"
    save(database, file)
    return file


def refused(path: Path, *words: str) -> str:
    """The sentence with which a file is refused; it names the file and holds these words."""
    with pytest.raises(DatabaseError) as error:
        load(path)
    text = str(error.value)
    assert text.endswith(".")
    assert "\n" not in text
    for word in (path.name, *words):
        assert word in text
    return text


def rewritten(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Save the arrays of a database again after a change to them."""
    arrays = {name: np.array(array) for name, array in map_arrays(path, DatabaseError).items()}
    change(arrays)
    save_arrays(path, arrays, DatabaseError)


def with_header(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Save the database again after a change to its header."""

    def change_header(arrays: dict[str, Any]) -> None:
        header = json.loads(arrays["header"].tobytes())
        change(header)
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)

    rewritten(path, change_header)


ARRAYS = (
    "starts",
    "stops",
    "poses",
    "velocities",
    "track",
    "contacts",
    "limits",
    "tags",
    "bias",
    "features",
)


# ---------------------------------------------------------------- saving and loading


def test_a_database_comes_back_as_it_was(database: Database, saved: Path):
    loaded = load(saved)
    for name in ARRAYS:
        original, found = getattr(database, name), getattr(loaded, name)
        assert found.dtype == original.dtype
        np.testing.assert_array_equal(found, original)
    for name in (
        "fps",
        "schema",
        "ranges",
        "roles",
        "tag_names",
        "settings",
        "hips_forward",
        "role_names",
    ):
        assert getattr(loaded, name) == getattr(database, name)
    assert loaded.skeleton.names == database.skeleton.names
    assert loaded.skeleton.end_sites == database.skeleton.end_sites
    for name in ("parents", "rest_positions", "rest_rotations"):
        np.testing.assert_array_equal(
            getattr(loaded.skeleton, name), getattr(database.skeleton, name)
        )


def test_its_arrays_are_mapped_in_place_and_aligned(saved: Path):
    loaded = load(saved)
    for name in ARRAYS:
        array = getattr(loaded, name)
        assert isinstance(array, np.memmap)
        assert array.ctypes.data % 64 == 0
        assert array.flags.c_contiguous
        assert not array.flags.writeable


def test_numpy_reads_it_without_pickles(database: Database, saved: Path):
    with np.load(saved, allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["poses"], database.poses)
        assert {*ARRAYS, "header", "parents", "rest_positions", "rest_rotations"} == set(
            arrays.files
        )


def test_what_is_loaded_and_saved_again_is_the_same_file(saved: Path, tmp_path: Path):
    save(load(saved), tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == saved.read_bytes()


@pytest.mark.parametrize("name", ["nowhere/walk.npz", "folder", "read-only.npz", "/proc/walk.npz"])
def test_a_database_that_cannot_be_saved_says_so_and_leaves_what_was_there(
    database: Database, tmp_path: Path, name: str
):
    (tmp_path / "folder").mkdir()
    (tmp_path / "read-only.npz").write_text("old")
    (tmp_path / "read-only.npz").chmod(0o444)
    with pytest.raises(DatabaseError, match=name):
        save(database, tmp_path / name)
    assert sorted(os.listdir(tmp_path)) == ["folder", "read-only.npz"]
    assert (tmp_path / "read-only.npz").read_text() == "old"


def test_on_a_full_disk_the_old_database_stays(saved: Path):
    target = saved.with_name("other.npz")
    target.write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(saved), str(target)],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=Path(__file__).parents[3],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    assert str(target) in done.stdout
    assert target.read_text() == "old"
    assert sorted(os.listdir(saved.parent)) == ["other.npz", "walk.npz"]


# ---------------------------------------------------------------- files that are no database


def test_a_truncated_database_is_refused(saved: Path):
    whole = saved.read_bytes()
    for length in (0, 30, 1000, len(whole) // 2, len(whole) - 1):
        saved.write_bytes(whole[:length])
        refused(saved)


def test_other_files_are_refused(tmp_path: Path):
    refused(tmp_path / "none.npz", "does not exist")
    refused(tmp_path)
    text = tmp_path / "text.npz"
    text.write_text("HIERARCHY\n" * 100)
    refused(text)
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    refused(tmp_path / "other.npz", "header")
    np.savez(tmp_path / "pickled.npz", header=np.array([{"format": "x"}], dtype=object))
    refused(tmp_path / "pickled.npz")


def test_an_array_of_objects_is_never_unpickled(saved: Path):
    """The file is written as numpy writes one with objects in it; to unpickle this one would end
    the test run.
    """

    class Bomb:
        def __reduce__(self) -> tuple[Any, ...]:
            return os._exit, (3,)

    arrays = {name: np.array(array) for name, array in map_arrays(saved, DatabaseError).items()}
    arrays["bias"] = np.array([Bomb()] * len(arrays["bias"]), dtype=object)
    np.savez(saved, **arrays)
    refused(saved, "bias")


@pytest.mark.parametrize("name", [*ARRAYS, "header", "parents", "rest_positions", "rest_rotations"])
def test_a_missing_array_or_one_of_another_shape_or_type_is_named(saved: Path, name: str):
    whole = saved.read_bytes()
    rewritten(saved, lambda arrays: arrays.pop(name))
    refused(saved, f"'{name}'")
    saved.write_bytes(whole)
    rewritten(saved, lambda arrays: arrays.update({name: arrays[name][..., None]}))
    refused(saved, f"'{name}'")
    saved.write_bytes(whole)
    rewritten(saved, lambda arrays: arrays.update({name: arrays[name].astype(np.int16)}))
    refused(saved, f"'{name}'")
    if name != "header":
        saved.write_bytes(whole)
        rewritten(saved, lambda arrays: arrays.update({name: arrays[name][:-1]}))
        refused(saved)


def test_another_version_or_format_is_refused(saved: Path):
    with_header(saved, lambda header: header.update(version=99))
    refused(saved, "version 99")
    with_header(saved, lambda header: header.update(format="motion field"))
    refused(saved, "not a motion-matching database")
    rewritten(saved, lambda arrays: arrays.update(header=np.frombuffer(b"[1, 2]", np.uint8)))
    refused(saved, "not a motion-matching database")
    rewritten(saved, lambda arrays: arrays.update(header=np.frombuffer(b'{"format":', np.uint8)))
    refused(saved, "header")


@pytest.mark.parametrize(
    "key",
    ["fps", "bones", "end_sites", "roles", "hips_forward", "schema", "ranges", "tags", "settings"],
)
def test_a_header_that_lacks_something_or_holds_something_else_is_refused(saved: Path, key: str):
    whole = saved.read_bytes()
    with_header(saved, lambda header: header.pop(key))
    refused(saved)
    for nonsense in (None, 7, ["x"], {"x": 1}):
        saved.write_bytes(whole)
        with_header(saved, lambda header, value=nonsense: header.update({key: value}))
        if (key, nonsense) not in (("fps", 7), ("tags", ["x"]), ("settings", {"x": 1})):
            refused(saved)


def test_roles_and_features_that_do_not_fit_the_skeleton_are_refused(saved: Path):
    whole = saved.read_bytes()
    with_header(saved, lambda header: header["roles"].update(hips="Tail"))
    refused(saved, "Tail")
    saved.write_bytes(whole)
    with_header(saved, lambda header: header["schema"]["features"][0].update(kind="smell"))
    refused(saved, "smell")
    saved.write_bytes(whole)
    with_header(saved, lambda header: header["schema"]["features"].pop())
    refused(saved, "features")


def test_ranges_must_follow_one_another(saved: Path):
    whole = saved.read_bytes()
    for change in (
        lambda arrays: arrays["starts"].__setitem__(0, 1),
        lambda arrays: arrays["starts"].__setitem__(1, arrays["starts"][1] + 1),
        lambda arrays: arrays["stops"].__setitem__(-1, arrays["stops"][-1] + 1),
        lambda arrays: (arrays["stops"].__setitem__(0, 2), arrays["starts"].__setitem__(1, 2)),
    ):
        saved.write_bytes(whole)
        rewritten(saved, change)
        refused(saved, "ranges")


def test_a_header_damaged_anywhere_is_refused_or_understood(saved: Path):
    whole = bytearray(saved.read_bytes())
    start = whole.index(b'{"format"')
    length = whole.index(b"PK", start) - start
    rng = np.random.default_rng(2)
    for _ in range(150):
        damaged = bytearray(whole)
        for place in rng.integers(start, start + length, 3):
            damaged[place] = rng.integers(32, 127)
        saved.write_bytes(damaged)
        try:
            load(saved)
        except DatabaseError:
            continue


# ---------------------------------------------------------------- what may be entered


def test_a_search_may_choose_what_has_a_past_and_is_not_near_an_end(database: Database):
    """The set of features looks a second back: 30 frames; a loop has neither beginning nor end.

    Before frames that are not to be used, from 100 on, there is an end as well.
    """
    allowed = database.find_candidates(1 / 3)
    excluded = database.make_tag_mask({"no_use"}) | database.make_tag_mask({"no_entry"})
    for start, stop, origin in zip(database.starts, database.stops, database.ranges, strict=True):
        expected = np.ones(stop - start, bool)
        if not origin.loop:
            expected[:30] = expected[90:100] = expected[-10:] = False
        np.testing.assert_array_equal(allowed[start:stop], expected & ~excluded[start:stop])
    assert excluded.sum() == 2 * (5 + 2)


def test_without_past_times_a_range_may_be_entered_from_its_start(database: Database):
    allowed = database.with_schema(load_schema("holden")).find_candidates(0.5)
    stop = int(database.stops[0])
    assert allowed[:60].all()
    assert allowed[stop - 16]
    assert not allowed[stop - 15 : stop].any()


def test_guards_longer_than_a_range_leave_nothing_and_do_not_reach_into_the_next(
    database: Database,
):
    allowed = database.find_candidates(1000.0)
    loop = next(i for i, r in enumerate(database.ranges) if r.loop)
    expected = np.zeros(database.frame_count, bool)
    expected[database.starts[loop] : database.stops[loop]] = True
    np.testing.assert_array_equal(allowed, expected)


def test_frames_are_asked_for_by_all_of_their_tags(database: Database):
    turning, starting = database.make_tag_mask({"turn_left"}), database.make_tag_mask({"start"})
    assert np.flatnonzero(starting[: database.stops[0]]).tolist() == list(range(20, 50))
    np.testing.assert_array_equal(
        database.make_tag_mask({"turn_left", "start"}), turning & starting
    )
    assert database.make_tag_mask(frozenset()).all()
    with pytest.raises(DatabaseError, match=r"'jump'.*turn_left"):
        database.make_tag_mask({"jump"})


# ---------------------------------------------------------------- where frames come from


def test_a_frame_knows_its_clip_its_frame_there_and_whether_it_is_mirrored(database: Database):
    names = {(r.clip, r.mirrored): k for k, r in enumerate(database.ranges)}
    walk, mirrored, cycle = (
        int(database.starts[names[key]])
        for key in (("walk", False), ("walk", True), ("cycle", False))
    )
    assert database.get_frame_source(walk + 17) == FrameSource("walk", 17, False)
    assert database.get_frame_source(mirrored + 17) == FrameSource("walk", 17, True)
    assert database.get_frame_source(cycle) == FrameSource("cycle", 70, False)
    assert database.get_frame_source(int(database.stops[names["cycle", False]]) - 1).frame == 102
    np.testing.assert_array_equal(
        database.range_of_frame[[walk, cycle]], [names["walk", False], names["cycle", False]]
    )


def test_root_motion_played_from_the_first_frame_of_a_range_is_its_track(database: Database):
    motion = database.root_motion / database.fps
    for start, stop in zip(database.starts, database.stops, strict=True):
        place = database.track[start].copy()
        for frame in range(start, stop):
            np.testing.assert_allclose(place, database.track[frame], atol=1e-9)
            c, s = np.cos(place[2]), np.sin(place[2])
            x, y, turn = motion[frame]
            place = place + np.array([c * x - s * y, s * x + c * y, turn])
        np.testing.assert_allclose(motion[stop - 1], motion[stop - 2], atol=1e-12)


# ---------------------------------------------------------------- other features


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    """But for the last bit, which depends on where in memory arrays lie."""
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["holden", "notebook", "nucl_ai"])
def test_a_database_with_other_features_equals_one_built_with_them(name: str):
    clip = perform("walk", [Move(2.0, 1.2, turn=30)], 30.0, np.random.default_rng(1))
    sources = [Source(clip=clip), Source(clip=clip, start=60, stop=94, loop=True)]
    first = build(sources, BuildSettings(schema=load_schema("holden"), mirror=True))[0]
    expected = build(sources, BuildSettings(schema=load_schema(name), mirror=True))[0]
    changed = first.with_schema(load_schema(name))
    assert_same(changed.features, expected.features)
    assert changed.poses is first.poses
    assert_same(changed.normalization.mean, expected.normalization.mean)


def test_a_mapped_database_computes_the_same_features(database: Database, saved: Path):
    schema = load_schema("holden")
    assert_same(load(saved).with_schema(schema).features, database.with_schema(schema).features)
