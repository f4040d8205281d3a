"""Data sets: the same options make the same bytes, each file by itself, and what is there stays."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from motion_matching import api
from motion_matching.engine.database import database as databases
from tests.command_line import check_refusals, run, run_with_errors
from tests.demo import load_few

FILES = ("takes_0001.npz", "takes_0002.npz")
OPTIONS = ("--takes", 2, "--seconds", 5, "--shard", 1, "--want", "walking=60", "--quiet")


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generate") / "walk.npz"
    databases.save(load_few(), path)
    return path


@pytest.fixture(scope="module")
def made(walk: Path) -> Path:
    """The folder of a data set in two files; tests only read it."""
    folder = walk.parent / "set"
    assert run("generate", walk, "-o", folder, *OPTIONS) == 0
    return folder


def read_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def read_card(folder: Path) -> dict[str, object]:
    return json.loads((folder / "card.json").read_text(encoding="utf-8"))


def test_files_and_card_say_what_is_in_them(made):
    assert sorted(read_bytes(made)) == ["card.json", "card.md", *FILES]
    card, stored = read_card(made), [api.read_npz(made / name) for name in FILES]
    assert [each.count for each in stored] == [1, 1]
    assert card["takes"]["count"] == 2
    assert card["takes"]["minutes"] == pytest.approx(1 / 6, abs=1e-3)
    contents = card["takes"]["contents"]
    assert sum(contents[gait] for gait in ("standing", "walking", "running")) == pytest.approx(
        1.0, abs=1e-3
    )
    walking = [each.header["data_set"]["contents"]["walking"] for each in stored]
    assert contents["walking"] == pytest.approx(sum(walking) / 300, abs=1e-4)
    [row] = card["coverage"]
    assert (row["motion"], row["asked"]) == ("walking", 0.6)
    assert row["is_reached"] == (abs(row["reached"] - 0.6) <= 0.05)
    assert card["database"]["clips"] == sorted({r.clip for r in load_few().ranges})
    page = (made / "card.md").read_text(encoding="utf-8")
    assert "licences apply" in page
    assert "walk_curves" in page
    assert all(name in page for name in FILES)


def test_the_card_says_how_a_file_is_read(made, monkeypatch):
    monkeypatch.chdir(made)
    page = (made / "card.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    names: dict[str, np.ndarray] = {}
    exec(code, names)
    assert names["joints"].shape == (150, 23, 3)


def test_each_file_alone_is_the_same_to_the_byte(walk, made, tmp_path):
    assert run("generate", walk, "-o", tmp_path / "one", *OPTIONS, "--only", 2) == 0
    alone = read_bytes(tmp_path / "one")
    assert FILES[0] not in alone
    assert read_card(tmp_path / "one")["missing"] == 1
    assert alone[FILES[1]] == (made / FILES[1]).read_bytes()
    assert run("generate", walk, "-o", tmp_path / "one", *OPTIONS) == 0
    assert read_bytes(tmp_path / "one") == read_bytes(made)


def test_what_was_finished_before_ctrl_c_stays(walk, made, tmp_path):
    database = api.open(walk)
    arguments = {"takes": 2, "seconds": 5.0, "shard": 1, "wants": {"walking": 60.0}}

    def stop(stage: str, share: float) -> None:
        if FILES[1] in stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        api.generate(database, tmp_path, name="walk.npz", progress=stop, **arguments)
    assert sorted(read_bytes(tmp_path)) == ["card.json", "card.md", FILES[0]]
    before = (tmp_path / FILES[0]).stat().st_mtime_ns
    api.generate(database, tmp_path, name="walk.npz", **arguments)
    assert (tmp_path / FILES[0]).stat().st_mtime_ns == before
    assert read_bytes(tmp_path) == read_bytes(made)


def test_what_cannot_be_made_is_refused_in_a_sentence(walk, made, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "card.md").write_text("# Somebody's notes", encoding="utf-8")
    generate = ("generate", walk, "-o")
    check_refusals(
        run_with_errors,
        [
            ((*generate, made, *OPTIONS, "--seed", 1), "made of other data or with other options"),
            ((*generate, other, *OPTIONS), "of something else"),
            ((*generate, walk, *OPTIONS), "is a file"),
            ((*generate, made, *OPTIONS, "--only", "3"), "There is no file 3"),
            ((*generate, made, *OPTIONS, "--only", "a-b"), "--only a-b gives no numbers"),
            ((*generate, made, "--takes", 0), "are both 0"),
            ((*generate, made, "--want", "flying=3"), "names no kind of motion"),
            ((*generate, made, "--seconds", 2), "from 5 to 600"),
        ],
        made / "card.json",
    )


def test_a_take_is_written_as_arrays_and_never_over_its_database(walk, tmp_path):
    line = ("take", walk, "--seconds", 2, "--feet", "live", "--quiet", "--npz")
    assert run(*line, tmp_path / "take.npz") == 0
    take = api.perform(api.open(walk), seconds=2, feet="live")
    written = api.read_npz(tmp_path / "take.npz").get_take(0)
    np.testing.assert_array_equal(written["frames"], take.frames)
    np.testing.assert_array_equal(written["local_rotations"], take.poses[:, 3:].swapaxes(1, 2))
    code, said = run_with_errors(*line, walk)
    assert code == 1
    assert "--npz would replace" in said


@pytest.mark.slow
def test_a_directed_take_has_the_same_arrays(walk, made, tmp_path):
    scene = tmp_path / "scene.json"
    scene.write_text('{"seconds": 2, "marks": [{"time": 1.5, "position": [0, -1]}]}')
    line = ("direct", walk, scene, "--preview", "--quiet", "--npz", tmp_path / "direct.npz")
    assert run(*line) == 0
    directed = api.read_npz(tmp_path / "direct.npz").arrays
    assert directed.keys() == api.read_npz(made / FILES[0]).arrays.keys()
    assert len(directed["frames"]) == 61


def test_a_share_that_is_not_reached_is_told(walk, tmp_path, capsys):
    """Each take begins with the character at rest, so a short one never only runs."""
    line = ("--takes", 1, "--seconds", 5, "--feet", "live", "--want", "running=100")
    assert run("generate", walk, "-o", tmp_path / "runs", *line) == 0
    [row] = read_card(tmp_path / "runs")["coverage"]
    assert 0.5 < row["reached"] < 0.95
    assert not row["is_reached"]
    words = f"running: {100 * row['reached']:.1f} % of 100 % asked for, not reached by "
    assert words in capsys.readouterr().out


@pytest.mark.slow
def test_shares_are_reached_within_five_points(walk, tmp_path):
    card = api.generate(
        api.open(walk), tmp_path, takes=8, seconds=10.0, wants={"running": 40.0, "standing": 25.0}
    )
    assert [row["is_reached"] for row in card["coverage"]] == [True, True]
    assert card["takes"]["count"] == 8


@pytest.mark.slow
def test_scenes_are_directed_into_files_of_their_own(walk, tmp_path):
    line = ("--takes", 0, "--scenes", 2, "--seconds", 6, "--quiet")
    assert run("generate", walk, "-o", tmp_path / "scenes", *line) == 0
    scenes = api.read_npz(tmp_path / "scenes" / "scenes_0001.npz")
    assert scenes.count == 2
    counted = read_card(tmp_path / "scenes")["scenes"]
    assert counted["count"] == 2
    assert 0 < counted["marks"]["reached"] <= counted["marks"]["asked"]
