"""The sheet of a take has the requested size, and shows both ways, all bodies and obstacles."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.ground.ground import Box
from motion_matching.engine.insight import raster, take_sheet
from motion_matching.engine.takes import takes
from tests.demo import demo_settings, load_demo

SIZE = (640, 360)


@pytest.fixture(scope="module")
def take() -> Take:
    database, settings = load_demo(), demo_settings()
    asked = {"gait": "walk", "seconds": 5.0, "seed": 0}
    wanted = takes.prepare_performance(database, settings, "square", **asked)
    return takes.perform(database, settings, wanted)


def read_png(path: Path) -> np.ndarray:
    """Return the picture (H, W, 3) of a PNG file without filters, whose checksums are right."""
    data, chunks, offset = path.read_bytes(), {}, 8
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    while offset < len(data):
        [length] = struct.unpack_from(">I", data, offset)
        part = data[offset + 4 : offset + 8 + length]
        assert struct.unpack_from(">I", data, offset + 8 + length)[0] == zlib.crc32(part)
        chunks[part[:4]] = part[4:]
        offset += length + 12
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


def count_pixels(picture: np.ndarray, colour: tuple[int, int, int]) -> int:
    return int((np.abs(picture - np.array(colour, float)).max(axis=-1) < 25).sum())


def test_a_sheet_shows_both_ways_and_all_of_the_bodies(take: Take, tmp_path: Path) -> None:
    take_sheet.save_sheet([take], tmp_path / "take.png", SIZE)
    picture = read_png(tmp_path / "take.png")
    assert picture.shape == (SIZE[1], SIZE[0], 3)
    plan, bodies = np.split(picture, [round(0.4 * SIZE[0])], axis=1)
    assert count_pixels(plan, take_sheet.DESIRED) > 200
    assert count_pixels(plan, take_sheet.ACTUAL) > 200
    for edge in (plan[0], plan[-1], plan[:, 0]):
        assert (edge == 255).all(), "the ways end before the edges"
    grey = (np.ptp(bodies.astype(int), axis=-1) < 40) & (bodies.max(axis=-1) < 180)
    for row in np.array_split(grey, 3, axis=0):
        columns = np.flatnonzero(row.any(axis=0))
        starts = np.flatnonzero(np.diff(columns, prepend=-10) > 3)
        assert len(starts) >= 4, "a body beside another"
        assert not row[0].any(), "no head is cut off"


def test_two_takes_have_ways_and_bodies_each(take: Take) -> None:
    picture = take_sheet.draw_sheet([take, take.crop(0, 100)], SIZE)
    upper, lower = np.split(picture[:, round(0.4 * SIZE[0]) :], 2, axis=0)
    assert count_pixels(upper, take_sheet.ACTUAL) > 0
    assert count_pixels(upper, take_sheet.OTHER) == 0
    assert count_pixels(lower, take_sheet.OTHER) > 0
    assert count_pixels(lower, take_sheet.ACTUAL) == 0


def test_obstacles_are_drawn_and_do_not_change_the_scale(take: Take) -> None:
    near, far = Box((0.5, -1.0), (0.4, 0.4)), Box((900.0, 0.0), (1.0, 1.0))
    stood = replace(take, performance=replace(take.performance, obstacles=(near, far)))
    plain, drawn = (take_sheet.draw_sheet([each], SIZE) for each in (take, stood))
    assert count_pixels(drawn, take_sheet.OBSTACLE) > count_pixels(plain, take_sheet.OBSTACLE) + 50
    assert count_pixels(drawn, take_sheet.DESIRED) > 0.9 * count_pixels(plain, take_sheet.DESIRED)


@pytest.mark.parametrize("count", [1, 2])
def test_takes_that_are_short_or_stand_are_drawn(take: Take, count: int) -> None:
    still = replace(take.crop(0, count), desired_velocity=np.zeros((count, 2)))
    picture = take_sheet.draw_sheet([still], (96, 64))
    assert np.isfinite(picture).all()
    assert picture.min() < 200


def test_the_desired_path_sums_up_the_desired_velocity(take: Take) -> None:
    way = take_sheet.compute_desired_path(take)
    assert way.shape == (take.frame_count + 1, 2)
    np.testing.assert_allclose(np.diff(way, axis=0) * take.fps, take.desired_velocity, atol=1e-9)
    np.testing.assert_allclose(way[0], take.character[0, :2])


def test_lines_are_drawn_where_they_are_and_nowhere_else() -> None:
    picture = raster.make_paper(20, 10)
    raster.draw_line(picture, np.array([4.0, 5.0]), np.array([16.0, 5.0]), (0, 0, 0), 1.0)
    dark = np.argwhere(picture[..., 0] < 128)
    assert dark.min(axis=0).tolist() == [4, 3]
    assert dark.max(axis=0).tolist() == [5, 16]
    for start, end in (((-9.0, -9.0), (-3.0, 8.0)), ((30.0, 2.0), (40.0, 30.0))):
        before = picture.copy()
        raster.draw_line(picture, np.array(start), np.array(end), (0, 0, 0))
        np.testing.assert_array_equal(picture, before)


def test_a_sheet_that_cannot_be_written_keeps_the_old_file(take: Take, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="none"):
        take_sheet.save_sheet([take], tmp_path / "none" / "take.png", (96, 64))
    old = tmp_path / "old.png"
    old.write_text("old")
    old.chmod(0o444)
    with pytest.raises(SettingsError, match=r"old\.png"):
        take_sheet.save_sheet([take], old, (96, 64))
    assert old.read_text() == "old"
