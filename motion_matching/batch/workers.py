"""Do rows of a batch in other processes, each of which gets one row after another.

A worker reads numbers of rows from its input, and adds an answer for each to a file, which this
process looks at: that works on all systems without threads. A worker that is killed loses one row.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, TextIO

from ..engine.files.own_files import make_temporary_folder
from ..engine.progress import ReportProgress
from . import state
from .job import Job, Row
from .run import RowOutcome, Runner, clear_leftovers, store
from .state import Digests

_WAIT = 0.02  # seconds between looks at the answers: rows take longer, and looking costs nothing
_LONGEST_START = 300.0  # seconds in which a process has to begin its row, on the slowest disk
_PATIENCE = 5.0  # seconds in which a worker that is to end may remove what it has half written
_THREADS = ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM", "NUMEXPR")
_PACKAGE = Path(__file__).resolve().parents[1]


def limit_threads(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which each process computes with one thread, unless it says more."""
    limits = {name if "MAXIMUM" in name else f"{name}_NUM": "1" for name in _THREADS}
    return {f"{name}_THREADS": value for name, value in limits.items()} | dict(environment)


def find_program() -> list[str]:
    """Return the words that begin a command line: Blender's inside of it, else Python's."""
    bpy: Any = sys.modules.get("bpy")
    if bpy is not None and bpy.app.binary_path and not getattr(bpy.app, "module", False):
        return [bpy.app.binary_path, "--background", "--command", "motion_matching"]
    return [sys.executable, "-m", _PACKAGE.name]


# ---------------------------------------------------------------- the process of a worker


def serve(job: Job, runner: Runner, answers: Path, numbers: TextIO) -> None:
    """Do the rows whose numbers and attempts come in, one a line, and add an answer for each."""
    watch = _watch_parent()
    for line in numbers:
        number, attempt = map(int, line.split())
        _answer(answers, None)
        _answer(answers, runner.run(job.rows[number - 1], attempt, watch))


def _answer(answers: Path, ended: RowOutcome | None) -> None:
    """Add an answer: how a row has ended, or that it begins, from when its time counts."""
    with open(answers, "a", encoding="utf-8") as stream:
        stream.write(json.dumps(ended._asdict() if ended else {}) + "\n")


def _watch_parent() -> ReportProgress:
    """Return progress that ends this process once the one that started it is gone."""
    parent = os.getppid()

    def watch(stage: str, part: float) -> None:
        if os.getppid() != parent:  # it was killed; Windows keeps its number
            sys.exit(1)

    return watch


# ---------------------------------------------------------------- the process that gives out rows


class Worker:
    """A process that does rows: the one it has, and the answers it has given."""

    def __init__(self, job: Job, folder: Path, number: int, options: Sequence[str]) -> None:
        self.row: Row | None = None
        self.attempt = 0
        self._given = 0.0
        self._begun: float | None = None
        self._seen = 0  # bytes of the answers
        self._key: dict[str, object] = {}
        own = folder / f"worker-{number}"  # with all its temporary files
        own.mkdir()
        self._answers = own / "answers.jsonl"
        self._printed = own / "printed.txt"
        path = os.pathsep.join(filter(None, (str(_PACKAGE.parent), os.environ.get("PYTHONPATH"))))
        environment = limit_threads(os.environ) | {"PYTHONPATH": path}
        environment |= dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(own))
        words = [*find_program(), "batch", str(job.path), *options, f"--worker={self._answers}"]
        with open(self._printed, "wb") as printed:
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=printed,
                stderr=printed,
                env=environment,
                encoding="utf-8",
                # Ctrl-C is for the process that gives out rows; that ends its workers
                start_new_session=os.name != "nt",
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )

    def begin(self, row: Row, attempt: int, key: dict[str, object]) -> None:
        """Give the worker a row."""
        self.row, self.attempt, self._key = row, attempt, key
        self._given, self._begun = time.monotonic(), None
        assert self.process.stdin is not None
        with suppress(OSError):  # it is dead, which `poll` will find
            self.process.stdin.write(f"{row.number} {attempt}\n")
            self.process.stdin.flush()

    def poll(self, limit: float | None) -> RowOutcome | None:
        """Return how the row ended, if it has: by its answer, by its death, or by the time."""
        is_dead = self.process.poll() is not None  # before its last answer is read
        if answer := self._read_answers():
            return answer
        seconds = time.monotonic() - (self._begun or self._given)
        if is_dead:
            text = f"its process ended with code {self.process.returncode}"
            return self._fail(text, seconds, may_retry=True)
        most = limit if self._begun else _LONGEST_START
        if most is not None and seconds > most:
            self.process.kill()
            self.process.wait()
            return self._fail(f"it took over {most:g} s, and was stopped", seconds)
        return None

    def _read_answers(self) -> RowOutcome | None:
        """Return how the row ended, if the worker has said it; note when it began."""
        if not self._answers.exists() or self._answers.stat().st_size == self._seen:
            return None
        with open(self._answers, "rb") as stream:
            stream.seek(self._seen)
            lines = stream.read()
        if not lines.endswith(b"\n"):
            return None
        self._seen += len(lines)
        self._begun = self._begun or time.monotonic()
        last = json.loads(lines.splitlines()[-1])
        return RowOutcome(**last) if last else None

    def _fail(self, text: str, seconds: float, *, may_retry: bool = False) -> RowOutcome:
        """Clear up after a row that nobody does any more, and store that it has failed."""
        assert self.row is not None
        clear_leftovers(self.row)
        with suppress(OSError), open(self.row.log_file, "a", encoding="utf-8") as log:
            log.write(self._printed.read_text(encoding="utf-8", errors="replace"))
            print(f"Failed: {text}", file=log)
        error = f"{text}; see {self.row.log_file}"
        ended = RowOutcome(state.FAILED, error, round(seconds, 3), may_retry)
        return store(self.row, ended, self._key, self.attempt)

    def ask_to_end(self) -> None:
        """Ask the process to end: at once if it has a row."""
        if self.row is not None:
            self.process.terminate()
        elif self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()

    def end(self) -> None:
        """Wait for the process to end, and remove what it leaves half-written."""
        try:
            self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.row is not None:
            clear_leftovers(self.row)


class Pool:
    """Workers, each of which gets a row when it has none."""

    def __init__(
        self,
        job: Job,
        digests: Digests,
        count: int,
        limit: float | None,
        options: Sequence[str],
    ) -> None:
        self._job = job
        self._digests = digests
        self._count = count
        self._limit = limit  # seconds that a row may take
        self._options = options
        self._workers: list[Worker] = []
        self._started = 0
        self._stack = ExitStack()
        self.lost = list[Row]()  # rows whose process ended in the middle of them

    def __enter__(self) -> Pool:
        self._folder = self._stack.enter_context(make_temporary_folder())
        self._stack.callback(self._end)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _end(self) -> None:
        for worker in self._workers:
            worker.ask_to_end()
        for worker in self._workers:
            worker.end()

    @property
    def is_busy(self) -> bool:
        """Whether some worker has a row."""
        return any(worker.row for worker in self._workers)

    @property
    def is_full(self) -> bool:
        """Whether all workers have a row."""
        return sum(worker.row is not None for worker in self._workers) >= self._count

    def begin(self, row: Row, attempt: int) -> None:
        """Give a row to a worker without one, or to a new one."""
        worker = next((worker for worker in self._workers if not worker.row), None)
        if worker is None:
            self._started += 1
            worker = Worker(self._job, self._folder, self._started, self._options)
            self._workers.append(worker)
        worker.begin(row, attempt, self._digests.make_key(row))

    def wait(self) -> tuple[Row, int, RowOutcome]:
        """Return the next row that has ended, at which attempt, and how."""
        while True:
            for worker in self._workers:
                if worker.row and (ended := worker.poll(self._limit)):
                    row, worker.row = worker.row, None
                    if worker.process.poll() is not None:
                        self._workers.remove(worker)
                        self.lost.append(row)
                    return row, worker.attempt, ended
            time.sleep(_WAIT)
