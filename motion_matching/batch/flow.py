"""Do the rows of a batch in an order that they allow, here or by workers, and report each."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ..commands.output import Output
from . import state
from .job import Job, Row
from .run import RowOutcome, Runner, clear_tables
from .workers import Pool

_BLOCKED = "not run"


@dataclass(frozen=True)
class Manner:
    """How to do rows: in how many processes, none for this one, and what to do with failures."""

    workers: int = 0
    retries: int = 1  # how often a row is done again when its process died, or it met a surprise
    time_limit: float | None = None  # seconds for each attempt at a row
    force: bool = False  # do what is done already, too
    stop_at_failure: bool = False


class Doer(Protocol):
    """Does rows: one at a time, or several."""

    @property
    def is_busy(self) -> bool:
        """Whether it has a row."""

    @property
    def is_full(self) -> bool:
        """Whether it can have no more rows now."""

    def begin(self, row: Row, attempt: int) -> None:
        """Begin a row."""

    def wait(self) -> tuple[Row, int, RowOutcome]:
        """Return the next row that has ended, at which attempt, and how."""


class Here:
    """Does rows in this process, one at a time."""

    def __init__(self, runner: Runner, reporter: Reporter) -> None:
        self._runner = runner
        self._reporter = reporter
        self._row: Row | None = None
        self._attempt = 0

    @property
    def is_busy(self) -> bool:
        """Whether it has a row."""
        return self._row is not None

    is_full = is_busy

    def begin(self, row: Row, attempt: int) -> None:
        """Take a row."""
        self._row, self._attempt = row, attempt

    def wait(self) -> tuple[Row, int, RowOutcome]:
        """Do the row."""
        assert self._row is not None
        row, self._row = self._row, None
        return row, self._attempt, self._runner.run(row, self._attempt, self._reporter.show_stage)


class Count(NamedTuple):
    """How many rows have ended: done, skipped because they were, failed, and not run."""

    done: int = 0
    skipped: int = 0
    failed: int = 0
    blocked: int = 0

    @property
    def ended(self) -> int:
        """All of them."""
        return sum(self)


class Reporter:
    """Shows how a batch goes on: for people, for programs, or for a farm."""

    def __init__(self, out: Output, total: int, *, for_farm: bool, as_json: bool) -> None:
        self._out = out
        self._total = total
        self._for_farm = for_farm
        self._as_json = as_json
        self._started = time.monotonic()
        self.count = Count()

    def show_stage(self, stage: str = "", part: float = 0.0) -> None:
        """Show how far all rows are, and the one that is being done."""
        share = (self.count.ended + part) / self._total
        self._out.show_progress(f"Rows ({self._describe()})", share)  # its bar says the time left

    def end(self, row: Row, outcome: RowOutcome) -> None:
        """Report that a row has ended."""
        field = {state.DONE: "done", state.FAILED: "failed", _BLOCKED: "blocked"}
        name = field.get(outcome.state, "skipped")
        self.count = self.count._replace(**{name: getattr(self.count, name) + 1})
        if self._as_json:
            self._out.say(json.dumps(describe_row(row, outcome.state, outcome.error, outcome)))
        elif outcome.error:
            self._out.say(f"Row {row.number} ({row.name}) {outcome.state}: {outcome.error}")
        elif outcome.state == state.DONE:
            self._out.say(f"Row {row.number} ({row.name}): done in {outcome.seconds:.1f} s.")
        if self._for_farm:
            self._say_to_farm()
        self.show_stage()

    def _say_to_farm(self) -> None:
        """Print progress as OpenJD reads it, even if quiet."""
        print(f"openjd_progress: {100 * self.count.ended / self._total:.1f}")
        print(f"openjd_status: {self._describe()}{self._describe_time_left()}", flush=True)

    def _describe(self) -> str:
        count = self.count
        failed = f", {count.failed} failed" if count.failed else ""
        return f"{count.ended} of {self._total}{failed}"

    def _describe_time_left(self) -> str:
        """Return the time that is left, if those that were done take as long as others."""
        worked = self.count.done + self.count.failed
        left = self._total - self.count.ended
        if not worked or not left:
            return ""
        seconds = (time.monotonic() - self._started) / worked * left
        return f", {_format_time(seconds)} left"


def _format_time(seconds: float) -> str:
    minutes, hours = round(seconds / 60), round(seconds / 3600, 1)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{hours:g} h"


def describe_row(row: Row, how: str, why: str, outcome: RowOutcome | None = None) -> dict[str, Any]:
    """Return how a row stands or ended, for programs."""
    found = {"row": row.number, "name": row.name, "command": row.command, "state": how}
    if why:
        found["error"] = why
    if outcome:
        found["seconds"] = outcome.seconds
    return {**found, "outputs": [str(path) for path in row.writes]}


# ---------------------------------------------------------------- all rows


class Flow:
    """Gives out rows whose needs are done, and keeps what became of each."""

    def __init__(self, rows: Sequence[Row], runner: Runner, manner: Manner) -> None:
        self._waiting = list(rows)
        self._chosen = {row.number for row in rows}
        self._runner = runner
        self._manner = manner
        self.failed: dict[Row, str] = {}
        self._ended: dict[int, bool] = {}  # whether a row is done, by its number
        self._again: list[tuple[Row, int]] = []

    def run(self, doer: Doer, reporter: Reporter) -> None:
        """Do all rows that can be done."""
        is_stopped = False
        while True:
            while not is_stopped and not doer.is_full and self._begin_next(doer, reporter):
                pass
            if not doer.is_busy:
                return
            row, attempt, outcome = doer.wait()
            if outcome.may_retry and attempt <= self._manner.retries:
                self._again.append((row, attempt + 1))
                continue
            self._end(row, outcome, reporter)
            is_stopped = bool(self.failed) and self._manner.stop_at_failure

    def _begin_next(self, doer: Doer, reporter: Reporter) -> bool:
        """Begin a row, or pass over one that is done or cannot be; return whether there was one."""
        if self._again:
            again, attempt = self._again.pop(0)
            doer.begin(again, attempt)
            return True
        row = next((row for row in self._waiting if self._is_decided(row)), None)
        if row is None:
            return False
        self._waiting.remove(row)
        lacking = [number for number in row.needs if not self._ended.get(number, True)]
        if lacking:
            text = f"it needs row {lacking[0]}, which failed"
            self._end(row, RowOutcome(_BLOCKED, text), reporter)
        elif not self._manner.force and self._is_done(row):
            self._end(row, RowOutcome("skipped"), reporter)
        else:
            doer.begin(row, 1)
        return True

    def _is_decided(self, row: Row) -> bool:
        """Return whether all that a row needs has ended, of the rows that are to be done."""
        return all(number in self._ended for number in row.needs if number in self._chosen)

    def _is_done(self, row: Row) -> bool:
        return state.find_standing(row, self._runner.digests).state == state.DONE

    def _end(self, row: Row, outcome: RowOutcome, reporter: Reporter) -> None:
        self._ended[row.number] = outcome.state in (state.DONE, "skipped")
        if outcome.error:
            self.failed[row] = outcome.error
        reporter.end(row, outcome)


def run_rows(
    job: Job,
    rows: Sequence[Row],
    manner: Manner,
    runner: Runner,
    reporter: Reporter,
    options: Sequence[str] = (),
) -> Mapping[Row, str]:
    """Do rows, and return why some failed or were not run. Workers get further `options`."""
    flow = Flow(rows, runner, manner)
    count = manner.workers or (1 if manner.time_limit else 0)
    if not count:
        flow.run(Here(runner, reporter), reporter)
    else:
        with Pool(job, runner.digests, min(count, len(rows)), manner.time_limit, options) as pool:
            flow.run(pool, reporter)
        clear_tables(pool.lost)
    return flow.failed
