"""What a command costs before and after its work: loading, and a report.

Each run is a process of its own, and its CPU is what counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from motion_matching.engine.takes import takes

from .bench_search import Row
from .data import Recordings
from .report import CHECKOUT

FRAMES = 10_000
SECONDS = 20  # of a take that is reported
IMPORT_REACH = 150_000.0  # microseconds of CPU, beside numpy's own
REPORT_REACH = 200_000.0  # microseconds of CPU
_RUN = "from motion_matching.cli import main; assert main({!r}) == 0"
_SAY = "; import time; print(time.process_time())"


def run(recordings: Recordings, quick: bool) -> list[Row]:
    """Measure processes in turns, so that a busy machine slows all alike."""
    database = recordings.build_database(recordings.find_recipe(FRAMES))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        takes.save_database(database, folder / "walk.npz")
        take = f"take {folder / 'walk.npz'} --quiet --bvh {folder / 'take.bvh'} --seconds"
        report = f"{folder / 'take.json'}"
        programs = {
            "numpy": "import numpy",
            "imports": "import motion_matching.commands.take",
            "second": _RUN.format([*take.split(), "1"]),
            "take": _RUN.format([*take.split(), f"{SECONDS}"]),
            "report": _RUN.format([*take.split(), f"{SECONDS}", "--report", report]),
        }
        for program in programs.values():  # compiles modules, which counts once for a user
            _measure(program, folder)
        runs = [
            {what: _measure(program, folder) for what, program in programs.items()}
            for _ in range(3 if quick else 15)
        ]
    spent = {what: np.array([each[what] for each in runs]) for what in programs}
    frames = database.frame_count

    def make_row(item: str, times: np.ndarray, reach: float | None = None) -> Row:
        return Row.from_times("", frames, item, (1e6 * times).tolist(), reach)

    return [
        make_row("import numpy", spent["numpy"]),
        make_row("imports of a take, more", spent["imports"] - spent["numpy"], IMPORT_REACH),
        make_row("take of 1 s", spent["second"]),
        make_row(f"take of {SECONDS} s", spent["take"]),
        make_row("its report, more", spent["report"] - spent["take"], REPORT_REACH),
    ]


def _measure(program: str, folder: Path) -> float:
    """Return the seconds of CPU of a process, from compiled modules as users have them."""
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", program + _SAY],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return float(done.stdout.split()[-1])
