"""A name from a file is the name of a file in its folder, or refused, and can always be shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from motion_matching.engine.errors import MotionMatchingError, SettingsError
from motion_matching.engine.names import get_child, to_readable


@pytest.mark.parametrize("name", ["mine", "my feet", "Größe", "a.b", "0123abc.stopped", "é" * 125])
def test_a_plain_name_is_a_file_of_the_folder(name):
    path = get_child(Path("folder"), name, ".json")
    assert path == Path("folder") / f"{name}.json"
    assert path.parent == Path("folder")


@pytest.mark.parametrize(
    "name",
    [
        *[
            "",
            ".",
            "..",
            "/etc/passwd",
            "../up",
            "a/b",
            "a\\b",
            "C:x",
            "C:\\x",
            "\\\\host\\share",
            ".x",
        ],
        *["a\nb", "a\0b", "a" * 251, "é" * 126, "w\udcfe"],
    ],
)
def test_any_other_name_is_refused(name):
    with pytest.raises(SettingsError, match="plain name"):
        get_child(Path("folder"), name, ".json")


def test_letters_that_no_text_can_hold_are_replaced():
    assert to_readable("w\udcfe.bvh") == "w?.bvh"
    assert to_readable("Größe") == "Größe"
    assert str(MotionMatchingError("There is no w\udcfe.bvh")) == "There is no w?.bvh."
