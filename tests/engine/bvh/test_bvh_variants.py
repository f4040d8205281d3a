"""One clip in the ways in which programs write BVH: read as the same motion, or refused by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import MotionDataError
from motion_matching.engine.motion.clip import Clip
from tests.demo import generate_clips
from tests.engine.sentences import check_sentence

FRAMES = 60
CAMERA = """ROOT Camera
{
OFFSET 0 0 0
CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
End Site
{
OFFSET 0 0 1
}
}
"""


class Text:
    """The parts of a file: the hierarchy, the lines with count and time of frames, and rows."""

    def __init__(self, text: str) -> None:
        self.head, motion = text.split("MOTION\n")
        self.frames, self.time, *self.rows = motion.strip().split("\n")

    def join(self) -> str:
        return "\n".join([f"{self.head}MOTION", self.frames, self.time, *self.rows, ""])

    def change(self, **parts: object) -> str:
        for name, part in parts.items():
            if callable(part):
                old = getattr(self, name)
                part = [part(row) for row in old] if name == "rows" else part(old)
            setattr(self, name, part)
        return self.join()


def replace_words(*pairs: tuple[str, str]) -> Callable[[str], str]:
    def change(text: str) -> str:
        for old, new in pairs:
            assert re.search(old, text)
            text = re.sub(old, new, text)
        return text

    return change


def change_row(number: int, change: Callable[[str], str]) -> Callable[[Text], str]:
    def write(text: Text) -> str:
        text.rows[number] = change(text.rows[number])
        return text.join()

    return write


def put_word(column: int, word: str) -> Callable[[str], str]:
    return lambda row: " ".join([*row.split()[:column], word, *row.split()[column + 1 :]])


def wrap(row: str) -> str:
    words = row.split()
    return " ".join(words[:30]) + "\n" + " ".join(words[30:])


def write_commas(text: str) -> str:
    return text.replace(".", ",")


WRITERS: dict[str, Callable[[Text], str | bytes]] = {
    "base": lambda t: t.join(),
    "crlf": lambda t: t.join().replace("\n", "\r\n"),
    "cr_only": lambda t: t.join().replace("\n", "\r"),
    "bom": lambda t: b"\xef\xbb\xbf" + t.join().encode(),
    "exponents": lambda t: t.change(
        rows=lambda row: " ".join(f"{float(word):.9E}" for word in row.split())
    ),
    "upper_channels": lambda t: t.change(
        head=replace_words(("position", "Position"), ("Yrotation", "YROTATION"))
    ),
    "lower_keywords": lambda t: t.change(
        head=replace_words(
            ("HIERARCHY", "Hierarchy"),
            ("JOINT", "Joint"),
            ("OFFSET", "Offset"),
            ("CHANNELS", "Channels"),
            ("ROOT", "Root"),
            ("End Site", "End site"),
        )
    ),
    "blank_lines": lambda t: t.change(rows=lambda row: row + "\n"),
    "fps_60_2dec": lambda t: t.change(time="Frame Time: 0.02"),
    "frame_time_0": lambda t: t.change(time="Frame Time: 0"),
    "frame_time_fps": lambda t: t.change(time="Frame Time: 60"),
    "frames_less": lambda t: t.change(frames="Frames: 10"),
    "frames_more": lambda t: t.change(frames="Frames: 9999"),
    "truncated": change_row(-1, lambda row: " ".join(row.split()[:20])),
    "names_spaces": lambda t: t.change(head=replace_words((r"(ROOT|JOINT) (\w+)", r"\1 Bip01 \2"))),
    "no_end_site": lambda t: t.change(head=replace_words((r"End Site\s*\{[^}]*\}", ""))),
    "named_end_site": lambda t: t.change(head=replace_words(("End Site", "End Site tip"))),
    "brace_same_line": lambda t: t.change(
        head=replace_words((r"(JOINT \w+|ROOT \w+|End Site)\s*\n\s*\{", r"\1 {"))
    ),
    "one_line_header": lambda t: t.change(head=lambda head: " ".join(head.split()) + "\n"),
    "hips_metres": lambda t: t.change(
        rows=lambda row: " ".join(
            [f"{float(word) / 100:.8f}" for word in row.split()[:3]] + row.split()[3:]
        )
    ),
    "three_channel_root": lambda t: t.change(
        head=lambda head: head.replace("6 Xposition Yposition Zposition", "3", 1),
        rows=lambda row: " ".join(row.split()[3:]),
    ),
    "extra_root": lambda t: t.change(
        head=lambda head: head + CAMERA, rows=lambda row: row + " 0 300 -500 0 0 0"
    ),
    "utf16": lambda t: t.join().encode("utf-16"),
    "no_separator": lambda t: t.change(
        rows=replace_words((r"^(\S+ \S+ \S+) ", r"\1-")),
    ),
    "glued_negative": lambda t: t.change(rows=lambda row: row.replace(" -", "-")),
    "comma_decimals": lambda t: t.change(
        head=write_commas, rows=write_commas, time=write_commas(t.time)
    ),
    "comma_motion_only": lambda t: t.change(rows=write_commas),
    "semicolons": lambda t: t.change(rows=lambda row: row.replace(" ", ";")),
    "wrapped_rows": lambda t: t.change(rows=wrap),
    "nan_one": change_row(40, put_word(0, "NaN")),
    "nan_rot": change_row(40, put_word(8, "-nan(ind)")),
    "header_comment": lambda t: t.change(head=lambda head: "# exported by tool X\n" + head),
}

FAULTS = {  # what a refusal names, in the words for what is wrong, where it is, and what to do
    "utf16": ("in UTF-16", "save it as UTF-8"),
    "no_separator": ("line 135", "68 values", "without a space", "put one between"),
    "glued_negative": ("line 135", "without a space", "put one between"),
    "comma_decimals": ("line 4", "'0,000000'", "decimal comma", "decimal points"),
    "comma_motion_only": ("line 135", "Xposition", "decimal comma", "decimal points"),
    "semicolons": ("line 135", "1 value where", "semicolons", "write spaces"),
    "wrapped_rows": ("line 135", "30 values", "over 2 lines", "in one"),
    "nan_one": ("line 175", "Xposition of joint 'Hips' is nan in frame 41", "repair"),
    "nan_rot": ("line 175", "'-nan(ind)' for Yrotation of joint 'Spine'", "repair"),
    "header_comment": ("'# exported by tool X'", "above line 2", "delete"),
}
READ = sorted(WRITERS.keys() - FAULTS.keys())
RATES = {"fps_60_2dec": 50.0, "frame_time_fps": 60.0}  # others are the clip's own
ROOT_ELSEWHERE = ("hips_metres", "three_channel_root")  # which the file itself says
NOTED = {
    "truncated": "breaks off",
    "frames_less": "announces 10",
    "frames_more": "announces 9999",
    "frame_time_0": "no usable frame time",
    "frame_time_fps": "frame time 60, which is read as frames per second",
    "extra_root": "Camera left out",
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Clip:
    """The built-in clip with its bones in the order of files."""
    clip = next(clip for clip in generate_clips() if clip.name == "gait_changes")
    path = tmp_path_factory.mktemp("base") / "clip.bvh"
    bvh.save(clip.crop(0, FRAMES), path)
    return bvh.load(path)


def write(name: str, clip: Clip, folder: Path) -> Path:
    path = folder / f"{name}.bvh"
    bvh.save(clip, path)
    text = WRITERS[name](Text(path.read_text()))
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_all_ways_are_tried():
    assert len(WRITERS) == 32
    assert len(READ) == 22


@pytest.mark.parametrize("name", READ)
def test_a_way_to_write_a_clip_is_read_as_its_motion(name, base, tmp_path):
    clip = bvh.load(write(name, base, tmp_path))
    assert clip.fps == RATES.get(name, base.fps)
    assert clip.skeleton.parents.tolist() == base.skeleton.parents.tolist()
    count = FRAMES - (name == "truncated")
    assert clip.frame_count == count
    notes = " ".join(clip.warnings)
    assert NOTED.get(name, "") in notes
    assert bool(notes) == (name in NOTED)
    np.testing.assert_allclose(
        np.abs((clip.rotations * base.rotations[:count]).sum(-1)), 1, atol=1e-6
    )
    first = 1 if name in ROOT_ELSEWHERE else 0
    np.testing.assert_allclose(clip.positions[:, first:], base.positions[:count, first:], atol=2e-6)


@pytest.mark.parametrize("name", FAULTS)
def test_a_way_that_is_not_read_is_refused_by_what_is_wrong(name, base, tmp_path):
    path = write(name, base, tmp_path)
    with pytest.raises(MotionDataError) as caught:
        bvh.load(path)
    check_sentence(caught, path, *FAULTS[name])


@pytest.mark.parametrize(
    ("frame_time", "fps"),
    [("24", 24), ("25", 25.0), ("30", 30), ("29.97", 30000 / 1001), ("23.976", 24000 / 1001),
     ("59.94", 60000 / 1001), ("50", 50), ("60.000000", 60), ("72", 72), ("90", 90), ("100", 100),
     ("120", 120), ("128", 128), ("240", 240)],
)  # fmt: skip
def test_a_frame_time_that_is_a_rate_is_read_as_one(frame_time, fps, base, tmp_path):
    path = tmp_path / "clip.bvh"
    bvh.save(base, path)
    path.write_text(Text(path.read_text()).change(time=f"Frame Time: {frame_time}"))
    clip = bvh.load(path)
    assert clip.fps == pytest.approx(fps, rel=1e-9)
    assert "read as frames per second" in " ".join(clip.warnings)


@pytest.mark.parametrize(
    ("frame_time", "seconds"),
    [("33.3333", "0.0333333"), ("33", "0.033"), ("16.6667", "0.0166667"), ("8.333", "0.008333"),
     ("10", "0.01"), ("20", "0.02"), ("40", "0.04"), ("41.6667", "0.0416667"),
     ("66.6667", "0.0666667")],
)  # fmt: skip
def test_a_frame_time_in_milliseconds_is_refused_with_the_seconds(
    frame_time, seconds, base, tmp_path
):
    path = tmp_path / "clip.bvh"
    bvh.save(base, path)
    path.write_text(Text(path.read_text()).change(time=f"Frame Time: {frame_time}"))
    with pytest.raises(MotionDataError) as caught:
        bvh.load(path)
    check_sentence(caught, path, "milliseconds", f"change it to {seconds}")
