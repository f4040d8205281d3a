"""Digests of files, and the first difference of two of them.

A file counts by its bytes, or by its parts if two programs write the same content as other bytes:
the pixels of a picture, the keys of an animation. Parts are named, and hold numbers in rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import MotionDataError
from .file_paths import describe_no_file
from .numbers import NUMBERS
from .png_pixels import read_png
from .written import round_numbers

_PIECE = 1024**2  # bytes read at a time
_OF_KEYS = (
    *("", ", frame of the left handle", ", left handle"),
    *(", frame of the right handle", ", right handle", ", interpolation"),
)


class Part(NamedTuple):
    """Numbers `values` (R, ...) under a `name` in a file, such as "bone 'Hips', location[0]".

    Row r is at `rows[r]`, such as a frame; `what` names a row, such as "frame". `columns` name the
    numbers of a row; without names they are counted.
    """

    name: str
    what: str
    rows: np.ndarray
    values: np.ndarray
    columns: tuple[str, ...] = ()


def make_keys(name: str, keys: np.ndarray, kinds: np.ndarray) -> Part:
    """Return the part of keys (K, 6) with their interpolations (K,).

    A key is frame and value, then those of its left and of its right handle.

    Frames and values are rounded, so that they are the same whatever wrote them.
    """
    frames = round_numbers(keys[:, 0].astype(np.float64), NUMBERS.frame_decimals)
    values = round_numbers(keys[:, 1:].astype(np.float64), NUMBERS.key_decimals)
    return Part(name, "frame", frames, np.column_stack([values, kinds]), _OF_KEYS)


def read_pixels(path: Path) -> list[Part]:
    """Return the pixels of a PNG file. Raises MotionDataError if it cannot be read."""
    check_file(path)
    pixels = read_png(path)
    return [Part("pixels", "line", np.arange(len(pixels)), pixels)]


def digest_bytes(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits. MotionDataError if it cannot be read."""
    found = hashlib.sha256()
    for piece in _read_pieces(path):
        found.update(piece)
    return found.hexdigest()


def digest_parts(parts: Iterable[Part]) -> str:
    """Return the SHA-256 of all parts as hexadecimal digits, whatever their order."""
    found = hashlib.sha256()
    for part in sorted(parts, key=lambda part: part.name):
        found.update(f"{part.name}\n{part.what}\n{part.values.shape}\n".encode())
        for numbers in (part.rows, part.values):
            found.update(np.ascontiguousarray(numbers, "<f8").tobytes())
    return found.hexdigest()


def describe_other_bytes(one: Path, other: Path) -> str:
    """Return where the bytes of two files differ first, '' if nowhere; raise MotionDataError."""
    position = 0
    for a, b in zip(_read_pieces(one), _read_pieces(other), strict=False):
        if a != b:
            count = min(len(a), len(b))
            differs = np.frombuffer(a, np.uint8, count) != np.frombuffer(b, np.uint8, count)
            if differs.any():
                at = int(differs.argmax())
                return f"byte {position + at} is {a[at]} and {b[at]}"
        position += len(a)
    sizes = one.stat().st_size, other.stat().st_size
    return f"one has {sizes[0]} bytes, the other {sizes[1]}" if sizes[0] != sizes[1] else ""


def describe_other_parts(ones: Iterable[Part], others: Iterable[Part]) -> str:
    """Return where the parts of two files differ first, '' if nowhere.

    Parts come in the order of the first file.
    """
    left = {part.name: part for part in others}
    for part in ones:
        other = left.pop(part.name, None)
        if other is None:
            return f"only the first has {part.name}"
        if difference := _describe_rows(part, other):
            return f"{part.name}, {difference}"
    return f"only the second has {next(iter(left))}" if left else ""


def _describe_rows(one: Part, other: Part) -> str:
    """Return the first row in which two parts differ: one is missing, or has other values."""
    count = min(len(one.rows), len(other.rows))
    moved = np.flatnonzero(one.rows[:count] != other.rows[:count])
    alike = int(moved[0]) if len(moved) else count
    if one.values.shape[1:] != other.values.shape[1:]:
        return f"rows of the shape {one.values.shape[1:]} and {other.values.shape[1:]}"
    a, b = (_flatten(part.values[:alike]) for part in (one, other))
    differs = np.argwhere((a != b) & ~(np.isnan(a) & np.isnan(b)))
    if len(differs):
        row, column = differs[0]
        inside = one.columns[column] if one.columns else f"[{column}]" if a.shape[1] > 1 else ""
        both = _format_both(a[row, column], b[row, column])
        return f"{one.what} {one.rows[row]:g}{inside}: {both}"
    if alike < max(len(one.rows), len(other.rows)):
        return _describe_missing_row(one, other, alike)
    return ""


def _format_both(a: float, b: float) -> str:
    """Return two numbers with as many digits as it takes to tell them apart."""
    texts = (f"{a:.9g}", f"{b:.9g}")
    return " and ".join(texts if texts[0] != texts[1] else (f"{a:.17g}", f"{b:.17g}"))


def _flatten(values: np.ndarray) -> np.ndarray:
    """Return rows (R, C), float64, of values (R, ...)."""
    return values.reshape(len(values), -1).astype(np.float64)


def _describe_missing_row(one: Part, other: Part, at: int) -> str:
    """Return which of two parts has a row that the other lacks, at an index of both."""
    first, second = (float(p.rows[at]) if at < len(p.rows) else np.inf for p in (one, other))
    return (
        f"{one.what} {min(first, second):g}: only in the {'first' if first < second else 'second'}"
    )


def check_file(path: Path) -> None:
    """Raise MotionDataError unless a path names an ordinary file."""
    if not path.is_file():
        raise MotionDataError(f"{describe_no_file(path)}; give a file.")


def _read_pieces(path: Path) -> Iterator[bytes]:
    check_file(path)
    try:
        with open(path, "rb") as stream:
            while piece := stream.read(_PIECE):
                yield piece
    except OSError as cause:
        raise MotionDataError(
            f"{path} cannot be read ({cause.strerror}); give a file that you may read."
        ) from cause
