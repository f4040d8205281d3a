"""Read the numbers of a BVH file as one array, or report the first wrong one and its place.

The frame rate comes from its frame time, which some files give as a rate.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import NoReturn

import numpy as np

from ..errors import MotionDataError

_PLAIN = b"+-.0123456789"  # characters of most numbers
LARGEST_VALUE = 1e9  # far above any degrees or millimetres; keeps float32 finite


_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?|[-+]?\d+,")
_LIST = re.compile(r"[-+.\deE]*(?:([,;])[-+.\deE]*)+")  # of numbers, all with one separator
_GLUED = re.compile(r"[-+]?[\d.]+(?:[-+]+[\d.]+)+")
_UNDEFINED = re.compile(r"[-+]?(?:1\.#\w+|s?nan\S*|inf\S*)", re.IGNORECASE)
_SEPARATORS = {",": "commas", ";": "semicolons"}


def fail(path: Path, line: int, actual: str, expected: str, advice: str = "") -> NoReturn:
    """Raise the MotionDataError for a line with unexpected content."""
    more = f": {advice}" if advice else ""
    raise MotionDataError(
        f"Cannot read '{path}': line {line} has {actual} where {expected} was expected{more}"
    )


def explain_word(word: str) -> str:
    """Explain why a word is no number, with a remedy; empty if unknown."""
    if _DECIMAL_COMMA.fullmatch(word):
        return "it has a decimal comma; write numbers with decimal points"
    if separated := _LIST.fullmatch(word):
        return f"{_SEPARATORS[separated[1]]} separate its numbers; write spaces instead"
    if _GLUED.fullmatch(word):
        return "its numbers follow each other without a space; put one between them"
    if _UNDEFINED.fullmatch(word):
        return "it stands for a number that could not be computed; repair or delete that line"
    return ""


class BvhTable:
    """Reads the numbers after the frame time: a line for each frame, a number for each channel.

    Errors name the `channels`; omissions are added to `notes`.
    """

    def __init__(
        self, path: Path, body: bytes, first_line: int, channels: list[str], notes: list[str]
    ) -> None:
        self.path = path
        self.body = body
        self.first_line = first_line
        self.channels = channels
        self.notes = notes

    def read_values(self) -> np.ndarray:
        """Return the numbers (F, C); MotionDataError if one is not a plausible number."""
        starts, ends, lines = self._find_whole_rows()
        try:
            values = _parse_numbers(self.body, starts, ends).reshape(-1, len(self.channels))
        except ValueError:
            self._fail_at_word(starts, ends, lines)
        usable = np.abs(values) < LARGEST_VALUE
        if not usable.all():
            frame, column = np.argwhere(~usable)[0]
            raise MotionDataError(
                f"Cannot use '{self.path}': {self.channels[column]} is {values[frame, column]:g} "
                f"in frame {frame + 1} (line {lines[frame]}) where a finite number was expected; "
                "repair or delete that line"
            )
        return values

    def _find_whole_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the bytes where words start and end, and the lines of the whole frames."""
        buffer = np.frombuffer(self.body, dtype=np.uint8)
        inside = np.zeros(len(buffer) + 2, dtype=bool)
        np.greater(buffer, 32, out=inside[1:-1])
        edges = np.flatnonzero(inside[1:] != inside[:-1])
        starts = edges[::2]
        ends = edges[1::2]
        breaks = np.append(np.flatnonzero(buffer == 10), len(buffer))
        counts = np.diff(np.searchsorted(starts, breaks), prepend=0)
        rows = np.flatnonzero(counts)
        if not len(rows):
            raise MotionDataError(
                f"Cannot use '{self.path}': it holds no frames after line {self.first_line - 1}"
            )
        expected = len(self.channels)
        last = counts[rows[-1]]
        wrong = np.flatnonzero(counts[rows] != expected)
        if len(wrong) == 1 and wrong[0] == len(rows) - 1 > 0 and last < expected:
            line = rows[-1] + self.first_line
            self.notes.append(f"breaks off in line {line}: that frame is left out")
            rows = rows[:-1]
            starts = starts[:-last]
            ends = ends[:-last]
            self.body = self.body[: ends[-1]]
        elif len(wrong):
            row = rows[wrong[0]]
            actual = f"{counts[row]} value" if counts[row] == 1 else f"{counts[row]} values"
            each = f"one for each of the {expected} channels"
            before = counts[:row].sum()
            words = _split_words(self.body, *(p[before:][: counts[row]] for p in (starts, ends)))
            explained = filter(None, (explain_word(word.decode("latin-1")) for word in words))
            advice = next(explained, "") or self._explain_lines(counts[rows])
            fail(self.path, row + self.first_line, actual, each, advice)
        return starts, ends, rows + self.first_line

    def _explain_lines(self, counts: np.ndarray) -> str:
        """Say if each frame runs over several lines, from the numbers of values in all lines."""
        whole = np.flatnonzero(np.cumsum(counts) == len(self.channels))
        if not (len(whole) and whole[0] and counts.sum() % len(self.channels) == 0):
            return ""
        return f"each frame runs over {whole[0] + 1} lines; write it in one"

    def _fail_at_word(self, starts: np.ndarray, ends: np.ndarray, lines: np.ndarray) -> NoReturn:
        for i, word in enumerate(_split_words(self.body, starts, ends)):
            try:
                float(word)
            except ValueError:
                frame, column = divmod(i, len(self.channels))
                text = word.decode("latin-1")
                actual = f"{text[:40]!r} for {self.channels[column]}"
                fail(self.path, lines[frame], actual, "a number", explain_word(text))
        # control characters or underscores, which are part of numbers for Python but not for numpy
        stray = re.search(rb"[^-+.0-9eE\s]", self.body)
        line = self.first_line + self.body.count(b"\n", 0, stray.start() if stray else None)
        raise MotionDataError(
            f"Cannot read '{self.path}': line {line} holds more than numbers; export the file again"
        )


def _split_words(body: bytes, starts: np.ndarray, ends: np.ndarray) -> Iterator[bytes]:
    return (body[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True))


def _parse_numbers(body: bytes, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the values of all words, float64, plain ones at once; ValueError for no number."""
    odd = _find_odd_words(body, starts, ends)
    if len(odd) > 0.4 * len(starts):
        return _parse_plain_numbers(body, np.float64, len(starts))
    plain = bytearray(body)
    for start, end in zip(starts[odd].tolist(), ends[odd].tolist(), strict=True):
        plain[start:end] = b"0" * (end - start)
    values = _parse_fixed_point(plain, starts, ends)
    values[odd] = [float(word) for word in _split_words(body, starts[odd], ends[odd])]
    return values


def _find_odd_words(body: bytes, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the indices of words that are no plain number or too long for a 64-bit integer."""
    odd = np.flatnonzero(ends - starts > 18)
    if body.translate(None, _PLAIN + b" \t\r\n\v\f"):
        plain = np.zeros(256, dtype=bool)
        plain[list(_PLAIN)] = True
        plain[:33] = True
        positions = np.flatnonzero(~plain[np.frombuffer(body, dtype=np.uint8)])
        odd = np.union1d(odd, np.searchsorted(ends, positions, side="right"))
    return odd


def _parse_fixed_point(body: bytearray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return numbers like -12.345, read as integers and divided by powers of ten.

    As exact as reading floats while a number has at most 15 digits, and five times as fast.
    """
    points = np.flatnonzero(np.frombuffer(body, dtype=np.uint8) == ord("."))
    if len(points) == len(ends):
        decimals = ends - points - 1
        single = (points >= starts).all() and (points < ends).all()
    else:
        words = np.searchsorted(ends, points, side="right")
        decimals = np.zeros(len(ends), dtype=np.int64)
        decimals[words] = ends[words] - points - 1
        single = (words[1:] > words[:-1]).all()
    if not single:
        raise ValueError("two points in one word")
    whole = _parse_plain_numbers(bytes(body.translate(None, b".")), np.int64, len(ends))
    return whole / (10.0 ** np.arange(19))[decimals]


def _parse_plain_numbers(text: bytes, dtype: type, count: int) -> np.ndarray:
    """Return the numbers of a text; ValueError unless it holds just `count` of them."""
    with warnings.catch_warnings():
        # numpy's answer to text that is not a number
        warnings.simplefilter("error", DeprecationWarning)
        try:
            numbers: np.ndarray = np.fromstring(text, dtype=dtype, sep=" ")
        except DeprecationWarning as warning:
            raise ValueError(str(warning)) from warning
    if len(numbers) != count:
        raise ValueError(f"{len(numbers)} numbers in {count} words")
    return numbers


# the frame rate

_SLOW_RATES = (10, 12, 15, 20, 24, 25, 30, 48, 50, 60, 72, 75, 80, 90)
_RATES = (*_SLOW_RATES, 100, 120, 125, 144, 150, 180, 200, 240, 250, 300, 360, 480, 500, 1000)
_BROADCAST_RATES = (24000 / 1001, 30000 / 1001, 60000 / 1001, 120000 / 1001)
_ASSUMED_RATE = 30.0
_LONGEST_FRAME = 1.0  # seconds
# A frame time above that is a rate, or in milliseconds. Rates below 24 are rarer than as many
# milliseconds, which are 50 frames per second and more; above 50, milliseconds are rarer.
_LOWEST_RATE = 24
_ANY_RATE = 50
_HIGHEST_RATE = 1000
_ROUNDED = 1e-3  # relative error of a broadcast rate such as 29.97


def read_frame_rate(path: Path, text: str, notes: list[str]) -> float:
    """Return the frames per second of a printed frame time, 'nan' for none.

    Assumptions are added to `notes`. Raises MotionDataError for less than one frame per second,
    which cannot be intended, unless it is a frame rate.
    """
    time = float(text)
    if not (np.isfinite(time) and time > 0):
        notes.append(f"has no usable frame time: {_ASSUMED_RATE:g} frames per second are assumed")
        return _ASSUMED_RATE
    if time <= _LONGEST_FRAME:
        return _round_to_rate(text)
    rate = _find_rate(time)
    if rate is None:
        per_second = f", if frames per second, to {1 / time:g}" if time < _LOWEST_RATE else ""
        raise MotionDataError(
            f"Cannot use '{path}': its frame time is {time:g} s; if milliseconds are written for "
            f"seconds, change it to {time / 1000:g}{per_second}"
        )
    notes.append(f"has the frame time {time:g}, which is read as frames per second")
    return rate


def _round_to_rate(text: str) -> float:
    """Return the frames per second of a time: the common rate that its last digit allows."""
    time = float(text)
    last_digit = 10.0 ** int(Decimal(text).as_tuple().exponent)
    tolerance = min(max(last_digit, 1e-6 * time), 0.025 * time)
    for rates in (_RATES, _BROADCAST_RATES):
        nearest = min(rates, key=lambda rate: abs(1 / rate - time))
        if abs(1 / nearest - time) <= tolerance:
            return float(nearest)
    return 1 / time


def _find_rate(time: float) -> float | None:
    """Return a frame time above a second as a frame rate, if it is one."""
    for rate in _BROADCAST_RATES:
        if abs(time - rate) <= _ROUNDED * rate and time != round(time):
            return rate
    is_common = time >= _LOWEST_RATE and time in _RATES
    is_any = time == round(time) and _ANY_RATE < time <= _HIGHEST_RATE
    return time if is_common or is_any else None
