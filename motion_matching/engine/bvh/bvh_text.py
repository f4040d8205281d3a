"""Read the text of a BVH file: its joints and the table of channel values, in its axes and unit."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from ..errors import MotionDataError
from ..skeleton.bone_names import join_quoted, make_unique_names
from .bvh_table import LARGEST_VALUE, BvhTable, explain_word, fail, read_frame_rate

AXES = "XYZ"
_CHANNELS = {
    f"{axis}{kind}".lower(): (kind, i)
    for kind in ("position", "rotation")
    for i, axis in enumerate(AXES)
}
_MOTION = re.compile(rb"^[ \t]*MOTION\b[^\n]*\n?", re.MULTILINE | re.IGNORECASE)
_FIELD = re.compile(rb"\s*(Frames|Frame[ \t]+Time)[ \t]*:?([^\n]*)\n?", re.IGNORECASE)
_BEGINNING = re.compile(rb"\s*HIERARCHY(?!\S)", re.IGNORECASE)
_HIERARCHY_LINE = re.compile(rb"^[ \t]*HIERARCHY\s", re.MULTILINE | re.IGNORECASE)
_LONGEST_BEGINNING = 65536  # bytes in which HIERARCHY is looked for
_LARGEST_FILE = 2 * 1024**3  # bytes; reading takes several times as much memory
LIMB = 3  # joints, as of thigh, shin and foot
_FORKS = 2  # joints of a body where limbs part, such as hips and chest; a hand has one
_SHARE = 0.5  # least share of the largest tree's joints for other trees if none is a body


@dataclass
class Joint:
    """A joint of the file: the `line` of its name, the index of its `parent`, and the kinds
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
    """The joints of one performer, parents (B,) first, and channel values (F, C), float64.

    `notes` list assumptions.
    """

    joints: list[Joint]
    parents: np.ndarray
    values: np.ndarray
    fps: float
    notes: list[str]


def read(path: Path, root: str | None = None) -> BvhText:
    """Read a BVH file: the joints under a root, by default those of the largest performer.

    Raises MotionDataError if it cannot be opened or used, or has no such root.
    """
    data, start, joints = _read_hierarchy(path)
    notes: list[str] = []
    values, fps = _read_motion(path, data, start, joints, notes)
    return BvhText(*_choose_root(path, joints, root, notes), values, fps, notes)


def list_performers(path: Path) -> list[str]:
    """Return the roots of the performers in a BVH file; raise MotionDataError.

    Roots of cameras and props are left out. Later roots of an equal name get '.001' and so on.
    """
    return _find_performers(_split_by_root(_read_hierarchy(path)[2]))


def read_joints(path: Path, root: str | None = None) -> tuple[list[Joint], np.ndarray]:
    """Read joints and parents (B,) as `read` does, but not the motion; raise MotionDataError."""
    return _choose_root(path, _read_hierarchy(path)[2], root, [])


def _read_hierarchy(path: Path) -> tuple[bytes, int, list[Joint]]:
    """Return the bytes of a BVH file, the start of its motion in them, and all joints."""
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
            raise MotionDataError(f"Cannot open '{path}': it is no regular file; give a .bvh file")
        if found.st_size > _LARGEST_FILE:
            raise MotionDataError(
                f"Cannot read '{path}': it is larger than 2 GB; cut it into shorter files"
            )
        data = path.read_bytes()
    except OSError as error:
        raise MotionDataError(f"Cannot open '{path}': {error.strerror or error}") from error
    data = data.removeprefix(b"\xef\xbb\xbf")  # UTF-8 with a byte order mark
    data = data if b"\n" in data else data.replace(b"\r", b"\n")
    if not data.strip():
        raise MotionDataError(f"Cannot read '{path}': the file is empty")
    if not _BEGINNING.match(data):
        raise MotionDataError(f"Cannot read '{path}': {_explain_beginning(data)}")
    return data


def _explain_beginning(data: bytes) -> str:
    """Explain why a file does not begin like a BVH file, with a remedy if there is one."""
    if _BEGINNING.match(data[:_LONGEST_BEGINNING].lstrip(b"\xff\xfe").replace(b"\0", b"")):
        return "its text is in UTF-16; save it as UTF-8"
    if later := _HIERARCHY_LINE.search(data, 0, _LONGEST_BEGINNING):
        first = _decode(data.lstrip().split(b"\n", 1)[0]).strip()[:40]
        line = data.count(b"\n", 0, later.start()) + 1
        return f"{first!r} stands before HIERARCHY; delete all that is above line {line}"
    return "it is not a BVH file; line 1 should be HIERARCHY"


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
            fail(self.path, line, repr(word[:40]), "a number", explain_word(word))
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


def _choose_root(
    path: Path, joints: list[Joint], root: str | None, notes: list[str]
) -> tuple[list[Joint], np.ndarray]:
    """Return the joints under a root or of the largest performer, and their parents (B,)."""
    trees = _split_by_root(joints)
    if root is None:
        performers = _find_performers(trees)
        root = max(performers, key=lambda name: len(trees[name]))
        if len(performers) > 1:
            notes.append(
                f"holds {len(performers)} characters, {join_quoted(performers)}: '{root}' is read; "
                "choose another as its Character, or with --character"
            )
        if others := [name for name in trees if name not in performers]:
            left = ", ".join(others)
            notes.append(f"holds several roots: {root} is read, {left} left out")
    elif root not in trees:
        raise MotionDataError(f"'{path}' has no root '{root}'; choose one of {join_quoted(trees)}.")
    first = sum(len(trees[name]) for name in list(trees)[: list(trees).index(root)])
    return joints[first : first + len(trees[root])], trees[root]


def _split_by_root(joints: list[Joint]) -> dict[str, np.ndarray]:
    """Return the parents (B,) of the joints that follow each root, by its name made unique."""
    firsts = [index for index, joint in enumerate(joints) if joint.parent < 0]
    names = make_unique_names(joints[first].name for first in firsts)
    ends = [*firsts[1:], len(joints)]
    return {
        name: np.array([max(joint.parent - first, -1) for joint in joints[first:end]])
        for name, first, end in zip(names, firsts, ends, strict=True)
    }


def is_body(parents: np.ndarray) -> bool:
    """Return whether joints, given by their `parents` (B,), are those of a body.

    Limbs part from hips and from a chest. Parents come before their children.
    """
    longest = np.ones(len(parents), dtype=int)  # number of joints in the longest chain down
    limbs = np.zeros(len(parents), dtype=int)
    for joint in range(len(parents) - 1, -1, -1):
        if (parent := int(parents[joint])) >= 0:
            longest[parent] = max(longest[parent], longest[joint] + 1)
            limbs[parent] += longest[joint] >= LIMB
    return int((limbs >= 2).sum()) >= _FORKS


def _find_performers(trees: Mapping[str, np.ndarray]) -> list[str]:
    """Return the names of trees of joints that are bodies, or else of the largest ones."""
    bodies = [name for name, parents in trees.items() if is_body(parents)]
    if bodies:
        return bodies
    least = _SHARE * max(len(parents) for parents in trees.values())
    return [name for name, parents in trees.items() if len(parents) >= least]


# --------------------------------------------------------------------------------------- the motion


def _read_motion(
    path: Path, data: bytes, start: int, joints: list[Joint], notes: list[str]
) -> tuple[np.ndarray, float]:
    """Read values (F, C) and the frame rate from the lines after MOTION at byte `start`."""
    fields: dict[str, str] = {}
    while match := _FIELD.match(data, start):
        name = match[1].lower().split()[-1].decode()
        value = match[2].decode("latin-1").strip()
        try:
            float(value)
        except ValueError:
            line = data.count(b"\n", 0, match.start(2)) + 1
            fail(path, line, repr(value[:40]), "a number", explain_word(value))
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
    return values, read_frame_rate(path, fields.get("time", "nan"), notes)
