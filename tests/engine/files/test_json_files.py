"""JSON files: each fault is one sentence that names the file and the entry."""

from __future__ import annotations

import pytest

from motion_matching.engine.errors import SettingsError
from motion_matching.engine.files import json_files, presets


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "does not exist"),
        (b"{", "cannot be read as JSON"),
        (b"\xff\xfe", "cannot be read as JSON"),
        (b"[" * 100_000, "cannot be read as JSON"),
        (b"1" * 5000, "cannot be read as JSON"),
    ],
)
def test_invalid_json_is_refused_with_the_name_of_the_file(tmp_path, text, message):
    path = tmp_path / "list.json"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(SettingsError, match=message) as refused:
        json_files.read(path, "source list")
    assert f"source list {path}" in str(refused.value)


def test_a_byte_order_mark_is_accepted(tmp_path):
    path = tmp_path / "list.json"
    path.write_bytes(b'\xef\xbb\xbf["caf\xc3\xa9"]')
    assert json_files.read(path, "source list") == ["caf\u00e9"]


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        (lambda: json_files.expect_object([], "the file"), r"the file is \[\]; give an object"),
        (
            lambda: json_files.expect_object({"b": 1}, "box 2", ("a", "c")),
            "box 2 has the unknown entry 'b'; known ones are a, ",
        ),
        (lambda: json_files.expect_list("ab", "'tags'"), "'tags' is 'ab'; give a list"),
        (lambda: json_files.expect_list([1], "'size'", 2), "give a list of 2"),
        (lambda: json_files.expect_text("", "'name'"), "give a name"),
        (lambda: json_files.expect_flag(1, "'loop'"), "give true or false"),
        (lambda: json_files.expect_number(True, "'fps'", 1, 9), "give a number from 1 to 9"),
        (
            lambda: json_files.expect_number(float("nan"), "'fps'", 1, 9),
            "give a number from 1 to 9",
        ),
        (lambda: json_files.expect_whole_number(1.0, "'seed'", 0), "give a whole number from 0"),
        (
            lambda: json_files.expect_pair([1, 20], "'size'", 10.0),
            "a number of 'size' is 20; give a number from -10 to 10",
        ),
    ],
)
def test_an_entry_of_the_wrong_kind_is_named_with_a_remedy(expect, message):
    with (
        pytest.raises(SettingsError, match=message) as refused,
        json_files.name_file("source list a.json"),
    ):
        expect()
    assert str(refused.value).startswith("In the source list a.json, ")


def test_a_preset_must_be_an_object(tmp_path):
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(SettingsError, match="give an object"):
        presets.load("features", str(tmp_path / "a.json"))
    with pytest.raises(SettingsError, match="There is no features preset 'nothing'"):
        presets.load("features", "nothing")
