"""Measure takes in processes of their own, and say how far it is."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from motion_matching.commands.output import Output
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.database import Database
from motion_matching.engine.field.field_controller import FieldController

from . import quality
from .quality import Job, Measures
from .sets import find_set

OwnJob = TypeVar("OwnJob", bound="SetJob")
Measured = TypeVar("Measured")
_TOLD = 4  # pops of a take whose seconds are printed


class Results:
    """Prints each result as it comes, with their number and the time, and a bar of the rest."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._count = 0
        self._started = time.perf_counter()
        self._out = Output(quiet=False)

    def say(self, text: str) -> None:
        """Print a result in a line."""
        self._count += 1
        spent = f"{self._count}/{self._total} {time.perf_counter() - self._started:5.0f} s"
        self._out.say(f"{spent}  {text}")
        self._out.show_progress("Measuring", self._count / self._total)
        if self._count == self._total:
            self._out.flush()


class SetJob(Protocol):
    """What is to be measured of a set."""

    @property
    def set(self) -> str: ...


def measure(
    jobs: Sequence[OwnJob],
    work: Callable[[OwnJob, Path, float], tuple[OwnJob, Measured]],
    summarize: Callable[[OwnJob, Measured], str],
    folder: Path,
    seconds: float,
    workers: int,
    fields: bool = False,
) -> dict[OwnJob, Measured]:
    """Do the `work` of all jobs with databases built in `folder`, and print each as it is done."""
    names = list(dict.fromkeys(job.set for job in jobs))
    results: dict[OwnJob, Measured] = {}
    told = Results(len(jobs))
    # spawned as on all systems: none inherits threads
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, end_when_interrupted)
    try:
        prepared = {pool.submit(_prepare, folder, fields, name): name for name in names}
        pending: set[Future[Any]] = set(prepared)
        while pending:
            ended, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in ended:
                if future in prepared:
                    print(future.result(), flush=True)
                    own = [job for job in jobs if job.set == prepared[future]]
                    pending |= {pool.submit(work, job, folder, seconds) for job in own}
                    continue
                job, measures = future.result()
                results[job] = measures
                told.say(summarize(job, measures))
    finally:
        pool.shutdown(cancel_futures=True)
    return results


def add_output_arguments(parser: argparse.ArgumentParser, page: Path, needed: str) -> None:
    """Add how many processes measure, and which page is written; by default all that is `needed`."""
    workers = os.cpu_count() or 1
    parser.add_argument(
        "--workers", type=int, default=workers, help="processes at a time (%(default)s)"
    )
    name = f"{page.parent.name}/{page.name}"
    parser.add_argument(
        "--output", type=Path, help=f"the page to write; {name} by default, if {needed} measured"
    )


def add_part_arguments(parser: argparse.ArgumentParser, sets: Sequence[str]) -> None:
    """Add what a study takes that writes a part of a page: which of its `sets`, and which takes."""
    parser.add_argument("--sets", nargs="+", choices=sets, help="which; all that are here")
    parser.add_argument("--minutes", type=float, default=1.0, help="of each take (%(default)g)")
    parser.add_argument("--seed", type=int, default=0, help="of the scripts (%(default)s)")
    parser.set_defaults(workers=1)


def end_when_interrupted() -> None:
    """End this process without a word when the command is interrupted."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def open_set(name: str) -> Iterator[tuple[Database, FieldController]]:
    """Build a set and train its field; both last as long as the context."""
    with tempfile.TemporaryDirectory() as folder:
        _prepare(Path(folder), True, name)
        database = databases.load(Path(folder) / f"{name}.npz")
        yield database, FieldController.load(Path(folder) / f"{name}_field.npz", database)


def _prepare(folder: Path, fields: bool, name: str) -> str:
    """Build the database of a set, and train its field; say so."""
    started = time.perf_counter()
    motion_set, source = find_set(name)
    path = folder / f"{name}.npz"
    databases.save(motion_set.build(source), path)
    database = databases.load(path)
    if fields:
        quality.train_field(database, folder / f"{name}_field.npz")
    spent = time.perf_counter() - started
    trained = " and field" if fields else ""
    return f"{name}: database{trained} of {database.frame_count} frames in {spent:.0f} s"


def summarize_quality(job: Job, measures: Measures) -> str:
    """Return a line about a take, with the seconds of its pops."""
    parts = []
    for kind in ("live", "baked"):
        taken = measures[kind]
        times = ", ".join(f"{second:g} s" for second in taken["pop_seconds"][:_TOLD])
        parts.append(
            f"{kind} {taken['pops']} pops{f' ({times})' if times else ''}, skate "
            f"{100 * taken['foot_skate_from_height']:.1f}, crossed {taken['legs_crossed']:.1%}"
        )
    which = f"{' '.join(job.row)} {job.seed}"
    return f"{which:36} {'; '.join(parts)} ({measures['spent']:.0f} s)"
