"""Write files that are never half-written, and map saved arrays into memory in place."""

from __future__ import annotations

import os
import stat
import struct
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from .errors import MotionMatchingError

_ALIGNMENT = 64
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_PADDING_FIELD = 0x4D4D  # an unassigned id of a zip extra field: it only carries zeros


@contextmanager
def replacing(path: Path | str, error: type[MotionMatchingError]) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` at the end, or is deleted after an exception.

    An OSError is raised as `error`, with a sentence that names the path.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise error(f"{path} is a folder; give the name of a file.")
        if path.exists() and not path.stat().st_mode & stat.S_IWUSR:
            raise error(f"{path} is read-only; allow writing or choose another name.")
        handle, name = tempfile.mkstemp(path.suffix, f".{path.stem}.", path.parent)
        os.close(handle)
    except OSError as cause:
        raise error(
            f"{path} cannot be written ({cause.strerror}); choose a folder you may write to."
        ) from cause
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes private files; a saved file gets the permissions of the user's umask
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as cause:
        reason = cause.strerror or str(cause)
        raise error(
            f"{path} cannot be written ({reason}); free some space or choose another place."
        ) from cause
    finally:
        temporary.unlink(missing_ok=True)


def save_arrays(
    path: Path | str, arrays: Mapping[str, np.ndarray], error: type[MotionMatchingError]
) -> None:
    """Write an uncompressed `.npz` whose array data start at multiples of 64 bytes.

    `numpy.load` reads it, and `map_arrays` maps it in place. Raises `error` if that fails.
    """
    with replacing(path, error) as temporary, open(temporary, "wb") as stream:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            for name, array in arrays.items():
                _write_member(archive, stream, f"{name}.npy", np.ascontiguousarray(array))
        stream.flush()
        os.fsync(stream.fileno())


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


def map_arrays(path: Path | str, error: type[MotionMatchingError]) -> dict[str, np.ndarray]:
    """Return the arrays of an uncompressed `.npz`, memory-mapped read-only in place.

    Raises `error` if the file is missing, truncated or of another kind. Nothing is unpickled.
    """
    path = Path(path)
    try:
        with open(path, "rb") as stream, zipfile.ZipFile(stream) as archive:
            return {
                info.filename.removesuffix(".npy"): _map_member(path, stream, info)
                for info in archive.infolist()
            }
    except FileNotFoundError:
        raise error(f"{path} does not exist; make it first, or check the name.") from None
    except (PermissionError, IsADirectoryError) as cause:
        raise error(
            f"{path} cannot be read ({cause.strerror}); give a file that you may read."
        ) from cause
    except Exception as cause:  # zipfile and numpy raise almost anything on damaged files
        raise error(
            f"{path} is damaged or not a motion-matching file ({cause}); make it again."
        ) from cause


def _map_member(path: Path, stream: IO[bytes], info: zipfile.ZipInfo) -> np.ndarray:
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"'{info.filename}' is compressed")
    stream.seek(info.header_offset)
    header = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
    start = stream.seek(header[9] + header[10], os.SEEK_CUR)
    npy = np.lib.format
    is_first_version = npy.read_magic(stream) == (1, 0)
    read = npy.read_array_header_1_0 if is_first_version else npy.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    if dtype.hasobject or fortran:
        raise ValueError(f"'{info.filename}' holds {dtype}")
    offset, count = stream.tell(), int(np.prod(shape, dtype=np.int64))
    if offset - start + count * dtype.itemsize != info.file_size:
        raise ValueError(f"'{info.filename}' is not as long as it says")
    if count == 0:
        return np.empty(shape, dtype)
    return np.memmap(path, dtype, "r", offset, shape)


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
        has, expected = f"{array.dtype} {array.shape}", f"{np.dtype(dtype)} {shape}"
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
