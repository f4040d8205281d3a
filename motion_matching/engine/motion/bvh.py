"""Motion capture as BVH text, into a clip and out of one.

A file has axes and a unit of its own (mostly Y up, facing Z, centimetres). Both are converted here, once: with C the
rotation from the file's axes to Blender's, an offset o becomes C o, a local rotation q becomes C q C⁻¹ and a local
position p becomes C p. So rest rotations stay the identity, and the rest pose is the file's, seen in Blender's axes.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import NoReturn

import numpy as np

from ..errors import MotionDataError, SettingsError
from ..files import replacing
from ..maths import quat
from .clip import Clip
from .skeleton import Skeleton

_AXES = "XYZ"
_CHANNELS = {f"{axis}{kind}".lower(): (kind, i) for kind in ("position", "rotation") for i, axis in enumerate(_AXES)}
_FIELD = re.compile(rb"\s*(Frames|Frame[ \t]+Time)[ \t]*:?([^\n]*)\n?", re.IGNORECASE)
_RATES = (10, 12, 15, 20, 24, 25, 30, 48, 50, 60, 72, 75, 80, 90, 100, 120, 125, 144, 150, 180, 200, 240, 250, 300,
          360, 480, 500, 1000)
_BROADCAST_RATES = (24000 / 1001, 30000 / 1001, 60000 / 1001, 120000 / 1001)
_ASSUMED_RATE = 30.0

# metres per unit: what files use, and what else is seen (the last is that of the CMU library's conversions)
_USUAL_UNITS = {"centimetres": 0.01, "metres": 1.0, "millimetres": 0.001}
_RARE_UNITS = {"decimetres": 0.1, "inches": 0.0254, "feet": 0.3048, "units of the CMU library": 0.0254 / 0.45}
_REACH = 2.3  # metres from a toe over the hips to the far hand, of an adult
_PLAUSIBLE_REACH = (1.2, 3.6)

_PLAIN = b"+-.0123456789"  # all that most numbers are made of
_LARGEST_VALUE = 1e9  # nothing in degrees or millimetres comes near; keeps float32 finite
_STILL = 1e-6  # metres that a bone may be off its rest position and still do without position channels
_ROWS_PER_WRITE = 256


def load(path: str | Path, *, up: str = "Y", forward: str = "Z", scale: float | None = None) -> Clip:
    """Read a BVH file into a clip that carries the file's name without its ending.

    `up` and `forward` are the signed axes of the file ('Y', '-Z') that become Blender's +Z and -Y. `scale` is in
    metres per unit of the file; None detects it, from the longest chain of bones (see `_detected_scale`).

    Rest positions are the OFFSETs. Position channels replace them, each component on its own. Where a file holds
    several roots, the one with the most joints is read. Joints of equal name get '.001', '.002' and so on. What had
    to be assumed, a last line cut short included, is in the clip's `warnings`. Raises MotionDataError for a file
    that cannot be used and SettingsError for axes or a scale that make no sense.
    """
    path = Path(path)
    axes = _blender_axes(up, forward)
    if scale is not None:
        _check_scale(scale)
    data = _read(path)
    motion = re.search(rb"^[ \t]*MOTION\b[^\n]*\n?", data, re.MULTILINE | re.IGNORECASE)
    if motion is None:
        raise MotionDataError(f"Cannot read '{path}': it ends at line {data.count(10) + 1} where MOTION was expected")
    notes: list[str] = []
    hierarchy = _Hierarchy(path, _decoded(data[: motion.start()]))
    values, fps = _read_motion(path, data, motion.end(), hierarchy.joints, notes)
    joints, parents = _largest_character(hierarchy.joints, notes)
    offsets = np.array([joint.offset for joint in joints])
    positions = _local_positions(joints, axes, values)
    if scale is None:
        scale = _detected_scale(parents, positions, notes)
    positions *= np.float32(scale)
    to_blender = scale * axes.T
    skeleton = Skeleton(
        names=_unique([joint.name for joint in joints], notes),
        parents=parents,
        rest_positions=(offsets @ to_blender).astype(np.float32),
        rest_rotations=np.tile(quat.IDENTITY, (len(joints), 1)).astype(np.float32),
        end_sites=tuple((bone, tuple((np.array(site) @ to_blender).tolist()))
                        for bone, joint in enumerate(joints) for site in joint.end_sites),
    )
    return Clip(
        name=path.stem,
        skeleton=skeleton,
        positions=positions,
        rotations=quat.unroll(_local_rotations(joints, axes, values)).astype(np.float32),
        fps=fps,
        warnings=tuple(f"'{path.name}' {note}" for note in notes),
    )


def save(
    clip: Clip, path: str | Path, *, up: str = "Y", forward: str = "Z", scale: float = 0.01, order: str = "ZXY"
) -> None:
    """Write a clip as BVH: `up`, `forward` and `scale` as in `load`, `order` that of the rotation channels.

    Roots, and bones that ever leave their rest position, get six channels, the others three and the OFFSET. Joints
    come depth first. BVH knows no rest rotations: local rotations are written in full over the rest positions, which
    gives the right motion in the world. Whitespace and braces in names become '_'. Angles do not jump by full turns
    from frame to frame. The file appears whole or not at all. Raises MotionDataError where it cannot be written and
    SettingsError for options that make no sense.
    """
    path = Path(path)
    axes = _blender_axes(up, forward)
    _check_scale(scale)
    if sorted(order.upper()) != list(_AXES):
        raise SettingsError(f"The order of rotations must hold X, Y and Z once each, such as ZXY, not '{order}'")
    if not clip.frame_count or not (np.isfinite(clip.positions).all() and np.isfinite(clip.rotations).all()):
        raise MotionDataError(f"Cannot write '{path}': clip '{clip.name}' is empty or holds nan; make it anew")
    skeleton = clip.skeleton
    bones, depths = _depth_first(skeleton)
    moved = np.abs(clip.positions - skeleton.rest_positions).max(axis=(0, 2)) > _STILL
    six = (moved | (skeleton.parents < 0))[bones]
    rows = np.concatenate([clip.positions[:, bones] @ axes / scale,
                           _euler_degrees(clip.rotations[:, bones].astype(np.float64), axes, order)], axis=-1)
    written = np.stack([six] * 3 + [np.ones_like(six)] * 3, axis=-1).ravel()
    rows = rows.reshape(clip.frame_count, -1)[:, written]
    header = "\n".join(_hierarchy_lines(skeleton, bones, depths, six, axes / scale, order.upper()))
    with replacing(path, MotionDataError) as temporary, open(temporary, "wb") as file:
        for part in _motion_text(header, rows, clip.fps):
            file.write(part.encode("utf-8"))
        file.flush()
        os.fsync(file.fileno())  # a full disk shows here at the latest


# --------------------------------------------------------------------------------------------------- axes and units


def _blender_axes(up: str, forward: str) -> np.ndarray:
    """The rotation C (3, 3) that takes the file's `up` to +Z and its `forward` to -Y."""
    z, ahead = _axis(up, "up"), _axis(forward, "forward")
    if z @ ahead != 0:
        raise SettingsError(f"The up axis '{up}' and the forward axis '{forward}' must be perpendicular; change one")
    return np.stack([np.cross(z, ahead), -ahead, z])


def _axis(name: str, role: str) -> np.ndarray:
    found = re.fullmatch(r"([+-]?)([XYZ])", name.strip().upper())
    if found is None:
        raise SettingsError(f"The {role} axis must be X, Y, Z, -X, -Y or -Z, not '{name}'")
    return np.eye(3)[_AXES.index(found[2])] * (-1 if found[1] == "-" else 1)


def _check_scale(scale: float) -> None:
    if not (np.isfinite(scale) and scale > 0):
        raise SettingsError(f"The scale must be a positive number of metres per unit of the file, not {scale}")


def _detected_scale(parents: np.ndarray, positions: np.ndarray, notes: list[str]) -> float:
    """Metres per unit for which the character is as large as a person.

    A rest pose may run all bones along one axis, so heights say little: the longest chain of bones between any two
    joints is measured, which leads from a toe to the far hand. It is about 2.3 m for an adult. Of centimetres, metres
    and millimetres the one that makes it 1.2 to 3.6 m is taken; otherwise the nearest of all known units, with a
    warning. Bones that slide, and what leads from a root on the floor to the hips, are no part of a chain.
    """
    sampled = positions[np.linspace(0, len(positions) - 1, num=min(len(positions), 32), dtype=int)].astype(np.float64)
    frames = np.linalg.norm(sampled, axis=-1)
    lengths = np.where(np.ptp(frames, axis=0) < 0.1 * frames.max(axis=0), np.median(frames, axis=0), 0.0)
    lengths[parents < 0] = 0.0
    body = lengths.copy()
    bone = 0
    while len(below := np.flatnonzero(parents == bone)) == 1:
        bone = int(below[0])
        body[bone] = 0.0
    reach = _longest_chain(parents, body) or _longest_chain(parents, lengths)
    if reach == 0.0:
        notes.append("has no bones with a length to tell its unit; centimetres are assumed; set the scale if not")
        return _USUAL_UNITS["centimetres"]
    for unit in _USUAL_UNITS.values():
        if _PLAUSIBLE_REACH[0] <= reach * unit <= _PLAUSIBLE_REACH[1]:
            return unit
    name, unit = min((_USUAL_UNITS | _RARE_UNITS).items(), key=lambda item: abs(np.log(reach * item[1] / _REACH)))
    notes.append(f"has an unusual size: its unit was taken for {name} ({unit:.4g} m); set the scale if it is not")
    return unit


def _longest_chain(parents: np.ndarray, lengths: np.ndarray) -> float:
    """Length of the longest way between two joints, along bones of these `lengths` (B,) to their parents."""
    below = np.zeros(len(parents))  # the longest way down from a joint, so far
    longest = 0.0
    for bone in range(len(parents) - 1, -1, -1):
        longest = max(longest, below[bone])
        if (parent := parents[bone]) >= 0:
            way = below[bone] + lengths[bone]
            longest = max(longest, below[parent] + way)
            below[parent] = max(below[parent], way)
    return float(longest)


def _frame_rate(text: str) -> float | None:
    """Frames per second of a printed frame time; None where it is no positive number.

    A rounded or cut time such as 0.0333333 or 0.0083 means the common rate that its last digit allows.
    """
    time = float(text)
    if not (np.isfinite(time) and time > 0):
        return None
    last_digit = 10.0 ** int(Decimal(text).as_tuple().exponent)
    tolerance = min(max(last_digit, 1e-6 * time), 0.025 * time)
    for rates in (_RATES, _BROADCAST_RATES):
        nearest = min(rates, key=lambda rate: abs(1 / rate - time))
        if abs(1 / nearest - time) <= tolerance:
            return float(nearest)
    return 1 / time


# ---------------------------------------------------------------------------------------------------- the hierarchy


@dataclass
class _Joint:
    name: str
    parent: int
    line: int
    offset: tuple[float, ...] | None = None
    channels: list[tuple[str, int]] = field(default_factory=list)  # kind and axis
    first_channel: int = 0
    end_sites: list[tuple[float, ...]] = field(default_factory=list)

    def columns(self, kind: str) -> list[tuple[int, int]]:
        """Axis and column of the channels of one kind, in the file's order."""
        return [(axis, self.first_channel + i) for i, (k, axis) in enumerate(self.channels) if k == kind]


class _Hierarchy:
    """The HIERARCHY section, read word by word; `joints` in the file's order, parents before children."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.words = [(word, number) for number, line in enumerate(text.split("\n"), 1)
                      for word in re.findall(r"[{}]|[^\s{}]+", line, re.ASCII)]
        self.next = 1  # after HIERARCHY
        self.joints: list[_Joint] = []
        self._read()

    def _read(self) -> None:
        opened: list[int] = []
        while self.next < len(self.words):
            word, line = self.words[self.next]
            self.next += 1
            keyword = word.upper()
            if keyword == ("JOINT" if opened else "ROOT"):
                self.joints.append(_Joint(self._name(line), opened[-1] if opened else -1, line))
                self._expect("{")
                opened.append(len(self.joints) - 1)
            elif not opened:
                self._fail(line, "ROOT or MOTION", word)
            elif keyword == "END":
                self.joints[opened[-1]].end_sites.append(self._end_site(line))
            elif keyword == "OFFSET":
                self.joints[opened[-1]].offset = self._numbers()
            elif keyword == "CHANNELS":
                self._read_channels(self.joints[opened[-1]])
            elif word == "}":
                self._check_offset(self.joints[opened.pop()], line)
            else:
                self._fail(line, "OFFSET, CHANNELS, JOINT, End Site or '}'", word)
        if opened:
            self._fail(self.words[-1][1] + 1, f"'}}' after joint '{self.joints[opened[-1]].name}'", "MOTION")
        if not self.joints:
            self._fail(self.words[0][1] + 1, "ROOT", "MOTION")
        column = 0
        for joint in self.joints:
            joint.first_channel = column
            column += len(joint.channels)
        if not column:
            raise MotionDataError(f"Cannot use '{self.path}': none of its joints has channels, so nothing moves")

    def _fail(self, line: int, expected: str, found: str) -> NoReturn:
        raise MotionDataError(
            f"Cannot read '{self.path}': line {line} has {found[:40]!r} where {expected} was expected")

    def _take(self, expected: str) -> tuple[str, int]:
        if self.next >= len(self.words):
            self._fail(self.words[-1][1] + 1, expected, "MOTION")
        self.next += 1
        return self.words[self.next - 1]

    def _expect(self, bracket: str) -> None:
        word, line = self._take(f"'{bracket}'")
        if word != bracket:
            self._fail(line, f"'{bracket}'", word)

    def _rest_of(self, line: int) -> list[str]:
        """The words up to a bracket or the end of the line."""
        rest = []
        while self.next < len(self.words) and self.words[self.next][1] == line:
            if (word := self.words[self.next][0]) in "{}":
                break
            rest.append(word)
            self.next += 1
        return rest

    def _name(self, line: int) -> str:
        name = " ".join(self._rest_of(line))
        if not name:
            self._fail(line, "the name of a joint", "no word")
        return name

    def _numbers(self) -> tuple[float, ...]:
        return self._number(), self._number(), self._number()

    def _number(self) -> float:
        word, line = self._take("a number")
        try:
            value = float(word)
        except ValueError:
            value = np.nan
        if not abs(value) < _LARGEST_VALUE:
            self._fail(line, "a number", word)
        return value

    def _read_channels(self, joint: _Joint) -> None:
        word, line = self._take("the number of channels")
        if not word.isdecimal():
            self._fail(line, "the number of channels", word)
        for _ in range(int(word)):
            name, line = self._take("a channel such as Zrotation")
            channel = _CHANNELS.get(name.lower())
            if channel is None or (channel[0] == "position" and channel in joint.channels):
                self._fail(line, "another channel such as Zrotation or Xposition", name)
            joint.channels.append(channel)

    def _end_site(self, line: int) -> tuple[float, ...]:
        self._rest_of(line)
        self._expect("{")
        word, line = self._take("OFFSET")
        if word.upper() != "OFFSET":
            self._fail(line, "OFFSET", word)
        offset = self._numbers()
        self._expect("}")
        return offset

    def _check_offset(self, joint: _Joint, line: int) -> None:
        if joint.offset is None:
            self._fail(line, f"the OFFSET of joint '{joint.name}' (line {joint.line})", "}")


def _largest_character(joints: list[_Joint], notes: list[str]) -> tuple[list[_Joint], np.ndarray]:
    """The joints under the root that has the most, the first of equals, and their parents (B,)."""
    roots: list[int] = []
    for i, joint in enumerate(joints):
        roots.append(i if joint.parent < 0 else roots[joint.parent])
    kept = max(dict.fromkeys(roots), key=roots.count)
    others = [joints[root].name for root in dict.fromkeys(roots) if root != kept]
    if others:
        notes.append(f"holds several roots: {joints[kept].name} has the most joints and is read, "
                     f"{', '.join(others)} left out")
    chosen = [i for i, root in enumerate(roots) if root == kept]
    # the joints under a root follow it without a gap
    return [joints[i] for i in chosen], np.array([max(joints[i].parent - kept, -1) for i in chosen])


def _unique(names: Iterable[str], notes: list[str]) -> tuple[str, ...]:
    """The names, repeated ones told apart by '.001', '.002' and so on."""
    result: dict[str, None] = {}
    for name in names:
        new, number = name, 0
        while new in result:
            number += 1
            new = f"{name}.{number:03d}"
        if number:
            notes.append(f"has more than one joint named '{name}': one of them is called '{new}' now")
        result[new] = None
    return tuple(result)


# ------------------------------------------------------------------------------------------------------- the motion


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MotionDataError(f"Cannot open '{path}': {error.strerror or error}") from error
    data = data.removeprefix(b"\xef\xbb\xbf")  # UTF-8 with a byte order mark
    if not (word := re.match(rb"\s*(\S{0,10})", data)) or not word[1]:
        raise MotionDataError(f"Cannot read '{path}': the file is empty")
    if word[1].upper() != b"HIERARCHY":
        raise MotionDataError(f"Cannot read '{path}': it is no BVH file, whose line 1 is expected to be HIERARCHY")
    return data if b"\n" in data else data.replace(b"\r", b"\n")


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _read_motion(
    path: Path, data: bytes, start: int, joints: list[_Joint], notes: list[str]
) -> tuple[np.ndarray, float]:
    """Channel values (F, C), float64, and the frame rate, from the lines after MOTION at byte `start`."""
    fields: dict[str, str] = {}
    while found := _FIELD.match(data, start):
        name, value = found[1].lower().split()[-1].decode(), found[2].decode("latin-1").strip()
        try:
            float(value)
        except ValueError:
            line = data.count(b"\n", 0, found.start(2)) + 1
            raise MotionDataError(
                f"Cannot read '{path}': line {line} has {value[:40]!r} where a number was expected") from None
        fields[name] = value
        start = found.end()
    values = _Table(path, data[start:], data.count(b"\n", 0, start) + 1, joints, notes).values()
    if float(fields.get("frames", "nan")) != len(values):
        announced = fields.get("frames", "no number of")
        notes.append(f"announces {announced} frames and holds {len(values)}, which are used")
    fps = _frame_rate(fields["time"]) if "time" in fields else None
    if fps is None:
        notes.append(f"has no usable frame time: {_ASSUMED_RATE:g} frames per second are assumed")
    return values, fps or _ASSUMED_RATE


class _Table:
    """The lines of numbers after the frame time: one line a frame, one number a channel."""

    def __init__(self, path: Path, body: bytes, first_line: int, joints: list[_Joint], notes: list[str]) -> None:
        self.path, self.body, self.first_line, self.notes = path, body, first_line, notes
        self.channels = [(joint.name, _AXES[axis] + kind) for joint in joints for kind, axis in joint.channels]

    def values(self) -> np.ndarray:
        """The numbers (F, C), checked."""
        starts, ends, lines = self._whole_rows()
        try:
            values = _numbers(self.body, starts, ends).reshape(-1, len(self.channels))
        except ValueError:
            self._fail_at_a_word(starts, ends, lines)
        usable = np.abs(values) < _LARGEST_VALUE
        if not usable.all():
            frame, column = np.argwhere(~usable)[0]
            joint, channel = self.channels[column]
            raise MotionDataError(
                f"Cannot use '{self.path}': {channel} of joint '{joint}' is {values[frame, column]:g} in frame "
                f"{frame + 1} (line {lines[frame]}) where a finite number was expected; repair or delete that line")
        return values

    def _whole_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Byte positions where words start and end, and the line number of each frame; a cut last line is dropped."""
        buffer = np.frombuffer(self.body, dtype=np.uint8)
        inside = np.zeros(len(buffer) + 2, dtype=bool)
        np.greater(buffer, 32, out=inside[1:-1])
        edges = np.flatnonzero(inside[1:] != inside[:-1])
        starts, ends = edges[::2], edges[1::2]
        breaks = np.append(np.flatnonzero(buffer == 10), len(buffer))
        counts = np.diff(np.searchsorted(starts, breaks), prepend=0)
        rows = np.flatnonzero(counts)
        if not len(rows):
            raise MotionDataError(f"Cannot use '{self.path}': it holds no frames after line {self.first_line - 1}")
        wanted = len(self.channels)
        wrong = np.flatnonzero(counts[rows] != wanted)
        if len(wrong) == 1 and wrong[0] == len(rows) - 1 > 0 and counts[rows[-1]] < wanted:
            self.notes.append(f"breaks off in line {rows[-1] + self.first_line}: that frame is left out")
            rows, starts, ends = rows[:-1], starts[: -counts[rows[-1]]], ends[: -counts[rows[-1]]]
            self.body = self.body[: ends[-1]]
        elif len(wrong):
            row = rows[wrong[0]]
            raise MotionDataError(f"Cannot read '{self.path}': line {row + self.first_line} has {counts[row]} values "
                                  f"where one for each of the {wanted} channels was expected")
        return starts, ends, rows + self.first_line

    def _fail_at_a_word(self, starts: np.ndarray, ends: np.ndarray, lines: np.ndarray) -> NoReturn:
        for i, word in enumerate(_words(self.body, starts, ends)):
            try:
                float(word)
            except ValueError:
                frame, column = divmod(i, len(self.channels))
                joint, channel = self.channels[column]
                raise MotionDataError(
                    f"Cannot read '{self.path}': line {lines[frame]} has {word[:40].decode('latin-1')!r} for "
                    f"{channel} of joint '{joint}' where a number was expected") from None
        # each word is a number to Python, but not to numpy: control characters between words, or underscores
        stray = re.search(rb"[^-+.0-9eE\s]", self.body)
        line = self.first_line + self.body.count(b"\n", 0, stray.start() if stray else None)
        raise MotionDataError(f"Cannot read '{self.path}': line {line} holds more than numbers; write the file anew")


def _words(body: bytes, starts: np.ndarray, ends: np.ndarray) -> Iterator[bytes]:
    return (body[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True))


def _numbers(body: bytes, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The values of all words, float64; ValueError where one is no number.

    Words like -12.345 go the quick way; few others, with exponents, are read one by one and stand there as zeros.
    """
    odd = _odd_words(body, starts, ends)
    if len(odd) > 0.4 * len(starts):
        return _parsed(body, np.float64, len(starts))
    plain = bytearray(body)
    for start, end in zip(starts[odd].tolist(), ends[odd].tolist(), strict=True):
        plain[start:end] = b"0" * (end - start)
    values = _fixed_point(plain, starts, ends)
    values[odd] = [float(word) for word in _words(body, starts[odd], ends[odd])]
    return values


def _odd_words(body: bytes, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Indices of the words that are more than sign, digits and point, or too long for an integer of 64 bits."""
    odd = np.flatnonzero(ends - starts > 18)
    if body.translate(None, _PLAIN + b" \t\r\n\v\f"):
        plain = np.zeros(256, dtype=bool)
        plain[list(_PLAIN)] = True
        plain[:33] = True
        places = np.flatnonzero(~plain[np.frombuffer(body, dtype=np.uint8)])
        odd = np.union1d(odd, np.searchsorted(ends, places, side="right"))
    return odd


def _fixed_point(body: bytearray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Numbers like -12.345, read as integers with the points left out and divided by powers of ten.

    As exact as the usual way while a number has up to 15 digits, and five times as fast.
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
    return _parsed(bytes(body.translate(None, b".")), np.int64, len(ends)) / (10.0 ** np.arange(19))[decimals]


def _parsed(text: bytes, dtype: type, count: int) -> np.ndarray:
    """The numbers of a text; ValueError where it does not hold `count` of them and nothing else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # what numpy gives for text that is no number
        try:
            numbers: np.ndarray = np.fromstring(text, dtype=dtype, sep=" ")
        except DeprecationWarning as warning:
            raise ValueError(str(warning)) from warning
    if len(numbers) != count:
        raise ValueError(f"{len(numbers)} numbers in {count} words")
    return numbers


def _local_positions(joints: list[_Joint], axes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Positions (F, B, 3), float32, in Blender's axes and the file's unit: OFFSETs, replaced by channels."""
    positions = np.empty((len(values), len(joints), 3), dtype=np.float32)
    positions[:] = np.array([joint.offset for joint in joints]) @ axes.T
    triples = [(bone, axis, column)
               for bone, joint in enumerate(joints) for axis, column in joint.columns("position")]
    if triples:
        bones, source, columns = np.array(triples).T
        target = np.argmax(np.abs(axes), axis=0)[source]  # axes permute and negate, no more
        positions.reshape(len(values), -1)[:, 3 * bones + target] = values[:, columns] * axes[target, source]
    return positions


def _local_rotations(joints: list[_Joint], axes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Rotations (F, B, 4), float64, in Blender's axes.

    Channels multiply in the file's order, each about an axis that the earlier ones have turned. Turning the axes of
    single channels turns the product: C a b C⁻¹ = (C a C⁻¹)(C b C⁻¹).
    """
    rotations = np.empty((len(values), len(joints), 4))
    rotations[:] = quat.IDENTITY
    groups: dict[tuple[int, ...], list[int]] = {}
    for bone, joint in enumerate(joints):
        groups.setdefault(tuple(axis for axis, _ in joint.columns("rotation")), []).append(bone)
    for order, bones in groups.items():
        columns = np.array([[column for _, column in joints[bone].columns("rotation")] for bone in bones])
        product: list[np.ndarray] = []
        for i, axis in enumerate(order):
            target = int(np.argmax(np.abs(axes[:, axis])))
            half = (0.5 * axes[target, axis] * np.pi / 180) * values[:, columns[:, i]]
            product = _turned(product, np.cos(half), np.sin(half), target)
        for component, value in enumerate(product):
            rotations[:, bones, component] = value
    return rotations


def _turned(q: list[np.ndarray], cosine: np.ndarray, sine: np.ndarray, axis: int) -> list[np.ndarray]:
    """The quaternion, as four arrays, times the rotation about one axis with these sine and cosine of the half angle;
    an empty list is the identity."""
    a, b, c = 1 + axis, 1 + (axis + 1) % 3, 1 + (axis + 2) % 3
    result = [np.zeros_like(cosine)] * 4
    if not q:
        result[0], result[a] = cosine, sine
        return result
    result[0] = cosine * q[0] - sine * q[a]
    result[a] = cosine * q[a] + sine * q[0]
    result[b] = cosine * q[b] + sine * q[c]
    result[c] = cosine * q[c] - sine * q[b]
    return result


# ----------------------------------------------------------------------------------------------------------- saving


def _euler_degrees(rotations: np.ndarray, axes: np.ndarray, order: str) -> np.ndarray:
    """Angles (F, B, 3) in the file's axes, in `order`, continuous along time, of rotations (F, B, 4) in Blender's.

    Writing out the product of the three half angles gives the sum and the difference of the outer two as arguments of
    two complex numbers, and the middle one as the ratio of their lengths; exact up to gimbal lock.
    """
    first, second, third = (_AXES.index(axis) for axis in order.upper())
    handed = 1 if (second - first) % 3 == 1 else -1
    w, vector = rotations[..., 0], rotations[..., 1:] @ axes
    x, y, z = vector[..., first], vector[..., second], handed * vector[..., third]
    half_sum, half_difference = np.arctan2(x + z, w + y), np.arctan2(x - z, w - y)
    middle = 2 * np.arctan2(np.hypot(w + y, x + z), np.hypot(w - y, x - z)) - np.pi / 2
    angles = np.stack([half_sum + half_difference, middle, handed * (half_sum - half_difference)], axis=-1)
    angles -= 2 * np.pi * np.round(angles[:1] / (2 * np.pi))
    return np.degrees(np.unwrap(angles, axis=0))


def _depth_first(skeleton: Skeleton) -> tuple[np.ndarray, list[int]]:
    """Bones in the order in which a file nests them, and how deep."""
    bones: list[int] = []
    depths: list[int] = []
    waiting = [(int(root), 0) for root in np.flatnonzero(skeleton.parents < 0)[::-1]]
    while waiting:
        bone, depth = waiting.pop()
        bones.append(bone)
        depths.append(depth)
        waiting += [(child, depth + 1) for child in reversed(skeleton.children(bone))]
    return np.array(bones), depths


def _hierarchy_lines(
    skeleton: Skeleton, bones: np.ndarray, depths: list[int], six: np.ndarray, to_file: np.ndarray, order: str
) -> Iterator[str]:
    names = _unique([re.sub(r"[\s{}]+", "_", name) for name in skeleton.names], [])
    three = " ".join(f"{axis}rotation" for axis in order)
    yield "HIERARCHY"
    for place, (bone, depth) in enumerate(zip(bones.tolist(), depths, strict=True)):
        tabs = "\t" * depth
        yield f"{tabs}{'JOINT' if depth else 'ROOT'} {names[bone]}"
        yield f"{tabs}{{"
        yield f"{tabs}\t{_offset(skeleton.rest_positions[bone] @ to_file)}"
        yield f"{tabs}\tCHANNELS " + (f"6 Xposition Yposition Zposition {three}" if six[place] else f"3 {three}")
        next_depth = depths[place + 1] if place + 1 < len(depths) else 0
        sites = [site for owner, site in skeleton.end_sites if owner == bone]
        if not sites and next_depth <= depth:
            sites = [(0.0, 0.0, 0.0)]  # readers expect every chain to end in one
        for site in sites:
            yield f"{tabs}\tEnd Site\n{tabs}\t{{\n{tabs}\t\t{_offset(np.array(site) @ to_file)}\n{tabs}\t}}"
        for closed in range(depth, next_depth - 1, -1):
            yield "\t" * closed + "}"


def _offset(vector: np.ndarray) -> str:
    return "OFFSET " + " ".join(f"{value:.6f}" for value in vector)


def _motion_text(header: str, rows: np.ndarray, fps: float) -> Iterator[str]:
    yield f"{header}\nMOTION\nFrames: {len(rows)}\nFrame Time: {1 / fps:.10f}\n"
    row = " ".join(["%.6f"] * rows.shape[1]) + "\n"
    for start in range(0, len(rows), _ROWS_PER_WRITE):
        block = rows[start : start + _ROWS_PER_WRITE]
        yield (row * len(block)) % tuple(block.ravel().tolist())
