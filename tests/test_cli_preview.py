"""`take --preview` writes a sheet of pictures, and says in a sentence why it does not."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from motion_matching import cli
from motion_matching.engine.database import database as databases
from tests.demo import load_few


def test_takes_are_drawn_beside_each_other_in_the_requested_size(tmp_path: Path) -> None:
    databases.save(load_few(), tmp_path / "walk.npz")
    target = tmp_path / "both.PNG"
    words = ["take", str(tmp_path / "walk.npz"), "--seconds", "2", "--quiet", "--preview"]
    options = ["--preview-size", "320x200", "--beside", "matching"]
    assert cli.main([*words, str(target), *options]) == 0
    assert struct.unpack_from(">II", target.read_bytes(), 16) == (320, 200)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--preview", "{folder}/take.mp4"], ("take.mp4", "a film", "-o writes", "a .png")),
        (["--preview", "{folder}/take.gif"], ("take.gif", "a film")),
        (["--preview", "{folder}/take.jpg"], ("take.jpg", ".png", "rename it")),
        (["--preview", "{folder}/none/take.png"], ("none", "does not exist")),
        (["--preview", "{folder}/old.png"], ("old.png", "read-only")),
        (["--preview", "{folder}/in_the_way.png"], ("in_the_way.png", "is a folder")),
        (
            ["--preview", "{folder}/take.png", "--preview-size", "large"],
            ("--preview-size is large", "1280x720"),
        ),
        (["--preview", "{folder}/take.png", "--preview-size", "1280x9"], ("64 to 4096",)),
        (["--preview-size", "640x360"], ("--preview-size", "--preview;")),
    ],
)
def test_invalid_options_are_reported_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: tuple[str, ...]
) -> None:
    (tmp_path / "in_the_way.png").mkdir()
    (tmp_path / "old.png").write_text("old")
    (tmp_path / "old.png").chmod(0o444)
    # reported before the database is loaded
    given = [option.format(folder=tmp_path) for option in options]
    assert cli.main(["take", str(tmp_path / "walk.npz"), *given]) == 1
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert [word for word in words if word not in text] == [], text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in_the_way.png", "old.png"]
