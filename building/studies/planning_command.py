"""The command of the study of values and greed: a part of the manual's page of motion fields."""

from __future__ import annotations

import argparse
import textwrap

from building.benchmarks.report import CHECKOUT, describe_machine, format_columns

from . import planning, quality
from .manual_parts import publish
from .planning import CONTROLS, Measures, PlanJob
from .running import add_part_arguments, open_set
from .sets import find_sets

SETS = ("generated", "bandai", "lafan1")
DOCUMENT = CHECKOUT / "docs" / "motion-fields.md"
_WIDTH = 118
_LEFT = ("set", "gait", "script")
_HEADINGS = (
    *_LEFT,
    *CONTROLS,
    "speed by values",
    "by greed",
    "broken",
    "off",
    "apart",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_part_arguments(parser, SETS)


def run(chosen: argparse.Namespace) -> int:
    """Return 0 once everything is measured; write the manual if all sets are."""
    sets = [name for name in chosen.sets or SETS if name in find_sets()]
    rows: list[tuple[str, ...]] = []
    results: list[Measures] = []
    for name in sets:
        found = _measure(name, 60.0 * chosen.minutes, chosen.seed)
        rows += planning.list_cells(name, found)
        results += found.values()
    part = format_part(rows, results, chosen.minutes)
    publish(DOCUMENT, "values", part, complete=sets == list(SETS))
    return 0


def _measure(name: str, seconds: float, seed: int) -> dict[PlanJob, Measures]:
    """Build a set, train its field, and measure all jobs; print each as it is done."""
    results = {}
    with open_set(name) as (database, trained):
        for job in planning.list_jobs(database):
            results[job] = planning.measure_job(job, database, trained, seconds, seed)
            print(*planning.list_cells(name, {job: results[job]})[0], sep="  ", flush=True)
    return results


def format_part(rows: list[tuple[str, ...]], results: list[Measures], minutes: float) -> str:
    """Return what the manual says of the rows."""
    values, greed, frame = CONTROLS
    more = [sum(each[values] > each[other] for each in results) for other in (greed, frame)]
    text = (
        f"Takes of {minutes:g} min with fields of the quality `{quality.TRAINING}`, whose "
        "simulation object moves on its own and pulls nobody. The *return* is what the task "
        "rewards, minus the angle left and half of the error of speed in m/s, summed with the "
        "discount over what follows, on average of all ticks: the nearer to zero, the better. "
        f"*{greed}* is the field as shipped without training, which looks ahead along the clips; "
        f"*{frame}* has a *Look Ahead* of 0, as the notebook's greed. *speed* is how fast the "
        "character goes, as a share of what is asked for. *broken* is by how much a tick's score "
        "promises more than its reward and the next score come to, *off* how much that varies, and "
        f"*apart* how much the scores of a tick's actions do. By values, the return is higher than "
        f"by {frame} in {more[1]} of {len(results)} rows, and than by {greed} in {more[0]}."
    )
    table = format_columns(list(zip(_HEADINGS, *rows, strict=True)), _LEFT)
    origin = f"Written by `python3 build.py study values`.\n{describe_machine()}"
    return "\n\n".join((origin, textwrap.fill(text, _WIDTH), table)) + "\n"
