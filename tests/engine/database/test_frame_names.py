"""Frames are named by their clip as people write them."""

from __future__ import annotations

import pytest

from motion_matching.engine.database.frame_names import find_frame, format_frame
from motion_matching.engine.errors import SettingsError
from tests.engine.sentences import check_sentence


def test_a_frame_is_found_by_its_name(demo_database):
    for frame in range(0, demo_database.frame_count, 997):
        name = format_frame(demo_database, frame)
        assert format_frame(demo_database, find_frame(demo_database, name)) == name


@pytest.mark.parametrize("digits", [19, 5_000, 100_000])
def test_a_number_of_thousands_of_digits_is_no_frame(demo_database, digits):
    clip = demo_database.ranges[0].clip
    for text in (f"{clip}:{'9' * digits}", f"{clip}:{'9' * digits}:mirrored"):
        with pytest.raises(SettingsError) as error:
            find_frame(demo_database, text)
        check_sentence(error, "is not a frame of a clip")


@pytest.mark.parametrize("text", ["", ":", "walk", ":12", "walk:", "walk:-1", "walk:1.5"])
def test_what_is_no_number_is_no_frame(demo_database, text):
    with pytest.raises(SettingsError, match="is not a frame of a clip"):
        find_frame(demo_database, text)
