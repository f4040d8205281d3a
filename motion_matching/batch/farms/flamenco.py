"""A job of Flamenco, Blender's render farm: its type as JavaScript, and the job to submit.

Source: https://flamenco.blender.org/usage/job-types/
"""

from __future__ import annotations

import json
import platform
from pathlib import Path

from ..job import Job
from .steps import FarmTask, format_numbers, list_steps

JOB_TYPE = "motion-matching-batch"  # as Flamenco calls the script of this name

_SCRIPT = Path(__file__).with_name("motion_matching_batch.js")


def make_files(job: Job, task: FarmTask, folder: Path) -> dict[str, str]:
    """Return the files by name: `scripts/` for the manager's folder, and the job to submit."""
    stages = [
        {"name": step.name, "rows": format_numbers(step.numbers), "after": step.after}
        for step in list_steps(job)
    ]
    settings = {
        "jobs": str(job.path.absolute()),
        "report": str(folder.absolute() / "report.json"),
        "stages": json.dumps(stages),
        "chunk_size": task.chunk,
        "program": task.program,
        "program_switch": task.switch,
        "options": json.dumps(task.words),
    }
    submitted = {
        "name": job.path.stem,
        "type": JOB_TYPE,
        "priority": 50,
        "submitter_platform": platform.system().lower(),  # whose paths the manager translates
        "settings": settings,
        "metadata": {},
    }
    return {
        "scripts/motion_matching_batch.js": _SCRIPT.read_text(encoding="utf-8"),
        "job.json": json.dumps(submitted, indent=2) + "\n",
    }
