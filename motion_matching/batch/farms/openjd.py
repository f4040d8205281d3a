"""A job bundle of Open Job Description (OpenJD), for Deadline Cloud and all that run its templates.

Source: https://github.com/OpenJobDescription/openjd-specifications (2023-09, and RFC 0001 for
TASK_CHUNKING); the bundle's further files are Deadline Cloud's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..job import Job
from .steps import (
    FarmStep,
    FarmTask,
    format_numbers,
    list_inputs,
    list_output_folders,
    list_steps,
)

# Enough for a row to remove what it has half written: engines wait as long before they kill a task.
_NOTICE = {"mode": "NOTIFY_THEN_TERMINATE", "notifyPeriodInSeconds": 30}


def make_files(job: Job, task: FarmTask, folder: Path) -> dict[str, str]:
    """Return the bundle's files by name, for this folder: template, parameters and assets."""
    inputs = list_inputs(job)
    assets = {
        "inputs": {
            "filenames": [
                str(job.path.absolute()),
                *(str(path) for path in inputs if not path.is_dir()),
            ],
            "directories": [str(path) for path in inputs if path.is_dir()],
        },
        "outputs": {"directories": [str(path) for path in list_output_folders(job)]},
        "referencedPaths": [],
    }
    files = {
        "template.json": make_template(job, task, folder),
        "parameter_values.json": {
            "parameterValues": [{"name": "Jobs", "value": str(job.path.absolute())}],
        },
        "asset_references.json": {"assetReferences": assets},
    }
    return {name: json.dumps(data, indent=2) + "\n" for name, data in files.items()}


def make_template(job: Job, task: FarmTask, folder: Path) -> dict[str, Any]:
    """Return the template: a step for each stage of the job, and one that joins the reports."""
    steps = list_steps(job)
    template = {
        "specificationVersion": "jobtemplate-2023-09",
        "extensions": ["TASK_CHUNKING"],
        "name": job.path.stem,
        "description": f"A batch of Motion Matching: {len(job.rows)} rows",
        "parameterDefinitions": _list_parameters(job, task, folder),
        "steps": [*(_make_step(step, task) for step in steps), _make_collecting(steps)],
    }
    if task.python_path:
        variables = {"PYTHONPATH": "{{Param.PythonPath}}"}
        template["jobEnvironments"] = [{"name": "Package", "variables": variables}]
    return template


def _list_parameters(job: Job, task: FarmTask, folder: Path) -> list[dict[str, Any]]:
    """Return what can be chosen when the job is submitted.

    A path's default has to be inside the bundle: without one there the job's path is asked for.
    """
    jobs = {
        "name": "Jobs",
        "type": "PATH",
        "objectType": "FILE",
        "dataFlow": "IN",
        "userInterface": {"control": "CHOOSE_INPUT_FILE", "label": "Jobs"},
        "description": "The file of rows; paths in it are relative to its folder",
    }
    path, folder = job.path.absolute(), folder.absolute()
    if path.is_relative_to(folder):
        jobs["default"] = path.relative_to(folder).as_posix()
    python_path = {
        "name": "PythonPath",
        "type": "STRING",
        "default": task.python_path,
        "userInterface": {"control": "LINE_EDIT", "label": "Python Path"},
        "description": "Folder in which Python finds the package",
    }
    return [
        jobs,
        {
            "name": "Report",
            "type": "PATH",
            "objectType": "FILE",
            "dataFlow": "OUT",
            "default": "report.json",
            "userInterface": {"control": "CHOOSE_OUTPUT_FILE", "label": "Report"},
            "description": "The file that joins the reports of all rows",
        },
        {
            "name": "RowsPerTask",
            "type": "INT",
            "default": task.chunk,
            "minValue": 1,
            "userInterface": {"control": "SPIN_BOX", "label": "Rows per Task"},
            "description": "Rows that share a process, which opens each database once",
        },
        {
            "name": "Program",
            "type": "STRING",
            "default": task.program,
            "userInterface": {"control": "LINE_EDIT", "label": "Program"},
            "description": "Python with the package, or a Blender with the extension",
        },
        {
            "name": "ProgramSwitch",
            "type": "STRING",
            "default": task.switch,
            "allowedValues": ["-m", "--command"],
            "userInterface": {"control": "DROPDOWN_LIST", "label": "Program Switch"},
            "description": "How the program runs it: -m for Python, --command for Blender",
        },
        *([python_path] if task.python_path else []),
    ]


def _make_step(step: FarmStep, task: FarmTask) -> dict[str, Any]:
    """Return the step of a stage, whose tasks are its rows in chunks."""
    rows = {
        "name": "Rows",
        "type": "CHUNK[INT]",
        "range": format_numbers(step.numbers),
        "chunks": {
            "defaultTaskCount": "{{Param.RowsPerTask}}",
            "rangeConstraint": "NONCONTIGUOUS",
        },
    }
    action = _make_action("--only", "{{Task.Param.Rows}}", "--progress", "openjd", *task.words)
    if task.minutes:
        action["timeout"] = round(60 * task.minutes)
    made: dict[str, Any] = {"name": step.name.capitalize()}
    if step.after:
        made["dependencies"] = [{"dependsOn": name.capitalize()} for name in step.after]
    made["parameterSpace"] = {"taskParameterDefinitions": [rows]}
    if amounts := _list_amounts(task):
        made["hostRequirements"] = {"amounts": amounts}
    made["script"] = {"actions": {"onRun": action}}
    return made


def _make_collecting(steps: list[FarmStep]) -> dict[str, Any]:
    """Return the step that joins the reports once all rows are done."""
    return {
        "name": "Collect",
        "dependencies": [{"dependsOn": step.name.capitalize()} for step in steps],
        "script": {"actions": {"onRun": _make_action("--collect", "{{Param.Report}}")}},
    }


def _make_action(*words: str) -> dict[str, Any]:
    """Return an action that runs the command with these words after its file of rows."""
    before = ("{{Param.ProgramSwitch}}", "motion_matching", "batch", "{{Param.Jobs}}")
    return {"command": "{{Param.Program}}", "args": [*before, *words], "cancelation": _NOTICE}


def _list_amounts(task: FarmTask) -> list[dict[str, Any]]:
    """Return what a worker has to have: CPUs, and MiB of memory."""
    amounts: list[dict[str, Any]] = []
    if task.workers > 1:
        amounts.append({"name": "amount.worker.vcpu", "min": task.workers})
    if task.gigabytes:
        amounts.append({"name": "amount.worker.memory", "min": round(1024 * task.gigabytes)})
    return amounts
