"""The command of the study of feet's tasks and limits: measure takes, and write the page."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from statistics import fmean

from building.benchmarks.report import CHECKOUT, describe_machine, format_columns

from . import running
from .quality import GAITS, SCRIPTS
from .sets import SETS, find_sets
from .stages import FIGURES, RULES, Job, Measures, measure_job

DOCUMENT = CHECKOUT / "docs" / "feet-quality.md"
Results = dict[Job, dict[str, Measures]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sets", nargs="+", choices=SETS, help="which; all that are here")
    parser.add_argument("--minutes", type=float, default=1.0, help="of each take (%(default)g)")
    parser.add_argument("--seed", type=int, default=0, help="of the scripts (%(default)s)")
    running.add_output_arguments(parser, DOCUMENT, "all sets are")


def run(chosen: argparse.Namespace) -> int:
    """Return 0 once everything is measured."""
    names = chosen.sets or list(find_sets())
    jobs = [Job(*parts, chosen.seed) for parts in product(names, GAITS, SCRIPTS)]
    with tempfile.TemporaryDirectory() as folder:
        seconds = 60.0 * chosen.minutes
        results = running.measure(
            jobs, measure_job, _summarize, Path(folder), seconds, chosen.workers
        )
    output = chosen.output or (DOCUMENT if set(names) == set(SETS) else None)
    page = format_page(results, chosen.minutes)
    if output:
        output.write_text(page, encoding="utf-8")
        print(f"Written to {output}.")
    else:
        print(f"{page}\nNothing was written: the manual needs all sets.")
    return 0


def _summarize(job: Job, told: dict[str, Measures]) -> str:
    """Return a line about a take with all rules."""
    values = (f"{figure.title} {_format(name, told[''][name])}" for name, figure in FIGURES.items())
    return f"{job.title}: {'; '.join(values)}"


def format_page(results: Results, minutes: float) -> str:
    """Return the page about all takes."""
    return f"""# What keeps feet in place

Written by `python3 build.py study stages --minutes {minutes:g}`.
{describe_machine()}

[Bakes](takes-and-comparing.md#feet) place feet by one problem of tasks, which are weighed, and limits, which are kept.
Here each of them is left out in turn: what gets worse is what it is for. The takes are of motion matching, of
{minutes:g} min each, of both gaits, steered at random and in turns.

| task or limit | what it is for |
| --- | --- |
{chr(10).join(f"| {name} | {RULES[name]} |" for name in _list_rules(results))}

## With all of them

The mean of a set's takes, and after the slash the worst.

{_format_sets(results)}

## What gets worse without each

By how much more a figure is, in the take in which that is most. A figure that no take has worse is left empty.

{_format_worst(results)}

## The mean of all takes

{_format_means(results)}
"""


def _list_rules(results: Results) -> list[str]:
    """Return the rules that were left out."""
    return [rule for rule in next(iter(results.values())) if rule]


def _format(name: str, value: float) -> str:
    figure = FIGURES[name]
    return f"{figure.factor * value:.{figure.digits}f}"


def _format_sets(results: Results) -> str:
    found = {job.set for job in results}
    names = [name for name in SETS if name in found]
    columns = [("figure", *(figure.title for figure in FIGURES.values()))]
    for name in names:
        takes = [told[""] for job, told in results.items() if job.set == name]
        cells = []
        for key, figure in FIGURES.items():
            values = [take[key] for take in takes]
            worst = min(values) if figure.most_is_best else max(values)
            cells.append(f"{_format(key, fmean(values))} / {_format(key, worst)}")
        columns.append((name, *cells))
    return format_columns(columns, ("figure",))


def _format_worst(results: Results) -> str:
    columns = [("without", *(figure.title for figure in FIGURES.values()))]
    for rule in _list_rules(results):
        columns.append((rule, *(_tell_worst(key, rule, results) for key in FIGURES)))
    return format_columns(_transpose(columns), ("without",))


def _tell_worst(key: str, rule: str, results: Results) -> str:
    """Return by how much a figure is worse at most without a rule, if it can be told."""
    sign = -1.0 if FIGURES[key].most_is_best else 1.0
    most = max(sign * (told[rule][key] - told[""][key]) for told in results.values())
    text = _format(key, most)
    return text if most > 0.0 and float(text) > 0.0 else ""


def _format_means(results: Results) -> str:
    columns = [("without", *(figure.title for figure in FIGURES.values()))]
    for rule in ("", *_list_rules(results)):
        cells = [
            _format(key, fmean(told[rule][key] for told in results.values())) for key in FIGURES
        ]
        columns.append((rule or "all", *cells))
    return format_columns(_transpose(columns), ("without",))


def _transpose(columns: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return rules below each other, and figures beside each other."""
    return list(zip(*columns, strict=True))
