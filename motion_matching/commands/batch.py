"""`batch`: do the rows of a file, each of which is a command; or say how they stand."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..batch import farms, flow, state, workers
from ..batch.job import Job, Row, load_job
from ..batch.run import Runner, find_wrong, make_folders
from ..engine.errors import BatchError, SettingsError
from ..engine.files import file_paths, json_files
from .checks import check_number, check_targets
from .output import Output

_MOST_WORKERS = 1024  # more than any machine has processors
_MOST_RETRIES = 100
_LONGEST = 30 * 24 * 3600.0  # seconds
_MOST_NAMED = 5  # rows in a sentence
_FARMS = {
    "template": (farms.openjd, "'openjd run' or 'deadline bundle submit'"),
    "slurm": (farms.slurm, "'sh submit.sh'"),
    "flamenco": (farms.flamenco, "the manager, which gets the script and then the job"),
}


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Do what the arguments ask for with the rows of a batch."""
    check(arguments)
    os.environ.update(workers.limit_threads(os.environ))  # before numpy reads them
    job = load_job(arguments.jobs)
    rows = job.choose(arguments.only) if arguments.only else job.rows
    runner = Runner(arguments.allow_scripts)
    if arguments.worker:
        workers.serve(job, runner, arguments.worker, sys.stdin)
    elif arguments.list:
        _list(rows, runner, arguments.json, out)
    elif arguments.collect:
        if user := job.find_user(arguments.collect):
            text = f"--collect would replace {arguments.collect}, which {user}"
            raise SettingsError(f"{text}; choose another name.")
        _collect(rows, runner, arguments.collect, out)
    else:
        is_dry = arguments.check or any(getattr(arguments, name) for name in _FARMS)
        with make_folders(rows, keep=not is_dry):
            _check(job, rows, runner, out)
            if arguments.check:
                out.say(f"{len(rows)} of {len(rows)} rows are right.")
            if not is_dry:
                _run(job, rows, runner, arguments, out)
        _write_farms(job, arguments, out)


def check(arguments: argparse.Namespace) -> None:
    """Raise SettingsError for arguments that are wrong."""
    to_do = ("check", "list", "collect", "force", *_FARMS)
    asked = [name for name in to_do if getattr(arguments, name)]
    if len(asked) > 1:
        raise SettingsError(f"--{asked[0]} and --{asked[1]} are two things to do; leave one out.")
    if arguments.only and asked and asked[0] in _FARMS:
        raise SettingsError(f"--{asked[0]} writes all rows; leave --only out.")
    check_number("--workers", arguments.workers, 1, _MOST_WORKERS)
    check_number("--retries", arguments.retries, 0, _MOST_RETRIES)
    check_number("--time-limit", arguments.time_limit, 0.1, _LONGEST)
    check_targets(arguments, {"collect": ".json"}, [("the batch", arguments.jobs)])


def _check(job: Job, rows: Sequence[Row], runner: Runner, out: Output) -> None:
    """Raise BatchError if rows are wrong: about the first, with the others printed before."""
    wrong = [f"{row}: {text}" for row, text in find_wrong(rows, job, runner).items()]
    for text in wrong[1:]:
        out.say(f"{text[0].upper()}{text[1:]}")
    if wrong:
        more = f" ({len(wrong) - 1} more rows are wrong)" if wrong[1:] else ""
        raise BatchError(f"{wrong[0].rstrip('.')}{more}.")


def _run(
    job: Job, rows: Sequence[Row], runner: Runner, arguments: argparse.Namespace, out: Output
) -> None:
    """Do rows. BatchError, which names those that failed, if not all are done in the end."""
    manner = flow.Manner(
        workers=arguments.workers or 0,
        retries=arguments.retries,
        time_limit=arguments.time_limit,
        force=arguments.force,
        stop_at_failure=arguments.stop_at_failure,
    )
    if arguments.progress != "auto":
        out.is_live = False
    for_farm = arguments.progress == "openjd"
    reporter = flow.Reporter(out, len(rows), for_farm=for_farm, as_json=arguments.json)
    options = ["--allow-scripts"] if arguments.allow_scripts else []
    failed = flow.run_rows(job, rows, manner, runner, reporter, options)
    count = reporter.count
    if not arguments.json:
        before = f", {count.skipped} of them before" if count.skipped else ""
        out.say(f"{count.done + count.skipped} of {len(rows)} rows are done{before}.")
    if failed:
        raise BatchError(f"{_name(failed)} failed; 'batch {job.path} --list' says why.")


def _name(rows: Iterable[Row]) -> str:
    names = [str(row) for row in rows]
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _write_farms(job: Job, arguments: argparse.Namespace, out: Output) -> None:
    """Write the batch for the farm that is asked for, with the options that all tasks get."""
    task = farms.FarmTask(
        program=arguments.program or workers.find_program()[0],
        chunk=arguments.chunk,
        workers=arguments.workers or 1,
        minutes=arguments.minutes,
        gigabytes=arguments.gigabytes,
        partition=arguments.partition,
        options=tuple(_list_for_tasks(arguments)),
    )
    for name, (farm, reader) in _FARMS.items():
        if folder := getattr(arguments, name):
            farms.write_files(farm.make_files(job, task, folder), folder)
            out.say(f"Written: {folder}, for {reader}.")


def _list_for_tasks(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the options of how to do rows, as a farm's tasks get them."""
    for name in ("retries", "time_limit"):
        if (value := getattr(arguments, name)) is not None:
            yield f"--{name.replace('_', '-')}={value:g}"
    for name in ("stop_at_failure", "allow_scripts"):
        if getattr(arguments, name):
            yield f"--{name.replace('_', '-')}"


# ---------------------------------------------------------------- how rows stand


def _list(rows: Sequence[Row], runner: Runner, as_json: bool, out: Output) -> None:
    """Print how each row stands, and how many stand alike."""
    found = Counter[str]()
    for row in rows:
        standing = state.find_standing(row, runner.digests)
        found[standing.state] += 1
        if as_json:
            out.say(json.dumps(flow.describe_row(row, *standing)))
        else:
            why = f": {standing.reason}" if standing.reason else ""
            out.say(f"Row {row.number} ({row.name}): {standing.state}{why}")
    if not as_json:
        counted = ", ".join(f"{count} {how}" for how, count in found.items())
        out.say(f"Rows: {counted}.")


def _collect(rows: Sequence[Row], runner: Runner, path: Path, out: Output) -> None:
    """Write how rows stand and what they report. BatchError, after that, if some are not done."""
    collected, lacking = [], []
    for row in rows:
        standing = state.find_standing(row, runner.digests)
        if standing.state != state.DONE:
            lacking.append(row)
        collected.append(_collect_row(row, standing))
    file_paths.write_text(path, json.dumps({"rows": collected}, indent=1) + "\n", BatchError)
    out.say(f"Written: {path}.")
    if lacking:
        raise BatchError(f"Not all is done, as {path} says too: {_name(lacking)}.")


def _collect_row(row: Row, standing: state.RowStanding) -> dict[str, Any]:
    """Return how a row stands, what it took, and its reports."""
    stored = state.load_state(row)
    kept = {name: stored[name] for name in ("seconds", "attempts") if name in stored}
    found = flow.describe_row(row, *standing) | kept
    reports = {}
    for path in row.reports:
        with suppress(SettingsError):
            reports[path.name] = json_files.read(path, "report")
    return found | {"reports": reports}
