"""Save arrays, and read them as a whole or mapped in place, after a look at their checksums."""

from __future__ import annotations

import math
import mmap
import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ..errors import MotionMatchingError, shorten
from .file_paths import open_regular, replacing

# Smaller files are read as a whole. If another program overwrites a mapped file in place, the
# system ends this process; Windows refuses the writing instead. Reading larger ones takes long.
READ_LIMIT = 256 * 1024**2
LARGEST_VALUE = 1e9  # of arrays in files; far above any stored value, and squares stay finite
_ALIGNMENT = 64
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_PADDING_FIELD = 0x4D4D  # an unassigned id of a zip extra field: it only carries zeros
_PIECE = 4 * 1024**2  # bytes checked at a time, which fit into the processor's cache


def save_arrays(
    path: Path | str, arrays: Mapping[str, np.ndarray], error: type[MotionMatchingError]
) -> None:
    """Write an uncompressed `.npz` whose array data start at multiples of 64 bytes.

    `numpy.load` reads it, and `map_arrays` maps it in place. Raises `error` if that fails, or would
    fail to be read: for numbers that are not finite or beyond `LARGEST_VALUE`.
    """
    for name, array in arrays.items():
        if array.size and array.dtype.kind == "f" and not _are_usable(array):
            raise error(
                f"{path} would hold '{name}' with numbers that are not finite or far too large; "
                "correct the motion that it is made of."
            )
    with (
        replacing(path, error) as temporary,
        open(temporary, "wb") as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED, allowZip64=True) as archive,
    ):
        for name, array in arrays.items():
            _write_member(archive, stream, f"{name}.npy", np.ascontiguousarray(array))


def _write_member(
    archive: zipfile.ZipFile, stream: IO[bytes], name: str, array: np.ndarray
) -> None:
    info = zipfile.ZipInfo(name)  # a fixed date: the same database is the same file
    # large members get a zip64 field of 20 bytes in their header; 4 bytes open the padding field
    zip64 = 20 if array.nbytes > zipfile.ZIP64_LIMIT - 4096 else 0
    fixed = stream.tell() + _LOCAL_HEADER.size + len(name.encode()) + zip64 + 4
    padding = -fixed % _ALIGNMENT
    info.extra = struct.pack("<HH", _PADDING_FIELD, padding) + bytes(padding)
    with archive.open(info, "w", force_zip64=bool(zip64)) as member:
        # an .npy header is itself a multiple of 64 bytes long
        np.lib.format.write_array(member, array, allow_pickle=False)


class _Identity(NamedTuple):
    """Properties that change when a file is written."""

    path: str
    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def from_stream(cls, path: Path, stream: IO[bytes]) -> _Identity:
        stat = os.fstat(stream.fileno())
        return cls(os.path.abspath(path), stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)


def map_arrays(path: Path | str, error: type[MotionMatchingError]) -> dict[str, np.ndarray]:
    """Return the arrays of an uncompressed `.npz`, read-only; those of a large file are mapped.

    The first time in this process, and after each change, the checksums are compared. Raises
    `error` if the file is missing, truncated, damaged, of another kind, or holds numbers that are
    not finite or beyond `LARGEST_VALUE`. Nothing is unpickled.
    """
    path = Path(path)
    try:
        with open(path, "rb", opener=open_regular) as stream, zipfile.ZipFile(stream) as archive:
            members = archive.infolist()
            identity = _Identity.from_stream(path, stream)
            _check_members(identity)
            buffer = _load_buffer(stream, identity.size)
            arrays = {
                member.filename.removesuffix(".npy"): _view(buffer, _read_header(stream, member))
                for member in members
            }
            if _Identity.from_stream(path, stream) != identity:
                raise ValueError("another program is writing it")
            return arrays
    except FileNotFoundError:
        raise error(f"{path} does not exist; make it first, or check the name.") from None
    except (PermissionError, IsADirectoryError) as cause:
        raise error(
            f"{path} cannot be read ({cause.strerror}); give a file that you may read."
        ) from cause
    except MemoryError as cause:
        raise error(f"{path} does not fit into memory; close other programs.") from cause
    except Exception as cause:  # damaged files make zipfile and numpy raise almost anything
        raise error(
            f"{path} is damaged or not a motion-matching file ({shorten(str(cause))}); make it "
            "again."
        ) from cause


@lru_cache(maxsize=256)
def _check_members(identity: _Identity) -> None:
    """Raise ValueError if a member has another checksum, or unusable numbers.

    It reads the file instead of mapping it: a mapped file that changes meanwhile would be fatal.
    """
    with open(identity.path, "rb") as stream, zipfile.ZipFile(stream) as archive:
        if _Identity.from_stream(Path(identity.path), stream) != identity:
            raise ValueError("another program is writing it")
        space = np.empty(_PIECE, np.uint8)
        for member in archive.infolist():
            header = _read_header(stream, member)
            stream.seek(header.start)
            checksum = zlib.crc32(stream.read(header.offset - header.start))
            left = member.file_size - (header.offset - header.start)
            while left:
                piece = space[: min(_PIECE, left)]
                if stream.readinto(piece.data) != len(piece):
                    raise ValueError(f"'{member.filename}' is cut off")
                checksum = zlib.crc32(piece.data, checksum)
                if header.dtype.kind == "f" and not _are_usable(piece.view(header.dtype)):
                    raise ValueError(
                        f"'{member.filename}' holds numbers that are not finite or far too large"
                    )
                left -= len(piece)
            if checksum != member.CRC:
                raise ValueError(f"'{member.filename}' has another checksum")


def _are_usable(values: np.ndarray) -> bool:
    """Return whether all values are finite and of a size that occurs."""
    # comparisons with NaN are False; 16 bits do not hold the largest value
    return float(values.min()) >= -LARGEST_VALUE and float(values.max()) <= LARGEST_VALUE


def _load_buffer(stream: IO[bytes], size: int) -> np.ndarray | mmap.mmap:
    """Return the bytes of a file, aligned: read if there are few, else mapped."""
    if size > READ_LIMIT:
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    space = np.empty(size + _ALIGNMENT, np.uint8)
    buffer = space[-space.ctypes.data % _ALIGNMENT :][:size]
    stream.seek(0)
    if stream.readinto(buffer) != size:  # type: ignore[attr-defined]
        raise ValueError("another program is writing it")
    buffer.flags.writeable = False
    return buffer


class _MemberHeader(NamedTuple):
    """The header of an array: its start and end in the file, shape and type."""

    start: int
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def _read_header(stream: IO[bytes], member: zipfile.ZipInfo) -> _MemberHeader:
    """Read the header of an array. Raises ValueError if it does not suit the member."""
    name = member.filename
    if member.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"'{name}' is compressed")
    stream.seek(member.header_offset)
    header = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
    start = stream.seek(header[9] + header[10], os.SEEK_CUR)
    npy = np.lib.format
    is_first_version = npy.read_magic(stream) == (1, 0)
    read = npy.read_array_header_1_0 if is_first_version else npy.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    if dtype.hasobject or fortran:
        raise ValueError(f"'{name}' holds {dtype}")
    offset = stream.tell()
    # not numpy's product, which wraps around
    if min(shape, default=0) < 0 or offset - start + math.prod(shape) * dtype.itemsize != (
        member.file_size
    ):
        raise ValueError(f"'{name}' is not as long as it says")
    return _MemberHeader(start, offset, shape, dtype)


def _view(buffer: np.ndarray | mmap.mmap, header: _MemberHeader) -> np.ndarray:
    count = math.prod(header.shape)
    if count == 0:
        return np.empty(header.shape, header.dtype)
    return np.frombuffer(buffer, header.dtype, count, header.offset).reshape(header.shape)


def fits_shape(array: np.ndarray, shape: tuple[int | None, ...]) -> bool:
    """Return whether an array has a shape; None is any size."""
    sizes = zip(shape, array.shape, strict=False)
    return array.ndim == len(shape) and all(size in (None, n) for size, n in sizes)


def expect_array(
    arrays: Mapping[str, np.ndarray],
    name: str,
    dtype: Any,
    shape: tuple[int | None, ...],
    path: Path | str,
    error: type[MotionMatchingError],
) -> np.ndarray:
    """Return an array by name; `error` for another type or shape (None is any size)."""
    array = arrays.get(name)
    if array is None:
        raise error(
            f"{path} has no array '{name}'; it is not a complete motion-matching file, make it "
            "again."
        )
    if array.dtype != np.dtype(dtype) or not fits_shape(array, shape):
        has = f"{array.dtype} {array.shape}"
        expected = f"{np.dtype(dtype)} {shape}"
        raise error(f"{path} has '{name}' as {has}, expected {expected}; make it again.")
    return array


def expect_arrays(
    arrays: Mapping[str, np.ndarray],
    kinds: Mapping[str, tuple[Any, tuple[Any, ...]]],
    sizes: Mapping[str, int | None],
    path: Path | str,
    error: type[MotionMatchingError],
) -> dict[str, np.ndarray]:
    """Return the arrays that `kinds` names, each of its type and shape; see `expect_array`.

    Letters in a shape stand for `sizes`.
    """
    shapes = {name: tuple(sizes.get(n, n) for n in shape) for name, (_, shape) in kinds.items()}
    return {
        name: expect_array(arrays, name, dtype, shapes[name], path, error)
        for name, (dtype, _) in kinds.items()
    }
