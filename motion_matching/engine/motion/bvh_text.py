"""Read the text of a BVH file: its joints and the table of channel values, in its axes and unit."""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from ..errors import MotionDataError
from .bvh_table import LARGEST_VALUE, BvhTable, fail

AXES = "XYZ"
_CHANNELS = {
    f"{axis}{kind}".lower(): (kind, i)
    for kind in ("position", "rotation")
    for i, axis in enumerate(AXES)
}
_MOTION = re.compile(rb"^[ \t]*MOTION\b[^\n]*\n?", re.MULTILINE | re.IGNORECASE)
_FIELD = re.compile(rb"\s*(Frames|Frame[ \t]+Time)[ \t]*:?([^\n]*)\n?", re.IGNORECASE)
_SLOW_RATES = (10, 12, 15, 20, 24, 25, 30, 48, 50, 60, 72, 75, 80, 90)
_RATES = (*_SLOW_RATES, 100, 120, 125, 144, 150, 180, 200, 240, 250, 300, 360, 480, 500, 1000)
_BROADCAST_RATES = (24000 / 1001, 30000 / 1001, 60000 / 1001, 120000 / 1001)
_ASSUMED_RATE = 30.0
_LARGEST_FILE = 2 * 1024**3  # bytes; reading takes several times as much memory
_LONGEST_FRAME = 1.0  # seconds


@dataclass
class Joint:
    """A joint as the file has it: the `line` of its name, the index of its `parent`, and the kinds
    and axes of its `channels`.
    """

    name: str
    parent: int
    line: int
    offset: tuple[float, ...] | None = None
    channels: list[tuple[str, int]] = field(default_factory=list)
    first_channel: int = 0
    end_sites: list[tuple[float, ...]] = field(default_factory=list)

    def get_columns(self, kind: str) -> list[tuple[int, int]]:
        """Return axis and column of the channels of one kind, in the file's order."""
        columns = enumerate(self.channels, self.first_channel)
        return [(axis, column) for column, (k, axis) in columns if k == kind]


class BvhText(NamedTuple):
    """The character with the most joints, parents (B,) first, and channel values (F, C), float64.

    `notes` say what had to be assumed.
    """

    joints: list[Joint]
    parents: np.ndarray
    values: np.ndarray
    fps: float
    notes: list[str]


def read(path: Path, root: str | None = None) -> BvhText:
    """Read a BVH file: the joints under a root, by default under that with the most of them.

    Raises MotionDataError if it cannot be opened or used, or has no such root.
    """
    data, start, joints = _read_hierarchy(path)
    notes: list[str] = []
    values, fps = _read_motion(path, data, start, joints, notes)
    if root is None:
        return BvhText(*_find_largest_character(joints, notes), values, fps, notes)
    counts = _count_joints(joints)
    chosen = next((index for index in counts if joints[index].name == root), None)
    if chosen is None:
        names = ", ".join(f"'{joints[index].name}'" for index in counts)
        raise MotionDataError(f"'{path}' has no root '{root}'; choose one of {names}.")
    return BvhText(*_cut_out(joints, chosen, counts[chosen]), values, fps, notes)


def count_joints_of_roots(path: Path) -> dict[str, int]:
    """Return how many joints each root of a BVH file has, itself included; raise MotionDataError.

    A file with two characters has two roots.
    """
    joints = _read_hierarchy(path)[2]
    return {joints[root].name: count for root, count in _count_joints(joints).items()}


def read_joints(path: Path) -> tuple[list[Joint], np.ndarray]:
    """Read joints and parents (B,) of a BVH file, but not its motion; raise MotionDataError."""
    return _find_largest_character(_read_hierarchy(path)[2], [])


def _read_hierarchy(path: Path) -> tuple[bytes, int, list[Joint]]:
    """Return the bytes of a BVH file, where its motion starts in them, and all joints."""
    data = _read_bytes(path)
    motion = _MOTION.search(data)
    if motion is None:
        raise MotionDataError(
            f"Cannot read '{path}': it ends at line {data.count(10) + 1} where MOTION was expected"
        )
    return data, motion.end(), _Hierarchy(path, _decode(data[: motion.start()])).joints


def _read_bytes(path: Path) -> bytes:
    """Return the bytes of a BVH file, with line feeds."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # a device may have no end
            raise MotionDataError(f"Cannot read '{path}': it is no regular file; give a .bvh file")
        if found.st_size > _LARGEST_FILE:
            raise MotionDataError(
                f"Cannot read '{path}': it is larger than 2 GB; cut it into shorter files"
            )
        data = path.read_bytes()
    except OSError as error:
        raise MotionDataError(f"Cannot open '{path}': {error.strerror or error}") from error
    data = data.removeprefix(b"\xef\xbb\xbf")  # UTF-8 with a byte order mark
    if not (word := re.match(rb"\s*(\S{0,10})", data)) or not word[1]:
        raise MotionDataError(f"Cannot read '{path}': the file is empty")
    if word[1].upper() != b"HIERARCHY":
        raise MotionDataError(
            f"Cannot read '{path}': it is not a BVH file; line 1 should be HIERARCHY"
        )
    return data if b"\n" in data else data.replace(b"\r", b"\n")


def _decode(text: bytes) -> str:
    """Decode UTF-8, or Latin-1, in which any bytes are text."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


# ------------------------------------------------------------------------------------ the hierarchy


class _Hierarchy:
    """Reads the HIERARCHY section word by word; `joints` have parents before children."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.words = [
            (word, number)
            for number, line in enumerate(text.split("\n"), 1)
            for word in re.findall(r"[{}]|[^\s{}]+", line, re.ASCII)
        ]
        self.cursor = 1  # after HIERARCHY
        self.joints: list[Joint] = []
        self._read()
        column = 0
        for joint in self.joints:
            joint.first_channel = column
            column += len(joint.channels)
        if not column:
            raise MotionDataError(
                f"Cannot use '{path}': none of its joints has channels, so nothing moves"
            )

    def _read(self) -> None:
        opened: list[int] = []
        while self.cursor < len(self.words):
            word, line = self._take("a keyword")
            keyword = word.upper()
            if keyword == ("JOINT" if opened else "ROOT"):
                name = self._take_rest_of_line(line)
                if not name:
                    self._fail(line, "the name of a joint", "no word")
                self._expect("{")
                self.joints.append(Joint(name, opened[-1] if opened else -1, line))
                opened.append(len(self.joints) - 1)
                continue
            if not opened:
                self._fail(line, "ROOT or MOTION", word)
            joint = self.joints[opened[-1]]
            if keyword == "END":
                joint.end_sites.append(self._read_end_site(line))
            elif keyword == "OFFSET":
                joint.offset = self._take_vector()
            elif keyword == "CHANNELS":
                self._read_channels(joint)
            elif word != "}":
                self._fail(line, "OFFSET, CHANNELS, JOINT, End Site or '}'", word)
            elif joint.offset is None:
                self._fail(line, f"the OFFSET of joint '{joint.name}' (line {joint.line})", word)
            else:
                opened.pop()
        if opened:
            self._fail_at_end(f"'}}' after joint '{self.joints[opened[-1]].name}'")
        if not self.joints:
            self._fail_at_end("ROOT")

    def _fail(self, line: int, expected: str, actual: str) -> NoReturn:
        fail(self.path, line, repr(actual[:40]), expected)

    def _fail_at_end(self, expected: str) -> NoReturn:
        self._fail(self.words[-1][1] + 1, expected, "MOTION")

    def _take(self, expected: str) -> tuple[str, int]:
        if self.cursor >= len(self.words):
            self._fail_at_end(expected)
        self.cursor += 1
        return self.words[self.cursor - 1]

    def _expect(self, keyword: str) -> None:
        expected = keyword if keyword.isalpha() else f"'{keyword}'"
        word, line = self._take(expected)
        if word.upper() != keyword:
            self._fail(line, expected, word)

    def _take_rest_of_line(self, line: int) -> str:
        """Return the words up to a bracket or the end of the line."""
        start = self.cursor
        while self.cursor < len(self.words) and self.words[self.cursor][1] == line:
            if self.words[self.cursor][0] in "{}":
                break
            self.cursor += 1
        return " ".join(word for word, _ in self.words[start : self.cursor])

    def _take_vector(self) -> tuple[float, ...]:
        return self._take_number(), self._take_number(), self._take_number()

    def _take_number(self) -> float:
        word, line = self._take("a number")
        try:
            value = float(word)
        except ValueError:
            value = np.nan
        if not abs(value) < LARGEST_VALUE:
            self._fail(line, "a number", word)
        return value

    def _read_channels(self, joint: Joint) -> None:
        word, line = self._take("the number of channels")
        # Python refuses to read numbers of thousands of digits
        if not re.fullmatch("[0-9]{1,9}", word):
            self._fail(line, "the number of channels", word)
        for _ in range(int(word)):
            name, line = self._take("a channel such as Zrotation")
            channel = _CHANNELS.get(name.lower())
            if channel is None or (channel[0] == "position" and channel in joint.channels):
                self._fail(line, "another channel such as Zrotation or Xposition", name)
            joint.channels.append(channel)

    def _read_end_site(self, line: int) -> tuple[float, ...]:
        self._take_rest_of_line(line)
        self._expect("{")
        self._expect("OFFSET")
        offset = self._take_vector()
        self._expect("}")
        return offset


def _find_largest_character(
    joints: list[Joint], notes: list[str]
) -> tuple[list[Joint], np.ndarray]:
    """Return the joints under the (first) root with the most of them, and their parents (B,)."""
    counts = _count_joints(joints)
    first = max(counts, key=lambda root: counts[root])
    others = [joints[root].name for root in counts if root != first]
    if others:
        notes.append(
            f"holds several roots: {joints[first].name} has the most joints and is read, "
            f"{', '.join(others)} left out"
        )
    return _cut_out(joints, first, counts[first])


def _count_joints(joints: list[Joint]) -> dict[int, int]:
    """Return the number of joints under each root, itself included, by its index."""
    roots: list[int] = []
    for i, joint in enumerate(joints):
        roots.append(i if joint.parent < 0 else roots[joint.parent])
    return {root: roots.count(root) for root in dict.fromkeys(roots)}


def _cut_out(joints: list[Joint], first: int, count: int) -> tuple[list[Joint], np.ndarray]:
    """Return the joints under a root, which follow it without a gap, and their parents (B,)."""
    chosen = joints[first : first + count]
    return chosen, np.array([max(joint.parent - first, -1) for joint in chosen])


# --------------------------------------------------------------------------------------- the motion


def _read_motion(
    path: Path, data: bytes, start: int, joints: list[Joint], notes: list[str]
) -> tuple[np.ndarray, float]:
    """Read values (F, C) and the frame rate from the lines after MOTION at byte `start`."""
    fields: dict[str, str] = {}
    while match := _FIELD.match(data, start):
        name, value = match[1].lower().split()[-1].decode(), match[2].decode("latin-1").strip()
        try:
            float(value)
        except ValueError:
            line = data.count(b"\n", 0, match.start(2)) + 1
            fail(path, line, repr(value[:40]), "a number")
        fields[name] = value
        start = match.end()
    first_line = data.count(b"\n", 0, start) + 1
    channels = [
        f"{AXES[axis]}{kind} of joint '{joint.name}'"
        for joint in joints
        for kind, axis in joint.channels
    ]
    values = BvhTable(path, data[start:], first_line, channels, notes).read_values()
    if float(fields.get("frames", "nan")) != len(values):
        announced = fields.get("frames", "no number of")
        notes.append(f"announces {announced} frames but holds {len(values)}, which are used")
    fps = _parse_frame_rate(path, fields["time"]) if "time" in fields else None
    if fps is None:
        notes.append(f"has no usable frame time: {_ASSUMED_RATE:g} frames per second are assumed")
    return values, fps or _ASSUMED_RATE


def _parse_frame_rate(path: Path, text: str) -> float | None:
    """Return the frames per second of a printed frame time; None if it is not a positive number.

    Raises MotionDataError for less than one frame per second, which nobody can have meant.

    A rounded or truncated time such as 0.0333333 or 0.0083 means the common rate that its last
    digit allows.
    """
    time = float(text)
    if not (np.isfinite(time) and time > 0):
        return None
    if time > _LONGEST_FRAME:
        raise MotionDataError(
            f"Cannot use '{path}': its frame time is {time:g} s; if milliseconds are written for "
            f"seconds, change it to {time / 1000:g}"
        )
    last_digit = 10.0 ** int(Decimal(text).as_tuple().exponent)
    tolerance = min(max(last_digit, 1e-6 * time), 0.025 * time)
    for rates in (_RATES, _BROADCAST_RATES):
        nearest = min(rates, key=lambda rate: abs(1 / rate - time))
        if abs(1 / nearest - time) <= tolerance:
            return float(nearest)
    return 1 / time
