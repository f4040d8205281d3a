"""Pictures of the screen: what `Xvfb -fbdir` writes to the file named in SCREEN_FILE."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import numpy as np

SCREEN = os.environ.get("SCREEN_FILE", "")  # in the format XWD; none, and no picture is taken
COLOURS = 256


def read_screen():
    """Return what the screen shows (H, W, 3)."""
    screen = Path(SCREEN).read_bytes()
    header = np.frombuffer(screen, ">u4", 25)
    height, line = int(header[5]), int(header[12])
    rows = np.frombuffer(screen, np.uint8, line * height, int(header[0] + 12 * header[19]))
    return rows.reshape(height, -1, 4)[..., 2::-1]


def save_png(pixels, path):
    """Save a picture (H, W, 3) as PNG with 256 colours."""
    palette, indices = reduce_colours(pixels)
    height, width = indices.shape
    rows = np.pad(indices, ((0, 0), (1, 0))).tobytes()  # a filter before each row: none
    chunks = (
        (b"IHDR", struct.pack(">2I5B", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    with path.open("wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, content in chunks:
            check = struct.pack(">I", zlib.crc32(kind + content))
            file.write(struct.pack(">I", len(content)) + kind + content + check)


def reduce_colours(pixels):
    """The colours (N, 3) that show a picture best, and the index of each pixel's (H, W)."""
    packed = pixels.astype(np.uint32) @ np.array((65536, 256, 1), np.uint32)
    seen, indices, counts = np.unique(packed, return_inverse=True, return_counts=True)
    colours = np.stack((seen >> 16, seen >> 8 & 255, seen & 255), 1).astype(float)
    weights, palette = np.sqrt(counts), colours[[counts.argmax()]]
    missed = np.full(len(colours), np.inf)
    while len(palette) < min(COLOURS, len(colours)):  # next the one that is missed most
        missed = np.minimum(missed, ((colours - palette[-1]) ** 2).sum(1))
        palette = np.vstack((palette, colours[[(missed * weights).argmax()]]))
    for _ in range(8):
        nearest = find_nearest(colours, palette)
        total = np.bincount(nearest, weights, len(palette)).clip(1e-9)
        sums = [np.bincount(nearest, weights * channel, len(palette)) for channel in colours.T]
        palette = np.stack(sums, 1) / total[:, None]
    nearest = find_nearest(colours, palette)[indices.reshape(packed.shape)]
    return palette.round().astype(np.uint8), nearest.astype(np.uint8)


def find_nearest(colours, palette):
    return ((palette**2).sum(1) - 2.0 * colours @ palette.T).argmin(1)
