"""Files with several characters on the command line and in scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from motion_matching import api
from motion_matching.engine.database import database as databases
from tests.command_line import run, run_with_errors
from tests.demo import generate_clips
from tests.performers import CAMERA, write_roots


@pytest.fixture
def duo(tmp_path: Path) -> Path:
    walk, run_ = (clip for clip in generate_clips() if clip.name in ("walk_curves", "run_curves"))
    parts = {"A_": walk.crop(0, 90), "camera": CAMERA, "B_": run_.crop(0, 90)}
    return write_roots(tmp_path / "duo.bvh", parts)


@pytest.mark.parametrize("letter", "AB")
def test_build_reads_the_character_that_is_named(letter, duo, tmp_path):
    out = tmp_path / "one.npz"
    assert run("build", duo, "--character", f"{letter}_Hips", "-o", out, "--quiet") == 0
    names = databases.load(out).skeleton.names
    assert {name[:2] for name in names[1:]} == {f"{letter}_"}
    [clip] = api.load(duo, character=f"{letter}_Hips")
    assert clip.skeleton.names[0] == f"{letter}_Hips"
    assert clip.name == f"duo {letter}_Hips"


def test_build_says_which_character_it_reads_and_how_to_choose_another(duo, tmp_path, capsys):
    assert run("build", duo, "-o", tmp_path / "one.npz") == 0
    said = capsys.readouterr().out
    for word in ("2 characters", "'A_Hips'", "'B_Hips'", "is read", "--character"):
        assert word in said
    assert "Camera left out" in said


@pytest.mark.parametrize(("file", "words"), [("duo", "choose one of"), ("alone", "leave it out")])
def test_a_character_that_is_not_there_is_refused(file, words, duo, tmp_path):
    write_roots(tmp_path / "alone.bvh", {"": generate_clips()[0].crop(0, 30)})
    out = tmp_path / "one.npz"
    code, said = run_with_errors("build", tmp_path / f"{file}.bvh", "--character", "C", "-o", out)
    assert code == 1
    assert words in said
    assert "'C'" in said
    assert not out.exists()
