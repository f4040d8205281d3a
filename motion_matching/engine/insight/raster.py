"""Draw lines with smooth edges into a picture of pixels, and write it as a PNG file."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

from ..errors import SettingsError
from ..files.file_paths import replacing

Array = np.ndarray
Colour = tuple[int, int, int]


def make_paper(width: int, height: int) -> Array:
    """Return a white picture (H, W, 3), float64 from 0 to 255."""
    return np.full((height, width, 3), 255.0)


def draw_line(picture: Array, start: Array, end: Array, colour: Colour, half: float = 1.3) -> None:
    """Draw a line between points (2,) in pixels, across and down, `half` of its width to each side.

    What lies outside of the picture is left out. Between equal points it is a dot.
    """
    least = np.floor(np.minimum(start, end) - half - 1).astype(int).clip(0)
    most = np.ceil(np.maximum(start, end) + half + 2).astype(int).clip(0)
    part = picture[least[1] : most[1], least[0] : most[0]]
    rows, columns = np.mgrid[: part.shape[0], : part.shape[1]]
    points = np.stack([columns + least[0], rows + least[1]], axis=-1) + 0.5
    way = end - start
    share = np.clip((points - start) @ way / max(way @ way, 1e-9), 0.0, 1.0)
    away = np.linalg.norm(points - start - share[..., None] * way, axis=-1)
    cover = np.clip(half + 0.5 - away, 0.0, 1.0)[..., None]
    part += cover * (np.array(colour) - part)


def write_png(path: Path, picture: Array) -> None:
    """Write a picture (H, W, 3) from 0 to 255. Raises SettingsError if that fails."""
    height, width, _ = picture.shape
    rows = np.round(picture).astype(np.uint8).reshape(height, -1)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    with replacing(path, SettingsError) as temporary:
        temporary.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
