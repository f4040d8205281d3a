"""The recovery file: what is recorded, appended once a second, so that a crash costs a second at most.

A file is a run of records: a kind, the payload's length and checksum, and the payload. It is only ever appended to, so
whatever ends a program in the middle leaves a file that is whole but for its last record. What the system has been
given survives the program; a lock says whether the program that writes still runs.
"""

from __future__ import annotations

import contextlib
import json
import struct
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ..engine.control import performance
from ..engine.control.performance import Performance
from ..engine.errors import MotionMatchingError
from ..scene.pose import Track
from ..scene.recording import RecordedTicks

SUFFIX = ".mmrecovery"
_FORMAT = 1
_RECORD = struct.Struct("<cII")  # kind, length, checksum
_HEADER, _TICKS = b"H", b"T"
_LENGTH = struct.Struct("<I")


class Origin(NamedTuple):
    """What a take was recorded on: the name of the armature, and the path of its file, empty where it was not saved.

    Where the simulation object was steered `alone`, the name is that of its empty.
    """

    armature: str
    file: str
    alone: bool = False


class Recovered(NamedTuple):
    """A take that was not finished, and what it was recorded on."""

    origin: Origin
    ticks: RecordedTicks


class RecoveryFile:
    """Appends what is recorded. MotionMatchingError where the folder cannot be written to."""

    def __init__(
        self,
        folder: Path,
        origin: Origin,
        ticks: RecordedTicks,
        frame_step: float,
        lead_in: Performance,
    ) -> None:
        """A new file in the folder for ticks that are none so far; `lead_in` holds what was wanted before them."""
        self.path = (
            folder / f"{time.strftime('%Y-%m-%d %H-%M-%S')} {time.time_ns() % 10**6:06d}{SUFFIX}"
        )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._stream: IO[bytes] = open(self.path, "xb", buffering=0)  # noqa: SIM115  # open until the take ends
            self._lock = _locked(self.path)
        except OSError as cause:
            raise MotionMatchingError(
                f"The recovery file {self.path} cannot be written ({cause.strerror}); choose another "
                "folder for it, or record without one."
            ) from cause
        self._lead_in: Performance | None = lead_in
        self._header = {
            "format": _FORMAT,
            "name": ticks.name,
            **origin._asdict(),
            "fps": ticks.fps,
            "lead_in": ticks.lead_in,
            "frame": float(ticks.frames[0]),
            "frame_step": frame_step,
            "scaled": list(ticks.scaled),
            "channels": ticks.rows.shape[1],
            "collection": ticks.collection,
            "tracks": [vars(track) for track in ticks.tracks],
        }
        self._write(_HEADER, json.dumps(self._header).encode())

    def append(self, rows: np.ndarray, wanted: Performance) -> None:
        """Append ticks (T, C) and what was wanted of them, together with what was wanted before the first."""
        if self._lead_in is not None:
            first, self._lead_in = self._lead_in, None
            wanted = _joined([first, wanted])
        text = performance.to_json(wanted).encode()
        self._write(
            _TICKS,
            _LENGTH.pack(len(text)) + text + np.ascontiguousarray(rows, np.float32).tobytes(),
        )

    def _write(self, kind: bytes, payload: bytes) -> None:
        self._stream.write(_RECORD.pack(kind, len(payload), zlib.crc32(payload)) + payload)

    @property
    def is_closed(self) -> bool:
        return self._stream.closed

    def close(self, *, keep: bool) -> None:
        """Let go of the file, and remove it unless it is to be kept; may be called twice."""
        if self.is_closed:
            return
        self._stream.close()
        _unlock(self._lock)
        if not keep:
            self.path.unlink(missing_ok=True)


def left_over(folder: Path) -> list[Path]:
    """Recovery files in a folder whose recording was cut off, oldest first; not those that are being written."""
    return [path for path in sorted(folder.glob(f"*{SUFFIX}")) if not _is_locked(path)]


def origin_of(path: Path) -> Origin | None:
    """What the take in a recovery file was recorded on, None where that cannot be read."""
    try:
        _, header = next(_records(path.read_bytes()))
        return _origin_in(json.loads(header))
    except (OSError, StopIteration, ValueError, KeyError, TypeError, AttributeError):
        return None


def _origin_in(header: dict[str, Any]) -> Origin:
    return Origin(header["armature"], header.get("file", ""), header.get("alone", False))


def read(path: Path) -> Recovered:
    """The take in a recovery file, without what was torn off at its end.

    MotionMatchingError where it holds no tick, or is of another kind.
    """
    try:
        records = list(_records(path.read_bytes()))
        header = json.loads(records[0][1])
        if records[0][0] != _HEADER or header["format"] != _FORMAT:
            raise ValueError("another format")
        parts, rows = [], []
        for _, payload in records[1:]:
            (length,) = _LENGTH.unpack_from(payload)
            text = payload[_LENGTH.size : _LENGTH.size + length].decode()
            parts.append(performance.from_json(text, str(path)))
            rows.append(
                np.frombuffer(payload, np.float32, offset=_LENGTH.size + length).reshape(
                    -1, header["channels"]
                )
            )
        channels = np.concatenate(rows)
        tracks = [
            Track(
                t["path"], t["group"], t["start"], tuple(t["free"]), tuple(t["rest"]), t["optional"]
            )
            for t in header["tracks"]
        ]
        ticks = RecordedTicks(
            header["name"],
            tracks,
            header["scaled"],
            header["frame"] + header["frame_step"] * np.arange(len(channels)),
            channels,
            header["fps"],
            header["lead_in"],
            performance.to_json(_joined(parts)),
            header["collection"],
        )
        return Recovered(_origin_in(header), ticks)
    except OSError as cause:
        raise MotionMatchingError(
            f"The recovery file {path} cannot be read ({cause.strerror})."
        ) from cause
    except (ValueError, KeyError, IndexError, TypeError, struct.error) as cause:
        raise MotionMatchingError(
            f"The recovery file {path} holds no take that could be recovered; delete it."
        ) from cause


def _records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kinds and payloads of all whole records from the start on."""
    at = 0
    while at + _RECORD.size <= len(data):
        kind, length, checksum = _RECORD.unpack_from(data, at)
        payload = data[at + _RECORD.size : at + _RECORD.size + length]
        if len(payload) < length or zlib.crc32(payload) != checksum:
            return
        yield kind, payload
        at += _RECORD.size + length


def _joined(parts: Sequence[Performance]) -> Performance:
    """Performances one after the other, as the first one starts."""
    changes: list[tuple[int, Any]] = []
    count = 0
    for part in parts:
        changes += [(count + tick, change) for tick, change in part.changes]
        count += len(part.intents)
    return replace(
        parts[0], intents=tuple(i for part in parts for i in part.intents), changes=tuple(changes)
    )


# ---------------------------------------------------------------- locks: the system frees one when its program ends


def _lock_path(path: Path) -> Path:
    return path.with_suffix(".lock")


def _locked(path: Path) -> IO[bytes]:
    """A stream that holds the lock of a recovery file; BlockingIOError or PermissionError where another has it."""
    stream = open(_lock_path(path), "ab")  # noqa: SIM115  # held until it is unlocked
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
    with contextlib.suppress(OSError):
        Path(lock.name).unlink()


def _is_locked(path: Path) -> bool:
    try:
        _unlock(_locked(path))
    except OSError:
        return True
    return False
