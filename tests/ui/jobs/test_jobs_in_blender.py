"""Jobs that are exported from a panel, run by the command line, and handed to a program."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching import cli
from motion_matching.app.jobs import submitting
from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import SettingsError
from motion_matching.scene.reading.sampling import sample
from motion_matching.ui.database.operators_sources import add_source
from tests.scene.rigify import create_rigify_rig
from tests.ui.characters import create_character, expect_refusal, read_state
from tests.ui.director.marked import add_mark
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching


@pytest.fixture(autouse=True)
def obj(tmp_path):
    obj = create_character()
    ops.add_actions()
    obj.motion_matching.job.folder = str(tmp_path / "job")
    return obj


def read_job(obj):
    folder = Path(obj.motion_matching.job.folder)
    return folder, json.loads((folder / "jobs.json").read_text())


def run_batch(folder, *options):
    return cli.main(["batch", str(folder / "jobs.json"), *options])


@pytest.mark.slow
def test_an_exported_script_is_the_take_that_is_baked(obj):
    settings = obj.motion_matching
    settings.job.use_blend, settings.job.use_bvh = False, True
    settings.job.count = 2
    settings.script.script, settings.script.seconds, settings.script.seed = "random", 2.0, 7
    settings.controller.blend_time = 0.21
    assert ops.build() == {"FINISHED"}
    before = read_state()
    assert draw_panels() > 5
    assert ops.export_job() == {"FINISHED"}
    assert read_state() == before
    folder, job = read_job(obj)
    assert [row["command"] for row in job["rows"]] == ["take", "take"]
    assert run_batch(folder, "--check") == 0
    assert run_batch(folder, "--only", "1") == 0
    written = bvh.load(folder / job["rows"][0]["bvh"])
    assert not (folder / job["rows"][1]["bvh"]).exists()
    ops.bake_script(script="random", seconds=2.0, seed=7)
    [baked] = sample(obj, [settings.takes[-1].action])
    # BVH files hold six decimals, and curves single precision
    apart = written.compute_world()[1] - baked.clip.compute_world()[1]
    assert np.abs(apart).max() < 1e-4


def test_takes_and_scenes_are_rows_that_hold(obj):
    settings = obj.motion_matching
    for name in ("Walk/A", "walk A"):  # one and the same name on some disks
        ops.bake_script(script="figure_eight", seconds=2.0)
        settings.takes[-1].action.name = name
    settings.job.kind = "TAKES"
    assert ops.export_job() == {"FINISHED"}
    folder, job = read_job(obj)
    written = [row["output"] for row in job["rows"]]
    assert written == ["takes/Walk_A.blend", "takes/walk_A_2.blend"]
    assert all((folder / row["script"]).is_file() for row in job["rows"])
    assert run_batch(folder, "--check") == 0
    add_mark(60, (0.1, -1.6, 0.1))
    settings.job.kind, settings.job.count = "SCENE", 3
    assert ops.export_job() == {"FINISHED"}  # over the job that was there
    folder, job = read_job(obj)
    assert [row["seed"] for row in job["rows"]] == [0, 1, 2]
    names = {path.name for path in folder.iterdir()}
    assert {"jobs.json", "scene.json", "database.npz", "character.blend", "template.json"} <= names
    assert not [name for name in names if "unfinished" in name]
    assert run_batch(folder, "--check") == 0


def test_what_cannot_be_exported_is_said_and_nothing_is_written(obj, tmp_path):
    settings = obj.motion_matching
    job = settings.job
    job.kind = "TAKES"
    expect_refusal(ops.export_job, "no take to export")
    job.kind, job.use_blend = "SCRIPT", False
    expect_refusal(ops.export_job, "switch on a format")
    job.use_blend = True
    job.folder = ""
    expect_refusal(ops.export_job, "never saved")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter.txt").write_text("mine")
    job.folder = str(mine)
    expect_refusal(ops.export_job, "holds other files")
    assert [path.name for path in mine.iterdir()] == ["letter.txt"]
    job.folder = str(mine / "letter.txt" / "job")
    expect_refusal(ops.export_job, "cannot be used", "choose another")


def test_a_job_is_submitted_by_a_program_without_a_shell(obj, addon):
    settings = obj.motion_matching
    job = Path(settings.job.folder)
    assert not ops.submit_job.poll()  # before a program is named
    addon.preferences.submit_command = "no_such_program {job}"
    expect_refusal(ops.submit_job, "export it first")
    job.mkdir()
    (job / "jobs.json").write_text("{}")
    expect_refusal(ops.submit_job, "'no_such_program' cannot be run")
    told = "import sys; print('got', sys.argv[1:]); sys.exit(int(sys.argv[1]))"
    program = f'"{sys.executable}" -c "{told}"'
    addon.preferences.submit_command = f"{program} 0 {{job}}/bundle $HOME;ls"
    assert ops.submit_job() == {"FINISHED"}
    addon.preferences.submit_command = f"{program} 3 {{job}}"
    expect_refusal(ops.submit_job, "ended with code 3", "got ['3'")


def test_the_command_of_a_submission_is_a_list_of_arguments(tmp_path):
    folder = tmp_path / "a job"
    words = submitting.read_arguments('run --name "two words" {job}/bundle;ls', folder)
    assert words == ["run", "--name", "two words", f"{folder}/bundle;ls"]
    with pytest.raises(SettingsError, match="has to name the job"):
        submitting.read_arguments("run it", folder)
    with pytest.raises(SettingsError, match="close its quotes"):
        submitting.read_arguments('run "{job}', folder)


@pytest.mark.slow
def test_a_control_rig_has_no_blender_files_in_a_job(obj):
    rig = create_rigify_rig("basic_human")
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    rig.motion_matching.job.folder = obj.motion_matching.job.folder
    add_source(rig, "walk.bvh", kind="FILE", filepath="walk.bvh")
    said = expect_refusal(ops.export_job, "has a control rig", "switch off 'Blender Files'")
    assert rig.name in said
    assert not Path(obj.motion_matching.job.folder).exists()
