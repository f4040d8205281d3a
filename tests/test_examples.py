"""The scripts in `examples/` run as their docstrings say, and write the promised files."""

from __future__ import annotations

import ast
import csv
import os
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from motion_matching import api
from tests.conftest import CHECKOUT
from tests.processes import run_process

EXAMPLES = CHECKOUT / "examples"
SCRIPTS = {
    "batch_of_takes",
    "custom_features",
    "database_from_fbx",
    "film_of_take",
    "onto_active_armature",
    "study_of_weights",
}
IN_BLENDER = {"database_from_fbx", "onto_active_armature"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three clips in `clips` and their database, `walk.npz`."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "clips").mkdir()
    for clip in api.make_demo_clips():
        if clip.name in ("idle", "walk_speeds", "walk_starts_and_stops"):
            api.write_bvh(clip, folder / "clips" / f"{clip.name}.bvh")
    api.save(api.build(folder / "clips"), folder / "walk.npz")
    return folder


def run(name: str, folder: Path, *arguments: object) -> str:
    """Run an example in a folder, as in a shell; return its output."""
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(folder / "blender_user")}
    command = [sys.executable, "-W", "ignore", str(EXAMPLES / f"{name}.py"), *arguments]
    return run_process(command, folder, environment, 200, name)


@pytest.mark.slow
def test_the_batch_example_writes_takes_and_a_table(folder, tmp_path):
    scripts = ("--scripts", "square", "flips")
    printed = run(
        "batch_of_takes", tmp_path, folder / "clips", tmp_path / "takes", "--seconds", 3, *scripts
    )
    assert "4 takes and takes.csv are in" in printed
    with open(tmp_path / "takes" / "takes.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {f"{row['take']}.bvh" for row in rows} == {
        path.name for path in (tmp_path / "takes").glob("*.bvh")
    }
    assert all(
        0 < float(row["foot_slide_mann"]) < 0.2 and float(row["seconds"]) == pytest.approx(3)
        for row in rows
    )


@pytest.mark.slow
def test_the_features_example_compares_features(folder, tmp_path):
    printed = run("custom_features", tmp_path, folder / "clips", "--seconds", 3)
    assert "default: 29 dimensions" in printed
    assert "custom: 29 dimensions" in printed
    assert "bone_position LeftHand" in printed


@pytest.mark.slow
def test_the_weights_example_writes_a_plot(folder, tmp_path):
    weights = ["0.5", "1", "4"]
    printed = run(
        "study_of_weights",
        tmp_path,
        "--database",
        folder / "walk.npz",
        "--weights",
        *weights,
        "--seconds",
        4,
    )
    assert printed.count("cm/s foot slide") == len(weights)
    lines = [
        element
        for element in ElementTree.parse(tmp_path / "weights.svg").iter()
        if element.tag.endswith("polyline")
    ]
    assert [len(line.attrib["points"].split()) for line in lines] == [len(weights)] * 2


@pytest.mark.slow
def test_the_fbx_example_builds_a_database(tmp_path):
    printed = run("database_from_fbx", tmp_path, "-o", "walk.npz")
    assert "walk_speeds: " in printed
    assert {r.clip for r in api.open(tmp_path / "walk.npz").ranges} == {
        "idle",
        "walk_speeds",
        "walk_starts_and_stops",
    }


MAKE_HERO = """
import pathlib, sys
from motion_matching import api
folder = pathlib.Path(sys.argv[1])
database = api.open(sys.argv[2])
api.write_blend(api.perform(database, seconds=1), folder / "hero.blend", database)
bpy.ops.wm.open_mainfile(filepath=str(folder / "hero.blend"))
armature = bpy.context.view_layer.objects.active
armature.name = "Hero"
bpy.data.actions.remove(armature.animation_data.action)
for clip in api.load(sys.argv[3]):
    api.write_action(clip, armature).use_fake_user = True
bpy.context.scene.frame_start = 21
bpy.ops.wm.save_as_mainfile(filepath=str(folder / "hero.blend"))
"""


@pytest.mark.slow
def test_a_take_goes_onto_the_active_armature_of_another_file(folder, tmp_path, run_in_blender):
    run_in_blender(MAKE_HERO, tmp_path, folder / "walk.npz", folder / "clips")
    before = (tmp_path / "hero.blend").read_bytes()
    printed = run(
        "onto_active_armature",
        tmp_path,
        "--file",
        "hero.blend",
        "--save",
        "circle.blend",
        "--seconds",
        4,
    )
    assert "'circle' on 'Hero', frames 21 to 140, of 3 actions." in printed
    assert (tmp_path / "hero.blend").read_bytes() == before
    assert (tmp_path / "circle.blend").is_file()


@pytest.mark.slow
def test_a_film_of_a_take_has_all_its_frames(folder, tmp_path):
    database = api.open(folder / "walk.npz")
    take = api.perform(database, "square", seconds=0.5)
    api.write_blend(take, tmp_path / "take.blend", database)
    options = ("--renderer", "CYCLES", "--size", 64, 36)
    printed = run("film_of_take", tmp_path, "take.blend", "take.mp4", *options)
    assert f"take.mp4: {take.frame_count} frames." in printed
    data = (tmp_path / "take.mp4").read_bytes()
    assert b"moov" in data
    assert data[4:8] == b"ftyp"


# All examples


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_examples_print_their_usage(name):
    tree = ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))
    assert f"examples/{name}.py" in ast.get_docstring(tree)


def test_examples_import_only_the_public_api():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*SCRIPTS, "find_api"}
    for path in EXAMPLES.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"engine\.|engine import|import engine", text)
        used = {
            node.attr
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "api"
        }
        assert used <= set(api.__all__), path.name


def read_find_api(name: str) -> str:
    """Return the source of the function `find_api` of an example."""
    tree = ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))
    return ast.unparse(
        next(
            node
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name == "find_api"
        )
    )


@pytest.mark.parametrize("name", sorted(IN_BLENDER))
def test_text_editor_scripts_share_the_same_find_api(name):
    assert read_find_api(name) == read_find_api("find_api")
