"""Append recorded ticks to a recovery file once a second, so a crash costs at most that.

A file is a sequence of records: a kind, the payload's length and checksum, and the payload. It is
only appended to, so after a crash all records but the last are whole. Data handed to the system
survives the program. A lock says whether the program that writes the file still runs.
"""

from __future__ import annotations

import contextlib
import json
import struct
import sys
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ..engine.errors import MotionMatchingError, SettingsError
from ..engine.files import json_files, own_files
from ..engine.files.array_files import LARGEST_VALUE
from ..engine.files.json_files import (
    EntryError,
    expect_flag,
    expect_list,
    expect_number,
    expect_object,
    expect_text,
    expect_whole_number,
)
from ..engine.names import to_readable
from ..engine.performance import performance
from ..scene.blender.animation.actions import MAX_FRAME
from ..scene.blender.animation.curves import is_custom_property
from ..scene.blender.transforms.transforms import REST
from ..scene.writing.channel_writer import Track
from ..scene.writing.recording import RecordedTicks

SUFFIX = ".mmrecovery"
_FORMAT = 1
_RECORD = struct.Struct("<cII")  # kind, length, checksum
_HEADER = b"H"
_TICKS = b"T"
_LENGTH = struct.Struct("<I")
_FARTHEST = 1e5  # metres, or anything else that a pose rests at
_SAVED_AS_THEY_ARE = ("name", "scaled", "fps", "lead_in", "collection")  # of recorded ticks


class Origin(NamedTuple):
    """Origin of a take: an armature by name, and its file's path, empty if unsaved.

    If the simulation object was steered `alone`, the name is that of its empty.
    """

    armature: str
    file: str
    alone: bool = False


class RecoveredTake(NamedTuple):
    """An unfinished take and what it was recorded on."""

    origin: Origin
    ticks: RecordedTicks


class RecoveryFile:
    """Appends ticks to a file; MotionMatchingError if it cannot be written."""

    def __init__(
        self,
        folder: Path,
        origin: Origin,
        ticks: RecordedTicks,
        frame_step: float,
        lead_in: performance.Performance,
    ) -> None:
        """Make a new file in the folder; `lead_in` is the performance before the ticks to come."""
        now = f"{time.strftime('%Y-%m-%d %H-%M-%S')} {time.time_ns() % 10**6:06d}"
        self.path = folder / f"{now}{SUFFIX}"
        self._lead_in: performance.Performance | None = lead_in
        header = {
            "format": _FORMAT,
            **origin._asdict(),
            **{name: getattr(ticks, name) for name in _SAVED_AS_THEY_ARE},
            "frame": float(ticks.frames[0]),
            "frame_step": frame_step,
            "channels": ticks.rows.shape[1],
            "tracks": [vars(track) for track in ticks.tracks],
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with contextlib.ExitStack() as failed:
                self._lock = _lock(self.path)
                failed.callback(_unlock, self._lock)
                # open until the take ends
                self._stream: IO[bytes] = open(self.path, "xb", buffering=0)  # noqa: SIM115
                failed.callback(self.path.unlink)
                failed.callback(self._stream.close)
                self._write(_HEADER, json.dumps(header).encode())
                failed.pop_all()
        except OSError as cause:
            raise self._make_error(cause) from cause

    def append(self, rows: np.ndarray, recorded: performance.Performance) -> None:
        """Append ticks (T, C) and their performance; the first time, with that of the lead-in."""
        if self._lead_in is not None:
            first = self._lead_in
            self._lead_in = None
            recorded = performance.concatenate([first, recorded])
        text = performance.to_json(recorded).encode()
        channels = np.ascontiguousarray(rows, np.float32).tobytes()
        self._write(_TICKS, _LENGTH.pack(len(text)) + text + channels)

    def _write(self, kind: bytes, payload: bytes) -> None:
        record = _RECORD.pack(kind, len(payload), zlib.crc32(payload)) + payload
        try:
            _write_all(self._stream, record)
        except OSError as cause:
            raise self._make_error(cause) from cause

    def _make_error(self, cause: OSError) -> MotionMatchingError:
        return MotionMatchingError(
            f"The recovery file {self.path} cannot be written ({cause.strerror}); choose another "
            "folder for it, or record without one."
        )

    @property
    def is_closed(self) -> bool:
        return self._stream.closed

    def close(self, *, keep: bool) -> None:
        """Close the file, and delete it unless `keep` is set; may be called twice."""
        if self.is_closed:
            return
        self._stream.close()
        _unlock(self._lock)
        if not keep:
            self.path.unlink(missing_ok=True)


def _write_all(stream: IO[bytes], data: bytes) -> None:
    """Write all data or raise OSError: an unbuffered stream stops early as a disk becomes full."""
    while data:
        data = data[stream.write(data) :]


def find_unfinished(folder: Path) -> list[Path]:
    """Return the recovery files of interrupted recordings in a folder, oldest first."""
    return [
        path
        for path in sorted(folder.glob(f"*{SUFFIX}"))
        if own_files.find_kind(path) == own_files.RECORDING and not _is_locked(path)
    ]


def read_origin(path: Path) -> Origin | None:
    """Return what the take in a recovery file was recorded on; None if that cannot be read."""
    try:
        _, header = next(_iterate_records(path.read_bytes()))
        return _read_origin(_parse_header(header))
    except (OSError, StopIteration, EntryError, SettingsError):
        return None


def _parse_header(text: bytes) -> Mapping[str, Any]:
    """Return what the first record holds. SettingsError if it is no JSON, else EntryError."""
    return expect_object(json_files.parse(text, "header of a recovery file"), "the header")


def _read_origin(header: Mapping[str, Any]) -> Origin:
    file = header.get("file", "")
    if not isinstance(file, str):
        raise EntryError("'file' is no text")
    armature = to_readable(expect_text(header.get("armature"), "'armature'"))
    return Origin(armature, file, expect_flag(header.get("alone", False), "'alone'"))


def _read_track(data: Any, channels: int) -> Track:
    """Return a track: it sets a transform, or a custom property, from some of the channels."""
    names = [field.name for field in fields(Track)]
    track = expect_object(data, "a track", names)
    path = expect_text(track.get("path"), "a path")
    rest = [expect_number(v, "a rest", -_FARTHEST, _FARTHEST) for v in _get_list(track, "rest")]
    free = [expect_whole_number(v, "a component", 0) for v in _get_list(track, "free")]
    start = expect_whole_number(track.get("start"), "a start", 0)
    property_name = path.rpartition(".")[2]
    size = 1 if is_custom_property(path) else len(REST.get(property_name, ()))
    is_fitting = bool(rest) and len(rest) == size
    if not is_fitting or max(free, default=0) >= len(rest) or start + len(rest) > channels:
        raise EntryError(f"a track sets {path}, with other components")
    group = expect_text(track.get("group"), "a group")
    optional = track.get("optional", False)
    is_optional = expect_flag(optional, "'optional'")
    return Track(path, group, start, tuple(free), tuple(rest), is_optional)


def _get_list(data: Mapping[str, Any], name: str) -> Sequence[Any]:
    return expect_list(data.get(name), f"'{name}'")


def read(path: Path) -> RecoveredTake:
    """Return the take in a recovery file, without an incomplete record at its end.

    Raises MotionMatchingError if it holds no tick or is another kind of file.
    """
    try:
        records = list(_iterate_records(path.read_bytes()))
        header = _parse_header(records[0][1])
        if records[0][0] != _HEADER or header.get("format") != _FORMAT:
            raise ValueError("another format")
        width = expect_whole_number(header.get("channels"), "'channels'", 1)
        parts = []
        rows = []
        for _, payload in records[1:]:
            (length,) = _LENGTH.unpack_from(payload)
            start = _LENGTH.size + length
            text = payload[_LENGTH.size : start].decode()
            parts.append(performance.from_json(text, str(path)))
            numbers = np.frombuffer(payload, np.float32, offset=start)
            rows.append(numbers.reshape(-1, width))
        channels = np.concatenate(rows)
        if not np.all(np.abs(channels) <= LARGEST_VALUE):  # False for what is no number
            raise ValueError("a pose without numbers, or too far away")
        recorded = performance.concatenate(parts)
        lead_in = expect_whole_number(header.get("lead_in"), "'lead_in'", 0)
        if lead_in >= len(recorded.intents):
            raise ValueError("more ticks before the take than there are")
        collection = header.get("collection", "")
        ticks = RecordedTicks(
            name=to_readable(expect_text(header.get("name"), "'name'")),
            tracks=[_read_track(track, width) for track in _get_list(header, "tracks")],
            scaled=[expect_text(name, "a bone") for name in _get_list(header, "scaled")],
            frames=_read_frames(header, len(channels)),
            rows=channels,
            fps=expect_number(header.get("fps"), "'fps'", 1, performance.HIGHEST_RATE),
            lead_in=lead_in,
            performance=performance.to_json(recorded),
            collection=expect_text(collection, "'collection'") if collection else "",
        )
        return RecoveredTake(_read_origin(header), ticks)
    except OSError as cause:
        raise MotionMatchingError(
            f"The recovery file {path} cannot be read ({cause.strerror})."
        ) from cause
    except (ValueError, IndexError, struct.error, SettingsError) as cause:
        raise MotionMatchingError(
            f"The recovery file {path} holds no take that can be recovered; delete it."
        ) from cause


def _read_frames(header: Mapping[str, Any], count: int) -> np.ndarray:
    first = expect_number(header.get("frame"), "'frame'", -MAX_FRAME, MAX_FRAME)
    step = expect_number(header.get("frame_step"), "'frame_step'", 1e-3, 1e3)
    return first + step * np.arange(count)


def _iterate_records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and payload of all whole records."""
    offset = 0
    while offset + _RECORD.size <= len(data):
        kind, length, checksum = _RECORD.unpack_from(data, offset)
        payload = data[offset + _RECORD.size : offset + _RECORD.size + length]
        if len(payload) < length or zlib.crc32(payload) != checksum:
            return
        yield kind, payload
        offset += _RECORD.size + length


# ------------------------------------------------ locks: the system frees one when its program ends


def _lock(path: Path) -> IO[bytes]:
    """Return a stream that locks a recovery file; OSError if another program holds it."""
    stream = open(path.with_suffix(".lock"), "ab")  # noqa: SIM115  # held until it is unlocked
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        stream.close()
        raise
    return stream


def _unlock(lock: IO[bytes]) -> None:
    lock.close()
    path = Path(lock.name)
    if own_files.find_kind(path) == own_files.EMPTY:  # it may have been there, with something in it
        own_files.remove(path)


def _is_locked(path: Path) -> bool:
    try:
        _unlock(_lock(path))
    except OSError:
        return True
    return False
