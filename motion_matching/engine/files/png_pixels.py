"""Read the pixels of a PNG file. Source: the PNG specification (ISO/IEC 15948), 7 to 10."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import MotionDataError, shorten

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # of colour types: grey, colour, and both with alpha
_LARGEST = 2**28  # bytes of pixels: an 8K picture has half as many


class _Header(NamedTuple):
    """What stands at the start of a PNG file."""

    width: int
    height: int
    depth: int
    colour: int
    compression: int
    filtering: int
    interlaced: int

    @property
    def pixel(self) -> int:
        """The bytes of a pixel."""
        return _CHANNELS[self.colour] * self.depth // 8


def read_png(path: Path) -> np.ndarray:
    """Return the pixels (H, W, C) of a picture, uint8 or uint16.

    Raises MotionDataError if it cannot be read: it is damaged, interlaced, has a palette, or less
    than 8 bits to a channel.
    """
    try:
        return _read(path.read_bytes())
    except (ValueError, OSError, struct.error, zlib.error) as cause:
        raise MotionDataError(
            f"{path} cannot be read as a picture ({shorten(str(cause))}); save it again as a PNG "
            "with 8 or 16 bits to a channel."
        ) from cause


def _read(data: bytes) -> np.ndarray:
    if not data.startswith(_SIGNATURE):
        raise ValueError("it is not a PNG file")
    chunks = list(_list_chunks(data))
    first = chunks[0][1] if chunks else b""
    header = _Header(*struct.unpack(">IIBBBBB", first))
    if header.colour not in _CHANNELS or header.depth not in (8, 16) or header.interlaced:
        raise ValueError("it has a palette, few bits or interlaced lines")
    stride = header.width * header.pixel
    size = header.height * (stride + 1)
    if size > _LARGEST:
        raise ValueError("it is far too large")
    packed = b"".join(part for kind, part in chunks if kind == b"IDAT")
    lines = np.frombuffer(zlib.decompressobj().decompress(packed, size), np.uint8)
    if len(lines) != size:
        raise ValueError("it is cut off")
    rows = _undo_filters(lines.reshape(header.height, -1), header.pixel)
    shape = (header.height, header.width, _CHANNELS[header.colour])
    kind = ">u2" if header.depth == 16 else "u1"
    return rows.view(kind).reshape(shape).astype(kind[-2:])


def _list_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and content of each chunk. ValueError for a wrong checksum."""
    at = len(_SIGNATURE)
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        content = data[at + 8 : at + 8 + size]
        (checksum,) = struct.unpack_from(">I", data, at + 8 + size)
        if zlib.crc32(kind + content) != checksum:
            raise ValueError("a checksum is wrong")
        yield kind, content
        at += 12 + size


def _undo_filters(lines: np.ndarray, pixel: int) -> np.ndarray:
    """Return the bytes of lines (H, 1 + S), each of which starts with its filter."""
    rows = lines[:, 1:].copy()
    above = np.zeros(rows.shape[1], np.uint8)
    for kind, row in zip(lines[:, 0].tolist(), rows, strict=True):
        if kind == 1:
            row[:] = np.cumsum(row.reshape(-1, pixel), axis=0, dtype=np.uint8).ravel()
        elif kind == 2:
            row += above
        elif kind in (3, 4):
            row[:] = _undo_prediction(row.tolist(), above.tolist(), pixel, kind == 4)
        elif kind:
            raise ValueError("a line has an unknown filter")
        above = row
    return rows


def _undo_prediction(row: list[int], above: list[int], pixel: int, is_paeth: bool) -> list[int]:
    """Return the bytes of a line that are predicted by those to the left and above."""
    for at, up in enumerate(above):
        left = row[at - pixel] if at >= pixel else 0
        if is_paeth:
            corner = above[at - pixel] if at >= pixel else 0
            guess = _choose_nearest(left, up, corner)
        else:
            guess = (left + up) // 2
        row[at] = (row[at] + guess) % 256
    return row


def _choose_nearest(left: int, up: int, corner: int) -> int:
    """Return which of three neighbours is nearest to their sum in a plane (Paeth)."""
    a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    if a <= b and a <= c:
        return left
    return up if b <= c else corner
