"""What all farms share: the stages of a job by name, and how a task runs some of its rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...engine.errors import SettingsError
from ..job import Job

_FOLDER = Path(__file__).resolve().parents[3]  # that has the package


@dataclass(frozen=True)
class FarmTask:
    """How a farm runs rows: what starts them, how many there are in a task, and what it may use.

    A task has as many processors as workers. Without minutes or gigabytes the farm's own limits
    hold. SettingsError for numbers out of their range.
    """

    program: str
    chunk: int = 10
    workers: int = 1
    minutes: float | None = None
    gigabytes: float | None = None
    partition: str | None = None
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.chunk < 1:
            raise SettingsError(f"--chunk is {self.chunk}; give a number of one or more.")
        for name in ("minutes", "gigabytes"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise SettingsError(f"--{name} is {value:g}; give a number above zero.")

    @property
    def switch(self) -> str:
        """The option by which the program runs a module (Python) or a command (Blender)."""
        name = self.program.replace("\\", "/").rsplit("/", 1)[-1].lower()
        return "--command" if "blender" in name else "-m"

    @property
    def python_path(self) -> str:
        """The folder in which Python finds this package; none for a Blender, which has it."""
        return str(_FOLDER) if self.switch == "-m" else ""

    @property
    def words(self) -> list[str]:
        """What all tasks add to the command: their workers, and the options given."""
        workers = [f"--workers={self.workers}"] if self.workers > 1 else []
        return [*workers, *self.options]


@dataclass(frozen=True)
class FarmStep:
    """The rows of a stage of a job by their numbers, its name, and the steps it comes after."""

    name: str
    numbers: tuple[int, ...]
    after: tuple[str, ...]


def list_steps(job: Job) -> list[FarmStep]:
    """Return a step for each stage of a job, each after those whose rows its own need.

    A step is named after its command; a second one of the same command gets a number.
    """
    steps: list[FarmStep] = []
    counts: Counter[str] = Counter()
    for command, rows, needs in job.stages:
        counts[command] += 1
        name = command if counts[command] == 1 else f"{command}-{counts[command]}"
        after = tuple(steps[index].name for index in needs)
        steps.append(FarmStep(name, tuple(row.number for row in rows), after))
    return steps


def split_rows(numbers: Sequence[int], size: int) -> list[str]:
    """Return the numbers in chunks of at most this size, as `--only` takes them."""
    return [format_numbers(numbers[k : k + size]) for k in range(0, len(numbers), size)]


def format_numbers(numbers: Sequence[int]) -> str:
    """Return rising numbers as ranges, such as '1-3,7'."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ",".join("-".join(map(str, ends)) for ends in ranges)


def list_inputs(job: Job) -> list[Path]:
    """Return the files and folders that rows read and no row writes, sorted."""
    written = {path.absolute() for row in job.rows for path in row.writes}
    return sorted({path.absolute() for row in job.rows for path in row.reads} - written)


def list_output_folders(job: Job) -> list[Path]:
    """Return the folders that rows write into, sorted."""
    return sorted({path.absolute().parent for row in job.rows for path in row.writes})
