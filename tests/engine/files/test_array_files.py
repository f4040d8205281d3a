"""Arrays are read as they were saved, or not at all."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.files import array_files
from motion_matching.engine.files.array_files import expect_array, map_arrays, save_arrays
from tests.conftest import CHECKOUT
from tests.engine.full_disk import assert_old_file_survives
from tests.engine.sentences import check_sentence

ARRAYS = {
    "poses": np.arange(7 * 13 * 5, dtype=np.float32).reshape(13, 7, 5),
    "track": np.linspace(-1, 1, 39).reshape(13, 3),
    "flags": np.array([True, False, True]),
    "text": np.frombuffer(b'{"a": 1}', np.uint8),
    "bits": np.array([1 << 31, 3], np.uint32),
    "nothing": np.empty((0, 4), np.float32),
    "one": np.array([2.5]),
}

FULL_DISK = """
import resource, signal, sys
import numpy as np
from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.files.array_files import save_arrays
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    save_arrays(sys.argv[1], {"a": np.ones(50_000), "b": np.ones(100_000)}, DatabaseError)
except DatabaseError as error:
    print(error)
"""


def test_arrays_are_loaded_aligned_and_read_only(tmp_path: Path):
    file = tmp_path / "arrays.npz"
    save_arrays(file, ARRAYS, DatabaseError)
    mapped = map_arrays(file, DatabaseError)
    assert list(mapped) == list(ARRAYS)
    for name, array in ARRAYS.items():
        found = mapped[name]
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)
        if array.size:
            assert found.ctypes.data % 64 == 0
            assert not found.flags.writeable


def test_numpy_reads_the_file_too(tmp_path: Path):
    file = tmp_path / "arrays.npz"
    save_arrays(file, ARRAYS, DatabaseError)
    with np.load(file, allow_pickle=False) as loaded:
        assert loaded.files == list(ARRAYS)
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(loaded[name], array)
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None


def test_equal_arrays_make_equal_files(tmp_path: Path):
    for name in ("a.npz", "b.npz"):
        save_arrays(tmp_path / name, ARRAYS, DatabaseError)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_arrays_of_any_memory_order_are_saved(tmp_path: Path):
    array = np.arange(24.0).reshape(4, 6)
    save_arrays(tmp_path / "a.npz", {"turned": array.T, "every": array[:, ::2]}, DatabaseError)
    mapped = map_arrays(tmp_path / "a.npz", DatabaseError)
    np.testing.assert_array_equal(mapped["turned"], array.T)
    np.testing.assert_array_equal(mapped["every"], array[:, ::2])


def test_members_with_the_longer_headers_of_zip64_are_aligned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A zip member above 2 GiB has a longer header; the limit is lowered here."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 10_000)
    arrays = {"small": np.arange(3.0), "huge": np.arange(5000.0), "last": np.arange(7.0)}
    save_arrays(tmp_path / "a.npz", arrays, DatabaseError)
    monkeypatch.undo()
    mapped = map_arrays(tmp_path / "a.npz", DatabaseError)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as loaded:
        for name, array in arrays.items():
            np.testing.assert_array_equal(loaded[name], array)
            np.testing.assert_array_equal(mapped[name], array)
            assert mapped[name].ctypes.data % 64 == 0


def test_a_file_can_be_replaced_while_it_is_mapped(tmp_path: Path):
    file = tmp_path / "arrays.npz"
    save_arrays(file, ARRAYS, DatabaseError)
    mapped = map_arrays(file, DatabaseError)
    save_arrays(file, {name: array * 0 for name, array in ARRAYS.items()}, DatabaseError)
    np.testing.assert_array_equal(mapped["poses"], ARRAYS["poses"])
    save_arrays(file, mapped, DatabaseError)
    np.testing.assert_array_equal(map_arrays(file, DatabaseError)["poses"], ARRAYS["poses"])


SHORTENED = """
import os, sys
from motion_matching.engine.errors import DatabaseError
from motion_matching.engine.files.array_files import map_arrays
mapped = map_arrays(sys.argv[1], DatabaseError)
os.truncate(sys.argv[1], 100)
print({name: array.sum() for name, array in mapped.items()} and "all of it can be read")
"""


def test_a_file_that_another_program_writes_over_in_place_does_not_end_this_one(tmp_path: Path):
    """A process that reads a mapped page that is gone is killed."""
    file = tmp_path / "arrays.npz"
    save_arrays(file, {"a": np.ones(1_000_000)}, DatabaseError)
    command = [sys.executable, "-c", SHORTENED, str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=CHECKOUT, check=False)
    assert (ended.returncode, ended.stdout.strip()) == (0, "all of it can be read"), ended.stderr


def test_large_files_are_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(array_files, "READ_LIMIT", 100)
    test_arrays_are_loaded_aligned_and_read_only(tmp_path)
    with pytest.raises(ValueError, match="read-only"):
        map_arrays(tmp_path / "arrays.npz", DatabaseError)["poses"][0] = 1.0


@pytest.mark.parametrize("limit", [0, 100, 300_000, 400_400, 1_200_300])
def test_a_full_disk_keeps_the_old_file_and_leaves_no_other(tmp_path: Path, limit: int):
    """Fill the disk at once, inside the first and second array, between them, and in the directory."""
    file = tmp_path / "arrays.npz"
    assert_old_file_survives(FULL_DISK, file, file, limit)
    assert os.listdir(tmp_path) == ["arrays.npz"]


# ---------------------------------------------------------------- foreign and damaged files


def save_example(tmp_path: Path) -> Path:
    file = tmp_path / "arrays.npz"
    save_arrays(file, ARRAYS, DatabaseError)
    return file


def _save_with_numpy(tmp_path: Path) -> Path:
    np.save(tmp_path / "other.npy", np.ones(100))
    return tmp_path / "other.npy"


# shapes that the header of an array of ten numbers may claim
SHAPES = {
    "longer than the file": (10**6,),
    "longer than it is": (20,),
    "shorter than it is": (5, 1),
    "negative": (-5, 2),
}


def write_unusable(tmp_path: Path, kind: str) -> Path:
    file = tmp_path / "arrays.npz"
    if kind == "missing":
        return file
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "text":
        file.write_text("HIERARCHY\nROOT Hips\n" * 50)
    elif kind == "empty":
        file.touch()
    elif kind == "compressed":
        np.savez_compressed(file, **ARRAYS)
    elif kind == "other zip":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("word/document.xml", "<xml/>" * 40)
    elif kind == "objects":
        np.savez(file, thing=np.array([{"run": "me"}, None], dtype=object))
    elif kind == "fortran":
        np.savez(file, turned=np.asfortranarray(np.ones((3, 4))))
    elif kind in SHAPES:
        stream = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            stream, {"descr": "<f8", "fortran_order": False, "shape": SHAPES[kind]}
        )
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("poses.npy", stream.getvalue() + bytes(80))
            archive.write(_save_with_numpy(tmp_path), "other.npy")
    return file


@pytest.mark.parametrize(
    "kind",
    [
        "missing",
        "folder",
        "text",
        "empty",
        "compressed",
        "other zip",
        "objects",
        "fortran",
        "pipe",
        *SHAPES,
    ],
)
def test_a_file_of_another_kind_is_refused_in_one_sentence(tmp_path: Path, kind: str):
    file = write_unusable(tmp_path, kind)
    with pytest.raises(DatabaseError) as error:
        map_arrays(file, DatabaseError)
    check_sentence(error, file)


def test_a_truncated_file_is_refused_in_one_sentence(tmp_path: Path):
    file = save_example(tmp_path)
    whole = file.read_bytes()
    for length in (
        1,
        20,
        63,
        64,
        500,
        len(whole) // 2,
        len(whole) - 200,
        len(whole) - 22,
        len(whole) - 1,
    ):
        file.write_bytes(whole[:length])
        with pytest.raises(DatabaseError) as error:
            map_arrays(file, DatabaseError)
        check_sentence(error, file)


def test_a_damaged_file_is_read_or_refused_but_never_crashes(tmp_path: Path):
    file = save_example(tmp_path)
    whole = bytearray(file.read_bytes())
    rng = np.random.default_rng(0)
    for _ in range(400):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), rng.integers(1, 12)):
            damaged[place] = rng.integers(0, 256)
        file.write_bytes(damaged)
        with suppress(DatabaseError):
            for array in map_arrays(file, DatabaseError).values():
                array.tobytes()  # all of it can be read


@pytest.mark.parametrize("limit", [array_files.READ_LIMIT, 100], ids=["read", "mapped"])
def test_every_flipped_bit_of_an_array_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
):
    monkeypatch.setattr(array_files, "READ_LIMIT", limit)
    file = save_example(tmp_path)
    whole = file.read_bytes()
    offset = whole.index(ARRAYS["poses"].tobytes())
    for place in np.random.default_rng(0).integers(offset, offset + ARRAYS["poses"].nbytes, 100):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(place) % 8
        file.write_bytes(damaged)
        with pytest.raises(DatabaseError, match=r"checksum|not finite") as error:
            map_arrays(file, DatabaseError)
        check_sentence(error, file)
    file.write_bytes(whole)
    np.testing.assert_array_equal(map_arrays(file, DatabaseError)["poses"], ARRAYS["poses"])


def test_a_file_that_was_read_before_is_checked_again_after_a_change(tmp_path: Path):
    file = save_example(tmp_path)
    map_arrays(file, DatabaseError)
    damaged = file.read_bytes().replace(ARRAYS["track"].tobytes(), b"?" * ARRAYS["track"].nbytes)
    file.write_bytes(damaged)
    with pytest.raises(DatabaseError):
        map_arrays(file, DatabaseError)


@pytest.mark.parametrize("value", [np.nan, np.inf, -1e30])
def test_numbers_that_nothing_is_made_of_are_refused(tmp_path: Path, value: float):
    arrays = {"poses": np.array([[0.0, value]])}
    with pytest.raises(DatabaseError, match="'poses' with numbers") as error:
        save_arrays(tmp_path / "a.npz", arrays, DatabaseError)
    check_sentence(error, tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(DatabaseError, match=r"'poses\.npy' holds numbers that are not") as error:
        map_arrays(tmp_path / "a.npz", DatabaseError)
    check_sentence(error, tmp_path / "a.npz")


def test_arrays_must_have_the_expected_name_type_and_shape(tmp_path: Path):
    file = save_example(tmp_path)
    arrays = map_arrays(file, DatabaseError)
    assert (
        expect_array(arrays, "poses", np.float32, (None, 7, 5), file, DatabaseError)
        is arrays["poses"]
    )
    for name, dtype, shape in (
        ("speeds", np.float32, (13,)),
        ("poses", np.float64, (13, 7, 5)),
        ("poses", np.float32, (13, 7, 6)),
        ("poses", np.float32, (13, 35)),
        ("poses", np.float32, (13,)),
    ):
        with pytest.raises(DatabaseError) as error:
            expect_array(arrays, name, dtype, shape, file, DatabaseError)
        check_sentence(error, file, f"'{name}'")
