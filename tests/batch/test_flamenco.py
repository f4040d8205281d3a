"""A batch as a job of Flamenco: its script is run as Flamenco's manager does, which is not here."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from motion_matching.batch.farms import FarmTask, flamenco
from motion_matching.batch.job import load_job
from tests.batch.farm_jobs import write_batch

# What the manager gives to a script: see its job_compilers/author.go and js_globals.go. As there, a
# job keeps a task as it is when it is added.
MANAGER = """
const fs = require("fs"), vm = require("vm");
const author = {
    Task: (name, type) => ({
        name, type, commands: [], dependencies: [],
        addCommand(command) { this.commands.push(command); },
        addDependency(task) { this.dependencies.push(task.name); },
    }),
    Command: (name, parameters) => ({ name, parameters }),
};
function frameChunker(range, size) {
    const frames = range.split(",").flatMap((part) => {
        const [first, last = first] = part.split("-").map(Number);
        return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
    const chunks = [];
    for (let index = 0; index < frames.length; index += size) {
        chunks.push(frames.slice(index, index + size).join(","));
    }
    return chunks;
}
const [script, submitted] = process.argv.slice(1);
const job = JSON.parse(fs.readFileSync(submitted));
job.tasks = [];
job.addTask = (task) => job.tasks.push(JSON.parse(JSON.stringify(task)));
const context = vm.createContext({ author, frameChunker, print() {} });
vm.runInContext(fs.readFileSync(script, "utf8") + ";this.JOB_TYPE = JOB_TYPE; this.compileJob = compileJob;", context);
context.compileJob(job);
console.log(JSON.stringify({ type: context.JOB_TYPE, tasks: job.tasks }));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_flamenco_makes_tasks_of_all_rows(tmp_path: Path) -> None:
    compiled = compile_job(tmp_path, FarmTask("{blender}", chunk=4, options=("--retries", "2")))
    tasks = {task["name"]: task for task in compiled["tasks"]}
    needed = {name: task["dependencies"] for name, task in tasks.items()}
    assert needed == {
        "build-1": [],
        "take-2,3,4,5": ["build-1"],
        "take-6,7": ["build-1"],
        "collect": ["build-1", "take-2,3,4,5", "take-6,7"],
    }
    (command,) = tasks["take-6,7"]["commands"]
    words = ["--command", "motion_matching", "batch", str(tmp_path / "batch" / "jobs.json")]
    options = ["--progress", "none", "--retries", "2", "--only", "6,7"]
    assert command == {"name": "exec", "parameters": {"exe": "{blender}", "args": words + options}}
    assert {task["type"] for task in compiled["tasks"]} == {"misc"}


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_a_submitted_job_has_the_settings_of_its_type(tmp_path: Path) -> None:
    compiled = compile_job(tmp_path, FarmTask("python3"))
    submitted = json.loads((tmp_path / "farm" / "job.json").read_text())
    settings = {setting["key"]: setting for setting in compiled["type"]["settings"]}
    assert set(submitted["settings"]) == set(settings)
    kinds = {"string": str, "int32": int}
    for name, value in submitted["settings"].items():
        assert isinstance(value, kinds[settings[name]["type"]]), name
    assert submitted["type"] == "motion-matching-batch"


def compile_job(folder: Path, task: FarmTask) -> dict[str, Any]:
    """Write a batch for Flamenco, and return the type and the tasks that its script makes of it."""
    job = load_job(write_batch(folder / "batch"))
    for name, text in flamenco.make_files(job, task, folder / "farm").items():
        (folder / "farm" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "farm" / name).write_text(text)
    script = folder / "farm" / "scripts" / "motion_matching_batch.js"
    words = ["node", "-e", MANAGER, script, folder / "farm" / "job.json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
