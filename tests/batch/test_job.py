"""A batch as it is written: rows, products, placeholders, needs, stages, and one sentence for each
mistake.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from motion_matching.batch.job import Job, load_job, parse_numbers
from motion_matching.batch.row_values import is_output
from motion_matching.commands.arguments import build_parser
from motion_matching.commands.options import COMMANDS, list_options
from motion_matching.engine.errors import SettingsError

Load = Callable[..., Job]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return `load(rows, products=[], defaults={}) -> Job`, which writes a batch and reads it."""

    def write(rows: list[Any], products: Any = (), **defaults: Any) -> Job:
        data = {"defaults": defaults, "rows": rows, "products": list(products)}
        (tmp_path / "jobs.json").write_text(json.dumps(data))
        return load_job(tmp_path / "jobs.json")

    return write


TAKE = {"command": "take", "database": "walk.npz"}


def test_a_row_is_a_command_line(load: Load, tmp_path: Path) -> None:
    row = {
        **TAKE,
        "script": "turns",
        "seconds": 2.5,
        "seed": 3,
        "set": {"run": 4, "foot_lock": False, "weights": [1, 2]},
        "tags": ["walk", "start"],
        "save-performance": "out/kept.json",
        "bvh": "out/turns.bvh",
        "quiet": None,
    }
    [made] = load([{**row, "quiet": None}]).rows
    assert (made.number, made.name, made.command) == (1, "turns", "take")
    parsed = build_parser().parse_args(made.words)
    assert parsed.database == tmp_path / "walk.npz"
    assert parsed.bvh == tmp_path / "out" / "turns.bvh"
    assert (parsed.script, parsed.seconds, parsed.seed) == ("turns", 2.5, 3)
    assert parsed.changes == ["run=4", "foot_lock=false", "weights=1,2"]
    assert parsed.tags == "walk,start"
    assert made.reads == (tmp_path / "walk.npz",)
    assert set(made.writes) == {parsed.bvh, parsed.save_performance}
    assert made.state_file.name == "turns.bvh.row.json"


def test_all_kinds_of_values_reach_the_command(load: Load, tmp_path: Path) -> None:
    rows = [
        {"command": "build", "sources": ["a", "-b.bvh"], "output": "x.npz", "forward": "-Z",
         "mirror": True, "tempo": False, "fps": 30},
        {"command": "prune", "database": "y.npz", "output": "z.npz",
         "performance": ["-p.json", "q.json"]},
        {"command": "take", "database": "y.npz", "beside": ["run=3", "o.npz"], "bvh": "t.bvh",
         "script": "kept.json", "set": ["run=4"], "settings": "notebook"},
    ]  # fmt: skip
    build, prune, take = (build_parser().parse_args(row.words) for row in load(rows).rows)
    assert build.sources == [tmp_path / "a", tmp_path / "-b.bvh"]
    assert (build.forward, build.mirror, build.tempo, build.fps) == ("-Z", True, False, 30.0)
    assert prune.performance == [tmp_path / "-p.json", tmp_path / "q.json"]
    assert take.beside == ["run=3", str(tmp_path / "o.npz")]
    assert take.script == str(tmp_path / "kept.json")
    assert take.settings == "notebook"


def test_a_batch_beside_the_current_folder_is_relative(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(
        [{"command": "prune", "database": "-y.npz", "performance": ["-p.json"], "output": "z.npz"}]
    )
    monkeypatch.chdir(tmp_path)
    [row] = load_job("jobs.json").rows
    parsed = build_parser().parse_args(row.words)
    assert parsed.database == Path("-y.npz")
    assert parsed.performance == [Path("-p.json")]


def test_products_multiply_and_fill_the_names_of_outputs(load: Load) -> None:
    product = {
        "database": ["db/a.npz", "db/b.npz"],
        "set": [{"run": 3}, {"run": 4}],
        "seed": {"from": 5, "count": 2},
        "bvh": "out/{row}_{database}_{seed}_{set}_{script}.bvh",
    }
    rows = load([{**TAKE, "bvh": "x.bvh"}], [product], command="take", script="turns").rows
    assert [row.number for row in rows] == list(range(1, 10))
    assert rows[1].name == "2_a_5_run=3_turns"
    assert rows[8].name == "9_b_6_run=4_turns"


def test_lists_of_options_that_take_several_values_multiply_too(load: Load) -> None:
    product = {"command": "build", "sources": ["a", ["b", "c"]], "output": "{sources}.npz"}
    rows = load([], [product]).rows
    assert [row.writes[0].name for row in rows] == ["a.npz", "b-c.npz"]
    assert [len(row.reads) for row in rows] == [1, 2]


def test_defaults_are_for_rows_whose_command_knows_them(load: Load) -> None:
    rows = [
        {"command": "build", "sources": "clips", "output": "walk.npz"},
        {"bvh": "a.bvh", "set": {"walk": 1.2}},
        {"bvh": "b.bvh", "seconds": None},
    ]
    defaults = {"command": "take", "database": "walk.npz", "seconds": 4, "set": {"run": 4}}
    build, first, second = load(rows, **defaults).rows
    assert "--seconds=4" in first.words
    assert first.words.count("--set=run=4") == first.words.count("--set=walk=1.2") == 1
    assert not any(word.startswith("--seconds") for word in second.words)
    assert (build.needs, first.needs, second.needs) == ((), (1,), (1,))


def test_rows_are_staged_by_what_they_need(load: Load) -> None:
    rows = [
        {**TAKE, "bvh": "clips/t.bvh"},
        {"command": "train", "database": "other.npz", "output": "field.npz"},
        {**TAKE, "database": "other.npz", "field": "field.npz", "controller": "field", "bvh": "f.bvh"},
        {"command": "build", "sources": ["clips"], "output": "all.npz"},
        {"command": "demo-clips", "folder": "shipped"},
        {"command": "build", "sources": ["shipped/walk.bvh"], "output": "Walk.npz"},
    ]  # fmt: skip
    stages = load(rows).stages
    found = [(each.command, [row.number for row in each.rows], each.needs) for each in stages]
    assert found == [
        ("train", [2], ()),
        ("demo-clips", [5], ()),
        ("build", [6], (1,)),
        ("take", [3], (0,)),
        ("take", [1], (2,)),
        ("build", [4], (4,)),
    ]


def test_variations_are_numbered_outputs(load: Load) -> None:
    row = {
        "command": "direct",
        "database": "w.npz",
        "scene": "s.json",
        "bvh": "d.bvh",
        "variations": 2,
    }
    [made] = load([{**row, "preview": True}]).rows  # fmt: skip
    assert [path.name for path in made.writes] == ["d_1.bvh", "d_2.bvh"]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("3", (3,)), ("1-3,9", (1, 2, 3, 9)), ("2, 1", (1, 2)), ("1-7:3", (1, 4, 7))],
)
def test_numbers_of_rows(text: str, numbers: tuple[int, ...]) -> None:
    assert parse_numbers(text) == numbers


@pytest.mark.parametrize(
    "text", ["", "a", "0", "3-1", "1-", "-2", "1,,2", "1-3:0", "1.5", "9" * 30]
)
def test_wrong_numbers_of_rows_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="write it as in 1-5,9"):
        parse_numbers(text)


def test_a_chunk_out_of_range_is_refused(load: Load) -> None:
    job = load([{**TAKE, "bvh": f"{k}.bvh"} for k in range(8)])
    assert [row.number for row in job.choose("7-8")] == [7, 8]
    with pytest.raises(SettingsError, match=r"asks for row 10, and .*jobs\.json has 8"):
        job.choose("6-10")


BVH = {**TAKE, "bvh": "a.bvh"}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "no rows"),
        ([5], "row 1 is 5; give an object"),
        ([{"database": "w.npz"}], "row 1: 'command' is missing; give one of build"),
        ([{"command": "dance"}], "'command' is \"dance\""),
        ([BVH, {**BVH, "name": "second", "sead": 1}], "row 2 (second): 'take' has no option 'sead'; did you mean 'seed'"),
        ([{**BVH, "allow_scripts": True}], "no option 'allow_scripts'"),
        ([{**BVH, "save-tags": "x", "save_tags": "x"}], "'save_tags' is there twice"),
        ([{"command": "take", "bvh": "a.bvh"}], "'take' needs 'database'"),
        ([TAKE], "it writes nothing; give it one of output, bvh"),
        ([{**BVH, "seconds": "long"}], "'seconds' is \"long\"; give a number"),
        ([{**BVH, "seed": 1.5}], "'seed' is 1.5; give a whole number"),
        ([{**BVH, "seed": True}], "'seed' is true; give a whole number"),
        ([{**BVH, "gait": "crawl"}], "'gait' is \"crawl\"; give one of walk, run"),
        ([{**BVH, "database": 3}], "'database' is 3; give the name of a file"),
        ([{**BVH, "set": 3}], "'set' is 3; give a text or a list of texts"),
        ([{"command": "build", "sources": "c", "output": "o.npz", "mirror": 1}], "'mirror' is 1; give true or false"),
        ([{**BVH, "bvh": "{sead}.bvh"}], "names {sead}, which is not given; given are database, row"),
        ([BVH, {**BVH, "bvh": "A.bvh"}], "writes"),
        ([BVH, {**BVH, "bvh": "x/../a.bvh"}], "as row 1 does"),
        ([{**BVH, "report": "jobs.json"}], "which is this batch itself"),
        ([{**BVH, "script": "p.json", "report": "p.json"}], "which it reads too"),
        ([{"command": "prune", "database": "a.npz", "output": "b.npz"},
          {"command": "prune", "database": "b.npz", "output": "a.npz"}], "need what the other writes"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_one_sentence(load: Load, rows: list[Any], words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(rows)
    assert "jobs.json, " in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("product", "words"),
    [
        ({"seed": []}, "'seed' of product 1 is empty"),
        ({"seed": {"from": 1, "count": 0}}, "'count' in 'seed' of product 1 is 0"),
        ({"seed": {"from": 1, "count": 2, "stop": 3}}, "unknown entry 'stop'"),
        ({"seed": {"from": 0, "count": 400}, "frame": {"from": 0, "count": 400}}, "over 100,000 rows"),
        ({"seed": [1, 2]}, "as row 1 does"),
    ],
)  # fmt: skip
def test_a_wrong_product_is_one_sentence(load: Load, product: Any, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        load([], [{**BVH, **product}])


def test_wrong_defaults_and_files_are_one_sentence(load: Load, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="'defaults' has 'sead', which no command knows"):
        load([BVH], sead=3)
    (tmp_path / "jobs.json").write_text('{"jobs": []}')
    with pytest.raises(SettingsError, match="unknown entry 'jobs'"):
        load_job(tmp_path / "jobs.json")
    with pytest.raises(SettingsError, match=r"gone.json does not exist"):
        load_job(tmp_path / "gone.json")


def test_all_targets_of_commands_are_outputs() -> None:
    """What a command checks as a file to write is what a batch takes for one, and nothing else."""
    parser = build_parser()
    (chosen,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    assert set(COMMANDS) == set(chosen.choices) - {"batch", "digest"}  # which only prints
    for command in COMMANDS:
        module = import_module(f"motion_matching.commands.{command.replace('-', '_')}")
        targets = set(getattr(module, "_TARGETS", ())) | {"output", "folder"}
        outputs = {each.key for each in list_options(command) if is_output(each)}
        assert outputs <= targets, command
        assert targets <= outputs | {"output", "folder"}, command


def test_the_batches_of_the_manual_are_right(tmp_path: Path) -> None:
    manual = (Path(__file__).parents[2] / "docs" / "batches.md").read_text(encoding="utf-8")
    batches = re.findall(r"```json\n(\{.*?)```", manual, re.DOTALL)
    assert len(batches) >= 3
    counts = []
    for text in batches:
        (tmp_path / "jobs.json").write_text(text)
        counts.append(len(load_job(tmp_path / "jobs.json").rows))
    assert f"These are {max(counts)} rows." in manual


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_files_are_known_through_links(load: Load, tmp_path: Path) -> None:
    (tmp_path / "made.bvh").touch()
    for name in ("link.bvh", "other.bvh"):
        (tmp_path / name).symlink_to("made.bvh")
    row = {**TAKE, "bvh": "made.bvh"}
    with pytest.raises(SettingsError, match="as row 1 does"):
        load([row, {**TAKE, "bvh": "link.bvh"}])
    with pytest.raises(SettingsError, match="which it reads too"):
        load([{"command": "build", "sources": ["link.bvh"], "output": "other.bvh"}])
    build = {"command": "build", "sources": ["link.bvh"], "output": "w.npz"}
    assert load([row, build]).rows[1].needs == (1,)
