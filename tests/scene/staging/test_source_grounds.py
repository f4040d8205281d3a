"""Grounds of sources that are objects of Blender files: in source lists, commands and scripts."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import bpy
import numpy as np
import pytest

from building.locomotion.climbs import find_climb
from motion_matching import api
from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.engine.errors import SettingsError
from motion_matching.scene.staging.ground import read_grounds
from tests.command_line import check_refusals, run, run_with_errors
from tests.demo import generate_clips
from tests.ui.characters import create_character
from tests.ui.climbing import add_ground_of

CLIP = "stairs_up_17"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a walk, a clip on stairs, and a Blender file with these stairs."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    add_ground_of(CLIP)
    hidden = add_ground_of(CLIP)
    hidden.name = "Hidden"
    hidden.hide_set(True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "set.blend"))
    walk = next(clip for clip in generate_clips() if clip.name == "walk_speeds")
    for clip in (walk, find_climb(CLIP).pose(30.0)):
        bvh.save(clip, tmp_path / f"{clip.name}.bvh")
    return tmp_path


def write_list(folder: Path, ground: object) -> Path:
    entries = [{"file": "walk_speeds.bvh"}, {"file": f"{CLIP}.bvh", "ground": ground}]
    (folder / "list.json").write_text(json.dumps(entries))
    return folder / "list.json"


def test_a_command_and_a_script_build_on_an_object_alike(folder: Path) -> None:
    listed = write_list(folder, {"file": "set.blend", "object": f"Ground of {CLIP}"})
    assert run("build", listed, "-o", folder / "given.npz") == 0
    given = databases.load(folder / "given.npz")
    heights = find_climb(CLIP).compute_height(given.track[:, :2])
    climbs = given.climbs
    assert np.abs(given.ground[climbs] - heights[climbs]).mean() < 0.03
    assert np.ptp(given.ground) == pytest.approx(7 * 0.175, abs=1e-3)

    sources = [
        api.Source(file=folder / "walk_speeds.bvh"),
        api.Source(
            file=folder / f"{CLIP}.bvh",
            ground=api.GroundObject(folder / "set.blend", f"Ground of {CLIP}"),
        ),
    ]
    with pytest.warns(UserWarning, match="climbs stairs: 17.5 cm a step"):
        again = api.build(sources)
    np.testing.assert_array_equal(again.ground, given.ground)
    np.testing.assert_array_equal(again.poses, given.poses)


def test_level_ground_is_an_option_and_an_entry(folder: Path) -> None:
    files = folder / "walk_speeds.bvh", folder / f"{CLIP}.bvh"
    assert run("build", *files, "-o", folder / "level.npz", "--level-ground") == 0
    assert databases.load(folder / "level.npz").ground is None
    assert run("build", write_list(folder, "level"), "-o", folder / "listed.npz") == 0
    assert databases.load(folder / "listed.npz").ground is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is told to climb
        level = api.build([api.Source(file=files[1], ground=api.FLAT), api.Source(file=files[0])])
    assert level.ground is None


def test_actions_stand_on_an_object_of_their_file(tmp_path: Path) -> None:
    create_character(clips=("walk_speeds", CLIP))
    add_ground_of(CLIP)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    options = "-o", tmp_path / "hero.npz", "--ground-object", f"Ground of {CLIP}"
    assert run("build", tmp_path / "hero.blend", *options) == 0
    given = databases.load(tmp_path / "hero.npz")
    assert np.ptp(given.ground) == pytest.approx(7 * 0.175, abs=1e-3)


def test_what_is_wrong_with_a_ground_is_named(folder: Path) -> None:
    def read(name: str) -> None:
        ground = api.GroundObject(folder / "set.blend", name)
        read_grounds([api.Source(file=folder / f"{CLIP}.bvh", ground=ground)])

    with pytest.raises(SettingsError, match=r"'stairs_up_17'.*set\.blend.*no object 'Step'"):
        read("Step")
    with pytest.raises(SettingsError, match="object 'Hidden' shows no mesh"):
        read("Hidden")


def test_options_that_contradict_each_other_are_refused(folder: Path) -> None:
    output = folder / "out.npz"
    output.touch()
    build = "build", folder / "walk_speeds.bvh", "-o", output, "--ground-object", "A"
    cases = [((*build, "--level-ground"), "leave one out"), (build, "name file and object")]
    check_refusals(run_with_errors, cases, output)
