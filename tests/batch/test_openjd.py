"""A batch as a job of Open Job Description: what engines read, and what they run."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest

from motion_matching.batch.farms import FarmTask, openjd
from motion_matching.batch.job import load_job
from tests.batch.farm_jobs import TAKES, make_environment, read_takes, run_batch, write_batch
from tests.processes import run_process

model = pytest.importorskip("openjd.model", reason="OpenJD's packages are not installed")
sessions = pytest.importorskip("openjd.sessions", reason="OpenJD's packages are not installed")


def write_bundle(batch: Path, folder: Path, **task: Any) -> Path:
    """Write the bundle of a batch into a folder, and return its template."""
    folder.mkdir(exist_ok=True)
    chosen = FarmTask(**{"program": sys.executable, "chunk": 4, **task})
    for name, text in openjd.make_files(load_job(batch), chosen, folder).items():
        (folder / name).write_text(text)
    return folder / "template.json"


def run_openjd(template: Path, *words: object) -> str:
    """Run OpenJD's command line, and return what it prints."""
    command = (sys.executable, "-m", "openjd", *words[:1], template, *words[1:])
    return run_process(command, template.parent, dict(os.environ), 120, "openjd")


def decode(template: Path, jobs: str) -> tuple[Any, Any]:
    """Return the job of a template as an engine decodes it, and the values of its parameters."""
    read = model.decode_job_template(
        template=json.loads(template.read_text()), supported_extensions=["TASK_CHUNKING"]
    )
    values = model.preprocess_job_parameters(
        job_template=read,
        job_parameter_values={"Jobs": "jobs.json"},
        job_template_dir=template.parent,
        current_working_dir=template.parent,
    )
    values["Jobs"] = model.ParameterValue(type=model.ParameterValueType.PATH, value=jobs)
    return model.create_job(job_template=read, job_parameter_values=values), values


def list_tasks(step: Any) -> list[Any]:
    """Return the parameters of each task of a step."""
    return list(model.StepParameterSpaceIterator(space=step.parameterSpace))


def test_the_model_reads_steps_and_their_dependencies(tmp_path: Path) -> None:
    template = write_bundle(
        write_batch(tmp_path / "batch"), tmp_path / "bundle", workers=2, gigabytes=4
    )
    job, _ = decode(template, "jobs.json")
    needed = {step.name: [d.dependsOn for d in step.dependencies or ()] for step in job.steps}
    assert needed == {"Build": [], "Take": ["Build"], "Collect": ["Build", "Take"]}
    rows = [task["Rows"].value for task in list_tasks(job.steps[1])]
    assert [str(value) for value in rows] == ["2-4", "5-7"]  # four at most, and even
    amounts = {amount.name: amount.min for amount in job.steps[1].hostRequirements.amounts}
    assert amounts == {"amount.worker.vcpu": 2, "amount.worker.memory": 4096}


def test_a_bundle_lists_its_files_for_deadline_cloud(tmp_path: Path) -> None:
    batch = write_batch(tmp_path / "batch")
    bundle = write_bundle(batch, tmp_path / "bundle").parent
    values = json.loads((bundle / "parameter_values.json").read_text())
    assert values == {"parameterValues": [{"name": "Jobs", "value": str(batch)}]}
    assets = json.loads((bundle / "asset_references.json").read_text())["assetReferences"]
    assert assets["inputs"] == {
        "filenames": [str(batch)],
        "directories": [str(batch.parent / "clips")],
    }
    assert assets["outputs"]["directories"] == [str(batch.parent), str(batch.parent / "out")]


def test_a_batch_inside_its_bundle_is_found_without_parameters(tmp_path: Path) -> None:
    template = write_bundle(
        write_batch(tmp_path / "bundle" / "batch"), tmp_path / "bundle", program="echo"
    )
    said = run_openjd(template, "run", "--step", "Build")
    assert f"-m motion_matching batch {tmp_path}/bundle/batch/jobs.json --only 1" in said


def test_paths_of_windows_are_mapped(tmp_path: Path) -> None:
    said = tmp_path / "said.json"
    program = tmp_path / "motion_matching.py"
    program.write_text(f"import json, sys; json.dump(sys.argv, open({str(said)!r}, 'w'))")
    template = write_bundle(write_batch(tmp_path / "batch"), tmp_path / "bundle")
    job, values = decode(template, "C:\\shots\\walks\\jobs.json")
    rule = sessions.PathMappingRule(
        source_path_format=sessions.PathFormat.WINDOWS,
        source_path=PureWindowsPath("C:\\shots"),
        destination_path=tmp_path / "shots",
    )
    session = sessions.Session(
        session_id="here",
        job_parameter_values=values,
        path_mapping_rules=[rule],
        os_env_vars={"PYTHONPATH": str(tmp_path)},
        session_root_directory=tmp_path,
    )
    step = job.steps[1]
    with session:
        session.run_task(step_script=step.script, task_parameter_values=list_tasks(step)[0])
        while session.state is sessions.SessionState.RUNNING:
            time.sleep(0.02)
    jobs = str(tmp_path / "shots" / "walks" / "jobs.json")
    assert json.loads(said.read_text())[1:] == [
        "batch",
        jobs,
        "--only",
        "2-4",
        "--progress",
        "openjd",
    ]


@pytest.mark.slow
def test_openjd_runs_what_the_whole_batch_does(tmp_path: Path) -> None:
    batch = write_batch(tmp_path / "farm")
    shutil.copytree(batch.parent, tmp_path / "whole")
    run_process(run_batch("jobs.json"), tmp_path / "whole", make_environment(), 120, "batch")
    template = write_bundle(batch, tmp_path / "bundle")
    said = run_openjd(
        template, "run", "--step", "Collect", "--run-dependencies", "-p", f"Jobs={batch}"
    )
    assert "Session ended successfully" in said
    farm, whole = read_takes(batch.parent), read_takes(tmp_path / "whole")
    assert farm == whole
    assert len(farm) == TAKES
    collected = json.loads((tmp_path / "bundle" / "report.json").read_text())
    assert len(collected["rows"]) == TAKES + 1
