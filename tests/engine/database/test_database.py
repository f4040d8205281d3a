"""Databases: saving and mapping, the sources of frames, and files that must not be opened."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from building.locomotion.locomotion import Move, perform
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database.database import Database, FrameSource, load, save
from motion_matching.engine.database.features.features import load_schema
from motion_matching.engine.database.tags.tags import TagRange
from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.files.array_files import map_arrays, save_arrays
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.sources.sources import Source
from tests.engine.full_disk import assert_old_file_survives

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
    """Build a tagged walk with a turn, its mirror image, and a part of it as a loop."""
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


def expect_refusal(path: Path, *words: str) -> str:
    """Load a file that must be refused in one sentence with its name and these words; return the
    sentence.
    """
    with pytest.raises(DatabaseError) as error:
        load(path)
    text = str(error.value)
    assert text.endswith(".")
    assert "\n" not in text
    for word in (path.name, *words):
        assert word in text
    return text


def rewrite_arrays(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the arrays of a saved database."""
    arrays = {name: np.array(array) for name, array in map_arrays(path, DatabaseError).items()}
    change(arrays)
    save_arrays(path, arrays, DatabaseError)


def rewrite_header(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the header of a saved database."""

    def change_header(arrays: dict[str, Any]) -> None:
        header = json.loads(arrays["header"].tobytes())
        change(header)
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)

    rewrite_arrays(path, change_header)


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


def test_a_database_survives_saving_and_loading(database: Database, saved: Path):
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


def test_arrays_are_aligned_and_read_only(saved: Path):
    loaded = load(saved)
    for name in ARRAYS:
        array = getattr(loaded, name)
        assert array.ctypes.data % 64 == 0
        assert array.flags.c_contiguous
        assert not array.flags.writeable


def test_numpy_reads_a_database_without_pickles(database: Database, saved: Path):
    with np.load(saved, allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["poses"], database.poses)
        assert {*ARRAYS, "header", "parents", "rest_positions", "rest_rotations"} == set(
            arrays.files
        )


def test_saving_a_loaded_database_gives_the_same_file(saved: Path, tmp_path: Path):
    save(load(saved), tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == saved.read_bytes()


@pytest.mark.parametrize("name", ["nowhere/walk.npz", "folder", "read-only.npz", "/proc/walk.npz"])
def test_a_failed_save_is_reported_and_leaves_existing_files_alone(
    database: Database, tmp_path: Path, name: str
):
    (tmp_path / "folder").mkdir()
    (tmp_path / "read-only.npz").write_text("old")
    (tmp_path / "read-only.npz").chmod(0o444)
    with pytest.raises(DatabaseError, match=name):
        save(database, tmp_path / name)
    assert sorted(os.listdir(tmp_path)) == ["folder", "read-only.npz"]
    assert (tmp_path / "read-only.npz").read_text() == "old"


def test_a_full_disk_keeps_the_old_database(saved: Path):
    target = saved.with_name("other.npz")
    assert_old_file_survives(FULL_DISK, target, saved, target)
    assert sorted(os.listdir(saved.parent)) == ["other.npz", "walk.npz"]


# ---------------------------------------------------------------- invalid files


def test_a_truncated_database_is_refused(saved: Path):
    whole = saved.read_bytes()
    for length in (0, 30, 1000, len(whole) // 2, len(whole) - 1):
        saved.write_bytes(whole[:length])
        expect_refusal(saved)


def test_other_files_are_refused(tmp_path: Path):
    expect_refusal(tmp_path / "none.npz", "does not exist")
    expect_refusal(tmp_path)
    text = tmp_path / "text.npz"
    text.write_text("HIERARCHY\n" * 100)
    expect_refusal(text)
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    expect_refusal(tmp_path / "other.npz", "header")
    np.savez(tmp_path / "pickled.npz", header=np.array([{"format": "x"}], dtype=object))
    expect_refusal(tmp_path / "pickled.npz")


def test_an_array_of_objects_is_never_unpickled(saved: Path):
    """Save objects as numpy does; unpickling this one would end the test run."""

    class Bomb:
        def __reduce__(self) -> tuple[Any, ...]:
            return os._exit, (3,)

    arrays = {name: np.array(array) for name, array in map_arrays(saved, DatabaseError).items()}
    arrays["bias"] = np.array([Bomb()] * len(arrays["bias"]), dtype=object)
    np.savez(saved, **arrays)
    expect_refusal(saved, "bias")


@pytest.mark.parametrize("name", [*ARRAYS, "header", "parents", "rest_positions", "rest_rotations"])
def test_a_missing_or_mismatched_array_is_named(saved: Path, name: str):
    whole = saved.read_bytes()
    rewrite_arrays(saved, lambda arrays: arrays.pop(name))
    expect_refusal(saved, f"'{name}'")
    saved.write_bytes(whole)
    rewrite_arrays(saved, lambda arrays: arrays.update({name: arrays[name][..., None]}))
    expect_refusal(saved, f"'{name}'")
    saved.write_bytes(whole)
    rewrite_arrays(saved, lambda arrays: arrays.update({name: arrays[name].astype(np.int16)}))
    expect_refusal(saved, f"'{name}'")
    if name != "header":
        saved.write_bytes(whole)
        rewrite_arrays(saved, lambda arrays: arrays.update({name: arrays[name][:-1]}))
        expect_refusal(saved)


def test_another_version_or_format_is_refused(saved: Path):
    rewrite_header(saved, lambda header: header.update(version=99))
    expect_refusal(saved, "version 99")
    rewrite_header(saved, lambda header: header.update(format="motion field"))
    expect_refusal(saved, "not a motion-matching database")
    rewrite_arrays(saved, lambda arrays: arrays.update(header=np.frombuffer(b"[1, 2]", np.uint8)))
    expect_refusal(saved, "not a motion-matching database")
    rewrite_arrays(
        saved, lambda arrays: arrays.update(header=np.frombuffer(b'{"format":', np.uint8))
    )
    expect_refusal(saved, "header")


@pytest.mark.parametrize(
    "key",
    ["fps", "bones", "end_sites", "roles", "hips_forward", "schema", "ranges", "tags", "settings"],
)
def test_a_header_with_missing_or_invalid_entries_is_refused(saved: Path, key: str):
    whole = saved.read_bytes()
    rewrite_header(saved, lambda header: header.pop(key))
    expect_refusal(saved)
    for nonsense in (None, 7, ["x"], {"x": 1}):
        saved.write_bytes(whole)
        rewrite_header(saved, lambda header, value=nonsense: header.update({key: value}))
        if (key, nonsense) not in (("fps", 7), ("tags", ["x"]), ("settings", {"x": 1})):
            expect_refusal(saved)


def test_roles_and_features_that_do_not_fit_the_skeleton_are_refused(saved: Path):
    whole = saved.read_bytes()
    rewrite_header(saved, lambda header: header["roles"].update(hips="Tail"))
    expect_refusal(saved, "Tail")
    saved.write_bytes(whole)
    rewrite_header(saved, lambda header: header["schema"]["features"][0].update(kind="smell"))
    expect_refusal(saved, "smell")
    saved.write_bytes(whole)
    rewrite_header(saved, lambda header: header["schema"]["features"].pop())
    expect_refusal(saved, "features")


def test_ranges_that_are_not_consecutive_are_refused(saved: Path):
    whole = saved.read_bytes()
    for change in (
        lambda arrays: arrays["starts"].__setitem__(0, 1),
        lambda arrays: arrays["starts"].__setitem__(1, arrays["starts"][1] + 1),
        lambda arrays: arrays["stops"].__setitem__(-1, arrays["stops"][-1] + 1),
        lambda arrays: (arrays["stops"].__setitem__(0, 2), arrays["starts"].__setitem__(1, 2)),
    ):
        saved.write_bytes(whole)
        rewrite_arrays(saved, change)
        expect_refusal(saved, "ranges")


def test_a_damaged_header_is_refused_or_read(saved: Path):
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


# ---------------------------------------------------------------- candidates


def test_candidates_have_a_past_and_are_not_near_an_end(database: Database):
    """The features look back one second (30 frames); a loop has neither beginning nor end.

    The `no_use` frames, from 100 on, count as an end too.
    """
    allowed = database.find_candidates(1 / 3)
    excluded = database.make_tag_mask({"no_use"}) | database.make_tag_mask({"no_entry"})
    for start, stop, origin in zip(database.starts, database.stops, database.ranges, strict=True):
        expected = np.ones(stop - start, bool)
        if not origin.loop:
            expected[:30] = expected[90:100] = expected[-10:] = False
        np.testing.assert_array_equal(allowed[start:stop], expected & ~excluded[start:stop])
    assert excluded.sum() == 2 * (5 + 2)


def test_without_past_features_a_range_can_be_entered_at_its_start(database: Database):
    allowed = database.with_schema(load_schema("holden")).find_candidates(0.5)
    stop = int(database.stops[0])
    assert allowed[:60].all()
    assert allowed[stop - 16]
    assert not allowed[stop - 15 : stop].any()


def test_a_long_end_guard_excludes_whole_ranges_but_no_loops(
    database: Database,
):
    allowed = database.find_candidates(1000.0)
    loop = next(i for i, r in enumerate(database.ranges) if r.loop)
    expected = np.zeros(database.frame_count, bool)
    expected[database.starts[loop] : database.stops[loop]] = True
    np.testing.assert_array_equal(allowed, expected)


def test_a_tag_mask_selects_frames_with_all_tags(database: Database):
    turning, starting = database.make_tag_mask({"turn_left"}), database.make_tag_mask({"start"})
    assert np.flatnonzero(starting[: database.stops[0]]).tolist() == list(range(20, 50))
    np.testing.assert_array_equal(
        database.make_tag_mask({"turn_left", "start"}), turning & starting
    )
    assert database.make_tag_mask(frozenset()).all()
    with pytest.raises(DatabaseError, match=r"'jump'.*turn_left"):
        database.make_tag_mask({"jump"})


# ---------------------------------------------------------------- where frames come from


def test_a_frame_knows_its_clip_its_source_frame_and_mirroring(database: Database):
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


def test_integrated_root_motion_gives_the_track(database: Database):
    motion = database.root_motion / database.fps
    for start, stop in zip(database.starts, database.stops, strict=True):
        place = database.track[start].copy()
        for frame in range(start, stop):
            np.testing.assert_allclose(place, database.track[frame], atol=1e-9)
            c, s = np.cos(place[2]), np.sin(place[2])
            x, y, turn = motion[frame]
            place = place + np.array([c * x - s * y, s * x + c * y, turn])
        np.testing.assert_allclose(motion[stop - 1], motion[stop - 2], atol=1e-12)


def test_toes_are_where_forward_kinematics_of_the_whole_body_has_them(database: Database):
    poses, toes = np.asarray(database.poses), [leg.toe for leg in database.roles.legs]
    rotations, positions = quat.compute_world(poses, database.skeleton.parents)
    found = database.skeleton.compute_bone_positions(toes, poses)
    np.testing.assert_allclose(found, positions[:, toes], atol=1e-5)
    seen = quat.inv_mul_vec(rotations[:, :1], positions[:, toes] - positions[:, :1])
    np.testing.assert_allclose(database.toes, seen, atol=1e-5)


# ---------------------------------------------------------------- other features


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    """Compare except for the last bit, which depends on how arrays lie in memory."""
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["holden", "notebook", "nucl_ai"])
def test_changed_features_equal_those_of_a_new_build(name: str):
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


def test_legs_without_a_length_are_refused(saved: Path):
    rewrite_arrays(
        saved, lambda arrays: arrays.update(rest_positions=np.zeros_like(arrays["rest_positions"]))
    )
    expect_refusal(saved, "no length")


def test_a_device_without_an_end_is_no_database():
    expect_refusal(Path("/dev/zero"), "device")
