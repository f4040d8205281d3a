"""Do rows of a batch in this process: each leaves its outputs, its state, and what it printed."""

from __future__ import annotations

import argparse
import os
import shlex
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, NoReturn, TextIO

from .. import commands
from ..commands.arguments import PROGRAM, build_parser
from ..commands.output import Output
from ..commands.running import explain, load_command, run_command
from ..engine import direct
from ..engine.errors import BatchError, MotionMatchingError
from ..engine.files import file_paths
from ..engine.progress import ReportProgress
from . import state
from .job import Job, Row
from .state import Digests


class RowOutcome(NamedTuple):
    """How a row ended: done or failed, why it failed, in seconds, and whether to try it again."""

    state: str
    error: str = ""
    seconds: float = 0.0
    may_retry: bool = False


class Parser(argparse.ArgumentParser):
    """Reads the words of a row; what is wrong with them is an error in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise BatchError."""
        raise BatchError(message)


class RowOutput(Output):
    """Prints what the command of a row says to its log, and passes on its progress."""

    def __init__(
        self, log: TextIO, kept: commands.loading.KeptDatabases, progress: ReportProgress | None
    ) -> None:
        super().__init__(quiet=False, kept=kept)
        self.is_live = False  # what needs a terminal does not
        self._log = log
        self._progress = progress

    def say(self, text: str) -> None:
        """Print lines to the log."""
        print(text, file=self._log, flush=True)

    def show_progress(self, stage: str, part: float | None = None) -> None:
        """Pass on the stage, and the share of it done."""
        if self._progress:
            self._progress(stage, part or 0.0)


class Runner:
    """Does rows one after another; databases that it opened stay open for the next."""

    def __init__(self, allow_scripts: bool = False) -> None:
        self.digests = Digests()
        self._allow_scripts = allow_scripts
        self._parser = build_parser(Parser)
        self._kept = commands.loading.KeptDatabases()  # now numpy is loaded, and not before

    def check(self, row: Row) -> str:
        """Return what is wrong with a row before it runs; empty for nothing."""
        try:
            arguments = self._parser.parse_args(row.words)
            there = [path for path in row.writes if os.path.lexists(path)]
            if "variations" in row.arguments and there:
                # those of the last time go when the row is done again
                own = set(_list_numbered(row, self.digests))
                arguments.variations = None if own.issuperset(there) else arguments.variations
            load_command(row.command).check(arguments)
        except Exception as error:
            sentence = _explain(error)
            if not sentence:
                raise
            return sentence
        return ""

    def run(self, row: Row, attempt: int = 1, progress: ReportProgress | None = None) -> RowOutcome:
        """Do a row, store how it stands, and return that. Ctrl-C is raised, and nothing stored."""
        clear_leftovers(row)
        started = time.monotonic()
        key = self.digests.make_key(row)
        try:
            with open_log(row, attempt) as log:
                ended = self._run_command(row, RowOutput(log, self._kept, progress))
        except OSError as error:
            ended = RowOutcome(state.FAILED, explain(error))
        ended = ended._replace(seconds=round(time.monotonic() - started, 3))
        outputs = self.digests.of_outputs(row) if ended.state == state.DONE else {}
        return store(row, ended, key, attempt, outputs)

    def _run_command(self, row: Row, out: RowOutput) -> RowOutcome:
        try:
            for file in _list_numbered(row, self.digests):
                file.unlink()
            with self._limit_scripts(row, out):
                run_command(self._parser.parse_args(row.words), out)
        except Exception as error:
            sentence = _explain(error)
            if not sentence:
                out.say(traceback.format_exc())
                sentence = f"{type(error).__name__}: {error}"
            out.say(f"Failed: {sentence}")
            is_known = isinstance(error, MotionMatchingError)
            return RowOutcome(state.FAILED, " ".join(sentence.split()), may_retry=not is_known)
        return RowOutcome(state.DONE)

    @contextmanager
    def _limit_scripts(self, row: Row, out: RowOutput) -> Iterator[None]:
        """Keep Blender files that a row opens from running scripts, unless they may."""
        files = self.digests.list_inputs(row)
        if not any(file.suffix.lower() == ".blend" for file in files):
            yield
            return
        with commands.file_scripts.limit_scripts(self._allow_scripts) as stopped:
            yield
        for driver in dict.fromkeys(stopped):
            out.say(f"Warning: the driver {driver} fails; --allow-scripts lets it run any Python.")


def _explain(error: Exception) -> str:
    try:
        return explain(error)
    except ImportError:  # of no library that we bring
        return ""


def store(
    row: Row,
    ended: RowOutcome,
    key: dict[str, object],
    attempts: int,
    outputs: dict[str, str] | None = None,
) -> RowOutcome:
    """Store how a row ended, and return that; a row whose state cannot be written has failed."""
    found = {"state": ended.state, "error": ended.error, "seconds": ended.seconds}
    found |= {"attempts": attempts, "outputs": outputs or {}, "key": key}
    try:
        state.save_state(row, found)
    except BatchError as error:
        return ended._replace(state=state.FAILED, error=str(error), may_retry=False)
    return ended


@contextmanager
def open_log(row: Row, attempt: int) -> Iterator[TextIO]:
    """Yield the log of a row, which begins with its command line; another attempt goes on in it."""
    with open(row.log_file, "a" if attempt > 1 else "w", encoding="utf-8") as log:
        print(f"{PROGRAM} {shlex.join(row.words)}", file=log, flush=True)
        yield log


def clear_leftovers(row: Row) -> None:
    """Remove temporary files that a killed process left of what a row writes."""
    for path in (*row.writes, row.state_file):
        file_paths.sweep_unfinished(path)
        for file in path.rglob(".*") if path.is_dir() else ():
            if file_paths.is_unfinished(file):
                file.unlink(missing_ok=True)


def clear_tables(rows: Iterable[Row]) -> None:
    """Remove tables of jumps that a killed process wrote, while nobody else does rows."""
    for database in {row.reads[0] for row in rows if row.command == "direct"}:
        file_paths.sweep_unfinished(direct.footage.jump_table.get_table_path(database))


def _list_numbered(row: Row, digests: Digests) -> list[Path]:
    """Return the variations that a row wrote before, unless somebody changed them.

    No command replaces those, as their names are not given one by one.
    """
    stored = state.load_state(row).get("outputs", {}) if "variations" in row.arguments else {}
    files = {row.state_file.parent / name: digest for name, digest in stored.items()}
    return [file for file, digest in files.items() if digests.of_file(file) == digest]


# ---------------------------------------------------------------- before rows run


def find_wrong(rows: Sequence[Row], job: Job, runner: Runner) -> dict[Row, str]:
    """Return what is wrong with each row, before the first is done."""
    chosen = {row.number for row in rows}
    wrong = {}
    for row in rows:
        missing = [path for path in row.reads if not os.path.lexists(path)]
        makers = [job.rows[number - 1] for number in row.needs]
        lacking = next((path for path in missing if not _find_maker(path, makers)), None)
        others = [maker for maker in makers if maker.number not in chosen]
        if lacking:
            wrong[row] = f"{lacking} does not exist; check its name"
        elif missing and others:
            wrong[row] = f"{missing[0]} does not exist; {others[0]} makes it, so do that first"
        elif not missing and (sentence := runner.check(row)):
            wrong[row] = sentence
    return wrong


def _find_maker(path: Path, makers: Iterable[Row]) -> Row | None:
    """Return the row that writes a file, or a folder above it."""
    whole = Path(os.path.abspath(path))
    for maker in makers:
        made = {os.path.abspath(each) for each in maker.writes}
        if any(str(each) in made for each in (whole, *whole.parents)):
            return maker
    return None


@contextmanager
def make_folders(rows: Iterable[Row], *, keep: bool) -> Iterator[None]:
    """Make the folders that rows write to; those that stay empty go again unless they are kept."""
    made = list[Path]()
    try:
        for folder in dict.fromkeys(path.parent for row in rows for path in row.writes):
            for above in (*reversed(folder.parents), folder):
                if not above.exists():
                    above.mkdir(exist_ok=True)
                    made.append(above)
        yield
    finally:
        if not keep:
            for folder in reversed(made):
                with suppress(OSError):  # something is in it
                    folder.rmdir()
