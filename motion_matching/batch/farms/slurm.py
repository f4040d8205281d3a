"""Scripts for Slurm: a job array for each stage, and one that submits all in order.

Source: https://slurm.schedmd.com/job_array.html and https://slurm.schedmd.com/sbatch.html
"""

from __future__ import annotations

import math
import shlex
from pathlib import Path

from ...engine.errors import SettingsError
from ..job import Job
from .steps import FarmStep, FarmTask, list_steps, split_rows

# Slurm refuses larger arrays unless MaxArraySize, 1001 by default, says otherwise.
_LARGEST_ARRAY = 1000

_SUBMIT = """\
#!/bin/sh
# A batch of Motion Matching: submits all stages, each after those it needs.
# sh submit.sh [OPTIONS OF SBATCH]
set -eu
cd "$(dirname "$0")"
submit() {
    job=$(sbatch --parsable --kill-on-invalid-dep=yes "$@")
    echo "${job%%;*}" # without the name of a cluster
}
"""


def make_files(job: Job, task: FarmTask, folder: Path) -> dict[str, str]:
    """Return the scripts by name: `submit.sh`, one for each stage, and `collect.sh`.

    Raises `SettingsError` for a stage of more tasks than Slurm takes.
    """
    steps = list_steps(job)
    arrays = {f"{step.name}.sh": _make_array(job, step, task) for step in steps}
    collecting = _make_collecting(job, task, folder)
    return {"submit.sh": _make_submitting(steps), **arrays, "collect.sh": collecting}


def _make_array(job: Job, step: FarmStep, task: FarmTask) -> str:
    """Return the script of a stage: task k of the array runs the rows of line k."""
    chunks = split_rows(step.numbers, task.chunk)
    if len(chunks) > _LARGEST_ARRAY:
        least = math.ceil(len(step.numbers) / _LARGEST_ARRAY)
        raise SettingsError(
            f"--chunk {task.chunk} makes {len(chunks)} tasks of '{step.name}', and Slurm takes "
            f"{_LARGEST_ARRAY}; give --chunk {least} or more."
        )
    options = [f"--array=1-{len(chunks)}", *_list_resources(task)]
    command = _join(job, task, "--only")
    lines = [
        *_start_script(f"{job.path.stem}-{step.name}", "%x-%A_%a.log", task, options),
        "rows=$(sed -n \"${SLURM_ARRAY_TASK_ID}p\" <<'ROWS'",
        *chunks,
        "ROWS",
        ")",
        "# a task that is requeued skips the rows that are done",
        f'exec {command} "$rows"',
    ]
    return "\n".join(lines) + "\n"


def _make_collecting(job: Job, task: FarmTask, folder: Path) -> str:
    """Return the script that joins the reports, those of failed rows too."""
    command = _join(job, task, "--collect", str(folder.absolute() / "report.json"))
    lines = [*_start_script(f"{job.path.stem}-collect", "%x-%j.log", task, []), f"exec {command}"]
    return "\n".join(lines) + "\n"


def _make_submitting(steps: list[FarmStep]) -> str:
    """Return the script that submits all; the reports are joined whether rows failed or not."""
    variables = {step.name: step.name.replace("-", "_") for step in steps}
    lines = []
    for step in steps:
        ids = "".join(f":${variables[name]}" for name in step.after)
        after = f"--dependency=afterok{ids} " if ids else ""
        lines.append(f'{variables[step.name]}=$(submit {after}"$@" {step.name}.sh)')
    ids = "".join(f":${name}" for name in variables.values())
    lines.append(f'collect=$(submit --dependency=afterany{ids} "$@" collect.sh)')
    lines.append(f"echo {' '.join(f'${name}' for name in (*variables.values(), 'collect'))}")
    return _SUBMIT + "\n".join(lines) + "\n"


def _start_script(name: str, log: str, task: FarmTask, options: list[str]) -> list[str]:
    """Return the first lines of a script: what Slurm reads, and to stop at errors."""
    # a requeued task goes on in its log
    both = ["--requeue", "--open-mode=append"]
    quoted = [f"--job-name={shlex.quote(name)}", f"--output={shlex.quote(log)}"]
    lines = [
        "#!/bin/sh",
        *(f"#SBATCH {option}" for option in [*quoted, *both, *options]),
        "set -eu",
    ]
    if task.python_path:
        path = shlex.quote(task.python_path)
        lines.append(f"export PYTHONPATH={path}${{PYTHONPATH:+:$PYTHONPATH}}")
    return lines


def _list_resources(task: FarmTask) -> list[str]:
    """Return the options of sbatch for what a task may use."""
    options = [f"--cpus-per-task={task.workers}"]
    if task.minutes:
        options.append(f"--time={math.ceil(task.minutes)}")
    if task.gigabytes:
        options.append(f"--mem={round(1024 * task.gigabytes)}M")
    if task.partition:
        options.append(f"--partition={shlex.quote(task.partition)}")
    return options


def _join(job: Job, task: FarmTask, *words: str) -> str:
    """Return the command with these words after its file of rows, as a shell takes it."""
    command = (task.program, task.switch, "motion_matching", "batch", str(job.path.absolute()))
    return shlex.join((*command, "--progress", "none", *task.words, *words))
