"""Digests: what counts of a file, the first difference of two, and pictures by their pixels."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motion_matching.engine.errors import MotionDataError
from motion_matching.engine.files.digests import (
    Part,
    describe_other_bytes,
    describe_other_parts,
    digest_bytes,
    digest_parts,
    make_keys,
)
from motion_matching.engine.files.png_pixels import read_png
from motion_matching.engine.insight.raster import write_png
from tests.strategies import make_generators

LINEAR = np.ones(3)


def make_curve(name: str, *values: float, frames: tuple[float, ...] = (1, 2, 3)) -> Part:
    keys = np.column_stack([frames[: len(values)], values] * 3)
    return make_keys(name, keys, LINEAR[: len(values)])


def test_a_digest_of_parts_knows_no_order_and_no_last_bit():
    a, b = make_curve("a", 1, 2, 3), make_curve("b", 0.5, -0.0, 1e-9)
    nearly = make_curve("b", 0.5 + 1e-9, 0.0, -1e-9, frames=(1 + 1e-6, 2, 3))
    assert digest_parts([a, b]) == digest_parts([b, a]) == digest_parts([nearly, a])
    assert describe_other_parts([a, b], [a, nearly]) == ""


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (make_curve("a", 1, 2.5, 3), "a, frame 2: 2 and 2.5"),
        (make_curve("a", 1, 2), "a, frame 3: only in the first"),
        (make_curve("a", 1, 2, 3, frames=(1, 1.5, 3)), "a, frame 1.5: only in the second"),
        (make_curve("b", 1, 2, 3), "only the first has a"),
        (
            make_keys("a", np.column_stack([[1, 2, 3]] * 6), 2 * LINEAR),
            "a, frame 1, interpolation: 1 and 2",
        ),
    ],
)
def test_the_first_difference_of_parts_is_named(other, said):
    one = make_curve("a", 1, 2, 3)
    assert describe_other_parts([one], [other]) == said
    assert digest_parts([one]) != digest_parts([other])


def test_a_part_that_only_the_second_has_is_named():
    a, b = make_curve("a", 1, 2, 3), make_curve("b", 1, 2, 3)
    assert describe_other_parts([a], [a, b]) == "only the second has b"


def test_a_last_bit_of_an_array_is_shown():
    values = np.array([0.1, np.nextafter(0.1, 1)])
    one, other = (Part("array 'a'", "row", np.zeros(1), value[None]) for value in values)
    assert describe_other_parts([one], [other]).endswith(
        "0.10000000000000001 and 0.10000000000000002"
    )


def test_the_first_byte_that_differs_is_named(tmp_path):
    one, other, longer = (tmp_path / name for name in "abc")
    one.write_bytes(b"same but one")
    other.write_bytes(b"same and one")
    longer.write_bytes(b"same but one more")
    assert describe_other_bytes(one, other) == "byte 5 is 98 and 97"
    assert describe_other_bytes(one, longer) == "one has 12 bytes, the other 17"
    assert describe_other_bytes(one, one) == ""
    assert digest_bytes(one) != digest_bytes(longer)


@pytest.mark.parametrize("name", ["none", ""])
def test_a_file_that_is_none_is_refused_in_a_sentence(tmp_path, name):
    with pytest.raises(MotionDataError, match=r"(does not exist|is a folder); give a file"):
        digest_bytes(tmp_path / name)


# ---------------------------------------------------------------- pictures


def filter_line(kind: int, line: bytes, above: bytes, pixel: int) -> bytes:
    """Return a line as a filter of the specification writes it, byte by byte."""
    result = bytearray([kind])
    for i, value in enumerate(line):
        left = line[i - pixel] if i >= pixel else 0
        corner = above[i - pixel] if i >= pixel else 0
        up = above[i]
        nearest = min((left, up, corner), key=lambda guess: abs(left + up - corner - guess))
        guess = (0, left, up, (left + up) // 2, nearest)[kind]
        result.append((value - guess) % 256)
    return bytes(result)


def make_chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)


def make_png(pixels: np.ndarray, kinds: list[int]) -> bytes:
    """Return pixels (H, W, C) as a PNG file, with a filter for each line."""
    height, width, channels = pixels.shape
    depth = 8 * pixels.itemsize
    lines = [row.astype(pixels.dtype.newbyteorder(">")).tobytes() for row in pixels]
    above = [bytes(len(lines[0])), *lines]
    pixel = channels * pixels.itemsize
    body = b"".join(filter_line(*each, pixel) for each in zip(kinds, lines, above, strict=False))
    colour = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(body)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(make_chunk(*chunk) for chunk in chunks)


@given(make_generators(), st.sampled_from([1, 2, 3, 4]), st.sampled_from([np.uint8, np.uint16]))
def test_pixels_are_read_whatever_filters_wrote_them(tmp_path_factory, random, channels, kind):
    pixels = random.integers(0, np.iinfo(kind).max, (7, 5, channels)).astype(kind)
    path = tmp_path_factory.mktemp("png") / "a.png"
    path.write_bytes(make_png(pixels, random.integers(0, 5, 7).tolist()))
    np.testing.assert_array_equal(read_png(path), pixels)


def test_own_pictures_are_read(tmp_path):
    picture = np.random.default_rng(1).integers(0, 255, (6, 9, 3)).astype(float)
    write_png(tmp_path / "a.png", picture)
    np.testing.assert_array_equal(read_png(tmp_path / "a.png"), picture)


@pytest.mark.parametrize("at", [0, 20, 45, -6])
def test_a_damaged_picture_is_refused_in_a_sentence(tmp_path: Path, at):
    data = bytearray(make_png(np.zeros((4, 4, 3), np.uint8), [0] * 4))
    data[at] ^= 0xFF
    (tmp_path / "a.png").write_bytes(data)
    with pytest.raises(MotionDataError, match="cannot be read as a picture"):
        read_png(tmp_path / "a.png")


@pytest.mark.parametrize("length", [0, 8, 30, 60])
def test_a_picture_that_is_cut_off_is_refused_in_a_sentence(tmp_path: Path, length):
    data = make_png(np.zeros((4, 4, 3), np.uint8), [0] * 4)
    (tmp_path / "a.png").write_bytes(data[:length])
    with pytest.raises(MotionDataError, match="cannot be read as a picture"):
        read_png(tmp_path / "a.png")
